"""A note of what a rollback returned to an import without protection: a parameter in the import's region. Pure.

It stays until that generation of the import has claimed everything, or is gone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from strongref.contract.names import CLAIM_TAG, BadArnError, StackArn

UNCLAIMED = "/strongref/unclaimed"
"""The path of all notes of a region, without a slash at its end."""


@dataclass(frozen=True, slots=True)
class Unclaimed:
    importer: str  # the ARN of the importing stack
    claim: str  # the key of its claims' tags
    names: str = ""  # what is not protected, for people

    @property
    def name(self) -> str:
        return f"{UNCLAIMED}/{StackArn.parse(self.importer).name}/{self.claim.removeprefix(CLAIM_TAG)}"

    def encode(self) -> str:
        return json.dumps({"importer": self.importer, "names": self.names}, separators=(",", ":"))

    @classmethod
    def decode(cls, name: str, text: str) -> Unclaimed | None:
        """Read a note; None if strongref did not write it."""
        try:
            given = json.loads(text)
            return cls(str(StackArn.parse(given["importer"])), CLAIM_TAG + name.rpartition("/")[2], str(given["names"]))
        except (ValueError, KeyError, TypeError, RecursionError, BadArnError):
            return None
