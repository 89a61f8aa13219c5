"""What the janitor and fences write to the log, what counts, and which place an Export has: a part at a time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from strongref.contract.fence import Fence
from strongref.errors import AccessDeniedError
from strongref.log import logger
from strongref.protocol.fences import delete_expired
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import JanitorProgress, report
from tests.protocol.test_janitor import OLD_FENCE, exports, found, janitor, name, tend
from tests.protocol.test_janitor_unknown import fail_store
from tests.protocol.test_scenarios import AP, EU, US
from tests.support.builders import SCOPE
from tests.support.cloud import Cloud
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable

Logged = list[tuple[str, dict[str, object]]]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Logged:
    """The levels of what is logged, and its details."""
    lines: Logged = []

    def noting(level: str) -> Callable[..., None]:
        return lambda _message, extra: lines.append((level, extra))

    for level in ("debug", "info", "warning", "error"):
        monkeypatch.setattr(logger, level, noting(level))
    return lines


@pytest.mark.parametrize(
    ("kind", "busy", "level"),
    [
        (FindingType.STALE_CLAIM, False, "warning"),
        (FindingType.FOREIGN, False, "error"),
        (FindingType.WITHDRAWN, False, "info"),
        (FindingType.FOREIGN, True, "info"),
    ],
)
def test_a_finding_is_as_loud_as_it_needs_somebody(kind: FindingType, busy: bool, level: str, logged: Logged) -> None:
    progress = JanitorProgress(("", ""), 0, (Finding(kind, "a"), Finding(kind, "b", (), "denied")), busy=busy)
    report(US, progress)
    assert [(each, details.get("why")) for each, details in logged] == [(level, None), (level, "denied")]


def test_only_a_holder_that_died_is_worth_a_warning(logged: Logged) -> None:
    died = Fence("x", EPOCH - timedelta(days=1))
    for each in (died, replace(died, finished=True)):
        delete_expired(Cloud().stores(US, Cloud().clock), {"name": each}, EPOCH)
    assert [level for level, _ in logged if level != "info"] == ["warning", "debug"]


def test_a_fence_that_cannot_be_deleted_is_no_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Cloud()
    cloud.ssm(US).put_parameter(Name=name("x", "fences"), Type="String", Value=OLD_FENCE)
    fail_store(monkeypatch, "delete", "/fences/", AccessDeniedError)
    assert [each.kind for each in found(cloud)] == [FindingType.FAILED_CALL]


def test_an_export_has_its_place_where_the_index_of_its_account_says_so() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    other = replace(SCOPE, producer=replace(SCOPE.producer, account="222222222222"))
    named = [
        janitor(cloud, region)._is_named(cloud.clock, scope, logical_id)
        for region, scope, logical_id in (
            (US, SCOPE, "Exports"),
            (AP, SCOPE, "Exports"),
            (US, SCOPE, "More"),
            (US, other, "Exports"),
        )
    ]
    assert named == [True, False, False, False]


def test_values_that_could_not_be_looked_after_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(A="a1")})
    assert sum(each.values for each in tend(cloud)) == 1
    fail_store(monkeypatch, "tags", "/exports/")
    cloud.deploy("network", EU, {"Exports": exports(A="a1", B="b1", C="c1")})
    assert sum(each.values for each in tend(cloud)) == 0
