"""The texts of the errors of ready types, lookups and `strongref objects`, to the letter; and that all are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.errors import StrongRefError
from strongref_objects.base import errors
from strongref_objects.base.errors import (
    BadTierError,
    NoRouteTableError,
    NothingToImportError,
    NotInContextError,
    NotReadableError,
    NotTaggedError,
    SecretPartsError,
    SeveralPartsError,
    SeveralStoredObjectsError,
    SeveralTaggedError,
    TooManyInRegionError,
    TooManyTaggedError,
    UnknownLocationError,
)
from strongref_objects.lookups.vpc_network import TIER_TAG, Tier
from strongref_objects.types import (
    ApplicationLoadBalancer,
    Bucket,
    Declared,
    HostedZone,
    Listener,
    Queue,
    Subnets,
    text,
)
from tests.objects import test_error_texts
from tests.support.error_classes import errors_of

if TYPE_CHECKING:
    from collections.abc import Callable


def _of_another_kind() -> None:
    class Stream(Declared):
        """A stream of Kinesis."""

        shards: int


def _of_two_names() -> None:
    class Stream(Declared):
        """A stream of Kinesis."""

        type: str = text()
        type_: str = text()


def _of_a_text() -> None:
    ApplicationLoadBalancer.of_resource("Web", security_group="sg-1", listener=Listener.of_resource("Https"))


TAGS = "tags department, stage"
BALANCER = "arn:aws:elasticloadbalancing:eu-west-1:111111111111:loadbalancer/app/web/50dc6c495c0c9188"


def met(do: Callable[[], object]) -> Callable[[], StrongRefError]:
    """The error that something ends in."""

    def meet() -> StrongRefError:
        with pytest.raises(StrongRefError) as raised:
            do()
        return raised.value

    return meet


TEXTS = [
    pytest.param(
        met(lambda: Bucket.from_arn("photos")),
        "'photos' is not the ARN of a bucket. It could be a name: use from_name.",
        id="arn",
    ),
    pytest.param(
        met(lambda: Bucket.from_arn("arn:aws:sqs:eu-west-1:111111111111:jobs")),
        (
            "arn:aws:sqs:eu-west-1:111111111111:jobs is the ARN of a queue, not of a bucket. The ARN of a bucket "
            "must match arn:{partition}:s3:::{name}."
        ),
        id="arn-other",
    ),
    pytest.param(
        met(lambda: Queue.from_name("my jobs")),
        ("'my jobs' is not a valid name of a queue. A name must match [A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\\.fifo."),
        id="identity-name",
    ),
    pytest.param(
        met(lambda: Bucket.from_arn({"bucket": "photos"})),
        ("ARN of a bucket must be a string or an intrinsic function, got a map that is not an intrinsic function."),
        id="identity-text",
    ),
    pytest.param(
        met(lambda: Queue.from_name("jobs", account="12")),
        "The account of a queue must be an account's twelve digits, in quotes, got '12'.",
        id="identity-place",
    ),
    pytest.param(
        met(lambda: HostedZone.of_resource("Zone")),
        ("zone_name of a hosted zone cannot be derived from its attributes in a template. Also pass zone_name=…."),
        id="not-reported",
    ),
    pytest.param(
        met(lambda: ApplicationLoadBalancer.from_arn(BALANCER)),
        (
            "load_balancer_dns_name, load_balancer_canonical_hosted_zone_id, security_group and listener of an "
            "application load balancer cannot be derived from its ARN. Also pass load_balancer_dns_name=…, "
            "load_balancer_canonical_hosted_zone_id=…."
        ),
        id="not-reported-arn",
    ),
    pytest.param(
        met(lambda: Bucket.from_name("photos", encryption_key="x")),
        "A bucket has no encryption_key. It has bucket_arn, bucket_name and is_website.",
        id="no-such-part",
    ),
    pytest.param(
        met(_of_another_kind),
        "A stream cannot be declared like this: declare shards with text(…), texts() or part(…).",
        id="not-declared",
    ),
    pytest.param(
        met(_of_two_names),
        "A stream cannot be declared like this: the key of type and type_ would be Type.",
        id="declared-twice",
    ),
    pytest.param(
        met(_of_a_text),
        ("security_group of an application load balancer must be an object of class SecurityGroup, got a string."),
        id="other-part",
    ),
    pytest.param(
        met(lambda: Subnets(["subnet-1", "subnet-2"], ["eu-west-1a"], ["rtb-1"])),
        (
            "The lists of a tier of subnets must have the same length: subnet_ids has 2, availability_zones has 1"
            " and route_table_ids has 1."
        ),
        id="uneven",
    ),
    pytest.param(
        lambda: SeveralTaggedError("AWS::SNS::Topic", TAGS, ["…:news", "…:alarms"]),
        (
            "AWS::SNS::Topic with tags department, stage could be …:news and …:alarms. Add a tag that only the "
            "right one has, or use its ARN: from_arn."
        ),
        id="tagged",
    ),
    pytest.param(
        lambda: TooManyTaggedError("AWS::S3::Bucket", TAGS, 103, 100),
        (
            "103 resources could be AWS::S3::Bucket with tags department, stage, and strongref reads at most 100 "
            "one by one. Add a tag that only the right one has, or use its ARN: from_arn."
        ),
        id="many",
    ),
    pytest.param(
        lambda: TooManyInRegionError("AWS::EC2::Subnet", "VpcId vpc-1", 301, 300),
        (
            "301 resources of the region could be AWS::EC2::Subnet with VpcId vpc-1, and strongref reads at most "
            "300 one by one. Use the VPC's ARN and list what is in it: Vpc.from_arn(…, private_subnets=…)."
        ),
        id="around",
    ),
    pytest.param(
        lambda: NotReadableError("AWS::Kinesis::Stream", "GetResource", "eu-west-1"),
        (
            "AWS::Kinesis::Stream does not support GetResource of Cloud Control in eu-west-1, which a lookup by "
            "tags needs. Use the resource's ARN or name: from_arn, from_name."
        ),
        id="unread",
    ),
    pytest.param(
        lambda: BadTierError("subnet-1", TIER_TAG, "DMZ", list(Tier)),
        (
            "Tag aws-cdk:subnet-type of subnet-1 must be one of Public, Private and Isolated, got 'DMZ'. Correct "
            "it, or remove it: then the subnet's routes decide its tier."
        ),
        id="tier",
    ),
    pytest.param(
        lambda: NoRouteTableError(["subnet-1"], "vpc-1", ["rtb-1", "rtb-2"]),
        (
            "subnet-1 of vpc-1 has no route table association, so the VPC's main route table applies, but Cloud "
            "Control does not show which of rtb-1 and rtb-2 that is. Associate a route table with it."
        ),
        id="table",
    ),
    pytest.param(
        lambda: SeveralPartsError(BALANCER, "listener", ["…/listener/1", "…/listener/2"]),
        (
            "arn:aws:elasticloadbalancing:eu-west-1:111111111111:loadbalancer/app/web/50dc6c495c0c9188 must have "
            "one listener, but has several (…/listener/1 and …/listener/2). Choose one: listener=…."
        ),
        id="several",
    ),
    pytest.param(
        lambda: UnknownLocationError("a VPC with these tags", "web", "region", ""),
        "A VPC with these tags cannot be looked up: the region of web is unknown. Set its region.",
        id="nowhere",
    ),
    pytest.param(
        lambda: NotTaggedError("role"),
        (
            "A role cannot be looked up by tags: AWS's tagging API does not list such resources. Use its ARN or "
            "its name: from_arn, from_name."
        ),
        id="untold",
    ),
    pytest.param(
        lambda: NothingToImportError("JonnyBucket", "CloudFormation's exports in eu-west-1", ["JohnnyBucket"]),
        (
            "There is no JonnyBucket in CloudFormation's exports in eu-west-1. Did you mean JohnnyBucket? Deploy "
            "the stack that exports it first, or correct the name."
        ),
        id="none",
    ),
    pytest.param(
        lambda: SeveralStoredObjectsError(
            "Web",
            [
                "exports of stack network (eu-west-1, 111111111111) to _shared",
                "exports of stack network (eu-west-1, 111111111111) to shop",
            ],
        ),
        (
            "There are several objects Web: exports of stack network (eu-west-1, 111111111111) to _shared and exports"
            " of stack network (eu-west-1, 111111111111) to shop. Choose one with --stack or --consumer."
        ),
        id="several",
    ),
    pytest.param(
        lambda: SecretPartsError("Database", ["Password"]),
        "Password of Database is a SecureString. Use --sensitive to print secrets.",
        id="secret",
    ),
    pytest.param(
        lambda: NotInContextError(["JonnyBucket"], "strongref.context.json", ["JohnnyBucket-BucketArn"]),
        "strongref.context.json has no JonnyBucket. Did you mean JohnnyBucket-BucketArn? Nothing was removed.",
        id="context",
    ),
]


@pytest.mark.parametrize(("make", "text"), TEXTS)
def test_an_error_says_this(make: Callable[[], StrongRefError], text: str) -> None:
    assert str(make()) == text


def test_every_error_of_objects_has_its_text_in_a_test() -> None:
    own = {kind for kind in errors_of(errors) if not kind.__name__.startswith("_")}
    made = [make() for make, _ in (each.values for each in [*TEXTS, *test_error_texts.TEXTS])]  # type: ignore[operator]
    assert own - {errors.ObjectError} == {type(error) for error in made}
