"""A stack whose template exports and imports strings and whole objects."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED
from strongref.contract.requests import Strength
from strongref_objects.base import (
    DeserializationContext,
    ObjectCache,
    ResolveType,
    Serializable,
    Target,
    Text,
    TextList,
    errors,
)
from strongref_objects.base.names import Path, construct_id, export_name, parameter_name
from strongref_objects.base.values import Collector, Leaf
from strongref_objects.channels import (
    Channel,
    CloudFormation,
    CrossRegion,
    Parameters,
    cloudformation,
    cross_region,
    parameters,
)
from strongref_objects.channels.exporting import ExportedNames, WritePlan
from strongref_objects.channels.importing import ImportedObject, ImportReader, ValueReader, searchable, used_texts
from strongref_objects.synthesis import Synthesis
from strongref_objects.synthesis.context_file import CONTEXT_FILE

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from constructs import Construct

    from strongref_toolkit.session import ToolSession


class TemplateChannels:
    """What writes to each channel of one template and what reads from it, even for several `Stack`s of it."""

    def __init__(self, target: Target) -> None:
        self.names = ExportedNames(target)
        self.made = ObjectCache()
        self._target = target
        self._exports = cross_region.ExportResources(target)
        self._imports = cross_region.ImportResources(target)
        self._readers = ObjectCache()
        self.objects = ObjectCache()
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

    def plan(self, channel: Channel, leaves: Mapping[Path, Leaf]) -> WritePlan:
        if isinstance(channel, CrossRegion):
            return cross_region.plan_exports(self._target, self._exports, channel, leaves)
        if isinstance(channel, Parameters):
            return parameters.plan_parameters(self._target, channel.prefix, leaves)
        return cloudformation.plan_outputs(self._target, leaves)

    def reader(self, name: str, when: ResolveType, weak: bool, channel: Channel, synthesis: Synthesis) -> ImportReader:
        """What reads a string or object from a channel; looks up by `synthesis` unless the channel has a reader."""
        key = (channel, when, weak and when is ResolveType.DEPLOYMENT)
        reader = self._readers.get(key, lambda: self._make_reader(channel, when, weak, synthesis))
        if isinstance(reader, ValueReader) and not weak:
            reader.strengthen(name)
        if isinstance(reader, cross_region.ImportAttributeReader) and isinstance(channel, CrossRegion):
            reader.value_bytes = max(reader.value_bytes, channel.value_bytes)
        return reader

    def _make_reader(self, channel: Channel, when: ResolveType, weak: bool, synthesis: Synthesis) -> ImportReader:
        target, now = self._target, when is ResolveType.SYNTHESIS
        if not self._finishes and not isinstance(channel, Parameters):
            target.when_finished(self.finish)
            self._finishes = True
        if isinstance(channel, Parameters):
            if now:
                return parameters.value_reader(target, synthesis, channel.prefix, self.names)
            return parameters.dynamic_reference_reader(channel.prefix, self.names)
        if not now:
            if isinstance(channel, CloudFormation):
                return cloudformation.import_value_reader(target, self.names)
            strength = Strength.WEAK if weak else Strength.STRONG
            return cross_region.ImportAttributeReader(target, self._imports, channel, strength)
        reader = (
            cloudformation.value_reader(target, synthesis, self.names)
            if isinstance(channel, CloudFormation)
            else cross_region.value_reader(target, synthesis, self._imports, channel)
        )
        self._holding.append(reader)
        return reader


class Stack:
    """Exports and imports of one stack. Create one for each template.

    Several of one template are the same except for their scopes: two imports of one thing are one. The first that looks
    something up through a channel looks it up for all.
    """

    def __init__(
        self,
        target: Target,
        *,
        context_file: str | FilePath = CONTEXT_FILE,
        toolbox: ToolSession | None = None,
        synthesis: Synthesis | None = None,
        scope: Construct | None = None,
    ) -> None:
        """Create the stack.

        Args:
            target: the template.
            context_file: keeps what was looked up while templates were made.
            toolbox: calls AWS; by default that of this process.
            synthesis: replaces these two; several stacks share one, so that nothing is looked up twice.
            scope: the parent of constructs that represent imported objects; by default the target's, if it has one.
        """
        self.target = target
        self.synthesis = synthesis or Synthesis(context_file, toolbox)  # looks things up in AWS
        self.scope = scope or getattr(target, "scope", None)
        self._channels = TemplateChannels.of(target)
        # the objects that represent something outside the template, as a bucket that is named by its ARN
        self.made: ObjectCache = self._channels.made

    def export_string(
        self, name: str, value: Text, *, description: str | None = None, via: Channel | None = None
    ) -> None:
        """Export a value.

        Args:
            name: other stacks import it by this name.
            value: text, or an intrinsic function or token.
            description: for people.
            via: the channel; CloudFormation's exports by default.

        Raises:
            ExportedTwiceError: the name stands for another value.
            ObjectError: the channel cannot carry the name or the value.
        """
        self._export(name, via, lambda ctx: ctx.write_string(name, value, description=description))

    def export_string_list(
        self, name: str, value: TextList, *, description: str | None = None, via: Channel | None = None
    ) -> None:
        """Export a list of values; as `export_string`."""
        self._export(name, via, lambda ctx: ctx.write_string_list(name, value, description=description))

    def export_object(
        self, name: str, obj: Serializable, *, description: str | None = None, via: Channel | None = None
    ) -> None:
        """Export an object with all its parts; as `export_string`.

        The description applies to each value that has none of its own. If a part cannot be exported, nothing is.
        """
        self._export(name, via, lambda ctx: ctx.write_object(name, obj, description=description))

    def import_string(
        self, name: str, *, type: ResolveType = ResolveType.SYNTHESIS, weak: bool = False, via: Channel | None = None
    ) -> Text:
        """Import a value that another stack exports.

        Args:
            name: of the export.
            type: whether it is looked up now, or when the stack is deployed.
            weak: whether it may be changed and deleted while this stack uses it.
            via: the channel; CloudFormation's exports by default.

        Raises:
            BadNameError: the name is not valid.
            BadTypeError: the type is not valid.
            NothingToImportError: there is no export of that name.
            BadStrengthError: the channel does not support a weak import, or a strong one.
            OwnExportError: this stack exports it.
            UnknownLocationError: it is looked up now, and the stack's region or account is unknown.
            StrongRefError: AWS cannot be read.
        """
        return self._reader(name, _type(type), weak, via).string((name,))

    def import_string_list(
        self, name: str, *, type: ResolveType = ResolveType.SYNTHESIS, weak: bool = False, via: Channel | None = None
    ) -> TextList:
        """Import a list of values that another stack exports; as `import_string`.

        Raises:
            UnresolvedImportError: it is looked up at deployment, where the channel has no lists.
        """
        return self._reader(name, _type(type), weak, via).string_list((name,))

    def import_object(
        self, name: str, *, type: ResolveType = ResolveType.SYNTHESIS, weak: bool = False, via: Channel | None = None
    ) -> DeserializationContext:
        """Where an object is read from that another stack exports; as `import_string`.

        The same for the same object: imported twice, it is one. If one place imports it weakly and another one
        strongly, it is held. Only what the program reads is held.
        """
        reader = self._reader(name, _type(type), weak, via)
        ident = _construct_id(name, _type(type), weak, _channel(via))

        def exported(path: Path) -> object:
            where = location(self.target, via, path, is_own=False)
            if where not in self.synthesis.exported and len(path) > 1:
                self.synthesis.missed[where] = self.target.name
            return self.synthesis.exported.get(where)

        make = partial(ImportedObject, reader, (name,), self.scope, ident, _channel(via), exported)
        return self._channels.objects.get((reader, name), make)

    def _export(self, name: str, via: Channel | None, write: Callable[[Collector], None]) -> None:
        channel, collector = _channel(via), Collector()
        write(collector)
        leaves = collector.leaves
        if isinstance(channel, CrossRegion):
            channel.check_export()
        plan = self._channels.plan(channel, leaves)
        values = {(name,): name, **{path: leaf.value for path, leaf in leaves.items()}}
        places = {
            location(self.target, via, path, is_own=True, to=to): value
            for to in getattr(channel, "places", [("", "")])
            for path, value in values.items()
        }
        if late := [self.synthesis.missed[where] for where in places if where in self.synthesis.missed]:
            raise errors.ImportedBeforeError(name, late[0])
        self._channels.names.add(name, leaves, plan)
        self.synthesis.exported.update(places)

    def _reader(self, name: str, when: ResolveType, weak: bool, via: Channel | None) -> ImportReader:
        channel = _channel(via)
        location(self.target, channel, (name,), is_own=False)
        self._check_import(name, when, weak, channel)
        return self._channels.reader(name, when, weak, channel, self.synthesis)

    def _check_import(self, name: str, when: ResolveType, weak: bool, channel: Channel) -> None:
        if isinstance(channel, CrossRegion):
            channel.check_import()
            own = (self.target.region, self.target.account)
            producer = (channel.region or own[0], channel.account or own[1])
            if channel.stack == self.target.name and producer == own:
                raise errors.OwnExportError(name, self.target.name)
        elif isinstance(channel, Parameters):
            if not weak:
                fix = "Set weak=True if that is acceptable, or use another channel"
                problem = f"nothing protects a parameter that others use. {fix}"
                raise errors.BadStrengthError(name, parameters.CHANNEL, problem)
        elif weak and when is ResolveType.DEPLOYMENT:
            fix = "Leave weak out, or set type=ResolveType.SYNTHESIS"
            problem = f"Fn::ImportValue always holds what it imports. {fix}"
            raise errors.BadStrengthError(name, cloudformation.CHANNEL, problem)


def location(
    target: Target, via: Channel | None, path: Path, *, is_own: bool, to: tuple[str, str] = ("", "")
) -> tuple[Hashable, Hashable]:
    """Where a value is, and for whom: the same for the stack that exports it (`is_own`) and for those that import it.

    By `CrossRegion` it is for an account and a region, `to`: the stack's own by default.

    Raises:
        BadNameError: the channel cannot carry the name.
    """
    account, region, whom = target.account, target.region, None
    if not isinstance(path[0], str) or not path[0]:
        raise errors.BadNameError(str(path[0]), "a name must be a string that is not empty")
    if isinstance(via, CrossRegion):
        consumer = SHARED if via.shared else via.consumer or (SHARED if is_own else target.name)
        whom = consumer, to[0] or account, to[1] or region
        account, region = via.account or account, via.region or region  # An export has neither.
        name = ("strongref", target.name if is_own else via.stack, *path)
    elif isinstance(via, Parameters):
        name = ("ssm", parameter_name(via.prefix, path))
    else:
        name = ("cloudformation", export_name(path))
    return (account, region, "" if account and region else getattr(target, "stage", ""), *name), whom


def _type(given: ResolveType | str) -> ResolveType:
    try:
        return ResolveType(given)
    except ValueError:
        raise errors.BadTypeError(str(given)) from None


def _channel(via: Channel | None) -> Channel:
    if via is None:
        return CloudFormation()
    if not isinstance(via, CloudFormation | CrossRegion | Parameters):
        raise errors.BadChannelError("it must be CloudFormation(), CrossRegion(…) or Parameters(…), or left out")
    return via


def _construct_id(name: str, when: ResolveType, weak: bool, channel: Channel) -> str:
    """The ID of a construct that represents an import: the object's name, and whatever else tells imports apart."""
    rest = []
    if isinstance(channel, CrossRegion):
        whom = SHARED if channel.shared else channel.consumer
        rest = [part for part in (channel.stack, channel.region, channel.account, whom) if part]
    elif isinstance(channel, Parameters):
        rest = channel.prefix.strip("/").split("/")
    if when is ResolveType.DEPLOYMENT:
        rest += ["deployment", "weak"] if weak else ["deployment"]
    return ":".join([construct_id((name,)), *([".".join(rest)] if rest else [])])
