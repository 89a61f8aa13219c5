"""The values of a template's parameters: given, kept from the last deployment, or their defaults. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.text import brief
from strongref_cli.check.unknown import Evaluated, SourceKind, Unknown, plain, text_of, unknown_of
from strongref_manifests.text.template_writing import Bare
from strongref_toolkit.cloudformation import HIDDEN, parameter_values
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from strongref.macro.template import Template

_STORED = "AWS::SSM::Parameter::Value<"
"""What the type of a parameter begins with whose value CloudFormation reads from Parameter Store."""


def described_names(template: Template, described: Mapping[str, Any], *, hidden: SourceKind) -> dict[str, Evaluated]:
    """What `Ref` gives for each parameter, given what CloudFormation shows of a stack or of a change set.

    `hidden` is the kind of the parameters that it does not show.
    """
    shown = parameter_values(described)
    # What CloudFormation read from Parameter Store.
    resolved = {
        each["ParameterKey"]: each["ResolvedValue"]
        for each in described.get("Parameters", ())
        if "ResolvedValue" in each
    }
    found: dict[str, Evaluated] = {}
    for name, declared in _declared(template).items():
        text = resolved.get(name, shown.get(name))
        if text is None or text == HIDDEN:
            found[name] = _unknown(name, hidden)
        elif _is_stored(declared) and name not in resolved:
            found[name] = _unknown(name, SourceKind.CHANGING)
        else:
            found[name] = _typed(declared, text)
    return found


def new_names(template: Template, given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, Evaluated]:
    """What `Ref` gives for each parameter of a new template.

    As with `aws cloudformation deploy`, a parameter that is not given keeps its value, and a new one has its default.

    Raises:
        UsageError: a given one is not declared, or one has neither a value nor a default.
    """
    declared = _declared(template)
    if unknown := [name for name in given if name not in declared]:
        raise UsageError(f"--parameters: the template has no {brief(unknown)}. Correct the names.")
    found: dict[str, Evaluated] = {}
    missing = []
    for name, each in declared.items():
        default = each.get("Default")
        value = given.get(name, kept.get(name, plain(default) if isinstance(default, Bare) else default))
        if value is None:
            missing.append(name)
        elif isinstance(value, Unknown):
            found[name] = value
        elif _is_stored(each):
            found[name] = _unknown(name, SourceKind.CHANGING)
        elif value == HIDDEN and name not in given:
            found[name] = _unknown(name, SourceKind.FIXED)
        else:
            found[name] = _typed(each, text_of(value))
    if missing:
        raise UsageError(
            f"Parameters without a value: {brief(missing)}. Give them with --parameters NAME=VALUE, or a file."
        )
    return found


def kept_or_given(template: Template, given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str | None]:
    """The parameters of a change set; None for one that keeps its value. The others have their defaults.

    Errors are as for `new_names`.
    """
    new_names(template, given, kept)
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
