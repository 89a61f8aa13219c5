"""What stays the same between two versions of a stack. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from strongref.contract.requests import IMPORT_TYPE
from strongref.text import some
from strongref_cli.check.resource_types import TypeOf, unknown_type
from strongref_cli.check.unknown import Evaluated, Source, SourceKind, Unknown, expression_of, sources_of
from strongref_cli.check.updates import PropertyChange, ResourceChange, Stays, Update, differences, tells_apart
from strongref_cli.check.version import ExportedOutput, StackVersion, TemplateResource, resources_in
from strongref_toolkit.cloudformation import NESTED_STACK

if TYPE_CHECKING:
    from strongref_toolkit.json_values import Json

_HASH = re.compile("[0-9a-f]{10}$")
"""What AWS::Serverless adds to logical IDs: it is another one here, as local code has not been uploaded."""

_READING = (IMPORT_TYPE, "Custom::ResourceLookup")
"""Resources that only read something: it stays when they are deleted."""


@dataclass
class Comparison:
    """Two versions of a stack; the old one is `NOTHING` for a stack that does not exist."""

    old: StackVersion
    new: StackVersion
    changes: Mapping[str, ResourceChange] | None = None  # by logical ID, from a change set; None without one
    type_of: TypeOf = unknown_type
    _updates: dict[str, Update] | None = field(default=None, init=False, repr=False)  # of the resources of both

    def stays(self, old: Evaluated, new: Evaluated) -> Stays:
        """Whether a part of the old template and one of the new template have the same value."""
        if not sources_of([old, new]):
            return Stays.YES if expression_of(old) == expression_of(new) else Stays.NO
        if expression_of(old) != expression_of(new):
            return Stays.NO if self._are_of_two(old, new) else Stays.UNKNOWN
        if all(self._is_stable(source) for source in sources_of(new)):
            return Stays.YES
        return Stays.NO if self._contains_other(new) else Stays.UNKNOWN

    def is_same(self, logical_id: str) -> bool:
        """Whether a resource of both versions stays exactly as it is."""
        found = self.update_of(logical_id)
        return found is not None and found.change is ResourceChange.NOTHING

    def leaves(self, logical_id: str) -> bool:
        """Whether CloudFormation deletes a resource, or may: it has left the template, or its condition is false."""
        old, new = self._resource(self.old, logical_id), self._resource(self.new, logical_id)
        return old is not None and not old.retained and (new is None or new.type != old.type)

    def may_change(self, logical_id: str) -> bool:
        """Whether an update touches a resource at all: a change set lists what may change, too."""
        return self.changes is None or logical_id in self.changes

    def is_new(self, logical_id: str) -> bool:
        return self._resource(self.old, logical_id) is None

    def loses(self, logical_id: str) -> bool:
        """Whether CloudFormation deletes a resource of the old version in the cleanup."""
        found = self.update_of(logical_id)
        is_replaced = found is not None and found.change is ResourceChange.REPLACED
        return self.leaves(logical_id) or (is_replaced and not self.new.resources[logical_id].keeps_old)

    def may_be_replaced(self, logical_id: str) -> bool:
        """Whether a resource may get another physical ID."""
        found = self.update_of(logical_id)
        if found is None:
            return self.changes is None
        return found.change in (ResourceChange.REPLACED, ResourceChange.MAYBE_REPLACED)

    def update_of(self, logical_id: str) -> Update | None:
        """What the update does to a resource of both versions; None if it is in one of them only."""
        if self._updates is None:
            self._updates = {}
            for each in self.new.order:  # What becomes of a resource depends on those that it refers to.
                old, new = self._resource(self.old, each), self._resource(self.new, each)
                if old and new:
                    self._updates[each] = self._update(each, old, new)
        return self._updates.get(logical_id)

    @cached_property
    def outputs(self) -> Mapping[str, ExportedOutput]:
        """The CloudFormation exports of the new version. A name that is unknown, and stays, is the deployed one."""
        found = dict(self.new.outputs)
        for name, former in self.old.outputs.items():
            for each in self.new.unnamed:
                if self.stays(former.name, each.name) is Stays.YES:
                    found.setdefault(name, each)
        return found

    @property
    def has_unnamed_outputs(self) -> bool:
        """Whether the new version may have CloudFormation exports with other names, too."""
        return any(each not in self.outputs.values() for each in self.new.unnamed)

    def is_exported(self, name: str) -> Stays:
        """Whether a CloudFormation export of the old version is one of the new version."""
        new = self.outputs.get(name)
        if new is None:
            return Stays.UNKNOWN if self.has_unnamed_outputs else Stays.NO
        if new.exists is True or self.stays(self.old.outputs[name].exists, new.exists) is Stays.YES:
            return Stays.YES
        return Stays.UNKNOWN

    def outputs_at_risk(self) -> list[str]:
        """The CloudFormation exports of the old version that the new one lacks, or may lack or change."""
        return [
            name
            for name, former in self.old.outputs.items()
            if self.is_exported(name) is not Stays.YES
            or self.stays(former.value, self.outputs[name].value) is not Stays.YES
        ]

    def unstable(self, value: Evaluated) -> list[Source]:
        """What may change a value, sorted."""
        return sorted(source for source in sources_of(value) if not self._is_stable(source))

    def _update(self, logical_id: str, old: TemplateResource, new: TemplateResource) -> Update:
        is_known = old.type == new.type != NESTED_STACK and old.exists is True and new.exists is True
        kind = self.type_of(new.type) if is_known else None
        if self.changes is not None:
            change = self.changes.get(logical_id, ResourceChange.NOTHING)
            if change not in (ResourceChange.KEPT, ResourceChange.REPLACED):
                return Update(change)
            return Update(change, self._differences(old, new), kind, new.properties)
        if not is_known:  # The template of a nested stack may change without its URL.
            return Update(ResourceChange.MAYBE_REPLACED)
        if old.definition == new.definition and all(self._is_stable(source) for source in new.sources):
            return Update(ResourceChange.NOTHING)
        return Update.of(kind, new.properties, self._differences(old, new))

    def _differences(self, old: TemplateResource, new: TemplateResource) -> list[PropertyChange]:
        return list(differences(old.properties, new.properties, self.stays))

    def _is_stable(self, source: Source) -> bool:
        return self._source_stays(source) is Stays.YES

    def _source_stays(self, source: Source) -> Stays:
        if source.kind is not SourceKind.RESOURCE:
            return Stays.YES if source.kind is SourceKind.FIXED else Stays.UNKNOWN
        update = self.update_of(source.name)
        return update.attribute(source.attribute) if update else Stays.UNKNOWN

    def _contains_other(self, value: Evaluated) -> bool:
        """Whether a value is, or contains, the `Ref` or the attribute of a resource that gets another one."""
        if isinstance(value, list):
            return any(self._contains_other(item) for item in value)
        if not isinstance(value, Unknown):
            return False
        parts = [value.expression]
        match value.expression:
            case {"Fn::Join": ["", list(joined)]}:
                parts = joined
        sources = filter(None, map(_source, parts))
        return any(self._source_stays(each) is Stays.NO for each in sources)

    def _are_of_two(self, old: Evaluated, new: Evaluated) -> bool:
        """Whether values are the `Ref`, or an attribute, that two resources of a type never have in common."""
        before, after = (_source(each.expression) if isinstance(each, Unknown) else None for each in (old, new))
        if before is None or after is None or before.attribute != after.attribute:
            return False
        if _HASH.sub("", before.name) == _HASH.sub("", after.name):
            return False
        one, other = self._resource(self.old, before.name), self._resource(self.new, after.name)
        if one is None or other is None or one.type != other.type or not (one.exists is other.exists is True):
            return False
        kind = self.type_of(one.type)
        return kind is not None and tells_apart(kind, tuple(filter(None, before.attribute.split("."))))

    @staticmethod
    def _resource(version: StackVersion, logical_id: str) -> TemplateResource | None:
        found = version.resources.get(logical_id)
        return found if found and found.present else None


def _source(expression: Json) -> Source | None:
    """What an expression is the value of, if it is the whole value."""
    match expression:
        case {"Ref": str(name)}:
            return Source(SourceKind.RESOURCE, name)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return Source(SourceKind.RESOURCE, name, attribute)
    return None


def because(comparison: Comparison, value: Evaluated) -> str:
    """Why a value changes, or may: `Bucket may be replaced`, `Bucket.Arn may change`."""
    causes = []
    for source in comparison.unstable(value):
        is_resource = source.kind is SourceKind.RESOURCE
        update = comparison.update_of(source.name) if is_resource else None
        if is_resource and comparison.is_new(source.name):
            causes.append(f"{source.name} is new")
        elif source.kind is SourceKind.INVALID:
            causes.append(source.name)
        elif update and update.attribute(source.attribute) is Stays.NO:
            is_replaced = update.change is ResourceChange.REPLACED
            causes.append(f"{source.name} is replaced{_with(update)}" if is_replaced else f"{source} changes")
        elif is_resource and not source.attribute:
            causes.append(f"{source} may be replaced{_with(update) if update else ''}")
        else:
            causes.append(f"{source} may change")
    return ", ".join(dict.fromkeys(causes)) or "its expression has changed"


def _with(update: Update) -> str:
    causes = update.causes
    return f": its {some(causes, 3)} {'changes' if len(causes) == 1 else 'change'}" if causes else ""


def origins(value: Evaluated, version: StackVersion) -> list[str]:
    """The logical IDs of the resources that a value comes from and that can be lost, sorted."""
    found = sorted(resources_in(sources_of(value)))
    return [each for each in found if version.resources[each].type not in _READING]
