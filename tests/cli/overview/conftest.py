"""Runs commands on four stacks: two that export, and two that import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.commands import SECRET

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"


def four_stacks(account: Account) -> None:
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET})
    account.export("certificate", US, US, Consumer="site", Values={"Arn": SECRET})
    account.claim("site", US, "certificate", US, "Arn", Consumer="site")
    account.claim("site", US, "network", EU, "VpcId", Shared="true")
    account.stack("idle", EU)
    account.claim("shop", US, "network", EU, "VpcId", "Alb", Shared="true")


@pytest.fixture
def run(account: Account, command_line: Run) -> Run:
    account.begin(four_stacks)
    return command_line
