"""`make release`: the same sources give the same bytes, and what is built is complete, checked and can be expanded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import strongref
from strongref_cli.install.release import load_release
from strongref_cli.install.suite import load_suite
from tests.support.documents import ROOT, load
from tools.release import ReleaseError, build, check_tag, checklist, main, version_of
from tools.release_templates import serverless_repository
from tools.version import with_version

pytestmark = pytest.mark.slow

URL = "https://example.com/strongref"
STACK_SET = "stackset.json"


def checkout(folder: Path) -> Path:
    """A checkout with one commit: of these sources as they are now, wherever they are, at a fixed date."""
    shutil.copytree(
        ROOT, folder, ignore=shutil.ignore_patterns(".git", ".build", ".aws-sam", "__pycache__", ".*_cache")
    )
    date = {"GIT_AUTHOR_DATE": "2026-11-24T12:00:00Z", "GIT_COMMITTER_DATE": "2026-11-24T12:00:00Z"}
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "all", **date)
    return folder


def _git(folder: Path, *arguments: str, **environment: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})  # noqa: S603
    return done.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout(tmp_path_factory.mktemp("one") / "sources")


@pytest.fixture(scope="module")
def built(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(sources, tmp_path_factory.mktemp("built"), URL)


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def test_another_checkout_on_another_day_by_another_user_gives_the_same_bytes(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "TMPDIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.tempdir", None)  # TMPDIR is read again
    before = os.umask(0o077)
    try:
        other = checkout(tmp_path / "another" / "folder")
        (other / "notes.txt").write_text("not tracked")
        (other / "layers/core/strongref/scratch.json").write_text("not tracked")
        for path in other.rglob("*.py"):
            os.utime(path, (0, 0))
        again = build(other, tmp_path / "out", URL)
    finally:
        os.umask(before)
    assert (again / "SHA256SUMS").read_text() == (built / "SHA256SUMS").read_text()
    assert digest(again.with_name(f"{again.name}.zip")) == digest(built.with_name(f"{built.name}.zip"))


def test_every_file_is_in_the_checksums_and_in_the_zip_file(built: Path) -> None:
    files = {path.relative_to(built).as_posix(): digest(path) for path in built.rglob("*") if path.is_file()}
    del files["SHA256SUMS"]
    lines = [line.split("  ") for line in (built / "SHA256SUMS").read_text().splitlines()]
    assert {name: sum_ for sum_, name in lines} == files
    with zipfile.ZipFile(built.with_name(f"{built.name}.zip")) as archive:
        zipped = {name.removeprefix(f"{built.name}/"): archive.read(name) for name in archive.namelist()}
    assert {name: sha256(content).hexdigest() for name, content in zipped.items() if name != "SHA256SUMS"} == files


def test_the_documented_files_are_those_that_there_are(built: Path) -> None:
    page = (ROOT / "docs/releases.md").read_text()
    table = page[page.index("| File | What it is |") :].split("\n\n")[0]
    documented = {name for line in table.splitlines()[2:] for name in re.findall("`([^`]+)`", line.split("|")[1])}
    there = {path.name + ("/" if path.is_dir() else "") for path in built.iterdir()}
    assert {name.replace("VERSION", version_of(ROOT)) for name in documented} == there


def test_what_strongref_install_deploys_from_it_is_what_it_deploys_from_these_sources(built: Path) -> None:
    suite, loaded = load_suite(), load_release(built)
    assert loaded.version == strongref.__version__
    assert loaded.template_for("s3://b/{}".format) == suite.template_for("s3://b/{}".format)
    assert [each.content() for each in loaded.archives] == [each.content() for each in suite.archives]


def test_the_wheel_and_the_sdist_have_what_they_need(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        assert "strongref_cli/install/suite/template.yaml" in archive.namelist()
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
        assert {member.mtime for member in archive.getmembers()} == {datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp()}
    assert {"pyproject.toml", "template.yaml", "handlers/exporter/app.py", "PKG-INFO"} < names
    assert not [name for name in names if name.startswith((".build", ".git/"))]


def test_the_sbom_lists_the_layers_distributions_and_is_valid(built: Path) -> None:
    text = (built / "sbom.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    document = json.loads(text)
    locked = dict(re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", (ROOT / "layers/core/requirements.txt").read_text()))
    assert {each["purl"] for each in document["components"]} == {f"pkg:pypi/{name}@{v}" for name, v in locked.items()}
    assert all(each["licenses"] for each in document["components"])
    assert document["metadata"]["timestamp"] == "2026-11-24T12:00:00+00:00"
    (wheel,) = built.glob("*.whl")
    assert document["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": digest(wheel)}]


def stack_set(built: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((built / STACK_SET).read_text())
    return found


def test_the_template_for_stack_sets_takes_code_from_the_bucket_of_each_region(built: Path) -> None:
    template = stack_set(built)
    assert "Transform" not in template
    assert not [each for each in template["Resources"].values() if each["Type"].startswith("AWS::Serverless")]
    code = [
        each["Properties"].get("Code") or each["Properties"].get("Content") for each in template["Resources"].values()
    ]
    taken = [each for each in code if each]
    assert {json.dumps(each["S3Bucket"]) for each in taken} == {'{"Fn::Sub": "${BucketPrefix}-${AWS::Region}"}'}
    assert {each["S3Key"] for each in taken} == {
        path.relative_to(built / "bucket").as_posix() for path in (built / "bucket").rglob("*.zip")
    }


def test_the_template_for_stack_sets_is_the_installations(built: Path) -> None:
    """Nothing was resolved with a parameter's default, and no name is used twice."""
    template, source = stack_set(built), load((ROOT / "template.yaml").read_text())
    assert template["Parameters"].keys() - source["Parameters"].keys() == {"BucketPrefix"}
    assert {name: template["Parameters"][name] for name in source["Parameters"]} == source["Parameters"]
    assert template["Outputs"] == source["Outputs"]
    assert not template["Parameters"].keys() & template["Resources"].keys()
    used = json.dumps({"Resources": template["Resources"], "Conditions": template["Conditions"]})
    assert [
        name for name in template["Parameters"] if f'{{"Ref": "{name}"}}' not in used and f"${{{name}}}" not in used
    ] == []
    kept = {name: each for name, each in source["Resources"].items() if not each["Type"].startswith("AWS::Serverless")}
    assert {name: template["Resources"][name] for name in kept} == kept


