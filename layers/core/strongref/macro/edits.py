"""The edits of a template: decided once, applied to plain data or to a file's text. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.macro.template import Node, Path, Template


@dataclass(frozen=True, slots=True)
class Renaming:
    """A key that gets another name, as `TargetGroupArnRef` does."""

    path: Path  # of the key
    becomes: str  # the property's name


@dataclass(frozen=True, slots=True)
class Replacement:
    """A value that replaces a single reference."""

    path: Path  # of the reference
    value: Node = field(repr=False)


@dataclass(frozen=True, slots=True)
class Addition:
    """A new entry at the end of a map."""

    path: Path  # of the map, which is created if it is missing
    key: str  # of the entry, as in a resource's logical ID
    value: Node = field(repr=False)  # of the entry
    origins: tuple[Path, ...] = ()  # the paths in the template that require it


@dataclass(frozen=True, slots=True)
class TemplateEdits:
    renamings: tuple[Renaming, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    removals: tuple[Path, ...] = ()  # of keys, which go with everything below them
    additions: tuple[Addition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.renamings or self.removals or self.additions)

    def with_more(self, others: TemplateEdits) -> TemplateEdits:
        """These edits and others, without those within something that is replaced or removed."""
        removed = {*self.removals, *others.removals}
        gone = removed | {each.path for each in self.replacements}

        def is_inside(path: Path) -> bool:
            return any(path[:end] in gone for end in range(len(path)))

        values = [each for each in others.replacements if each.path not in removed and not is_inside(each.path)]
        return TemplateEdits(
            (*self.renamings, *others.renamings),
            (*self.replacements, *values),
            (*self.removals, *(path for path in others.removals if not is_inside(path))),
            (*self.additions, *others.additions),
        )

    def apply(self, template: Template) -> dict[str, Node]:
        """The edited template, in the same order; unchanged parts are shared with the original."""
        sections = [str(each.path[0]) for each in self.additions if each.path]
        missing: Template = {name: {} for name in sections if not template.get(name)}
        changed: dict[str, Node] = self.rebuilt({**template, **missing}, ())
        return changed

    def rebuilt(self, node: Node, path: Path) -> Node:
        """The edited part of a template at a path."""
        renamed = {each.path: each.becomes for each in self.renamings}
        replaced = {each.path: each.value for each in self.replacements}
        removed = set(self.removals)
        added: dict[Path, dict[str, Node]] = {}
        for each in self.additions:
            added.setdefault(each.path, {})[each.key] = each.value
        touched = {at[:end] for at in (*renamed, *replaced, *removed, *added) for end in range(len(at) + 1)}

        def rebuild(node: Node, path: Path) -> Node:
            if path in replaced:
                return replaced[path]
            if path not in touched:
                return node
            if isinstance(node, list):
                return [rebuild(item, (*path, number)) for number, item in enumerate(node)]
            kept = {key: value for key, value in node.items() if (*path, key) not in removed}
            result = {renamed.get((*path, key), key): rebuild(value, (*path, key)) for key, value in kept.items()}
            return result | added.get(path, {})

        return rebuild(node, path)
