"""`generator.yaml`: which fields of which kinds can be given as references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from strongref.contract.properties import Property, Table, string
from strongref.errors import BadRequestError
from strongref_manifests.refs.base import (
    ACK_GROUPS,
    CombinedShapes,
    Field,
    FieldReference,
    FieldShape,
    FieldShapes,
    Generator,
    Kind,
)
from strongref_manifests.refs.crds import CrdShapes, Specs
from strongref_manifests.refs.errors import GeneratorError, ServiceUnknownError
from strongref_manifests.refs.models import ApiModel, entry, service_model
from strongref_manifests.refs.names import camel, is_many, lower_camel, reference_name
from strongref_manifests.refs.parsers import SIMILAR, of_type, parse_flag, read_map
from strongref_manifests.text.yaml_reader import BoundsError, check_bounds
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import mapping

_HOOKS = ("references_pre_resolve", "references_post_resolve")
"""Of a kind: the controller's own code, in addition to the generated code for its references (`references.go.tpl`)."""

_HOOKED = {("apigatewayv2", "Route", "references_post_resolve"): ("Target",)}
"""The fields that such code changes, where it is known (apigatewayv2-controller, `templates/hooks/route`): any may be
changed elsewhere."""

_SECTIONS = {"resources", "ignore", "operations", "sdk_names"}
"""Of a generator.yaml: a file with none of them is something else (code-generator, `pkg/config/config.go`)."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SERVICE = re.compile(r"[a-z0-9]+")
_REFERENCED_SERVICE = re.compile(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*)?")
_PATH = re.compile(rf"(?:spec|status)(?:\.{_WORD.pattern})+", re.IGNORECASE)
_JSON_TAG = re.compile(r'json:"([^,"]+)')

_SERVICE_NAME = "a name of lowercase letters and digits, as in ec2"
_TARGET_PATH = "a path below Spec or Status, as in Status.ACKResourceMetadata.ARN"
_MAP = Property(of_type(Mapping, "a map"), {})

_DOCUMENT = {"resources": Property(of_type(Mapping, "a map of kinds, as in ACK's generator.yaml files"), {})}
_KIND = {"fields": _MAP}
_FIELD = {"is_required": Property(parse_flag), "references": Property(of_type(Mapping, "a map with resource and path"))}
_REFERENCES = {
    "resource": Property(string("the name of a kind", _WORD.fullmatch), required="the name of a kind"),
    "path": Property(string(_TARGET_PATH, _PATH.fullmatch), required=_TARGET_PATH),
    "service_name": Property(string("a name of lowercase letters, digits and hyphens", _REFERENCED_SERVICE.fullmatch)),
    "skip_resource_state_validations": Property(parse_flag, default=False),
}
"""`aws-controllers-k8s/code-generator`, `pkg/config/field.go`, `ReferencesConfig`. Newer keys are ignored."""


def load(text: str, source: str, service: str | None = None, crds: Specs | None = None) -> Generator:
    """Read a generator.yaml.

    Entries unrelated to references are ignored. Whether a field is a list is looked up in its kind's CRD, then in the
    API's own model, and derived from its name if neither knows it. Whether it is required is `is_required`, else what
    the API says.

    Args:
        text: the content.
        source: the file's path, for errors and for the service.
        service: of the controller, or its API group. By default the file's `controller_name`, the X of a folder
            `X-controller` above it, or of its name `X.yaml`.
        crds: what CRDs say of the controller's kinds, or of some of them.

    Raises:
        GeneratorError: the file is not valid; names the entry and its line.
        ServiceUnknownError: the service is neither given nor in the file or its path.
        UsageError: the given service is not a service's name.
    """
    document = _parsed(text, source)
    its = _service(document, source) if service is None else _given(service)
    names = mapping(document.get("sdk_names"))
    model = service_model(its, *(str(names[key]) for key in ("model_name", "package_name") if names.get(key)))
    known = [ApiModel(model, document)] if model else []
    reader = _Reader(its, source, CombinedShapes(CrdShapes(crds or {}, its + ACK_GROUPS), *known))
    return Generator(its, source, tuple(reader.kinds(document)))


class _LastOfSeveral(RoundTripConstructor):
    """The last of several equal keys counts, as for ACK (Go's YAML)."""

    def check_mapping_key(self, *_: object) -> bool:
        return True


def _parsed(text: str, source: str) -> Mapping[str, Any]:
    yaml = YAML(typ="rt")  # The one that knows lines.
    yaml.Constructor = _LastOfSeveral
    try:
        check_bounds(text)
        document = yaml.load(text)
    except BoundsError as error:
        raise GeneratorError(source, "", error.problem, error.line) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise GeneratorError(source, "", "not valid YAML", line) from None
    except (YAMLError, ValueError):
        raise GeneratorError(source, "", "not valid YAML") from None
    return mapping(document)


def _given(service: str) -> str:
    name = service.removesuffix(ACK_GROUPS)
    if not _SERVICE.fullmatch(name):
        raise UsageError(f"--service must be {_SERVICE_NAME}")
    return name


def _service(document: Mapping[str, Any], source: str) -> str:
    path = PurePath(source)
    folders = [part.removesuffix("-controller") for part in path.parts if part.endswith("-controller")]
    stem = [] if path.stem in ("generator", "-", "") else [path.stem]
    named = [str(document["controller_name"])] if document.get("controller_name") else []
    for each in (*named, *reversed(folders), *stem):
        if _SERVICE.fullmatch(each):
            return each
    raise ServiceUnknownError(source)


class _Reader:
    def __init__(self, service: str, source: str, shapes: FieldShapes) -> None:
        self._service = service
        self._source = source
        self._shapes = shapes

    def kinds(self, document: Mapping[str, Any]) -> list[Kind]:
        if not document.keys() & _SECTIONS:
            raise self._error(document, "resources", "resources", "is missing; must be a map of kinds")
        resources = self._read(document, _DOCUMENT)["resources"]
        kinds: dict[str, Kind] = {}
        for name in resources:
            kind = self._kind(name, resources)
            if kind.name in kinds:
                problem = f"{kind.name} is defined already, in another spelling. Merge the two"
                raise self._error(resources, name, f"resources.{name}", problem)
            kinds[kind.name] = kind
        return list(kinds.values())

    def _kind(self, name: object, resources: Mapping[Any, Any]) -> Kind:
        where = f"resources.{name}"
        if not isinstance(name, str) or not _WORD.fullmatch(name):
            raise self._error(resources, name, where, "must be the name of a kind, as in VpcLink")
        kind = self._read(resources, {name: _MAP}, "resources")[name]
        hooks = mapping(kind.get("hooks"))
        hook = next((each for each in _HOOKS if hooks.get(each) is not None), "")
        settings = self._read(kind, _KIND, where)["fields"]
        fields: dict[tuple[str, ...], Field] = {}
        for path in settings:
            if mapping(settings[path]).get("references") is None:
                continue
            field = self._field(name, path, settings, hook)
            if other := fields.get(field.reference_steps):
                problem = f"has the same reference field as {'.'.join(other.path)}: {'.'.join(field.reference_steps)}"
                raise self._error(settings, path, f"{where}.fields.{path}", problem)
            fields[field.reference_steps] = field
        return Kind(self._service + ACK_GROUPS, camel(name), tuple(fields.values()))

    def _field(self, kind: str, dotted: object, fields: Mapping[Any, Any], hook: str) -> Field:
        where = f"resources.{kind}.fields.{dotted}"
        settings = fields[dotted]
        path = tuple(step for step in str(dotted).split(".") if step)  # Lists are also written `Rules..GroupID`.
        if not isinstance(dotted, str) or not path or not all(_WORD.fullmatch(step) for step in path):
            raise self._error(fields, dotted, where, "must be a path of names, as in VPCConfig.SubnetIDs")
        entries = self._read(settings, _FIELD, where)
        known = self._shapes.shape(kind, path)
        shape = known or _by_name(path, fields)
        try:
            reference_step = reference_name((path if shape.spelled else shape.names)[-1], many=shape.many)
        except ValueError:
            problem = "has no reference field: its name is nothing but a suffix"
            raise self._error(fields, dotted, where, problem) from None
        spelled = (_spelled(fields, path[: index + 1], name) for index, name in enumerate(shape.names))
        steps = shape.names if shape.spelled else tuple(spelled)
        required = entries["is_required"]
        hooked = _HOOKED.get((self._service, kind, hook), (dotted,))
        return Field(
            path=path,
            steps=steps,
            reference_step=reference_step,
            many=shape.many,
            required=bool(shape.required) if required is None else required,
            reference=self._reference(settings, f"{where}.references"),
            through_map="" if shape.map_at is None else steps[shape.map_at],
            lists=shape.lists,
            certain=known is not None,
            absent=self._shapes.lacks(kind, path),
            hook=hook if dotted in hooked else "",
        )

    def _reference(self, settings: Mapping[str, Any], where: str) -> FieldReference:
        given = settings["references"]
        for key in given:
            if key not in _REFERENCES and (close := get_close_matches(str(key), _REFERENCES, 1, SIMILAR)):
                raise self._error(given, key, f"{where}.{key}", f"is unknown, but similar to {close[0]}")
        entry = self._read(given, _REFERENCES, where, _line(settings, "references"))
        return FieldReference(
            resource=entry["resource"],
            path=entry["path"],
            service=entry["service_name"] or self._service,
            skip_state=entry["skip_resource_state_validations"],
        )

    def _read(self, given: Mapping[Any, Any], table: Table, where: str = "", line: int | None = None) -> dict[str, Any]:
        """The values of a map; `line` is where it begins, for an error about a key that it does not have."""
        try:
            return read_map(given, table, where, others=True)
        except BadRequestError as error:
            key = error.prop.rpartition(".")[2]
            raise GeneratorError(self._source, error.prop, error.problem, _line(given, key) or line) from None

    def _error(self, around: Mapping[Any, Any], key: object, where: str, problem: str) -> GeneratorError:
        return GeneratorError(self._source, where, problem, _line(around, key))


def _by_name(path: tuple[str, ...], fields: Mapping[str, Any]) -> FieldShape:
    """The shape of a field of an unknown API: as generator.yaml declares the steps, or by their names."""
    lists = [_many(mapping(entry(fields, path[: index + 1])), step) for index, step in enumerate(path)]
    return FieldShape(path, many=lists[-1], lists=tuple(lists[:-1]))


def _many(settings: Mapping[str, Any], name: str) -> bool:
    if declared := settings.get("type"):
        return str(declared).startswith("[]")
    return bool(mapping(settings.get("custom_field")).get("list_of")) or is_many(name)


def _spelled(fields: Mapping[str, Any], path: Sequence[str], name: str) -> str:
    """A step as manifests spell it: by its `go_tag`, if generator.yaml has one for it."""
    tag = _JSON_TAG.search(str(mapping(entry(fields, path)).get("go_tag", "")))
    return tag[1] if tag else lower_camel(name)


def _line(around: Mapping[Any, Any], key: object) -> int | None:
    positions = getattr(getattr(around, "lc", None), "data", None) or {}
    return positions[key][0] + 1 if key in positions else None
