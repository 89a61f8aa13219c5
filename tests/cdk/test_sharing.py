"""Objects that apps of the real AWS CDK export and import: the design's requirements, as a program sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

import strongref_cdk as shared
from strongref.aws.clients import Clients
from strongref_cdk import ConstructError, CrossRegion, Parameters, ResolveType
from strongref_objects import types
from strongref_objects.base.errors import (
    BadStrengthError,
    ExportedTwiceError,
    NothingToImportError,
    OwnExportError,
    UnknownLocationError,
    UnresolvedImportError,
)
from strongref_objects.channels.texts import JsonSerializationContext, from_environment, from_json
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from tests.support import cdk_apps, fake_cloudcontrol
from tests.support.cdk_apps import ACCOUNT, EU, US, deploy
from tests.support.cdk_design import WebEntrance
from tests.support.fake_cloudcontrol import FakeCloudControl, FakeTagging
from tests.support.networks import Net, to
from tests.support.objects import held_by, item

NOW, LATER = ResolveType.SYNTHESIS, ResolveType.DEPLOYMENT
BUCKET = {"JohnnyBucket-BucketArn": "arn:aws:s3:::johnny", "JohnnyBucket-BucketName": "johnny"}
ENTRANCE = {
    "Web-LoadBalancerArn": f"arn:aws:elasticloadbalancing:{EU}:{ACCOUNT}:loadbalancer/app/web/0123456789abcdef",
    "Web-SecurityGroup-SecurityGroupId": "sg-0123abcd",
}


_elsewhere = cdk_apps.elsewhere


@pytest.fixture
def web() -> cdk.Stack:
    """A stack of an app that imports."""
    return cdk_apps.stack(cdk.App(), "Web")


@pytest.fixture
def network() -> cdk.Stack:
    """A stack of another app, that exports."""
    return cdk_apps.stack(cdk.App(), "Network")


def exported(stack: cdk.Stack) -> dict[str, Any]:
    """A template's exports: names and values, without those of holds."""
    outputs = cdk_apps.template(stack).get("Outputs", {}).items()
    ours = [each for name, each in outputs if "Export" in each and not name.endswith("Hold")]
    return {output["Export"]["Name"]: output["Value"] for output in ours}


def held(stack: cdk.Stack) -> list[str]:
    """What the template holds."""
    return held_by(cdk_apps.template(stack).get("Resources", {}))


def queue(stack: cdk.Stack, *texts: str) -> None:
    """Something that uses imported texts."""
    for number, text in enumerate(texts):
        cdk.CfnOutput(stack, f"Used{number}", value=text)


def used(stack: cdk.Stack) -> list[Any]:
    outputs = cdk_apps.template(stack)["Outputs"]
    return [outputs[name]["Value"] for name in sorted(outputs) if name.startswith("Used")]


def test_req1_what_one_app_publishes_another_app_consumes(network: cdk.Stack, web: cdk.Stack) -> None:
    bucket = s3.Bucket(network, "Bucket")
    shared.export_bucket(bucket, "JohnnyBucket", description="Johnny's")
    assert exported(network) == {
        "JohnnyBucket-BucketArn": {"Fn::GetAtt": ["Bucket83908E77", "Arn"]},
        "JohnnyBucket-BucketName": {"Ref": "Bucket83908E77"},
    }
    assert {each["Description"] for each in cdk_apps.template(network)["Outputs"].values()} == {"Johnny's"}
    deploy(BUCKET)
    imported = shared.import_bucket(web, "JohnnyBucket", weak=True)
    assert (imported.bucket_name, imported.bucket_arn) == ("johnny", "arn:aws:s3:::johnny")
    assert held(web) == []


def test_req1_strings_and_lists_are_published_and_consumed_too(network: cdk.Stack, web: cdk.Stack) -> None:
    subnets = ["subnet-a", cdk.Fn.ref("Subnet")]
    shared.export_string(network, "Domain", "example.com", description="The domain")
    shared.export_string_list(network, "Subnets", subnets)
    items = {f"Subnets{item(each)}": each for each in ("subnet-a", {"Ref": "Subnet"})}
    assert exported(network) == {
        "Domain": "example.com",
        "Subnets": {"Fn::Join": [",", ["subnet-a", {"Ref": "Subnet"}]]},
        **items,
    }
    deploy({"Domain": "example.com", "Subnets": "subnet-a,subnet-b"})
    assert shared.import_string(web, "Domain") == "example.com"
    assert shared.import_string_list(web, "Subnets") == ["subnet-a", "subnet-b"]
    assert held(web) == ["Domain", "Subnets"]
    queue(web, shared.import_string(web, "Domain", type=LATER))
    assert used(web) == [{"Fn::ImportValue": "Domain"}]


