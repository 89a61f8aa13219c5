"""Terraform's addresses: what a value in a state is called, as in `module.x["k"].aws_s3_bucket.b[0].tags.Name`. Pure.

    output.NAME[PATH]
    [module.NAME[KEY].]…[data.]TYPE.NAME[KEY].ATTRIBUTE[PATH]

A KEY is that of `count`, `[0]`, or of `for_each`, `["a.b"]`, in which strings are quoted as in Terraform
(Terraform: internal/addrs/instance_key.go). A PATH leads into lists and maps: `.Name`, `["a key"]`, `[0]` or `.0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from strongref_manifests.errors import BadAddressError

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Path

MANAGED = "managed"
DATA = "data"

Key: TypeAlias = "str | int | None"
"""Which of a resource's or a module's instances; None where it has neither `count` nor `for_each`."""

_IDENTIFIER = re.compile(r"[^\W\d][\w-]*")
STEP = re.compile(r'\.(?P<name>[^\W\d][\w-]*)|\.(?P<legacy>\d+)|\[(?P<index>\d+)\]|\["(?P<key>(?:[^"\\\n]|\\.)*)"\]')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))|([$%])\4\{", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_TO_ESCAPE = {meant: f"\\{letter}" for letter, meant in _ESCAPED.items()}
_CHARACTER = re.compile(r"[$%]\{|.", re.DOTALL)
_LONG = 0x10000
"""From this one on, a character's number takes more than four digits."""
_NOT_IN_A_STATE = {
    "var": "a variable",
    "local": "a local value",
    "each": "an iteration's own",
    "count": "an iteration's own",
}


class TerraformModule(NamedTuple):
    """One level of a module's address."""

    name: str
    key: Key = None

    def __str__(self) -> str:
        return f"module.{self.name}{_bracketed(self.key)}"


@dataclass(frozen=True, slots=True)
class TerraformOutput:
    """An output of the root module: a state holds no others."""

    name: str

    def __str__(self) -> str:
        return f"output.{self.name}"


@dataclass(frozen=True, slots=True)
class TerraformResource:
    """One instance of a resource."""

    modules: tuple[TerraformModule, ...]  # those that it is in, from the outermost
    mode: str  # `managed`, or `data` for what Terraform only reads
    type: str  # as in `aws_s3_bucket`
    name: str
    key: Key = None  # which of its instances

    @property
    def whole(self) -> str:
        """The resource's address, without any keys: the same for all its instances."""
        return ".".join([*(f"module.{module.name}" for module in self.modules), self._own])

    @property
    def _own(self) -> str:
        return f"{'data.' if self.mode == DATA else ''}{self.type}.{self.name}"

    def __str__(self) -> str:
        return ".".join([*map(str, self.modules), self._own]) + _bracketed(self.key)


@dataclass(frozen=True, slots=True)
class TerraformReference:
    """What is asked of a state: something that it holds, and what leads into that."""

    target: TerraformOutput | TerraformResource  # what it holds
    path: Path = ()  # into it; a resource's begins with the name of an attribute

    @classmethod
    def parse(cls, text: str, *, whole: bool = False) -> TerraformReference:
        """Read a reference; `BadAddressError` if it is none.

        Only if it may be `whole`, a resource may be named without an attribute: that means the map of all of them.
        """
        steps = steps_in(text)
        if steps[0] == "output":
            names, rest = _names(text, steps[1:], "the output's name")
            return cls(TerraformOutput(names[0]), tuple(map(plain, rest)))
        resource, rest = _resource(text, steps)
        if (not rest and not whole) or (rest and isinstance(rest[0], _Index)):
            raise BadAddressError(text, "it ends where an attribute's name should follow, as in aws_s3_bucket.b.arn")
        return cls(resource, tuple(map(plain, rest)))

    def __str__(self) -> str:
        return f"{self.target}{path_text(self.path)}"


class _Index(NamedTuple):
    """A step in brackets."""

    key: str | int


_Step: TypeAlias = "str | _Index"


