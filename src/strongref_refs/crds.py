"""CRDs, read: the fields of their kinds, as `spec.versions[].schema.openAPIV3Schema` describes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from strongref_refs.base import mapping
from strongref_refs.errors import GeneratorError
from strongref_refs.names import camel
from strongref_refs.shapes import FieldShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_refs.base import Manifest
    from strongref_refs.shapes import FieldShapes

CRD_KIND = "CustomResourceDefinition"


class Crds:
    """The fields of the kinds that CRDs describe; of several versions the stored one counts.

    A CRD does not say that a field with a reference is required, since the reference may stand in its place: ACK's
    controllers check that themselves. So it is left open here.
    """

    def __init__(self, documents: Iterable[tuple[str, Manifest]]) -> None:
        """Take note of CRDs.

        Args:
            documents: of each, the file it comes from and what is in it.

        Raises:
            GeneratorError: one of them is no CRD, or has no schema.
        """
        self._specs = dict(_spec(source, document) for source, document in documents)

    def of(self, group: str) -> FieldShapes:
        """Those of one API group: several have kinds of the same name."""
        return _Group({kind: spec for (its, kind), spec in self._specs.items() if its == group})


class _Group:
    """The fields of one API group's kinds.

    Args:
        specs: the schema of each kind's `spec`.
    """

    def __init__(self, specs: Mapping[str, Mapping[str, Any]]) -> None:
        self._specs = specs

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        """A field's shape; see `shapes.Shapes`."""
        node: Mapping[str, Any] = self._specs.get(camel(kind), {})
        names: list[str] = []
        lists: list[bool] = []
        map_at: int | None = None
        for index, step in enumerate(path):
            lists.append(_is_list(node))
            node, below_map = _structure(node)
            if below_map and map_at is None:
                map_at = index - 1
            found = next((name for name in mapping(node.get("properties")) if _alike(name, step)), None)
            if found is None:
                return None
            names.append(found)
            node = mapping(node["properties"][found])
        return FieldShape(tuple(names), many=_is_list(node), map_at=map_at, spelled=True, lists=tuple(lists[1:]))


def _is_list(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "array"


def _structure(node: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The structure that a list or map consists of, and whether there was a map."""
    below_map = False
    while True:
        if isinstance(node.get("items"), Mapping):
            node = node["items"]
        elif isinstance(node.get("additionalProperties"), Mapping):
            node, below_map = node["additionalProperties"], True
        else:
            return node, below_map


def _alike(name: object, step: str) -> bool:
    return str(name).rstrip("_").lower() == step.lower()


def _spec(source: str, document: Manifest) -> tuple[tuple[str, str], Mapping[str, Any]]:
    if document.get("kind") != CRD_KIND:
        raise GeneratorError(source, "kind", f"a {CRD_KIND} is needed")
    try:
        spec = document["spec"]
        version = next(each for each in spec["versions"] if each.get("storage"))
        schema = {**version["schema"]["openAPIV3Schema"]["properties"]["spec"]}  # a TypeError, if it is no map
        return (str(spec["group"]), str(spec["names"]["kind"])), schema
    except (KeyError, TypeError, AttributeError, StopIteration):
        raise GeneratorError(
            source, "spec.versions", "a stored version with a schema of spec is needed (openAPIV3Schema)"
        ) from None
