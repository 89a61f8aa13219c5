"""How a construct was made, as far as the CDK has to know it of an imported one: the values of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk
import jsii

from strongref_cdk.cdk_values import REFUSALS
from strongref_objects.types.members import settings_of
from strongref_toolkit.jsii_objects import reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_objects.types import Declared


def settings(obj: Declared) -> dict[str, Any]:
    """How an object was made, as options of the CDK's own function for it."""
    found = {name: getattr(obj, name) for name in settings_of(type(obj))}
    words = {"true": True, "false": False}
    return {
        name: int(text) if text.isdecimal() else words.get(text, text)
        for name, text in found.items()
        if text is not None
    }


def setting(attribute: str, default: object) -> Callable[[Any], Any]:
    """An attribute of a construct; None if it is what the CDK assumes of an imported one."""

    def get(construct: Any) -> Any:  # noqa: ANN401 (constructs and values)
        try:
            found = getattr(construct, attribute, default)
        except REFUSALS:  # An imported construct does not say it.
            return None
        return None if found in (None, default) else found

    return get


def late_setting(attribute: str) -> Callable[[Any], Any]:
    """An attribute that the program can still change, as by another index: a token, always the same."""

    def get(construct: Any) -> str | None:  # noqa: ANN401 (a construct)
        read = setting(attribute, None)
        if read(construct) is None:
            return None
        key = (reference(construct), attribute)
        if key not in _TOKENS:
            _TOKENS[key] = aws_cdk.Lazy.uncached_string(_Late(lambda: str(read(construct)).lower()))
        return _TOKENS[key]

    return get


_TOKENS: dict[tuple[str, str], str] = {}
"""By construct and attribute: exported twice, a setting is the same."""


@jsii.implements(aws_cdk.IStringProducer)
class _Late:
    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    def produce(self, _context: aws_cdk.IResolveContext) -> str:
        return self._read()
