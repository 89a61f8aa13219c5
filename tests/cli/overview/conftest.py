"""Stacks that export and import, in moto: CloudFormation's have the ARNs that events are made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from tests.support import moto_lists
from tests.support.overview import Account

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STRONGREF_READ_LAG", "0")
    moto_lists.install(monkeypatch)
    with mock_aws():
        yield Account(monkeypatch)
