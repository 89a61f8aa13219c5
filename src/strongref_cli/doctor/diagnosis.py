"""What is wrong with what is stored: the janitor's findings, and what only someone who deploys can put right. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

from strongref.contract.names import MANIFESTS, ExportScope
from strongref.contract.values import MAX_BYTES
from strongref.errors import TAG_LIMIT, StrongRefError
from strongref.protocol.findings import Finding, FindingType, Resolution
from strongref.protocol.installations import IMPORTER
from strongref.text import attribute_name, cut, some
from strongref_cli.overview.exports import ExportedValue, StoredRegion, participant_of
from strongref_cli.overview.states import ExportState, ImportState, Protection

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.contract.fence import Fence
    from strongref.contract.releases import Release
    from strongref_cli.overview.graph import Participant

NEAR = 0.9
"""The share of a limit from which it is reported."""

MAX_PARAMETERS = 10_000
"""Standard parameters of an account in a region (AWS General Reference, Systems Manager quotas)."""


class Severity(Enum):
    """What has to be done about a problem, in the order in which they are shown."""

    ACTION = "action"
    """A person has to do something."""
    REPAIRABLE = "repairable"
    """`--fix` does it."""
    NOTE = "note"
    """Nothing, for now."""


class DoctorFinding(StrEnum):
    """What `doctor` finds in addition to the janitor. docs/glossary.md lists all."""

    OUTDATED_IMPORT = "outdated-import"
    UNPROTECTED = "unprotected"
    UNREADABLE_FENCE = "unreadable-fence"
    VERSION_DIFFERS = "version-differs"
    NEAR_TAG_LIMIT = "near-tag-limit"
    NEAR_SIZE_LIMIT = "near-size-limit"
    NEAR_PARAMETER_LIMIT = "near-parameter-limit"
    NOT_INSTALLED = "not-installed"
    IN_PROGRESS = "in-progress"
    RELEASED = "released"
    OTHER_ACCOUNTS = "other-accounts"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or worth knowing."""

    region: str
    kind: FindingType | DoctorFinding
    severity: Severity
    subject: str  # what it is about, for people
    next_step: str
    stacks: tuple[Participant, ...] = ()  # the stacks concerned
    parameter: str = ""  # the name of the parameter it is about

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What is the same as long as the problem is, whatever there is to do about it."""
        return self.region, self.kind, self.subject, self.parameter


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
        below = tuple(f"{each}/" for each in self.about)
        is_below = problem.severity is Severity.REPAIRABLE and problem.parameter.startswith(below)
        return is_below or problem.parameter in self.about


_NEXT_STEPS: Mapping[FindingType, str] = {
    FindingType.STALE_CLAIM: "--fix removes the claim",
    FindingType.ORPHANED: "the producer is gone, or left the region; --fix deletes it",
    FindingType.FORGOTTEN: "it answers again; deploy the Export there again, or remove the imports from there",
    FindingType.IMPORTED_ORPHAN: "the producer is gone; deploy it again, or remove the imports",
    FindingType.STRAY: "no record publishes it; --fix deletes it",
    FindingType.WITHDRAWN: "kept for its importers; it is deleted with the last import",
    FindingType.MISSING: "--fix restores it; then deploy its importers with another Revision",
    FindingType.CLEANED_UP: "it went with its consumer; if someone deleted it, strongref republish restores it",
    FindingType.RESTORED: "its claims were lost; deploy its importers with another Revision",
    FindingType.CHANGED_BY_HAND: "deploy the producer with another Revision of its Export",
    FindingType.UNCLAIMED: "deploy the stack with another Revision of the Import, which does not protect",
    FindingType.FOREIGN: "no stack that exports here made it; move or delete it",
    FindingType.UNHELD: "--fix makes the hold",
    FindingType.HOLD_PENDING: "wait for the producer's deployment",
    FindingType.HOLD_IMPOSSIBLE: "if the producer has no output for Hold, add one and deploy it",
    FindingType.STALE_HOLD: "--fix deletes it",
    FindingType.INDEX_ENTRY: "--fix corrects it",
    FindingType.UNREADABLE_RECORD: "deploy the producer with another Revision of its Export",
    FindingType.UNDECRYPTABLE: "restore the access to its KMS key",
    FindingType.NEWER_FORMAT: "upgrade strongref in this region",
    FindingType.UNKNOWN_CLAIM: "nobody can check whether its import exists; if not, strongref release removes it",
    FindingType.UNREACHABLE: "restore its trust, or give it up with strongref forget; its hold stays",
    FindingType.FAILED_CALL: "it could not be examined",
}
"""Those of the janitor's findings; `fences` has that of an expired one."""


