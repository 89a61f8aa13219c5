"""The policies that a template needs: they allow every call that is made for it, and nothing of another one's."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.settings import PARAMETER_TAGS
from strongref.refusals import ExportsInUseError, NoProducerError
from strongref_cli.transform.permissions import Principal, policy
from strongref_cli.transform.template_facts import DeploymentTarget
from tests.docs.test_permissions import EU, US, Watched
from tests.support.builders import ACCOUNT
from tests.support.macro import IMPORTS, ref, resource, template, transformed

if TYPE_CHECKING:
    from collections.abc import Callable

PRODUCER = template(
    Alb=resource({}, Exports=[{"As": "Alb.Arn", "Region": US, "Consumer": "web"}, {"As": "Cert", "Region": US}])
)
CONSUMER = template(
    {"ARef": ref("Alb.Arn"), "BRef": ref("Cert", Shared=True), "CRef": ref("Cert", Shared=True, Strength="weak")}
)
CONSUMER_OF_ANY = template(Imports={"Type": IMPORTS, "Properties": {"Names": ["A", "B"], "Consumer": "fleet"}})
AT_PRODUCER = DeploymentTarget(EU, ACCOUNT, "network")
AT_CONSUMER = DeploymentTarget(US, ACCOUNT, "web")


def grants(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (action, resource_)
        for statement in given["Statement"]
        for action in statement["Action"]
        for resource_ in statement["Resource"]
    ]


def custom_resources(given: dict[str, Any], value: str) -> dict[str, dict[str, Any]]:
    """As CloudFormation sends them."""

    def sent(node: Any) -> Any:
        if isinstance(node, dict):
            if set(node) == {"Fn::Sub"}:
                return node["Fn::Sub"].replace("${AWS::StackName}", "network")
            return (
                value if set(node) <= {"Ref", "Fn::ImportValue"} else {key: sent(below) for key, below in node.items()}
            )
        return [sent(item) for item in node] if isinstance(node, list) else node

    made = transformed(given)["Resources"].items()
    found = {name: sent(each["Properties"]) for name, each in made if each["Type"].startswith("Custom::")}
    return {name: {key: node for key, node in each.items() if key != "ServiceToken"} for name, each in found.items()}


def story() -> Watched:
    """The two stacks' life: created, refused, healed, released, deleted."""
    cloud = Watched()
    cloud.deploy("network", EU, custom_resources(PRODUCER, "1"))
    cloud.deploy("web", US, custom_resources(CONSUMER, "1"))
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, custom_resources(PRODUCER, "2"))
    cloud.ssm(US).delete_parameters(Names=[f"/strongref/exports/web/{ACCOUNT}/{EU}/network/Alb/Arn"])  # by hand
    again = {name: {**each, "Revision": "2"} for name, each in custom_resources(CONSUMER, "1").items()}
    cloud.deploy("web", US, again)
    seen, cloud.seen = cloud.seen, set()  # what others' templates need is another question
    cloud.deploy("database", EU, {"Exports": {"Region": US, "Consumer": "web", "Values": {"A": "1", "B": "1"}}})
    cloud.deploy(
        "api", US, {"Imports": {"From": {"Stack": "database", "Region": EU}, "Names": ["A"], "Consumer": "web"}}
    )
    cloud.seen = seen
    cloud.delete("web", US)
    cloud.deploy("network", EU, custom_resources(PRODUCER, "2"))
    cloud.delete("network", EU)
    return cloud


def story_of_any_stack() -> Watched:
    """The life of an Import without `From`."""
    cloud = Watched()
    cloud.deploy("network", EU, {"Exports": {"Region": US, "Consumer": "fleet", "Values": {"A": "1"}}})
    cloud.deploy("database", "eu-central-1", {"Exports": {"Region": US, "Consumer": "fleet", "Values": {"B": "1"}}})
    for names, revision in ((["A"], "1"), (["A", "B"], "1"), (["A", "B"], "2")):
        cloud.deploy("web", US, {"Imports": {"Names": names, "Consumer": "fleet", "Revision": revision}})
    with pytest.raises(NoProducerError):
        cloud.deploy("web", US, {"Imports": {"Names": ["A", "C"], "Consumer": "fleet"}})
    cloud.delete("web", US)
    return cloud


@pytest.fixture(params=["", "team=web"])
def _parameter_tags(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PARAMETER_TAGS, request.param)


