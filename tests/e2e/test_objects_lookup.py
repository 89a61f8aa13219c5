"""Objects that are found in an account: a VPC by its tags, and by the command what stacks have exported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.harness import Aws
from tests.e2e.templates import EU, stack
from tests.support.schemas import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Template
    from tests.support.emulator.control import Emulator

ACCOUNT = "777777777702"
COMMAND = Path(sys.executable).with_name("strongref")
DEPARTMENT = {"Key": "department", "Value": "sales"}


@pytest.fixture
def own(emulator: Emulator) -> Aws:
    """An account that nothing else is in."""
    return Aws(emulator, ACCOUNT)


def run(aws: Aws, *command: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
    environment = aws.emulator.env(aws.account, EU) | given.pop("env", {})
    return subprocess.run(  # noqa: S603 (our own)
        list(map(str, command)), env=environment, capture_output=True, text=True, check=False, **given
    )


def of(logical_id: str) -> Template:
    return {"Ref": logical_id}


def network(stage: str) -> Template:
    """A VPC whose tiers nothing tells but routes, and one subnet that tells its own."""
    resources: dict[str, Any] = {
        "Vpc": {
            "Type": "AWS::EC2::VPC",
            "Properties": {"CidrBlock": "10.0.0.0/16", "Tags": [DEPARTMENT, {"Key": "stage", "Value": stage}]},
        },
        "Gateway": {"Type": "AWS::EC2::InternetGateway"},
        "Attachment": {
            "Type": "AWS::EC2::VPCGatewayAttachment",
            "Properties": {"VpcId": of("Vpc"), "InternetGatewayId": of("Gateway")},
        },
        "WayOut": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": of("PublicTable"),
                "DestinationCidrBlock": "0.0.0.0/0",
                "GatewayId": of("Gateway"),
            },
        },
    }
    for number, (name, tier) in enumerate(
        [("Public", None), ("Private", None), ("Isolated", None), ("Data", "Isolated")]
    ):
        resources[f"{name}Table"] = {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": of("Vpc")}}
        resources[name] = {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": of("Vpc"),
                "CidrBlock": f"10.0.{number}.0/24",
                "AvailabilityZone": f"{EU}{'b' if name == 'Data' else 'a'}",
                "Tags": [{"Key": "aws-cdk:subnet-type", "Value": tier}] if tier else [],
            },
        }
        resources[f"{name}Association"] = {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": of(name), "RouteTableId": of(f"{name}Table")},
        }
    return stack(resources)


PROGRAM = """
import json, sys
from strongref_objects.lookups import lookup, lookup_vpc
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import Topic

target = PlainTarget("web", "eu-west-1")
stack = Stack(target)
vpc = lookup_vpc(stack, tags={"department": "sales", "stage": sys.argv[1]})
assert lookup_vpc(stack, tags={"stage": sys.argv[1], "department": "sales"}) is vpc
group = {"GroupDescription": "x", "VpcId": vpc.vpc_id}
target.put_resource("Group", "AWS::EC2::SecurityGroup", group)
for tier in ("public", "private", "isolated"):
    subnets = getattr(vpc, f"{tier}_subnets")
    for name in ("subnet_ids", "availability_zones", "route_table_ids"):
        value = ",".join(getattr(subnets, name))
        target.put_output((tier + name).title().replace("_", ""), value, export=None, description=None)
target.put_output("Nat", ",".join(vpc.nat_gateway_ids), export=None, description=None)
print(json.dumps(target.template()))
"""


def test_req7_a_vpc_is_found_by_its_tags_and_the_template_that_uses_it_deploys(
    own: Aws, names: Callable[[str], str], tmp_path: Path
) -> None:
    stage = names("prod")
    own.deploy(names("network"), network(stage), EU, "CREATE_COMPLETE")
    own.deploy(names("another"), network(names("test")), EU, "CREATE_COMPLETE")
    ids = own.physical_ids(names("network"), EU)
    ec2 = own.client("ec2", EU)  # Its CloudFormation makes no NAT gateways.
    nat = ec2.create_nat_gateway(SubnetId=ids["Public"])["NatGateway"]["NatGatewayId"]
    ec2.create_route(RouteTableId=ids["PrivateTable"], DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)

    done = run(own, sys.executable, "-c", PROGRAM, stage, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    outputs = own.deploy(names("web"), json.loads(done.stdout), EU, "CREATE_COMPLETE").outputs
    assert outputs == {
        "PublicsubnetIds": ids["Public"],
        "PublicavailabilityZones": f"{EU}a",
        "PublicrouteTableIds": ids["PublicTable"],
        "PrivatesubnetIds": ids["Private"],
        "PrivateavailabilityZones": f"{EU}a",
        "PrivaterouteTableIds": ids["PrivateTable"],
        "IsolatedsubnetIds": f"{ids['Isolated']},{ids['Data']}",
        "IsolatedavailabilityZones": f"{EU}a,{EU}b",
        "IsolatedrouteTableIds": f"{ids['IsolatedTable']},{ids['DataTable']}",
        "Nat": nat,
    }

    nowhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    # The account is asked for once more, as it was not given; what was found is in the context file.
    program = PROGRAM.replace('"eu-west-1")', f'"eu-west-1", "{ACCOUNT}")')
    again = run(own, sys.executable, "-c", program, stage, cwd=tmp_path, env=nowhere)
    assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr
    kept = run(own, COMMAND, "objects", "context", "--reset", f"department=sales&stage={stage}", cwd=tmp_path)
    row = [EU, ACCOUNT, "lookup", f"department=sales&stage={stage}", "Vpc/AWS.EC2.VPC"]
    assert [line.split() for line in kept.stdout.splitlines()[1:-1]] == [row]
    assert kept.stdout.endswith("1 value removed from strongref.context.json.\n")
    lost = run(own, sys.executable, "-c", program, names("none"), cwd=tmp_path)
    assert f"No AWS::EC2::VPC with tags department, stage in {EU} (0 checked)." in lost.stderr.splitlines()[-1]


SHOP = """
import json

