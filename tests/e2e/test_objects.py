"""Objects between real stacks: what one app exports another one imports, and while it does, nobody takes it away."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest

import strongref
import strongref_objects
import strongref_toolkit
from strongref.aws.clients import Clients
from strongref.aws.parameter_store import Stores
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.names import short_hash
from strongref.runtime.clock import SystemClock
from strongref_objects import (
    CrossRegion,
    EnvironmentSerializationContext,
    Parameters,
    PlainTarget,
    ResolveType,
    Stack,
    from_environment,
    one_variable,
    read_object,
)
from strongref_objects.base.errors import NothingToImportError
from strongref_objects.channels.cloudformation import HOLDER_PATH
from strongref_objects.channels.importing import HOLDER
from strongref_objects.synthesis.context_file import listing, reset
from strongref_toolkit.session import ToolSession
from tests.e2e.harness import failing_resource
from tests.e2e.templates import EU, US
from tests.support.objects import Tree, held_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_objects.channels import Channel
    from tests.e2e.harness import Aws, Template

ALB = Tree(
    {
        "LoadBalancerArn": {"Fn::GetAtt": ["LoadBalancer", "TopicName"]},
        "SecurityGroup": Tree({"SecurityGroupId": {"Ref": "SecurityGroup"}}),
    }
)
"""A composite of two resources; what kind they are of does not matter here."""

NOTHING = {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}
TOPIC = {"Type": "AWS::SNS::Topic"}
AT_DEPLOYMENT = ResolveType.DEPLOYMENT


class Apps:
    """Two apps, each with a stack of its own and nothing in common but AWS."""

    def __init__(self, aws: Aws, names: Callable[[str], str], folder: Path) -> None:
        self.aws = aws
        self.producer = names("network")
        self.consumer = names("service")
        self.name = names("Alb").replace("-", "")
        self.context_file = folder / "strongref.context.json"

    @property
    def toolbox(self) -> ToolSession:
        session = boto3.Session(aws_access_key_id=self.aws.account, aws_secret_access_key="test")
        return ToolSession(Clients(session), RateLimiter(RateLimits(100, 100, 100, 100, 100)), SystemClock(60))

    def stack(self, name: str, region: str, resources: Template) -> tuple[Stack, PlainTarget]:
        """A stack in a run of an app's program."""
        target = PlainTarget(name, region, template={"Resources": resources})
        return Stack(target, context_file=self.context_file, toolbox=self.toolbox), target

    def produce(
        self, *, via: Channel | None = None, exported: bool = True, changed: bool = False, expect: str | None = None
    ) -> Tree:
        """Run and deploy the producer; what it exports."""
        renamed = {"Properties": {"TopicName": f"{self.producer}-anew"}} if changed else {}
        resources = {"LoadBalancer": TOPIC | renamed, "SecurityGroup": TOPIC}
        stack, target = self.stack(self.producer, EU, resources)
        if exported:
            stack.export_object(self.name, ALB, via=via, description="The load balancer of all")
        self.aws.deploy(self.producer, target.template(), EU, expect)
        ids = self.aws.physical_ids(self.producer, EU)
        name = ids["LoadBalancer"].rpartition(":")[2]
        return Tree({"LoadBalancerArn": name, "SecurityGroup": Tree({"SecurityGroupId": ids["SecurityGroup"]})})

    def consume(self, region: str = EU, expect: str | None = None, **options: Any) -> Tree:
        """Run and deploy the consumer, which shows what it imports as outputs."""
        stack, target = self.stack(self.consumer, region, NOTHING)
        read = ALB.read(stack.import_object(self.name, **options))
        stack.target.put_output("Arn", read.parts["LoadBalancerArn"], export=None, description=None)
        group = read.parts["SecurityGroup"].parts["SecurityGroupId"]
        stack.target.put_output("Group", group, export=None, description=None)
        outputs = self.aws.deploy(self.consumer, target.template(), region, expect).outputs
        return Tree({"LoadBalancerArn": outputs["Arn"], "SecurityGroup": Tree({"SecurityGroupId": outputs["Group"]})})

    def calls(self, action: str) -> int:
        found = [call for call in self.aws.calls if call.action == action and call.caller == self.aws.account]
        return sum(call.count for call in found)

    def why(self, stack: str, region: str = EU) -> str:
        return "\n".join(self.aws.reasons(stack, region))


