"""The CDK's cross-region references: what a Writer writes is exported as well, and a Reader becomes Imports. Pure.

The CDK (aws-cdk-lib 2.50 to 2.276) adds one Writer for each other region to an exporting stack, and one Reader to an
importing stack. A value's name is `/cdk/exports/STACK/KEY`. STACK is the importing stack's name, and its Reader's
`prefix`: the CDK puts Readers only into root stacks, and refuses to synthesize a stack's name that it does not know. So
STACK is always the default `Consumer` of the stack's Imports.

`cdk_edits` says what becomes of the resources themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.contract.properties import Property, Table, choice, parse_region
from strongref.contract.requests import EXPORT_PROPERTIES, OnChange
from strongref.macro import errors
from strongref.macro.conditions import ALWAYS
from strongref.macro.export_properties import ExportPart
from strongref.macro.exports import export_id
from strongref.macro.imports import parse_value_bytes
from strongref.macro.references import TemplateReference, as_sent, refused
from strongref.macro.scan import ImportPlaceholder, ResourceExports
from strongref.macro.template import (
    MACRO,
    RESOURCES,
    Node,
    Path,
    SharedProperties,
    Template,
    described,
    is_function,
    value_at,
)
from strongref.macro.uses import depends_on

if TYPE_CHECKING:
    from strongref.macro.errors import TemplateError

WRITER, READER = "Custom::CrossRegionExportWriter", "Custom::CrossRegionExportReader"
METADATA: Path = ("Metadata", MACRO)

CDK_VALUE_BYTES = 100
"""The assumed size of a Reader's value: the CDK's references are IDs and ARNs."""

_NAME = re.compile(r"/cdk/exports/([A-Za-z0-9-]+)/([A-Za-z0-9]+)")
_NAME_MUST_BE = "must be /cdk/exports/, a stack's name, / and a key of letters and digits, as the CDK writes it"
_VERSION = re.compile(r"CurrentVersion[0-9A-F]{8}[0-9a-f]{32}[A-Za-z0-9]*[0-9A-F]{8}$")
"""The end of a Lambda version's name: the CDK puts a hash of the function into it, so deployments rename it."""


class Writers(StrEnum):
    """Whether Writers stay, next to the Exports."""

    KEEP = "keep"
    REMOVE = "remove"


class Readers(StrEnum):
    """Whether Imports replace Readers."""

    REPLACE = "replace"
    KEEP = "keep"


_SETTINGS: Table = {
    "Writers": Property(choice(Writers), Writers.KEEP),
    "Readers": Property(choice(Readers), Readers.REPLACE),
    "OnChange": EXPORT_PROPERTIES["OnChange"],
    "ValueBytes": Property(parse_value_bytes),
}
"""The settings in the template's metadata: the CDK's `addTransform` accepts no parameters.

`ValueBytes` is about Readers alone. For them it wins over the transform's parameter, and that over `CDK_VALUE_BYTES`.
"""


@dataclass(frozen=True, slots=True)
class CdkResource:
    """A Writer or a Reader."""

    logical_id: str
    condition: str | None
    region: str
    path: Path  # of the map that has the names
    values: Mapping[str, Node] = field(repr=False)  # by name

    @property
    def left(self) -> list[str]:
        """The names that stay with the CDK: an import of a name that each deployment changes would refuse each one."""
        return [name for name in self.values if _VERSION.search(name)]

    @property
    def moved(self) -> dict[str, tuple[str, str]]:
        """The names that are exported or imported, each with its importing stack and its key."""
        found = {name: _NAME.fullmatch(name) for name in self.values if not _VERSION.search(name)}
        return {name: (match[1], match[2]) for name, match in found.items() if match}

    def exported(self, on_change: OnChange) -> list[ExportPart]:
        """What a Writer exports: a part for each importing stack."""
        values: dict[str, dict[str, Node]] = {}
        for name, (consumer, key) in self.moved.items():
            values.setdefault(consumer, {})[key] = self.values[name]
        found = ResourceExports((RESOURCES,), self.logical_id, None, self.condition)
        options = {} if on_change is OnChange.REFUSE else {"OnChange": on_change.value}
        targets = {each: SharedProperties.of({"Region": self.region, "Consumer": each}) for each in values}
        return [ExportPart(self.path, found, targets[to], values[to], (), options, of_writer=True) for to in values]

    def imported(self) -> dict[str, ImportPlaceholder]:
        """What a Reader imports, by name."""
        when = ALWAYS.also(self.condition) if self.condition else ALWAYS
        anywhere = SharedProperties.of({})  # A Reader does not know the exporting stacks.
        return {
            name: ImportPlaceholder(TemplateReference(anywhere, key), when) for name, (_, key) in self.moved.items()
        }


