"""The edits of a template: decided once, applied to plain data or to a file's text. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.macro.template import Node, Path, Template


@dataclass(frozen=True, slots=True)
class Replacement:
    """A property that replaces a reference."""

    path: Path  # of the map that has it
    key: str  # of the reference, as in `TargetGroupArnRef`
    becomes: str  # the property's name
    value: Node = field(repr=False)  # of the property


@dataclass(frozen=True, slots=True)
class Removal:
    """A key that is removed, with everything below it."""

    path: Path  # of the map that has it
    key: str  # in that map


@dataclass(frozen=True, slots=True)
class Addition:
    """A new entry at the end of a map."""

    path: Path  # of the map, which is created if it is missing
    key: str  # of the entry, as in a resource's logical ID
    value: Node = field(repr=False)  # of the entry
    origins: tuple[Path, ...] = ()  # the paths in the template that require it


@dataclass(frozen=True, slots=True)
class TemplateEdits:
    """All edits of a template."""

    replacements: tuple[Replacement, ...] = ()
    removals: tuple[Removal, ...] = ()
    additions: tuple[Addition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.replacements or self.removals or self.additions)

    def apply(self, template: Template) -> dict[str, Node]:
        """The edited template, in the same order; unchanged parts are shared with the original."""
        missing: Template = {
            str(each.path[0]): {} for each in self.additions if each.path and not template.get(str(each.path[0]))
        }
        changed: dict[str, Node] = self.rebuilt({**template, **missing})
        return changed

    def rebuilt(self, node: Node) -> Node:
        """The same for a part of a template, which is where the paths begin."""
        replaced = {(each.path, each.key): each for each in self.replacements}
        removed = {(each.path, each.key) for each in self.removals}
        added: dict[Path, dict[str, Node]] = {}
        for each in self.additions:
            added.setdefault(each.path, {})[each.key] = each.value
        changed = [*(path for path, _ in replaced), *(path for path, _ in removed), *added]
        touched = {path[:end] for path in changed for end in range(len(path) + 1)}

        def rebuild(node: Node, path: Path) -> Node:
            if path not in touched:
                return node
            if isinstance(node, list):
                return [rebuild(item, (*path, number)) for number, item in enumerate(node)]
            result: dict[str, Node] = {}
            for key, value in node.items():
                if (path, key) in removed:
                    continue
                change = replaced.get((path, key))
                result |= {change.becomes: change.value} if change else {key: rebuild(value, (*path, key))}
            return result | added.get(path, {})

        return rebuild(node, ())
