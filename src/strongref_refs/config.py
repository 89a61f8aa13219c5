"""`generator.yaml`, read: which fields of which kinds can be given as references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from strongref_refs.base import ACK_GROUPS, Field, Kind, Reference, ack_group, mapping
from strongref_refs.errors import GeneratorError, ServiceUnknownError
from strongref_refs.models import Model, entry, service_model
from strongref_refs.names import camel, is_many, lower_camel, reference_name
from strongref_refs.shapes import Chain, Shape
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_refs.crds import Crds
    from strongref_refs.shapes import Shapes

_KEYS = ("resource", "path", "service_name", "skip_resource_state_validations")
"""Of an entry `references` (`aws-controllers-k8s/code-generator`, `pkg/config/field.go`, `ReferencesConfig`)."""

_HOOKS = ("references_pre_resolve", "references_post_resolve")
"""Of a kind: the controller's own code beside what is generated for its references (`references.go.tpl`)."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SERVICE = re.compile(r"[a-z0-9]+")
_TRUE, _FALSE = ("y", "yes", "true", "on"), ("n", "no", "false", "off")
"""As YAML 1.1 has them, which ACK reads these files by."""

_TEXTS = {
    "resource": (_WORD, "a name"),
    "path": (_WORD, "a path of names, as in Status.ACKResourceMetadata.ARN,"),
    "service_name": (_SERVICE, "a name of small letters and digits, as in ec2,"),
}
"""Of an entry `references`: what each step of a text has to be, and how that is told."""

_JSON_TAG = re.compile(r'json:"([^,"]+)')


@dataclass(frozen=True, slots=True)
class Generator:
    """What one generator.yaml says of references.

    Attributes:
        service: whose controller it is for, as in `ec2`: the first part of its API group.
        source: the file.
        kinds: those that it names, in its order; many have no reference fields.
    """

    service: str
    source: str
    kinds: tuple[Kind, ...]


def load(text: str, source: str, service: str | None = None, crds: Crds | None = None) -> Generator:
    """Read a generator.yaml.

    What has nothing to do with references is not looked at. Whether a field is a list is asked of its kind's CRD, then
    of the API's own model, and follows from its name if neither knows it. Whether it has to be there is what
    `is_required` says, else the API.

    Args:
        text: what is in it.
        source: the file's path: for errors, and for the service where that is not given.
        service: whose controller it is for; its API group will do. By default the file's own `controller_name`, the X
            of a folder `X-controller` that it lies in, or of its name `X.yaml`.
        crds: CRDs of the controller's kinds, or of some of them.

    Raises:
        GeneratorError: it cannot be understood; names the entry and its line.
        ServiceUnknownError: whose it is is not given, and does not follow from the file.
        UsageError: what is given is no service's name.
    """
    document = _parsed(text, source)
    its = _service(document, source) if service is None else _given(service)
    names = mapping(document.get("sdk_names"))
    model = service_model(its, *(str(names[key]) for key in ("model_name", "package_name") if names.get(key)))
    known = [each for each in (crds and crds.of(ack_group(its)), model and Model(model, document)) if each]
    reader = _Reader(its, source, Chain(*known))
    resources = _at(document, "resources", source)
    kinds: dict[str, Kind] = {}
    for name in resources:
        kind = reader.kind(name, resources)
        if kind.name in kinds:
            problem = f"{kind.name} is there already, spelled otherwise. Put both together"
            raise GeneratorError(source, f"resources.{name}", problem, _line(resources, name))
        kinds[kind.name] = kind
    return Generator(its, source, tuple(kinds.values()))


class _LastOfSeveral(RoundTripConstructor):
    """Of a key that is there twice the last one counts, as for ACK (Go's YAML)."""

    def check_mapping_key(self, *_: object) -> bool:
        return True


def _parsed(text: str, source: str) -> Mapping[str, Any]:
    yaml = YAML(typ="rt")  # The one that knows lines.
    yaml.Constructor = _LastOfSeveral
    try:
        document = yaml.load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise GeneratorError(source, "", "it is no YAML that can be read", line) from None
    except (YAMLError, ValueError):
        raise GeneratorError(source, "", "it is no YAML that can be read") from None
    if not isinstance(document, Mapping) or "resources" not in document:
        raise GeneratorError(source, "resources", "a map of kinds is needed, as a generator.yaml of ACK has it")
    return document


