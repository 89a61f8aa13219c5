"""A CloudFormation event, validated and typed. Pure.

Powertools' `CloudFormationCustomResourceEvent` reads the same fields, but checks none of them; an event that lacks
one must never reach the envelope, which would answer to the place that the event before named.
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
    """What CloudFormation asks for."""

    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"


@dataclass(frozen=True, slots=True)
class ResponseTarget:
    """As much of an event as an answer to it needs; what a malformed one may still have."""

    stack: str
    logical_id: str
    request_id: str
    physical_id: str | None
    response_url: str = field(repr=False)

    @classmethod
    def find(cls, raw: Mapping[str, object]) -> ResponseTarget | None:
        """Whom to answer, if the event says so completely."""
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
    """Something called the function with what is no event of CloudFormation's.

    Attributes:
        name: of the field.
        problem: with it; never what it holds.
        sender: whom to answer all the same, if that can be told.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem
        self.sender: ResponseTarget | None = None

    def __str__(self) -> str:
        return f"Not a CloudFormation event: {self.name} {self.problem}."


@dataclass(frozen=True, slots=True)
class Event:
    """One request of CloudFormation's (AWS: CloudFormation User Guide, custom resource request objects).

    Attributes:
        request_type: what it asks for.
        stack: the stack's ARN.
        logical_id: the resource's name in the template.
        request_id: of this request; the answer repeats it.
        physical_id: the resource's, but on Create.
        properties: as the template has them; values may be secrets.
        old_properties: on Update, those before.
        response_url: where to answer; presigned, so a secret.
        resource_type: as in `Custom::CrossRegionExport`.
        service_timeout: the seconds that CloudFormation waits for an answer.
        turn: which invocation for it this is, if one before it has handed over.
    """

    request_type: RequestType
    stack: str
    logical_id: str
    request_id: str
    physical_id: str | None
    properties: Mapping[str, object] = field(repr=False)
    old_properties: Mapping[str, object] | None = field(repr=False)
    response_url: str = field(repr=False)
    resource_type: str
    service_timeout: float = SERVICE_TIMEOUT
    turn: Continuation | None = None

    @classmethod
    def parse(cls, raw: object) -> Event:
        """Check and read an event.

        Raises:
            MalformedEventError: naming the field that is missing or of the wrong kind; never what it holds.
        """
        if not isinstance(raw, Mapping):
            raise MalformedEventError("the event", "is not a map")
        try:
            return cls._parse(raw)
        except MalformedEventError as error:
            error.sender = ResponseTarget.find(raw)
            raise

    @classmethod
    def _parse(cls, raw: Mapping[str, object]) -> Event:
        kind = _text(raw, "RequestType")
        if kind not in list(RequestType):
            raise MalformedEventError("RequestType", "is none of Create, Update and Delete")
        stack = _text(raw, "StackId")
        try:
            StackArn.parse(stack)
        except BadArnError:
            raise MalformedEventError("StackId", "is not a stack's ARN") from None
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
            turn=_turn(raw),
        )

    @property
    def log_keys(self) -> dict[str, str]:
        """What every log line of its invocation carries."""
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
        raise MalformedEventError(name, "is missing, or not a text")
    return given


def _turn(raw: Mapping[str, object]) -> Continuation | None:
    try:
        return Continuation.parse(raw)
    except BadContinuationError:
        raise MalformedEventError(CONTINUATION_FIELD, "is not what an invocation hands over") from None


def _url(raw: Mapping[str, object], name: str) -> str:
    given = _text(raw, name)
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise MalformedEventError(name, "is not an http address")
    return given


def _map(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    given = raw.get(name)
    if not isinstance(given, Mapping):  # Missing too: a Delete without properties would seem to have nothing to do.
        raise MalformedEventError(name, "is missing, or not a map")
    return given
