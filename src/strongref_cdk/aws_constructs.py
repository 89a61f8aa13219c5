"""The ready types as constructs: the CDK's function for each. Another type takes a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import aws_cdk
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_eks as eks
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

from strongref.arns import Arn
from strongref.untyped import Untyped
from strongref_cdk.apps import ConstructPlace, at
from strongref_cdk.cdk_values import REFUSALS, late_setting, setting, settings, settled
from strongref_cdk.construct_kinds import ConstructKind, maker
from strongref_cdk.errors import NoListenerError, NotOneError, RefusedByCdkError
from strongref_objects import types
from strongref_objects.types.arn_forms import is_unresolved
from strongref_objects.types.members import members
from strongref_toolkit.jsii_objects import reference

if TYPE_CHECKING:
    from constructs import Construct


_LISTENERS: dict[str, elbv2.IApplicationListener] = {}
"""The listeners of imported load balancers, which the CDK does not return: by reference."""


def _key_of(at: ConstructPlace, obj: Untyped) -> kms.IKey | None:
    """The key that encrypts something; None if it has none."""
    return obj.encryption_key and KEY.construct(at.part("EncryptionKey"), obj.encryption_key)


def _bucket(at: ConstructPlace, bucket: types.Bucket, **options: Any) -> s3.IBucket:
    given = {"bucket_name": bucket.bucket_name, "region": at.region, "account": at.account, **options}
    return s3.Bucket.from_bucket_attributes(at.scope, at.id, bucket_arn=bucket.bucket_arn, **given)


def _topic(at: ConstructPlace, topic: types.Topic, **options: Any) -> sns.ITopic:
    if topic.content_based_deduplication and is_unresolved(topic.topic_arn):
        del options["content_based_deduplication"]  # The CDK refuses it where no name ends with .fifo.
    return sns.Topic.from_topic_attributes(at.scope, at.id, topic_arn=topic.topic_arn, **options)


def _role(at: ConstructPlace, role: types.Role, path: str | None = None, **options: Any) -> iam.IRole:
    def part(number: int, separator: str) -> str:
        return str(aws_cdk.Fn.select(number, aws_cdk.Fn.split(separator, arn)))

    arn, path = str(role.role_arn), path or "/"
    # The CDK takes the first part of a path for the name, unless it sees where that begins. It sees that where only a
    # part of the ARN is a token, and nobody can split a dynamic reference.
    if arn.startswith("${Token[") and isinstance(aws_cdk.Stack.of(at.scope).resolve(arn), dict):
        name = role.role_name if is_unresolved(path) else part(1, f":role{path}")
        arn = f"arn:{part(1, ':')}:iam::{part(4, ':')}:role{path}{name}"
    return iam.Role.from_role_arn(at.scope, at.id, arn, **options)


def _path_of(role: iam.IRole) -> str | None:
    """A role's path, which an imported one has in its ARN; None if it has none, or does not show it."""
    shown = role.role_arn.partition(":role")[2].rpartition("/")[0]
    found = f"{shown}/" if shown else getattr(role.node.default_child, "path", None)
    return None if found == "/" else found


def _load_balancer(
    at: ConstructPlace, balancer: types.ApplicationLoadBalancer, **options: Any
) -> elbv2.IApplicationLoadBalancer:
    made = {
        "load_balancer_arn": balancer.load_balancer_arn,
        "load_balancer_dns_name": balancer.load_balancer_dns_name,
        "load_balancer_canonical_hosted_zone_id": balancer.load_balancer_canonical_hosted_zone_id,
        "security_group_id": balancer.security_group.security_group_id,
        "security_group_allows_all_outbound": settings(balancer.security_group).get("allow_all_outbound"),
    }
    given = {**made, **options}
    construct = elbv2.ApplicationLoadBalancer.from_application_load_balancer_attributes(at.scope, at.id, **given)
    (group, *_) = construct.connections.security_groups
    _LISTENERS[reference(construct)] = LISTENER.construct(at.part("Listener"), balancer.listener, security_group=group)
    return construct