def _given(service: str) -> str:
    name = service.removesuffix(ACK_GROUPS)
    if not _SERVICE.fullmatch(name):
        raise UsageError("--service: a name of small letters and digits is needed, as in ec2")
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
    """Reads the kinds of one file."""

    def __init__(self, service: str, source: str, shapes: Shapes) -> None:
        self._service = service
        self._source = source
        self._shapes = shapes

    def kind(self, name: object, resources: Mapping[Any, Any]) -> Kind:
        if not isinstance(name, str) or not _WORD.fullmatch(name):
            raise self._error(resources, name, f"resources.{name}", "a kind's name is needed, as in VpcLink")
        kind = _at(resources, name, self._source, "resources")
        hooks = mapping(kind.get("hooks"))
        hook = next((each for each in _HOOKS if hooks.get(each) is not None), "")
        settings = _at(kind, "fields", self._source, f"resources.{name}")
        fields: dict[tuple[str, ...], Field] = {}
        for path in settings:
            if not isinstance(settings[path], Mapping) or settings[path].get("references") is None:
                continue
            field = self._field(name, path, settings)
            where = (*field.steps[:-1], field.reference_step)
            if other := fields.get(where):
                problem = f"its reference field would be {'.'.join(where)}, and so would that of {'.'.join(other.path)}"
                raise self._error(settings, path, f"resources.{name}.fields.{path}", problem)
            fields[where] = field
        return Kind(ack_group(self._service), camel(name), tuple(fields.values()), hook)

    def _field(self, kind: str, dotted: object, fields: Mapping[Any, Any]) -> Field:
        where = f"resources.{kind}.fields.{dotted}"
        settings = fields[dotted]
        path = tuple(step for step in str(dotted).split(".") if step)  # Lists are also written `Rules..GroupID`.
        if not isinstance(dotted, str) or not path or not all(_WORD.fullmatch(step) for step in path):
            raise self._error(fields, dotted, where, "a path of names is needed, as in VPCConfig.SubnetIDs")
        known = self._shapes.shape(kind, path)
        shape = known or _by_name(path, fields)
        required = self._flag(settings, "is_required", where)
        try:
            reference_step = reference_name((path if shape.spelled else shape.names)[-1], many=shape.many)
        except ValueError:
            problem = "nothing of the name would be left without its suffix: ACK has no reference field for it"
            raise self._error(fields, dotted, where, problem) from None
        spelled = (_spelled(fields, path[: index + 1], name) for index, name in enumerate(shape.names))
        steps = shape.names if shape.spelled else tuple(spelled)
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
        )

    def _reference(self, settings: Mapping[str, Any], where: str) -> Reference:
        entry = settings["references"]
        if not isinstance(entry, Mapping):
            raise self._error(settings, "references", where, f"a map with {' and '.join(_KEYS[:2])} is needed")
        for key in entry:
            if key not in _KEYS and (close := get_close_matches(str(key), _KEYS, 1, 0.8)):
                raise self._error(entry, key, f"{where}.{key}", f"there is no such key. Did you mean {close[0]}?")
        return Reference(
            resource=self._text(entry, settings, "resource", where),
            path=self._text(entry, settings, "path", where),
            service=self._text(entry, settings, "service_name", where) if entry.get("service_name") else self._service,
            skip_state=bool(self._flag(entry, "skip_resource_state_validations", where)),
        )

    def _flag(self, entry: Mapping[str, Any], key: str, where: str) -> bool | None:
        value = entry.get(key)
        text = str(value).lower()
        if value is not None and text not in (*_TRUE, *_FALSE):
            raise self._error(entry, key, f"{where}.{key}", "true or false is needed")
        return None if value is None else text in _TRUE

    def _text(self, entry: Mapping[str, Any], settings: Mapping[str, Any], key: str, where: str) -> str:
        value = entry.get(key)
        if value is None or value == "":
            raise self._error(settings, "references", f"{where}.{key}", "it is missing")
        steps = str(value).split(".") if key == "path" else [str(value)]
        word, needed = _TEXTS[key]
        if not isinstance(value, str) or not all(word.fullmatch(step) for step in steps):
            raise self._error(entry, key, f"{where}.{key}", f"{needed} is needed")
        if key == "path" and (len(steps) == 1 or steps[0].lower() not in ("spec", "status")):
            raise self._error(entry, key, f"{where}.{key}", "a path below Spec or Status is needed")
        return value

    def _error(self, around: Mapping[Any, Any], key: object, where: str, problem: str) -> GeneratorError:
        return GeneratorError(self._source, where, problem, _line(around, key))


def _by_name(path: tuple[str, ...], fields: Mapping[str, Any]) -> Shape:
    """The shape of a field whose API nobody knows: as generator.yaml declares the steps, or by their names."""
    lists = [_many(mapping(entry(fields, path[: index + 1])), step) for index, step in enumerate(path)]
    return Shape(path, many=lists[-1], lists=tuple(lists[:-1]))


def _many(settings: Mapping[str, Any], name: str) -> bool:
    if declared := settings.get("type"):
        return str(declared).startswith("[]")
    return bool(mapping(settings.get("custom_field")).get("list_of")) or is_many(name)


def _spelled(fields: Mapping[str, Any], path: Sequence[str], name: str) -> str:
    """A step as manifests spell it: as its `go_tag` says, if generator.yaml has one for it."""
    tag = _JSON_TAG.search(str(mapping(entry(fields, path)).get("go_tag", "")))
    return tag[1] if tag else lower_camel(name)


def _at(around: Mapping[Any, Any], key: str, source: str, where: str = "") -> Mapping[str, Any]:
    value = around.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        place = f"{where}.{key}".removeprefix(".")
        raise GeneratorError(source, place, "a map is needed", _line(around, key))
    return value


def _line(around: Mapping[Any, Any], key: object) -> int | None:
    positions = getattr(getattr(around, "lc", None), "data", None) or {}
    return positions[key][0] + 1 if key in positions else None
