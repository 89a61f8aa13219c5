"""The ready types, and how to declare another one in a few lines.

A ready type has the members that every such resource has, so that a program can read one at deployment, without knowing
more. Whatever only some resources have makes another type, such as `EncryptedBucket`: a program that knows of a key
exports it, a program that needs the key imports it, and others can import it as a `Bucket`. Or it is a setting, which
is read at synthesis, or if the same program exports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from strongref_objects.base.errors import MissingMembersError, UnevenListsError
from strongref_objects.types.arn_forms import ArnForm as ArnForm
from strongref_objects.types.arn_forms import is_unresolved
from strongref_objects.types.declared import Declared as Declared
from strongref_objects.types.declared import every_type as every_type
from strongref_objects.types.members import REF as REF
from strongref_objects.types.members import part as part
from strongref_objects.types.members import setting as setting
from strongref_objects.types.members import text as text
from strongref_objects.types.members import texts as texts

if TYPE_CHECKING:
    from strongref_objects.base import Text, TextList

Setting: TypeAlias = "Text | bool | int | None"
"""What a program gives for a setting; an object has its text."""

_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Key(
    Declared,
    type_name="AWS::KMS::Key",
    arn=ArnForm("arn:{partition}:kms:{region}:{account}:key/{name}", rf"{_UUID}|mrk-[0-9a-f]{{32}}"),
    label="KMS key",
):
    """A KMS key, by its ID; not an alias."""

    key_arn: Text = text("Arn", form="{arn}")
    key_id: Text = text(REF, form="{name}")


class Bucket(
    Declared,
    type_name="AWS::S3::Bucket",
    # Old ones may have names that new ones cannot (AWS: S3 User Guide, bucket naming rules).
    arn=ArnForm("arn:{partition}:s3:::{name}", "[A-Za-z0-9._-]{3,255}"),
):
    """An S3 bucket."""

    bucket_arn: Text = text("Arn", form="{arn}")
    bucket_name: Text = text(REF, form="{name}")
    is_website: Setting = setting(default=None, kw_only=True)


class EncryptedBucket(Bucket):
    """A bucket with the key that encrypts its objects."""

    encryption_key: Key = part(Key)


class Queue(
    Declared,
    type_name="AWS::SQS::Queue",
    arn=ArnForm("arn:{partition}:sqs:{region}:{account}:{name}", r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo"),
):
    """An SQS queue."""

    queue_arn: Text = text("Arn", form="{arn}")
    queue_name: Text = text("QueueName", form="{name}")
    queue_url: Text = text(REF, form="https://sqs.{region}.{suffix}/{account}/{name}")


class EncryptedQueue(Queue):
    """A queue with the key that encrypts its messages."""

    encryption_master_key: Key = part(Key)


class Topic(
    Declared,
    type_name="AWS::SNS::Topic",
    arn=ArnForm("arn:{partition}:sns:{region}:{account}:{name}", r"[A-Za-z0-9_-]{1,256}|[A-Za-z0-9_-]{1,251}\.fifo"),
):
    """An SNS topic."""

    topic_arn: Text = text("TopicArn", form="{arn}")
    topic_name: Text = text("TopicName", form="{name}")
    content_based_deduplication: Setting = setting(default=None, kw_only=True)


class EncryptedTopic(Topic):
    """A topic with the key that encrypts its messages."""

    master_key: Key = part(Key)


class Secret(
    Declared,
    type_name="AWS::SecretsManager::Secret",
    arn=ArnForm(
        "arn:{partition}:secretsmanager:{region}:{account}:secret:{name}", "[A-Za-z0-9/_+=.@-]{1,512}-[A-Za-z0-9]{6}"
    ),
):
    """A secret of Secrets Manager: its complete ARN, never its value."""

    secret_arn: Text = text(REF, form="{arn}")


class Role(
    Declared,
    type_name="AWS::IAM::Role",
    arn=ArnForm("arn:{partition}:iam::{account}:role/{name}", r"[A-Za-z0-9_+=,.@-]{1,64}", has_path=True),
):
    """An IAM role. A name alone is that of a role without a path; use the ARN of a role with a path."""

    role_arn: Text = text("Arn", form="{arn}")
    role_name: Text = text(REF, form="{name}")
    path: Setting = setting(default=None, kw_only=True)


class Certificate(
    Declared,
    type_name="AWS::CertificateManager::Certificate",
    arn=ArnForm("arn:{partition}:acm:{region}:{account}:certificate/{name}", _UUID),
):
    """An ACM certificate."""

    certificate_arn: Text = text(REF, form="{arn}")


class HostedZone(
    Declared,
    type_name="AWS::Route53::HostedZone",
    arn=ArnForm("arn:{partition}:route53:::hostedzone/{name}", "[A-Z0-9]{1,32}"),
):
    """A Route 53 hosted zone. Its name follows neither from its ID nor from CloudFormation's attributes."""

    hosted_zone_id: Text = text(REF, form="{name}")
    zone_name: Text = text(says="Name", dropped=".")


