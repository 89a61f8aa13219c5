"""Plans carried out against a CloudFormation that answers as it is told: slowly, late, and not at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref_cli.install.apply import dry_run, install, remove, upload
from strongref_cli.install.errors import InstallError
from strongref_cli.install.installed import find, uses
from strongref_cli.install.plan import PROTECTION, Action, FoundStack, InstallPlan, RegionResult
from strongref_cli.install.stacks import RegionStacks
from strongref_cli.install.suite import Archive, Suite
from strongref_toolkit.session import ToolSession
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

EU = "eu-west-1"
ARN = f"arn:aws:cloudformation:{EU}:111111111111:stack/strongref/1-2"
SUITE = Suite("0.2.0", "  CodeUri: handlers/a\n", (Archive.of("handlers/a", {"app.py": b""}),))
BEFORE, AFTER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def missing(_request: object) -> Any:
    raise ClientError({"Error": {"Code": "ValidationError", "Message": "Stack does not exist"}}, "Any")


class CloudFormation:
    """A client: each method gives its answers in turn, and the last one again and again."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.requests: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        shape = SimpleNamespace(enum=["CREATE_COMPLETE", "DELETE_COMPLETE"])
        self.meta = SimpleNamespace(service_model=SimpleNamespace(shape_for=lambda _: shape))

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.requests[method].append(request)
            answers = self.answers.get(method, [{}])
            answer = answers[min(len(self.requests[method]), len(answers)) - 1]
            return answer(request) if callable(answer) else answer

        return call

    def stacks(self) -> RegionStacks:
        clients = type("Fake", (Clients,), {"_make": lambda *_: self})()
        return RegionStacks.of(ToolSession(clients, RateLimiter(RateLimits()), FakeClock(100_000)), EU)


class FakeBucket:
    """A bucket that counts."""

    def __init__(self, *keys: str) -> None:
        self.objects: dict[str, bytes] = dict.fromkeys(keys, b"")
        self.calls: Counter[str] = Counter()

    def uri(self, key: str) -> str:
        return f"s3://bucket/{key}"

    def url(self, key: str) -> str:
        return f"https://s3/bucket/{key}"

    def has(self, key: str) -> bool:
        return key in self.objects

    def prepare(self) -> None:
        self.calls["prepare"] += 1

    def put(self, key: str, content: bytes) -> None:
        self.calls["put"] += 1
        self.objects[key] = content


def described(status: str, *, updated: datetime | None = None, **more: Any) -> dict[str, Any]:
    times = {"LastUpdatedTime": updated} if updated else {}
    return {"Stacks": [{"StackId": ARN, "StackName": "strongref", "StackStatus": status, **times, **more}]}


def ready(**answers: list[Any]) -> CloudFormation:
    """One whose change sets can be executed."""
    change_set = {"create_change_set": [{"Id": "cs", "StackId": ARN}]}
    return CloudFormation(**(change_set | {"describe_change_set": [{"Status": "CREATE_COMPLETE"}]} | answers))


CREATE = InstallPlan(EU, "strongref", Action.CREATE, parameters={"ReadLag": "0"}, tags={"application": "strongref"})
UPDATE = InstallPlan(EU, "strongref", Action.UPDATE, before="0.1.0", parameters={"ReadLag": None}, updated=str(BEFORE))


def done(plan: InstallPlan, client: CloudFormation, bucket: FakeBucket | None = None) -> Any:
    used: Any = bucket or FakeBucket()
    return install(plan, SUITE, client.stacks(), used, print)


def test_a_new_stack_is_created_and_deleted_if_that_fails() -> None:
    client = ready(describe_stacks=[described("REVIEW_IN_PROGRESS"), described("CREATE_COMPLETE")])
    assert done(CREATE, client).result is RegionResult.INSTALLED
    (request,) = client.requests["create_change_set"]
    assert request["ChangeSetType"] == "CREATE"
    assert request["OnStackFailure"] == "DELETE"
    assert request["Capabilities"] == ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    assert request["Parameters"] == [{"ParameterKey": "ReadLag", "ParameterValue": "0"}]
    assert request["Tags"] == [{"Key": "application", "Value": "strongref"}]
    assert client.requests["execute_change_set"] == [{"ChangeSetName": "cs", "StackName": ARN}]


ON = [{"StackName": "strongref", "EnableTerminationProtection": True}]


