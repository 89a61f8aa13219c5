"""Validation of an object's reference fields, before anything that they refer to is read. Pure.

It reports all problems of all fields; ACK's controllers report only the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from strongref.contract.properties import Property
from strongref.errors import BadRequestError
from strongref.text import NAMES_LIMIT, cut
from strongref_manifests.refs import errors
from strongref_manifests.refs.base import Field, FieldLocation, Kind, Manifest, ObjectName
from strongref_manifests.refs.parsers import SIMILAR, of_type, read_map
from strongref_toolkit.json_values import Path, path_text, type_text, values_in

STACK = "stack"
"""The key of a `from` that names a stack's value and not a Kubernetes object."""

_REFERENCE = {"from": Property(of_type(Mapping, "a map with name"), {})}
_TEXT = Property(of_type(str, "a string"))
_OBJECT = {"name": _TEXT, "namespace": _TEXT, STACK: _TEXT}
_OUTSIDE = ("name", STACK)
"""Keys that show that `from` was forgotten."""

_ONE = "one reference, {from: {name: …}}"
_LIST = "a list of references, [{from: {name: …}}]"
_CONTAINER = {(False, True): "a map", (True, False): "a list of maps", (True, True): "a map or a list of maps"}
"""What a value on the path to a field must be, by whether it may be a list and a map."""


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    path: Path  # of its `from`
    name: str = ""  # of the object; empty for a stack's value
    stack: Mapping[str, Any] | None = None  # the whole `from` of a stack's value; None for an object


@dataclass(frozen=True, slots=True)
class CheckedObject:
    # those with valid references, in the document's order, even if other fields have problems: each with what its
    # references name, one target or those of a list
    fields: tuple[tuple[FieldLocation, tuple[ReferenceTarget, ...]], ...]
    # all of them; one for each path whose type is wrong, however many fields are below it
    problems: tuple[errors.RefsError, ...]
    referring: bool  # whether there is any reference; an empty list is none


def check(kind: Kind, subject: ObjectName, manifest: Manifest) -> CheckedObject:
    """Find an object's references, and everything that is wrong with them."""
    fields: list[tuple[FieldLocation, tuple[ReferenceTarget, ...]]] = []
    problems: list[errors.RefsError] = []
    known: set[Path] = set()
    wrong_types: set[Path] = set()
    referring = False
    spec = manifest.get("spec")
    for field in (each for each in kind.fields if each.can_refer):
        for found in _containers(field, subject, spec):
            if isinstance(found, errors.InvalidReferenceError):
                if found.location.container not in wrong_types:
                    problems.append(found)
                    wrong_types.add(found.location.container)
                continue
            location, container = found
            known.add((*location.container, field.reference_step))
            referring |= _is_set(field, container.get(field.reference_step))
            targets, wrong = _check(location, container)
            problems += wrong
            if targets:
                fields.append((location, targets))
    strays = [path for path in find_references(spec, kind.fields) if path not in known]
    outermost = [path for path in strays if wrong_types.isdisjoint(path[:length] for length in range(1, len(path)))]
    problems += [_stray(kind, subject, path) for path in outermost]
    order = {path: number for number, (path, _) in enumerate(values_in(spec, ("spec",)))}
    fields.sort(key=lambda each: order[*each[0].container, each[0].field.reference_step])
    return CheckedObject(tuple(fields), tuple(problems), referring=referring or bool(strays))


def find_references(spec: object, fields: Sequence[Field] = ()) -> Iterator[Path]:
    """The paths in `spec` of what looks like a reference or a list of them, whatever the kind is.

    If the kind's fields are given, also of what is named almost like a reference field next to it and has a name.
    """
    for path, value in values_in(spec, ("spec",)):
        key = path[-1]
        if isinstance(key, str) and (
            _looks_like_reference(key, value) or (fields and _names(value) and _is_similar(fields, _steps(path), key))
        ):
            yield path


def _looks_like_reference(key: str, value: object) -> bool:
    if key.endswith("Refs") and isinstance(value, list):
        return any(isinstance(item, Mapping) and "from" in item for item in value)
    return key.endswith(("Ref", "Refs")) and isinstance(value, Mapping) and "from" in value


def _names(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, Mapping) and "name" in item for item in items)


def _is_similar(fields: Sequence[Field], steps: tuple[str, ...], key: str) -> bool:
    siblings = [field.reference_step for field in fields if field.steps[:-1] == steps[:-1]]
    return key.endswith(("Ref", "Refs")) and bool(get_close_matches(key, siblings, 1, SIMILAR))


def _steps(path: Path) -> tuple[str, ...]:
    """The keys below `spec`, without positions in lists."""
    return tuple(step for step in path[1:] if isinstance(step, str))


def _containers(
    field: Field, subject: ObjectName, node: object, path: Path = ("spec",)
) -> Iterator[tuple[FieldLocation, Mapping[str, Any]] | errors.InvalidReferenceError]:
    """The maps that can have a field: one, or one for each item of the lists on its path; none if one is absent."""
    passed = sum(isinstance(step, str) for step in path) - 1
    lists, maps = _allowed(field, passed, path)
    if lists and isinstance(node, list):
        for index, item in enumerate(node):
            yield from _containers(field, subject, item, (*path, index))
    elif node is not None and not (maps and isinstance(node, Mapping)):
        must_be = _CONTAINER[lists and isinstance(path[-1], str), maps]
        yield _wrong_type(FieldLocation(subject, field, path), path, node, must_be)
    elif passed == len(field.steps) - 1:
        if node is not None or not passed:
            yield FieldLocation(subject, field, path), node or {}
    elif node:
        step = field.steps[passed]
        yield from _containers(field, subject, node.get(step), (*path, step))


