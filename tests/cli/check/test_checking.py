"""A check from its question to its answer: nested stacks, change sets of them, and operations that are running."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.contract.names import StackArn
from strongref.errors import AccessDeniedError
from strongref_cli.check.checking import StackCheck
from strongref_cli.check.reading import ChangeSet, DeployedStack
from strongref_cli.check.report import Verdict
from strongref_cli.check.stored import StoredStack
from strongref_cli.check.updates import ResourceChange
from strongref_cli.check.version import pseudo_parameters
from strongref_toolkit.cloudformation import NESTED_STACK
from strongref_toolkit.errors import UsageError
from tests.support.builders import NETWORK, WEB, stack_arn, values
from tests.support.checks import EU, STACK, Template, bucket, exporting, held_by, hold_output, stored, template, version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.contract.names import Key
    from strongref.contract.requests import ImportRequest
    from strongref.contract.values import Value
    from strongref_cli.check.comparison import Comparison
    from strongref_cli.check.reading import StackReader

US = "us-east-1"
ROOT = stack_arn("root", EU)
BELOW = {"Type": NESTED_STACK, "Properties": {"TemplateURL": "https://x"}}
VALUE = {"Fn::GetAtt": ["Below", "Outputs.Id"]}
INNER = template(Bucket=bucket("one"), Exports=exporting({"A": {"Ref": "Bucket"}}))


def deployed(
    arn: str, given: Template, nested: dict[str, str] | None = None, status: str = "UPDATE_COMPLETE"
) -> DeployedStack:
    parsed = StackArn.parse(arn)
    return DeployedStack(parsed, status, {}, pseudo_parameters(parsed, exists=True), version(given), nested or {})


@dataclass
class Reader:
    """Stacks and change sets in memory; what is stored is about the nested stack `network`."""

    stacks: dict[str, DeployedStack]
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)
    found: StoredStack = field(default_factory=lambda: stored(values(A="one"), {"A": (WEB,)}))
    imported: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by the CloudFormation export
    region: str = EU
    tagged: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by the parameter's region and name

    def tags(self, region: str, name: str) -> Mapping[str, str]:
        if name.endswith("/Denied"):
            raise AccessDeniedError("ListTagsForResource", "AccessDeniedException", name, region)
        return self.tagged.get(f"{region}{name}", {})

    def stack(self, name: str) -> DeployedStack | None:
        return self.stacks.get(name)

    def change_set(self, _stack: DeployedStack, change_set: str) -> ChangeSet:
        return self.change_sets[change_set]

    def stored(self, stack: DeployedStack, _comparison: Comparison, _exports: Iterable[str] = ()) -> StoredStack:
        return self.found if stack.arn == STACK else StoredStack()

    def users(self, export: str) -> tuple[str, ...]:
        return self.imported.get(export, ())

    def importable(self, _stack: DeployedStack, _logical_id: str, _request: ImportRequest) -> Mapping[Key, Value]:
        return {}

    def is_installed(self, _region: str) -> bool:
        return True

    def has_parameter(self, _name: str) -> bool:
        return True

    def no_such_stack(self, name: str) -> UsageError:
        return UsageError(name)


def check(reader: Reader) -> StackCheck:
    return StackCheck(cast("StackReader", reader))


def tree(inner: Template = INNER, **more: Any) -> Reader:
    root = deployed(ROOT, template(Below=BELOW, Own=bucket()), {"Below": NETWORK})
    return Reader({"root": root, NETWORK: deployed(NETWORK, inner)}, **more)


def test_a_nested_change_set_decides_for_its_stack() -> None:
    reader = tree()
    new = template(Bucket=bucket("two"), Exports=exporting({"A": {"Ref": "Bucket"}}))
    root = version(template(Below=BELOW, Own=bucket()))
    for change, verdict in ((ResourceChange.REPLACED, Verdict.REFUSED), (ResourceChange.KEPT, Verdict.ACCEPTED)):
        reader.change_sets = {
            "next": ChangeSet(root, {"Below": ResourceChange.KEPT}, {"Below": "arn:below", "New": "arn:new"}),
            "arn:below": ChangeSet(version(new), {"Bucket": change, "Exports": ResourceChange.KEPT}, {}),
        }
        report = check(reader).change_set("root", "next")
        assert (report.verdict, report.nested[0].verdict) == (verdict, verdict)
        assert [each.text[:27] for each in report.findings] == ["Nested stacks have exports."]


def test_a_nested_stack_that_changes_without_a_change_set_of_its_own_is_unknown() -> None:
    reader = tree()
    root = version(template(Below=BELOW, Own=bucket()))
    for change, verdict in (({"Below": ResourceChange.KEPT}, Verdict.UNKNOWN), ({}, Verdict.ACCEPTED)):
        reader.change_sets = {"next": ChangeSet(root, change, {})}
        report = check(reader).change_set("root", "next")
        assert (report.verdict, "Below with exports may change" in report.findings[0].text) == (verdict, bool(change))


@pytest.mark.parametrize(
    ("changes", "verdict"), [({}, Verdict.ACCEPTED), ({"Bucket": ResourceChange.KEPT}, Verdict.UNKNOWN)]
)
def test_an_output_of_a_nested_stack_stays_if_nothing_changes_in_it(
    changes: dict[str, ResourceChange], verdict: Verdict
) -> None:
    old, new = (template(Below=BELOW, Exports=exporting({"A": VALUE}, Revision=each)) for each in "12")
    inner = deployed(stack_arn("inner", EU), template(Bucket=bucket()))
    reader = Reader({"network": deployed(NETWORK, old, {"Below": "inner"}), "inner": inner})
    reader.change_sets = {
        "next": ChangeSet(
            version(new), dict.fromkeys(["Below", "Exports"], ResourceChange.KEPT), {"Below": "arn:below"}
        ),
        "arn:below": ChangeSet(version(template(Bucket=bucket())), changes, {}),
    }
    assert check(reader).change_set("network", "next").verdict is verdict


def test_a_nested_stack_that_leaves_is_lost_unless_it_is_held() -> None:
    without = template(Own=bucket())
    lost = check(tree()).template("root", without, {})
    assert (lost.verdict, lost.nested[0].verdict) == (Verdict.LOST, Verdict.ACCEPTED)
    inner = template(hold_output(), **INNER["Resources"])
    found = stored(values(A="one"), {"A": (WEB,)}, hold="network-Exports", holds=(held_by("web"),))
    held = check(tree(inner, found=found)).template("root", without, {})
    assert held.verdict is Verdict.ACCEPTED
    assert "since its exports are in use, it stays as it is" in held.findings[0].text
    free = check(tree(found=stored(values(A="one")))).template("root", without, {})
    assert (free.verdict, len(free.findings)) == (Verdict.ACCEPTED, 1)


def test_a_nested_stack_that_is_retained_stays_with_its_exports() -> None:
    reader = tree()
    root = template(Below=BELOW | {"DeletionPolicy": "Retain"}, Own=bucket())
    reader.stacks["root"] = deployed(ROOT, root, {"Below": NETWORK})
    assert check(reader).template("root", template(Own=bucket()), {}).verdict is Verdict.ACCEPTED
    report = check(reader).deletion("root")
    assert (report.verdict, report.nested) == (Verdict.ACCEPTED, ())


def test_importers_in_the_tree_may_be_deleted_first() -> None:
    report = check(tree(found=stored(values(A="one"), {"A": (ROOT,)}))).deletion("root")
    assert report.verdict is Verdict.UNKNOWN


PLAIN = {"Plain": {"Value": {"Ref": "Bucket"}, "Export": {"Name": "network-Plain"}}}
FAMILY = template(Below=BELOW, Other=BELOW, Own=bucket())


def family(*users: str, inner: Template | None = None) -> Reader:
    """A root with two nested stacks: `network`, which exports, and `web`, which imports; users of the plain export."""
    root = deployed(ROOT, FAMILY, {"Below": NETWORK, "Other": WEB})
    found = replace(stored(values(A="one"), {"A": (WEB,)}), users={"network-Plain": users} if users else {})
    nested = {NETWORK: deployed(NETWORK, inner or INNER), WEB: deployed(WEB, template(Bucket=bucket()))}
    return Reader({"root": root, **nested}, found=found, imported=found.users)


@pytest.mark.parametrize(("users", "verdict"), [(("web",), Verdict.UNKNOWN), (("web", "shop"), Verdict.ACCEPTED)])
def test_a_producer_and_its_importer_leave_a_root_in_any_order(users: tuple[str, ...], verdict: Verdict) -> None:
    report = check(family(*users, inner=template(PLAIN, **INNER["Resources"]))).template(
        "root", template(Own=bucket()), {}
    )
    assert report.verdict is verdict
    assert ("it stays as it is, outside of this stack" in report.findings[0].text) == (verdict is Verdict.ACCEPTED)


def changing_together(reader: Reader, other: dict[str, ResourceChange], new: Template) -> Verdict:
    """A change set that changes both nested stacks, as far as the importer's changes at all."""
    kept = ResourceChange.KEPT
    reader.change_sets = {
        "next": ChangeSet(
            version(FAMILY), {"Below": kept, "Other": kept}, {"Below": "arn:below", "Other": "arn:other"}
        ),
        "arn:below": ChangeSet(version(new), {"Bucket": ResourceChange.REPLACED, "Exports": kept}, {}),
        "arn:other": ChangeSet(version(template(Bucket=bucket())), other, {}),
    }
    return check(reader).change_set("root", "next").verdict


