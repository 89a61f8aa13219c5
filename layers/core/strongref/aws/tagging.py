"""The Resource Groups Tagging API: the ARNs of resources by tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.aws.errors import CloudControlError, LookUpDeniedError
from strongref.aws.retry import CallFailedError, RegionalApi, pages
from strongref.errors import WaitInterruptedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mypy_boto3_resourcegroupstaggingapi import ResourceGroupsTaggingAPIClient  # noqa: F401 (the base's type)

    from strongref.untyped import Untyped


PAGE = 100
"""Resources per page (AWS: GetResources, ResourcesPerPage). A page may be empty and not be the last."""

_ACTION = "GetResources"


class TaggingApi(RegionalApi["ResourceGroupsTaggingAPIClient"]):
    """`base.Tagging` in AWS, for one account and region."""

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        request: dict[str, Any] = {
            "TagFilters": [{"Key": key, "Values": [value]} for key, value in tags.items()],
            "ResourcesPerPage": PAGE,
        }
        filters = list(resource_types)
        if filters:
            request["ResourceTypeFilters"] = filters
        for page in pages(self._page, **request):
            yield from (each["ResourceARN"] for each in page["ResourceTagMappingList"])

    def _page(self, **request: Any) -> Untyped:
        try:
            return self._call(_ACTION, lambda client: client.get_resources, **request)
        except CallFailedError as error:
            failed = error
        failed.log(_ACTION, self.region)
        kind = LookUpDeniedError if failed.code.startswith("AccessDenied") else CloudControlError
        why = kind(_ACTION, failed.code, "tagged resources", self.region)
        raise WaitInterruptedError(why) if failed.out_of_time else why
