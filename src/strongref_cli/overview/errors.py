"""What can be wrong with the names that someone asks about."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from strongref.errors import StrongRefError
from strongref.text import cut, did_you_mean, some
from strongref_toolkit.errors import UsageError

_CHECK = " Check the name and the region."


class NoSuchNameError(UsageError):
    """A name that was given does not exist. It is an error, because an empty answer would look like a fact."""


class NotFoundWhereReadError(StrongRefError):
    """A name was not found, but it may exist in a region that could not be read."""

    problem: str  # what was not found, sentences
    unread: Sequence[str]  # the regions

    def __str__(self) -> str:
        return f"{self.problem} It may be in {some(self.unread, 5)}, which could not be read."


def no_such_stack(name: str, regions: Sequence[str], known: Sequence[str]) -> NoSuchNameError:
    """There is no stack of that name in some regions, given the names of those that are there."""
    what = f"No stack or manifest set {cut(name, 150)!r} in {some(regions, 5)}."
    return NoSuchNameError(what + _meant(name, known, _CHECK))


def no_such_key(name: str, stack: str, known: Sequence[str], unread: Sequence[str]) -> NoSuchNameError:
    """A stack neither exports nor imports that key, given those that it does, and accounts where it may export it."""
    may_be = f" It may export it to {some(unread, 5)} (not read)." if unread else ""
    return NoSuchNameError(f"{stack} neither exports nor imports {cut(name, 150)!r}.{may_be}{_meant(name, known)}")


def no_such_importer(name: str, stack: str, key: str, known: Sequence[str]) -> NoSuchNameError:
    """A stack does not import that key of another one, given those that do."""
    importers = f" It is imported by {cut(some(known, 5), 300)}." if known else " Nobody imports it."
    return NoSuchNameError(f"{cut(name, 150)} does not import {cut(key, 150)} of {stack}.{importers}")


def no_such_filter(option: str, name: str, regions: Sequence[str], known: Sequence[str]) -> NoSuchNameError:
    what = f"Nothing in {some(regions, 5)} matches {option} {cut(name, 150)!r}."
    return NoSuchNameError(what + _meant(name, known, _CHECK))


def _meant(name: str, known: Sequence[str], otherwise: str = "") -> str:
    """The names that are similar; without any, some of those that there are, and what to do."""
    names = f" Known names: {cut(some(known, 5), 300)}." if known else ""
    close = get_close_matches(name, known, 3)
    return f" {did_you_mean(close)}" if close else names + otherwise
