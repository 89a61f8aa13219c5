"""The functions may do what their code does, and nothing else.

A story in memory makes every kind of call. Each must be allowed by the role of the function that makes it, and each
permission must be needed by one of them.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from strongref.aws.cloud_control import CloudControlApi, TaggingApi
from strongref.aws.rate_limit import RATE_OF_ACTION, RateLimiter, RateLimits
from strongref.aws.settings import PARAMETER_TAGS
from strongref.contract.event import RequestType
from strongref.contract.origin import ResponseHosts
from strongref.errors import PartialCreateError, UndecryptableError
from strongref.lookup.custom_resource import ResourceLookup
from strongref.lookup.search import Finder
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import Janitor
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.protocol.verification import EventVerifier
from strongref.refusals import ExportsInUseError, NoSuchProducerError
from strongref_cli.install.plan import DEFAULT_STACK
from strongref_cli.install.trust import ROLE
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.cloudformation.requests import ResourceRequest
from tests.support.cloudformation.stacks import CLEANUP
from tests.support.documents import ROOT, load
from tests.support.install_calls import INSTALLING
from tests.support.installation import LOG_ACTIONS, RESOURCES, WORKING, listed, statements
from tests.support.older import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from strongref.contract.response import Response
    from strongref.protocol.ports import NewStack, ResourceInfo, StackInfo
    from strongref.protocol.time import Clock
    from tests.support.cloudformation.stacks import FakeStack
    from tests.support.fake_ssm import FakeSsm

ROLES = tuple(f"{function}Role" for function in WORKING)
EU, US = "eu-west-1", "us-east-1"
HOMES = [("ExporterRole", EU), ("ImporterRole", US), ("JanitorRole", US), ("LookupRole", EU)]
ALL = "*"
"""The resource of actions that cannot be allowed for some resources alone."""

OF_THE_COMMAND = {
    "DescribeChangeSet",
    "DescribeParameters",
    "DescribeRegions",
    "GetAccountSettings",
    "GetFunctionConfiguration",
    "AssumeRole",
    "GetCallerIdentity",
    "GetObject",
    "GetSecretValue",
    "GetTemplate",
    "ListExports",
    *INSTALLING,
}
"""What is called with its user's credentials, and by no function."""


