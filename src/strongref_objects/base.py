"""What an object is that can be carried by keys and values, and what carries it.

An object writes itself into a `SerializationContext`, part by part, and is read from a `DeserializationContext`. It
does not know the channel: CloudFormation's exports, strongref's exports, Parameter Store, JSON or environment
variables. Channels in turn do not know what template they write into: that is a `Target`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from strongref_objects.once import Made

Intrinsic: TypeAlias = Mapping[str, Any]
"""What CloudFormation puts a value in the place of, as in `{"Ref": "Bucket"}`: an unresolved value."""

Text: TypeAlias = str | Intrinsic
"""A value. In CDK apps a string may be a token, which is unresolved as well; `Target.is_unresolved` tells."""

TextList: TypeAlias = Sequence[Text] | Intrinsic
"""A list of values; or what CloudFormation puts a whole list in the place of."""


class ResolveType(StrEnum):
    """When an imported value is looked up."""

    SYNTHESIS = "Synthesis"
    """While the template is made: the program gets the value itself."""
    DEPLOYMENT = "Deployment"
    """When the stack is deployed: the program gets what stands for the value."""


class Serializable(Protocol):
    """An object that can be exported."""

    def serialize(self, ctx: SerializationContext) -> None:
        """Write all that the object consists of."""
        ...


class SerializationContext(Protocol):
    """Where one object writes its parts. Keys are the object's own: the channel puts them below the object's name."""

    def write_string(self, key: str, value: Text, *, description: str | None = None) -> None:
        """Write a value.

        Args:
            key: of this object, as in `BucketArn`.
            value: text, or what stands for it.
            description: for people; channels that cannot keep it leave it out.
        """
        ...

    def write_string_list(self, key: str, value: TextList, *, description: str | None = None) -> None:
        """Write a list of values."""
        ...

    def write_object(self, key: str, obj: Serializable, *, description: str | None = None) -> None:
        """Have an object that is part of this one write itself, below this key."""
        ...


class DeserializationContext(Protocol):
    """Where one object is read from.

    Attributes:
        scope: where a program that makes constructs is to put the one that it makes of this object; None elsewhere.
        id: what such a construct is to be called: the same for the same object, unique in its stack.
        made: what was made of what is read here: `ctx.made.get(Bucket, make)` makes it only once. Importing the same
            thing twice gives the same context.
    """

    scope: Any
    id: str
    made: Made

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> Text:
        """What `write_string` wrote.

        Args:
            key: as it was written.
            allow_unresolved: False if it has to be the value itself, and nothing that stands for it.
        """
        ...

    def read_string_list(self, key: str, *, allow_unresolved: bool = False) -> TextList:
        """What `write_string_list` wrote. By default the program has to know how many there are."""
        ...

    def read_object(self, key: str) -> DeserializationContext:
        """Where the object below this key is read from."""
        ...


class Target(Protocol):
    """A stack whose template is being written: a plain one, or one of a CDK app.

    Attributes:
        name: the stack's.
        region: where it is deployed; None if that is not known before.
        account: whose it is; None if that is not known before.
    """

    name: str
    region: str | None
    account: str | None

    def put_output(self, logical_id: str, value: Text, *, export: str | None, description: str | None) -> None:
        """Have this output in the template; one of the same logical id is replaced."""
        ...

    def put_resource(
        self, logical_id: str, type_name: str, properties: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Have this resource in the template; one of the same logical id that was put before is replaced."""
        ...

    def drop_resource(self, logical_id: str) -> None:
        """Have a resource no longer in the template that was put before."""
        ...

    def exports(self) -> Mapping[str, str]:
        """What outputs that were not put here are exported as, as far as it is known, and their logical ids."""
        ...

    def has(self, logical_id: str) -> bool:
        """Whether the template has an output or resource of that logical id which was not put here."""
        ...

    def is_unresolved(self, value: object) -> bool:
        """Whether this stands for a value, or holds something that does."""
        ...

    def canonical(self, value: object) -> object:
        """The value as it will stand in the template: what two equal values have in common."""
        ...

    def stand_in(self, intrinsic: Intrinsic) -> Text:
        """What a program gets in the place of a value: the function itself, or a token."""
        ...

    def stand_in_list(self, intrinsic: Intrinsic) -> TextList:
        """The same for a whole list."""
        ...
