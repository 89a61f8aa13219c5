"""Resolves references: reads the referenced object, checks its state, copies the value.

The value replaces the reference, since ACK refuses an object that has both. So the result can be applied as it is, also
to a cluster without the referenced objects. (ACK's controllers set the value in memory only, and keep the object.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar

from strongref.errors import StrongRefError
from strongref.memo import Memo
from strongref.text import REASON_LIMIT, cut
from strongref_manifests.refs import errors
from strongref_manifests.refs.base import (
    ACK_GROUPS,
    FieldLocation,
    Kind,
    Manifest,
    ObjectName,
    ObjectSource,
    ValueSource,
)
from strongref_manifests.refs.names import is_same
from strongref_manifests.refs.validation import ReferenceTarget, check, find_references
from strongref_toolkit.json_values import Path, mapping, path_text, type_text

_ANNOTATIONS = "services.k8s.aws/"
_FINAL = (errors.ResourceReferenceTerminalError, errors.ResourceReferenceCrossNamespaceNotAllowedError)


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that resolves a reference: sets a field and removes its reference field.

    It replaces what the field had before, which can only have been an empty list.
    """

    container: Path  # the path of the map that has both, from the document's root: `("spec", "routes", 0)`
    reference_step: str  # the key to remove: `gatewayRef`
    step: str  # the key to set: `gatewayID`
    value: str | tuple[str, ...]  # a string or a list of strings
    # of a list, how many values each reference gave: one, or as many as a stack's list has
    counts: tuple[int, ...] = dataclasses.field(default=(), compare=False)

    def __repr__(self) -> str:  # Values can be secrets.
        return f"Edit({path_text((*self.container, self.step))})"


@dataclass(frozen=True, slots=True)
class Condition:
    """An entry of `status.conditions`, as ACK's controllers set it.

    It follows `aws-controllers-k8s/runtime`, `pkg/condition/condition.go`, `WithReferencesResolvedCondition`: the
    message is always the same, and the reason says what is wrong.
    """

    type: ClassVar[str] = "ACK.ReferencesResolved"
    status: str  # True; False for problems that only a change can fix; Unknown for others
    message: str = ""  # empty if True
    reason: str = ""  # the problems in the words of ACK's controllers, with `; ` between them


@dataclass(frozen=True, slots=True)
class ObjectResolution:
    subject: ObjectName  # the object
    edits: tuple[Edit, ...] = ()  # the changes that resolve it, in the document's order; none if there are problems
    problems: tuple[StrongRefError, ...] = ()  # all of them; those of one field are `errors.FieldError`
    condition: Condition | None = None  # `ACK.ReferencesResolved`; None for an object without references
    # the problems that ACK's controllers ignore for this object: it keeps all of its references, and has no `problems`
    ignored: tuple[StrongRefError, ...] = ()


@dataclass(eq=False)
class ReferenceResolver:
    """Resolves objects one after the other, and reads each referenced object once.

    The order does not matter: identifiers are read from the object in the cluster or in a manifest, not from the
    result of resolving it. So objects may also refer to each other in a circle.
    """

    kinds: InitVar[Iterable[Kind]]  # those that generator.yaml files describe
    objects: ObjectSource  # where referenced objects are read
    values: ValueSource | None = None  # where stacks' values are read; None if references to stacks are to be refused
    namespace: str = dataclasses.field(default="default", kw_only=True)  # of objects whose manifest has none

    def __post_init__(self, kinds: Iterable[Kind]) -> None:
        self._kinds = {(kind.group, kind.name): kind for kind in kinds}
        self._groups = {kind.group for kind in self._kinds.values()}
        self._read: Memo[ObjectName, Manifest] = Memo()

    def resolve(self, manifest: Manifest) -> ObjectResolution:
        """Resolve one object. Problems of it, and of what it refers to, are in the result: nothing is raised.

        An object of an unknown kind stays as it is, unless it is one of ACK's and has references anyway: then the
        generator.yaml of its group is missing or too old.
        """
        subject = ObjectName.of(manifest, self.namespace)
        kind = self._kinds.get((subject.group, subject.kind))
        if kind is None and subject.group in self._groups:
            kind = Kind(subject.group, subject.kind, ())
        if kind is None:
            stray = next(find_references(manifest.get("spec")), None) if subject.group.endswith(ACK_GROUPS) else None
            unknown = (errors.UnknownKindError(subject, path_text(stray)),) if stray else ()
            return ObjectResolution(subject, problems=unknown)
        checked = check(kind, subject, manifest)
        problems: list[StrongRefError] = list(checked.problems)
        edits: list[Edit] = []
        for location, targets in checked.fields:
            found = [self._value(location, target) for target in targets]
            wrong = [each for each in found if isinstance(each, StrongRefError)]
            problems += wrong
            if not wrong:
                edits.append(_edit(location, [each for each in found if isinstance(each, tuple)]))
        condition = references_resolved(problems) if checked.referring else None
        if _ignores_errors(manifest, subject):
            problems = [each for each in problems if not isinstance(each, errors.ResourceReferenceOrIDRequiredError)]
            # A reference to a stack cannot stay: no controller resolves it.
            to_objects = all(target.stack is None for _, targets in checked.fields for target in targets)
            upstream = all(isinstance(each, errors.FieldError) and each.is_upstream for each in problems)
            if to_objects and problems and upstream:
                return ObjectResolution(subject, condition=condition, ignored=tuple(problems))
        return ObjectResolution(subject, () if problems else tuple(edits), tuple(problems), condition)

    def _value(self, location: FieldLocation, target: ReferenceTarget) -> tuple[str, ...] | StrongRefError:
        """The strings that a reference stands for, one for an object; or what is wrong."""
        try:
            if target.stack is not None:
                return self._stack_value(location, target.path, target.stack)
            return (self._object_value(location, target.name),)
        except errors.FieldError as error:
            return error
        except StrongRefError as error:
            return errors.UnreadableReferenceError(location, error)

    def _object_value(self, location: FieldLocation, name: str) -> str:
        reference = location.field.reference
        key = ObjectName(reference.group, reference.resource, location.subject.namespace, name)
        found = self._read.get(key, lambda: self.objects.get(key))
        _check_state(location, key, found)
        return _copied_value(location, key, found)

    def _stack_value(self, location: FieldLocation, path: Path, source: Mapping[str, Any]) -> tuple[str, ...]:
        if self.values is None:
            problem = "names a stack, but no source of stacks' values was given"
            raise errors.InvalidReferenceError(location, path_text(path), problem, "Name an object in from.name")
        value = self.values(source)
        many = location.field.many
        several = tuple(value) if many and isinstance(value, list | tuple) else ()
        texts = (value,) if isinstance(value, str) else several
        if not texts or not all(isinstance(text, str) and text for text in texts):
            must_be = "a list of non-empty strings" if many else "one non-empty string"
            got = "an empty value" if value in ("", [], ()) else type_text(value)
            problem = f"must name {must_be}, got {got}"
            raise errors.InvalidReferenceError(location, path_text(path), problem, "Name another one")
        return texts


