"""Objects that are looked up by their tags: a VPC with what is in it, and the other types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.aws.clients import Clients
from strongref.aws.errors import NoSuchResourceError, UnsupportedError
from strongref.lookup.errors import AmbiguousError, ResourceQueryError, TooManyError
from strongref.lookup.resource_types import resource_type_of
from strongref_objects.base import Text  # noqa: TC001 (types declare their members by it)
from strongref_objects.base.errors import (
    BadTierError,
    MissingMembersError,
    NoRouteTableError,
    NotTaggedError,
    OtherArnError,
    SeveralPartsError,
    UnknownLocationError,
    UnknownMembersError,
    WrongTypeError,
)
from strongref_objects.lookups import LookupEnvironment, lookup, lookup_vpc
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import (
    READY,
    REF,
    ApplicationLoadBalancer,
    Bucket,
    Certificate,
    Cluster,
    Declared,
    EncryptedBucket,
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
    text,
)
from strongref_toolkit.errors import UnknownCallerError
from strongref_toolkit.session import ToolSession
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, FakeTagging, limiter
from tests.support.fake_ssm import FakeClock
from tests.support.networks import ASSOCIATION, ROUTE, Net, to

if TYPE_CHECKING:
    from pathlib import Path

SALES = {"department": "sales", "stage": "prod"}
TAGS = "department=sales&stage=prod"
BALANCER = f"arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT}:loadbalancer/app/web/50dc6c495c0c9188"
LISTENER_TYPE = "AWS::ElasticLoadBalancingV2::Listener"


@pytest.fixture
def tagging() -> FakeTagging:
    return FakeTagging()


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, tagging: FakeTagging) -> FakeCloudControl:
    cloud = FakeCloudControl()
    monkeypatch.setattr(Clients, "cloudcontrol", lambda _self, _region: cloud)
    monkeypatch.setattr(Clients, "tagging", lambda _self, _region: tagging)
    monkeypatch.setattr("strongref_toolkit.aws.Accounts.own", ACCOUNT)
    return cloud


@pytest.fixture
def aws(cloud: FakeCloudControl, tagging: FakeTagging) -> tuple[FakeCloudControl, FakeTagging]:
    return cloud, tagging


@pytest.fixture
def net(cloud: FakeCloudControl, tagging: FakeTagging) -> Net:
    """A VPC of two zones with all three tiers, as hands make one: nothing says the tiers but routes."""
    made = Net(cloud, tagging, **SALES)
    made.table("rtb-public", to(GatewayId="igw-1")).table("rtb-nat", to(NatGatewayId="nat-1")).table("rtb-none")
    for zone in "ab":
        made.subnet(f"subnet-public-{zone}", zone, "rtb-public")
        made.subnet(f"subnet-private-{zone}", zone, "rtb-nat")
        made.subnet(f"subnet-isolated-{zone}", zone, "rtb-none")
    return made.nat("nat-1", "subnet-public-a")


def toolbox() -> ToolSession:
    return ToolSession(Clients(), limiter(), FakeClock())


def environment(folder: Path, **more: Any) -> LookupEnvironment:
    return LookupEnvironment(REGION, context_file=folder / "context.json", toolbox=toolbox(), **more)


def tier(name: str, table: str) -> Subnets:
    return Subnets([f"subnet-{name}-a", f"subnet-{name}-b"], [f"{REGION}a", f"{REGION}b"], [table, table])


@pytest.mark.usefixtures("net")
def test_req7_a_vpc_is_looked_up_by_its_tags_with_its_subnets_route_tables_and_nat_gateways(tmp_path: Path) -> None:
    stack = Stack(PlainTarget("web", REGION, ACCOUNT), context_file=tmp_path / "context.json", toolbox=toolbox())
    vpc = lookup_vpc(stack, tags={"department": "sales", "stage": "prod"})
    assert (vpc.vpc_id, vpc.vpc_cidr_block) == ("vpc-00000001", "10.0.0.0/16")
    assert vpc.public_subnets == tier("public", "rtb-public")
    assert vpc.private_subnets == tier("private", "rtb-nat")
    assert vpc.isolated_subnets == tier("isolated", "rtb-none")
    assert vpc.nat_gateway_ids == ("nat-1",)
    assert vpc.availability_zones == [f"{REGION}a", f"{REGION}b"]


def test_a_vpc_that_is_looked_up_has_the_names_of_its_subnet_groups_and_the_addresses_of_its_subnets(
    cloud: FakeCloudControl, tagging: FakeTagging, tmp_path: Path
) -> None:
    net = Net(cloud, tagging, **SALES).table("rtb-1")
    for number, zone in enumerate("ab"):
        net.subnet(f"subnet-1{zone}", zone, "rtb-1", cidr=f"10.0.{number}.0/24", aws_cdk__subnet_name="apps")
        net.subnet(f"subnet-2{zone}", zone, "rtb-1", is_open=True, cidr=f"10.0.{number + 8}.0/24" if number else None)
    for _ in range(2):  # The second time, from the context file.
        vpc = lookup_vpc(environment(tmp_path), SALES)
        assert vpc.isolated_subnet_names == ("apps", "apps")
        assert vpc.isolated_subnet_ipv4_cidr_blocks == ("10.0.0.0/24", "10.0.1.0/24")
        assert vpc.public_subnet_names is vpc.public_subnet_ipv4_cidr_blocks is vpc.private_subnet_names is None


@pytest.mark.usefixtures("net")
def test_req7_looked_up_twice_it_is_the_same_object_and_the_next_run_asks_nobody(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    here = environment(tmp_path)
    first = lookup_vpc(here, SALES)
    assert lookup_vpc(here, dict(reversed(SALES.items()))) is first
    asked, pages = cloud.calls.copy(), len(tagging.requests)
    assert lookup_vpc(environment(tmp_path), SALES) == first
    assert (cloud.calls, len(tagging.requests)) == (asked, pages)
    (entry,) = json.loads((tmp_path / "context.json").read_text()).items()
    assert entry[0] == f"strongref:lookup:account={ACCOUNT}:region={REGION}:of=Vpc/AWS.EC2.VPC:name={TAGS}"
    assert entry[1]["privateSubnets"]["routeTableIds"] == ["rtb-nat", "rtb-nat"]


def test_no_vpc_and_several_of_them_are_reported(tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging) -> None:
    Net(cloud, tagging, **SALES)
    with pytest.raises(NoSuchResourceError, match=r"No AWS::EC2::VPC with tags department, stage in eu-west-1"):
        lookup_vpc(environment(tmp_path), {"department": "sales", "stage": "test"})
    Net(cloud, tagging, "vpc-00000002", **SALES)
    with pytest.raises(AmbiguousError, match=r"tags department, stage could be vpc-00000001 and vpc-00000002"):
        lookup_vpc(environment(tmp_path), SALES)
    with pytest.raises(ResourceQueryError):
        lookup_vpc(environment(tmp_path), {})
    assert not (tmp_path / "context.json").exists()


@pytest.mark.parametrize("listed", [None, ()])
def test_what_is_of_another_vpc_is_none_of_it(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging, listed: tuple[str, ...] | None
) -> None:
    cloud.listed = listed
    Net(cloud, tagging, **SALES).table("rtb-1").subnet("subnet-1", "a", "rtb-1")
    other = Net(cloud, tagging, "vpc-00000002", department="hr")
    other.table("rtb-2", to(GatewayId="igw-1")).subnet("subnet-2", "a", "rtb-2").nat("nat-2", "subnet-2")
    vpc = lookup_vpc(environment(tmp_path), SALES)
    assert vpc.isolated_subnets == Subnets(["subnet-1"], [f"{REGION}a"], ["rtb-1"])
    assert (vpc.public_subnets, vpc.private_subnets, vpc.nat_gateway_ids) == (None, None, None)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (to(GatewayId="igw-1"), "public"),
        (to("::/0", GatewayId="igw-1"), "public"),
        (to(GatewayId="vgw-1"), "isolated"),
        (to(NatGatewayId="nat-1"), "private"),
        (to(TransitGatewayId="tgw-1"), "private"),
        (to("::/0", NatGatewayId="nat-1"), "isolated"),
        (to("::/0", EgressOnlyInternetGatewayId="eigw-1"), "isolated"),
        (to("10.9.0.0/16", TransitGatewayId="tgw-1"), "isolated"),
        (to(NetworkInterfaceId="eni-1"), "isolated"),
    ],
)
def test_routes_tell_a_subnets_tier_as_the_cdk_has_it(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging, route: dict[str, str], expected: str
) -> None:
    Net(cloud, tagging, **SALES).table("rtb-1", route).subnet("subnet-1", "a", "rtb-1")
    vpc = lookup_vpc(environment(tmp_path), SALES)
    found = {name for name in ("public", "private", "isolated") if getattr(vpc, f"{name}_subnets")}
    assert found == {expected}


def test_a_subnets_tag_goes_before_its_routes_and_public_addresses_do(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    net = Net(cloud, tagging, **SALES).table("rtb-1", to(GatewayId="igw-1")).table("rtb-2")
    net.subnet("subnet-1", "a", "rtb-1", aws_cdk__subnet_type="Isolated")
    net.subnet("subnet-2", "a", "rtb-2", is_open=True)
    net.subnet("subnet-3", "a", "rtb-2", is_open=True, aws_cdk__subnet_type="Private")
    vpc = lookup_vpc(environment(tmp_path), SALES)
    tiers = (vpc.public_subnets, vpc.private_subnets, vpc.isolated_subnets)
    assert [each.subnet_ids for each in tiers if each] == [("subnet-2",), ("subnet-3",), ("subnet-1",)]
    assert ROUTE not in cloud.read  # Every subnet said its tier itself.


def test_a_tag_that_says_no_tier_is_reported(tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging) -> None:
    Net(cloud, tagging, **SALES).table("rtb-1").subnet("subnet-1", "a", "rtb-1", aws_cdk__subnet_type="Outer")
    with pytest.raises(BadTierError) as raised:
        lookup_vpc(environment(tmp_path), SALES)
    assert str(raised.value) == (
        "Tag aws-cdk:subnet-type of subnet-1 must be one of Public, Private and Isolated, got 'Outer'. Correct it, or "
        "remove it: then the subnet's routes decide its tier."
    )


def test_a_subnet_without_a_route_table_of_its_own_uses_the_only_one(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    Net(cloud, tagging, **SALES).table("rtb-main", to(NatGatewayId="nat-1")).subnet("subnet-1", "a", None)
    Net(cloud, tagging, "vpc-00000002").table("rtb-other")
    assert lookup_vpc(environment(tmp_path), SALES).private_subnets == Subnets(
        ["subnet-1"], [f"{REGION}a"], ["rtb-main"]
    )


def test_a_main_route_table_that_is_listed_as_such_is_used(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    Net(cloud, tagging, **SALES).table("rtb-main").table("rtb-other").subnet("subnet-1", "a", None)
    cloud.add(ASSOCIATION, "rtbassoc-main", RouteTableId="rtb-main")
    vpc = lookup_vpc(environment(tmp_path), SALES)
    assert vpc.isolated_subnets
    assert vpc.isolated_subnets.route_table_ids == ("rtb-main",)


def test_which_of_several_route_tables_is_the_main_one_is_not_guessed(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    Net(cloud, tagging, **SALES).table("rtb-1").table("rtb-2").subnet("subnet-1", "a", None).subnet(
        "subnet-2", "a", "rtb-2"
    )
    with pytest.raises(NoRouteTableError) as raised:
        lookup_vpc(environment(tmp_path), SALES)
    assert str(raised.value) == (
        "subnet-1 of vpc-00000001 has no route table association, so the VPC's main route table applies, but Cloud "
        "Control does not show which of rtb-1 and rtb-2 that is. Associate a route table with it."
    )


def test_a_vpc_without_subnets_is_one(tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging) -> None:
    Net(cloud, tagging, **SALES)
    found = lookup_vpc(environment(tmp_path), SALES)
    assert (found.vpc_id, found.availability_zones) == ("vpc-00000001", [])
    assert lookup_vpc(environment(tmp_path), SALES) == found


@pytest.mark.parametrize("count", [2, 6, 30])
def test_calls_grow_with_the_subnets_and_associations_of_the_region_and_with_nothing_else(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging, count: int
) -> None:
    net = Net(cloud, tagging, **SALES).table("rtb-1", to(NatGatewayId="nat-1"))
    for number in range(count):
        net.subnet(f"subnet-{number}", "a", "rtb-1")
    lookup_vpc(environment(tmp_path), SALES)
    lists = sum(1 for _ in cloud.models)
    pages = 2 * (count // 2 + 1) + 1  # Two a page, and an empty one; of NAT gateways none.
    assert (lists, len(tagging.requests)) == (pages, 2)
    # The VPC and its routes to everywhere; each subnet; an association is reported whole in the list.
    assert cloud.calls["GetResource"] == 1 + 2 + count


def test_where_lists_tell_identifiers_alone_each_is_read_once(
    tmp_path: Path, cloud: FakeCloudControl, net: Net
) -> None:
    del net
    cloud.listed = ()
    vpc = lookup_vpc(environment(tmp_path), SALES)
    assert vpc.private_subnets == tier("private", "rtb-nat")
    # The VPC, six subnets, six associations, a NAT gateway; a route table's route, one asked for twice in vain.
    assert cloud.calls["GetResource"] == 1 + 6 + 6 + 1 + 2 * 3


def test_a_region_with_too_much_in_it_is_reported_before_anything_of_it_is_read(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    net = Net(cloud, tagging, **SALES).table("rtb-1")
    for number in range(301):
        net.subnet(f"subnet-{number}", "a", "rtb-1")
    with pytest.raises(TooManyError) as raised:
        lookup_vpc(environment(tmp_path), SALES)
    assert str(raised.value) == (
        "301 resources of the region could be AWS::EC2::Subnet with VpcId vpc-00000001, and strongref reads at most "
        "300 one by one. Use the VPC's ARN and list what is in it: Vpc.from_arn(…, private_subnets=…)."
    )
    assert cloud.calls["GetResource"] == 1


def test_what_has_gone_since_it_was_listed_is_left_out(tmp_path: Path, cloud: FakeCloudControl, net: Net) -> None:
    cloud.listed = ()
    net.subnet("subnet-gone", "a", None)
    cloud.gone.add("subnet-gone")
    assert "subnet-gone" not in str(lookup_vpc(environment(tmp_path), SALES).isolated_subnets)


def found(tagging: FakeTagging, arn: str) -> None:
    tagging.tagged[arn] = SALES


def test_any_type_is_looked_up_by_tags(tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging) -> None:
    at = f"{REGION}:{ACCOUNT}"
    cloud.add("AWS::S3::Bucket", "assets", Arn="arn:aws:s3:::assets", BucketName="assets")
    url = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/jobs"
    cloud.add("AWS::SQS::Queue", url, Arn=f"arn:aws:sqs:{at}:jobs", QueueName="jobs", QueueUrl=url)
    cloud.add("AWS::SNS::Topic", f"arn:aws:sns:{at}:news", TopicArn=f"arn:aws:sns:{at}:news", TopicName="news")
    cloud.add("AWS::Route53::HostedZone", "Z1", Id="Z1", Name="example.com.")
    cloud.add("AWS::EC2::SecurityGroup", "sg-00000001", Id="sg-00000001", GroupId="sg-00000001")
    stream = f"arn:aws:dynamodb:{at}:table/orders/stream/2026"
    cloud.add("AWS::DynamoDB::Table", "orders", Arn=f"arn:aws:dynamodb:{at}:table/orders", StreamArn=stream)
    for arn in (
        *("arn:aws:s3:::assets", f"arn:aws:sqs:{at}:jobs", f"arn:aws:sns:{at}:news"),
        *("arn:aws:route53:::hostedzone/Z1", f"arn:aws:ec2:{at}:security-group/sg-00000001"),
        f"arn:aws:dynamodb:{at}:table/orders",
    ):
        found(tagging, arn)
    here = environment(tmp_path)
    assert lookup(Bucket, here, SALES) == Bucket("arn:aws:s3:::assets", "assets")
    assert lookup(Queue, here, SALES) == Queue.from_arn(f"arn:aws:sqs:{at}:jobs")
    assert lookup(Topic, here, SALES) == Topic.from_arn(f"arn:aws:sns:{at}:news")
    assert lookup(HostedZone, here, SALES) == HostedZone("Z1", "example.com")
    assert lookup(SecurityGroup, here, SALES) == SecurityGroup("sg-00000001")
    assert lookup(StreamedTable, here, SALES).table_stream_arn == stream
    assert lookup(Bucket, here, SALES) is lookup(Bucket, here, SALES)


ANYWHERE = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


@pytest.mark.parametrize(
    ("rules", "allows"),
    [([ANYWHERE], None), ([], False), ([{**ANYWHERE, "IpProtocol": "tcp"}], False), ([{"IpProtocol": "-1"}], False)],
)
def test_a_security_group_that_is_looked_up_tells_whether_it_allows_all_outbound_traffic(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging, rules: list[Any], allows: bool | None
) -> None:
    cloud.add("AWS::EC2::SecurityGroup", "sg-00000001", GroupId="sg-00000001", SecurityGroupEgress=rules)
    found(tagging, f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/sg-00000001")
    for _looked_up_and_kept in range(2):
        group = lookup(SecurityGroup, environment(tmp_path), SALES)
        assert group == SecurityGroup("sg-00000001", allow_all_outbound=allows)


def test_a_listener_that_is_looked_up_tells_its_port(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    arn = BALANCER.replace("loadbalancer", "listener") + "/0123456789abcdef"
    cloud.add("AWS::ElasticLoadBalancingV2::Listener", arn, ListenerArn=arn, Port=443)
    found(tagging, arn)
    assert lookup(Listener, environment(tmp_path), SALES) == Listener(arn, default_port=443)


def test_what_cloud_control_does_not_tell_has_to_be_given(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    cloud.add("AWS::S3::Bucket", "assets", Arn="arn:aws:s3:::assets", BucketName="assets")
    found(tagging, "arn:aws:s3:::assets")
    with pytest.raises(
        MissingMembersError, match=r"encryption_key of an encrypted bucket cannot be derived from Cloud Control"
    ):
        lookup(EncryptedBucket, environment(tmp_path), SALES)
    key = Key.from_name("12345678-1234-1234-1234-123456789012", region=REGION, account=ACCOUNT)
    bucket = lookup(EncryptedBucket, environment(tmp_path), SALES, encryption_key=key)
    assert (bucket.bucket_name, bucket.encryption_key) == ("assets", key)
    other = Key.from_name("12345678-1234-1234-1234-123456789013", region=REGION, account=ACCOUNT)
    assert lookup(EncryptedBucket, environment(tmp_path), SALES, encryption_key=other).encryption_key == other
    with pytest.raises(
        MissingMembersError, match="a tier of subnets cannot be derived from tags, because it is not a resource"
    ):
        lookup(Subnets, environment(tmp_path), SALES)


def balancer(cloud: FakeCloudControl, tagging: FakeTagging, groups: list[str], listeners: list[str]) -> None:
    cloud.add(
        "AWS::ElasticLoadBalancingV2::LoadBalancer",
        BALANCER,
        LoadBalancerArn=BALANCER,
        DNSName="web-1.eu-west-1.elb.amazonaws.com",
        CanonicalHostedZoneID="Z32O12XQLNTSW2",
        SecurityGroups=groups,
    )
    cloud.resources.setdefault(LISTENER_TYPE, {})
    for each in listeners:
        cloud.add(LISTENER_TYPE, each, ListenerArn=each, LoadBalancerArn=BALANCER)
    cloud.needs[LISTENER_TYPE] = ("LoadBalancerArn",)
    found(tagging, BALANCER)


def test_a_load_balancer_is_found_with_its_security_group_and_its_listener(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    balancer(cloud, tagging, ["sg-1"], ["listener-1"])
    assert lookup(ApplicationLoadBalancer, environment(tmp_path), SALES) == ApplicationLoadBalancer(
        load_balancer_arn=BALANCER,
        load_balancer_dns_name="web-1.eu-west-1.elb.amazonaws.com",
        load_balancer_canonical_hosted_zone_id="Z32O12XQLNTSW2",
        security_group=SecurityGroup("sg-1"),
        listener=Listener("listener-1"),
    )


def test_a_network_load_balancer_is_not_taken_for_an_application_load_balancer(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    arn = BALANCER.replace("/app/", "/net/")
    cloud.add("AWS::ElasticLoadBalancingV2::LoadBalancer", arn, LoadBalancerArn=arn, SecurityGroups=["sg-1"])
    found(tagging, arn)
    with pytest.raises(OtherArnError, match="is not the ARN of an application load balancer"):
        lookup(ApplicationLoadBalancer, environment(tmp_path), SALES)


@pytest.mark.parametrize(
    ("groups", "listeners", "text"),
    [
        (["sg-1"], [], f"{BALANCER} must have one listener, but has none. Choose one: listener=…."),
        (
            ["sg-1", "sg-2"],
            ["l-1"],
            f"{BALANCER} must have one security_group, but has several (sg-1 and sg-2). Choose",
        ),
    ],
)
def test_of_several_listeners_or_groups_the_program_says_which_is_meant(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging], groups: list[str], listeners: list[str], text: str
) -> None:
    balancer(*aws, groups, listeners)
    with pytest.raises(SeveralPartsError) as raised:
        lookup(ApplicationLoadBalancer, environment(tmp_path), SALES)
    assert str(raised.value).startswith(text)
    given = {"listener": Listener("l-9"), "security_group": SecurityGroup("sg-9")}
    chosen = lookup(ApplicationLoadBalancer, environment(tmp_path), SALES, **given)
    assert (chosen.listener, chosen.security_group) == (Listener("l-9"), SecurityGroup("sg-9"))


def test_what_is_not_there_yet_has_to_be_given_or_is_reported(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging
) -> None:
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/orders"
    cloud.add("AWS::DynamoDB::Table", "orders", Arn=arn)
    found(tagging, arn)
    with pytest.raises(
        MissingMembersError, match="table_stream_arn of a streamed table cannot be derived from Cloud Control"
    ):
        lookup(StreamedTable, environment(tmp_path), SALES)
    assert lookup(StreamedTable, environment(tmp_path), SALES, table_stream_arn="x").table_stream_arn == "x"


def test_without_a_region_or_an_account_nothing_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack(PlainTarget("web"), context_file=tmp_path / "context.json", toolbox=toolbox())
    with pytest.raises(UnknownLocationError) as raised:
        lookup_vpc(stack, SALES)
    assert (
        str(raised.value) == "A VPC with these tags cannot be looked up: the region of web is unknown. Set its region."
    )

    def nobody(_accounts: object) -> str:
        raise UnknownCallerError("NoCredentialsError")

    monkeypatch.setattr("strongref_toolkit.aws.Accounts.own", property(nobody))
    with pytest.raises(UnknownLocationError, match=r"the account of the environment is unknown.*or use credentials"):
        lookup(Topic, environment(tmp_path), SALES)


def test_roles_are_not_reported_by_tags_and_hosted_zones_in_one_region(
    tmp_path: Path, cloud: FakeCloudControl, tagging: FakeTagging, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotTaggedError) as raised:
        lookup(Role, environment(tmp_path), SALES)
    assert str(raised.value) == (
        "A role cannot be looked up by tags: AWS's tagging API does not list such resources. Use its ARN or its name: "
        "from_arn, from_name."
    )
    regions = set()

    def tagging_in(_clients: Clients, region: str) -> FakeTagging:
        regions.add(region)
        return tagging

    monkeypatch.setattr(Clients, "tagging", tagging_in)
    cloud.add("AWS::Route53::HostedZone", "Z1", Id="Z1", Name="example.com.")
    found(tagging, "arn:aws:route53:::hostedzone/Z1")
    for region in (REGION, "us-gov-west-1"):
        here = LookupEnvironment(region, ACCOUNT, context_file=tmp_path / "context.json", toolbox=toolbox())
        assert lookup(HostedZone, here, SALES) == HostedZone("Z1", "example.com")
    assert regions == {"us-east-1", "us-gov-west-1"}


KEY = "12345678-1234-1234-1234-123456789012"


def bucket(cloud: FakeCloudControl, tagging: FakeTagging, **more: str) -> None:
    cloud.add("AWS::S3::Bucket", "assets", Arn="arn:aws:s3:::assets", BucketName="assets", **more)
    found(tagging, "arn:aws:s3:::assets")


def kept(folder: Path) -> dict[str, Any]:
    entries: dict[str, Any] = json.loads((folder / "context.json").read_text())
    return {key.rpartition(":of=")[2].partition(":")[0]: value for key, value in entries.items()}


TOKEN = "${Token[TOKEN.7]}"


@pytest.mark.parametrize(
    "key",
    [Key.of_resource("Key"), Key(TOKEN, TOKEN), Key.from_name(KEY), Key.from_name(KEY, region=REGION, account=ACCOUNT)],
    ids=["a resource of the template", "tokens", "one of the stack's region", "text"],
)
def test_what_the_program_gives_is_not_kept_and_may_be_anything(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging], key: Key
) -> None:
    bucket(*aws)
    for _ in range(2):  # The second time from the context file.
        given = lookup(EncryptedBucket, environment(tmp_path), SALES, encryption_key=key)
        assert given == EncryptedBucket("arn:aws:s3:::assets", "assets", key)
    assert aws[0].calls["GetResource"] == 1
    (entry,) = kept(tmp_path).values()
    assert entry == {"bucketArn": "arn:aws:s3:::assets", "bucketName": "assets"}
    other = Key.from_name(KEY.replace("1", "2"), region=REGION, account=ACCOUNT)
    assert lookup(EncryptedBucket, environment(tmp_path), SALES, encryption_key=other).encryption_key == other


def test_what_was_given_once_is_looked_up_where_it_is_not_given(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    balancer(*aws, ["sg-1"], ["listener-1"])
    mine = Listener.of_resource("Mine")
    given = lookup(ApplicationLoadBalancer, environment(tmp_path), SALES, listener=mine)
    looked_up = lookup(ApplicationLoadBalancer, environment(tmp_path), SALES)
    assert (given.listener, looked_up.listener) == (mine, Listener("listener-1"))
    asked = aws[0].calls.copy()
    assert lookup(ApplicationLoadBalancer, environment(tmp_path), SALES, listener=mine) == given
    assert lookup(ApplicationLoadBalancer, environment(tmp_path), SALES) == looked_up
    assert aws[0].calls == asked


def test_what_is_given_wrongly_is_reported_before_anything_is_asked(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    for of in (Bucket, Vpc):
        with pytest.raises(UnknownMembersError, match="has no nope"):
            lookup(of, environment(tmp_path), SALES, nope="x")
    assert (aws[0].calls.total(), aws[1].requests) == (0, [])
    balancer(*aws, ["sg-1"], ["listener-1"])
    with pytest.raises(
        WrongTypeError, match=r"security_group of an application load balancer must be .*, got a string\."
    ):
        lookup(ApplicationLoadBalancer, environment(tmp_path), SALES, security_group="sg-1")
    assert not (tmp_path / "context.json").exists()


@pytest.mark.parametrize(
    ("tags", "problem"),
    [
        ({}, "AWS::EC2::VPC"),
        ([("department", "sales")], "the tags must be a map of names to values, got a list"),
        ({"department": 1}, "the value of a tag must be a string"),
        ({"department": None}, "the value of a tag must be a string"),
        ({"department": ["sales", "hr"]}, "the value of a tag must be a string"),
        ({1: "x"}, "the name of a tag must be a string"),
        ({"department": TOKEN}, "tags must be known while the template is made"),
        ({f"tag{number}": "x" for number in range(51)}, "there can be at most 50 tags, got 51"),
    ],
)
def test_tags_are_at_most_fifty_texts(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging], tags: object, problem: str
) -> None:
    with pytest.raises(ResourceQueryError, match=problem):
        lookup_vpc(environment(tmp_path), cast("dict[str, str]", tags))
    assert aws[1].requests == []
    with pytest.raises(NoSuchResourceError):
        lookup(Bucket, environment(tmp_path), {f"tag{number}": "x" for number in range(50)})


class Walled(Vpc):
    """A VPC with something that Cloud Control tells, and something that it does not."""

    default_security_group: Text = text("DefaultSecurityGroup", kw_only=True)
    peer: Text = text(kw_only=True)


def test_a_type_made_of_a_vpc_is_looked_up_with_its_subnets_too(
    tmp_path: Path, cloud: FakeCloudControl, net: Net
) -> None:
    cloud.resources["AWS::EC2::VPC"][net.vpc]["DefaultSecurityGroup"] = "sg-1"
    for _ in range(2):
        walled = lookup(Walled, environment(tmp_path), SALES, peer="pcx-1")
        assert walled.private_subnets == tier("private", "rtb-nat")
        assert (walled.default_security_group, walled.peer) == ("sg-1", "pcx-1")


def another(name: str, type_name: str, **attributes: str) -> type[Declared]:
    """A type of this name, with a member for each attribute."""
    body = {member: text(attribute) for member, attribute in attributes.items()}
    return type(name, (Declared,), {**body, "__annotations__": dict.fromkeys(body, "Text")}, type_name=type_name)


def test_a_type_that_has_changed_is_looked_up_again(tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]) -> None:
    bucket(*aws, DomainName="assets.example.com")
    lookup(Bucket, environment(tmp_path), SALES)
    grown = another("Bucket", "AWS::S3::Bucket", bucket_arn="Arn", domain_name="DomainName")
    for _ in range(2):
        assert getattr(lookup(grown, environment(tmp_path), SALES), "domain_name", None) == "assets.example.com"
    assert aws[0].calls["GetResource"] == 2


def test_an_entry_that_cannot_be_read_is_looked_up_again(tmp_path: Path, net: Net) -> None:
    del net
    expected = lookup_vpc(environment(tmp_path), SALES)
    entries = json.loads((tmp_path / "context.json").read_text())
    (key,) = entries
    for broken in ("text", {**entries[key], "privateSubnets": {}}, {**entries[key], "vpcId": {"Ref": "Vpc"}}):
        (tmp_path / "context.json").write_text(json.dumps({key: broken}))
        assert lookup_vpc(environment(tmp_path), SALES) == expected
        assert json.loads((tmp_path / "context.json").read_text()) == entries


def test_two_types_of_one_name_are_not_taken_for_each_other(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    cloud, tagging = aws
    for service in ("ecs", "eks"):
        arn = f"arn:aws:{service}:{REGION}:{ACCOUNT}:cluster/{service}-main"
        cloud.add(f"AWS::{service.upper()}::Cluster", f"{service}-main", Arn=arn)
        found(tagging, arn)
    eks = another("Cluster", "AWS::EKS::Cluster", cluster_arn="Arn", cluster_name=REF)
    for _ in range(2):
        assert lookup(Cluster, environment(tmp_path), SALES).cluster_name == "ecs-main"
        assert vars(lookup(eks, environment(tmp_path), SALES))["cluster_name"] == "eks-main"
    assert cloud.calls["GetResource"] == 2


def test_what_cloudformation_has_one_type_for_is_distinguished_by_the_arn(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    cloud, tagging = aws
    balancer(cloud, tagging, ["sg-1"], [])
    network = BALANCER.replace("/app/", "/net/")
    cloud.add("AWS::ElasticLoadBalancingV2::LoadBalancer", network, LoadBalancerArn=network)
    found(tagging, network)
    listeners = [f"{each.replace('loadbalancer/', 'listener/')}/f2f7dc8efc522ab2" for each in (network, BALANCER)]
    cloud.add(LISTENER_TYPE, listeners[0], ListenerArn=listeners[0], LoadBalancerArn=network)
    found(tagging, listeners[0])
    with pytest.raises(OtherArnError, match="is not the ARN of a listener"):
        lookup(Listener, environment(tmp_path), SALES)
    cloud.add(LISTENER_TYPE, listeners[1], ListenerArn=listeners[1], LoadBalancerArn=BALANCER)
    found(tagging, listeners[1])
    assert lookup(Listener, environment(tmp_path), SALES) == Listener(listeners[1])
    del cloud.resources[LISTENER_TYPE][listeners[0]]
    cloud.needs[LISTENER_TYPE] = ()
    given = Listener(listeners[1])
    assert lookup(ApplicationLoadBalancer, environment(tmp_path), SALES, listener=given).load_balancer_arn == BALANCER


def test_of_several_with_the_tags_the_ways_out_are_those_of_a_lookup(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    cloud, tagging = aws
    for name in ("a-1", "b-2"):
        cloud.add("AWS::S3::Bucket", name, Arn=f"arn:aws:s3:::{name}", BucketName=name)
        found(tagging, f"arn:aws:s3:::{name}")
    with pytest.raises(AmbiguousError) as several:
        lookup(Bucket, environment(tmp_path), SALES)
    assert str(several.value) == (
        "AWS::S3::Bucket with tags department, stage could be a-1 and b-2. Add a tag that only the right one has, or "
        "use its ARN: from_arn."
    )
    for number in range(101):
        found(tagging, f"arn:aws:s3:::bucket-{number}")
    with pytest.raises(
        TooManyError, match=r"103 resources .* at most 100 one by one\. Add a tag that only the right one has"
    ):
        lookup(Bucket, environment(tmp_path), SALES)


def test_where_cloud_control_reads_no_such_resources_the_arn_is_enough_if_it_tells_all(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    _, tagging = aws  # It has no certificates, and says that it does not support them.
    arn = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/{KEY}"
    found(tagging, arn)
    assert lookup(Certificate, environment(tmp_path), SALES) == Certificate(arn)
    found(tagging, arn.replace("1234-", "4321-"))
    with pytest.raises(AmbiguousError, match=f"could be {arn} and "):
        lookup(Certificate, environment(tmp_path / "other"), SALES)
    found(tagging, f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/orders")
    with pytest.raises(
        MissingMembersError, match="table_stream_arn of a streamed table cannot be derived from its ARN"
    ):
        lookup(StreamedTable, environment(tmp_path), SALES)


def test_where_neither_cloud_control_nor_the_arn_tells_that_is_reported(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    cloud, tagging = aws
    found(tagging, f"arn:aws:kinesis:{REGION}:{ACCOUNT}:stream/clicks")
    with pytest.raises(UnsupportedError) as raised:
        lookup(another("Stream", "AWS::Kinesis::Stream", stream_name=REF), environment(tmp_path), SALES)
    ways = "which a lookup by tags needs. Use the resource's ARN or name: from_arn, from_name."
    unsupported = f"does not support {{}} of Cloud Control in {REGION}"
    assert str(raised.value) == f"AWS::Kinesis::Stream {unsupported.format('GetResource')}, {ways}"
    Net(cloud, tagging, **SALES)
    del cloud.resources["AWS::EC2::NatGateway"]
    with pytest.raises(UnsupportedError) as raised:
        lookup_vpc(environment(tmp_path), SALES)
    assert str(raised.value) == f"AWS::EC2::NatGateway {unsupported.format('ListResources')}, {ways}"


def test_only_of_a_zones_name_a_dot_at_the_end_is_left_out(
    tmp_path: Path, aws: tuple[FakeCloudControl, FakeTagging]
) -> None:
    cloud, tagging = aws
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/dotted."
    cloud.add("AWS::DynamoDB::Table", "dotted.", Arn=arn)
    found(tagging, arn)
    assert lookup(Table, environment(tmp_path), SALES) == Table(arn, "dotted.")


def test_every_ready_type_that_is_a_resource_can_be_tagged() -> None:
    tagged = [each for each in READY.values() if each.declared.type_name]
    assert all(resource_type_of(str(each.declared.type_name)).tagged_by for each in tagged)
