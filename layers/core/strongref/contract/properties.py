"""Properties of custom resources, as CloudFormation sends them: checked and made typed. Pure.

CloudFormation sends every scalar as a string (`"true"`, `"3"`); maps and lists keep their shape
(AWS: CloudFormation User Guide, custom resource request objects). Whatever is refused is a `BadRequestError` that names
the property, what came and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from strongref.contract.names import MAX_LABEL, is_level, is_stack_name
from strongref.errors import BadRequestError
from strongref.text import some

Properties = Mapping[str, object]
_E = TypeVar("_E", bound=Enum)

_CLOUDFORMATIONS_OWN = ("ServiceToken", "ServiceTimeout")
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]{2,12}){1,3}-[0-9]{1,2}")
_ACCOUNT = re.compile(r"[0-9]{12}")


def check_names(given: Properties, allowed: tuple[str, ...]) -> None:
    """Refuse properties of other names than these and CloudFormation's own."""
    unknown = [name for name in given if name not in allowed and name not in _CLOUDFORMATIONS_OWN]
    if unknown:
        raise BadRequestError(some(unknown), f"no such property; allowed are {some(allowed, len(allowed))}")


def parse_text(prop: str, given: object) -> str:
    if not isinstance(given, str):
        raise BadRequestError(prop, f"a string is needed, {shape(given)} came")
    return given


def parse_label(prop: str, given: object) -> str:
    """A name by which exports are addressed to somebody: a stack's, or one made up."""
    if not isinstance(given, str) or not is_level(given) or given.startswith("_") or len(given) > MAX_LABEL:
        raise BadRequestError(
            prop,
            f"{shown(given)} came; a stack's name or a label of letters, digits, _ and - is needed, not starting "
            f"with _, of at most {MAX_LABEL} characters",
        )
    return given


def parse_stack(prop: str, given: object) -> str:
    if not isinstance(given, str) or not is_stack_name(given):
        raise BadRequestError(prop, f"{shown(given)} came; the producing stack's name is needed")
    return given


def parse_strings(prop: str, given: object) -> list[str]:
    if not isinstance(given, list):
        raise BadRequestError(prop, f"a list of strings is needed, {shape(given)} came")
    return [parse_text(f"{prop}[{number}]", item) for number, item in enumerate(given)]


def parse_choice(prop: str, choices: type[_E], given: object) -> _E:
    allowed = [str(choice.value) for choice in choices]
    if given not in allowed:
        raise BadRequestError(prop, f"{shown(given)} came; allowed are {some(allowed)}")
    return choices(given)


def parse_boolean(prop: str, given: object) -> bool:
    if given not in ("true", "false"):
        raise BadRequestError(prop, f"{shown(given)} came; allowed are true and false")
    return given == "true"


def parse_account(prop: str, given: object) -> str:
    if not isinstance(given, str) or not _ACCOUNT.fullmatch(given):
        raise BadRequestError(prop, f"{shown(given)} came; an account is twelve digits, in quotes")
    return given


def parse_region(prop: str, given: object) -> str:
    if not isinstance(given, str) or not _REGION.fullmatch(given):
        raise BadRequestError(prop, f"{shown(given)} came; a region's code is needed, as in us-east-1")
    return given


def shape(given: object) -> str:
    """What came, in a word where it is more than one value."""
    return "a map" if isinstance(given, Mapping) else "a list" if isinstance(given, list) else f"{shown(given)}"


def shown(given: object) -> str:
    """What came, shortened: these properties are names and choices, never values."""
    if isinstance(given, Mapping | list):
        return shape(given)
    return "nothing" if given is None else repr(given if not isinstance(given, str) else given[:60])
