"""EventBridge: notices are sent as events to one bus. One try for each call, and no rate limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from strongref.arns import Arn
from strongref.aws.retry import CallFailedError
from strongref.contract.notices import SOURCE, Notice
from strongref.errors import ServiceError

if TYPE_CHECKING:
    from strongref.untyped import Untyped

MAX_ENTRIES = 10
"""Events of one call (AWS: PutEvents)."""

MAX_BYTES = 250_000
"""Bytes of the events of one call; AWS's limit is 256 KB."""


@dataclass(frozen=True, slots=True)
class EventBus:
    """An event bus, which may be another account's or another region's."""

    name: str  # or its ARN
    region: str  # where a bus is that is given by name
    client_in: Callable[[str], Untyped]  # the client of a region, as from `clients.Clients.events`

    def put(self, notices: Sequence[Notice]) -> None:
        """Send notices, up to ten in a call.

        Raises:
            ServiceError: EventBridge did not accept all of them. It never has botocore's error in its context.
        """
        arn = Arn.parse(self.name)
        region = arn.region if arn else self.region
        code = ""
        for entries in _batches([self._entry(notice) for notice in notices]):
            try:
                response = self.client_in(region).put_events(Entries=entries)
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code", "Unknown")
                request_id = error.response.get("ResponseMetadata", {}).get("RequestId", "")
                CallFailedError(code, request_id=request_id).log("PutEvents", region)
            except BotoCoreError as error:
                code = type(error).__name__
            else:
                code = next(filter(None, (each.get("ErrorCode") for each in response["Entries"])), code)
        if code:
            raise ServiceError("PutEvents", code, self.name, region)

    def _entry(self, notice: Notice) -> dict[str, Any]:
        return {
            "Source": SOURCE,
            "DetailType": notice.type.value,
            "Detail": notice.body,
            "Resources": list(notice.resources),
            "EventBusName": self.name,
        }


def _batches(entries: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The entries in groups that one call takes."""
    batch: list[dict[str, Any]] = []
    for entry in entries:
        if batch and (len(batch) == MAX_ENTRIES or sum(map(_size, [*batch, entry])) > MAX_BYTES):
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch


def _size(entry: dict[str, Any]) -> int:
    """Bytes of an entry (AWS: EventBridge User Guide, PutEvents event entry size)."""
    texts = (entry["Source"], entry["DetailType"], entry["Detail"], *entry["Resources"])
    return sum(len(text.encode()) for text in texts)
