"""Regions that a command reads: in parallel, and if one cannot be read, the others are shown and that one is named."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref_cli.overview.errors import NoSuchNameError, NotFoundWhereReadError
from strongref_cli.overview.reading import OverviewReader
from strongref_cli.overview.who import Uses, find_uses
from strongref_cli.terminal.exit_statuses import AWS_FAILED
from strongref_cli.terminal.output import progress
from strongref_toolkit.errors import printable
from strongref_toolkit.session import ToolSession, chosen_regions, enabled_regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from strongref_cli.overview.exports import ExportedValue
    from strongref_cli.overview.graph import Unread


@contextmanager
def reading(session: ToolSession, what: str) -> Iterator[OverviewReader]:
    """A reader that shows its progress. Afterward, the regions that it could not read are named on standard error.

    Raises:
        NotFoundWhereReadError: a name was not found, and some regions could not be read.
    """
    reader = None
    try:
        with progress(what) as step:
            reader = OverviewReader(session.aws(None, None), step)
            yield reader
    except NoSuchNameError as error:
        if reader and reader.unread:
            raise NotFoundWhereReadError(str(error), [each.region for each in reader.unread]) from error
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
        sys.stderr.write(f"strongref: {each.region} was not read: {printable(each.error)}\n")


def unread_document(unread: Iterable[Unread]) -> list[dict[str, Any]]:
    return [each._asdict() for each in unread]


def where_read(unread: Sequence[Unread]) -> str:
    """What limits a statement that there is nothing, if some regions could not be read."""
    return " in the regions that were read" if unread else ""


def status(unread: Sequence[Unread], otherwise: int = 0) -> int:
    """The exit status of a command that read some regions."""
    return AWS_FAILED if unread else otherwise