def test_whatever_is_installed_is_protected_afterward() -> None:
    client = ready(describe_stacks=[described("CREATE_COMPLETE")])
    done(CREATE, client)
    assert client.requests["update_termination_protection"] == ON
    client = ready(describe_stacks=[described("UPDATE_COMPLETE", updated=AFTER)])
    done(UPDATE, client)
    assert client.requests["update_termination_protection"] == ON
    client = ready(describe_stacks=[described("UPDATE_COMPLETE", updated=AFTER)])
    done(replace(UPDATE, protected=True), client)
    assert not client.requests["update_termination_protection"]


def test_protection_alone_needs_no_change_set() -> None:
    client, bucket = ready(), FakeBucket()
    outcome = done(InstallPlan(EU, "strongref", Action.PROTECT, changes=(PROTECTION,)), client, bucket)
    assert (outcome.result, outcome.details) == (RegionResult.UPDATED, (PROTECTION,))
    assert client.requests == {"update_termination_protection": ON}
    assert bucket.calls == {}


def test_a_stack_whose_creation_fails_is_not_protected() -> None:
    client = ready(describe_stacks=[described("DELETE_COMPLETE")], describe_stack_events=pages(*CREATION))
    with pytest.raises(InstallError, match="No such role"):
        done(CREATE, client)
    assert not client.requests["update_termination_protection"]


def test_an_update_keeps_values_and_waits_for_the_end_of_its_own_operation() -> None:
    late = [described("UPDATE_COMPLETE", updated=BEFORE), described("UPDATE_IN_PROGRESS", updated=AFTER)]
    cleanup = described("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", updated=AFTER)
    client = ready(describe_stacks=[*late, cleanup, described("UPDATE_COMPLETE", updated=AFTER)])
    assert done(UPDATE, client).result is RegionResult.UPDATED
    (request,) = client.requests["create_change_set"]
    assert request["ChangeSetType"] == "UPDATE"
    assert "OnStackFailure" not in request
    assert request["Parameters"] == [{"ParameterKey": "ReadLag", "UsePreviousValue": True}]
    assert len(client.requests["describe_stacks"]) == 4


def test_an_operation_that_is_never_seen_is_not_waited_for_forever() -> None:
    client = ready(describe_stacks=[described("UPDATE_COMPLETE", updated=BEFORE)])
    assert done(UPDATE, client).result is RegionResult.UPDATED
    assert len(client.requests["describe_stacks"]) == 6


@pytest.mark.parametrize(
    "reason",
    ["No updates are to be performed.", "The submitted information didn't contain changes. Submit different …"],
)
def test_nothing_to_change_is_success_and_leaves_no_change_set(reason: str) -> None:
    client = ready(describe_change_set=[{"Status": "CREATE_PENDING"}, {"Status": "FAILED", "StatusReason": reason}])
    assert done(UPDATE, client).result is RegionResult.UP_TO_DATE
    assert client.requests["delete_change_set"] == [{"ChangeSetName": "cs", "StackName": ARN}]
    assert not client.requests["execute_change_set"]
    assert not client.requests["delete_stack"]


def test_a_change_set_that_fails_leaves_no_empty_stack() -> None:
    client = ready(describe_change_set=[{"Status": "FAILED", "StatusReason": "Transform failed: no such bucket"}])
    with pytest.raises(InstallError, match="Transform failed: no such bucket"):
        done(CREATE, client)
    assert client.requests["delete_stack"] == [{"StackName": "strongref"}]


def test_a_change_set_of_an_existing_stack_that_fails_deletes_nothing_else() -> None:
    client = ready(describe_change_set=[{"Status": "FAILED", "StatusReason": "Transform failed"}])
    with pytest.raises(InstallError, match="Transform failed"):
        done(UPDATE, client)
    assert not client.requests["delete_stack"]


def event(resource: str, status: str, reason: str = "", kind: str = "AWS::Lambda::Function") -> dict[str, Any]:
    of_stack = resource == "strongref"
    return {
        "LogicalResourceId": resource,
        "PhysicalResourceId": ARN if of_stack else resource,
        "ResourceType": "AWS::CloudFormation::Stack" if of_stack else kind,
        "ResourceStatus": status,
        **({"ResourceStatusReason": reason} if reason else {}),
    }


CREATION = [
    event("strongref", "DELETE_COMPLETE"),
    event("Janitor", "DELETE_COMPLETE"),
    event("strongref", "DELETE_IN_PROGRESS", "The following resource(s) failed to create: [Importer, Exporter]."),
    event("strongref", "CREATE_FAILED", "The following resource(s) failed to create: [Importer, Exporter]."),
    event("Importer", "CREATE_FAILED", "Resource creation cancelled"),
    event("Exporter", "CREATE_FAILED", "No such role"),
    event("strongref", "CREATE_IN_PROGRESS", "User Initiated"),
    event("strongref", "REVIEW_IN_PROGRESS", "User Initiated"),
]


