"""Values of stacks that manifests refer to.

`from: {stack: network, name: VpcId}` is an export, `from: {stack: network, output: VpcId}` an output. `region` and
`account` are the stack's own, as in the `From` of an Import. The sources of `${export:…}` and `${cfn:…}` read them.
"""

from __future__ import annotations

import re
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from strongref.contract.properties import Property, as_given, parse_account, parse_region
from strongref.errors import BadRequestError
from strongref_manifests.refs.errors import StackReferenceError
from strongref_manifests.refs.parsers import matching, read_map
from strongref_manifests.tokens import CFN, EXPORT, Token
from strongref_toolkit.errors import NoRegionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_manifests.tokens import TokenSource

_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_NESTED = re.compile(rf"{_STACK.pattern}(?:\.[A-Za-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*")
_OUTPUT = re.compile(r"[A-Za-z0-9]+")

_STACK_NAME, _EXPORT_NAME, _OUTPUT_ID = "the name of a stack", "the name of an export", "the logical ID of an output"
_OF_EXPORT = {
    "stack": Property(matching(_STACK, _STACK_NAME), required=_STACK_NAME),
    "name": Property(matching(_NAME, _EXPORT_NAME)),
    "output": Property(as_given),
    "region": Property(parse_region),
    "account": Property(parse_account),
}
_OF_OUTPUT = {
    **_OF_EXPORT,
    "stack": Property(matching(_NESTED, _STACK_NAME), required=_STACK_NAME),
    "output": Property(matching(_OUTPUT, _OUTPUT_ID)),
}
KEYS = tuple(_OF_EXPORT)
"""Of a `from` that names a stack."""


class _StackReference(Token):
    """A token that was written as a reference, and is shown as one in errors."""

    def __str__(self) -> str:
        stack, _, what = self.reference.rpartition(".") if self.scheme == CFN else self.reference.partition(".")
        key = "output" if self.scheme == CFN else "name"
        more = {"region": self.region, "account": f"'{self.account}'" if self.account else None}
        written = {"stack": stack, key: what, **{name: value for name, value in more.items() if value}}
        return f"from: {{{', '.join(f'{name}: {value}' for name, value in written.items())}}}"


class StackValues:
    """The values of stacks and their exports, for one run; `source` is that of a scheme, `cfn` or `export`."""

    def __init__(self, source: Callable[[str], TokenSource]) -> None:
        self._source = source

    def get(self, given: Mapping[str, Any]) -> str | list[str]:
        """As `base.ValueSource`.

        Raises:
            StackReferenceError: the reference is not valid, or names a map of values.
            StrongRefError: the source of such values raised it.
        """
        token = parse(given)
        try:
            value = self._source(token.scheme).fetch(_StackReference(*astuple(token)))
        except NoRegionError:
            raise StackReferenceError("from has no region. Set --region or AWS_REGION, or add region to it") from None
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return [str(item) for item in value]
        raise StackReferenceError(f"from.name {given['name']} is a map of exports. Name one of them, with dots")


def parse(given: Mapping[str, Any]) -> Token:
    """The token that a `from` with a stack in it stands for.

    Raises:
        StackReferenceError: it stands for none.
    """
    is_output = given.get("name") is None
    try:
        found = read_map(given, _OF_OUTPUT if is_output else _OF_EXPORT, "from")
    except BadRequestError as error:
        problem = str(error)
    else:
        if (found["name"] is None) != (found["output"] is None):
            what = found["output"] if is_output else found["name"]
            return Token(CFN if is_output else EXPORT, f"{found['stack']}.{what}", found["region"], found["account"])
        problem = "from must have one of name and output"
    raise StackReferenceError(problem)
