"""docs/costs-and-limits.md and README say what an installation costs: its alarms and schedules at AWS's prices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from strongref.protocol.findings import Resolution
from strongref.protocol.janitor import JanitorProgress
from tests.support.documents import ROOT, rows
from tests.support.installation import RESOURCES, TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "docs/costs-and-limits.md"
PARAMETERS = TEMPLATE["Parameters"]

ALARM, METRIC, DASHBOARD, GIGABYTE_SECOND = 0.10, 0.30, 3.00, 0.0000133334
"""Prices of us-east-1 in dollars a month, and of arm64: AWS's pages of prices for CloudWatch and Lambda."""
HOURS = 730
DAILY_SECONDS, ABROAD_SECONDS, EVENTS, EVENT_SECONDS = 30, 10, 100, 8
"""What the page assumes."""

MINUTES = {"rate(1 day)": 24 * 60, "rate(15 minutes)": 15}

FREE = {
    *("AWS::CloudFormation::Macro", "AWS::IAM::Policy", "AWS::IAM::Role", "AWS::SSM::Parameter"),
    *("AWS::Lambda::Permission", "AWS::Serverless::LayerVersion", "AWS::Logs::LogGroup", "AWS::Logs::MetricFilter"),
}
"""Types that cost nothing but what the page leaves out, or what others are charged for."""
BY_USE = {"AWS::Serverless::Function", "AWS::Events::Rule"}
PRICED = {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"}


def number(type_name: str, condition: str) -> int:
    found = [each for each in RESOURCES.values() if each["Type"] == type_name]
    return sum(each.get("Condition") == condition for each in found)


def memory(function: str) -> float:
    """In gigabytes."""
    own = RESOURCES[function]["Properties"].get("MemorySize", PARAMETERS["MemorySize"]["Default"])
    return float(own) / 1024


def schedules() -> Iterator[tuple[str, str, float]]:
    """The condition of each schedule, its function, and its runs in a month."""

    def runs(expression: dict[str, str]) -> float:
        return HOURS * 60 / MINUTES[PARAMETERS[expression["Ref"]]["Default"]]

    for name, each in RESOURCES.items():
        given: dict[str, Any] = each["Properties"]
        if each["Type"] == "AWS::Serverless::Function":
            for event in given.get("Events", {}).values():
                assert event["Type"] == "Schedule"
                yield each.get("Condition", ""), name, runs(event["Properties"]["Schedule"])
        if each["Type"] == "AWS::Events::Rule":
            (target,) = given["Targets"]
            yield each["Condition"], target["Arn"]["Fn::GetAtt"][0], runs(given["ScheduleExpression"])


def test_every_resource_of_the_template_has_a_price_or_none() -> None:
    assert {each["Type"] for each in RESOURCES.values()} == FREE | BY_USE | PRICED
    tiers = [each["Properties"].get("Tier") for each in RESOURCES.values() if each["Type"] == "AWS::SSM::Parameter"]
    assert set(tiers) == {None}  # standard


def test_the_page_and_the_readme_say_what_the_templates_resources_cost() -> None:
    (daily, abroad) = schedules()
    assert (daily[:2], abroad[:2]) == (("", "Janitor"), ("HasExportAccounts", "Janitor"))
    alarms, noticing = (number("AWS::CloudWatch::Alarm", each) for each in ("HasAlarms", "HasNoticeAlarm"))
    boards = number("AWS::CloudWatch::Dashboard", "HasDashboard")
    assert alarms + noticing + boards == sum(each["Type"] in PRICED for each in RESOURCES.values())

    emitted = {*JanitorProgress(("", ""), 1, ()).counts(), *(each.value for each in Resolution if each.value)}
    always = {each.value for each in Resolution if each.value}
    hourly, small, large = METRIC / HOURS, memory("Janitor"), memory("Exporter")
    costs = {
        "alarms": alarms * ALARM,
        "metrics": len(emitted) * hourly * daily[2],
        "janitor": daily[2] * DAILY_SECONDS * small * GIGABYTE_SECOND,
        "events": EVENTS * EVENT_SECONDS * large * GIGABYTE_SECOND,
    }
    with_alarms, without = sum(costs.values()), sum(costs.values()) - costs["alarms"]
    dollars = {name: f"${cost:.2f}" for name, cost in costs.items()}
    more = len(always) * METRIC + abroad[2] * ABROAD_SECONDS * small * GIGABYTE_SECOND
    second = f"${GIGABYTE_SECOND:.10f} a GB and second"
    runs = f"{len(always)} metrics in all hours; {abroad[2]:,.0f} runs of {ABROAD_SECONDS} s"
    expected = [
        f"Alarms | {alarms} | ${ALARM:.2f} each | {dollars['alarms']}",
        f"Custom metrics | {len(emitted)}, for an hour a day | ${METRIC:.2f} each, by the hour | {dollars['metrics']}",
        f"The janitor | {daily[2]:.0f} runs of {DAILY_SECONDS} s with {small:g} GB | {second} | {dollars['janitor']}",
        f"Other functions | {EVENTS} events of {EVENT_SECONDS} s with {large:g} GB | {second} | {dollars['events']}",
        f"**With alarms** |  |  | **${with_alarms:.2f}**",
        f"**Without alarms** |  |  | **${without:.2f}**",
        f"With `ExportAccounts`, more | {runs} | as above | ${more:.2f}",
        f"With `EventBus`, more | {noticing} alarm | ${ALARM:.2f} each | ${noticing * ALARM:.2f}",
        f"With `Dashboard=true`, more | {boards} dashboard | ${DASHBOARD:.2f} each | ${boards * DASHBOARD:.2f}",
    ]
    assert [" | ".join(row) for row in rows(PAGE, "What an installation costs")] == expected
    said = f"costs about ${with_alarms:.2f} a month in each region, or ${without:.2f} without alarms"
    for page in (PAGE, "README.md"):
        assert said in re.sub(r"\s+", " ", (ROOT / page).read_text()), page
