"""The template: what others rely on is there, and each function has its own."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields

import pytest

from strongref.aws.rate_limit import RateLimits
from strongref.aws.settings import KMS_KEY, PARAMETER_TAGS
from strongref.contract import origin
from strongref.contract.continuation import SERVICE_TIMEOUT
from strongref.errors import ErrorMetric
from strongref.macro.template import MACRO
from strongref.metrics import NAMESPACE, SERVICE
from strongref.protocol import lag
from strongref.protocol.findings import FindingType, Resolution
from strongref.protocol.verification import EventPendingError
from strongref.runtime.outbox import DROPPED
from strongref.runtime.wiring import EVENT_BUS, EXPORT_ACCOUNTS
from tests.support.documents import ROOT, rows
from tests.support.faults.functions import RETRY_WAITS
from tests.support.installation import FUNCTIONS, LOG_ACTIONS, RESOURCES, TEMPLATE, WORKING, listed, statements

TENDED = {each.value for each in Resolution if each.value}


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


def test_an_event_is_delivered_again_as_often_as_verification_assumes() -> None:
    assert TEMPLATE["Globals"]["Function"]["EventInvokeConfig"]["MaximumRetryAttempts"] == len(RETRY_WAITS)


def test_the_alarms_are_on_what_is_counted() -> None:
    counted = {kind.value for kind in ErrorMetric} | {*TENDED, "HandOvers", DROPPED}
    alarms = [each["Properties"] for each in RESOURCES.values() if each["Type"] == "AWS::CloudWatch::Alarm"]
    own = [alarm for alarm in alarms if alarm["Namespace"] == NAMESPACE]
    alarming = {*ErrorMetric, Resolution.REPORTED.value, DROPPED} - {ErrorMetric.REJECTED}
    assert {alarm["MetricName"] for alarm in own} - {CRASHES} == alarming <= counted
    for alarm in own:
        dimensions = [] if alarm["MetricName"] == CRASHES else [{"Name": "service", "Value": SERVICE}]
        assert alarm.get("Dimensions", []) == dimensions
    died = [alarm for alarm in alarms if alarm["MetricName"] == "Errors" and alarm not in own]
    assert [alarm["Dimensions"][0]["Value"]["Ref"] for alarm in died] == ["Janitor", "Transformer"]
    assert len(own) + len(died) + len(lost_events()) == len(alarms)
    for alarm in alarms:
        assert alarm["AlarmActions"] == {"Fn::If": ["IsAlarmed", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}
        assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 1)


CRASHES = "Crashes"
"""What the functions of custom resources are counted by: they also raise events that Lambda is to deliver again."""


def counts_crash(pattern: str, line: str) -> bool:
    """Whether a metric filter matches a line (AWS: CloudWatch Logs, filter pattern syntax)."""
    terms = shlex.split(pattern)
    if all(term.startswith("?") for term in terms):
        return any(term[1:] in line for term in terms)
    return all((term.removeprefix("-") in line) is not term.startswith("-") for term in terms)


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("[ERROR] Runtime.ImportModuleError: Unable to import module 'app'\nTraceback (most recent call last):", True),
        ("[ERROR] DeliveryError: the response was not delivered\nTraceback (most recent call last):", True),
        ("2026-01-01T00:00:00.000Z 1234 Task timed out after 900.10 seconds", True),
        ("RequestId: 1234 Error: Runtime exited with error: signal: killed", True),
        (f"[ERROR] {EventPendingError.__name__}: not yet\nTraceback (most recent call last):", False),
        ('{"level":"ERROR","message":"An event was rejected"}', False),
        ("REPORT RequestId: 1234 Duration: 9.00 ms Status: error", False),
    ],
)
@pytest.mark.parametrize("name", ["Exporter", "Importer", "Lookup"])
def test_a_crash_raises_an_alarm_and_an_event_that_is_left_to_lambda_does_not(
    name: str, line: str, counted: bool
) -> None:
    filters = [each["Properties"] for each in RESOURCES.values() if each["Type"] == "AWS::Logs::MetricFilter"]
    own = [each for each in filters if each["LogGroupName"] == {"Ref": f"{name}Logs"}]
    assert [each["MetricTransformations"] for each in own] == [
        [{"MetricNamespace": NAMESPACE, "MetricName": CRASHES, "MetricValue": "1"}]
    ] * 2
    assert any(counts_crash(each["FilterPattern"], line) for each in own) is counted
    assert "LogFormat" not in RESOURCES[name]["Properties"]["LoggingConfig"]


def test_alarms_are_a_choice_and_one_needs_an_event_bus_as_well() -> None:
    alarms = {name: each for name, each in RESOURCES.items() if each["Type"] == "AWS::CloudWatch::Alarm"}
    conditions = {name: each.get("Condition") for name, each in alarms.items()}
    assert conditions.pop("NoticesDroppedAlarm") == "HasNoticeAlarm"
    assert set(conditions.values()) == {"HasAlarms"}
    assert TEMPLATE["Parameters"]["Alarms"]["Default"] == "true"
    assert TEMPLATE["Conditions"]["HasAlarms"] == {"Fn::Equals": [{"Ref": "Alarms"}, "true"]}
    both = [{"Condition": "HasAlarms"}, {"Condition": "HasEventBus"}]
    assert TEMPLATE["Conditions"]["HasNoticeAlarm"] == {"Fn::And": both}


def test_the_page_on_the_rollout_says_who_gets_each_alarm() -> None:
    alarms = {name for name, each in RESOURCES.items() if each["Type"] == "AWS::CloudWatch::Alarm"}
    named = [re.findall("`…?([A-Za-z]+)`", alarm) for alarm, _ in rows("docs/rollout.md", "What to alarm on")]
    assert {name for name in alarms if not any(name.endswith(tuple(each)) for each in named)} == set()
    assert all(any(name.endswith(each) for name in alarms) for row in named for each in row)


def lost_events() -> list[tuple[str, str, str]]:
    """The alarms on events that do not reach a function: namespace, metric and what it is measured for."""
    return [
        (alarm["Namespace"], alarm["MetricName"], alarm["Dimensions"][0]["Value"]["Ref"])
        for alarm in (each["Properties"] for each in RESOURCES.values() if each["Type"] == "AWS::CloudWatch::Alarm")
        if alarm["MetricName"] in ("AsyncEventsDropped", "FailedInvocations")
    ]


def test_an_event_that_reaches_no_function_raises_an_alarm() -> None:
    """CloudFormation calls the macro, and waits for it: Lambda drops nothing there."""
    (event,) = RESOURCES["Janitor"]["Properties"]["Events"]
    assert lost_events() == [
        *(("AWS/Lambda", "AsyncEventsDropped", name) for name in WORKING),
        ("AWS/Events", "FailedInvocations", f"Janitor{event}"),
    ]


def test_no_resource_that_sam_makes_has_the_name_of_a_parameter() -> None:
    """CloudFormation requires logical IDs to be unique among resources and parameters together."""
    made = {f"{name}{event}" for name in FUNCTIONS for event in RESOURCES[name]["Properties"].get("Events", {})}
    assert made
    assert not (made | set(RESOURCES)) & set(TEMPLATE["Parameters"])


def test_the_memory_is_a_choice_for_all_but_the_janitor() -> None:
    assert TEMPLATE["Globals"]["Function"]["MemorySize"] == {"Ref": "MemorySize"}
    given = {name: RESOURCES[name]["Properties"].get("MemorySize") for name in FUNCTIONS}
    assert {name: size for name, size in given.items() if size} == {"Janitor": 256}


def test_the_processor_is_a_choice_and_nothing_is_built_for_one_of_them() -> None:
    choices = ["arm64", "x86_64"]
    assert TEMPLATE["Parameters"]["Architecture"] | {"Description": ""} == {
        "Type": "String",
        "Default": "arm64",
        "AllowedValues": choices,
        "Description": "",
    }
    assert TEMPLATE["Globals"]["Function"]["Architectures"] == [{"Ref": "Architecture"}]
    assert not [name for name in FUNCTIONS if "Architectures" in RESOURCES[name]["Properties"]]
    assert RESOURCES["CoreLayer"]["Properties"]["CompatibleArchitectures"] == choices
    # pip takes only wheels that are tagged for any platform: those have no compiled code.
    assert "\nPLATFORM := any\n" in (ROOT / "layers/core/Makefile").read_text()


def test_concurrency_is_reserved_for_every_function_or_for_none() -> None:
    reserved = {"Fn::If": ["IsReserving", {"Ref": "ReservedConcurrency"}, {"Ref": "AWS::NoValue"}]}
    assert TEMPLATE["Globals"]["Function"]["ReservedConcurrentExecutions"] == reserved
    assert not [name for name in FUNCTIONS if "ReservedConcurrentExecutions" in RESOURCES[name]["Properties"]]
    assert TEMPLATE["Conditions"]["IsReserving"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "ReservedConcurrency"}, 0]}]}
    given = TEMPLATE["Parameters"]["ReservedConcurrency"]
    assert (given["Type"], given["Default"], given["MinValue"]) == ("Number", 0, 0)


ALL_KEY_ACTIONS = {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"}
"""What SSM needs of its caller for SecureString: Encrypt writes standard parameters, GenerateDataKey advanced ones."""


def test_the_key_of_secure_values_may_be_used_by_the_functions_that_store_them_through_ssm_alone() -> None:
    found = {name: each for name, each in RESOURCES.items() if "kms:" in str(each)}
    assert {each.get("Condition") for each in found.values()} == {"HasKmsKey"}
    policies = [each["Properties"] for each in found.values()]
    granted: dict[tuple[str, str], set[str]] = {}
    for policy in policies:
        (statement,) = policy["PolicyDocument"]["Statement"]
        _, by_alias, by_id = statement["Resource"]["Fn::If"]
        region = "*" if ":kms:*:" in by_id["Fn::Sub"] else "own"
        assert by_alias["Fn::Sub"].endswith(":${AWS::AccountId}:key/*")
        assert by_id["Fn::Sub"].endswith(":${AWS::AccountId}:key/${KmsKey}")
        _, if_alias, if_id = statement["Condition"]["Fn::If"]
        vias: dict[str, dict[str, object]] = {
            "own": {"StringEquals": {"kms:ViaService": {"Fn::Sub": "ssm.${AWS::Region}.amazonaws.com"}}},
            "*": {"StringLike": {"kms:ViaService": "ssm.*.amazonaws.com"}},
        }
        assert if_id == vias[region]
        assert if_alias == vias[region] | {"ForAnyValue:StringEquals": {"kms:ResourceAliases": {"Ref": "KmsKey"}}}
        for role in policy["Roles"]:
            granted.setdefault((role["Ref"], region), set()).update(listed(statement["Action"]))
    assert granted == {
        ("ExporterRole", "*"): ALL_KEY_ACTIONS,
        ("ImporterRole", "own"): ALL_KEY_ACTIONS,
        ("JanitorRole", "own"): ALL_KEY_ACTIONS,
        ("JanitorRole", "*"): {"kms:Decrypt"},
    }
    documented = {
        (f"{function.strip().title()}Role", {"all": "*", "their own": "own"}[regions]): {*re.findall("`(.+?)`", calls)}
        for functions, calls, regions, _ in rows("docs/security.md", "Secure values")
        for function in functions.split(",")
    }
    assert documented == granted


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ("", True),
        ("alias/strongref", True),
        ("alias/team/secrets_1", True),
        ("mrk-0123456789abcdef0123456789abcdef", True),
        ("01234567-89ab-cdef-0123-456789abcdef", True),
        ("arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef", False),
        ("strongref", False),
        ("alias/", False),
        ("alias/*", False),
        ("*", False),
    ],
)
def test_a_key_is_an_id_or_an_alias_which_mean_something_in_every_region(given: str, accepted: bool) -> None:
    assert bool(re.fullmatch(TEMPLATE["Parameters"]["KmsKey"]["AllowedPattern"], given)) is accepted


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ("", True),
        ("team=web", True),
        ("Cost Center=a=b,org:team=web/api@x+y,empty=", True),
        (",".join(f"k{number}=v" for number in range(10)), True),
        (",".join(f"k{number}=v" for number in range(11)), False),
        ("team", False),
        ("=web", False),
        ("team=web,", False),
        ("team=w*b", False),
        ("k" * 129 + "=v", False),
        ("k=" + "v" * 257, False),
        ("strongref:claim:0=x", False),
        ("team=web,strongref:producer=x", False),
        ("aws:x=y", False),
        ("team=web,AWS:x=y", False),
        (" team=web", False),
        ("team=web, cost-center=7", False),
        ("team=web,a=b,team=api", False),
        ("team=team=web,a-team=web,team-a=team=a,Team=", True),
        (",".join(f"k{number}=" + "v" * 196 for number in range(10)), True),  # 1,999 characters
        (",".join(f"k{number}=" + "v" * 197 for number in range(10)), False),
    ],
)
def test_tags_are_at_most_ten_that_fit_and_none_is_strongrefs_or_awss(given: str, accepted: bool) -> None:
    assert bool(re.fullmatch(TEMPLATE["Parameters"]["ParameterTags"]["AllowedPattern"], given)) is accepted


def selected(node: object, tags: str) -> object:
    """What CloudFormation makes of the functions in the policy, given the parameter."""
    match node:
        case {"Fn::Sub": str(text)}:
            return text.replace("${ParameterTags}", tags)
        case {"Fn::Split": [str(at), source]}:
            return str(selected(source, tags)).split(at)
        case {"Fn::Select": [int(index), source]}:
            return selected(source, tags)[index]  # type: ignore[index] # a list
    return node


@pytest.mark.parametrize("count", [1, 2, 10])
def test_the_functions_may_tag_with_the_given_keys_and_with_strongrefs_own_on_values_only(count: int) -> None:
    policy = RESOURCES["ParameterTagsPolicy"]
    assert policy["Condition"] == "HasParameterTags"
    tagging = [role for role in map("{}Role".format, FUNCTIONS) if "AddTags" in str(list(statements(role)))]
    assert policy["Properties"]["Roles"] == [{"Ref": role} for role in tagging]
    others, own = policy["Properties"]["PolicyDocument"]["Statement"]
    assert {(each["Effect"], each["Action"]) for each in (others, own)} == {("Deny", "ssm:AddTagsToResource")}
    ((operator, condition),) = others["Condition"].items()
    given = ",".join(f"k{number}=v{number}" for number in range(count))
    allowed = [selected(each, given) for each in condition["aws:TagKeys"]]
    assert operator == "ForAnyValue:StringNotLike"
    assert [each for each in allowed if each] == ["strongref:*", *(f"k{number}" for number in range(count))]
    assert own["Condition"] == {"ForAnyValue:StringLike": {"aws:TagKeys": "strongref:*"}}
    paths = [
        {each["Fn::Sub"].rpartition("parameter/")[2] for each in listed(it["NotResource"])} for it in (others, own)
    ]
    assert paths == [{"strongref/holds/*"}, {"strongref/exports/*", "strongref/holds/*"}]


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
    settings = {KMS_KEY: {"Ref": "KmsKey"}, PARAMETER_TAGS: {"Ref": "ParameterTags"}}
    assert {name: variables[name] for name in settings} == settings
    assert set(variables) == {*given, *settings, "POWERTOOLS_SERVICE_NAME", lag.VARIABLE, origin.VARIABLE}


def test_the_hosts_that_can_be_given_reach_the_verifier() -> None:
    variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    assert TEMPLATE["Parameters"]["ResponseHosts"]["Type"] == "CommaDelimitedList"
    assert variables[origin.VARIABLE] == {"Fn::Join": [",", {"Ref": "ResponseHosts"}]}
    assert origin.ResponseHosts.from_environment({origin.VARIABLE: "a.example,b.example"}).more == {
        "a.example",
        "b.example",
    }


SENDERS = ("Exporter", "Janitor")
"""The functions that send notices."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_that_send_notices_know_the_bus_and_may_use_it_and_no_others(name: str) -> None:
    variables = RESOURCES[name]["Properties"].get("Environment", {}).get("Variables", {})
    variables = {name: each for name, each in variables.items() if name != EXPORT_ACCOUNTS}
    assert variables == ({EVENT_BUS: {"Ref": "EventBus"}} if name in SENDERS else {})
    policy = RESOURCES["EventBusPolicy"]
    assert policy["Condition"] == "HasEventBus"
    assert policy["Properties"]["Roles"] == [{"Ref": f"{sender}Role"} for sender in SENDERS]
    assert not [each for each in statements(f"{name}Role") if "events:" in str(each["Action"])]