def test_an_importer_that_is_updated_with_its_producer_may_be_first() -> None:
    plain = template(PLAIN, **INNER["Resources"])
    imports = {"Imports": ResourceChange.KEPT}
    cases = [
        (family(), imports, INNER, Verdict.UNKNOWN),
        (family(), {}, INNER, Verdict.REFUSED),
        (family("web", inner=plain), imports, plain, Verdict.UNKNOWN),
        (family("web", "shop", inner=plain), imports, plain, Verdict.REFUSED),
    ]
    for reader, other, new, verdict in cases:
        assert changing_together(reader, other, new) is verdict


def test_an_importer_that_leaves_is_not_first() -> None:
    """CloudFormation deletes it in the cleanup, after the update of its producer."""
    reader = family()
    kept, new = ResourceChange.KEPT, template(Below=BELOW, Own=bucket())
    changes = {"Below": kept, "Other": ResourceChange.REMOVED}
    reader.change_sets = {
        "next": ChangeSet(version(new), changes, {"Below": "arn:below"}),
        "arn:below": ChangeSet(version(INNER), {"Bucket": ResourceChange.REPLACED, "Exports": kept}, {}),
    }
    assert check(reader).change_set("root", "next").verdict is Verdict.REFUSED


@pytest.mark.parametrize(("users", "verdict"), [(("shop",), Verdict.UNKNOWN), ((), Verdict.ACCEPTED)])
def test_a_nested_stack_that_changes_matters_for_what_is_imported_from_it(
    users: tuple[str, ...], verdict: Verdict
) -> None:
    reader = family(*users, inner=template(PLAIN, Bucket=bucket()))
    reader.found = StoredStack()
    assert check(reader).template("root", FAMILY | {"Outputs": {"X": {"Value": "1"}}}, {}).verdict is verdict


