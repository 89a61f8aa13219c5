"""Carries out the transforms that need nothing but the template: StrongRef, AWS's language extensions and its SAM.

CloudFormation calls macros before its own transforms. A loop is left to it if a variable stands where tools disagree on
its replacement. cfn-lint's expansion is no help: a linter may make up what it does not know, and it leaves identifiers
in `Fn::ToJsonString`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from strongref.macro.errors import TooDeepError
from strongref.macro.loops import FOR_EACH, unreplaced_in
from strongref.macro.template import DEPTH_LIMIT, MACRO, TRANSFORM, Node, Template, is_function, too_deep
from strongref.macro.transform import Settings, plan
from strongref.text import cut
from strongref.untyped import AnyJson
from strongref_cli.check.evaluation import Evaluation
from strongref_cli.check.serverless import SERVERLESS, serverless
from strongref_cli.check.unknown import Evaluated, SourceKind, sources_of, text_of
from strongref_cli.transform.template_facts import transforms
from strongref_manifests.text.template_edits import parameters
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import keys_and_values

LANGUAGE_EXTENSIONS = "AWS::LanguageExtensions"

_SETTLED = ("Globals", "Outputs", "Resources")
"""Sections in which AWS::LanguageExtensions carries out the functions whose values are known then."""

_MOST_COPIES = 10_000
"""Copies of loop bodies: far more than the 500 resources of a template need."""


@dataclass(frozen=True, slots=True)
class Expanded:
    template: Mapping[str, Node]
    left: tuple[str, ...] = ()  # the transforms, and the loops, that only CloudFormation can carry out


def expand(template: Template, names: Mapping[str, Evaluated]) -> Expanded:
    """Carry out what can be carried out here, given what `Ref` gives for parameters and pseudo parameters.

    Raises:
        MacroError: StrongRef refuses the template, or it is nested too deeply.
        UsageError: CloudFormation would refuse a loop, or AWS::Serverless the template.
    """
    if deepest := too_deep(template):
        raise TooDeepError(deepest, DEPTH_LIMIT)
    declared = transforms(template)
    left = tuple(each for each in declared if each not in (MACRO, LANGUAGE_EXTENSIONS, SERVERLESS))
    found = list(keys_and_values(dict(template)))
    if any(path[-1:] == (TRANSFORM,) for path, _ in found):  # of a part of a template, which may add resources
        left = (*left, TRANSFORM)
    modules = [value for path, value in found if path[-1:] == ("Type",) and str(value).endswith("::MODULE")]
    left += tuple(dict.fromkeys(map(str, modules)))
    if left:
        return Expanded(template, left)
    loop = next((str(path[-1]) for path, _ in found if str(path[-1:][0]).startswith(FOR_EACH)), "")
    if loop and LANGUAGE_EXTENSIONS not in declared:
        raise _unexpandable(loop, f"the template has no Transform: {LANGUAGE_EXTENSIONS}. Add it")
    if MACRO in declared:
        template = plan(template, Settings.parse(parameters(template))).apply(template)
    if LANGUAGE_EXTENSIONS in declared:
        try:
            template = _Loops(template, names).expanded()
        except _UnknownLoopError as unknown:
            return Expanded(template, (str(unknown),))
        if deepest := too_deep(template):
            raise TooDeepError(deepest, DEPTH_LIMIT)
        evaluation = Evaluation(template, names)
        template = {key: _settled(below, evaluation) if key in _SETTLED else below for key, below in template.items()}
    if SERVERLESS in declared:
        template = serverless(template, names)
    return Expanded({key: value for key, value in template.items() if key != "Transform"})


def _settled(node: Node, evaluation: Evaluation) -> Node:
    """With the values of functions, where they are known: AWS::Serverless accepts none in some properties."""
    if is_function(node) and not sources_of(value := evaluation.value(node)):
        return value
    if isinstance(node, Mapping):
        return {key: _settled(below, evaluation) for key, below in node.items()}
    return [_settled(item, evaluation) for item in node] if isinstance(node, list) else node


class _UnknownLoopError(Exception):
    """Only CloudFormation knows the collection of the loop with this key."""


class _Loops:
    def __init__(self, template: Template, names: Mapping[str, Evaluated]) -> None:
        self._template = template
        # A collection may use parameters and mappings, and nothing that only the stack has.
        self._evaluation = Evaluation({"Mappings": template.get("Mappings")}, names)
        self._copies = 0

    def expanded(self) -> Mapping[str, Node]:
        return {key: self._expanded(below, {}) for key, below in self._template.items()}

    def _expanded(self, node: Node, variables: Mapping[str, str]) -> Node:
        if isinstance(node, list):
            return [self._expanded(item, variables) for item in node]
        if not isinstance(node, Mapping):
            return node
        if len(node) == 1:
            ((name, argument),) = node.items()
            if name == "Ref" and isinstance(argument, str) and argument in variables:
                return variables[argument]
            if name == "Fn::Sub" and variables:
                return {name: self._substituted(argument, variables)}
        return self._entries(node, variables)

    def _entries(self, node: Mapping[str, Node], variables: Mapping[str, str]) -> dict[str, Node]:
        """The entries of a map, in which each loop is replaced by its copies."""
        found: dict[str, Node] = {}
        for key, below in node.items():
            if key.startswith(FOR_EACH):
                found |= self._unrolled(key, below, variables)
            else:
                found[_replaced(key, variables)] = self._expanded(below, variables)
        return found

    def _unrolled(self, key: str, loop: Node, variables: Mapping[str, str]) -> dict[str, Node]:
        """The copies of a loop with this key, as it is written: a replaced identifier may be a parameter's value."""
        match loop:
            case [str(variable), collection, Mapping() as body]:
                pass
            case _:
                raise _unexpandable(key, "it must be a list of an identifier, a collection and a map")
        if any(unreplaced_in(body, variable)):
            raise _UnknownLoopError(key)
        found: dict[str, Node] = {}
        for item in self._items(key, self._expanded(collection, variables)):
            self._copies += 1
            if self._copies > _MOST_COPIES:
                raise _unexpandable(key, f"it would make more than {_MOST_COPIES:,} copies. Shorten its collection")
            found |= self._entries(body, {**variables, variable: item})
        return found

    def _items(self, key: str, collection: Node) -> list[str]:
        found = self._evaluation.value(collection)
        sources = sources_of(found)
        if sources and not any(each.kind is SourceKind.INVALID for each in sources):
            raise _UnknownLoopError(key)
        if not isinstance(found, list) or not all(isinstance(each, str | int | float) for each in found):
            problem = "its collection must be a list of texts: written out, or of a parameter or a mapping. Correct it"
            raise _unexpandable(key, problem)
        return [text_of(each) for each in found]

    def _substituted(self, given: Node, variables: Mapping[str, str]) -> AnyJson:
        if isinstance(given, str):
            return _replaced(given, variables, "$")
        if isinstance(given, list) and given and isinstance(given[0], str):
            return [_replaced(given[0], variables, "$"), *(self._expanded(each, variables) for each in given[1:])]
        return self._expanded(given, variables)


def _unexpandable(loop: str, problem: str) -> UsageError:
    """The error for a loop that CloudFormation's transform would refuse, given its key: `Fn::ForEach::Buckets`."""
    return UsageError(f"{cut(loop, 120)} cannot be expanded: {problem}.")


def _replaced(text: str, variables: Mapping[str, str], signs: str = "$&") -> str:
    """A text with identifiers replaced; `&{…}` stands for the value without what logical IDs may not have."""
    for variable, value in variables.items():
        if "&" in signs:
            text = text.replace(f"&{{{variable}}}", re.sub("[^A-Za-z0-9]", "", value))
        text = text.replace(f"${{{variable}}}", value)
    return text