def test_the_functions_that_write_to_other_accounts_may_assume_their_roles_and_no_others() -> None:
    listed = {"Fn::Join": [",", {"Ref": "ExportAccounts"}]}
    given = {"Fn::If": ["HasExportAccounts", listed, {"Ref": "AWS::NoValue"}]}
    assert RESOURCES["Exporter"]["Properties"]["Environment"]["Variables"][EXPORT_ACCOUNTS] == given
    policy = RESOURCES["AccountsPolicy"]
    assert (policy["Condition"], policy["Properties"]["Roles"]) == (
        "HasExportAccounts",
        [{"Ref": "ExporterRole"}, {"Ref": "JanitorRole"}],
    )
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    text, accounts = statement["Resource"]["Fn::Split"][1]["Fn::Sub"]
    between = accounts["Accounts"]["Fn::Join"][0]
    filled = text.replace("${Accounts}", between.join(["222222222222", "333333333333"]))
    assert filled.split(",") == [
        f"arn:*:iam::{account}:role/strongref-writer-*" for account in ("222222222222", "333333333333")
    ]
    assert statement["Action"] == "sts:AssumeRole"


def test_the_permission_is_for_that_bus_alone_and_documented() -> None:
    (statement,) = RESOURCES["EventBusPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    (documented,) = rows("docs/security.md", "The event bus")
    assert documented[0] == f"`{statement['Action']}`"
    named = "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/${EventBus}"
    assert statement["Resource"] == {"Fn::If": ["IsEventBusArn", {"Ref": "EventBus"}, {"Fn::Sub": named}]}
    assert TEMPLATE["Conditions"]["HasEventBus"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "EventBus"}, ""]}]}


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ("", True),
        ("default", True),
        ("people.and-others_1", True),
        ("arn:aws:events:us-east-1:111111111111:event-bus/people", True),
        ("arn:aws-cn:events:cn-north-1:111111111111:event-bus/people", True),
        ("arn:aws:events:us-east-1:111111111111:rule/people", False),
        ("arn:aws:events:us-east-1:111111111111:event-bus/*", False),
        ("arn:aws:sns:us-east-1:111111111111:people", False),
        ("*", False),
        ("aws.partner/example.com/1", False),
        ("two buses", False),
    ],
)
def test_a_bus_is_a_name_or_an_arn(given: str, accepted: bool) -> None:
    assert bool(re.fullmatch(TEMPLATE["Parameters"]["EventBus"]["AllowedPattern"], given)) is accepted


