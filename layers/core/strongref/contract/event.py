"""A CloudFormation event, validated and typed. Pure.

Powertools' `CloudFormationCustomResourceEvent` reads the same fields but checks none of them. An event without one of
them must never get any further: its response could go to the URL of the event before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from strongref.contract.continuation import (
    CONTINUATION_FIELD,
    SERVICE_TIMEOUT,
    BadContinuationError,
    Continuation,
    service_timeout,
)
from strongref.contract.names import BadArnError, StackArn
from strongref.errors import StrongRefError


class RequestType(StrEnum):
    """The operation that CloudFormation requests."""

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
    """The function was invoked with something that is not a CloudFormation event."""

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
    service_timeout: float = SERVICE_TIMEOUT  # the seconds that CloudFormation waits for a response
    continuation: Continuation | None = None  # which invocation for this event it is; None for the first

    @classmethod
    def parse(cls, raw: object) -> Event:
        """Validate and read an event.

        Raises:
            MalformedEventError: a field is missing or has the wrong type.
        """
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
        try:
            StackArn.parse(stack)
        except BadArnError:
            raise MalformedEventError("StackId", "must be a stack ARN") from None
        return cls(
            request_type=RequestType(kind),
            stack=stack,
            logical_id=_text(raw, "LogicalResourceId"),
            request_id=_text(raw, "RequestId"),
            physical_id=None if kind == RequestType.CREATE else _text(raw, "PhysicalResourceId"),
            properties=_map(raw, "ResourceProperties"),
            old_properties=_map(raw, "OldResourceProperties") if kind == RequestType.UPDATE else None,
            response_url=_url(raw, "ResponseURL"),
            resource_type=_text(raw, "ResourceType"),
            service_timeout=service_timeout(raw["ResourceProperties"]),
            continuation=_continuation(raw),
        )

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
    def stack_name(self) -> str:
        return StackArn.parse(self.stack).name

    @property
    def partition(self) -> str:
        return StackArn.parse(self.stack).partition

    @property
    def region(self) -> str:
        return StackArn.parse(self.stack).region

    @property
    def account(self) -> str:
        return StackArn.parse(self.stack).account


def _text(raw: Mapping[str, object], name: str) -> str:
    given = raw.get(name)
    if not isinstance(given, str) or not given:
        raise MalformedEventError(name, "is missing or not a string")
    return given


def _continuation(raw: Mapping[str, object]) -> Continuation | None:
    try:
        return Continuation.parse(raw)
    except BadContinuationError:
        raise MalformedEventError(CONTINUATION_FIELD, "was not written by strongref") from None


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
