"""Why an Export or an Import is refused, or has to be tried again: what is claimed, missing, changing or not held."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from strongref.errors import ErrorMetric, RejectedError, StoreError, StrongRefError
from strongref.grouping import grouped
from strongref.text import NAMES_LIMIT, REASON_LIMIT, attribute_name, brief, cut, some, stack_text


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
    accounts: Collection[str] = ()  # other accounts with such values, whose stacks cannot be asked about either

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
        if self.accounts:
            gone = "that stack is" if len(everyone) == 1 else "one of those stacks is"
            way_out += f" If {gone} gone, run strongref doctor --fix in account {some(sorted(self.accounts), 3)}."
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


class RecordLeftError(StrongRefError):
    """A rollback leaves a place as it is: its record cannot be read, and the update had not begun to write it."""

    why: StrongRefError
    sentence = "Nothing was changed where the record cannot be read, since the update had not begun to. {why}"


class OutOfReachError(RejectedError):
    stack: str  # the producer's name
    home: str  # and its region
    why: StoreError  # says where
    sentence = (
        "{why.where} cannot be reached, and stack {stack} ({home}) exports there: nobody can know what is imported. "
        "{why:400} Restore the access and repeat this. If {_gone} is gone for good, run strongref forget "
        "{_gone} --stack {stack} --region {home}. Nothing was changed there."
    )

    @property
    def _gone(self) -> str:
        return self.why.account or self.why.region


class PassedOverError(StrongRefError):
    """A rollback or a deletion passed over a region that cannot be reached."""

    why: StoreError  # says where
    sentence = (
        "{why.where} was left as it is, since it cannot be reached. {why:400} The next deployment that exports there "
        "needs it again. So does one that drops it, if values were exported there, until strongref forget gives it up."
    )


class ForeignParameterError(RejectedError):
    """Parameters of others exist where values are to be written. Raised before anything is written."""

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


class KeysError(StrongRefError):
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


class ChangingError(RejectedError):
    producer: str
    by: str
    sentence = "The exports of {producer} are being changed right now (by {by:500}). Deploy again in a moment."


class UnsettledError(KeysError):
    producer: str
    sentence = (
        "The stored value of {names} differs from what {producer} exports: a change did not finish, or it was changed "
        "by hand. Deploy the exporting stack with another Revision, then this one again."
    )


class NoSuchProducerError(RejectedError):
    producer: str
    sentence = (
        "Nothing to import: {producer} does not exist. Check From (Stack, Region, Account), or deploy that stack first."
    )


class NothingExportedError(RejectedError):
    """The stack to import from exists, or cannot be asked about, but exports nothing to this consumer."""

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
                f"Check the Export's {'' if self.known else 'Account, '}Region ({self.region}) and Consumer"
                f"{f' ({self.consumer})' if self.consumer else ' (left out)'} there, or the Import's Consumer here."
            )
        return f"Nothing to import: {self.producer} {exists} exports nothing {whom} in {self.region}. {hint}"


class NoSuchExportError(RejectedError):
    """The producer exports to this consumer, but not under these names."""

    missing: Mapping[str, Sequence[str]]  # each name, and the closest ones that there are
    producer: str  # of whom it was asked
    there: Sequence[str]  # what it does export
    # those of the missing that it exports to the other of the two: shared, or this consumer
    elsewhere: Sequence[str] = ()
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


class NoProducerError(RejectedError):
    """An Import without `From` names what no stack of its account exports to its consumer."""

    missing: Sequence[str]
    consumer: str
    region: str
    sentence = (
        "{missing:10} is not exported to {consumer} in {region} by any stack of this account. Export it there first, "
        "or correct Names."
    )


class SeveralProducersError(RejectedError):
    name: str
    consumer: str
    producers: Sequence[str]
    sentence = (
        "{name} is exported to {consumer} by {producers:5}. Give the Import a From, or remove that export from all but "
        "one of them."
    )


class HoldPendingError(RejectedError):
    export: str
    producer: str
    status: str  # of the producer's stack
    sentence = (
        "{export} cannot be held yet: CloudFormation exports it when the operation of {producer} succeeds, and that "
        "stack is {status}. Deploy again when it has finished. Nothing was claimed."
    )


class ProducerLeavingError(RejectedError):
    producer: str
    export: str
    deleted: bool  # the whole stack is

    def __str__(self) -> str:
        why = "is being deleted" if self.deleted else "removes it from its template"
        return f"{self.export} cannot be held: {self.producer} {why}. Nothing was claimed."


class HoldMissingError(RejectedError):
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


class PartlyImportedError(StrongRefError):
    """A rollback did not get everything that its import names, protected as ever."""

    unprotected: Sequence[str]
    gone: Sequence[str]
    too_large: Sequence[str]
    why: str  # why the first of the unprotected could not be claimed
    ambiguous: Sequence[str] = ()

    def __str__(self) -> str:
        kinds = {
            "Left out, as several stacks export it": self.ambiguous,
            "Not protected": self.unprotected,
            "Left out, as not exported or not readable": self.gone,
            "Left out, as too large for one CloudFormation response": self.too_large,
        }
        found = [f"{what}: {brief(map(attribute_name, keys))}." for what, keys in kinds.items() if keys]
        last = "When that is resolved, deploy this stack with another Revision of its Import."
        return f"{cut(' '.join([*found, self.why]).strip(), REASON_LIMIT - 1 - len(last))} {last}"


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
    return grouped(((use.verb, use.importers), attribute_name(use.key)) for use in in_use)
