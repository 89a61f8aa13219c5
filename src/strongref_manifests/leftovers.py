"""Finds text that looks like an unresolved token, for strict runs. Pure.

The markers are those of the CDK and of the CDK for Terraform. They write a token as text (`${Token[TOKEN.12]}`), as the
only item of a list (`#{Token[…]}`) or key of a map (`&{TfToken[…]}`), or as a number whose two highest bytes say so
(aws-cdk-lib 2.275.0, core/lib/private/encoding.js; cdktf 0.21.0, lib/tokens/private/encoding.js).
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from strongref_manifests.tokens import FORMS

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Primitive

_CDK = "a token of the CDK"
_CDKTF = "a token of the CDK for Terraform"

_MARKS = (
    (re.compile(r"(?<!\$)[$#&]\{TfToken\[[^\]\n]*\]?\}?|(?<!\{)\bTfToken\[[^\]\n]*\]?"), _CDKTF),
    (re.compile(r"(?<!\$)[$#]\{Token\[[^\]\n]*\]?\}?"), _CDK),
    (re.compile(r"(?i)(?<!\$)[$#&]\{tftoken\[[a-z0-9:._-]+\.[0-9]+\]\}?|(?<!\{)\btftoken\[token\.[0-9]+\]"), _CDKTF),
    (re.compile(r"(?i)(?<!\$)[$#]\{token\[[a-z0-9:._-]+\.[0-9]+\]\}?"), _CDK),
    (re.compile(r"\{\{resolve:[^}]*(?:\}\})?"), "a dynamic reference of CloudFormation"),
)
"""A program that makes a name of a token may change the case of its letters."""
_SHELL = re.compile(
    r"__\w|[#!]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])"
    r"(?:$|\[[^\]]*\]|:?[-=?+]|:\s*(?:[0-9]+(?![A-Za-z0-9_.])|[(-])|[#%/^,]|@[UuLQEPAKak]$"
    r"|:(?:csv|distributed|(?:double|single)quote|glob|json|lucene|percentencode|pipe|queryparam|raw|regex|sqlstring|text)$)"
)
"""What a shell expands (POSIX: Shell Command Language; bash), or Grafana: its own `__name`, others with a format."""
_MISTYPED = re.compile(rf"(?:{'|'.join(FORMS)})/|(?i:cfn-attr)(?![a-z0-9])|[a-z][a-z0-9]*(?:-[a-z0-9]+)+:(?!//|[0-9])")
"""What a shell would expand by its letter, a default or a replacement, and is more likely a token of ours, mistyped."""
_BRACES = re.compile(r"(?<!\$)\$\{([^}\n]*)\}?")
_NUMBER = re.compile(r"-[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{3}")
CDK_NUMBER, CDKTF_NUMBER = b"\xfb\xff", b"\xfd\xff"
"""The two highest bytes of an encoded number; the former are those of the item of CDKTF's lists of numbers as well."""
_ROUNDED = 1e-3
"""How much of a number may have been lost where it was written with fewer digits."""


def leftover(value: Primitive) -> tuple[str, str] | None:
    """What in a value looks like a token, and whose; None where nothing does.

    The value is the text around our own tokens, as it is written. Text escaped by `$${` stays, and what a shell expands
    (`${HOME}`, `${PORT:-80}`), or Grafana, is not a token. Anything else in `${…}` counts as one.
    """
    if isinstance(value, int | float):
        marked = _encoded(value)
        return (repr(value), marked) if marked else None
    if not isinstance(value, str):
        return None
    for mark, of_whom in _MARKS:
        if found := mark.search(value):
            return found[0], of_whom
    for number in _NUMBER.findall(value):
        if marked := _encoded(float(number)):
            return number, marked
    for braces in _BRACES.finditer(value):
        if not _SHELL.match(braces[1]) or _MISTYPED.match(braces[1]):
            return braces[0], "a token"
    return None


def _encoded(number: float) -> str | None:
    """Whose token a number is."""
    for bytes_, of_whom in ((CDK_NUMBER, _CDK), (CDKTF_NUMBER, _CDKTF)):
        nearest, farthest = (struct.unpack(">d", bytes_ + rest * 6)[0] for rest in (b"\0", b"\xff"))
        if farthest <= number <= nearest * (1 - _ROUNDED):
            return of_whom
    return None