@pytest.mark.parametrize("name", ["stackset", "serverless-repo"])
def test_the_steps_for_a_template_are_about_this_release(built: Path, name: str) -> None:
    text = (built / f"{name}.md").read_text()
    assert strongref.__version__ in text
    assert "VERSION" not in text
    files = set(re.findall(r"[\w.-]+\.(?:json|yaml)", text)) - {
        f"stackset-{strongref.__version__}.json",
        "packaged.yaml",
    }
    assert f"{name}.{'json' if name == 'stackset' else 'yaml'}" in files
    assert [each for each in files if not (built / each).is_file()] == []


def cfn_lint() -> str:
    return str(Path(sys.executable).with_name("cfn-lint"))


def test_every_template_passes_cfn_lint(built: Path) -> None:
    templates = [str(built / name) for name in (STACK_SET, "template.yaml", "serverless-repo.yaml")]
    done = subprocess.run([cfn_lint(), *templates], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout


def test_the_repositorys_template_has_the_metadata_that_aws_documents(built: Path) -> None:
    template = load((built / "serverless-repo.yaml").read_text())
    about = template.pop("Metadata")["AWS::ServerlessRepo::Application"]
    assert template == load((built / "template.yaml").read_text())
    assert re.fullmatch("[a-zA-Z0-9-]{1,140}", about["Name"])
    assert re.fullmatch("^[a-z0-9](([a-z0-9]|-(?!-))*[a-z0-9])?$", about["Author"])
    assert len(about["Description"]) <= 256
    assert len(about["Labels"]) <= 10
    assert all(re.fullmatch(r"[a-zA-Z0-9+\-_:/@]{1,127}", each) for each in about["Labels"])
    assert about["SemanticVersion"] == strongref.__version__
    assert about["SpdxLicenseId"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    assert (built / about["LicenseUrl"]).is_file()
    assert (built / about["ReadmeUrl"]).is_file()
    assert about["HomePageUrl"] == about["SourceCodeUrl"] == URL
    without = load(serverless_repository((built / "template.yaml").read_text(), "1.0.0", ""))
    assert not {"HomePageUrl", "SourceCodeUrl"} & set(without["Metadata"]["AWS::ServerlessRepo::Application"])


def test_a_tag_that_is_not_what_is_built_is_refused(tmp_path: Path) -> None:
    sources = checkout(tmp_path / "sources")
    version = version_of(sources)
    with pytest.raises(ReleaseError, match=f"The tag must be v{version}, the version in .*, got 'v9.9.9'"):
        check_tag(sources, "v9.9.9")
    (sources / "CHANGELOG.md").write_text(f"## {version} (unreleased)\n")
    with pytest.raises(ReleaseError, match=f"CHANGELOG.md has no section of version {version} with its date"):
        check_tag(sources, f"v{version}")
    (sources / "CHANGELOG.md").write_text(f"## {version} (2026-12-01)\n")
    with pytest.raises(ReleaseError, match=r"The checkout has changes that are not committed: CHANGELOG\.md"):
        check_tag(sources, f"v{version}")
    _git(sources, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-am", "dated")
    check_tag(sources, f"v{version}")


def test_the_checklist_has_every_step_of_the_page_for_this_version() -> None:
    page = (ROOT / "docs/releases.md").read_text().partition("\n## Make a release\n")[2].partition("\n## ")[0]
    lines = checklist(ROOT, URL).split("\n")
    steps = [line for line in lines if line.startswith("[ ] ")]
    assert [line for line in lines if line and line not in steps] == re.findall("(?m)^### (.+)", page)
    assert len(steps) == len(re.findall(r"(?m)^\d+\. ", page)) > 10
    assert all(step.endswith(".") for step in steps), "a step's later lines are missing"
    assert not re.search(r"VERSION|OWNER|\]\(", "".join(lines))
    tagged = f"`make release TAG=v{version_of(ROOT)} URL={URL} PYTHON=python3.13`"
    assert [step for step in steps if tagged in step]


def test_what_the_checklist_names_exists() -> None:
    printed = checklist(ROOT)
    makefile = (ROOT / "Makefile").read_text()
    assert {name for name in re.findall("`make ([a-z]+)", printed) if f"\n{name}:" not in makefile} == set()
    workflows = set(re.findall(r"`(\w+\.yml)`", printed))
    assert workflows == {"publish.yml", "release.yml"}
    found = {name: yaml.safe_load((ROOT / ".github/workflows" / name).read_text()) for name in workflows}
    (publishing,) = found["publish.yml"]["jobs"].values()
    assert f"the environment `{publishing['environment']}`" in printed
    assert publishing["permissions"]["id-token"] == "write"


def test_the_checklist_is_printed_for_a_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "SHA256SUMS").touch()
    monkeypatch.setattr("tools.release.release", lambda *_: tmp_path)
    monkeypatch.setattr("sys.argv", ["release", "--tag", "v1.0.0"])
    assert main() == 0
    assert checklist(ROOT) in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["release"])
    assert main() == 0
    assert "[ ]" not in capsys.readouterr().out


def test_a_release_needs_git(tmp_path: Path) -> None:
    (tmp_path / "layers/core/strongref").mkdir(parents=True)
    (tmp_path / "layers/core/strongref/__init__.py").write_text('__version__ = "1.0.0"\n')
    with pytest.raises(ReleaseError, match="A release is made from a git checkout"):
        build(tmp_path, tmp_path / "out")


def test_a_build_that_fails_leaves_nothing(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / f"strongref-{version_of(sources)}"
    before.mkdir()
    before.with_name(f"{before.name}.zip").touch()
    monkeypatch.setenv("STRONGREF_SAM", str(tmp_path / "none/sam"))
    with pytest.raises(ReleaseError, match="Nothing was built"):
        build(sources, tmp_path)
    assert f"the SAM CLI's environment has no {tmp_path}/none/python. Run make setup." in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_one_line_changes_the_version() -> None:
    template = (ROOT / "template.yaml").read_text()
    assert with_version(template, strongref.__version__) == template, "run make texts"
    changed = with_version(template, "9.8.7")
    assert load(changed)["Outputs"]["Version"]["Value"] == "9.8.7"
    assert strongref.__version__ not in changed
    with pytest.raises(ValueError, match="is in the template 0 times"):
        with_version("", "1.0.0")