def problem_of(region: str, finding: Finding) -> Problem:
    """A finding of the janitor, as it is shown."""
    next_step = _NEXT_STEPS[finding.kind]
    severities = {Resolution.REPAIRED: Severity.REPAIRABLE, Resolution.REPORTED: Severity.ACTION}
    severity = severities.get(finding.kind.resolution, Severity.NOTE)
    if finding.kind is FindingType.RESTORED:
        severity = Severity.ACTION  # The janitor cannot know who imported it. A person may.
    stacks = tuple(sorted({participant_of(each) for each in finding.stacks}))
    step = f"{next_step}: {finding.why}" if finding.why else next_step
    where = f" in {finding.site}" if finding.site else ""
    subject = f"{_subject(finding.parameter)}{where}"
    return Problem(region, finding.kind, severity, subject, step, stacks, finding.parameter)


def in_progress(region: str, path: str) -> Problem:
    """Exports that are being changed, given the path of their scope: what was found there may be half of a change."""
    step = "a deployment is changing these; examine them again when it has finished"
    return Problem(region, DoctorFinding.IN_PROGRESS, Severity.NOTE, _protected(path), step, (), path)


def fences(region: str, found: Mapping[str, Fence], earliest: datetime) -> Iterator[Problem]:
    """The fences of a region, by parameter name, except those whose work is done; `earliest` as for `Fence.is_live`."""
    for name, fence in found.items():
        if fence.finished or fence.newer:  # The janitor finds those of a later format.
            continue
        held = f"held by {cut(fence.held_by, 200)} until {fence.expires_at:%Y-%m-%d %H:%M:%S} UTC"
        if not fence.is_live(earliest):
            step = f"{held}, which has crashed; --fix deletes it"
            yield Problem(region, FindingType.EXPIRED_FENCE, Severity.REPAIRABLE, _subject(name), step, (), name)
        elif not fence.readable:
            step = f"{held}; wait until then, or delete it if nothing is being deployed there"
            yield Problem(region, DoctorFinding.UNREADABLE_FENCE, Severity.ACTION, _subject(name), step, (), name)
        else:
            step = f"{held}, or longer if it goes on; examine these again when it has finished"
            yield Problem(region, DoctorFinding.IN_PROGRESS, Severity.NOTE, _protected(name), step, (), name)


def with_failures(problems: Iterable[Problem], failures: Sequence[RegionFailure]) -> list[Problem]:
    """The problems with the reasons why they could not be examined or repaired, and failures that are about none."""
    found, explained = [], set[int]()
    for problem in problems:
        reasons = [(number, each) for number, each in enumerate(failures) if each.explains(problem)]
        explained |= {number for number, _ in reasons}
        if reasons:
            why = "That failed" if problem.severity is Severity.REPAIRABLE else "The reason"
            problem = replace(problem, next_step=f"{problem.next_step}. {why}: {reasons[-1][1].error}")  # noqa: PLW2901
        found.append(problem)
    for each in (each for number, each in enumerate(failures) if number not in explained):
        about = _protected(each.about[0]) if each.about else each.region  # Names of parameters say the most.
        found.append(Problem(each.region, FindingType.FAILED_CALL, Severity.ACTION, about, str(each.error)))
    return found


def _protected(name: str) -> str:
    """The scope of a parameter or path, in the words of templates."""
    tree = name.removeprefix("/strongref/").partition("/")[0]
    scope = ExportScope.of(tree, f"{name}/") if tree in ("exports", "records", "fences") else None
    if scope and scope.consumer == MANIFESTS:
        return f"manifests {scope.producer.stack}"
    return f"exports of {scope.producer.stack} for {scope.consumer}" if scope else name


