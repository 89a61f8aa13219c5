"""The template: what others rely on is there, and each function has its own."""

from __future__ import annotations

from dataclasses import fields

import pytest

from strongref.aws.retry_and_rate_limit import RateLimits
from strongref.contract import origin
from strongref.contract.continuation import SERVICE_TIMEOUT
from strongref.errors import ErrorMetric
from strongref.macro.template import MACRO
from strongref.metrics import NAMESPACE, SERVICE
from strongref.protocol import lag
from tests.support.documents import ROOT
from tests.support.installation import FUNCTIONS, LOG_ACTIONS, RESOURCES, TEMPLATE, WORKING, listed, statements


@pytest.mark.parametrize("name", WORKING)
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
    counted = {kind.value for kind in ErrorMetric} | {"Healed", "Unhealed", "HandOvers"}
    alarms = [each["Properties"] for each in RESOURCES.values() if each["Type"] == "AWS::CloudWatch::Alarm"]
    own = [alarm for alarm in alarms if alarm["Namespace"] == NAMESPACE]
    assert {alarm["MetricName"] for alarm in own} == {*ErrorMetric, "Unhealed"} - {ErrorMetric.REJECTED} <= counted
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
    """No managed policies but those to look up with, no name (so CAPABILITY_IAM is enough), and a boundary if asked."""
    assert RESOURCES[name]["Properties"]["Role"] == {"Fn::GetAtt": [f"{name}Role", "Arn"]}
    properties = RESOURCES[f"{name}Role"]["Properties"]
    assert "RoleName" not in properties
    given = {"Fn::If": ["IsLooking", {"Ref": "LookupPolicies"}, {"Ref": "AWS::NoValue"}]}
    assert properties.get("ManagedPolicyArns") == (given if name == "Lookup" else None)
    assert properties["PermissionsBoundary"]["Fn::If"][1] == {"Ref": "PermissionsBoundary"}
    (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
    assert (trust["Principal"], trust["Action"]) == ({"Service": "lambda.amazonaws.com"}, "sts:AssumeRole")


@pytest.mark.parametrize("name", ["Exporter", "Importer", "Lookup"])
def test_a_function_is_found_by_its_export_and_by_its_parameter(name: str) -> None:
    exported = {
        output["Export"]["Name"]: output["Value"] for output in TEMPLATE["Outputs"].values() if "Export" in output
    }
    parameter = RESOURCES[f"{name}Token"]["Properties"]
    assert exported[f"strongref-{name.lower()}"] == {"Fn::GetAtt": [name, "Arn"]}
    assert parameter["Name"] == f"/strongref/service-tokens/{name.lower()}"
    assert parameter["Value"] == {"Fn::GetAtt": [name, "Arn"]}


def test_the_macros_function_may_do_nothing_but_log() -> None:
    assert [each["Sid"] for each in statements("TransformerRole")] == ["Logs"]
    assert "TransformerHandOver" not in RESOURCES


def test_the_macro_is_the_function_and_can_be_left_out() -> None:
    macro = RESOURCES["StrongRefMacro"]
    assert macro["Condition"] == "HasMacro"
    assert TEMPLATE["Conditions"]["HasMacro"] == {"Fn::Equals": [{"Ref": "Macro"}, "true"]}
    assert macro["Properties"]["Name"] == MACRO
    assert macro["Properties"]["FunctionName"] == {"Fn::GetAtt": ["Transformer", "Arn"]}


def test_the_lag_that_can_be_given_is_one_that_functions_take() -> None:
    assert TEMPLATE["Globals"]["Function"]["Environment"]["Variables"][lag.VARIABLE] == {"Ref": "ReadLag"}
    given = TEMPLATE["Parameters"]["ReadLag"]
    assert (given["Default"], given["MinValue"], given["MaxValue"]) == (lag.DEFAULT_LAG, 0, lag.MAX_LAG)


def test_the_rates_that_can_be_given_reach_the_limiter() -> None:
    variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    rates = [variable for variable in sorted(variables) if variable.endswith("_PER_SECOND")]
    given = {
        variable: str(number)
        for number, variable in enumerate(rates, start=100)
        if variables[variable] == {"Ref": f"{variable.removeprefix('STRONGREF_').title().replace('_', '')}"}
    }
    read = RateLimits.from_environment(given)
    assert {getattr(read, field.name) for field in fields(RateLimits)} == {
        *map(float, given.values()),
        RateLimits().stacks,
        RateLimits().invocations,
    }
    assert set(variables) == {*given, "POWERTOOLS_SERVICE_NAME", lag.VARIABLE, origin.VARIABLE}


def test_the_hosts_that_can_be_given_reach_the_verifier() -> None:
    variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    assert TEMPLATE["Parameters"]["ResponseHosts"]["Type"] == "CommaDelimitedList"
    assert variables[origin.VARIABLE] == {"Fn::Join": [",", {"Ref": "ResponseHosts"}]}
    assert origin.ResponseHosts.from_environment({origin.VARIABLE: "a.example,b.example"}).more == {
        "a.example",
        "b.example",
    }


def test_a_functions_handler_is_there() -> None:
    module, _, function = TEMPLATE["Globals"]["Function"]["Handler"].partition(".")
    for name in FUNCTIONS:
        code = ROOT / RESOURCES[name]["Properties"]["CodeUri"] / f"{module}.py"
        assert f"def {function}(" in code.read_text()
