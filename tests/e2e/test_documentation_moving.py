"""The page about moving to strongref: its steps in their order, with what there is before and after each.

The emulator reads `Fn::GetStackOutput` within a region only, so that line is replaced by what it would give. It runs
no code of the CDK's: the functions of its templates are replaced by ones that make the same calls.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, US
from tests.support.documents import blocks, example, load, rows
from tests.support.node import NODE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Aws
    from tests.support.emulator.control import Emulator


PAGES = ("docs/moving.md",)

IMPORTED = "!GetAtt Imports.BucketArn"
OLD = "photos-BucketArn"
EXPORTED = f", Export: {{Name: {OLD}}}"
BOOTSTRAPPED = "/cdk-bootstrap/hnb659fds/version"
"""What `cdk bootstrap` leaves in a region, and a stack of the CDK asks for."""

FUNCTIONS = """
import json, urllib.request
import boto3

def handler(event, context):
    given, old = ({**each.get("WriterProps", {}), **each.get("ReaderProps", {})} for each in
                  (event["ResourceProperties"], event.get("OldResourceProperties", {})))
    ssm = boto3.client("ssm", region_name=given["region"])
    gone = event["RequestType"] == "Delete"
    if "exports" in given:
        there = {} if gone else given["exports"]
        were = given["exports"] if gone else old.get("exports", {})
        if names := sorted(set(were) - set(there)):
            ssm.delete_parameters(Names=names)
        for name in sorted(set(there) - set(were)):
            ssm.put_parameter(Name=name, Value=there[name], Type="String", Overwrite=True)
    else:
        key = "aws-cdk:strong-ref:" + given["prefix"]
        for name in given["imports"]:
            if gone:
                ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=[key])
            else:
                tags = [{"Key": key, "Value": "true"}]
                ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=tags)
    same = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    body = {**same, "Status": "SUCCESS", "PhysicalResourceId": same["LogicalResourceId"]}
    body["Data"] = given.get("imports", {})
    request = urllib.request.Request(event["ResponseURL"], json.dumps(body).encode(), method="PUT")
    urllib.request.urlopen(request)
