"""The values of a template's parameters: given, kept from the last deployment, or their defaults. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strongref_cli.check.errors import ParametersNotGivenError, UnknownParametersError
from strongref_cli.check.unknown import Evaluated, SourceKind, Unknown, plain, text_of, unknown_of
from strongref_manifests.text.template_writing import Bare
from strongref_toolkit.cloudformation import HIDDEN
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from strongref.macro.template import Template

_STORED = "AWS::SSM::Parameter::Value<"
"""What the type of a parameter begins with whose value CloudFormation reads from Parameter Store."""


@dataclass(frozen=True, slots=True)
class Described:
    """Parameters as CloudFormation describes those of a stack or of a change set."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    resolved: Mapping[str, str] = field(default_factory=dict, repr=False)  # what it read from Parameter Store

    @classmethod
    def of(cls, listed: Iterable[Mapping[str, Any]]) -> Described:
        listed = list(listed)
        values = {each["ParameterKey"]: each.get("ParameterValue", "") for each in listed}
        return cls(values, {each["ParameterKey"]: each["ResolvedValue"] for each in listed if "ResolvedValue" in each})

    def names(self, template: Template, *, hidden: SourceKind) -> dict[str, Evaluated]:
        """What `Ref` gives for each parameter; of which kind those are that CloudFormation does not show."""
        found: dict[str, Evaluated] = {}
        for name, declared in _declared(template).items():
            text = self.resolved.get(name, self.values.get(name))
            if text is None or text == HIDDEN:
                found[name] = _unknown(name, hidden)
            elif _is_stored(declared) and name not in self.resolved:
                found[name] = _unknown(name, SourceKind.CHANGING)
            else:
                found[name] = _typed(declared, text)
        return found


def new_names(template: Template, given: Mapping[str, str], previous: Described | None) -> dict[str, Evaluated]:
    """What `Ref` gives for each parameter of a new template.

    As with `aws cloudformation deploy`, a parameter that is not given keeps its value, and a new one has its default.
    `previous` is None for a stack that does not exist.

    Raises:
        UnknownParametersError: a given one is not declared.
        ParametersNotGivenError: one has neither a value nor a default.
    """
    declared = _declared(template)
    if unknown := [name for name in given if name not in declared]:
        raise UnknownParametersError(unknown)
    kept = previous.values if previous else {}
    found: dict[str, Evaluated] = {}
    missing = []
    for name, each in declared.items():
        text = given.get(name, kept.get(name))
        if text is None and "Default" in each:
            default = plain(each["Default"]) if isinstance(each["Default"], Bare) else each["Default"]
            if isinstance(default, Unknown):
                found[name] = default
                continue
            text = text_of(default)
        if text is None:
            missing.append(name)
        elif _is_stored(each):
            found[name] = _unknown(name, SourceKind.CHANGING)
        elif text == HIDDEN and name not in given:
            found[name] = _unknown(name, SourceKind.FIXED)
        else:
            found[name] = _typed(each, text)
    if missing:
        raise ParametersNotGivenError(missing)
    return found


def kept_or_given(template: Template, given: Mapping[str, str], previous: Described | None) -> dict[str, str | None]:
    """The parameters of a change set; None for one that keeps its value. The others have their defaults.

    Errors are as for `new_names`.
    """
    new_names(template, given, previous)
    kept = previous.values if previous else {}
    return {name: given.get(name) for name in _declared(template) if name in given or name in kept}


def _declared(template: Template) -> dict[str, Mapping[str, object]]:
    return {str(name): each for name, each in mapping(template.get("Parameters")).items() if isinstance(each, Mapping)}


def _is_stored(declared: Mapping[str, object]) -> bool:
    return str(declared.get("Type", "")).startswith(_STORED)


def _typed(declared: Mapping[str, object], text: str) -> Evaluated:
    kind = str(declared.get("Type", ""))
    is_list = kind == "CommaDelimitedList" or "List<" in kind or "<CommaDelimitedList>" in kind
    return [item.strip() for item in text.split(",")] if is_list else text


def _unknown(name: str, kind: SourceKind) -> Unknown:
    return unknown_of(kind, f"parameter {name}", {"Ref": name})
