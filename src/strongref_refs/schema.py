"""What reference fields add to a CRD: fragments of its schema, as the CRDs of ACK have them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strongref_refs.base import Field
    from strongref_refs.config import Generator

Schema = dict[str, Any]


def fragments(generators: Iterable[Generator], plural: Callable[[str], str]) -> dict[str, Schema]:
    """The fragment of each kind's `openAPIV3Schema`, by the CRD's name, as in `vpclinks.apigatewayv2.services.k8s.aws`.

    Args:
        generators: whose kinds.
        plural: a kind's resource in the API.
    """
    found: dict[str, Schema] = {}
    for generator in generators:
        for kind in generator.kinds:
            spec = _structure()
            for field in kind.fields:
                if not field.through_map:
                    _below(spec, field)["properties"][field.reference_step] = _reference(field)
            if spec["properties"]:
                found[f"{plural(kind.name)}.{kind.group}"] = {"properties": {"spec": spec}}
    return found


def _below(spec: Schema, field: Field) -> Schema:
    """The structure that a field stands in: made, if there is none yet."""
    at = spec
    for step, is_list in zip(field.steps[:-1], field.lists, strict=True):
        if step not in at["properties"]:
            structure = _structure()
            at["properties"][step] = {"items": structure, "type": "array"} if is_list else structure
        at = at["properties"][step]
        at = at.get("items", at)
    return at


def _structure() -> Schema:
    return {"properties": {}, "type": "object"}


def _reference(field: Field) -> Schema:
    reference = field.reference
    one: Mapping[str, Any] = {
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
    return {"items": dict(one), "type": "array"} if field.many else dict(one)
