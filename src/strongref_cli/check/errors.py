"""Errors of `strongref check`: what keeps it from an answer. Texts name stacks and templates, never values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import StrongRefError
from strongref.text import cut, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence


class CheckError(StrongRefError):
    """The root of errors of `strongref check`."""


class UnexpandableLoopError(CheckError):
    """CloudFormation's transform would refuse the loop."""

    loop: str  # the loop's key, as in `Fn::ForEach::Buckets`
    problem: str
    sentence = "{loop:120} cannot be expanded: {problem}."


class UntransformableError(CheckError):
    """A transform of AWS's own refuses the template."""

    problem: str
    sentence = "AWS::Serverless refuses the template: {problem}"


class NoSuchStackError(CheckError):
    stack: str
    region: str
    close: Sequence[str] = ()  # similar names

    def __str__(self) -> str:
        hint = did_you_mean(self.close, "Check the name, the region and the account.")
        return f"Stack {cut(self.stack, 128)} does not exist in {self.region}. {hint}"


class ExistsError(CheckError):
    """`--new` says that there is no such stack."""

    stack: str
    region: str
    sentence = "Stack {stack:128} exists in {region}. Leave --new out."


class TooLargeError(CheckError):
    size: int  # in bytes
    most: int
    sentence = (
        "The template has {size} bytes, and CloudFormation takes {most} without a bucket. Upload it, create the change "
        "set, and give its name with --change-set."
    )


class NoSuchChangeSetError(CheckError):
    change_set: str
    stack: str
    sentence = "Stack {stack:128} has no change set {change_set:128}. Check the name, the region and the account."


class ChangeSetNotReadyError(CheckError):
    change_set: str
    status: str  # CloudFormation's, as in `CREATE_IN_PROGRESS`
    reason: str  # CloudFormation's; may be empty

    def __str__(self) -> str:
        because = f" ({self.reason})" if self.reason else ""
        return (
            f"Change set {self.change_set} is {self.status}{because}: there is nothing to check in it. Wait until it "
            "is CREATE_COMPLETE, or create another one."
        )


class UnknownParametersError(CheckError):
    names: Sequence[str]
    sentence = "--parameters: the template has no {names}. Correct the names."


class ParametersNotGivenError(CheckError):
    names: Sequence[str]
    sentence = "Parameters without a value: {names}. Give them with --parameters NAME=VALUE, or a file."
