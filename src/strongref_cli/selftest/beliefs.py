"""What strongref believes about AWS, in one list: beliefs.csv, of which the table in docs/how-it-works.md is made."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """What a look at AWS has shown of a belief."""

    holds: bool | None  # whether it is as it is believed to be; None if that could not be seen
    seen: str  # what it was like
    setting: str = ""  # the installation's parameter that follows from it, as `ReadLag=2`; empty if none does


class Belief(NamedTuple):
    """Something that the code relies on."""

    name: str  # as in the report
    says: str
    where: str  # the module that relies on it: in layers/core/strongref, or in the repository
    source: str  # AWS's page that says so, by its title, or `undocumented`
    shown_by: str  # the check or the probe that looks at it; empty if nothing can


_LIST = Path(__file__).with_name("beliefs.csv").read_text(encoding="utf-8")
BELIEFS = tuple(Belief(**row) for row in csv.DictReader(_LIST.splitlines()))