PUBLISHED = {*ErrorMetric, *TENDED, "HandOvers", "Propagations", DROPPED, *(each.metric for each in FindingType)}
"""What the functions count."""


def test_the_dashboard_is_wanted_and_shows_what_is_counted() -> None:
    dashboard = RESOURCES["OverviewDashboard"]
    assert TEMPLATE["Parameters"]["Dashboard"]["Default"] == "false"
    assert dashboard["Condition"] == "HasDashboard"
    body = json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])
    metrics = [metric for widget in body["widgets"] for metric in widget["properties"]["metrics"]]
    own = [metric for metric in metrics if metric[0] == NAMESPACE]
    assert {metric[1] for metric in own} <= {CRASHES, *map(str, PUBLISHED)}
    assert {metric[1] for metric in own} >= {*ErrorMetric, *TENDED, "Propagations", DROPPED, CRASHES}
    assert all(metric[2:] == ([] if metric[1] == CRASHES else ["service", SERVICE]) for metric in own)
    lambdas = [metric for metric in metrics if metric[0] == "AWS/Lambda"]
    assert len(own) + len(lambdas) == len(metrics)
    for shown in ("Errors", "Throttles", "Duration", "Invocations"):
        names = ["Janitor", "Transformer"] if shown == "Errors" else FUNCTIONS
        assert [metric[3] for metric in lambdas if metric[1] == shown] == [f"${{{name}}}" for name in names]
    assert {metric[1] for metric in lambdas} == {"Errors", "Throttles", "Duration", "Invocations"}


def test_the_dashboards_widgets_do_not_overlap() -> None:
    body = json.loads(RESOURCES["OverviewDashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])
    cells = [
        (x, y)
        for widget in body["widgets"]
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]
    assert len(cells) == len(set(cells))
    assert all(0 <= x < 24 for x, _ in cells)


def test_every_metric_of_the_dashboard_and_the_alarms_is_documented() -> None:
    documented = " ".join(row[0] for row in rows("docs/events.md", "Alarms"))
    for metric in {*ErrorMetric, *TENDED, "HandOvers", "Propagations", DROPPED, CRASHES}:
        assert f"`{metric}`" in documented


def test_a_functions_handler_is_there() -> None:
    module, _, function = TEMPLATE["Globals"]["Function"]["Handler"].partition(".")
    for name in FUNCTIONS:
        code = ROOT / RESOURCES[name]["Properties"]["CodeUri"] / f"{module}.py"
        assert f"def {function}(" in code.read_text()
