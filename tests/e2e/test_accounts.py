"""References between accounts, with IAM on: the installed application, and the trust that `strongref trust` deploys.

A exports; B trusts it, and C, which A's installation lists as well, does not.
"""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING, Any

import pytest

from strongref_cli.install.trust import TEMPLATE
from tests.e2e.harness import Aws
from tests.e2e.templates import EU, US, exporting, importing
from tests.support.emulator import sam

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.emulator.control import Emulator

A, B, C = "414141414141", "424242424242", "434343434343"
CREATED, UPDATED, ROLLED_BACK = "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"


@pytest.fixture(scope="session")
def producing(emulator: Emulator, built: Path) -> Aws:
    """A, with an installation that may export to B and C; and B, with one, and its trust."""
    overrides = sam.QUICK | {"ExportAccounts": f"{B},{C}"}
    with (built.parent / "accounts.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not Aws(emulator, B).status(f"strongref-trust-{A}", EU):
            sam.deploy_everywhere(emulator, built / "template.yaml", [EU], overrides, A)
            sam.deploy_everywhere(emulator, built / "template.yaml", [US], account=B)
            trust(emulator)
    return Aws(emulator, A)


def trust(emulator: Emulator) -> None:
    producer = [{"ParameterKey": "Producer", "ParameterValue": A}]
    Aws(emulator, B).deploy(f"strongref-trust-{A}", TEMPLATE.read_text("utf-8"), EU, CREATED, Parameters=producer)


@pytest.fixture
def consuming(emulator: Emulator) -> Aws:
    return Aws(emulator, B)


def network(values: dict[str, Any], *accounts: str) -> dict[str, Any]:
    return exporting(values, consumer="web", Account=list(accounts))


def test_a_value_is_held_by_an_import_of_the_other_account(
    producing: Aws, consuming: Aws, names: Callable[[str], str]
) -> None:
    name, web = names("network"), names("web")
    producing.deploy(name, network({"A": "a1", "B": "b1"}, B), EU, CREATED)
    imports = importing(name, "A", Consumer="web", From={"Stack": name, "Region": EU, "Account": A})
    assert consuming.deploy(web, imports, US, CREATED).outputs == {"A": "a1"}

    producing.deploy(name, network({"A": "a2", "B": "b1"}, B), EU, ROLLED_BACK)
    assert any(f"imported by stack {web}" in reason for reason in producing.reasons(name, EU))
    producing.deploy(name, network({"A": "a1", "B": "b2", "C": "c1"}, B), EU, UPDATED)
    producing.deploy(name, network({"A": "a1"}, A), EU, ROLLED_BACK)

    consuming.delete(web, US)
    producing.deploy(name, network({"A": "a2"}, B), EU, UPDATED)
    values = {each: value for each, value in consuming.values(US).items() if f"/{name}/" in each}
    assert list(values.values()) == ["a2"]
    producing.delete(name, EU)
    left = [*consuming.parameters(US, "/strongref"), *producing.parameters(EU, "/strongref")]
    assert [each for each in left if f"/{name}/" in each] == []


def test_an_account_that_does_not_trust_this_one_is_refused_and_nothing_else_is_changed(
    producing: Aws, consuming: Aws, names: Callable[[str], str]
) -> None:
    name = names("network")
    producing.deploy(name, network({"A": "a1"}, B, C), EU, "ROLLBACK_COMPLETE")
    assert any(f"run strongref trust {A}" in reason for reason in producing.reasons(name, EU))
    producing.delete(name, EU)
    producing.deploy(name, network({"A": "a1"}, B), EU, CREATED)
    producing.deploy(name, network({"A": "a2"}, B, C), EU, ROLLED_BACK)
    assert [value for each, value in consuming.values(US).items() if f"/{name}/" in each] == ["a1"]
    producing.deploy(name, network({"A": "a2"}, "444444444444"), EU, ROLLED_BACK)
    assert any("--parameter ExportAccounts=" in reason for reason in producing.reasons(name, EU))
    producing.delete(name, EU)
