"""What the documentation tells people to type is typed here, as it stands, and its examples are deployed.

The stacks have the names that the documentation gives them, so all this happens in an emulator of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.harness import Aws, waiting_resource
from tests.e2e.templates import EMPTY, EU, US, export, exporting, importing, stack
from tests.support.documents import ROOT, blocks, example, load
from tests.support.emulator.control import Emulator, executable
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.documents import Block

PARTS = ("template.yaml", "samconfig.toml", "handlers", "layers", "examples")
ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ]
        }
    },
}
NOTHING = {
    "Code": {"ZipFile": "def handler(*_): pass"},
    "Handler": "index.handler",
    "Runtime": "python3.13",
    "Role": {"Fn::GetAtt": ["Role", "Arn"]},
}
"""A function that does nothing, and its role."""
BY_MAKE = {"README.md", "CONTRIBUTING.md"}
"""Pages with blocks of `make` commands: the demo is run below, and the tests are what runs here."""


def commands() -> list[Block]:
    """Every block of commands on every page, but those of `make`."""
    found = blocks("sh")
    by_make = [block for block in found if all(line.startswith("make ") for line in block.text.splitlines())]
    assert {block.page.name for block in by_make} == BY_MAKE
    # `tests/e2e/test_install.py` has a wheel installed. The release that this installs is not there.
    return [block for block in found if block not in by_make and not block.text.startswith("pip install ")]


class Reader:
    """Somebody who follows the documentation, with a checkout of the project and an account of their own."""

    def __init__(self, aws: Aws, checkout: Path) -> None:
        self.aws = aws
        self.checkout = checkout
        self.left = commands()

    def run(self, beginning: str, *, fails: bool = False) -> str:
        """Run the next blocks that begin like this, once on each page; what the last one printed."""
        ran = [block for block in self.left if block.text.startswith(beginning)]
        assert ran, f"no block of commands begins with {beginning!r} any more"
        printed = ""
        for block in {block.text: block for block in ran}.values():
            done = self._shell(block.text)
            assert fails == (done.returncode != 0), f"{block}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
            printed = done.stdout
        self.left = [block for block in self.left if block not in ran]
        return printed

    def _shell(self, text: str) -> subprocess.CompletedProcess[str]:
        tools = Path(executable("STRONGREF_SAM", ".build/venv-sam/bin/sam")).parent
        environment = {
            **os.environ,
            **self.aws.emulator.env(),
            # Our own Python first: it has the package that programs import.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(tools), os.environ["PATH"]]),
            "SAM_CLI_TELEMETRY": "0",
            "AWS_PAGER": "",
        }
        return subprocess.run(  # noqa: S603
            ["bash", "-euc", text],  # noqa: S607
            cwd=self.checkout,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    checkout = tmp_path / "checkout"
    for part in PARTS:
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        checkout.mkdir(exist_ok=True)
        copy(source, checkout / part)
    with Emulator.start(tmp_path / "emulator.log") as emulator:
        yield Reader(Aws(emulator), checkout)


@pytest.mark.deep
def test_every_command_of_the_documentation_does_what_it_says(reader: Reader) -> None:
    aws = reader.aws
    _install(reader)
    for page in (_events, _look_up, _macro, _resolve, _refer, _objects, _command_line):
        page(reader)

    reader.run("sam deploy --stack-name certificate")
    certificate = aws.outputs("site", EU)["CertificateArn"]
    assert certificate.startswith("arn:aws:acm:us-east-1:")
    _check(reader)

    # The network of the operations page: a value is claimed, and its stack cannot be deleted.
    aws.deploy("network", exporting({"CertArn": "arn:x"}, consumer="web"), EU, "CREATE_COMPLETE")
    aws.deploy("web", importing("network", "CertArn"), US, "CREATE_COMPLETE")
    reader.run("strongref list --region us-east-1\nstrongref who network --region eu-west-1")
    assert "network" in (reader.checkout / "graph.html").read_text()
    assert "web still uses this" in reader.run("strongref release network CertArn")
    assert "strongref:claim:" in reader.run("aws ssm list-tags-for-resource")
    reader.run("aws ssm get-parameters --names")
    reader.run("strongref list --state outdated --region us-east-1")
    aws.client("ssm", US).delete_parameter(Name=f"/strongref/exports/web/{aws.account}/{EU}/network/CertArn")
    assert "missing" in reader.run("strongref doctor --region us-east-1 --region eu-west-1", fails=True)
    assert "CertArn  web       web" in reader.run("strongref republish network --region us-east-1")
    again = importing("network", "CertArn", Revision="2")
    aws.deploy("web", again, US, "UPDATE_COMPLETE")
    reader.run("aws ssm get-parameters-by-path --recursive --path /strongref/fences")
    reader.run("aws ssm get-parameters-by-path --recursive --path /strongref/holds")
    aws.delete("network", EU, "DELETE_FAILED")
    reader.run("aws cloudformation delete-stack --stack-name network --retain-resources Exports")
    aws.wait("network", EU, "DELETE_COMPLETE")
    reader.run("sam remote invoke Janitor")
    (found,) = aws.logged(US, "Found, and needs a decision")
    assert "ImportedOrphans" in found
    assert aws.values(US, "/strongref/exports/web")

    # A successor adopts what was retained; then an update that cannot be rolled back, twice.
    for beginning, released in (
        ("aws cloudformation continue-update-rollback --stack-name network --region", True),
        ("aws cloudformation continue-update-rollback --stack-name network --resources-to-skip", False),
    ):
        _stick(aws)
        if released:
            aws.deploy("web", EMPTY, US, "UPDATE_COMPLETE")
        reader.run(beginning)
        aws.wait("network", EU, "UPDATE_ROLLBACK_COMPLETE")
        assert ("old" in aws.values(US, "/strongref/exports/web").values()) == released
    # Its regions have different parameters by now, and stacks use it.
    reader.run("strongref install --region us-east-1 --region eu-west-1 --dry-run")
    assert "LookupPolicies" in reader.run("strongref status --all-regions", fails=True)
    reader.run("strongref install --all-regions --dry-run")
    assert "in use" in reader.run("strongref uninstall", fails=True)
    # Without its protection, CloudFormation still refuses, since stacks import the functions' ARNs.
    reader.run("aws cloudformation update-termination-protection")
    aws.wait("strongref", US, "UPDATE_COMPLETE")
    assert reader.left == []


def _install(reader: Reader) -> None:
    """The installation's parameters: for logs and alarms, for secure values, and for lookups."""
    aws = reader.aws
    reader.run("strongref install --region us-east-1 --region eu-west-1\nstrongref status")
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

    policy = next(block.text for block in blocks("json") if block.page.name == "permissions.md")
    aws.client("iam", US).create_policy(PolicyName="lookups", PolicyDocument=policy)
    reader.run("sam deploy --region us-east-1 --parameter-overrides LookupPolicies=")
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