def test_req1_a_list_that_is_known_at_deployment_alone_is_published_by_every_channel(network: cdk.Stack) -> None:
    zone = route53.PublicHostedZone(network, "Zone", zone_name="example.com")
    for via in (None, CrossRegion(regions=[US]), Parameters("/shared")):
        shared.export_string_list(network, "Servers", zone.hosted_zone_name_servers, via=via)
    servers = {"Fn::GetAtt": [network.get_logical_id(zone.node.default_child), "NameServers"]}
    assert exported(network) == {"Servers": {"Fn::Join": [",", servers]}}
    (export,) = cdk_apps.resources(network, "Custom::CrossRegionExport").values()
    assert export["Properties"]["Values"] == {"Servers": servers}
    (parameter,) = cdk_apps.resources(network, "AWS::SSM::Parameter").values()
    assert parameter["Properties"]["Value"] == {"Fn::Join": [",", servers]}


def test_req2_a_composite_construct_is_published_whole(network: cdk.Stack, web: cdk.Stack) -> None:
    """The design's own listing."""
    entrance = WebEntrance(network, "Entrance", ec2.Vpc(network, "Vpc", availability_zones=["eu-west-1a"]))
    shared.export_object(entrance, "Web", entrance)
    assert set(exported(network)) == set(ENTRANCE)
    deploy(ENTRANCE)
    balancer = WebEntrance.deserialize(shared.import_object(web, "Web"))
    assert balancer.load_balancer_arn == ENTRANCE["Web-LoadBalancerArn"]
    (group,) = balancer.connections.security_groups
    assert group.security_group_id == "sg-0123abcd"
    assert WebEntrance.deserialize(shared.import_object(web, "Web")) is balancer
    queue(web, balancer.load_balancer_arn, group.security_group_id)
    assert held(web) == sorted(ENTRANCE)


def test_req1_an_app_of_the_cdk_and_a_program_without_it_share_objects(network: cdk.Stack, web: cdk.Stack) -> None:
    shared.export_bucket(s3.Bucket(network, "Bucket"), "JohnnyBucket")
    plain = PlainTarget("network", EU, ACCOUNT, {"Resources": {"Bucket83908E77": {"Type": "AWS::S3::Bucket"}}})
    Stack(plain).export_object("JohnnyBucket", types.Bucket.of_resource("Bucket83908E77"))
    assert cdk_apps.template(network)["Outputs"] == plain.template()["Outputs"]
    deploy(BUCKET)
    read = types.Bucket.deserialize(Stack(PlainTarget("web", EU, ACCOUNT)).import_object("JohnnyBucket"))
    assert read.bucket_name == shared.import_bucket(web, "JohnnyBucket").bucket_name == "johnny"


def test_req3_a_resource_made_elsewhere_is_referred_to_by_its_arn_or_name(web: cdk.Stack) -> None:
    by_arn = shared.bucket_from_arn(web, "arn:aws:s3:::johnny")
    by_name = shared.bucket_from_name(web, "your-bucket")
    assert (by_arn.bucket_name, by_name.bucket_name) == ("johnny", "your-bucket")
    queue(web, by_name.bucket_arn, shared.queue_from_name(web, "jobs", region=US, account="222222222222").queue_arn)
    assert used(web) == [
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::your-bucket"]]},
        "arn:aws:sqs:us-east-1:222222222222:jobs",
    ]
    assert not Path("strongref.context.json").exists()


def test_req3_it_is_the_same_construct_wherever_in_the_stack_it_is_referred_to(web: cdk.Stack) -> None:
    first = shared.bucket_from_arn(web, "arn:aws:s3:::johnny")
    assert shared.bucket_from_arn(sqs.Queue(web, "Queue"), "arn:aws:s3:::johnny") is first
    assert shared.bucket_from_arn(web, "arn:aws:s3:::other") is not first
    assert shared.bucket_from_arn(cdk_apps.stack(web.node.root, "Other"), "arn:aws:s3:::johnny") is not first
    jobs = [shared.queue_from_name(web, "jobs", region=region) for region in (None, EU, US, EU)]
    assert [each.node.id for each in jobs] == [
        "fromQueueName:jobs",
        "fromQueueName:jobs-Queue",
        "fromQueueName:jobs-2",
        "fromQueueName:jobs-Queue",
    ]
    names = {name: shared.role_from_name(web, name) for name in ("deployer", "reader")}
    assert shared.role_from_name(web, "reader") is names["reader"]
    assert first.node.path == "Web/Strongref/fromBucketArn:arn:aws:s3:::johnny"


