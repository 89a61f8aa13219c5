"""Kinds and objects of ACK's controllers for tests of reference fields. All identifiers are made up."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref_manifests.refs.base import Field, FieldLocation, FieldReference, Kind, ObjectName
from strongref_manifests.refs.config import load
from strongref_manifests.refs.errors import NoSuchObjectError
from strongref_manifests.refs.names import lower_camel, reference_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.errors import StrongRefError
    from strongref_manifests.refs.base import Manifest
    from strongref_manifests.refs.resolution import Edit

GENERATORS = Path(__file__).parents[1] / "generators"
SERVICES = ("apigatewayv2", "ec2", "eks", "elbv2", "iam", "lambda")

GATEWAY = "apigatewayv2.services.k8s.aws"
EC2 = "ec2.services.k8s.aws"

VPC_LINK_GENERATOR = """\
resources:
  Integration:
    fields:
      ApiId:
        references:
          resource: API
          path: Status.APIID
  VpcLink:
    fields:
      SecurityGroupIds:
        references:
          resource: SecurityGroup
          path: Status.ID
          service_name: ec2
      SubnetIds:
        references:
          resource: Subnet
          path: Status.SubnetID
          service_name: ec2
"""
"""That of ACK's design of references across controllers."""


def kinds_of(text: str, service: str) -> dict[str, Kind]:
    return {kind.name: kind for kind in load(text, f"{service}-controller/generator.yaml").kinds}


def vpc_link() -> Kind:
    return kinds_of(VPC_LINK_GENERATOR, "apigatewayv2")["VPCLink"]


def field(
    path: str, *, many: bool = False, required: bool = False, skip_state: bool = False, target: str = "Status.ID"
) -> Field:
    """A field that refers to a VPC, by the names that follow from its path."""
    steps = tuple(path.split("."))
    return Field(
        path=steps,
        steps=tuple(lower_camel(step) for step in steps),
        reference_step=reference_name(steps[-1], many=many),
        many=many,
        required=required,
        reference=FieldReference("VPC", target, "ec2", skip_state),
    )


def kind(*fields: Field) -> Kind:
    return Kind(EC2, "Thing", fields)


def thing(spec: object, *, name: str = "it", namespace: str | None = None) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{EC2}/v1alpha1", "kind": "Thing", "metadata": metadata, "spec": spec}


def location(path: str = "VpcId", *, many: bool = False) -> FieldLocation:
    its = field(path, many=many)
    return FieldLocation(ObjectName(EC2, "Thing", "default", "it"), its, ("spec", *its.steps[:-1]))


def link(spec: object, *, name: str = "link", namespace: str | None = "shop") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{GATEWAY}/v1alpha1", "kind": "VPCLink", "metadata": metadata, "spec": spec}


def ref(name: object, **others: object) -> dict[str, Any]:
    return {"from": {"name": name, **others}}


def made(
    of: str, name: str, status: Mapping[str, Any], *, synced: str | None = "True", terminal: str | None = None
) -> tuple[ObjectName, dict[str, Any]]:
    """An object in namespace shop that its controller has made, and how it is asked for."""
    types = {"ACK.ResourceSynced": synced, "ACK.Terminal": terminal}
    conditions = [{"type": type_, "status": its} for type_, its in types.items() if its]
    wanted = ObjectName(EC2, of, "shop", name)
    return wanted, {
        "apiVersion": f"{EC2}/v1alpha1",
        "kind": of,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {},
        "status": {"conditions": conditions, **status},
    }


class FakeObjects:
    """Objects in memory, errors too. What is asked for is taken down."""

    def __init__(self, *objects: tuple[ObjectName, Manifest | StrongRefError]) -> None:
        self._objects = dict(objects)
        self.asked: list[ObjectName] = []

    def get(self, wanted: ObjectName) -> Manifest:
        self.asked.append(wanted)
        found = self._objects.get(wanted, NoSuchObjectError(wanted, "the manifests given"))
        if isinstance(found, Exception):
            raise found
        return found


def names_of(kinds: Mapping[str, Kind]) -> list[str]:
    """Each reference as `fields.txt` has it, but for the service."""
    return [
        " ".join(
            [kind.name, ".".join(each.steps), ".".join((*each.steps[:-1], each.reference_step)), *["list"] * each.many]
        )
        for kind in kinds.values()
        for each in kind.fields
    ]


def applied(manifest: Manifest, edits: Iterable[Edit]) -> dict[str, Any]:
    """A copy with the edits made; a field that is filled in stands where its reference field stood."""
    document: dict[str, Any] = deepcopy(dict(manifest))
    for edit in edits:
        *above, last = edit.container
        parent: Any = document
        for step in above:
            parent = parent[step]
        value = edit.value if isinstance(edit.value, str) else list(edit.value)
        parent[last] = {
            edit.step if key == edit.reference_step else key: value if key == edit.reference_step else its
            for key, its in parent[last].items()
            if key != edit.step
        }
    return document
