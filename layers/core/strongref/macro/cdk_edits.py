"""What becomes of the CDK's Writers and Readers, of their providers, and of all that uses them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.macro.edits import Addition, Replacement, TemplateEdits
from strongref.macro.errors import ReplacedResourceError, TemplateError
from strongref.macro.exports import export_id
from strongref.macro.loops import SUB
from strongref.macro.template import GET_ATT, RESOURCES, Node, Path, Template, value_at
from strongref.macro.uses import DEPENDS_ON, ResourceUse, depends_on, get_att, uses

if TYPE_CHECKING:
    from strongref.macro.cdk import CdkReferences
    from strongref.macro.scan import ImportPlaceholder

_PROVIDER = (("ServiceToken", "AWS::Lambda::Function"), ("Role", "AWS::IAM::Role"))
"""The parts of a custom resource's provider: the property that refers to each, and its type."""

_WITH_ATTRIBUTES = (RESOURCES, "Outputs", "Metadata")
"""The sections in which one attribute can replace another. CloudFormation reads the others before resources exist."""


@dataclass(frozen=True, slots=True)
class CdkEdits:
    edits: TemplateEdits = field(default_factory=TemplateEdits)
    removed: frozenset[str] = frozenset()  # the logical IDs of resources
    attributes: Mapping[tuple[str, str], Node] = field(default_factory=dict)  # of Imports, by Reader and name

    def redirected(self, node: Node) -> Node:
        """A value that the macro adds, with the attributes of Imports in place of a Reader's."""
        if (found := get_att(node)) and found in self.attributes:
            return self.attributes[found]
        if isinstance(node, Mapping):
            return {key: self.redirected(below) for key, below in node.items()}
        return [self.redirected(item) for item in node] if isinstance(node, list) else node


def cdk_edits(
    template: Template, found: CdkReferences, served: Mapping[ImportPlaceholder, str]
) -> tuple[CdkEdits, list[TemplateError]]:
    """The edits of Writers and Readers, and all uses of them that cannot be edited, given the Import of each value."""
    if not found.writers and not found.readers:
        return CdkEdits(), []
    moving = [*found.readers, *([] if found.keep_writers else found.writers)]
    replaced = {each.logical_id for each in moving if not each.left}
    used = list(uses(template))
    removed = frozenset(replaced | _providers(template, replaced, used))
    attributes = {
        (each.logical_id, name): {GET_ATT: [served[value], value.reference.name]}
        for each in found.readers
        for name, value in each.imported().items()
    }
    reads, problems = _reads([use for use in used if not _is_in(removed, use)], attributes, replaced)
    orders = list(_orders(template[RESOURCES], removed, _made(found, served)))
    removals: list[Path] = [(RESOURCES, each) for each in template[RESOURCES] if each in removed]
    removals += [(*each.path, name) for each in moving for name in each.moved]
    edits = TemplateEdits(
        replacements=(*reads, *(each for each in orders if isinstance(each, Replacement))),
        removals=tuple(removals),
        additions=tuple(each for each in orders if isinstance(each, Addition)),
    )
    return CdkEdits(edits, removed, attributes), problems


def _providers(template: Template, replaced: Collection[str], used: Collection[ResourceUse]) -> set[str]:
    """The functions and roles that nothing uses once these resources are gone."""
    removed = set(replaced)
    for key, kind in _PROVIDER:
        paths = {(RESOURCES, each, "Properties", key) for each in removed}
        for name in {use.logical_id for use in used if use.path in paths}:
            is_kind = value_at(template, RESOURCES, name, "Type") == kind
            if is_kind and all(_is_in(removed, use) for use in used if use.logical_id == name):
                removed.add(name)
    return removed - set(replaced)


def _is_in(removed: Collection[str], use: ResourceUse) -> bool:
    return use.path[0] == RESOURCES and use.path[1] in removed


def _reads(
    used: Collection[ResourceUse], attributes: Mapping[tuple[str, str], Node], replaced: Collection[str]
) -> tuple[list[Replacement], list[TemplateError]]:
    """The attributes of Imports in place of a Reader's, and all uses for which there is no such thing."""
    replacements: list[Replacement] = []
    problems: list[TemplateError] = []
    for use in used:
        attribute = attributes.get((use.logical_id, use.attribute))
        can_follow = use.how == DEPENDS_ON and use.path[:-2] == (RESOURCES,)
        if attribute and use.how == GET_ATT and use.path[0] in _WITH_ATTRIBUTES:
            replacements.append(Replacement(use.path, attribute))
        elif attribute or (use.logical_id in replaced and not can_follow):
            problems.append(ReplacedResourceError(use.path, use.logical_id, _hint(use)))
    return replacements, problems


def _hint(use: ResourceUse) -> str:
    if use.path[0] not in _WITH_ATTRIBUTES:
        return "CloudFormation reads this before resources have attributes, so remove it"
    in_text = "use one of Fn::Sub's variables for it"
    return in_text if use.how == SUB else "remove it, or use one of its values with Fn::GetAtt"


def _made(found: CdkReferences, served: Mapping[ImportPlaceholder, str]) -> dict[str, list[str]]:
    """The Exports of each Writer, and the Imports of each Reader."""
    of_writers = [(each, [export_id(part.target) for part in each.exported(found.on_change)]) for each in found.writers]
    of_readers = [(each, [served[value] for value in each.imported().values()]) for each in found.readers]
    return {each.logical_id: list(dict.fromkeys(ids)) for each, ids in (*of_writers, *of_readers)}


def _orders(
    resources: Mapping[str, Node], removed: frozenset[str], made: Mapping[str, list[str]]
) -> Iterator[Replacement | Addition]:
    """Each `DependsOn` that changes.

    A Writer that stays follows its Exports, which refuse before it changes a parameter. A Reader that stays follows its
    Imports, which claim before it lets go. What follows one that is removed follows those.
    """
    for logical_id, resource in resources.items():
        given = depends_on(resource)
        added = made.get(logical_id, [])
        if logical_id in removed or not (added or removed.intersection(given)):
            continue
        others = [new for each in given for new in (made[each] if each in removed else [each])]
        wanted = list(dict.fromkeys([*others, *added]))
        path: Path = (RESOURCES, logical_id)
        yield Replacement((*path, DEPENDS_ON), wanted) if given else Addition(path, DEPENDS_ON, wanted)