from strongref_objects import PlainTarget, Stack
from strongref_objects.lookups import lookup_vpc

target = PlainTarget("shop", region="eu-west-1")
vpc = lookup_vpc(Stack(target), tags={"department": "sales", "stage": "prod"})
target.put_resource("Group", "AWS::EC2::SecurityGroup", {"GroupDescription": "Of the shop", "VpcId": vpc.vpc_id})
assert vpc.private_subnets
for number, subnet in enumerate(vpc.private_subnets.subnet_ids):
    target.put_output(f"Subnet{number}", subnet, export=None, description="Of the private tier")
print(json.dumps(target.template()))
"""


def test_a_program_makes_a_stack_in_the_vpc_that_it_finds(
    own: Aws, names: Callable[[str], str], tmp_path: Path
) -> None:
    own.deploy(names("network"), network("prod"), EU, "CREATE_COMPLETE")
    ids = own.physical_ids(names("network"), EU)
    tag = {"Key": "aws-cdk:subnet-type", "Value": "Private"}
    own.client("ec2", EU).create_tags(Resources=[ids["Data"]], Tags=[tag])
    done = run(own, sys.executable, "-c", SHOP, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    outputs = own.deploy(names("shop"), json.loads(done.stdout), EU, "CREATE_COMPLETE").outputs
    assert outputs == {"Subnet0": ids["Data"]}


ACTIONS = [
    *("tag:GetResources", "cloudformation:GetResource", "cloudformation:ListResources"),
    *("ec2:DescribeVpcs", "ec2:DescribeVpcAttribute", "ec2:DescribeVpcEncryptionControls"),
    *("ec2:DescribeSecurityGroups", "ec2:DescribeNetworkAcls"),
    *("ec2:DescribeSubnets", "ec2:DescribeRouteTables", "ec2:DescribeNatGateways"),
]
"""What the documentation says that whoever looks VPCs up has to be allowed."""


def test_who_looks_a_vpc_up_needs_what_is_documented_and_no_more(
    own: Aws, names: Callable[[str], str], tmp_path: Path
) -> None:
    stage, user = names("prod"), names("reader")
    own.deploy(names("network"), network(stage), EU, "CREATE_COMPLETE")
    iam = own.client("iam", EU)
    iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    environment = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    looking = "from strongref_objects.lookups import LookupEnvironment, lookup_vpc\n"
    looking += f"vpc = lookup_vpc(LookupEnvironment({EU!r}), {{'department': 'sales', 'stage': {stage!r}}})\n"
    looking += "print(vpc.vpc_id, vpc.availability_zones)"

    def look(actions: list[str]) -> subprocess.CompletedProcess[str]:
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=user, PolicyName="looks", PolicyDocument=document)
        return run(own, sys.executable, "-c", looking, cwd=tmp_path, env=environment)

    for missing in ("tag:GetResources", "ec2:DescribeRouteTables"):
        denied = look([action for action in ACTIONS if action != missing])
        assert "LookUpDeniedError" in denied.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
    done = look(ACTIONS)
    vpc = own.physical_ids(names("network"), EU)["Vpc"]
    assert done.stdout == f"{vpc} ['{EU}a', '{EU}b']\n", done.stderr


EXPORTING = """
import json
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import Queue

target = PlainTarget("producer")
stack = Stack(target)
target.put_resource("Jobs", "AWS::SQS::Queue", {})
for via in (CloudFormation(), CrossRegion(), Parameters("/PREFIX")):
    stack.export_object("NAME", Queue.of_resource("Jobs"), via=via)
print(json.dumps(target.template()))
"""


def test_req4_scripts_read_an_object_by_its_name_through_every_channel(
    aws: Aws, names: Callable[[str], str], tmp_path: Path
) -> None:
    name, producer = names("Jobs").replace("-", ""), names("producer")
    program = EXPORTING.replace("NAME", name).replace("PREFIX", producer)
    template = json.loads(run(aws, sys.executable, "-c", program, cwd=tmp_path).stdout)
    aws.deploy(producer, template, EU, "CREATE_COMPLETE")
    url = aws.physical_ids(producer, EU)["Jobs"]
    expected = {"queueUrl": url, "queueName": url.rpartition("/")[2]}
    expected["queueArn"] = f"arn:aws:sqs:{EU}:{aws.account}:{expected['queueName']}"
    ways = (
        ["--via", "cloudformation"],
        ["--via", "strongref", "--stack", producer],
        ["--via", "ssm", "--prefix", f"/{producer}"],
    )
    for way in ways:
        document = json.loads(run(aws, COMMAND, "objects", "list", *way, "--output", "json").stdout)
        validate("objects-list", document)
        assert name in [each["name"] for each in document["objects"]]
        shown = run(aws, COMMAND, "objects", "show", name, *way)
        assert f"  QueueUrl: {url}" in shown.stdout.splitlines(), shown.stderr
        for more in ([], ["--type", "Queue"]):
            done = run(aws, COMMAND, "objects", "export", name, "--format", "json", *way, *more)
            assert json.loads(done.stdout) == expected
        command = f"{COMMAND} objects export {name} --name jobs --format env {' '.join(way)}"
        assert run(aws, "/bin/sh", "-c", f'eval "$({command})"; echo "$JOBS_QUEUE_URL"').stdout == f"{url}\n"
    missing = run(aws, COMMAND, "objects", "export", f"{name}x", "--format", "env")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert f"Did you mean {name}" in missing.stderr
    aws.delete(producer, EU)
