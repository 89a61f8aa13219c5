"""The members of a type of object: how each is declared, and its key. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

from strongref.grouping import grouped
from strongref.text import some
from strongref.untyped import AnyJson, Untyped

if TYPE_CHECKING:
    from strongref_objects.base import DeserializationContext, SerializationContext

REF = "Ref"
"""The attribute of a member that is the value of `Ref`, which is also the resource's identifier in Cloud Control."""

_MEMBER = "strongref"


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One value, list or object that belongs to an object."""

    # `REF`, or an attribute for `Fn::GetAtt`; None if a template's resource does not have it
    attribute: str | None = None
    form: str | None = None  # how it follows from an ARN or a name, as in `https://{name}.example.com`
    says: str | None = None  # Cloud Control's property, if it differs from the attribute
    of: type[Any] | None = None  # the type of the object that it is; None for text
    is_list: bool = False  # whether it is a list of texts, or of objects, which are numbered
    dropped: str = ""  # a suffix of Cloud Control's value that templates do not have
    is_setting: bool = False  # whether it says how the resource was made, and need not be there
    is_held: bool = True  # whether imports hold it

    def write(self, ctx: SerializationContext, key: str, value: AnyJson) -> None:
        if self.of:
            for name, each in zip(self._keys(key), value if self.is_list else [value], strict=False):
                ctx.write_object(name, each)
        elif self.is_list:
            ctx.write_string_list(key, value, held=self.is_held)
        else:
            ctx.write_string(key, value)

    def read(self, ctx: DeserializationContext, key: str, *, resolved: bool) -> AnyJson:
        if self.is_setting:
            return self._read_setting(ctx, key)
        if self.of:
            return self.of.deserialize(ctx.read_object(key))
        if self.is_list:
            return ctx.read_string_list(key, held=self.is_held)
        return ctx.read_string(key, allow_unresolved=not resolved)

    def _read_setting(self, ctx: DeserializationContext, key: str) -> AnyJson:
        """What need not be there: None if it is not."""
        if self.of is None:
            text = ctx.read_setting(key)
            return ctx.read_string(key) if self.is_held and text is not None else text
        first = key_of(next(iter(members(self.of))))
        there = takewhile(lambda part: part.read_setting(first) is not None, map(ctx.read_object, self._keys(key)))
        found = [self.of.deserialize(part) for part in there]
        return found if self.is_list else next(iter(found), None)

    def _keys(self, key: str) -> Iterable[str]:
        return (f"{key}{number}" for number in count(1)) if self.is_list else [key]


def text(
    attribute: str | None = None, *, form: str | None = None, says: str | None = None, dropped: str = "", **default: Any
) -> Untyped:
    """A text. `default=None` makes it optional. The other arguments are those of `Member`."""
    return dataclasses.field(**default, metadata={_MEMBER: Member(attribute, form, says, dropped=dropped)})


def setting(
    of: type[Any] | None = None, *, says: str | None = None, is_list: bool = False, held: bool = False, **default: Any
) -> Untyped:
    """How a resource was made, if that changes what a program generates that uses it: a text, a boolean or a number.

    Declared with `default=None, kw_only=True`: an object that was written without it lacks it. It is read at synthesis,
    or if the same program exports it. `held=True` is for the name of something; `of` is for an object, or several.
    """
    member = Member(says=says, of=of, is_list=is_list, is_setting=True, is_held=held)
    return dataclasses.field(**default, metadata={_MEMBER: member})


def texts(*, held: bool = True, **default: Any) -> Untyped:
    """A list of texts. `held=False` if they only describe the object: no import holds them."""
    return dataclasses.field(**default, metadata={_MEMBER: Member(is_list=True, is_held=held)})


def part(of: type[Any], **default: Any) -> Untyped:
    """An object of another type."""
    return dataclasses.field(**default, metadata={_MEMBER: Member(of=of)})


def members(declared: type[Any]) -> dict[str, Member]:
    """A type's members by their Python names, in the order of their declaration."""
    return {each.name: each.metadata[_MEMBER] for each in dataclasses.fields(declared)}


def key_of(name: str) -> str:
    """The key of a member: `bucket_arn` is written as `BucketArn`, as CloudFormation spells the CDK's attributes."""
    return "".join(word[0].upper() + word[1:] for word in name.split("_") if word)


def optional_members(declared: type[Any]) -> list[str]:
    fields = dataclasses.fields(declared)
    return [each.name for each in fields if each.default is None and not each.metadata[_MEMBER].is_setting]


def required_members(declared: type[Any]) -> list[str]:
    optional = optional_members(declared)
    return [name for name, each in members(declared).items() if name not in optional and not each.is_setting]


def settings_of(declared: type[Any]) -> list[str]:
    return [name for name, each in members(declared).items() if each.is_setting]


def problem_of(declared: type[Any], parts: str) -> str | None:
    """What is wrong with the members of a type, in words; None if nothing is. `parts` is a key that may be taken."""
    if undeclared := [each.name for each in dataclasses.fields(declared) if _MEMBER not in each.metadata]:
        return f"declare {some(undeclared)} with text(…), texts() or part(…)"
    own = [(parts, parts)] if optional_members(declared) else []
    keys = grouped([*own, *((key_of(name), name) for name in members(declared))])
    clashing = next((key for key, names in keys.items() if len(names) > 1 or not key), None)
    return None if clashing is None else f"the key of {some(keys[clashing])} would be {clashing or 'empty'}"


def make_keyword_only(declared: type[Any]) -> None:
    """Make required members keyword-only if they follow optional ones, before the type is a dataclass itself."""
    inherited = getattr(declared, "__dataclass_fields__", {}).values()
    follows_optional = any(each.default is not dataclasses.MISSING and not each.kw_only for each in inherited)
    for each in [each for each in vars(declared).values() if isinstance(each, dataclasses.Field)]:
        if each.kw_only is True:
            continue
        if each.default is not dataclasses.MISSING:
            follows_optional = True
        elif follows_optional:
            each.kw_only = True
