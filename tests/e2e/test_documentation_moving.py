"""The page about moving to strongref: its steps in their order, with what there is before and after each.

The emulator reads `Fn::GetStackOutput` within a region only, so that line is replaced by what it would give.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.cdk_stacks import upload
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
    line = app.read_text()
    (shown,) = [block.text for block in blocks("python") if block.page.name == "moving.md"]
    assert f"\n{shown}\n" in line
    without_writers = line.replace(shown, f'{shown}        each.add_metadata("StrongRef", {{"Writers": "remove"}})\n')
    for region in (EU, US):
        aws.client("ssm", region).put_parameter(Name=BOOTSTRAPPED, Value="29", Type="String")

    def synthesize(program: str) -> dict[str, Any]:
        app.write_text(program)
        done = reader.shell(f"CDK_DEFAULT_ACCOUNT={aws.account} CDK_OUTDIR=cdk.out JSII_NODE={NODE} python {app}")
        assert done.returncode == 0, done.stderr
        upload(aws, reader.checkout / "cdk.out")
        found = (reader.checkout / "cdk.out").glob("*.template.json")
        return {path.name.partition(".")[0]: json.loads(path.read_text()) for path in found}

    def deploy(program: str, status: str) -> None:
        templates = synthesize(program)
        for name, region in {"certificate": US, "site": EU}.items():
            aws.deploy(name, templates[name], region, status)

    deploy(line.replace(shown, ""), "CREATE_COMPLETE")
    ((path, value),) = aws.values(EU, "/cdk/exports/").items()
    assert value == aws.physical_ids("certificate", US)["Certificate4E7ABB08"] == _used(aws)
    assert "aws-cdk:strong-ref:site" in aws.tags(EU, path)
    distribution = _distribution(aws)

    deploy(line, "UPDATE_COMPLETE")
    assert "aws-cdk:strong-ref:site" not in aws.tags(EU, path)
    (verify,) = [block.text for block in reader.left if block.text.startswith("strongref check --stack certificate")]
    shown = reader.run("strongref check --stack certificate")
    assert "accepted" in shown
    assert f"{path.rpartition('/')[2]}  eu-west-1  site" in shown
    templates = synthesize(line.replace('domain_name="www', 'domain_name="new'))
    refused = reader.shell(verify)
    assert (refused.returncode, "refused" in refused.stdout) == (1, True), refused.stdout
    aws.deploy("certificate", templates["certificate"], US, "UPDATE_ROLLBACK_COMPLETE")

    deploy(without_writers, "UPDATE_COMPLETE")
    assert aws.values(EU, "/cdk/exports/") == {}
    assert (_used(aws), _distribution(aws)) == (value, distribution)


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
