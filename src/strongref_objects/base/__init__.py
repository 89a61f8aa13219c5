"""What every part of this package relies on: the contracts of objects, of what carries them, and of templates.

An object writes itself into a `SerializationContext`, part by part, and is read from a `DeserializationContext`. It
does not know the channel: CloudFormation's exports, strongref's exports, Parameter Store, JSON or environment
variables. Channels in turn do not know the kind of template they write to: that is a `Target`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

Intrinsic: TypeAlias = Mapping[str, Any]
"""An unresolved value: an intrinsic function of CloudFormation, as in `{"Ref": "Bucket"}`."""

Text: TypeAlias = str | Intrinsic
"""A value. In CDK apps a string may be a token, which is also unresolved: see `Target.is_unresolved`."""

TextList: TypeAlias = Sequence[Text] | Intrinsic
"""A list of values, or an intrinsic function that returns the whole list."""


class ResolveType(StrEnum):
    """When an imported value is looked up."""

    SYNTHESIS = "Synthesis"
    """While the template is made: the program gets the value itself."""
    DEPLOYMENT = "Deployment"
    """When the stack is deployed: the program gets an intrinsic function or a token."""


class ObjectCache:
    """The objects of one scope (a stack, or an import) by what they were made of.

    So importing a thing twice, or naming it twice by its ARN, gives one object:

        return ctx.made.get(Bucket, lambda: Bucket(ctx.read_string("BucketArn")))
    """

    def __init__(self) -> None:
        self._objects: dict[object, Any] = {}

    def get(self, key: object, make: Callable[[], T]) -> T:
        """The object of this key, made by the first call that succeeds. Errors are not cached.

        The key tells the objects of the scope apart: a class, or a class and a physical name. It must be hashable.
        """
        if key not in self._objects:
            self._objects[key] = make()
        found: T = self._objects[key]
        return found


class Serializable(Protocol):
    """An object that can be exported: it writes all of its parts."""

    def serialize(self, ctx: SerializationContext) -> None: ...


class SerializationContext(Protocol):
    """Where one object writes its parts. Keys are the object's own: the channel puts them below the object's name."""

    def write_string(self, key: str, value: Text, *, description: str | None = None) -> None:
        """Write a value.

        Args:
            key: of this object, as in `BucketArn`.
            value: text, or an intrinsic function or token.
            description: for people; channels that have no room for it leave it out.
        """

    def write_string_list(
        self, key: str, value: TextList, *, description: str | None = None, held: bool = True
    ) -> None:
        """Write a list of values.

        Args:
            key: as above.
            value: a list of texts, or an intrinsic function or token for the whole list.
            description: as above.
            held: False for what only describes the object: no import holds it.
        """

    def write_object(self, key: str, obj: Serializable, *, description: str | None = None) -> None:
        """Write an object that is part of this one, below this key."""


class DeserializationContext(Protocol):
    """Where one object is read from."""

    scope: Any  # the parent of a construct that represents the object; None in programs without constructs
    id: str  # that construct's ID: the same for the same object, unique in its stack
    # the objects made from this context: `ctx.made.get(Bucket, make)` makes one only once. Importing the same thing
    # twice gives the same context
    made: ObjectCache

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> Text:
        """Read a value.

        Args:
            key: as it was written.
            allow_unresolved: False if the program needs the value itself.
        """

    def read_string_list(self, key: str, *, allow_unresolved: bool = False, held: bool = True) -> TextList:
        """Read a list. By default its length must be known.

        Args:
            key: as above.
            allow_unresolved: True if the program does not need to know the length.
            held: as it was written.
        """

    def read_object(self, key: str) -> DeserializationContext:
        """The context of the object below this key."""

    def read_setting(self, key: str) -> str | None:
        """Read how the object was made, which nothing holds; None if that is unknown, or was not written."""


class Target(Protocol):
    """A stack whose template is being written: a plain one, or one of a CDK app."""

    name: str  # the stack's
    region: str | None  # where the stack is deployed; None if unknown
    account: str | None  # the stack's account; None if unknown

    def put_output(self, logical_id: str, value: Text, *, export: Text | None, description: str | None) -> None:
        """Add an output, or replace the one with this logical ID."""

    def put_resource(self, logical_id: str, type_name: str, properties: Mapping[str, Any]) -> None:
        """Add a resource, or replace the one that was put under this logical ID."""

    def drop_resource(self, logical_id: str) -> None:
        """Remove a resource that was put here."""

    def exports(self) -> Mapping[str, str]:
        """The logical IDs of the template's other outputs by export name, as far as the names are known."""

    def when_finished(self, finish: Callable[[Sequence[Mapping[str, Any]]], None]) -> None:
        """Call a function whenever the template is finished, so that it can still change what was put here.

        The function takes the finished template, and those of the other stacks that may use the same values.
        """

    def has(self, logical_id: str) -> bool:
        """Whether the template has another output or resource with this logical ID, one that was not put here."""

    def is_unresolved(self, value: object) -> bool:
        """Whether a value is, or contains, an intrinsic function or a token."""

    def canonical(self, value: object) -> object:
        """A value as it will be in the template: two equal values have the same canonical form."""

    def stand_in(self, intrinsic: Intrinsic) -> Text:
        """What a program uses for an unresolved value: the function itself, or a token."""

    def stand_in_list(self, intrinsic: Intrinsic) -> TextList: ...
