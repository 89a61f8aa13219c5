"""The examples as programs: a bucket that is deployed, or in Terraform's state, and the manifest that names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.harness import Aws
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from tests.support.emulator.control import Emulator

EXAMPLES = ROOT / "examples" / "cdk8s"
EU, US = "eu-west-1", "us-east-1"
BOOTSTRAPPED = "/cdk-bootstrap/hnb659fds/version"
"""What `cdk bootstrap` leaves in a region, and a stack of the CDK asks for (aws-cdk-lib, DefaultStackSynthesizer)."""

NOT_DEPLOYED = (
    "Manifest/CronJob/Resource, spec.jobTemplate.spec.template.spec.containers[0].env[0].value: Failed fetching output "
    "value for output key 'BucketName' (stack: aws). Error: "
)
NO_OUTPUT = (
    'Unable to find output defined for token: {"Ref":"Bucket83908E77"}. '
    "Make sure you defined a CfnOutput for this value."
)


class Program:
    """One of the examples, in a folder of its own, with an account of its own.

    Its stacks are called as in the documentation, so each test has another account.
    """

    def __init__(self, name: str, folder: Path, emulator: Emulator, account: str) -> None:
        self.folder = folder
        self.file = folder / name
        self.file.write_text((EXAMPLES / name).read_text())
        self.aws = Aws(emulator, account)
        self._environment = {**os.environ, **emulator.env(account), "HOME": str(folder)}

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603
            [sys.executable, str(self.file)],
            cwd=self.folder,
            env={**self._environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def template(self) -> dict[str, Any]:
        """The template of the stack, as `cdk deploy` has it made."""
        assert self.run(CDK_OUTDIR="cdk.out").returncode == 0
        assert self.manifests() == []
        assert [each.name for each in (self.folder / "cdk.out").glob("*.template.json")] == ["aws.template.json"]
        template: dict[str, Any] = json.loads((self.folder / "cdk.out/aws.template.json").read_text())
        return template

    def deploy(self, region: str) -> str:
        """Deploy the stack; the bucket's name."""
        template = self.template()
        self.aws.client("ssm", region).put_parameter(Name=BOOTSTRAPPED, Value="29", Type="String")
        self.aws.deploy("aws", template, region, "CREATE_COMPLETE")
        return self.aws.physical_ids("aws", region)["Bucket83908E77"]

    def descriptions(self) -> int:
        """How often its account has asked for a stack: to the test's own calls, each run adds its own."""
        return sum(
            call.count for call in self.aws.calls if (call.action, call.caller) == ("DescribeStacks", self.aws.account)
        )

    def manifests(self) -> list[Path]:
        return sorted((self.folder / "dist").glob("**/*")) if (self.folder / "dist").exists() else []

    def written(self) -> dict[str, Any]:
        """The manifest's only object, after the program has run well."""
        done = self.run()
        assert done.returncode == 0, done.stderr
        (manifest,) = self.manifests()
        written: dict[str, Any] = yaml.safe_load(manifest.read_text())
        return written

    def refused(self) -> str:
        """Why the program fails; it writes no manifest."""
        done = self.run()
        assert done.returncode == 1, done.stderr
        assert self.manifests() == []
        return done.stderr


def container(manifest: dict[str, Any]) -> dict[str, Any]:
    assert manifest["kind"] == "CronJob"
    found: dict[str, Any] = manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    return found


def environment(manifest: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(manifest)["env"]}


@pytest.fixture
def bucket(tmp_path: Path, emulator: Emulator) -> Program:
    return Program("bucket_to_cronjob.py", tmp_path, emulator, "610000000001")


@pytest.fixture
def terraform(tmp_path: Path, emulator: Emulator) -> Program:
    return Program("terraform_to_cronjob.py", tmp_path, emulator, "610000000002")


@pytest.mark.deep
def test_a_job_is_reported_the_name_of_a_bucket_once_it_is_deployed(bucket: Program) -> None:
    not_there = f"{NOT_DEPLOYED}Output not found. Are you sure you deployed the CDK stack?"
    assert f"{not_there} There is no stack aws in eu-west-1." in bucket.refused()
    template = bucket.template()
    without = {**template, "Outputs": {}}
    bucket.aws.client("ssm", EU).put_parameter(Name=BOOTSTRAPPED, Value="29", Type="String")
    bucket.aws.deploy("aws", without, EU, "CREATE_COMPLETE")
    assert not_there in bucket.refused()

    bucket.aws.deploy("aws", template, EU, "UPDATE_COMPLETE")
    name = bucket.aws.physical_ids("aws", EU)["Bucket83908E77"]
    before = bucket.descriptions()
    assert environment(bucket.written()) == {"BUCKET_NAME": name}
    assert bucket.descriptions() - before == 1
    bucket.aws.delete("aws", EU)


