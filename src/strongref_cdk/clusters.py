"""Clusters of ECS and EKS as constructs, with what the CDK reads of them for services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_eks as eks
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3

from strongref_cdk.aws_constructs import KEY, SECURITY_GROUP
from strongref_cdk.cdk_values import late_setting, setting, settings, settled
from strongref_cdk.construct_kinds import ConstructKind, maker
from strongref_cdk.errors import RefusedByCdkError
from strongref_objects import types
from strongref_objects.types.members import members

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strongref_cdk.apps import ConstructPlace


def _needed(options: Mapping[str, Any], known: bool) -> Sequence[str]:
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
        "execute_command_configuration": command and _command(at.part("ExecuteCommand"), command),
    }
    return ecs.Cluster.from_cluster_attributes(
        at.scope, at.id, cluster_name=cluster.cluster_name, **{**given, **options}
    )


def _command(at: ConstructPlace, command: types.ExecuteCommand) -> ecs.ExecuteCommandConfiguration:
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


def _command_of(cluster: ecs.ICluster) -> types.ExecuteCommand | None:
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


CLUSTER = ConstructKind(
    types.Cluster,
    _cluster,
    get={
        "has_ec2_capacity": late_setting(setting("has_ec2_capacity", None), "instances"),
        "security_groups": _groups_of,
        "execute_command_configuration": _command_of,
    },
    needed=_needed,
)


def _eks_cluster(at: ConstructPlace, cluster: types.EksCluster, **options: Any) -> eks.ICluster:
    if not at.is_local:
        raise RefusedByCdkError(f"the EKS cluster {at.id}", "it takes every cluster for one of the stack's own region")
    names = [name for name in members(types.EksCluster) if name != "cluster_arn"]
    return maker(eks.Cluster.from_cluster_attributes, *names)(at, cluster, **options)


EKS_CLUSTER = ConstructKind(types.EksCluster, _eks_cluster)
