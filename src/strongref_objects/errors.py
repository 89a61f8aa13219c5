"""What can go wrong with objects that are exported and imported. Texts name objects and keys, never values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 150
"""Characters of one name in a text."""


class ObjectError(StrongRefError):
    """The root of what is told about objects: a program asked for what cannot be, or not now."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class BadNameError(ObjectError):
    """A name or key that a channel cannot carry.

    Attributes:
        name: the whole name, with dots between the keys.
        problem: what is wrong with it.
    """

    name: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)!r} is no name for an export: {cut(self.problem, NAMES_LIMIT)}. Choose another "
            "one."
        )


@dataclass(eq=False)
class NameClashError(ObjectError):
    """Two names that would be one where they are written to.

    Attributes:
        first: the name that was there before.
        second: the one that came.
        written: what both would be written as.
    """

    first: str
    second: str
    written: str

    def __str__(self) -> str:
        return (
            f"{cut(self.first, _SHOWN)!r} and {cut(self.second, _SHOWN)!r} would both be written as "
            f"{cut(self.written, 255)}. Give one of them another name. Nothing was written of the second."
        )


@dataclass(eq=False)
class ExportedTwiceError(ObjectError):
    """One name, and two different things exported under it.

    Attributes:
        name: the object's.
        keys: that differ, or that only one of the two has; none where a string differs.
    """

    name: str
    keys: Sequence[str]

    def __str__(self) -> str:
        differing = f" ({cut(some(self.keys), NAMES_LIMIT)} differ)" if len(self.keys) > 1 else ""
        if len(self.keys) == 1:
            differing = f" ({cut(self.keys[0], _SHOWN)} differs)"
        return (
            f"{cut(self.name, _SHOWN)} is exported already, with another value{differing}. Export the second one under "
            "a name of its own. Nothing was written of it."
        )


@dataclass(eq=False)
class WrittenTwiceError(ObjectError):
    """An object writes one key twice, with two values.

    Attributes:
        key: with all that it is below.
    """

    key: str

    def __str__(self) -> str:
        return (
            f"The object writes {cut(self.key, _SHOWN)} twice, and not the same. Give each of its parts a key of its "
            "own. Nothing was written."
        )


@dataclass(eq=False)
class BadValueError(ObjectError):
    """A value that the channel cannot carry, or that is none.

    Attributes:
        name: of the value, with dots between the keys.
        problem: what is wrong with it; never the value.
    """

    name: str
    problem: str

    def __str__(self) -> str:
        return f"{cut(self.name, _SHOWN)} cannot be exported: {cut(self.problem, NAMES_LIMIT)}. Nothing was written."


@dataclass(eq=False)
class UnresolvedError(ObjectError):
    """A value has to be there while the template is made, and is to be looked up at deployment.

    Attributes:
        name: of the value.
        channel: that it comes through, as in `CloudFormation's exports`.
        reason: why it has to be the value itself.
    """

    name: str
    channel: str
    reason: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} cannot be imported through {self.channel} at deployment: "
            f"{cut(self.reason, NAMES_LIMIT)}. Import it with type=ResolveType.SYNTHESIS."
        )


@dataclass(eq=False)
class NotHeldError(ObjectError):
    """An import was to be strong, or weak, and the channel cannot have it so.

    Attributes:
        name: of what is imported.
        channel: as above.
        problem: what cannot be, and what to do.
    """

    name: str
    channel: str
    problem: str

    def __str__(self) -> str:
        return f"{cut(self.name, _SHOWN)} cannot be imported so through {self.channel}: {self.problem}."


@dataclass(eq=False)
class NothingToImportError(ObjectError):
    """There is nothing of that name where it is looked up.

    Attributes:
        name: of what was to be imported.
        where: it was looked for.
        close: names that it may have been meant to be.
    """

    name: str
    where: str
    close: Sequence[str] = ()

    def __str__(self) -> str:
        meant = f" Did you mean {cut(some(self.close, 3), 400)}?" if self.close else ""
        return (
            f"There is no {cut(self.name, _SHOWN)} in {cut(self.where, 300)}.{meant} Deploy the stack that exports it "
            "first, or correct the name."
        )


@dataclass(eq=False)
class OwnExportError(ObjectError):
    """A stack imports what it exports itself.

    Attributes:
        name: of what is imported.
        stack: the stack's.
    """

    name: str
    stack: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is exported by stack {cut(self.stack, 128)} itself, and a stack cannot import "
            "its own exports. Use the value that it exports."
        )


@dataclass(eq=False)
class NoPlaceError(ObjectError):
    """A value is to be looked up while the template is made, and nobody said where.

    Attributes:
        name: of what is imported.
        stack: whose template is made.
        what: is not known: the region, or the account.
    """

    name: str
    stack: str
    what: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} cannot be looked up: the {self.what} of stack {cut(self.stack, 128)} is not "
            f"known. Give the stack its {self.what}, or import with type=ResolveType.DEPLOYMENT."
        )


@dataclass(eq=False)
class WrongKindError(ObjectError):
    """A list was read as a string, or a string as a list, or an object as a value.

    Attributes:
        name: of the value.
        kind: what it is, as in `a list`.
        way: what to do.
    """

    name: str
    kind: str
    way: str

    def __str__(self) -> str:
        return f"{cut(self.name, _SHOWN)} is {self.kind}: {self.way}."


@dataclass(eq=False)
class UnreadableError(ObjectError):
    """What was said to be an object's JSON is none.

    Attributes:
        name: the object's.
        problem: what is wrong with it.
    """

    name: str
    problem: str

    def __str__(self) -> str:
        return f"{cut(self.name, _SHOWN)} cannot be read: {self.problem}. Write it anew with JsonSerializationContext."


@dataclass(eq=False)
class SecureObjectError(ObjectError):
    """A part of an object is a SecureString, which is never put into a template or a file.

    Attributes:
        name: of the value.
    """

    name: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, _SHOWN)} is a SecureString, and objects hold no secrets. Use "
            "{{resolve:ssm-secure:NAME}} where it is needed."
        )


@dataclass(eq=False)
class TakenError(ObjectError):
    """The template has something else under a logical id that is needed.

    Attributes:
        logical_id: which.
        stack: whose template it is.
        purpose: what it is needed for.
    """

    logical_id: str
    stack: str
    purpose: str

    def __str__(self) -> str:
        return (
            f"Stack {cut(self.stack, 128)} has an output or resource {cut(self.logical_id, 255)} of its own, which is "
            f"needed for {cut(self.purpose, 255)}. Give that one another logical id."
        )


@dataclass(eq=False)
class BadChannelError(ObjectError):
    """A channel (`via`) that is not described as this use of it needs.

    Attributes:
        problem: what is wrong, and what to do.
    """

    problem: str

    def __str__(self) -> str:
        return f"via: {cut(self.problem, NAMES_LIMIT)}."


@dataclass(eq=False)
class BadTypeError(ObjectError):
    """When to look up (`type`) is said by another word than there is.

    Attributes:
        given: what came.
    """

    given: str

    def __str__(self) -> str:
        return (
            f"type: {cut(self.given, _SHOWN)!r} came; it can be ResolveType.SYNTHESIS ('Synthesis') and "
            "ResolveType.DEPLOYMENT ('Deployment')."
        )


@dataclass(eq=False)
class ContextFileError(ObjectError):
    """The file that keeps what was looked up cannot be read or written.

    Attributes:
        path: the file's.
        problem: what is wrong with it.
    """

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{cut(self.path, 300)}: {cut(self.problem, NAMES_LIMIT)}."
