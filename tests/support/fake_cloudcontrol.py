"""Cloud Control and the tagging API over resources in memory: as boto3's clients answer, errors and pages included.

Resources are kept by type and primary identifier, with their properties. Error texts are the services' real ones, since
one of them has to be read: that in which a list handler says what it needs to know.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

from botocore.exceptions import ClientError

from strongref.aws.cloud_control import CloudControlApi, TaggingApi
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.lookup.search import Finder
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mypy_boto3_cloudcontrol import CloudControlApiClient
    from mypy_boto3_resourcegroupstaggingapi import ResourceGroupsTaggingAPIClient

T = TypeVar("T")

REGION = "eu-west-1"
ACCOUNT = "111111111111"
PAGE = 2
"""Resources a page: few, so that there are several."""


def error(code: str, text: str = "", status: int = 400) -> ClientError:
    """What boto3 raises for an answer of that code."""
    answer: Any = {"Error": {"Code": code, "Message": text}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Called")


@dataclass
class FakeCloudControl:
    """A Cloud Control client.

    Attributes:
        resources: the properties of each, by type and identifier.
        needs: the properties without which a type is not listed, by type.
        reported: whether what a list handler needs is all named at once, or one after another.
        listed: the properties that a list tells of each resource; None: all.
        unlisted: the identifiers of those that no list tells.
        natives: other forms of identifiers that can be asked for.
        denied: the identifiers of those that the caller may not read.
        failing: what is raised instead of an answer, by action; the first first.
        gone: the identifiers of those that a list tells, and that are not there any more when they are read.
        read: of which types resources were read.
        calls: how often each action was called.
        models: the models that lists were asked with.
    """

    resources: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    needs: dict[str, Sequence[str]] = field(default_factory=dict)
    told_at_once: bool = True
    listed: Sequence[str] | None = None
    unlisted: set[str] = field(default_factory=set)
    natives: dict[str, str] = field(default_factory=dict)
    denied: Callable[[str], bool] = lambda _identifier: False
    failing: dict[str, list[ClientError]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    read: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    models: list[dict[str, Any]] = field(default_factory=list)

    def add(self, type_name: str, identifier: str, **properties: Any) -> None:
        self.resources.setdefault(type_name, {})[identifier] = properties

    def get_resource(self, *, TypeName: str, Identifier: str) -> dict[str, Any]:  # noqa: N803 (boto3's)
        self._called("GetResource")
        if self.denied(Identifier):
            raise error("AccessDeniedException")
        Identifier = self.natives.get(Identifier, Identifier)  # noqa: N806 (as above)
        found = self._of_type(TypeName, "READ").get(Identifier)
        self.read[TypeName] += 1
        if found is None or Identifier in self.gone:
            raise error(
                "ResourceNotFoundException", f"Resource of type '{TypeName}' with that identifier was not found."
            )
        return {"TypeName": TypeName, "ResourceDescription": _described(Identifier, found)}

    def list_resources(
        self,
        *,
        TypeName: str,  # noqa: N803 (boto3's)
        ResourceModel: str = "{}",  # noqa: N803
        NextToken: str = "0",  # noqa: N803
    ) -> dict[str, Any]:
        self._called("ListResources")
        model = json.loads(ResourceModel)
        self.models.append(model)
        resources = self._of_type(TypeName, "LIST")
        missing = [name for name in self.needs.get(TypeName, ()) if name not in model]
        if missing:
            raise error("InvalidRequestException", _lacking(TypeName, missing if self.told_at_once else missing[:1]))
        start = int(NextToken)
        reported = [(identifier, each) for identifier, each in resources.items() if identifier not in self.unlisted]
        page = reported[start : start + PAGE]
        answer: dict[str, Any] = {
            "TypeName": TypeName,
            "ResourceDescriptions": [
                _described(identifier, {name: text for name, text in properties.items() if self._is_listed(name)})
                for identifier, properties in page
            ],
        }
        # After the last resource there is an empty page, as a service's may be.
        return answer | ({"NextToken": str(start + PAGE)} if start < len(resources) else {})

    def _is_listed(self, name: str) -> bool:
        return self.listed is None or name in self.listed

    def _of_type(self, type_name: str, action: str) -> dict[str, dict[str, Any]]:
        if type_name not in self.resources:
            raise error("UnsupportedActionException", f"Resource type {type_name} does not support {action} action")
        return self.resources[type_name]

    def _called(self, action: str) -> None:
        self.calls[action] += 1
        if self.failing.get(action):
            raise self.failing[action].pop(0)


@dataclass
class FakeTagging:
    """A client of the tagging API: the tags of each ARN."""

    tagged: dict[str, Mapping[str, str]] = field(default_factory=dict)
    failing: list[ClientError] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    def get_resources(self, **request: Any) -> dict[str, Any]:
        self.requests.append(request)
        if self.failing:
            raise self.failing.pop(0)
        wanted = {each["Key"]: each["Values"] for each in request["TagFilters"]}
        services = request.get("ResourceTypeFilters")
        found = [
            arn
            for arn, tags in self.tagged.items()
            if all(tags.get(key) in values for key, values in wanted.items())
            and (services is None or arn.split(":")[2] in services)
        ]
        start = int(request.get("PaginationToken") or 0)
        return {
            "ResourceTagMappingList": [{"ResourceARN": arn} for arn in found[start : start + PAGE]],
            "PaginationToken": str(start + PAGE) if start < len(found) else "",
        }


def limiter() -> RateLimiter:
    """One that nobody waits for."""
    return RateLimiter(RateLimits(*[1_000_000.0] * len(fields(RateLimits))))


def api(client: FakeCloudControl, clock: FakeClock | None = None) -> CloudControlApi:
    return CloudControlApi(_returning(cast("CloudControlApiClient", client)), REGION, limiter(), clock or FakeClock())


def tagging_api(client: FakeTagging, clock: FakeClock | None = None) -> TaggingApi:
    client_in = _returning(cast("ResourceGroupsTaggingAPIClient", client))
    return TaggingApi(client_in, REGION, limiter(), clock or FakeClock())


def finder(client: FakeCloudControl, tagging: FakeTagging | None = None) -> Finder:
    """A finder over the real calls to these clients."""
    return Finder(api(client), tagging_api(tagging) if tagging else None)


def _returning(client: T) -> Callable[[str], T]:
    return lambda _region: client


def _described(identifier: str, properties: Mapping[str, Any]) -> dict[str, str]:
    return {"Identifier": identifier, "Properties": json.dumps(properties)}


def _lacking(type_name: str, missing: Sequence[str]) -> str:
    """As a service says it that has one list handler or another, by the number of what is missing."""
    of = f"property in {type_name} list handler request input."
    if len(missing) == 1:
        return f"Missing or invalid ResourceModel {of}Required property:  (#: required key [{missing[0]}] not found)"
    return f"Missing Or Invalid ResourceModel {of} Required property: [{', '.join(missing)}]"
