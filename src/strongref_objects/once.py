"""What is made once and is the same object from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Made:
    """Objects by what they were made of, of one scope: a stack, or what one object is read from.

    So that importing a thing twice, or naming it twice by its ARN, gives one object:

        return ctx.made.get(Bucket, lambda: Bucket(ctx.read_string("BucketArn")))
    """

    def __init__(self) -> None:
        self._made: dict[object, Any] = {}

    def get(self, what: object, make: Callable[[], T]) -> T:
        """The object that was made of this before; else what `make` makes now. One that fails is not kept.

        Args:
            what: tells one object of the scope from the others: its class, or its class and its physical
                name. Anything that can be a dictionary's key.
            make: makes it.
        """
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made
