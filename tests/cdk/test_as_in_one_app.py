"""What two stacks generate that share a construct, compared with what one app generates that passes it between them.

The stacks are in two apps, with lookups at synthesis or deployment; or in one app that exports and imports it at
deployment. All deploy the same, resource by resource, except for the differences that are listed with their reason.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as route53_targets
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks

import strongref_cdk
from strongref_cdk import ResolveType
from strongref_cdk import listener_of as imported_listener
from strongref_objects.base.names import list_of
from tests.support import cdk_apps, cdk_kinds
from tests.support.cdk_apps import ACCOUNT, US
from tests.support.cdk_compared import Deployed, Templates, templates
from tests.support.cdk_kinds import HERE, beside, function, role, service, table, vpc
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KINDS = {case.name: case for case in cdk_kinds.CASES}
NOW, LATER = ResolveType.SYNTHESIS, ResolveType.DEPLOYMENT
TOGETHER = "Deployment in one app"

OWNERS_POLICY = "the policy of the resource itself is in its owner's template, and only its own app changes that"

_elsewhere = cdk_apps.elsewhere


@dataclass(frozen=True, eq=False)  # so that what is made of it can be kept
class Use:
    """One construct, and what another stack does with it."""

    kind: str  # of `cdk_kinds.CASES`
    what: str
    use: Callable[[cdk.Stack, Any], object]
    make: Callable[[cdk.Stack], Any] | None = None  # the kind's own by default
    attributes: Mapping[str, str] = field(default_factory=dict)  # values of attributes that are not exported
    values: Mapping[str, str] = field(default_factory=dict)  # values of exports that differ from the kind's
    later: Mapping[str, Any] = field(default_factory=dict)  # options that another app's import at deployment needs
    only_now: str = ""  # why it cannot be imported at deployment
    only_together: str = ""  # why not by another app, without more constructs
    differences: Mapping[str, str] = field(default_factory=dict)  # types of resources that differ, and why
    differences_later: Mapping[str, str] = field(default_factory=dict)  # the same at deployment, in addition

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def security_group(stack: cdk.Stack, **more: Any) -> ec2.SecurityGroup:
    return ec2.SecurityGroup(stack, "Group", vpc=vpc(stack), **more)


def connected(stack: cdk.Stack, shared: Any) -> None:
    """Traffic in both directions, from and to a group of the using stack and addresses."""
    own = ec2.SecurityGroup(stack, "Web", vpc=beside(stack), allow_all_outbound=False)
    shared.connections.allow_from(own, ec2.Port.tcp(443))
    shared.connections.allow_to(own, ec2.Port.tcp(8080))
    shared.connections.allow_from(ec2.Peer.ipv4("10.1.0.0/16"), ec2.Port.tcp(22))
    shared.connections.allow_to(ec2.Peer.ipv4("10.1.0.0/16"), ec2.Port.tcp(5432))


def rule(stack: cdk.Stack, listener: elbv2.IApplicationListener) -> None:
    """A service behind a listener."""
    running = service(stack, ecs.Cluster(stack, "Cluster", vpc=beside(stack)))
    group = elbv2.ApplicationTargetGroup(stack, "Targets", vpc=beside(stack), port=80, targets=[running])
    elbv2.ApplicationListenerRule(
        stack,
        "Rule",
        listener=listener,
        priority=10,
        conditions=[elbv2.ListenerCondition.path_patterns(["/web/*"])],
        target_groups=[group],
    )


def opened(stack: cdk.Stack, listener: elbv2.IApplicationListener) -> None:
    listener.connections.allow_default_port_from(ec2.SecurityGroup(stack, "Clients", vpc=beside(stack)))


def listener_of(balancer: elbv2.IApplicationLoadBalancer) -> elbv2.IApplicationListener:
    own = isinstance(balancer, elbv2.ApplicationLoadBalancer)
    return balancer.listeners[0] if own else imported_listener(balancer)


def another_listener(stack: cdk.Stack, balancer: elbv2.IApplicationLoadBalancer) -> None:
    elbv2.ApplicationListener(
        stack,
        "Another",
        load_balancer=balancer,
        port=8080,
        protocol=elbv2.ApplicationProtocol.HTTP,
        default_action=elbv2.ListenerAction.fixed_response(404),
    )
    zone = route53.HostedZone(stack, "Zone", zone_name="example.com")
    target = route53.RecordTarget.from_alias(route53_targets.LoadBalancerTarget(balancer))
    route53.ARecord(stack, "Alias", zone=zone, target=target)


def dual_stack(stack: cdk.Stack) -> elbv2.ApplicationLoadBalancer:
    kind = elbv2.IpAddressType.DUAL_STACK
    balancer = elbv2.ApplicationLoadBalancer(stack, "Alb", vpc=vpc(stack), ip_address_type=kind)
    balancer.add_listener("Http", port=80, default_action=elbv2.ListenerAction.fixed_response(404))
    return balancer


def indexed(stack: cdk.Stack) -> dynamodb.Table:
    found = table(stack, encryption_key=None)
    number = dynamodb.Attribute(name="number", type=dynamodb.AttributeType.NUMBER)
    found.add_global_secondary_index(index_name="ByNumber", partition_key=number)
    return found


def with_capacity(stack: cdk.Stack) -> ecs.Cluster:
    """A cluster with two kinds of instances; the second kind is closed."""
    network = ec2.Vpc(stack, "Vpc", availability_zones=cdk_kinds.ZONES)
    cluster = ecs.Cluster(stack, "Cluster", vpc=network)
    cluster.add_capacity("Machines", instance_type=ec2.InstanceType("t4g.micro"))
    cluster.connections.add_security_group(ec2.SecurityGroup(stack, "More", vpc=network, allow_all_outbound=False))
    return cluster


def on_machines(stack: cdk.Stack, cluster: ecs.ICluster) -> None:
    """A service on instances, behind a load balancer."""
    task = ecs.Ec2TaskDefinition(stack, "Task")
    ports = [ecs.PortMapping(container_port=80)]
    task.add_container("web", image=ecs.ContainerImage.from_registry("web"), memory_limit_mib=128, port_mappings=ports)
    running = ecs.Ec2Service(stack, "Service", cluster=cluster, task_definition=task)
    balancer = elbv2.ApplicationLoadBalancer(stack, "Front", vpc=beside(stack))
    balancer.add_listener("Http", port=80).add_targets("Targets", port=80, targets=[running])


def commanded(stack: cdk.Stack, **how: Any) -> ecs.Cluster:
    command = ecs.ExecuteCommandConfiguration(**how)
    return ecs.Cluster(stack, "Cluster", vpc=beside(stack), execute_command_configuration=command)


def logged(stack: cdk.Stack) -> ecs.Cluster:
    log = ecs.ExecuteCommandLogConfiguration(
        cloud_watch_log_group=logs.LogGroup(stack, "Log"),
        cloud_watch_encryption_enabled=True,
        s3_bucket=s3.Bucket(stack, "Bucket"),
        s3_encryption_enabled=True,
    )
    key = kms.Key(stack, "Key")
    return commanded(stack, kms_key=key, logging=ecs.ExecuteCommandLogging.OVERRIDE, log_configuration=log)


def with_commands(stack: cdk.Stack, cluster: ecs.ICluster) -> None:
    """A service into whose containers people can run commands."""
    task = ecs.FargateTaskDefinition(stack, "Task")
    task.add_container("web", image=ecs.ContainerImage.from_registry("web"))
    ecs.FargateService(stack, "Service", cluster=cluster, task_definition=task, enable_execute_command=True)


def records(stack: cdk.Stack, zone: route53.IHostedZone) -> None:
    """With names below the zone's, with the zone's own, and with its name in full."""
    for number, name in enumerate(["www", "example.com", "api.example.com"]):
        target = route53.RecordTarget.from_ip_addresses("192.0.2.1")
        route53.ARecord(stack, f"Record{number}", zone=zone, record_name=name, target=target)


def notified(stack: cdk.Stack, topic: sns.ITopic) -> None:
    topic.add_subscription(subscriptions.SqsSubscription(sqs.Queue(stack, "Inbox")))
    topic.grant_publish(role(stack))


def published(stack: cdk.Stack, topic: sns.ITopic) -> None:
    """A FIFO topic that removes duplicates itself: others need an ID for each message."""
    message = sfn.TaskInput.from_text("hello")
    task = tasks.SnsPublish(stack, "Publish", topic=topic, message=message, message_group_id="one")
    sfn.StateMachine(stack, "Machine", definition_body=sfn.DefinitionBody.from_chainable(task))


def endpoints(stack: cdk.Stack, network: ec2.IVpc) -> None:
    ec2.InterfaceVpcEndpoint(stack, "Keys", vpc=network, service=ec2.InterfaceVpcEndpointAwsService.KMS)
    ec2.GatewayVpcEndpoint(stack, "Storage", vpc=network, service=ec2.GatewayVpcEndpointAwsService.S3)
    group = ec2.SecurityGroup(stack, "Inner", vpc=network)
    group.add_ingress_rule(ec2.Peer.ipv4(network.vpc_cidr_block), ec2.Port.tcp(443))


def granted_to(stack: cdk.Stack, shared: iam.IGrantable) -> None:
    """A bucket of the using stack that something shared may read."""
    s3.Bucket(stack, "Own").grant_read(shared)


def invoked(stack: cdk.Stack, shared: lambda_.IFunction) -> None:
    shared.grant_invoke(iam.ServicePrincipal("events.amazonaws.com"))
    shared.add_permission("Topic", principal=iam.ServicePrincipal("sns.amazonaws.com"), source_account=ACCOUNT)
    lambda_.EventInvokeConfig(stack, "Retries", function=shared, retry_attempts=1)


def website(stack: cdk.Stack) -> s3.Bucket:
    return s3.Bucket(stack, "Bucket", website_index_document="index.html")


def served(stack: cdk.Stack, bucket: s3.IBucket) -> None:
    behavior = cloudfront.BehaviorOptions(origin=origins.S3Origin(bucket))
    cloudfront.Distribution(stack, "Site", default_behavior=behavior)


OWN_REGION = "the CDK names the region of an imported topic, which is the stack's own"

GROUPS = {f"SecurityGroups{number}-SecurityGroupId": f"sg-{number:08}" for number in (1, 2)}
COMMAND = "ExecuteCommandConfiguration"
COMMANDS = cdk_kinds.key_of(f"{COMMAND}-KmsKey-") | {
    f"{COMMAND}-LogGroupName": "log",
    f"{COMMAND}-BucketName": "sessions",
}
CONTROL_PLANE = "the control plane has two groups, and rules of the one that all EKS clusters have are enough"
OF_KEY = cdk_kinds.key_of("EncryptionKey-")
ROLE_IN_PATH = {"RoleArn": "arn:aws:iam::123456789012:role/team/web/jobs", "RoleName": "jobs"}

ALLOWED_TWICE = "the role is allowed already; without the ARN the CDK cannot tell that both are in one account"

USES = [
    Use("bucket", "grants", lambda stack, it: it.grant_read_write(role(stack))),
    Use(
        "bucket",
        "a website",
        served,
        website,
        attributes={"WebsiteURL": "http://johnny.s3-website-eu-west-1.amazonaws.com"},
        later={"is_website": True},
    ),
    Use(
        "bucket",
        "a grant to a service",
        lambda _, it: it.grant_read(iam.ServicePrincipal("logs.amazonaws.com")),
        differences={"AWS::S3::BucketPolicy": OWNERS_POLICY},
    ),
    Use("encrypted_bucket", "grants", lambda stack, it: it.grant_read_write(role(stack))),
    Use("queue", "grants", lambda stack, it: [it.grant_send_messages(role(stack)), it.grant_purge(role(stack))]),
    Use("queue", "an event source", lambda stack, it: function(stack).add_event_source(sources.SqsEventSource(it))),
    Use(
        "queue",
        "a grant to a service",
        lambda _, it: it.grant_send_messages(iam.ServicePrincipal("events.amazonaws.com")),
        differences={"AWS::SQS::QueuePolicy": OWNERS_POLICY},
    ),
    Use(
        "topic",
        "a grant to a service",
        lambda _, it: it.grant_publish(iam.ServicePrincipal("events.amazonaws.com")),
        differences={"AWS::SNS::TopicPolicy": OWNERS_POLICY},
    ),
    Use(
        "key",
        "a grant to a service",
        lambda _, it: it.grant_encrypt(iam.ServicePrincipal("logs.amazonaws.com")),
        differences={"AWS::KMS::Key": OWNERS_POLICY},
    ),
    Use(
        "role",
        "a managed policy",
        lambda _, it: it.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("ReadOnlyAccess")),
        differences={"AWS::IAM::Role": "the CDK adds managed policies to roles of the same app only"},
    ),
    Use(
        "security_group",
        "traffic to IPv6 addresses",
        lambda _, it: it.connections.allow_to(ec2.Peer.ipv6("2001:db8::/32"), ec2.Port.tcp(443)),
        differences={"AWS::EC2::SecurityGroupEgress": "the CDK has one option for IPv4 and IPv6 of an imported group"},
    ),
    Use(
        "application_load_balancer",
        "a listener for IPv6",
        another_listener,
        dual_stack,
        differences={"AWS::EC2::SecurityGroupIngress": "the CDK does not take an imported one's type of addresses"},
    ),
    Use("encrypted_queue", "grants", lambda stack, it: it.grant_consume_messages(role(stack))),
    Use("topic", "a subscription and grants", notified, differences={"AWS::SNS::Subscription": OWN_REGION}),
    Use(
        "topic",
        "messages to a FIFO topic",
        published,
        lambda stack: sns.Topic(stack, "Topic", fifo=True, content_based_deduplication=True, topic_name="news.fifo"),
        values={"TopicArn": HERE.format("sns", "news.fifo"), "TopicName": "news.fifo"},
        only_now="its name says that it is a FIFO topic",
    ),
    Use("encrypted_topic", "grants", lambda stack, it: it.grant_publish(role(stack))),
    Use("key", "grants", lambda stack, it: it.grant_encrypt_decrypt(role(stack))),
    Use(
        "key", "encryption", lambda stack, it: s3.Bucket(stack, "Encrypted", encryption_key=it).grant_read(role(stack))
    ),
    Use("role", "grants", granted_to, differences_later={"AWS::S3::BucketPolicy": ALLOWED_TWICE}),
    Use(
        "role",
        "a policy of one with a path",
        lambda _, it: it.add_to_principal_policy(iam.PolicyStatement(actions=["s3:Get*"], resources=["*"])),
        lambda stack: iam.Role(stack, "Role", path="/team/web/", assumed_by=iam.AccountRootPrincipal()),
        values=ROLE_IN_PATH,
        later={"path": "/team/web/"},
    ),
    Use("role", "its function", lambda stack, it: [function(stack, role=it), it.grant_pass_role(role(stack))]),
    Use("certificate", "a listener", KINDS["certificate"].use),
    Use("hosted_zone", "records", records),
    Use("hosted_zone", "grants", lambda stack, it: it.grant_delegation(role(stack))),
    Use("vpc", "an instance", KINDS["vpc"].use),
    Use("vpc", "endpoints and addresses", endpoints),
    Use("security_group", "traffic", connected),
    Use(
        "security_group",
        "traffic, with outbound rules",
        connected,
        lambda stack: security_group(stack, allow_all_outbound=False),
        later={"allow_all_outbound": False},
    ),
    Use("application_load_balancer", "traffic", connected, later={"security_group_allows_all_outbound": False}),
    Use(
        "application_load_balancer",
        "a rule",
        lambda stack, it: rule(stack, listener_of(it)),
        later={"security_group_allows_all_outbound": False},
    ),
    Use(
        "application_load_balancer",
        "its listener's port",
        lambda stack, it: opened(stack, listener_of(it)),
        only_now="the CDK has to know the port",
    ),
    Use("application_load_balancer", "a listener and an alias", another_listener),
    Use("listener", "a rule", rule, attributes={"GroupId": "sg-89abcdef"}),
    Use("cluster", "a service", service, lambda stack: ecs.Cluster(stack, "Cluster", vpc=beside(stack))),
    Use(
        "cluster",
        "a service on machines",
        on_machines,
        with_capacity,
        values=GROUPS,
        only_together="what another app knows of a cluster with instances are its constructs",
    ),
    Use("cluster", "traffic of its machines", connected, with_capacity, values=GROUPS, only_together="as above"),
    Use(
        "cluster",
        "commands that are logged",
        with_commands,
        logged,
        values=COMMANDS,
        only_together="as above",
        differences={"AWS::KMS::Key": OWNERS_POLICY},
    ),
    Use(
        "cluster",
        "commands that are not logged",
        with_commands,
        lambda stack: commanded(stack, logging=ecs.ExecuteCommandLogging.NONE),
        only_together="as above",
    ),
    Use(
        "eks_cluster",
        "traffic",
        connected,
        differences={"AWS::EC2::SecurityGroupIngress": CONTROL_PLANE, "AWS::EC2::SecurityGroupEgress": CONTROL_PLANE},
    ),
    Use("secret", "grants", lambda stack, it: it.grant_read(role(stack))),
    Use("table", "grants", lambda stack, it: it.grant_read_write_data(role(stack))),
    Use(
        "table",
        "grants on its indexes",
        lambda stack, it: it.grant_read_data(role(stack)),
        indexed,
        later={"grant_index_permissions": True},
    ),
    Use(
        "table",
        "grants on its replicas",
        lambda stack, it: it.grant_read_write_data(role(stack)),
        lambda stack: table(stack, replication_regions=[US]),
        values=cdk_kinds.STREAM,
        later={"replication_regions": [US]},
    ),
    Use("encrypted_table", "grants", lambda stack, it: it.grant_read_data(role(stack))),
    Use(
        "streamed_table",
        "grants and an event source",
        lambda stack, it: [
            it.grant_stream_read(role(stack)),
            function(stack).add_event_source(
                sources.DynamoEventSource(it, starting_position=lambda_.StartingPosition.LATEST)
            ),
        ],
    ),
    Use(
        "streamed_table",
        "grants of one with a key",
        lambda stack, it: [it.grant_stream_read(role(stack)), it.grant_write_data(role(stack))],
        lambda stack: table(stack, stream=dynamodb.StreamViewType.NEW_IMAGE, encryption_key=kms.Key(stack, "Key")),
        values=OF_KEY,
        only_together="the key is a construct",
    ),
    Use("function", "invocations", invoked),
    Use(
        "function",
        "a role that invokes it",
        lambda stack, it: it.grant_invoke(role(stack)),
        differences_later={"AWS::Lambda::Permission": ALLOWED_TWICE},
    ),
    Use("function_with_role", "grants", granted_to, differences_later={"AWS::S3::BucketPolicy": ALLOWED_TWICE}),
    Use("function_in_vpc", "traffic", connected, later={"security_group_allows_all_outbound": False}),
]


@functools.cache
def exporting(use: Use) -> Templates:
    """An app that exports the construct."""
    stack = cdk_apps.stack(cdk.App(), "Producer")
    KINDS[use.kind].export((use.make or KINDS[use.kind].make)(stack), "Thing")
    return templates(stack)


@functools.cache
def one_app(use: Use) -> Templates:
    """An app that passes the construct from one stack to the other."""
    app = cdk.App()
    producer, stack = cdk_apps.stack(app, "Producer"), cdk_apps.stack(app, "Web")
    KINDS[use.kind].options(stack)
    use.use(stack, (use.make or KINDS[use.kind].make)(producer))
    return templates(producer, stack)


def deployed(template: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, str]:
    """Deploys a template's exports with known values; the values of what they refer to."""
    outputs = {each["Export"]["Name"]: each["Value"] for each in template["Outputs"].values()}
    facts: dict[str, str] = {}
    values: dict[str, str] = {}
    # The items of lists are exported one by one as well: their values follow from the lists'.
    for name, value in sorted(outputs.items(), key=lambda each: list_of(each[0]) in outputs):
        values[name] = value if isinstance(value, str) else known.get(name) or facts[json.dumps(value)]
        facts[json.dumps(value)] = values[name]
        if isinstance(value, dict) and "Fn::Join" in value:
            items = value["Fn::Join"][1]
            facts |= {json.dumps(item): text for item, text in zip(items, values[name].split(","), strict=True)}
    cdk_apps.deploy(values, "Producer")
    return facts


