"""A release's folder: what is written is what is installed, and nothing is installed from a folder that was changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import boto3
import pytest

import strongref
import strongref_cli as cli
from strongref_cli.install.release import CHECKSUMS, load_release
from strongref_cli.install.suite import Archive, Suite, load_suite
from strongref_toolkit.errors import UsageError
from tests.support.empty_aws import empty_aws
from tools.release_contents import checksums, released

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEMPLATE = """Parameters:
  ReadLag:
    Type: Number
Resources:
  Exporter:
    Properties:
      CodeUri: handlers/exporter
      Runtime: python3.13
"""
SUITE = Suite("0.2.0", TEMPLATE, (Archive.of("handlers/exporter", {"app.py": b"1"}),))
(CODE,) = (f"bucket/{each.key}" for each in SUITE.archives)


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def complete(files: dict[str, bytes]) -> dict[str, bytes]:
    return {**files, CHECKSUMS: checksums(files)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "release", complete({**released(SUITE), "LICENSE": b"text"}))


def test_a_release_is_installed_as_the_environment_that_it_was_built_in_would_be(tmp_path: Path) -> None:
    suite = load_suite()
    loaded = load_release(write(tmp_path, complete(released(suite))))
    assert loaded.template_for("s3://b/{}".format) == suite.template_for("s3://b/{}".format)
    assert [each.key for each in loaded.archives] == [each.key for each in suite.archives]
    assert [each.content() for each in loaded.archives] == [each.content() for each in suite.archives]
    assert loaded.version == suite.version


def test_the_checksums_are_those_of_sha256sum() -> None:
    line = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n"
    assert checksums({"a": b"abc"}).decode() == line


def change(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def rewritten(**changes: object) -> Callable[[Path], object]:
    """A folder whose checksums are right, and whose release.json says something else."""

    def change(folder: Path) -> object:
        files = released(SUITE)
        about = {**json.loads(files["release.json"]), **changes}
        return write(folder, complete({**files, "release.json": json.dumps(about).encode()}))

    return change


def without(name: str) -> Callable[[Path], object]:
    """A folder whose checksums are right, and do not list a file."""

    def change(folder: Path) -> object:
        files = released(SUITE)
        del files[name]
        return write(folder, complete(files))

    return change


def elsewhere(folder: Path) -> object:
    template = TEMPLATE.replace("handlers/exporter", "../secret.zip").encode()
    return write(folder, complete({**released(SUITE), "template.yaml": template}))


UNREADABLE = f"is a release that strongref {strongref.__version__} cannot read. Upgrade the command"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (change("template.yaml", b"x"), "was changed: template.yaml has another checksum than released. Download"),
        (change(CODE, b"x"), f"was changed: {CODE} has another checksum than released. Download"),
        (change("LICENSE", b"x"), "was changed: LICENSE has another checksum than released. Download"),
        (lambda folder: (folder / CODE).unlink(), f"is incomplete: {CODE} is missing. Download the release again."),
        (lambda folder: (folder / CHECKSUMS).unlink(), "is not a release of strongref: it has no SHA256SUMS. Give the"),
        (change(CHECKSUMS, b"\xff"), "is not a release of strongref: it has no SHA256SUMS. Give the"),
        (change(CHECKSUMS, b"nonsense\n"), "has a damaged SHA256SUMS. Download the release again."),
        (change(CHECKSUMS, b"0" * 64 + b"  ../outside\n"), "has a damaged SHA256SUMS. Download the release again."),
        (change(CHECKSUMS, b"0" * 64 + b"  /etc/hosts\n"), "has a damaged SHA256SUMS. Download the release again."),
        (change(CHECKSUMS, b""), "is not a release of strongref: its SHA256SUMS does not list release.json."),
        (without("template.yaml"), "is not a release of strongref: its SHA256SUMS does not list template.yaml."),
        (without(CODE), f"is not a release of strongref: its SHA256SUMS does not list {CODE}."),
        (rewritten(name="other"), "is not a release of strongref: release.json does not describe one."),
        (rewritten(format=2), UNREADABLE),
        (elsewhere, "is not a release of strongref: its template has code at ../secret.zip."),
    ],
)
def test_a_folder_that_is_not_as_released_is_refused(
    folder: Path, change: Callable[[Path], object], problem: str
) -> None:
    load_release(folder)
    change(folder)
    with pytest.raises(UsageError) as refused:
        load_release(folder)
    assert str(refused.value).startswith(f"{folder} {problem}")


def test_what_is_uploaded_is_what_was_checked(folder: Path) -> None:
    (archive,) = load_release(folder).archives
    before = archive.content()
    (folder / CODE).write_bytes(b"changed after it was checked")
    assert archive.content() == before


def test_a_layer_without_bytecode_and_another_version_are_noted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strongref, "__version__", "0.3.0")
    assert load_release(folder).notes == (
        "Cold starts are slower than they could be: the layer of this release has no bytecode.",
        "The release is version 0.2.0, and this command is 0.3.0.",
    )


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with empty_aws(monkeypatch):
        yield


EU = "eu-west-1"


@pytest.mark.usefixtures("aws")
def test_a_changed_folder_is_refused_before_any_call(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(CODE, b"x")(folder)
    assert cli.main(["install", "--region", EU, "--from", str(folder)]) == 2
    shown = capsys.readouterr()
    assert shown.err == (
        f"strongref: {folder} was changed: {CODE} has another checksum than released. Download the release again.\n"
    )
    assert (shown.out, boto3.client("s3", EU).list_buckets()["Buckets"]) == ("", [])


@pytest.mark.usefixtures("aws")
def test_a_missing_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["install", "--region", EU, "--from", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"strongref: {tmp_path}/none is not a folder.\n"


@pytest.mark.usefixtures("aws")
def test_the_parameters_are_those_of_the_release(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["install", "--region", EU, "--from", str(folder), "--dry-run", "--output", "json"]
    assert cli.main([*command, "--parameter", "Dashboard=true"]) == 2
    assert "the installation has no such parameter. The parameters are ReadLag." in capsys.readouterr().err
    assert cli.main([*command, "--parameter", "ReadLag=1"]) == 0
    assert json.loads(capsys.readouterr().out)["regions"][0]["result"] == "would install"


@pytest.mark.usefixtures("aws")
def test_an_older_release_than_what_is_installed_is_refused_without_force(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    there = {"Resources": {"Topic": topic}, "Outputs": {"Version": {"Value": "0.10.0"}}}
    boto3.client("cloudformation", EU).create_stack(StackName="strongref", TemplateBody=json.dumps(there))
    command = ["install", "--region", EU, "--from", str(folder), "--dry-run", "--output", "json"]
    assert cli.main(command) == 1
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["result"] == "refused"
    assert region["details"][0].startswith("Version 0.10.0 is installed, and this would install 0.2.0. Upgrade the")
    assert cli.main([*command, "--force"]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert (region["result"], region["details"][0]) == ("would update", "version 0.10.0 → 0.2.0")
