"""What can be wrong with a reference field. Texts name kinds, objects and fields; values are never in one.

The errors that ACK has are called as it calls them (`aws-controllers-k8s/runtime`, `pkg/errors/resource_reference.go`),
and `upstream` is the text that its controllers put into the condition `ACK.ReferencesResolved`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, REASON_LIMIT, cut, some
from strongref_refs.names import dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_refs.base import Spot, Subject, Wanted

_SHOWN = 180
"""Characters of an object, with its namespace and name, or of a path in a text; Kubernetes allows 253 in a name."""

_NAME = 100
"""Characters of one name, or of the path of a field."""


class RefsError(StrongRefError):
    """The root of what is told about reference fields: somebody asked for what cannot be, or not now."""

    counted = ErrorMetric.REJECTED


@dataclass(eq=False)
class GeneratorError(RefsError):
    """A generator.yaml, or a CRD, that cannot be understood.

    Attributes:
        source: the file.
        line: from 1; None if it is not known.
        where: the entry, as in `resources.VpcLink.fields.SubnetIds.references.path`.
        problem: what is wrong with it.
    """

    source: str
    where: str
    problem: str
    line: int | None = None

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        where = f"{cut(self.where, _SHOWN)}: " if self.where else ""
        return f"{cut(self.source, _SHOWN)}{line}: {where}{cut(self.problem, NAMES_LIMIT - 100)}"


@dataclass(eq=False)
class ServiceUnknownError(RefsError):
    """Nothing says whose generator.yaml it is."""

    source: str

    def __str__(self) -> str:
        return (
            f"{cut(self.source, _SHOWN)} does not say whose controller it is for, and its folder is not called "
            "NAME-controller. Give the service with --service, as in ec2."
        )


@dataclass(eq=False)
class UnknownKindError(RefsError):
    """An object has what look like references, and no generator.yaml says what its kind may refer to.

    Attributes:
        subject: the object.
        found: where the first of them stands, as in `spec.subnetRefs`.
    """

    subject: Subject
    found: str

    def __str__(self) -> str:
        return (
            f"{_whose(self.subject)} has {cut(self.found, _SHOWN)}, which looks like a reference, and no "
            f"generator.yaml describes {cut(self.subject.kind, _NAME)} of {cut(self.subject.group, _NAME)}. "
            "Give that controller's with --generator."
        )


@dataclass(eq=False)
class UnknownReferenceFieldError(RefsError):
    """An object has what looks like a reference, in a place where its kind has no reference field.

    Attributes:
        subject: the object.
        found: where it stands, as in `spec.subnetRef`.
        close: the kind's reference fields that are most like it.
    """

    subject: Subject
    found: str
    close: Sequence[str] = ()

    def __str__(self) -> str:
        shown = [cut(each, _NAME) for each in self.close[:3]]
        meant = f"Did you mean {' or '.join(shown)}?" if shown else "Take it out, or give a newer generator.yaml."
        return (
            f"{_whose(self.subject)} has {cut(self.found, _SHOWN)}, which is no reference field of "
            f"{cut(self.subject.kind, _NAME)}. {meant}"
        )


class FieldError(RefsError):
    """The root of what is wrong in one place.

    Attributes:
        spot: the place.
        name: what ACK calls the error; empty where it has none such.
    """

    name: ClassVar[str] = ""

    def __init__(self, spot: Spot, *data: object) -> None:
        super().__init__(spot, *data)
        self.spot = spot

    @property
    def upstream(self) -> str:
        """The text that ACK's controllers tell; our own where they have none."""
        return str(self)

    @property
    def _subject(self) -> str:
        return f"{f'{self.name}: ' if self.name else ''}{_whose(self.spot.subject)}"

    @property
    def _identifier(self) -> str:
        return cut(self.spot.identifier_text, _NAME)

    @property
    def _reference(self) -> str:
        return cut(self.spot.reference_text, _NAME)

    @property
    def _upstream_fields(self) -> str:
        """`Routes.GatewayID,Routes.GatewayRef`, as the controllers' own code spells them."""
        path = self.spot.field.path
        return f"{dotted(path)},{dotted((*path[:-1], self.spot.field.reference_step))}"

    @property
    def _upstream_names(self) -> str:
        """`GatewayID,GatewayRef`: not every text of theirs has the way to them."""
        return f"{dotted(self.spot.field.path[-1:])},{dotted((self.spot.field.reference_step,))}"


