"""GetResources of the tagging API, over the parameters of a store: it knows no other resources."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from tests.support.local_ssm.parameters import error
from tests.support.local_ssm.wire import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.local_ssm.parameters import IndexedSsm

ACTION = "GetResources"
TARGET = f"ResourceGroupsTaggingAPI_20170126.{ACTION}"
_TYPES = ("ssm", "ssm:parameter")
_PAGE, _MOST = 50, 100
"""AWS: GetResources, ResourcesPerPage."""


def perform(ssm: IndexedSsm, body: bytes, delay: float) -> Response:
    """Carry out a call and answer it as the tagging API does: the token is empty on the last page."""
    asked = json.loads(body)
    size = asked.get("ResourcesPerPage", _PAGE)
    if not 1 <= size <= _MOST:
        return error("InvalidParameterException", f"ResourcesPerPage must be between 1 and {_MOST}", delay)
    found = list(islice(_tagged(ssm, asked), size + 1))
    page = [
        {
            "ResourceARN": f"arn:aws:ssm:{ssm.region}:{ssm.account}:parameter/{name.removeprefix('/')}",
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
        }
        for name, tags in found[:size]
    ]
    token = found[size - 1][0] if len(found) > size else ""
    return Response(body=json.dumps({"ResourceTagMappingList": page, "PaginationToken": token}).encode(), delay=delay)


def _tagged(ssm: IndexedSsm, asked: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """The names and tags of what comes after the token and passes every filter."""
    types = asked.get("ResourceTypeFilters")
    if types and not set(_TYPES) & set(types):
        return
    for name, parameter in ssm.after(asked.get("PaginationToken", "")):
        tags = dict(parameter.tags)
        if tags and all(_passes(tags, each) for each in asked.get("TagFilters", ())):
            yield name, tags


def _passes(tags: Mapping[str, str], wanted: Mapping[str, Any]) -> bool:
    values = wanted.get("Values")
    return wanted["Key"] in tags and (not values or tags[wanted["Key"]] in values)
