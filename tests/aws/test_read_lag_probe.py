"""tools/read_lag.py: it finds a lag where there is one, and leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
from moto import mock_aws

from tools import read_lag

if TYPE_CHECKING:
    import pytest


@mock_aws
def test_reads_that_show_every_write_at_once_have_no_lag(capsys: pytest.CaptureFixture[str]) -> None:
    read_lag.main(["--region", "eu-west-1", "--rounds", "2"])
    printed = capsys.readouterr().out
    assert printed.count(" 0.00 s") == 7
    assert "must be larger than 0.00" in printed
    client = boto3.client("ssm", "eu-west-1")
    assert client.get_parameters_by_path(Path=read_lag.ROOT, Recursive=True)["Parameters"] == []


class Late:
    """A client whose lists of a path show a parameter at the third look only."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_parameters_by_path(self, **request: Any) -> Any:
        self.looks += 1
        return {"Parameters": []} if self.looks < 3 else self._client.get_parameters_by_path(**request)


@mock_aws
def test_a_read_that_lags_is_measured() -> None:
    client: Any = Late(boto3.client("ssm", "eu-west-1"))
    found = read_lag.Probe(client).measure()
    assert found["create -> path (a new fence)"] > 0
    assert found["overwrite -> path"] == 0
