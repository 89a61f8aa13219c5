"""`strongref forget`: what it shows, and what it marks and leaves."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from strongref.contract.index import DENIED, FORGOTTEN, INDEX, encode_place
from strongref.contract.releases import RELEASES, Release
from tests.support.builders import stack_arn
from tests.support.doctor import EU, US, findings
from tests.support.schemas import validate

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account

FORGET = ("forget", US, "--stack", "network", "--region", EU)


def test_it_shows_what_is_known_and_asks(run: Run, account: Account) -> None:
    before = account.everything(EU)
    status, out, err = run(*FORGET)
    assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
    assert "Nobody can know who imports from network in us-east-1" in out
    assert "You can reach us-east-1: if the function can, too, this changes nothing." in out
    status, dry, _ = run(*FORGET, "--dry-run")
    assert (status, dry) == (0, out)
    status, document, _ = run(*FORGET, "--dry-run", "--output", "json")
    validate("forget", json.loads(document))
    assert account.everything(EU) == before


def test_each_place_gets_a_mark_and_a_trace_stays(run: Run, account: Account) -> None:
    assert run(*FORGET, "--yes")[0] == 0
    names = account.everything(EU)
    marks = [name for name in names if name.startswith(INDEX) and name.endswith(FORGOTTEN)]
    assert marks
    traces = [Release.decode(name, found["Value"]) for name, (found, _) in names.items() if name.startswith(RELEASES)]
    assert len(traces) == len(marks)
    assert {(each.producer, each.reason) for each in traces if each} == {("network", "us-east-1 was forgotten")}
    assert ("released", "note", "Exports of network") in findings(run, "--region", EU)


@pytest.mark.parametrize("unique", ["0", "z"])
def test_what_is_left_of_a_former_stack_of_that_name_gets_no_mark(run: Run, account: Account, unique: str) -> None:
    """The mark would count for that one, and the stack that exists could still not be changed."""
    place = next(name for name in account.everything(EU) if name.startswith(f"{INDEX}/network/") and US in name)
    former = encode_place(stack_arn("network", EU, unique=unique), datetime.now(UTC))
    account.ssm(EU).put_parameter(Name=f"{place}/{DENIED}", Type="String", Value=former)
    assert run(*FORGET, "--yes")[0] == 0
    found = account.everything(EU)
    stacks = [json.loads(found[name][0]["Value"])["stack"] for name in (place, f"{place}/{FORGOTTEN}")]
    assert stacks[0] == stacks[1]


def test_the_places_in_another_account_are_marked_as_given_up(run: Run, account: Account) -> None:
    name = next(name for name in account.everything(EU) if name.startswith(f"{INDEX}/network/") and US in name)
    place = re.sub("/[0-9]{12}/", "/222222222222/", name)
    text = account.everything(EU)[name][0]["Value"]
    account.ssm(EU).put_parameter(Name=place, Type="String", Value=text, Overwrite=True)
    forget = ("forget", "222222222222", "--stack", "network", "--region", EU)
    _, document, _ = run(*forget, "--dry-run", "--output", "json")
    validate("forget", found := json.loads(document))
    assert (found["account"], found["region"], found["reached"]) == ("222222222222", None, False)
    assert run(*forget, "--yes")[0] == 0
    assert [each for each in account.everything(EU) if each.endswith(FORGOTTEN)] == [f"{place}/{FORGOTTEN}"]
    _, _, err = run("forget", "333333333333", "--stack", "network", "--region", EU, "--yes")
    assert err.endswith("does not export to 333333333333; it exports to 222222222222, us-east-1\n")


def test_a_region_that_the_stack_does_not_export_to_is_named(run: Run, account: Account) -> None:  # noqa: ARG001
    status, _, err = run("forget", "ap-southeast-2", "--stack", "network", "--region", EU, "--yes")
    assert (status, err) == (
        2,
        "strongref: network in eu-west-1 does not export to ap-southeast-2; it exports to us-east-1\n",
    )