def test_an_operation_that_is_running_makes_the_answer_unknown() -> None:
    reader = Reader({"network": deployed(NETWORK, INNER, status="UPDATE_IN_PROGRESS")})
    report = check(reader).template("network", INNER, {})
    assert (report.verdict, report.findings[0].text) == (
        Verdict.UNKNOWN,
        "Stack network is UPDATE_IN_PROGRESS. Check again when that has ended.",
    )


@pytest.mark.parametrize(
    ("status", "step"),
    [
        ("DELETE_FAILED", "finish its deletion"),
        ("ROLLBACK_COMPLETE", "delete it"),
        ("ROLLBACK_FAILED", "delete it"),
        ("UPDATE_ROLLBACK_FAILED", "continue its rollback"),
    ],
)
def test_a_stack_that_cloudformation_does_not_update_is_refused(status: str, step: str) -> None:
    reader = Reader({"network": deployed(NETWORK, INNER, status=status)}, found=StoredStack())
    report = check(reader).template("network", INNER, {})
    text = f"Stack network is {status}, and CloudFormation does not update it: {step} first."
    assert [each.text for each in report.findings if each.verdict is Verdict.REFUSED] == [text]
    assert check(reader).deletion("network").verdict is Verdict.ACCEPTED


def test_a_stack_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="network"):
        check(Reader({})).deletion("network")


def writer(**exports: object) -> dict[str, Any]:
    named = {f"/cdk/exports/Site/{key}": value for key, value in exports.items()}
    return {"Type": "Custom::CrossRegionExportWriter", "Properties": {"WriterProps": {"region": US, "exports": named}}}


def test_what_leaves_a_cdk_writer_and_is_still_read_is_lost() -> None:
    old = template(Bucket=bucket(), Writer=writer(A="a", B={"Ref": "Bucket"}, C="c", Denied="d"))
    read = {"aws-cdk:strong-ref:Site": "true", "other": "x"}
    tagged = {f"{US}/cdk/exports/Site/{key}": read for key in "AB"}
    reader = Reader({"root": deployed(ROOT, old)}, tagged=tagged)
    for new, left in ((["A"], ["B", "Denied"]), (["A", "B", "Denied"], []), ([], ["A", "B", "Denied"])):
        kept = {"Writer": writer(**dict.fromkeys(new, "x"))} if new else {}
        report = check(reader).template("root", template(Bucket=bucket(), **kept), {})
        found = [each for each in report.findings if "/cdk/exports/" in each.text]
        assert [each.verdict for each in found] == [
            Verdict.UNKNOWN if key == "Denied" else Verdict.LOST for key in left
        ]
        assert all(f"/cdk/exports/Site/{key}" in each.text for each, key in zip(found, left, strict=True))
    gone = check(reader).deletion("root")
    assert [each.verdict for each in gone.findings] == [Verdict.LOST, Verdict.LOST, Verdict.UNKNOWN]
    assert "and Site in us-east-1 still reads it" in gone.findings[0].text