@pytest.mark.deep
def test_a_value_without_an_output_is_reported_and_an_attribute_will_do(tmp_path: Path, emulator: Emulator) -> None:
    program = Program("bucket_to_cronjob.py", tmp_path, emulator, "610000000003")
    program.change("from_value(bucket_name.value)", "from_value(bucket.bucket_name)")
    program.change('bucket_name = aws.CfnOutput(stack, "BucketName", value=bucket.bucket_name)\n', "")
    name = program.deploy(EU)
    assert NO_OUTPUT in program.refused()
    program.change("AwsCdkResolver()", "AwsCdkResolver(attributes=True)")
    assert environment(program.written()) == {"BUCKET_NAME": name}
    program.aws.delete("aws", EU)


@pytest.mark.deep
def test_a_stack_is_asked_for_in_its_own_region_and_account(tmp_path: Path, emulator: Emulator) -> None:
    """Neither is the program's: the emulator's accounts let each other's roles be assumed."""
    there = Program("bucket_to_cronjob.py", tmp_path, emulator, "610000000004")
    there.change(
        'aws.Stack(aws_app, "aws")', f'aws.Stack(aws_app, "aws", env={{"region": "{US}", "account": "610000000004"}})'
    )
    name = there.deploy(US)
    there.aws.client("iam", US).create_role(
        RoleName="reader",
        AssumeRolePolicyDocument=json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"AWS": "arn:aws:iam::610000000005:root"},
                        "Action": "sts:AssumeRole",
                    }
                ],
            }
        ),
    )
    there.aws.client("iam", US).put_role_policy(
        RoleName="reader",
        PolicyName="read",
        PolicyDocument=json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "cloudformation:DescribeStacks", "Resource": "*"}],
            }
        ),
    )
    assert environment(there.written()) == {"BUCKET_NAME": name}
    for manifest in there.manifests():
        manifest.unlink()
    here = emulator.env("610000000005", EU)
    done = there.run(**here)
    assert done.returncode == 1
    assert "Account 610000000004 is not the caller's own. Give the role to assume in it" in done.stderr
    there.change("AwsCdkResolver()", 'AwsCdkResolver(role="arn:aws:iam::ACCOUNT:role/reader")')
    done = there.run(**here)
    assert done.returncode == 0, done.stderr
    (manifest,) = there.manifests()
    assert environment(yaml.safe_load(manifest.read_text())) == {"BUCKET_NAME": name}
    there.aws.delete("aws", US)


def state(name: str = "site-7f3a") -> dict[str, Any]:
    """What `cdktf deploy` leaves: the fixture's state, with the example's own resource."""
    held: dict[str, Any] = json.loads((ROOT / "tests/terraform/site.tfstate").read_text())
    resource = next(each for each in held["resources"] if each["name"] == "site")
    resource["name"] = "Bucket"
    resource["instances"][0]["attributes"]["bucket"] = name
    return held


def test_a_job_is_reported_the_name_of_a_bucket_in_terraform_s_state(terraform: Program) -> None:
    assert terraform.run(CDKTF_OUTDIR="cdktf.out").returncode == 0
    kept = json.loads((terraform.folder / "cdktf.out/stacks/aws/cdk.tf.json").read_text())["terraform"]["backend"]
    assert Path(kept["local"]["path"]).name == "terraform.aws.tfstate"
    reported = terraform.refused()
    assert "terraform.aws.tfstate cannot be read: no such file or directory" in reported
    file = terraform.folder / "terraform.aws.tfstate"
    file.write_text(json.dumps({**state(), "resources": []}))
    assert "There is no aws_s3_bucket.Bucket in the Terraform state" in terraform.refused()
    file.write_text(json.dumps(state()))
    assert environment(terraform.written()) == {"BUCKET_NAME": "site-7f3a"}


def test_a_state_is_read_from_the_stack_s_own_s3_backend(terraform: Program) -> None:
    client = terraform.aws.client("s3", US)
    client.create_bucket(Bucket="states-of-610000000002")
    terraform.change(
        'stack = tf.TerraformStack(aws_app, "aws")\n',
        'stack = tf.TerraformStack(aws_app, "aws")\n'
        f'tf.S3Backend(stack, bucket="states-of-610000000002", key="aws.tfstate", region="{US}")\n',
    )
    assert "there is no such object in the bucket" in terraform.refused()
    client.put_object(Bucket="states-of-610000000002", Key="aws.tfstate", Body=json.dumps(state("in-s3")).encode())
    assert environment(terraform.written()) == {"BUCKET_NAME": "in-s3"}