class SecurityGroup(
    Declared,
    type_name="AWS::EC2::SecurityGroup",
    arn=ArnForm("arn:{partition}:ec2:{region}:{account}:security-group/{name}", "sg-[0-9a-f]{8,17}"),
):
    """A security group."""

    security_group_id: Text = text("GroupId", form="{name}")
    allow_all_outbound: Setting = setting(default=None, kw_only=True)
    allow_all_ipv6_outbound: Setting = setting(default=None, kw_only=True)


class Listener(
    Declared,
    type_name="AWS::ElasticLoadBalancingV2::Listener",
    arn=ArnForm(
        "arn:{partition}:elasticloadbalancing:{region}:{account}:listener/app/{name}",
        "[A-Za-z0-9-]{1,32}(/[0-9a-f]+){2}",
    ),
):
    """A listener of an application load balancer."""

    listener_arn: Text = text(REF, form="{arn}")
    default_port: Setting = setting(says="Port", default=None, kw_only=True)


class ApplicationLoadBalancer(
    Declared,
    type_name="AWS::ElasticLoadBalancingV2::LoadBalancer",
    arn=ArnForm(
        "arn:{partition}:elasticloadbalancing:{region}:{account}:loadbalancer/app/{name}",
        "[A-Za-z0-9-]{1,32}/[0-9a-f]+",
    ),
):
    """An application load balancer with its security group and its shared listener."""

    load_balancer_arn: Text = text(REF, form="{arn}")
    load_balancer_dns_name: Text = text("DNSName")
    load_balancer_canonical_hosted_zone_id: Text = text("CanonicalHostedZoneID")
    security_group: SecurityGroup = part(SecurityGroup)
    listener: Listener = part(Listener)


class ExecuteCommand(Declared, label="execute command configuration"):
    """How an ECS cluster logs and encrypts the sessions of `aws ecs execute-command`."""

    logging: Setting = setting(default=None, kw_only=True)
    kms_key: Key | None = setting(Key, default=None, kw_only=True)
    log_group_name: Text | None = setting(held=True, default=None, kw_only=True)
    cloud_watch_encryption_enabled: Setting = setting(default=None, kw_only=True)
    bucket_name: Text | None = setting(held=True, default=None, kw_only=True)
    s3_encryption_enabled: Setting = setting(default=None, kw_only=True)


class Cluster(
    Declared,
    type_name="AWS::ECS::Cluster",
    arn=ArnForm("arn:{partition}:ecs:{region}:{account}:cluster/{name}", "[A-Za-z0-9_-]{1,255}"),
):
    """An ECS cluster, with the security groups of its EC2 instances."""

    cluster_arn: Text = text("Arn", form="{arn}")
    cluster_name: Text = text(REF, form="{name}")
    has_ec2_capacity: Setting = setting(default=None, kw_only=True)
    security_groups: Sequence[SecurityGroup] | None = setting(SecurityGroup, is_list=True, default=None, kw_only=True)
    execute_command_configuration: ExecuteCommand | None = setting(ExecuteCommand, default=None, kw_only=True)


class EksCluster(
    Declared,
    type_name="AWS::EKS::Cluster",
    arn=ArnForm("arn:{partition}:eks:{region}:{account}:cluster/{name}", "[A-Za-z0-9][A-Za-z0-9_-]{0,99}"),
    label="EKS cluster",
):
    """An EKS cluster."""

    cluster_arn: Text = text("Arn", form="{arn}")
    cluster_name: Text = text(REF, form="{name}")
    cluster_endpoint: Text = text("Endpoint")
    cluster_certificate_authority_data: Text = text("CertificateAuthorityData")
    cluster_security_group_id: Text = text("ClusterSecurityGroupId")


class Table(
    Declared,
    type_name="AWS::DynamoDB::Table",
    arn=ArnForm("arn:{partition}:dynamodb:{region}:{account}:table/{name}", "[A-Za-z0-9_.-]{3,255}"),
):
    """A DynamoDB table."""

    table_arn: Text = text("Arn", form="{arn}")
    table_name: Text = text(REF, form="{name}")
    grant_index_permissions: Setting = setting(default=None, kw_only=True)
    replication_regions: Setting = setting(default=None, kw_only=True)


