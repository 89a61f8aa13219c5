"""The objects that people share in practice. Each is a declaration; one more is a few lines.

They consist of what every such resource has, so that a program can read one while it is deployed, without knowing more.
What only some have makes a type of its own, as `EncryptedBucket`: it is written by whoever knows of it, read by whoever
needs it, and can be read as a `Bucket` all the same. A VPC's subnets are the exception: it says itself which it has,
and so can be read at synthesis only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_objects.declaring import REF, Declared, part, texts, told
from strongref_objects.identity import ArnForm, is_unresolved
from strongref_objects.identity_errors import NotToldError, UnevenListsError

if TYPE_CHECKING:
    from strongref_objects.base import Text, TextList

_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Key(
    Declared,
    type_name="AWS::KMS::Key",
    arn=ArnForm("arn:{partition}:kms:{region}:{account}:key/{name}", rf"{_UUID}|mrk-[0-9a-f]{{32}}"),
    label="KMS key",
):
    """A KMS key, by its id: an alias is none."""

    key_arn: Text = told("Arn", form="{arn}")
    key_id: Text = told(REF, form="{name}")


class Bucket(
    Declared,
    type_name="AWS::S3::Bucket",
    # Old ones may have names that new ones cannot (AWS: S3 User Guide, bucket naming rules).
    arn=ArnForm("arn:{partition}:s3:::{name}", "[A-Za-z0-9._-]{3,255}"),
):
    """An S3 bucket."""

    bucket_arn: Text = told("Arn", form="{arn}")
    bucket_name: Text = told(REF, form="{name}")


class EncryptedBucket(Bucket):
    """A bucket with the key that its objects are encrypted with."""

    encryption_key: Key = part(Key)


class Queue(
    Declared,
    type_name="AWS::SQS::Queue",
    arn=ArnForm("arn:{partition}:sqs:{region}:{account}:{name}", r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo"),
):
    """An SQS queue."""

    queue_arn: Text = told("Arn", form="{arn}")
    queue_name: Text = told("QueueName", form="{name}")
    queue_url: Text = told(REF, form="https://sqs.{region}.{suffix}/{account}/{name}")


class EncryptedQueue(Queue):
    """A queue with the key that its messages are encrypted with."""

    encryption_master_key: Key = part(Key)


class Topic(
    Declared,
    type_name="AWS::SNS::Topic",
    arn=ArnForm("arn:{partition}:sns:{region}:{account}:{name}", r"[A-Za-z0-9_-]{1,256}|[A-Za-z0-9_-]{1,251}\.fifo"),
):
    """An SNS topic."""

    topic_arn: Text = told("TopicArn", form="{arn}")
    topic_name: Text = told("TopicName", form="{name}")


class EncryptedTopic(Topic):
    """A topic with the key that its messages are encrypted with."""

    master_key: Key = part(Key)


class Role(
    Declared,
    type_name="AWS::IAM::Role",
    arn=ArnForm("arn:{partition}:iam::{account}:role/{name}", r"[A-Za-z0-9_+=,.@-]{1,64}", has_path=True),
):
    """An IAM role. By its name it is one without a path; give the ARN of one that has a path."""

    role_arn: Text = told("Arn", form="{arn}")
    role_name: Text = told(REF, form="{name}")


class Certificate(
    Declared,
    type_name="AWS::CertificateManager::Certificate",
    arn=ArnForm("arn:{partition}:acm:{region}:{account}:certificate/{name}", _UUID),
):
    """A certificate of ACM."""

    certificate_arn: Text = told(REF, form="{arn}")


class HostedZone(
    Declared,
    type_name="AWS::Route53::HostedZone",
    arn=ArnForm("arn:{partition}:route53:::hostedzone/{name}", "[A-Z0-9]{1,32}"),
):
    """A hosted zone of Route 53. Its id does not tell its name, nor does CloudFormation."""

    hosted_zone_id: Text = told(REF, form="{name}")
    zone_name: Text = told(says="Name", dropped=".")


class SecurityGroup(
    Declared,
    type_name="AWS::EC2::SecurityGroup",
    arn=ArnForm("arn:{partition}:ec2:{region}:{account}:security-group/{name}", "sg-[0-9a-f]{8,17}"),
):
    """A security group."""

    security_group_id: Text = told("GroupId", form="{name}")


class Listener(
    Declared,
    type_name="AWS::ElasticLoadBalancingV2::Listener",
    arn=ArnForm(
        "arn:{partition}:elasticloadbalancing:{region}:{account}:listener/app/{name}",
        "[A-Za-z0-9-]{1,32}(/[0-9a-f]+){2}",
    ),
):
    """A listener of an application load balancer."""

    listener_arn: Text = told(REF, form="{arn}")


class ApplicationLoadBalancer(
    Declared,
    type_name="AWS::ElasticLoadBalancingV2::LoadBalancer",
    arn=ArnForm(
        "arn:{partition}:elasticloadbalancing:{region}:{account}:loadbalancer/app/{name}",
        "[A-Za-z0-9-]{1,32}/[0-9a-f]+",
    ),
):
    """An application load balancer, with its security group and the listener that is shared."""

    load_balancer_arn: Text = told(REF, form="{arn}")
    load_balancer_dns_name: Text = told("DNSName")
    load_balancer_canonical_hosted_zone_id: Text = told("CanonicalHostedZoneID")
    security_group: SecurityGroup = part(SecurityGroup)
    listener: Listener = part(Listener)


class Cluster(
    Declared,
    type_name="AWS::ECS::Cluster",
    arn=ArnForm("arn:{partition}:ecs:{region}:{account}:cluster/{name}", "[A-Za-z0-9_-]{1,255}"),
):
    """A cluster of ECS."""

    cluster_arn: Text = told("Arn", form="{arn}")
    cluster_name: Text = told(REF, form="{name}")


class Table(
    Declared,
    type_name="AWS::DynamoDB::Table",
    arn=ArnForm("arn:{partition}:dynamodb:{region}:{account}:table/{name}", "[A-Za-z0-9_.-]{3,255}"),
):
    """A table of DynamoDB."""

    table_arn: Text = told("Arn", form="{arn}")
    table_name: Text = told(REF, form="{name}")


class EncryptedTable(Table):
    """A table with the key that its items are encrypted with."""

    encryption_key: Key = part(Key)


class StreamedTable(Table):
    """A table with the stream of its changes."""

    table_stream_arn: Text = told("StreamArn")


class Function(
    Declared,
    type_name="AWS::Lambda::Function",
    arn=ArnForm("arn:{partition}:lambda:{region}:{account}:function:{name}", "[A-Za-z0-9_-]{1,64}"),
):
    """A Lambda function: the function itself, no version or alias of it."""

    function_arn: Text = told("Arn", form="{arn}")
    function_name: Text = told(REF, form="{name}")


class Subnets(Declared, label="tier of subnets"):
    """The subnets of one tier, in the order of their availability zones. The three lists belong together."""

    subnet_ids: TextList = texts()
    availability_zones: TextList = texts()
    route_table_ids: TextList = texts()

    def __post_init__(self) -> None:
        """See that the lists have one length.

        Raises:
            UnevenListsError: they have not.
        """
        super().__post_init__()
        lists = {"subnet_ids": self.subnet_ids, "availability_zones": self.availability_zones}
        lists["route_table_ids"] = self.route_table_ids
        lengths = {name: len(items) for name, items in lists.items() if isinstance(items, tuple)}
        if len(set(lengths.values())) > 1:
            raise UnevenListsError(self.declared.label, lengths)


class Vpc(
    Declared,
    type_name="AWS::EC2::VPC",
    arn=ArnForm("arn:{partition}:ec2:{region}:{account}:vpc/{name}", "vpc-[0-9a-f]{8,17}"),
    label="VPC",
):
    """A VPC, with those of its subnets that there are: public, with a way out, and isolated."""

    vpc_id: Text = told("VpcId", form="{name}")
    vpc_cidr_block: Text | None = told("CidrBlock", default=None)
    public_subnets: Subnets | None = part(Subnets, default=None)
    private_subnets: Subnets | None = part(Subnets, default=None)
    isolated_subnets: Subnets | None = part(Subnets, default=None)
    nat_gateway_ids: TextList | None = texts(default=None)

    @property
    def availability_zones(self) -> list[str]:
        """The zones in which it has subnets, sorted.

        Raises:
            NotToldError: functions of CloudFormation stand for some.
        """
        tiers = [each for each in (self.public_subnets, self.private_subnets, self.isolated_subnets) if each]
        zones = [zone for tier in tiers for zone in tier.availability_zones]
        if any(is_unresolved(each) for each in (*zones, *(tier.availability_zones for tier in tiers))):
            raise NotToldError(self.declared.label, ["availability_zones"], "functions that stand for them")
        return sorted({str(zone) for zone in zones})


READY = {
    each.__name__: each
    for each in (
        ApplicationLoadBalancer,
        Bucket,
        Certificate,
        Cluster,
        EncryptedBucket,
        EncryptedQueue,
        EncryptedTable,
        EncryptedTopic,
        Function,
        HostedZone,
        Key,
        Listener,
        Queue,
        Role,
        SecurityGroup,
        StreamedTable,
        Subnets,
        Table,
        Topic,
        Vpc,
    )
}
"""Every ready type by its name."""
