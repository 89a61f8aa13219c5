"""Text in parts: which parts are fetched values, and which may still hold tokens. Pure.

cdk8s passes what a resolver returned to all resolvers again, that one first. A fetched value must not be read for
tokens then: anyone who can set the value could have any other value written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class TextPart(NamedTuple):
    text: str
    # the resolvers that have read it for tokens; None for a fetched value, which none may read
    done: frozenset[object] | None = frozenset()

    def is_open_to(self, resolver: object) -> bool:
        return self.done is not None and resolver not in self.done


Text: TypeAlias = "tuple[TextPart, ...]"


def text_of(parts: Iterable[TextPart]) -> str:
    """The whole text."""
    return "".join(part.text for part in parts)


def with_values(text: Text, resolver: object, split: Callable[[str], Iterable[TextPart]]) -> Text:
    """A text with the parts split that are open to a resolver; what they become is not open to it any more."""
    made: list[TextPart] = []
    for part in text:
        if part.done is None or resolver in part.done:
            made.append(part)
            continue
        done = part.done | {resolver}
        made += [new if new.done is None else TextPart(new.text, done) for new in split(part.text)]
    return tuple(made)
