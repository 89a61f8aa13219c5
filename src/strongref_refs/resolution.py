"""References resolved: read what is referred to, look at its state, copy the value.

What is filled in takes the reference's place, since ACK refuses an object with both: it can be applied as it is, also
where the referenced objects are not. (ACK's controllers fill it in in memory only, and leave the object alone.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.errors import StrongRefError
from strongref_refs.base import ACK_GROUPS, Kind, Subject, Wanted, mapping, way
from strongref_refs.conditions import references_resolved
from strongref_refs.errors import (
    NoValuesError,
    ResourceReferenceMissingTargetFieldError,
    ResourceReferenceNotSyncedError,
    ResourceReferenceTerminalError,
    TargetNotStringError,
    UnknownKindError,
    UnreadableReferenceError,
    ValueShapeError,
)
from strongref_refs.names import plural
from strongref_refs.validation import a_kind_of, check, references

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_refs.base import Manifest, Objects, Spot, Values
    from strongref_refs.conditions import Condition
    from strongref_refs.validation import Given, Use


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that resolves a reference: a field is filled in, its reference field is taken out.

    What the field had before, which can only have been an empty list, is replaced.

    Attributes:
        container: the way to the map that both stand in, from the document's root: `("spec", "routes", 0)`.
        reference_step: the key that is taken out: `gatewayRef`.
        step: the key that takes its place: `gatewayID`.
        value: its value, a string or a list of strings.
        counts: of a list, how many of its values each reference gave: one, or as many as a stack's list has.
    """

    container: tuple[str | int, ...]
    reference_step: str
    step: str
    value: str | tuple[str, ...]
    counts: tuple[int, ...] = dataclasses.field(default=(), compare=False)

    def __repr__(self) -> str:  # Values can be secrets.
        return f"Edit({way((*self.container, self.step))})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one object's references.

    Attributes:
        subject: the object.
        edits: what resolves it, in the document's order; none if there are problems.
        problems: all of them; those of one place are `errors.FieldError`.
        condition: `ACK.ReferencesResolved`; None for an object without references.
    """

    subject: Subject
    edits: tuple[Edit, ...] = ()
    problems: tuple[StrongRefError, ...] = ()
    condition: Condition | None = None


class Resolver:
    """Resolves objects one after the other; what several of them refer to is read once.

    In which order does not matter: identifiers are read from what the cluster, or a manifest, says of an object, not
    from what became of that here. So objects may also refer to each other in a circle.

    Args:
        kinds: those that generator.yaml files describe.
        objects: where referenced objects are read.
        values: where stacks' values are read; None if they cannot be.
        namespace: of objects that name none.
    """

    def __init__(
        self, kinds: Iterable[Kind], objects: Objects, values: Values | None = None, *, namespace: str = "default"
    ) -> None:
        self._kinds = {(kind.group, kind.name): kind for kind in kinds}
        self._groups = {kind.group for kind in self._kinds.values()}
        self._objects = objects
        self._values = values
        self._namespace = namespace
        self._read: dict[Wanted, Manifest | StrongRefError] = {}

    def resolve(self, manifest: Manifest) -> Outcome:
        """Resolve one object. What is wrong with it, or with what it refers to, is in the outcome: nothing is raised.

        An object of a kind that nothing describes is left alone, unless it is one of ACK's and has references all the
        same: then the generator.yaml of its group is missing, or too old.
        """
        subject = self.subject(manifest)
        kind = self._kinds.get((subject.group, subject.kind))
        if kind is None and subject.group in self._groups:
            kind = Kind(subject.group, subject.kind, ())
        if kind is None:
            stray = next(references(manifest.get("spec")), None) if subject.group.endswith(ACK_GROUPS) else None
            return Outcome(subject, problems=(UnknownKindError(subject, way(stray)),) if stray else ())
        checked = check(kind, subject, manifest)
        problems: list[StrongRefError] = list(checked.problems)
        edits: list[Edit] = []
        for use in checked.uses:
            found = [self._value(use.spot, given) for given in use.given]
            wrong = [each for each in found if isinstance(each, StrongRefError)]
            problems += wrong
            if not wrong:
                edits.append(_edit(use, [each for each in found if isinstance(each, tuple)]))
        condition = references_resolved(problems) if checked.referring else None
        return Outcome(subject, () if problems else tuple(edits), tuple(problems), condition)

    def subject(self, manifest: Manifest) -> Subject:
        """Which object it is."""
        named = mapping(manifest.get("metadata"))
        group, slash, _ = str(manifest.get("apiVersion", "")).partition("/")
        return Subject(
            group if slash else "",
            str(manifest.get("kind", "")),
            str(named.get("namespace") or self._namespace),
            str(named.get("name") or named.get("generateName") or ""),
        )

    def _value(self, spot: Spot, given: Given) -> tuple[str, ...] | StrongRefError:
        """The strings that a reference stands for, one for an object; or what is wrong."""
        try:
            return self._of_stack(spot, given, given.stack) if given.stack is not None else self._of_object(spot, given)
        except StrongRefError as error:
            return error

    def _of_object(self, spot: Spot, given: Given) -> tuple[str]:
        reference = spot.field.reference
        wanted = Wanted(
            reference.group, reference.resource, plural(reference.resource), spot.subject.namespace, given.name
        )
        if wanted not in self._read:
            try:
                self._read[wanted] = self._objects.get(wanted)
            except StrongRefError as error:
                self._read[wanted] = error
        found = self._read[wanted]
        if isinstance(found, StrongRefError):
            raise UnreadableReferenceError(spot, found) from None
        _check_state(spot, wanted, found)
        return (_target(spot, wanted, found),)

    def _of_stack(self, spot: Spot, given: Given, source: Mapping[str, Any]) -> tuple[str, ...]:
        place = way(given.place)
        if self._values is None:
            raise NoValuesError(spot, place)
        try:
            value = self._values.get(source)
        except StrongRefError as error:
            raise UnreadableReferenceError(spot, error) from None
        several = tuple(value) if spot.field.many and isinstance(value, list | tuple) else ()
        texts = (value,) if isinstance(value, str) else several
        if not texts or not all(isinstance(text, str) and text for text in texts):
            came = "empty" if value in ("", [], ()) else a_kind_of(value)
            raise ValueShapeError(spot, place, came)
        return texts


def _check_state(spot: Spot, wanted: Wanted, found: Manifest) -> None:
    """As ACK: whoever skips the checks of the state skips that of being synced, and not that of being terminal."""
    conditions = mapping(found.get("status")).get("conditions")
    true = {
        str(each.get("type"))
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, Mapping) and str(each.get("status")) == "True"
    }
    if "ACK.Terminal" in true:
        raise ResourceReferenceTerminalError(spot, wanted)
    if not spot.field.reference.skip_state and "ACK.ResourceSynced" not in true:
        raise ResourceReferenceNotSyncedError(spot, wanted)


def _target(spot: Spot, wanted: Wanted, found: Manifest) -> str:
    """What stands at the path that is copied from; capitals do not matter, as in Go's JSON."""
    path = spot.field.reference.path
    node: object = found
    for step in path.split("."):
        node = next(
            (value for key, value in mapping(node).items() if str(key).rstrip("_").lower() == step.lower()), None
        )
    if node is None or node == "":
        raise ResourceReferenceMissingTargetFieldError(spot, wanted, path)
    if not isinstance(node, str):
        raise TargetNotStringError(spot, wanted, path, a_kind_of(node))
    return node


def _edit(use: Use, found: Sequence[tuple[str, ...]]) -> Edit:
    """The change; `found` is what each reference stands for."""
    field = use.spot.field
    value = tuple(text for texts in found for text in texts) if field.many else found[0][0]
    return Edit(use.spot.container, field.reference_step, field.steps[-1], value, tuple(map(len, found)))