@pytest.mark.usefixtures("_parameter_tags")
@pytest.mark.parametrize(
    ("told", "role", "given", "principal", "setting"),
    [
        (story, "ExporterRole", PRODUCER, Principal.EXPORTER, AT_PRODUCER),
        (story, "ImporterRole", CONSUMER, Principal.IMPORTER, AT_CONSUMER),
        (story_of_any_stack, "ImporterRole", CONSUMER_OF_ANY, Principal.IMPORTER, AT_CONSUMER),
    ],
)
def test_a_functions_policy_allows_every_call_that_is_made_for_the_template(
    told: Callable[[], Watched], role: str, given: dict[str, Any], principal: Principal, setting: DeploymentTarget
) -> None:
    calls = [call for call in told().seen if call.role == role]
    allowed = grants(policy(transformed(given), principal, setting))
    refused = {
        (call.action, call.resource)
        for call in calls
        if not any(action == call.action and fnmatchcase(call.resource, each) for action, each in allowed)
    }
    assert calls
    assert refused == set()


def test_a_template_that_claims_nothing_needs_no_tags_of_its_values() -> None:
    """Nor anything else of them: what it reads are the records. Only a clean-up looks at others' claims."""
    weak = template({"BRef": ref("Cert", Shared=True, Strength="weak")})
    cloud = Watched()
    cloud.deploy("network", EU, custom_resources(PRODUCER, "1"))
    cloud.deploy("web", US, custom_resources(weak, "1"))
    cloud.delete("web", US)
    given = policy(transformed(weak), Principal.IMPORTER, AT_CONSUMER)
    calls = {(call.action, call.resource) for call in cloud.seen if call.role == "ImporterRole"}
    assert calls
    assert {
        call for call in calls if not any(call[0] == a and fnmatchcase(call[1], r) for a, r in grants(given))
    } == set()
    of_values = [each for each in given["Statement"] if any("/exports/" in path for path in each["Resource"])]
    tags = [each["Sid"] for each in of_values if any("Tags" in action for action in each["Action"])]
    assert tags == ["CleanUp"]


def test_regions_may_be_a_parameter_that_is_a_list() -> None:
    given = template(Alb=resource({}, Exports={"As": "A", "Region": {"Ref": "Regions"}}))
    given["Parameters"] = {"Regions": {"Type": "CommaDelimitedList", "Default": "us-east-1, eu-west-1"}}
    made = policy(transformed(given), Principal.EXPORTER, AT_PRODUCER)
    reported = {resource_.split(":")[3] for action, resource_ in grants(made) if action == "ssm:PutParameter"}
    assert reported == {US, EU}


def test_other_accounts_are_written_to_by_their_roles() -> None:
    others = ["222222222222", "333333333333"]
    for accounts, writes in (([ACCOUNT, *others], True), (others, False)):
        given = template(Alb=resource({}, Exports={"As": "A", "Region": US, "Account": accounts}))
        made = grants(policy(transformed(given), Principal.EXPORTER, AT_PRODUCER))
        roles = {resource_ for action, resource_ in made if action == "sts:AssumeRole"}
        assert roles == {f"arn:aws:iam::{each}:role/strongref-writer-{ACCOUNT}" for each in others}
        assert any("/exports/" in resource_ for _, resource_ in made) is writes
        assert any("/index/" in resource_ for _, resource_ in made)


def test_what_an_ssm_parameter_has_is_not_known_and_what_is_no_parameter_is_passed_over() -> None:
    given = template({"ARef": ref("A", {"Ref": "Network"})})
    kind = "AWS::SSM::Parameter::Value<String>"
    given["Parameters"] = {"Network": {"Type": kind, "Default": "/network/stack"}, "Odd": None}
    for known in ({}, {"Network": "/another"}):
        setting = DeploymentTarget(US, ACCOUNT, "web", parameters=known)
        made = policy(transformed(given), Principal.IMPORTER, setting)
        producers = next(each["Resource"] for each in made["Statement"] if each["Sid"] == "Producers")
        assert producers == [f"arn:aws:cloudformation:{EU}:{ACCOUNT}:stack/*/*"]


@pytest.mark.parametrize(
    ("principal", "setting", "given", "others"),
    [
        (Principal.IMPORTER, AT_CONSUMER, CONSUMER, [("shop", "network"), ("_shared", "database")]),
        (
            Principal.EXPORTER,
            AT_PRODUCER,
            PRODUCER,
            [("shop", "network"), ("_shared", "database"), ("web", "database")],
        ),
    ],
)
def test_nothing_of_another_consumer_or_another_stack_is_allowed(
    principal: Principal, setting: DeploymentTarget, given: dict[str, Any], others: list[tuple[str, str]]
) -> None:
    allowed = grants(policy(transformed(given), principal, setting))
    for consumer, stack in others:
        foreign = f"arn:aws:ssm:{US}:{ACCOUNT}:parameter/strongref/exports/{consumer}/{ACCOUNT}/{EU}/{stack}/Alb/Arn"
        assert [each for action, each in allowed if action.startswith("ssm:") and fnmatchcase(foreign, each)] == []