def test_req3_an_arn_that_is_known_at_deployment_is_taken_apart_by_cloudformation(web: cdk.Stack) -> None:
    given = cdk.CfnParameter(web, "Given").value_as_string
    bucket = shared.bucket_from_arn(web, given)
    assert shared.bucket_from_arn(web, given) is bucket
    queue(web, bucket.bucket_arn, bucket.bucket_name)
    assert used(web) == [{"Ref": "Given"}, {"Fn::Select": [5, {"Fn::Split": [":", {"Ref": "Given"}]}]}]


def test_req3_what_an_arn_or_id_does_not_tell_is_given(web: cdk.Stack) -> None:
    zone = shared.hosted_zone_from_id(web, "Z0123456789ABC", zone_name="example.com")
    assert (zone.hosted_zone_id, zone.zone_name) == ("Z0123456789ABC", "example.com")
    group = shared.security_group_from_id(web, "sg-0123abcd")
    balancer = shared.application_load_balancer_from_arn(
        web,
        ENTRANCE["Web-LoadBalancerArn"],
        load_balancer_dns_name="web.example.com",
        load_balancer_canonical_hosted_zone_id="Z1",
        security_group=group,
        listener=types.Listener(f"arn:aws:elasticloadbalancing:{EU}:{ACCOUNT}:listener/app/web/0/1"),
    )
    assert balancer.connections.security_groups[0].security_group_id == "sg-0123abcd"
    assert shared.listener_of(balancer).listener_arn.endswith("/web/0/1")
    with pytest.raises(ConstructError, match="zone_name"):
        shared.hosted_zone_from_id(web, "Z0123456789ABC")


def test_req4_the_same_object_goes_through_other_channels(network: cdk.Stack) -> None:
    bucket = s3.Bucket(network, "Bucket")
    for via in (None, CrossRegion(regions=[US], consumer="web"), Parameters("/shared")):
        shared.export_bucket(bucket, "JohnnyBucket", via=via)
    arn, name = {"Fn::GetAtt": ["Bucket83908E77", "Arn"]}, {"Ref": "Bucket83908E77"}
    assert list(exported(network).values()) == [arn, name]
    ((logical_id, export),) = cdk_apps.resources(network, "Custom::CrossRegionExport").items()
    assert export["Properties"] == {
        "ServiceToken": {"Fn::ImportValue": "strongref-exporter"},
        "Region": US,
        "Consumer": "web",
        "Hold": {"Fn::Sub": f"${{AWS::StackName}}-{logical_id}"},
        "Values": {"JohnnyBucket": {"BucketArn": arn, "BucketName": name}},
    }
    stored = [each["Properties"] for each in cdk_apps.resources(network, "AWS::SSM::Parameter").values()]
    assert {each["Name"]: each["Value"] for each in stored} == {
        "/shared/JohnnyBucket/BucketArn": arn,
        "/shared/JohnnyBucket/BucketName": name,
    }


def test_req4_a_function_is_given_an_object_by_its_environment_variables(network: cdk.Stack) -> None:
    bucket = shared.object_of(s3.Bucket(network, "Bucket"), types.Bucket)
    environment = shared.variables(network, "Photos", bucket) | shared.variables(network, "Whole", bucket, one=True)
    lambda_.Function(
        network,
        "Function",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(*_): pass"),
        environment=environment,
    )
    arn, name = {"Fn::GetAtt": ["Bucket83908E77", "Arn"]}, {"Ref": "Bucket83908E77"}
    (function,) = cdk_apps.resources(network, "AWS::Lambda::Function").values()
    variables = function["Properties"]["Environment"]["Variables"]
    assert (variables["PHOTOS_BUCKET_ARN"], variables["PHOTOS_BUCKET_NAME"]) == (arn, name)
    whole = variables["WHOLE"]["Fn::Join"]
    assert whole == ["", ['{"bucketArn": "', arn, '", "bucketName": "', name, '"}']]
    text = "".join(
        {json.dumps(arn): "arn:aws:s3:::x", json.dumps(name): "x"}.get(json.dumps(each), each) for each in whole[1]
    )
    assert types.Bucket.deserialize(from_environment("Whole", {"WHOLE": text})).bucket_name == "x"


