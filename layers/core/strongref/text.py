"""Words for error texts: lists that end, texts that are cut, stacks by name. Pure; values never come here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


REASON_LIMIT = 1000
"""Characters of a reason, by our own contract; CloudFormation's limit is on the whole answer (4,096 bytes)."""


NAMES_LIMIT = 500
"""Characters of the names in a reason, so that room is left for who is concerned and for the next step."""


def some(names: Iterable[str], most: int = 10) -> str:
    """`a, b and c`, or the first `most` `and N more`."""
    listed = list(names)
    if len(listed) > most:
        return f"{', '.join(listed[:most])} and {len(listed) - most} more"
    return f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)


def os_problem(error: OSError) -> str:
    """What the operating system says of a failure, as it stands in a sentence: `permission denied`."""
    return (error.strerror or type(error).__name__).lower()


def stack_text(arn: str) -> str:
    """`stack web (us-east-1, 111111111111)` from a stack's ARN; what is no ARN is shown as it is.

    Of a set of manifests, which claims as stacks do, `manifests shop (111111111111)`.
    """
    if found := re.fullmatch(r"arn:[^:]+:cloudformation:([^:]+):(\d+):stack/([^/]+)/.*", arn):
        return f"stack {found[3]} ({found[1]}, {found[2]})"
    manifests = re.fullmatch(r"strongref:manifests:(\d+):([\w-]+)", arn)
    return f"manifests {manifests[2]} ({manifests[1]})" if manifests else f"'{arn}'"


def cut(text: str, most: int) -> str:
    """At most so many characters, with an ellipsis where something was left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def brief(names: Iterable[str]) -> str:
    return cut(some(names), NAMES_LIMIT)
