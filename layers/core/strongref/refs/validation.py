"""What is wrong with an object's reference fields, before anything that they refer to is read. Pure.

All problems of all fields are found, not only the first one, as ACK's controllers tell it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from strongref.refs.base import Kind, Manifest, Spot, Subject, way
from strongref.refs.errors import (
    EmptyReferenceError,
    FromKeyError,
    ReferenceBelowMapError,
    ReferenceShapeError,
    RefsError,
    ResourceReferenceAndIDNotSupportedError,
    ResourceReferenceCrossNamespaceNotAllowedError,
    ResourceReferenceOrIDRequiredError,
    UnknownReferenceFieldError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.refs.base import Field

Way: TypeAlias = tuple[str | int, ...]

STACK = "stack"
"""The key of a `from` that names a stack's value, and no Kubernetes object."""

_OBJECT_KEYS = ("name", "namespace")
_ONE = "one reference, {from: {name: …}}"
_LIST = "a list of references, [{from: {name: …}}]"


@dataclass(frozen=True, slots=True)
class Given:
    """What one reference names.

    Attributes:
        place: where its `from` stands.
        name: the object's name; empty if it names a stack's value.
        stack: the whole `from` that names a stack's value; None if it names an object.
    """

    place: Way
    name: str = ""
    stack: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A place where references are given: one, or a list of them."""

    spot: Spot
    given: tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What an object's reference fields say.

    Attributes:
        uses: the places with references that name something, in the document's order, also beside others that do not.
        problems: all that is wrong.
        referring: whether there is a reference at all.
    """

    uses: tuple[Use, ...]
    problems: tuple[RefsError, ...]
    referring: bool


def check(kind: Kind, subject: Subject, manifest: Manifest) -> Checked:
    """Find an object's references, and everything that is wrong with them.

    Args:
        kind: the object's.
        subject: the object.
        manifest: the object itself.
    """
    uses: list[Use] = []
    problems: list[RefsError] = []
    known: set[Way] = set()
    spec = manifest.get("spec")
    for field in (each for each in kind.fields if not each.through_map):
        for found in _containers(field, subject, spec):
            if isinstance(found, RefsError):
                problems.append(found)
                continue
            spot, container = found
            known.add((*spot.container, field.reference_step))
            its, wrong = _check(spot, container)
            problems += wrong
            if its:
                uses.append(Use(spot, its))
    strays = [place for place in references(spec) if place not in known]
    problems += [_stray(kind, subject, place) for place in strays]
    order = {place: number for number, place in enumerate(_places(spec))}
    uses.sort(key=lambda use: order[*use.spot.container, use.spot.field.reference_step])
    return Checked(tuple(uses), tuple(problems), referring=any(place in order for place in known) or bool(strays))


def references(spec: object) -> Iterator[Way]:
    """The places, below `spec`, of what looks like a reference or a list of them, whatever its kind has."""
    for place, value in _items(spec, ("spec",)):
        if isinstance(place[-1], str) and _looks_like_reference(place[-1], value):
            yield place


def _looks_like_reference(key: str, value: object) -> bool:
    if key.endswith("Refs") and isinstance(value, list):
        return any(isinstance(item, Mapping) and "from" in item for item in value)
    return key.endswith(("Ref", "Refs")) and isinstance(value, Mapping) and "from" in value


def _places(spec: object) -> Iterator[Way]:
    return (place for place, _ in _items(spec, ("spec",)))


def _items(node: object, place: Way) -> Iterator[tuple[Way, object]]:
    if isinstance(node, Mapping):
        pairs: Iterator[tuple[Any, object]] = iter(node.items())
    elif isinstance(node, list):
        pairs = iter(enumerate(node))
    else:
        return
    for key, value in pairs:
        yield (*place, key), value
        yield from _items(value, (*place, key))


def _containers(
    field: Field, subject: Subject, node: object, place: Way = ("spec",)
) -> Iterator[tuple[Spot, Mapping[str, Any]] | ReferenceShapeError]:
    """The maps in which a field can stand: one, or one for each item of the lists on its way; none if one is absent."""
    passed = sum(isinstance(step, str) for step in place) - 1
    if isinstance(node, list) and passed:
        for index, item in enumerate(node):
            yield from _containers(field, subject, item, (*place, index))
    elif node is not None and not isinstance(node, Mapping):
        spot = Spot(subject, field, place)
        yield ReferenceShapeError(spot, way(place), a_kind_of(node), "a map there, as the kind has it")
    elif passed == len(field.steps) - 1:
        if node is not None or not passed:
            yield Spot(subject, field, place), node or {}
    elif node:
        step = field.steps[passed]
        yield from _containers(field, subject, node.get(step), (*place, step))


