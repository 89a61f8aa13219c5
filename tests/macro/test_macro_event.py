"""The macro's function: CloudFormation's event in, an answer out, whatever happens, and no value in any log."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from handlers.macro.app import handler
from strongref.log import logger
from strongref.macro import event as macro_event
from tests.support.macro import EXPORTS, IMPORTS, get, imports
from tests.support.response_server import FakeContext

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS = Path(__file__).parents[1] / "events"
HIDDEN = "a-value-not-to-be-shown"


def event(name: str = "macro", **more: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return read | more


class Reported:
    """What was logged, lines and numbers."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.stream = io.StringIO()

    @property
    def lines(self) -> list[dict[str, Any]]:
        text = self.stream.getvalue()
        assert HIDDEN not in text
        return [json.loads(line) for line in text.splitlines()]

    @property
    def counted(self) -> dict[str, float]:
        out = [json.loads(line) for line in self._capsys.readouterr().out.splitlines()]
        assert HIDDEN not in str(out)
        names = [metric["Name"] for line in out for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]]
        return {name: line[name][0] for line in out for name in names}


@pytest.fixture
def reported(capsys: pytest.CaptureFixture[str]) -> Iterator[Reported]:
    collected = Reported(capsys)
    stream: Any = logger.registered_handler
    before = stream.setStream(collected.stream)
    yield collected
    stream.setStream(before)
    logger.clear_state()


def test_the_template_comes_back_with_its_references_made_imports(reported: Reported) -> None:
    given = event()
    answer = handler(given, FakeContext())
    assert set(answer) == {"requestId", "status", "fragment"}
    assert (answer["requestId"], answer["status"]) == (given["requestId"], "success")
    resources = answer["fragment"]["Resources"]
    (logical_id,) = imports(given["fragment"])
    assert {name: each["Type"] for name, each in resources.items()} == {
        "Service": "AWS::ECS::Service",
        "Exports1865df73": EXPORTS,
        logical_id: IMPORTS,
    }
    group = resources["Service"]["Properties"]["LoadBalancers"][0]
    assert group == {
        "ContainerName": "web",
        "ContainerPort": 80,
        "TargetGroupArn": get(logical_id, "Alb.TargetGroupArn"),
    }
    assert list(answer["fragment"]) == [*given["fragment"], "Outputs"]
    assert answer["fragment"]["Outputs"] == {
        "Exports1865df73Hold": {
            "Value": get("Exports1865df73", "Hold"),
            "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-Exports1865df73"}},
        }
    }
    assert json.loads(json.dumps(answer)) == answer
    (line,) = reported.lines
    assert (line["message"], line["request"], line["references"], line["added"]) == (
        "Transformed",
        given["requestId"],
        1,
        3,
    )


def test_everything_that_is_wrong_is_the_failures_message(reported: Reported) -> None:
    given = event("macro_wrong")
    answer = handler(given, FakeContext())
    assert (answer["requestId"], answer["status"], answer["fragment"]) == (
        given["requestId"],
        "failure",
        given["fragment"],
    )
    assert answer["errorMessage"].startswith(
        "ResourceReferenceAndIDNotSupported: Service.Properties.ClusterRef: Cluster and ClusterRef cannot be combined; "
    )
    assert "Service.Properties.LoadBalancers[0].TargetGroupArnRef.From.Name: must be the name" in answer["errorMessage"]
    assert HIDDEN not in answer["errorMessage"]
    (line,) = reported.lines
    assert (line["message"], line["error"]) == ("Not transformed", "TransformFailedError")
    assert reported.counted == {"Rejections": 1}


def test_the_transforms_parameters_are_read(reported: Reported) -> None:
    fragment = {
        "Resources": {"A": {"Properties": {f"P{n}Ref": {"From": {"Stack": "a", "Name": f"N{n}"}} for n in range(4)}}}
    }
    made = handler(event(fragment=fragment, params={"ValueBytes": "3000"}), FakeContext())["fragment"]["Resources"]
    assert len(made) == 5
    refused = handler(event(params={"Bytes": 1}), FakeContext())
    assert (
        refused["errorMessage"]
        == "Parameter Bytes of the transform StrongRef does not exist; there are ValueBytes and Hold."
    )
    assert reported.counted == {"Rejections": 1}


@pytest.mark.parametrize(
    "given", [{}, {"fragment": "x"}, {"fragment": ["x"]}, {"fragment": {"Type": "AWS::S3::Bucket"}}]
)
def test_an_event_that_is_none_is_answered(given: dict[str, Any]) -> None:
    answer = handler(given, FakeContext())
    assert answer["status"] == "failure"
    assert answer["errorMessage"].startswith("This is not a template: ")


def test_a_defect_is_answered_without_its_text(monkeypatch: pytest.MonkeyPatch, reported: Reported) -> None:
    def broken(*_: object) -> None:
        raise KeyError(HIDDEN)

    monkeypatch.setattr(macro_event, "plan", broken)
    answer = handler(event(), FakeContext())
    assert answer["errorMessage"] == "Internal error (KeyError). See the function's log, invocation function-request."
    assert reported.counted == {"Errors": 1}
    assert reported.lines[0]["frames"]


def test_what_an_event_was_about_is_forgotten_with_the_next(reported: Reported) -> None:
    handler(event(), FakeContext())
    handler(event("macro_wrong"), FakeContext())
    first, second, *_ = reported.lines
    assert first["request"] != second["request"]


def test_the_function_starts_without_what_it_does_not_use() -> None:
    """It calls nothing, and each deployment waits for it."""
    code = "import sys, handlers.macro.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()  # noqa: S603
    assert {"boto3", "botocore.session", "crhelper", "ruamel", "ruamel.yaml", "kubernetes", "pluralizer"} & set(
        loaded
    ) == set()
    ours = {name.split(".")[1] for name in loaded if name.startswith("strongref.")}
    assert ours & {"cdk", "cdk8s", "cli", "objects", "refs", "resolvers", "toolbox"} == set()
