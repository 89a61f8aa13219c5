"""strongref's exports as a channel: custom resources that write values for others, and that read and claim them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from strongref.contract.hold_stacks import HOLD as HOLD_PROPERTY
from strongref.contract.hold_stacks import hold_name, hold_output, hold_output_id
from strongref.contract.names import SHARED, Key, Producer
from strongref.contract.requests import EXPORT_TYPE, EXPORTER, IMPORT_TYPE, IMPORTER, Strength
from strongref.contract.response import as_json
from strongref.macro.imports import DATA_BYTES, split
from strongref.text import attribute_name
from strongref.untyped import AnyJson
from strongref_objects.base import Target, Text, TextList, errors
from strongref_objects.base.names import Path, export_key, list_of, logical_id, shown
from strongref_objects.channels.exporting import WritePlan, check_free, check_storable, with_items
from strongref_objects.channels.importing import HOLD, IMPORT, ValueReader, has_reference, is_an_object
from strongref_objects.synthesis import Home, Synthesis
from strongref_objects.synthesis.context_file import ContextKey
from strongref_toolkit.errors import NotExportedError, SecureValueError

if TYPE_CHECKING:
    from strongref_objects.base.values import Leaf
    from strongref_objects.channels import CrossRegion
    from strongref_toolkit.published_exports import PublishedExports

CHANNEL = "strongref's exports"

IMPORT_ID_READABLE = 60
"""Readable characters of an Import's logical ID: a response contains the ID three times, and has little room."""


class ExportResources:
    """A stack's `Custom::CrossRegionExport` resources: one for each consumer and place, with all values for them.

    So adding or removing a place, or changing their order, changes nothing for the others: each resource keeps its
    logical ID, and the exporter sees the values that it loses and changes. Each has a hold and the output that exports
    it, so none can be removed while its values are imported.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._values: dict[str, dict[str, Any]] = {}
        self._held: set[str] = set()

    def add(self, consumer: str | None, place: _Place, leaves: Mapping[Path, Leaf], *, hold: bool) -> None:
        """Export values to an importing stack or label (None for all) in a place.

        The Export has a hold if one is wanted for any of its values.
        """
        export, (account, region) = _export_id(consumer, place), place
        values = self._values.setdefault(export, {})
        for (*levels, key), leaf in leaves.items():
            level = values
            for each in levels:
                level = cast("dict[str, Any]", level.setdefault(each, {}))
            level[key] = leaf.value
        if values:
            self._held |= {export} if hold else set()
            properties = {
                "ServiceToken": EXPORTER,
                **({"Region": region} if region else {}),
                **({"Account": account} if account else {}),
                **({"Consumer": consumer} if consumer else {}),
                **({HOLD_PROPERTY: hold_name(export)} if export in self._held else {}),
                "Values": values,
            }
            self._target.put_resource(export, EXPORT_TYPE, properties)
            if export in self._held:
                output = hold_output(export, {})
                name = output["Export"]["Name"]
                self._target.put_output(hold_output_id(export), output["Value"], export=name, description=None)


_Place: TypeAlias = tuple[str, str]
"""An account and a region; empty for the stack's own."""


def _namespace(consumer: str | None, place: _Place) -> str:
    account, region = place
    return "/".join([consumer or SHARED, *([account] if account else []), region])


def _export_id(consumer: str | None, place: _Place) -> str:
    return logical_id("StrongrefExport", _namespace(consumer, place))


def plan_exports(target: Target, exports: ExportResources, via: CrossRegion, leaves: Mapping[Path, Leaf]) -> WritePlan:
    """The Exports of these values to one consumer in some places; errors as for `WritePlan`."""
    leaves = with_items(target, leaves)
    places = dict.fromkeys(
        ("" if account == target.account else account, "" if region == target.region else region)
        for account, region in via.places
    )
    for path, leaf in leaves.items():
        export_key(path)
        if target.account in path and any(account for account, _ in places):
            raise errors.BadNameError(shown(path), f"other accounts accept no name with the level {target.account}")
        check_storable(target, path, leaf)
    for export in (_export_id(via.consumer, place) for place in places):
        for needed in (export, *([hold_output_id(export)] if via.hold else [])):
            check_free(target, needed, f"exports to {via.consumer or 'all stacks'}")

    def put() -> None:
        for place in places:
            exports.add(via.consumer, place, leaves, hold=via.hold)

    return WritePlan(tuple(_namespace(via.consumer, place) for place in places), {}, put)


