"""The page docs/cdk.md: its programs are the examples, its other lines of code work, its tables are the code's."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_s3 as s3
from constructs import Construct

import strongref_cdk as shared
from strongref.aws.clients import Clients
from strongref_cdk import ConstructError, ResolveType, apps
from strongref_objects import types
from strongref_objects.channels.texts import from_environment
from strongref_objects.synthesis.context_file import CONTEXT_FILE
from strongref_toolkit.errors import NoWayInError
from tests.support import cdk_apps, fake_cloudcontrol
from tests.support.cdk_apps import ACCOUNT, EU
from tests.support.cdk_kinds import ZONES
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.fake_cloudcontrol import FakeCloudControl, FakeTagging
from tests.support.networks import Net, to

PAGE = "docs/cdk.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = ROOT / "examples/cdk"
PUBLIC = {
    name: value
    for name, value in vars(shared).items()
    if not name.startswith("_") and not isinstance(value, ModuleType)
}
PROGRAMS = [block.text for block in blocks("python") if block.page == ROOT / PAGE]
WITHOUT_LOOKUP = {"role"}


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


def test_the_first_program_is_the_example_and_the_others_are_named() -> None:
    """`test_certificate_in_cdk_apps.py` and `test_sharing_in_cdk_apps.py` (tests/e2e) deploy what they write."""
    assert PROGRAMS[0] == (EXAMPLES / "certificate.py").read_text()
    assert [each.name for each in EXAMPLES.iterdir() if f"`examples/cdk/{each.name}`" not in TEXT] == []


def test_the_lines_in_typescript_are_the_example_s() -> None:
    (block,) = (block for block in blocks("ts") if block.page == ROOT / PAGE)
    assert block.text in (EXAMPLES / "certificate.ts").read_text()
    assert all(f"'{name}'" in block.text for name in ("Custom::CrossRegionExport", "Custom::CrossRegionImport"))


def test_every_other_line_of_code_works(stack: cdk.Stack) -> None:
    """One after the other, next to what the page speaks of."""
    network = cdk_apps.stack(stack.node.root, "Commons", fake_cloudcontrol.REGION, fake_cloudcontrol.ACCOUNT)
    other = cdk_apps.stack(cdk.App(), "Other", fake_cloudcontrol.REGION, fake_cloudcontrol.ACCOUNT)
    vpc = ec2.Vpc(network, "Vpc", availability_zones=ZONES)
    names = PUBLIC | {"Construct": Construct, "ec2": ec2, "elbv2": elbv2, "SecurityGroup": types.SecurityGroup}
    names |= {"stack": other, "other": other, "vpc": vpc}
    exports = {
        "Network-Parts": "VpcId,PublicSubnets",
        "Network-VpcId": "vpc-2",
        "Network-PublicSubnets-SubnetIds": "subnet-0a,subnet-0b",
        "Network-PublicSubnets-AvailabilityZones": ",".join(ZONES),
        "Network-PublicSubnets-RouteTableIds": "rtb-a,rtb-b",
        "Web-LoadBalancerArn": "arn:aws:elasticloadbalancing:x:1:loadbalancer/app/a/b",
        "Web-SecurityGroup-SecurityGroupId": "sg-1",
    }
    cdk_apps.deploy(exports, region=fake_cloudcontrol.REGION)
    for text in PROGRAMS[1:]:
        names["stack"] = stack if "lookup_vpc" in text else other
        exec(text, names)  # noqa: S102 (the documentation's)
        if text.startswith("network = import_vpc"):
            assert names["network"].vpc_id == "vpc-2"
        if "class Entrance" in text:
            names["entrance"] = names["Entrance"](network, "Entrance", vpc)
    assert names["network"].vpc_id != "vpc-2"  # The one that was looked up.
    assert names["photos"].bucket_name == "photos"
    assert names["arn"].endswith("/app/a/b")
    assert names["group"].security_group_id == "sg-1"
    written = cdk_apps.template(network)["Outputs"].values()
    assert {"Network-VpcId", "Web-SecurityGroup-SecurityGroupId"} <= {each["Export"]["Name"] for each in written}


@pytest.mark.parametrize("call", re.findall(r"`(import_\w+\([^`=]+, [^`]*=[^`]*\))`", TEXT))
def test_a_call_that_the_text_names_works(stack: cdk.Stack, call: str) -> None:
    role = {"Deployer-RoleArn": "arn:aws:iam::111111111111:role/deployer", "Deployer-RoleName": "deployer"}
    cdk_apps.deploy(role, region=fake_cloudcontrol.REGION)
    assert eval(call, PUBLIC | {"stack": stack}).node.path  # noqa: S307 (the documentation's)


def test_variables_are_read_again_with_from_environment(stack: cdk.Stack) -> None:
    photos = shared.object_of(s3.Bucket(stack, "Bucket"), types.Bucket)
    variables = shared.variables(stack, "Photos", photos)
    assert set(variables) == {"PHOTOS_BUCKET_ARN", "PHOTOS_BUCKET_NAME"}
    run = dict.fromkeys(variables, "x")
    assert types.Bucket.deserialize(from_environment("Photos", run)).bucket_name == "x"


def test_the_ways_to_export_and_import_are_those_of_the_channels() -> None:
    for _, out, into in rows(PAGE, "Choose the importing stacks with via"):
        for code in re.findall(r"`([A-Z]\w+\([^`]*\))`", f"{out} {into}"):
            assert eval(code, dict(PUBLIC))  # noqa: S307 (the documentation's)
    head = TEXT[TEXT.index("## Choose the time") :].split("\n")[2]
    assert re.findall(r"`(\w+)`", head) == [each.name for each in ResolveType]


def test_the_table_of_types_is_that_of_the_functions() -> None:
    table = rows(PAGE, "Ready types")
    of_constructs = {
        name.removeprefix("import_") for name in PUBLIC if f"export_{name.removeprefix('import_')}" in PUBLIC
    }
    assert names_in(table) == of_constructs - {"object", "string", "string_list"}
    for first, named, _ in table:
        name = first.strip("`")
        assert (f"lookup_{name}" in PUBLIC) == (name not in WITHOUT_LOOKUP)
        naming = {each for each in PUBLIC if re.fullmatch(rf"{name}_from_(arn|name|id)", each)}
        assert set(re.findall(r"`(\w+)`", named)) == naming


def test_every_name_of_the_package_is_on_the_page() -> None:
    types_ = names_in(rows(PAGE, "Ready types"))
    of_types = {f"{verb}_{name}" for verb in ("export", "import", "lookup") for name in types_}
    of_others = {"CdkError", "Serializable"}  # A base class, and a type for annotations.
    missing = [name for name in PUBLIC if name not in of_types | of_others and not re.search(rf"\b{name}\b", TEXT)]
    assert missing == []


def test_the_settings_are_those_that_are_read() -> None:
    table = rows(PAGE, "Context keys")
    assert names_in(table) == {apps.CONTEXT_FILE_KEY, apps.ROLE_KEY}
    assert table[0][1] == f"`{CONTEXT_FILE}`"


def test_the_app_s_context_says_the_role_and_the_context_file() -> None:
    app = cdk.App(context={apps.ROLE_KEY: "arn:aws:iam::ACCOUNT:role/reader", apps.CONTEXT_FILE_KEY: "x.json"})
    synthesis = apps.app_of(cdk_apps.stack(app, "Web", EU, ACCOUNT)).synthesis
    assert synthesis._role == "arn:aws:iam::ACCOUNT:role/reader"
    told = f"Give the role to assume in it: the context value {apps.ROLE_KEY}=arn:aws:iam::ACCOUNT:role/NAME"
    with pytest.raises(ConstructError, match=told), apps.at(app):
        raise NoWayInError("222222222222")
    assert synthesis.context_file.path == Path("x.json")
