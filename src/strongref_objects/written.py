"""What was put into one template so far, also where several `Stack`s of it were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.requests import Strength
from strongref_objects import cloudformation, crossregion, parameters
from strongref_objects.at_synthesis import AtSynthesis
from strongref_objects.base import ResolveType
from strongref_objects.channels import CrossRegion, Parameters
from strongref_objects.exported import Exported
from strongref_objects.once import Made
from strongref_objects.reading import Imported

if TYPE_CHECKING:
    from strongref_objects.base import Target
    from strongref_objects.channels import Channel
    from strongref_objects.reading import Reader
    from strongref_objects.synthesis import Synthesis
    from strongref_objects.writing import Writer


class Written:
    """What a template exports and imports.

    Attributes:
        exported: the names.
        made: what stands for something that is no part of the template.
    """

    def __init__(self, target: Target) -> None:
        self.exported = Exported(target)
        self.made = Made()
        self._target = target
        self._exports = crossregion.Exports(target)
        self._imports = crossregion.Imports(target)
        self._holder = cloudformation.Holder(target)
        self._writers: dict[Channel, Writer] = {}
        self._readers: dict[tuple[Channel, ResolveType, bool], Reader] = {}
        self._contexts: dict[tuple[Reader, str], Imported] = {}

    @classmethod
    def in_template(cls, target: Target) -> Written:
        """That of a template: it is kept with it, and goes with it."""
        written: Written = vars(target).setdefault("_strongref_written", cls(target))
        return written

    def writer(self, channel: Channel) -> Writer:
        """What writes to a channel."""
        if channel not in self._writers:
            self._writers[channel] = self._make_writer(channel)
        return self._writers[channel]

    def reader(self, name: str, when: ResolveType, weak: bool, channel: Channel, synthesis: Synthesis) -> Reader:
        """What reads from a channel, for something of this name.

        Args:
            name: the object's, or the string's.
            when: as for an import.
            weak: as for an import.
            channel: which.
            synthesis: looks things up, if nothing does for this channel yet.
        """
        key = (channel, when, weak and when is ResolveType.DEPLOYMENT)
        if key not in self._readers:
            self._readers[key] = self._make_reader(channel, when, weak, synthesis)
        reader = self._readers[key]
        if isinstance(reader, AtSynthesis) and not weak:
            reader.strengthen(name)
        if isinstance(reader, crossregion.AtDeployment) and isinstance(channel, CrossRegion):
            reader.value_bytes = max(reader.value_bytes, channel.value_bytes)
        return reader

    def context(self, reader: Reader, name: str, scope: Any, ident: str) -> Imported:  # noqa: ANN401 (a construct)
        """Where an object is read from: the same for the same object."""
        if (reader, name) not in self._contexts:
            self._contexts[reader, name] = Imported(reader, (name,), scope, ident)
        return self._contexts[reader, name]

    def _make_writer(self, channel: Channel) -> Writer:
        if isinstance(channel, CrossRegion):
            return crossregion.ExportWriter(self._target, self._exports, channel)
        if isinstance(channel, Parameters):
            return parameters.ParameterWriter(self._target, channel.prefix)
        return cloudformation.Outputs(self._target)

    def _make_reader(self, channel: Channel, when: ResolveType, weak: bool, synthesis: Synthesis) -> Reader:
        at_once = when is ResolveType.SYNTHESIS
        if isinstance(channel, CrossRegion):
            if at_once:
                return crossregion.at_synthesis(self._target, synthesis, self._imports, channel)
            strength = Strength.WEAK if weak else Strength.STRONG
            return crossregion.AtDeployment(self._target, self._imports, channel, strength)
        if isinstance(channel, Parameters):
            if at_once:
                return parameters.at_synthesis(self._target, synthesis, channel.prefix, self.exported)
            return parameters.AtDeployment(channel.prefix, self.exported)
        if at_once:
            return cloudformation.at_synthesis(self._target, synthesis, self._holder, self.exported)
        return cloudformation.AtDeployment(self._target, self.exported)
