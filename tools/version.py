"""The version of `strongref/__init__.py` in the template, which cannot read it."""

from __future__ import annotations

import re

from tools.release import ROOT, version_of

TEMPLATE = ROOT / "template.yaml"

_PLACES = (
    re.compile(r"(?m)^( +Description: strongref )\S+( and its dependencies)$"),
    re.compile(r"(?m)^(  Version:.*\n    Description: .*\n    Value: )\S+()$"),
)
"""The layer's description, and the output that `strongref status` reads."""


def with_version(template: str, version: str) -> str:
    """The template with this version in each place.

    Raises:
        ValueError: a place is not there exactly once.
    """
    for place in _PLACES:
        template, count = place.subn(rf"\g<1>{version}\g<2>", template)
        if count != 1:
            raise ValueError(f"{place.pattern} is in the template {count} times")
    return template


def written() -> str:
    """The template as it should be; errors as for `with_version`."""
    return with_version(TEMPLATE.read_text("utf-8"), version_of(ROOT))