def _table(at: ConstructPlace, table: types.Table, **options: Any) -> dynamodb.ITable:
    regions = options.pop("replication_regions", None)
    place = at.part("Primary") if regions else at
    found = dynamodb.Table.from_table_attributes(place.scope, place.id, table_arn=table.table_arn, **options)
    if not regions:
        return found
    return _ReplicatedTable(at, found, regions.split(",") if isinstance(regions, str) else regions)


def _of_primary(attribute: str) -> property:
    return property(lambda table: getattr(table.primary, attribute))


class _ReplicatedTable(dynamodb.TableBase):  # type: ignore[misc]  # the CDK is not read by mypy
    """An imported table whose grants include its replicas, which the CDK's own function does not take."""

    table_arn, table_name, table_stream_arn, encryption_key, resource_policy, _has_index = map(
        _of_primary, ("table_arn", "table_name", "table_stream_arn", "encryption_key", "resource_policy", "_has_index")
    )
    regions = property(lambda table: table.replicated)

    def __init__(self, at: ConstructPlace, primary: dynamodb.ITable, regions: list[str]) -> None:
        self.primary = primary
        self.replicated = regions
        super().__init__(at.scope, at.id)

    @property
    def _regional_arns(self) -> list[str]:  # Older versions of the CDK do not read `regions`.
        of = {"service": "dynamodb", "resource": "table", "resource_name": self.table_name}
        return [self.stack.format_arn(region=region, **of) for region in self.replicated]

    def add_to_resource_policy(self, statement: Untyped) -> Untyped:
        return self.primary.add_to_resource_policy(statement)


def _function(at: ConstructPlace, function: types.Function, **options: Any) -> lambda_.IFunction:
    known = Arn.parse(str(function.function_arn))
    region = at.region or (known and known.region)
    # CloudFormation adds permissions to functions of its own region only. There, the CDK compares the accounts.
    if at.is_local or region not in (None, aws_cdk.Stack.of(at.scope).region):
        options = {"same_environment": at.is_local, **options}
    return lambda_.Function.from_function_attributes(at.scope, at.id, function_arn=function.function_arn, **options)


def _function_in_vpc(at: ConstructPlace, function: types.FunctionInVpc, **options: Any) -> lambda_.IFunction:
    outbound = options.pop("security_group_allows_all_outbound", None)
    more = {} if outbound is None else {"allow_all_outbound": outbound}
    group = SECURITY_GROUP.construct(at.part("SecurityGroup"), function.security_group, **more)
    return FUNCTION_WITH_ROLE.make(at, function, **{"security_group": group, **options})


def _group_of_function(function: lambda_.IFunction) -> ec2.ISecurityGroup | None:
    """Its only security group; None if it has none, or several: the CDK imports a function with one."""
    groups = list(function.connections.security_groups) if function.is_bound_to_vpc else []
    return groups[0] if len(groups) == 1 else None


def _needed_of_cluster(options: Mapping[str, Any], known: bool) -> Sequence[str]:
    """Services need the VPC and the settings; without the VPC, there can be no other option."""
    if "vpc" not in options:
        return ["vpc"] if options else []
    groups = ["security_groups"] if options.get("has_ec2_capacity", True) else []
    return [] if known else ["has_ec2_capacity", *groups, "execute_command_configuration"]


def _cluster(at: ConstructPlace, cluster: types.Cluster, **options: Any) -> ecs.ICluster:
    if "vpc" not in options:
        return ecs.Cluster.from_cluster_arn(at.scope, at.id, cluster.cluster_arn)
    groups = enumerate(cluster.security_groups or (), start=1)
    command = cluster.execute_command_configuration
    given = {
        "cluster_arn": cluster.cluster_arn,
        "security_groups": [SECURITY_GROUP.construct(at.part(f"SecurityGroup{n}"), each) for n, each in groups],
        "execute_command_configuration": command and _execute_command(at.part("ExecuteCommand"), command),
    }
    return ecs.Cluster.from_cluster_attributes(
        at.scope, at.id, cluster_name=cluster.cluster_name, **{**given, **options}
    )


