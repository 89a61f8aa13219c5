"""Errors of tools on people's machines. Texts name accounts, files and tokens, never values."""

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
    """The root of errors about tokens and manifests."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class FetchFailedError(ResolveError):
    """A call to AWS failed.

    Attributes:
        action: the API action, as in `DescribeStacks`.
        target: what the call was about.
        region: the call's region.
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
            "permissions, the account and the region."
        )


class NoRegionError(ResolveError):
    """A call to AWS needs a region, and there is none."""

    def __str__(self) -> str:
        return "No region: give --region, set AWS_REGION, or write @REGION at the end of the token."


@dataclass(eq=False)
class NotExportedError(ResolveError):
    """A stack does not export what a token asks for.

    Attributes:
        name: the export's.
        producer: the stack that should export it.
        whom: its audience, as in `to consumer web in us-east-1`.
        close: similar names, or some of those that exist.
        hint: the next step.
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
    """A value is a SecureString, and the user did not allow secrets."""

    token: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is a SecureString. Give --sensitive to write it in plain text, or let the "
            "cluster read it itself."
        )


@dataclass(eq=False)
class WriteFailedError(ResolveError):
    """A file could not be written.

    Attributes:
        file: its name.
        problem: the operating system's error.
        written: how many files had been written before.
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
    """The command line is wrong."""

    problem: str

    def __str__(self) -> str:
        return self.problem


PLACEHOLDER = "ACCOUNT"
"""Stands for the account ID in the ARN of a role."""


@dataclass(eq=False)
class NoWayInError(StrongRefError):
    """Another account is used, and there is no role to assume, or it cannot be assumed.

    Attributes:
        account: the account ID.
        role: the role's ARN; None if none was given.
        code: AWS's error code; None if nothing was called, since the role is in another account.
    """

    account: str
    role: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        if self.role is not None and self.code is None:
            return (
                f"{self.role} is not a role in account {self.account}. Write {PLACEHOLDER} in place of the account ID: "
                f"arn:aws:iam::{PLACEHOLDER}:role/NAME."
            )
        if self.role is None:
            return (
                f"Account {self.account} is not the caller's own. Give the role to assume in it: "
                f"--role arn:aws:iam::{PLACEHOLDER}:role/NAME ({PLACEHOLDER} stands for the account)."
            )
        return f"{self.role} could not be assumed: {self.code}. Check its trust policy and the caller's sts:AssumeRole."


@dataclass(eq=False)
class UnknownCallerError(StrongRefError):
    """STS does not return the caller's account."""

    code: str

    def __str__(self) -> str:
        return f"The caller's account could not be determined: {self.code}. Check the credentials (AWS_PROFILE)."


@dataclass(eq=False)
class SelectError(ResolveError):
    """`Fn::Select` has an index outside of its list.

    Attributes:
        count: how many items the list has.
        position: the index; None if it is a deployed value, or not a whole number.
    """

    count: int
    position: int | None

    def __str__(self) -> str:
        got = "another index" if self.position is None else self.position
        return f"The index of Fn::Select must be at least 0 and less than {self.count}, got {got}. Correct the index."