class ImportResources:
    """A stack's `Custom::CrossRegionImport` resources: for each exporting stack, and for each way of importing.

    A response has room for a limited number of values; for more, there are several resources. For values that the
    program has, the values alone decide which resource they are in. The program gets an attribute of a resource at
    once, so for those the order in which the program reads them decides.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._resources: dict[tuple[CrossRegion, Strength], list[_ImportResource]] = {}
        self._parts: dict[CrossRegion, dict[str, list[str]]] = {}

    def add(self, via: CrossRegion, strength: Strength, key: Key, value_bytes: int) -> str:
        """Import a value of at most some bytes; returns the logical ID of the resource that imports it.

        Raises:
            LogicalIdTakenError: the template uses the resource's logical ID for something else.
        """
        resources = self._resources.setdefault((via, strength), [])
        name = attribute_name(key)
        for each in resources:
            if name in each.names:
                return each.logical_id
        size = len(as_json({name: ""})) + value_bytes
        resource = next((each for each in resources if each.size + size <= DATA_BYTES), None)
        if resource is None:
            number = str(len(resources) + 1) if resources else ""
            resource = _ImportResource(_import_id(IMPORT, via, strength, number))
            check_free(self._target, resource.logical_id, f"imports from stack {via.stack}")
            resources.append(resource)
        resource.names.add(name)
        resource.size += size
        self._import(via, strength, resource, resource.names)
        return resource.logical_id

    def keep_referenced(self, template: str) -> None:
        """Import only what a finished template, as `searchable` returns it, refers to.

        What was imported by its own name is imported anyway. So is an object to which the template does not refer at
        all: the program may use it in another template.
        """
        for (via, strength), resources in self._resources.items():
            referred = {
                name: has_reference(each.logical_id, name, template) for each in resources for name in each.names
            }
            objects = {name.partition(".")[0] for name, is_used in referred.items() if "." in name and is_used}
            for each in resources:
                unused = {name for name in each.names if name.partition(".")[0] in objects and not referred[name]}
                self._import(via, strength, each, each.names - unused)

    def _import(self, via: CrossRegion, strength: Strength, resource: _ImportResource, names: set[str]) -> None:
        if names != resource.imported:
            if names:
                self._target.put_resource(resource.logical_id, IMPORT_TYPE, _properties(via, strength, sorted(names)))
            else:
                self._target.drop_resource(resource.logical_id)
            resource.imported = set(names)

    def hold(self, via: CrossRegion, values: Mapping[str, object]) -> None:
        """Claim these values that the program has, by attribute, and no others.

        Raises:
            LogicalIdTakenError: as above.
            BadStrengthError: a value is longer than a response.
        """
        for name, value in values.items():
            size = len(as_json({name: value}))
            if size > DATA_BYTES:
                room = f"a strong import passes through a response with room for {DATA_BYTES}"
                raise errors.BadStrengthError(name, CHANNEL, f"it takes {size} bytes, and {room}. Set weak=True")
        held = {name: len(as_json(value)) - len('""') for name, value in values.items()}
        parts = {_import_id(HOLD, via, Strength.STRONG, bits): part for bits, part in split(held, held).items()}
        for resource in parts:
            check_free(self._target, resource, f"imports from stack {via.stack}")
        former = self._parts.get(via, {})
        for resource in former.keys() - parts.keys():
            self._target.drop_resource(resource)
        for resource, names in parts.items():
            if former.get(resource) != names:
                self._target.put_resource(resource, IMPORT_TYPE, _properties(via, Strength.STRONG, names))
        self._parts[via] = parts


@dataclass(slots=True)
class _ImportResource:
    logical_id: str
    names: set[str] = field(default_factory=set)  # what the program has read
    imported: set[str] = field(default_factory=set)  # what the template imports
    size: int = 0  # bytes of its values in a response, as far as known


def _import_id(purpose: str, via: CrossRegion, strength: Strength, number: str) -> str:
    """Short enough for a response to contain it three times, in addition to the values' `DATA_BYTES`."""
    whom = SHARED if via.shared else via.consumer
    parts = [via.stack, via.region, via.account, whom, strength.value, *([number] if number else [])]
    return logical_id(purpose, "/".join(part or "" for part in parts), IMPORT_ID_READABLE)