def _check(spot: Spot, container: Mapping[str, Any]) -> tuple[tuple[Given, ...], list[RefsError]]:
    field = spot.field
    identifier, reference = container.get(field.steps[-1]), container.get(field.reference_step)
    has_identifier = identifier is not None and not (field.many and identifier == [])
    has_reference = reference is not None and not (field.many and reference == [])
    problems: list[RefsError] = []
    if has_identifier and has_reference:
        problems.append(ResourceReferenceAndIDNotSupportedError(spot))
    if field.required and not has_identifier and not has_reference:
        problems.append(ResourceReferenceOrIDRequiredError(spot))
    if not has_reference:
        return (), problems
    place = (*spot.container, field.reference_step)
    if field.many != isinstance(reference, list):
        needed = _LIST if field.many else _ONE
        return (), [*problems, ReferenceShapeError(spot, way(place), a_kind_of(reference), needed)]
    items = (
        {(*place, number): item for number, item in enumerate(reference)}
        if isinstance(reference, list)
        else {place: reference}
    )
    read = [_given(spot, where, item) for where, item in items.items()]
    problems += [each for each in read if isinstance(each, RefsError)]
    return tuple(each for each in read if isinstance(each, Given)), problems


def _given(spot: Spot, place: Way, item: object) -> Given | RefsError:
    """What one reference names, or what is wrong with it."""
    index = place[-1] if isinstance(place[-1], int) else None
    if item is not None and not isinstance(item, Mapping):
        return ReferenceShapeError(spot, way(place), a_kind_of(item), _ONE)
    if others := [str(key) for key in item or () if key != "from"]:
        return FromKeyError(spot, way(place), others, ("from",))
    source, place = (item or {}).get("from"), (*place, "from")
    if source is not None and not isinstance(source, Mapping):
        return ReferenceShapeError(spot, way(place), a_kind_of(source), "a map with name")
    if source and STACK in source:
        return Given(place, stack=source)
    return _object(spot, place, source or {}, index)


def _object(spot: Spot, place: Way, source: Mapping[str, Any], index: int | None) -> Given | RefsError:
    if others := [str(key) for key in source if key not in _OBJECT_KEYS]:
        return FromKeyError(spot, way(place), others, (*_OBJECT_KEYS, STACK))
    for key in _OBJECT_KEYS:
        if source.get(key) is not None and not isinstance(source[key], str):
            return ReferenceShapeError(spot, way((*place, key)), a_kind_of(source[key]), "a string")
    name, namespace = source.get("name"), source.get("namespace")
    if not name:
        return EmptyReferenceError(spot, index)
    if namespace and namespace != spot.subject.namespace:
        return ResourceReferenceCrossNamespaceNotAllowedError(spot, namespace, name)
    return Given(place, name)


def _stray(kind: Kind, subject: Subject, place: Way) -> RefsError:
    """What looks like a reference where the kind has none: below a map, or by a name that is slightly wrong."""
    steps = tuple(step for step in place[1:] if isinstance(step, str))
    for field in kind.fields:
        if above := _map_above(field, steps):
            return ReferenceBelowMapError(Spot(subject, field, place[:-1]), way(place), above)
    there = ["spec." + ".".join((*field.steps[:-1], field.reference_step)) for field in kind.fields]
    close = get_close_matches("spec." + ".".join(steps), there, 2, 0.8)
    return UnknownReferenceFieldError(subject, way(place), close)


def _map_above(field: Field, steps: tuple[str, ...]) -> str:
    """The map that a reference stands below, if it is one of this field's: known to be a map, or a step too many."""
    wanted = (*field.steps[:-1], field.reference_step)
    if field.through_map:
        known = field.steps[: field.steps.index(field.through_map) + 1]
        return field.through_map if (*steps[: len(known)], steps[-1]) == (*known, wanted[-1]) else ""
    return next((steps[at - 1] for at in range(1, len(steps) - 1) if (*steps[:at], *steps[at + 1 :]) == wanted), "")


def a_kind_of(value: object) -> str:
    """What a value is, without the value: `a string`, `a list`."""
    names: Sequence[tuple[type, str]] = (
        (bool, "true or false"),
        (str, "a string"),
        (Mapping, "a map"),
        (list, "a list"),
        (tuple, "a list"),
    )
    return next((name for of, name in names if isinstance(value, of)), "nothing" if value is None else "a number")
