"""The tagging API of moto, which leaves out the parameters of Parameter Store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moto.core.resource_tagging import TaggedResource
from moto.resourcegroupstaggingapi.models import ResourceGroupsTaggingAPIBackend, make_tag_matcher
from moto.ssm.models import ssm_backends

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it list tagged parameters, too."""
    others = ResourceGroupsTaggingAPIBackend._get_resources_generator

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

    monkeypatch.setattr(ResourceGroupsTaggingAPIBackend, "_get_resources_generator", resources)