OF_CLOUDFORMATION = {"DeleteParameter", "TagResource"}
"""What CloudFormation does with a function's permissions, when it makes and deletes hold stacks."""


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
        self.sees_installations = True
        self._function: tuple[str, str] | None = None

    def send(self, request: ResourceRequest) -> Response:
        role = "ExporterRole" if "Values" in request.properties else "ImporterRole"
        with self._as(role, request.region), self.stacks[request.stack].asking(request):
            self._verifier.check_expected(self.event(request), self.clock)
            return super().send(request)

    def tend(self, region: str) -> list[Finding]:
        """Have the janitor of a region go through it."""
        ports = Ports(self.stores, self, Patience(5, 2, lambda: 0.5), self.token)
        with self._as("JanitorRole", region):
            return [
                finding for tended in Janitor(ports, region, ACCOUNT).tend(self.clock) for finding in tended.findings
            ]

    def look_up(self, home: str, **properties: object) -> Response:
        """Have the lookup function of a region carry out a Create."""
        stack = self.find("site", home) or self.new_stack("site", home)
        request = ResourceRequest(RequestType.CREATE, stack.arn, "Found", properties)
        event = self.event(request)
        with self._as("LookupRole", home), stack.asking(request):
            self._verifier.check_expected(event, self.clock)
            return ResourceLookup(self._finder).handle(event, self.clock)

    def delete_lookup(self, home: str) -> None:
        """Have the lookup function of a region carry out a Delete in the cleanup phase."""
        stack = self.stack("site", home)
        stack.status = CLEANUP
        with self._as("LookupRole", home):
            event = self.event(ResourceRequest(RequestType.DELETE, stack.arn, "Found", {}, "found-1"))
            self._verifier.check_expected(event, self.clock)

    @contextmanager
    def _as(self, role: str, region: str) -> Iterator[None]:
        self._function = (role, region)
        try:
            yield
        finally:
            self._function = None

    @property
    def _verifier(self) -> EventVerifier:
        return EventVerifier(ResponseHosts(), lambda _partition: "amazonaws.com", lambda *_: self, ReadLag())

    def _finder(self, region: str, clock: Clock) -> Finder:
        limiter, clients = RateLimiter(RateLimits()), partial(WatchedResources, see=self._see)
        control = CloudControlApi(cast("Any", clients), region, limiter, clock)
        return Finder(control, TaggingApi(cast("Any", clients), region, limiter, clock))

    def ssm(self, region: str) -> FakeSsm:
        client = super().ssm(region)
        client.before_call = partial(self._see_ssm, region)
        return client

    def by_arn(self, arn: str) -> StackInfo | None:
        self._see("cloudformation:DescribeStacks", arn)
        return super().by_arn(arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        self._see("cloudformation:DescribeStacks", _stack(name, region))
        return super().by_name(name, region)

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        self._see("cloudformation:DescribeStackResource", arn)
        return super().resource(arn, logical_id)

    def physical_ids(self, arn: str) -> frozenset[str]:
        self._see("cloudformation:ListStackResources", arn)
        return super().physical_ids(arn)

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        self._see("cloudformation:ListImports", _stack("*", region))
        return super().importing_stacks(export, region)

    def create_stack(self, stack: NewStack) -> str:
        for action in ("CreateStack", "TagResource"):
            self._see(f"cloudformation:{action}", _stack(stack.name, stack.region))
        return super().create_stack(stack)

    def update_stack(self, stack: NewStack) -> None:
        self._see("cloudformation:UpdateStack", _stack(stack.name, stack.region))
        super().update_stack(stack)

    def delete_stack(self, stack: str, region: str) -> None:
        self._see("cloudformation:DeleteStack", stack if stack.startswith("arn:") else _stack(stack, region))
        super().delete_stack(stack, region)

    def failure(self, arn: str) -> str:
        self._see("cloudformation:DescribeStackEvents", arn)
        return super().failure(arn)

    def keep_parameters(self, stack: FakeStack, names: frozenset[str]) -> None:
        """What CloudFormation calls with the permissions of a function that changes a stack."""
        made = ("PutParameter", "AddTagsToResource", "GetParameters")
        calls = [(action, name) for name in names - stack.parameters for action in made]
        calls += [("DeleteParameter", name) for name in stack.parameters - names]
        for action, name in calls:
            self._see(f"ssm:{action}", f"arn:aws:ssm:{stack.region}:{ACCOUNT}:parameter{name}")
        function, self._function = self._function, None
        super().keep_parameters(stack, names)
        self._function = function

    def _see_ssm(self, region: str, action: str, request: dict[str, Any]) -> None:
        names = request.get("Names") or [request.get("Name") or request.get("Path") or request["ResourceId"]]
        actions = [action, "AddTagsToResource"] if action == "PutParameter" and "Tags" in request else [action]
        for name in names:
            for each in actions:
                self._see(f"ssm:{each}", f"arn:aws:ssm:{region}:{ACCOUNT}:parameter{name}")

    def _see(self, action: str, resource: str) -> None:
        if self._function:
            self.seen.add(Call(*self._function, action, resource))


def _stack(name: str, region: str) -> str:
    return f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/some-id"


@dataclass(frozen=True)
class WatchedResources:
    """boto3's clients of Cloud Control and of the tagging API, in a region that has one topic."""

    region: str
    see: Callable[[str, str], None]

    @property
    def topic(self) -> str:
        return f"arn:aws:sns:{self.region}:{ACCOUNT}:news"

    def get_resource(self, **_: object) -> dict[str, Any]:
        self._see("cloudformation:GetResource")
        return {"TypeName": "AWS::SNS::Topic", "ResourceDescription": self._description}

    def list_resources(self, **_: object) -> dict[str, Any]:
        self._see("cloudformation:ListResources")
        return {"TypeName": "AWS::SNS::Topic", "ResourceDescriptions": [self._description]}

    def get_resources(self, **_: object) -> dict[str, Any]:
        self._see("tag:GetResources")
        return {"ResourceTagMappingList": [{"ResourceARN": self.topic, "Tags": []}], "PaginationToken": ""}

    @property
    def _description(self) -> dict[str, str]:
        return {"Identifier": self.topic, "Properties": json.dumps({"TopicArn": self.topic, "TopicName": "news"})}

    def _see(self, action: str) -> None:
        self.see(action, f"arn:aws:cloudformation:{self.region}:{ACCOUNT}:resource/*")


def live_without_a_key(cloud: Watched) -> None:
    """Secret values are exported next to others, and their KMS key cannot be used for a while."""

    def imports(*names: str, **more: str) -> dict[str, Any]:
        return {
            "Imports": {"From": {"Stack": "vault", "Region": EU}, "Names": list(names), "Consumer": "locked", **more}
        }

    def roll_back() -> None:
        with pytest.raises(UndecryptableError):
            cloud.deploy("site", US, imports("X"))

    def exports(**more: Any) -> dict[str, Any]:
        return {"Region": [US, EU], "Consumer": "locked", "Values": {"P": "1", "Q": "1"}, "SecureKeys": ["P"], **more}

    cloud.deploy("vault", EU, {"Exports": exports()})
    cloud.deploy("site", US, imports("P"))
    for region in (US, EU):
        cloud.ssm(region).lock()
    more = exports(Values={"R": "1"}, SecureKeys=[])
    cloud.deploy("vault", EU, {"Exports": exports(), "More": more})
    cloud.deploy("page", US, imports("Q"))
    roll_back()
    for region in (US, EU):
        assert FindingType.UNDECRYPTABLE in {finding.kind for finding in cloud.tend(region)}
    locked = cloud.ssm(US).locked
    for region in (US, EU):
        cloud.ssm(region).locked = {}
    cloud.deploy("site", US, imports("P", Revision="2"))
    cloud.ssm(US).locked = locked
    roll_back()
    cloud.ssm(US).locked = {}
    cloud.delete("page", US)
    cloud.delete("site", US)
    cloud.tend(US)
    cloud.delete("vault", EU)


TAGS = {"team": "web", "cost-center": "7"}


@cache
def story(*, tagged: bool = False) -> frozenset[Call]:
    """The calls of an installation's life: every branch of the functions that calls something of its own."""
    with pytest.MonkeyPatch.context() as patch:
        if tagged:
            patch.setenv(PARAMETER_TAGS, ",".join(map("=".join, TAGS.items())))
        return live(Watched())


def live(cloud: Watched) -> frozenset[Call]:

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
    cloud.ssm(US).put_parameter(
        Name=dead, Type="String", Value='{"by":"x","until":"2001-01-01T00:00:00+00:00","for":-9}'
    )
    assert {finding.kind for finding in cloud.tend(US)} == {
        FindingType.STALE_CLAIM,
        FindingType.MISSING,
        FindingType.EXPIRED_FENCE,
    }
    unclear: dict[str, dict[str, Any]] = {"Exports": {"Region": [US, EU], "Values": "?"}, "Imports": {"From": "?"}}
    for (logical_id, properties), home in zip(unclear.items(), (EU, US), strict=True):
        physical_id = f"strongref-import/unclear/{logical_id}/1"
        arn = cloud.new_stack("unclear", home).arn
        cloud.send(ResourceRequest(RequestType.DELETE, arn, logical_id, properties, physical_id))
    cloud.delete("network", EU)
    cloud.deploy("network", EU, {"Exports": exports("A", "B")})
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})
    cloud.vanish("network", EU)
    cloud.deploy("other", EU, {"Exports": exports("A")})
    cloud.vanish("other", EU)
    assert {finding.kind for finding in cloud.tend(US)} == {FindingType.IMPORTED_ORPHAN, FindingType.ORPHANED}
    live_without_a_key(cloud)
    for producer, consumer in ((EU, US), (US, EU)):
        live_with_holds(cloud, producer, consumer)
    topic = {"TypeName": "AWS::SNS::Topic"}
    for more in ({"Name": "news"}, {"Tags": {"team": "web"}}, {"Tags": {"team": "web"}, "Region": US}):
        assert cloud.look_up(EU, **topic, **more).data["TopicName"] == "news"
    cloud.look_up(EU, **topic, Name="news", Region=US)
    cloud.delete_lookup(EU)
    return frozenset(cloud.seen)


