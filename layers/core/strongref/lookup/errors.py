"""What a look-up can end in besides an answer. Names and identifiers are told, never the values of properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, NoSuchResourceError, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_ID_LIMIT = 200
"""Characters of one identifier in a text; Cloud Control's limit is 1,024."""


@dataclass(eq=False)
class WantedError(StrongRefError):
    """A resource is not named in exactly one way, or in one that cannot be."""

    counted = ErrorMetric.REJECTED

    type_name: str
    problem: str

    def __str__(self) -> str:
        return f"{cut(self.type_name, _ID_LIMIT)}: {cut(self.problem, NAMES_LIMIT)}"


@dataclass(eq=False)
class UnknownTypeError(StrongRefError):
    """No type of that name is in the table.

    Attributes:
        type_name: as it was asked for.
        close: the types that are most like it.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    close: Sequence[str] = ()

    def __str__(self) -> str:
        meant = f"Did you mean {' or '.join(self.close)}?" if self.close else "Check its name, as in AWS::S3::Bucket."
        return f"{cut(self.type_name, _ID_LIMIT)} is no type of resource that can be looked up. {meant}"


@dataclass(eq=False)
class MissingPropertyError(StrongRefError):
    """More has to be known: its service asks for it, or the physical id alone tells nothing.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        missing: the properties that are needed and not known.
        identifier: the parts of the primary identifier, where it is these that are needed.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    missing: Sequence[str]
    identifier: Sequence[str] = ()

    def __str__(self) -> str:
        shown = [cut(name, 80) for name in self.missing]
        options = " ".join(f"--property {name}=…" for name in shown[:2])
        them = "it" if len(shown) == 1 else "them"
        whole = f" Or give its whole identifier, {cut('|'.join(self.identifier), 200)}." if self.identifier else ""
        return (
            f"{self.type_name} cannot be looked up without {cut(some(shown), 300)}. "
            f"Give {them} with {options}, in a template with Properties: {{{shown[0]}: …}}.{whole}"
        )


class UnrelatedArnError(NoSuchResourceError):
    """Nobody can tell whether an ARN is that of a resource of a type: it does not name it, nor does the resource."""

    def __init__(self, type_name: str, wanted: str, region: str) -> None:
        super().__init__(type_name, wanted, region)

    def __str__(self) -> str:
        return (
            f"{cut(self.wanted, NAMES_LIMIT)} cannot be told to be the ARN of a resource of {self.type_name}: it does "
            "not name that type, and such resources do not say their ARN. Check the type, or give the physical id."
        )


@dataclass(eq=False)
class AmbiguousError(StrongRefError):
    """Several resources could be the one that is looked for.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        wanted: what was looked for, as in `physical id web`.
        identifiers: the primary identifiers of those that it could be.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    wanted: str
    identifiers: Sequence[str]

    def __str__(self) -> str:
        shown = some([cut(each, _ID_LIMIT) for each in self.identifiers], 2)
        return (
            f"{self.type_name} with {cut(self.wanted, _ID_LIMIT)} could be {shown}. "
            "Give one of these identifiers, or more of its properties."
        )


@dataclass(eq=False)
class TooManyError(StrongRefError):
    """To find it, more resources would have to be read one by one than is reasonable.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        wanted: what was looked for, as in `name web`.
        among: how many there are.
        most: how many are read.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    wanted: str
    among: int
    most: int

    def __str__(self) -> str:
        return (
            f"To find {self.type_name} with {cut(self.wanted, NAMES_LIMIT)}, {self.among} resources would have to be "
            f"read one by one; at most {self.most} are. Give its physical id, or more of its properties."
        )


@dataclass(eq=False)
class NoSuchAttributeError(StrongRefError):
    """A resource has no attribute of that name.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        identifier: the resource's.
        name: as in `Endpoint.Address`.
        close: the attributes that are most like it.
        there: those that there are.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    identifier: str
    name: str
    close: Sequence[str]
    there: Collection[str]

    def __str__(self) -> str:
        which = f"{self.type_name} {cut(self.identifier, _ID_LIMIT)} has no attribute {cut(self.name, _ID_LIMIT)}."
        if self.close:
            return f"{which} Did you mean {' or '.join(cut(each, 100) for each in self.close)}?"
        return f"{which} It has {cut(some(sorted(self.there)), 300) or 'none'}."