def _execute_command(at: ConstructPlace, command: types.ExecuteCommand) -> ecs.ExecuteCommandConfiguration:
    made, group, bucket = settings(command), command.log_group_name, command.bucket_name
    return ecs.ExecuteCommandConfiguration(
        kms_key=command.kms_key and KEY.construct(at.part("KmsKey"), command.kms_key),
        logging=ecs.ExecuteCommandLogging(made.pop("logging")),
        log_configuration=ecs.ExecuteCommandLogConfiguration(
            cloud_watch_log_group=group and logs.LogGroup.from_log_group_name(at.scope, at.part("LogGroup").id, group),
            s3_bucket=bucket and s3.Bucket.from_bucket_name(at.scope, at.part("Bucket").id, bucket),
            **made,
        ),
    )


def _execute_command_of(cluster: ecs.ICluster) -> types.ExecuteCommand | None:
    found: Any = setting("execute_command_configuration", None)(cluster)
    if found is None:
        return None
    log = found.log_configuration or ecs.ExecuteCommandLogConfiguration()
    return types.ExecuteCommand(
        logging=(found.logging or ecs.ExecuteCommandLogging.DEFAULT).value,
        kms_key=found.kms_key and cast("types.Key", KEY.object_of(found.kms_key)),
        log_group_name=log.cloud_watch_log_group and log.cloud_watch_log_group.log_group_name,
        cloud_watch_encryption_enabled=log.cloud_watch_encryption_enabled,
        bucket_name=log.s3_bucket and log.s3_bucket.bucket_name,
        s3_encryption_enabled=log.s3_encryption_enabled,
    )


def _groups_of(cluster: ecs.ICluster) -> list[Any] | None:
    """The security groups of its EC2 instances; None if it was imported without a VPC."""
    connections: Any = setting("connections", None)(cluster)
    if connections is None:
        return None
    settled(late_setting(lambda _: len(connections.security_groups), "security groups")(cluster))
    return list(connections.security_groups)


def _eks_cluster(at: ConstructPlace, cluster: types.EksCluster, **options: Any) -> eks.ICluster:
    if not at.is_local:
        raise RefusedByCdkError(f"the EKS cluster {at.id}", "it takes every cluster for one of the stack's own region")
    names = [name for name in members(types.EksCluster) if name != "cluster_arn"]
    return maker(eks.Cluster.from_cluster_attributes, *names)(at, cluster, **options)


