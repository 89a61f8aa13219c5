"""What can go wrong while constructs are exported and imported. Texts name constructs and keys, never values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import NAMES_LIMIT, Counted, StrongRefError, cut, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 200
"""Characters of a construct's path in a text."""


class CdkError(StrongRefError):
    """The root of what is told about constructs."""

    counted = Counted.REJECTED


class ConstructError(CdkError):
    """Something failed at a construct: what every function of `strongref.cdk` raises.

    Attributes:
        path: the construct's, in its app.
        error: what failed.
    """

    def __init__(self, path: str, error: StrongRefError) -> None:
        super().__init__(path, error)
        self.path = path
        self.error = error

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


class NotOneError(CdkError):
    """A construct has several of what is shared of it, or none, and nobody said which it is.

    Attributes:
        label: the construct's type.
        part: as the argument that says which.
        count: how many there are; None if the construct does not tell.
    """

    def __init__(self, label: str, part: str, count: int | None) -> None:
        super().__init__(label, part, count)
        self.label = label
        self.part = part
        self.count = count

    def __str__(self) -> str:
        words = self.part.replace("_", " ")
        has = f"does not tell its {words}s" if self.count is None else f"has {self.count or 'no'} {words}s"
        return f"The {self.label} {has}. Say which one belongs to it: {self.part}=…."


class OtherOptionsError(CdkError):
    """One object is imported twice into one stack, and is to be two different constructs.

    Attributes:
        name: the object's.
        names: of the options that differ.
    """

    def __init__(self, name: str, names: Sequence[str]) -> None:
        super().__init__(name, names)
        self.name = name
        self.names = names

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is imported already, with another {cut(some(self.names), NAMES_LIMIT)}. Use the "
            "construct that was imported, or give the same options."
        )


class NoReadyTypeError(CdkError):
    """A construct was to be made of a type of which no construct is known.

    Attributes:
        type_name: the type's.
    """

    def __init__(self, type_name: str) -> None:
        super().__init__(type_name)
        self.type_name = type_name

    def __str__(self) -> str:
        return (
            f"{cut(self.type_name, _SHOWN)} is no ready type of the CDK. Read it by itself, with its deserialize, and "
            "make the construct of what it has."
        )


class UnevenSubnetsError(CdkError):
    """A VPC that the CDK cannot be given: it wants as many subnets of each tier in each availability zone.

    Attributes:
        tiers: for each tier, its availability zones.
    """

    def __init__(self, tiers: Mapping[str, Sequence[str]]) -> None:
        super().__init__(tiers)
        self.tiers = tiers

    def __str__(self) -> str:
        zones = "; ".join(f"{tier}: {cut(some(sorted(each), 6), 120)}" for tier, each in self.tiers.items())
        return (
            f"The CDK takes a VPC only with the same number of subnets in each availability zone, in every tier. There "
            f"are {zones}. Import its parts, as in import_object(…).read_object('PrivateSubnets')."
        )


class ExportedElsewhereError(CdkError):
    """Two stacks of one app export one name, in one account and region, where CloudFormation allows it once.

    Attributes:
        name: the object's.
        stack: the other stack's path in the app.
    """

    def __init__(self, name: str, stack: str) -> None:
        super().__init__(name, stack)
        self.name = name
        self.stack = stack

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is exported by stack {cut(self.stack, _SHOWN)} of this app, to the same account "
            "and region, where a name can be exported once. Export it under a name of its own."
        )


class NotDeployedError(CdkError):
    """What is to be looked up is exported by a stack of the same app, which was not deployed with it yet.

    Attributes:
        name: of what was looked up.
        stack: the exporting stack's path in the app.
    """

    def __init__(self, name: str, stack: str) -> None:
        super().__init__(name, stack)
        self.name = name
        self.stack = stack

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


class NoSuchConstructError(CdkError):
    """What was given to be exported is no construct of the type.

    Attributes:
        label: the type.
        given: what came, by its class.
        attribute: that it does not have.
    """

    def __init__(self, label: str, given: str, attribute: str) -> None:
        super().__init__(label, given, attribute)
        self.label = label
        self.given = given
        self.attribute = attribute

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
            "Only the listener of what import_application_load_balancer, or another function of strongref.cdk, gave is "
            "known here. Use the listener that the program has made."
        )


class OptionNeededError(CdkError):
    """The CDK cannot make a construct without an option that no object tells.

    Attributes:
        label: the construct's type.
        option: its name.
        what: it is.
    """

    def __init__(self, label: str, option: str, what: str) -> None:
        super().__init__(label, option, what)
        self.label = label
        self.option = option
        self.what = what

    def __str__(self) -> str:
        words = self.option.replace("_", " ")
        return f"The CDK makes no {self.label} without a {words}. Give it: {self.option}=…, {self.what}."
