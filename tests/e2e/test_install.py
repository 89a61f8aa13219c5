"""`strongref install`, `status` and `uninstall`, as from `pip install strongref`: a wheel, and no checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from strongref_cli.install.bucket import bucket_name
from strongref_cli.install.plan import PROTECTION
from tests.e2e.harness import Aws
from tests.e2e.templates import EMPTY, EU, US, export, exporting, held, imported, importing, stack
from tests.e2e.test_upgrade import stored
from tests.support.documents import ROOT, blocks, load
from tests.support.emulator import sam
from tests.support.emulator.sam import APPLICATION, QUICK
from tools.release import build

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.support.emulator.control import Emulator

BOTH = ("--region", US, "--region", EU)
READING = ("Describe", "List", "Get")
FAST = tuple(part for name, value in QUICK.items() for part in ("--parameter", f"{name}={value}"))


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def regions(self) -> dict[str, str]:
        """The result in each region."""
        return {each["region"]: each["result"] for each in json.loads(self.out)["regions"]}

    def details(self, region: str) -> str:
        (found,) = [each["details"] for each in json.loads(self.out)["regions"] if each["region"] == region]
        return "\n".join(found)


@dataclass(frozen=True)
class User:
    """Someone who has installed the wheel."""

    aws: Aws
    program: str
    folder: Path
    key: tuple[str, str] | None = None  # an access key and its secret; None for the account's root

    def run(self, *arguments: str, output: str = "json") -> Result:
        key = {"AWS_ACCESS_KEY_ID": self.key[0], "AWS_SECRET_ACCESS_KEY": self.key[1]} if self.key else {}
        done = subprocess.run(  # noqa: S603
            [self.program, *arguments, "--output", output],
            env=self.aws.emulator.env(self.aws.account) | key,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def expect(self, status: int, *arguments: str) -> Result:
        done = self.run(*arguments)
        assert done.status == status, f"{done.out}\n{done.err}"
        return done


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command in an environment of its own: the wheel, and the libraries of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)  # noqa: S603
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    # Its own .pth files are not followed from here, so this checkout is not found through it.
    (packages / "libraries.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    python = str(folder / "venv/bin/python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, env={**os.environ, "PYTHONPATH": ""})  # noqa: S603
    where = subprocess.run(  # noqa: S603
        [
            python,
            "-c",
            "import strongref, strongref_cli.install; print(strongref.__file__, strongref_cli.install.__file__)",
        ],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(path.startswith(str(packages)) for path in where.stdout.split()), where.stdout
    return str(folder / "venv/bin/strongref")


def user(emulator: Emulator, account: str, program: str, folder: Path) -> User:
    """An account of its own, in which nothing is installed."""
    return User(Aws(emulator, account), program, folder)


def calls(aws: Aws) -> Counter[tuple[str, str]]:
    """The calls of an account's root so far, by region and action."""
    found: Counter[tuple[str, str]] = Counter()
    for each in aws.calls:
        if each.caller == aws.account:
            found[each.region, each.action] += each.count
    return found


