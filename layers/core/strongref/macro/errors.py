"""What can be wrong with the references and exports of a template.

Errors name logical IDs, properties and keys, and never a value. An error that ACK's controllers also have carries
ACK's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, REASON_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.macro.template import Path

_SHOWN = 200
"""Characters of a path or a name in a text."""


class MacroError(StrongRefError):
    """The root of errors about templates that the macro cannot transform."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class TemplateError(MacroError):
    """A problem at one path of a template.

    Attributes:
        path: from the template's top.
        name: ACK's name of the error; empty if ACK has no such error.
    """

    name: ClassVar[str] = ""

    path: Path

    @property
    def where(self) -> str:
        """The path, as in `Service.Properties.LoadBalancers[0].TargetGroupArnRef`."""
        return dotted(self.path)

    @property
    def problem(self) -> str:
        """What is wrong there, without the path."""
        raise NotImplementedError

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"{name}{cut(self.where, _SHOWN)}: {cut(self.problem, NAMES_LIMIT)}"


@dataclass(eq=False)
class ReferenceAndIDError(TemplateError):
    """A property has both a value and a reference.

    Attributes:
        given: the keys that set the property, as in `TargetGroupArn` and `TargetGroupArnRef`.
    """

    name = "ResourceReferenceAndIDNotSupported"

    given: Sequence[str]

    @property
    def problem(self) -> str:
        return f"{cut(some(self.given), _SHOWN)} cannot be combined; keep only one of them"


class MissingExportNameError(TemplateError):
    """A reference does not name an export."""

    @property
    def problem(self) -> str:
        return "must be the name of an export, as text and not a function; for a part of a map, as in Alb.Arn"


@dataclass(eq=False)
class MissingKeyError(TemplateError):
    """A required key is missing.

    Attributes:
        what: is missing, as in `the exporting stack's name`.
    """

    what: str

    @property
    def problem(self) -> str:
        return f"{self.what} is missing"


@dataclass(eq=False)
class UnknownKeyError(TemplateError):
    """An unknown key.

    Attributes:
        allowed: the known ones.
    """

    allowed: Sequence[str]

    @property
    def problem(self) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

        by_lower = {each.lower(): each for each in self.allowed}
        close = get_close_matches(str(self.path[-1]).lower(), by_lower, 1)
        meant = f" (did you mean {by_lower[close[0]]}?)" if close else ""
        return f"no such key{meant}; allowed are {some(self.allowed, len(self.allowed))}"


@dataclass(eq=False)
class WrongShapeError(TemplateError):
    """A map, a list, text or a function where something else must be.

    Attributes:
        got: what it is, in a word, as in `a list`.
        expected: what it must be, as in `a map of names to values`.
        hint: the next step; may be empty.
    """

    got: str
    expected: str
    hint: str = ""

    @property
    def problem(self) -> str:
        return f"must be {self.expected}, got {self.got}{f'; {self.hint}' if self.hint else ''}"


@dataclass(eq=False)
class BadPropertyError(TemplateError):
    """A property that the importer or the exporter would refuse.

    Attributes:
        reason: in their words, as in `must be a region code such as us-east-1, got 'Ireland'`.
    """

    reason: str

    @property
    def problem(self) -> str:
        return self.reason


@dataclass(eq=False)
class LoopError(TemplateError):
    """A reference depends on the variable of a loop, which has no value before the loop is expanded.

    Attributes:
        variable: of the `Fn::ForEach`.
    """

    variable: str

    @property
    def problem(self) -> str:
        return (
            f"it depends on {cut(self.variable, _SHOWN // 2)} of Fn::ForEach, which CloudFormation expands after this "
            "transform; write these references out"
        )


@dataclass(eq=False)
class SameInLoopError(TemplateError):
    """Every iteration of a loop would export the same.

    Attributes:
        variable: of the `Fn::ForEach`.
    """

    variable: str

    @property
    def problem(self) -> str:
        variable = cut(self.variable, _SHOWN // 2)
        return (
            f"neither its names nor its Region, Account or Consumer depend on {variable} of Fn::ForEach, so every "
            f"iteration would export the same; use ${{{variable}}} in one of them"
        )


@dataclass(eq=False)
class ConflictError(TemplateError):
    """Two resources export to the same target, and differ.

    Attributes:
        other: the path of the first of them.
        what: they differ in, as in `the value of WebAlb.Arn`.
    """

    other: Path
    what: str

    @property
    def problem(self) -> str:
        return (
            f"differs from {cut(dotted(self.other), _SHOWN)} in {cut(self.what, _SHOWN)}, and both go into one Export, "
            "since their Region, Account and Consumer are the same; make them equal, or rename one value"
        )


@dataclass(eq=False)
class NameInUseError(TemplateError):
    """The template has something else under a logical ID, or a condition's name, that the macro needs.

    Attributes:
        made: what needs the name, as in `the Export of Certificate`.
    """

    made: str

    @property
    def problem(self) -> str:
        return f"this name is reserved for {cut(self.made, _SHOWN)}; rename the one in the template"


class PartError(TemplateError):
    """The macro was called on a part of a template, where Imports cannot be added."""

    @property
    def problem(self) -> str:
        return (
            "StrongRef works only on whole templates, since it adds resources; move it from Fn::Transform to the "
            "Transform section"
        )


@dataclass(eq=False)
class BadParameterError(MacroError):
    """A bad parameter of the transform.

    Attributes:
        parameter: its name.
        problem: what is wrong with it.
    """

    parameter: str
    problem: str

    def __str__(self) -> str:
        return f"Parameter {cut(self.parameter, _SHOWN)} of the transform StrongRef {cut(self.problem, NAMES_LIMIT)}."


@dataclass(eq=False)
class NotATemplateError(MacroError):
    """The input is not a template, or the event is not one of CloudFormation's."""

    problem: str

    def __str__(self) -> str:
        return f"This is not a template: {cut(self.problem, NAMES_LIMIT)}."


@dataclass(eq=False)
class TransformFailedError(MacroError):
    """All problems of a template.

    Attributes:
        problems: in the order of the template.
    """

    problems: Sequence[TemplateError]

    def __str__(self) -> str:
        """As many as fit: CloudFormation shows them in one line."""
        text = ""
        for number, each in enumerate(self.problems):
            left = len(self.problems) - number
            more = f"{text}{each}. "
            if text and len(more) > REASON_LIMIT - 80:
                return f"{text}And {left} more: strongref transform --check shows all."
            text = more
        return text.strip()


def dotted(path: Path) -> str:
    """A path as people write it: from the logical ID on, if it leads into a resource."""
    steps = path[1:] if path[:1] == ("Resources",) and len(path) > 1 else path
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
