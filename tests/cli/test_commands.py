"""The command: what people see of exports and imports, and what they can bring back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

import strongref_cli as cli
from strongref import __version__
from strongref.contract.event import Event, RequestType
from strongref.errors import ChangingError
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.runtime.wiring import exporter, importer
from strongref_toolkit import session
from strongref_toolkit.inventory import export_scopes, exports_in, republish
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

EU, US = "eu-west-1", "us-east-1"
NAME = f"/strongref/exports/web/{ACCOUNT}/{EU}/network/"
SECRET = "a-value-not-to-be-shown"


@pytest.fixture
def cloud() -> Cloud:
    cloud = Cloud()
    values = {"A": "a1", "B": "b1", "C": "c1"}
    cloud.deploy("network", EU, {"Exports": {"Region": US, "Consumer": "web", "Values": values}})
    cloud.deploy("web", US, {"Imports": {"From": {"Stack": "network", "Region": EU}, "Names": ["A"]}})
    return cloud


def ports(cloud: Cloud) -> Ports:
    return Ports(cloud.stores, cloud, Patience(10, 2, lambda: 0.5), cloud.token)


def test_every_export_is_seen_as_it_stands(cloud: Cloud) -> None:
    ssm = cloud.ssm(US)
    ssm.delete_parameter(Name=f"{NAME}B")
    ssm.put_parameter(Name=f"{NAME}C", Type="String", Value="by hand", Overwrite=True)
    ssm.put_parameter(Name=f"{NAME}D", Type="String", Value="stray")
    store = cloud.stores(US, cloud.clock)
    (place,) = export_scopes(store, "web")
    assert [(each.key, each.state.value, bool(each.importers)) for each in exports_in(store, place)] == [
        ("A", "published", True),
        ("B", "missing", False),
        ("C", "different", False),
        ("D", "withdrawn", False),
    ]


def test_what_is_gone_is_put_back_and_what_is_there_left_alone(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameter(Name=f"{NAME}B")
    cloud.ssm(US).put_parameter(Name=f"{NAME}C", Type="String", Value="by hand", Overwrite=True)
    store = cloud.stores(US, cloud.clock)
    (place,) = export_scopes(store, None)
    assert republish(ports(cloud), store, cloud.clock, place) == ["B"]
    assert {name[-1]: value for name, value in cloud.values(US).items()} == {"A": "a1", "B": "b1", "C": "by hand"}
    assert cloud.tags(US, f"{NAME}B".removeprefix("/strongref/exports/"))["strongref:producer"].endswith("00000001")
    assert not [name for name in cloud.texts(US) if "fences" in name]


def test_nothing_is_restored_while_another_deployment_changes_it(cloud: Cloud) -> None:
    fence = NAME.replace("/exports/", "/fences/") + "Exports.x"
    cloud.ssm(US).put_parameter(Name=fence, Type="String", Value='{"by":"x","until":"2099-01-01T00:00:00+00:00"}')
    store = cloud.stores(US, cloud.clock)
    with pytest.raises(ChangingError):
        republish(ports(cloud), store, cloud.clock, export_scopes(store, "web")[0])


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stack with two exports, one imported, one gone, in moto."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    stack = "arn:aws:cloudformation:eu-west-1:123456789012:stack/network/1"
    exported = {"Region": US, "Consumer": "web", "Values": {"A": SECRET, "B": SECRET}}
    imported = {"From": {"Stack": "network", "Region": EU}, "Consumer": "web", "Names": ["A"]}
    consumer = stack.replace(EU, US).replace("network", "web")
    with mock_aws():
        made = Event(RequestType.CREATE, stack, "Exports", "1", None, exported, None, "https://x", "Custom::X")
        exporter().handle(made, FakeClock())
        taken = Event(RequestType.CREATE, consumer, "Imports", "1", None, imported, None, "https://x", "Custom::X")
        importer().handle(taken, FakeClock())
        name = "/strongref/exports/web/123456789012/eu-west-1/network/B"
        boto3.client("ssm", US).delete_parameter(Name=name)
        yield


@pytest.mark.usefixtures("aws")
def test_ls_shows_keys_and_importers_and_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ls", "--region", US]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines() == [
        "us-east-1  web  from stack network (eu-west-1, 123456789012)",
        "    A  published, imported by stack web (us-east-1, 123456789012)",
        "    B  missing",
    ]
    assert cli.main(["ls", "--region", US, "--json", "--consumer", "web", "--stack", "network"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["key"], line["state"], len(line["importers"])) for line in lines] == [
        ("A", "published", 1),
        ("B", "missing", 0),
    ]
    assert cli.main(["ls", "--region", US, "--stack", "other"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("aws")
def test_republish_says_what_is_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["republish", "--region", US]) == 0
    assert capsys.readouterr().out == "us-east-1  /strongref/exports/web/123456789012/eu-west-1/network/B is restored\n"
    assert cli.main(["republish", "--region", US]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("aws")
def test_a_region_comes_from_the_environment_or_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["ls"]) == 2
    assert "give --region, or set AWS_REGION" in capsys.readouterr().err
    monkeypatch.setenv("AWS_REGION", US)
    assert cli.main(["ls"]) == 0
    assert "network" in capsys.readouterr().out


@pytest.mark.usefixtures("aws")
def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    boto3.client("ssm", US).put_parameter(
        Name="/strongref/fences/web/123456789012/eu-west-1/network/x",
        Type="String",
        Value='{"by":"x","until":"2099-01-01T00:00:00+00:00"}',
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "FENCE_WAIT", 0.0)
        assert cli.main(["republish", "--region", US]) == 1
    reported = capsys.readouterr().err
    assert reported.startswith("strongref: The exports of stack network (eu-west-1, 123456789012) are being changed")
    assert len(reported.splitlines()) == 1


@pytest.mark.usefixtures("aws")
def test_what_botocore_cannot_make_of_its_configuration_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert cli.main(["ls", "--region", US]) == 1
    assert capsys.readouterr().err.startswith("strongref: AWS cannot be called: ProfileNotFound. Check AWS_PROFILE")


@pytest.mark.usefixtures("aws")
def test_an_interrupted_command_ends_as_shells_have_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("strongref_cli.exports.export_scopes", interrupted)
    assert cli.main(["ls", "--region", US]) == 130
    assert capsys.readouterr().err == "strongref: interrupted\n"


def test_the_log_is_not_mixed_with_the_result() -> None:
    program = "from strongref_toolkit.session import ToolSession; from strongref.log import logger; "
    program += "logger.warning('before'); ToolSession.start(); logger.warning('reported'); print('result')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert "reported" in done.stderr
    assert ("before" in done.stdout, "reported" in done.stdout, done.stdout.endswith("result\n")) == (True, False, True)


def test_a_closed_pipe_is_reported_in_one_line() -> None:
    program = "from strongref_cli.output import put_out; put_out(b'x' * 100_000)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        reported = process.stderr.read().decode()
    assert reported.rstrip().endswith(
        "WriteFailedError: standard output could not be written: broken pipe. Nothing was written."
    )
    assert "Exception ignored" not in reported


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out.strip() == __version__


def test_a_command_reports_a_closed_pipe_in_one_line() -> None:
    generator = Path(__file__).parents[1] / "generators" / "ec2.yaml"
    program = (
        f"from strongref_cli import main; raise SystemExit(main(['refs', 'fields', '--generator', '{generator}']))"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        reported = process.stderr.read().decode()
    assert reported == "strongref: standard output could not be written: broken pipe. Nothing was written.\n"
    assert process.returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        ["ls"],
        ["republish"],
        ["lookup", "AWS::S3::Bucket", "x"],
        ["objects", "list"],
        ["objects", "show", "x"],
        ["resolve", "a.yaml"],
        ["refs", "resolve", "a.yaml"],
        ["transform", "a.yaml"],
    ],
)
def test_an_empty_option_is_reported(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*command, "--region", ""]) == 2
    assert capsys.readouterr().err == "strongref: --region is empty: is a variable not set?\n"


def test_an_endpoint_that_is_no_url_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "localhost:4566")
    assert cli.main(["ls", "--region", "us-east-1"]) == 1
    assert capsys.readouterr().err == (
        "strongref: The endpoint of ssm is not a valid URL. Check AWS_ENDPOINT_URL and endpoint_url in AWS's "
        "configuration.\n"
    )


def test_a_command_that_is_interrupted_while_it_starts_ends_alike(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("strongref_cli.running.parser", interrupted)
    assert cli.main(["ls"]) == 130
    assert capsys.readouterr().err == "strongref: interrupted\n"
