"""Every error that a user of the functions can meet: data, and one sentence built from it, never with a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, TypeVar, dataclass_transform

from strongref.text import NAMES_LIMIT, REASON_LIMIT, cut, filled

D = TypeVar("D")
T = TypeVar("T")

ACCESS_DENIED = "AccessDenied"
"""The code of what IAM does not allow."""

TAG_LIMIT = 50
"""Tags of one parameter (AWS: AddTagsToResource)."""


class ErrorMetric(StrEnum):
    ERRORS = "Errors"
    """Something is wrong that the people who run strongref should look at."""
    REFUSED = "RefusedChanges"
    """A claimed value was to change or to go."""
    REJECTED = "Rejections"
    """A template asks for something impossible, or impossible now: reported to the person who deploys it."""
    NOT_EXPECTED = "EventsRejected"
    """A function got an event that CloudFormation does not wait for."""


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class StrongRefError(Exception):
    """The root of everything that strongref refuses, or failed to do, and can explain.

    An error declares its fields and the sentence that they fill: every subclass is a dataclass. Where a sentence
    depends on more than its fields, the class builds it in `__str__`.
    """

    counted: ClassVar[ErrorMetric] = ErrorMetric.ERRORS  # by the functions: tools on people's machines count nothing
    sentence: ClassVar[str] = ""  # as `filled` reads it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(eq=False)(cls)

    def __str__(self) -> str:
        return filled(self.sentence, self)


class RejectedError(StrongRefError):
    counted = ErrorMetric.REJECTED


class PartialCreateError(StrongRefError):
    """A Create that failed after it had begun to write: its Delete must find what it left."""

    error: StrongRefError
    physical_id: str
    sentence = "{error}"


class UnfinishedError(StrongRefError):
    """The invocation ran out of time: there is more to do, and another invocation can continue."""


def or_else(attempt: Callable[[], T], otherwise: D) -> T | D:
    """What an attempt returns; something else if it fails. Raises `UnfinishedError`: another invocation can go on."""
    try:
        return attempt()
    except UnfinishedError:
        raise
    except StrongRefError:
        return otherwise


class InvocationTimeoutError(UnfinishedError):
    sentence = "The function timed out before everything was done."


class InternalError(StrongRefError):
    """A defect in strongref. Its text may hold values, so only its type is shown."""

    error_type: str
    invocation: str
    sentence = "Internal error ({error_type}). See the function's log, invocation {invocation}."


class WaitInterruptedError(UnfinishedError):
    """Something was in the way, and the invocation had no time to wait for it."""

    error: StrongRefError
    sentence = "{error}"


_VERBS = ("must ", "is ", "are ", "has ", "holds ")
"""A problem that begins with one of these continues the sentence that the property's name begins."""


class BadRequestError(RejectedError):
    """An event or a property that cannot be understood. Nothing was read or written for it."""

    prop: str
    problem: str

    def __str__(self) -> str:
        colon = "" if self.problem.startswith(_VERBS) else ":"
        return f"{cut(self.prop, NAMES_LIMIT // 2)}{colon} {cut(self.problem, REASON_LIMIT - 300)}"


def where_text(region: str, account: str) -> str:
    """A region, with the account if it is another one."""
    return f"{region} of account {account}" if account else region


def _after(error: ServiceError | StackLookupError) -> str:
    """The next step after a failed call, to append to a sentence; empty if the code says nothing about it."""
    from strongref.next_steps import next_step  # noqa: PLC0415 (a function starts faster without the table)

    step = next_step(error.action, error.code)
    return f" {step}" if step else ""


class ServiceError(StrongRefError):
    """A service of AWS refused a call or could not be reached."""

    action: str  # the API action, as in `PutParameter`
    code: str  # AWS's error code, as in `AccessDeniedException`
    target: str  # what the call was about, as in a parameter's name; never a value
    region: str
    sentence = "{action} of {target:500} in {region} failed: {code}.{_step}"
    _step = property(_after)


class StoreError(ServiceError):
    """Parameter Store did; the target is a parameter or a path."""

    account: str = field(default="", kw_only=True)  # empty for the function's own
    sentence = "{action} of {target:500} in {where} failed: {code}.{_step}"

    @property
    def where(self) -> str:
        return where_text(self.region, self.account)


class AccessDeniedError(StoreError):
    sentence = "{action} of {target:500} in {where} was denied ({code}).{_step}"


class DeniedAbroadError(StoreError):
    """A call with the role of another account."""

    role: str = field(default="", kw_only=True)  # its ARN
    sentence = (
        "{action} of {target:500} in {where} was denied ({code}). There, role {role} must allow it: deploy it again "
        "with strongref trust {_producer}, and check service control policies."
    )

    @property
    def _producer(self) -> str:
        return self.role.rpartition("-")[2]


class RoleDeniedError(DeniedAbroadError):
    """Another account does not let this one in; the target is its role."""

    counted = ErrorMetric.REJECTED
    sentence = (
        "Account {account} does not let this account write: sts:AssumeRole of role {target:500} failed ({code}). "
        "There, run strongref trust {_producer}. A new role may need a minute. Nothing was changed there."
    )

    @property
    def _producer(self) -> str:
        return self.target.rpartition("-")[2]


