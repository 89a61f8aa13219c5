"""Errors of tools on people's machines. Texts name accounts, files and tokens, never values."""

from __future__ import annotations

from collections.abc import Sequence

from strongref.errors import AccessDeniedError, StrongRefError
from strongref.next_steps import WITHOUT_RESPONSE
from strongref.text import cut, some

_SHOWN = 250
"""Characters of a token, a name or a path in a text."""


def os_problem(error: OSError) -> str:
    """The operating system's reason for a failure, for use in a sentence: `permission denied`."""
    return (error.strerror or type(error).__name__).lower()


def printable(text: str) -> str:
    """Text without what would control a terminal: what others have stored may hold anything."""
    return "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in text)


class ResolveError(StrongRefError):
    """The root of errors about tokens and manifests."""


class CallerDeniedError(AccessDeniedError):
    """A call of a tool on somebody's machine was denied, which has the caller's own permissions and no role."""

    sentence = (
        "{action} of {target:500} in {where} was denied ({code}). Check the caller's permissions, permissions "
        "boundary and service control policies; docs/security.md lists what each command needs."
    )


class UnknownTimeError(StrongRefError):
    """No answer of AWS had a date, so nothing can be said about fences, whose times are AWS's."""

    sentence = (
        "AWS's time is unknown: its responses have no Date header. Check which proxy removes it, or run the command "
        "on another machine."
    )


class ClockJumpedError(StrongRefError):
    """The machine was suspended, or its clock was set. Fences may have expired meanwhile."""

    seconds: int  # by how much
    sentence = (
        "This machine's clock jumped by {seconds} seconds: the machine was suspended, or its clock was set. "
        "Others may have made changes in that time. Run the command again."
    )


class AwsCallError(ResolveError):
    action: str  # the API action, as in `DescribeStacks`
    target: str  # what the call was about
    region: str  # the call's region
    code: str  # AWS's error code
    message: str = ""  # AWS's own text; empty where it could quote a value
    sentence = "{action} of {target:250} in {region} failed: {code}. {_explanation:650}"

    @property
    def _explanation(self) -> str:
        permitted = "Check the caller's credentials and permissions, the account and the region."
        text = self.message.strip().rstrip(".")
        return WITHOUT_RESPONSE.get(self.code) or (f"{text}." if text else permitted)


class NoRegionError(ResolveError):
    sentence = "No region: give --region, set AWS_REGION, or write @REGION at the end of the token."


class NotExportedError(ResolveError):
    name: str  # the export's
    producer: str  # the stack that should export it
    whom: str  # its audience, as in `to consumer web in us-east-1`
    close: Sequence[str]  # similar names, or some of those that exist
    hint: str  # the next step

    def __str__(self) -> str:
        there = f" It exports {cut(some(self.close, 5), _SHOWN)}." if self.close else ""
        return (
            f"{self.producer[0].upper()}{self.producer[1:]} does not export {cut(self.name, _SHOWN)} {self.whom}."
            f"{there} {self.hint}"
        )


class SecureValueError(ResolveError):
    """A value is a SecureString, and the user did not allow secrets."""

    token: str
    sentence = (
        "{token:250} is a SecureString. Give --sensitive to write it in plain text, or let the cluster read it itself."
    )


class WriteFailedError(ResolveError):
    file: str
    problem: str  # the operating system's error
    written: int  # how many files had been written before

    def __str__(self) -> str:
        so_far = f"Files written before it: {self.written}." if self.written else "Nothing was written."
        return f"{cut(self.file, 2 * _SHOWN)} could not be written: {self.problem}. {so_far}"


class UsageError(StrongRefError):
    """What the caller gave is not valid: options, files to read, or places to write to. Nothing was read or written."""

    problem: str
    sentence = "{problem:990}"


PLACEHOLDER = "ACCOUNT"
"""Stands for the account ID in the ARN of a role."""


class NoWayInError(StrongRefError):
    """Another account is used, and there is no role to assume, or it cannot be assumed."""

    account: str  # the account ID
    role: str | None = None  # the role's ARN; None if none was given
    code: str | None = None  # AWS's error code; None if nothing was called, since the role is in another account
    option: str = "--role "  # how the caller gives a role, before its ARN

    def __str__(self) -> str:
        if self.role is not None and self.code is None:
            return (
                f"{self.role} is not a role in account {self.account}. Write {PLACEHOLDER} in place of the account ID: "
                f"arn:aws:iam::{PLACEHOLDER}:role/NAME."
            )
        if self.role is None:
            return (
                f"Account {self.account} is not the caller's own. Give the role to assume in it: "
                f"{self.option}arn:aws:iam::{PLACEHOLDER}:role/NAME ({PLACEHOLDER} stands for the account)."
            )
        return f"{self.role} could not be assumed: {self.code}. Check its trust policy and the caller's sts:AssumeRole."


class UnknownCallerError(StrongRefError):
    code: str
    sentence = "The caller's account could not be determined: {code}. {_step}"

    @property
    def _step(self) -> str:
        known = "Check the credentials (AWS_PROFILE), the region and the network."
        return WITHOUT_RESPONSE.get(self.code, known)


class SelectError(ResolveError):
    count: int  # how many items the list has
    position: int | None  # the index; None if it is a deployed value, or not a whole number

    def __str__(self) -> str:
        got = "another index" if self.position is None else self.position
        return f"The index of Fn::Select must be at least 0 and less than {self.count}, got {got}. Correct the index."