def modules_in(text: str) -> tuple[TerraformModule, ...]:
    """The levels of a module's own address, which is empty for the root; `BadAddressError` if it is no module's."""
    modules, rest = _modules(text, steps_in(text)) if text else ((), ())
    if rest:
        raise BadAddressError(text, "only modules may stand in a module's address")
    return modules


def path_text(path: Iterable[str | int]) -> str:
    """`.tags["a key"][0]`."""
    return "".join(
        f".{step}" if isinstance(step, str) and _IDENTIFIER.fullmatch(step) else _bracketed(step) for step in path
    )


def steps_in(text: str) -> tuple[_Step, ...]:
    """The steps of an address or a path; `BadAddressError` if it has others."""
    steps: list[_Step] = []
    given, at = f".{text}", 0
    while at < len(given):
        found = STEP.match(given, at)
        if not found or (not at and found["name"] is None):
            raise BadAddressError(text, f"it cannot be read from character {max(at, 1)} on")
        if found["name"] is not None:
            steps.append(found["name"])
        elif found["key"] is not None:
            steps.append(_Index(_unquoted(text, found["key"])))
        else:
            steps.append(_Index(int(found["legacy"] or found["index"])))
        at = found.end()
    return tuple(steps)


def _resource(text: str, steps: tuple[_Step, ...]) -> tuple[TerraformResource, tuple[_Step, ...]]:
    modules, rest = _modules(text, steps)
    if not modules and rest[0] in _NOT_IN_A_STATE:
        what = _NOT_IN_A_STATE[str(rest[0])]
        raise BadAddressError(text, f"it is {what}, which no state holds; make it an output of the root module")
    mode = DATA if rest and rest[0] == DATA else MANAGED
    if modules and len(rest) == 1:
        problem = "it may be a module's output, which no state holds; make it an output of the root module"
        raise BadAddressError(text, problem)
    (type_name, name), rest = _names(text, rest[mode == DATA :], "a resource's type", "a resource's name")
    key, rest = _key(rest)
    return TerraformResource(modules, mode, type_name, name, key), rest


def _modules(text: str, steps: tuple[_Step, ...]) -> tuple[tuple[TerraformModule, ...], tuple[_Step, ...]]:
    modules: list[TerraformModule] = []
    while steps and steps[0] == "module":
        (name,), steps = _names(text, steps[1:], "a module's name")
        key, steps = _key(steps)
        modules.append(TerraformModule(name, key))
    return tuple(modules), steps


def _names(text: str, steps: tuple[_Step, ...], *what: str) -> tuple[list[str], tuple[_Step, ...]]:
    """The names that have to come first, and the other steps."""
    names = []
    for number, each in enumerate(what):
        step = steps[number] if number < len(steps) else None
        if not isinstance(step, str):
            raise BadAddressError(text, f"{each} is missing")
        names.append(step)
    return names, steps[len(what) :]


def _key(steps: tuple[_Step, ...]) -> tuple[Key, tuple[_Step, ...]]:
    if steps and isinstance(steps[0], _Index):
        return steps[0].key, steps[1:]
    return None, steps


def plain(step: _Step) -> str | int:
    """The key or the position that a step names."""
    return step.key if isinstance(step, _Index) else step


def _unquoted(whole: str, text: str) -> str:
    def character(found: re.Match[str]) -> str:
        short, long, simple, sign = found.groups()
        if sign:
            return f"{sign}{{"
        if simple:
            if simple not in _ESCAPED:
                raise BadAddressError(whole, "a quoted string has a backslash before what needs none")
            return _ESCAPED[simple]
        try:
            return chr(int(short or long, 16))
        except (OverflowError, ValueError):
            raise BadAddressError(whole, "a quoted string names a character that there is not") from None

    return _ESCAPE.sub(character, text)


def _quoted(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        one = found[0]
        if len(one) > 1:
            return f"{one[0]}{one}"
        if one in _TO_ESCAPE or one.isprintable():
            return _TO_ESCAPE.get(one, one)
        return f"\\u{ord(one):04x}" if ord(one) < _LONG else f"\\U{ord(one):08x}"

    return _CHARACTER.sub(character, text)


def _bracketed(key: Key) -> str:
    if key is None:
        return ""
    return f"[{key}]" if isinstance(key, int) else f'["{_quoted(key)}"]'