def _ignores_errors(manifest: Manifest, subject: ObjectName) -> bool:
    """Whether ACK's controllers go on if an object's references are missing or cannot be resolved.

    They do for an object that they only read: a read-only one, or one to adopt that they have not adopted yet. One with
    the policy `adopt-or-create` may be created, so it needs its references (`aws-controllers-k8s/runtime`,
    `pkg/runtime/reconciler.go`, `Sync`).
    """
    metadata = mapping(manifest.get("metadata"))
    annotations, finalizers = mapping(metadata.get("annotations")), metadata.get("finalizers")
    flags = (str(annotations.get(_ANNOTATIONS + key)).lower() == "true" for key in ("read-only", "adopted"))
    read_only, adopted = flags
    managed = isinstance(finalizers, list) and f"finalizers.{subject.group}/{subject.kind}" in finalizers
    return read_only or (annotations.get(f"{_ANNOTATIONS}adoption-policy") == "adopt" and not (adopted or managed))


def _check_state(location: FieldLocation, key: ObjectName, found: Manifest) -> None:
    """Check an object's conditions. As with ACK, `skip_state` skips ACK.ResourceSynced, but not ACK.Terminal."""
    conditions = mapping(found.get("status")).get("conditions")
    true = {
        str(each.get("type"))
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, Mapping) and str(each.get("status")) == "True"
    }
    if "ACK.Terminal" in true:
        raise errors.ResourceReferenceTerminalError(location, key)
    if not location.field.reference.skip_state and "ACK.ResourceSynced" not in true:
        raise errors.ResourceReferenceNotSyncedError(location, key)


def _copied_value(location: FieldLocation, key: ObjectName, found: Manifest) -> str:
    """The value at the path that the reference copies from."""
    path = location.field.reference.path
    node: object = found
    for step in path.split("."):
        node = next((value for name, value in mapping(node).items() if is_same(name, step)), None)
    if node is None or node == "":
        raise errors.ResourceReferenceMissingTargetFieldError(location, key, path)
    if not isinstance(node, str):
        raise errors.TargetNotStringError(location, key, path, type_text(node))
    return node


def _edit(location: FieldLocation, found: Sequence[tuple[str, ...]]) -> Edit:
    """The change of a field; `found` is what each reference stands for."""
    field = location.field
    value = tuple(text for texts in found for text in texts) if field.many else found[0][0]
    return Edit(location.container, field.reference_step, field.steps[-1], value, tuple(map(len, found)))


def references_resolved(problems: Sequence[StrongRefError]) -> Condition:
    """The condition of an object that has references."""
    if not problems:
        return Condition("True")
    status = "False" if any(isinstance(each, _FINAL) for each in problems) else "Unknown"
    texts = (each.upstream if isinstance(each, errors.FieldError) else str(each) for each in problems)
    return Condition(status, "Reference resolution failed", cut("; ".join(texts), REASON_LIMIT))