def together(use: Use) -> Templates:
    """An app that exports the construct from one stack, and imports it at deployment in the other."""
    app = cdk.App()
    producer, stack = cdk_apps.stack(app, "Producer"), cdk_apps.stack(app, "Web")
    kind = KINDS[use.kind]
    kind.export((use.make or kind.make)(producer), "Thing")
    use.use(stack, kind.import_(stack, "Thing", type=LATER))
    return templates(producer, stack)


def across(use: Use, when: str) -> tuple[Counter[str], dict[str, str]]:
    """What two stacks deploy, and the values of what one of them exports."""
    known = {**cdk_kinds.FACTS, **KINDS[use.kind].values, **use.values}
    producer = exporting(use)
    facts = deployed(producer["Producer"], {f"Thing-{key}": value for key, value in known.items()})
    if when == TOGETHER:
        return Deployed(together(use), facts, use.attributes).resources(), facts
    stack = cdk_apps.stack(cdk.App(), "Web")
    more = {**KINDS[use.kind].later, **use.later} if when == LATER else {}
    use.use(stack, KINDS[use.kind].import_(stack, "Thing", type=when, **more))
    return Deployed(producer | templates(stack), facts, use.attributes).resources(), facts


def ways(use: Use) -> list[str]:
    """At deployment, another app differs where it has to pass options: the kind's are tried once."""
    if use.only_now or KINDS[use.kind].only_now:
        return [NOW]
    is_first = use is next(each for each in USES if each.kind == use.kind)
    has_options = use.later or (is_first and KINDS[use.kind].later)
    return [NOW, TOGETHER, *([LATER] if has_options and not use.only_together else [])]


