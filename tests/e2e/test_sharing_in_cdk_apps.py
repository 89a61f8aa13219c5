"""The examples of CDK apps as programs: what one exports another imports, and the emulator deploys what they write."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.harness import Aws
from tests.support.documents import ROOT
from tests.support.objects import held_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.emulator.control import Emulator

EXAMPLES = ROOT / "examples" / "cdk"
EU, US = "eu-west-1", "us-east-1"
OWN_ACCOUNT = "777777777703"
BOOTSTRAPPED = "/cdk-bootstrap/hnb659fds/version"
"""What `cdk bootstrap` leaves in a region, and a stack of the CDK asks for (aws-cdk-lib, DefaultStackSynthesizer)."""


class Programs:
    """Some of the examples in a folder of their own, with names of their own for their stacks."""

    def __init__(self, folder: Path, aws: Aws, names: dict[str, str]) -> None:
        self.folder = folder
        self.aws = aws
        self.names = names
        self._environment = {
            **os.environ,
            **aws.emulator.env(aws.account),
            "CDK_DEFAULT_ACCOUNT": aws.account,
            "CDK_OUTDIR": "cdk.out",
            "CDK_VALIDATION": "true",  # as by default; not in other tests
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "layers/core", ROOT / "src", ROOT))),
        }
        for name in names:
            text = (EXAMPLES / f"{name}.py").read_text()
            for old, new in names.items():
                text = text.replace(f'"{old}"', f'"{new}"')
            (folder / f"{name}.py").write_text(text)
        for region in (EU, US):
            aws.client("ssm", region).put_parameter(Name=BOOTSTRAPPED, Value="29", Type="String", Overwrite=True)

    def change(self, name: str, old: str, new: str) -> None:
        file = self.folder / f"{name}.py"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        return self.python(f"{name}.py")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def template(self, name: str) -> dict[str, Any]:
        """The template of a program's stack, as `cdk deploy` has it made."""
        done = self.run(name)
        assert done.returncode == 0, done.stderr
        template: dict[str, Any] = json.loads((self.folder / f"cdk.out/{self.names[name]}.template.json").read_text())
        return template

    def deploy(self, name: str, region: str = EU, expect: str = "CREATE_COMPLETE") -> dict[str, Any]:
        """Deploy a program's stack; its template."""
        template = self.template(name)
        self.aws.deploy(self.names[name], template, region, expect)
        return template

    def delete(self, name: str, region: str = EU, expect: str = "DELETE_COMPLETE") -> None:
        self.aws.delete(self.names[name], region, expect)

    def kept(self) -> dict[str, Any]:
        """What the context file has."""
        file = self.folder / "strongref.context.json"
        kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return kept


def resources(template: dict[str, Any], type_name: str) -> list[dict[str, Any]]:
    return [each for each in template["Resources"].values() if each["Type"] == type_name]


@pytest.fixture
def bucket(tmp_path: Path, emulator: Emulator, names: Callable[[str], str]) -> Programs:
    """Two apps of one region, of which one reads the other's bucket."""
    stacks = {name: names(name) for name in ("photos", "albums")}
    made = Programs(tmp_path, Aws(emulator, OWN_ACCOUNT), stacks)
    exported = names("JohnnyBucket").replace("-", "")
    for name in stacks:
        made.change(name, "JohnnyBucket", exported)
    return made


@pytest.fixture
def commons(tmp_path: Path, emulator: Emulator, names: Callable[[str], str]) -> Programs:
    """Two apps of one region, of which one runs in the other's network and cluster."""
    made = Programs(tmp_path, Aws(emulator, OWN_ACCOUNT), {name: names(name) for name in ("commons", "shop")})
    for name in made.names:
        for exported in ("Network", "Apps", "Web"):
            made.change(name, f'"{exported}"', f'"{names(exported)}"')
    return made


