"""Errors of constructs that are exported and imported. Texts name constructs and keys, never values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from strongref.errors import StrongRefError
from strongref.text import NAMES_LIMIT, cut, some
from strongref_objects.base.errors import a

_SHOWN = 200
"""Characters of a construct's path in a text."""


class CdkError(StrongRefError):
    """The base class of errors of this package."""


class ConstructError(CdkError):
    """An error at a construct: the one that every function of `strongref_cdk` raises."""

    path: str  # the construct's, in its app
    error: StrongRefError
    sentence = "{path:200}: {error}"


class RefusedByCdkError(CdkError):
    """The CDK does not make a construct, or does not return an attribute of one."""

    what: str  # the request
    problem: str  # the CDK's message
    # placeholders by value, for values that the message could contain
    names: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        text = (self.problem.splitlines() or [""])[0]
        for value, name in sorted(self.names.items(), key=lambda each: -len(each[0])):
            text = text.replace(value, f"<{name}>") if value else text
        return f"The CDK refuses {cut(self.what, _SHOWN)}: {cut(text.strip(' .'), NAMES_LIMIT)}."


class NotOneError(CdkError):
    """A construct has several parts of a kind, or none, where exactly one is shared."""

    label: str
    part: str  # the argument that chooses one
    count: int | None  # how many the CDK lists; None if it does not say

    def __str__(self) -> str:
        words = self.part.replace("_", " ")
        has = f"has {self.count} {words}s" if self.count else f"does not list its {words}s"
        return f"The {self.label} {has}. Choose the one that belongs to it: {self.part}=…."


class OtherOptionsError(CdkError):
    name: str
    names: Sequence[str]  # the options that differ
    sentence = (
        "{name:200} is already imported with another {names}. Use the construct from the first import, or pass the "
        "same options."
    )


class NoReadyTypeError(CdkError):
    type_name: str
    sentence = (
        "{type_name:200} is not a ready type of the CDK. Read it with its own deserialize, and make the construct from "
        "its members."
    )


class UnevenSubnetsError(CdkError):
    tiers: Mapping[str, Sequence[str]]  # the availability zones of each tier

    def __str__(self) -> str:
        zones = "; ".join(f"{tier}: {cut(some(sorted(each), 6), 120)}" for tier, each in self.tiers.items())
        return (
            "The CDK needs the same number of subnets in each availability zone, in every tier of a VPC, got "
            f"{zones}. Import the VPC's parts, as in import_object(…).read_object('PrivateSubnets')."
        )


class ExportedElsewhereError(CdkError):
    name: str
    stack: str  # the other stack's path in the app
    sentence = (
        "{name:200} is exported by stack {stack:200} of this app in the same account and region, where a name must be "
        "unique. Export it under another name."
    )


class NotDeployedError(CdkError):
    name: str
    stack: str  # the exporting stack's path in the app
    sentence = (
        "There is no {name:200} yet: stack {stack:200} of this app exports it, but was not deployed with it. Pass the "
        "construct from stack to stack, or import with type=ResolveType.DEPLOYMENT."
    )


class SecretError(CdkError):
    sentence = (
        "An exported value must not be a secret, because anyone could read it. Export the secret's ARN or name, and "
        "read the secret where it is used. Nothing was written."
    )


class NoSuchConstructError(CdkError):
    label: str
    given: str  # the construct's class
    attribute: str = ""  # the one that the construct lacks; empty if it has all of them

    def __str__(self) -> str:
        lacks = f", which has no {self.attribute}" if self.attribute else ""
        given = f"{a(cut(self.given, _SHOWN))}{lacks}"
        return f"The construct must be {a(self.label)}, got {given}. Use the function for its type."


class NoStackError(CdkError):
    sentence = "The construct is not in a stack, and only stacks export and import. Pass a construct of a stack."


class NoListenerError(CdkError):
    sentence = (
        "The listener is only known for a load balancer from import_application_load_balancer or another function of "
        "strongref_cdk. Use the listener that the program has made."
    )


class OptionsNeededError(CdkError):
    label: str
    options: Sequence[str]  # those that are missing
    is_exported: bool  # whether an export of the same app would tell them

    def __str__(self) -> str:
        given = some([f"{each}=…" for each in self.options])
        more = ", or export it first in the same app, with the same account and region" if self.is_exported else ""
        return f"The CDK needs more about {a(self.label)}: pass {given}{more}."
