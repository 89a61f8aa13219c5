"""What stays the same between two versions of a stack. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from strongref.contract.requests import IMPORT_TYPE
from strongref_cli.check.unknown import Evaluated, Source, SourceKind, Unknown, expression_of, sources_of
from strongref_cli.check.version import ExportedOutput, StackVersion, TemplateResource, resources_in
from strongref_toolkit.cloudformation import NESTED_STACK

_READING = (IMPORT_TYPE, "Custom::ResourceLookup")
"""Resources that only read something: it stays when they are deleted."""


class ResourceChange(StrEnum):
    """What a change set says about a resource. It does not list one that stays as it is."""

    ADDED = "added"
    REMOVED = "removed"
    KEPT = "kept"
    """Changed in place: its physical ID stays."""
    REPLACED = "replaced"
    MAYBE_REPLACED = "maybe replaced"
    NOTHING = "nothing"
    """A nested stack that is listed, and in which nothing changes."""


class Stays(StrEnum):
    """Whether a value stays the same."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass
class Comparison:
    """Two versions of a stack; the old one is None for a stack that does not exist."""

    old: StackVersion | None
    new: StackVersion
    changes: Mapping[str, ResourceChange] | None = None  # by logical ID, from a change set; None without one
    _same: set[str] | None = None

    def stays(self, old: Evaluated, new: Evaluated) -> Stays:
        """Whether a part of the old template and one of the new template have the same value."""
        if not sources_of([old, new]):
            return Stays.YES if expression_of(old) == expression_of(new) else Stays.NO
        if expression_of(old) != expression_of(new):
            return Stays.UNKNOWN
        if all(self._is_stable(source) for source in sources_of(new)):
            return Stays.YES
        return Stays.NO if self._contains_replaced(new) else Stays.UNKNOWN

    def is_same(self, logical_id: str) -> bool:
        """Whether a resource of both versions stays exactly as it is."""
        if self.changes is not None:
            change = self.changes.get(logical_id, ResourceChange.NOTHING)
            return change is ResourceChange.NOTHING and self._resource(self.old, logical_id) is not None
        if self._same is None:
            self._same = set()
            for each in self.new.order:  # a resource can only be the same if those are that it refers to
                if self._has_same_definition(each):
                    self._same.add(each)
        return logical_id in self._same

    def leaves(self, logical_id: str) -> bool:
        """Whether CloudFormation deletes a resource, or may: it has left the template, or its condition is false."""
        old, new = self._resource(self.old, logical_id), self._resource(self.new, logical_id)
        return old is not None and not old.retained and (new is None or new.type != old.type)

    def may_change(self, logical_id: str) -> bool:
        """Whether an update touches a resource at all: a change set lists what may change, too."""
        return self.changes is None or logical_id in self.changes

    def is_new(self, logical_id: str) -> bool:
        return self._resource(self.old, logical_id) is None

    def is_replaced(self, logical_id: str) -> bool:
        return self.changes is not None and self.changes.get(logical_id) is ResourceChange.REPLACED

    def may_be_replaced(self, logical_id: str) -> bool:
        """Whether a resource may get another physical ID."""
        if self.changes is not None:
            return self.changes.get(logical_id) in (ResourceChange.REPLACED, ResourceChange.MAYBE_REPLACED)
        return not self.is_same(logical_id)

    @cached_property
    def outputs(self) -> Mapping[str, ExportedOutput]:
        """The CloudFormation exports of the new version. A name that is unknown, and stays, is the deployed one."""
        found = dict(self.new.outputs)
        for name, former in (self.old.outputs if self.old else {}).items():
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
        if new.exists is True or (self.old and self.stays(self.old.outputs[name].exists, new.exists) is Stays.YES):
            return Stays.YES
        return Stays.UNKNOWN

    def outputs_at_risk(self) -> list[str]:
        """The CloudFormation exports of the old version that the new one lacks, or may lack or change."""
        return [
            name
            for name, former in (self.old.outputs if self.old else {}).items()
            if self.is_exported(name) is not Stays.YES
            or self.stays(former.value, self.outputs[name].value) is not Stays.YES
        ]

    def unstable(self, value: Evaluated) -> list[Source]:
        """What may change a value, sorted."""
        return sorted(source for source in sources_of(value) if not self._is_stable(source))

    def _has_same_definition(self, logical_id: str) -> bool:
        old, new = self._resource(self.old, logical_id), self._resource(self.new, logical_id)
        if old is None or new is None or old.type == NESTED_STACK or old.exists is not True or new.exists is not True:
            return False  # the template of a nested stack may change without its URL
        return old.definition == new.definition and all(self._is_stable(source) for source in new.sources)

    def _is_stable(self, source: Source) -> bool:
        if source.kind is not SourceKind.RESOURCE:
            return source.kind is SourceKind.FIXED
        if self.is_same(source.name):
            return True
        kept = self.changes is not None and self.changes.get(source.name) is ResourceChange.KEPT
        return kept and not source.attribute

    def _contains_replaced(self, value: Evaluated) -> bool:
        """Whether a value is, or contains, the `Ref` of a resource that gets another physical ID."""
        if isinstance(value, list):
            return any(self._contains_replaced(item) for item in value)
        if not isinstance(value, Unknown):
            return False
        match value.expression:
            case {"Ref": str(name)}:
                return self.is_replaced(name)
            case {"Fn::Join": ["", list(parts)]}:
                refs = [part["Ref"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("Ref"), str)]
                return any(map(self.is_replaced, refs))
        return False

    @staticmethod
    def _resource(version: StackVersion | None, logical_id: str) -> TemplateResource | None:
        found = version.resources.get(logical_id) if version else None
        return found if found and found.present else None


def because(comparison: Comparison, value: Evaluated) -> str:
    """Why a value may change: `Bucket may be replaced`, `Bucket.Arn may change`."""
    causes = []
    for source in comparison.unstable(value):
        is_resource = source.kind is SourceKind.RESOURCE
        if is_resource and comparison.is_new(source.name):
            causes.append(f"{source.name} is new")
        elif source.kind is SourceKind.INVALID:
            causes.append(source.name)
        else:
            causes.append(f"{source} may {'be replaced' if is_resource and not source.attribute else 'change'}")
    return ", ".join(dict.fromkeys(causes)) or "its expression has changed"


def origins(value: Evaluated, version: StackVersion | None) -> list[str]:
    """The logical IDs of the resources that a value comes from and that can be lost, sorted."""
    found = sorted(resources_in(sources_of(value)))
    return [each for each in found if version and version.resources[each].type not in _READING]