def live_with_holds(cloud: Watched, producer: str, consumer: str) -> None:
    """Holds are made, changed and deleted, by imports and by the janitors of both regions; the index is corrected."""

    def export(*keys: str, **more: str) -> dict[str, Any]:
        return {"Region": consumer, "Consumer": "shop", "Values": dict.fromkeys(keys, "1"), **more}

    def imports(*names: str, **more: str) -> dict[str, Any]:
        return {"From": {"Stack": "vpc", "Region": producer}, "Names": list(names), **more}

    def kinds(region: str, deployed: Mapping[str, Any] | None = None) -> set[FindingType]:
        if deployed:
            cloud.deploy("vpc", producer, deployed)
        return {finding.kind for finding in cloud.tend(region)}

    old = "/strongref/releases/network/A/20000101T000000Z"
    then = "2000-01-01T00:00:00+00:00"
    trace = json.dumps({"consumer": "web", "importer": "x", "claim": "c", "by": "y", "at": then, "reason": "z"})
    cloud.ssm(consumer).put_parameter(Name=old, Type="String", Value=trace)
    one, two = export("A", Hold="vpc-One"), export("B", Hold="vpc-Two")
    cloud.deploy("vpc", producer, {"One": one, "Two": export("B")})
    cloud.deploy("shop", consumer, {"Imports": imports("A", "B")})
    cloud.deploy("vpc", producer, {"One": one, "Two": two})
    cloud.deploy("shop", consumer, {"Imports": imports("A", "B", Revision="2")})
    cloud.fail_stacks("no")
    with pytest.raises(PartialCreateError):
        cloud.deploy("late", consumer, {"Imports": imports("A", Consumer="shop")})
    cloud.fail_stacks("")
    cloud.deploy("vpc", producer, {"One": one, "Two": export("B")}, outputs=["vpc-One", "vpc-Two"])
    assert FindingType.UNHELD in kinds(consumer)
    cloud.deploy("vpc", producer, {"One": export("A"), "Two": export("B")}, outputs=["vpc-One"])
    assert FindingType.UNHELD in kinds(consumer)
    cloud.deploy("vpc", producer, {"One": one, "Two": export("B")})
    assert FindingType.UNHELD in kinds(consumer)
    cloud.fail_stacks("no")
    assert FindingType.HOLD_IMPOSSIBLE in kinds(consumer, {"One": one, "Two": two})
    cloud.fail_stacks("")
    entries = [f"/strongref/index/vpc/{name}" for name in ("One", "Two")]
    cloud.ssm(producer).delete_parameters(Names=entries)
    assert FindingType.INDEX_ENTRY in kinds(consumer)
    wrong = json.dumps({"stack": cloud.stack("vpc", producer).arn, "at": then})
    empty = f"/strongref/index/vpc/Gone/{ACCOUNT}/{consumer}/web"
    cloud.ssm(producer).put_parameter(Name=empty, Type="String", Value=wrong)
    assert FindingType.INDEX_ENTRY in kinds(producer)
    cloud.vanish("shop", consumer)
    cloud.deploy("shop", consumer, {})
    cloud.clock.sleep(7200)
    assert FindingType.STALE_HOLD in kinds(producer)
    cloud.deploy("shop", consumer, {"Imports": imports("A")})
    cloud.delete("shop", consumer)
    cloud.delete("vpc", producer)


