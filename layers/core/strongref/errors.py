"""Every error that a user of the functions can meet: data, and one sentence built from it, never with a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, dataclass_transform

from strongref.text import NAMES_LIMIT, REASON_LIMIT, attribute_name, brief, cut, filled, some, stack_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

TAG_LIMIT = 50
"""Tags of one parameter (AWS: AddTagsToResource)."""


class ErrorMetric(StrEnum):
    """The metric that an error counts towards."""

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

    counted: ClassVar[ErrorMetric] = ErrorMetric.ERRORS
    sentence: ClassVar[str] = ""  # as `filled` reads it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(eq=False)(cls)

    def __str__(self) -> str:
        return filled(self.sentence, self)


class PartialCreateError(StrongRefError):
    """A Create that failed after it had begun to write: its Delete must find what it left."""

    error: StrongRefError
    physical_id: str
    sentence = "{error}"


class UnfinishedError(StrongRefError):
    """The invocation ran out of time: there is more to do, and another invocation can continue."""


class InvocationTimeoutError(UnfinishedError):
    sentence = "The function timed out before everything was done. Deploy again; it resumes where it stopped."


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


class BadRequestError(StrongRefError):
    """An event or a property that cannot be understood. Nothing was read or written for it."""

    counted = ErrorMetric.REJECTED
    prop: str
    problem: str

    def __str__(self) -> str:
        colon = "" if self.problem.startswith(_VERBS) else ":"
        return f"{cut(self.prop, NAMES_LIMIT // 2)}{colon} {cut(self.problem, REASON_LIMIT - 300)}"


def _after(action: str, code: str) -> str:
    """The next step after a failed call, to append to a sentence; empty if the code says nothing about it."""
    from strongref.next_steps import next_step  # noqa: PLC0415 (a function starts faster without the table)

    step = next_step(action, code)
    return f" {step}" if step else ""


class ServiceError(StrongRefError):
    """A service of AWS refused a call or could not be reached."""

    action: str  # the API action, as in `PutParameter`
    code: str  # AWS's error code, as in `AccessDeniedException`
    target: str  # what the call was about, as in a parameter's name; never a value
    region: str
    sentence = "{action} of {target:500} in {region} failed: {code}.{_step}"

    @property
    def _step(self) -> str:
        return _after(self.action, self.code)


class StoreError(ServiceError):
    """Parameter Store did; the target is a parameter or a path."""


class AccessDeniedError(StoreError):
    sentence = "{action} of {target:500} in {region} was denied ({code}).{_step}"


class CallerDeniedError(AccessDeniedError):
    """The same for tools on people's machines, which have no role but the caller's own permissions."""

    sentence = (
        "{action} of {target:500} in {region} was denied ({code}). Check the caller's permissions, permissions "
        "boundary and service control policies; docs/security.md lists what each command needs."
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

    sentence = "Timed out before {action} of {target:500} in {region}. Deploy again; it resumes from here."


class ThrottledError(OutOfTimeError):
    sentence = "{action} in {region} was throttled ({code}) until the function timed out. Deploy again.{_step}"


class TooManyTagsError(StoreError):
    """The parameter would have more than 50 tags."""


class StandardTierError(StoreError):
    """A value is larger than a standard parameter can hold, and the region has no others."""

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
    sentence = "CloudFormation in {region} could not be asked about stack {stack}: {code}.{_step}"

    @property
    def _step(self) -> str:
        return _after(self.action, self.code)


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
            "smaller."
        )


@dataclass(frozen=True, slots=True)
class InUse:
    """A claimed value that an Export may not touch: its key, what it may not be, and the ARNs of who imports it."""

    key: str
    verb: str
    importers: tuple[str, ...]


class ExportsInUseError(StrongRefError):
    """Raised before anything is written, when values that are to change or to go are claimed."""

    counted = ErrorMetric.REFUSED
    in_use: Sequence[InUse]
    unknown: Collection[str] = ()  # who imports them and cannot be asked about: ARNs of stacks, and other texts

    def __str__(self) -> str:
        in_use = _merged(self.in_use)
        shown, hidden = in_use[:10], in_use[10:]
        last = (shown[-1].verb, shown[-1].importers)
        alike = {(use.verb, use.importers) for use in hidden} == {last}
        sentences = []
        for group, keys in _grouped(shown).items():
            verb, importers = group
            named = [*keys, f"{len(hidden)} more"] if alike and group == last else keys
            names = cut(some(named, 11), NAMES_LIMIT)
            one = len(named) == 1
            by = some((stack_text(arn) for arn in importers), 5)
            sentences.append(f"{names} cannot be {verb}: {'it is' if one else 'they are'} imported by {by}.")
        if hidden and not alike:
            sentences.append(f"{len(hidden)} more cannot be changed or dropped either.")
        changes = all(use.verb == "changed" for use in self.in_use)
        everyone = {importer for use in self.in_use for importer in use.importers}
        way_out = f"Remove {'that import' if len(everyone) == 1 else 'those imports'} first"
        way_out += ", or set OnChange: propagate." if changes else "."
        if unknown := sorted(everyone.intersection(self.unknown)):
            way_out += (
                f" Whether {cut(some(map(stack_text, unknown), 3), 200)} exists cannot be checked: if not, take the "
                "claim off with strongref release."
            )
        return f"{cut(' '.join(sentences), REASON_LIMIT - 60 - len(way_out))} {way_out} Nothing was changed."


class ExportsKeptError(StrongRefError):
    """An Export was removed from its template while claimed: the claimed values stay, withdrawn."""

    counted = ErrorMetric.REFUSED
    kept: Sequence[InUse]

    def __str__(self) -> str:
        sentences = [
            f"{brief(keys)} {'stays' if len(keys) == 1 else 'stay'}: imported by "
            f"{some((stack_text(arn) for arn in importers), 5)}."
            for (_, importers), keys in _grouped(_merged(self.kept)).items()
        ]
        return (
            f"{cut(' '.join(sentences), REASON_LIMIT - 150)} The export is withdrawn: nobody can import it again, and "
            "the value is deleted with its last import."
        )


class ForeignParameterError(StrongRefError):
    """Parameters of others exist where values are to be written. Raised before anything is written."""

    counted = ErrorMetric.REJECTED
    # the parameters' names, and the ARN of the stack that each belongs to, if it says so
    foreign: Mapping[str, str | None]

    def __str__(self) -> str:
        name, producer = next(iter(self.foreign.items()))
        more = len(self.foreign) - 1
        which = f"{cut(name, NAMES_LIMIT)}{f' (and {more} more)' if more else ''}"
        owner = f"it belongs to {stack_text(producer)}" if producer else "it was not made by strongref"
        return (
            f"Parameter {which} does not belong to this stack: {owner}. "
            "Delete that parameter, or export under another name. It was not touched."
        )


class RecentlyDeletedError(StrongRefError):
    """Parameter Store knows a name and does not show it, for longer than it takes to forget a deleted parameter."""

    name: str
    region: str
    sentence = (
        "Parameter {name:500} in {region} was deleted a moment ago, and Parameter Store does not accept the name again "
        "yet. Deploy again in a minute."
    )


class KeysError(StrongRefError):
    """Something about keys of one stack's exports."""

    keys: Sequence[str]

    @property
    def names(self) -> list[str]:
        return [attribute_name(key) for key in self.keys]