class ResourceReferenceAndIDNotSupportedError(FieldError):
    """A field and its reference are both given."""

    name = "ResourceReferenceAndIDNotSupported"

    @property
    def upstream(self) -> str:
        return f"both resource reference wrapper and ID cannot be used together: {self._upstream_fields}"

    def __str__(self) -> str:
        return f"{self._subject} has both {self._identifier} and {self._reference}. Take one of them out."


class ResourceReferenceOrIDRequiredError(FieldError):
    """A field that has to be there is not, and no reference is there in its place."""

    name = "ResourceReferenceOrIDRequired"

    @property
    def upstream(self) -> str:
        return f"resource reference wrapper or ID required: {self._upstream_names}"

    def __str__(self) -> str:
        return f"{self._subject} has neither {self._identifier} nor {self._reference}, and needs one. Give one of them."


class EmptyReferenceError(FieldError):
    """A reference that names nothing.

    Attributes:
        index: of which item of a list; None where there is no list.
    """

    def __init__(self, spot: Spot, index: int | None = None) -> None:
        super().__init__(spot, index)
        self.index = index

    @property
    def upstream(self) -> str:
        return f"provided resource reference is nil or empty: {self._upstream_fields.rpartition(',')[2]}"

    def __str__(self) -> str:
        at = "" if self.index is None else f"[{self.index}]"
        return (
            f"{self._subject}: provided resource reference is nil or empty: {self._reference}{at}. "
            f"Name the {cut(self.spot.field.reference.resource, _NAME)} in from.name, or take the reference out."
        )


class ResourceReferenceCrossNamespaceNotAllowedError(FieldError):
    """A reference to an object of another namespace.

    Attributes:
        namespace: the other one.
        target: the object's name.
    """

    name = "ResourceReferenceCrossNamespaceNotAllowed"

    def __init__(self, spot: Spot, namespace: str, target: str) -> None:
        super().__init__(spot, namespace, target)
        self.namespace = namespace
        self.target = target

    @property
    def upstream(self) -> str:
        return (
            "cross-namespace resource reference is not allowed. Set '--enable-cross-namespace' flag to allow it. "
            f"sourceNamespace:{self.spot.subject.namespace}, targetNamespace:{self.namespace}, name:{self.target}"
        )

    def __str__(self) -> str:
        return (
            f"{self._subject}: {self._reference} refers to {cut(self.target, _NAME)} in namespace "
            f"{cut(self.namespace, _NAME)}. References across namespaces are not supported: leave from.namespace "
            "out, and refer to an object of the same namespace."
        )


class ReferenceBelowMapError(FieldError):
    """A reference in a map of structures, where nothing is referred to.

    Attributes:
        found: where it stands, as in `spec.listeners.web.certificateRef`.
        through: the map's name.
    """

    def __init__(self, spot: Spot, found: str, through: str) -> None:
        super().__init__(spot, found, through)
        self.found = found
        self.through = through

    def __str__(self) -> str:
        return (
            f"{self._subject}: {cut(self.found, _SHOWN)} stands below {cut(self.through, _NAME)}, which is a map: "
            f"references below maps are not supported. Give {cut(self.spot.field.steps[-1], _NAME)} itself there."
        )


