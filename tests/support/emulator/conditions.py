"""Conditions: AWS resolves the functions whose results they compare, the emulator only Ref and Fn::Select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ministack.services.cloudformation import changesets, engine, handlers, stacks

from tests.support.emulator import wrong

if TYPE_CHECKING:
    from collections.abc import Callable


BELIEFS = ("conditions",)


def install() -> None:
    """Patch the evaluation of conditions wherever it is used."""
    evaluate = resolving(engine._evaluate_conditions)
    for module in (changesets, engine, handlers, stacks):
        if hasattr(module, "_evaluate_conditions"):
            module._evaluate_conditions = evaluate


def resolving(evaluate: Callable[..., dict[str, bool]]) -> Callable[..., dict[str, bool]]:
    """Resolve what Fn::Equals compares before the emulator does."""

    def evaluating(template: dict[str, Any], params: dict[str, Any]) -> dict[str, bool]:
        def resolved(node: Any, *, compared: bool = False) -> Any:
            if isinstance(node, list):
                return [resolved(each, compared=compared) for each in node]
            if not isinstance(node, dict):
                return node
            if compared and wrong.is_wrong("conditions"):
                return "Fn::Join"
            if compared and "Condition" not in node and "Fn::Equals" not in node:
                return engine._resolve_refs(node, {}, params, {}, template.get("Mappings", {}), "", "")
            return {name: resolved(part, compared=name == "Fn::Equals") for name, part in node.items()}

        conditions = {name: resolved(each) for name, each in template.get("Conditions", {}).items()}
        return evaluate({**template, "Conditions": conditions}, params)

    return evaluating