def test_req4_the_design_s_json_is_written_by_a_construct(network: cdk.Stack) -> None:
    entrance = WebEntrance(network, "Entrance", ec2.Vpc(network, "Vpc", availability_zones=["eu-west-1a"]))
    ctx = JsonSerializationContext(shared.CdkTarget(network))
    entrance.serialize(ctx)
    balancer, group = (network.get_logical_id(each.node.default_child) for each in (entrance.balancer, entrance.group))
    assert network.resolve(ctx.json) == {
        "loadBalancerArn": {"Ref": balancer},
        "securityGroup": {"securityGroupId": {"Fn::GetAtt": [group, "GroupId"]}},
    }
    read = from_json({"loadBalancerArn": "arn", "securityGroup": {"securityGroupId": "sg-1"}})
    assert read.read_object("SecurityGroup").read_string("SecurityGroupId") == "sg-1"


def test_req5_exported_twice_there_is_one_set_of_outputs(network: cdk.Stack) -> None:
    bucket = s3.Bucket(network, "Bucket")
    shared.export_bucket(bucket, "JohnnyBucket")
    once = exported(network)
    shared.export_bucket(bucket, "JohnnyBucket")
    shared.export_object(network, "JohnnyBucket", types.Bucket.of_resource("Bucket83908E77"))
    assert exported(network) == once


def test_req5_two_different_constructs_of_one_name_are_refused(network: cdk.Stack) -> None:
    shared.export_bucket(s3.Bucket(network, "Bucket"), "JohnnyBucket")
    before = exported(network)
    with pytest.raises(ConstructError, match=r"^Network/Another: JohnnyBucket is already exported") as refused:
        shared.export_bucket(s3.Bucket(network, "Another"), "JohnnyBucket")
    assert isinstance(refused.value.error, ExportedTwiceError)
    assert exported(network) == before


def test_req5_two_stacks_of_an_app_cannot_export_one_name_to_the_same_place(network: cdk.Stack) -> None:
    app = network.node.root
    shared.export_string(network, "Domain", "a.example.com")
    with pytest.raises(ConstructError, match=r"^Other: Domain is exported by stack Network of this app"):
        shared.export_string(cdk_apps.stack(app, "Other"), "Domain", "b.example.com")
    shared.export_string(cdk_apps.stack(app, "There", US), "Domain", "c.example.com")
    shared.export_string(cdk_apps.stack(app, "Across"), "Domain", "d.example.com", via=CrossRegion(regions=[US]))


def test_req6_imported_twice_into_a_stack_it_is_the_same_object(web: cdk.Stack) -> None:
    deploy(BUCKET)
    inner = cdk.CfnOutput(web, "Inner", value="x")
    first = shared.import_bucket(web, "JohnnyBucket")
    assert shared.import_bucket(inner, "JohnnyBucket") is first
    assert shared.import_bucket(inner, "JohnnyBucket", weak=True) is first
    assert shared.import_object(web, "JohnnyBucket") is shared.import_object(inner, "JohnnyBucket")
    later = shared.import_bucket(web, "JohnnyBucket", type=LATER)
    assert later is not first
    assert shared.import_bucket(web, "JohnnyBucket", type=LATER) is later
    assert shared.deserialize(shared.import_object(web, "JohnnyBucket"), types.Bucket) is first


def test_req6_imported_twice_with_other_options_is_refused(web: cdk.Stack) -> None:
    role = {"Jobs-RoleArn": f"arn:aws:iam::{ACCOUNT}:role/jobs", "Jobs-RoleName": "jobs"}
    deploy(role)
    shared.import_role(web, "Jobs", mutable=False)
    with pytest.raises(ConstructError, match="Jobs is already imported with another mutable"):
        shared.import_role(web, "Jobs")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> cdk.Stack:
    """A stack where there is a VPC of two availability zones, with the tags that the design looks for."""
    cloud, tagging = FakeCloudControl(), FakeTagging()
    monkeypatch.setattr(Clients, "cloudcontrol", lambda _self, _region: cloud)
    monkeypatch.setattr(Clients, "tagging", lambda _self, _region: tagging)
    monkeypatch.setattr("strongref_toolkit.aws.Accounts.own", fake_cloudcontrol.ACCOUNT)
    made = Net(cloud, tagging, department="sales", stage="prod")
    made.table("rtb-public", to(GatewayId="igw-1")).table("rtb-nat", to(NatGatewayId="nat-1"))
    for zone in "ab":
        made.subnet(f"subnet-public-{zone}", zone, "rtb-public").subnet(f"subnet-private-{zone}", zone, "rtb-nat")
    made.nat("nat-1", "subnet-public-a")
    return cdk_apps.stack(cdk.App(), "Web", fake_cloudcontrol.REGION, fake_cloudcontrol.ACCOUNT)


