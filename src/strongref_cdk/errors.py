"""Errors of constructs that are exported and imported. Texts name constructs and keys, never values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 200
"""Characters of a construct's path in a text."""


class CdkError(StrongRefError):
    """The base class of errors of this package."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class ConstructError(CdkError):
    """An error at a construct: the one that every function of `strongref_cdk` raises.

    Attributes:
        path: the construct's, in its app.
        error: the cause.
    """

    path: str
    error: StrongRefError

    def __str__(self) -> str:
        return f"{cut(self.path, _SHOWN)}: {self.error}"


@dataclass(eq=False)
class RefusedByCdkError(CdkError):
    """The CDK does not make a construct, or does not return an attribute of one.

    Attributes:
        what: strongref asked of the CDK.
        problem: the CDK's message.
        names: placeholders by value, for values that the message could contain.
    """

    what: str
    problem: str
    names: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        text = (self.problem.splitlines() or [""])[0]
        for value, name in sorted(self.names.items(), key=lambda each: -len(each[0])):
            text = text.replace(value, f"<{name}>") if value else text
        return f"The CDK refuses {cut(self.what, _SHOWN)}: {cut(text.strip(' .'), NAMES_LIMIT)}."


@dataclass(eq=False)
class NotOneError(CdkError):
    """A construct has several parts of a kind, or none, where exactly one is shared.

    Attributes:
        label: the construct's type.
        part: the argument that chooses one.
        count: how many there are; None if the construct does not say.
    """

    label: str
    part: str
    count: int | None

    def __str__(self) -> str:
        words = self.part.replace("_", " ")
        has = f"does not list its {words}s" if self.count is None else f"has {self.count or 'no'} {words}s"
        return f"The {self.label} {has}. Choose the one that belongs to it: {self.part}=…."


@dataclass(eq=False)
class OtherOptionsError(CdkError):
    """One stack imports an object twice, with different options.

    Attributes:
        name: the object's.
        names: the options that differ.
    """

    name: str
    names: Sequence[str]

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is already imported with another {cut(some(self.names), NAMES_LIMIT)}. Use the "
            "construct from the first import, or pass the same options."
        )


@dataclass(eq=False)
class NoReadyTypeError(CdkError):
    """A type has no construct in the CDK that strongref knows.

    Attributes:
        type_name: the type's name.
    """

    type_name: str

    def __str__(self) -> str:
        return (
            f"{cut(self.type_name, _SHOWN)} is not a ready type of the CDK. Read it with its own deserialize, and make "
            "the construct from its members."
        )


@dataclass(eq=False)
class UnevenSubnetsError(CdkError):
    """The CDK needs as many subnets of each tier in each availability zone, and a VPC does not have them.

    Attributes:
        tiers: the availability zones of each tier.
    """

    tiers: Mapping[str, Sequence[str]]

    def __str__(self) -> str:
        zones = "; ".join(f"{tier}: {cut(some(sorted(each), 6), 120)}" for tier, each in self.tiers.items())
        return (
            "The CDK needs the same number of subnets in each availability zone, in every tier of a VPC, got "
            f"{zones}. Import the VPC's parts, as in import_object(…).read_object('PrivateSubnets')."
        )


@dataclass(eq=False)
class ExportedElsewhereError(CdkError):
    """Two stacks of one app export one name in one account and region, where it must be unique.

    Attributes:
        name: the object's.
        stack: the other stack's path in the app.
    """

    name: str
    stack: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is exported by stack {cut(self.stack, _SHOWN)} of this app in the same account "
            "and region, where a name must be unique. Export it under another name."
        )


@dataclass(eq=False)
class NotDeployedError(CdkError):
    """A stack of the same app exports what is looked up, but was not deployed with it.

    Attributes:
        name: of the lookup.
        stack: the exporting stack's path in the app.
    """

    name: str
    stack: str

    def __str__(self) -> str:
        return (
            f"There is no {cut(self.name, _SHOWN)} yet: stack {cut(self.stack, _SHOWN)} of this app exports it, but "
            "was not deployed with it. Pass the construct from stack to stack, or import with "
            "type=ResolveType.DEPLOYMENT."
        )


class SecretError(CdkError):
    """CloudFormation would replace an exported value by a secret."""

    def __str__(self) -> str:
        return (
            "An exported value must not be a secret, because anyone could read it. Export the secret's ARN or name, "
            "and read the secret where it is used. Nothing was written."
        )


@dataclass(eq=False)
class NoSuchConstructError(CdkError):
    """A construct is not of the type that a function exports.

    Attributes:
        label: the type.
        given: the construct's class.
        attribute: the one that the construct lacks.
    """

    label: str
    given: str
    attribute: str

    def __str__(self) -> str:
        return (
            f"The construct must be a {self.label}, got a {cut(self.given, _SHOWN)}, which has no {self.attribute}. "
            "Use the function for its type."
        )


class NoStackError(CdkError):
    """A construct is not in a stack: an app, or a stage."""

    def __str__(self) -> str:
        return "The construct is not in a stack, and only stacks export and import. Pass a construct of a stack."


class NoListenerError(CdkError):
    """The listener of a load balancer is unknown, because strongref did not import the load balancer."""

    def __str__(self) -> str:
        return (
            "The listener is only known for a load balancer from import_application_load_balancer or another function "
            "of strongref_cdk. Use the listener that the program has made."
        )


@dataclass(eq=False)
class OptionNeededError(CdkError):
    """The CDK needs an option for a construct, and no object contains it.

    Attributes:
        label: the construct's type.
        option: its name.
        what: what the option is.
    """

    label: str
    option: str
    what: str

    def __str__(self) -> str:
        words = self.option.replace("_", " ")
        return f"The CDK needs a {words} for a {self.label}. Pass {self.option}=…, {self.what}."
