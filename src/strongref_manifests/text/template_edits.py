"""Changes of a template made in its text: what they do not touch stays, character by character, comments included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.macro.template import MACRO
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.edits_in_place import EditsInPlace
from strongref_manifests.text.nodes import spliced
from strongref_manifests.text.templates import TemplateText, canonical
from strongref_manifests.text.templates import content as read_content

if TYPE_CHECKING:
    from strongref.macro.edits import TemplateEdits
    from strongref_toolkit.json_values import Path

_TRANSFORM = "Transform"


def parameters(content: Mapping[str, Any]) -> dict[str, Any]:
    """The transform's own parameters, as its section has them."""
    for each in _listed(content.get(_TRANSFORM)):
        if isinstance(each, Mapping) and each.get("Name") == MACRO:
            given = each.get("Parameters")
            return dict(given) if isinstance(given, Mapping) else {}
    return {}


def changed(template: TemplateText, plan: TemplateEdits) -> str:
    """The text with a plan carried out, and without the macro in its section `Transform`.

    Raises:
        ManifestError: what changes stands under an anchor that is used elsewhere too, or in a style of YAML in which it
            cannot be replaced.
    """
    listed = _listed(template.content.get(_TRANSFORM))
    left = [each for each in listed if not _is_ours(each)]
    ours = len(left) < len(listed)
    if not ours and not plan:
        return template.text
    content = plan.apply(template.content)
    if ours:
        content = {key: value for key, value in content.items() if key != _TRANSFORM or left}
        content |= {_TRANSFORM: left} if left else {}
    macros = _macros(listed)
    edits = EditsInPlace(template, [*plan.removals, *macros])
    moved = {path for each in plan.additions for origin in each.origins for path in (origin, origin[:-1])}
    text_edits = [
        *map(edits.renaming, plan.renamings),
        *map(edits.replacement, plan.replacements),
        *(edits.removal(each, moves=each in moved) for each in plan.removals),
        *edits.additions(plan.additions),
        *map(edits.removal, macros),
    ]
    text_edits += edits.kept_comments(text_edits)
    result = spliced(template.text, text_edits)
    if canonical(read_content(result, is_json=template.is_json)) != canonical(content):
        problem = "its references cannot be replaced in the style in which it is written"
        raise ManifestError(template.file, None, f"{problem}; write it in a plainer one, or as JSON")
    return result


def _listed(given: object) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _macros(listed: list[Any]) -> list[Path]:
    """The paths of the macro in its section, or of the section if nothing else is in it; comments stay."""
    ours = [number for number, each in enumerate(listed) if _is_ours(each)]
    return [(_TRANSFORM, number) for number in ours] if len(ours) < len(listed) else [(_TRANSFORM,)] if ours else []


def _is_ours(each: object) -> bool:
    return each == MACRO or (isinstance(each, Mapping) and each.get("Name") == MACRO)