COMPARED = [(use, when) for use in USES for when in ways(use)]


@pytest.mark.parametrize(("use", "when"), COMPARED, ids=str)
def test_two_apps_deploy_what_one_app_deploys(use: Use, when: str) -> None:
    there, facts = across(use, when)
    here = Deployed(one_app(use), facts, use.attributes).resources()
    listed = {**use.differences, **({} if when == NOW else use.differences_later)}
    if {json.loads(each)[0] for each in (*(here - there), *(there - here))} != set(listed):
        pytest.fail("\n".join(["only in one app:", *(here - there), "only in two:", *(there - here)]))


def test_a_cluster_without_machines_is_refused_as_in_one_app() -> None:
    use = Use(
        "cluster", "a service on machines", on_machines, lambda stack: ecs.Cluster(stack, "Cluster", vpc=vpc(stack))
    )
    for deployed in (lambda: across(use, NOW), lambda: one_app(use)):
        with pytest.raises(RuntimeError, match="Cluster for this service needs Ec2 capacity"):
            deployed()


def test_an_imported_zone_has_no_name_servers_but_they_can_be_exported_beside_it() -> None:
    """The CDK's function for it takes none."""
    producer = cdk_apps.stack(cdk.App(), "Producer")
    zone = route53.PublicHostedZone(producer, "Zone", zone_name="example.com")
    strongref_cdk.export_string_list(zone, "Servers", zone.hosted_zone_name_servers)
    (output,) = cdk_apps.template(producer)["Outputs"].values()
    assert output["Value"]["Fn::Join"][0] == ","
    web = cdk_apps.stack(cdk.App(), "Web")
    imported = strongref_cdk.hosted_zone_from_id(web, "Z0123456789ABC", zone_name="example.com")
    assert imported.hosted_zone_name_servers is None


