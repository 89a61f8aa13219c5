"""What is wrong with what is stored: the janitor's findings, and what only someone who deploys can put right. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import MANIFESTS, ExportScope, consumer_text
from strongref.contract.values import MAX_BYTES
from strongref.errors import TAG_LIMIT
from strongref.protocol.findings import FindingType, Resolution
from strongref.text import attribute_name, cut, some
from strongref_cli.overview.exports import ExportState, ImportState, Protection, participant_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from strongref.contract.fence import Fence
    from strongref.contract.releases import Release
    from strongref.errors import StrongRefError
    from strongref.protocol.findings import Finding
    from strongref_cli.overview.exports import ExportedValue, StoredRegion
    from strongref_cli.overview.graph import Participant

NEAR = 0.9
"""The share of a limit from which it is reported."""

MAX_PARAMETERS = 10_000
"""Standard parameters of an account in a region (AWS General Reference, Systems Manager quotas)."""


class Severity(Enum):
    """What has to be done about a problem."""

    HEALABLE = "healable"
    """`--fix` does it."""
    ACTION = "action"
    """A person does."""
    NOTE = "note"
    """Nothing, for now."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or worth knowing."""

    region: str
    kind: str  # as in `stale-claim`
    severity: Severity
    subject: str  # what it is about, for people
    next_step: str
    stacks: tuple[Participant, ...] = ()  # the stacks concerned
    parameter: str = ""  # the name of the parameter it is about

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What is the same as long as the problem is, whatever there is to do about it."""
        return self.region, self.kind, self.subject, self.parameter


DEAD_FENCE = "dead-fence"
NOT_EXAMINED = "not-examined"


@dataclass(frozen=True, slots=True)
class RegionFailure:
    """Something that could not be examined or repaired."""

    region: str
    error: StrongRefError
    about: tuple[str, ...] = ()  # names and paths of parameters, names of stacks

    @property
    def called_in(self) -> str:
        """The region of the call that failed; empty if the error does not say."""
        return getattr(self.error, "region", "")

    def explains(self, problem: Problem) -> bool:
        """Whether it is about this problem, or about a scope with this problem, which is to be repaired."""
        if self.region != problem.region or not problem.parameter:
            return False
        below = problem.severity is Severity.HEALABLE and any(
            problem.parameter.startswith(f"{each}/") for each in self.about
        )
        return below or problem.parameter in self.about


class _Meaning(NamedTuple):
    kind: str
    next_step: str


_MEANINGS: Mapping[FindingType, _Meaning] = {
    FindingType.STALE_CLAIM: _Meaning("stale-claim", "--fix removes the claim"),
    FindingType.ORPHAN: _Meaning("orphan", "the producer is gone; --fix deletes it"),
    FindingType.IMPORTED_ORPHAN: _Meaning(
        "imported-orphan", "the producer is gone; deploy it again, or take the imports out"
    ),
    FindingType.STRAY: _Meaning("stray", "no record publishes it; --fix deletes it"),
    FindingType.WITHDRAWN: _Meaning("withdrawn", "kept for its importers; it is deleted with the last import"),
    FindingType.MISSING: _Meaning("missing", "--fix restores it; then deploy its importers again"),
    FindingType.RESTORED: _Meaning("restored", "its claims were lost; deploy its importers with another Revision"),
    FindingType.DIFFERENT: _Meaning("changed-by-hand", "deploy the producer with another Revision of its Export"),
    FindingType.FOREIGN: _Meaning("foreign", "no stack that exports here made it; move or delete it"),
    FindingType.UNHELD: _Meaning("no-hold", "--fix makes the hold"),
    FindingType.HOLD_PENDING: _Meaning("hold-pending", "wait for the producer's deployment"),
    FindingType.UNPROTECTED: _Meaning("hold-impossible", "add the output for Hold to the producer, and deploy it"),
    FindingType.STALE_HOLD: _Meaning("stale-hold", "--fix deletes it"),
    FindingType.INDEX: _Meaning("index", "--fix corrects it"),
    FindingType.UNREADABLE: _Meaning("unreadable-record", "deploy the producer with another Revision of its Export"),
    FindingType.UNDECRYPTABLE: _Meaning("undecryptable", "restore the access to its KMS key"),
    FindingType.NEWER: _Meaning("newer-format", "upgrade strongref in this region"),
    FindingType.UNKNOWN_CLAIM: _Meaning(
        "unknown-claim", "nobody can check whether its import exists; if not, strongref release takes it off"
    ),
    FindingType.UNKNOWN: _Meaning(NOT_EXAMINED, "it could not be examined"),
}


def problem_of(region: str, finding: Finding) -> Problem:
    """A finding of the janitor, as it is shown."""
    meaning = _MEANINGS[finding.kind]
    severities = {Resolution.HEALED: Severity.HEALABLE, Resolution.REPORTED: Severity.ACTION}
    severity = severities.get(finding.kind.resolution, Severity.NOTE)
    if finding.kind is FindingType.RESTORED:
        severity = Severity.ACTION  # The janitor cannot know who imported it. A person may.
    stacks = tuple(sorted({participant_of(each) for each in finding.stacks}))
    step = f"{meaning.next_step}: {finding.why}" if finding.why else meaning.next_step
    return Problem(region, meaning.kind, severity, _subject(finding.parameter), step, stacks, finding.parameter)


def in_progress(region: str, path: str) -> Problem:
    """Exports that are being changed, given the path of their scope: what was found there may be half of a change."""
    step = "a deployment is changing these; examine them again when it has finished"
    return Problem(region, "in-progress", Severity.NOTE, _protected(path), step, (), path)


def fences(region: str, found: Mapping[str, Fence], now: datetime) -> Iterator[Problem]:
    """The fences of a region, except those whose work is done.

    Args:
        region: the region.
        found: its fences, by parameter name.
        now: the time (UTC).
    """
    for name, fence in found.items():
        if fence.finished or fence.newer:  # The janitor finds those of a later format.
            continue
        held = f"held by {cut(fence.held_by, 200)} until {fence.expires_at:%Y-%m-%d %H:%M:%S} UTC"
        if not fence.is_live(now):
            step = f"{held}, which has crashed; --fix deletes it"
            yield Problem(region, DEAD_FENCE, Severity.HEALABLE, _subject(name), step, (), name)
        elif not fence.readable:
            step = f"{held}; wait until then, or delete it if nothing is being deployed there"
            yield Problem(region, "unreadable-fence", Severity.ACTION, _subject(name), step, (), name)
        else:
            step = f"{held}, or longer if it goes on; examine these again when it has finished"
            yield Problem(region, "in-progress", Severity.NOTE, _protected(name), step, (), name)


def with_failures(problems: Iterable[Problem], failures: Sequence[RegionFailure], kind: str) -> list[Problem]:
    """The problems with the reasons why they could not be repaired.

    Args:
        problems: what was found.
        failures: what could not be examined or repaired.
        kind: the kind of problem for failures that are about none of these.
    """
    found, explained = [], set[int]()
    for problem in problems:
        reasons = [(number, each) for number, each in enumerate(failures) if each.explains(problem)]
        explained |= {number for number, _ in reasons}
        if reasons:
            why = "That failed" if problem.severity is Severity.HEALABLE else "The reason"
            problem = replace(problem, next_step=f"{problem.next_step}. {why}: {reasons[-1][1].error}")  # noqa: PLW2901
        found.append(problem)
    others = [each for number, each in enumerate(failures) if number not in explained]
    return found + [
        Problem(each.region, kind, Severity.ACTION, _about(each), str(each.error), (), "") for each in others
    ]


def _about(failure: RegionFailure) -> str:
    """What a failure is about, for people: of names, those of parameters say the most."""
    return _protected(failure.about[0]) if failure.about else failure.region


def _protected(name: str) -> str:
    """The scope of a parameter or path, in the words of templates."""
    tree = name.removeprefix("/strongref/").partition("/")[0]
    scope = ExportScope.of(tree, f"{name}/") if tree in ("exports", "records", "fences") else None
    if scope and scope.consumer == MANIFESTS:
        return f"manifests {scope.producer.stack}"
    return f"exports of {scope.producer.stack} for {consumer_text(scope.consumer)}" if scope else name


def _subject(parameter: str) -> str:
    """What a parameter's name says, in the words of templates."""
    for tree, what in (("exports", ""), ("records", "record "), ("fences", "fence ")):
        if parameter.startswith(f"/strongref/{tree}/") and (scope := ExportScope.of(tree, parameter)):
            rest = attribute_name(scope.key(f"{scope.path('exports')}/{parameter.split('/', 7)[7]}"))
            return f"{what}{rest} of {scope.producer.stack} for {consumer_text(scope.consumer)}"
    return parameter


