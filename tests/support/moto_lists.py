"""moto's lists, as AWS makes them: of parameters, also in the tagging API, and of the stacks that import an export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.resource_tagging import TaggedResource, make_tag_matcher
from moto.core.responses import ActionResult
from moto.resourcegroupstaggingapi.models import ResourceGroupsTaggingAPIBackend
from moto.ssm.models import ssm_backends
from moto.ssm.responses import SimpleSystemManagerResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Correct moto for one test."""
    tagging, others = ResourceGroupsTaggingAPIBackend, ResourceGroupsTaggingAPIBackend._get_resources_generator

    def resources(
        self: ResourceGroupsTaggingAPIBackend,
        tag_filters: list[dict[str, Any]] | None = None,
        resource_type_filters: list[str] | None = None,
        resource_arn_list: list[str] | None = None,
    ) -> Iterator[TaggedResource]:
        yield from others(self, tag_filters, resource_type_filters, resource_arn_list)
        if resource_type_filters and "ssm:parameter" not in resource_type_filters:
            return
        matches = make_tag_matcher(tag_filters)
        for name, tags in ssm_backends[self.account_id][self.region_name]._resource_tags["Parameter"].items():
            if tags and matches(tags):
                arn = f"arn:aws:ssm:{self.region_name}:{self.account_id}:parameter{name}"
                yield TaggedResource(arn, dict(tags), "ssm:parameter")

    monkeypatch.setattr(tagging, "_get_resources_generator", resources)
    paged = tagging.get_resources

    def page(self: ResourceGroupsTaggingAPIBackend, **asked: Any) -> tuple[str | None, list[TaggedResource]]:
        return paged(self, **{**asked, "tags_per_page": 1_000_000})  # moto also ends a page after 100 tags.

    monkeypatch.setattr(tagging, "get_resources", page)
    monkeypatch.setattr(SimpleSystemManagerResponse, "describe_parameters", _parameters)
    monkeypatch.setattr(CloudFormationResponse, "list_imports", _imports, raising=False)


def _imports(self: CloudFormationResponse) -> ActionResult:
    """ListImports, which moto does not have; of hold stacks, whose templates are JSON without spaces."""
    export, stacks = self._get_param("ExportName"), self.cloudformation_backend.stacks.values()
    imported = json.dumps({"Fn::ImportValue": export}, separators=(",", ":"))
    names = [stack.name for stack in stacks if stack.status != "DELETE_COMPLETE" and imported in stack.template]
    if not names:
        raise ValidationError(message=f"Export '{export}' is not imported by any stack.")
    return ActionResult({"Imports": names})


def _parameters(self: SimpleSystemManagerResponse) -> ActionResult:
    """DescribeParameters with `MaxResults`, where moto's pages have ten parameters."""
    found = self.ssm_backend.describe_parameters(self._get_param("Filters"), self._get_param("ParameterFilters"))
    start, size = int(self._get_param("NextToken") or 0), self._get_param("MaxResults", 10)
    page = [each.describe_response_object(False) for each in found[start : start + size]]
    more = {"NextToken": str(start + size)} if len(found) > start + size else {}
    return ActionResult({"Parameters": page, **more})