def test_the_example_s_apps_carry_the_traffic_of_one_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """The load balancer of `commons` reaches the service of `shop`: both as they stand, and as one stack."""
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", ACCOUNT)
    texts = [(ROOT / f"examples/cdk/{name}.py").read_text() for name in ("commons", "shop")]
    kinds = {"Network": "vpc", "Apps": "cluster", "Web": "application_load_balancer"}
    known = {f"{name}-{key}": value for name, kind in kinds.items() for key, value in KINDS[kind].values.items()}
    commons = run(texts[0])
    producer = templates(commons["stack"])
    facts = deployed(producer["commons"], known)
    shop = run(texts[1])
    two = Deployed(producer | templates(shop["stack"]), facts, {})

    whole = cdk_apps.stack(cdk.App(), "shop")
    texts = [re.sub(r"cdk\.Stack\(.*\)", "whole", text) for text in texts]
    made = run(texts[0], whole=whole)
    given = {"import_vpc": "vpc", "import_cluster": "cluster", "import_application_load_balancer": "balancer"}
    for name, variable in given.items():
        monkeypatch.setattr(strongref_cdk, name, lambda *_args, of=variable, **_options: made[of])
    monkeypatch.setattr(strongref_cdk, "listener_of", lambda balancer: balancer.listeners[0])
    run(texts[1], whole=whole)
    one = Deployed(templates(whole), facts, {})

    traffic = rules(one)
    assert rules(two) == traffic
    (group,) = (value for key, value in known.items() if key.endswith("SecurityGroupId"))
    assert any(each["GroupId"] == group and each.get("DestinationSecurityGroupId") for each in map(json.loads, traffic))


def run(program: str, **names: Any) -> dict[str, Any]:
    exec(program, names)  # noqa: S102 (an example)
    return names


def rules(deployed: Deployed) -> Counter[str]:
    """The rules of all security groups."""
    found = {
        json.dumps(json.loads(each)[1]): n
        for each, n in deployed.resources().items()
        if "SecurityGroup" in json.loads(each)[0]
    }
    return Counter({each: n for each, n in found.items() if "GroupId" in json.loads(each)})


def test_every_ready_type_is_compared() -> None:
    assert {use.kind for use in USES} == set(KINDS)
