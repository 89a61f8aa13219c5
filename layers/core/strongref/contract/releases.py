"""Traces of claims that a person took off: who did it, when and why. Pure.

A trace is a parameter in the region of the value, `/strongref/releases/<stack>/<key>/<time>-<claim>`, where stack and
key are the producer's. If that is too long, a hash stands for the key, and the trace's text has the key. The janitor
deletes it after 90 days.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from strongref.contract.format import check_format
from strongref.contract.names import CLAIM_TAG, MAX_NAME, Key, arn_prefix_length, short_hash
from strongref.errors import NewerFormatError

RELEASES = "/strongref/releases"
"""The path of all traces of a region, without a slash at its end."""

KEPT = timedelta(days=90)

LONGEST = MAX_NAME - arn_prefix_length("aws-us-gov", "ap-southeast-99", "0" * 12)
"""Characters of a trace's name, which is the same in every region."""

_TEXTS = ("consumer", "importer", "claim", "by")

MAX_REASON = 500
"""Characters of a reason: with everything else, it fits into a parameter, whatever they are."""


@dataclass(frozen=True, slots=True)
class Release:
    """A claim that was taken off."""

    producer: str  # the name of the exporting stack
    key: Key
    consumer: str  # for whom the value is exported
    importer: str  # what the claim said: the ARN of a stack
    claim: str  # the key of the claim's tag
    by: str  # the ARN of the person or role that took it off
    at: datetime  # (UTC, whole seconds)
    reason: str

    @property
    def name(self) -> str:
        return self._named(short_hash(self.key)) if self._is_long else self._named(self.key)

    def _named(self, key: str) -> str:
        return f"{RELEASES}/{self.producer}/{key}/{self.at:%Y%m%dT%H%M%SZ}-{self.claim.removeprefix(CLAIM_TAG)}"

    @property
    def _is_long(self) -> bool:
        """Whether the name with the key is too long. A value's own name may be shorter than that of its trace."""
        return len(self._named(self.key)) > LONGEST

    def encode(self) -> str:
        at = self.at.isoformat(timespec="seconds")
        texts = {name: getattr(self, name) for name in _TEXTS}
        key = {"key": self.key} if self._is_long else {}
        return json.dumps({**texts, **key, "at": at, "reason": self.reason}, separators=(",", ":"))

    @classmethod
    def decode(cls, name: str, text: str) -> Release | None:
        """Read a trace; None if it was not written by strongref, or by a later version in another format."""
        try:
            producer, *key, _ = name.removeprefix(f"{RELEASES}/").split("/")
            given = json.loads(text)
            check_format(name, given)
            at = datetime.fromisoformat(given["at"]).astimezone(UTC)
            consumer, importer, claim, by = (str(given[each]) for each in _TEXTS)
            full = str(given.get("key", "/".join(key)))
            return cls(producer, Key(full), consumer, importer, claim, by, at, str(given["reason"]))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError, NewerFormatError):
            return None

    def is_over(self, now: datetime) -> bool:
        """Whether it has been kept for long enough."""
        return now - self.at > KEPT
