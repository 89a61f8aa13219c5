"""Every line has CloudFormation's IDs; other libraries log nothing."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import Event, RequestType
from strongref.log import logger, stack_frames, start_invocation_log

if TYPE_CHECKING:
    from collections.abc import Iterator


def event(logical_id: str) -> Event:
    return Event(
        request_type=RequestType.UPDATE,
        stack="arn:aws:cloudformation:us-east-1:222222222222:stack/web/1",
        logical_id=logical_id,
        request_id="request",
        physical_id="id",
        properties={"Key": "s3cret"},
        old_properties={},
        response_url="https://host/?PRESIGNED",
        resource_type="Custom::CrossRegionImport",
    )


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler: Any = logger.registered_handler
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before)
    logger.clear_state()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_line_is_json_with_the_ids(written: io.StringIO) -> None:
    start_invocation_log("function-request", **event("Imports").log_keys)
    logger.info("One")
    logger.warning("Two", extra={"key": "CertArn"})
    one, two = lines(written)
    assert one["message"] == "One"
    assert two["key"] == "CertArn"
    for line in (one, two):
        assert line["service"] == "strongref"
        assert line["stack"] == "arn:aws:cloudformation:us-east-1:222222222222:stack/web/1"
        assert line["logical_id"] == "Imports"
        assert line["request"] == "request"
        assert line["request_type"] == "Update"
        assert line["invocation"] == "function-request"
    assert "s3cret" not in written.getvalue()
    assert "PRESIGNED" not in written.getvalue()


def test_an_events_keys_end_with_it(written: io.StringIO) -> None:
    start_invocation_log("function-request", **event("One").log_keys)
    logger.append_keys(region="eu-west-1")
    start_invocation_log("function-request", **event("Two").log_keys)
    logger.info("Hello")
    start_invocation_log("function-request")
    logger.info("Hello")
    two, none = lines(written)
    assert two["logical_id"] == "Two"
    assert "region" not in two
    assert "logical_id" not in none
    assert none["invocation"] == "function-request"


@pytest.mark.parametrize("name", ["crhelper.utils", "crhelper.resource_helper", "botocore.hooks", "urllib3.connection"])
def test_other_libraries_are_silent(name: str) -> None:
    start_invocation_log("function-request", **event("Imports").log_keys)
    assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)


def test_frames_say_where_an_error_came_from_but_nothing_of_it() -> None:
    def inner() -> None:
        raise KeyError("s3cret")

    with pytest.raises(KeyError) as caught:
        inner()
    assert [line.split(" ")[-1] for line in stack_frames(caught.value)][-1] == "inner"
    assert all(line.startswith("test_log.py:") for line in stack_frames(caught.value))
    assert "s3cret" not in "".join(stack_frames(caught.value))