class AccountNotListedError(StoreError):
    counted = ErrorMetric.REJECTED
    listed: tuple[str, ...] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        return (
            f"Account must be the stack's own, or one of the installation's ExportAccounts "
            f"({', '.join(self.listed) or 'none'}), got {self.account}. Update the installation with strongref install "
            f"--parameter ExportAccounts={','.join([*self.listed, self.account])}"
        )


class UndecryptableError(StoreError):
    """A SecureString that can be read, but not decrypted; the target is the parameter."""

    sentence = (
        "Parameter {target:500} in {region} cannot be decrypted ({action}: {code}): {_problem}. Restore the access to "
        "the key, or delete the parameter and deploy its Export with another Revision."
    )

    @property
    def _problem(self) -> str:
        if self.code == "InvalidKeyId":
            return "its KMS key is disabled, or does not exist anymore"
        return "its KMS key may not be used (kms:Decrypt)"


class OutOfTimeError(StoreError, UnfinishedError):
    """The time in which a call may begin is over: the invocation's, or that of the fence that protects the call."""

    sentence = "Timed out before {action} of {target:500} in {region}."


class ThrottledError(OutOfTimeError):
    sentence = "{action} in {region} was throttled ({code}) until the function timed out.{_step}"


class TooManyTagsError(StoreError):
    """The parameter would have more than 50 tags."""


class StandardTierError(StoreError):
    counted = ErrorMetric.REJECTED
    sentence = (
        "{target:500} is larger than 4 KB, and Parameter Store in {region} takes only standard parameters, of at most "
        "4 KB. Export the value in parts."
    )


class AlreadyExistsError(StoreError):
    """A parameter of that name exists already: a create never overwrites."""


class NotFoundError(StoreError):
    """No parameter of that name."""


OTHER_ACCOUNT = "OtherAccount"
"""The code of a lookup that was not made: stacks of other accounts cannot be asked about."""


class BadEndpointError(StrongRefError):
    service: str
    sentence = (
        "The endpoint of {service} is not a valid URL. Check AWS_ENDPOINT_URL and endpoint_url in AWS's configuration."
    )


OUT_OF_TIME = "OutOfTime"
"""The code of a call that was not made, because the rate limit allows it only after the deadline."""


class StackLookupError(StrongRefError):
    stack: str
    region: str
    code: str
    action: str = field(default="DescribeStacks", kw_only=True)  # the API action that failed
    sentence = "CloudFormation in {region} could not be asked about {_kind} {stack}: {code}.{_step}"

    _step = property(_after)

    @property
    def _kind(self) -> str:
        return "export" if self.action == "ListImports" else "stack"


class OutdatedRequestError(StrongRefError):
    """An event that CloudFormation has given up, or that comes again after a later one: it would undo that."""

    counted = ErrorMetric.NOT_EXPECTED
    logical_id: str
    sentence = (
        "CloudFormation has sent a later request for {logical_id}, or does not wait for this one anymore. Nothing was "
        "changed for it."
    )


class ReinvokeError(StrongRefError):
    code: str  # AWS's error code, as in `AccessDeniedException`
    left: StrongRefError  # what was to be continued
    unknown: bool = field(default=False, kw_only=True)  # no answer came, so it may have been accepted anyway
    sentence = (
        "{left} The function could not invoke itself again to continue ({code}). Check that its role may invoke it "
        "(lambda:InvokeFunction)."
    )


class ServiceTimeoutError(StrongRefError):
    """CloudFormation does not wait any longer, or too many invocations have worked on one event."""

    turns: int  # how many invocations did
    timeout: float  # the seconds that CloudFormation waits, its ServiceTimeout
    left: StrongRefError

    def __str__(self) -> str:
        return (
            f"{self.left} That was the last invocation, number {self.turns}: CloudFormation waits for ServiceTimeout "
            f"({self.timeout:.0f} s). Allow more calls per second or a longer ServiceTimeout, or make the resource "
            "smaller. If this was a rollback or a deletion, repeat it: it continues."
        )


class RecentlyDeletedError(StrongRefError):
    """Parameter Store knows a name and does not show it, for longer than it takes to forget a deleted parameter."""

    name: str
    region: str
    sentence = (
        "Parameter {name:500} in {region} was deleted a moment ago, and Parameter Store does not accept the name again "
        "yet. Deploy again in a minute."
    )


class UnreadableRecordError(StrongRefError):
    """A record cannot be put together, although nobody is writing it: it was changed by hand."""

    name: str
    logical_id: str
    sentence = (
        "Record {name:500} cannot be read. Deploy {logical_id} with another Revision to write it again; until then "
        "nothing next to it is changed."
    )


class NewerFormatError(StrongRefError):
    name: str  # of the parameter, or of the hold stack
    found: str  # the format
    writer: str  # the version that wrote it
    known: str  # the latest format that this version knows
    version: str  # this version
    sentence = (
        "{name:500} has format {found:20}, written by strongref {writer:40}. This is strongref {version}, which reads "
        "up to format {known}. Upgrade the installation in this region first. Nothing was changed."
    )
