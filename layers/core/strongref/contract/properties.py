"""Properties of custom resources: declared in tables, checked, and made typed. Pure.

CloudFormation sends every scalar as a string (`"true"`, `"3"`); maps and lists keep their shape
(AWS: CloudFormation User Guide, custom resource request objects). What is refused is a `BadRequestError` that names the
property, what it must be, and what was given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from strongref.contract.hold_stacks import MAX_EXPORT_NAME, is_export_name
from strongref.contract.names import MAX_LABEL, is_level, is_stack_name
from strongref.errors import BadRequestError
from strongref.text import some

Properties = Mapping[str, object]
Parser = Callable[[str, object], Any]
"""Makes a property typed, given its name for errors and what was given."""

_E = TypeVar("_E", bound=Enum)

CLOUDFORMATIONS_OWN = ("ServiceToken", "ServiceTimeout")


@dataclass(frozen=True, slots=True)
class Property:
    parse: Parser  # makes it typed
    default: object = None  # what it is where a template leaves it out; not parsed
    required: str = ""  # what must be given, as an error says it; empty if the property is optional


Table = Mapping[str, Property]
"""The properties of a custom resource, or the keys of a map among them, by name."""


def read(given: Properties, table: Table, within: str = "") -> dict[str, Any]:
    """Every property of a table, typed, or its default. `within` names the map whose keys these are, if any.

    Raises:
        BadRequestError: a property is unknown, missing, or not what it must be.
    """
    own, path = ((), f"{within}.") if within else (CLOUDFORMATIONS_OWN, "")
    unknown = [name for name in given if name not in table and name not in own]
    if unknown:
        from difflib import get_close_matches  # noqa: PLC0415 (only this error needs it)

        verb = "is" if len(unknown) == 1 else "are"
        close = [meant for name in unknown for meant in get_close_matches(name, table, 1)]
        hint = f" (did you mean {' or '.join(dict.fromkeys(close))}?)" if close else ""
        must_be_one = f"{verb} unknown; must be one of {some(table, len(table))}{hint}"
        raise BadRequestError(f"{path}{some(unknown)}", must_be_one)
    found = {}
    for name, each in table.items():
        if name in given:
            found[name] = each.parse(f"{path}{name}", given[name])
        elif each.required:
            raise BadRequestError(f"{path}{name}", f"is missing; must be {each.required}")
        else:
            found[name] = each.default
    return found


def must_be(prop: str, expected: str, given: object) -> BadRequestError:
    """The error for a property that is not what it must be."""
    return BadRequestError(prop, f"must be {expected}, got {shown(given)}")


def string(expected: str, fits: Callable[[str], object]) -> Callable[[str, object], str]:
    """The parser of a string that fits."""

    def parse(prop: str, given: object) -> str:
        if not isinstance(given, str) or not fits(given):
            raise must_be(prop, expected, given)
        return given

    return parse


parse_text = string("a string", lambda _: True)
parse_label = string(
    f"a stack's name or a label of at most {MAX_LABEL} letters, digits, _ and -, not starting with _",
    lambda text: is_level(text) and not text.startswith("_") and len(text) <= MAX_LABEL,
)
parse_stack = string("the producing stack's name", is_stack_name)
parse_export_name = string(
    f"a CloudFormation export's name of at most {MAX_EXPORT_NAME} letters, digits, colons and hyphens", is_export_name
)
parse_account = string("an account's twelve digits, in quotes", re.compile("[0-9]{12}").fullmatch)
parse_region = string(
    "a region code such as us-east-1", re.compile("[a-z]{2,4}(-[a-z]{2,12}){1,3}-[0-9]{1,2}").fullmatch
)


def parse_strings(prop: str, given: object) -> list[str]:
    if not isinstance(given, list):
        raise must_be(prop, "a list of strings", given)
    return [parse_text(f"{prop}[{number}]", item) for number, item in enumerate(given)]


def choice(choices: type[_E]) -> Callable[[str, object], _E]:
    """The parser of one of these choices' values."""
    allowed = [str(each.value) for each in choices]

    def parse(prop: str, given: object) -> _E:
        if given not in allowed:
            raise must_be(prop, " or ".join(allowed), given)
        return choices(given)

    return parse


def parse_boolean(prop: str, given: object) -> bool:
    if given not in ("true", "false"):
        raise must_be(prop, "true or false", given)
    return given == "true"


def parse_number(variable: str, text: str, unit: str, most: float = math.inf) -> float:
    """The number of an environment variable, from 0 to `most`; `unit` says what it is, as in `seconds`."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most or number == math.inf:
        raise BadRequestError(variable, f"must be a number of {unit}, got {text!r}")
    return number


def as_given(_prop: str, given: object) -> object:
    """For a property that is read later."""
    return given


def shown(given: object) -> str:
    """What was given, shortened: such properties are names and choices, never values."""
    if isinstance(given, Mapping | list):
        return "a map" if isinstance(given, Mapping) else "a list"
    return "nothing" if given is None else repr(given if not isinstance(given, str) else given[:60])