def _properties(via: CrossRegion, strength: Strength, names: list[str]) -> dict[str, Any]:
    where = {"Stack": via.stack, "Region": via.region, "Account": via.account}
    return {
        "ServiceToken": IMPORTER,
        "From": {name: value for name, value in where.items() if value is not None},
        "Names": names,
        **({"Shared": "true"} if via.shared else {}),
        **({"Consumer": via.consumer} if via.consumer else {}),
        **({"Strength": strength.value} if strength is Strength.WEAK else {}),
    }


class ImportAttributeReader:
    """`ImportReader`: attributes of an Import, including lists."""

    channel = CHANNEL
    is_resolved = False

    def __init__(self, target: Target, imports: ImportResources, via: CrossRegion, strength: Strength) -> None:
        self._target = target
        self._imports = imports
        self._via = via
        self._strength = strength
        self.value_bytes = via.value_bytes  # the most bytes that a value read from now on can have

    def string(self, path: Path) -> Text:
        return self._target.stand_in(self._attribute(path))

    def string_list(self, path: Path, *, held: bool = True) -> TextList:  # noqa: ARG002 (an attribute is always held)
        return self._target.stand_in_list(self._attribute(path))

    def _attribute(self, path: Path) -> dict[str, Any]:
        key = export_key(path)
        resource = self._imports.add(self._via, self._strength, key, self.value_bytes)
        return {"Fn::GetAtt": [resource, attribute_name(key)]}


def value_reader(target: Target, synthesis: Synthesis, imports: ImportResources, via: CrossRegion) -> ValueReader:
    """Reads the values that a stack exports to this one, as the target's account and region store them."""
    values = PublishedValues(target, synthesis, imports, via)
    return ValueReader(CHANNEL, values.look_up, values, look_up_setting=partial(values.look_up, is_setting=True))


@dataclass(eq=False)
class PublishedValues:
    """What a stack exports to this one. `Holder` of it: Imports whose attributes nobody uses."""

    target: Target
    synthesis: Synthesis
    imports: ImportResources
    via: CrossRegion

    def look_up(self, path: Path, *, is_setting: bool = False) -> AnyJson:
        at, producer = self._published_at(path)
        return self.synthesis.remember(at, partial(self._published, at, producer, path), is_setting=is_setting)

    def name(self, path: Path) -> str:
        return attribute_name(export_key(path))

    def items(self, path: Path) -> Mapping[str, str]:
        at, producer = self._published_at(path)

        def ask() -> dict[str, str]:
            exported = self._exports(at).values(producer)
            items = {key: each.attribute for key, each in exported.items() if list_of(key) == at.name}
            return {each: attribute_name(key) for key, each in items.items() if isinstance(each, str)}

        return self.synthesis.items(at, f"{at.name}/*", ask)

    def hold(self, values: Mapping[str, object]) -> None:
        self.imports.hold(self.via, values)

    @property
    def _consumer(self) -> str:
        return SHARED if self.via.shared else self.via.consumer or self.target.name

    def _published_at(self, path: Path) -> tuple[ContextKey, Producer]:
        """A value's entry in the context file, and the producer of its export."""
        key, via = export_key(path), self.via
        home = self.synthesis.home(self.target, shown(path))
        account, region = via.account or home.account, via.region or home.region
        producer = Producer(account, region, via.stack or "")  # For imports, a channel always names the stack.
        of = f"{self._consumer}/{account}/{region}/{via.stack}"
        return ContextKey("strongref", home.account, home.region, of, key), producer

    def _published(self, at: ContextKey, producer: Producer, path: Path) -> AnyJson:
        failed: errors.ObjectError
        try:
            value = self._exports(at).value(producer, export_key(path), shown(path))
        except SecureValueError:
            failed = errors.SecureObjectError(shown(path))
        except NotExportedError as error:
            whom = SHARED if self._consumer == SHARED else f"consumer {self._consumer}"
            where = f"what {producer} exports to {whom} in {at.region}"
            failed = errors.NothingToImportError(shown(path), where, error.close)
        else:
            if isinstance(value, dict):
                raise is_an_object(path)
            return value
        raise failed

    def _exports(self, at: ContextKey) -> PublishedExports:
        """What stacks export to the consumer in the account and region of an entry."""
        home = Home(at.account, at.region)

        def start() -> PublishedExports:
            from strongref_toolkit.published_exports import PublishedExports  # noqa: PLC0415 (lookups only)

            tools = self.synthesis.toolbox
            return PublishedExports(self.synthesis.store(home), tools.clock, tools.ports().patience, self._consumer)

        return self.synthesis.once(("strongref", home, self._consumer), start)
