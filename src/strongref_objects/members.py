"""What belongs to a type of object: how each of its members is declared, and what that is called. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

from strongref.text import some

if TYPE_CHECKING:
    from strongref_objects.base import DeserializationContext, SerializationContext
    from strongref_objects.declaring import Declared

REF = "Ref"
"""As the attribute of a member: what `Ref` gives, which is also how Cloud Control identifies the resource."""

_MEMBER = "strongref"


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One thing that belongs to an object.

    Attributes:
        attribute: `REF`, or what `Fn::GetAtt` is given; None if the template's resource does not tell it.
        form: what it is made of where an ARN or a name is known, as in `https://{name}.example.com`.
        says: the property by which Cloud Control tells it, where that is not the attribute.
        of: the type of the object that it is; None if it is text.
        is_list: whether it is a list of texts.
        dropped: what Cloud Control tells at its end, and templates leave out.
    """

    attribute: str | None = None
    form: str | None = None
    says: str | None = None
    of: type[Declared] | None = None
    is_list: bool = False
    dropped: str = ""


def told(
    attribute: str | None = None,
    *,
    form: str | None = None,
    says: str | None = None,
    dropped: str = "",
    **default: Any,  # noqa: ANN401 (as `dataclasses.field`)
) -> Any:  # noqa: ANN401 (a field)
    """A text. `default=None` lets an object lack it. The others are as in `Member`."""
    return dataclasses.field(**default, metadata={_MEMBER: Member(attribute, form, says, dropped=dropped)})


def texts(**default: Any) -> Any:  # noqa: ANN401 (as above)
    """A list of texts."""
    return dataclasses.field(**default, metadata={_MEMBER: Member(is_list=True)})


def part(of: type[Declared], **default: Any) -> Any:  # noqa: ANN401 (as above)
    """An object of another type."""
    return dataclasses.field(**default, metadata={_MEMBER: Member(of=of)})


def members(declared: type[Declared]) -> dict[str, Member]:
    """A type's members by their names in Python, in the order of their declaration."""
    return {each.name: each.metadata[_MEMBER] for each in dataclasses.fields(cast("Any", declared))}


def undeclared(declared: type[Declared]) -> list[str]:
    """The fields of a type that are no members, since nothing says what they are."""
    return [each.name for each in dataclasses.fields(cast("Any", declared)) if _MEMBER not in each.metadata]


def key_of(name: str) -> str:
    """The key of a member: `bucket_arn` is written as `BucketArn`, as CloudFormation spells the CDK's attributes."""
    return "".join(word[0].upper() + word[1:] for word in name.split("_") if word)


def lacking(declared: type[Declared]) -> list[str]:
    """The members that an object may lack."""
    return [each.name for each in dataclasses.fields(cast("Any", declared)) if each.default is None]


def needed(declared: type[Declared]) -> list[str]:
    """The members that every such object has."""
    return [name for name in members(declared) if name not in lacking(declared)]


def clash(declared: type[Declared], parts: str) -> str | None:
    """Which of a type's members cannot be told apart by their keys, in words; None if all can.

    Args:
        declared: the type.
        parts: the key under which one that may lack members says which it has.
    """
    keys = {parts: [parts]} if lacking(declared) else {}
    for name in members(declared):
        keys.setdefault(key_of(name), []).append(name)
    clashing = next((key for key, names in keys.items() if len(names) > 1 or not key), None)
    return None if clashing is None else f"the key of {some(keys[clashing])} would be {clashing or 'empty'}"


def by_name_where_behind(declared: type[Declared]) -> None:
    """Have members that are needed be given by their names, where they stand behind ones that need not be given.

    Args:
        declared: before it is a dataclass itself.
    """
    above = getattr(declared, "__dataclass_fields__", {}).values()
    is_behind = any(each.default is not dataclasses.MISSING for each in above)
    for each in [each for each in vars(declared).values() if isinstance(each, dataclasses.Field)]:
        if each.default is not dataclasses.MISSING:
            is_behind = True
        elif is_behind:
            each.kw_only = True


def write(ctx: SerializationContext, key: str, member: Member, value: Any) -> None:  # noqa: ANN401 (a value, a list or an object)
    if member.of:
        ctx.write_object(key, value)
    elif member.is_list:
        ctx.write_string_list(key, value)
    else:
        ctx.write_string(key, value)


def read(ctx: DeserializationContext, key: str, member: Member, *, concrete: bool) -> Any:  # noqa: ANN401 (a value, a list or an object)
    if member.of:
        return member.of.deserialize(ctx.read_object(key))
    if member.is_list:
        return ctx.read_string_list(key)
    return ctx.read_string(key, allow_unresolved=not concrete)
