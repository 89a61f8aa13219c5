"""The words of reference fields, which every part of this package shares. Pure.

ACK's own words are kept: a *field* such as `SecurityGroupIDs`, its *reference field* such as `securityGroupRefs`, the
*referenced resource* and the *path* of the value in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Manifest: TypeAlias = Mapping[str, Any]
"""A Kubernetes object, as its YAML or JSON says it."""


def mapping(value: object) -> Mapping[str, Any]:
    """What a file has somewhere, if it is a map; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


ACK_GROUPS = ".services.k8s.aws"
"""How the API groups of ACK's controllers end."""


def ack_group(service: str) -> str:
    """The API group of a service's controller, as in `ec2.services.k8s.aws`."""
    return service + ACK_GROUPS


@dataclass(frozen=True, slots=True)
class FieldReference:
    """What one field may refer to: an entry `references` of generator.yaml.

    Attributes:
        resource: the kind of what is referred to, as in `SecurityGroup`.
        path: of the value in it, as in `Status.ACKResourceMetadata.ARN`.
        service: whose controller has it, as in `ec2`; an entry without `service_name` means the controller's own.
        skip_state: whether it need not be synced yet. What is terminal is never referred to.
    """

    resource: str
    path: str
    service: str
    skip_state: bool = False

    @property
    def group(self) -> str:
        """The API group, as in `ec2.services.k8s.aws`."""
        return ack_group(self.service)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a kind that can be given as a reference instead.

    Attributes:
        path: from `spec`, in generator.yaml's own words: `("VPCConfig", "SubnetIDs")`.
        steps: from `spec`, as a manifest spells them: `("vpcConfig", "subnetIDs")`.
        reference_step: the reference field's name in the last one's place: `subnetRefs`.
        many: whether it is a list of values.
        required: whether it, or its reference, has to be there.
        reference: what it may refer to.
        through_map: the first of the steps that is a map of structures, if one is known to be: nothing can be
            referred to below it.
        lists: of each step before the last, whether it is a list of structures.
        certain: whether a CRD or the API's model tells so: what follows from names alone is a guess.
    """

    path: tuple[str, ...]
    steps: tuple[str, ...]
    reference_step: str
    many: bool
    required: bool
    reference: FieldReference
    through_map: str = ""
    lists: tuple[bool, ...] = ()
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of a controller, with its reference fields.

    Attributes:
        hook: where the controller has code of its own for resolving references (`references_post_resolve`); empty for
            most kinds. What that makes of an object's identifier is not known here.
    """

    group: str
    name: str
    fields: tuple[Field, ...]
    hook: str = ""

    def why_not(self, field: Field) -> str:
        """Why no object is referred to by one of its fields here; empty if they are."""
        if field.through_map:
            return f"{field.through_map} is a map"
        return f"hook {self.hook}" if self.hook else ""


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that has the reference fields."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class FieldLocation:
    """One place in one object where a field stands, or its reference: a field below a list has several.

    Attributes:
        subject: the object.
        field: which of its kind's fields.
        container: the way to the map that it stands in, from the document's root: `("spec", "routes", 0)`.
    """

    subject: Subject
    field: Field
    container: tuple[str | int, ...]

    @property
    def identifier_text(self) -> str:
        """Where the field itself stands: `spec.routes[0].gatewayID`."""
        return path_text((*self.container, self.field.steps[-1]))

    @property
    def reference_text(self) -> str:
        """Where its reference stands: `spec.routes[0].gatewayRef`."""
        return path_text((*self.container, self.field.reference_step))


def path_text(steps: Sequence[str | int]) -> str:
    """`spec.routes[0].gatewayRef`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """The Kubernetes object that a reference names.

    Attributes:
        plural: the resource's name in the API, as in `securitygroups`.
    """

    group: str
    kind: str
    plural: str
    namespace: str
    name: str


class ObjectSource(Protocol):
    """Where referenced objects are read: a set of manifests, a live cluster."""

    def get(self, wanted: ObjectKey) -> Manifest:
        """The object.

        Raises:
            StrongRefError: there is none (`errors.NoSuchObjectError`), or it could not be asked for.
        """
        ...


class ValueSource(Protocol):
    """Where values come from that are no Kubernetes objects: stacks and their exports."""

    def get(self, given: Mapping[str, Any]) -> str | Sequence[str]:
        """The value that the `from` of a reference names.

        Raises:
            StrongRefError: there is none, or it could not be asked for.
        """
        ...
