"""Carries out the functions of a template, as far as its parameters allow. Pure.

Whatever only CloudFormation knows is an `Unknown`, and so is what CloudFormation would not accept: nothing is raised.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeVar

from strongref_cli.check.unknown import (
    ABSENT,
    Absent,
    Evaluated,
    Source,
    SourceKind,
    Unknown,
    call,
    concatenated,
    dynamic_text,
    equal,
    expression_of,
    invalid,
    plain,
    sources_of,
    text_of,
    unknown_of,
)
from strongref_manifests.text.template_writing import Bare
from strongref_toolkit.json_values import mapping, texts_in

if TYPE_CHECKING:
    from strongref.macro.template import Node

T = TypeVar("T")

_VARIABLE = re.compile(r"\$\{([^}]*)\}")

CONDITION_FUNCTIONS = ("Fn::And", "Fn::Or", "Fn::Not", "Fn::Equals")


class Evaluation:
    """A template after its transforms, with functions in their long forms, and what `Ref` gives for parameters."""

    def __init__(self, template: Mapping[str, Node], names: Mapping[str, Evaluated]) -> None:
        self._names = names
        self._mappings = mapping(template.get("Mappings"))
        self._resources = mapping(template.get("Resources"))
        self._conditions: dict[str, bool | Unknown] = {}
        self._functions: Mapping[str, Callable[[Node], Evaluated | Absent]] = {
            "Ref": self._ref,
            "Fn::Base64": partial(
                self._computed, "Fn::Base64", str, lambda text: b64encode(text.encode("utf-8", "replace")).decode()
            ),
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAtt": self._attribute,
            "Fn::GetStackOutput": partial(self._deployed, "Fn::GetStackOutput", kind=SourceKind.CHANGING),
            "Fn::If": self._if,
            "Fn::Join": self._join,
            "Fn::Length": partial(self._computed, "Fn::Length", list, len),
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::Sub": self._substitute,
            "Fn::ToJsonString": self._to_json,
            **{each: partial(self._deployed, each) for each in ("Fn::Cidr", "Fn::GetAZs", "Fn::ImportValue")},
        }
        self._evaluate_conditions(mapping(template.get("Conditions")))

    def value(self, node: Node) -> Evaluated:
        """The value of a part of the template. `AWS::NoValue` at its top counts as invalid."""
        found = self._value(node)
        return invalid("AWS::NoValue", None) if isinstance(found, Absent) else found

    def condition(self, name: object) -> bool | Unknown:
        found = self._conditions.get(name) if isinstance(name, str) else None
        return invalid(f"Condition {name}", None) if found is None else found

    def _value(self, node: Node) -> Evaluated | Absent:
        if isinstance(node, list):
            items = (self._value(item) for item in node)
            return [item for item in items if not isinstance(item, Absent)]
        if isinstance(node, Mapping):
            if len(node) == 1:
                ((name, argument),) = node.items()
                if name in self._functions or str(name).startswith("Fn::"):
                    return self._called(str(name), argument)
            below = ((str(key), self._value(each)) for key, each in node.items())
            return {key: each for key, each in below if not isinstance(each, Absent)}
        if isinstance(node, Bare):
            return plain(node)
        if isinstance(node, str):
            return dynamic_text(node)
        return node if node is None or isinstance(node, bool | int | float) else invalid("value", None)

    def _called(self, function: str, argument: Node) -> Evaluated | Absent:
        if function in self._functions:
            return self._functions[function](argument)
        if function in CONDITION_FUNCTIONS:
            return self._holds({function: argument})
        given = self._value(argument)
        return invalid(function, {function: None if isinstance(given, Absent) else expression_of(given)})

    def _evaluate_conditions(self, conditions: Mapping[str, Node]) -> None:
        """All conditions, each after those that it refers to: nested as deep as they may be, no stack overflows."""
        uses = {name: conditions.keys() & _conditions_in(node) for name, node in conditions.items()}
        with suppress(CycleError):  # CloudFormation refuses such a template
            for name in TopologicalSorter(uses).static_order():
                self._conditions[name] = self._holds(conditions[name])

    def _holds(self, node: Node) -> bool | Unknown:
        holds: bool | Unknown = invalid("condition", None)
        match node:
            case {"Condition": str(name)} if len(node) == 1:
                holds = self.condition(name)
            case {"Condition": {"Condition": _} as named} if len(node) == 1:  # as `AWS::Serverless` writes it
                holds = self._holds(named)
            case {"Fn::Not": [term]}:
                found = self._holds(term)
                holds = call("Fn::Not", [found]) if isinstance(found, Unknown) else not found
            case {"Fn::And": [*terms]}:
                holds = self._combined("Fn::And", [self._holds(term) for term in terms], decisive=False)
            case {"Fn::Or": [*terms]}:
                holds = self._combined("Fn::Or", [self._holds(term) for term in terms], decisive=True)
            case {"Fn::Equals": [left, right]}:
                holds = equal(self.value(left), self.value(right))
            case bool():
                holds = node
            case "true" | "false":
                holds = node == "true"
        return holds

    @staticmethod
    def _combined(function: str, terms: list[bool | Unknown], *, decisive: bool) -> bool | Unknown:
        unknown = [term for term in terms if isinstance(term, Unknown)]
        if decisive in [term for term in terms if isinstance(term, bool)]:
            return decisive
        return call(function, list(unknown)) if unknown else not decisive

    def _ref(self, given: Node) -> Evaluated | Absent:
        name = self._value(given)
        if name == "AWS::NoValue":
            return ABSENT
        if not isinstance(name, str):
            return invalid("Ref", expression_of(name) if not isinstance(name, Absent) else None)
        return self._names[name] if name in self._names else self._resource(name, "")

    def _attribute(self, given: Node) -> Evaluated:
        parts = given.partition(".")[::2] if isinstance(given, str) else given
        if not isinstance(parts, list | tuple) or len(parts) < 2:  # noqa: PLR2004 (a resource and an attribute)
            return invalid("Fn::GetAtt", None)
        names = [self.value(part) for part in parts]
        if sources_of(names):
            return call("Fn::GetAtt", names)
        if not all(isinstance(name, str) for name in names):
            return invalid("Fn::GetAtt", None)
        return self._resource(str(names[0]), ".".join(map(str, names[1:])))

    def _resource(self, logical_id: str, attribute: str) -> Unknown:
        if logical_id not in self._resources:
            return invalid(f"Ref of {logical_id}", [logical_id, attribute])
        expression = {"Fn::GetAtt": [logical_id, attribute]} if attribute else {"Ref": logical_id}
        return unknown_of(SourceKind.RESOURCE, logical_id, expression, attribute)

    def _deployed(self, function: str, given: Node, kind: SourceKind = SourceKind.FIXED) -> Evaluated:
        """What CloudFormation computes or looks up."""
        found = self.value(given)
        shown = f"{function} {found}" if isinstance(found, str) and found else function
        return Unknown({function: expression_of(found)}, sources_of(found) | {Source(kind, shown)})

    def _if(self, given: Node) -> Evaluated | Absent:
        if not isinstance(given, list) or len(given) != 3:  # noqa: PLR2004 (a condition and two values)
            return invalid("Fn::If", None)
        holds = self.condition(given[0])
        if isinstance(holds, bool):
            return self._value(given[1 if holds else 2])
        branches = [self._value(each) for each in given[1:]]
        present = [each for each in branches if not isinstance(each, Absent)]
        expressions = [None if isinstance(each, Absent) else expression_of(each) for each in branches]
        if len(present) == len(branches) and expressions[0] == expressions[1]:
            return present[0]
        sources = holds.sources.union(*map(sources_of, present))
        optional = len(present) < len(branches) or any(isinstance(each, Unknown) and each.optional for each in present)
        return Unknown({"Fn::If": [holds.expression, *expressions]}, sources, optional)

    def _find_in_map(self, given: Node) -> Evaluated | Absent:
        if not isinstance(given, list) or len(given) not in (3, 4):
            return invalid("Fn::FindInMap", None)
        keys = [self.value(each) for each in given[:3]]
        if sources_of(keys):
            return call("Fn::FindInMap", keys)
        found: Node = self._mappings
        for key in keys:
            found = found.get(text_of(key)) if isinstance(found, Mapping) else None
        if found is not None:
            return self._value(found)
        match given[3:]:
            case [{"DefaultValue": default}]:
                return self._value(default)
        return invalid("Fn::FindInMap", [expression_of(key) for key in keys])

    def _join(self, given: Node) -> Evaluated:
        match given:
            case [str(separator), items]:
                values = self.value(items)
                if isinstance(values, Unknown):
                    return call("Fn::Join", [separator, values])
                if isinstance(values, list):
                    parts = [part for item in values for part in (separator, item)][1:]
                    return concatenated(parts)
        return invalid("Fn::Join", None)

    def _substitute(self, given: Node) -> Evaluated:
        match given:
            case str(text):
                variables: Mapping[str, Node] = {}
            case [str(text), Mapping() as variables]:
                pass
            case _:
                return invalid("Fn::Sub", None)
        parts = enumerate(_VARIABLE.split(text))  # Every second one is a variable.
        return concatenated([self._variable(each.strip(), variables) if at % 2 else each for at, each in parts])

    def _variable(self, name: str, variables: Mapping[str, Node]) -> Evaluated:
        if name.startswith("!"):
            return f"${{{name[1:]}}}"
        if name in variables:
            return self.value(variables[name])
        logical_id, _, attribute = name.partition(".")
        if attribute and name not in self._names:
            return self._resource(logical_id, attribute)
        found = self._ref(name)
        return "" if isinstance(found, Absent) else found

    def _select(self, given: Node) -> Evaluated:
        match given:
            case [index, items]:
                at, values = self.value(index), self.value(items)
                if isinstance(at, Unknown) or isinstance(values, Unknown):
                    return call("Fn::Select", [at, values])
                if isinstance(values, list) and text_of(at).isdecimal() and int(text_of(at)) < len(values):
                    return values[int(text_of(at))]
        return invalid("Fn::Select", None)

    def _split(self, given: Node) -> Evaluated:
        match given:
            case [str(separator), whole] if separator:
                value = self.value(whole)
                if isinstance(value, Unknown):
                    return call("Fn::Split", [separator, value])
                if isinstance(value, str):
                    return list(value.split(separator))
        return invalid("Fn::Split", None)

    def _computed(self, function: str, kind: type[T], compute: Callable[[T], Evaluated], given: Node) -> Evaluated:
        """What a function makes of an argument of one type."""
        value = self.value(given)
        if isinstance(value, Unknown):
            return call(function, [value])
        return compute(value) if isinstance(value, kind) else invalid(function, None)

    def _to_json(self, given: Node) -> Evaluated:
        value = self.value(given)
        if sources_of(value):
            return call("Fn::ToJsonString", [value])
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _conditions_in(node: Node) -> Iterator[str]:
    return (text for path, text in texts_in(node) if path[-1:] == ("Condition",) or path[-2:] == ("Fn::If", 0))