@pytest.fixture
def apps(aws: Aws, names: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apps:
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.emulator.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return Apps(aws, names, tmp_path)


@pytest.mark.parametrize("kind", list(ResolveType))
def test_req1_an_object_that_one_app_exports_is_imported_by_another(apps: Apps, kind: ResolveType) -> None:
    made = apps.produce(expect="CREATE_COMPLETE")
    assert apps.consume(expect="CREATE_COMPLETE", type=kind) == made


def test_req8_what_was_found_at_synthesis_is_kept_in_the_context_file_until_it_is_reset(apps: Apps) -> None:
    made = apps.produce()
    apps.consume(expect="CREATE_COMPLETE")
    kept = {key.name: value for key, value in listing(apps.context_file).items()}
    assert kept == {
        f"{apps.name}-LoadBalancerArn": made.parts["LoadBalancerArn"],
        f"{apps.name}-SecurityGroup-SecurityGroupId": made.parts["SecurityGroup"].parts["SecurityGroupId"],
    }
    (home,) = {(key.channel, key.account, key.region) for key in listing(apps.context_file)}
    assert home == ("cloudformation", apps.aws.account, EU)
    before = apps.context_file.stat()
    apps.consume()  # Nothing to update: CloudFormation sees the same template.
    after = apps.context_file.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert len(reset(apps.context_file, [apps.name])) == 2
    apps.consume()
    assert {key.name: value for key, value in listing(apps.context_file).items()} == kept


@pytest.mark.parametrize("kind", list(ResolveType))
def test_req8_while_it_is_imported_the_producer_can_neither_change_nor_drop_it_nor_go(
    apps: Apps, kind: ResolveType
) -> None:
    made = apps.produce()
    apps.consume(expect="CREATE_COMPLETE", type=kind)
    apps.produce(changed=True, expect="UPDATE_ROLLBACK_COMPLETE")
    assert f"in use by {apps.consumer}" in apps.why(apps.producer)
    apps.produce(exported=False, expect="UPDATE_ROLLBACK_COMPLETE")
    apps.aws.delete(apps.producer, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert f"in use by {apps.consumer}" in apps.why(apps.producer)
    assert apps.produce() == made
    apps.aws.delete(apps.consumer, EU)
    apps.aws.delete(apps.producer, EU)


def test_req8_what_is_imported_later_is_held_by_another_resource_and_nothing_is_let_go(apps: Apps) -> None:
    """What holds more has another name, and comes before the old one goes."""
    apps.produce()
    handles = []
    for keys in (["LoadBalancerArn"], ["LoadBalancerArn", "SecurityGroup"]):
        stack, target = apps.stack(apps.consumer, EU, NOTHING)
        read = Tree({key: ALB.parts[key] for key in keys}).read(stack.import_object(apps.name))
        texts = (part.parts["SecurityGroupId"] if isinstance(part, Tree) else part for part in read.parts.values())
        target.put_output("Used", {"Fn::Join": [" ", list(texts)]}, export=None, description=None)
        apps.aws.deploy(apps.consumer, target.template(), EU)
        ids = apps.aws.physical_ids(apps.consumer, EU)
        handles.append([name for name in ids if name.startswith(HOLDER)])
        apps.produce(changed=True, expect="UPDATE_ROLLBACK_COMPLETE")
        assert f"in use by {apps.consumer}" in apps.why(apps.producer)
        apps.produce(exported=False, expect="UPDATE_ROLLBACK_COMPLETE")
    assert [len(each) for each in handles] == [1, 1]
    assert handles[0] != handles[1]
    stack, target = apps.stack(apps.consumer, EU, NOTHING)
    stack.import_object(apps.name).read_object("SecurityGroup").read_string("SecurityGroupId")
    apps.aws.deploy(apps.consumer, target.template(), EU, "UPDATE_COMPLETE")
    apps.produce(changed=True, expect="UPDATE_COMPLETE")
    apps.produce(exported=False, expect="UPDATE_ROLLBACK_COMPLETE")


def older(template: Template) -> Template:
    """A template as an older version made it, with its holder in metadata."""
    resources = dict(template["Resources"])
    (holder,) = [name for name in resources if name.startswith(HOLDER)]
    names = held_by({holder: resources.pop(holder)})
    metadata = {"strongref:imports": [{"Fn::ImportValue": each} for each in names]}
    former = {"Type": "AWS::CloudFormation::WaitConditionHandle", "Metadata": metadata}
    return {**template, "Resources": {**resources, f"StrongrefImports{short_hash(chr(10).join(names))}": former}}


def test_what_an_older_version_holds_is_held_while_its_holder_is_replaced(apps: Apps) -> None:
    apps.produce()
    stack, target = apps.stack(apps.consumer, EU, NOTHING)
    arn = stack.import_object(apps.name).read_string("LoadBalancerArn")
    target.put_output("Arn", arn, export=None, description=None)
    template = target.template()
    (holder,) = [name for name in template["Resources"] if name.startswith(HOLDER)]
    (former,) = older(template)["Resources"].keys() - template["Resources"].keys()

    def is_held() -> bool:
        apps.produce(changed=True, expect="UPDATE_ROLLBACK_COMPLETE")
        apps.produce(exported=False, expect="UPDATE_ROLLBACK_COMPLETE")
        return f"in use by {apps.consumer}" in apps.why(apps.producer)

    apps.aws.deploy(apps.consumer, older(template), EU, "CREATE_COMPLETE")
    assert is_held()
    failing = {"Failing": failing_resource(holder)}
    apps.aws.deploy(
        apps.consumer, {**template, "Resources": {**template["Resources"], **failing}}, EU, "UPDATE_ROLLBACK_COMPLETE"
    )
    assert "DELETE_COMPLETE" in apps.aws.statuses(apps.consumer, holder, EU)
    assert former in apps.aws.physical_ids(apps.consumer, EU)
    assert is_held()
    apps.aws.deploy(apps.consumer, template, EU, "UPDATE_COMPLETE")
    events = [(each["LogicalResourceId"], each["ResourceStatus"]) for each in apps.aws.events(apps.consumer, EU)]
    cleanup = events.index((apps.consumer, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"))
    created = [at for at, (name, status) in enumerate(events) if name == holder and status.endswith("_COMPLETE")]
    assert created
    assert created[-1] < cleanup < events.index((former, "DELETE_IN_PROGRESS"))
    assert former not in apps.aws.physical_ids(apps.consumer, EU)
    assert is_held()
    path = f"{HOLDER_PATH}/{apps.consumer}"
    assert list(apps.aws.values(EU, path).values()) == ["held"]
    apps.aws.delete(apps.consumer, EU)
    assert not apps.aws.values(EU, path)
    apps.produce(exported=False, expect="UPDATE_COMPLETE")


def test_req8_a_weak_import_stands_in_nobodys_way(apps: Apps) -> None:
    made = apps.produce()
    assert apps.consume(expect="CREATE_COMPLETE", weak=True) == made
    apps.produce(changed=True, expect="UPDATE_COMPLETE")
    apps.aws.delete(apps.producer, EU)


def test_a_strong_import_that_is_made_weak_lets_go(apps: Apps) -> None:
    apps.produce()
    apps.consume(expect="CREATE_COMPLETE")
    apps.consume(expect="UPDATE_COMPLETE", weak=True)
    apps.produce(changed=True, expect="UPDATE_COMPLETE")


@pytest.mark.parametrize("kind", list(ResolveType))
@pytest.mark.parametrize("shared", [False, True])
def test_req4_across_regions_it_is_imported_and_held_by_strongref(apps: Apps, kind: ResolveType, shared: bool) -> None:
    to = CrossRegion(regions=[US], consumer=None if shared else apps.consumer)
    of = CrossRegion(stack=apps.producer, region=EU, shared=shared)
    made = apps.produce(via=to)
    assert apps.consume(US, "CREATE_COMPLETE", type=kind, via=of) == made
    apps.produce(via=to, changed=True, expect="UPDATE_ROLLBACK_COMPLETE")
    assert f"{apps.name}.LoadBalancerArn cannot be changed: it is imported by stack {apps.consumer}" in apps.why(
        apps.producer
    )
    assert apps.produce(via=to) == made
    apps.aws.delete(apps.consumer, US)
    changed = apps.produce(via=to, changed=True, expect="UPDATE_COMPLETE")
    reset(apps.context_file)
    assert apps.consume(US, "CREATE_COMPLETE", type=kind, weak=True, via=of) == changed
    apps.produce(via=to, expect="UPDATE_COMPLETE")
    apps.aws.delete(apps.producer, EU)


def test_req4_one_more_region_is_no_way_around_a_hold_and_stands_in_no_changes_way(apps: Apps) -> None:
    to, more = (CrossRegion(regions=regions) for regions in ([US], [EU, US]))
    of = CrossRegion(stack=apps.producer, region=EU, shared=True)
    made = apps.produce(via=to)
    assert apps.consume(US, "CREATE_COMPLETE", via=of) == made
    apps.produce(via=more, changed=True, expect="UPDATE_ROLLBACK_COMPLETE")
    assert "cannot be changed: it is imported by stack" in apps.why(apps.producer)
    assert apps.produce(via=more, expect="UPDATE_COMPLETE") == made
    apps.aws.delete(apps.consumer, US)
    apps.produce(via=more, changed=True, expect="UPDATE_COMPLETE")


def test_req4_lists_come_across_regions_at_deployment(apps: Apps) -> None:
    producer, template = apps.stack(apps.producer, EU, {"A": TOPIC})
    whole = Tree({"Zones": ["a", {"Ref": "A"}], "Name": "n"})
    producer.export_object(apps.name, whole, via=CrossRegion(regions=[US]))
    apps.aws.deploy(apps.producer, template.template(), EU, "CREATE_COMPLETE")
    consumer, target = apps.stack(apps.consumer, US, NOTHING)
    of = CrossRegion(stack=apps.producer, region=EU, shared=True)
    ctx = consumer.import_object(apps.name, type=AT_DEPLOYMENT, via=of)
    zones = ctx.read_string_list("Zones", allow_unresolved=True)
    target.put_output("Last", {"Fn::Select": [1, zones]}, export=None, description=None)
    done = apps.aws.deploy(apps.consumer, target.template(), US, "CREATE_COMPLETE")
    assert done.outputs["Last"] == apps.aws.physical_ids(apps.producer, EU)["A"]


def test_req4_more_values_than_one_answer_has_room_for_are_imported_by_several(apps: Apps) -> None:
    producer, template = apps.stack(apps.producer, EU, NOTHING)
    whole = Tree({f"Value{number:02d}": "v" * 200 for number in range(30)})
    producer.export_object(apps.name, whole, via=CrossRegion(regions=[US]))
    apps.aws.deploy(apps.producer, template.template(), EU, "CREATE_COMPLETE")
    consumer, target = apps.stack(apps.consumer, US, NOTHING)
    of = CrossRegion(stack=apps.producer, region=EU, shared=True)
    read = whole.read(consumer.import_object(apps.name, type=AT_DEPLOYMENT, via=of))
    for key, value in read.parts.items():
        target.put_output(key, value, export=None, description=None)
    done = apps.aws.deploy(apps.consumer, target.template(), US, "CREATE_COMPLETE")
    assert done.outputs == whole.parts


def test_req4_as_parameters_it_is_read_at_deployment_at_synthesis_and_at_run_time(apps: Apps) -> None:
    via = Parameters(f"/shared/{apps.producer}")
    made = apps.produce(via=via, expect="CREATE_COMPLETE")
    stack, target = apps.stack(apps.consumer, EU, NOTHING)
    read = ALB.read(stack.import_object(apps.name, type=AT_DEPLOYMENT, weak=True, via=via))
    target.put_resource("Uses", "AWS::SNS::Topic", {"DisplayName": read.parts["LoadBalancerArn"]})
    apps.aws.deploy(apps.consumer, target.template(), EU, "CREATE_COMPLETE")
    topic = apps.aws.client("sns", EU).get_topic_attributes(TopicArn=apps.aws.physical_ids(apps.consumer, EU)["Uses"])
    assert topic["Attributes"]["DisplayName"] == made.parts["LoadBalancerArn"]
    assert apps.consume(expect="UPDATE_COMPLETE", weak=True, via=via) == made
    store = Stores(apps.toolbox.clients.ssm, apps.toolbox.limiter)(EU, apps.toolbox.clock)
    assert ALB.read(read_object(via.prefix, apps.name, store=store)) == made


@pytest.mark.parametrize("keys", ["one for each value", "one with json"])
def test_req4_a_functions_environment_holds_it(apps: Apps, keys: str) -> None:
    variables: Mapping[str, Any]
    if keys == "one with json":
        variables = one_variable("Alb", ALB)
    else:
        ctx = EnvironmentSerializationContext("Alb")
        ALB.serialize(ctx)
        variables = ctx.variables
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    resources = {
        "LoadBalancer": TOPIC,
        "SecurityGroup": TOPIC,
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Statement": [trust]}}},
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Runtime": "python3.13",
                "Handler": "index.handler",
                "Role": {"Fn::GetAtt": ["Role", "Arn"]},
                "Code": {"ZipFile": "import os\ndef handler(*_):\n    return dict(os.environ)\n"},
                "Environment": {"Variables": variables},
            },
        },
    }
    apps.aws.deploy(apps.producer, {"Resources": resources}, EU, "CREATE_COMPLETE")
    ids = apps.aws.physical_ids(apps.producer, EU)
    answer = apps.aws.client("lambda", EU).invoke(FunctionName=ids["Function"])
    environment = json.loads(answer["Payload"].read())
    found = ALB.read(from_environment("Alb", environment))
    assert found.parts["SecurityGroup"].parts == {"SecurityGroupId": ids["SecurityGroup"]}
    assert found.parts["LoadBalancerArn"] == ids["LoadBalancer"].rpartition(":")[2]


READER = """
import sys
from strongref_objects import from_environment, read_object

def both(ctx):
    return [ctx.read_string("LoadBalancerArn"), ctx.read_object("SecurityGroup").read_string("SecurityGroupId")]

given = both(from_environment("Alb"))
loaded = "boto3" in sys.modules

def handler(event, _):
    return {"given": given, "loaded": loaded, "stored": both(read_object(event["prefix"], event["name"]))}
"""


def test_req4_a_function_of_a_programs_reads_it_at_run_time(apps: Apps) -> None:
    """With the packages in its code, as `pip install --target` puts them there."""
    via = Parameters(f"/shared/{apps.producer}")
    made = apps.produce(via=via)
    role = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, **ASSUME}]}
    reads = {"Effect": "Allow", "Action": "ssm:GetParametersByPath", "Resource": "*"}
    iam, functions = apps.aws.client("iam", EU), apps.aws.client("lambda", EU)
    arn = iam.create_role(RoleName=apps.consumer, AssumeRolePolicyDocument=json.dumps(role))["Role"]["Arn"]
    policy = json.dumps({"Version": "2012-10-17", "Statement": [reads]})
    iam.put_role_policy(RoleName=apps.consumer, PolicyName="reads", PolicyDocument=policy)
    functions.create_function(
        FunctionName=apps.consumer,
        Runtime="python3.13",
        Handler="index.handler",
        Role=arn,
        Timeout=900,
        Code={"ZipFile": code(READER)},
        Environment={
            "Variables": {"ALB": json.dumps({"loadBalancerArn": "a", "securityGroup": {"securityGroupId": "s"}})}
        },
    )
    event = json.dumps({"prefix": via.prefix, "name": apps.name})
    answer = json.loads(functions.invoke(FunctionName=apps.consumer, Payload=event)["Payload"].read())
    stored = [made.parts["LoadBalancerArn"], made.parts["SecurityGroup"].parts["SecurityGroupId"]]
    assert answer == {"given": ["a", "s"], "loaded": False, "stored": stored}


ASSUME = {"Action": "sts:AssumeRole"}
PACKAGES = (strongref, strongref_objects, strongref_toolkit)


def code(text: str) -> bytes:
    """A function's archive: a program, and the packages."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.py", text)
        for folder in (Path(package.__file__ or "").parent for package in PACKAGES):
            for file in folder.rglob("*"):
                if file.suffix in (".py", ".json"):
                    archive.write(file, f"{folder.name}/{file.relative_to(folder)}")
    return content.getvalue()


def test_what_nobody_exports_is_reported_with_what_is_close(apps: Apps) -> None:
    apps.produce()
    stack, _ = apps.stack(apps.consumer, EU, NOTHING)
    with pytest.raises(NothingToImportError) as caught:
        stack.import_object(apps.name).read_string("LoadBalancerArm")
    assert f"{apps.name}-LoadBalancerArn" in str(caught.value)
    assert not apps.context_file.exists()
    assert cast("PlainTarget", stack.target).template()["Resources"] == NOTHING
