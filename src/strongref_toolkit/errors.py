"""Errors of tools on people's machines. Texts name accounts, files and tokens; values are never in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import cut, some

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 250
"""Characters of a token, a name or a path in a text."""


class ResolveError(StrongRefError):
    """The root of what is told about tokens and manifests: somebody asked for what cannot be, or not now."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class FetchFailedError(ResolveError):
    """A call to AWS failed.

    Attributes:
        action: the API action, as in `DescribeStacks`.
        target: what it was about.
        region: where.
        code: AWS's error code.
    """

    counted = ErrorMetric.ERRORS

    action: str
    target: str
    region: str
    code: str

    def __str__(self) -> str:
        return (
            f"{self.action} of {cut(self.target, _SHOWN)} in {self.region} failed: {self.code}. Check the caller's "
            "permissions, and that it is the right account and region."
        )


class NoRegionError(ResolveError):
    """Something of AWS's is asked for, and nobody said in which region."""

    def __str__(self) -> str:
        return "No region: give --region, set AWS_REGION, or write @REGION at the end of the token."


@dataclass(eq=False)
class NotExportedError(ResolveError):
    """A stack does not export what a token asks for.

    Attributes:
        name: of the export.
        producer: whom it was asked of.
        whom: to whom it would have to be exported, as in `to consumer web in us-east-1`.
        close: names that are like it, or some of those that there are.
        hint: what else may be wrong.
    """

    name: str
    producer: str
    whom: str
    close: Sequence[str]
    hint: str

    def __str__(self) -> str:
        there = f" It exports {cut(some(self.close, 5), _SHOWN)}." if self.close else ""
        return (
            f"{self.producer[0].upper()}{self.producer[1:]} does not export {cut(self.name, _SHOWN)} {self.whom}."
            f"{there} {self.hint}"
        )


@dataclass(eq=False)
class SecureValueError(ResolveError):
    """A value is stored as a secret, and nobody said that secrets may be written into manifests."""

    token: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is a SecureString. Give --sensitive if it may stand readable in what is "
            "written, or let the cluster read it itself."
        )


@dataclass(eq=False)
class WriteFailedError(ResolveError):
    """A file could not be written.

    Attributes:
        file: its name.
        problem: the system's word for it.
        written: how many files had taken their place before.
    """

    counted = ErrorMetric.ERRORS

    file: str
    problem: str
    written: int

    def __str__(self) -> str:
        so_far = f"Files written before it: {self.written}." if self.written else "Nothing was written."
        return f"{cut(self.file, 2 * _SHOWN)} could not be written: {self.problem}. {so_far}"


@dataclass(eq=False)
class UsageError(StrongRefError):
    """The command was not given what it needs."""

    problem: str

    def __str__(self) -> str:
        return self.problem


PLACEHOLDER = "ACCOUNT"


@dataclass(eq=False)
class NoWayInError(StrongRefError):
    """Another account is asked for, and there is no role to assume, or it cannot be assumed.

    Attributes:
        account: which.
        role: its role's ARN; None where none was given.
        code: AWS's error code; None where nothing was tried, since the role is another account's.
    """

    account: str
    role: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        if self.role is not None and self.code is None:
            return (
                f"{self.role} is no role of account {self.account}. Give one with {PLACEHOLDER} in the place of the "
                f"account's number: arn:aws:iam::{PLACEHOLDER}:role/NAME."
            )
        if self.role is None:
            return (
                f"Account {self.account} is not the caller's own. Give the role to assume in it: "
                f"--role arn:aws:iam::{PLACEHOLDER}:role/NAME ({PLACEHOLDER} stands for the account)."
            )
        return f"{self.role} could not be assumed: {self.code}. Check its trust policy and the caller's sts:AssumeRole."


@dataclass(eq=False)
class UnknownCallerError(StrongRefError):
    """STS does not say whose credentials these are."""

    code: str

    def __str__(self) -> str:
        return f"The caller's account could not be found out: {self.code}. Check the credentials (AWS_PROFILE)."


@dataclass(eq=False)
class SelectError(ResolveError):
    """An item of a list is selected that there is not.

    Attributes:
        count: of the list's items.
        position: that is asked for; None where that is a deployed value, or no whole number.
    """

    count: int
    position: int | None

    def __str__(self) -> str:
        which = "the one" if self.position is None else f"item {self.position}"
        items = f"{self.count} item{'' if self.count == 1 else 's'}"
        return f"Fn::Select is given {items}, the first is 0: {which} that it asks for is not there. Correct its index."