def outdated(values: Iterable[ExportedValue]) -> Iterator[Problem]:
    """Importers that have not read a value since it changed."""
    for value in values:
        if late := value.with_state(ImportState.OUTDATED):
            stacks = tuple(sorted(map(participant_of, late)))
            step = f"deploy {some([each.name for each in stacks], 5)} with another Revision of the Import"
            yield _of_value(value, "outdated-import", Severity.ACTION, step, stacks)


def unprotected(values: Iterable[ExportedValue]) -> Iterator[Problem]:
    """Producers whose imported values CloudFormation does not protect: their Export names no hold. One for each."""
    producers: dict[tuple[str, ExportScope], set[Participant]] = {}
    # Values in another state may have no Export that could name one.
    for value in (each for each in values if each.state is ExportState.PUBLISHED):
        importers = {participant_of(each.importer) for each in value.claims if each.protection is Protection.NONE}
        if bare := {each for each in importers if each.account == value.producer.account}:  # Others cannot hold it.
            producers.setdefault((value.region, value.scope), set()).update(bare)
    for (region, scope), stacks in producers.items():
        subject = f"exports of {scope.producer.stack} for {consumer_text(scope.consumer)}"
        step = "add Hold to the Export, so that CloudFormation protects the whole stack"
        yield Problem(region, "no-hold-named", Severity.NOTE, subject, step, tuple(sorted(stacks)))


