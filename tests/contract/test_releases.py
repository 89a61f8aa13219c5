"""Traces of released claims, at the limits of what AWS stores."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from boto3.session import Session

from strongref.contract.names import CLAIM_TAG, MAX_LABEL, MAX_NAME, ExportScope, Key, StackArn, arn_prefix_length
from strongref.contract.releases import LONGEST, MAX_REASON, Release
from strongref.contract.values import MAX_BYTES

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
ACCOUNT = "123456789012"


def release(stack: str, key: str, reason: str = "x", consumer: str = "c") -> Release:
    importer = str(StackArn("aws-us-gov", "us-gov-west-1", ACCOUNT, "c" * MAX_LABEL, "0" * 36))
    by = f"arn:aws-us-gov:sts::{ACCOUNT}:assumed-role/{'r' * 64}/{'s' * 64}"
    return Release(stack, Key(key), consumer, importer, f"{CLAIM_TAG}{'f' * 16}", by, AT, reason)


def longest_key(stack: str) -> str:
    """The longest key of nine levels that this stack can export, to the shortest consumer in the shortest region."""
    producer = StackArn("aws", "us-east-1", ACCOUNT, stack, "0").producer
    scope = ExportScope("c", producer)
    length = MAX_NAME - arn_prefix_length("aws", "us-east-1", ACCOUNT) - len(scope.parameter_name(Key("")))
    return "/".join(["k"] * 8 + ["k" * (length - 16)])


@pytest.mark.parametrize("stack", ["s", "s" * 128])
def test_the_longest_trace_can_be_stored_and_read(stack: str) -> None:
    trace = release(stack, longest_key(stack), "\N{GRINNING FACE}" * MAX_REASON, "c" * MAX_LABEL)
    assert len(trace.name) <= LONGEST
    assert len(trace.name.split("/")) - 1 <= 15
    assert len(trace.encode().encode()) <= MAX_BYTES
    assert Release.decode(trace.name, trace.encode()) == trace


def test_a_shorter_trace_has_its_key_in_its_name_as_ever() -> None:
    trace = release("network", "Alb/Arn")
    assert trace.name == f"/strongref/releases/network/Alb/Arn/20260131T120000Z-{'f' * 16}"
    assert '"key"' not in trace.encode()
    assert Release.decode(trace.name, trace.encode()) == trace
    key = longest_key("s")
    room = LONGEST - len(release("s", "").name)
    assert release("s", key[:room]).name.split("/")[4:-1] == key[:room].split("/")
    assert len(release("s", key[: room + 1]).name) < LONGEST


def test_a_name_of_that_length_fits_in_every_region() -> None:
    session = Session()
    for partition in session.get_available_partitions():
        for region in session.get_available_regions("ssm", partition):
            if partition in ("aws", "aws-cn", "aws-us-gov"):
                assert LONGEST + arn_prefix_length(partition, region, ACCOUNT) <= MAX_NAME, region
