"""A stack whose template exports and imports strings and whole objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED
from strongref_objects import cloudformation, parameters
from strongref_objects.base import ResolveType
from strongref_objects.channels import Channel, CloudFormation, CrossRegion, Parameters
from strongref_objects.collecting import Collector, collect
from strongref_objects.context_file import CONTEXT_FILE
from strongref_objects.errors import BadChannelError, BadNameError, BadTypeError, NotHeldError, OwnExportError
from strongref_objects.naming import identity
from strongref_objects.synthesis import Synthesis
from strongref_objects.written import Written

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path as FilePath

    from strongref_objects.base import DeserializationContext, Serializable, Target, Text, TextList
    from strongref_objects.collecting import Leaf
    from strongref_objects.naming import Path
    from strongref_objects.once import Made
    from strongref_objects.reading import Reader
    from strongref_toolkit.toolbox import Toolbox


class Stack:
    """Exports and imports of one stack. Make one for each template, and use it for all of it.

    Several of one template are the same but for their scopes: what is imported by two of them is one thing. What is
    looked up through a channel is then looked up by the first that does.

    Attributes:
        target: the template.
        synthesis: what is asked of AWS while templates are made.
        scope: where constructs are to be put that are made of imported objects.
        made: what stands for something that is no part of the template, such as a bucket that is named by its ARN.
    """

    def __init__(
        self,
        target: Target,
        *,
        context_file: str | FilePath = CONTEXT_FILE,
        toolbox: Toolbox | None = None,
        synthesis: Synthesis | None = None,
        scope: Any = None,  # noqa: ANN401 (a construct, or nothing)
    ) -> None:
        """Make one.

        Args:
            target: the template.
            context_file: keeps what was looked up while templates were made.
            toolbox: what AWS is called with; by default that of this process.
            synthesis: in the place of these two: that of several stacks together, so that nothing is asked twice.
            scope: as the attribute; that of the target by default, if it has one.
        """
        self.target = target
        self.synthesis = synthesis or Synthesis(context_file, toolbox)
        self.scope = scope or getattr(target, "scope", None)
        self._written = Written.in_template(target)
        self.made: Made = self._written.made

    def export_string(
        self, name: str, value: Text, *, description: str | None = None, via: Channel | None = None
    ) -> None:
        """Export a value.

        Args:
            name: what others import it by.
            value: text, or what stands for it.
            description: for people.
            via: the channel; CloudFormation's exports by default.

        Raises:
            ExportedTwiceError: the name stands for another value already.
            ObjectError: the channel cannot carry the name or the value.
        """
        collector = Collector()
        collector.write_string(name, value, description=description)
        self._export(name, collector.leaves, via)

    def export_string_list(
        self, name: str, value: TextList, *, description: str | None = None, via: Channel | None = None
    ) -> None:
        """Export a list of values; as `export_string`."""
        collector = Collector()
        collector.write_string_list(name, value, description=description)
        self._export(name, collector.leaves, via)

    def export_object(
        self, name: str, obj: Serializable, *, description: str | None = None, via: Channel | None = None
    ) -> None:
        """Export an object with all its parts; as `export_string`.

        The description is that of each of its values that has none of its own. Nothing is written if anything of the
        object cannot be.
        """
        self._export(name, collect(name, obj, description), via)

    def import_string(
        self,
        name: str,
        *,
        type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
        weak: bool = False,
        via: Channel | None = None,
    ) -> Text:
        """A value that another stack exports.

        Args:
            name: what it is exported by.
            type: whether it is looked up now, or when the stack is deployed.
            weak: whether it may be changed and dropped while this stack uses it.
            via: the channel; CloudFormation's exports by default.

        Raises:
            BadNameError: what came is no name.
            BadTypeError: nor is that a type.
            NothingToImportError: there is none of that name.
            NotHeldError: the channel cannot hold it, or cannot but hold it.
            OwnExportError: this stack exports it.
            NoPlaceError: it is to be looked up now, and the stack's region or account is not known.
            StrongRefError: AWS does not tell.
        """
        return self._reader(name, _type(type), weak, via).string((name,))

    def import_string_list(
        self,
        name: str,
        *,
        type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
        weak: bool = False,
        via: Channel | None = None,
    ) -> TextList:
        """A list of values that another stack exports; as `import_string`.

        Raises:
            UnresolvedError: it is to be looked up at deployment, where the channel can give no list.
        """
        return self._reader(name, _type(type), weak, via).string_list((name,))

    def import_object(
        self,
        name: str,
        *,
        type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
        weak: bool = False,
        via: Channel | None = None,
    ) -> DeserializationContext:
        """Where an object is read from that another stack exports; as `import_string`.

        The same for the same object: imported twice, it is one. Imported weakly here and strongly there, it is held.
        What is held is what is read.
        """
        reader = self._reader(name, _type(type), weak, via)
        ident = _identity(name, _type(type), weak, _channel(via))
        return self._written.context(reader, name, self.scope, ident)

    def _export(self, name: str, leaves: Mapping[Path, Leaf], via: Channel | None) -> None:
        channel, written = _channel(via), self._written
        if isinstance(channel, CrossRegion):
            channel.check_export()
        written.exported.add(name, leaves, written.writer(channel).plan(leaves))

    def _reader(self, name: str, when: ResolveType, weak: bool, via: Channel | None) -> Reader:
        channel = _channel(via)
        if not isinstance(name, str) or not name:
            raise BadNameError(str(name), "a name is a string that is not empty")
        self._check_import(name, when, weak, channel)
        return self._written.reader(name, when, weak, channel, self.synthesis)

    def _check_import(self, name: str, when: ResolveType, weak: bool, channel: Channel) -> None:
        if isinstance(channel, CrossRegion):
            channel.check_import()
            here = (self.target.region, self.target.account)
            there = (channel.region or here[0], channel.account or here[1])
            if channel.stack == self.target.name and there == here:
                raise OwnExportError(name, self.target.name)
        elif isinstance(channel, Parameters):
            if not weak:
                raise NotHeldError(
                    name,
                    parameters.CHANNEL,
                    "a parameter holds nothing back while others use it. Say weak=True if that is acceptable, or use "
                    "another channel",
                )
        elif weak and when is ResolveType.DEPLOYMENT:
            raise NotHeldError(
                name,
                cloudformation.CHANNEL,
                "Fn::ImportValue always holds what it imports. Leave weak out, or say type=ResolveType.SYNTHESIS",
            )


def _type(given: ResolveType | str) -> ResolveType:
    """The type that is meant.

    Raises:
        BadTypeError: it is none.
    """
    try:
        return ResolveType(given)
    except ValueError:
        pass
    raise BadTypeError(str(given))


def _channel(via: Channel | None) -> Channel:
    """The channel that is meant.

    Raises:
        BadChannelError: it is none.
    """
    if via is None:
        return CloudFormation()
    if not isinstance(via, CloudFormation | CrossRegion | Parameters):
        raise BadChannelError("give CloudFormation(), CrossRegion(…) or Parameters(…), or leave it out")
    return via


def _identity(name: str, when: ResolveType, weak: bool, channel: Channel) -> str:
    """What a construct is called that is made of an import: the object's name, and what else tells imports apart."""
    told = []
    if isinstance(channel, CrossRegion):
        whom = SHARED if channel.shared else channel.consumer
        told = [part for part in (channel.stack, channel.region, channel.account, whom) if part]
    elif isinstance(channel, Parameters):
        told = channel.prefix.strip("/").split("/")
    if when is ResolveType.DEPLOYMENT:
        told += ["deployment", "weak"] if weak else ["deployment"]
    return ":".join([identity((name,)), ".".join(told)] if told else [identity((name,))])
