"""What is wrong with an object's reference fields, before anything that they refer to is read. Pure.

All problems of all fields are found, not only the first one, as ACK's controllers tell it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from strongref_refs.base import Kind, Manifest, Spot, Subject, way
from strongref_refs.errors import (
    EmptyReferenceError,
    FromKeyError,
    FromMissingError,
    ReferenceBelowMapError,
    ReferenceShapeError,
    RefsError,
    ResolvedByHookError,
    ResourceReferenceAndIDNotSupportedError,
    ResourceReferenceCrossNamespaceNotAllowedError,
    ResourceReferenceOrIDRequiredError,
    UnknownReferenceFieldError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_refs.base import Field

Way: TypeAlias = tuple[str | int, ...]

STACK = "stack"
"""The key of a `from` that names a stack's value, and no Kubernetes object."""

_OBJECT_KEYS = ("name", "namespace")
_ONE = "one reference, {from: {name: …}}"
_LIST = "a list of references, [{from: {name: …}}]"
_NEEDED = {
    (False, True): "a map there, as the kind has it",
    (True, False): "a list of maps there, as the kind has it",
    (True, True): "a map there, or a list of maps",
}
"""On the way to a field, by whether a list and a map may stand there."""

_SLIP = 0.8
"""How much alike two names are, if one is the other but for a slip."""


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
        problems: all that is wrong; of one place that is built otherwise than its kind has it, once.
        referring: whether there is a reference at all, an empty list of them being none.
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
    misshapen: set[Way] = set()
    referring = False
    spec = manifest.get("spec")
    for field in (each for each in kind.fields if not each.through_map):
        for found in _containers(field, subject, spec):
            if isinstance(found, ReferenceShapeError):
                if found.spot.container not in misshapen:
                    problems.append(found)
                    misshapen.add(found.spot.container)
                continue
            spot, container = found
            known.add((*spot.container, field.reference_step))
            referring |= _given_at_all(field, container.get(field.reference_step))
            its, wrong = _check(spot, container, kind.hook)
            problems += wrong
            if its:
                uses.append(Use(spot, its))
    strays = [place for place in _strays(kind, spec) if place not in known]
    problems += [_stray(kind, subject, place) for place in strays if not _below(place, misshapen)]
    order = {place: number for number, (place, _) in enumerate(_items(spec, ("spec",)))}
    uses.sort(key=lambda use: order[*use.spot.container, use.spot.field.reference_step])
    return Checked(tuple(uses), tuple(problems), referring=referring or bool(strays))


def references(spec: object) -> Iterator[Way]:
    """The places, below `spec`, of what looks like a reference or a list of them, whatever its kind has."""
    for place, value in _items(spec, ("spec",)):
        if isinstance(place[-1], str) and _looks_like_reference(place[-1], value):
            yield place


def _looks_like_reference(key: str, value: object) -> bool:
    if key.endswith("Refs") and isinstance(value, list):
        return any(isinstance(item, Mapping) and "from" in item for item in value)
    return key.endswith(("Ref", "Refs")) and isinstance(value, Mapping) and "from" in value


def _strays(kind: Kind, spec: object) -> Iterator[Way]:
    """What looks like a reference, or has almost the name of one beside it and names something without a `from`."""
    for place, value in _items(spec, ("spec",)):
        key = place[-1]
        if isinstance(key, str) and (
            _looks_like_reference(key, value) or (_names(value) and _alike(kind, _steps(place), key))
        ):
            yield place


def _names(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, Mapping) and "name" in item for item in items)


def _alike(kind: Kind, steps: tuple[str, ...], key: str) -> bool:
    beside = [field.reference_step for field in kind.fields if field.steps[:-1] == steps[:-1]]
    return key.endswith(("Ref", "Refs")) and bool(get_close_matches(key, beside, 1, _SLIP))


def _steps(place: Way) -> tuple[str, ...]:
    """From `spec`, without the positions in lists."""
    return tuple(step for step in place[1:] if isinstance(step, str))


def _below(place: Way, places: set[Way]) -> bool:
    return any(place[:length] in places for length in range(1, len(place)))


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
    lists, maps = _may_stand(field, passed, place)
    if lists and isinstance(node, list):
        for index, item in enumerate(node):
            yield from _containers(field, subject, item, (*place, index))
    elif node is not None and not (maps and isinstance(node, Mapping)):
        needed = _NEEDED[lists and isinstance(place[-1], str), maps]
        yield ReferenceShapeError(Spot(subject, field, place), way(place), a_kind_of(node), needed)
    elif passed == len(field.steps) - 1:
        if node is not None or not passed:
            yield Spot(subject, field, place), node or {}
    elif node:
        step = field.steps[passed]
        yield from _containers(field, subject, node.get(step), (*place, step))


def _may_stand(field: Field, passed: int, place: Way) -> tuple[bool, bool]:
    """Whether a list, and whether a map, is right in a place on the way to a field; both, where that is not known."""
    if not passed:
        return False, True
    if not field.certain:
        return True, True
    is_list = field.lists[passed - 1]
    return is_list, not is_list or isinstance(place[-1], int)


def _given_at_all(field: Field, value: object) -> bool:
    return value is not None and not (field.many and value == [])


def _check(spot: Spot, container: Mapping[str, Any], hook: str) -> tuple[tuple[Given, ...], list[RefsError]]:
    field = spot.field
    identifier, reference = container.get(field.steps[-1]), container.get(field.reference_step)
    has_identifier, has_reference = _given_at_all(field, identifier), _given_at_all(field, reference)
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
    given = tuple(each for each in read if isinstance(each, Given))
    if hook and any(each.stack is None for each in given):
        return (), [*problems, ResolvedByHookError(spot, hook)]
    return given, problems


def _given(spot: Spot, place: Way, item: object) -> Given | RefsError:
    """What one reference names, or what is wrong with it."""
    index = place[-1] if isinstance(place[-1], int) else None
    if item is not None and not isinstance(item, Mapping):
        return ReferenceShapeError(spot, way(place), a_kind_of(item), _ONE)
    others = [str(key) for key in item or () if key != "from"]
    if missing := [key for key in ("name", STACK) if key in others and "from" not in (item or {})]:
        return FromMissingError(spot, way(place), missing[0])
    if others:
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
    steps = _steps(place)
    for field in kind.fields:
        if above := _map_above(field, steps):
            return ReferenceBelowMapError(Spot(subject, field, place[:-1]), way(place), above)
    there = ["spec." + ".".join((*field.steps[:-1], field.reference_step)) for field in kind.fields]
    close = get_close_matches("spec." + ".".join(steps), there, 2, _SLIP)
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
