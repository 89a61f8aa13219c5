"""What apps hold of what they import: what the templates that the CDK has finished use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

import strongref_cdk as shared
from strongref_cdk import CrossRegion, ResolveType
from strongref_objects.base.names import list_of
from strongref_objects.synthesis.context_file import ContextKey
from tests.support import cdk_apps
from tests.support.cdk_apps import EU, US, deploy
from tests.support.objects import imported

_elsewhere = cdk_apps.elsewhere

A, B, C = "eu-west-1a", "eu-west-1b", "eu-west-1c"
GROUPS = {"ingress": ec2.SubnetType.PUBLIC, "dmz": ec2.SubnetType.PUBLIC, "apps": ec2.SubnetType.PRIVATE_ISOLATED}


def text(value: Any) -> str:
    """What CloudFormation may make of a value."""
    if isinstance(value, str):
        return value
    ((name, argument),) = value.items()
    if name == "Fn::Join":
        return str(argument[0]).join(map(text, argument[1]))
    return f"id-{json.dumps(argument)}".replace(",", "-")


def network(*zones: str, groups: dict[str, ec2.SubnetType] = GROUPS) -> cdk.Stack:
    """A stack with a VPC."""
    stack = cdk_apps.stack(cdk.App(), "Network")
    subnets = [ec2.SubnetConfiguration(name=name, subnet_type=kind, cidr_mask=24) for name, kind in groups.items()]
    vpc = ec2.Vpc(stack, "Vpc", availability_zones=list(zones), nat_gateways=0, subnet_configuration=subnets)
    shared.export_vpc(vpc, "Net")
    return stack


def exports(stack: cdk.Stack) -> dict[str, str]:
    """What CloudFormation would export for a stack."""
    outputs = cdk_apps.template(stack)["Outputs"].values()
    return {each["Export"]["Name"]: text(each["Value"]) for each in outputs if "Export" in each}


def held(stack: cdk.Stack) -> list[str]:
    return sorted(imported(cdk_apps.template(stack)))


def group(stack: cdk.Stack, vpc: ec2.IVpc) -> ec2.SecurityGroup:
    return ec2.SecurityGroup(stack, "Group", vpc=vpc)


def web(scope: Any = None) -> cdk.Stack:
    return cdk_apps.stack(scope or cdk.App(), "Web")


BUCKET = {"Photos-BucketArn": "arn:aws:s3:::photos", "Photos-BucketName": "photos"}


def test_for_a_security_group_in_a_vpc_one_export_is_held() -> None:
    deploy(exports(network(A, B)))
    stack = web()
    group(stack, shared.import_vpc(stack, "Net"))
    assert held(stack) == ["Net-VpcId"]


@pytest.mark.parametrize(
    ("zones", "groups"),
    [([A, B, C], GROUPS), ([A, B], {**GROUPS, "data": ec2.SubnetType.PRIVATE_ISOLATED})],
    ids=["zone", "group"],
)
def test_a_vpc_whose_subnets_are_used_can_gain_a_zone_or_a_group(
    zones: list[str], groups: dict[str, ec2.SubnetType]
) -> None:
    before = exports(network(A, B))
    deploy(before)
    stack = web()
    vpc = shared.import_vpc(stack, "Net")
    for subnet in [*vpc.public_subnets, *vpc.isolated_subnets]:
        cdk.CfnOutput(stack, f"Used{subnet.node.id}", value=f"{subnet.subnet_id} {subnet.route_table.route_table_id}")
    names = held(stack)
    assert len(names) == 12
    after = exports(network(*zones, groups=groups))
    assert {name: after.get(name) for name in names} == {name: before[name] for name in names}


def test_a_subnet_that_is_used_stays() -> None:
    before = exports(network(A, B))
    deploy(before)
    stack = web()
    (subnet, _) = shared.import_vpc(stack, "Net").isolated_subnets
    cdk.CfnOutput(stack, "Used", value=subnet.subnet_id)
    (name,) = held(stack)
    assert list_of(name) == "Net-IsolatedSubnets-SubnetIds"
    without = exports(network(A, B, groups={"ingress": ec2.SubnetType.PUBLIC, "dmz": ec2.SubnetType.PUBLIC}))
    assert name not in without


def test_an_imported_vpc_has_the_names_of_its_groups_and_its_subnets_addresses() -> None:
    own = network(A, B)
    deploy(exports(own))
    vpc = shared.import_vpc(web(), "Net")
    original = own.node.find_child("Vpc")
    assert isinstance(original, ec2.Vpc)
    for name in GROUPS:
        ours, theirs = (each.select_subnets(subnet_group_name=name) for each in (original, vpc))
        assert [text(own.resolve(each)) for each in ours.subnet_ids] == theirs.subnet_ids
        assert ours.availability_zones == theirs.availability_zones
        assert [each.ipv4_cidr_block for each in theirs.subnets] == [each.ipv4_cidr_block for each in ours.subnets]
    assert vpc.vpc_cidr_block == text(own.resolve(original.vpc_cidr_block))


def test_an_imported_vpc_can_be_exported_again() -> None:
    values = exports(network(A, B))
    deploy(values)
    app = cdk.App()
    again = cdk_apps.stack(app, "Again")
    shared.export_vpc(shared.import_vpc(again, "Net"), "Other")
    found = {name.removeprefix("Other"): value for name, value in exports(again).items() if list_of(name) not in values}
    whole = {name.removeprefix("Net"): value for name, value in values.items() if list_of(name) not in values}
    assert {name: found[name] for name in whole} == whole


@pytest.mark.parametrize(
    "names",
    [
        {"PublicSubnetNames": "same,same", "PrivateSubnetNames": "same,same"},
        {"PublicSubnetNames": "one,two", "PrivateSubnetNames": "other,other"},
        {"PublicSubnetNames": "one,one"},
        {},
    ],
    ids=["twice", "mixed", "partly", "none"],
)
def test_names_that_the_cdk_cannot_use_are_left_out(names: dict[str, str]) -> None:
    tiers = {
        f"{tier}Subnets-{key}": ",".join(f"{prefix}-{tier}{zone[-1]}" for zone in (A, B))
        for tier in ("Public", "Private")
        for key, prefix in {"SubnetIds": "subnet", "RouteTableIds": "rtb"}.items()
    }
    zones = {f"{tier}Subnets-AvailabilityZones": f"{A},{B}" for tier in ("Public", "Private")}
    parts = ",".join(["VpcId", "PublicSubnets", "PrivateSubnets", *names])
    values = {"Parts": parts, "VpcId": "vpc-0123abcd", **tiers, **zones, **names}
    deploy({f"Net-{name}": value for name, value in values.items()})
    vpc = shared.import_vpc(web(), "Net")
    assert [each.node.id for each in vpc.public_subnets] == ["PublicSubnet1", "PublicSubnet2"]
    assert [each.node.id for each in vpc.private_subnets] == ["PrivateSubnet1", "PrivateSubnet2"]


class TestUses:
    """Wherever an imported text may stand."""

    @pytest.fixture(autouse=True)
    def _bucket(self) -> None:
        deploy(BUCKET)

    def test_a_bucket_that_is_used_by_another_stack(self) -> None:
        app = cdk.App()
        stack, other = web(app), cdk_apps.stack(app, "Other")
        bucket = shared.import_bucket(stack, "Photos")
        cdk.CfnOutput(other, "Used", value=bucket.bucket_name)
        assert held(stack) == ["Photos-BucketName"]
        assert held(other) == []

    def test_a_bucket_that_is_used_by_a_nested_stack(self) -> None:
        stack = web()
        bucket = shared.import_bucket(stack, "Photos")
        cdk.CfnOutput(cdk.NestedStack(stack, "Nested"), "Used", value=bucket.bucket_name)
        assert held(stack) == ["Photos-BucketName"]

    def test_a_bucket_that_a_nested_stack_imports(self) -> None:
        stack = web()
        nested = cdk.NestedStack(stack, "Nested")
        cdk.CfnOutput(nested, "Used", value=shared.import_bucket(nested, "Photos").bucket_name)
        assert held(nested) == ["Photos-BucketName"]
        assert held(stack) == []

    def test_a_bucket_in_a_stage(self) -> None:
        app = cdk.App()
        for name in ("Test", "Prod"):
            stack = web(cdk.Stage(app, name))
            cdk.CfnOutput(stack, "Used", value=shared.import_bucket(stack, "Photos").bucket_name)
            assert held(stack) == ["Photos-BucketName"]

    def test_a_tag_a_lazy_value_and_an_override(self) -> None:
        for number in range(3):
            stack = web()
            bucket = shared.import_bucket(stack, "Photos")
            topic = sns.Topic(stack, "Topic")
            if number == 0:
                cdk.Tags.of(stack).add("photos", bucket.bucket_name)
            elif number == 1:
                topic.node.default_child.add_property_override("DisplayName", f"for {bucket.bucket_name}")
            else:
                lazy = cdk.Lazy.string(_Produced(bucket.bucket_name))
                cdk.CfnOutput(stack, "Used", value=lazy)
            assert held(stack) == ["Photos-BucketName"], number

    def test_what_is_used_nowhere_is_held_by_its_arn(self) -> None:
        stack = web()
        shared.import_bucket(stack, "Photos")
        assert held(stack) == ["Photos-BucketArn"]

    def test_without_validation_everything_is_held(self) -> None:
        stack = web()
        cdk.CfnOutput(stack, "Used", value=shared.import_bucket(stack, "Photos").bucket_name)
        assembly = cdk.Stage.of(stack).synth(skip_validation=True)
        found = json.loads(Path(assembly.directory, stack.template_file).read_text())
        assert sorted(imported(found)) == sorted(BUCKET)

    def test_a_program_that_goes_on_after_synthesis_holds_more(self) -> None:
        stack = web()
        bucket = shared.import_bucket(stack, "Photos")
        output = cdk.CfnOutput(stack, "Used", value=bucket.bucket_name)
        assert held(stack) == ["Photos-BucketName"]
        output.value = bucket.bucket_arn
        assert held(stack) == ["Photos-BucketArn"]

    def test_what_the_cdk_refuses_is_reported_by_the_cdk(self) -> None:
        stack = web()
        shared.import_bucket(stack, "Photos")
        cdk.CfnOutput(stack, "Used", value=cdk.Lazy.string(_Failing()))
        with pytest.raises(RuntimeError, match="not today"):
            cdk_apps.template(stack)

    def test_nothing_else_is_written(self, tmp_path: Path) -> None:
        def files(*, imports: bool) -> list[str]:
            app = cdk.App(outdir=str(tmp_path / f"out-{imports}"))
            stack = web(app)
            if imports:
                cdk.CfnOutput(stack, "Used", value=shared.import_bucket(stack, "Photos").bucket_name)
            folder = Path(app.synth().directory)
            assert len(json.loads((folder / "Web.assets.json").read_text())["files"]) == 1
            return sorted(each.name for each in folder.iterdir())

        assert files(imports=True) == files(imports=False)


def test_across_regions_at_deployment_an_import_has_what_is_used() -> None:
    stack = web()
    via = CrossRegion(stack="photos", region=US)
    bucket = shared.import_bucket(stack, "Photos", type=ResolveType.DEPLOYMENT, via=via)
    role = shared.import_role(stack, "Reader", type=ResolveType.DEPLOYMENT, via=via)
    s3.CfnBucket(stack, "Copy", bucket_name=f"{bucket.bucket_name}-copy")
    (found,) = cdk_apps.resources(stack, "Custom::CrossRegionImport").values()
    assert found["Properties"]["Names"] == ["Photos.BucketName", "Reader.RoleArn", "Reader.RoleName"]
    cdk.CfnOutput(stack, "Used", value=role.role_arn)
    (found,) = cdk_apps.resources(stack, "Custom::CrossRegionImport").values()
    assert found["Properties"]["Names"] == ["Photos.BucketName", "Reader.RoleArn"]


@jsii.implements(cdk.IStableStringProducer)
class _Produced:
    def __init__(self, text: str) -> None:
        self._text = text

    def produce(self) -> str:
        return self._text


@jsii.implements(cdk.IStableStringProducer)
class _Failing:
    def produce(self) -> str:
        raise ValueError("not today")


@pytest.mark.parametrize("used", ["dns_name", "arn"])
def test_across_regions_at_synthesis_an_import_claims_what_is_used(used: str) -> None:
    """The values are in the context file, as after the program's first run."""
    values = {
        "LoadBalancerArn": "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/app/web/0123456789abcdef",
        "LoadBalancerDnsName": "web-1.us-east-1.elb.amazonaws.com",
        "LoadBalancerCanonicalHostedZoneId": "Z35SXDOTRQ7X7K",
        "SecurityGroup/SecurityGroupId": "sg-0123abcd",
        "Listener/ListenerArn": "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/app/web/01/23",
    }
    of = f"Web/{cdk_apps.ACCOUNT}/{US}/entrance"
    keys = {name: ContextKey("strongref", cdk_apps.ACCOUNT, EU, of, f"Web/{name}") for name in values}
    Path("strongref.context.json").write_text(json.dumps({str(key): values[name] for name, key in keys.items()}))
    stack = web()
    balancer = shared.import_application_load_balancer(stack, "Web", via=CrossRegion(stack="entrance", region=US))
    text = balancer.load_balancer_dns_name if used == "dns_name" else balancer.load_balancer_arn
    cdk.CfnOutput(stack, "Used", value=text)
    (found,) = cdk_apps.resources(stack, "Custom::CrossRegionImport").values()
    assert found["Properties"]["Names"] == ["Web.LoadBalancerDnsName" if used == "dns_name" else "Web.LoadBalancerArn"]
