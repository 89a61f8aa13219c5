"""CloudFormation's exports as a channel: an output with an export name for each value.

As the CDK's design has it, a value that is looked up while the template is made is held anyway: by an `Fn::ImportValue`
in a property of a parameter that costs nothing and does nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from strongref.contract.hold_stacks import HOLD_TYPE
from strongref.contract.names import StackArn, short_hash
from strongref_objects.base.errors import BadValueError, NameClashError, NothingToImportError, OwnExportError
from strongref_objects.base.names import Path, export_name, list_of, logical_id, shown
from strongref_objects.channels.exporting import ExportedNames, WritePlan, check_free, with_items
from strongref_objects.channels.importing import HOLDER, TextReader, ValueReader
from strongref_objects.synthesis.context_file import CLOUDFORMATION, ContextKey
from strongref_toolkit.cloudformation import CloudFormationReader

if TYPE_CHECKING:
    from strongref_objects.base import Target, Text
    from strongref_objects.base.values import Leaf
    from strongref_objects.synthesis import Home, Synthesis

CHANNEL = "CloudFormation's exports"

HOLDER_PATH = "/strongref/object-holds"
"""The path of all holders of a region, without a slash at its end.

Not below `hold_stacks.HOLDS` of strongref's contract: the janitor lists that path, and takes what is there for
parameters of hold stacks. A holder belongs to the stack of a program.
"""

_SEPARATOR = "|"

_SURROGATE = re.compile("[\ud800-\udfff]")

DESCRIPTION_LIMIT = 1024
"""Bytes of an output's description (AWS: CloudFormation User Guide, Outputs)."""


def plan_outputs(target: Target, leaves: Mapping[Path, Leaf]) -> WritePlan:
    """The outputs that export these values; errors as for `WritePlan`."""
    leaves = with_items(target, leaves)
    names = {path: export_name(path) for path in leaves}
    values = {path: _output_value(target, path, leaf) for path, leaf in leaves.items()}
    ids = {path: logical_id("Export", name) for path, name in names.items()}
    for path, output in ids.items():
        check_free(target, output, f"the export of {shown(path)}")
    others = target.exports()
    for path, name in names.items():
        if name in others:
            raise NameClashError(f"output {others[name]}", shown(path), name)

    def put() -> None:
        for path, value in values.items():
            description = leaves[path].description
            if description:
                description = description.encode()[:DESCRIPTION_LIMIT].decode(errors="ignore")
            target.put_output(ids[path], value, export=names[path], description=description)

    return WritePlan(("",), names, put)


def _output_value(target: Target, path: Path, leaf: Leaf) -> Text:
    value = leaf.as_text(path, target.is_unresolved)
    if isinstance(value, str) and not target.is_unresolved(value) and not value.strip():
        raise BadValueError(shown(path), "it is empty, and CloudFormation exports no empty values; leave it out")
    texts = [leaf.value] if isinstance(leaf.value, str | Mapping) else leaf.value
    if any(isinstance(each, str) and _SURROGATE.search(each) for each in texts):
        raise BadValueError(shown(path), "it contains a lone surrogate, which UTF-8 cannot encode")
    return value


class ImportHolder:
    """`Holder`: the parameter whose value imports what was looked up while the template was made.

    Its logical ID and its name follow from what it holds. So other imports make another parameter, which is created
    before the old one is deleted.
    """

    def __init__(self, target: Target, synthesis: Synthesis) -> None:
        self._target = target
        self._synthesis = synthesis
        self._names: list[str] = []

    def name(self, path: Path) -> str:
        return export_name(path)

    def items(self, path: Path) -> Mapping[str, str]:
        home, name = self._synthesis.home(self._target, shown(path)), export_name(path)

        def ask() -> dict[str, str]:
            return {each.value: item for item, each in _exports(self._synthesis, home).items() if list_of(item) == name}

        key = self._synthesis.context_file.find(CLOUDFORMATION, *home, name)
        return self._synthesis.items(key, f"{name}-*", ask) if key else {}

    def hold(self, values: Mapping[str, object]) -> None:
        """Raises `LogicalIdTakenError` if the template uses the resource's logical ID for something else."""
        names = sorted(values)
        if names == self._names:
            return
        if names:
            check_free(self._target, _holder_id(names), "holding its imports")
        if self._names:
            self._target.drop_resource(_holder_id(self._names))
        self._names = names
        if names:
            self._target.put_resource(_holder_id(names), HOLD_TYPE, _holder_properties(names))


