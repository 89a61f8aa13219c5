"""Every call to the resource groups tagging API: paged, paced, tried again, and its errors turned into ours by code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError

from strongref.aws.retry_and_rate_limit import OUT_OF_TIME, CallFailedError, RegionalApi
from strongref.errors import CloudControlError, LookUpDeniedError, WaitInterruptedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mypy_boto3_resourcegroupstaggingapi import ResourceGroupsTaggingAPIClient


PAGE = 100
"""Resources a page (AWS: GetResources, ResourcesPerPage); a page may be empty and not be the last."""

_ACTION = "GetResources"


class TaggingApi(RegionalApi["ResourceGroupsTaggingAPIClient"]):
    """`base.Tagging` over AWS's API, of one account and region."""

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        request: dict[str, Any] = {
            "TagFilters": [{"Key": key, "Values": [value]} for key, value in tags.items()],
            "ResourcesPerPage": PAGE,
        }
        filters = list(resource_types)
        if filters:
            request["ResourceTypeFilters"] = filters
        while True:
            answer = self._page(request)
            yield from (each["ResourceARN"] for each in answer["ResourceTagMappingList"])
            if not answer.get("PaginationToken"):
                return
            request["PaginationToken"] = answer["PaginationToken"]

    def _page(self, request: Mapping[str, Any]) -> Any:  # noqa: ANN401 (boto3's)
        try:
            client: ResourceGroupsTaggingAPIClient = self._client_in(self.region)
            return self._caller.call(_ACTION, client.get_resources, **request)
        except CallFailedError as error:
            failed = error
        except BotoCoreError as error:  # No region can be called so.
            failed = CallFailedError(type(error).__name__)
        kind = LookUpDeniedError if failed.code.startswith("AccessDenied") else CloudControlError
        why = kind(_ACTION, failed.code, "tagged resources", self.region)
        raise WaitInterruptedError(why) if failed.throttled or failed.code == OUT_OF_TIME else why
