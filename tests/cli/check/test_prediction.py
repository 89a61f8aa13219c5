"""What an update would do: refused in the exporter's words, unknown with the reason, or lost in the cleanup."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from strongref.contract.names import Key
from strongref.contract.requests import ExportRequest
from strongref.errors import BadRequestError, StrongRefError
from strongref.protocol.plan import refusal_of
from strongref.protocol.planner import keys_to_inspect, plan_export
from strongref_cli.check.comparison import Comparison
from strongref_cli.check.prediction import predict
from strongref_cli.check.report import ChangeKind, Verdict
from strongref_cli.check.stored import StoredScope, StoredStack
from strongref_cli.check.unknown import SourceKind, unknown_of
from strongref_cli.check.updates import ResourceChange
from strongref_cli.check.version import StackVersion
from strongref_toolkit.cloudformation import NESTED_STACK
from tests.support.builders import ME, SHOP, WEB, items, ours, record, stock, text, values
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
    from strongref_cli.check.report import ExportPrediction, StackReport
    from strongref_cli.check.unknown import Evaluated

REF, ARN = {"Ref": "Bucket"}, {"Fn::GetAtt": ["Bucket", "Arn"]}
ELSEWHERE = {"Fn::ImportValue": "consumer"}
RETAINED = {"DeletionPolicy": "Retain"}
IN_USE = "A cannot be changed: it is imported by stack web (us-east-1, 111111111111)."


def only(report: StackReport) -> ExportPrediction:
    (found,) = report.exports
    return found


def kinds(report: StackReport) -> dict[str, ChangeKind]:
    return {change.name: change.kind for each in report.exports for change in each.changes}


def test_a_known_change_of_a_claimed_value_is_refused_in_the_exporters_words() -> None:
    found = stored(values(A="1", B="1"), {"A": (WEB,)})
    report = update(template(Exports=exporting({"A": "1", "B": "1"})), template(Exports=exporting({"A": "2"})), found)
    assert report.verdict is Verdict.REFUSED
    assert only(report).reasons[0].startswith(IN_USE)
    assert kinds(report) == {"A": ChangeKind.CHANGED, "B": ChangeKind.DROPPED}


@pytest.mark.parametrize("type_name", ["Custom::Other", "AWS::CloudFormation::CustomResource"])
def test_an_export_of_another_custom_type_is_one(type_name: str) -> None:
    """The exporter does not ask for the type."""
    old, new = (template(Exports=exporting({"A": each}) | {"Type": type_name}) for each in "12")
    assert update(old, new, stored(values(A="1"), {"A": (WEB,)})).verdict is Verdict.REFUSED


def test_what_nobody_claims_changes_freely() -> None:
    old, new = (
        template(Exports=exporting({"A": "1", "B": "1"})),
        template(Exports=exporting({"A": "1", "B": "2", "C": "3"})),
    )
    report = update(old, new, stored(values(A="1", B="1"), {"A": (WEB,)}))
    assert report.verdict is Verdict.ACCEPTED
    assert kinds(report) == {"A": ChangeKind.UNCHANGED, "B": ChangeKind.CHANGED, "C": ChangeKind.ADDED}


def test_a_value_of_an_unchanged_resource_is_unchanged() -> None:
    old = template(Bucket=bucket(), Exports=exporting({"A": REF}))
    new = template(Bucket=bucket(), Exports=exporting({"A": REF, "B": "new"}))
    report = update(old, new, stored(values(A="bucket-1"), {"A": (WEB,)}))
    assert report.verdict is Verdict.ACCEPTED
    assert kinds(report) == {"A": ChangeKind.UNCHANGED, "B": ChangeKind.ADDED}


def test_a_value_of_a_changed_resource_is_unknown_and_says_what_would_refuse_it() -> None:
    old = template(Bucket=bucket("one"), Exports=exporting({"A": REF}))
    new = template(Bucket=bucket("two"), Exports=exporting({"A": REF}))
    report = update(old, new, stored(values(A="one"), {"A": (WEB,)}))
    assert report.verdict is Verdict.UNKNOWN
    (reason,) = only(report).reasons
    assert reason.startswith(f"unknown: A: Bucket may be replaced. Refused if that is so: {IN_USE}")
    assert kinds(report) == {"A": ChangeKind.UNKNOWN}
    assert update(old, new, stored(values(A="one"))).verdict is Verdict.ACCEPTED


def test_a_resource_of_another_type_is_refused_by_cloudformation() -> None:
    old = template(Bucket=bucket(), Exports=exporting({"A": "1"}))
    topic = template(Bucket={"Type": "AWS::SNS::Topic"}, Exports=exporting({"A": "1"}))
    report = update(old, topic, stored(values(A="1")))
    told = "CloudFormation refuses to change the Type of Bucket: give the new resource another logical ID."
    assert [(each.verdict, each.text) for each in report.findings] == [(Verdict.REFUSED, told)]
    other = template(Exports={**exporting({"A": "1"}), "Type": "Custom::CrossRegionExport2"})
    assert update(old, other, stored(values(A="1"))).verdict is Verdict.REFUSED
    topic["Resources"]["Bucket"]["Condition"] = "Maybe"
    topic["Conditions"] = {"Maybe": {"Fn::Equals": [{"Fn::ImportValue": "x"}, "y"]}}
    assert update(old, topic, stored(values(A="1"))).verdict is Verdict.UNKNOWN
    topic["Conditions"] = {"Maybe": {"Fn::Equals": ["x", "y"]}}
    assert update(old, topic, stored(values(A="1"))).verdict is Verdict.ACCEPTED


def test_what_depends_on_a_changed_resource_may_change_too() -> None:
    def stack(name: str) -> Template:
        policy = {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Bucket"}}}
        return template(Bucket=bucket(name), Policy=policy, Exports=exporting({"A": {"Ref": "Policy"}}))

    assert update(stack("one"), stack("two"), stored(values(A="x"), {"A": (WEB,)})).verdict is Verdict.UNKNOWN
    assert update(stack("one"), stack("one"), stored(values(A="x"), {"A": (WEB,)})).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("change", "ref", "attribute"),
    [
        (ResourceChange.KEPT, Verdict.ACCEPTED, Verdict.UNKNOWN),
        (ResourceChange.REPLACED, Verdict.REFUSED, Verdict.UNKNOWN),
        (ResourceChange.MAYBE_REPLACED, Verdict.UNKNOWN, Verdict.UNKNOWN),
        (None, Verdict.ACCEPTED, Verdict.ACCEPTED),
    ],
)
def test_a_change_set_knows_more(change: ResourceChange | None, ref: Verdict, attribute: Verdict) -> None:
    changes = {"Bucket": change} if change else {}
    for value, verdict in ((REF, ref), (ARN, attribute), ({"Fn::Sub": "x-${Bucket}"}, ref)):
        old = template(Bucket=bucket("one"), Exports=exporting({"A": value}))
        new = template(Bucket=bucket("two"), Exports=exporting({"A": value}, Revision="2"))
        listed = changes | {"Exports": ResourceChange.KEPT}
        assert update(old, new, stored(values(A="one"), {"A": (WEB,)}), listed).verdict is verdict
        unlisted = update(old, new, stored(values(A="one"), {"A": (WEB,)}), changes)
        assert (unlisted.verdict, only(unlisted).changes) == (Verdict.ACCEPTED, ())


def test_a_move_is_refused_while_the_old_place_is_claimed() -> None:
    old, new = template(Exports=exporting({"A": "1"})), template(Exports=exporting({"A": "1"}, Region=EU))
    report = update(old, new, stored(values(A="1"), {"A": (WEB,)}))
    assert report.verdict is Verdict.REFUSED
    assert {(each.region, each.kind) for each in only(report).changes} == {
        (EU, ChangeKind.ADDED),
        (US, ChangeKind.DROPPED),
    }
    assert update(old, new, stored(values(A="1"))).verdict is Verdict.ACCEPTED


def test_a_fan_out_is_refused_in_all_regions() -> None:
    places = (at(), at(EU))
    old = template(Exports=exporting({"A": "1"}, Region=[US, EU]))
    report = update(
        old,
        template(Exports=exporting({"A": "2"}, Region=[US, EU])),
        stored(values(A="1"), {"A": (WEB,)}, places=places),
    )
    assert report.verdict is Verdict.REFUSED
    assert len(only(report).changes) == 2


def test_propagate_accepts_a_change_and_no_drop() -> None:
    old, found = template(Exports=exporting({"A": "1", "B": "1"})), stored(values(A="1", B="1"), {"A": (WEB,)})
    assert update(old, template(Exports=exporting({"A": "2"}, OnChange="propagate")), found).verdict is Verdict.ACCEPTED
    assert update(old, template(Exports=exporting({"B": "2"}, OnChange="propagate")), found).verdict is Verdict.REFUSED


def test_who_keeps_the_old_value_of_what_is_propagated_is_reported() -> None:
    found = stored(values(A="one", B="1"), {"A": (WEB,)})
    old = template(Bucket=bucket("one"), Exports=exporting({"A": REF, "B": "1"}, OnChange="propagate"))

    def notes(new: Template, changes: dict[str, ResourceChange] | None = None) -> list[str]:
        report = update(old, new, found, changes)
        assert report.verdict is Verdict.ACCEPTED
        return [each.text for each in report.findings]

    keeps = "stack web (us-east-1, 111111111111) keeps the old value until deployed with another Revision"
    gone = template(Exports=exporting({"A": "two", "B": "2"}, OnChange="propagate"))
    assert notes(gone) == [f"A changes: {keeps}; Bucket is deleted in the cleanup."]
    renamed = template(Bucket=bucket("two"), Exports=exporting({"A": REF, "B": "1"}, OnChange="propagate"))
    assert notes(renamed) == [f"A may change: {keeps}."]
    listed = {"Bucket": ResourceChange.REPLACED, "Exports": ResourceChange.KEPT}
    assert notes(renamed, listed) == [f"A changes: {keeps}; Bucket is deleted in the cleanup."]
    assert notes(old) == []


def test_another_type_of_a_value_is_refused() -> None:
    old, new = template(Exports=exporting({"A": "1"})), template(Exports=exporting({"A": ["1"]}))
    assert "A cannot be given another type" in only(update(old, new, stored(values(A="1"), {"A": (WEB,)}))).reasons[0]


def test_an_unknown_list_stays_a_list() -> None:
    old = template(Bucket=bucket("one"), Exports=exporting({"A": [REF, "x"]}))
    new = template(Bucket=bucket("two"), Exports=exporting({"A": [REF, "x"]}))
    report = update(old, new, stored(values(A=items("one", "x")), {"A": (WEB,)}))
    assert IN_USE in only(report).reasons[0]


def test_a_bad_property_is_refused_in_the_exporters_words() -> None:
    report = update(None, template(Exports=exporting({"A b": "1"})), StoredStack())
    with pytest.raises(BadRequestError) as refused:
        ExportRequest.parse({"Values": {"A b": "1"}}, STACK)
    assert only(report).reasons == (str(refused.value),)


def test_an_unknown_region_decides_everything() -> None:
    new = template(
        Bucket=bucket(), Exports=exporting({"A": "1"}, Region={"Fn::GetAtt": ["Bucket", "RegionalDomainName"]})
    )
    report = update(None, new, StoredStack())
    assert only(report).reasons == ("Region is unknown: Bucket is new.",)
    assert report.verdict is Verdict.UNKNOWN


def test_an_unknown_region_that_stays_is_the_one_of_the_index() -> None:
    def stack(value: str) -> Template:
        return template(Exports=exporting({"A": value}, Region=ELSEWHERE))

    report = update(stack("1"), stack("2"), stored(values(A="1"), {"A": (WEB,)}))
    assert report.verdict is Verdict.REFUSED


@pytest.mark.parametrize("more", [{"Region": ELSEWHERE}, {"Region": [US, ELSEWHERE]}, {"Consumer": ELSEWHERE}])
def test_an_export_that_leaves_from_where_only_cloudformation_knows_is_unknown(more: Template) -> None:
    """The index has no entry: the suite was updated a moment ago, and the janitor has not run yet."""
    exports = exporting({"A": "1"}, **more)
    for each in (exports, exports | RETAINED):
        report = update(template(Exports=each, Other=bucket()), template(Other=bucket()), StoredStack())
        assert report.verdict is Verdict.UNKNOWN
        (name,) = more
        assert only(report).reasons[0].startswith(f"Where it publishes is unknown: only CloudFormation knows {name}, ")
    found = stored(values(A="1"))
    assert update(template(Exports=exports), template(Other=bucket()), found).verdict is Verdict.ACCEPTED


def test_an_export_that_leaves_with_its_resource_is_lost_and_without_it_too() -> None:
    old = template(Bucket=bucket(), Exports=exporting({"A": REF}), Other=bucket())
    found = stored(values(A="one"), {"A": (WEB,)})
    both = update(old, template(Other=bucket()), found)
    assert both.verdict is Verdict.LOST
    assert "A stays: imported by stack web (us-east-1, 111111111111). The export is withdrawn" in only(both).reasons[0]
    assert only(both).reasons[1] == "Bucket is removed with it: CloudFormation deletes it while stacks use it."
    alone = update(old, template(Bucket=bucket(), Other=bucket()), found)
    assert (alone.verdict, len(only(alone).reasons)) == (Verdict.LOST, 1)
    assert update(old, template(Other=bucket()), stored(values(A="one"))).verdict is Verdict.ACCEPTED


def test_a_condition_that_turns_false_removes_an_export() -> None:
    def stack(stage: str) -> Template:
        holds = {"IsProd": {"Fn::Equals": [stage, "prod"]}}
        return template(None, holds, Exports=exporting({"A": "1"}) | {"Condition": "IsProd"}, Other=bucket())

    report = update(stack("prod"), stack("test"), stored(values(A="1"), {"A": (WEB,)}))
    assert (report.verdict, kinds(report)) == (Verdict.LOST, {"A": ChangeKind.WITHDRAWN})


def test_a_retained_export_that_leaves_protects_nothing_anymore() -> None:
    old, new = template(Bucket=bucket(), Exports=exporting({"A": REF}) | RETAINED), template(Bucket=bucket())
    found = stored(values(A="one"), {"A": (WEB,)})
    report = update(old, new, found)
    assert (report.verdict, kinds(report)) == (Verdict.LOST, {"A": ChangeKind.UNCHANGED})
    assert only(report).reasons == (
        "Exports is retained: its values stay, and from then on nothing protects what they refer to.",
    )
    assert update(old, new, stored(values(A="one"))).verdict is Verdict.ACCEPTED


def test_what_a_retained_export_has_left_behind_is_reported() -> None:
    given, found = template(Bucket=bucket()), stored(values(A="one"), {"A": (WEB, SHOP)})
    (finding,) = update(given, given, found).findings
    assert finding.verdict is Verdict.ACCEPTED
    assert finding.text.startswith(
        "Exports is no longer in the template, and stack shop (us-east-1, 111111111111) and stack web (us-east-1, "
        "111111111111) import its values: nothing protects what they refer to."
    )
    assert update(given, given, stored(values(A="one"))).findings == ()


def test_a_retained_export_does_not_retain_the_resource_that_leaves_with_it() -> None:
    old = template(Bucket=bucket(), Exports=exporting({"A": REF}) | RETAINED)
    report = update(old, template(Other=bucket()), stored(values(A="1"), {"A": (WEB,)}))
    assert (report.verdict, kinds(report)) == (Verdict.LOST, {"A": ChangeKind.UNCHANGED})
    assert only(report).reasons[1:] == ("Bucket is removed with it: CloudFormation deletes it while stacks use it.",)
    assert update(old, template(Other=bucket()), stored(values(A="1"))).verdict is Verdict.ACCEPTED


def test_a_renamed_export_is_taken_over() -> None:
    old, new = template(Exports=exporting({"A": "1"})), template(Renamed=exporting({"A": "1"}))
    mine = stored(values(A="1"), {"A": (WEB,)})
    scope = mine.at("Exports", at())
    theirs = StoredScope(stock(values(A="1"), others={"Exports": record(A="1")}), scope.tags)
    found = StoredStack(mine.index, {**mine.scopes, ("Renamed", at()): theirs})
    report = update(old, new, found)
    assert report.verdict is Verdict.ACCEPTED
    changed = update(old, template(Renamed=exporting({"A": "2"})), found)
    assert changed.verdict is Verdict.REFUSED
    assert "Exports in the same stack exports the same name with another value" in changed.exports[0].reasons[0]


@pytest.mark.parametrize(("bucket_name", "verdict"), [("one", Verdict.ACCEPTED), ("two", Verdict.UNKNOWN)])
def test_a_renamed_export_has_the_values_that_it_had(bucket_name: str, verdict: Verdict) -> None:
    mine = stored(values(A__X="one"), {"A/X": (WEB,)})
    theirs = StoredScope(
        stock(values(A__X="one"), others={"Exports": record(A__X="one")}), mine.at("Exports", at()).tags
    )
    found = replace(mine, scopes={**mine.scopes, ("Renamed", at()): theirs})
    old = template(Bucket=bucket("one"), Exports=exporting({"A": {"X": REF}}))
    assert (
        update(old, template(Bucket=bucket(bucket_name), Renamed=exporting({"A": {"X": REF}})), found).verdict
        is verdict
    )


def test_what_another_export_publishes_too_is_not_dropped() -> None:
    old = template(Exports=exporting({"A": "1"}), More=exporting({"A": "1"}))
    new = template(Exports=exporting({}), More=exporting({"A": "1"}))
    found = stored(values(A="1"), {"A": (WEB,)}, others={"More": record(A="1")})
    report = update(old, new, found)
    assert (report.verdict, kinds(report)) == (Verdict.ACCEPTED, {"A": ChangeKind.UNCHANGED})


def test_the_order_of_two_exports_may_decide() -> None:
    old = template(One=exporting({"A": "1"}), Two=exporting({"B": "1"}))
    new = template(One=exporting({"B": "1"}), Two=exporting({"A": "1"}))
    tags = {Key("A"): ours(by=(WEB,)), Key("B"): ours()}
    published = {"One": record(A="1"), "Two": record(B="1")}
    scopes = {
        (each, at()): StoredScope(
            stock(values(A="1", B="1"), mine, others={key: one for key, one in published.items() if key != each}), tags
        )
        for each, mine in published.items()
    }
    report = update(old, new, StoredStack(scopes=scopes))
    assert report.verdict is Verdict.UNKNOWN
    assert "it depends on which Export is updated first" in "".join(
        report.exports[0].reasons + report.exports[1].reasons
    )
    new["Resources"]["One"]["DependsOn"] = "Two"
    assert update(old, new, StoredStack(scopes=scopes)).verdict is Verdict.ACCEPTED


def test_a_value_may_move_on_before_the_one_that_takes_its_place() -> None:
    published = {"One": record(A="1"), "Two": record(C="3"), "Three": record(B="2")}
    everything = values(A="1", B="2", C="3")
    tags = {key: ours(by=(WEB,)) for key in everything}
    scopes = {
        (each, at()): StoredScope(
            stock(everything, mine, others={key: one for key, one in published.items() if key != each}), tags
        )
        for each, mine in published.items()
    }
    old = template(One=exporting({"A": "1"}), Two=exporting({"C": "3"}), Three=exporting({"B": "2"}))
    new = {"One": exporting({"D": "4"}), "Two": exporting({"C": "3", "B": "2"}), "Three": exporting({"A": "1"})}
    for order in (["One", "Two", "Three"], ["Two", "Three", "One"], ["Three", "One", "Two"]):
        report = update(old, template(**{each: new[each] for each in order}), StoredStack(scopes=scopes))
        found = {each.logical_id: each.verdict for each in report.exports}
        assert found == {"One": Verdict.UNKNOWN, "Two": Verdict.ACCEPTED, "Three": Verdict.UNKNOWN}


HELD = exporting({"A": REF}, Hold="network-Exports")


def held(*importers: str) -> StoredStack:
    holds = tuple(held_by(each) for each in importers)
    return stored(values(A="one"), {"A": (WEB,)}, hold="network-Exports", holds=holds)


def test_a_hold_has_cloudformation_refuse_what_would_be_lost() -> None:
    old = template(hold_output(), Bucket=bucket(), Exports=HELD, Other=bucket())
    report = update(old, template(Other=bucket()), held("web"))
    assert report.verdict is Verdict.REFUSED
    assert only(report).verdict is Verdict.LOST  # what would be so without the hold
    (finding,) = [each for each in report.findings if each.verdict is Verdict.REFUSED]
    assert finding.text.startswith(
        "CloudFormation refuses to remove export network-Exports: it is in use by strongref-hold-… for web (us-east-1, "
        "111111111111). Nothing is changed then. Remove the property Hold first"
    )


def test_the_property_goes_first_and_then_the_output() -> None:
    old = template(hold_output(), Bucket=bucket(), Exports=HELD)
    plain = exporting({"A": REF})
    assert update(old, template(Bucket=bucket(), Exports=plain), held("web")).verdict is Verdict.REFUSED
    first = template(hold_output(), Bucket=bucket(), Exports=plain)
    assert update(old, first, held("web")).verdict is Verdict.ACCEPTED
    assert update(first, template(Bucket=bucket(), Exports=plain), held()).verdict is Verdict.ACCEPTED


PLAIN = {"Plain": {"Value": {"Ref": "Bucket"}, "Export": {"Name": "network-Plain"}}}


@pytest.mark.parametrize(
    ("outputs", "refused"),
    [
        ({}, "CloudFormation refuses to remove export network-Plain: it is in use by stack billing. Nothing"),
        ({"Plain": PLAIN["Plain"] | {"Value": "x"}}, "CloudFormation refuses the update if export network-Plain"),
        (PLAIN, ""),
    ],
    ids=["removed", "changed", "unchanged"],
)
def test_what_stacks_import_themselves_is_refused_too(outputs: Template, refused: str) -> None:
    old = template(PLAIN, Bucket=bucket(), Exports=exporting({"A": "one"}))
    found = replace(stored(values(A="one")), users={"network-Plain": ("billing",)})
    report = update(old, old | {"Outputs": outputs}, found)
    assert "".join(each.text for each in report.findings).startswith(refused)
    assert report.verdict is (Verdict.ACCEPTED if not refused else Verdict.UNKNOWN if outputs else Verdict.REFUSED)


def test_another_name_of_a_held_export_is_refused() -> None:
    old = template(hold_output(), Bucket=bucket(), Exports=HELD)
    new = template(hold_output(name="new"), Bucket=bucket(), Exports=exporting({"A": REF}, Hold="new"))
    assert update(old, new, held("web")).verdict is Verdict.REFUSED


def test_importers_without_a_hold_and_a_missing_output_are_reported() -> None:
    old = template(hold_output(), Bucket=bucket(), Exports=HELD)
    report = update(old, old, held("shop"))
    assert report.verdict is Verdict.ACCEPTED
    assert "stack web (us-east-1, 111111111111) is unheld" in report.findings[0].text
    assert update(old, old, held("web")).findings == ()
    without = update(None, template(Bucket=bucket(), Exports=HELD), StoredStack())
    assert "no output exports that name" in without.findings[0].text
    assert without.verdict is Verdict.LOST


def test_an_export_whose_condition_is_unknown_is_unknown_unless_that_stays() -> None:
    def stack(value: str) -> Template:
        conditions = {"IsOn": {"Fn::Equals": [{"Ref": "Image"}, value]}}
        return template(None, conditions, Exports=exporting({"A": "1"}) | {"Condition": "IsOn"})

    def names(kind: SourceKind) -> dict[str, Evaluated]:
        return {"Image": unknown_of(kind, "Image", {"Ref": "Image"})}

    found = stored(values(A="1"), {"A": (WEB,)})
    for kind, old, verdict in (
        (SourceKind.CHANGING, "x", Verdict.UNKNOWN),
        (SourceKind.FIXED, "x", Verdict.ACCEPTED),
        (SourceKind.FIXED, "y", Verdict.UNKNOWN),
    ):
        comparison = Comparison(version(stack(old), **names(SourceKind.FIXED)), version(stack("x"), **names(kind)))
        assert predict(STACK, comparison, found).verdict is verdict


def test_an_export_that_a_change_set_does_not_list_stays_whatever_its_condition() -> None:
    conditions = {"IsOn": {"Fn::Equals": [{"Ref": "Secret"}, "x"]}}
    given = template(None, conditions, Exports=exporting({"A": "1"}) | {"Condition": "IsOn"})
    old, new = (
        version(given, Secret=unknown_of(kind, "Secret", {"Ref": "Secret"}))
        for kind in (SourceKind.FIXED, SourceKind.CHANGING)
    )
    found = stored(values(A="1"), {"A": (WEB,)})
    assert predict(STACK, Comparison(old, new, {}), found).verdict is Verdict.ACCEPTED
    listed = {"Exports": ResourceChange.KEPT}
    assert predict(STACK, Comparison(old, new, listed), found).verdict is Verdict.UNKNOWN


def test_an_output_whose_name_is_unknown_may_be_the_held_one() -> None:
    old = template(hold_output(), Bucket=bucket(), Exports=HELD)
    named = {"Hold": {"Value": "x", "Export": {"Name": {"Fn::Sub": "${Bucket}-Exports"}}}}
    report = update(old, template(named, Bucket=bucket(), Exports=HELD), held("web"))
    assert report.verdict is Verdict.UNKNOWN
    assert "CloudFormation refuses the update if export network-Exports is removed" in report.findings[0].text


def secretly_named(value: str, suffix: str = "") -> Template:
    """A stack whose output has a name that only CloudFormation knows: of a parameter with NoEcho."""
    name = {"Fn::Sub": f"${{Env}}-Plain{suffix}"}
    return template({"Plain": {"Value": value, "Export": {"Name": name}}}, Exports=exporting({"A": "one"}))


@pytest.mark.parametrize(
    ("new", "kind", "verdict"),
    [
        (secretly_named("x"), SourceKind.FIXED, Verdict.ACCEPTED),
        (secretly_named("y"), SourceKind.FIXED, Verdict.REFUSED),
        (secretly_named("x"), SourceKind.CHANGING, Verdict.UNKNOWN),
        (secretly_named("x", "2"), SourceKind.FIXED, Verdict.UNKNOWN),
        (template(Exports=exporting({"A": "one"})), SourceKind.FIXED, Verdict.REFUSED),
    ],
    ids=["same", "changed", "perhaps renamed", "renamed", "removed"],
)
def test_cloudformation_knows_the_names_of_deployed_outputs(new: Template, kind: SourceKind, verdict: Verdict) -> None:
    env = unknown_of(SourceKind.FIXED, "parameter Env", {"Ref": "Env"})
    old = StackVersion.of(secretly_named("x"), {"Env": env}, {"Plain": "prod-Plain"})
    comparison = Comparison(old, version(new, Env=unknown_of(kind, "parameter Env", {"Ref": "Env"})))
    assert comparison.outputs_at_risk() == (["prod-Plain"] if verdict is not Verdict.ACCEPTED else [])
    found = replace(stored(values(A="one")), users={"prod-Plain": ("billing",)})
    assert predict(STACK, comparison, found).verdict is verdict


def test_an_output_that_was_never_exported_is_not_in_use() -> None:
    """The creation of the stack failed: another stack exports that name."""
    old = StackVersion.of(template(PLAIN, Bucket=bucket()), {}, {})
    found = StoredStack(users={"network-Plain": ("billing",)})
    assert predict(STACK, Comparison(old, version(template(Bucket=bucket()))), found).verdict is Verdict.ACCEPTED


def test_the_way_out_names_holds_and_imports() -> None:
    old = template(hold_output(), Bucket=bucket(), Exports=HELD)
    found = replace(held("web"), users={"network-Exports": ("billing",)})
    (finding,) = [each for each in update(old, template(), found).findings if each.verdict is Verdict.REFUSED]
    assert finding.text.endswith(
        "it is in use by strongref-hold-… for web (us-east-1, 111111111111) and by stack billing. Nothing is changed "
        "then. Remove the property Hold first, and deploy the importers with another Revision of their Imports. Remove "
        "every Fn::ImportValue of it, and then the output."
    )


def test_a_stack_that_imports_its_own_export_decides_nothing() -> None:
    old = template(PLAIN, Bucket=bucket(), Exports=exporting({"A": "one"}))
    found = replace(stored(values(A="one")), users={"network-Plain": ("network",)})
    report = update(old, template(Bucket=bucket(), Exports=exporting({"A": "one"})), found)
    assert report.verdict is Verdict.UNKNOWN
    assert report.findings[0].text.startswith("unknown: only stacks that are updated with it use export network-Plain.")


def test_a_held_output_whose_condition_is_unknown_may_be_removed_unless_that_stays() -> None:
    def stack(value: str) -> Template:
        output = {"Hold": hold_output()["Hold"] | {"Condition": "IsOn"}}
        conditions = {"IsOn": {"Fn::Equals": [{"Fn::ImportValue": "x"}, value]}}
        return template(output, conditions, Bucket=bucket(), Exports=HELD)

    report = update(stack("a"), stack("b"), held("web"))
    assert report.verdict is Verdict.UNKNOWN
    assert "CloudFormation refuses the update if export network-Exports is removed" in report.findings[0].text
    assert update(stack("a"), stack("a"), held("web")).verdict is Verdict.ACCEPTED


def test_a_value_that_somebody_has_deleted_is_reported() -> None:
    given = template(Exports=exporting({"A": "1", "B": "1"}))
    found = stored(values(A="1", B="1"))
    scope = found.at("Exports", at())
    exports = replace(scope.exports, stored=values(B="1"))
    found = replace(found, scopes={("Exports", at()): replace(scope, exports=exports)})
    (finding,) = update(given, given, found).findings
    assert (finding.verdict, finding.text) == (
        Verdict.ACCEPTED,
        "A is missing in us-east-1; its claims are lost: deploy the Imports with another Revision.",
    )


@pytest.mark.parametrize("attribute", ["Metadata", "UpdatePolicy", "CreationPolicy"])
def test_an_attribute_that_is_no_property_changes_no_resource(attribute: str) -> None:
    old = template(Bucket=bucket(), Exports=exporting({"A": REF}))
    new = template(Bucket=bucket(**{attribute: {"A": "1"}}), Exports=exporting({"A": REF}))
    assert update(old, new, stored(values(A="one"), {"A": (WEB,)})).verdict is Verdict.ACCEPTED


def test_a_resource_that_is_new_is_not_one_that_may_be_replaced() -> None:
    old = template(Exports=exporting({"A": "one"}))
    new = template(Bucket=bucket(), Exports=exporting({"A": REF}))
    (reason,) = only(update(old, new, stored(values(A="one"), {"A": (WEB,)}))).reasons
    assert reason.startswith("unknown: A: Bucket is new. Refused if that is so")


def test_a_held_output_with_another_value_is_refused() -> None:
    def stack(value: object) -> Template:
        return template(
            {"Hold": {"Value": value, "Export": {"Name": "network-Exports"}}}, Bucket=bucket(), Exports=HELD
        )

    assert update(stack("network-Exports"), stack("x"), held("web")).verdict is Verdict.REFUSED
    assert update(stack("network-Exports"), stack(REF), held("web")).verdict is Verdict.UNKNOWN
    assert (
        update(stack("network-Exports"), stack({"Fn::GetAtt": "Exports.Hold"}), held("web")).verdict is Verdict.ACCEPTED
    )


def test_a_map_under_an_unknown_condition_may_be_dropped() -> None:
    value = {"Fn::If": ["IsOn", {"B": "1"}, {"Ref": "AWS::NoValue"}]}
    conditions = {"IsOn": {"Fn::Equals": [{"Fn::ImportValue": "x"}, "on"]}}
    other = {"IsOn": {"Fn::Equals": [{"Fn::ImportValue": "y"}, "on"]}}
    old, new = (template(None, each, Exports=exporting({"A": value, "C": "1"})) for each in (conditions, other))
    report = update(old, new, stored(values(A__B="1", C="1"), {"A/B": (WEB,)}))
    assert report.verdict is Verdict.UNKNOWN
    assert "A.B cannot be dropped" in only(report).reasons[0]
    assert update(old, old, stored(values(A__B="1", C="1"), {"A/B": (WEB,)})).verdict is Verdict.ACCEPTED


PERHAPS = {"IsOn": {"Fn::Equals": [{"Fn::GetStackOutput": "x"}, "on"]}}
"""A condition that only the deployment knows."""


def test_two_exports_may_publish_different_unknown_values_under_one_name() -> None:
    def stack(second: str) -> Template:
        one, two = (exporting({"A": {"Ref": each}}) for each in ("Bucket", second))
        return template(Bucket=bucket(), Other=bucket(), One=one, Two=two)

    report = update(None, stack("Other"), StoredStack())
    assert report.verdict is Verdict.UNKNOWN
    assert "One in the same stack exports the same name with another value" in report.exports[1].reasons[0]
    assert update(None, stack("Bucket"), StoredStack()).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("more", [{}, {"OnChange": "propagate"}, {"Hold": "network-Exports"}])
def test_a_value_that_stays_the_same_does_not_keep_the_resource_that_it_comes_from(more: Template) -> None:
    old = template(hold_output(), Bucket=bucket("one"), Exports=exporting({"A": {"X": REF}, "B": ARN}, **more))
    new = template(hold_output(), Exports=exporting({"A": {"X": "one"}, "B": "arn"}, **more))
    found = stored(values(A__X="one", B="arn"), {"A/X": (WEB,)}, hold="network-Exports", holds=(held_by("web"),))
    report = update(old, new, found)
    assert report.verdict is Verdict.LOST
    assert only(report).reasons == (
        "A.X stays the same, and Bucket, which it comes from, is deleted while stacks use it.",
    )
    assert update(old, new, stored(values(A__X="one", B="arn"))).verdict is Verdict.ACCEPTED
    old["Resources"]["Bucket"] |= RETAINED
    assert update(old, new, found).verdict is Verdict.ACCEPTED


def test_nor_does_it_if_another_export_goes_on_with_it() -> None:
    found = stored(values(A="one"), {"A": (WEB,)})
    scope = found.at("Exports", at())
    theirs = StoredScope(stock(values(A="one"), others={"Exports": record(A="one")}), scope.tags)
    found = replace(found, scopes={**found.scopes, ("Other", at()): theirs})
    old = template(Bucket=bucket("one"), Exports=exporting({"A": REF}))
    text = ("A stays the same, and Bucket, which it comes from, is deleted while stacks use it.",)
    for left in ({}, {"Exports": exporting({}) | {"DependsOn": "Other"}}):
        new = template(Other=exporting({"A": "one"}), **left)
        report = update(old, new, found)
        assert report.verdict is Verdict.LOST
        assert text in [each.reasons for each in report.exports]
    assert update(old, template(Bucket=bucket("one"), Other=exporting({"A": REF})), found).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("type_name", ["Custom::CrossRegionImport", "Custom::ResourceLookup"])
def test_what_only_reads_something_does_not_delete_it(type_name: str) -> None:
    reading = {"Type": type_name, "Properties": {"Name": "x"}}
    old = template(Found=reading, Exports=exporting({"A": {"Fn::GetAtt": ["Found", "Arn"]}}))
    found = stored(values(A="one"), {"A": (WEB,)})
    assert update(old, template(Exports=exporting({"A": "one"})), found).verdict is Verdict.ACCEPTED
    (reason,) = only(update(old, template(Other=bucket()), found)).reasons
    assert "Found" not in reason


LIST = {"Fn::Split": [",", REF]}
MAP = {"B": "1", "C": "1"}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("1", {"Fn::If": ["IsOn", "1", ["x"]]}, Verdict.UNKNOWN),
        ("1", {"Fn::If": ["IsOn", "1", {"Ref": "AWS::NoValue"}]}, Verdict.UNKNOWN),
        ("1", {"Fn::If": ["IsOn", "1", REF]}, Verdict.ACCEPTED),
        ("1", LIST, Verdict.UNKNOWN),
        ("1", {"Fn::Sub": "x-${Bucket}"}, Verdict.ACCEPTED),
        ("1", "{{resolve:ssm:x}}", Verdict.ACCEPTED),
        ("1", ARN, Verdict.UNKNOWN),
        ("1", {"Fn::GetAtt": ["Nested", "Outputs.X"]}, Verdict.ACCEPTED),
        (ARN, ARN, Verdict.ACCEPTED),
        (ARN, {"Fn::GetAtt": ["Other", "Arn"]}, Verdict.ACCEPTED),
        (ARN, {"Fn::GetAtt": ["Other", "Tags"]}, Verdict.UNKNOWN),
        ({"Fn::GetAtt": ["Own", "X"]}, {"Fn::GetAtt": ["Own", "X"]}, Verdict.ACCEPTED),
        ({"Fn::GetAtt": ["Own", "X"]}, {"Fn::GetAtt": ["Own2", "X"]}, Verdict.UNKNOWN),
        (MAP, {"Fn::If": ["IsOn", MAP, {"C": "2"}]}, Verdict.UNKNOWN),
        (MAP, {"B": {"Fn::If": ["IsOn", "2", "3"]}, "C": "1"}, Verdict.ACCEPTED),
        (["1"], [REF], Verdict.ACCEPTED),
        (["1"], {"Fn::Select": ["0", LIST]}, Verdict.UNKNOWN),
    ],
)
def test_what_is_propagated_is_neither_dropped_nor_given_another_type(
    before: object, after: object, verdict: Verdict
) -> None:
    """`OnChange: propagate` refuses that, too."""

    def stack(value: object, name: str) -> Template:
        exports = exporting({"A": value, "Z": "1"}, OnChange="propagate")
        more = {"Own": {"Type": "Custom::X"}, "Own2": {"Type": "Custom::X"}, "Nested": {"Type": NESTED_STACK}}
        return template(None, PERHAPS, Bucket=bucket(name), Other=bucket(name), Exports=exports, **more)

    old = values(A__B="1", A__C="1") if before is MAP else {Key("A"): items("1") if before == ["1"] else text("1")}
    found = stored({**old, Key("Z"): text("1")}, dict.fromkeys(old, (WEB,)))
    assert update(stack(before, "a"), stack(after, "b"), found).verdict is verdict


def test_values_of_which_not_even_the_names_are_known_are_unknown() -> None:
    def stack(given: object, conditions: Template = PERHAPS) -> Template:
        return template(None, conditions, Exports=exporting({"Fn::If": ["IsOn", {"A": "1"}, given]}))

    new = update(None, stack({"B": "1"}), StoredStack())
    assert only(new).reasons == ("Values is unknown: Fn::GetStackOutput x may change.",)
    fixed = {"IsOn": {"Fn::Equals": [{"Fn::ImportValue": "x"}, "on"]}}
    same = stack({"B": "1"}, fixed)
    assert update(same, same, stored(values(A="1"), {"A": (WEB,)})).verdict is Verdict.ACCEPTED
    assert update(same, same, StoredStack()).verdict is Verdict.ACCEPTED
    other = template(None, fixed, Exports=same["Resources"]["Exports"], Other=bucket())
    other["Resources"]["Exports"]["Properties"] = {**other["Resources"]["Exports"]["Properties"], "Revision": "2"}
    assert update(stack({"B": "1"}, fixed), other, StoredStack()).verdict is Verdict.ACCEPTED


SHARED = st.sampled_from(
    ["1", "2", {"Ref": "Same"}, {"Ref": "Changed"}, {"Fn::Sub": "x-${Same}"}, ["1", {"Ref": "Changed"}]]
)
VALUES = st.dictionaries(st.sampled_from(["A", "B", "C"]), SHARED, max_size=3)


def carried_out(given: Any, ids: dict[str, str]) -> Any:
    """What CloudFormation sends, given the resources' physical IDs."""
    match given:
        case {"Ref": name}:
            return ids[name]
        case {"Fn::Sub": _}:
            return f"x-{ids['Same']}"
        case list():
            return [carried_out(each, ids) for each in given]
    return given


