"""The commands that install strongref, and those of the pages on its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, US, exporting, importing
from tests.support.documents import blocks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/install.md", "docs/security.md", "docs/events.md")

pytestmark = pytest.mark.story


def test_each_command_of_these_pages_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        _install(reader)
        _events(reader)
        # Its regions have different parameters by now, and stacks use it.
        reader.aws.deploy("network", exporting({"CertArn": "arn:x"}, consumer="web"), EU, "CREATE_COMPLETE")
        reader.aws.deploy("web", importing("network", "CertArn"), US, "CREATE_COMPLETE")
        assert "LookupPolicies" in reader.run("strongref status --all-regions", fails=True)
        reader.run("strongref install --all-regions --dry-run")
        assert "in use" in reader.run("strongref uninstall", fails=True)
        # Without its protection, CloudFormation still refuses, since stacks import the functions' ARNs.
        reader.run("aws cloudformation update-termination-protection")
        reader.aws.wait("strongref", US, "UPDATE_COMPLETE")


def _install(reader: Reader) -> None:
    """The installation's parameters: for logs and alarms, for secure values, and for lookups."""
    aws = reader.aws
    reader.run("strongref install --region us-east-1 --region eu-west-1 --dry-run")
    reader.run("sam build\nsam deploy --region us-east-1\n")
    reader.run("strongref install --region us-east-1 --parameter LogRetentionDays=")
    application = aws.client("cloudformation", US).describe_stacks(StackName="strongref")["Stacks"][0]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in application["Parameters"]}
    assert (given["AlarmTopic"][-7:], given["LogRetentionDays"]) == (":alarms", "30")

    reader.run("strongref install --region us-east-1 --parameter KmsKey=")
    exporter = aws.client("lambda", US).get_function_configuration(
        FunctionName=aws.physical_ids("strongref", US)["Exporter"]
    )
    assert exporter["Environment"]["Variables"]["STRONGREF_KMS_KEY"] == "alias/strongref"

    policy = next(block.text for block in blocks("json") if block.page.name == "security.md")
    aws.client("iam", US).create_policy(PolicyName="lookups", PolicyDocument=policy)
    reader.run("strongref install --region us-east-1 --parameter LookupPolicies=")
    role = aws.physical_ids("strongref", US)["LookupRole"]
    attached = aws.client("iam", US).list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    assert [each["PolicyName"] for each in attached] == ["lookups"]


def _events(reader: Reader) -> None:
    """The page of events: the bus of the mails is that of the exporter."""
    reader.run("sam deploy --stack-name strongref-mails")
    reader.run("strongref install --region us-east-1 --parameter EventBus=")
    exporter = reader.aws.physical_ids("strongref", US)["Exporter"]
    configuration = reader.aws.client("lambda", US).get_function_configuration(FunctionName=exporter)
    bus = configuration["Environment"]["Variables"]["STRONGREF_EVENT_BUS"]
    assert bus == reader.aws.outputs("strongref-mails", US)["EventBus"]
    reader.run("sam deploy --stack-name redeploy-web")
