"""What strongref believes about AWS, in one list: beliefs.csv, of which the table in docs/how-it-works.md is made."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """What a look at AWS has shown of a belief.

    Attributes:
        holds: whether it is as it is believed to be; None if that could not be seen.
        seen: what it was like.
        setting: the installation's parameter that follows from it, as `ReadLag=2`; empty if none does.
    """

    holds: bool | None
    seen: str
    setting: str = ""


class Belief(NamedTuple):
    """Something that the code relies on.

    Attributes:
        name: as in the report.
        says: what is believed.
        where: the module that relies on it: in layers/core/strongref, or in the repository.
        source: AWS's page that says so, by its title, or `undocumented`.
        shown_by: the check or the probe that looks at it; empty if nothing can.
    """

    name: str
    says: str
    where: str
    source: str
    shown_by: str


def _listed() -> tuple[Belief, ...]:
    with Path(__file__).with_name("beliefs.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Belief(**row) for row in csv.DictReader(file))


BELIEFS = _listed()
