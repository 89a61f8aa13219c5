"""What stacks made, referred to by manifests.

`from: {stack: network, name: VpcId}` is an export, `from: {stack: network, output: VpcId}` an output. `region` and
`account` are the stack's own, as in the `From` of an Import. The sources of `${export:…}` and `${cfn:…}` read them.
"""

from __future__ import annotations

import re
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from strongref.contract.properties import parse_account, parse_region, shape
from strongref.errors import BadRequestError
from strongref.text import some
from strongref_manifests.tokens import CFN, EXPORT, Token
from strongref_refs.source_errors import StackReferenceError
from strongref_toolkit.errors import NoRegionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_manifests.sources.base import Source

KEYS = ("stack", "region", "account", "name", "output")
"""Of a `from` that names a stack."""

_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_NESTED = re.compile(rf"{_STACK.pattern}(?:\.[A-Za-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*")
_OUTPUT = re.compile(r"[A-Za-z0-9]+")


class _Reference(Token):
    """A token that was written as a reference, and is told as one."""

    def __str__(self) -> str:
        stack, _, what = self.reference.rpartition(".") if self.scheme == CFN else self.reference.partition(".")
        key = "output" if self.scheme == CFN else "name"
        more = {"region": self.region, "account": f"'{self.account}'" if self.account else None}
        said = {"stack": stack, key: what, **{name: value for name, value in more.items() if value}}
        return f"from: {{{', '.join(f'{name}: {value}' for name, value in said.items())}}}"


class StackValues:
    """The values of stacks and their exports; as `base.Values`."""

    def __init__(self, source: Callable[[str], Source]) -> None:
        """Make one, for one run.

        Args:
            source: the source of a scheme of tokens, `cfn` or `export`.
        """
        self._source = source

    def get(self, given: Mapping[str, Any]) -> str | list[str]:
        """As `base.Values`.

        Raises:
            StackReferenceError: it is no reference to a stack, or to a map of values.
            StrongRefError: what the source of such values raises.
        """
        token = parse(given)
        try:
            value = self._source(token.scheme).fetch(_Reference(*astuple(token)))
        except NoRegionError:
            raise StackReferenceError("no region is known; give --region, set AWS_REGION, or write it there") from None
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return [str(item) for item in value]
        raise StackReferenceError(f"name: {given['name']} is a map of exports; name one of those in it, with dots")


def parse(given: Mapping[str, Any]) -> Token:
    """What a `from` with a stack in it means.

    Raises:
        StackReferenceError: nothing.
    """
    unknown = [str(key) for key in given if key not in KEYS]
    if unknown:
        raise StackReferenceError(f"{some(unknown)}: there is no such key")
    if (given.get("name") is None) == (given.get("output") is None):
        raise StackReferenceError("one of name and output is needed")
    if given.get("name") is not None:
        scheme = EXPORT
        stack = _text(given, "stack", _STACK, "a stack's name")
        what = _text(given, "name", _NAME, "an export's name")
    else:
        scheme = CFN
        stack = _text(given, "stack", _NESTED, "a stack's name")
        what = _text(given, "output", _OUTPUT, "an output's logical id")
    try:
        region = parse_region("region", given["region"]) if given.get("region") is not None else None
        account = parse_account("account", given["account"]) if given.get("account") is not None else None
    except BadRequestError as error:
        problem = str(error)
    else:
        return Token(scheme, f"{stack}.{what}", region, account)
    raise StackReferenceError(problem)


def _text(given: Mapping[str, Any], key: str, form: re.Pattern[str], needed: str) -> str:
    came = given.get(key)
    if isinstance(came, str) and form.fullmatch(came):
        return came
    raise StackReferenceError(f"{key}: {shape(came)} came; {needed} is needed")
