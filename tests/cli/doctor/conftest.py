"""Runs commands on the two stacks that the doctor examines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.doctor import network_and_shop

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account


@pytest.fixture
def run(account: Account, command_line: Run) -> Run:
    account.begin(network_and_shop)
    return command_line
