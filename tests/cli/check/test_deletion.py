"""What the deletion of a stack would do: refused at once with a hold; without one, after other resources are gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from strongref_cli.check.deletion import predict_deletion
from strongref_cli.check.report import ChangeKind, StackReport, Verdict
from strongref_cli.check.stored import StoredStack
from tests.support.builders import WEB, values
from tests.support.checks import STACK, Template, bucket, exporting, held_by, hold_output, stored, template, version

if TYPE_CHECKING:
    from collections.abc import Collection

TEMPLATE = template(
    Bucket=bucket(),
    Policy={"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Bucket"}}},
    Kept=bucket(DeletionPolicy="Retain"),
    Exports=exporting({"A": {"Ref": "Bucket"}}),
)


def deleted(given: Template, found: StoredStack, going: Collection[str] = ()) -> StackReport:
    return predict_deletion(STACK, version(given), found, going)


def test_a_deletion_is_refused_and_what_the_export_does_not_refer_to_is_gone_before() -> None:
    report = deleted(TEMPLATE, stored(values(A="1"), {"A": (WEB,)}))
    (export,) = report.exports
    assert (report.verdict, export.verdict) == (Verdict.REFUSED, Verdict.REFUSED)
    assert export.reasons[0].startswith("A cannot be dropped: it is imported by stack web (us-east-1, 111111111111).")
    (finding,) = report.findings
    assert finding.verdict is Verdict.LOST
    assert finding.text.startswith("CloudFormation deletes Policy before or while Exports refuses")


def test_what_nobody_imports_is_deleted() -> None:
    report = deleted(TEMPLATE, stored(values(A="1")))
    assert (report.verdict, report.findings) == (Verdict.ACCEPTED, ())
    assert [each.kind for each in report.exports[0].changes] == [ChangeKind.DROPPED]


def test_with_a_hold_cloudformation_refuses_before_anything_is_deleted() -> None:
    given = template(hold_output(), **TEMPLATE["Resources"])
    found = stored(values(A="1"), {"A": (WEB,)}, hold="network-Exports", holds=(held_by("web"),))
    report = deleted(given, found)
    assert report.verdict is Verdict.REFUSED
    (finding,) = report.findings
    assert finding.text.endswith("for web (us-east-1, 111111111111). Nothing is deleted.")


@pytest.mark.parametrize(("user", "verdict"), [("billing", Verdict.REFUSED), ("web", Verdict.UNKNOWN)])
def test_who_imports_with_cloudformations_own_function_stands_against_it_too(user: str, verdict: Verdict) -> None:
    found = replace(stored(values(A="1")), users={"network-Plain": (user,)})
    output = {"Plain": {"Value": {"Ref": "Bucket"}, "Export": {"Name": "network-Plain"}}}
    report = deleted(template(output, **TEMPLATE["Resources"]), found, going=[WEB])
    assert report.verdict is verdict
    assert f"is in use by stack {user}." in report.findings[0].text


def test_holds_of_stacks_that_are_deleted_with_it_may_be_gone_first() -> None:
    given = template(hold_output(), **TEMPLATE["Resources"])
    holds = (held_by("web"), held_by("shop"))
    found = stored(values(A="1"), {"A": (WEB,)}, hold="network-Exports", holds=holds[:1])
    report = deleted(given, found, going=[WEB])
    assert report.verdict is Verdict.UNKNOWN
    assert report.findings[0].text.startswith(
        "unknown: only stacks that are deleted with it use export network-Exports. Refused if they are not first: it "
        "is in use by strongref-hold-… for web"
    )
    both = deleted(given, stored(values(A="1"), {"A": (WEB,)}, hold="network-Exports", holds=holds), going=[WEB])
    assert both.verdict is Verdict.REFUSED
    assert "for shop (us-east-1" in both.findings[0].text


def test_a_retained_export_protects_nothing() -> None:
    given = template(Exports=exporting({"A": "1"}) | {"DeletionPolicy": "Retain"}, Bucket=bucket())
    assert deleted(given, stored(values(A="1"), {"A": (WEB,)})).verdict is Verdict.LOST
    assert deleted(given, stored(values(A="1"))).verdict is Verdict.ACCEPTED


def test_importers_that_are_deleted_with_it_may_be_gone_first() -> None:
    report = deleted(TEMPLATE, stored(values(A="1"), {"A": (WEB,)}), going=[WEB])
    assert report.verdict is Verdict.UNKNOWN
    assert "only stacks that are deleted with it import it" in report.exports[0].reasons[0]


@pytest.mark.parametrize("more", [{}, {"DeletionPolicy": "Retain"}])
def test_the_deletion_of_an_export_that_publishes_where_only_cloudformation_knows_is_unknown(more: Template) -> None:
    """The index has no entry: the suite was updated a moment ago, and the janitor has not run yet."""
    given = template(Exports=exporting({"A": "1"}, Region={"Fn::ImportValue": "consumer-region"}) | more)
    report = deleted(given, StoredStack())
    assert report.verdict is Verdict.UNKNOWN
    assert report.exports[0].reasons[0].endswith("The janitor adds the entry: check again after its next run.")


def test_what_a_retained_export_has_left_behind_is_lost() -> None:
    given = template(Bucket=bucket())
    report = deleted(given, stored(values(A="1"), {"A": (WEB,)}))
    assert report.verdict is Verdict.LOST
    assert "Exports is no longer in the template, and stack web" in report.findings[0].text
    assert deleted(given, stored(values(A="1"))).verdict is Verdict.ACCEPTED