class ReferenceShapeError(FieldError):
    """A reference, or something on the way to one, that is not built as it should be.

    Attributes:
        found: where it stands.
        came: what stands there, as in `a string`.
        needed: what should, as in `a list of references`.
    """

    def __init__(self, spot: Spot, found: str, came: str, needed: str) -> None:
        super().__init__(spot, found, came, needed)
        self.found = found
        self.came = came
        self.needed = needed

    def __str__(self) -> str:
        return f"{self._subject}: {cut(self.found, _SHOWN)} is {self.came}. Give {cut(self.needed, _SHOWN)}."


class ResolvedByHookError(FieldError):
    """A reference to an object, of a kind whose controller has code of its own for that.

    Attributes:
        hook: where that code stands in, as in `references_post_resolve`.
    """

    def __init__(self, spot: Spot, hook: str) -> None:
        super().__init__(spot, hook)
        self.hook = hook

    def __str__(self) -> str:
        return (
            f"{self._subject}: {self._reference} is resolved by the controller's own code (hook {self.hook}), and what "
            f"that makes of it is not known here. Give {self._identifier} itself."
        )


class FromMissingError(FieldError):
    """A reference names something beside its `from`, which it does not have.

    Attributes:
        found: where the reference stands.
        key: what would name it in a `from`: `name` or `stack`.
    """

    def __init__(self, spot: Spot, found: str, key: str) -> None:
        super().__init__(spot, found, key)
        self.found = found
        self.key = key

    def __str__(self) -> str:
        return (
            f"{self._subject}: {cut(self.found, _SHOWN)} has {self.key}, and no from. "
            f"Put it below from: {{from: {{{self.key}: …}}}}."
        )


class FromKeyError(FieldError):
    """A reference, or its `from`, has a key that is not one of its.

    Attributes:
        found: where it stands, as in `spec.subnetRefs[0].from`.
        keys: those that are unknown.
        allowed: those that there are.
    """

    def __init__(self, spot: Spot, found: str, keys: Sequence[str], allowed: Sequence[str]) -> None:
        super().__init__(spot, found, keys, allowed)
        self.found = found
        self.keys = keys
        self.allowed = allowed

    def __str__(self) -> str:
        return (
            f"{self._subject}: {cut(self.found, _SHOWN)} has {cut(some(self.keys, 5), _SHOWN)}, which a reference does "
            f"not have. Take that out; there {'are' if len(self.allowed) > 1 else 'is'} {some(self.allowed)}."
        )


class UnreadableReferenceError(FieldError):
    """What a reference names is not there, or could not be read.

    Attributes:
        error: why.
    """

    def __init__(self, spot: Spot, error: StrongRefError) -> None:
        super().__init__(spot, error)
        self.error = error

    @property
    def upstream(self) -> str:
        return self.error.upstream if isinstance(self.error, NoSuchObjectError) else str(self.error)

    def __str__(self) -> str:
        return cut(f"{self._subject}: {self._reference}: {self.error}", REASON_LIMIT - 1)


class ReferencedError(FieldError):
    """The root of what is wrong with an object that is referred to.

    Attributes:
        wanted: the object.
    """

    def __init__(self, spot: Spot, wanted: Wanted, *data: object) -> None:
        super().__init__(spot, wanted, *data)
        self.wanted = wanted

    @property
    def _upstream_wanted(self) -> str:
        return f"resource:{self.wanted.kind}, namespace:{self.wanted.namespace}, name:{self.wanted.name}"

    @property
    def _refers(self) -> str:
        return f"{self._subject}: {self._reference} refers to {_which(self.wanted)}"


class ResourceReferenceTerminalError(ReferencedError):
    """The object's condition `ACK.Terminal` is True."""

    name = "ResourceReferenceTerminal"

    @property
    def upstream(self) -> str:
        return (
            "the referenced resource has 'ACK.Terminal' condition 'True'. Cannot be referenced. "
            f"{self._upstream_wanted}"
        )

    def __str__(self) -> str:
        return f"{self._refers}, whose condition ACK.Terminal is True. Mend that object first."