def pages(*events: dict[str, Any]) -> list[Any]:
    """Events, one on each page."""
    return [
        {"StackEvents": [each], **({"NextToken": "more"} if number < len(events) else {})}
        for number, each in enumerate(events, 1)
    ]


def test_a_creation_that_fails_is_reported_by_the_first_resource_that_did() -> None:
    client = ready(
        describe_stacks=[described("CREATE_IN_PROGRESS"), described("DELETE_COMPLETE")],
        describe_stack_events=pages(*CREATION),
    )
    with pytest.raises(InstallError) as error:
        done(CREATE, client)
    assert str(error.value) == "Exporter (AWS::Lambda::Function): No such role"


IN_USE = "Delete canceled. Cannot delete export A as it is in use by web."


@pytest.mark.parametrize(
    ("last", "why"),
    [
        ([event("Janitor", "UPDATE_FAILED", "Too large")], "Janitor (AWS::Lambda::Function): Too large"),
        ([event("strongref", "UPDATE_ROLLBACK_IN_PROGRESS", IN_USE)], IN_USE),  # No resource failed.
    ],
)
def test_an_update_that_fails_is_not_reported_with_an_older_failure(last: list[dict[str, Any]], why: str) -> None:
    events = [
        event("strongref", "UPDATE_ROLLBACK_COMPLETE"),
        *last,
        event("strongref", "UPDATE_IN_PROGRESS", "User Initiated"),
        event("Exporter", "UPDATE_FAILED", "older"),
        event("strongref", "UPDATE_IN_PROGRESS", "User Initiated"),
    ]
    client = ready(
        describe_stacks=[described("UPDATE_ROLLBACK_COMPLETE", updated=AFTER)], describe_stack_events=pages(*events)
    )
    with pytest.raises(InstallError) as error:
        done(UPDATE, client)
    assert str(error.value) == why


def test_a_stack_that_is_gone_by_its_arn_is_deleted() -> None:
    client = CloudFormation(describe_stacks=[described("CREATE_COMPLETE"), described("DELETE_IN_PROGRESS"), missing])
    remove(client.stacks(), ARN, print)
    assert client.requests["delete_stack"] == [{"StackName": ARN}]


def test_protection_is_turned_off_for_the_deletion_and_on_again_if_the_stack_stays() -> None:
    client = CloudFormation(describe_stacks=[missing])
    remove(client.stacks(), ARN, print, protected=True)
    off, on = ({"StackName": ARN, "EnableTerminationProtection": each} for each in (False, True))
    assert list(client.requests)[:2] == ["update_termination_protection", "delete_stack"]
    assert client.requests["update_termination_protection"] == [off]
    canceled = event("strongref", "CREATE_COMPLETE", "Delete canceled.")
    client = CloudFormation(
        describe_stacks=[described("CREATE_COMPLETE", StackStatusReason="Delete canceled.")],
        describe_stack_events=pages(canceled, event("strongref", "DELETE_IN_PROGRESS")),
    )
    with pytest.raises(InstallError, match="Delete canceled"):
        remove(client.stacks(), ARN, print, protected=True)
    assert client.requests["update_termination_protection"] == [off, on]


def test_a_deletion_that_cloudformation_cancels_is_reported() -> None:
    why = "Delete canceled. Cannot delete export strongref-exporter as it is in use by web."
    client = CloudFormation(
        describe_stacks=[described("CREATE_COMPLETE", StackStatusReason=why)],
        describe_stack_events=pages(
            event("strongref", "CREATE_COMPLETE", why), event("strongref", "DELETE_IN_PROGRESS")
        ),
    )
    with pytest.raises(InstallError, match="Cannot delete export strongref-exporter as it is in use by web"):
        remove(client.stacks(), ARN, print)


def test_what_the_bucket_has_is_not_uploaded_again() -> None:
    client, bucket = ready(describe_stacks=[described("CREATE_COMPLETE")]), FakeBucket()
    done(CREATE, client, bucket)
    assert bucket.calls == {"prepare": 1, "put": 2}  # one function, and the template
    again: Any = bucket
    assert upload(SUITE, again) == client.requests["create_change_set"][0]["TemplateURL"]
    assert bucket.calls == {"prepare": 1, "put": 2}


