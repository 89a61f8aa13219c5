"""Scans a template for references and `Exports`, with the conditions and loops around them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from strongref.macro.conditions import ALWAYS, When
from strongref.macro.edits import Renaming, Replacement, TemplateEdits
from strongref.macro.errors import (
    LoopError,
    MisplacedError,
    MissingSuffixError,
    PartError,
    ReferenceAndIDError,
    TemplateError,
    WrongShapeError,
)
from strongref.macro.loops import loop, mentions
from strongref.macro.references import (
    MANY,
    ONE,
    TemplateReference,
    branches,
    is_argument,
    is_reference,
    is_whole,
    parse,
    stem,
)
from strongref.macro.template import IF, MACRO, TRANSFORM, Node, Path, Template, described, entries_in, is_function

TOKEN = "ServiceToken"  # noqa: S105 (a property)


@dataclass(frozen=True, slots=True)
class ImportPlaceholder:
    """Placeholder for an imported value until its Import is known."""

    reference: TemplateReference
    when: When


@dataclass(frozen=True, slots=True)
class ResourceExports:
    path: Path  # of the map that has the resource
    logical_id: str  # the resource's
    given: Node = field(repr=False)  # the value of `Exports`
    condition: str | None = None  # of the resource, if it has one
    loops: tuple[str, ...] = ()  # the variables of the loops around the resource


@dataclass(frozen=True, slots=True)
class TemplateScan:
    renamings: list[Renaming] = field(default_factory=list)  # of the keys of references
    replacements: list[Replacement] = field(default_factory=list)  # of references, with imported values as placeholders
    imported: list[ImportPlaceholder] = field(default_factory=list)  # all imported values, including those in exports
    # of resources, in the order of the template, with imported values as placeholders
    exports: list[ResourceExports] = field(default_factory=list)
    problems: list[TemplateError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Context:
    """Where the scan is."""

    when: When = ALWAYS  # the conditions that apply
    loops: tuple[str, ...] = ()  # the variables of the loops around it
    is_custom: bool = False  # whether the resource is a custom one, whose properties only its function knows

    def under(self, condition: object, *, true: bool = True) -> _Context:
        return replace(self, when=self.when.also(condition, true=true)) if isinstance(condition, str) else self

    def inside(self, loop: Node) -> _Context:
        return replace(self, loops=(*self.loops, str(loop[0])))


_EVALUATED = {
    "Resources": ("Properties", "Metadata", "UpdatePolicy", "Connectors"),
    "Outputs": ("Value", f"Value{ONE}", f"Value{MANY}"),
}
"""Where CloudFormation, or SAM, evaluates `Fn::GetAtt` (AWS: Template Reference, intrinsic functions), by section."""


def scan(template: Template) -> TemplateScan:
    walk = _Scanner()
    walk.inside(template.get("Globals"), ("Globals",), _Context())
    for section in _EVALUATED:
        below = template.get(section)
        if isinstance(below, Mapping):
            walk.members(below, (section,), _Context())
    walk.outside({key: below for key, below in template.items() if key not in ("Globals", *_EVALUATED)}, ())
    return walk


class _Scanner(TemplateScan):
    """Adds to itself what it finds."""

    def members(self, given: Mapping[str, Node], path: Path, around: _Context) -> None:
        """Scan the resources or the outputs of a template, including those in loops."""
        for key, below in given.items():
            if (body := loop(key, below)) is not None:
                self.outside({1: below[1]}, (*path, key))
                self.members(body, (*path, key, 2), around.inside(below))
            elif key == TRANSFORM:
                self._no_part(below, path)
            elif isinstance(below, Mapping):
                self._member(below, (*path, key), around)
            else:
                self.outside({key: below}, path)

    def _member(self, given: Mapping[str, Node], path: Path, around: _Context) -> None:
        is_custom = TOKEN in properties if isinstance(properties := given.get("Properties"), Mapping) else False
        within = replace(around.under(given.get("Condition")), is_custom=is_custom)
        read = _EVALUATED[str(path[0])]
        self._map({key: below for key, below in given.items() if key in read}, path, within)
        left = {key: below for key, below in given.items() if key not in read}
        if path[0] == "Resources" and "Exports" in given:
            body = self._moved(left.pop("Exports"), (*path, "Exports"), within)
            condition = given.get("Condition")
            named = condition if isinstance(condition, str) else None
            self.exports.append(ResourceExports(path[:-1], str(path[-1]), body, named, around.loops))
        self.outside(left, path)

    def outside(self, node: Node, path: Path) -> None:
        """Report the references where none works. Under a plain key, a reference may be there for aliases of YAML."""
        found = [at for at, each in entries_in(node) if is_whole(each) and (stem(at[-1]) or not _is_plain(at[-1]))]
        self.problems.extend(MisplacedError((*path, *at)) for at in found)

    def inside(self, node: Node, path: Path, around: _Context) -> None:
        """Scan a value at or below a resource's properties."""
        if isinstance(node, list):
            for number, item in enumerate(node):
                self.inside(item, (*path, number), around)
        elif choice := branches(node):
            self._chosen(choice, path, around, self._argument)
        elif is_whole(node) and not around.is_custom:
            key = next(str(step) for step in reversed(path) if _is_plain(step))
            self.problems.append(MissingSuffixError(path, f"{key}{MANY if isinstance(path[-1], int) else ONE}"))
        elif isinstance(node, Mapping):
            self._map(node, path, around)

    def _map(self, node: Mapping[str, Node], path: Path, around: _Context) -> None:
        for key, below in node.items():
            named = stem(key)
            if named and (is_reference(below) or (below == [] and named[1] and _is_property(key, node, around))):
                becomes, many = named
                self._reference(node, (*path, key), becomes, below, around, many=many)
            elif (body := loop(key, below)) is not None:
                self.outside({1: below[1]}, (*path, key))
                self.inside(body, (*path, key, 2), around.inside(below))
            elif key == TRANSFORM:
                self._no_part(below, path)
            elif key.startswith("Fn::"):
                self._argument(below, (*path, key), around)
            else:
                self.inside(below, (*path, key), around)

    def _argument(self, node: Node, path: Path, around: _Context) -> None:
        """Scan an argument of a function, which may be a reference itself."""
        if isinstance(node, list):
            for number, item in enumerate(node):
                self._argument(item, (*path, number), around)
        elif is_argument(node):
            self._parsed(node, path, around)
        else:
            self.inside(node, path, around)

    def _reference(  # noqa: PLR0913
        self, siblings: Mapping[str, Node], path: Path, becomes: str, node: Node, around: _Context, *, many: bool
    ) -> None:
        key = str(path[-1])
        given = [each for each in (becomes, f"{becomes}{ONE}", f"{becomes}{MANY}") if each in siblings]
        if len(given) > 1 and key == next(each for each in given if each != becomes):  # Once, even for two references.
            self.problems.append(ReferenceAndIDError(path, given))
        self.renamings.append(Renaming(path, becomes))
        (self._list if many else self._one)(node, path, around)

    def _list(self, node: Node, path: Path, around: _Context) -> None:
        """Scan a list of references; other items stay as they are."""
        if choice := branches(node):
            self._chosen(choice, path, around, self._list)
        elif isinstance(node, list):
            for number, item in enumerate(node):
                self._one(item, (*path, number), around)
        elif is_reference(node) and not is_function(node):
            hint = f"for one export that is a list itself, write {_several_of(path).removesuffix('s')}"
            self.problems.append(WrongShapeError(path, "one reference", "a list of references", hint))
            self._one(node, path, around)
        else:
            self.inside(node, path, around)

    def _one(self, node: Node, path: Path, around: _Context) -> None:
        if choice := branches(node):
            self._chosen(choice, path, around, self._one)
        elif is_function(node) or isinstance(node, str | int | float):
            self.inside(node, path, around)
        elif isinstance(node, Mapping) and is_reference(node):
            self._parsed(node, path, around)
        elif isinstance(node, list) and is_reference(node):
            hint = f"for several, write {_several_of(path)}"
            self.problems.append(WrongShapeError(path, described(node), "one reference", hint))
            self._list(node, path, around)
        else:
            self.problems.append(WrongShapeError(path, described(node), "a reference, which is a map with From"))

    def _chosen(
        self,
        choice: tuple[object, Node, Node],
        path: Path,
        around: _Context,
        take: Callable[[Node, Path, _Context], None],
    ) -> None:
        self.outside({0: choice[0]}, (*path, IF))
        for number, true in ((1, True), (2, False)):
            take(choice[number], (*path, IF, number), around.under(choice[0], true=true))

    def _parsed(self, node: Mapping[str, Node], path: Path, around: _Context) -> None:
        self.outside(node, path)
        for variable in around.loops:
            if mentions([node, sorted(around.when.holds)], variable):
                self.problems.append(LoopError(path, variable))
                return
        reference, problems = parse(path, node)
        self.problems.extend(problems)
        if reference is not None:
            value = ImportPlaceholder(reference, around.when)
            self.imported.append(value)
            self.replacements.append(Replacement(path, value))

    def _moved(self, node: Node, path: Path, around: _Context) -> Node:
        """A value with the references in it replaced, for values that move as a whole."""
        own = _Scanner()
        own.inside(node, path, around)
        self.imported.extend(own.imported)
        self.problems.extend(own.problems)
        return TemplateEdits(tuple(own.renamings), tuple(own.replacements)).rebuilt(node, path)

    def _no_part(self, given: Node, path: Path) -> None:
        several = given if isinstance(given, list) else [given]
        names = [each.get("Name") if isinstance(each, Mapping) else each for each in several]
        if MACRO in names:
            self.problems.append(PartError((*path, TRANSFORM)))
        self.outside(given, (*path, TRANSFORM))


def _is_plain(step: str | int) -> bool:
    """Whether this is a key of a map, and not of a function."""
    return isinstance(step, str) and step != "Ref" and not step.startswith("Fn::")


def _is_property(key: str, siblings: Mapping[str, Node], around: _Context) -> bool:
    """Whether a list without references must be one of AWS's properties: none of these ends so."""
    return key[:1].isupper() and key.removesuffix(MANY) not in siblings and not around.is_custom


def _several_of(path: Path) -> str:
    named = str(next(step for step in reversed(path) if stem(step)))
    return f"{named.removesuffix('s')}s"
