"""Every ready type in the CDK: how a program makes one, what another one does with it, and values that AWS may give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_notifications as notifications
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

import strongref_cdk as shared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = "arn:aws:{}:eu-west-1:123456789012:{}"
KEY_ID = "11111111-2222-3333-4444-555555555555"
ZONES = ["eu-west-1a", "eu-west-1b"]


@dataclass(frozen=True)
class Case:
    """One type.

    Attributes:
        name: as in the functions' names.
        make: the construct of a program that exports it.
        use: what another program does with the imported one.
        used: the type of a resource that this makes or changes, and the key of the value that stands in it.
        values: that AWS may give what is exported, by key.
        more: the keys of what is exported in addition.
        exporting: the name in the exporting function, where it is another.
        options: for the import, made in the importing stack.
        only_now: whether it can only be looked up while the template is made.
        later: options that another app's import at deployment needs.
        held: the keys of what `use` uses in addition.
    """

    name: str
    make: Callable[[cdk.Stack], Any]
    use: Callable[[cdk.Stack, Any], object]
    used: tuple[str, str]
    values: Mapping[str, str]
    more: Sequence[str] = ()
    exporting: str = ""
    options: Callable[[cdk.Stack], dict[str, Any]] = field(default=lambda _: {})
    only_now: bool = False
    later: Mapping[str, Any] = field(default_factory=dict)
    held: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def export(self, construct: Any, name: str, **more: Any) -> None:
        getattr(shared, f"export_{self.exporting or self.name}")(construct, name, **more)

    def import_(self, stack: cdk.Stack, name: str, **more: Any) -> Any:
        return getattr(shared, f"import_{self.name}")(stack, name, **self.options(stack), **more)


def role(stack: cdk.Stack) -> iam.Role:
    """A role of the importing program."""
    found = stack.node.try_find_child("Own")
    return found or iam.Role(stack, "Own", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))


def vpc(stack: cdk.Stack) -> ec2.IVpc:
    """A VPC with public and isolated subnets."""
    return ec2.Vpc(stack, "Vpc", availability_zones=ZONES, nat_gateways=0)


def beside(stack: cdk.Stack) -> ec2.IVpc:
    attributes = {"vpc_id": "vpc-0123abcd", "availability_zones": ZONES, "private_subnet_ids": ["subnet-a", "subnet-b"]}
    return ec2.Vpc.from_vpc_attributes(stack, f"Beside{len(stack.node.children)}", **attributes)


def instance(stack: cdk.Stack, network: ec2.IVpc) -> ec2.Instance:
    return ec2.Instance(
        stack,
        "Instance",
        vpc=network,
        instance_type=ec2.InstanceType("t4g.micro"),
        machine_image=ec2.MachineImage.generic_linux({"eu-west-1": "ami-1"}),
        vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
    )


def service(stack: cdk.Stack, cluster: ecs.ICluster) -> ecs.FargateService:
    task = ecs.FargateTaskDefinition(stack, "Task")
    image = ecs.ContainerImage.from_registry("web")
    task.add_container("web", image=image, port_mappings=[ecs.PortMapping(container_port=80)])
    return ecs.FargateService(stack, "Service", cluster=cluster, task_definition=task)


def balanced(stack: cdk.Stack) -> elbv2.ApplicationLoadBalancer:
    balancer = elbv2.ApplicationLoadBalancer(stack, "Alb", vpc=vpc(stack))
    balancer.add_listener("Http", port=80, default_action=elbv2.ListenerAction.fixed_response(404))
    return balancer


def behind(stack: cdk.Stack, balancer: elbv2.IApplicationLoadBalancer) -> None:
    """A service behind an imported load balancer's listener."""
    _rule(stack, shared.listener_of(balancer), balancer)


def _rule(stack: cdk.Stack, listener: elbv2.IApplicationListener, source: ec2.IConnectable) -> None:
    running = service(stack, ecs.Cluster(stack, "Cluster", vpc=beside(stack)))
    running.connections.allow_from(source, ec2.Port.tcp(80))
    group = elbv2.ApplicationTargetGroup(stack, "Targets", vpc=beside(stack), port=80, targets=[running])
    paths = [elbv2.ListenerCondition.path_patterns(["/web/*"])]
    listener.add_target_groups("Rule", target_groups=[group], priority=10, conditions=paths)


def function(stack: cdk.Stack, **more: Any) -> lambda_.Function:
    return lambda_.Function(
        stack,
        "Function",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(*_): pass"),
        **more,
    )