@dataclass(frozen=True, slots=True)
class CdkReferences:
    """The Writers and Readers of a template that are to be transformed, and how."""

    writers: list[CdkResource]
    readers: list[CdkResource]
    keep_writers: bool
    on_change: OnChange
    value_bytes: int | None

    @property
    def exported(self) -> list[ExportPart]:
        return [part for each in self.writers for part in each.exported(self.on_change)]

    @property
    def imported(self) -> list[ImportPlaceholder]:
        return [value for each in self.readers for value in each.imported().values()]

    @property
    def left(self) -> list[str]:
        """The names that stay with the CDK."""
        return sorted({name for each in (*self.writers, *self.readers) for name in each.left})


def cdk_references(template: Template) -> tuple[CdkReferences, list[TemplateError]]:
    """The Writers and Readers of a template, and all that is wrong with them or with the settings."""
    settings, problems = _settings(template)
    writers, wrong = _found(template, WRITER, ("WriterProps", "exports"))
    problems += wrong
    readers: list[CdkResource] = []
    if settings["Readers"] is Readers.REPLACE:
        readers, wrong = _found(template, READER, ("ReaderProps", "imports"))
        problems += wrong
    pending = [each for each in writers if not _is_transformed(template, each)]
    keeps = settings["Writers"] is Writers.KEEP
    return CdkReferences(pending, readers, keeps, settings["OnChange"], settings["ValueBytes"]), problems


def _settings(template: Template) -> tuple[dict[str, Node], list[TemplateError]]:
    given = value_at(template, *METADATA)
    settings = {key: each.default for key, each in _SETTINGS.items()}
    if given is None:
        return settings, []
    if not isinstance(given, Mapping) or is_function(given):
        return settings, [errors.WrongShapeError(METADATA, described(given), "a map of settings")]
    problems: list[TemplateError] = []
    for key, value in given.items():
        if key not in _SETTINGS:
            problems.append(errors.UnknownKeyError((*METADATA, key), [*_SETTINGS]))
        elif wrong := [*refused((*METADATA, key), _SETTINGS[key].parse, value)]:
            problems += wrong
        else:
            settings[key] = _SETTINGS[key].parse(key, as_sent(value))
    return settings, problems


def _found(template: Template, kind: str, names: tuple[str, str]) -> tuple[list[CdkResource], list[TemplateError]]:
    """The resources of a type, and what is in them that the CDK does not write."""
    found: list[CdkResource] = []
    problems: list[TemplateError] = []
    for logical_id, resource in template[RESOURCES].items():
        if value_at(resource, "Type") != kind:
            continue
        path: Path = (RESOURCES, logical_id, "Properties", *names)
        region, values = value_at(resource, "Properties", names[0], "region"), value_at(template, *path)
        wrong = [*refused((*path[:-1], "region"), parse_region, region)]
        if not isinstance(values, Mapping) or is_function(values):
            wrong = [errors.WrongShapeError(path, described(values), "a map of names, as the CDK writes it")]
        if not wrong:
            condition = resource.get("Condition")
            named = condition if isinstance(condition, str) else None
            found.append(CdkResource(logical_id, named, region, path, values))
            bad = [name for name in values if not _NAME.fullmatch(name)]
            wrong = [errors.BadPropertyError((*path, name), _NAME_MUST_BE) for name in bad]
        problems += wrong
    return found, problems


def _is_transformed(template: Template, writer: CdkResource) -> bool:
    """Whether a Writer depends on its Exports already, as no Writer of the CDK does."""
    exports = {export_id(part.target) for part in writer.exported(OnChange.REFUSE)}
    return bool(exports) and exports <= {*depends_on(template[RESOURCES][writer.logical_id])}