@pytest.mark.parametrize(
    ("principal", "condition"),
    [
        (
            Principal.DEPLOYER,
            {"Condition": {"ForAnyValue:StringEquals": {"aws:CalledVia": ["cloudformation.amazonaws.com"]}}},
        ),
        (Principal.SERVICE_ROLE, {}),
    ],
)
def test_who_deploys_may_have_cloudformation_invoke_what_the_template_needs_and_read_its_dynamic_references(
    principal: Principal, condition: dict[str, Any]
) -> None:
    name = "/strongref/exports/web/${AWS::AccountId}/eu-west-1/${Network}/CertArn"
    given = template(
        {"ARef": ref("A"), "B": {"Fn::Sub": f"{{{{resolve:ssm:{name}}}}}"}, "C": "{{resolve:ssm:/others/parameter}}"}
    )
    given["Parameters"] = {"Network": {"Type": "String", "Default": "network"}}
    made = policy(transformed(given), principal, AT_CONSUMER)
    assert made == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Functions",
                "Effect": "Allow",
                "Action": ["lambda:InvokeFunction"],
                "Resource": [f"arn:aws:lambda:{US}:{ACCOUNT}:function:strongref-Importer-*"],
                **condition,
            },
            {
                "Sid": "DynamicReferences",
                "Effect": "Allow",
                "Action": ["ssm:GetParameters"],
                "Resource": [
                    f"arn:aws:ssm:{US}:{ACCOUNT}:parameter/strongref/exports/web/{ACCOUNT}/{EU}/network/CertArn"
                ],
            },
        ],
    }
    for declared in ("StrongRef", ["A", {"Name": "StrongRef", "Parameters": {}}]):
        reported = [
            each for _, each in grants(policy({**given, "Transform": declared}, Principal.DEPLOYER, DeploymentTarget()))
        ]
        assert reported[0] == "arn:aws:lambda:*:*:function:strongref-Transformer-*"
    exporting = policy(transformed(PRODUCER), Principal.DEPLOYER, DeploymentTarget(application="refs"))
    assert [each for _, each in grants(exporting)] == ["arn:aws:lambda:*:*:function:refs-Exporter-*"]


def test_a_template_without_references_needs_nothing() -> None:
    for principal in Principal:
        assert policy(template({"A": 1}), principal, DeploymentTarget())["Statement"] == []


@pytest.mark.parametrize(
    ("stack", "known"),
    [
        ("network", "network"),
        ({"Ref": "Network"}, "given"),
        ({"Ref": "Other"}, "of-default"),
        ({"Ref": "Nowhere"}, "*"),
        ({"Fn::Sub": "${Network}-${AWS::Region}-${X.Y}"}, f"given-{US}-*"),
        ({"Fn::Sub": ["${A}", {"A": "b"}]}, "*"),
        ({"Fn::FindInMap": ["A", "b", "c"]}, "*"),
    ],
)
def test_what_is_known_of_a_name_makes_the_policy_narrow(stack: object, known: str) -> None:
    given = template({"ARef": ref("A", stack)})
    given["Parameters"] = {"Network": {"Type": "String"}, "Other": {"Type": "String", "Default": "of-default"}}
    setting = DeploymentTarget(US, ACCOUNT, "web", parameters={"Network": "given"})
    resources = {
        each
        for action, each in grants(policy(transformed(given), Principal.IMPORTER, setting))
        if "PutParameter" in action and "/exports/" in each
    }
    path = f"arn:aws:ssm:{US}:{ACCOUNT}:parameter/strongref/exports/web/{ACCOUNT}/{EU}/{known}/A"
    assert resources == {path, f"{path}/*"}


def test_imports_of_everything_and_those_in_loops_are_found() -> None:
    def one(**more: object) -> dict[str, Any]:
        return {"Type": "Custom::CrossRegionImport", "Properties": {"From": {"Stack": "network"}, **more}}

    given = template(All=one(), **{"Fn::ForEach::X": ["X", ["a"], {"I${X}": one(Consumer="shop", Names=["A"])}]})
    made = policy(given, Principal.IMPORTER, DeploymentTarget(US, ACCOUNT, "web", "aws-cn"))
    tagged = sorted(path for action, path in grants(made) if action == "ssm:AddTagsToResource")
    place = f"arn:aws-cn:ssm:{US}:{ACCOUNT}:parameter/strongref/exports"
    producer = f"{ACCOUNT}/{US}/network"
    values = [f"{place}/shop/{producer}/A", f"{place}/shop/{producer}/A/*", f"{place}/web/{producer}/*"]
    assert [path for path in tagged if "/exports/" in path] == values
    assert f"{place.removesuffix('exports')}holds/*" in tagged
