"""The ready types as constructs: the CDK's function for each. Another type takes a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

from strongref.arns import Arn
from strongref_cdk.apps import ConstructPlace, at
from strongref_cdk.cdk_values import REFUSALS, late_setting, setting, settings
from strongref_cdk.construct_kinds import ConstructKind
from strongref_cdk.errors import NoListenerError, NotOneError, OptionNeededError
from strongref_objects import types
from strongref_toolkit.jsii_objects import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from constructs import Construct


Options = dict[str, Any]

_LISTENERS: dict[str, elbv2.IApplicationListener] = {}
"""The listeners of imported load balancers, which the CDK does not return: by reference."""


def _given(options: Options, **defaults: Any) -> Options:
    return {**defaults, **options}


def _key(at: ConstructPlace, key: types.Key) -> kms.IKey:
    return kms.Key.from_key_arn(at.scope, at.id, str(key.key_arn))


def _bucket(at: ConstructPlace, bucket: types.Bucket, **options: Any) -> s3.IBucket:
    given = _given(options, bucket_name=bucket.bucket_name, region=at.region, account=at.account)
    return s3.Bucket.from_bucket_attributes(at.scope, at.id, bucket_arn=bucket.bucket_arn, **given)


def _encrypted_bucket(at: ConstructPlace, bucket: types.EncryptedBucket, **options: Any) -> s3.IBucket:
    key = _key(at.part("EncryptionKey"), bucket.encryption_key)
    return _bucket(at, bucket, **_given(options, encryption_key=key))


def _queue(at: ConstructPlace, queue: types.Queue, **options: Any) -> sqs.IQueue:
    given = _given(options, queue_url=queue.queue_url, queue_name=queue.queue_name)
    return sqs.Queue.from_queue_attributes(at.scope, at.id, queue_arn=queue.queue_arn, **given)


def _encrypted_queue(at: ConstructPlace, queue: types.EncryptedQueue, **options: Any) -> sqs.IQueue:
    return _queue(at, queue, **_given(options, key_arn=queue.encryption_master_key.key_arn))


def _topic(at: ConstructPlace, topic: types.Topic, **options: Any) -> sns.ITopic:
    return sns.Topic.from_topic_attributes(at.scope, at.id, topic_arn=topic.topic_arn, **options)


def _encrypted_topic(at: ConstructPlace, topic: types.EncryptedTopic, **options: Any) -> sns.ITopic:
    return _topic(at, topic, **_given(options, key_arn=topic.master_key.key_arn))


def _role(at: ConstructPlace, role: types.Role, **options: Any) -> iam.IRole:
    return iam.Role.from_role_arn(at.scope, at.id, role.role_arn, **options)


def _certificate(at: ConstructPlace, certificate: types.Certificate) -> acm.ICertificate:
    return acm.Certificate.from_certificate_arn(at.scope, at.id, certificate.certificate_arn)


def _hosted_zone(at: ConstructPlace, zone: types.HostedZone) -> route53.IHostedZone:
    attributes = {"hosted_zone_id": zone.hosted_zone_id, "zone_name": zone.zone_name}
    return route53.HostedZone.from_hosted_zone_attributes(at.scope, at.id, **attributes)


def _security_group(at: ConstructPlace, group: types.SecurityGroup, **options: Any) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(at.scope, at.id, group.security_group_id, **options)


def _check_listener(options: Mapping[str, Any]) -> None:
    if "security_group" not in options:
        raise OptionNeededError("listener", "security_group", "that of its load balancer")


def _listener(at: ConstructPlace, listener: types.Listener, **options: Any) -> elbv2.IApplicationListener:
    attributes = {"listener_arn": listener.listener_arn, **options}
    return elbv2.ApplicationListener.from_application_listener_attributes(at.scope, at.id, **attributes)


def _load_balancer(
    at: ConstructPlace, balancer: types.ApplicationLoadBalancer, **options: Any
) -> elbv2.IApplicationLoadBalancer:
    given = _given(
        options,
        security_group_id=balancer.security_group.security_group_id,
        load_balancer_dns_name=balancer.load_balancer_dns_name,
        load_balancer_canonical_hosted_zone_id=balancer.load_balancer_canonical_hosted_zone_id,
        security_group_allows_all_outbound=settings(balancer.security_group).get("allow_all_outbound"),
    )
    construct = elbv2.ApplicationLoadBalancer.from_application_load_balancer_attributes(
        at.scope, at.id, load_balancer_arn=balancer.load_balancer_arn, **given
    )
    (group, *_) = construct.connections.security_groups
    _LISTENERS[reference(construct)] = LISTENER.construct(at.part("Listener"), balancer.listener, security_group=group)
    return construct


def _check_cluster(options: Mapping[str, Any]) -> None:
    if options and "vpc" not in options:
        raise OptionNeededError("cluster", "vpc", "that of its services, in addition to other options")


def _cluster(at: ConstructPlace, cluster: types.Cluster, **options: Any) -> ecs.ICluster:
    if "vpc" not in options:
        return ecs.Cluster.from_cluster_arn(at.scope, at.id, cluster.cluster_arn)
    given = _given(options, cluster_arn=cluster.cluster_arn)
    return ecs.Cluster.from_cluster_attributes(at.scope, at.id, cluster_name=cluster.cluster_name, **given)


def _table(at: ConstructPlace, table: types.Table, **options: Any) -> dynamodb.ITable:
    return dynamodb.Table.from_table_attributes(at.scope, at.id, table_arn=table.table_arn, **options)


def _encrypted_table(at: ConstructPlace, table: types.EncryptedTable, **options: Any) -> dynamodb.ITable:
    key = _key(at.part("EncryptionKey"), table.encryption_key)
    return _table(at, table, **_given(options, encryption_key=key))


def _streamed_table(at: ConstructPlace, table: types.StreamedTable, **options: Any) -> dynamodb.ITable:
    return _table(at, table, **_given(options, table_stream_arn=table.table_stream_arn))


def _function(at: ConstructPlace, function: types.Function, **options: Any) -> lambda_.IFunction:
    given = _given(options, **_environment(at, function.function_arn))
    return lambda_.Function.from_function_attributes(at.scope, at.id, function_arn=function.function_arn, **given)


def _environment(at: ConstructPlace, arn: object) -> Options:
    """Whether CloudFormation can add permissions to a function: in another region it cannot, whatever the account."""
    known = Arn.parse(str(arn))
    region = at.region or (known and known.region)
    if not at.is_local and region in (None, aws_cdk.Stack.of(at.scope).region):
        return {}  # The CDK compares the accounts.
    return {"same_environment": at.is_local}


def _function_with_role(at: ConstructPlace, function: types.FunctionWithRole, **options: Any) -> lambda_.IFunction:
    role = ROLE.construct(at.part("Role"), function.role)
    return _function(at, function, **_given(options, role=role))


def _function_in_vpc(at: ConstructPlace, function: types.FunctionInVpc, **options: Any) -> lambda_.IFunction:
    outbound = options.pop("security_group_allows_all_outbound", None)
    more = {} if outbound is None else {"allow_all_outbound": outbound}
    group = SECURITY_GROUP.construct(at.part("SecurityGroup"), function.security_group, **more)
    return _function_with_role(at, function, **_given(options, security_group=group))


def _group_of_function(function: lambda_.IFunction) -> ec2.ISecurityGroup | None:
    """Its only security group; None if it has none, or several: the CDK imports a function with one."""
    groups = list(function.connections.security_groups) if function.is_bound_to_vpc else []
    return groups[0] if len(groups) == 1 else None


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


KEY: ConstructKind[kms.IKey] = ConstructKind(types.Key, _key)
_OF_BUCKETS = {"is_website": setting("is_website", False)}
BUCKET: ConstructKind[s3.IBucket] = ConstructKind(types.Bucket, _bucket, get=_OF_BUCKETS, wider=[types.EncryptedBucket])
ENCRYPTED_BUCKET: ConstructKind[s3.IBucket] = ConstructKind(types.EncryptedBucket, _encrypted_bucket, get=_OF_BUCKETS)
QUEUE: ConstructKind[sqs.IQueue] = ConstructKind(types.Queue, _queue, wider=[types.EncryptedQueue])
ENCRYPTED_QUEUE: ConstructKind[sqs.IQueue] = ConstructKind(types.EncryptedQueue, _encrypted_queue)
_OF_TOPICS = {"content_based_deduplication": setting("content_based_deduplication", False)}
TOPIC: ConstructKind[sns.ITopic] = ConstructKind(types.Topic, _topic, get=_OF_TOPICS, wider=[types.EncryptedTopic])
ENCRYPTED_TOPIC: ConstructKind[sns.ITopic] = ConstructKind(types.EncryptedTopic, _encrypted_topic, get=_OF_TOPICS)
ROLE: ConstructKind[iam.IRole] = ConstructKind(types.Role, _role)
CERTIFICATE: ConstructKind[acm.ICertificate] = ConstructKind(types.Certificate, _certificate)
HOSTED_ZONE: ConstructKind[route53.IHostedZone] = ConstructKind(types.HostedZone, _hosted_zone)
_OF_GROUPS = {
    "allow_all_outbound": setting("allow_all_outbound", True),
    "allow_all_ipv6_outbound": setting("allow_all_ipv6_outbound", False),
}
SECURITY_GROUP: ConstructKind[ec2.ISecurityGroup] = ConstructKind(types.SecurityGroup, _security_group, get=_OF_GROUPS)
LISTENER: ConstructKind[elbv2.IApplicationListener] = ConstructKind(
    types.Listener, _listener, get={"default_port": setting("port", None)}, check=_check_listener
)
_OF_BALANCERS = {
    "security_group": _only("application load balancer", "security_group", lambda it: it.connections.security_groups),
    "listener": _only("application load balancer", "listener", lambda it: it.listeners),
}
APPLICATION_LOAD_BALANCER: ConstructKind[elbv2.IApplicationLoadBalancer] = ConstructKind(
    types.ApplicationLoadBalancer, _load_balancer, get=_OF_BALANCERS
)
CLUSTER: ConstructKind[ecs.ICluster] = ConstructKind(
    types.Cluster, _cluster, get={"has_ec2_capacity": late_setting("has_ec2_capacity")}, check=_check_cluster
)
_OF_TABLES = {"grant_index_permissions": late_setting("_has_index")}
TABLE: ConstructKind[dynamodb.ITable] = ConstructKind(
    types.Table, _table, get=_OF_TABLES, wider=[types.EncryptedTable, types.StreamedTable]
)
ENCRYPTED_TABLE: ConstructKind[dynamodb.ITable] = ConstructKind(types.EncryptedTable, _encrypted_table, get=_OF_TABLES)
STREAMED_TABLE: ConstructKind[dynamodb.ITable] = ConstructKind(types.StreamedTable, _streamed_table, get=_OF_TABLES)
FUNCTION: ConstructKind[lambda_.IFunction] = ConstructKind(
    types.Function, _function, wider=[types.FunctionWithRole, types.FunctionInVpc]
)
FUNCTION_WITH_ROLE: ConstructKind[lambda_.IFunction] = ConstructKind(types.FunctionWithRole, _function_with_role)
FUNCTION_IN_VPC: ConstructKind[lambda_.IFunction] = ConstructKind(
    types.FunctionInVpc, _function_in_vpc, get={"security_group": _group_of_function}
)


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
