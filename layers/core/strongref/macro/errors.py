"""What can be wrong with the references of a template. Texts name logical ids, properties and keys, and never a value.

Where ACK's controllers have an error for the same mistake, it has the same name here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, REASON_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from strongref.macro.base import Path

_SHOWN = 200
"""Characters of a path or a name in a text."""


class MacroError(StrongRefError):
    """The root of what is told about templates with references: somebody asked for what cannot be."""

    counted = ErrorMetric.REJECTED


class TemplateError(MacroError):
    """Something is wrong in one place of a template.

    Attributes:
        path: where, from the template's top.
        name: what ACK's controllers call it; empty where they have no such error.
    """

    name: ClassVar[str] = ""

    def __init__(self, path: Path, *data: object) -> None:
        super().__init__(path, *data)
        self.path = path

    @property
    def where(self) -> str:
        """The place, as in `Service.Properties.LoadBalancers[0].TargetGroupArnRef`."""
        return dotted(self.path)

    @property
    def problem(self) -> str:
        """What is wrong there, without the place."""
        raise NotImplementedError

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"{name}{cut(self.where, _SHOWN)}: {cut(self.problem, NAMES_LIMIT)}"


class ReferenceAndIDError(TemplateError):
    """A property is given, and a reference for it as well.

    Attributes:
        given: all the keys that say what it is, as in `TargetGroupArn` and `TargetGroupArnRef`.
    """

    name = "ResourceReferenceAndIDNotSupported"

    def __init__(self, path: Path, given: Sequence[str]) -> None:
        super().__init__(path, given)
        self.given = given

    @property
    def problem(self) -> str:
        return f"{cut(some(self.given), _SHOWN)} are given together; leave all but one of them out"


class EmptyReferenceError(TemplateError):
    """A reference does not say what it refers to."""

    @property
    def problem(self) -> str:
        return "the name of an export is needed, as text (it cannot be a function); for a part of a map as in Alb.Arn"


class MissingKeyError(TemplateError):
    """Something that has to be there is not.

    Attributes:
        what: it is, as in `the exporting stack's name`.
    """

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(path, what)
        self.what = what

    @property
    def problem(self) -> str:
        return f"{self.what} is missing"


class UnknownKeyError(TemplateError):
    """A key that nothing is known of.

    Attributes:
        allowed: what may stand there.
    """

    def __init__(self, path: Path, allowed: Sequence[str]) -> None:
        super().__init__(path, allowed)
        self.allowed = allowed

    @property
    def problem(self) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

        by_lower = {each.lower(): each for each in self.allowed}
        close = get_close_matches(str(self.path[-1]).lower(), by_lower, 1)
        meant = f" (did you mean {by_lower[close[0]]}?)" if close else ""
        return f"no such key{meant}; allowed are {some(self.allowed, len(self.allowed))}"


class WrongShapeError(TemplateError):
    """Something else came than is needed.

    Attributes:
        came: in a word, as in `a list`.
        wanted: what is needed, and what to do.
    """

    def __init__(self, path: Path, came: str, wanted: str) -> None:
        super().__init__(path, came, wanted)
        self.came = came
        self.wanted = wanted

    @property
    def problem(self) -> str:
        return f"{self.came} came; {self.wanted}"


class BadPropertyError(TemplateError):
    """The importer or the exporter would refuse it, by their own rules.

    Attributes:
        told: in their words, as in `'Ireland' came; a region's code is needed, as in us-east-1`.
    """

    def __init__(self, path: Path, told: str) -> None:
        super().__init__(path, told)
        self.told = told

    @property
    def problem(self) -> str:
        return self.told


class LoopError(TemplateError):
    """A reference depends on the variable of a loop, which is known only once the loop is gone.

    Attributes:
        variable: of the `Fn::ForEach`.
    """

    def __init__(self, path: Path, variable: str) -> None:
        super().__init__(path, variable)
        self.variable = variable

    @property
    def problem(self) -> str:
        return (
            f"it depends on {cut(self.variable, _SHOWN // 2)} of Fn::ForEach, which CloudFormation goes through after "
            "this transform; write those references out"
        )


class SameInLoopError(TemplateError):
    """Every turn of a loop would export the same.

    Attributes:
        variable: of the `Fn::ForEach`.
    """

    def __init__(self, path: Path, variable: str) -> None:
        super().__init__(path, variable)
        self.variable = variable

    @property
    def problem(self) -> str:
        variable = cut(self.variable, _SHOWN // 2)
        return (
            f"neither its names nor its Region, Account or Consumer depend on {variable} of Fn::ForEach, so that every "
            f"turn would export the same; write ${{{variable}}} into one of them"
        )


class ConflictError(TemplateError):
    """Two resources export to the same target, and do not agree.

    Attributes:
        other: where the first of them says it.
        what: they do not agree about, as in `the value of WebAlb.Arn`.
    """

    def __init__(self, path: Path, other: Path, what: str) -> None:
        super().__init__(path, other, what)
        self.other = other
        self.what = what

    @property
    def problem(self) -> str:
        return (
            f"{cut(dotted(self.other), _SHOWN)} says otherwise about {cut(self.what, _SHOWN)}, and one Export is made "
            "of both, since their Region, Account and Consumer are the same; let them agree, or give a value another "
            "name"
        )


class TakenError(TemplateError):
    """The template has something else under a logical id, or a condition's name, that is made here.

    Attributes:
        made: what was to be called so, as in `the Export of Certificate`.
    """

    def __init__(self, path: Path, made: str) -> None:
        super().__init__(path, made)
        self.made = made

    @property
    def problem(self) -> str:
        return f"that name is needed for {cut(self.made, _SHOWN)}; give what is called so another one"


class PartError(TemplateError):
    """The macro was asked to work on a part of a template, where Imports cannot be added."""

    @property
    def problem(self) -> str:
        return (
            "StrongRef works on whole templates only, since it adds resources; take it out of Fn::Transform and put it "
            "into the section Transform"
        )


@dataclass(eq=False)
class BadParameterError(MacroError):
    """A parameter of the transform that cannot be understood.

    Attributes:
        parameter: its name.
        problem: what is wrong with it.
    """

    parameter: str
    problem: str

    def __str__(self) -> str:
        return f"Parameter {cut(self.parameter, _SHOWN)} of the transform StrongRef: {cut(self.problem, NAMES_LIMIT)}."


@dataclass(eq=False)
class NotATemplateError(MacroError):
    """What came is no template at all, or CloudFormation's event is none."""

    problem: str

    def __str__(self) -> str:
        return f"This is no template: {cut(self.problem, NAMES_LIMIT)}."


class TransformFailedError(MacroError):
    """All that is wrong with a template's references.

    Attributes:
        problems: in the order of the template.
    """

    def __init__(self, problems: Collection[TemplateError]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        """As many as there is room for: CloudFormation shows it in one line."""
        told = ""
        for number, each in enumerate(self.problems):
            left = len(self.problems) - number
            more = f"{told}{each}. "
            if told and len(more) > REASON_LIMIT - 80:
                return f"{told}And {left} more: strongref transform --check shows all."
            told = more
        return told.strip()


def dotted(path: Path) -> str:
    """A path as people write it: from the logical id on, if it leads into a resource."""
    steps = path[1:] if path[:1] == ("Resources",) and len(path) > 1 else path
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
