"""The terms of reference fields. Pure.

They are ACK's: a *field* such as `SecurityGroupIDs`, its *reference field* such as `securityGroupRefs`, the *referenced
resource*, and the *path* of the value in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from strongref_toolkit.json_values import Path, mapping, path_text

Manifest: TypeAlias = Mapping[str, Any]
"""A Kubernetes object, as in YAML or JSON."""

ACK_GROUPS = ".services.k8s.aws"
"""The end of the API groups of ACK's controllers."""


@dataclass(frozen=True, slots=True)
class FieldReference:
    """What a field may refer to: an entry `references` of generator.yaml."""

    resource: str  # the kind of the referenced object, as in `SecurityGroup`
    path: str  # of the value in it, as in `Status.ACKResourceMetadata.ARN`
    service: str  # of its controller, as in `ec2`
    skip_state: bool = False  # whether the object need not be synced yet. It must never be terminal

    @property
    def group(self) -> str:
        """The API group, as in `ec2.services.k8s.aws`."""
        return self.service + ACK_GROUPS


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a kind that can be given as a reference instead."""

    path: tuple[str, ...]  # from `spec`, as in generator.yaml: `("VPCConfig", "SubnetIDs")`
    steps: tuple[str, ...]  # from `spec`, as in manifests: `("vpcConfig", "subnetIDs")`
    reference_step: str  # the name of the reference field, which replaces the last step: `subnetRefs`
    many: bool  # whether it is a list of values
    required: bool  # whether it, or its reference, is required
    reference: FieldReference  # what it may refer to
    # the first step that is known to be a map of structures, if any: references below it are refused
    through_map: str = ""
    lists: tuple[bool, ...] = ()  # of each step before the last, whether it is a list of structures
    certain: bool = False  # whether this comes from a CRD or the API's model, and is not guessed from names
    absent: bool = False  # whether the kind is known not to have the field: references are refused
    # the hook with the controller's own code (`references_post_resolve`) that may change the field: references to
    # objects are refused; empty for most fields
    hook: str = ""

    @property
    def reference_steps(self) -> tuple[str, ...]:
        """The path of its reference field from `spec`, as in manifests."""
        return (*self.steps[:-1], self.reference_step)

    @property
    def can_refer(self) -> bool:
        """Whether its reference field is one here."""
        return not (self.through_map or self.absent)

    @property
    def why_not(self) -> str:
        """Why references of the field to objects are refused; empty if they are not."""
        if self.through_map:
            return f"{self.through_map} is a map"
        if self.absent:
            return "the API has no such field"
        return f"hook {self.hook}" if self.hook else ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of a controller, with its reference fields."""

    group: str
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Generator:
    """What one generator.yaml says of references."""

    service: str  # of the controller, as in `ec2`: the first part of its API group
    source: str  # the file
    kinds: tuple[Kind, ...]  # in the file's order; many have no reference fields


@dataclass(frozen=True, slots=True)
class FieldShape:
    """What a CRD or an API's model says of a field."""

    # the steps of its path as the API spells them, `("VpcConfig", "SubnetIds")`, or as manifests do
    names: tuple[str, ...]
    many: bool  # whether it is a list
    required: bool | None = None  # whether it is required; None if that is not known
    map_at: int | None = None  # the index of the first step that is a map of structures; None if there is none
    spelled: bool = False  # whether the names are those of manifests
    lists: tuple[bool, ...] = ()  # of each step before the last, whether it is a list


class FieldShapes(Protocol):
    """A description of kinds, which generator.yaml is not: CRDs (`crds`), or an API's model (`models`)."""

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        """The shape of a field; None for an unknown kind or field.

        Args:
            kind: as in generator.yaml: `VpcLink`.
            path: likewise; case does not matter.
        """

    def lacks(self, kind: str, path: Sequence[str]) -> bool:
        """Whether a kind has no such field; False if that is not known. Arguments as for `shape`."""


class CombinedShapes:
    """Several descriptions: the first one that has a field counts; the next ones say only whether it is required."""

    def __init__(self, *descriptions: FieldShapes) -> None:
        self._descriptions = descriptions

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        known = [found for each in self._descriptions if (found := each.shape(kind, path))]
        required = next((found.required for found in known if found.required is not None), None)
        return replace(known[0], required=required) if known else None

    def lacks(self, kind: str, path: Sequence[str]) -> bool:
        return self.shape(kind, path) is None and any(each.lacks(kind, path) for each in self._descriptions)


@dataclass(frozen=True, slots=True)
class ObjectName:
    """A Kubernetes object: one that has reference fields, or one that a reference names."""

    group: str  # as in `ec2.services.k8s.aws`; empty for Kubernetes' own core
    kind: str
    namespace: str  # empty for a kind of the whole cluster
    name: str

    @classmethod
    def of(cls, manifest: Manifest, namespace: str) -> ObjectName:
        """The name of the object in a manifest; the namespace is that of an object whose manifest has none."""
        metadata = mapping(manifest.get("metadata"))
        given = {key: value for key, value in metadata.items() if isinstance(value, str) and value}
        group, slash, _ = str(manifest.get("apiVersion", "")).partition("/")
        name = given.get("name") or given.get("generateName", "")
        return cls(group if slash else "", str(manifest.get("kind", "")), given.get("namespace", namespace), name)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace and f'{self.namespace}/'}{self.name}"


@dataclass(frozen=True, slots=True)
class FieldLocation:
    """The location of a field, or of its reference, in one object; a field below a list has several."""

    subject: ObjectName
    field: Field
    container: Path  # the path of the map that has it

    @property
    def identifier_text(self) -> str:
        """The path of the field: `spec.routes[0].gatewayID`."""
        return path_text((*self.container, self.field.steps[-1]))

    @property
    def reference_text(self) -> str:
        """The path of its reference: `spec.routes[0].gatewayRef`."""
        return path_text((*self.container, self.field.reference_step))


class ObjectSource(Protocol):
    """Where referenced objects are read: a set of manifests, a live cluster."""

    def get(self, key: ObjectName) -> Manifest:
        """The object. Raises `StrongRefError` if it does not exist (`errors.NoSuchObjectError`), or cannot be read."""


ValueSource: TypeAlias = "Callable[[Mapping[str, Any]], str | Sequence[str]]"
"""Returns what the `from` of a reference names other than a Kubernetes object: the value of a stack, or of an export.

It raises `StrongRefError` if there is none, or it cannot be read.
"""