class ResourceReferenceNotSyncedError(ReferencedError):
    """The object's condition `ACK.ResourceSynced` is missing or not True."""

    name = "ResourceReferenceNotSynced"

    @property
    def upstream(self) -> str:
        return f"the referenced resource is not synced yet. {self._upstream_wanted}"

    def __str__(self) -> str:
        return (
            f"{self._refers}, whose condition ACK.ResourceSynced is not True. Wait until its controller has made it, "
            "and try again."
        )


class ResourceReferenceMissingTargetFieldError(ReferencedError):
    """The object has nothing at the path that the reference copies from.

    Attributes:
        path: as generator.yaml has it, as in `Status.ACKResourceMetadata.ARN`.
    """

    name = "ResourceReferenceMissingTargetField"

    def __init__(self, spot: Spot, wanted: Wanted, path: str) -> None:
        super().__init__(spot, wanted, path)
        self.path = path

    @property
    def upstream(self) -> str:
        return f"the referenced resource is missing the target field. {self._upstream_wanted}, targetField:{self.path}"

    def __str__(self) -> str:
        return (
            f"{self._refers}, which has no {cut(self.path, _NAME)}. Wait until its controller has filled that "
            f"in, or give {self._identifier} itself."
        )


class TargetNotStringError(ReferencedError):
    """What stands at the path that the reference copies from is no string.

    Attributes:
        path: as generator.yaml has it.
        came: what it is, as in `a list`.
    """

    def __init__(self, spot: Spot, wanted: Wanted, path: str, came: str) -> None:
        super().__init__(spot, wanted, path, came)
        self.path = path
        self.came = came

    def __str__(self) -> str:
        return (
            f"{self._refers}, whose {cut(self.path, _NAME)} is {self.came}; only strings can be referred to. "
            f"Give {self._identifier} itself."
        )


class ValueShapeError(FieldError):
    """A stack's value is a list where one string is needed, or nothing that a field can be filled with.

    Attributes:
        found: where its `from` stands.
        came: what it is, as in `a list`.
    """

    def __init__(self, spot: Spot, found: str, came: str) -> None:
        super().__init__(spot, found, came)
        self.found = found
        self.came = came

    def __str__(self) -> str:
        needed = "a list of strings, none of them empty," if self.spot.field.many else "one string that is not empty"
        return (
            f"{self._subject}: what {cut(self.found, _SHOWN)} names is {self.came}, and {needed} is needed. "
            "Name a value that is one."
        )


class NoValuesError(FieldError):
    """A reference names a stack, and stacks cannot be asked here.

    Attributes:
        found: where its `from` stands.
    """

    def __init__(self, spot: Spot, found: str) -> None:
        super().__init__(spot, found)
        self.found = found

    def __str__(self) -> str:
        return (
            f"{self._subject}: {cut(self.found, _SHOWN)} names a stack, and no source of stacks' values was given. "
            "Name an object in from.name."
        )


@dataclass(eq=False)
class NoSuchObjectError(RefsError):
    """There is no such object where it was looked for.

    Attributes:
        wanted: the object.
        among: where it was looked for, as in `the manifests given`.
        close: names of objects of the kind that are most like it.
    """

    wanted: Wanted
    among: str
    close: Sequence[str] = ()

    @property
    def upstream(self) -> str:
        """What Kubernetes' API tells (`apimachinery`, `errors.NewNotFound`)."""
        return f'{self.wanted.plural}.{self.wanted.group} "{self.wanted.name}" not found'

    def __str__(self) -> str:
        shown = [cut(each, _NAME) for each in self.close[:3]]
        meant = f"Did you mean {' or '.join(shown)}?" if shown else "Check its name and namespace, or make it first."
        return f"{_which(self.wanted)} was not found in {cut(self.among, _NAME)}. {meant}"


def _whose(subject: Subject) -> str:
    return cut(str(subject), _SHOWN)


def _which(wanted: Wanted) -> str:
    return cut(f"{wanted.kind} {wanted.namespace}/{wanted.name}", _SHOWN)