def _subject(parameter: str) -> str:
    """What a parameter's name says, in the words of templates."""
    for tree, what in (("exports", ""), ("records", "record "), ("fences", "fence ")):
        if parameter.startswith(f"/strongref/{tree}/") and (scope := ExportScope.of(tree, parameter)):
            rest = attribute_name(scope.key(f"{scope.path('exports')}/{parameter.split('/', 7)[7]}"))
            return f"{what}{rest} of {scope.producer.stack} for {scope.consumer}"
    return parameter


def outdated(values: Iterable[ExportedValue]) -> Iterator[Problem]:
    """Importers that have not read a value since it changed."""
    for value in values:
        if late := {each.importer for each in value.claims if each.state is ImportState.OUTDATED}:
            stacks = tuple(sorted(map(participant_of, late)))
            step = f"deploy {some([each.name for each in stacks], 5)} with another Revision of the Import"
            name, kind = value.scope.parameter_name(value.key), DoctorFinding.OUTDATED_IMPORT
            yield Problem(value.region, kind, Severity.ACTION, _subject(name), step, stacks, name)


def unprotected(values: Iterable[ExportedValue]) -> Iterator[Problem]:
    """Producers whose imported values CloudFormation does not protect: their Export names no hold. One for each."""
    producers: dict[tuple[str, ExportScope], set[Participant]] = {}
    # Values in another state may have no Export that could name one.
    for value in (each for each in values if each.state is ExportState.PUBLISHED):
        claims = (each for each in value.claims if each.protection is Protection.UNPROTECTED)
        importers = {participant_of(each.importer) for each in claims}
        if bare := {each for each in importers if each.account == value.producer.account}:  # Others cannot hold it.
            producers.setdefault((value.region, value.scope), set()).update(bare)
    for (region, scope), stacks in producers.items():
        subject = f"exports of {scope.producer.stack} for {scope.consumer}"
        step = "add Hold to the Export, so that CloudFormation protects the whole stack"
        yield Problem(region, DoctorFinding.UNPROTECTED, Severity.NOTE, subject, step, tuple(sorted(stacks)))


def near_limits(stored: StoredRegion, sizes: Mapping[str, int], count: int) -> Iterator[Problem]:
    """What cannot grow much further, given the bytes of each value by parameter name, and the region's parameters."""
    for scope, values in stored.values.items():
        for key, value in values.items():
            name = scope.parameter_name(key)
            subject = _subject(name)
            if len(value.tags) >= NEAR * TAG_LIMIT:
                step = f"{len(value.tags)} of {TAG_LIMIT} tags; each import is one. Export it to some consumers by name"
                yield Problem(stored.region, DoctorFinding.NEAR_TAG_LIMIT, Severity.ACTION, subject, step, (), name)
            if sizes.get(name, 0) >= NEAR * MAX_BYTES:
                step = f"{sizes[name]} of {MAX_BYTES} bytes. Split it, or export a reference to it"
                yield Problem(stored.region, DoctorFinding.NEAR_SIZE_LIMIT, Severity.ACTION, subject, step, (), name)
    if count >= NEAR * MAX_PARAMETERS:
        # With Intelligent-Tiering, as strongref asks for (AWS: Parameter Store User Guide, managing tiers).
        step = "AWS charges for more, as they are advanced parameters; drop exports that nothing imports"
        subject = f"{count} parameters of strongref; a region has {MAX_PARAMETERS} standard ones"
        yield Problem(stored.region, DoctorFinding.NEAR_PARAMETER_LIMIT, Severity.ACTION, subject, step)


def without_functions(stored: StoredRegion, names: Collection[str]) -> Iterator[Problem]:
    """A region with values and without strongref, given the names of its parameters."""
    if stored.values and IMPORTER not in names:
        values = sum(map(len, stored.values.values()))
        step = "install strongref there before a stack imports them"
        subject = f"{values} {'export' if values == 1 else 'exports'} to it"
        yield Problem(stored.region, DoctorFinding.NOT_INSTALLED, Severity.NOTE, subject, step)


def released(region: str, releases: Collection[Release]) -> Iterator[Problem]:
    """Claims that a person took off."""
    for each in releases:
        subject = f"{attribute_name(each.key)} of {each.producer}"
        step = f"released on {each.at:%Y-%m-%d} by {cut(each.by, 120)}: {cut(each.reason, 200)}"
        stacks = (participant_of(each.importer),)
        yield Problem(region, DoctorFinding.RELEASED, Severity.NOTE, subject, step, stacks, each.name)