def made(aws: Aws, before: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    return calls(aws) - before


def objects(aws: Aws, region: str) -> dict[str, Any]:
    """What is in a region's bucket: when each object was written, by key."""
    listed = aws.client("s3", region).list_objects_v2(Bucket=bucket_name(aws.account, region))
    return {each["Key"]: each["LastModified"] for each in listed["Contents"]}


def buckets(aws: Aws) -> set[str]:
    ours = f"strongref-{aws.account}-"
    return {each["Name"] for each in aws.client("s3", US).list_buckets()["Buckets"] if each["Name"].startswith(ours)}


def only_reads(made_calls: Iterable[tuple[str, str]]) -> bool:
    return all(action.startswith(READING) for _, action in made_calls)


def test_from_the_wheel_to_a_refusal_and_back(emulator: Emulator, program: str, tmp_path: Path) -> None:
    installer = user(emulator, "121212121212", program, tmp_path)
    aws = installer.aws
    assert installer.expect(1, "status", *BOTH).out

    before = calls(aws)
    assert installer.expect(0, "install", *BOTH, "--dry-run").regions == dict.fromkeys((US, EU), "would install")
    assert only_reads(made(aws, before))
    assert (buckets(aws), aws.status(APPLICATION, US), aws.status(APPLICATION, EU)) == (set(), None, None)

    assert installer.expect(0, "install", *BOTH, *FAST).regions == dict.fromkeys((US, EU), "installed")
    assert aws.status(APPLICATION, US) == aws.status(APPLICATION, EU) == "CREATE_COMPLETE"
    _used(aws)

    before, uploaded = calls(aws), objects(aws, EU)
    assert installer.expect(0, "install", *BOTH, *FAST).regions == dict.fromkeys((US, EU), "up to date")
    assert made(aws, before) == {
        (region, action): 1 for region in (US, EU) for action in ("DescribeStacks", "GetTemplate")
    }
    assert objects(aws, EU) == uploaded

    status = json.loads(installer.expect(0, "status", *BOTH).out)
    assert (status["healthy"], {each["version"] for each in status["regions"]}) == (True, {status["strongref"]})

    _changed_in_one_region(installer)
    _removed(installer)


def _used(aws: Aws) -> None:
    """The functions work: a value is exported, imported, and held against a change."""
    aws.deploy("network", exporting({"A": "1"}, consumer="web"), EU, "CREATE_COMPLETE")
    done = aws.deploy("web", importing("network", "A"), US, "CREATE_COMPLETE")
    assert done.outputs == {"A": "1"}
    aws.deploy("network", exporting({"A": "2"}, consumer="web"), EU, "UPDATE_ROLLBACK_COMPLETE")
    assert "A cannot be changed: it is imported by stack web" in " ".join(aws.reasons("network", EU))


def _changed_in_one_region(installer: User) -> None:
    aws = installer.aws
    change = ("install", "--region", US, "--parameter", "LogRetentionDays=30", "--tag", "team=platform")
    before = calls(aws)
    would = installer.expect(0, *change, "--dry-run")
    assert would.regions == {US: "would update"}
    assert would.details(US) == "LogRetentionDays 90 → 30\ntag team → platform"
    assert only_reads(made(aws, before))
    assert aws.status(APPLICATION, US) == "CREATE_COMPLETE"

    assert installer.expect(0, *change).regions == {US: "updated"}
    (described,) = aws.client("cloudformation", US).describe_stacks(StackName=APPLICATION)["Stacks"]
    parameters = {each["ParameterKey"]: each["ParameterValue"] for each in described["Parameters"]}
    assert {name: parameters[name] for name in QUICK} == QUICK
    assert parameters["LogRetentionDays"] == "30"
    assert {each["Key"]: each["Value"] for each in described["Tags"]} == {
        "application": "strongref",
        "team": "platform",
    }
    differs = json.loads(installer.expect(1, "status", *BOTH).out)["differences"]
    assert differs == [{"what": "LogRetentionDays", "values": {US: "30", EU: "90"}}]


def _removed(installer: User) -> None:
    aws = installer.aws
    for options in ((), ("--dry-run",), ("--purge",)):
        before = calls(aws)
        refused = installer.expect(1, "uninstall", *BOTH, *options)
        assert refused.regions == {US: "in use", EU: "in use"}
        assert refused.details(US) == "web: Custom::CrossRegionImport (Imports)"
        assert refused.details(EU) == "network: Custom::CrossRegionExport (Exports)"
        assert only_reads(made(aws, before))

    aws.delete("web", US)
    refused = installer.expect(1, "uninstall", *BOTH)
    assert refused.regions == {US: "not touched", EU: "in use"}
    assert aws.status(APPLICATION, US) == "UPDATE_COMPLETE"

    aws.delete("network", EU)
    before = calls(aws)
    assert installer.expect(0, "uninstall", *BOTH, "--dry-run").regions == dict.fromkeys((US, EU), "would remove")
    assert only_reads(made(aws, before))
    removed = installer.expect(0, "uninstall", *BOTH, "--yes")
    assert removed.regions == dict.fromkeys((US, EU), "removed")
    assert f"the bucket {bucket_name(aws.account, EU)} stays" in " ".join(json.loads(removed.out)["notes"])
    assert (aws.status(APPLICATION, US), aws.status(APPLICATION, EU)) == (None, None)
    assert stored(aws) == {}
    assert len(buckets(aws)) == 2

    purged = installer.expect(0, "uninstall", *BOTH, "--purge", "--yes")
    assert purged.regions == dict.fromkeys((US, EU), "not installed")
    assert buckets(aws) == set()


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release of these sources."""
    return build(ROOT, tmp_path_factory.mktemp("release"))


def test_a_release_is_installed_from_its_folder(
    emulator: Emulator, program: str, release: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    installer = user(emulator, "232323232323", program, tmp_path / "empty")
    aws, command = installer.aws, ("install", *BOTH, "--from", str(release))
    before = calls(aws)
    assert installer.expect(0, *command, "--dry-run").regions == dict.fromkeys((US, EU), "would install")
    assert only_reads(made(aws, before))
    assert (buckets(aws), aws.status(APPLICATION, US), aws.status(APPLICATION, EU)) == (set(), None, None)

    assert installer.expect(0, *command, *FAST).regions == dict.fromkeys((US, EU), "installed")
    code = {path.relative_to(release / "bucket").as_posix() for path in (release / "bucket").rglob("*.zip")}
    for region in (US, EU):
        assert {key for key in objects(aws, region) if key.endswith(".zip")} == code
    _used(aws)
    assert installer.expect(0, *command).regions == dict.fromkeys((US, EU), "up to date")
    # What pip has installed here is the same, so it is not installed once more.
    assert installer.expect(0, "install", *BOTH).regions == dict.fromkeys((US, EU), "up to date")

    changed = tmp_path / "changed"
    shutil.copytree(release, changed)
    (changed / min(f"bucket/{key}" for key in code)).write_bytes(b"other code")
    before = calls(aws)
    refused = installer.run("install", *BOTH, "--from", str(changed))
    assert (refused.status, made(aws, before)) == (2, Counter())
    assert "has another checksum than released. Download the release again." in refused.err
    assert list((tmp_path / "empty").iterdir()) == []


def test_the_template_for_stack_sets_is_deployed_from_buckets_by_region(emulator: Emulator, release: Path) -> None:
    aws = Aws(emulator, "262626262626")
    template = (release / "stackset.json").read_bytes()
    for region in (US, EU):
        s3, bucket = aws.client("s3", region), f"acme-{aws.account}-{region}"
        where = {} if region == US else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        s3.create_bucket(Bucket=bucket, **where)
        for path in (release / "bucket").rglob("*.zip"):
            s3.put_object(Bucket=bucket, Key=path.relative_to(release / "bucket").as_posix(), Body=path.read_bytes())
        s3.put_object(Bucket=bucket, Key="strongref/stackset.json", Body=template)
        given = {**QUICK, "BucketPrefix": f"acme-{aws.account}"}
        aws.client("cloudformation", region).create_stack(
            StackName="StackSet-strongref-1",
            TemplateURL=f"{emulator.url}/{bucket}/strongref/stackset.json",
            Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()],
            Capabilities=["CAPABILITY_IAM"],  # and no other: there is no transform
        )
    for region in (US, EU):
        aws.wait("StackSet-strongref-1", region, "CREATE_COMPLETE")
    _used(aws)


def test_the_template_for_the_application_repository_is_packaged(
    emulator: Emulator, release: Path, tmp_path: Path
) -> None:
    aws = Aws(emulator, "272727272727")
    aws.client("s3", US).create_bucket(Bucket="acme-sources")
    packaged = tmp_path / "packaged.yaml"
    template = str(release / "serverless-repo.yaml")
    options = ["--s3-bucket", "acme-sources", "--output-template-file", str(packaged)]
    sam._sam(emulator.env(aws.account, US), tmp_path, "package", "--template-file", template, *options)
    found = load(packaged.read_text())
    about = found["Metadata"]["AWS::ServerlessRepo::Application"]
    bucket = "https://s3.us-east-1.amazonaws.com/acme-sources/"
    for name, file in (("LicenseUrl", "LICENSE"), ("ReadmeUrl", "README.md")):
        key = about[name].split("/acme-sources/")[1]
        assert (
            aws.client("s3", US).get_object(Bucket="acme-sources", Key=key)["Body"].read()
            == (release / file).read_bytes()
        ), (about[name], bucket)
    code = [each["Properties"].get("CodeUri") for each in found["Resources"].values()]
    assert all(each.startswith("s3://acme-sources/") for each in code if each)


def test_users_are_found_whichever_way_they_found_the_service_token(
    emulator: Emulator, program: str, tmp_path: Path
) -> None:
    installer = user(emulator, "131313131313", program, tmp_path)
    aws = installer.aws
    installer.expect(0, "install", "--region", EU, *FAST)

    from_parameter = export({"A": "1"}, region=EU)
    from_parameter["Properties"]["ServiceToken"] = "{{resolve:ssm:/strongref/service-tokens/exporter}}"
    from_parameter["Type"] = "Custom::OurExports"
    weak = imported("by-parameter", "A", Shared=True, Strength="weak")
    weak["Properties"]["ServiceToken"] = {"Ref": "Token"}
    token = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/strongref/service-tokens/importer"}
    by_arn = export({"B": "1"}, region=EU)
    by_arn["Properties"]["ServiceToken"] = aws.outputs(APPLICATION, EU)["ExporterToken"]
    by_arn["Type"] = "AWS::CloudFormation::CustomResource"
    using = {
        "by-parameter": stack({"Exports": from_parameter}),
        "by-template-parameter": stack({"Imports": weak}) | {"Parameters": {"Token": token}},
        "with-macro": {**EMPTY, "Transform": "StrongRef"},
        "by-output": stack({}, {"Token": {"Fn::ImportValue": "strongref-lookup"}}),
        "by-arn": stack({"Exports": by_arn}),
    }
    for name, template in using.items():
        aws.deploy(name, template, EU, "CREATE_COMPLETE")
    aws.deploy("other", EMPTY, EU, "CREATE_COMPLETE")

    refused = installer.expect(1, "uninstall", "--region", EU)
    assert refused.details(EU).splitlines() == [
        "by-arn: AWS::CloudFormation::CustomResource (Exports)",
        "by-output: imports strongref-lookup",
        "by-parameter: Custom::OurExports (Exports)",
        "by-template-parameter: Custom::CrossRegionImport (Imports)",
        "with-macro: uses the macro StrongRef",
    ]
    for name in reversed(using):
        aws.delete(name, EU)
    assert installer.expect(0, "uninstall", "--region", EU, "--yes").regions == {EU: "removed"}


def test_nobody_deletes_the_functions_by_hand_while_a_stack_found_them_in_a_parameter(
    emulator: Emulator, program: str, tmp_path: Path
) -> None:
    installer = user(emulator, "171717171717", program, tmp_path)
    aws, here = installer.aws, ("--region", EU)
    installer.expect(0, "install", *here, *FAST)
    from_parameter = export({"A": "1"}, region=EU)
    from_parameter["Properties"]["ServiceToken"] = "{{resolve:ssm:/strongref/service-tokens/exporter}}"
    aws.deploy("network", stack({"Exports": from_parameter}), EU, "CREATE_COMPLETE")

    cloudformation = aws.client("cloudformation", EU)
    before = aws.physical_ids(APPLICATION, EU)
    with pytest.raises(ClientError, match="TerminationProtection") as refused:
        cloudformation.delete_stack(StackName=APPLICATION)
    assert refused.value.response["Error"]["Code"] == "ValidationError"
    assert (aws.status(APPLICATION, EU), aws.physical_ids(APPLICATION, EU)) == ("CREATE_COMPLETE", before)
    from_parameter["Properties"]["Values"] = {"A": "2"}
    aws.deploy("network", stack({"Exports": from_parameter}), EU, "UPDATE_COMPLETE")
    assert installer.expect(1, "uninstall", *here, "--yes").regions == {EU: "in use"}
    assert json.loads(installer.expect(0, "status", *here).out)["regions"][0]["protected"] is True

    # Somebody turns it off, as the page says; the next installation turns it on.
    cloudformation.update_termination_protection(StackName=APPLICATION, EnableTerminationProtection=False)
    assert json.loads(installer.expect(0, "status", *here).out)["regions"][0]["protected"] is False
    assert installer.expect(0, "install", *here, *FAST).details(EU) == PROTECTION
    assert installer.expect(0, "install", *here, *FAST).regions == {EU: "up to date"}

    aws.delete("network", EU)
    assert installer.expect(0, "uninstall", *here, "--yes").regions == {EU: "removed"}
    assert aws.status(APPLICATION, EU) is None


def test_the_processor_the_memory_the_concurrency_the_key_the_tags_and_the_alarms_are_those_that_were_given(
    emulator: Emulator, program: str, tmp_path: Path
) -> None:
    installer = user(emulator, "181818181818", program, tmp_path)
    aws = installer.aws
    given = {"Architecture": "x86_64", "MemorySize": "512", "ReservedConcurrency": "7", "KmsKey": "alias/secrets"}
    given |= {"ParameterTags": "team=web,cost-center=7", "Alarms": "false"}
    options = [part for name, value in given.items() for part in ("--parameter", f"{name}={value}")]
    installer.expect(0, "install", *BOTH, *FAST, *options)
    for client in (aws.client("lambda", region) for region in (US, EU)):
        functions = [each["FunctionName"] for each in client.list_functions()["Functions"]]
        assert len(functions) == 5
        for name in functions:
            found = client.get_function_configuration(FunctionName=name)
            assert found["Architectures"] == ["x86_64"]
            assert found["MemorySize"] == (256 if "Janitor" in name else 512)
            assert client.get_function_concurrency(FunctionName=name)["ReservedConcurrentExecutions"] == 7

    alarms = aws.client("cloudwatch", US)
    assert alarms.describe_alarms()["MetricAlarms"] == []

    secret = export({"Password": "correct-horse", "Host": "dü"}, consumer="web", SecureKeys=["Password"])
    aws.deploy("network", held({"Exports": secret}), EU, "CREATE_COMPLETE")
    aws.deploy("web", importing("network", "Host"), US, "CREATE_COMPLETE")
    assert aws.outputs("web", US)["Host"] == "dü"
    own = {"team": "web", "cost-center": "7"}
    for region, trees in ((US, {"exports", "records"}), (EU, {"index", "holds"})):
        names = [name for name in aws.parameters(region, "/strongref") if "/service-tokens/" not in name]
        assert {name.split("/")[2] for name in names} >= trees
        assert all(own.items() <= aws.tags(region, name).items() for name in names)
    pages = aws.client("ssm", US).get_paginator("describe_parameters").paginate()
    stored = [each for page in pages for each in page["Parameters"] if each["Type"] == "SecureString"]
    assert len(stored) == 2  # the value, and its record
    assert {each["KeyId"] for each in stored} == {"alias/secrets"}

    iam, ids = aws.client("iam", US), aws.physical_ids(APPLICATION, US)
    for role, policies in (
        ("ExporterRole", ["secure-values"]),
        ("ImporterRole", ["secure-values"]),
        ("JanitorRole", ["secure-records", "secure-values"]),
        ("LookupRole", []),
    ):
        named = [each for each in iam.list_role_policies(RoleName=ids[role])["PolicyNames"] if "secure" in each]
        assert sorted(named) == policies

    back = installer.expect(0, "install", *BOTH, "--parameter", "ReservedConcurrency=0", "--parameter", "Alarms=true")
    assert back.regions == dict.fromkeys((US, EU), "updated")
    answer = aws.client("lambda", US).get_function_concurrency(FunctionName=ids["Exporter"])
    assert not answer.get("ReservedConcurrentExecutions")
    assert alarms.describe_alarms()["MetricAlarms"]


def test_an_installation_by_sam_is_upgraded_in_place(
    emulator: Emulator, older: str, program: str, tmp_path: Path
) -> None:
    installer = user(emulator, "141414141414", program, tmp_path)
    aws = installer.aws
    sam.copy_application(emulator, aws.account, of=older)
    aws.deploy("network", exporting({"A": "1"}, consumer="web"), EU, "CREATE_COMPLETE")
    aws.deploy("web", importing("network", "A"), US, "CREATE_COMPLETE")
    before = stored(aws)

    status = json.loads(installer.expect(0, "status", *BOTH).out)
    would = installer.expect(0, "install", *BOTH, "--dry-run")
    assert would.details(EU) == f"version 0.2.0 → {status['strongref']}\n{PROTECTION}"
    upgraded = installer.expect(0, "install", *BOTH)
    assert upgraded.regions == dict.fromkeys((US, EU), "updated")
    assert aws.outputs(APPLICATION, EU)["Version"] == status["strongref"]
    assert stored(aws) == before
    aws.deploy("network", exporting({"A": "2"}, consumer="web"), EU, "UPDATE_ROLLBACK_COMPLETE")
    assert "imported by stack web" in " ".join(aws.reasons("network", EU))
    assert installer.expect(0, "install", *BOTH).regions == dict.fromkeys((US, EU), "up to date")


def test_a_region_that_fails_says_why_and_the_others_are_installed(
    emulator: Emulator, program: str, tmp_path: Path
) -> None:
    installer = user(emulator, "151515151515", program, tmp_path)
    aws = installer.aws
    aws.client("ssm", EU).put_parameter(Name="/strongref/service-tokens/importer", Value="mine", Type="String")

    failed = installer.expect(1, "install", *BOTH, *FAST)
    assert failed.regions == {US: "installed", EU: "failed"}
    assert failed.details(EU).startswith("ImporterToken (AWS::SSM::Parameter): ")
    assert "already exists" in failed.details(EU).lower()
    assert aws.status(APPLICATION, EU) is None  # so that the same command can be run again

    aws.client("ssm", EU).delete_parameter(Name="/strongref/service-tokens/importer")
    assert installer.expect(0, "install", *BOTH, *FAST).regions == {US: "up to date", EU: "installed"}

    refused = installer.expect(1, "install", *BOTH, "--stack", "second")
    assert refused.regions == dict.fromkeys((US, EU), "refused")
    assert "strongref is installed as stack strongref" in refused.details(US)
    assert (aws.status("second", US), aws.status("second", EU)) == (None, None)


def test_the_documented_policy_is_enough_for_all_of_it(emulator: Emulator, program: str, tmp_path: Path) -> None:
    account = "161616161616"
    installer = user(emulator, account, program, tmp_path)
    iam = installer.aws.client("iam", US)
    (policy,) = [each.text for each in blocks("json") if each.page.name == "install.md"]
    iam.create_user(UserName="installer")
    document = policy.replace("111111111111", account)
    iam.put_user_policy(UserName="installer", PolicyName="install", PolicyDocument=document)
    key = iam.create_access_key(UserName="installer")["AccessKey"]
    somebody = User(installer.aws, program, tmp_path, (key["AccessKeyId"], key["SecretAccessKey"]))

    regions = ("--region", US)
    assert somebody.expect(0, "install", *regions, "--dry-run").regions == {US: "would install"}
    assert somebody.expect(0, "install", *regions).regions == {US: "installed"}
    assert somebody.expect(0, "install", *regions, "--parameter", "ReadLag=1").regions == {US: "updated"}
    assert somebody.expect(0, "status", "--all-regions").out
    installer.aws.deploy("network", exporting({"A": "1"}), US, "CREATE_COMPLETE")
    assert somebody.expect(1, "uninstall", *regions).regions == {US: "in use"}
    installer.aws.delete("network", US)
    assert somebody.expect(0, "uninstall", *regions, "--purge", "--yes").regions == {US: "removed"}
    assert buckets(installer.aws) == set()

    iam.put_user_policy(UserName="installer", PolicyName="install", PolicyDocument=_without(document, "s3:PutObject"))
    denied = somebody.expect(1, "install", *regions)
    bucket = f"strongref-{installer.aws.account}-{US}"
    assert denied.details(US).startswith(f"PutObject of {bucket} in {US} failed: AccessDenied. User: arn:aws:iam::")


def _without(document: str, action: str) -> str:
    assert action in document
    return document.replace(f', "{action}"', "")