@pytest.fixture
def balancer(tmp_path: Path, aws: Aws, names: Callable[[str], str]) -> Programs:
    """Two apps of two regions, of which one stands before the other's load balancer."""
    return Programs(tmp_path, aws, {name: names(name) for name in ("entrance", "website")})


@pytest.mark.deep
def test_req1_a_bucket_of_one_app_is_read_by_another_and_held_at_synthesis(bucket: Programs) -> None:
    refused = bucket.run("albums")
    assert refused.returncode == 1
    assert f"ConstructError: {bucket.names['albums']}: There is no JohnnyBucket" in refused.stderr
    assert bucket.kept() == {}

    bucket.deploy("photos")
    arn = f"arn:aws:s3:::{bucket.aws.physical_ids(bucket.names['photos'], EU)['Bucket83908E77']}"
    template = bucket.deploy("albums")
    (policy,) = resources(template, "AWS::IAM::Policy")
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Resource"] == [arn, f"{arn}/*"]
    assert arn in bucket.kept().values()

    bucket.delete("photos", expect="CREATE_COMPLETE")  # It is called off, and the stack is as it was.
    bucket.change("photos", '(stack, "Bucket")', '(stack, "Another")')
    bucket.deploy("photos", expect="UPDATE_ROLLBACK_COMPLETE")
    assert bucket.aws.physical_ids(bucket.names["photos"], EU)["Bucket83908E77"] in arn
    bucket.delete("albums")
    bucket.deploy("photos", expect="UPDATE_COMPLETE")
    bucket.delete("photos")


def test_req8_a_bucket_is_read_and_held_at_deployment(bucket: Programs) -> None:
    bucket.change("albums", "import import_bucket", "import ResolveType, import_bucket")
    bucket.change("albums", '"JohnnyBucket', 'type=ResolveType.DEPLOYMENT, name="JohnnyBucket')
    template = bucket.template("albums")  # Nothing has to be deployed for that.
    assert bucket.kept() == {}
    assert held_by(template["Resources"]) == []
    bucket.deploy("photos")
    bucket.deploy("albums")
    role = bucket.aws.physical_ids(bucket.names["albums"], EU)["ReaderF7BF189D"]
    iam = bucket.aws.client("iam", EU)
    (policy,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    document = json.dumps(iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"])
    assert bucket.aws.physical_ids(bucket.names["photos"], EU)["Bucket83908E77"] in document

    bucket.delete("photos", expect="CREATE_COMPLETE")
    bucket.delete("albums")
    bucket.delete("photos")


@pytest.mark.deep
def test_weakly_imported_a_bucket_can_be_deleted(bucket: Programs) -> None:
    bucket.change("albums", "import_bucket(stack, ", "import_bucket(stack, weak=True, name=")
    bucket.deploy("photos")
    template = bucket.deploy("albums")
    assert held_by(template["Resources"]) == []
    bucket.delete("photos")
    assert bucket.template("albums") == template  # The context file has what there was, until it is reset.
    bucket.delete("albums")


@pytest.mark.deep
def test_req2_a_service_runs_in_another_team_s_network_and_cluster_behind_its_load_balancer(commons: Programs) -> None:
    commons.deploy("commons")
    there = commons.aws.physical_ids(commons.names["commons"], EU)
    template = commons.deploy("shop")
    own = commons.aws.physical_ids(commons.names["shop"], EU)
    (service,) = resources(template, "AWS::ECS::Service")
    placed = service["Properties"]["NetworkConfiguration"]["AwsvpcConfiguration"]["Subnets"]
    assert placed == [there[name] for name in sorted(there) if re.fullmatch(r"VpcPublicSubnet\dSubnet\w{8}", name)]
    rules = "AWS::ElasticLoadBalancingV2::ListenerRule"
    ((name, rule),) = ((name, each) for name, each in template["Resources"].items() if each["Type"] == rules)
    listener = rule["Properties"]["ListenerArn"]
    assert listener in there.values()
    answer = commons.aws.client("elbv2", EU).describe_rules(ListenerArn=listener)["Rules"]
    assert [each["RuleArn"] for each in answer if each["Priority"] == "10"] == [own[name]]
    commons.delete("commons", expect="CREATE_COMPLETE")
    commons.delete("shop")
    commons.delete("commons")


@pytest.mark.deep
def test_a_load_balancer_is_exported_whole_to_another_region_and_cannot_be_changed_while_it_is_imported(
    balancer: Programs,
) -> None:
    """The design's listing, across regions."""
    aws, entrance, site = balancer.aws, balancer.names["entrance"], balancer.names["website"]
    template = balancer.deploy("entrance")
    (export,) = resources(template, "Custom::CrossRegionExport")
    assert set(export["Properties"]["Values"]["Web"]) >= {"LoadBalancerArn", "SecurityGroup", "Listener"}
    prefix = f"/strongref/exports/{site}/{aws.account}/{EU}/{entrance}/Web/"
    stored = {name.removeprefix(prefix): value for name, value in aws.values(US, prefix).items()}
    assert stored["SecurityGroup/SecurityGroupId"].startswith("sg-")

    template = balancer.deploy("website", US)
    (distribution,) = resources(template, "AWS::CloudFront::Distribution")
    (origin,) = distribution["Properties"]["DistributionConfig"]["Origins"]
    assert origin["DomainName"] == stored["LoadBalancerDnsName"]
    claims = {
        name: [
            arn.split("/")[1] for tag, arn in aws.tags(US, prefix + name).items() if tag.startswith("strongref:claim:")
        ]
        for name in stored
    }
    assert {name: found for name, found in claims.items() if found} == {"LoadBalancerDnsName": [site]}

    balancer.change("entrance", '(stack, "Alb", ', '(stack, "Other", ')
    balancer.deploy("entrance", expect="UPDATE_ROLLBACK_COMPLETE")
    why = "\n".join(aws.reasons(entrance, EU))
    assert f"Web.LoadBalancerDnsName cannot be changed: it is imported by stack {site} ({US}, {aws.account})" in why
    assert aws.values(US, prefix) == {f"{prefix}{name}": value for name, value in stored.items()}

    balancer.delete("website", US)
    balancer.deploy("entrance", expect="UPDATE_COMPLETE")
    balancer.delete("entrance")


@pytest.mark.deep
def test_req2_one_of_every_ready_type_is_deployed_and_imported_as_it_is(
    tmp_path: Path, emulator: Emulator, names: Callable[[str], str]
) -> None:
    """What AWS gives is what the CDK makes constructs of; and the exporting stack is held."""
    aws, prefix = Aws(emulator, OWN_ACCOUNT), names("all")
    programs = Programs(tmp_path, aws, {})
    templates = {}
    for each in ("exporting", "importing"):
        done = programs.python("-m", "tests.support.cdk_all_types", each, prefix)
        assert done.returncode == 0, done.stderr
        stack = f"{prefix}-{each}"
        templates[each] = json.loads((tmp_path / f"cdk.out/{stack}.template.json").read_text())
        aws.deploy(stack, templates[each], EU, "CREATE_COMPLETE")
    exports: dict[str, str] = {}
    for page in aws.client("cloudformation", EU).get_paginator("list_exports").paginate():
        exports |= {each["Name"]: each["Value"] for each in page["Exports"]}
    prefix_of = f"{prefix.replace('-', '')}:"
    exported = {
        name.removeprefix(prefix_of).replace("-", "").lower(): value
        for name, value in exports.items()
        if name.startswith(prefix_of)
    }
    reported = {name.lower(): value for name, value in aws.outputs(f"{prefix}-importing", EU).items()}
    assert len(reported) > 25
    assert reported == {name: exported[name] for name in reported}
    assert len(held_by(templates["importing"]["Resources"])) > 30
    aws.delete(f"{prefix}-exporting", EU, "CREATE_COMPLETE")
    aws.delete(f"{prefix}-importing", EU)
    aws.delete(f"{prefix}-exporting", EU)