def _holder_id(names: Sequence[str]) -> str:
    return HOLDER + _set_hash(names)


def _holder_properties(names: Sequence[str]) -> dict[str, Any]:
    """The properties of the parameter that holds these exports.

    CloudFormation needs every import to make the text that it splits. The value is the first part alone, so one
    parameter holds any number of exports, of any size.
    """
    imports = [{"Fn::ImportValue": each} for each in names]
    everything = {"Fn::Join": [_SEPARATOR, ["held", *imports]]}
    return {
        "Type": "String",
        "Tier": "Standard",
        "Name": {"Fn::Sub": f"{HOLDER_PATH}/${{AWS::StackName}}/{_set_hash(names)}"},
        "Description": "Holds the CloudFormation exports that this stack uses. Nothing reads it.",
        "Value": {"Fn::Select": [0, {"Fn::Split": [_SEPARATOR, everything]}]},
    }


def _set_hash(names: Sequence[str]) -> str:
    return short_hash("\n".join(names))


def import_value_reader(target: Target, names: ExportedNames) -> TextReader:
    """Reads by `Fn::ImportValue`, which holds what it imports. Nothing says how many items a list will have."""

    def get(path: Path) -> Text:
        with names.importing(path, export_name(path)) as name:
            return target.stand_in({"Fn::ImportValue": name})

    return TextReader(CHANNEL, get, "it is a list, which this channel joins to one text")


def value_reader(target: Target, synthesis: Synthesis, names: ExportedNames) -> ValueReader:
    """Reads the values that other stacks export in the target's account and region."""

    def find(name: str, home: Home, *, is_setting: bool) -> StackExport:
        exports = _exports(synthesis, home)
        if name not in exports and is_setting:
            return StackExport("", "")
        if name not in exports:
            where = f"the CloudFormation exports of account {home.account} in {home.region}"
            raise NothingToImportError(name, where, get_close_matches(name, exports, 3))
        return exports[name]

    def look_up(path: Path, *, is_setting: bool = False) -> str:
        with names.importing(path, export_name(path)) as name:
            home = synthesis.home(target, shown(path))
            found = partial(find, name, home, is_setting=is_setting)
            # The key contains the exporting stack, which only a lookup shows; a name is unique in its account and
            # region.
            key = synthesis.context_file.find(CLOUDFORMATION, *home, name)
            key = key or ContextKey(CLOUDFORMATION, *home, found().stack, name)
            if key.of == target.name:
                raise OwnExportError(shown(path), target.name)
            return cast("str", synthesis.remember(key, lambda: found().value))

    setting = partial(look_up, is_setting=True)
    return ValueReader(CHANNEL, look_up, ImportHolder(target, synthesis), joins_lists=True, look_up_setting=setting)


def _exports(synthesis: Synthesis, home: Home) -> dict[str, StackExport]:
    return synthesis.once(("ListExports", home), partial(list_exports, synthesis, home))


@dataclass(frozen=True, slots=True)
class StackExport:
    stack: str  # the exporting stack's name
    value: str = field(repr=False)


def list_exports(synthesis: Synthesis, home: Home) -> dict[str, StackExport]:
    """All exports of an account and region (ListExports, 100 a page), by name; errors as `Aws.where` and `Aws.call`."""
    aws = synthesis.aws(home.region)
    exports = CloudFormationReader(aws, aws.where(home.region, home.account)).exports()
    return {each["Name"]: StackExport(StackArn.parse(each["ExportingStackId"]).name, each["Value"]) for each in exports}
