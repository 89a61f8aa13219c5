"""What can go wrong while constructs are exported and imported. Texts name constructs and keys, never values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 200
"""Characters of a construct's path in a text."""


class CdkError(StrongRefError):
    """The root of what is told about constructs."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class ConstructError(CdkError):
    """Something failed at a construct: what every function of `strongref_cdk` raises.

    Attributes:
        path: the construct's, in its app.
        error: what failed.
    """

    path: str
    error: StrongRefError

    def __str__(self) -> str:
        return f"{cut(self.path, _SHOWN)}: {self.error}"


class RefusedByCdkError(CdkError):
    """The CDK does not make a construct of what was imported, or does not tell an attribute of one.

    Attributes:
        what: was to be made or told.
        problem: what the CDK says.
        values: that may stand in it, by what is shown instead.
    """

    def __init__(self, what: str, problem: str, values: Mapping[str, str] | None = None) -> None:
        super().__init__(what, problem)
        self.what = what
        self.problem = problem
        self._values = values or {}

    def __str__(self) -> str:
        text = (self.problem.splitlines() or [""])[0]
        for value, name in sorted(self._values.items(), key=lambda each: -len(each[0])):
            text = text.replace(value, f"<{name}>") if value else text
        return f"The CDK refuses {cut(self.what, _SHOWN)}: {cut(text.strip(' .'), NAMES_LIMIT)}."


@dataclass(eq=False)
class NotOneError(CdkError):
    """A construct has several of what is shared of it, or none, and nobody said which it is.

    Attributes:
        label: the construct's type.
        part: as the argument that says which.
        count: how many there are; None if the construct does not tell.
    """

    label: str
    part: str
    count: int | None

    def __str__(self) -> str:
        words = self.part.replace("_", " ")
        has = f"does not tell its {words}s" if self.count is None else f"has {self.count or 'no'} {words}s"
        return f"The {self.label} {has}. Say which one belongs to it: {self.part}=…."


@dataclass(eq=False)
class OtherOptionsError(CdkError):
    """One object is imported twice into one stack, and is to be two different constructs.

    Attributes:
        name: the object's.
        names: of the options that differ.
    """

    name: str
    names: Sequence[str]

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is imported already, with another {cut(some(self.names), NAMES_LIMIT)}. Use the "
            "construct that was imported, or give the same options."
        )


@dataclass(eq=False)
class NoReadyTypeError(CdkError):
    """A construct was to be made of a type of which no construct is known.

    Attributes:
        type_name: the type's.
    """

    type_name: str

    def __str__(self) -> str:
        return (
            f"{cut(self.type_name, _SHOWN)} is no ready type of the CDK. Read it by itself, with its deserialize, and "
            "make the construct of what it has."
        )


@dataclass(eq=False)
class UnevenSubnetsError(CdkError):
    """A VPC that the CDK cannot be given: it wants as many subnets of each tier in each availability zone.

    Attributes:
        tiers: for each tier, its availability zones.
    """

    tiers: Mapping[str, Sequence[str]]

    def __str__(self) -> str:
        zones = "; ".join(f"{tier}: {cut(some(sorted(each), 6), 120)}" for tier, each in self.tiers.items())
        return (
            f"The CDK takes a VPC only with the same number of subnets in each availability zone, in every tier. There "
            f"are {zones}. Import its parts, as in import_object(…).read_object('PrivateSubnets')."
        )


@dataclass(eq=False)
class ExportedElsewhereError(CdkError):
    """Two stacks of one app export one name, in one account and region, where CloudFormation allows it once.

    Attributes:
        name: the object's.
        stack: the other stack's path in the app.
    """

    name: str
    stack: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is exported by stack {cut(self.stack, _SHOWN)} of this app, to the same account "
            "and region, where a name can be exported once. Export it under a name of its own."
        )


@dataclass(eq=False)
class NotDeployedError(CdkError):
    """What is to be looked up is exported by a stack of the same app, which was not deployed with it yet.

    Attributes:
        name: of what was looked up.
        stack: the exporting stack's path in the app.
    """

    name: str
    stack: str

    def __str__(self) -> str:
        return (
            f"There is no {cut(self.name, _SHOWN)} yet: stack {cut(self.stack, _SHOWN)} of this app exports it and is "
            "not deployed with it yet. Pass the construct from stack to stack, or import with "
            "type=ResolveType.DEPLOYMENT."
        )


class SecretError(CdkError):
    """A value that is to be exported is one that CloudFormation puts a secret in the place of."""

    def __str__(self) -> str:
        return (
            "A value to be exported is a secret's: wherever it went, people could read it. Export the secret's ARN or "
            "name, and read the secret where it is needed. Nothing was written."
        )


@dataclass(eq=False)
class NoSuchConstructError(CdkError):
    """What was given to be exported is no construct of the type.

    Attributes:
        label: the type.
        given: what came, by its class.
        attribute: that it does not have.
    """

    label: str
    given: str
    attribute: str

    def __str__(self) -> str:
        return (
            f"A {cut(self.given, _SHOWN)} came, which has no {self.attribute}; a {self.label} is needed. Use the "
            "function for what it is."
        )


class NoStackError(CdkError):
    """A construct is in no stack: an app, or a stage."""

    def __str__(self) -> str:
        return "It is in no stack, and stacks are what exports and imports. Give a construct that is in one."


class NoListenerError(CdkError):
    """A load balancer was not imported here, so that its listener is not known here either."""

    def __str__(self) -> str:
        return (
            "Only the listener of what import_application_load_balancer, or another function of strongref_cdk, gave is "
            "known here. Use the listener that the program has made."
        )


@dataclass(eq=False)
class OptionNeededError(CdkError):
    """The CDK cannot make a construct without an option that no object tells.

    Attributes:
        label: the construct's type.
        option: its name.
        what: it is.
    """

    label: str
    option: str
    what: str

    def __str__(self) -> str:
        words = self.option.replace("_", " ")
        return f"The CDK makes no {self.label} without a {words}. Give it: {self.option}=…, {self.what}."
