"""A CloudFormation event, validated and typed. Pure.

Powertools' `CloudFormationCustomResourceEvent` reads the same fields, but checks none of them; an event that lacks
one must never reach the envelope, which would answer to the place that the event before named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from strongref.address import BadArnError, StackArn
from strongref.errors import StrongRefError


class RequestType(StrEnum):
    """What CloudFormation asks for."""

    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"


class MalformedEventError(StrongRefError):
    """Something called the function with what is no event of CloudFormation's."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

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

    @classmethod
    def parse(cls, raw: object) -> Event:
        """Check and read an event.

        Raises:
            MalformedEventError: naming the field that is missing or of the wrong kind; never what it holds.
        """
        if not isinstance(raw, Mapping):
            raise MalformedEventError("the event", "is not a map")
        kind = _text(raw, "RequestType")
        if kind not in list(RequestType):
            raise MalformedEventError("RequestType", "is none of Create, Update and Delete")
        stack = _text(raw, "StackId")
        try:
            StackArn.parse(stack)
        except BadArnError:
            raise MalformedEventError("StackId", "is not a stack's ARN") from None
        url = _text(raw, "ResponseURL")
        if not url.startswith(("https://", "http://")):
            raise MalformedEventError("ResponseURL", "is not an http address")
        return cls(
            request_type=RequestType(kind),
            stack=stack,
            logical_id=_text(raw, "LogicalResourceId"),
            request_id=_text(raw, "RequestId"),
            physical_id=None if kind == RequestType.CREATE else _text(raw, "PhysicalResourceId"),
            properties=_map(raw, "ResourceProperties"),
            old_properties=_map(raw, "OldResourceProperties") if kind == RequestType.UPDATE else None,
            response_url=url,
            resource_type=_text(raw, "ResourceType"),
        )

    @property
    def stack_name(self) -> str:
        return StackArn.parse(self.stack).name

    @property
    def account(self) -> str:
        return StackArn.parse(self.stack).account


def _text(raw: Mapping[str, object], name: str) -> str:
    given = raw.get(name)
    if not isinstance(given, str) or not given:
        raise MalformedEventError(name, "is missing, or not a text")
    return given


def _map(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    given = raw.get(name, {})
    if not isinstance(given, Mapping):
        raise MalformedEventError(name, "is not a map")
    return given