def test_req7_a_vpc_is_looked_up_in_the_environment_by_its_tags(environment: cdk.Stack) -> None:
    web = environment
    tags = {"department": "sales", "stage": "prod"}
    vpc = shared.lookup_vpc(web, tags=tags)
    assert shared.lookup_vpc(web, tags=tags) is vpc
    private = vpc.select_subnets(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
    public = vpc.select_subnets(subnet_type=ec2.SubnetType.PUBLIC)
    assert list(private.subnet_ids) == ["subnet-private-a", "subnet-private-b"]
    assert list(public.subnet_ids) == ["subnet-public-a", "subnet-public-b"]
    assert {each.route_table.route_table_id for each in private.subnets} == {"rtb-nat"}
    assert shared.lookup(web, types.Vpc, tags) is vpc


def test_req7_what_is_not_there_is_reported_with_the_construct_s_path(environment: cdk.Stack) -> None:
    web = environment
    with pytest.raises(ConstructError, match=r"^Web: No AWS::EC2::VPC with tags"):
        shared.lookup_vpc(web, tags={"department": "none"})
    assert not Path("strongref.context.json").exists()


def test_req8_a_value_is_resolved_now_or_at_deployment(web: cdk.Stack) -> None:
    deploy(BUCKET)
    now = shared.import_bucket(web, "JohnnyBucket")
    later = shared.import_bucket(web, "JohnnyBucket", type=LATER)
    assert now.bucket_name == "johnny"
    assert cdk.Token.is_unresolved(later.bucket_name)
    queue(web, later.bucket_name)
    assert used(web) == [{"Fn::ImportValue": "JohnnyBucket-BucketName"}]


def test_req8_what_was_resolved_is_kept_for_the_next_run(web: cdk.Stack) -> None:
    deploy(BUCKET)
    shared.import_bucket(web, "JohnnyBucket")
    kept = Path("strongref.context.json").read_text()
    assert set(json.loads(kept).values()) == {*BUCKET.values(), ""}  # It is no website, says the last one.
    cdk_apps.cloudformation(EU).delete_stack(StackName="Network")
    again = cdk_apps.stack(cdk.App(), "Web")
    bucket = shared.import_bucket(again, "JohnnyBucket")
    queue(again, bucket.bucket_name, bucket.bucket_arn)
    assert used(again) == ["johnny", "arn:aws:s3:::johnny"]
    assert held(again) == sorted(BUCKET)
    assert Path("strongref.context.json").read_text() == kept


def test_req8_the_context_file_is_where_the_app_s_context_says() -> None:
    deploy(BUCKET)
    app = cdk.App(context={"strongref:context-file": "other.json"})
    shared.import_bucket(cdk_apps.stack(app, "Web"), "JohnnyBucket")
    assert [each.name for each in Path().iterdir()] == ["other.json"]


def test_req8_what_has_to_be_known_now_is_refused_at_deployment(web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match=r"Vpc.* cannot be imported .*at deployment") as refused:
        shared.import_vpc(web, "Vpc", type=LATER)
    assert isinstance(refused.value.error, UnresolvedImportError)
    with pytest.raises(ConstructError) as listed:
        shared.import_string_list(web, "Subnets", type=LATER)
    assert isinstance(listed.value.error, UnresolvedImportError)


def test_req8_a_stack_for_any_region_imports_at_deployment_alone() -> None:
    """As the CDK has it with its own look-ups: what is found in one place would be wrong in another."""
    anywhere = cdk.Stack(cdk.App(), "Anywhere")
    with pytest.raises(ConstructError, match=r"the region of Anywhere is unknown.*DEPLOYMENT") as refused:
        shared.import_bucket(anywhere, "JohnnyBucket")
    assert isinstance(refused.value.error, UnknownLocationError)
    queue(anywhere, shared.import_bucket(anywhere, "JohnnyBucket", type=LATER).bucket_arn)
    assert used(anywhere) == [{"Fn::ImportValue": "JohnnyBucket-BucketArn"}]


def test_across_regions_an_object_is_imported_and_held_by_one_import(web: cdk.Stack) -> None:
    network = CrossRegion(stack="Network", region=US)
    bucket = shared.import_bucket(web, "JohnnyBucket", type=LATER, via=network)
    subnets = shared.import_string_list(web, "Subnets", type=LATER, via=network)
    queue(web, bucket.bucket_regional_domain_name, cdk.Fn.join("|", subnets))
    ((name, found),) = cdk_apps.resources(web, "Custom::CrossRegionImport").items()
    assert found["Properties"] == {
        "ServiceToken": {"Fn::ImportValue": "strongref-importer"},
        "From": {"Stack": "Network", "Region": US},
        "Names": ["JohnnyBucket.BucketName", "Subnets"],
    }
    domain, joined = used(web)
    assert domain == {
        "Fn::Join": ["", [{"Fn::GetAtt": [name, "JohnnyBucket.BucketName"]}, ".s3.us-east-1.amazonaws.com"]]
    }
    assert joined == {"Fn::Join": ["|", {"Fn::GetAtt": [name, "Subnets"]}]}


def test_parameters_are_imported_weakly_or_not_at_all(web: cdk.Stack) -> None:
    via = Parameters("/shared")
    with pytest.raises(ConstructError, match="weak=True") as refused:
        shared.import_bucket(web, "JohnnyBucket", via=via, type=LATER)
    assert isinstance(refused.value.error, BadStrengthError)
    for name, value in {"BucketArn": "arn:aws:s3:::johnny", "BucketName": "johnny"}.items():
        boto3.client("ssm", EU).put_parameter(Name=f"/shared/JohnnyBucket/{name}", Value=value, Type="String")
    assert shared.import_bucket(web, "JohnnyBucket", via=via, weak=True).bucket_name == "johnny"
    later = shared.import_bucket(web, "JohnnyBucket", via=via, weak=True, type=LATER)
    queue(web, later.bucket_name)
    assert used(web) == ["{{resolve:ssm:/shared/JohnnyBucket/BucketName}}"]


def test_of_a_nested_stack_the_stack_that_is_deployed_exports(network: cdk.Stack) -> None:
    nested = cdk.NestedStack(network, "Nested")
    shared.export_bucket(s3.Bucket(nested, "Bucket"), "JohnnyBucket")
    values = exported(network)
    assert set(values) == set(BUCKET)
    assert all(value["Fn::GetAtt"][1].startswith("Outputs.") for value in values.values())
    inner = json.loads(Path(cdk.App.of(network).outdir, nested.template_file).read_text())
    assert not any("Export" in output for output in inner["Outputs"].values())


def test_what_is_exported_across_regions_has_a_hold(network: cdk.Stack) -> None:
    for name, via in (("A", CrossRegion(regions=[US])), ("B", CrossRegion(consumer="web", hold=False))):
        shared.export_string(network, name, "x", via=via)
    exports = cdk_apps.resources(network, "Custom::CrossRegionExport")
    (held,) = [logical_id for logical_id, each in exports.items() if "Hold" in each["Properties"]]
    hold = {"Fn::Sub": f"${{AWS::StackName}}-{held}"}
    assert exports[held]["Properties"]["Hold"] == hold
    output = {"Value": {"Fn::GetAtt": [held, "Hold"]}, "Export": {"Name": hold}}
    assert cdk_apps.template(network)["Outputs"] == {f"{held}Hold": output}


def test_what_a_nested_stack_exports_is_held_where_its_export_is(network: cdk.Stack) -> None:
    nested = cdk.NestedStack(network, "Nested")
    shared.export_string(nested, "A", "x", via=CrossRegion(regions=[US]))
    (held,) = cdk_apps.resources(network, "Custom::CrossRegionExport")
    assert list(cdk_apps.template(network)["Outputs"]) == [f"{held}Hold"]


def test_a_nested_stack_imports_by_itself(web: cdk.Stack) -> None:
    deploy(BUCKET)
    nested = cdk.NestedStack(web, "Nested")
    queue(nested, shared.import_bucket(nested, "JohnnyBucket").bucket_name)
    across = shared.import_string(nested, "Domain", via=CrossRegion(stack="Network", region=US), type=LATER)
    cdk.CfnOutput(nested, "Across", value=across)
    assert cdk_apps.resources(web, "Custom::CrossRegionImport") == {}
    inner = json.loads(Path(cdk.App.of(web).outdir, nested.template_file).read_text())
    kinds = {each["Type"] for each in inner["Resources"].values()}
    assert kinds == {"Custom::CrossRegionImport", "AWS::SSM::Parameter"}


def test_stacks_of_stages_export_from_where_they_are() -> None:
    app = cdk.App()
    for region in (EU, US):
        stage = cdk.Stage(app, f"Prod-{region}", env=cdk.Environment(region=region, account=ACCOUNT))
        stack = cdk.Stack(stage, "Network")
        shared.export_bucket(s3.Bucket(stack, "Bucket"), "JohnnyBucket")
        assert set(exported(stack)) == set(BUCKET)


def test_a_stack_of_the_same_app_is_deployed_after_the_one_that_it_imports_from(network: cdk.Stack) -> None:
    shared.export_bucket(s3.Bucket(network, "Bucket"), "JohnnyBucket")
    stacks = {name: cdk_apps.stack(network.node.root, name) for name in ("Web", "Alone")}
    shared.import_bucket(stacks["Web"], "JohnnyBucket", type=LATER)
    assert list(stacks["Web"].dependencies) == [network]
    assert list(stacks["Alone"].dependencies) == []
    shared.export_string(stacks["Web"], "Domain", "example.com")
    with pytest.raises(ConstructError, match=r"^Network: The CDK refuses to deploy Web, which exports Domain, before"):
        shared.import_string(network, "Domain", type=LATER)
    deploy({"Domain": "example.com"}, "Web")
    assert shared.import_string(network, "Domain", weak=True) == "example.com"


def test_its_own_exports_a_stack_does_not_import(network: cdk.Stack) -> None:
    shared.export_string(network, "Domain", "example.com")
    with pytest.raises(ConstructError, match=r"^Network: Domain is exported by stack Network itself") as refused:
        shared.import_string(network, "Domain", type=LATER)
    assert isinstance(refused.value.error, OwnExportError)


def test_what_is_not_exported_is_reported_with_what_is_close_to_it(web: cdk.Stack) -> None:
    deploy(BUCKET)
    with pytest.raises(ConstructError, match=r"^Web: There is no JohnyBucket-.*Did you mean JohnnyBucket") as refused:
        shared.import_bucket(web, "JohnyBucket")
    assert isinstance(refused.value.error, NothingToImportError)
    assert not Path("strongref.context.json").exists()


def test_what_the_cdk_refuses_is_reported_without_the_value(web: cdk.Stack) -> None:
    deploy({"Jobs-RoleArn": "hidden-value", "Jobs-RoleName": "jobs"})
    with pytest.raises(ConstructError, match=r"^Web: The CDK refuses the role Jobs: .*<RoleArn>") as refused:
        shared.import_role(web, "Jobs")
    assert "hidden-value" not in str(refused.value)
    shown: BaseException | None = refused.value
    while shown:
        assert "hidden-value" not in str(shown)
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)


def test_an_error_inside_the_cdk_s_own_code_is_readable_and_leaves_nothing_behind(web: cdk.Stack) -> None:
    """Aspects and lazy values are called from the CDK's own process, through which only text comes back."""

    class Importing:
        def visit(self, node: Any) -> None:
            if isinstance(node, sqs.Queue):
                shared.import_bucket(node, "JohnnyBucket")

    sqs.Queue(web, "Queue")
    import jsii  # noqa: PLC0415 (what makes it an aspect)

    cdk.Aspects.of(web).add(jsii.implements(cdk.IAspect)(Importing)())
    with pytest.raises(
        RuntimeError, match="Web/Queue: There is no JohnnyBucket-BucketArn in the CloudFormation exports"
    ):
        cdk_apps.template(web)
    assert list(Path().iterdir()) == []


def test_without_the_cdk_it_says_what_to_install() -> None:
    for missing in ("aws_cdk", "constructs", "jsii"):
        script = f"import sys; sys.modules[{missing!r}] = None; import strongref_cdk"
        ran = subprocess.run(  # noqa: S603
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 1
        last = ran.stderr.splitlines()[-1]
        assert last.endswith("which is not installed: install strongref again, with its extra cdk")
        assert f"strongref_cdk needs {missing}" in last
