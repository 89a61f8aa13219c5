"""Where a template uses its resources: in functions and in `DependsOn`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from strongref.macro.loops import SUB
from strongref.macro.template import GET_ATT, Node, Path, Template, entries_in, is_function, value_at

DEPENDS_ON = "DependsOn"

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9]+)(?:\.([^}]*))?\}")
"""In the text of `Fn::Sub`: a parameter, a resource, or a resource's attribute."""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    path: Path  # of the function; of a `DependsOn`, its own
    how: str  # `Ref`, `Fn::GetAtt`, `Fn::Sub` or `DependsOn`
    logical_id: str
    attribute: str = ""  # with dots


def get_att(node: Node) -> tuple[str, str] | None:
    """The logical ID and the attribute of an `Fn::GetAtt`, as a list or as text; None of anything else."""
    given = node.get(GET_ATT) if is_function(node) else None
    match given.split(".", 1) if isinstance(given, str) else given:
        case [str(logical_id), *rest] if rest and all(isinstance(each, str) for each in rest):
            return logical_id, ".".join(rest)
    return None


def depends_on(resource: Node) -> list[str]:
    """What a resource depends on explicitly: one logical ID, or a list of them."""
    given = value_at(resource, DEPENDS_ON) or []
    return [str(each) for each in given] if isinstance(given, list) else [str(given)]


def uses(template: Template) -> Iterator[ResourceUse]:
    """Every use of a resource, in the order of the template; parameters look the same."""
    for path, node in entries_in(template):
        if found := get_att(node):
            yield ResourceUse(path, GET_ATT, *found)
        elif is_function(node) and isinstance(node.get("Ref"), str):
            yield ResourceUse(path, "Ref", node["Ref"])
        elif path[-1] == SUB:
            text, variables = node if isinstance(node, list) and len(node) == len(("text", "map")) else (node, {})
            own = variables if isinstance(variables, Mapping) else {}
            for name, attribute in _VARIABLE.findall(text if isinstance(text, str) else ""):
                if name not in own:
                    yield ResourceUse(path, SUB, name, attribute)
        elif path[-1] == DEPENDS_ON and "Properties" not in path:
            for name in depends_on({DEPENDS_ON: node}):
                yield ResourceUse(path, DEPENDS_ON, name)