@given(VALUES, VALUES, st.sets(st.sampled_from(["A", "B", "C"])), st.sampled_from(["changed", "replaced"]))
def test_a_prediction_is_true_whatever_the_deployment_brings(
    before: dict[str, Any], after: dict[str, Any], claimed: set[str], becomes: str
) -> None:
    """What is called unchanged is what `plan_export` finds unchanged; what is refused, and accepted, likewise."""
    ids = {"Same": "same", "Changed": "changed"}
    now = {key: _value(carried_out(each, ids)) for key, each in sorted(before.items())}
    found = stored({Key(key): each for key, each in now.items()}, dict.fromkeys(claimed, (WEB, SHOP)))
    old = template(Same=bucket("a"), Changed=bucket("b"), Exports=exporting(before))
    new = template(Same=bucket("a"), Changed=bucket("c"), Exports=exporting(after))
    report = update(old, new, found)

    wanted = {Key(key): _value(carried_out(each, ids | {"Changed": becomes})) for key, each in sorted(after.items())}
    scope = found.at("Exports", at())
    tags = {key: scope.tags[key] for key in keys_to_inspect(ME, wanted, scope.exports)}
    refusal: StrongRefError | None = refusal_of([plan_export(at().scope, ME, wanted, scope.exports, tags)])
    event(report.verdict)
    if report.verdict is Verdict.REFUSED:
        assert refusal
        is_certain = len(only(report).reasons) == 1
        assert not is_certain or str(refusal) == only(report).reasons[0]
    elif report.verdict is Verdict.ACCEPTED:
        assert refusal is None
    for change in only(report).changes:
        if change.kind is ChangeKind.UNCHANGED:
            assert wanted[change.key] == now[change.key]
        elif change.kind is ChangeKind.CHANGED:
            assert wanted[change.key] != now[change.key]


def _value(sent: Any) -> Any:
    return items(*sent) if isinstance(sent, list) else text(sent)


def test_resources_that_refer_to_each_other_in_a_circle_are_not_the_same() -> None:
    circle = template(One=bucket({"Ref": "Two"}), Two=bucket({"Ref": "One"}))
    assert not Comparison(version(circle), version(circle)).is_same("One")
