"""`strongref resolve --claim` and `--unclaim`: what is held, what is written, what is reported, and how it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest

import strongref_cli as cli
from strongref.contract.event import Event, RequestType
from strongref.errors import StrongRefError
from strongref.runtime.clock import SystemClock
from strongref.runtime.wiring import exporter
from strongref_cli.manifests.manifest_files import claims_of
from strongref_toolkit.errors import WriteFailedError
from tests.support import moto_lists
from tests.support.empty_aws import empty_aws
from tests.support.fake_ssm import FakeClock
from tests.support.moto_copies import made_once
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EU, US = "eu-west-1", "us-east-1"
ACCOUNT = "123456789012"
BELOW = f"/strongref/exports/cluster/{ACCOUNT}/{EU}/network"
SECRET = "a-value-not-to-be-shown"
STACK = f"arn:aws:cloudformation:{EU}:{ACCOUNT}:stack/network/1"


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    moto_lists.install(monkeypatch)
    with empty_aws(monkeypatch, US):
        made_once(export_network, export_network)
        yield


def export_network() -> None:
    export({"VpcId": SECRET, "Alb": {"Arn": "alb", "Zone": "z"}})


def export(values: dict[str, Any], stack: str = STACK, **more: str) -> None:
    properties = {"Region": US, "Consumer": "cluster", "Values": values, **more}
    kind = RequestType.CREATE
    with waited_for():
        exporter().handle(
            Event(kind, stack, "Exports", "1", None, properties, None, "https://x", "Custom::X"), FakeClock()
        )


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    manifest = tmp_path / "app.yaml"
    manifest.write_text(f"vpc: ${{export:network.VpcId@{EU}}}\nalb: ${{export:network.Alb@{EU}}}\n")
    return manifest


def resolve(*arguments: str | Path) -> int:
    return cli.main(["resolve", *map(str, arguments)])


def claimed() -> dict[str, list[str]]:
    """Who claims each value, by key."""
    ssm = boto3.client("ssm", US)
    found = {}
    for parameter in ssm.get_parameters_by_path(Path=BELOW, Recursive=True)["Parameters"]:
        tags = ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId=parameter["Name"])["TagList"]
        claims = [tag["Value"] for tag in tags if tag["Key"].startswith("strongref:claim:")]
        found[parameter["Name"].removeprefix(f"{BELOW}/")] = claims
    return found


SHOP = [f"strongref:manifests:{ACCOUNT}:shop"]


def test_used_exports_are_claimed_and_no_value_is_shown(
    manifest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve(manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster") == 0
    reported = capsys.readouterr()
    assert (reported.out, reported.err.endswith(", 3 exports used by manifests shop\n")) == ("", True)
    assert SECRET not in reported.err
    assert (tmp_path / "out/app.yaml").read_text().startswith(f"vpc: {SECRET}\n")
    assert claimed() == {"Alb/Arn": SHOP, "Alb/Zone": SHOP, "VpcId": SHOP}
    with pytest.raises(StrongRefError, match="VpcId cannot be changed: it is imported by manifests shop"):
        export({"VpcId": "other", "Alb": {"Arn": "alb", "Zone": "z"}})

    manifest.write_text(f"zone: ${{export:network.Alb.Zone@{EU}}}\n")
    assert resolve(manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster") == 0
    assert claimed() == {"Alb/Arn": [], "Alb/Zone": SHOP, "VpcId": []}

    capsys.readouterr()
    assert resolve("--unclaim", "shop") == 0
    assert capsys.readouterr().out == f"us-east-1  {BELOW}/Alb/Zone is no longer claimed\n"
    assert set(map(tuple, claimed().values())) == {()}
    assert resolve("--unclaim", "shop") == 0
    assert capsys.readouterr().err == "strongref: manifests shop claim nothing in us-east-1\n"


@pytest.fixture
def held_stack() -> None:
    """The values are those of a stack whose Export names a CloudFormation export of it."""
    output = {"Value": "network-Exports", "Export": {"Name": "network-Exports"}}
    topic = {"Topic": {"Type": "AWS::SNS::Topic"}}
    template = json.dumps({"Resources": topic, "Outputs": {"ExportsHold": output}})
    cloudformation = boto3.client("cloudformation", EU)
    arn = cloudformation.create_stack(StackName="network", TemplateBody=template)["StackId"]
    boto3.client("ssm", US).delete_parameters(Names=[f"{BELOW}/{key}" for key in ("VpcId", "Alb/Arn", "Alb/Zone")])
    export({"VpcId": SECRET, "Alb": {"Arn": "alb", "Zone": "z"}}, arn, Hold="network-Exports")


def hold_stacks() -> list[str]:
    found = boto3.client("cloudformation", EU).describe_stacks()["Stacks"]
    return [each["StackName"] for each in found if each["StackName"].startswith("strongref-hold-")]


@pytest.mark.usefixtures("held_stack")
def test_with_hold_a_stack_holds_the_exports_until_they_are_unclaimed(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SystemClock, "sleep", lambda *_: None)
    claim: list[str | Path] = [manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster"]
    assert resolve(*claim, "--hold") == 0
    (stack,) = hold_stacks()
    assert stack.startswith(f"strongref-hold-{ACCOUNT}-shop-")
    assert claimed()["VpcId"] == SHOP
    assert resolve(*claim) == 0
    assert (hold_stacks(), claimed()["VpcId"]) == ([], SHOP)
    assert resolve(*claim, "--hold") == 0
    assert resolve("--unclaim", "shop") == 0
    assert (hold_stacks(), claimed()["VpcId"]) == ([], [])


@pytest.mark.usefixtures("held_stack")
def test_with_check_nothing_is_held(manifest: Path) -> None:
    assert resolve(manifest, "--check", "--claim", "shop", "--consumer", "cluster", "--hold") == 0
    assert hold_stacks() == []


def test_a_check_claims_nothing(manifest: Path) -> None:
    assert resolve(manifest, "--check", "--claim", "shop", "--consumer", "cluster") == 0
    assert set(map(tuple, claimed().values())) == {()}


def test_the_result_for_standard_output_is_written_once(
    manifest: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    with manifest.open("rb") as given:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": given}))
        assert resolve("-", "--claim", "shop", "--consumer", "cluster") == 0
    assert capsysbinary.readouterr().out.count(b"vpc: ") == 1
    assert claimed()["VpcId"] == SHOP


def test_of_a_run_that_cannot_write_nothing_is_claimed(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_texts: object) -> None:
        raise WriteFailedError("app.yaml", "no space left on device", 0)

    monkeypatch.setattr("strongref_cli.manifests.manifest_files.write", full)
    assert resolve(manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster") == 1
    assert "no space left on device" in capsys.readouterr().err
    assert set(map(tuple, claimed().values())) == {()}


def test_a_value_that_became_something_else_meanwhile_is_not_written_where_it_cannot_stand(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest.write_text(f"zone: in ${{export:network.Alb.Zone@{EU}}}\n")

    def meanwhile(*given: Any) -> Any:
        claims = claims_of(*given)
        hold = type(claims).hold

        def changed(self: Any, used: Any, write: Any, **more: Any) -> None:
            export({"VpcId": SECRET, "Alb": {"Arn": "alb", "Zone": ["y", "z"]}})
            hold(self, used, write, **more)

        monkeypatch.setattr(type(claims), "hold", changed)
        return claims

    monkeypatch.setattr("strongref_cli.manifests.resolve.claims_of", meanwhile)
    assert resolve(manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster") == 1
    assert "is a list, which cannot stand inside a longer text" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert set(map(tuple, claimed().values())) == {()}


def test_a_run_whose_output_cannot_be_written_claims_nothing(
    manifest: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(_content: bytes) -> None:
        raise WriteFailedError("standard output", "broken pipe", 0)

    monkeypatch.setattr("strongref_cli.manifests.manifest_files.put_out", gone)
    with manifest.open("rb") as given:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": given}))
        assert resolve("-", "--claim", "shop", "--consumer", "cluster") == 1
    assert "standard output could not be written: broken pipe. Nothing was written." in capsys.readouterr().err
    assert set(map(tuple, claimed().values())) == {()}


def test_what_is_written_in_part_is_held_with_what_was_before(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest.write_text(f"vpc: ${{export:network.VpcId@{EU}}}\n")
    assert resolve(manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster") == 0

    def half(_texts: object) -> None:
        raise WriteFailedError("b.yaml", "no space left on device", 1)

    monkeypatch.setattr("strongref_cli.manifests.manifest_files.write", half)
    manifest.write_text(f"zone: ${{export:network.Alb.Zone@{EU}}}\n")
    assert resolve(manifest, "-o", tmp_path / "out", "--claim", "shop", "--consumer", "cluster") == 1
    assert claimed() == {"Alb/Arn": [], "Alb/Zone": SHOP, "VpcId": SHOP}


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["x.yaml", "-o", "out", "--claim", ""], "--claim is empty: is a variable not set?"),
        (["--unclaim", ""], "--unclaim is empty: is a variable not set?"),
        (["", "--check"], "a manifest is empty: is a variable not set?"),
        (["x.yaml", "-o", ""], "-o is empty"),
        (["x.yaml", "--check", "--region", ""], "--region is empty"),
        (["x.yaml", "--in-place", "--claim", "shop"], "--claim cannot be combined with --in-place"),
        (["x.yaml", "-o", "out", "--claim", "a b"], "not starting with _, got 'a b'"),
        (["--unclaim", "_shop"], "not starting with _, got '_shop'"),
        (["x.yaml", "--unclaim", "shop"], "--unclaim shop releases all claims: leave the manifests out"),
        (["x.yaml", "-o", "out", "--hold"], "--hold protects what --claim NAME claims: give both"),
        (["--unclaim", "shop", "--hold"], "--unclaim shop releases all claims: leave --hold out"),
        (["--claim", "shop", "-o", "out"], "no manifests: give files or folders, or - for standard input"),
    ],
)
def test_usage_errors_exit_with_2(
    arguments: list[str],
    reported: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_text("a: 1\n")
    assert resolve(*arguments) == 2
    assert reported in capsys.readouterr().err


def test_a_region_has_to_be_known(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("AWS_REGION")
    assert resolve("--unclaim", "shop") == 2
    assert "no region: give --region, or set AWS_REGION" in capsys.readouterr().err