def streamed(stack: cdk.Stack, table: dynamodb.ITable) -> None:
    source = lambda_.EventSourceMapping
    source(
        stack,
        "Changes",
        target=function(stack),
        event_source_arn=table.table_stream_arn,
        starting_position=lambda_.StartingPosition.LATEST,
    )


def table(stack: cdk.Stack, **more: Any) -> dynamodb.Table:
    partition = dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING)
    return dynamodb.Table(stack, "Table", partition_key=partition, **more)


BUCKET = {"BucketArn": "arn:aws:s3:::johnny", "BucketName": "johnny"}
QUEUE = {
    "QueueArn": HERE.format("sqs", "jobs"),
    "QueueName": "jobs",
    "QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs",
}
TOPIC = {"TopicArn": HERE.format("sns", "news"), "TopicName": "news"}
TABLE = {"TableArn": HERE.format("dynamodb", "table/orders"), "TableName": "orders"}
STREAM = {"TableStreamArn": HERE.format("dynamodb", "table/orders/stream/2026-01-31T12:00:00.000")}
LISTENER = {"ListenerArn": HERE.format("elasticloadbalancing", "listener/app/web/0123456789abcdef/fedcba9876543210")}
GROUP = {"SecurityGroupId": "sg-0123abcd"}


def key_of(part: str) -> dict[str, str]:
    return {f"{part}KeyArn": HERE.format("kms", f"key/{KEY_ID}"), f"{part}KeyId": KEY_ID}


ROLE = {"RoleArn": "arn:aws:iam::123456789012:role/jobs", "RoleName": "jobs"}
FUNCTION = {"FunctionArn": HERE.format("lambda", "function:jobs"), "FunctionName": "jobs"}
WITH_ROLE = FUNCTION | {f"Role-{key}": value for key, value in ROLE.items()}
FACTS = WITH_ROLE | {f"SecurityGroup-{key}": value for key, value in GROUP.items()}
"""Values of what is exported in addition to a construct itself."""


