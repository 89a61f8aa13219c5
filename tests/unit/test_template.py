"""The template: the functions may do what their code does and nothing else, and others find what they rely on.

A story in memory makes every kind of call. Each must be allowed by the role of the function that makes it, and each
permission must be needed by one of them.
"""

from __future__ import annotations

import re
from dataclasses import fields
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from strongref.address import StackArn
from strongref.errors import Counted, ExportsInUseError, NoSuchProducerError
from strongref.findings import Finding, What
from strongref.handover import SERVICE_TIMEOUT
from strongref.limiter import _CLASS, Rates
from strongref.metrics import NAMESPACE, SERVICE
from strongref.patience import Patience
from strongref.ports import Ports
from strongref.tending import Janitor
from tests.support.cloud import ACCOUNT, Cloud, Stack
from tests.support.documents import ROOT, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.answer import Answer
    from strongref.ports import StackInfo
    from tests.support.fake_ssm import FakeSsm

TEMPLATE = load((ROOT / "template.yaml").read_text())
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]
FUNCTIONS = ("Exporter", "Importer", "Janitor")
ROLES = tuple(f"{function}Role" for function in FUNCTIONS)
LOG_ACTIONS = {"logs:CreateLogStream", "logs:PutLogEvents"}
EU, US = "eu-west-1", "us-east-1"


class Call(NamedTuple):
    """What a function asks AWS for, as IAM sees it."""

    role: str
    home: str
    """The region of the function."""
    action: str
    resource: str


class Grant(NamedTuple):
    """One action on one resource, of a function in a region."""

    action: str
    pattern: str

    def allows(self, call: Call) -> bool:
        return self.action == call.action and fnmatchcase(call.resource, self.pattern)


class Watched(Cloud):
    """A cloud that notes which calls each function makes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Call] = set()
        self._function: tuple[str, str] | None = None

    def send(self, stack: Stack, kind: Any, logical_id: str, properties: dict[str, Any], *more: Any) -> Answer:  # noqa: ANN401
        role = "ImporterRole" if "From" in properties else "ExporterRole"
        self._function = (role, StackArn.parse(stack.arn).region)
        try:
            return super().send(stack, kind, logical_id, properties, *more)
        finally:
            self._function = None

    def tend(self, region: str) -> list[Finding]:
        """Have the janitor of a region go through it."""
        self._function = ("JanitorRole", region)
        ports = Ports(self.stores, self, Patience(5, 2, lambda: 0.5), self.token)
        try:
            return [finding for tended in Janitor(ports, region).tend(self.clock) for finding in tended.findings]
        finally:
            self._function = None

    def ssm(self, region: str) -> FakeSsm:
        client = super().ssm(region)
        client.before_call = partial(self._see_ssm, region)
        return client

    def by_arn(self, arn: str) -> StackInfo | None:
        self._see("cloudformation:DescribeStacks", arn)
        return super().by_arn(arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        self._see("cloudformation:DescribeStacks", f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/some-id")
        return super().by_name(name, region)

    def physical_ids(self, arn: str) -> frozenset[str]:
        self._see("cloudformation:ListStackResources", arn)
        return super().physical_ids(arn)

    def _see_ssm(self, region: str, action: str, request: dict[str, Any]) -> None:
        names = request.get("Names") or [request.get("Name") or request.get("Path") or request["ResourceId"]]
        actions = [action, "AddTagsToResource"] if action == "PutParameter" and "Tags" in request else [action]
        for name in names:
            for each in actions:
                self._see(f"ssm:{each}", f"arn:aws:ssm:{region}:{ACCOUNT}:parameter{name}")

    def _see(self, action: str, resource: str) -> None:
        if self._function:
            self.seen.add(Call(*self._function, action, resource))


@cache
def story() -> frozenset[Call]:
    """The calls of an installation's life: every branch of the functions that calls something of its own."""
    cloud = Watched()

    def exports(*keys: str, **values: str) -> dict[str, Any]:
        return {"Region": US, "Consumer": "web", "Values": dict.fromkeys(keys, "1") | values}

    def imports(*names: str, stack: str = "network", **more: str) -> dict[str, Any]:
        return {"From": {"Stack": stack, "Region": EU}, "Names": list(names), **more}

    cloud.deploy("network", EU, {"Exports": exports("A", "B"), "More": exports("B", "C")})
    cloud.deploy("network", EU, {"Exports": exports("A", "B"), "More": exports("C")})  # B has one owner less
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("api", US, {"Imports": imports("A", Consumer="web")})
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports("B", A="2"), "More": exports("C")})
    cloud.ssm(US).delete_parameters(Names=[f"/strongref/exports/web/{ACCOUNT}/{EU}/network/B"])  # by hand
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    cloud.delete("web", US)
    cloud.delete("api", US)
    with pytest.raises(NoSuchProducerError):
        cloud.deploy("mistaken", US, {"Imports": imports("A", stack="netwrok")})
    cloud.deploy("web", US, {"Imports": imports("A")})
    del cloud.stack("web", US).resources["Imports"]  # its claim is stale
    cloud.ssm(US).delete_parameters(Names=[f"/strongref/exports/web/{ACCOUNT}/{EU}/network/C"])
    dead = f"/strongref/fences/web/{ACCOUNT}/{EU}/network/Dead"
    cloud.ssm(US).put_parameter(Name=dead, Type="String", Value='{"by": "x", "until": "2001-01-01T00:00:00+00:00"}')
    assert {finding.what for finding in cloud.tend(US)} == {What.STALE_CLAIM, What.MISSING, What.DEAD_FENCE}
    cloud.delete("network", EU)
    cloud.deploy("network", EU, {"Exports": exports("A", "B")})
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})
    cloud.vanish("network", EU)
    cloud.deploy("other", EU, {"Exports": exports("A")})
    cloud.vanish("other", EU)
    assert {finding.what for finding in cloud.tend(US)} == {What.IMPORTED_ORPHAN, What.ORPHAN}
    return frozenset(cloud.seen)


