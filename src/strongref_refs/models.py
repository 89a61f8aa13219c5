"""Fields of kinds by the APIs' own models, which botocore ships and ACK's code generator reads too.

A kind's fields are the parameters of the operation that creates it. generator.yaml adds others: from other operations,
or of types that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore.loaders import create_loader
from botocore.model import ServiceModel

from strongref_refs.base import FieldShape, mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_BOTOCORE_NAMES = {
    "applicationinsights": "application-insights",
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
    def of(cls, shape: Any) -> _Type:  # noqa: ANN401 (botocore has a class for each kind of shape)
        many, in_map = shape.type_name == "list", False
        while shape.type_name in ("list", "map"):
            in_map |= shape.type_name == "map"
            shape = shape.member if shape.type_name == "list" else shape.value
        return cls(shape if shape.type_name == "structure" else None, many, in_map)


class ApiModel:
    """The fields of one service's kinds.

    Args:
        model: of the service.
        generator: the content of the generator.yaml: its `operations` and `resources`.
    """

    def __init__(self, model: ServiceModel, generator: Mapping[str, Any]) -> None:
        self._model = model
        self._operations = mapping(generator.get("operations"))
        self._resources = mapping(generator.get("resources"))

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        """A field's shape; as `base.FieldShapes`."""
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

    def _parameter(self, kind: str, step: str) -> tuple[str, _Type | None, bool]:
        """A parameter of the operation that creates a kind: its name, its type, and whether it is required."""
        operation = self._creating(kind)
        created = self._input(operation)
        renamed = self._renamed(kind, operation)
        original = next((old for old, new in renamed.items() if _is_same(new, step)), step)
        if created is None or not (member := _member(created, original)):
            return step, None, False
        name = renamed.get(member, member)
        return name, _Type.of(created.members[member]), member in created.required_members

    def _renamed(self, kind: str, operation: str) -> dict[str, str]:
        node: Any = self._resources.get(kind)
        for step in ("renames", "operations", operation, "input_fields"):
            node = mapping(node).get(step)
        return {str(old): str(new) for old, new in mapping(node).items()}

    def _creating(self, kind: str) -> str:
        for name, operation in self._operations.items():
            settings = mapping(operation)
            if "Create" in _listed(settings.get("operation_type")) and kind in _listed(settings.get("resource_name")):
                return str(name)
        return f"Create{kind}"

    def _input(self, operation: str) -> Any:  # noqa: ANN401
        known = operation in self._model.operation_names
        return self._model.operation_model(operation).input_shape if known else None

    def _added(self, settings: Mapping[str, Any]) -> _Type | None:
        """The type of a field that generator.yaml adds, by name or from another operation; None for other fields."""
        custom, source = mapping(settings.get("custom_field")), mapping(settings.get("from"))
        if custom.get("list_of"):
            return _Type(self._named(str(custom["list_of"])), many=True)
        if custom.get("map_of"):
            return _Type(self._named(str(custom["map_of"])), in_map=True)
        if settings.get("type"):
            return _Type(None, many=str(settings["type"]).startswith("[]"))
        shape = self._input(str(source.get("operation")))
        for step in str(source.get("path")).split(".") if shape is not None else ():
            structure = _Type.of(shape).structure
            member = structure and _member(structure, step)
            if not member:
                return None
            shape = structure.members[member]
        return shape and _Type.of(shape)

    def _named(self, name: str) -> Any:  # noqa: ANN401
        """The structure of a name, as in the SDK: an operation's parameters are its `…Input`."""
        operation = self._input(name.removesuffix("Input"))
        if operation is not None or name not in self._model.shape_names:
            return operation
        return _Type.of(self._model.shape_for(name)).structure


def entry(fields: Mapping[str, Any], path: Sequence[str]) -> Any:  # noqa: ANN401 (whatever the file has)
    """The entry of a field in generator.yaml; None if there is none. Case does not matter, as for ACK."""
    wanted = ".".join(path).lower()
    return next((value for key, value in fields.items() if str(key).lower() == wanted), None)


def _member(structure: Any, step: str) -> str | None:  # noqa: ANN401
    return next((name for name in structure.members if _is_same(name, step)), None)


def _is_same(name: str, step: str) -> bool:
    return name.lower() == step.lower()


def _listed(value: object) -> Iterable[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
