"""What can be wrong with the references and exports of a template.

Errors name logical IDs, properties and keys, and never a value. An error that ACK's controllers also have carries
ACK's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from strongref.errors import RejectedError
from strongref.text import NAMES_LIMIT, REASON_LIMIT, cut, filled, some

if TYPE_CHECKING:
    from strongref.macro.template import Path

_SHOWN = 200
"""Characters of a path or a name in a text."""


class MacroError(RejectedError):
    """The root of errors about templates that the macro cannot transform."""


class TemplateError(MacroError):
    """A problem at one path of a template."""

    name: ClassVar[str] = ""  # ACK's name of the error; empty if ACK has no such error
    path: Path

    @property
    def where(self) -> str:
        """The path, as in `Service.Properties.LoadBalancers[0].TargetGroupArnRef`."""
        return dotted(self.path)

    @property
    def problem(self) -> str:
        """What is wrong there, without the path."""
        return filled(self.sentence, self)

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"{name}{cut(self.where, _SHOWN)}: {cut(self.problem, NAMES_LIMIT)}"


class ReferenceAndIDError(TemplateError):
    name = "ResourceReferenceAndIDNotSupported"
    given: Sequence[str]  # the keys that set the property, as in `TargetGroupArn` and `TargetGroupArnRef`
    sentence = "{given} cannot be combined; keep only one of them"


class MissingExportNameError(TemplateError):
    sentence = "must be the name of an export, as text and not a function; for a part of a map, as in Alb.Arn"


class MissingKeyError(TemplateError):
    what: str  # as in `the exporting stack's name`
    sentence = "{what} is missing"


class UnknownKeyError(TemplateError):
    allowed: Sequence[str]

    @property
    def problem(self) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

        by_lower = {each.lower(): each for each in self.allowed}
        close = get_close_matches(str(self.path[-1]).lower(), by_lower, 1)
        meant = f" (did you mean {by_lower[close[0]]}?)" if close else ""
        return f"no such key{meant}; allowed are {some(self.allowed, len(self.allowed))}"


class WrongShapeError(TemplateError):
    got: str  # what it is, in a word, as in `a list`
    expected: str  # what it must be, as in `a map of names to values`
    hint: str = ""  # the next step; may be empty

    @property
    def problem(self) -> str:
        return f"must be {self.expected}, got {self.got}{f'; {self.hint}' if self.hint else ''}"


class MissingSuffixError(TemplateError):
    key: str  # the key to write, as in `VpcIdRef`
    sentence = "the key of a reference ends in Ref, and that of a list in Refs; write {key:200}"


class MisplacedError(TemplateError):
    sentence = (
        "no reference works here, since CloudFormation reads this before it makes resources; use references in the "
        "Properties, Metadata and UpdatePolicy of resources, and in the Value of outputs"
    )


class BadPropertyError(TemplateError):
    """A property that the importer or the exporter would refuse."""

    reason: str  # in their words, as in `must be a region code such as us-east-1, got 'Ireland'`
    sentence = "{reason}"


class LoopError(TemplateError):
    variable: str  # of the `Fn::ForEach`
    sentence = (
        "it depends on {variable:100} of Fn::ForEach, which CloudFormation expands after this transform; write these "
        "references out"
    )


class LoopTextError(TemplateError):
    variable: str  # of the `Fn::ForEach`
    hint: str  # the next step
    sentence = "CloudFormation does not replace {variable:100} of Fn::ForEach here; {hint:300}"


class SameInLoopError(TemplateError):
    variable: str  # of the `Fn::ForEach`
    sentence = (
        "neither Region, Account nor Consumer depends on {variable:100} of Fn::ForEach, so every iteration would "
        "export the same; use !Sub with ${{{variable:100}}} in one of them"
    )


class ConflictError(TemplateError):
    other: Path  # the path of the first of them
    what: str  # the difference, as in `the value of WebAlb.Arn`

    @property
    def problem(self) -> str:
        return (
            f"differs from {cut(dotted(self.other), _SHOWN)} in {cut(self.what, _SHOWN)}, and both go into one Export, "
            "since their Region, Account and Consumer are the same; make them equal, or rename one value"
        )


class NameInUseError(TemplateError):
    """The template has something else under a logical ID, or a condition's name, that the macro needs."""

    made: str  # what needs the name, as in `the Export of Certificate`
    sentence = "this name is reserved for {made:200}; rename the one in the template"


class ReplacedResourceError(TemplateError):
    """Something uses a Reader or a Writer of the CDK that Imports or Exports replace, and cannot use those instead."""

    logical_id: str
    hint: str  # the next step
    sentence = "StrongRef replaces {logical_id:100}, and cannot replace this use of it; {hint:300}"


class PartError(TemplateError):
    sentence = (
        "StrongRef works only on whole templates, since it adds resources; move it from Fn::Transform to the Transform "
        "section"
    )


class BadParameterError(MacroError):
    parameter: str
    problem: str
    sentence = "Parameter {parameter:200} of the transform StrongRef {problem:500}."


class NotATemplateError(MacroError):
    """The input is not a template, or the event is not one of CloudFormation's."""

    problem: str
    sentence = "This is not a template: {problem:500}."


class TooDeepError(MacroError):
    path: Path  # of something that is too deep
    limit: int  # levels of maps and lists

    def __str__(self) -> str:
        where = cut(dotted(self.path), 120)
        return f"The template has more than {self.limit} levels of maps and lists, at {where}. Flatten that value."


class TransformFailedError(MacroError):
    problems: Sequence[TemplateError]  # in the order of the template

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