def _check(reader: Reader) -> None:
    """The page of `check`: another domain name for the certificate that the site uses, and its deletion."""
    (shown,) = [block for block in blocks("console") if block.page.name == "check.md"]
    assert reader.run("strongref check --stack certificate --region us-east-1 --template", fails=True) == shown.text
    reader.run("aws cloudformation create-change-set")
    from_change_set = reader.run("strongref check --stack certificate --region us-east-1 --change-set", fails=True)
    assert "CertificateArn and DomainName cannot be changed: they are imported by stack site" in from_change_set
    assert "cannot be dropped" in reader.run("strongref check --delete certificate", fails=True)


def _command_line(reader: Reader) -> None:
    """The page of the command line, with the example of a shared network."""
    aws = reader.aws
    aws.deploy("network", load(example("network/network")), EU, "CREATE_COMPLETE")
    for region in (EU, US):
        aws.deploy("service", load(example("network/service")), region, "CREATE_COMPLETE")
    everything, unused = reader.run("strongref list --all-regions").split(" UTC.\n")[:2]
    assert ("SubnetIds" in everything, "SubnetIds" in unused) == (True, False)
    assert "service" in reader.run("strongref who network\n")
    assert reader.run("strongref graph --out graph.html").startswith("flowchart LR\n")
    assert reader.run("strongref order").splitlines()[-2].startswith("2     network")
    assert reader.run("strongref check --stack network").startswith("network (eu-west-1): accepted")
    reader.run("strongref doctor --all-regions")
    name = f"/strongref/exports/_shared/{aws.account}/{EU}/network/Vpc/Id"
    assert "Released Vpc.Id of network." in reader.run("strongref release network Vpc.Id")
    assert not any(tag.startswith("strongref:claim:") for tag in aws.tags(US, name))
    aws.client("ssm", US).delete_parameter(Name=name)
    assert "us-east-1  Vpc.Id  all       service" in reader.run("strongref republish network\n")
    assert aws.values(US, name.rpartition("/")[0])[name] == aws.physical_ids("network", EU)["Vpc"]
    reader.run("mkdir -p ~/.local/share/bash-completion")
    for stack_name, region in (("service", EU), ("service", US), ("network", EU)):
        aws.delete(stack_name, region)