def statements(role: str) -> Iterator[dict[str, Any]]:
    for policy in RESOURCES[role]["Properties"]["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def grants(role: str, home: str) -> list[Grant]:
    """What a role allows, beside logs."""
    return [
        Grant(action, resolved(resource, home))
        for statement in statements(role)
        for action in listed(statement["Action"])
        if action not in LOG_ACTIONS
        for resource in listed(statement["Resource"])
    ]


def resolved(resource: dict[str, str], home: str) -> str:
    pseudo = {"Partition": "aws", "AccountId": ACCOUNT, "Region": home}
    return re.sub(r"\$\{AWS::(\w+)\}", lambda found: pseudo[found[1]], resource["Fn::Sub"])


def listed(given: Any) -> list[Any]:  # noqa: ANN401 (as in the template)
    return given if isinstance(given, list) else [given]


@pytest.mark.parametrize("role", ROLES)
def test_a_function_may_make_every_call_that_it_makes(role: str) -> None:
    calls = [call for call in story() if call.role == role]
    assert calls
    refused = [call for call in calls if not any(grant.allows(call) for grant in grants(role, call.home))]
    assert refused == []


@pytest.mark.parametrize(("role", "home"), [("ExporterRole", EU), ("ImporterRole", US), ("JanitorRole", US)])
def test_a_function_makes_every_call_that_it_may(role: str, home: str) -> None:
    calls = [call for call in story() if (call.role, call.home) == (role, home)]
    needless = [grant for grant in grants(role, home) if not any(grant.allows(call) for call in calls)]
    assert needless == []


@pytest.mark.parametrize(("role", "home"), [("ExporterRole", EU), ("ImporterRole", US), ("JanitorRole", US)])
def test_a_permission_for_all_regions_is_used_in_another_one(role: str, home: str) -> None:
    abroad = {call.action for call in story() if call.role == role and f":{home}:" not in call.resource}
    assert {grant.action for grant in grants(role, home) if f":*:{ACCOUNT}:" in grant.pattern} == abroad


def test_the_actions_are_those_that_are_paced() -> None:
    """Every call goes through the limiter, which knows each by name: a new one is noticed here."""
    granted = {grant.action.partition(":")[2] for role in ROLES for grant in grants(role, US)}
    assert granted | {"Invoke"} == set(_CLASS)


@pytest.mark.parametrize("role", ROLES)
def test_every_statement_is_narrow(role: str) -> None:
    for statement in statements(role):
        assert set(statement) == {"Sid", "Effect", "Action", "Resource"}
        assert all(re.fullmatch(r"[a-z]+:[A-Za-z]+", action) for action in listed(statement["Action"]))
    own = r"(ssm:(\*|us-east-1):{0}:parameter/strongref/\w+(/\*)?|cloudformation:(\*|us-east-1):{0}:stack/\*/\*)"
    assert all(re.fullmatch(f"arn:aws:{own}".format(ACCOUNT), grant.pattern) for grant in grants(role, US))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_invoke_itself_to_hand_over_and_no_other(name: str) -> None:
    policy = RESOURCES[f"{name}HandOver"]["Properties"]
    assert policy["Roles"] == [{"Ref": f"{name}Role"}]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement == {
        "Sid": "HandOver",
        "Effect": "Allow",
        "Action": "lambda:InvokeFunction",
        "Resource": {"Fn::GetAtt": [name, "Arn"]},
    }


def test_an_event_that_waited_longer_than_cloudformation_is_not_carried_out() -> None:
    config = TEMPLATE["Globals"]["Function"]["EventInvokeConfig"]
    assert config["MaximumEventAgeInSeconds"] == SERVICE_TIMEOUT


def test_the_alarms_are_on_what_is_counted() -> None:
    counted = {kind.value for kind in Counted} | {"Healed", "Unhealed", "HandOvers"}
    alarms = [each["Properties"] for each in RESOURCES.values() if each["Type"] == "AWS::CloudWatch::Alarm"]
    own = [alarm for alarm in alarms if alarm["Namespace"] == NAMESPACE]
    assert {alarm["MetricName"] for alarm in own} == {Counted.ERRORS, Counted.REFUSED, "Unhealed"} <= counted
    assert all(alarm["Dimensions"] == [{"Name": "service", "Value": SERVICE}] for alarm in own)
    died = [alarm for alarm in alarms if alarm["Namespace"] == "AWS/Lambda"]
    assert [alarm["Dimensions"][0]["Value"]["Ref"] for alarm in died] == list(FUNCTIONS)
    assert len(own) + len(died) == len(alarms)
    for alarm in alarms:
        assert alarm["AlarmActions"] == {"Fn::If": ["IsAlarmed", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_logs_to_its_own_group_and_no_other(name: str) -> None:
    (logs,) = [each for each in statements(f"{name}Role") if LOG_ACTIONS & set(listed(each["Action"]))]
    assert set(logs["Action"]) == LOG_ACTIONS
    assert logs["Resource"] == {"Fn::GetAtt": [f"{name}Logs", "Arn"]}
    assert RESOURCES[name]["Properties"]["LoggingConfig"]["LogGroup"] == {"Ref": f"{name}Logs"}
    assert RESOURCES[f"{name}Logs"]["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_functions_role_is_all_in_the_template(name: str) -> None:
    """No managed policies, no name (so CAPABILITY_IAM is enough), and a boundary where one is asked for."""
    assert RESOURCES[name]["Properties"]["Role"] == {"Fn::GetAtt": [f"{name}Role", "Arn"]}
    properties = RESOURCES[f"{name}Role"]["Properties"]
    assert {"RoleName", "ManagedPolicyArns"} & set(properties) == set()
    assert properties["PermissionsBoundary"]["Fn::If"][1] == {"Ref": "PermissionsBoundary"}
    (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
    assert (trust["Principal"], trust["Action"]) == ({"Service": "lambda.amazonaws.com"}, "sts:AssumeRole")


@pytest.mark.parametrize("name", ["Exporter", "Importer"])
def test_a_function_is_found_by_its_export_and_by_its_parameter(name: str) -> None:
    exported = {output["Export"]["Name"]: output["Value"] for output in TEMPLATE["Outputs"].values()}
    parameter = RESOURCES[f"{name}Token"]["Properties"]
    assert exported[f"strongref-{name.lower()}"] == {"Fn::GetAtt": [name, "Arn"]}
    assert parameter["Name"] == f"/strongref/service-tokens/{name.lower()}"
    assert parameter["Value"] == {"Fn::GetAtt": [name, "Arn"]}


def test_the_rates_that_can_be_given_reach_the_limiter() -> None:
    variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    given = {
        variable: str(number)
        for number, (variable, value) in enumerate(sorted(variables.items()), start=100)
        if value == {"Ref": f"{variable.removeprefix('STRONGREF_').title().replace('_', '')}"}
    }
    read = Rates.from_environment(given)
    assert {getattr(read, field.name) for field in fields(Rates)} == {
        *map(float, given.values()),
        Rates().stacks,
        Rates().invocations,
    }
    assert set(variables) == {*given, "POWERTOOLS_SERVICE_NAME"}


def test_a_functions_handler_is_there() -> None:
    module, _, function = TEMPLATE["Globals"]["Function"]["Handler"].partition(".")
    for name in FUNCTIONS:
        code = ROOT / RESOURCES[name]["Properties"]["CodeUri"] / f"{module}.py"
        assert f"def {function}(" in code.read_text()
