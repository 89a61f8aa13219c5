"""The three commands as they are typed, without an installation: usage errors, and an AWS that cannot be called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest

import strongref_cli as cli
from strongref_cli.install import commands, installed
from strongref_cli.install.errors import InstallError
from strongref_cli.install.stacks import RegionStacks
from strongref_toolkit.errors import AwsCallError, UsageError
from tests.support.empty_aws import empty_aws

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strongref.errors import StrongRefError

EU, US = "eu-west-1", "us-east-1"


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with empty_aws(monkeypatch):
        yield


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["install", "--region", EU, "--parameter", "ReadLag"],
            "--parameter must be a name and a value with = between them",
        ),
        (["install", "--region", EU, "--tag", "=a"], "--tag must be a name and a value with = between them"),
        (
            ["install", "--region", EU, "--parameter", "Readlag=1"],
            "--parameter Readlag: the installation has no such parameter. Did you mean ReadLag?",
        ),
        (
            ["install", "--dry-run", "--region", EU, "--parameter", "ReadLag=11"],
            "--parameter ReadLag is not valid: it must be a number from 0 to 10.",
        ),
        (
            ["install", "--region", EU, "--parameter", "Zzz=1"],
            "--parameter Zzz: the installation has no such parameter. The parameters are PermissionsBoundary,",
        ),
        (["status"], "no region: give --region, or set AWS_REGION"),
        (["uninstall", "--region", "not a region"], "'not a region' is not a region that this botocore knows."),
        (["install", "--region", EU, "--stack", ""], "--stack is empty: is a variable not set?"),
    ],
)
def test_usage_errors_are_one_line_and_change_nothing(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"strongref: {message}")
    assert (shown.out, shown.err.count("\n")) == ("", 1)


def test_regions_are_given_or_all_but_not_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status", "--region", EU, "--all-regions"]) == 2
    assert "not allowed with argument --region" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["install", "status", "uninstall"])
def test_without_credentials_the_exit_status_is_3(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert cli.main([command, "--region", EU]) == 3
    shown = capsys.readouterr()
    assert shown.err == (
        "strongref: The caller's account could not be determined: NoCredentialsError. Configure AWS credentials: "
        "sign in, set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n"
    )
    assert shown.out == ""


def test_a_profile_gives_the_region_and_the_credentials(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    keys = "aws_access_key_id = testing\naws_secret_access_key = testing\n"
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    (tmp_path / "config").write_text(f"[profile other]\nregion = {US}\n{keys}")
    assert cli.main(["status", "--profile", "other", "--output", "json"]) == 1
    assert [each["region"] for each in json.loads(capsys.readouterr().out)["regions"]] == [US]


def test_a_region_that_is_given_twice_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status", "--region", EU, "--region", US, "--region", EU, "--output", "json"]) == 1
    assert [each["region"] for each in json.loads(capsys.readouterr().out)["regions"]] == [EU, US]


def test_all_regions_are_those_of_the_account(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["install", "--all-regions", "--dry-run", "--output", "json"]) == 0
    regions = {each["region"]: each["result"] for each in json.loads(capsys.readouterr().out)["regions"]}
    assert {EU, US} < set(regions)
    assert set(regions.values()) == {"would install"}


def test_regions_without_strongref_are_not_shown_where_nobody_named_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["uninstall", "--all-regions", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert ("strongref is installed in none of " in shown, EU in shown) == (True, False)
    assert cli.main(["uninstall", "--region", EU, "--dry-run"]) == 0
    assert "not installed" in capsys.readouterr().out


def test_a_dry_run_installs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["install", "--region", EU, "--dry-run", "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["dryRun"], [each["result"] for each in document["regions"]]) == (True, ["would install"])
    assert boto3.client("s3", region_name=EU).list_buckets()["Buckets"] == []
    assert boto3.client("cloudformation", region_name=EU).describe_stacks()["Stacks"] == []


def refusing(region: str, error: StrongRefError) -> Any:
    real = installed.find

    def find(stacks: Any, *args: Any, **more: Any) -> Any:
        if stacks.where.region == region:
            raise error
        return real(stacks, *args, **more)

    return find


@pytest.mark.parametrize(
    "error", [InstallError("No way in."), AwsCallError("DescribeStacks", "strongref", EU, "1", "No way in.")]
)
@pytest.mark.parametrize("command", [["install", "--dry-run"], ["status"], ["uninstall"]])
def test_a_region_that_fails_is_reported_and_the_others_are_worked_on(
    command: list[str], error: StrongRefError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "find", refusing(EU, error))
    assert cli.main([*command, "--region", EU, "--region", US]) == 1
    out = capsys.readouterr().out
    assert "No way in." in out
    assert US in out


def test_a_defect_is_not_taken_for_a_regions_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "find", refusing(EU, UsageError("x")))
    assert cli.main(["status", "--region", EU]) == 2


TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
"""Stands for the installation where only its stack matters: moto has no SAM."""

HOLD = "strongref-hold-123456789012-web-0123456789abcdef"


def regions_of(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {each["region"]: each["result"] for each in json.loads(capsys.readouterr().out)["regions"]}


def test_while_one_region_is_in_use_none_is_removed_and_then_all_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(RegionStacks, "importers", lambda *_: [])  # moto has no ListImports
    stacks = {region: boto3.client("cloudformation", region) for region in (EU, US)}
    for client in stacks.values():
        client.create_stack(StackName="strongref", TemplateBody=TEMPLATE)
    stacks[EU].create_stack(StackName=HOLD, TemplateBody=TEMPLATE)
    s3, bucket = boto3.client("s3", US), f"strongref-123456789012-{US}"
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="strongref/layers-core/0.zip", Body=b"")
    boto3.client("ssm", US).put_parameter(Name="/strongref/exports/web/1/2/3/A", Value="v", Type="String")
    command = ["uninstall", "--region", EU, "--region", US, "--purge", "--yes", "--output", "json"]

    assert cli.main(command) == 1
    assert regions_of(capsys) == {EU: "in use", US: "not touched"}
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 1

    stacks[EU].delete_stack(StackName=HOLD)
    assert cli.main([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert f"{US}: 1 objects in the bucket {bucket} would be deleted." in shown
    assert f"{US}: 1 parameters below /strongref/ stay in Parameter Store." in shown
    assert len(stacks[US].describe_stacks()["Stacks"]) == 1

    assert cli.main(command) == 0
    assert regions_of(capsys) == {EU: "removed", US: "removed"}
    assert [client.describe_stacks()["Stacks"] for client in stacks.values()] == [[], []]
    assert s3.list_buckets()["Buckets"] == []
