"""Templates written as people write them: blocks and brackets, tags, quotes, and comments wherever one may stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.macro.references import is_reference, stem
from strongref.macro.template import is_function
from strongref_manifests.text.styles import flow as quoted
from strongref_manifests.text.template_writing import scalar

if TYPE_CHECKING:
    from random import Random

PLAIN, REFERENCE, CHANGING = "plain", "reference", "changing"
"""What a value is part of: nothing that changes; a reference's key, under which some items change; what changes."""


class Line(NamedTuple):
    text: str
    changes: bool  # whether it has something of a reference, of `Exports` or of `Transform`


class StyledYaml:
    """Writes one template, in styles that are drawn for every value."""

    def __init__(self, random: Random) -> None:
        self.lines: list[Line] = []
        self.comments: list[str] = []
        self._random = random

    def write(self, template: dict[str, Any]) -> None:
        self._above(0, changes=False)
        self._map(template, 0, PLAIN)

    def _often(self, share: float = 0.5) -> bool:
        return self._random.random() < share

    def _comment(self) -> str:
        self.comments.append(f"# c{len(self.comments)} - it's [one]: {{of}} them.")
        return self.comments[-1]

    def _behind(self) -> str:
        return f"{' ' * self._random.randint(1, 3)}{self._comment()}" if self._often(0.3) else ""

    def _above(self, indent: int, *, changes: bool) -> None:
        if self._often(0.2):
            self.lines.append(Line("", changes=changes))
        if self._often(0.3):
            self.lines.append(Line(f"{' ' * indent}{self._comment()}", changes=changes))

    def _map(self, given: dict[str, Any], indent: int, part: str, head: str | None = None) -> None:
        """A block; its first key may stand behind a dash, the head."""
        for key, value in given.items():
            inner = part
            if part == PLAIN and stem(key) and is_reference(value):
                inner = REFERENCE
            elif part == PLAIN and key in ("Exports", "Transform"):
                inner = CHANGING
            if head is None:
                self._above(indent, changes=inner == CHANGING)
            name = quoted(key) if self._often(0.2) else scalar(key)
            self._value(f"{head or ' ' * indent}{name}:", value, indent, inner, renamed=inner != part)
            head = None

    def _value(self, head: str, node: Any, indent: int, part: str, *, renamed: bool = False) -> None:
        """Lines of a value behind its key or its dash."""
        if part == REFERENCE and not isinstance(node, list) and not (is_function(node) and is_reference(node)):
            part = CHANGING if is_reference(node) else PLAIN
        changes = renamed or part == CHANGING
        tag = ""
        if is_function(node) and self._often():
            ((name, node),) = node.items()
            tag = f" !{name.removeprefix('Fn::')}"
            if name == "Fn::GetAtt":
                node = ".".join(node)
            elif is_function(node):
                node, tag = {name: node}, ""
        section = indent == 0 and isinstance(node, dict)  # between brackets, its last line changes with what is added
        if not isinstance(node, list | dict) or not node or (not section and self._often(0.25)):
            self._one(f"{head}{tag}", node, indent, changes=changes or part == REFERENCE)
            return
        step = indent + self._random.randint(1, 4)
        if isinstance(node, dict):
            if head.endswith("-") and not tag and self._often(0.7):
                self._map(node, len(head) + 1, part, head=f"{head} ")
                return
            self.lines.append(Line(f"{head}{tag}{self._behind()}", changes=changes))
            self._map(node, step, part)
            return
        self.lines.append(Line(f"{head}{tag}{self._behind()}", changes=changes))
        step = step if head.endswith("-") or self._often() else indent
        for item in node:
            self._above(step, changes=changes and part == CHANGING)
            self._value(f"{' ' * step}-", item, step, part)

    def _one(self, head: str, node: Any, indent: int, *, changes: bool) -> None:
        """A value between brackets, on one line or several."""
        first, *others = self._flow(node, indent + 2).split("\n")
        *before, last = [f"{head} {first}", *others]
        self.lines += [Line(each, changes=changes or _refers(node)) for each in before]
        self.lines.append(Line(f"{last}{self._behind()}", changes=changes or _refers(node)))

    def _flow(self, node: Any, indent: int) -> str:
        if isinstance(node, list):
            return self._joined("[]", [self._flow(item, indent + 2) for item in node], indent)
        if isinstance(node, dict):
            pairs = [f"{scalar(key)}: {self._flow(below, indent + 2)}" for key, below in node.items()]
            return self._joined("{}", pairs, indent)
        return quoted(node) if isinstance(node, str) and self._often(0.3) else scalar(node)

    def _joined(self, brackets: str, parts: list[str], indent: int) -> str:
        text = brackets[0]
        for number, part in enumerate(parts):
            end = "," if number < len(parts) - 1 else ""
            text += f"{part}{end}{self._break(indent) if self._often(0.25) else ' ' if end else ''}"
        return text + brackets[1]

    def _break(self, indent: int) -> str:
        return f"{self._behind()}\n{' ' * indent}"


def _refers(node: Any) -> bool:
    if isinstance(node, dict):
        here = "Exports" in node  # whose removal takes the comma before it too
        return here or any((stem(key) and is_reference(below)) or _refers(below) for key, below in node.items())
    return isinstance(node, list) and any(map(_refers, node))
