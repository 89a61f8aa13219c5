"""Where a program of the CDK reads an imported object from: texts are texts for the CDK, and failures have a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref_cdk.apps import at
from strongref_cdk.kinds import as_token

if TYPE_CHECKING:
    from constructs import Construct

    from strongref_objects.base import DeserializationContext as Plain
    from strongref_objects.once import Made


class DeserializationContext:
    """`strongref_objects.base.DeserializationContext` whose values are texts and tokens.

    Attributes:
        scope: where to put the construct that is made of the object.
        id: what to call that construct: the same for the same object, unique in its stack.
        made: what was made of what is read here: `ctx.made.get(Bucket, make)` makes it only once.
    """

    scope: Construct

    def __init__(self, plain: Plain) -> None:
        """Use `of`, which gives the same one for the same object."""
        self.scope = plain.scope
        self.id: str = plain.id
        self.made: Made = plain.made
        self._plain = plain

    @classmethod
    def of(cls, plain: Plain) -> DeserializationContext:
        """The one that reads the same object."""
        return plain.made.get(cls, lambda: cls(plain))

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> str:
        """A value, or a token for it.

        Args:
            key: as it was written.
            allow_unresolved: False if it has to be the value itself.

        Raises:
            ConstructError: there is none, or it cannot be read so.
        """
        with at(self.scope):
            return as_token(str(self._plain.read_string(key, allow_unresolved=allow_unresolved)))

    def read_string_list(self, key: str, *, allow_unresolved: bool = False) -> list[str]:
        """A list of values, or a token for a list; as `read_string`."""
        with at(self.scope):
            found: Any = self._plain.read_string_list(key, allow_unresolved=allow_unresolved)
            return list(found)

    def read_object(self, key: str) -> DeserializationContext:
        """Where the object below this key is read from; as `read_string`."""
        with at(self.scope):
            return self.of(self._plain.read_object(key))
