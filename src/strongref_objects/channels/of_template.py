"""The channels of one template: what writes to each and what reads from each, even for several `Stack`s of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.requests import Strength
from strongref_objects.base import ObjectCache, ResolveType
from strongref_objects.channels import CrossRegion, Parameters, cloudformation, cross_region_imports, parameters
from strongref_objects.channels.cross_region_exports import CrossRegionWriter, ExportResources
from strongref_objects.channels.exporting import ExportedNames
from strongref_objects.channels.importing import ImportedObject, ValueReader
from strongref_objects.channels.used_values import searchable, used_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from constructs import Construct

    from strongref_objects.base import Target
    from strongref_objects.channels import Channel
    from strongref_objects.channels.exporting import ExportWriter
    from strongref_objects.channels.importing import ImportReader
    from strongref_objects.synthesis import Synthesis


class TemplateChannels:
    def __init__(self, target: Target) -> None:
        self.names = ExportedNames(target)
        self.made = ObjectCache()
        self._target = target
        self._exports = ExportResources(target)
        self._imports = cross_region_imports.ImportResources(target)
        self._writers = ObjectCache()
        self._readers = ObjectCache()
        self._objects = ObjectCache()
        self._holding: list[ValueReader] = []
        self._finishes = False

    @classmethod
    def of(cls, target: Target) -> TemplateChannels:
        """Those of a template: the same each time."""
        found: TemplateChannels = vars(target).setdefault("_strongref_channels", cls(target))
        return found

    def finish(self, templates: Sequence[Mapping[str, Any]]) -> None:
        """Hold what finished templates use, and nothing else."""
        template = searchable(templates)
        used = used_texts({text for each in self._holding for text in each.texts()}, template)
        for each in self._holding:
            each.finish(used)
        self._imports.keep_referenced(template)

    def writer(self, channel: Channel) -> ExportWriter:
        return self._writers.get(channel, lambda: self._make_writer(channel))

    def reader(self, name: str, when: ResolveType, weak: bool, channel: Channel, synthesis: Synthesis) -> ImportReader:
        """What reads a string or object from a channel; looks up by `synthesis` unless the channel has a reader."""
        key = (channel, when, weak and when is ResolveType.DEPLOYMENT)
        reader = self._readers.get(key, lambda: self._make_reader(channel, when, weak, synthesis))
        if isinstance(reader, ValueReader) and not weak:
            reader.strengthen(name)
        if isinstance(reader, cross_region_imports.ImportAttributeReader) and isinstance(channel, CrossRegion):
            reader.value_bytes = max(reader.value_bytes, channel.value_bytes)
        return reader

    def imported_object(self, reader: ImportReader, name: str, scope: Construct, construct_id: str) -> ImportedObject:
        return self._objects.get((reader, name), lambda: ImportedObject(reader, (name,), scope, construct_id))

    def _make_writer(self, channel: Channel) -> ExportWriter:
        if isinstance(channel, CrossRegion):
            return CrossRegionWriter(self._target, self._exports, channel)
        if isinstance(channel, Parameters):
            return parameters.ParameterWriter(self._target, channel.prefix)
        return cloudformation.OutputWriter(self._target)

    def _make_reader(self, channel: Channel, when: ResolveType, weak: bool, synthesis: Synthesis) -> ImportReader:
        target, now = self._target, when is ResolveType.SYNTHESIS
        if not self._finishes and not isinstance(channel, Parameters):
            target.when_finished(self.finish)
            self._finishes = True
        if isinstance(channel, CrossRegion):
            if now:
                return self._held(cross_region_imports.value_reader(target, synthesis, self._imports, channel))
            strength = Strength.WEAK if weak else Strength.STRONG
            return cross_region_imports.ImportAttributeReader(target, self._imports, channel, strength)
        if isinstance(channel, Parameters):
            if now:
                return parameters.value_reader(target, synthesis, channel.prefix, self.names)
            return parameters.DynamicReferenceReader(channel.prefix, self.names)
        if now:
            return self._held(cloudformation.value_reader(target, synthesis, self.names))
        return cloudformation.ImportValueReader(target, self.names)

    def _held(self, reader: ValueReader) -> ValueReader:
        self._holding.append(reader)
        return reader
