"""What follows from the requests that a function of the selftest's own has seen, where the emulator is unlike AWS."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from strongref.contract.origin import ResponseHosts
from strongref_cli.selftest.requests import Look, Request, in_progress, limits, response_urls
from tests.support.builders import stack_arn

STACK = stack_arn("network", "eu-west-1")
KEY = quote(f"{STACK}|Seen|0b1c")  # its slashes as they are
BUCKET = "cloudformation-custom-resource-response-euwest1"


def request(*looks: tuple[float, str], host: str = f"{BUCKET}.s3-eu-west-1.amazonaws.com", key: str = KEY) -> Request:
    url = f"https://{host}/{key}?X-Amz-Date=20260102T030405Z"
    seen = tuple(Look(seconds, "CREATE_IN_PROGRESS", status, "", 0.0) for seconds, status in looks)
    return Request("Create", "", str(STACK), {}, 1767323046.0, url, seen, {}, 0.0)


@pytest.mark.parametrize(
    ("looks", "holds"),
    [
        ([(0.1, "CREATE_IN_PROGRESS")], True),
        ([(0.1, ""), (4.0, "CREATE_IN_PROGRESS")], True),
        ([(0.1, ""), (6.0, "CREATE_IN_PROGRESS")], False),
        ([(0.1, "CREATE_IN_PROGRESS"), (1.0, "CREATE_COMPLETE")], False),
        ([(0.1, "UPDATE_IN_PROGRESS")], False),
    ],
)
def test_a_resource_is_in_progress_in_time_and_stays_so(looks: list[tuple[float, str]], holds: bool) -> None:
    assert in_progress([request(*looks)], 5.0).holds is holds


def wrong(seen: Request) -> dict[str, str]:
    """The beliefs about response URLs that do not hold, with the settings that follow."""
    found = response_urls([seen], ResponseHosts(), "eu-west-1")
    return {name: each.setting for name, each in found.items() if not each.holds}


def test_response_urls_of_cloudformation_are_as_believed() -> None:
    assert wrong(request((0, ""))) == {}


def test_another_host_is_a_setting() -> None:
    host = f"{BUCKET}.s3express.amazonaws.com"
    assert wrong(request((0, ""), host=host)) == {"response-host": f"ResponseHosts={host}"}


def test_another_key_is_no_matter_of_the_host() -> None:
    assert wrong(request((0, ""), key="0b1c")) == {"response-key": ""}


DENIED = "An error occurred (AccessDeniedException) when calling the GetResource operation: "


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (
            {
                "own": "True",
                "foreign": DENIED,
                "control": f"{DENIED}… perform: lambda:GetFunction",
                "exported": "False",
            },
            True,
        ),
        ({"own": "True", "foreign": "True", "control": "(ResourceNotFoundException)", "exported": "True"}, False),
        ({"own": DENIED, "foreign": DENIED, "control": DENIED, "exported": DENIED}, None),
        ({"own": "True", "foreign": "Throttling", "control": "Throttling", "exported": "Throttling"}, None),
    ],
)
def test_only_what_aws_refuses_for_the_right_reason_shows_a_limit(said: dict[str, str], holds: bool | None) -> None:
    found = limits(**said)
    assert (len(found), {each.holds for each in found.values()}) == (3, {holds})
