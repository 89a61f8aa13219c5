"""Where reads of Parameter Store lag, and the application is told by how much, everything holds as elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import LAG
from tests.e2e.templates import EU, US, exporting, importing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

LONG = 3600.0
"""Seconds. A lag that no test sees the end of."""


def test_reads_of_the_emulator_lag_where_a_test_asks(other_account: Aws, names: Callable[[str], str]) -> None:
    ssm, name = other_account.client("ssm", US), f"/{names('late')}"
    other_account.emulator.lag(other_account.account, LONG)
    for value in ("old", "new"):
        ssm.put_parameter(Name=name, Value=value, Type="String", Overwrite=True)
    read = [ssm.get_parameters(Names=[name])["Parameters"] for _ in range(100)]
    listed = [ssm.get_parameters_by_path(Path=name.rpartition("/")[0] or "/")["Parameters"] for _ in range(100)]
    other_account.emulator.lag(other_account.account, 0)
    for found in (read, listed):
        assert {each["Value"] for one in found for each in one if each["Name"] == name} == {"old", "new"}
    assert ssm.get_parameters(Names=[name])["Parameters"][0]["Value"] == "new"


def test_a_references_life(late: Aws, names: Callable[[str], str]) -> None:
    producer, consumer = names("network"), names("web")

    def publish(**values: str) -> str:
        return late.deploy(producer, exporting(values, consumer=consumer), EU).status

    assert publish(A="a1", B="b1") == "CREATE_COMPLETE"
    assert late.deploy(consumer, importing(producer, "A"), US).outputs == {"A": "a1"}
    assert publish(A="a2", B="b2") == "UPDATE_ROLLBACK_COMPLETE"
    assert any(
        f"A cannot be changed: it is imported by stack {consumer}" in each for each in late.reasons(producer, EU)
    )
    assert late.delete(producer, EU, expect=None) == "DELETE_FAILED"
    assert late.deploy(consumer, importing(producer, "B"), US).outputs == {"B": "b1"}
    late.delete(consumer, US)
    late.delete(producer, EU)
    late.emulator.lag(late.account, 0)
    left = [name for branch in ("exports", "records") for name in late.values(US, f"/strongref/{branch}/{consumer}/")]
    late.emulator.lag(late.account, LAG)
    assert left == []


@pytest.mark.parametrize("attempt", range(3))
def test_an_import_and_a_change_at_the_same_moment(late: Aws, names: Callable[[str], str], attempt: int) -> None:
    producer, consumer = names("network"), names("web")
    late.deploy(producer, exporting({"A": "a1"}, consumer=consumer), EU, "CREATE_COMPLETE")
    changed = exporting({"A": f"a2-{attempt}"}, consumer=consumer)
    late.begin(consumer, importing(producer, "A"), US)
    late.begin(producer, changed, EU)
    changes, imports = late.wait(producer, EU).status, late.wait(consumer, US)
    assert (changes, imports.status) in {
        ("UPDATE_ROLLBACK_COMPLETE", "CREATE_COMPLETE"),
        ("UPDATE_COMPLETE", "CREATE_COMPLETE"),
        ("UPDATE_COMPLETE", "ROLLBACK_COMPLETE"),
    }
    if imports.status == "CREATE_COMPLETE":
        used = "a1" if changes == "UPDATE_ROLLBACK_COMPLETE" else f"a2-{attempt}"
        assert imports.outputs == {"A": used}
