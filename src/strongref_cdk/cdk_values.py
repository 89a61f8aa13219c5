"""Objects and tokens of the CDK, as Python sees them: errors, values in one form, and how a construct was made."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import aws_cdk
import constructs
import jsii
from jsii.errors import JSIIError

from strongref.untyped import Untyped
from strongref_objects.base.values import LAZY
from strongref_objects.types import Declared
from strongref_objects.types.members import members
from strongref_toolkit.cdk_trees import TreeTokenResolver
from strongref_toolkit.intrinsics import REFERENCE
from strongref_toolkit.jsii_objects import reference, same

if TYPE_CHECKING:
    from constructs import Construct

    from strongref_objects.base import Target

REFUSALS = (RuntimeError, JSIIError)
"""Errors from the CDK's own code."""

_FINAL = re.compile(r"\$\{Token\[(?:Fn::Join|.+\.LogicalID)\.\d+\]\}")
"""Tokens of the CDK's own classes that are not `Intrinsic`s, but can no longer change: by their hints."""


def as_token(value: str) -> str:
    """A dynamic reference as a token, so that the CDK does not use its text as the value."""
    if "{{resolve:" not in value:
        return value
    return str(aws_cdk.Token.as_string(aws_cdk.Token.as_any(value)))


def with_tokens(value: Untyped, target: Target) -> Untyped:
    """An object, or what it has, with tokens in place of intrinsic functions, as the CDK's own functions take them."""
    if isinstance(value, Declared):
        found = {name: with_tokens(getattr(value, name), target) for name in members(type(value))}
        return dataclasses.replace(value, **found)
    if isinstance(value, tuple):
        return [with_tokens(each, target) for each in value]
    if isinstance(value, Mapping):
        return target.stand_in(value)
    return as_token(value) if isinstance(value, str) else value


class CanonicalReader(TreeTokenResolver):
    """Reads values with tokens as they will be in one stack's template, so that equal values look equal.

    There are two exceptions. The CDK only decides at synthesis what references to other stacks become: they are named
    by the construct's path. And the CDK evaluates many lazy values only once, so they are not evaluated here: each is
    named by itself.
    """

    def __init__(self, stack: aws_cdk.Stack) -> None:
        super().__init__()
        self._stack = stack

    def resolve_token(self, t: Untyped, context: Untyped, post_processor: Untyped) -> Untyped:
        if isinstance(t, aws_cdk.Intrinsic):
            if aws_cdk.Reference.is_reference(t) and not same(aws_cdk.Stack.of(t.target), self._stack):
                return {REFERENCE: [str(t.target.node.path), str(t.display_name)]}
        else:
            text: str = aws_cdk.Token.as_string(t)
            if not _FINAL.fullmatch(text):
                return {LAZY: text.strip("${}")}
        return super().resolve_token(t, context, post_processor)


def settings(obj: Declared) -> dict[str, Any]:
    """How an object was made, as options of the CDK's own function for it."""
    found = {
        name: getattr(obj, name) for name, each in members(type(obj)).items() if each.is_setting and not each.is_held
    }
    texts = {name: settled(each) for name, each in found.items() if isinstance(each, str)}
    words = {"true": True, "false": False}
    return {name: int(text) if text.isdecimal() else words.get(text, text) for name, text in texts.items()}


def setting(attribute: str, default: object) -> Callable[[Any], Any]:
    """An attribute of a construct; None if it is what the CDK assumes of an imported one."""

    def get(construct: Construct) -> Untyped:
        try:
            found = getattr(construct, attribute, default)
        except REFUSALS:  # An imported construct does not say it.
            return None
        return None if found in (None, default) else found

    return get


def late_setting(read: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """What the program can still change, as by another index: a token, always the same."""

    def get(construct: Construct) -> str | None:
        key = f"{reference(construct)} {what}"
        if key not in _LATE and read(construct) is not None:
            _LATE[key] = Late(construct, what, lambda: str(read(construct)).lower())
            _LATE[_LATE[key].token] = _LATE[key]
        return _LATE[key].token if key in _LATE else None

    return get


def settled(token: str) -> str:
    """What `late_setting` reads, now; the text itself if it is another one."""
    return _LATE[token].settled() if token in _LATE else token


_LATE: dict[str, Late] = {}
"""By construct and what is read, and by token."""


@jsii.implements(aws_cdk.IStringProducer, constructs.IValidation)
class Late:
    """What is read of a construct when the app is synthesized, or before."""

    def __init__(self, construct: Construct, what: str, read: Callable[[], str]) -> None:
        self.token: str = aws_cdk.Lazy.uncached_string(self)
        self._construct = construct
        self._what = what
        self._read = read
        self._found: str | None = None

    def produce(self, _context: aws_cdk.IResolveContext) -> str:
        return self._read()

    def settled(self) -> str:
        """What is read now. If the program changes it afterwards, the app is not synthesized."""
        found = self._read()
        if self._found is None:
            self._found = found
            self._construct.node.add_validation(self)
        return found

    def validate(self) -> list[str]:
        problem = f"Its {self._what} changed after strongref had read them. Export and import it after the last change."
        return [] if self._read() == self._found else [problem]
