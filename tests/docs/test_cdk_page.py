"""The page docs/cdk.md: its programs are the examples, its tables are the code's, its facts about the CDK hold."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_rds as rds
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

import strongref_cdk as shared
from strongref.aws.clients import Clients
from strongref_cdk import apps, errors, ready
from strongref_objects import types
from strongref_objects.channels.environment import from_environment
from strongref_objects.synthesis.context_file import CONTEXT_FILE
from tests.support import cdk_apps, fake_cloudcontrol
from tests.support.cdk_apps import ACCOUNT, EU
from tests.support.cdk_errors import CASES
from tests.support.cdk_kinds import ZONES
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.fake_cloudcontrol import FakeCloudControl, FakeTagging
from tests.support.networks import Net, to

PAGE = "docs/cdk.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = {path.name: path.read_text() for path in sorted((ROOT / "examples/cdk").glob("*.py"))}
PUBLIC = {
    name: value
    for name, value in vars(shared).items()
    if not name.startswith("_") and not isinstance(value, ModuleType)
}
PROGRAMS = [block.text for block in blocks("python") if block.page == ROOT / PAGE]
CONSTRUCTS: dict[str, Any] = {
    "bucket": s3.Bucket,
    "queue": sqs.Queue,
    "topic": sns.Topic,
    "key": kms.Key,
    "role": iam.Role,
    "certificate": acm.Certificate,
    "hosted_zone": route53.HostedZone,
    "vpc": ec2.Vpc,
    "security_group": ec2.SecurityGroup,
    "application_load_balancer": elbv2.ApplicationLoadBalancer,
    "listener": elbv2.ApplicationListener,
    "cluster": ecs.Cluster,
    "table": dynamodb.Table,
    "function": lambda_.Function,
}


_elsewhere = cdk_apps.elsewhere


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> cdk.Stack:
    """A stack where there is the VPC that the page looks up."""
    cloud, tagging = FakeCloudControl(), FakeTagging()
    monkeypatch.setattr(Clients, "cloudcontrol", lambda _self, _region: cloud)
    monkeypatch.setattr(Clients, "tagging", lambda _self, _region: tagging)
    monkeypatch.setattr("strongref_toolkit.aws.Accounts.own", fake_cloudcontrol.ACCOUNT)
    made = Net(cloud, tagging, department="sales", stage="prod").table("rtb-public", to(GatewayId="igw-1"))
    for zone in "ab":
        made.subnet(f"subnet-{zone}", zone, "rtb-public")
    return cdk_apps.stack(cdk.App(), "Web", fake_cloudcontrol.REGION, fake_cloudcontrol.ACCOUNT)


def exported(name: str, value: str, region: str) -> None:
    output = {"Value": value, "Export": {"Name": name}}
    body = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Outputs": {"O": output}})
    boto3.client("cloudformation", region).create_stack(StackName=f"of-{name}", TemplateBody=body)


def test_the_programs_are_the_examples_as_they_stand() -> None:
    """`tests/e2e/test_sharing_in_cdk_apps.py` runs those, and deploys what they write."""
    for name, text in EXAMPLES.items():
        assert PROGRAMS.count(text) == 1
        assert f"../examples/cdk/{name}" in TEXT


def test_every_other_line_of_code_works(stack: cdk.Stack) -> None:
    """One after the other, beside what the page speaks of."""
    network = cdk_apps.stack(stack.node.root, "Network", fake_cloudcontrol.REGION, fake_cloudcontrol.ACCOUNT)
    vpc = ec2.Vpc(network, "Vpc", availability_zones=ZONES)
    other = cdk_apps.stack(cdk.App(), "Other", fake_cloudcontrol.REGION, fake_cloudcontrol.ACCOUNT)
    names = PUBLIC | {"stack": stack, "other": other}
    names |= {"bucket": s3.Bucket(stack, "Bucket"), "Bucket": types.Bucket}
    rest = [text for text in PROGRAMS if text not in EXAMPLES.values()]
    assert len(rest) == 4
    exported("Web-LoadBalancerArn", "arn:aws:elasticloadbalancing:x:1:loadbalancer/app/a/b", fake_cloudcontrol.REGION)
    exported("Web-SecurityGroup-SecurityGroupId", "sg-1", fake_cloudcontrol.REGION)
    for text in rest:
        exec(text, names)  # noqa: S102 (the documentation's)
        if "class Entrance" in text:
            names["entrance"] = names["Entrance"](network, "Entrance", vpc)
    assert names["zone"].zone_name == "example.com"
    assert names["balancer"].connections.security_groups[0].security_group_id == "sg-1"
    assert set(names["environment"]) == {"PHOTOS_BUCKET_ARN", "PHOTOS_BUCKET_NAME"}
    run = dict.fromkeys(names["environment"], "x")
    assert types.Bucket.deserialize(from_environment("Photos", run)).bucket_name == "x"


def test_the_table_of_types_is_that_of_the_functions() -> None:
    table = rows(PAGE, "Ready types")
    assert names_in(table) == set(CONSTRUCTS)
    for first, named, made_with, _ in table:
        name = first.strip("`")
        for function in (f"export_{name}", f"import_{name}", *([f"lookup_{name}"] if name != "role" else [])):
            assert function in PUBLIC
        naming = {each for each in PUBLIC if re.fullmatch(rf"{name}_from_(arn|name|id)", each)}
        assert set(re.findall(r"`(\w+_from_\w+)`", named)) == naming
        kind = vars(ready)[name.upper()]
        making = re.findall(r"`(\w+\.from_\w+)`", made_with)
        assert making
        source = inspect.getsource(kind.make)
        assert sorted(re.findall(r"\.(\w+\.from_\w+)\(", source)) == sorted(making)


def test_every_name_of_the_package_is_on_the_page() -> None:
    of_types = {f"{verb}_{name}" for verb in ("export", "import", "lookup") for name in CONSTRUCTS}
    of_others = {"CdkError", "CloudFormation", "Serializable"}  # objects.md speaks of these
    missing = [name for name in PUBLIC if name not in of_types | of_others and not re.search(rf"\b{name}\b", TEXT)]
    assert missing == []


def test_every_error_is_shown() -> None:
    without_text = {errors.CdkError, errors.ConstructError}
    declared = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.CdkError)}
    assert {type(make().error) for make in CASES.values()} == declared - without_text  # type: ignore[attr-defined]


def test_the_settings_are_those_that_are_read() -> None:
    table = rows(PAGE, "Where things go")
    assert names_in(table) == {apps.CONTEXT_FILE_KEY, apps.ROLE_KEY}
    assert table[0][1] == f"`{CONTEXT_FILE}`"


def test_next_to_the_cdk_it_looks_up_those_types_alone() -> None:
    there = {name for name, each in CONSTRUCTS.items() if any("lookup" in method for method in dir(each))}
    assert there == {
        "key",
        "role",
        "hosted_zone",
        "vpc",
        "application_load_balancer",
        "listener",
        "security_group",
    }
    by_tags = {
        name for name in there if "tags" in str(inspect.signature(getattr(CONSTRUCTS[name], "from_lookup", len)))
    }
    assert by_tags == {"vpc", "application_load_balancer", "listener"}


def test_next_to_the_cdk_a_lookup_gives_made_up_values_first_and_none_without_a_place() -> None:
    here = cdk_apps.stack(cdk.App(), "Here")
    assert ec2.Vpc.from_lookup(here, "Vpc", tags={"stage": "prod"}).vpc_id == "vpc-12345"
    with pytest.raises(RuntimeError, match="account/region are not specified at the stack level"):
        ec2.Vpc.from_lookup(cdk.Stack(cdk.App(), "Anywhere"), "Vpc", tags={"stage": "prod"})


def test_next_to_the_cdk_an_imported_value_is_always_a_token_and_lists_are_joined_with_bars() -> None:
    app = cdk.App()
    network = cdk_apps.stack(app, "Network")
    assert cdk.Token.is_unresolved(cdk.Fn.import_value("x"))
    zone = route53.PublicHostedZone(network, "Zone", zone_name="example.com")
    servers = network.export_string_list_value(zone.hosted_zone_name_servers)
    assert network.resolve(servers)["Fn::Split"][0] == "||"
    bucket = s3.Bucket(network, "Bucket")
    name = network.resolve(network.export_value(bucket.bucket_name))["Fn::ImportValue"]
    assert network.get_logical_id(bucket.node.default_child) in name


def test_next_to_the_cdk_one_name_in_two_stacks_is_found_in_the_deployment_alone() -> None:
    app = cdk.App()
    for name in ("One", "Two"):
        stack = cdk_apps.stack(app, name)
        cdk.CfnOutput(stack, "Output", value=name, export_name="JohnnyBucket")
    assert {each.stack_name for each in app.synth().stacks} == {"One", "Two"}


@pytest.mark.parametrize("flag", [False, True])
def test_next_to_the_cdk_across_regions_only_what_has_no_name_of_its_own_needs_the_flag(*, flag: bool) -> None:
    def used(attribute: str) -> str:
        app = cdk_apps.app()
        network = cdk_apps.stack(app, "Network")
        env = cdk.Environment(region="us-east-1", account=ACCOUNT)
        there = cdk.Stack(app, "There", env=env, cross_region_references=flag)
        cdk.CfnOutput(there, "Used", value=getattr(s3.Bucket(network, "Bucket"), attribute))
        value: dict[str, list[str]] = cdk_apps.template(there)["Outputs"]["Used"]["Value"]
        return value["Fn::GetAtt"][1]

    assert used("bucket_domain_name").startswith("/cdk/exports/There/")
    if flag:
        assert used("bucket_arn").startswith("/cdk/exports/There/")
    else:
        with pytest.raises(RuntimeError, match="physical name must be explicit set"):
            used("bucket_arn")


def test_next_to_the_cdk_weak_references_are_outputs_of_stacks_across_regions_and_accounts_too() -> None:
    app = cdk_apps.app()
    network = cdk_apps.stack(app, "Network")
    certificate = acm.CfnCertificate(network, "Certificate", domain_name="example.com")
    for name, region, account in (("Beside", EU, ACCOUNT), ("There", "us-east-1", ACCOUNT)):
        value = cdk.Stack.consume_reference(certificate.ref, cdk.ReferenceStrength.WEAK)
        cdk.CfnOutput(cdk_apps.stack(app, name, region, account), "Used", value=value)
    cdk.CfnOutput(cdk_apps.stack(app, "Theirs", "us-east-1", "222222222222"), "Used", value=certificate.ref)
    cdk.CfnOutput(network, "Other", value=cdk.Fn.get_stack_output("Stack", "Output", "us-east-1", "role"))
    found = {each.stack_name: each.template["Outputs"] for each in app.synth().stacks}
    weak = [found[name]["Used"]["Value"]["Fn::GetStackOutput"] for name in ("Beside", "There", "Theirs")]
    assert {(each["StackName"], each["Region"]) for each in weak} == {("Network", EU)}
    assert ["RoleArn" in each for each in weak] == [False, False, True]
    assert found["Network"]["Other"]["Value"]["Fn::GetStackOutput"]["RoleArn"] == "role"
    weakly = cdk.App(context={"@aws-cdk/core:defaultCrossStackReferences": "weak"})
    bucket = s3.Bucket(cdk_apps.stack(weakly, "Network"), "Bucket")
    web = cdk_apps.stack(weakly, "Web")
    cdk.CfnOutput(web, "Used", value=bucket.bucket_arn)
    assert "Fn::GetStackOutput" in cdk_apps.template(web)["Outputs"]["Used"]["Value"]
    assert {"of", "consume", "produce"} <= set(dir(cdk.CrossStackReferences))


def test_next_to_the_cdk_it_looks_up_more_types_than_are_ready() -> None:
    others = [ec2.PrefixList, ecr.Repository, elbv2.NetworkLoadBalancer, elbv2.NetworkListener]
    others += [rds.DatabaseCluster, rds.DatabaseInstance]
    assert all(hasattr(each, "from_lookup") for each in others)


def test_the_app_s_context_says_the_role_and_the_context_file() -> None:
    app = cdk.App(context={apps.ROLE_KEY: "arn:aws:iam::ACCOUNT:role/reader", apps.CONTEXT_FILE_KEY: "x.json"})
    synthesis = apps.app_of(cdk_apps.stack(app, "Web", EU, ACCOUNT)).synthesis
    assert synthesis._role == "arn:aws:iam::ACCOUNT:role/reader"
    assert synthesis.context_file.path == Path("x.json")
