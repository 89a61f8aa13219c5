"""CloudFormation's exports as a channel: an output with an export's name for each value.

A value that is looked up while the template is made is held all the same, as the design of the CDK has it: by an
`Fn::ImportValue` in the metadata of one resource, which is there for nothing else, costs nothing and does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, cast

from strongref.contract.names import StackArn, short_hash
from strongref_objects.at_synthesis import AtSynthesis
from strongref_objects.context_file import CLOUDFORMATION, ContextKey
from strongref_objects.errors import (
    BadValueError,
    NameClashError,
    NothingToImportError,
    OwnExportError,
    UnresolvedError,
)
from strongref_objects.joining import joined
from strongref_objects.naming import export_name, logical_id, shown
from strongref_objects.writing import Plan, check_free

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_objects.base import Target, Text, TextList
    from strongref_objects.collecting import Leaf
    from strongref_objects.exported import Exported as Names
    from strongref_objects.naming import Path
    from strongref_objects.synthesis import Home, Synthesis

CHANNEL = "CloudFormation's exports"

HOLDER = "StrongrefImports"
"""What the logical id of the resource begins with whose metadata hold imports."""

HOLDER_TYPE = "AWS::CloudFormation::WaitConditionHandle"
HOLDER_KEY = "strongref:imports"

DESCRIPTION_LIMIT = 1024
"""Bytes of an output's description (AWS: CloudFormation User Guide, Outputs)."""


class Outputs:
    """`writing.Writer`: exports of one stack."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def plan(self, leaves: Mapping[Path, Leaf]) -> Plan:
        names = {path: export_name(path) for path in leaves}
        values = {path: self._value(path, leaf) for path, leaf in leaves.items()}
        ids = {path: logical_id("Export", name) for path, name in names.items()}
        for path, output in ids.items():
            check_free(self._target, output, f"the export of {shown(path)}")
        others = self._target.exports()
        for path, name in names.items():
            if name in others:
                raise NameClashError(f"output {others[name]}", shown(path), name)

        def put() -> None:
            for path, value in values.items():
                self._target.put_output(
                    ids[path], value, export=names[path], description=_cut(leaves[path].description)
                )

        return Plan(("",), names, put)

    def _value(self, path: Path, leaf: Leaf) -> Text:
        value = joined(path, leaf.value, self._target.is_unresolved) if leaf.many else leaf.value
        if isinstance(value, str) and not self._target.is_unresolved(value) and not value.strip():
            raise BadValueError(shown(path), "it is empty, and CloudFormation exports no empty value; leave it out")
        if any(isinstance(each, str) and _has_surrogate(each) for each in _texts(leaf.value)):
            raise BadValueError(shown(path), "it holds a lone surrogate, which is no text in UTF-8")
        return cast("Text", value)


def _texts(value: Text | TextList) -> list[Text]:
    return [value] if isinstance(value, str | Mapping) else list(value)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


class Holder:
    """The resource whose metadata hold what was looked up while the template was made.

    CloudFormation does not update resources of its type (AWS: Template Reference, AWS::CloudFormation::
    WaitConditionHandle). So what holds something else is another resource: it comes before the old one goes.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._held: set[str] = set()

    def hold(self, path: Path, _value: object = None) -> None:
        """Have CloudFormation refuse to change or drop this export while the stack stands.

        Raises:
            TakenError: the template has something else of the holder's name.
        """
        name = export_name(path)
        if name in self._held:
            return
        names = sorted({*self._held, name})
        check_free(self._target, _holder(names), "holding what is imported")
        if self._held:
            self._target.drop_resource(_holder(sorted(self._held)))
        self._held.add(name)
        metadata = {HOLDER_KEY: [{"Fn::ImportValue": each} for each in names]}
        self._target.put_resource(_holder(names), HOLDER_TYPE, {}, metadata)


def _holder(names: Sequence[str]) -> str:
    return HOLDER + short_hash("\n".join(names))


class AtDeployment:
    """`reading.Reader`: `Fn::ImportValue`, which holds by itself."""

    channel = CHANNEL
    resolved = False
    whole_lists = False

    def __init__(self, target: Target, names: Names) -> None:
        self._target = target
        self._names = names

    def string(self, path: Path) -> Text:
        with self._names.importing(path, export_name(path)) as name:
            return self._target.stand_in({"Fn::ImportValue": name})

    def string_list(self, path: Path) -> TextList:
        """Raises `UnresolvedError`: nothing says how many items there will be."""
        raise UnresolvedError(shown(path), CHANNEL, "it is a list, which this channel carries joined to one text")


def at_synthesis(target: Target, synthesis: Synthesis, holder: Holder, names: Names) -> AtSynthesis:
    """The values that other stacks export in the target's account and region."""

    def look_up(path: Path) -> str:
        with names.importing(path, export_name(path)) as name:
            return _look_up(target, synthesis, path, name)

    return AtSynthesis(CHANNEL, look_up, holder.hold, joins_lists=True)


def _look_up(target: Target, synthesis: Synthesis, path: Path, name: str) -> str:
    home = synthesis.home(target, shown(path))

    def asked() -> Exported:
        exports = synthesis.once(("ListExports", home), partial(list_exports, synthesis, home))
        if name not in exports:
            where = f"the CloudFormation exports of account {home.account} in {home.region}"
            raise NothingToImportError(name, where, get_close_matches(name, exports, 3))
        found: Exported = exports[name]
        check(found.stack)
        return found

    def check(stack: str) -> None:
        if stack == target.name:
            raise OwnExportError(shown(path), target.name)

    # Whose it is stands in the key, which is not known before: in an account and region a name is there only once.
    key = synthesis.context_file.find(CLOUDFORMATION, home.account, home.region, name)
    if key is None:
        key = ContextKey(CLOUDFORMATION, home.account, home.region, asked().stack, name)
    check(key.of)
    return cast("str", synthesis.remember(key, lambda: asked().value))


@dataclass(frozen=True, slots=True)
class Exported:
    """What CloudFormation exports under one name: the exporting stack's name, and the value."""

    stack: str
    value: str = field(repr=False)


def list_exports(synthesis: Synthesis, home: Home) -> dict[str, Exported]:
    """All that is exported in an account and region (ListExports, 100 a page), by name.

    Raises:
        FetchFailedError: CloudFormation does not tell.
        NoWayInError: the account is not the caller's own, and no role is given.
        UnknownCallerError: STS does not say whose credentials these are.
    """
    from strongref.aws.clients import Clients  # noqa: PLC0415 (only where something is looked up)

    aws = synthesis.aws(home.region)
    where = aws.where(home.region, home.account)
    found: dict[str, Exported] = {}
    page: dict[str, str] = {}
    while True:
        answer = aws.call(where, "ListExports", "exports", Clients.cloudformation, "list_exports", **page)
        for each in answer["Exports"]:
            found[each["Name"]] = Exported(StackArn.parse(each["ExportingStackId"]).name, each["Value"])
        if not answer.get("NextToken"):
            return found
        page = {"NextToken": answer["NextToken"]}


def _cut(description: str | None) -> str | None:
    """As much of a description as an output's may have."""
    return description and description.encode()[:DESCRIPTION_LIMIT].decode(errors="ignore")
