"""CloudFormation's event, validated before anything else sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.continuation import CONTINUATION_FIELD
from strongref.contract.event import Event, MalformedEventError, RequestType, ResponseTarget
from tests.support.cloudformation.requests import response_url
from tests.support.fake_ssm import EPOCH

EVENTS = Path(__file__).parents[1] / "events"


def load(name: str, **changes: object) -> dict[str, Any]:
    """A real event; a field that is to be None is taken out."""
    found: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8")) | changes
    return {key: value for key, value in found.items() if value is not None}


def test_a_create() -> None:
    raw = load("create_import")
    event = Event.parse(raw)
    assert event == Event(
        request_type=RequestType.CREATE,
        stack=raw["StackId"],
        logical_id="Imports",
        request_id=raw["RequestId"],
        physical_id=None,
        properties=raw["ResourceProperties"],
        old_properties=None,
        response_url=raw["ResponseURL"],
        resource_type="Custom::CrossRegionImport",
    )
    arn = event.stack_arn
    assert (arn.partition, arn.region, arn.account, arn.name) == ("aws", "us-east-1", "222222222222", "web")


def test_an_update() -> None:
    event = Event.parse(load("update_import"))
    assert event.request_type is RequestType.UPDATE
    assert event.physical_id == "strongref-import/web/Imports/0123456789abcdef"
    assert event.old_properties is not None
    assert event.old_properties["Names"] == ["CertArn", "SubnetIds"]


def test_a_delete_has_no_old_properties() -> None:
    event = Event.parse(load("delete_import", OldResourceProperties={"left": "over"}))
    assert event.request_type is RequestType.DELETE
    assert event.old_properties is None


def test_neither_url_nor_properties_are_shown() -> None:
    shown = repr(Event.parse(load("create_export")))
    assert "PRESIGNED" not in shown
    assert "certificate" not in shown


@pytest.mark.parametrize("name", ["create_import", "update_import", "delete_import", "create_export"])
def test_every_shared_event_is_well_formed(name: str) -> None:
    assert Event.parse(load(name)).stack_arn.name in ("web", "network")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"RequestType": None}, "RequestType is missing or not a string"),
        ({"RequestType": "Destroy-s3cret"}, "RequestType must be Create, Update or Delete"),
        ({"StackId": None}, "StackId is missing or not a string"),
        ({"StackId": "s3cret"}, "StackId must be a stack ARN"),
        ({"LogicalResourceId": ""}, "LogicalResourceId is missing or not a string"),
        ({"RequestId": 7}, "RequestId is missing or not a string"),
        ({"ResponseURL": None}, "ResponseURL is missing or not a string"),
        ({"ResponseURL": "ftp://s3cret/"}, "ResponseURL must be an HTTP URL"),
        ({"ResponseURL": "https:///s3cret"}, "ResponseURL must be an HTTP URL"),
        ({"ResponseURL": "https://host:s3cret/"}, "ResponseURL must be an HTTP URL"),
        ({"ResponseURL": "https://[s3cret/"}, "ResponseURL must be an HTTP URL"),
        ({"ResourceType": []}, "ResourceType is missing or not a string"),
        ({"PhysicalResourceId": None}, "PhysicalResourceId is missing or not a string"),
        ({"ResourceProperties": None}, "ResourceProperties is missing or not a map"),
        ({"ResourceProperties": ["s3cret"]}, "ResourceProperties is missing or not a map"),
        ({"OldResourceProperties": None}, "OldResourceProperties is missing or not a map"),
    ],
)
def test_a_malformed_event_names_the_field_and_never_shows_it(changes: dict[str, object], text: str) -> None:
    with pytest.raises(MalformedEventError) as caught:
        Event.parse(load("update_import", **changes))
    assert str(caught.value) == f"Not a CloudFormation event: {text}."
    assert "s3cret" not in repr(caught.value)
    assert "PRESIGNED" not in repr(caught.value)


@pytest.mark.parametrize("raw", [None, "event", [], 7])
def test_something_that_is_not_an_event_is_rejected(raw: object) -> None:
    with pytest.raises(MalformedEventError, match="the event must be a map") as caught:
        Event.parse(raw)
    assert caught.value.response_target is None


def test_a_malformed_event_may_have_a_response_target() -> None:
    raw = load("update_import", ResourceProperties=None)
    with pytest.raises(MalformedEventError) as caught:
        Event.parse(raw)
    assert caught.value.response_target == ResponseTarget(
        stack=raw["StackId"],
        logical_id="Imports",
        request_id=raw["RequestId"],
        physical_id=raw["PhysicalResourceId"],
        response_url=raw["ResponseURL"],
    )


@pytest.mark.parametrize("physical_id", [None, "", 7])
def test_a_response_target_may_have_no_physical_id(physical_id: object) -> None:
    with pytest.raises(MalformedEventError) as caught:
        Event.parse(load("update_import", PhysicalResourceId=physical_id))
    assert caught.value.response_target is not None
    assert caught.value.response_target.physical_id is None


@pytest.mark.parametrize("field", ["StackId", "LogicalResourceId", "RequestId", "ResponseURL"])
@pytest.mark.parametrize("value", [None, "", 7])
def test_without_all_ids_and_a_url_there_is_no_response_target(field: str, value: object) -> None:
    with pytest.raises(MalformedEventError) as caught:
        Event.parse(load("update_import", **{field: value}))
    assert caught.value.response_target is None


def test_an_invalid_url_is_no_response_target() -> None:
    with pytest.raises(MalformedEventError) as caught:
        Event.parse(load("update_import", ResponseURL="file:///etc"))
    assert caught.value.response_target is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(load("update_import"))), json_values)
def test_any_field_may_be_anything(field: str, value: object) -> None:
    try:
        Event.parse(load("update_import") | {field: value})
    except MalformedEventError as error:
        assert error.field_name == field  # noqa: PT017


def test_a_continuations_time_counts_from_the_request_whatever_it_says() -> None:
    raw = load("update_import")
    raw |= {"ResponseURL": response_url(raw["StackId"], "Imports", "1", signed="20250101T000000Z")}
    continuation = Event.parse(
        raw | {CONTINUATION_FIELD: {"Turn": 2, "Since": "2099-01-01T00:00:00+00:00"}}
    ).continuation
    assert continuation
    assert continuation.since == EPOCH
