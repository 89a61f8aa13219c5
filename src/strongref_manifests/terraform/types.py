"""Values of a Terraform state file whose type only they themselves tell. Pure.

Where a provider's schema leaves an attribute's type open, as for `terraform_data`'s input, a state file holds the value
together with its type: `{"value": …, "type": …}` (go-cty: cty/json, marshalDynamic). Marks of what is sensitive, and
`terraform show -json`, know nothing of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_toolkit.json_values import Json

_WRAPPED = {"value", "type"}
_SINGLE: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float, str),  # One that no float can hold is written as text.
    "bool": (bool,),
    "dynamic": (),  # Only of null nothing else is known.
}


def plain(value: Json) -> Json:
    """A value without the types that stand beside parts of it."""
    if isinstance(value, dict):
        if value.keys() == _WRAPPED and _is_of_type(value["value"], value["type"]):
            unwrapped: Json = value["value"]
            return unwrapped
        return {key: plain(below) for key, below in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _is_of_type(value: Json, kind: Json) -> bool:
    """Whether something is a type, as go-cty writes them, and a value is of that type; null is of any."""
    match kind:
        case "string" | "number" | "bool" | "dynamic":
            fits = isinstance(value, _SINGLE[kind]) and (kind == "bool" or not isinstance(value, bool))
        case ["list" | "set", element]:
            fits = isinstance(value, list) and all(_is_of_type(each, element) for each in value)
        case ["map", element]:
            fits = isinstance(value, dict) and all(_is_of_type(each, element) for each in value.values())
        case ["tuple", [*elements]]:
            fits = isinstance(value, list) and len(value) == len(elements) and all(map(_is_of_type, value, elements))
        case ["object", dict() as attributes, *_]:  # The names of optional ones may follow.
            fits = isinstance(value, dict) and all(
                name in attributes and _is_of_type(below, attributes[name]) for name, below in value.items()
            )
        case _:
            return False
    return fits or value is None
