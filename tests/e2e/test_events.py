"""Events on a bus, from the deployed functions with their own roles: what rules, queues and mails get."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.notices import NoticeType
from tests.contract.test_notices import ONE_OF_EACH
from tests.e2e.templates import EU, US, export, exporting, importing, stack
from tests.e2e.world import World
from tests.support.documents import ROOT, blocks, load
from tests.support.emulator.sam import APPLICATION, REGIONS
from tests.support.notices import as_event, check
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

OLD, NEW = "value-that-nobody-may-read", "another-value-that-nobody-may-read"
BUS = "strongref"
PATTERNS = [json.loads(block.text) for block in blocks("json") if block.page.name == "events.md"][1:]


def new_queue(aws: Aws, region: str, name: str) -> tuple[str, str]:
    """The URL and the ARN of a queue that takes what EventBridge and SNS deliver."""
    sqs, arn = aws.client("sqs", region), f"arn:aws:sqs:{region}:{aws.account}:{name}"
    allowed = {"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": arn}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    return sqs.create_queue(QueueName=name, Attributes={"Policy": policy})["QueueUrl"], arn


@dataclass
class Inbox:
    """A queue that gets every event about one producer."""

    aws: Aws
    region: str
    producer: str
    queue: str
    events: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, aws: Aws, region: str, producer: str) -> Inbox:
        events = aws.client("events", region)
        queue, arn = new_queue(aws, region, f"all-{producer}")
        pattern = json.dumps({"source": ["strongref"]})
        events.put_rule(Name=f"all-{producer}", EventBusName=BUS, EventPattern=pattern)
        targets = [{"Id": "queue", "Arn": arn}]
        events.put_targets(Rule=f"all-{producer}", EventBusName=BUS, Targets=targets)
        return cls(aws, region, producer, queue)

    def wait_for(self, *types: str) -> list[dict[str, Any]]:
        """The details of all events about the producer, once there are as many as these types, which they must be."""

        def enough() -> bool:
            sqs = self.aws.client("sqs", self.region)
            for message in sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get("Messages", ()):
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])
                assert OLD not in message["Body"]
                assert NEW not in message["Body"]
                if self.producer in message["Body"]:
                    self.events.append(json.loads(message["Body"]))
            return len(self.events) >= len(types)

        wait_until(enough, lambda: f"{types}, after {[event['detail-type'] for event in self.events]}")
        assert [event["detail-type"] for event in self.events] == list(types)
        return [check(event) for event in self.events]


@pytest.fixture
def world(notified: Aws, names: Callable[[str], str]) -> World:
    return World.of(notified, names)


def test_a_refusal_a_propagation_and_what_stays_are_told_once_each(world: World) -> None:
    inbox = Inbox.of(world.aws, EU, world.producer)
    world.publish({"A": OLD, "B": OLD}, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    importer = {
        "kind": "stack",
        "name": world.consumer,
        "region": US,
        "account": world.aws.account,
        "id": world.aws.stack_arn(world.consumer, US),
    }
    world.publish({"A": NEW, "B": OLD}, "UPDATE_ROLLBACK_COMPLETE")
    (refused,) = inbox.wait_for("Change Refused")
    assert refused["summary"] in world.why()
    assert refused["importers"] == [importer]
    assert [(each["key"], each["region"], each["change"]) for each in refused["values"]] == [("A", US, "changed")]
    assert refused["producer"]["id"] == world.aws.stack_arn(world.producer, EU)

    world.publish({"A": NEW, "B": NEW}, "UPDATE_COMPLETE", OnChange="propagate")
    propagated = inbox.wait_for("Change Refused", "Values Propagated")[-1]
    assert [each["key"] for each in propagated["values"]] == ["A"]
    assert propagated["importers"] == [importer]
    assert "Deploy these with another Revision of their Import to pick up the new value" in propagated["summary"]

    world.aws.deploy(world.producer, stack({}), EU, "UPDATE_COMPLETE")
    kept = inbox.wait_for("Change Refused", "Values Propagated", "Values Kept")[-1]
    assert [each["key"] for each in kept["values"]] == ["A"]
    assert kept["request"]["type"] == "Delete"
    assert len({each["request"]["id"] for each in (refused, propagated, kept)}) == 3


def test_what_the_janitor_repairs_and_what_it_leaves_are_told(world: World) -> None:
    inbox = Inbox.of(world.aws, US, world.producer)
    world.publish({"A": OLD, "B": OLD}, "CREATE_COMPLETE")
    consumer = importing(world.producer, "A")
    consumer["Resources"]["Imports"]["DeletionPolicy"] = "Retain"
    world.aws.deploy(world.consumer, consumer, US, "CREATE_COMPLETE")
    world.aws.delete(world.consumer, US)
    world.aws.client("ssm", US).put_parameter(Name=world.name("B"), Value=NEW, Type="String", Overwrite=True)
    invoked = world.aws.invoke("Janitor", {"detail-type": "Scheduled Event"}, US)
    assert not invoked.failed, invoked.result
    repairs, findings = inbox.wait_for("Repairs Made", "Findings Reported")
    for detail, kind, key in ((repairs, "stale-claim", "A"), (findings, "changed-by-hand", "B")):
        ours = [each for each in detail["findings"] if each.get("producer", {}).get("name") == world.producer]
        assert [(each["finding"], each["key"], each["consumer"]) for each in ours] == [(kind, key, world.consumer)]


def test_a_mail_says_what_happened(world: World) -> None:
    sqs, sns = world.aws.client("sqs", EU), world.aws.client("sns", EU)
    queue, arn = new_queue(world.aws, EU, f"mail-{world.producer}")
    topic = world.aws.physical_ids("mails", EU)["Topic"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    world.publish({"A": OLD}, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    world.publish({"A": NEW}, "UPDATE_ROLLBACK_COMPLETE")
    mails: list[str] = []

    def mail() -> str | None:
        received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", ())
        mails.extend(message["Body"] for message in received)
        return next((each for each in mails if world.consumer in each), None)

    first, second, third = wait_until(mail, "a mail").splitlines()
    assert first == '"strongref: Change Refused"'
    assert second.startswith(f'"A cannot be changed: it is imported by {world.importers()}.')
    assert third.startswith(f'"Region {EU}, account {world.aws.account}, 20')


def test_a_propagated_change_starts_the_pipeline_of_its_importer_and_of_no_other(world: World) -> None:
    """The emulator has no pipelines: the example's rule gets a queue as another target."""
    aws, events = world.aws, world.aws.client("events", EU)
    template = load((ROOT / "examples/notices/redeploy.yaml").read_text())
    queues = {}
    for importer in (world.consumer, f"not-{world.consumer}"):
        given = {"Importer": importer, "Pipeline": "web", "EventBus": BUS}
        parameters = [{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()]
        aws.deploy(f"redeploy-{importer}", template, EU, "CREATE_COMPLETE", Parameters=parameters)
        rule = aws.physical_ids(f"redeploy-{importer}", EU)["Rule"].rpartition("|")[2]
        (target,) = events.list_targets_by_rule(Rule=rule, EventBusName=BUS)["Targets"]
        assert target["Arn"] == f"arn:aws:codepipeline:{EU}:{aws.account}:web"
        queues[importer], arn = new_queue(aws, EU, f"redeploy-{importer}")
        events.put_targets(Rule=rule, EventBusName=BUS, Targets=[{"Id": "queue", "Arn": arn}])
    world.publish({"A": OLD}, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    world.publish({"A": NEW}, "UPDATE_ROLLBACK_COMPLETE")
    world.publish({"A": NEW}, "UPDATE_COMPLETE", OnChange="propagate")
    sqs = aws.client("sqs", EU)

    def received(importer: str) -> list[str]:
        messages = sqs.receive_message(QueueUrl=queues[importer], MaxNumberOfMessages=10).get("Messages", ())
        return [json.loads(each["Body"])["detail-type"] for each in messages]

    assert wait_until(lambda: received(world.consumer), "an event") == ["Values Propagated"]
    assert received(f"not-{world.consumer}") == []
    world.consume("A", expect="UPDATE_COMPLETE", Revision="execution-2")
    assert world.aws.outputs(world.consumer, US)["A"] == NEW


def test_a_function_that_may_not_send_goes_on_as_if_nothing_were(notified: Aws, names: Callable[[str], str]) -> None:
    producer, consumer = names("network"), names("web")
    role = notified.physical_ids(APPLICATION, US)["ExporterRole"]
    iam = notified.client("iam", US)
    policy = iam.get_role_policy(RoleName=role, PolicyName="event-bus")["PolicyDocument"]
    arn = notified.client("events", US).describe_event_bus(Name=BUS)["Arn"]
    (statement,) = policy["Statement"]
    assert (statement["Action"], statement["Resource"]) == ("events:PutEvents", arn)
    iam.delete_role_policy(RoleName=role, PolicyName="event-bus")
    try:
        notified.deploy(producer, exporting({"A": OLD}, consumer=consumer), US, "CREATE_COMPLETE")
        notified.deploy(consumer, importing(producer, "A", region=US), US, "CREATE_COMPLETE")
        notified.deploy(producer, exporting({"A": NEW}, consumer=consumer), US, "UPDATE_ROLLBACK_COMPLETE")
        (line,) = notified.logged(US, "Notices were not sent", producer)
    finally:
        iam.put_role_policy(RoleName=role, PolicyName="event-bus", PolicyDocument=json.dumps(policy))
    assert "AccessDenied" in json.loads(line)["error"]
    assert json.loads(line)["detail_types"] == ["Change Refused"]
    assert notified.logged(US, '"NoticesDropped"')
    assert "A cannot be changed" in "".join(notified.reasons(producer, US))
    notified.deploy(producer, stack({"Exports": export({"A": OLD}, consumer=consumer)}), US)


@pytest.mark.parametrize("region", REGIONS)
def test_the_dashboard_shows_the_functions_of_its_region(notified: Aws, region: str) -> None:
    found = notified.client("cloudwatch", region).get_dashboard(DashboardName=f"{APPLICATION}-{region}")
    body = json.loads(found["DashboardBody"])
    metrics = [metric for widget in body["widgets"] for metric in widget["properties"]["metrics"]]
    shown = {metric[3] for metric in metrics if metric[0] == "AWS/Lambda"}
    ids = notified.physical_ids(APPLICATION, region)
    assert shown == {ids[name] for name in ("Exporter", "Importer", "Janitor", "Lookup", "Transformer")}
    assert {widget["properties"]["region"] for widget in body["widgets"]} == {region}


@pytest.mark.parametrize(
    ("pattern", "types"),
    [
        (PATTERNS[0], {"Change Refused", "Values Kept", "Findings Reported"}),
        (PATTERNS[1], {"Change Refused", "Values Propagated", "Values Kept", "Place Passed Over", "Claim Released"}),
        (PATTERNS[2], set()),
        (
            load((ROOT / "examples/notices/mail.yaml").read_text())["Resources"]["Rule"]["Properties"]["EventPattern"],
            {kind.value for kind in NoticeType} - {"Repairs Made"},
        ),
    ],
)
def test_a_documented_pattern_matches_what_it_says(notified: Aws, pattern: dict[str, Any], types: set[str]) -> None:
    assert {kind.value for kind in NoticeType if matches(notified, pattern, as_event(ONE_OF_EACH[kind]()))} == types


def test_the_documented_pattern_of_one_kind_matches_that_kind(notified: Aws) -> None:
    event = as_event(ONE_OF_EACH[NoticeType.FINDINGS_REPORTED]())
    event["detail"]["findings"][0]["finding"] = "changed-by-hand"
    assert matches(notified, PATTERNS[2], event)
    assert len(PATTERNS) == 3


def matches(aws: Aws, pattern: dict[str, Any], event: dict[str, Any]) -> bool:
    envelope = {"id": "1", "account": aws.account, "time": "2026-01-01T00:00:00Z", "region": EU, "version": "0"}
    answer = aws.client("events", EU).test_event_pattern(
        EventPattern=json.dumps(pattern), Event=json.dumps(envelope | event)
    )
    found: bool = answer["Result"]
    return found
