"""The project's own files: workflows that call make, forms that parse, and a changelog that fits the version."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from strongref_cli.install.plan import is_older
from tests.support.documents import ROOT
from tools import docs, targets
from tools.release import version_of

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"(?m)^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text()))


def parsed(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = parsed(path)["jobs"]
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


BARE = re.compile(
    r"(?:\bpipx?\d? install|\buv [a-z ]*install|\buvx|\bpipx run)\b[^\n`;|&]*?(?<![\w/.-])strongref(?![\w/.-])"
)
"""An installation of the package from PyPI, where somebody else may have registered its name."""

BROKEN = re.compile(r'"\n\s+f?"')
"""Where a text of Python goes on in the next line."""


def test_nothing_installs_the_package_by_its_name_before_there_is_a_release() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    paths = [ROOT / name for name in listed.stdout.split("\0") if name and not name.startswith("tests/")]
    texts = {path: path.read_text("utf-8", errors="replace") for path in paths if path.is_file()}
    assert len(texts) > 500
    whole = {path: BROKEN.sub("", text) for path, text in texts.items()}
    found = {str(path.relative_to(ROOT)): BARE.findall(text) for path, text in whole.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        *("pip install strongref", "python3 -m pip install --upgrade 'strongref[check]'", "pipx install strongref"),
        *("uv tool install strongref[all]", "uvx --from strongref check", "pip install boto3 strongref==0.2.0"),
    ],
)
def test_such_an_installation_is_found(line: str) -> None:
    assert BARE.search(line)


def test_a_file_or_a_checkout_is_none() -> None:
    assert not BARE.search("pip install strongref-0.2.0/strongref-0.2.0-py3-none-any.whl")
    assert not BARE.search("pip install '.[check]'; strongref install")


def test_the_pages_of_a_release_install_it() -> None:
    pages = {page: page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md")}
    text = "\n".join(docs.installing(text, "0.3.0") for text in pages.values())
    assert "pip install --upgrade strongref==0.3.0\n" in text.replace("'", "")
    assert "pip install 'strongref[check]==0.3.0'" in text
    assert not re.search(r"pip install (--upgrade )?'?\.[\[\s`]|In a checkout of strongref|PyPI has no release", text)


def test_there_are_the_workflows_that_the_pages_name() -> None:
    pages = (ROOT / "CONTRIBUTING.md").read_text() + (ROOT / "docs/releases.md").read_text()
    named = set(re.findall(r"`([a-z]+\.yml)`", pages))
    assert {"publish.yml", "release.yml"} <= named <= {path.name for path in WORKFLOWS}


def test_the_pages_say_what_the_makefile_says_of_its_targets() -> None:
    for page, text in targets.pages().items():
        assert page.read_text() == text, f"make texts writes {page.name}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_make_targets_that_exist(path: Path) -> None:
    commands = [step["run"] for step in steps(path) if "run" in step]
    called = [re.match(r"make ([a-z0-9-]+)", command) for command in commands]
    assert {each[1] for each in called if each} <= TARGETS
    # What is not make's is GitHub's own command, which needs the workflow's token.
    assert all(command.startswith(("make ", "gh ")) for command in commands), commands


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_do_only_what_it_needs_and_ends(path: Path) -> None:
    assert parsed(path)["permissions"] == {"contents": "read"}
    for name, job in jobs(path).items():
        assert "uses" in job or 0 < job["timeout-minutes"] <= 60, name
    for step in steps(path):
        if "uses" in step and step["uses"] != "./.strongref":
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    for line in path.read_text().splitlines():
        if "@" in line and "uses:" in line:
            assert re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_text_of_a_pull_request_gets_into_a_command(path: Path) -> None:
    assert not [step["run"] for step in steps(path) if "${{" in step.get("run", "")]


def test_the_hosted_checks_are_those_that_a_change_must_pass() -> None:
    commands = {step["run"].split()[1] for step in steps(ROOT / ".github/workflows/ci.yml") if "run" in step}
    assert commands == {"lint", "docs", "quick", "unit", "e2e", "deep", "guards", "release"}
    pythons = jobs(ROOT / ".github/workflows/ci.yml")["unit"]["strategy"]["matrix"]["python"]
    claimed = (ROOT / "pyproject.toml").read_text()
    assert pythons == re.findall(r'"Programming Language :: Python :: (.+)"', claimed)
    assert f'requires-python = ">={pythons[0]}"' in claimed


def test_where_hosted_tests_run_the_version_before_is_in_the_history() -> None:
    for name, job in jobs(ROOT / ".github/workflows/ci.yml").items():
        (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert (checkout["with"].get("fetch-depth") == 0) is (name in {"quick", "unit", "e2e", "deep"}), name


def test_ci_runs_what_make_check_runs() -> None:
    (needed,) = re.findall(r"(?m)^check: ([a-z0-9 ]+) ##", (ROOT / "Makefile").read_text())
    script = (ROOT / ".ci/run").read_text()
    assert sorted(re.findall(r"(?m)^run ([a-z0-9]+)", script)) == sorted(needed.split())


def test_a_release_is_built_after_all_checks_by_the_functions_python() -> None:
    path = ROOT / ".github/workflows/release.yml"
    assert jobs(path)["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert (jobs(path)["build"]["needs"], jobs(path)["draft"]["needs"]) == ("ci", "build")
    (python,) = [step["with"]["python-version"] for step in steps(path) if "python-version" in step.get("with", {})]
    assert f"Runtime: python{python}\n" in (ROOT / "template.yaml").read_text()


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_has_what_github_wants(path: Path) -> None:
    form = parsed(path)
    if path.name == "config.yml":
        assert set(form) <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= set(form)
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    assert len({each["id"] for each in fields}) == len(fields)
    assert all(each["attributes"]["label"] for each in fields)


def test_the_first_section_of_the_changelog_is_this_version_or_the_next() -> None:
    headings = re.findall(r"(?m)^## (.+)$", (ROOT / "CHANGELOG.md").read_text())
    sections = [
        re.fullmatch(r"(\d+\.\d+\.\d+) \((unreleased|not published|\d{4}-\d\d-\d\d)\)", each) for each in headings
    ]
    assert all(sections), headings
    versions = [each[1] for each in sections if each]
    assert all(is_older(later, earlier) for earlier, later in pairwise(versions))
    assert not is_older(versions[0], version_of(ROOT))
    assert version_of(ROOT) in versions
    assert [each[2] for each in sections[1:] if each].count("unreleased") == 0


def test_security_is_about_versions_that_there_are() -> None:
    page = (ROOT / "SECURITY.md").read_text()
    headings = re.findall(r"(?m)^## (\d+\.\d+)\.\d+ \((?!unreleased)", (ROOT / "CHANGELOG.md").read_text())
    supported = re.findall(r"(?m)^\| (\d+\.\d+) \|", page)
    assert supported == headings[: len(supported)]
    assert supported