def _allowed(field: Field, passed: int, path: Path) -> tuple[bool, bool]:
    """Whether a value on the path to a field may be a list, and a map; both if that is not known."""
    if not passed:
        return False, True
    if not field.certain:
        return True, True
    is_list = field.lists[passed - 1]
    return is_list, not is_list or isinstance(path[-1], int)


def _is_set(field: Field, value: object) -> bool:
    return value is not None and not (field.many and value == [])


def _check(
    location: FieldLocation, container: Mapping[str, Any]
) -> tuple[tuple[ReferenceTarget, ...], list[errors.RefsError]]:
    field = location.field
    identifier, reference = container.get(field.steps[-1]), container.get(field.reference_step)
    has_identifier, has_reference = _is_set(field, identifier), _is_set(field, reference)
    problems: list[errors.RefsError] = []
    if has_identifier and has_reference:
        problems.append(errors.ResourceReferenceAndIDNotSupportedError(location))
    if field.required and not has_identifier and not has_reference:
        problems.append(errors.ResourceReferenceOrIDRequiredError(location))
    if not has_reference:
        return (), problems
    path = (*location.container, field.reference_step)
    if field.many != isinstance(reference, list):
        return (), [*problems, _wrong_type(location, path, reference, _LIST if field.many else _ONE)]
    if isinstance(reference, list):
        read = [_target(location, (*path, number), item) for number, item in enumerate(reference)]
    else:
        read = [_target(location, path, reference)]
    problems += [each for each in read if isinstance(each, errors.RefsError)]
    targets = tuple(each for each in read if isinstance(each, ReferenceTarget))
    if field.hook and any(each.stack is None for each in targets):
        problem = f"is resolved by the controller's own code (hook {field.hook}), and its result is not known here"
        fix = f"Set {cut(location.identifier_text, NAMES_LIMIT // 5)} directly"
        return (), [*problems, errors.InvalidReferenceError(location, location.reference_text, problem, fix)]
    return targets, problems


def _target(location: FieldLocation, path: Path, item: object) -> ReferenceTarget | errors.RefsError:
    """What one reference names, or what is wrong with it."""
    if item is not None and not isinstance(item, Mapping):
        return _wrong_type(location, path, item, _ONE)
    reference = item or {}
    outside = [key for key in _OUTSIDE if key in reference]
    if outside and "from" not in reference:
        problem = f"has {outside[0]} outside of from"
        return errors.InvalidReferenceError(location, path_text(path), problem, f"Write from: {{{outside[0]}: …}}")
    try:
        source = read_map(reference, _REFERENCE, path_text(path))["from"]
        if STACK in source:
            return ReferenceTarget((*path, "from"), stack=source)
        given = read_map(source, _OBJECT, path_text((*path, "from")))
    except BadRequestError as error:
        return errors.InvalidReferenceError(location, error.prop, error.problem)
    return _object(location, path, given["name"], given["namespace"])


def _object(location: FieldLocation, path: Path, name: str, namespace: str) -> ReferenceTarget | errors.RefsError:
    if not name:
        return errors.NamelessReferenceError(location, path[-1] if isinstance(path[-1], int) else None)
    if namespace and namespace != location.subject.namespace:
        return errors.ResourceReferenceCrossNamespaceNotAllowedError(location, namespace, name)
    return ReferenceTarget((*path, "from"), name)


def _wrong_type(location: FieldLocation, path: Path, value: object, must_be: str) -> errors.InvalidReferenceError:
    return errors.InvalidReferenceError(location, path_text(path), f"must be {must_be}, got {type_text(value)}")


def _stray(kind: Kind, subject: ObjectName, path: Path) -> errors.RefsError:
    """What looks like a reference where the kind has none: below a map, of no field of the API, or misspelled."""
    steps = _steps(path)
    for field in kind.fields:
        if field.absent and steps == field.reference_steps:
            problem = f"is the reference of {cut('.'.join(field.path), NAMES_LIMIT // 5)}, which the API does not have"
            fix = "Correct the name in generator.yaml, or add the kind's CRD with --crd"
        elif above := _map_above(field, steps):
            shown = cut(above, NAMES_LIMIT // 5)
            problem = f"is below {shown}, which is a map: references below maps are not supported"
            fix = f"Set {cut(field.steps[-1], NAMES_LIMIT // 5)} directly"
        else:
            continue
        return errors.InvalidReferenceError(FieldLocation(subject, field, path[:-1]), path_text(path), problem, fix)
    existing = ["spec." + ".".join(field.reference_steps) for field in kind.fields if field.can_refer]
    close = get_close_matches("spec." + ".".join(steps), existing, 2, SIMILAR)
    return errors.UnknownReferenceFieldError(subject, path_text(path), close)


def _map_above(field: Field, steps: tuple[str, ...]) -> str:
    """The map above a reference of this field: a known one, or the step that the field's own path does not have."""
    wanted = field.reference_steps
    if field.through_map:
        known = field.steps[: field.steps.index(field.through_map) + 1]
        return field.through_map if (*steps[: len(known)], steps[-1]) == (*known, wanted[-1]) else ""
    return next((steps[at - 1] for at in range(1, len(steps) - 1) if (*steps[:at], *steps[at + 1 :]) == wanted), "")
