"""Tokens: text that stands for a value, as in `${cfn:network.VpcId@eu-west-1#222222222222}`. Pure.

    ${SCHEME:REFERENCE[@REGION][#ACCOUNT][|FORM]}

What a reference looks like is its scheme's matter, and what becomes of its value that of its form (`forms`). In a
reference, a string in double quotes may hold anything, as the keys in Terraform's addresses do:
`${tf:aws_s3_bucket.b["a}b@c#d"].arn}`. `$${` stands for `${` and begins no token, as in Terraform. All other text is
left alone: `${HOME}`, `$(HOME)`, and `${foo:bar}`, since nothing here is called foo. So are the shell's defaults
(`${env:-none}`), because no reference begins with `-`, `=`, `?` or `+`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from strongref_manifests.errors import BadTokenError

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Json

CFN = "cfn"
CFN_ATTR = "cfn-attr"
TF = "tf"
EXPORT = "export"
SSM = "ssm"
SECRET = "secret"  # noqa: S105 (a scheme's name)
ENV = "env"
K8S = "k8s"

BY_DEFAULT = (CFN, CFN_ATTR)
ON_DEMAND = (EXPORT, SSM, SECRET, ENV, K8S)
"""Schemes that are resolved only if the user asks for them."""

FORMS = {
    CFN: "${cfn:STACK.OUTPUT}",
    CFN_ATTR: "${cfn-attr:STACK.LOGICAL_ID.ATTRIBUTE}",
    TF: "${tf:ADDRESS.ATTRIBUTE}",
    EXPORT: "${export:STACK.KEY}",
    SSM: "${ssm:NAME}",
    SECRET: "${secret:NAME} or ${secret:NAME:JSON_KEY}",
    ENV: "${env:NAME}",
    K8S: "${k8s:KIND.GROUP/NAME:PATH}",
}
"""What a token of each scheme looks like, before `@REGION` and `#ACCOUNT`."""

NOWHERE = frozenset({TF, ENV, K8S})
"""Schemes whose values belong to no region or account of AWS."""

_OPENING = re.compile(rf"\$(?:(?P<escape>\$)\{{|\{{(?P<scheme>{'|'.join(FORMS)}):(?![-=?+]))")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_BODY = re.compile(rf'(?:[^"}}\n]|{_QUOTED.pattern})*')
LOCATION = r"(?:@(?P<region>[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}))?(?:#(?P<account>[0-9]{12}))?"
"""Where a value is, or a state in S3."""
_SUFFIX = re.compile(rf'{LOCATION}(?:\|(?P<form>text|typed|join(?::[^"@#]+)?))?\Z')


@dataclass(frozen=True, slots=True)
class Token:
    scheme: str  # where it comes from: one of `FORMS`
    reference: str  # what its source knows it by
    region: str | None = None  # where, if that is not the run's own region
    account: str | None = None  # whose, if that is not the caller's own
    form: str | None = None  # what becomes of its value, as in `join:,`

    def __str__(self) -> str:
        suffix = zip("@#|", (self.region, self.account, self.form), strict=True)
        return f"${{{self.scheme}:{self.reference}{''.join(mark + each for mark, each in suffix if each)}}}"


Part: TypeAlias = "Token | str"
"""Of a text: a token, or what stands between two of them."""


class TokenSource(Protocol):
    """Fetches the values of the tokens of one scheme. It lives for one run and makes no call twice."""

    scheme: str  # one of `tokens.FORMS`

    def prefetch(self, tokens: Iterable[Token]) -> None:
        """Read all values that a run needs in batches, before any `fetch`; nothing where the service has no batches.

        It raises nothing: `fetch` reports every error.
        """
        del tokens

    def fetch(self, token: Token) -> Json:
        """The value. Raises `StrongRefError`: there is none, or it could not be read; the same error each time."""


def parse(text: str) -> list[Part]:
    """A text's tokens, and the text between them with `$${` made `${`; no two strings in a row, none empty.

    Raises:
        BadTokenError: a token has no end on its line, or a region or account that means nothing to it.
    """
    parts: list[Part] = []
    for _, part in _pieces(text):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part:
            parts.append(part)
    return parts


def text_around(text: str) -> str:
    """The text around the tokens, as it is written, with escapes; a space stands for each token. Errors as `parse`."""
    return "".join(" " if isinstance(part, Token) else written for written, part in _pieces(text))


def tokens_in(text: str) -> list[Token]:
    """A text's tokens alone. Errors as `parse`."""
    return [part for part in parse(text) if isinstance(part, Token)]


def _pieces(text: str) -> Iterator[tuple[str, Part]]:
    """A text in parts: as each was written, and what it means."""
    at = 0
    while opening := _OPENING.search(text, at):
        yield text[at : opening.start()], text[at : opening.start()]
        at = opening.end()
        if not opening["escape"]:
            body = _BODY.match(text, at)
            at = body.end() if body else at
            if text[at : at + 1] != "}":
                raise BadTokenError(text[opening.start() :].partition("\n")[0], "it has no } on its line")
            at += 1
        written = text[opening.start() : at]
        yield written, "${" if opening["escape"] else _token(opening["scheme"], written[len(opening[0]) : -1])
    yield text[at:], text[at:]


def _token(scheme: str, body: str) -> Token:
    suffix = _SUFFIX.search(body)
    given = suffix.groupdict() if suffix else {}
    token = Token(scheme, body[: suffix.start()] if suffix else body, **given)
    if scheme in NOWHERE and (token.region or token.account):
        raise BadTokenError(str(token), f"{scheme} values are in no region or account; leave out what follows @ or #")
    if "|" in _QUOTED.sub("", token.reference):
        problem = 'what follows | must be text, typed or join:SEPARATOR, at the end, and a separator has no @, # and "'
        raise BadTokenError(str(token), f"{problem}. Put a name with | in double quotes")
    if not token.reference:
        raise malformed(token)
    return token


def matched(token: Token, form: re.Pattern[str]) -> re.Match[str]:
    """A token's reference in the form that its source understands; `BadTokenError` if it is in another one."""
    found = form.fullmatch(token.reference)
    if not found:
        raise malformed(token)
    return found


def malformed(token: Token) -> BadTokenError:
    """The error of a token whose reference its source does not understand."""
    where = "" if token.scheme in NOWHERE else ", and then @REGION or #ACCOUNT where they are not the run's own"
    return BadTokenError(str(token), f"it should look like {FORMS[token.scheme]}{where}")
