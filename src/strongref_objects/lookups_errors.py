"""What stands in the way of an object's being looked up in the environment, beside what `lookup.errors` has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError, UnsupportedError
from strongref.lookup.errors import AmbiguousError, TooManyError
from strongref.text import NAMES_LIMIT, cut, some
from strongref_objects.identity_errors import a, at_the_start

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 120
"""Characters of one id or tag in a text."""


class EnvironmentLookupError(StrongRefError):
    """Something was found, and is no object of the type that is looked for, or not one that can be told."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class NowhereError(EnvironmentLookupError):
    """An object is to be looked up by tags, and nobody said where.

    Attributes:
        label: its type, as in `VPC`.
        stack: for which it is looked up.
        what: is not known: the region, or the account.
    """

    label: str
    stack: str
    what: str

    def __str__(self) -> str:
        way_out = ", or have credentials (AWS_PROFILE)" if self.what == "account" else ""
        return (
            f"{at_the_start(a(self.label))} cannot be looked up by tags: the {self.what} of {cut(self.stack, _SHOWN)} "
            f"is not known. Give it its {self.what}{way_out}."
        )


@dataclass(eq=False)
class NotTaggedError(EnvironmentLookupError):
    """The tagging API tells nothing of such objects, whatever tags they have.

    Attributes:
        label: their type, as in `role`.
    """

    label: str

    def __str__(self) -> str:
        return (
            f"{at_the_start(a(self.label))} cannot be looked up by tags: AWS's tagging API does not tell such "
            "resources. Name it by its ARN or its name: from_arn, from_name."
        )


class SeveralTaggedError(AmbiguousError):
    """Several resources of a type have the tags."""

    def __str__(self) -> str:
        shown = cut(some(self.identifiers, 2), NAMES_LIMIT)
        return (
            f"{self.type_name} with {cut(self.wanted, 2 * _SHOWN)} could be {shown}. "
            "Give one more tag, which only the right one has, or name it by its ARN: from_arn."
        )


class TooManyTaggedError(TooManyError):
    """So many have the tags that they would have to be read one by one."""

    def __str__(self) -> str:
        return (
            f"To find {self.type_name} with {cut(self.wanted, NAMES_LIMIT)}, {self.among} resources would have to be "
            f"read one by one; at most {self.most} are. Give one more tag, which only the right one has, or name it by "
            "its ARN: from_arn."
        )


class TooMuchAroundError(TooManyError):
    """So much is in a region that what is in a VPC cannot be found in it."""

    def __str__(self) -> str:
        return (
            f"To find each {self.type_name} with {cut(self.wanted, NAMES_LIMIT)}, {self.among} resources of the region "
            f"would have to be read one by one; at most {self.most} are. Name the VPC by its ARN, and say what is in "
            "it: Vpc.from_arn(…, private_subnets=…)."
        )


class NotReadableError(UnsupportedError):
    """Cloud Control does not tell of resources of that type, of which an object consists."""

    def __str__(self) -> str:
        where = f" in {self.region}" if self.region else ""
        return (
            f"{self.type_name} does not support {self.action} of Cloud Control{where}, which a look-up by tags needs. "
            "Name what is looked up by its ARN or its name: from_arn, from_name."
        )


@dataclass(eq=False)
class BadTierError(EnvironmentLookupError):
    """A subnet's tag says a tier that there is not.

    Attributes:
        subnet: its id.
        tag: the tag's key.
        came: its value.
        tiers: those that there are.
    """

    subnet: str
    tag: str
    came: str
    tiers: Sequence[str]

    def __str__(self) -> str:
        return (
            f"Tag {self.tag} of {cut(self.subnet, _SHOWN)} is {cut(self.came, _SHOWN)!r}; it can be "
            f"{some(self.tiers)}. Correct it, or take it off: then the subnet's routes tell its tier."
        )


@dataclass(eq=False)
class NoRouteTableError(EnvironmentLookupError):
    """It cannot be told which route table a subnet uses.

    Attributes:
        subnets: those that have none of their own, and so use the VPC's main one.
        vpc: the VPC's id.
        tables: its route tables, of which one is the main one.
    """

    subnets: Sequence[str]
    vpc: str
    tables: Sequence[str]

    def __str__(self) -> str:
        which = f"which of {cut(some(self.tables, 5), NAMES_LIMIT // 2)} that is" if self.tables else "which that is"
        has, it = ("has", "it") if len(self.subnets) == 1 else ("have", "each of them")
        return (
            f"{cut(some(self.subnets, 5), NAMES_LIMIT // 2)} of {self.vpc} {has} no route table associated, so the "
            f"main one is used, and Cloud Control does not tell {which}. Associate a route table with {it}."
        )


@dataclass(eq=False)
class SeveralPartsError(EnvironmentLookupError):
    """What was found has several things where an object of the type has one.

    Attributes:
        found: what was found.
        part: the argument that tells which is meant, as in `listener`.
        there: those that there are.
    """

    found: str
    part: str
    there: Sequence[str]

    def __str__(self) -> str:
        counted = f"several ({cut(some(self.there, 3), NAMES_LIMIT)})" if self.there else "none"
        return f"{self.part} of {cut(self.found, 2 * _SHOWN)}: there are {counted}. Say which is meant: {self.part}=…."


@dataclass(eq=False)
class SeveralObjectsError(EnvironmentLookupError):
    """Several objects have one name.

    Attributes:
        name: the name.
        origins: where each comes from, in words.
    """

    name: str
    origins: Sequence[str]

    def __str__(self) -> str:
        return (
            f"There are several objects {cut(self.name, _SHOWN)}: {cut(some(self.origins, 5), NAMES_LIMIT)}. Say which "
            "is meant with --stack or --consumer."
        )


@dataclass(eq=False)
class SecretPartsError(EnvironmentLookupError):
    """Parts of an object are SecureStrings, and nobody said that secrets may be given out.

    Attributes:
        name: the object's.
        keys: of those parts.
    """

    name: str
    keys: Sequence[str]

    def __str__(self) -> str:
        are = "is a SecureString" if len(self.keys) == 1 else "are SecureStrings"
        return (
            f"{cut(some(self.keys, 5), NAMES_LIMIT)} of {cut(self.name, _SHOWN)} {are}. Give --sensitive if secrets "
            "may be given out."
        )


@dataclass(eq=False)
class NotInContextError(EnvironmentLookupError):
    """Something is to be forgotten that is not kept.

    Attributes:
        names: what.
        file: the context file's path.
        close: names that it may have been meant to be.
    """

    names: Sequence[str]
    file: str
    close: Sequence[str]

    def __str__(self) -> str:
        meant = f" Did you mean {cut(some(self.close, 3), NAMES_LIMIT // 2)}?" if self.close else ""
        names = cut(some(self.names, 5), NAMES_LIMIT // 2)
        return f"{cut(self.file, 2 * _SHOWN)} keeps nothing of {names}.{meant} Nothing was forgotten."