def in_vpc(stack: cdk.Stack) -> lambda_.Function:
    inner = ec2.SubnetConfiguration(name="Inner", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    network = ec2.Vpc(stack, "Vpc", availability_zones=ZONES[:1], subnet_configuration=[inner])
    isolated = ec2.SubnetSelection(subnets=network.isolated_subnets)
    return function(stack, vpc=network, vpc_subnets=isolated, allow_all_outbound=False)


CASES = [
    Case(
        "bucket",
        lambda stack: s3.Bucket(stack, "Bucket"),
        lambda stack, bucket: bucket.grant_read(role(stack)),
        ("AWS::IAM::Policy", "BucketArn"),
        BUCKET,
    ),
    Case(
        "encrypted_bucket",
        lambda stack: s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "Key")),
        lambda stack, bucket: bucket.grant_read_write(role(stack)),
        ("AWS::IAM::Policy", "EncryptionKey-KeyArn"),
        BUCKET | key_of("EncryptionKey-"),
        exporting="bucket",
        held=("BucketArn",),
    ),
    Case(
        "queue",
        lambda stack: sqs.Queue(stack, "Queue"),
        lambda stack, queue: queue.grant_send_messages(role(stack)),
        ("AWS::IAM::Policy", "QueueArn"),
        QUEUE,
    ),
    Case(
        "encrypted_queue",
        lambda stack: sqs.Queue(stack, "Queue", encryption_master_key=kms.Key(stack, "Key")),
        lambda stack, queue: queue.grant_consume_messages(role(stack)),
        ("AWS::IAM::Policy", "EncryptionMasterKey-KeyArn"),
        QUEUE | key_of("EncryptionMasterKey-"),
        exporting="queue",
        held=("QueueArn",),
    ),
    Case(
        "topic",
        lambda stack: sns.Topic(stack, "Topic"),
        lambda stack, topic: s3.Bucket(stack, "In").add_event_notification(
            s3.EventType.OBJECT_CREATED, notifications.SnsDestination(topic)
        ),
        ("Custom::S3BucketNotifications", "TopicArn"),
        TOPIC,
    ),
    Case(
        "encrypted_topic",
        lambda stack: sns.Topic(stack, "Topic", master_key=kms.Key(stack, "Key")),
        lambda stack, topic: topic.grant_publish(role(stack)),
        ("AWS::IAM::Policy", "MasterKey-KeyArn"),
        TOPIC | key_of("MasterKey-"),
        exporting="topic",
        held=("TopicArn",),
    ),
    Case(
        "secret",
        lambda stack: secretsmanager.Secret(stack, "Secret"),
        lambda stack, secret: secret.grant_read(role(stack)),
        ("AWS::IAM::Policy", "SecretArn"),
        {"SecretArn": HERE.format("secretsmanager", "secret:password-a1B2c3")},
    ),
    Case(
        "key",
        lambda stack: kms.Key(stack, "Key"),
        lambda stack, key: s3.Bucket(stack, "Encrypted", encryption_key=key),
        ("AWS::S3::Bucket", "KeyArn"),
        key_of(""),
    ),
    Case(
        "role",
        lambda stack: iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com")),
        lambda stack, imported: function(stack, role=imported),
        ("AWS::Lambda::Function", "RoleArn"),
        ROLE,
    ),
    Case(
        "certificate",
        lambda stack: acm.Certificate(stack, "Certificate", domain_name="www.example.com"),
        lambda stack, certificate: elbv2.ApplicationListener(
            stack,
            "Https",
            load_balancer=elbv2.ApplicationLoadBalancer(stack, "Alb", vpc=vpc(stack)),
            port=443,
            certificates=[certificate],
            default_action=elbv2.ListenerAction.fixed_response(404),
        ),
        ("AWS::ElasticLoadBalancingV2::Listener", "CertificateArn"),
        {"CertificateArn": HERE.format("acm", f"certificate/{KEY_ID}")},
    ),
    Case(
        "hosted_zone",
        lambda stack: route53.HostedZone(stack, "Zone", zone_name="example.com"),
        lambda stack, zone: route53.CnameRecord(
            stack, "Www", zone=zone, record_name="www", domain_name="web.example.net"
        ),
        ("AWS::Route53::RecordSet", "HostedZoneId"),
        {"HostedZoneId": "Z0123456789ABC", "ZoneName": "example.com"},
        later={"zone_name": "example.com"},
        held=("ZoneName",),
    ),
    Case(
        "vpc",
        vpc,
        instance,
        ("AWS::EC2::SecurityGroup", "VpcId"),
        {
            "Parts": "VpcId,VpcCidrBlock,PublicSubnets,IsolatedSubnets,PublicSubnetNames,IsolatedSubnetNames,"
            "PublicSubnetIpv4CidrBlocks,IsolatedSubnetIpv4CidrBlocks",
            "VpcId": "vpc-0123abcd",
            "VpcCidrBlock": "10.0.0.0/16",
            "PublicSubnets-SubnetIds": "subnet-0a,subnet-0b",
            "PublicSubnets-AvailabilityZones": "eu-west-1a,eu-west-1b",
            "PublicSubnets-RouteTableIds": "rtb-0a,rtb-0b",
            "IsolatedSubnets-SubnetIds": "subnet-1a,subnet-1b",
            "IsolatedSubnets-AvailabilityZones": "eu-west-1a,eu-west-1b",
            "IsolatedSubnets-RouteTableIds": "rtb-1a,rtb-1b",
            "PublicSubnetNames": "Public,Public",
            "IsolatedSubnetNames": "Isolated,Isolated",
            "PublicSubnetIpv4CidrBlocks": "10.0.0.0/18,10.0.64.0/18",
            "IsolatedSubnetIpv4CidrBlocks": "10.0.128.0/18,10.0.192.0/18",
        },
        held=("IsolatedSubnets-SubnetIds",),
        only_now=True,
    ),
    Case(
        "security_group",
        lambda stack: ec2.SecurityGroup(stack, "Group", vpc=vpc(stack)),
        lambda _, group: ec2.Connections(security_groups=[group]).allow_from_any_ipv4(ec2.Port.tcp(443)),
        ("AWS::EC2::SecurityGroupIngress", "SecurityGroupId"),
        GROUP,
        later={"allow_all_outbound": True},
    ),
    Case(
        "application_load_balancer",
        balanced,
        behind,
        ("AWS::ElasticLoadBalancingV2::ListenerRule", "Listener-ListenerArn"),
        {
            "LoadBalancerArn": HERE.format("elasticloadbalancing", "loadbalancer/app/web/0123456789abcdef"),
            "LoadBalancerDnsName": "web-1.eu-west-1.elb.amazonaws.com",
            "LoadBalancerCanonicalHostedZoneId": "Z32O12XQLNTSW2",
            "SecurityGroup-SecurityGroupId": "sg-0123abcd",
            **{f"Listener-{key}": value for key, value in LISTENER.items()},
        },
        more=["SecurityGroup-AllowAllOutbound", "Listener-DefaultPort"],
        later={"security_group_allows_all_outbound": False},
        held=("SecurityGroup-SecurityGroupId",),
    ),
    Case(
        "listener",
        lambda stack: balanced(stack).listeners[0],
        lambda stack, listener: _rule(stack, listener, listener),
        ("AWS::ElasticLoadBalancingV2::ListenerRule", "ListenerArn"),
        LISTENER,
        more=["DefaultPort"],
        options=lambda stack: {
            "security_group": ec2.SecurityGroup.from_security_group_id(
                stack, "Given", "sg-89abcdef", allow_all_outbound=False
            )
        },
    ),
    Case(
        "cluster",
        lambda stack: ecs.Cluster(stack, "Cluster", vpc=vpc(stack)),
        service,
        ("AWS::ECS::Service", "ClusterName"),
        {"ClusterArn": HERE.format("ecs", "cluster/apps"), "ClusterName": "apps"},
        more=["HasEc2Capacity"],
        options=lambda stack: {"vpc": beside(stack)},
        later={"has_ec2_capacity": False, "execute_command_configuration": None},
    ),
    Case(
        "eks_cluster",
        lambda stack: eks.Cluster(
            stack,
            "Cluster",
            version=eks.KubernetesVersion.V1_31,
            vpc=beside(stack),
            vpc_subnets=[ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)],
            default_capacity_type=eks.DefaultCapacityType.AUTOMODE,
        ),
        lambda _, cluster: cluster.connections.allow_from_any_ipv4(ec2.Port.tcp(443)),
        ("AWS::EC2::SecurityGroupIngress", "ClusterSecurityGroupId"),
        {
            "ClusterArn": HERE.format("eks", "cluster/apps"),
            "ClusterName": "apps",
            "ClusterEndpoint": "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com",
            "ClusterCertificateAuthorityData": "LS0tLS1CRUdJTg==",
            "ClusterSecurityGroupId": "sg-4567cdef",
        },
    ),
    Case(
        "table",
        table,
        lambda stack, imported: imported.grant_read_data(role(stack)),
        ("AWS::IAM::Policy", "TableArn"),
        TABLE,
        more=["GrantIndexPermissions"],
        later={"grant_index_permissions": False},
    ),
    Case(
        "encrypted_table",
        lambda stack: table(stack, encryption_key=kms.Key(stack, "Key")),
        lambda stack, imported: imported.grant_read_data(role(stack)),
        ("AWS::IAM::Policy", "EncryptionKey-KeyArn"),
        TABLE | key_of("EncryptionKey-"),
        more=["GrantIndexPermissions"],
        exporting="table",
        later={"grant_index_permissions": False},
        held=("TableArn",),
    ),
    Case(
        "streamed_table",
        lambda stack: table(stack, stream=dynamodb.StreamViewType.NEW_IMAGE),
        streamed,
        ("AWS::Lambda::EventSourceMapping", "TableStreamArn"),
        TABLE | STREAM,
        more=["GrantIndexPermissions"],
        exporting="table",
        later={"grant_index_permissions": False, "encryption_key": None},
    ),
    Case(
        "function",
        function,
        lambda _, imported: imported.add_permission("Invoke", principal=iam.ServicePrincipal("events.amazonaws.com")),
        ("AWS::Lambda::Permission", "FunctionArn"),
        FUNCTION,
        more=["Role-RoleArn", "Role-RoleName"],
    ),
    Case(
        "function_with_role",
        function,
        lambda stack, imported: [table(stack).grant_read_data(imported), imported.role.grant_pass_role(role(stack))],
        ("AWS::IAM::Policy", "Role-RoleArn"),
        WITH_ROLE,
        exporting="function",
        held=("Role-RoleName", "FunctionName"),
    ),
    Case(
        "function_in_vpc",
        in_vpc,
        lambda _, imported: imported.connections.allow_from_any_ipv4(ec2.Port.tcp(443)),
        ("AWS::EC2::SecurityGroupIngress", "SecurityGroup-SecurityGroupId"),
        FACTS,
        more=["SecurityGroup-AllowAllOutbound"],
        exporting="function",
        later={"security_group_allows_all_outbound": False},
    ),
]
