"""Writes the version of `strongref/__init__.py` into the template, which cannot read it. `make texts` runs it.

A test checks that they agree.
"""

from __future__ import annotations

import re
import sys

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


def main() -> int:
    TEMPLATE.write_text(with_version(TEMPLATE.read_text("utf-8"), version_of(ROOT)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
