"""Regions that a command reads, and who uses what there.

Regions are read in parallel, and if one cannot be read, the others are shown and that one is named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.names import StackArn
from strongref.contract.values import select
from strongref.text import attribute_name
from strongref_cli.overview.errors import NoSuchNameError, NotFoundWhereReadError, no_such_key, no_such_stack
from strongref_cli.overview.exports import Claim, ExportedValue, PlaceAbroad, StoredRegion, participant, participant_of
from strongref_cli.overview.reading import OverviewReader
from strongref_cli.overview.states import ExportState
from strongref_cli.terminal import AWS_FAILED
from strongref_cli.terminal.output import progress
from strongref_toolkit.messages import tell
from strongref_toolkit.session import ToolSession, chosen_regions, enabled_regions

if TYPE_CHECKING:
    import argparse

    from strongref_cli.overview.graph import Participant, Unread


@contextmanager
def reading(session: ToolSession, what: str, role: str | None = None) -> Iterator[OverviewReader]:
    """A reader that shows its progress. Afterward, the regions that it could not read are named on standard error.

    With a role, it reads other accounts, too.

    Raises:
        NotFoundWhereReadError: a name was not found, and some regions could not be read.
    """
    reader = None
    try:
        with progress(what) as step:
            reader = OverviewReader(session.aws(None, role), step, reads_abroad=role is not None)
            yield reader
    except NoSuchNameError as error:
        if reader and reader.unread:
            raise NotFoundWhereReadError(str(error), [each.where for each in reader.unread]) from error
        raise
    finally:
        if reader:
            name_unread(reader.unread)


def uses_of(args: argparse.Namespace, session: ToolSession, reader: OverviewReader) -> list[Uses]:
    """What stacks and manifest sets of the given name export and import; errors as for `find_uses`."""
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    return find_uses(reader, regions, partial(enabled_regions, session), args.stack, args.key)


def regions_of(values: Iterable[ExportedValue]) -> set[str]:
    """The regions in which values are stored, and those of their producers."""
    return {region for value in values for region in (value.region, value.producer.region)}


def name_unread(unread: Iterable[Unread]) -> None:
    for each in unread:
        tell("error", f"{each.where} was not read: {each.error}")


def where_read(unread: Sequence[Unread]) -> str:
    """What limits a statement that there is nothing, if some regions could not be read."""
    return " in the regions that were read" if unread else ""


def status(unread: Sequence[Unread], otherwise: int = 0) -> int:
    """The exit status of a command that read some regions."""
    return AWS_FAILED if unread else otherwise


@dataclass(frozen=True, slots=True)
class Uses:
    participant: Participant
    exports: tuple[ExportedValue, ...]
    imports: tuple[tuple[ExportedValue, Claim], ...]
    places: tuple[PlaceAbroad, ...]  # in other accounts, which were not read


def find_uses(
    reader: OverviewReader,
    start: Collection[str],
    everywhere: Callable[[], Iterable[str]],
    name: str,
    key: str | None = None,
) -> list[Uses]:
    """Everything that stacks and manifest sets of this name export and import.

    It starts in some regions, and also reads every region that the stacks found there export to or live in.

    `everywhere` gives all regions, which are read if the index lacks an Export of a stack. `key` may be a map's name.

    Raises:
        NoSuchNameError: no stack that was read has that name, or it neither exports nor imports such a key.
        AwsCallError, StoreError: a call failed.
    """
    regions = reader.reachable(start, name)
    if reader.has_unindexed(regions, name):
        regions = reader.reachable([*start, *everywhere()], name)
    values, places = reader.exports(regions, name)
    everybody = _participants(regions, values) | {participant(each.producer) for each in places}
    uses = [_uses(each, values, places) for each in sorted(everybody) if each.name == name]
    if not uses:
        others = {each.name for each in everybody}
        raise no_such_stack(name, [each.region for each in regions], sorted(others))
    return _only(uses, values, name, key) if key else uses


def _participants(regions: Sequence[StoredRegion], values: Sequence[ExportedValue]) -> set[Participant]:
    existing = {participant(StackArn.parse(arn).producer) for each in regions for arn in each.stacks}
    importing = {participant_of(claim.importer) for value in values for claim in value.claims}
    exporting = {participant(value.producer) for value in values if value.state is not ExportState.FOREIGN}
    return existing | importing | exporting


def _uses(who: Participant, values: Sequence[ExportedValue], places: Iterable[PlaceAbroad]) -> Uses:
    return Uses(
        who,
        tuple(value for value in values if participant(value.producer) == who),
        tuple((value, claim) for value in values for claim in value.claims if participant_of(claim.importer) == who),
        tuple(each for each in places if participant(each.producer) == who),
    )


def _only(found: Sequence[Uses], values: Sequence[ExportedValue], name: str, key: str) -> list[Uses]:
    """What has this key, of those that have it: stacks of one name in several regions need not export the same."""
    exports = {value.key for uses in found for value in uses.exports}
    keys = exports | {value.key for uses in found for value, _ in uses.imports}
    path = key.replace(".", "/")  # Levels are separated by dots or slashes.
    wanted = select([path], keys)[path]
    if not wanted:
        unread = {each.place.account for uses in found for each in uses.places}
        raise no_such_key(key, name, sorted(map(attribute_name, keys)), sorted(unread))
    asked = [value for value in values if value.key in wanted]
    chosen = [_uses(each.participant, asked, each.places) for each in found]
    return [uses for uses in chosen if uses.exports or uses.imports]
