"""References between accounts of which one side is installed, upgraded or configured before the other, with IAM on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.e2e.between_accounts import CREATED, LATE, NOT_CREATED, ROLLED_BACK, UPDATED, B, configure, trust
from tests.e2e.harness import Aws
from tests.e2e.templates import EU, US
from tests.support.emulator import sam

if TYPE_CHECKING:
    from tests.e2e.between_accounts import Between

PRODUCER = "484848484848"


def test_the_consumers_account_is_upgraded_last(between: Between, older: str) -> None:
    late = replace(between, b=Aws(between.a.emulator, LATE))
    trust(late.b)
    late.publish({"A": "a1"}, LATE, expect=CREATED)
    sam.copy_application(late.b.emulator, LATE, regions=[US], of=older)
    assert late.consume("A", expect=CREATED).outputs == {"A": "a1"}
    assert not late.b.invoke("Janitor", {"detail-type": "Scheduled Event"}, US).failed
    late.publish({"A": "a2"}, LATE, expect=ROLLED_BACK)
    sam.copy_application(late.b.emulator, LATE, regions=[US])
    assert late.consume("A", expect=UPDATED, Revision="2").outputs == {"A": "a1"}
    late.publish({"A": "a2"}, LATE, expect=ROLLED_BACK)
    assert f"imported by stack {late.consumer} ({US}, {LATE})" in late.why()
    late.b.delete(late.consumer, US)
    late.publish({"A": "a2"}, LATE, expect=UPDATED)
    assert late.stored(late.b) == {"A": "a2"}


def test_the_producers_account_is_upgraded_last_and_lists_accounts_later(between: Between, older: str) -> None:
    late = replace(between, a=Aws(between.a.emulator, PRODUCER))
    trust(late.b, PRODUCER)
    sam.copy_application(late.a.emulator, PRODUCER, regions=[EU], of=older)
    late.publish({"A": "a1"}, PRODUCER, expect=CREATED)
    late.publish({"A": "a1"}, B, expect=ROLLED_BACK)
    late.consume("A", expect=NOT_CREATED)
    assert "Nothing to import" in late.why_not()
    late.b.delete(late.consumer, US)

    sam.copy_application(late.a.emulator, PRODUCER, regions=[EU])
    late.publish({"A": "a1"}, B, expect=ROLLED_BACK)
    assert f"strongref install --parameter ExportAccounts={B}" in late.why()
    late.publish({"A": "a2"}, PRODUCER, expect=UPDATED)
    configure(late.a, EU, ExportAccounts=B)
    late.publish({"A": "a1"}, B, expect=UPDATED)
    late.consume("A", expect=CREATED)

    configure(late.a, EU, ExportAccounts="")
    late.publish({"A": "a2"}, B, expect=ROLLED_BACK)
    late.publish({"A": "a1"}, PRODUCER, expect=ROLLED_BACK)
    assert f"ExportAccounts={B}" in late.why()
    assert late.claims("A") == [late.consumer]
    configure(late.a, EU, ExportAccounts=B)
    late.publish({"A": "a2"}, B, expect=ROLLED_BACK)
    assert f"imported by stack {late.consumer}" in late.why()
    late.b.delete(late.consumer, US)
    late.a.delete(late.producer, EU)
    assert late.left(late.b) == []