def grants(role: str, home: str, *, tagged: bool = False, resources: Mapping[str, Any] = RESOURCES) -> list[Grant]:
    """What a role allows, beside logs."""
    return [
        Grant(action, resolved(resource, home))
        for statement in statements(role, tagged=tagged, resources=resources)
        for action in listed(statement["Action"])
        if action not in LOG_ACTIONS
        for resource in listed(statement["Resource"])
    ]


def resolved(resource: dict[str, str] | str, home: str) -> str:
    if isinstance(resource, str):
        return resource
    pseudo = {"Partition": "aws", "AccountId": ACCOUNT, "Region": home}
    return re.sub(r"\$\{AWS::(\w+)\}", lambda found: pseudo[found[1]], resource["Fn::Sub"])


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("role", ROLES)
def test_a_function_may_make_every_call_that_it_makes(role: str, tagged: bool) -> None:
    calls = [call for call in story(tagged=tagged) if call.role == role]
    assert calls
    allowed = {home: grants(role, home, tagged=tagged) for home in (EU, US)}
    assert [call for call in calls if not any(grant.allows(call) for grant in allowed[call.home])] == []


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The resources of the version before."""
    template = unpack(tmp_path_factory.mktemp("older"), "template.yaml") / "template.yaml"
    resources: dict[str, Any] = load(template.read_text())["Resources"]
    return resources


@pytest.mark.parametrize(("role", "home"), HOMES)
def test_the_code_of_the_version_before_may_run_with_the_role_of_this_one(
    role: str, home: str, older: dict[str, Any]
) -> None:
    """CloudFormation updates the roles before the functions, and what runs then has up to 15 minutes left."""
    allowed = grants(role, home)
    assert [grant for grant in grants(role, home, resources=older) if grant not in allowed] == []


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize(("role", "home"), HOMES)
def test_a_function_makes_every_call_that_it_may(role: str, home: str, tagged: bool, older: dict[str, Any]) -> None:
    """Or the version before does."""
    calls = [call for call in story(tagged=tagged) if (call.role, call.home) == (role, home)]
    unused = [each for each in grants(role, home, tagged=tagged) if not any(each.allows(call) for call in calls)]
    assert [each for each in unused if each not in grants(role, home, resources=older)] == []


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize(("role", "home"), HOMES)
def test_a_permission_for_all_regions_is_used_in_another_one(role: str, home: str, tagged: bool) -> None:
    calls = [call for call in story(tagged=tagged) if call.role == role]
    abroad = {call.action for call in calls if f":{call.home}:" not in call.resource}
    allowed = grants(role, home, tagged=tagged)
    everywhere = [grant for grant in allowed if f":*:{ACCOUNT}:" in grant.pattern or grant.pattern == ALL]
    assert {grant.action for grant in everywhere} == abroad


def test_the_actions_are_those_that_are_paced() -> None:
    """Every call goes through the limiter, which knows each by name: a new one is noticed here."""
    granted = {grant.action.partition(":")[2] for role in ROLES for grant in grants(role, US)}
    own = granted - OF_CLOUDFORMATION
    assert sorted(own | {"Invoke"} | OF_THE_COMMAND) == sorted(RATE_OF_ACTION)
    assert granted & OF_THE_COMMAND == set()


def test_what_is_allowed_for_all_resources_cannot_be_allowed_for_fewer() -> None:
    """As cfn-lint has it from AWS: an action without types of resources takes nothing but all of them."""
    known = json.loads(files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text())
    for role in ROLES:
        for action in {grant.action for grant in grants(role, US) if grant.pattern == ALL}:
            service, _, name = action.partition(":")
            assert not known[service]["Actions"][name.lower()].get("Resources"), action


def denial(of: str = "ssm") -> dict[str, Any]:
    """The documented statement that keeps everyone else from writing what strongref stores, or from changing holds."""
    text = (ROOT / "docs/security.md").read_text()
    section = text.split("## Protect the parameters from everyone else\n", 1)[1]
    policy = json.loads(section.split("```json\n", 1)[1].split("```", 1)[0])
    (statement,) = [each for each in policy["Statement"] if each["Action"][0].startswith(f"{of}:")]
    assert (policy["Version"], len(policy["Statement"]), statement["Effect"]) == ("2012-10-17", 2, "Deny")
    return cast("dict[str, Any]", statement)


def is_read(action: str) -> bool:
    return action.lower().partition(":")[2].startswith(("get", "list", "describe", "detect"))


@pytest.mark.parametrize(("of", "what"), [("ssm", "parameter"), ("cloudformation", "stack")])
def test_everyone_else_is_denied_every_action_of_aws_that_changes_a_parameter_or_a_hold_stack(
    of: str, what: str
) -> None:
    known = json.loads(files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text())[of]["Actions"]
    on_it = {f"{of}:{name}" for name, action in known.items() if what in action.get("Resources", ())}
    assert {action.lower() for action in denial(of)["Action"]} == {each for each in on_it if not is_read(each)}
    made = {call.action for call in story() if call.action.startswith(f"{of}:") and not is_read(call.action)}
    assert len(made) > 3
    assert made <= set(denial(of)["Action"])


@pytest.mark.parametrize("of", ["ssm", "cloudformation"])
def test_everyone_else_is_denied_wherever_functions_and_commands_write(of: str) -> None:
    written = {call.resource for call in story() if call.action in denial(of)["Action"]}
    patterns = {each: [name for name in written if fnmatchcase(name, each)] for each in denial(of)["Resource"]}
    assert {name for names in patterns.values() for name in names} == written
    assert [pattern for pattern, names in patterns.items() if not names] == []
    for token in ("exporter", "importer", "lookup"):  # written by those who install
        arn = f"arn:aws:ssm:{US}:{ACCOUNT}:parameter/strongref/service-tokens/{token}"
        assert not any(fnmatchcase(arn, pattern) for pattern in patterns)


@pytest.mark.parametrize("of", ["ssm", "cloudformation"])
def test_not_denied_are_the_roles_that_write_and_the_operators(of: str) -> None:
    writing = {role for role in ROLES if any(grant.action in denial(of)["Action"] for grant in grants(role, US))}
    assert writing == {"ExporterRole", "ImporterRole", "JanitorRole"} - ({"ExporterRole"} if of != "ssm" else set())
    ((operator, keys),) = denial(of)["Condition"].items()
    assert (operator, [*keys]) == ("ArnNotLike", ["aws:PrincipalArn"])
    names = [pattern.removeprefix("arn:aws:iam::*:role/") for pattern in keys["aws:PrincipalArn"]]
    # CloudFormation names a role STACK-LOGICALID-RANDOM. Those of other accounts write values, and make no stacks.
    others = ["strongref-operators", *([f"{ROLE}*"] if of == "ssm" else [])]
    assert names == [*(f"{DEFAULT_STACK}-{role}-*" for role in sorted(writing)), *others]


@pytest.mark.parametrize("role", ROLES)
def test_every_statement_is_narrow(role: str) -> None:
    for statement in statements(role):
        assert set(statement) - {"Condition"} == {"Sid", "Effect", "Action", "Resource"}
        assert all(re.fullmatch(r"[a-z]+:[A-Za-z]+", action) for action in listed(statement["Action"]))
    stacks = r"cloudformation:(\*|us-east-1):{0}:stack/(strongref-hold-)?\*/\*"
    own = rf"(ssm:(\*|us-east-1):{{0}}:parameter/strongref/(service-tokens/importer|\w+(/\*)?)|{stacks})"
    narrow = [grant for grant in grants(role, US) if grant.pattern != ALL]
    assert all(re.fullmatch(f"arn:aws:{own}".format(ACCOUNT), grant.pattern) for grant in narrow)
