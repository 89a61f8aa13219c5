"""REQ3: objects by the ARN or the name of what was made elsewhere, and what follows from those."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore
import pytest

from strongref.arns import Arn
from strongref_objects.base.errors import (
    BadLocationError,
    MissingMembersError,
    NotANameError,
    NotAnArnError,
    OtherArnError,
    UnknownMembersError,
    WrongTypeError,
    a,
)
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import (
    READY,
    ApplicationLoadBalancer,
    Bucket,
    Certificate,
    Cluster,
    EncryptedBucket,
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
from strongref_objects.types.arn_forms import ArnForm, fill, hashable, is_unresolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_objects.types import Declared

ACCOUNT = "111111111111"
UUID = "1234abcd-12ab-34cd-56ef-1234567890ab"
EU: dict[str, Any] = {"region": "eu-west-1", "account": ACCOUNT}
HERE = {"Ref": "AWS::Region"}, {"Ref": "AWS::AccountId"}
BALANCER = "arn:aws:elasticloadbalancing:eu-west-1:111111111111:loadbalancer/app/web/50dc6c495c0c9188"


@pytest.mark.parametrize(
    ("of", "arn", "name", "rest"),
    [
        (Bucket, "arn:aws:s3:::my-bucket", "my-bucket", {}),
        (Queue, f"arn:aws:sqs:eu-west-1:{ACCOUNT}:jobs.fifo", "jobs.fifo", {}),
        (Topic, f"arn:aws:sns:eu-west-1:{ACCOUNT}:news", "news", {}),
        (Key, f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/{UUID}", UUID, {}),
        (Key, f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/mrk-{UUID.replace('-', '')}", f"mrk-{UUID.replace('-', '')}", {}),
        (Role, f"arn:aws:iam::{ACCOUNT}:role/web", "web", {}),
        (Certificate, f"arn:aws:acm:eu-west-1:{ACCOUNT}:certificate/{UUID}", UUID, {}),
        (HostedZone, "arn:aws:route53:::hostedzone/Z148QEXAMPLE8V", "Z148QEXAMPLE8V", {"zone_name": "example.com"}),
        (
            SecurityGroup,
            f"arn:aws:ec2:eu-west-1:{ACCOUNT}:security-group/sg-0123456789abcdef0",
            "sg-0123456789abcdef0",
            {},
        ),
        (Vpc, f"arn:aws:ec2:eu-west-1:{ACCOUNT}:vpc/vpc-01234567", "vpc-01234567", {}),
        (Cluster, f"arn:aws:ecs:eu-west-1:{ACCOUNT}:cluster/web", "web", {}),
        (Table, f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/orders.2026", "orders.2026", {}),
        (Function, f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:web", "web", {}),
        (
            Listener,
            f"arn:aws:elasticloadbalancing:eu-west-1:{ACCOUNT}:listener/app/web/50dc6c495c0c9188/f2f7dc8efc522ab2",
            "web/50dc6c495c0c9188/f2f7dc8efc522ab2",
            {},
        ),
    ],
)
@pytest.mark.parametrize(
    "where", [("aws", "eu-west-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")], ids=str
)
def test_req3_an_arn_and_a_name_give_the_same_object_in_every_partition(
    of: type[Declared], arn: str, name: str, rest: dict[str, Any], where: tuple[str, str]
) -> None:
    partition, region = where
    arn = arn.replace("arn:aws:", f"arn:{partition}:").replace("eu-west-1", region)
    by_arn = of.from_arn(arn, **rest)
    assert of.from_name(name, region=region, account=ACCOUNT, **rest) == by_arn
    assert of.from_name(name, partition=partition, region=region, account=ACCOUNT, **rest) == by_arn
    values = [getattr(by_arn, each) for each in vars(by_arn)]
    assert {value for value in values if isinstance(value, str)} >= ({arn} if of not in _WITHOUT_ARN else {name})


_WITHOUT_ARN = (HostedZone, SecurityGroup, Vpc)


def test_req3_the_buckets_of_the_design_are_named_by_arn_and_by_name() -> None:
    stack = Stack(PlainTarget("web"))
    mine = Bucket.from_arn("arn:aws:s3:::my_bucket", scope=stack)
    yours = Bucket.from_name("your_bucket", scope=stack)
    assert (mine.bucket_name, yours.bucket_name) == ("my_bucket", "your_bucket")
    assert Bucket.from_arn("arn:aws:s3:::my_bucket", scope=stack) is mine


def test_req3_what_follows_from_an_arn_is_reported() -> None:
    queue = Queue.from_arn(f"arn:aws:sqs:eu-west-1:{ACCOUNT}:jobs")
    assert queue.queue_name == "jobs"
    assert queue.queue_url == f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/jobs"
    in_china = Queue.from_arn(f"arn:aws-cn:sqs:cn-north-1:{ACCOUNT}:jobs")
    assert in_china.queue_url == f"https://sqs.cn-north-1.amazonaws.com.cn/{ACCOUNT}/jobs"
    assert Role.from_arn(f"arn:aws:iam::{ACCOUNT}:role/service/web/reader").role_name == "reader"


def test_regions_and_endpoints_are_of_the_partitions_that_botocore_knows() -> None:
    known = json.loads((Path(botocore.__file__).parent / "data/partitions.json").read_text())["partitions"]
    assert len(known) >= 8
    for partition in known:
        for region in (each for each in partition["regions"] if re.fullmatch(partition["regionRegex"], each)):
            queue = Queue.from_name("jobs", region=region, account=ACCOUNT)
            assert queue.queue_arn == f"arn:{partition['id']}:sqs:{region}:{ACCOUNT}:jobs"
            assert queue.queue_url == f"https://sqs.{region}.{partition['outputs']['dnsSuffix']}/{ACCOUNT}/jobs"


def test_req3_the_same_arn_gives_the_same_object_in_one_stack() -> None:
    stack, other = Stack(PlainTarget("web")), Stack(PlainTarget("api"))
    bucket = Bucket.from_arn("arn:aws:s3:::assets", scope=stack)
    assert Bucket.from_arn("arn:aws:s3:::assets", scope=stack) is bucket
    assert Bucket.from_arn("arn:aws:s3:::others", scope=stack) is not bucket
    assert Bucket.from_arn("arn:aws:s3:::assets", scope=other) is not bucket
    assert Queue.from_name("jobs", scope=stack) is Queue.from_name("jobs", scope=stack)
    assert Queue.from_name("jobs", scope=stack) is not Queue.from_name("jobs", scope=stack, region="eu-west-1")
    assert Bucket.from_arn({"Ref": "Arn"}, scope=stack) is Bucket.from_arn({"Ref": "Arn"}, scope=stack)
    key, second = (Key.from_name(each, **EU) for each in (UUID, UUID.replace("1", "2")))
    encrypted = EncryptedBucket.from_name("assets", scope=stack, encryption_key=key)
    assert EncryptedBucket.from_name("assets", scope=stack, encryption_key=key) is encrypted
    assert EncryptedBucket.from_name("assets", scope=stack, encryption_key=second) is not encrypted


def test_a_name_alone_is_one_in_the_stacks_own_account_and_region() -> None:
    assert Bucket.from_name("assets").bucket_arn == {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::assets"]]
    }
    region, account = HERE
    assert Queue.from_name("jobs").queue_url == {
        "Fn::Join": ["", ["https://sqs.", region, ".", {"Ref": "AWS::URLSuffix"}, "/", account, "/jobs"]]
    }
    assert Bucket.from_name("assets", partition="aws").bucket_arn == "arn:aws:s3:::assets"
    assert Bucket.from_name("assets", region="eu-west-1").bucket_arn == "arn:aws:s3:::assets"


def test_a_name_that_is_not_known_yet_is_put_in_by_cloudformation() -> None:
    table = Table.from_name({"Ref": "Name"}, **EU)
    prefix = f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/"
    assert (table.table_name, table.table_arn) == ({"Ref": "Name"}, {"Fn::Join": ["", [prefix, {"Ref": "Name"}]]})


def select(number: int, separator: str, arn: object) -> dict[str, Any]:
    return {"Fn::Select": [number, {"Fn::Split": [separator, arn]}]}


ARN = {"Fn::ImportValue": "Arn"}


@pytest.mark.parametrize(
    ("of", "member", "expected"),
    [
        (Bucket, "bucket_name", select(5, ":", ARN)),
        (Topic, "topic_name", select(5, ":", ARN)),
        (Function, "function_name", select(6, ":", ARN)),
        (Table, "table_name", select(1, "/", ARN)),
        (Cluster, "cluster_name", select(1, "/", ARN)),
        (Key, "key_id", select(1, "/", ARN)),
        (SecurityGroup, "security_group_id", select(1, "/", ARN)),
        (Vpc, "vpc_id", select(1, "/", ARN)),
    ],
)
def test_an_arn_that_is_not_known_yet_is_taken_apart_by_cloudformation(
    of: type[Declared], member: str, expected: dict[str, Any]
) -> None:
    assert getattr(of.from_arn(ARN), member) == expected


def parts_of(value: object, arn: str) -> str:
    """What CloudFormation makes of a value, where `ARN` stands for this."""
    if value == ARN:
        return arn
    if isinstance(value, str):
        return value
    assert isinstance(value, dict)
    ((function, argument),) = value.items()
    if function == "Ref":
        return {"AWS::URLSuffix": "amazonaws.com"}[str(argument)]
    if function == "Fn::Join":
        return str(argument[0]).join(parts_of(each, arn) for each in argument[1])
    assert function == "Fn::Select"
    number, split = argument
    separator, text = split["Fn::Split"]
    return parts_of(text, arn).split(str(separator))[int(number)]


@pytest.mark.parametrize("name", [name for name in READY if READY[name].declared.arn and name != "Role"])
def test_what_cloudformation_takes_out_of_an_arn_is_what_we_take_out_of_it(name: str) -> None:
    of = READY[name]
    form = of.declared.arn
    assert form
    known = {"Listener": "web/50dc6c495c0c9188/f2f7dc8efc522ab2", "ApplicationLoadBalancer": "web/50dc6c495c0c9188"}
    given = {"partition": "aws", "region": "eu-west-1", "account": ACCOUNT, "name": known.get(name, "name")}
    arn = fill(form.text, given)
    late = form.fields_of_unresolved(ARN)
    # What has several parts, and what is not in such an ARN, is no piece that these types need.
    unneeded = {"name"} if name in known else {each for each in ("region", "account") if each not in form.text}
    for piece, value in {**given, "suffix": "amazonaws.com"}.items():
        assert piece in unneeded or parts_of(late[piece], str(arn)) == value


def test_a_token_of_the_cdk_is_no_text() -> None:
    token = "${Token[TOKEN.12]}"
    assert Bucket.from_arn(token).bucket_name == select(5, ":", token)
    assert Bucket.from_name(token).bucket_name == token
    assert [is_unresolved(each) for each in (token, {"Ref": "A"}, "assets", ["a"])] == [True, True, False, False]


def test_behind_a_path_of_any_length_cloudformation_finds_no_name() -> None:
    with pytest.raises(MissingMembersError) as raised:
        Role.from_arn(ARN)
    assert str(raised.value) == ("role_name of a role cannot be derived from its ARN. Also pass role_name=….")
    assert Role.from_arn(ARN, role_name="web").role_name == "web"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: Bucket.from_arn(f"arn:aws:sqs:eu-west-1:{ACCOUNT}:jobs"),
            OtherArnError,
            (
                f"arn:aws:sqs:eu-west-1:{ACCOUNT}:jobs is the ARN of a queue, not of a bucket. The ARN of a bucket "
                "must match arn:{partition}:s3:::{name}."
            ),
        ),
        (
            lambda: SecurityGroup.from_arn(f"arn:aws:ec2:eu-west-1:{ACCOUNT}:vpc/vpc-01234567"),
            OtherArnError,
            (
                f"arn:aws:ec2:eu-west-1:{ACCOUNT}:vpc/vpc-01234567 is the ARN of a VPC, not of a security group. The "
                "ARN of a security group must match arn:{partition}:ec2:{region}:{account}:security-group/{name}."
            ),
        ),
        (
            lambda: Bucket.from_arn("arn:aws:s3:::assets/logo.png"),
            OtherArnError,
            (
                "arn:aws:s3:::assets/logo.png is not the ARN of a bucket. The ARN of a bucket must match "
                "arn:{partition}:s3:::{name}."
            ),
        ),
        (
            lambda: Function.from_arn(f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:web:7"),
            OtherArnError,
            (
                f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:web:7 is not the ARN of a function. The ARN of a "
                "function must match arn:{partition}:lambda:{region}:{account}:function:{name}."
            ),
        ),
        (
            lambda: ApplicationLoadBalancer.from_arn(BALANCER.replace("/app/", "/net/")),
            OtherArnError,
            (
                f"{BALANCER.replace('/app/', '/net/')} is not the ARN of an application load balancer. The ARN of an "
                "application load balancer must match "
                "arn:{partition}:elasticloadbalancing:{region}:{account}:loadbalancer/app/{name}."
            ),
        ),
        (
            lambda: Bucket.from_arn("assets"),
            NotAnArnError,
            "'assets' is not the ARN of a bucket. It could be a name: use from_name.",
        ),
        (
            lambda: Bucket.from_arn("arn:aws:s3"),
            NotAnArnError,
            "'arn:aws:s3' is not the ARN of a bucket. An ARN begins with arn: and has six fields.",
        ),
        (
            lambda: Bucket.from_name("my bucket"),
            NotANameError,
            "'my bucket' is not a valid name of a bucket. A name must match [A-Za-z0-9._-]{3,255}.",
        ),
        (
            lambda: Bucket.from_name("arn:aws:s3:::assets"),
            NotANameError,
            "'arn:aws:s3:::assets' is not a valid name of a bucket. It looks like an ARN: use from_arn.",
        ),
        (
            lambda: Key.from_name("alias/web"),
            NotANameError,
            (
                "'alias/web' is not a valid name of a KMS key. A name must match "
                "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32}."
            ),
        ),
        (
            lambda: StreamedTable.from_arn(f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/orders"),
            MissingMembersError,
            ("table_stream_arn of a streamed table cannot be derived from its ARN. Also pass table_stream_arn=…."),
        ),
        (
            lambda: ApplicationLoadBalancer.from_arn(BALANCER),
            MissingMembersError,
            (
                "load_balancer_dns_name, load_balancer_canonical_hosted_zone_id, security_group and listener of an "
                "application load balancer cannot be derived from its ARN. Also pass "
                "load_balancer_dns_name=…, load_balancer_canonical_hosted_zone_id=…."
            ),
        ),
        (
            lambda: Subnets.from_name("subnet-1"),
            MissingMembersError,
            (
                "subnet_ids, availability_zones and route_table_ids of a tier of subnets cannot be derived from an ARN "
                "or a name, which it does not have. Also pass subnet_ids=…, availability_zones=…."
            ),
        ),
        (
            lambda: Bucket.from_name("assets", encryption_key="x"),
            UnknownMembersError,
            "A bucket has no encryption_key. It has bucket_arn, bucket_name and is_website.",
        ),
    ],
)
def test_what_does_not_identify_an_object_is_reported(
    make: Callable[[], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("of", "arn"),
    [
        (Queue, "arn:aws:sqs:::jobs"),
        (Queue, f"arn:aws:sqs::{ACCOUNT}:jobs"),
        (Queue, "arn:aws:sqs:eu-west-1::jobs"),
        (Queue, "arn:aws:sqs:*:*:jobs"),
        (Queue, f"arn:aws:sqs:Ireland:{ACCOUNT}:jobs"),
        (Queue, "arn:aws:sqs:eu-west-1:12:jobs"),
        (Queue, f"arn:foo:sqs:eu-west-1:{ACCOUNT}:jobs"),
        (Queue, f"arn:aws:kinesis:eu-west-1:{ACCOUNT}:jobs"),
        (Bucket, "arn:foo:s3:::photos"),
        (Bucket, "arn:aws:s3:eu-west-1::photos"),
        (Bucket, f"arn:aws:s3::{ACCOUNT}:photos"),
        (Bucket, "arn:aws:s3:::photos\n"),
        (Role, f"arn:aws:iam:eu-west-1:{ACCOUNT}:role/x"),
        (Role, "arn:aws:iam::aws:role/x"),
        (Role, f"arn:aws:iam::{ACCOUNT}:role//x"),
        (Role, f"arn:aws:iam::{ACCOUNT}:role/a//x"),
        (Role, f"arn:aws:iam::{ACCOUNT}:role/a b/x"),
        (Role, f"arn:aws:iam::{ACCOUNT}:role/a/"),
    ],
)
def test_an_arn_that_nothing_can_have_is_refused(of: type[Declared], arn: str) -> None:
    with pytest.raises(OtherArnError, match=rf"is not the ARN of a {of.declared.label}"):
        of.from_arn(arn)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"region": "Ireland"}, "region of a queue must be a region code such as us-east-1, got 'Ireland'."),
        ({"region": ""}, "region of a queue must be a region code such as us-east-1, got ''."),
        ({"region": ["eu-west-1"]}, "region of a queue must be a region code such as us-east-1, got a list."),
        ({"account": "12"}, "account of a queue must be an account's twelve digits, in quotes, got '12'."),
        (
            {"account": 111111111111},
            "account of a queue must be an account's twelve digits, in quotes, got 111111111111.",
        ),
        ({"account": {"a": "b"}}, "account of a queue must be an account's twelve digits, in quotes, got a map."),
        ({"partition": "foo"}, "partition of a queue must be a partition such as aws or aws-cn, got 'foo'."),
    ],
)
def test_where_nothing_can_be_is_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(BadLocationError) as raised:
        Queue.from_name("jobs", **given)
    assert str(raised.value) == f"The {text}"


def test_where_something_is_may_be_what_stands_for_it() -> None:
    token, where = "${Token[AWS.Region.9]}", {"Ref": "Where"}
    by_token = Queue.from_name("jobs", partition=token, region=token, account=token)
    assert by_token.queue_arn == f"arn:{token}:sqs:{token}:{token}:jobs"
    by_function = Queue.from_name("jobs", partition=where, region=where, account=where)
    assert by_function.queue_arn == {"Fn::Join": ["", ["arn:", where, ":sqs:", where, ":", where, ":jobs"]]}


@pytest.mark.parametrize(
    ("came", "words"),
    [
        (None, "None"),
        (123, "a number"),
        ({"foo": "bar", "x": "y"}, "a map that is not an intrinsic function"),
        ({}, "a map that is not an intrinsic function"),
        (["arn:aws:s3:::photos"], "a list"),
    ],
)
def test_what_is_neither_text_nor_a_function_is_no_arn_and_no_name(came: object, words: str) -> None:
    makes: dict[str, Any] = {"ARN": Bucket.from_arn, "name": Bucket.from_name}
    for what, make in makes.items():
        with pytest.raises(WrongTypeError) as raised:
            make(came)
        assert str(raised.value) == (f"{what} of a bucket must be a string or an intrinsic function, got {words}.")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        *(("user pool", "a"), ("unit", "a"), ("usage plan", "a"), ("undo", "an"), ("update", "an"), ("VPC", "a")),
        *(("EC2 instance", "an"), ("S3 object", "an"), ("KMS key", "a"), ("application", "an"), ("bucket", "a")),
        *(("IAM role", "an"), ("NLB", "an"), ("Aurora table", "an"), ("SQSs queue", "an")),
    ],
)
def test_words_have_the_article_that_they_are_said_with(label: str, expected: str) -> None:
    assert a(label) == f"{expected} {label}"


def test_every_text_is_short_whatever_came() -> None:
    unknown: dict[str, Any] = {f"x{number}" * 200: "y" for number in range(30)}
    makes: list[Callable[[], Bucket]] = [
        lambda: Bucket.from_arn("x" * 5000),
        lambda: Bucket.from_arn("arn:aws:sqs:eu-west-1:1:" + "x" * 5000),
        lambda: Bucket.from_name("x" * 5000),
        lambda: Bucket.from_name("assets", **unknown),
    ]
    for make in makes:
        with pytest.raises((NotAnArnError, OtherArnError, NotANameError, UnknownMembersError)) as raised:
            make()
        assert len(str(raised.value)) < 1000


def test_what_is_given_goes_before_what_follows() -> None:
    assert Queue.from_arn(f"arn:aws:sqs:eu-west-1:{ACCOUNT}:jobs", queue_url="https://x").queue_url == "https://x"


def test_values_that_are_equal_are_distinguished_from_others_only() -> None:
    assert hashable({"a": [1, {"b": 2}]}) == hashable({"a": (1, {"b": 2})})
    assert hashable({"a": 1}) != hashable({"a": 2})


def test_an_arn_is_distinguished_by_its_service_and_fits_no_form_that_is_none() -> None:
    form = Bucket.declared.arn
    assert form
    assert form.fits(Arn("aws", "s3", "", "", "assets"))
    assert not form.fits(Arn("aws", "s3-object-lambda", "", "", "assets"))
    assert not ArnForm("arn:{partition}:s3").fits(Arn("aws", "s3", "", "", "assets"))
