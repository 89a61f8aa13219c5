"""Tests of requests to moto from several threads."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import boto3
from moto import mock_aws
from moto.ssm.models import SimpleSystemManagerBackend

if TYPE_CHECKING:
    import pytest


@mock_aws
def test_nothing_is_deleted_while_it_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    ssm = boto3.client("ssm", region_name="us-east-1")
    ssm.put_parameter(Name="/a/b", Type="String", Value="x")
    deletion = Thread(target=ssm.delete_parameter, kwargs={"Name": "/a/b"})
    match = SimpleSystemManagerBackend._match_filters

    def late(*arguments: Any) -> Any:
        deletion.start()
        deletion.join(0.1)
        return match(*arguments)

    monkeypatch.setattr(SimpleSystemManagerBackend, "_match_filters", late)
    found = ssm.get_parameters_by_path(Path="/a")["Parameters"]
    deletion.join()
    assert [each["Name"] for each in found] == ["/a/b"]
    monkeypatch.undo()
    assert ssm.get_parameters_by_path(Path="/a")["Parameters"] == []
