"""Fields of kinds by the APIs' own models, which botocore ships and ACK's code generator reads too.

A kind's fields are the parameters of the operation that creates it. generator.yaml adds others: from other operations,
or of types that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from botocore.loaders import create_loader
from botocore.model import ServiceModel

from strongref.untyped import AnyJson, Untyped
from strongref_manifests.refs.base import FieldShape
from strongref_manifests.refs.names import is_same
from strongref_toolkit.json_values import mapping

_ADDED = {"custom_field", "from", "is_attribute", "type"}
"""What an entry of generator.yaml has if it adds a field to those that the creating operation takes."""

_BOTOCORE_NAMES = {
    "cloudwatchlogs": "logs",
    "cognitoidentityprovider": "cognito-idp",
    "documentdb": "docdb",
    "elasticsearchservice": "es",
    "eventbridge": "events",
    "opensearchservice": "opensearch",
    "prometheusservice": "amp",
    "recyclebin": "rbin",
    "sfn": "stepfunctions",
}
"""Services that have another name in botocore, apart from dashes."""


@cache
def service_model(*names: str) -> ServiceModel | None:
    """The model of a service, by the first of these names that botocore has; None if it has none of them."""
    loader = create_loader()
    there = {name.replace("-", ""): name for name in loader.list_available_services("service-2")}
    for name in names:
        if known := there.get(_BOTOCORE_NAMES.get(name, name).replace("-", "")):
            return ServiceModel(loader.load_service_model(known, "service-2"), known)
    return None


@dataclass(frozen=True, slots=True)
class _Type:
    """The type of a field: the structure in it, and whether it is in a list or a map."""

    structure: Any
    many: bool = False
    in_map: bool = False

    @classmethod
    def of(cls, shape: Untyped) -> _Type:
        many, in_map = shape.type_name == "list", False
        while shape.type_name in ("list", "map"):
            in_map |= shape.type_name == "map"
            shape = shape.member if shape.type_name == "list" else shape.value
        return cls(shape if shape.type_name == "structure" else None, many, in_map)


class ApiModel:
    """The fields of one service's kinds, as `base.FieldShapes`: by its model and the content of its generator.yaml."""

    def __init__(self, model: ServiceModel, generator: Mapping[str, Any]) -> None:
        self._model = model
        self._operations = mapping(generator.get("operations"))
        self._resources = mapping(generator.get("resources"))

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        fields = mapping(mapping(self._resources.get(kind)).get("fields"))
        name, here, required = path[0], self._added(mapping(entry(fields, path[:1]))), False
        if here is None:
            name, here, required = self._parameter(kind, path[0])
        names, lists, map_at = [name], [], None
        for index, step in enumerate(path[1:]):
            if here is None or here.structure is None or not (member := _member(here.structure, step)):
                return None
            if here.in_map and map_at is None:
                map_at = index
            names.append(member)
            lists.append(here.many)
            here, required = _Type.of(here.structure.members[member]), False
        if here is None:
            return None
        return FieldShape(tuple(names), many=here.many, required=required, map_at=map_at, lists=tuple(lists))

    def lacks(self, kind: str, path: Sequence[str]) -> bool:
        fields = mapping(mapping(self._resources.get(kind)).get("fields"))
        entries = (mapping(entry(fields, path[: index + 1])) for index in range(len(path)))
        if self._input(self._creating(kind)) is None or any(each.keys() & _ADDED for each in entries):
            return False
        return self.shape(kind, path) is None

    def _parameter(self, kind: str, step: str) -> tuple[str, _Type | None, bool]:
        """A parameter of the operation that creates a kind: its name, its type, and whether it is required.

        Where a structure wraps the parameters, none of them is required: ACK looks at the operation's own.
        """
        operation = self._creating(kind)
        created = taken = self._input(operation)
        if wrapper := mapping(self._operations.get(operation)).get("input_wrapper_field_path"):
            member = _member(taken, str(wrapper)) if taken else None
            created = _Type.of(taken.members[member]).structure if member else None
        renamed = self._renamed(kind, operation)
        original = next((old for old, new in renamed.items() if is_same(new, step)), step)
        if created is None or not (member := _member(created, original)):
            return step, None, False
        name = renamed.get(member, member)
        return name, _Type.of(created.members[member]), member in taken.required_members

    def _renamed(self, kind: str, operation: str) -> dict[str, str]:
        node: Any = self._resources.get(kind)
        for step in ("renames", "operations", operation, "input_fields"):
            node = mapping(node).get(step)
        return {str(old): str(new) for old, new in mapping(node).items()}

    def _creating(self, kind: str) -> str:
        for name, operation in self._operations.items():
            settings = mapping(operation)
            types, kinds = (_listed(settings.get(key)) for key in ("operation_type", "resource_name"))
            if "create" in map(str.lower, types) and kind in kinds:
                return str(name)
        return f"Create{kind}"

    def _input(self, operation: str) -> Untyped:
        known = operation in self._model.operation_names
        return self._model.operation_model(operation).input_shape if known else None

    def _source(self, source: Mapping[str, Any]) -> Untyped:
        """The shape that a field comes `from`: among what an operation takes, or else among what it returns."""
        operation = str(source.get("operation"))
        if operation not in self._model.operation_names:
            return None
        model = self._model.operation_model(operation)
        found = (_at(shape, str(source.get("path")).split(".")) for shape in (model.input_shape, model.output_shape))
        return next(filter(None, found), None)

    def _added(self, settings: Mapping[str, Any]) -> _Type | None:
        """The type of a field that generator.yaml adds, by name or from another operation; None for other fields."""
        custom = mapping(settings.get("custom_field"))
        if custom.get("list_of"):
            return _Type(self._named(str(custom["list_of"])), many=True)
        if custom.get("map_of"):
            return _Type(self._named(str(custom["map_of"])), in_map=True)
        if settings.get("type"):
            return _Type(None, many=str(settings["type"]).startswith("[]"))
        shape = self._source(mapping(settings.get("from")))
        return shape and _Type.of(shape)

    def _named(self, name: str) -> Untyped:
        """The structure of a name, as in the SDK: an operation's parameters are its `…Input`."""
        operation = self._input(name.removesuffix("Input"))
        if operation is not None or name not in self._model.shape_names:
            return operation
        return _Type.of(self._model.shape_for(name)).structure


def entry(fields: Mapping[str, Any], path: Sequence[str]) -> AnyJson:
    """The entry of a field in generator.yaml; None if there is none. Case does not matter, as for ACK."""
    wanted = ".".join(path).lower()
    return next((value for key, value in fields.items() if str(key).lower() == wanted), None)


def _member(structure: Untyped, step: str) -> str | None:
    return next((name for name in structure.members if is_same(name, step)), None)


def _at(shape: Untyped, path: Iterable[str]) -> Untyped:
    """The shape at a path, through lists and maps; None if there is none."""
    for step in filter(None, path):  # Lists are also written `Rules..GroupID`.
        structure = shape and _Type.of(shape).structure
        member = structure and _member(structure, step)
        shape = structure.members[member] if member else None
    return shape


def _listed(value: object) -> Iterable[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