def _timeless(text: str) -> str:
    """What the demo prints, without what differs from run to run."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+ s\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "…", text).strip()


def _look_up(reader: Reader) -> None:
    """The look-ups' page: a rule, a topic, a bucket, and a function that the topic may invoke."""
    aws = reader.aws
    tags = [{"Key": "team", "Value": "web"}, {"Key": "purpose", "Value": "news"}]
    topic = aws.client("sns", EU).create_topic(Name="news", Tags=tags)["TopicArn"]
    aws.client("sns", EU).create_topic(Name="other-news", Tags=tags[:1])
    aws.client("s3", EU).create_bucket(Bucket="photos", CreateBucketConfiguration={"LocationConstraint": EU})
    functions = {"Type": "AWS::Lambda::Function", "Properties": {**NOTHING, "FunctionName": "web"}}
    aws.deploy("web-function", stack({"Role": ROLE, "Web": functions}), EU, "CREATE_COMPLETE")
    aws.client("lambda", EU).add_permission(
        FunctionName="web",
        StatementId="web-invoked-by-news",
        Action="lambda:InvokeFunction",
        Principal="sns.amazonaws.com",
    )
    rule = aws.client("events", EU).put_rule(Name="nightly", ScheduleExpression="rate(1 day)")["RuleArn"]
    assert reader.run("strongref lookup AWS::Events::Rule nightly") == f"{rule}\n"
    assert reader.run("strongref lookup AWS::Lambda::Permission").endswith("|web-invoked-by-news\n")
    by_tags, by_name, *attributes = reader.run("strongref lookup AWS::SNS::Topic --tag").splitlines()
    assert by_tags == by_name == topic
    assert attributes == ["arn:aws:s3:::photos", f"photos.s3.{EU}.amazonaws.com"]


def _macro(reader: Reader) -> None:
    """The macro's page: a load balancer and a site in front of it, by the macro and by the command."""
    aws = reader.aws
    reader.run("sam deploy --stack-name network --template-file examples/macro")
    assert aws.outputs("web", US)["LoadBalancer"] == aws.physical_ids("network", EU)["LoadBalancer"]
    before = aws.physical_ids("web", US)
    reader.run("strongref transform examples/macro/alb/web.yaml -o")
    assert "StrongRef" not in (reader.checkout / "transformed/web.yaml").read_text()
    assert aws.physical_ids("web", US) == before  # the same: nothing is claimed anew
    assert "/strongref/exports/web/111111111111/eu-west-1/network/WebAlb/Arn" in reader.run(
        "strongref transform examples/macro/alb/web.yaml --iam"
    )
    aws.delete("web", US)
    aws.delete("network", EU)


def _resolve(reader: Reader) -> None:
    """The resolvers' page: a manifest with a stack's outputs and an attribute."""
    reader.run("sam deploy --stack-name storage")
    (written,) = (reader.checkout / "out").rglob("*")
    outputs = reader.aws.outputs("storage", EU)
    queue = reader.aws.physical_ids("storage", EU)["Queue"]
    text = (reader.checkout / "examples/manifests/kubernetes/reports.yaml").read_text()
    for token, value in (
        ("${cfn:storage.QueueArn}", outputs["QueueArn"]),
        ("${cfn:storage.BucketName}", outputs["BucketName"]),
        ("${cfn-attr:storage.Queue.Ref}", queue),
    ):
        assert token in text
        text = text.replace(token, value)
    assert written.read_text() == text

    reader.run("sam deploy --stack-name network")
    written = reader.checkout / "out/ingress.yaml"
    (subnets,) = re.findall(r"ids: \[(.*)\]|ids:\n((?: +- .*\n)+)", written.read_text())
    ids = reader.aws.physical_ids("network", EU)
    assert [ids["SubnetA"] in each or ids["SubnetB"] in each for each in subnets if each] == [True]
    reader.run("strongref resolve examples/manifests/claiming")  # with --hold
    reader.aws.delete("network", EU, "CREATE_COMPLETE")
    assert "is in use by strongref-hold-111111111111-shop-" in "".join(reader.aws.reasons("network", EU))
    assert "/network/SubnetIds is no longer claimed\n" in reader.run("strongref resolve --unclaim")
    reader.aws.delete("network", EU)


