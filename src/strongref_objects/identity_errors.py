"""What is wrong with an ARN or a name that is to stand for an object, or is missing to make one of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 120
"""Characters of an ARN or a name in a text."""


_SPOKEN = re.compile("[AEFHILMNORSX][A-Z0-9]*s?|[AEIOaeio][a-z].*|[Uu](?!se|sa|ni|ti|ri).*")
"""A first word that begins with a vowel when it is said: as an abbreviation, letter by letter, or as a word."""


def a(label: str) -> str:
    """With its article: `a bucket`, `an application load balancer`, `a user pool`, `an EC2 instance`."""
    return f"{'an' if _SPOKEN.fullmatch(label.split(maxsplit=1)[0]) else 'a'} {label}"


def at_the_start(text: str) -> str:
    """As a sentence begins."""
    return text[0].upper() + text[1:]


class IdentityError(StrongRefError):
    """Something does not identify an object of its type."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class NotAnArnError(IdentityError):
    """What should be an ARN is none.

    Attributes:
        label: of what it should be the ARN, as in `bucket`.
        came: what came instead.
        is_name: whether such an object can be called so.
    """

    label: str
    came: str
    is_name: bool = field(kw_only=True)

    def __str__(self) -> str:
        way_out = "It can be a name: use from_name." if self.is_name else "An ARN begins with arn: and has six fields."
        return f"{cut(self.came, _SHOWN)!r} is not the ARN of {a(self.label)}. {way_out}"


@dataclass(eq=False)
class OtherArnError(IdentityError):
    """It is an ARN, but of something else.

    Attributes:
        label: of what it should be the ARN.
        arn: what came.
        form: how such ARNs are spelled.
        other: what it is the ARN of, if that is known.
    """

    label: str
    arn: str
    form: str
    other: str | None = None

    def __str__(self) -> str:
        is_what = f"is the ARN of {a(self.other)}, not" if self.other else "is not the ARN"
        return f"{cut(self.arn, _SHOWN)} {is_what} of {a(self.label)}, which is {self.form}. Check it."


@dataclass(eq=False)
class NotANameError(IdentityError):
    """Nothing of that type can be called so.

    Attributes:
        label: of what it should be the name.
        name: what came.
        pattern: what such a name has to match.
    """

    label: str
    name: str
    pattern: str

    def __str__(self) -> str:
        is_arn = self.name.startswith("arn:")
        way_out = "It looks like an ARN: use from_arn." if is_arn else f"It has to match {cut(self.pattern, 200)}."
        return f"{cut(self.name, _SHOWN)!r} cannot be the name of {a(self.label)}. {way_out}"


@dataclass(eq=False)
class NotTextError(IdentityError):
    """What should be an ARN or a name is no text, nor anything that stands for one.

    Attributes:
        label: of what it should be the ARN or the name.
        what: `ARN` or `name`.
        came: what came instead, in words; never what it is.
    """

    label: str
    what: str
    came: str

    def __str__(self) -> str:
        return (
            f"What is given as the {self.what} of {a(self.label)} is {self.came}. Give a string, or one of "
            "CloudFormation's functions."
        )


@dataclass(eq=False)
class BadPlaceError(IdentityError):
    """Nothing can be in the partition, region or account that is given.

    Attributes:
        label: of what should be there, as in `queue`.
        argument: which of the three.
        problem: what came, and what is needed.
    """

    label: str
    argument: str
    problem: str

    def __str__(self) -> str:
        return f"The {self.argument} of {a(self.label)}: {cut(self.problem, NAMES_LIMIT)}."


@dataclass(eq=False)
class NotToldError(IdentityError):
    """What an object is made of does not say all of what belongs to it.

    Attributes:
        label: the object's type.
        missing: what has to be given beside it: arguments, as in `hosted_zone_name`.
        by: what does not say it, as in `its ARN`.
    """

    label: str
    missing: Sequence[str]
    by: str

    def __str__(self) -> str:
        shown = cut(some(self.missing), NAMES_LIMIT)
        arguments = ", ".join(f"{name}=…" for name in self.missing[:2])
        return f"{shown} of {a(self.label)} cannot be told by {self.by}. Give what is missing as well: {arguments}."


@dataclass(eq=False)
class NoSuchPartError(IdentityError):
    """Something was given that no object of that type has.

    Attributes:
        label: the object's type.
        names: what was given.
        there: what it has.
    """

    label: str
    names: Sequence[str]
    there: Sequence[str]

    def __str__(self) -> str:
        given = cut(some(self.names), NAMES_LIMIT // 2)
        return f"{at_the_start(a(self.label))} has no {given}. It has {cut(some(self.there, 15), NAMES_LIMIT)}."


@dataclass(eq=False)
class OtherPartError(IdentityError):
    """A part of an object is no object of its type.

    Attributes:
        label: the object's type.
        part: the part's name, as in `security_group`.
        needed: the class that it has to be of.
        came: what came instead, in words; never what it is.
    """

    label: str
    part: str
    needed: str
    came: str

    def __str__(self) -> str:
        return (
            f"{cut(self.part, _SHOWN)} of {a(self.label)} has to be of class {cut(self.needed, _SHOWN)}, and is "
            f"{cut(self.came, _SHOWN)}. Give an object of that class."
        )


@dataclass(eq=False)
class UnevenListsError(IdentityError):
    """Lists that belong together, item by item, have different lengths.

    Attributes:
        label: the object's type.
        lengths: the number of items of each list.
    """

    label: str
    lengths: dict[str, int]

    def __str__(self) -> str:
        counted = some([f"{name} has {length}" for name, length in self.lengths.items()])
        return f"{at_the_start(a(self.label))} needs lists of one length, an item for each: {counted}."


@dataclass(eq=False)
class NotDeclaredError(IdentityError):
    """A type of object has fields of which nothing says what they are.

    Attributes:
        label: the type.
        names: the fields'.
    """

    label: str
    names: Sequence[str]

    def __str__(self) -> str:
        shown = cut(some(self.names), NAMES_LIMIT)
        return f"{shown} of {a(self.label)}: nothing says what that is. Declare it with told(…), texts() or part(…)."


@dataclass(eq=False)
class BadDeclarationError(IdentityError):
    """A type of object is declared so that none can be written, read or named.

    Attributes:
        label: the type.
        problem: what is wrong with its declaration.
    """

    label: str
    problem: str

    def __str__(self) -> str:
        return f"{at_the_start(a(self.label))} cannot be declared so: {cut(self.problem, NAMES_LIMIT)}."
