"""Every call to the resource groups tagging API: paged, paced, tried again, and its errors turned into ours by code."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError

from strongref.errors import CutShortError
from strongref.limiter import OUT_OF_TIME, Caller, CallFailedError
from strongref.lookup.errors import CloudControlError, LookUpDeniedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mypy_boto3_resourcegroupstaggingapi import ResourceGroupsTaggingAPIClient

    from strongref.limiter import Limiter
    from strongref.ports import Clock

PAGE = 100
"""Resources a page (AWS: GetResources, ResourcesPerPage); a page may be empty and not be the last."""

_ACTION = "GetResources"


class TaggingApi:
    """`base.Tagging` over AWS's API, of one account and region."""

    def __init__(
        self,
        client_in: Callable[[str], ResourceGroupsTaggingAPIClient],
        region: str,
        limiter: Limiter,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Make one.

        Args:
            client_in: the client of a region, as `clients.Clients.tagging`.
            region: where resources are looked for.
            limiter: shared by everyone who calls.
            clock: time, and how much of it is left.
            jitter: as in `limiter.Caller`.
        """
        self.region = region
        self._client_in = client_in
        self._caller = Caller(region, limiter, clock, jitter)

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
            return self._caller.call(_ACTION, self._client_in(self.region).get_resources, **request)
        except CallFailedError as error:
            failed = error
        except BotoCoreError as error:  # No region can be called so.
            failed = CallFailedError(type(error).__name__)
        kind = LookUpDeniedError if failed.code.startswith("AccessDenied") else CloudControlError
        why = kind(_ACTION, failed.code, "tagged resources", self.region)
        raise CutShortError(why) if failed.throttled or failed.code == OUT_OF_TIME else why
