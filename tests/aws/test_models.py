"""The reduced service models: botocore's own, with only the calls that strongref makes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import botocore.session
import pytest

from strongref.aws.clients import MODELS, Clients
from strongref.aws.rate_limit import RATE_OF_ACTION
from tests.support.documents import ROOT
from tests.support.install_calls import INSTALLING
from tools.models import CALLS, models

UNPACED = {"PutEvents"}
"""What is called once and not retried, and so has no rate."""


def test_they_are_what_the_installed_botocore_says() -> None:
    """If not, run `make lock`, or tools/models.py."""
    committed = {str(path.relative_to(MODELS)): path.read_text(encoding="utf-8") for path in MODELS.rglob("*.json")}
    assert committed == models()


def test_they_have_every_call_that_functions_make_and_no_other() -> None:
    described = {"DescribeChangeSet", "GetTemplate", "ListExports"}
    own = {"GetCallerIdentity", "GetObject", "GetSecretValue"}
    of_the_command = {
        "DescribeParameters",
        "DescribeRegions",
        "GetAccountSettings",
        "GetFunctionConfiguration",
        *own,
        *described,
    }
    needed = set(RATE_OF_ACTION) - of_the_command - INSTALLING | UNPACED
    assert {call for calls in CALLS.values() for call in calls} == needed


def test_the_calls_go_where_they_would_without_them_in_every_region_and_in_regions_to_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    clients: Any = Clients()
    whole: Any = botocore.session.get_session()
    regions = [
        region
        for partition in whole.get_available_partitions()
        for region in whole.get_available_regions("ssm", partition, allow_non_regional=True)
    ]
    assert len(regions) > 30
    for region in ["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1", *regions[::7], "eu-north-9"]:
        for service in CALLS:
            ours, theirs = clients._client(service, region), whole.create_client(service, region)
            assert ours.meta.endpoint_url == theirs.meta.endpoint_url
            assert ours._request_signer.signing_name == theirs._request_signer.signing_name


@pytest.mark.parametrize("service", CALLS)
def test_a_client_reads_them_and_sends_what_it_would_without_them(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    clients: Any = Clients()
    ours = clients._client(service, "eu-central-1")
    whole = botocore.session.get_session().create_client(service, "eu-central-1")
    assert sorted(ours.meta.service_model.operation_names) == sorted(CALLS[service])
    assert ours.meta.endpoint_url == whole.meta.endpoint_url
    assert dict(ours.meta.service_model.metadata) == dict(whole.meta.service_model.metadata)
    for call in CALLS[service]:
        operation, known = ours.meta.service_model.operation_model(call), whole.meta.service_model.operation_model(call)
        assert dict(operation.http) == dict(known.http)
        assert _members(operation.input_shape) == _members(known.input_shape)
        assert _members(operation.output_shape) == _members(known.output_shape)


def _members(shape: Any) -> dict[str, Any]:
    found: dict[str, Any] = defaultdict(dict)
    for name, member in (shape.members if shape else {}).items():
        found[name] = (member.type_name, member.serialization)
    return dict(found)


def test_they_are_part_of_the_layer() -> None:
    assert (ROOT / "layers/core/strongref").resolve() in MODELS.resolve().parents