class ConflictingExportError(KeysError):
    counted = ErrorMetric.REJECTED
    logical_id: str
    sentence = (
        "{names} cannot be exported: {logical_id} in the same stack exports the same name with another value. Give one "
        "of them another name, or both the same value. Nothing was changed."
    )


class ChangingError(StrongRefError):
    counted = ErrorMetric.REJECTED
    producer: str
    by: str
    sentence = "The exports of {producer} are being changed right now (by {by:500}). Deploy again in a moment."


class StillChangingError(ChangingError):
    """The same for a command, which has waited."""

    sentence = (
        "The exports of {producer} are still being changed (by {by:500}). Run the command again when that has finished."
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
    """What is stored has a format that this version does not know."""

    name: str  # of the parameter, or of the hold stack
    found: str  # the format
    writer: str  # the version that wrote it
    known: str  # the latest format that this version knows
    version: str  # this version
    sentence = (
        "{name:500} has format {found:20}, written by strongref {writer:40}. This is strongref {version}, which reads "
        "up to format {known}. Upgrade the installation in this region first. Nothing was changed."
    )


class UnsettledError(KeysError):
    producer: str
    sentence = (
        "The stored value of {names} differs from what {producer} exports: a change did not finish, or it was changed "
        "by hand. Deploy the exporting stack with another Revision, then this one again."
    )


class NoSuchProducerError(StrongRefError):
    counted = ErrorMetric.REJECTED
    producer: str
    sentence = (
        "Nothing to import: {producer} does not exist. Check From (Stack, Region, Account), or deploy that stack first."
    )


class NothingExportedError(StrongRefError):
    """The stack to import from exists, or cannot be asked about, but exports nothing to this consumer."""

    counted = ErrorMetric.REJECTED
    producer: str  # whom it was asked of
    consumer: str | None  # for whom; None for the shared exports
    region: str
    known: bool = field(kw_only=True)  # whether the producer's stack is known to exist
    elsewhere: bool = field(kw_only=True)  # whether it exports to the other of the two: shared, or this consumer

    def __str__(self) -> str:
        whom = f"to consumer {self.consumer}" if self.consumer else "as shared"
        exists = "exists, but" if self.known else "(in another account, so it was not checked)"
        if self.elsewhere:
            hint = (
                "It has shared exports: set Shared: true."
                if self.consumer
                else "It exports to this consumer alone: leave Shared out."
            )
        else:
            hint = (
                f"Check the Export's Region ({self.region}) and Consumer"
                f"{f' ({self.consumer})' if self.consumer else ' (left out)'} there, or the Import's Consumer here."
            )
        return f"Nothing to import: {self.producer} {exists} exports nothing {whom} in {self.region}. {hint}"


class NoSuchExportError(StrongRefError):
    """The producer exports to this consumer, but not under these names."""

    counted = ErrorMetric.REJECTED
    missing: Mapping[str, Sequence[str]]  # each name, and the closest ones that there are
    producer: str  # of whom it was asked
    there: Sequence[str]  # what it does export
    elsewhere: Sequence[
        str
    ] = ()  # those of the missing that it exports to the other of the two: shared, or this consumer
    shared: bool = False  # whether the Import asked for what is shared

    def __str__(self) -> str:
        shown = [
            f"{name} (did you mean {' or '.join(close)}?)" if close else name for name, close in self.missing.items()
        ]
        exported = "" if all(self.missing.values()) else f" It exports {cut(some(self.there, 5), 200)}."
        return (
            f"{self.producer[0].upper()}{self.producer[1:]} does not export {cut(some(shown), REASON_LIMIT - 600)} to "
            f"{'all consumers' if self.shared else 'this consumer'}.{exported} {self._way_out()}"
        )

    def _way_out(self) -> str:
        if not self.elsewhere:
            return "Export it there first, or correct Names."
        to, correction = ("this consumer alone", "without") if self.shared else ("all consumers", "with")
        return f"It exports {cut(some(self.elsewhere, 5), 100)} to {to}: import that {correction} Shared: true."


class HoldPendingError(StrongRefError):
    """CloudFormation's export does not exist yet: CloudFormation makes it when the producer's operation ends."""

    counted = ErrorMetric.REJECTED
    export: str
    producer: str
    status: str  # of the producer's stack
    sentence = (
        "{export} cannot be held yet: CloudFormation exports it when the operation of {producer} succeeds, and that "
        "stack is {status}. Deploy again when it has finished. Nothing was claimed."
    )


class ProducerLeavingError(StrongRefError):
    """The producer's stack is being deleted, or removes the export."""

    counted = ErrorMetric.REJECTED
    producer: str
    export: str
    deleted: bool  # the whole stack is

    def __str__(self) -> str:
        why = "is being deleted" if self.deleted else "removes it from its template"
        return f"{self.export} cannot be held: {self.producer} {why}. Nothing was claimed."


class HoldMissingError(StrongRefError):
    """An Export names a CloudFormation export, and its stack has no output with that."""

    counted = ErrorMetric.REJECTED
    export: str
    producer: str
    sentence = (
        "Nothing was claimed: an Export of {producer} has Hold: {export}, but no output of that stack exports this "
        "name. Add the output to its template (Value: !GetAtt <the Export>.Hold, Export: {{Name: …}}) and deploy it, "
        "then deploy this stack again."
    )


class HoldFailedError(StrongRefError):
    """CloudFormation could not make a hold stack, although the export exists."""

    stack: str  # the hold stack's name
    region: str
    reason: str  # CloudFormation's
    sentence = (
        "Nothing was claimed: stack {stack}, which protects what is imported, could not be made in {region}. "
        "{reason:500}"
    )


class TooManyClaimsError(KeysError):
    counted = ErrorMetric.REJECTED
    producer: str
    sentence = (
        "{names} of {producer} cannot be imported once more: SSM allows 50 tags on a parameter, and each import is "
        "one. Give this consumer an Export of its own (Consumer: …), or import weakly (Strength: weak). Nothing was "
        "claimed."
    )


def _merged(in_use: Iterable[InUse]) -> list[InUse]:
    """A key that is in use in several regions, once, with all that import it."""
    importers: dict[tuple[str, str], dict[str, None]] = {}
    for use in in_use:
        importers.setdefault((use.key, use.verb), {}).update(dict.fromkeys(use.importers))
    return [InUse(key, verb, tuple(arns)) for (key, verb), arns in importers.items()]


def _grouped(in_use: Iterable[InUse]) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for use in in_use:
        groups.setdefault((use.verb, use.importers), []).append(attribute_name(use.key))
    return groups


class UnsupportedError(StrongRefError):
    counted = ErrorMetric.REJECTED
    type_name: str  # as in `AWS::S3::Bucket`
    action: str  # `GetResource` or `ListResources`
    region: str | None = None  # where it was asked; None leaves it out of the text

    def __str__(self) -> str:
        where = f" in {self.region}" if self.region else ""
        way_out = (
            "Give its complete primary identifier as the physical ID."
            if self.action == "ListResources"
            else "Its attributes cannot be looked up."
        )
        return f"{self.type_name} does not support {self.action} of Cloud Control{where}. {way_out}"


class NoSuchResourceError(StrongRefError):
    counted = ErrorMetric.REJECTED
    type_name: str  # as in `AWS::S3::Bucket`
    wanted: str  # what was looked up, as in `physical ID web`
    region: str
    among: int | None = None  # how many resources were checked; None where it was asked for by its identifier
    sentence = "No {type_name} with {wanted:500} in {region}{_checked}. Check the name, the region and the account."

    @property
    def _checked(self) -> str:
        return "" if self.among is None else f" ({self.among} checked)"


class CloudControlError(ServiceError):
    """Cloud Control, or the tagging API, did; the target is the type, and the resource if it was about one."""


class LookUpDeniedError(CloudControlError):
    sentence = (
        "{action} of {target:500} in {region} was denied ({code}). Check that the caller may call it, and may read "
        "such resources: Cloud Control calls their service on its behalf."
    )


class PropertiesAskedError(StrongRefError):
    """A service named properties that it needs to list resources. `Finder` adds them."""

    names: Sequence[str]  # the properties, as in `LoadBalancerArn`
    sentence = "The service asks for {names}."