"""
"""What cross-region-ssm-writer-handler and cross-region-ssm-reader-handler of aws-cdk-lib 2.275.0 do, in Python."""


@pytest.mark.story
def test_each_step_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        _from_import_value_and_get_stack_output(reader)
        _from_the_cdk(reader)
        _from_another_account(reader)


def _from_import_value_and_get_stack_output(reader: Reader) -> None:
    aws = reader.aws
    old = {name.strip("`"): before.strip("`") for name, before in rows("docs/moving.md", "From `Fn::ImportValue`")}
    photos = reader.checkout / "examples/moving/photos.yaml"
    both = photos.read_text()

    # Before: CloudFormation's export, read in its region by Fn::ImportValue, and in the other by Fn::GetStackOutput.
    template = load(example("moving/photos"))
    del template["Resources"]["Exports"], template["Outputs"]["ExportsHold"]
    aws.deploy("photos", template, EU, "CREATE_COMPLETE")
    arn = aws.outputs("photos", EU)["BucketArn"]
    lines = {EU: old["Fn::ImportValue"], US: old["Fn::GetStackOutput"]}
    for region, line in lines.items():
        before = load(example("moving/albums").replace(IMPORTED, line))
        del before["Resources"]["Imports"]
        statement = before["Resources"]["Reader"]["Properties"]["PolicyDocument"]["Statement"][0]
        if region == US:
            assert statement["Resource"] == {
                "Fn::GetStackOutput": {"StackName": "photos", "OutputName": "BucketArn", "Region": EU}
            }
            statement["Resource"] = arn
        aws.deploy("albums", before, region, "CREATE_COMPLETE")
        assert _resource(aws, region) == arn
    policies = {region: aws.physical_ids("albums", region)["Reader"] for region in (EU, US)}

    reader.run("aws cloudformation deploy --stack-name photos")  # Step 1
    assert _in_use(aws) == {"albums"}
    (check,) = [block.text for block in blocks("sh") if block.text.startswith("strongref check --stack photos")]
    assert EXPORTED in both
    photos.write_text(both.replace(EXPORTED, ""))
    early = reader.shell(check)
    assert (early.returncode, "(eu-west-1): refused" in early.stdout) == (1, True), early.stdout
    photos.write_text(both)
    own = load(example("moving/albums").replace(IMPORTED, old["Your own SSM parameter"]))
    del own["Resources"]["Imports"]
    aws.client("ssm", US).put_parameter(Name="/photos/bucket-arn", Value=arn, Type="String")
    aws.deploy("songs", own, US, "CREATE_COMPLETE")
    policy = aws.physical_ids("songs", US)["Reader"]
    aws.deploy("songs", load(example("moving/albums")), US, "UPDATE_COMPLETE")
    assert (aws.physical_ids("songs", US)["Reader"], _resource(aws, US, "songs")) == (policy, arn)
    aws.delete("songs", US)
    reader.run("aws cloudformation deploy --stack-name albums")  # Step 2
    for region, policy in policies.items():
        assert aws.physical_ids("albums", region)["Reader"] == policy
        assert _resource(aws, region) == arn
    shown = reader.run("strongref who photos")  # Step 3
    shown_rows = [line.split() for line in shown.splitlines()]
    assert [line[1] for line in shown_rows if line[-1:] == ["albums"]] == [EU, US]
    photos.write_text(both.replace(EXPORTED, ""))
    assert "accepted" in reader.run("strongref check --stack photos")
    # The emulator's change sets see no change of outputs alone, so this is an update.
    aws.deploy("photos", load(photos.read_text()), EU, "UPDATE_COMPLETE")
    assert _in_use(aws) == set()
    assert aws.outputs("photos", EU)["BucketArn"] == arn
    aws.delete("photos", EU, "UPDATE_COMPLETE")
    assert "in use by strongref-hold-" in "".join(aws.reasons("photos", EU))
    for region in (EU, US):
        aws.delete("albums", region)
    aws.delete("photos", EU)


def _from_another_account(reader: Reader) -> None:
    here, there = reader.aws, reader.there
    for template in (reader.checkout / "examples/accounts").glob("*.yaml"):
        template.write_text(reader.own(template.read_text()))
    network, web = (
        load((reader.checkout / f"examples/accounts/{name}.yaml").read_text()) for name in ("network", "web")
    )

    # Before: an output, and what Fn::GetStackOutput makes of it.
    network["Outputs"] = {"Cidr": {"Value": network["Resources"].pop("Exports")["Properties"]["Values"]["Cidr"]}}
    here.deploy("network", network, EU, "CREATE_COMPLETE")
    del web["Resources"]["Imports"]
    rule = web["Resources"]["FromTheNetwork"]["Properties"]["SecurityGroupIngress"][0]
    rule["CidrIp"] = web["Outputs"]["Cidr"]["Value"] = here.outputs("network", EU)["Cidr"]
    there.deploy("web", web, US, "CREATE_COMPLETE")
    before = there.physical_ids("web", US)

    both = [block for block in blocks("sh") if block.page.name == "accounts.md"][:2]
    for block, is_there in zip(both, (True, False), strict=True):
        assert reader.shell(reader.own(block.text), there=is_there).returncode == 0, block
    reader.run("aws cloudformation deploy --stack-name network")  # Step 1
    reader.run("aws cloudformation deploy --stack-name web", there=True)  # Step 2
    assert before.items() <= there.physical_ids("web", US).items()
    assert there.outputs("web", US) == {"Cidr": "10.0.0.0/16"}
    assert " Cidr " in reader.run("strongref list --importer web", there=True)  # Step 3


def _from_the_cdk(reader: Reader) -> None:
    aws, app = reader.aws, reader.checkout / "examples/moving/app.py"
    step_2 = app.read_text()
    (shown,) = [block.text for block in blocks("python") if block.page.name == "moving.md"]
    assert f"\n{shown}\n" in step_2
    step_1 = re.sub(r"# Step 2\n(.+\n)+", "", step_2).replace("certificate=imported,", "certificate=certificate,")
    before = re.sub(r"\nexport_certificate\(.*\n", "", step_1)
    step_3 = step_2.replace(", cross_region_references=True", "")
    assert len({before, step_1, step_2, step_3}) == 4
    for region in (EU, US):
        aws.client("ssm", region).put_parameter(Name=BOOTSTRAPPED, Value="29", Type="String")

    def synthesize(program: str) -> dict[str, Any]:
        app.write_text(program)
        done = reader.shell(f"CDK_DEFAULT_ACCOUNT={aws.account} CDK_OUTDIR=cdk.out JSII_NODE={NODE} python {app}")
        assert done.returncode == 0, done.stderr
        found = (reader.checkout / "cdk.out").glob("*.template.json")
        return {path.name.partition(".")[0]: _with_our_functions(json.loads(path.read_text())) for path in found}

    def deploy(name: str, templates: dict[str, Any], status: str = "UPDATE_COMPLETE") -> None:
        aws.deploy(name, templates[name], {"certificate": US, "site": EU}[name], status)

    templates = synthesize(before)
    for name in ("certificate", "site"):
        deploy(name, templates, "CREATE_COMPLETE")
    ((path, value),) = aws.values(EU, "/cdk/exports/").items()
    assert value == aws.physical_ids("certificate", US)["Certificate4E7ABB08"]
    assert "aws-cdk:strong-ref:site" in aws.tags(EU, path)
    assert _used(aws) == value
    distribution = _distribution(aws)

    deploy("certificate", synthesize(step_1))
    templates = synthesize(step_2)
    deploy("site", templates)
    assert _used(aws) == value
    assert _distribution(aws) == distribution
    assert "CrossRegionExportReader" not in json.dumps(templates["site"])
    assert "aws-cdk:strong-ref:site" not in aws.tags(EU, path)
    templates = synthesize(step_3)
    shown = reader.run("strongref who certificate")
    assert "accepted" in shown
    assert "Site.CertificateArn  eu-west-1  site" in shown
    deploy("certificate", templates)
    assert aws.values(EU, "/cdk/exports/") == {}
    assert _used(aws) == value


def _with_our_functions(template: dict[str, Any]) -> dict[str, Any]:
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Function":
            ours = {"Code": {"ZipFile": FUNCTIONS}, "Handler": "index.handler", "Runtime": "python3.13"}
            resource["Properties"].update(ours)
    return template


def _distribution(aws: Aws) -> str:
    (found,) = [each for name, each in aws.physical_ids("site", EU).items() if name.startswith("Distribution")]
    return found


def _used(aws: Aws) -> str:
    """The certificate of the site."""
    config = aws.client("cloudfront", EU).get_distribution(Id=_distribution(aws))["Distribution"]["DistributionConfig"]
    found: str = config["ViewerCertificate"]["ACMCertificateArn"]
    return found


def _in_use(aws: Aws) -> set[str]:
    """The stacks that import CloudFormation's export."""
    client = aws.client("cloudformation", EU)
    exports = {each["Name"] for page in client.get_paginator("list_exports").paginate() for each in page["Exports"]}
    return set(client.list_imports(ExportName=OLD)["Imports"]) if OLD in exports else set()


def _resource(aws: Aws, region: str, stack: str = "albums") -> str:
    """What the policy of the albums is about."""
    iam, arn = aws.client("iam", region), aws.physical_ids(stack, region)["Reader"]
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
    found: str = document["Statement"][0]["Resource"]
    return found
