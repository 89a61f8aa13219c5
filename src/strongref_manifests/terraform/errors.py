"""What can go wrong with a Terraform state. Texts name addresses and files; values are never in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.text import cut, some
from strongref_toolkit.errors import ResolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 250
"""Characters of an address or a file's name in a text."""


@dataclass(eq=False)
class BadAddressError(ResolveError):
    """Text that is no address of a value.

    Attributes:
        text: it.
        problem: what is wrong with it.
    """

    text: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{cut(self.text, _SHOWN)} is no address of a value in a Terraform state: {self.problem}. It should look "
            "like output.NAME or module.NAME.TYPE.NAME[KEY].ATTRIBUTE."
        )


@dataclass(eq=False)
class NotAStateError(ResolveError):
    """What should be a state cannot be read as one.

    Attributes:
        where: its file or S3 address.
        problem: what it is instead; nothing of its content is in it.
    """

    where: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{cut(self.where, _SHOWN)} is no Terraform state: {cut(self.problem, 400)}. Give a state file of version "
            "4, or what terraform show -json prints."
        )


@dataclass(eq=False)
class StateNotReadError(ResolveError):
    """A state's file or object cannot be read.

    Attributes:
        where: its file or S3 address.
        problem: why.
    """

    where: str
    problem: str

    def __str__(self) -> str:
        return f"The Terraform state {cut(self.where, _SHOWN)} cannot be read: {cut(self.problem, 400)}."


@dataclass(eq=False)
class NoSuchStateError(ResolveError):
    """A token names a state that was not given.

    Attributes:
        name: of the state; empty for the one without a name.
        given: the names that there are.
    """

    name: str
    given: Sequence[str]

    def __str__(self) -> str:
        which = f"named {cut(self.name, _SHOWN)}" if self.name else "without a name"
        there = f" There is {cut(some([each or 'one without a name' for each in self.given], 5), _SHOWN)}."
        return (
            f"No Terraform state {which} is given.{there if self.given else ''} Give "
            f"--tf {f'{cut(self.name, _SHOWN)}=' if self.name else ''}STATE."
        )


@dataclass(eq=False)
class StateTwiceError(ResolveError):
    """Two states are given under one name, or both without one.

    Attributes:
        name: theirs; empty where they have none.
    """

    name: str

    def __str__(self) -> str:
        which = f"are named {cut(self.name, _SHOWN)}" if self.name else "have no name"
        return f"Two Terraform states {which}. Give all but one a name of its own: --tf NAME=STATE."


@dataclass(eq=False)
class NoSuchAddressError(ResolveError):
    """A state holds nothing at an address.

    Attributes:
        address: that was asked for.
        where: the state.
        close: what is like it, or other instances of the same resource.
        indexed: whether those are its instances: it has `count` or `for_each`, here or in a module around it.
        holds: how much there is at all, as in `3 resources and 1 output`.
    """

    address: str
    where: str
    close: Sequence[str]
    indexed: bool = field(kw_only=True)
    holds: str = field(kw_only=True)

    def __str__(self) -> str:
        address, where = cut(self.address, _SHOWN), cut(self.where, _SHOWN)
        if self.indexed:
            return f"{address} is no single resource in {where}. Write one of {cut(some(self.close, 5), _SHOWN)}."
        hint = f"Did you mean {cut(' or '.join(self.close[:2]), _SHOWN)}?" if self.close else f"It holds {self.holds}."
        return (
            f"There is no {address} in the Terraform state {where}. {hint} Check the address, and that it is applied."
        )


@dataclass(eq=False)
class NoSuchAttributeError(ResolveError):
    """What an address leads to is not there.

    Attributes:
        address: as far as there is something.
        step: what is not there, as in `.arn` or `[3]`.
        there: what is, as in `attributes arn, bucket and id`.
    """

    address: str
    step: str
    there: str

    def __str__(self) -> str:
        return f"{cut(self.address, _SHOWN)} has no {cut(self.step, _SHOWN)}. It {cut(self.there, _SHOWN)}."


@dataclass(eq=False)
class UnsetError(ResolveError):
    """An attribute or output is null: Terraform knows no value."""

    address: str

    def __str__(self) -> str:
        return f"{cut(self.address, _SHOWN)} is null in the Terraform state. Set it there, or take the reference out."


@dataclass(eq=False)
class SensitiveError(ResolveError):
    """A value is sensitive, or part of it is, and nobody said that such values may be written.

    Attributes:
        address: what was asked for.
        part: what of it is sensitive, if not all of it.
    """

    address: str
    part: str = ""

    def __str__(self) -> str:
        what = f"{cut(self.part, _SHOWN)} in it" if self.part else "it"
        return (
            f"{cut(self.address, _SHOWN)} is not given out: {what} is sensitive in Terraform. Give --sensitive (or "
            "sensitive=True) if it may stand readable in what is written, or let the cluster read it itself."
        )
