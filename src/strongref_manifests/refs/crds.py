"""CRDs: the fields in their schemas; what a cluster needs for references: fields in these, and a ClusterRole. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from strongref_manifests.refs.base import Field, FieldShape, Generator, Manifest
from strongref_manifests.refs.errors import GeneratorError
from strongref_manifests.refs.names import camel, is_same, plural
from strongref_manifests.text.styles import is_plain
from strongref_toolkit.json_values import mapping

Schema = dict[str, Any]

_RULE = """\
- apiGroups:
    - {group}
  resources:
    - {resource}
  verbs:
    - get
    - list
"""


Specs: TypeAlias = "Mapping[tuple[str, str], Mapping[str, Any]]"
"""The schema of each kind's `spec`, by the kind's API group and name."""


@dataclass(frozen=True, slots=True)
class CrdShapes:
    """The fields of one API group's kinds, as `base.FieldShapes`.

    A CRD does not say that a field with a reference is required, since its reference can replace it (ACK's controllers
    check that themselves). So `required` is not known here.
    """

    specs: Specs  # of any groups
    group: str

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        node: Mapping[str, Any] = self.specs.get((self.group, camel(kind)), {})
        names: list[str] = []
        lists: list[bool] = []
        map_at: int | None = None
        for index, step in enumerate(path):
            node, below_map = _structure(node)
            if below_map and map_at is None:
                map_at = index - 1
            found = next((name for name in mapping(node.get("properties")) if is_same(name, step)), None)
            if found is None:
                return None
            names.append(found)
            node = mapping(node["properties"][found])
            lists.append(node.get("type") == "array")
        return FieldShape(tuple(names), many=lists[-1], map_at=map_at, spelled=True, lists=tuple(lists[:-1]))

    def lacks(self, kind: str, path: Sequence[str]) -> bool:
        return (self.group, camel(kind)) in self.specs and self.shape(kind, path) is None


def _structure(node: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The structure in a list or map, and whether there was a map."""
    below_map = False
    while True:
        if isinstance(node.get("items"), Mapping):
            node = node["items"]
        elif isinstance(node.get("additionalProperties"), Mapping):
            node, below_map = node["additionalProperties"], True
        else:
            return node, below_map


def crd_spec(source: str, document: Manifest) -> tuple[tuple[str, str], Mapping[str, Any]]:
    """What a CRD in a file adds to `Specs`, by its stored version; `GeneratorError` if it has no schema."""
    try:
        spec = document["spec"]
        version = next(each for each in spec["versions"] if each.get("storage"))
        schema = {**version["schema"]["openAPIV3Schema"]["properties"]["spec"]}  # a TypeError, if it is no map
        return (str(spec["group"]), str(spec["names"]["kind"])), schema
    except (KeyError, TypeError, AttributeError, StopIteration):
        problem = "must have a stored version with a schema of spec (openAPIV3Schema)"
        raise GeneratorError(source, "spec.versions", problem) from None


def fragments(generators: Iterable[Generator]) -> dict[str, Schema]:
    """Parts of each kind's `openAPIV3Schema`, by the CRD's name, as in `vpclinks.apigatewayv2.services.k8s.aws`."""
    found: dict[str, Schema] = {}
    for generator in generators:
        for kind in generator.kinds:
            spec: Schema = {"properties": {}, "type": "object"}
            for field in kind.fields:
                if field.can_refer:
                    _parent(spec, field)["properties"][field.reference_step] = _reference(field)
            if spec["properties"]:
                found[f"{plural(kind.name)}.{kind.group}"] = {"properties": {"spec": spec}}
    return found


def _parent(spec: Schema, field: Field) -> Schema:
    """The structure that has a field; created if it does not exist yet."""
    at = spec
    for step, is_list in zip(field.steps[:-1], field.lists, strict=True):
        if step not in at["properties"]:
            structure: Schema = {"properties": {}, "type": "object"}
            at["properties"][step] = {"items": structure, "type": "array"} if is_list else structure
        at = at["properties"][step]
        at = at.get("items", at)
    return at


def _reference(field: Field) -> Schema:
    reference = field.reference
    one: Schema = {
        "description": f"Refers to the {reference.resource} ({reference.group}) whose {reference.path} is wanted.",
        "properties": {
            "from": {
                "description": "Which object that is.",
                "properties": {"name": {"type": "string"}, "namespace": {"type": "string"}},
                "type": "object",
            }
        },
        "type": "object",
    }
    return {"items": one, "type": "array"} if field.many else one


def cluster_role(generators: Iterable[Generator], name: str, *, own: bool = False) -> str:
    """The ClusterRole that references need, in YAML, as ACK's code generator writes it.

    It allows `get` and `list` on the referenced resources of other services, and on their `/status`. A controller's own
    role allows those of its own service already (code-generator, `templates/pkg/resource/references.go.tpl`); with
    `own`, they are in it, too, for a caller without a controller's role.
    """
    wanted = {
        (reference.group, plural(reference.resource))
        for generator in generators
        for kind in generator.kinds
        for reference in (field.reference for field in kind.fields if field.can_refer)
        if own or reference.service != generator.service
    }
    rules = "".join(
        _RULE.format(group=group, resource=resource)
        for group, plural_name in sorted(wanted)
        for resource in (plural_name, f"{plural_name}/status")
    )
    quoted = name if is_plain(name) else json.dumps(name)
    head = f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {quoted}\n"
    return f"{head}rules:\n{rules}" if rules else f"{head}rules: []\n"