def near_limits(stored: StoredRegion, sizes: Mapping[str, int], count: int) -> Iterator[Problem]:
    """What cannot grow much further.

    Args:
        stored: a region, with the tags of its values.
        sizes: the bytes of each value, by parameter name.
        count: how many parameters strongref has there.
    """
    for scope, values in stored.values.items():
        for key, value in values.items():
            name = scope.parameter_name(key)
            subject = _subject(name)
            if len(value.tags) >= NEAR * TAG_LIMIT:
                step = f"{len(value.tags)} of {TAG_LIMIT} tags; each import is one. Export it to some consumers by name"
                yield Problem(stored.region, "near-tag-limit", Severity.ACTION, subject, step, (), name)
            if sizes.get(name, 0) >= NEAR * MAX_BYTES:
                step = f"{sizes[name]} of {MAX_BYTES} bytes. Split it, or export a reference to it"
                yield Problem(stored.region, "near-size-limit", Severity.ACTION, subject, step, (), name)
    if count >= NEAR * MAX_PARAMETERS:
        # With Intelligent-Tiering, as strongref asks for (AWS: Parameter Store User Guide, managing tiers).
        step = "AWS charges for more, as they are advanced parameters; drop exports that nothing imports"
        subject = f"{count} parameters of strongref; a region has {MAX_PARAMETERS} standard ones"
        yield Problem(stored.region, "near-parameter-limit", Severity.ACTION, subject, step)


def released(region: str, releases: Collection[Release]) -> Iterator[Problem]:
    """Claims that a person took off."""
    for each in releases:
        subject = f"{attribute_name(each.key)} of {each.producer}"
        step = f"released on {each.at:%Y-%m-%d} by {cut(each.by, 120)}: {cut(each.reason, 200)}"
        yield Problem(region, "released", Severity.NOTE, subject, step, (participant_of(each.importer),), each.name)


def _of_value(
    value: ExportedValue, kind: str, severity: Severity, step: str, stacks: tuple[Participant, ...]
) -> Problem:
    name = value.scope.parameter_name(value.key)
    return Problem(value.region, kind, severity, _subject(name), step, stacks, name)
