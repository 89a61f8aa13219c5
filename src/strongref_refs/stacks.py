"""Values of stacks that manifests refer to.

`from: {stack: network, name: VpcId}` is an export, `from: {stack: network, output: VpcId}` an output. `region` and
`account` are the stack's own, as in the `From` of an Import. The sources of `${export:…}` and `${cfn:…}` read them.
"""

from __future__ import annotations

import re
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from strongref.contract.properties import parse_account, parse_region, shape
from strongref.errors import BadRequestError
from strongref_manifests.tokens import CFN, EXPORT, Token
from strongref_refs.errors import StackReferenceError
from strongref_refs.keys import Key, matches, unknown_keys, wrong_value
from strongref_toolkit.errors import NoRegionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_manifests.sources.base import Source

_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_NESTED = re.compile(rf"{_STACK.pattern}(?:\.[A-Za-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*")
_OUTPUT = re.compile(r"[A-Za-z0-9]+")


def _parses(parse: Callable[[str, object], str]) -> Callable[[object], bool]:
    """Whether the parser of an Import's property accepts a value."""

    def accepts(value: object) -> bool:
        try:
            parse("", value)
        except BadRequestError:
            return False
        return True

    return accepts


_OWN = {
    "region": Key("a region code such as us-east-1", _parses(parse_region)),
    "account": Key("twelve digits in quotes", _parses(parse_account)),
}
_OF_EXPORT = {
    "stack": Key("a stack name", matches(_STACK), required=True),
    "name": Key("an export name", matches(_NAME), required=True),
    **_OWN,
}
_OF_OUTPUT = {
    "stack": Key("a stack name", matches(_NESTED), required=True),
    "output": Key("the logical ID of an output", matches(_OUTPUT), required=True),
    **_OWN,
}
KEYS = {**_OF_EXPORT, **_OF_OUTPUT}
"""Of a `from` that names a stack."""


class _StackReference(Token):
    """A token that was written as a reference, and is shown as one in errors."""

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
            StackReferenceError: the reference is not valid, or names a map of values.
            StrongRefError: the source of such values raised it.
        """
        token = parse(given)
        try:
            value = self._source(token.scheme).fetch(_StackReference(*astuple(token)))
        except NoRegionError:
            raise StackReferenceError("has no region. Set --region or AWS_REGION, or add region to it") from None
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return [str(item) for item in value]
        raise StackReferenceError(f"name {given['name']} is a map of exports. Name one of them, with dots")


def parse(given: Mapping[str, Any]) -> Token:
    """The token that a `from` with a stack in it stands for.

    Raises:
        StackReferenceError: it stands for none.
    """
    if unknown := unknown_keys(given, KEYS):
        raise StackReferenceError(unknown.problem)
    if (given.get("name") is None) == (given.get("output") is None):
        raise StackReferenceError("must have one of name and output")
    if wrong := wrong_value(given, _OF_OUTPUT if given.get("name") is None else _OF_EXPORT, shape):
        raise StackReferenceError(f"{wrong.key} {wrong.problem}")
    scheme, what = (CFN, given["output"]) if given.get("name") is None else (EXPORT, given["name"])
    return Token(scheme, f"{given['stack']}.{what}", given.get("region"), given.get("account"))
