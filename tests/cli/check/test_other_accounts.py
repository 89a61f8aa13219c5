"""Exports to other accounts: what is read there decides as here, and what is not read is never said to be accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.index import IndexEntry
from strongref.contract.names import Key
from strongref.protocol.stored_exports import StoredExports
from strongref_cli.check.deletion import predict_deletion
from strongref_cli.check.report import ChangeKind, Verdict
from strongref_cli.check.stored import StoredScope, StoredStack, locations_of
from strongref_cli.check.updates import ResourceChange
from strongref_toolkit.errors import AwsCallError, NoWayInError
from tests.support.builders import ACCOUNT, NETWORK, WEB, ours, stack_arn, values
from tests.support.checks import (
    EU,
    STACK,
    US,
    Template,
    at,
    bucket,
    exporting,
    held_by,
    hold_output,
    stored,
    template,
    update,
    version,
)

if TYPE_CHECKING:
    from strongref.contract.hold_stacks import HoldParameter
    from strongref_cli.check.report import StackReport
    from strongref_cli.check.stored import Location

B, C = "222222222222", "333333333333"
THERE = at(account=B)
SITE = stack_arn("site", account=B)
NOT_READ = f"{B} (not read)"
ROLE = "--role arn:aws:iam::ACCOUNT:role/NAME"
REF = {"Ref": "Bucket"}
HELD = held_by("web", account=B)


def network(given: object, *accounts: str, **more: Any) -> Template:
    return template(Exports=exporting(given, Account=list(accounts or [B]), **more))


def unread(*places: Location, hold: str = "", holds: tuple[HoldParameter, ...] = (), **of: Any) -> StoredStack:
    """What is stored if the index names these places, and nothing is read there."""
    places = places or (THERE,)
    index = {"Exports": IndexEntry(NETWORK, frozenset(each.place for each in places), hold)}
    scopes = {("Exports", each): _unread(each.site.account) for each in places}
    return StoredStack(index, scopes, {hold: holds} if hold else {}, listed=(B, C), **of)


def _unread(account: str = B) -> StoredScope:
    return StoredScope(StoredExports({}, None), unread=NoWayInError(account))


def reasons(report: StackReport) -> str:
    return " ".join(each for export in report.exports for each in export.reasons)


def texts(report: StackReport, verdict: Verdict) -> list[str]:
    return [each.text for each in report.findings if each.verdict is verdict]


def kinds(report: StackReport) -> dict[tuple[str, str], ChangeKind]:
    return {(each.name, each.account): each.kind for export in report.exports for each in export.changes}


@pytest.mark.parametrize(
    ("new", "more", "verdict"),
    [
        ({"A": "2", "B": "1"}, {}, Verdict.UNKNOWN),
        ({"A": "1"}, {}, Verdict.UNKNOWN),
        ({"A": ["1"], "B": "1"}, {}, Verdict.UNKNOWN),
        ({"A": "1", "B": "1", "C": "1"}, {}, Verdict.ACCEPTED),
        ({"A": "1", "B": "1"}, {"Revision": "2"}, Verdict.ACCEPTED),
        ({"A": "2", "B": "1"}, {"OnChange": "propagate"}, Verdict.ACCEPTED),
        ({"A": "1"}, {"OnChange": "propagate"}, Verdict.UNKNOWN),
        ({"A": ["1"], "B": "1"}, {"OnChange": "propagate"}, Verdict.UNKNOWN),
    ],
)
def test_what_is_not_read_may_be_imported(new: dict[str, Any], more: Template, verdict: Verdict) -> None:
    report = update(network({"A": "1", "B": "1"}), network(new, **more), unread())
    assert report.verdict is verdict
    assert (ROLE in reasons(report)) is (verdict is Verdict.UNKNOWN)
    touched = [each for each in report.exports[0].changes if each.kind is not ChangeKind.ADDED]
    assert [each.importers for each in touched] == [(NOT_READ,)] * 2


@pytest.mark.parametrize("account", ["", B])
def test_what_is_read_is_as_complete_as_in_the_own_account(account: str) -> None:
    place, old = at(account=account), network({"A": "1"}, account or ACCOUNT)
    found = replace(stored(values(A="1"), {"A": (SITE,)}, places=(place,)), listed=(B,))
    refused = update(old, network({"A": "2"}, account or ACCOUNT), found)
    assert refused.verdict is Verdict.REFUSED
    assert f"A cannot be changed: it is imported by stack site (us-east-1, {B})." in reasons(refused)
    found = replace(stored(values(A="1"), places=(place,)), listed=(B,))
    accepted = update(old, network({"A": "2"}, account or ACCOUNT), found)
    assert (accepted.verdict, reasons(accepted)) == (Verdict.ACCEPTED, "")


def test_a_place_in_another_account_is_not_taken_for_the_own_one_in_the_same_region() -> None:
    """Nothing is worse than to say that nothing happens, for a look at the wrong account."""
    both = replace(stored(values(A="1")), listed=(B,))
    claimed = StoredScope(both.at("Exports", at()).exports, {Key("A"): ours(by=(SITE,))})
    both = replace(both, scopes={**both.scopes, ("Exports", THERE): claimed})
    old, new = network({"A": "1"}, ACCOUNT, B), network({"A": "2"}, ACCOUNT, B)
    report = update(old, new, both)
    assert report.verdict is Verdict.REFUSED
    assert kinds(report) == {("A", ""): ChangeKind.CHANGED, ("A", B): ChangeKind.CHANGED}
    assert {each.account: each.importers for each in report.exports[0].changes} == {"": (), B: (SITE,)}
    only = {("Exports", at()): claimed, ("Exports", THERE): both.at("Exports", at())}
    assert update(network({"A": "1"}), network({"A": "2"}), replace(both, scopes=only)).verdict is Verdict.ACCEPTED
    assert predict_deletion(STACK, version(old), both).verdict is Verdict.REFUSED
    moved = update(old, network({"A": "1"}, ACCOUNT), both)
    assert (moved.verdict, kinds(moved)["A", B]) == (Verdict.REFUSED, ChangeKind.DROPPED)


def test_every_account_and_region_is_a_place() -> None:
    given = version(network({"A": "1"}, ACCOUNT, B, Region=[US, EU]))
    comparison = type("Comparison", (), {"old": given, "new": given})()
    index = {"Exports": IndexEntry(NETWORK, frozenset([at(account=C).place]))}
    found = [each for _, each in locations_of(STACK, comparison, index)]
    assert found == [at(), at(EU), THERE, at(EU, account=B), at(account=C)]


def test_an_account_that_is_added_has_nothing_yet() -> None:
    found = unread()
    found = replace(found, scopes={**found.scopes, ("Exports", at(account=C)): _unread(C)})
    report = update(network({"A": "1"}), network({"A": "1"}, B, C), found)
    assert (report.verdict, kinds(report)["A", C]) == (Verdict.ACCEPTED, ChangeKind.ADDED)
    moved = update(network({"A": "1"}), network({"A": "1"}, C), found)
    assert (moved.verdict, kinds(moved)) == (
        Verdict.UNKNOWN,
        {("A", C): ChangeKind.ADDED, ("A", B): ChangeKind.DROPPED},
    )
    assert "it moves to" not in reasons(moved)
    assert f"it moves to us-east-1 of account {C} for web" in [each.because for each in moved.exports[0].changes]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (ResourceChange.KEPT, Verdict.ACCEPTED),
        (ResourceChange.REPLACED, Verdict.UNKNOWN),
        (ResourceChange.MAYBE_REPLACED, Verdict.UNKNOWN),
    ],
)
def test_values_that_only_the_deployment_knows(change: ResourceChange, verdict: Verdict) -> None:
    old = template(Bucket=bucket("one"), **network({"A": REF, "B": {"Fn::Sub": "x-${Bucket}"}})["Resources"])
    changed = network({"A": REF, "B": {"Fn::Sub": "x-${Bucket}"}}, Revision="2")["Resources"]
    new = template(Bucket=bucket("two"), **changed)
    report = update(old, new, unread(), {"Bucket": change, "Exports": ResourceChange.KEPT})
    expected = {
        ResourceChange.KEPT: ChangeKind.UNCHANGED,
        ResourceChange.REPLACED: ChangeKind.CHANGED,
        ResourceChange.MAYBE_REPLACED: ChangeKind.UNKNOWN,
    }
    assert (report.verdict, set(kinds(report).values())) == (verdict, {expected[change]})
    assert (ROLE in reasons(report)) is (verdict is Verdict.UNKNOWN)


def test_a_list_that_only_the_deployment_knows_may_become_a_text() -> None:
    split, text = {"Fn::Split": [",", REF]}, {"Fn::Join": ["", [REF, "x"]]}
    old = template(Bucket=bucket("one"), **network({"A": split}, OnChange="propagate")["Resources"])
    new = template(Bucket=bucket("two"), **network({"A": text}, OnChange="propagate")["Resources"])
    assert update(old, new, unread()).verdict is Verdict.UNKNOWN


def test_what_a_value_comes_from_may_be_deleted_while_stacks_use_it() -> None:
    old = template(Bucket=bucket("one"), **network({"A": REF})["Resources"])
    report = update(old, network({"A": "one"}), unread())
    assert report.verdict is Verdict.UNKNOWN
    other = template(Other=exporting({"A": REF}, Account=B), Bucket=bucket("one"))
    found = unread()
    found = replace(found, scopes={**found.scopes, ("Other", THERE): _unread()})
    given = template(Other=exporting({"A": "same"}, Account=B), Bucket=bucket("one"))
    assert update(given, template(Other=exporting({"A": "same"}, Account=B)), found).verdict is Verdict.ACCEPTED
    assert update(other, other, found).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("more", [{}, {"DeletionPolicy": "Retain"}])
def test_an_export_that_leaves_may_be_imported_there(more: Template) -> None:
    old = template(Bucket=bucket(), Exports=network({"A": REF})["Resources"]["Exports"] | more)
    report = update(old, template(Bucket=bucket()), unread())
    assert report.verdict is Verdict.UNKNOWN
    assert ROLE in reasons(report)
    deleted = predict_deletion(STACK, version(old), unread())
    assert deleted.verdict is Verdict.UNKNOWN
    assert ROLE in reasons(deleted)


def test_what_a_retained_export_has_left_behind_there_may_be_imported() -> None:
    given = template(Bucket=bucket())
    deleted = predict_deletion(STACK, version(given), unread())
    assert deleted.verdict is Verdict.UNKNOWN
    assert f"'{NOT_READ}' imports its values" in texts(deleted, Verdict.UNKNOWN)[0]
    assert update(given, given, unread()).verdict is Verdict.ACCEPTED
    again = update(given, template(Bucket=bucket(), **network({"A": "1"})["Resources"]), unread())
    assert again.verdict is Verdict.UNKNOWN
    assert "values-not-read cannot be dropped" in reasons(again)


def test_what_was_deployed_may_be_unknown() -> None:
    old = network({"Fn::If": ["IsOn", {"A": "1"}, {"B": "1"}]})
    old["Conditions"] = {"IsOn": {"Fn::Equals": [{"Fn::GetStackOutput": "x"}, "on"]}}
    report = update(old, network({"A": "1"}), unread())
    assert report.verdict is Verdict.UNKNOWN
    without_index = replace(unread(), index={})
    for found in (unread(), without_index):
        assert predict_deletion(STACK, version(old), found).verdict is Verdict.UNKNOWN


def test_what_is_lost_here_is_lost_whatever_is_imported_there() -> None:
    old = template(Bucket=bucket("one"), **network({"A": REF, "B": "1"}, ACCOUNT, B)["Resources"])
    here = stored(values(A="one", B="1"), {"A": (WEB,)})
    both = replace(unread(), scopes={**here.scopes, ("Exports", THERE): _unread()})
    report = update(old, network({"A": "one"}, ACCOUNT, B), both)
    assert report.verdict is Verdict.LOST
    assert "B cannot be dropped" in report.exports[0].reasons[-1]


@pytest.mark.parametrize(("value", "verdict"), [("1", Verdict.ACCEPTED), ("2", Verdict.REFUSED)])
def test_a_renamed_export_is_taken_over_there(value: str, verdict: Verdict) -> None:
    found = unread()
    found = replace(found, scopes={**found.scopes, ("Renamed", THERE): _unread()})
    report = update(network({"A": "1"}), template(Renamed=exporting({"A": value}, Account=B)), found)
    assert report.verdict is verdict


def test_the_hold_of_a_place_has_cloudformation_refuse_and_is_said_to() -> None:
    given = network({"A": "1"}, Hold="network-Exports")["Resources"]
    old, found = template(hold_output(), **given), unread(hold="network-Exports", holds=(HELD,))
    report = update(old, template(Bucket=bucket()), found)
    assert report.verdict is Verdict.REFUSED
    (refused,) = texts(report, Verdict.REFUSED)
    assert f"it is in use by strongref-hold-… for web (us-east-1, {B}). Nothing is changed then." in refused
    assert refused.endswith(
        "The janitor removes holds for other accounts within 15 minutes, strongref doctor --fix at once. Remove the "
        "output after that."
    )
    deleted = predict_deletion(STACK, version(old), found)
    assert deleted.verdict is Verdict.REFUSED
    (note,) = texts(deleted, Verdict.ACCEPTED)
    assert note.startswith(f"Exports is held for web in us-east-1 of account {B}: while something is imported there,")
    assert texts(deleted, Verdict.UNKNOWN) == []


@pytest.mark.parametrize("hold", ["network-Exports", ""])
def test_a_deletion_says_what_nobody_knows_without_a_hold(hold: str) -> None:
    given = network({"A": "1"}, **({"Hold": hold} if hold else {}))["Resources"]
    old = template(hold_output() if hold else {}, Bucket=bucket(), **given)
    report = predict_deletion(STACK, version(old), unread(hold=hold))
    assert report.verdict is Verdict.UNKNOWN
    (finding,) = texts(report, Verdict.UNKNOWN)
    assert "At worst: CloudFormation deletes Bucket before or while Exports refuses" in finding
    assert ("Add Hold" in finding) is (not hold)
    notes = [f"Exports has Hold, but '{NOT_READ}' is unheld. The janitor makes holds for other accounts within 15"]
    shown = texts(report, Verdict.ACCEPTED)
    assert [each.startswith(note) for each, note in zip(shown, notes, strict=False)] == [True] * bool(hold)


@pytest.mark.parametrize(("holds", "unheld"), [((HELD,), False), ((), True), ((held_by("site", account=B),), True)])
def test_an_import_there_is_held_with_its_place(holds: tuple[HoldParameter, ...], unheld: bool) -> None:
    given = template(hold_output(), **network({"A": "1"}, Hold="network-Exports")["Resources"])
    found = stored(values(A="1"), {"A": (SITE,)}, places=(THERE,), hold="network-Exports", holds=holds)
    notes = texts(update(given, given, replace(found, listed=(B,))), Verdict.ACCEPTED)
    text = f"Exports has Hold, but stack site (us-east-1, {B}) is unheld. The janitor makes holds for other"
    assert [each.startswith(text) for each in notes] == [True] * unheld


def refusing(listed: tuple[str, ...] | AwsCallError, found: StoredStack | None = None) -> StoredStack:
    return replace(found or stored(values(A="1"), places=(THERE,)), listed=listed)


def test_an_account_that_the_installation_does_not_list_is_refused_in_the_exporters_words() -> None:
    old, new = network({"A": "1"}), network({"A": "2"})
    for before, listed, shown in ((None, (), "none"), (old, (C,), C)):
        report = update(before, new, refusing(listed, StoredStack() if before is None else None))
        assert report.verdict is Verdict.REFUSED
        wanted = ",".join([*listed, B])
        assert reasons(report) == (
            f"Account must be the stack's own, or one of the installation's ExportAccounts ({shown}), got {B}. "
            f"Update the installation with strongref install --parameter ExportAccounts={wanted}"
        )
    assert update(old, new, refusing((C, B))).verdict is Verdict.ACCEPTED


def test_a_place_that_is_left_must_be_listed_too_unless_a_person_gave_it_up() -> None:
    old, found = network({"A": "1"}), refusing((C,))
    forgotten = replace(found.index["Exports"], forgotten=frozenset([THERE.place]))
    for new in (network({"A": "1"}, C), network({}, ACCOUNT)):
        report = update(old, new, found)
        assert report.verdict is Verdict.REFUSED
        assert reasons(report).startswith(f"us-east-1 of account {B} cannot be reached, and stack network (eu-west-1)")
        assert update(old, new, replace(found, index={"Exports": forgotten})).verdict is Verdict.ACCEPTED
    deleted = predict_deletion(STACK, version(old), found)
    assert (deleted.verdict, "cannot be reached" in reasons(deleted)) == (Verdict.REFUSED, True)
    claimed = replace(stored(values(A="1"), {"A": (SITE,)}, places=(THERE,)), listed=(C,))
    assert update(old, template(Bucket=bucket()), claimed).verdict is Verdict.LOST


def test_an_installation_that_cannot_be_described_is_neither_refused_nor_accepted() -> None:
    denied = AwsCallError("DescribeStacks", "strongref", EU, "AccessDenied")
    text = "unknown: The installation's ExportAccounts are not read. At worst: DescribeStacks of strongref in"
    old, found = network({"A": "1"}), refusing(denied)
    for report in (
        update(None, old, replace(StoredStack(scopes={("Exports", THERE): _unread()}), listed=denied)),
        update(old, network({"A": "2"}), replace(unread(), listed=denied)),
        update(old, network({"A": "2"}), found),
        predict_deletion(STACK, version(old), found),
    ):
        assert report.verdict is Verdict.UNKNOWN
        assert text in reasons(report)
    both = update(old, network({"A": "2"}), replace(unread(), listed=denied))
    assert (ROLE in reasons(both), kinds(both)) == (True, {("A", B): ChangeKind.CHANGED})
    own = replace(stored(values(A="1")), listed=denied)
    assert update(network({"A": "1"}, ACCOUNT), network({"A": "2"}, ACCOUNT), own).verdict is Verdict.ACCEPTED
    assert update(old, old, found).verdict is Verdict.ACCEPTED  # It is not called.


def test_an_account_that_only_cloudformation_knows_is_that_of_the_index_if_it_stays() -> None:
    account = {"Fn::ImportValue": "consumer-account"}
    old, new = (template(Exports=exporting({"A": each}, Account=account)) for each in "12")
    assert (update(old, new, unread()).verdict, update(old, old, unread()).verdict) == (
        Verdict.UNKNOWN,
        Verdict.ACCEPTED,
    )
    claimed = replace(stored(values(A="1"), {"A": (SITE,)}, places=(THERE,)), listed=(B,))
    assert update(old, new, claimed).verdict is Verdict.REFUSED
    twice = update(old, new, unread(THERE, at(EU, account=C)))
    assert reasons(twice).startswith("Account is unknown: ")
    left = update(old, template(Bucket=bucket()), StoredStack())
    assert reasons(left).startswith("Where it publishes is unknown: only CloudFormation knows Account, ")


def test_an_update_of_what_was_refused_finds_what_is_published_there() -> None:
    """The old properties cannot be understood; the record says where, in whichever account."""
    for wrong in ({"OnChange": "never"}, {"Region": "nowhere"}):
        old = network({"A": "1"}, **wrong)
        for place, account in ((THERE, C), (at(), B)):  # The latter is in the same region.
            claimed = replace(stored(values(A="1"), {"A": (SITE,)}, places=(place,)), listed=(B, C))
            assert update(old, network({"A": "1"}, account), claimed).verdict is Verdict.REFUSED
        assert update(old, network({"A": "1"}, C), unread()).verdict is Verdict.UNKNOWN