def _objects(reader: Reader) -> None:
    """The objects' page: a bucket of one app, which another app's role may read, and which stays for as long."""
    aws = reader.aws
    reader.run("python examples/objects/photos.py")
    bucket = aws.physical_ids("photos", EU)["Photos"]
    iam, role = aws.client("iam", EU), aws.physical_ids("gallery", EU)["Role"]
    policy = iam.get_role_policy(RoleName=role, PolicyName="photos")["PolicyDocument"]
    assert policy["Statement"][0]["Resource"] == f"arn:aws:s3:::{bucket}/*"
    kept = json.loads((reader.checkout / "strongref.context.json").read_text())
    found = sorted(filter(None, kept.values()))  # A setting that the bucket does not have is kept as empty.
    assert found == [f"arn:aws:s3:::{bucket}", bucket][: len(found)]
    assert found
    variables = reader.run("strongref objects list").splitlines()
    assert f"export PHOTOS_BUCKET_NAME={bucket}" in variables
    shown = reader.run("strongref objects context").splitlines()
    assert len(shown) == 2 * (len(kept) + 2)  # Listed, then forgotten; with a head and a note.
    assert shown[-1] == f"{len(kept)} values removed from strongref.context.json."
    assert json.loads((reader.checkout / "strongref.context.json").read_text()) == {}
    aws.delete("photos", EU, "CREATE_COMPLETE")
    assert "in use by gallery" in "".join(aws.reasons("photos", EU))
    aws.delete("gallery", EU)
    aws.delete("photos", EU)


def _refer(reader: Reader) -> None:
    """The page of references: a VPC link whose subnets a stack exports, and what its controller needs."""
    aws = reader.aws
    aws.deploy("network", load(example("network/network")), EU, "CREATE_COMPLETE")
    written = reader.run("strongref refs")
    assert written.startswith("integrations.apigatewayv2.services.k8s.aws:")
    ids = aws.physical_ids("network", EU)
    text = (reader.checkout / "out/link.yaml").read_text()
    assert "    - sg-0123456789abcdef0 # made by the web team\n" in text
    assert all(f"    - {ids[name]}\n" in text for name in ("Databases", "SubnetA", "SubnetB"))
    aws.delete("network", EU)


def _stick(aws: Aws) -> None:
    """Get the network into UPDATE_ROLLBACK_FAILED: a value that its update changes is claimed before that fails."""
    values = {"CertArn": "arn:x", "New": "old"}
    if aws.status("web", US):
        aws.deploy("web", EMPTY, US)
    aws.deploy("network", exporting(values, consumer="web", Revision="1"), EU)
    changed = export({**values, "New": "new"}, consumer="web", Revision="1")
    aws.begin("network", stack({"Exports": changed, "Later": waiting_resource("Exports")}), EU)
    wait_until(lambda: "new" in aws.values(US, "/strongref/exports/web").values(), "the new value")
    aws.deploy(
        "web", importing("network", "New"), US, "UPDATE_COMPLETE" if aws.status("web", US) else "CREATE_COMPLETE"
    )
    aws.fail("network", "Later", EU)
    aws.wait("network", EU, "UPDATE_ROLLBACK_FAILED")


def test_the_examples_are_deployed_and_read_each_other(aws: Aws) -> None:
    password = [{"ParameterKey": "DatabasePassword", "ParameterValue": "correct-horse"}]
    aws.deploy("network", load(example("network/network")), EU, "CREATE_COMPLETE")
    for region in (EU, US):
        aws.deploy("service", load(example("network/service")), region, "CREATE_COMPLETE")
    aws.deploy("producer", load(example("structured/producer")), EU, "CREATE_COMPLETE", Parameters=password)
    aws.deploy("consumer", load(example("structured/consumer")), US, "CREATE_COMPLETE")
    assert "correct-horse" not in str(aws.outputs("consumer", US)) + aws.logs(EU) + aws.logs(US)

    aws.delete("network", EU, "CREATE_COMPLETE")
    assert f"in use by strongref-hold-{aws.account}-service-" in "".join(aws.reasons("network", EU))
    for stack_name, region in (("service", EU), ("service", US), ("network", EU), ("consumer", US), ("producer", EU)):
        aws.delete(stack_name, region)


def test_the_demo_tells_its_story_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CertificateArn and DomainName cannot be changed: they are imported by stack site" in " ".join(
        done.stdout.split()
    )
    assert "nothing is left over" in done.stdout
    (shown,) = [block for block in blocks("console") if block.page.name == "README.md"]
    assert _timeless(done.stdout) == _timeless(shown.text)
    assert list(tmp_path.iterdir()) == []