class EncryptedTable(Table):
    """A table with the key that encrypts its items."""

    encryption_key: Key = part(Key)


class StreamedTable(Table):
    """A table with its stream, and with the key that encrypts both, if it has one."""

    table_stream_arn: Text = text("StreamArn")
    encryption_key: Key | None = setting(Key, default=None, kw_only=True)


class Function(
    Declared,
    type_name="AWS::Lambda::Function",
    arn=ArnForm("arn:{partition}:lambda:{region}:{account}:function:{name}", "[A-Za-z0-9_-]{1,64}"),
):
    """A Lambda function; not a version or alias of it."""

    function_arn: Text = text("Arn", form="{arn}")
    function_name: Text = text(REF, form="{name}")


class FunctionWithRole(Function):
    """A function with its execution role, which can be granted permissions."""

    role: Role = part(Role)


class FunctionInVpc(FunctionWithRole):
    """A function with its execution role and its security group."""

    security_group: SecurityGroup = part(SecurityGroup)


TIERS = ("public", "private", "isolated")
"""The tiers of a VPC's subnets, as in `public_subnets`."""


class Subnets(Declared, label="tier of subnets"):
    """The subnets of one tier, in the order of their availability zones. The lists belong together, item by item."""

    subnet_ids: TextList = texts()
    availability_zones: TextList = texts(held=False)
    route_table_ids: TextList = texts()

    def __post_init__(self) -> None:
        """Raises `UnevenListsError` if the lists have different lengths."""
        super().__post_init__()
        _check_even(self.declared.label, vars(self))


class Vpc(
    Declared,
    type_name="AWS::EC2::VPC",
    arn=ArnForm("arn:{partition}:ec2:{region}:{account}:vpc/{name}", "vpc-[0-9a-f]{8,17}"),
    label="VPC",
):
    """A VPC with the subnets that it has: public, private (with a route out) and isolated ones.

    It lists those that it has, and so can only be read at synthesis.
    """

    vpc_id: Text = text("VpcId", form="{name}")
    vpc_cidr_block: Text | None = text("CidrBlock", default=None)
    public_subnets: Subnets | None = part(Subnets, default=None)
    private_subnets: Subnets | None = part(Subnets, default=None)
    isolated_subnets: Subnets | None = part(Subnets, default=None)
    nat_gateway_ids: TextList | None = texts(default=None)
    # of each subnet of a tier: the name of its group, which the CDK selects subnets by, and its addresses. They are not
    # members of `Subnets`, which without optional members are read without another lookup
    public_subnet_names: TextList | None = texts(default=None, held=False)
    private_subnet_names: TextList | None = texts(default=None, held=False)
    isolated_subnet_names: TextList | None = texts(default=None, held=False)
    public_subnet_ipv4_cidr_blocks: TextList | None = texts(default=None)
    private_subnet_ipv4_cidr_blocks: TextList | None = texts(default=None)
    isolated_subnet_ipv4_cidr_blocks: TextList | None = texts(default=None)

    def __post_init__(self) -> None:
        """Raises `UnevenListsError` if a tier has another number of names or addresses than of subnets."""
        super().__post_init__()
        for tier in TIERS:
            names = [f"{tier}_subnet_names", f"{tier}_subnet_ipv4_cidr_blocks"]
            subnets: Subnets | None = getattr(self, f"{tier}_subnets")
            ids = () if subnets is None else subnets.subnet_ids
            _check_even(self.declared.label, {f"{tier}_subnets": ids, **{name: getattr(self, name) for name in names}})

    @property
    def availability_zones(self) -> list[str]:
        """The zones of its subnets, sorted. Raises `MissingMembersError` if some are unresolved."""
        tiers = [each for each in (self.public_subnets, self.private_subnets, self.isolated_subnets) if each]
        zones = [zone for tier in tiers for zone in tier.availability_zones]
        if any(is_unresolved(each) for each in (*zones, *(tier.availability_zones for tier in tiers))):
            raise MissingMembersError(self.declared.label, ["availability_zones"], "intrinsic functions")
        return sorted({str(zone) for zone in zones})


def _check_even(label: str, lists: Mapping[str, object]) -> None:
    """Raises `UnevenListsError` if lists whose lengths are known have different ones."""
    lengths = {name: len(items) for name, items in lists.items() if isinstance(items, tuple)}
    if len(set(lengths.values())) > 1:
        raise UnevenListsError(label, lengths)


_OWN = (each for each in every_type() if each.__module__.startswith(__name__))
READY: dict[str, type[Declared]] = {each.__name__: each for each in sorted(_OWN, key=lambda each: each.__name__)}
"""Every ready type by its name."""