@pytest.mark.parametrize(
    ("plan", "result"),
    [
        (CREATE, RegionResult.WOULD_INSTALL),
        (UPDATE, RegionResult.WOULD_UPDATE),
        (InstallPlan(EU, "strongref", Action.PROTECT), RegionResult.WOULD_UPDATE),
        (InstallPlan(EU, "strongref", Action.NOTHING), RegionResult.UP_TO_DATE),
        (InstallPlan(EU, "strongref", Action.REFUSE, "because"), RegionResult.REFUSED),
    ],
)
def test_a_dry_run_is_the_plan_and_what_needs_nothing_calls_nothing(plan: InstallPlan, result: RegionResult) -> None:
    assert dry_run(plan).result is result
    if plan.action in (Action.NOTHING, Action.REFUSE):
        client = CloudFormation()
        assert done(plan, client).result is result
        assert client.requests == {}


def test_a_stack_is_found_with_its_version_parameters_and_tags() -> None:
    stack = described(
        "UPDATE_COMPLETE",
        updated=BEFORE,
        Outputs=[{"OutputKey": "Version", "OutputValue": "0.2.0"}],
        Parameters=[{"ParameterKey": "ReadLag", "ParameterValue": "2"}],
        Tags=[{"Key": "team", "Value": "a"}],
        EnableTerminationProtection=True,
    )
    client = CloudFormation(describe_stacks=[stack], get_template=[{"TemplateBody": "Resources: {}\n"}])
    found = find(client.stacks(), "strongref", with_template=True)
    expected = FoundStack(
        ARN, "UPDATE_COMPLETE", "0.2.0", {"ReadLag": "2"}, {"team": "a"}, "Resources: {}\n", True, "", str(BEFORE)
    )
    assert (found.region, found.stack, found.elsewhere) == (EU, expected, "")
    assert not client.requests["list_exports"]


def test_an_installation_under_another_name_is_found_by_its_exports() -> None:
    exports = [
        {"Exports": [{"Name": "other", "ExportingStackId": ARN}], "NextToken": "more"},
        {"Exports": [{"Name": "strongref-exporter", "ExportingStackId": ARN.replace("strongref", "platform")}]},
    ]
    client = CloudFormation(describe_stacks=[missing], list_exports=exports)
    found = find(client.stacks(), "strongref")
    assert (found.stack, found.elsewhere) == (None, "platform")


def summary(name: str) -> dict[str, Any]:
    return {"StackName": name, "StackId": ARN.replace("strongref", name), "StackStatus": "CREATE_COMPLETE"}


def resource(logical_id: str, kind: str, physical_id: str) -> dict[str, Any]:
    return {
        "LogicalResourceId": logical_id,
        "ResourceType": kind,
        "PhysicalResourceId": physical_id,
        "ResourceStatus": "CREATE_COMPLETE",
    }


def test_users_are_found_by_imports_resources_and_macros_on_every_page() -> None:
    listed = {"StackSummaries": [summary("strongref"), summary("web")], "NextToken": "more"}
    more = {"StackSummaries": [summary("plain"), summary("macro"), summary("importer"), summary("gone")]}
    resources = {
        "web": {"StackResourceSummaries": [resource("Found", "Custom::Ours", "strongref-lookup/web/Found")]},
        "plain": {"StackResourceSummaries": [resource("Bucket", "AWS::S3::Bucket", "b")]},
        "macro": {"StackResourceSummaries": []},
        "importer": {"StackResourceSummaries": []},
    }

    def of(request: Any) -> Any:
        name = request["StackName"].split("/")[1]
        return resources[name] if name in resources else missing(request)

    def transforms(request: Any) -> Any:
        name = request["StackName"].split("/")[1]
        return {"DeclaredTransforms": ["StrongRef"]} if name == "macro" else missing(request)

    def importers(request: Any) -> Any:
        return {"Imports": ["importer"]} if request["ExportName"] == "strongref-importer" else missing(request)

    client = CloudFormation(
        list_stacks=[listed, more],
        list_stack_resources=[of],
        get_template_summary=[transforms],
        list_imports=[importers],
    )
    assert uses(client.stacks(), "strongref") == [
        "importer: imports strongref-importer",
        "macro: uses the macro StrongRef",
        "web: Custom::Ours (Found)",
    ]
    assert client.requests["list_stacks"][0]["StackStatusFilter"] == ["CREATE_COMPLETE"]
    assert len(client.requests["list_stack_resources"]) == 5
    assert len(client.requests["get_template_summary"]) == 3  # of those that nothing else tells
