"""What lookups call: Cloud Control reads and lists resources of any type; the tagging API lists ARNs by tags."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from strongref.aws import errors
from strongref.aws.retry import CallFailedError, RegionalApi, pages
from strongref.codes import DENIED
from strongref.errors import StrongRefError, WaitInterruptedError

if TYPE_CHECKING:
    from mypy_boto3_cloudcontrol import CloudControlApiClient
    from mypy_boto3_resourcegroupstaggingapi import ResourceGroupsTaggingAPIClient  # noqa: F401 (the base's type)

    from strongref.untyped import Untyped


T = TypeVar("T")

_ABSENT = "ResourceNotFoundException"
_INVALID = "InvalidRequestException"
_UNSUPPORTED = frozenset({"UnsupportedActionException", "TypeNotFoundException"})
_HANDLER_FAILED = {
    *("ConcurrentModificationException", "HandlerFailureException", "HandlerInternalFailureException"),
    *("NetworkFailureException", "ServiceInternalErrorException"),
}
"""The resource type's handler failed, or its service did (AWS: Cloud Control's errors that are faults). A retry may
succeed, but for some types it never does."""
_HANDLER_TRIES = 3

TAGGED_PER_PAGE = 100
"""Resources per page (AWS: GetResources, ResourcesPerPage). A page may be empty and not be the last."""

_REQUIRED = re.compile(r"(?:#((?:/\w+)*):\s*)?(?:required property:|required key)\s*\[([^\]]*)\]", re.IGNORECASE)
_PROPERTY = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,127}")


def required_properties(message: str) -> list[str]:
    """The property names that a list handler's error text says are missing. The rest of the text may hold values.

    Formats: `Required property: [LoadBalancerArn]` and `#: required key [FunctionName] not found`, with one or more
    names in one or more pairs of brackets. `#/Schedule: required key [ScheduleId]` is Schedule.ScheduleId.
    """
    named = [
        f"{pointer.removeprefix('/').replace('/', '.')}.{name.strip()}".removeprefix(".")
        for pointer, names in _REQUIRED.findall(message)
        for name in names.split(",")
    ]
    return [name for name in dict.fromkeys(named) if _PROPERTY.fullmatch(name)]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as Cloud Control returns it."""

    type_name: str  # as in `AWS::S3::Bucket`
    identifier: str  # its primary identifier. The parts of a composite identifier are joined by `|`
    properties: Mapping[str, Any] = field(repr=False)  # its properties; they may hold secrets, so they are never logged


class CloudControlApi(RegionalApi["CloudControlApiClient"]):
    """`reader.CloudControl` in AWS, for one account and region."""

    def get(self, type_name: str, identifier: str) -> Resource:
        request = {"TypeName": type_name, "Identifier": identifier}
        response = self._request("GetResource", lambda client: client.get_resource, request)
        if response is None:
            raise errors.NoSuchResourceError(type_name, f"identifier {identifier}", self.region)
        return _resource(type_name, response["ResourceDescription"])

    def each(self, type_name: str, model: Mapping[str, str]) -> Iterator[Resource]:
        request = {"TypeName": type_name}  # The service chooses the page size.
        if model:
            request["ResourceModel"] = json.dumps(_nested(model))
        tokens: set[str] = set()
        while True:
            response = self._request("ListResources", lambda client: client.list_resources, request)
            if response is None:  # The parent resource does not exist.
                return
            yield from (_resource(type_name, each) for each in response["ResourceDescriptions"])
            token = response.get("NextToken")
            if not token or token in tokens:  # Some list handlers return the same page forever.
                return
            tokens.add(token)
            request["NextToken"] = token

    def _request(
        self, action: str, method: Callable[[CloudControlApiClient], Callable[..., T]], request: Mapping[str, str]
    ) -> T | None:
        """The response; None if the resource does not exist."""
        type_name, identifier = request["TypeName"], request.get("Identifier")
        tries, required = 0, list[str]()

        def attempt(function: Callable[..., T], **given: Any) -> T:
            """One try. Keeps the properties that a refusal requires, and limits the retries of a handler's failure."""
            nonlocal tries, required
            try:
                return function(**given)
            except ClientError as error:
                code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
                tries += 1
                if code == _INVALID:
                    required = required_properties(text)
                if code not in _HANDLER_FAILED or tries < _HANDLER_TRIES:
                    raise
            raise CallFailedError(code)

        try:
            return self._call(action, lambda client: partial(attempt, method(client)), **request)
        except CallFailedError as error:
            failed = error
        if failed.code == _ABSENT:
            return None
        if required and identifier is None:
            raise errors.PropertiesAskedError(required)
        if failed.code in _UNSUPPORTED:
            raise errors.UnsupportedError(type_name, action, self.region)
        raise _reported(failed, action, f"{type_name} {identifier or ''}".strip(), self.region)


class TaggingApi(RegionalApi["ResourceGroupsTaggingAPIClient"]):
    """`reader.Tagging` in AWS, for one account and region (AWS: the Resource Groups Tagging API)."""

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        request: dict[str, Any] = {
            "TagFilters": [{"Key": key, "Values": [value]} for key, value in tags.items()],
            "ResourcesPerPage": TAGGED_PER_PAGE,
        }
        if filters := list(resource_types):
            request["ResourceTypeFilters"] = filters
        for page in pages(self._page, **request):
            yield from (each["ResourceARN"] for each in page["ResourceTagMappingList"])

    def _page(self, **request: Any) -> Untyped:
        try:
            return self._call("GetResources", lambda client: client.get_resources, **request)
        except CallFailedError as error:
            failed = error
        raise _reported(failed, "GetResources", "tagged resources", self.region)


def _reported(failed: CallFailedError, action: str, target: str, region: str) -> StrongRefError:
    """Log a call that failed, and return the error to raise."""
    failed.log(action, region)
    kind = errors.LookUpDeniedError if failed.code in DENIED else errors.CloudControlError
    why = kind(action, failed.code, target, region)
    return WaitInterruptedError(why) if failed.out_of_time else why


def _nested(model: Mapping[str, str]) -> dict[str, Any]:
    """The model as Cloud Control expects it: `Schedule.ScheduleId` becomes ScheduleId in Schedule."""
    nested: dict[str, Any] = {}
    for name, value in model.items():
        *above, last = name.split(".")
        inside = nested
        for step in above:
            inside = inside.setdefault(step, {})
        inside[last] = value
    return nested


def _resource(type_name: str, description: Untyped) -> Resource:
    properties = json.loads(description.get("Properties") or "{}")
    return Resource(type_name, description.get("Identifier", ""), properties)
