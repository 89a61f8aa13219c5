"""Helpers for error texts: short lists, cut texts, stacks by name. Pure; never used for values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import attrgetter
from string import Formatter

from strongref.arns import Arn

REASON_LIMIT = 1000
"""Characters of a reason; strongref's own limit. CloudFormation limits the whole response (4,096 bytes)."""

NAMES_LIMIT = 500
"""Characters of the names in a reason, to leave room for the stacks and the next step."""

MANIFEST_SET = re.compile(r"strongref:manifests:(\d+):([\w-]+)")
"""How the claims of a manifest set name it: its account and its name."""


PLACE = re.compile(r"strongref:place:(\d+):([a-z0-9-]+):([\w-]+)")
"""How the holds of a place in another account name it: the account, the region and the consumer."""


def some(names: Iterable[str], most: int = 10) -> str:
    """`a, b and c`, or the first `most` `and N more`."""
    listed = list(names)
    if len(listed) > most:
        return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"
    return f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)


def attribute_name(key: str) -> str:
    """A key of an export as people see it: as `Fn::GetAtt` spells it, with dots between levels."""
    return key.replace("/", ".")


def claimant(text: str) -> dict[str, str]:
    """Who claims, from the ARN of a stack or the ID of a manifest set; of the kind `other`, if it is neither.

    A place in another account, where somebody claims, is of the kind `consumer`.
    """
    arn, manifests, place = Arn.parse(text), MANIFEST_SET.fullmatch(text), PLACE.fullmatch(text)
    if arn and (stack := arn.stack):
        return {"kind": "stack", "name": stack[0], "region": arn.region, "account": arn.account}
    if place:
        return {"kind": "consumer", "name": place[3], "region": place[2], "account": place[1]}
    return {"kind": "manifests", "name": manifests[2], "account": manifests[1]} if manifests else {"kind": "other"}


def stack_text(arn: str) -> str:
    """`stack web (us-east-1, 111111111111)` for a stack ARN; any other text in quotes.

    A manifest set, which claims like a stack, is `manifests shop (111111111111)`.
    """
    who = claimant(arn)
    where = ", ".join(who[each] for each in ("region", "account") if each in who)
    return f"{who['kind']} {who['name']} ({where})" if "name" in who else f"'{arn}'"


def cut(text: str, most: int) -> str:
    """At most `most` characters, with an ellipsis if something was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def brief(names: Iterable[str]) -> str:
    """A list of names in at most `NAMES_LIMIT` characters."""
    return cut(some(names), NAMES_LIMIT)


def did_you_mean(close: Iterable[str], otherwise: str = "") -> str:
    """`Did you mean a or b?` for the most similar names; what else to say if there are none."""
    return f"Did you mean {names}?" if (names := " or ".join(cut(each, 120) for each in close)) else otherwise


def filled(sentence: str, source: object) -> str:
    """A sentence with the attributes of an object in its braces.

    `{name:120}` is cut to 120 characters, `{name!r:120}` is also in quotes; `{names:5}` names the first five of a list.
    """
    parts = []
    for literal, path, limit, quoted in Formatter().parse(sentence):
        parts.append(literal)
        if path is not None:
            value = attrgetter(path)(source)
            if isinstance(value, Iterable) and not isinstance(value, str):
                text = cut(some(value, int(limit or 10)), NAMES_LIMIT)
            else:
                text = cut(str(value), int(limit)) if limit else str(value)
            parts.append(repr(text) if quoted else text)
    return "".join(parts)
