"""Every call to Cloud Control: paged, paced, tried again, and its errors turned into ours by code."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from strongref.aws.retry_and_rate_limit import OUT_OF_TIME, CallFailedError, RegionalApi
from strongref.errors import (
    CloudControlError,
    LookUpDeniedError,
    NoSuchResourceError,
    PropertiesAskedError,
    UnsupportedError,
    WaitInterruptedError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mypy_boto3_cloudcontrol import CloudControlApiClient

    from strongref.errors import StrongRefError

T = TypeVar("T")

_ABSENT = "ResourceNotFoundException"
_INVALID = "InvalidRequestException"
_UNSUPPORTED = frozenset({"UnsupportedActionException", "TypeNotFoundException"})
_DENIED = frozenset({"AccessDeniedException", "AccessDenied", "UnauthorizedOperation", "InvalidCredentialsException"})
_HANDLER_FAILED = frozenset(
    {
        "ConcurrentModificationException",
        "HandlerFailureException",
        "HandlerInternalFailureException",
        "NetworkFailureException",
        "ServiceInternalErrorException",
    }
)
"""A type's own code failed, or its service (AWS: Cloud Control's errors that are faults): it may work when tried again,
but for some types it never does."""
_HANDLER_TRIES = 3

_ASKED = re.compile(r"(?:#((?:/\w+)*):\s*)?(?:required property:|required key)\s*\[([^\]]*)\]", re.IGNORECASE)
_PROPERTY = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,127}")


def asked_for(message: str) -> list[str]:
    """The properties that a list handler's error text says are missing; the rest of it may hold values.

    As in `Required property: [LoadBalancerArn]`, or `#: required key [FunctionName] not found`: one or several, in one
    pair of brackets or in several. `#/Schedule: required key [ScheduleId]` is Schedule.ScheduleId.
    """
    named = [
        f"{pointer.removeprefix('/').replace('/', '.')}.{name.strip()}".removeprefix(".")
        for pointer, names in _ASKED.findall(message)
        for name in names.split(",")
    ]
    return [name for name in dict.fromkeys(named) if _PROPERTY.fullmatch(name)]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as Cloud Control knows it.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        identifier: its primary identifier; the parts of a composite one joined by `|`.
        properties: what its service says of it. Not for logs: they may hold values that are secret.
    """

    type_name: str
    identifier: str
    properties: Mapping[str, Any] = field(repr=False)


class CloudControlApi(RegionalApi["CloudControlApiClient"]):
    """`base.CloudControl` over AWS's API, of one account and region."""

    def get(self, type_name: str, identifier: str) -> Resource:
        client = self._client("GetResource", type_name)
        answer = self._call(
            "GetResource", type_name, identifier, client.get_resource, TypeName=type_name, Identifier=identifier
        )
        if answer is None:
            raise NoSuchResourceError(type_name, f"identifier {identifier}", self.region)
        return _resource(type_name, answer["ResourceDescription"])

    def each(self, type_name: str, model: Mapping[str, str]) -> Iterator[Resource]:
        client = self._client("ListResources", type_name)
        request: dict[str, Any] = {"TypeName": type_name}  # How many are on a page is the service's to say.
        if model:
            request["ResourceModel"] = json.dumps(_nested(model))
        tokens: set[str] = set()
        while True:
            answer = self._call("ListResources", type_name, None, client.list_resources, **request)
            if answer is None:  # What they would be part of is not there.
                return
            yield from (_resource(type_name, each) for each in answer["ResourceDescriptions"])
            token = answer.get("NextToken")
            if not token or token in tokens:  # Some list handlers give the same page for ever.
                return
            tokens.add(token)
            request["NextToken"] = token

    def _client(self, action: str, type_name: str) -> CloudControlApiClient:
        try:
            return self._client_in(self.region)
        except BotoCoreError as error:
            code = type(error).__name__
        raise CloudControlError(action, code, type_name, self.region)

    def _call(
        self,
        action: str,
        type_name: str,
        identifier: str | None,
        function: Callable[..., T],
        **request: Any,  # noqa: ANN401 (as botocore)
    ) -> T | None:
        """The answer; None if there is no such thing."""
        call = _Call(function)
        try:
            answer: T = self._caller.call(action, call, **request)
        except CallFailedError as error:
            failed = error
        else:
            return answer
        if failed.code == _ABSENT:
            return None
        if call.asked and identifier is None:
            raise PropertiesAskedError(call.asked)
        raise self._error(action, type_name, f"{type_name} {identifier or ''}".strip(), failed)

    def _error(self, action: str, type_name: str, target: str, failed: CallFailedError) -> StrongRefError:
        if failed.code in _UNSUPPORTED:
            return UnsupportedError(type_name, action, self.region)
        kind = LookUpDeniedError if failed.code in _DENIED else CloudControlError
        why = kind(action, failed.code, target, self.region)
        return WaitInterruptedError(why) if failed.throttled or failed.code == OUT_OF_TIME else why


class _Call:
    """One call: keeps what its refusal asks for, and gives a type's own code up after a few tries."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._tried = 0
        self.asked: list[str] = []

    def __call__(self, **request: Any) -> Any:  # noqa: ANN401 (as botocore)
        try:
            return self._function(**request)
        except ClientError as error:
            code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
            self._tried += 1
            if code == _INVALID:
                self.asked = asked_for(text)
            if code not in _HANDLER_FAILED or self._tried < _HANDLER_TRIES:
                raise
        raise CallFailedError(code)


def _nested(model: Mapping[str, str]) -> dict[str, Any]:
    """A model as its JSON is: `Schedule.ScheduleId` is ScheduleId in Schedule."""
    nested: dict[str, Any] = {}
    for name, value in model.items():
        *above, last = name.split(".")
        inside = nested
        for step in above:
            inside = inside.setdefault(step, {})
        inside[last] = value
    return nested


def _resource(type_name: str, description: Any) -> Resource:  # noqa: ANN401 (boto3's)
    properties = json.loads(description.get("Properties") or "{}")
    return Resource(type_name, description.get("Identifier", ""), properties)
