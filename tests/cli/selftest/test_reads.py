"""How long reads lag: what is measured, against a store that lags, and the setting that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError
from moto import mock_aws

from strongref.protocol.lag import VARIABLE
from strongref_cli.selftest import probes
from strongref_cli.selftest.beliefs import Seen
from strongref_cli.selftest.lab import Lab
from strongref_cli.selftest.scene import Scene
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_toolkit.session import ToolSession

EU, US = "eu-west-1", "us-east-1"
LAB = Lab(cast("ToolSession", None), "strongref-selftest-0a1b2c3d", (EU, US), "111111111111")
SCENE = Scene(LAB, "reads", LAB)


class Store(Lab):
    """Parameter Store in moto, in which lists of a path show nothing until the third look."""

    looks = 3

    def call(self, service: object, action: str, region: str, **request: Any) -> Any:  # noqa: ARG002 (as of any lab)
        Store.looks += action == "GetParametersByPath"
        if action == "GetParametersByPath" and Store.looks < 3:
            return {"Parameters": []}
        try:
            return getattr(boto3.client("ssm", region), xform_name(action))(**request)
        except ClientError as error:
            raise AwsCallError(action, "", region, error.response["Error"]["Code"]) from None


@pytest.fixture
def reads() -> Iterator[probes.Reads]:
    with mock_aws():
        yield probes.Reads(Store(SCENE.lab.session, SCENE.lab.name, (EU, US), ""), EU, "/selftest")
        assert boto3.client("ssm", EU).get_parameters_by_path(Path="/selftest", Recursive=True)["Parameters"] == []


def test_reads_that_show_every_write_at_once_have_no_lag(reads: probes.Reads) -> None:
    found = reads.measure()
    assert (len(found), set(found.values())) == (6, {0.0})


def test_a_read_that_lags_is_measured(reads: probes.Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "looks", 0)
    found = reads.measure()
    assert [name for name, lag in found.items() if lag] == ["lag-create-path"]


def test_a_page_that_begins_at_a_position_leaves_one_out(reads: probes.Reads) -> None:
    """As moto's do."""
    assert reads.pages() == Seen(False, "10 and 1 of 12, 1 left out")


@pytest.mark.parametrize(
    ("bound", "lag", "holds", "setting"),
    [
        ("0", 0.0, True, "ReadLag=2"),
        ("0", 0.1, False, "ReadLag=2"),
        ("2", 1.2, True, "ReadLag=3"),
        ("2", 2.0, False, "ReadLag=4"),
        ("2", 5.1, False, ""),  # No setting covers it twice.
    ],
)
def test_the_bound_is_more_than_the_slowest_read(
    monkeypatch: pytest.MonkeyPatch, bound: str, lag: float, holds: bool, setting: str
) -> None:
    lags = iter([lag, *[0.0] * 2 * probes.ROUNDS])
    monkeypatch.setenv(VARIABLE, bound)
    monkeypatch.setattr(probes.Reads, "measure", lambda _: {"lag-tag-list": next(lags), "recreation": 0.0})
    monkeypatch.setattr(probes.Reads, "refusals", lambda _: {})
    for once in ("pages", "dated"):
        monkeypatch.setattr(probes.Reads, once, lambda _: Seen(True, ""))
    (probe,) = [each for each in probes.PROBES if each.name == "reads"]
    seen = probe.run(SCENE)["lag-tag-list"]
    assert (seen.holds, seen.setting) == (holds, setting)
