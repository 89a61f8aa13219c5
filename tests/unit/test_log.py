"""Every line with CloudFormation's ids; nothing of what other libraries would tell."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from strongref.event import Event, RequestType
from strongref.log import bind, logger, trace

if TYPE_CHECKING:
    from collections.abc import Iterator


class Context:
    """Lambda's, as far as it is looked at."""

    aws_request_id = "function-request"

    def get_remaining_time_in_millis(self) -> int:
        return 9000


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
    bind(event("Imports"), Context())
    logger.info("One")
    logger.warning("Two", extra={"key": "CertArn"})
    one, two = lines(written)
    assert one["message"] == "One"
    assert two["key"] == "CertArn"
    for line in (one, two):
        assert line["service"] == "strongref"
        assert line["stack"] == "arn:aws:cloudformation:us-east-1:222222222222:stack/web/1"
        assert line["logical_id"] == "Imports"
        assert line["request_id"] == "request"
        assert line["request_type"] == "Update"
        assert line["function_request_id"] == "function-request"
    assert "s3cret" not in written.getvalue()
    assert "PRESIGNED" not in written.getvalue()


def test_an_events_keys_end_with_it(written: io.StringIO) -> None:
    bind(event("One"), Context())
    logger.append_keys(region="eu-west-1")
    bind(event("Two"), Context())
    logger.info("Hello")
    bind(None, Context())
    logger.info("Hello")
    two, none = lines(written)
    assert two["logical_id"] == "Two"
    assert "region" not in two
    assert "logical_id" not in none
    assert none["function_request_id"] == "function-request"


@pytest.mark.parametrize("name", ["crhelper", "crhelper.utils", "crhelper.resource_helper"])
def test_crhelper_is_silent(name: str) -> None:
    assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)


@pytest.mark.parametrize("name", ["boto3", "botocore.hooks", "urllib3.connectionpool"])
def test_other_libraries_tell_errors_only(name: str) -> None:
    assert not logging.getLogger(name).isEnabledFor(logging.WARNING)
    assert logging.getLogger(name).isEnabledFor(logging.ERROR)


def test_a_trace_has_types_and_places_but_no_texts() -> None:
    def inner() -> None:
        raise KeyError("s3cret")

    def outer() -> None:
        try:
            inner()
        except KeyError as error:
            raise RuntimeError("s3cret too") from error

    with pytest.raises(RuntimeError) as caught:
        outer()
    found = trace(caught.value)
    assert [line.rsplit(" ")[-1] for line in found if "pytest" not in line][-5:] == [
        "inner",
        "KeyError",
        "test_a_trace_has_types_and_places_but_no_texts",
        "outer",
        "RuntimeError",
    ]
    assert "s3cret" not in "".join(found)
