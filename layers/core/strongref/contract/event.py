"""A CloudFormation event, validated and typed. Pure.

Powertools' `CloudFormationCustomResourceEvent` reads the same fields but checks none of them. An event without one of
them must never get any further: its response could go to the URL of the event before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from strongref.contract.continuation import CONTINUATION_FIELD, SERVICE_TIMEOUT, Continuation, service_timeout
from strongref.contract.names import StackArn
from strongref.contract.origin import requested_at, signed_at
from strongref.contract.record import RequestStamp
from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from datetime import datetime


class RequestType(StrEnum):
    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"


@dataclass(frozen=True, slots=True)
class ResponseTarget:
    """The fields of an event that a response needs. A malformed event may still have them."""

    stack: str
    logical_id: str
    request_id: str
    physical_id: str | None
    response_url: str = field(repr=False)

    @classmethod
    def find(cls, raw: Mapping[str, object]) -> ResponseTarget | None:
        """Where to send a response; None if a field is missing."""
        physical_id = raw.get("PhysicalResourceId")
        try:
            return cls(
                stack=_text(raw, "StackId"),
                logical_id=_text(raw, "LogicalResourceId"),
                request_id=_text(raw, "RequestId"),
                physical_id=physical_id if isinstance(physical_id, str) and physical_id else None,
                response_url=_url(raw, "ResponseURL"),
            )
        except MalformedEventError:
            return None


class MalformedEventError(StrongRefError):
    field_name: str
    problem: str  # what is wrong with it; never its value
    response_target: ResponseTarget | None = field(default=None, repr=False)  # where a response can be sent anyway
    sentence = "Not a CloudFormation event: {field_name} {problem}."


@dataclass(frozen=True, slots=True)
class Event:
    """One request from CloudFormation (AWS: CloudFormation User Guide, custom resource request objects)."""

    request_type: RequestType  # the requested operation
    stack: str  # the stack's ARN
    logical_id: str  # the resource's name in the template
    request_id: str  # the ID of this request; the response repeats it
    physical_id: str | None  # the resource's physical ID; None on Create
    properties: Mapping[str, object] = field(repr=False)  # from the template; values may be secrets
    old_properties: Mapping[str, object] | None = field(repr=False)  # on Update, the previous ones
    response_url: str = field(repr=False)  # where to send the response; presigned, so a secret
    resource_type: str  # as in `Custom::CrossRegionExport`
    requested: datetime | None = None  # when CloudFormation sent it (UTC); None if the response URL does not say
    service_timeout: float = SERVICE_TIMEOUT  # the seconds that CloudFormation waits for a response, from then
    continuation: Continuation | None = None  # which invocation for this event it is; None for the first

    @classmethod
    def parse(cls, raw: object) -> Event:
        """Read an event; raises `MalformedEventError` if a field is missing or has the wrong type."""
        if not isinstance(raw, Mapping):
            raise MalformedEventError("the event", "must be a map")
        try:
            return cls._parse(raw)
        except MalformedEventError as error:
            error.response_target = ResponseTarget.find(raw)
            raise

    @classmethod
    def _parse(cls, raw: Mapping[str, object]) -> Event:
        kind = _text(raw, "RequestType")
        if kind not in list(RequestType):
            raise MalformedEventError("RequestType", "must be Create, Update or Delete")
        stack = _text(raw, "StackId")
        if StackArn.find(stack) is None:
            raise MalformedEventError("StackId", "must be a stack ARN")
        response_url = _url(raw, "ResponseURL")
        requested = requested_at(response_url)
        return cls(
            request_type=RequestType(kind),
            stack=stack,
            logical_id=_text(raw, "LogicalResourceId"),
            request_id=_text(raw, "RequestId"),
            physical_id=None if kind == RequestType.CREATE else _text(raw, "PhysicalResourceId"),
            properties=_map(raw, "ResourceProperties"),
            old_properties=_map(raw, "OldResourceProperties") if kind == RequestType.UPDATE else None,
            response_url=response_url,
            resource_type=_text(raw, "ResourceType"),
            requested=requested,
            service_timeout=service_timeout(raw["ResourceProperties"]),
            continuation=_continuation(raw, requested),
        )

    @property
    def stamp(self) -> RequestStamp | None:
        """Which request it is; None if it does not say when it was sent."""
        return RequestStamp(self.requested, self.request_id) if self.requested else None

    @property
    def signed(self) -> datetime | None:
        """`requested`, but only where the response URL says it."""
        return signed_at(self.response_url)

    def invocation(self, now: datetime) -> Continuation:
        """Which invocation for this event it is; the first, if there was none before, may have started now."""
        return self.continuation or Continuation(1, self.requested or now, self.service_timeout)

    @property
    def log_keys(self) -> dict[str, str]:
        """The fields that every log line of the invocation has."""
        return {
            "stack": self.stack,
            "logical_id": self.logical_id,
            "request": self.request_id,
            "request_type": self.request_type.value,
        }

    @property
    def stack_arn(self) -> StackArn:
        return StackArn.parse(self.stack)


def _text(raw: Mapping[str, object], name: str) -> str:
    given = raw.get(name)
    if not isinstance(given, str) or not given:
        raise MalformedEventError(name, "is missing or not a string")
    return given


def _continuation(raw: Mapping[str, object], requested: datetime | None) -> Continuation | None:
    try:
        found = Continuation.parse(raw)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise MalformedEventError(CONTINUATION_FIELD, "was not written by strongref") from None
    return replace(found, since=requested) if found and requested else found


def _url(raw: Mapping[str, object], name: str) -> str:
    given = _text(raw, name)
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise MalformedEventError(name, "must be an HTTP URL")
    return given


def _map(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    given = raw.get(name)
    if not isinstance(given, Mapping):  # Missing too: a Delete without properties would delete nothing.
        raise MalformedEventError(name, "is missing or not a map")
    return given