def _only(label: str, part: str, get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A part of which a construct must have exactly one."""

    def only(construct: Construct) -> Construct:
        try:
            found = list(get(construct))
        except REFUSALS:
            raise NotOneError(label, part, None) from None
        if len(found) != 1:
            raise NotOneError(label, part, len(found))
        return found[0]

    return only


_INSTEAD = {
    "grant_index_permissions": {"global_indexes", "local_indexes"},
    "security_group_allows_all_outbound": {"security_group"},
}
"""Other options that say the same."""


def _at_deployment(*needed: str) -> Callable[[Mapping[str, Any], bool], Sequence[str]]:
    """The options that a program must pass where nothing else says how the resource was made."""
    return lambda given, known: () if known else [each for each in needed if not _INSTEAD.get(each, set()) & {*given}]


KEY = ConstructKind(types.Key, maker(kms.Key.from_key_arn, "key_arn"))
BUCKET = ConstructKind(types.Bucket, _bucket, get={"is_website": setting("is_website", False)})
ENCRYPTED_BUCKET = BUCKET.wider_by(types.EncryptedBucket, encryption_key=_key_of)
QUEUE = ConstructKind(types.Queue, maker(sqs.Queue.from_queue_attributes, "queue_arn", "queue_url", "queue_name"))
ENCRYPTED_QUEUE = QUEUE.wider_by(types.EncryptedQueue, key_arn=lambda _, it: it.encryption_master_key.key_arn)
TOPIC = ConstructKind(
    types.Topic, _topic, get={"content_based_deduplication": setting("content_based_deduplication", False)}
)
ENCRYPTED_TOPIC = TOPIC.wider_by(types.EncryptedTopic, key_arn=lambda _, it: it.master_key.key_arn)
SECRET = ConstructKind(
    types.Secret,
    maker(secretsmanager.Secret.from_secret_attributes, secret_complete_arn="secret_arn"),  # noqa: S106 (a name)
    get={"secret_arn": lambda secret: secret.secret_full_arn},
)
ROLE = ConstructKind(types.Role, _role, get={"path": _path_of})
CERTIFICATE = ConstructKind(types.Certificate, maker(acm.Certificate.from_certificate_arn, "certificate_arn"))
HOSTED_ZONE = ConstructKind(
    types.HostedZone,
    maker(route53.HostedZone.from_hosted_zone_attributes, "hosted_zone_id", "zone_name"),
    needed=_at_deployment("zone_name"),
)
SECURITY_GROUP = ConstructKind(
    types.SecurityGroup,
    maker(ec2.SecurityGroup.from_security_group_id, "security_group_id"),
    get={
        "allow_all_outbound": setting("allow_all_outbound", True),
        "allow_all_ipv6_outbound": setting("allow_all_ipv6_outbound", False),
    },
    needed=_at_deployment("allow_all_outbound"),
)
LISTENER = ConstructKind(
    types.Listener,
    maker(elbv2.ApplicationListener.from_application_listener_attributes, "listener_arn"),
    get={"default_port": setting("port", None)},
    needed=lambda _options, _known: ["security_group"],
    unlike=elbv2.NetworkListener,
)
_OF_BALANCERS = {
    "security_group": _only("application load balancer", "security_group", lambda it: it.connections.security_groups),
    "listener": _only("application load balancer", "listener", lambda it: it.listeners),
}
_CLOSED = _at_deployment("security_group_allows_all_outbound")
APPLICATION_LOAD_BALANCER = ConstructKind(
    types.ApplicationLoadBalancer, _load_balancer, get=_OF_BALANCERS, needed=_CLOSED, unlike=elbv2.NetworkLoadBalancer
)
TABLE = ConstructKind(
    types.Table,
    _table,
    get={
        "grant_index_permissions": late_setting(setting("_has_index", None), "indexes"),
        "replication_regions": lambda it: ",".join(a.split(":")[3] for a in getattr(it, "_regional_arns", [])) or None,
    },
    needed=_at_deployment("grant_index_permissions"),
)
ENCRYPTED_TABLE = TABLE.wider_by(types.EncryptedTable, encryption_key=_key_of)
STREAMED_TABLE = replace(
    TABLE.wider_by(types.StreamedTable, table_stream_arn=lambda _, it: it.table_stream_arn, encryption_key=_key_of),
    needed=_at_deployment("grant_index_permissions", "encryption_key"),
)
FUNCTION = ConstructKind(types.Function, _function, wider=[types.FunctionInVpc])
FUNCTION_WITH_ROLE = FUNCTION.wider_by(
    types.FunctionWithRole, role=lambda at, it: ROLE.construct(at.part("Role"), it.role)
)
FUNCTION_IN_VPC = ConstructKind(
    types.FunctionInVpc, _function_in_vpc, get={"security_group": _group_of_function}, needed=_CLOSED
)
CLUSTER = ConstructKind(
    types.Cluster,
    _cluster,
    get={
        "has_ec2_capacity": late_setting(setting("has_ec2_capacity", None), "instances"),
        "security_groups": _groups_of,
        "execute_command_configuration": _execute_command_of,
    },
    needed=_needed_of_cluster,
)
EKS_CLUSTER = ConstructKind(types.EksCluster, _eks_cluster)


def listener_of(load_balancer: elbv2.IApplicationLoadBalancer) -> elbv2.IApplicationListener:
    """The listener of an imported load balancer: the same each time.

    Raises:
        ConstructError: the load balancer was not imported.
    """
    with at(load_balancer):
        found = _LISTENERS.get(reference(load_balancer))
        if found is None:
            raise NoListenerError
        return found
