"""What README and docs say is so: properties, permissions, texts, commands, links.

Every ```text block is the text of an error; the comment above it names the case here that makes it.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import fields
from fnmatch import fnmatchcase
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from botocore import xform_name
from botocore.session import get_session

from strongref import errors
from strongref.aws.retry_and_rate_limit import FIRST_RATES, RateLimits
from strongref.contract import response as answer_module
from strongref.contract.requests import IMPORT_TYPE
from strongref.errors import BadRequestError, StrongRefError
from strongref.lookup import errors as lookup_errors
from strongref.protocol import verification
from strongref.runtime import custom_resource as resource
from strongref_cli import permissions
from strongref_cli.arguments import parser
from strongref_cli.template_facts import DeploymentTarget
from tests.e2e.reader import commands as commands_to_run
from tests.support.builders import ACCOUNT
from tests.support.documents import PAGES, ROOT, Block, blocks, load, names_in, rows
from tests.support.error_texts import CASES, US, case_of, refused_export, refused_import, refused_lookup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("block", blocks("text"), ids=str)
def test_an_error_text_is_what_the_error_says(block: Block) -> None:
    assert block.text.split() == str(CASES[case_of(block)]()).split()


def test_every_case_is_shown_somewhere() -> None:
    assert {case_of(block) for block in blocks("text")} == set(CASES)


def test_every_error_is_explained() -> None:
    explained = "".join(
        (ROOT / "docs" / page).read_text() for page in ("troubleshooting/index.md", "extras/lookups.md")
    )
    modules = (errors, answer_module, resource, verification, lookup_errors)
    kinds = {
        name
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, StrongRefError) and kind.__module__ == module.__name__
    }
    wrappers = {
        "StrongRefError",
        "KeysError",
        "ServiceError",
        "PartialCreateError",
        "PropertiesAskedError",
        "RejectedLookupError",
    }  # these have no text of their own
    assert {
        name for name in kinds - wrappers if f"`{name}`" not in explained and f"### {name}\n" not in explained
    } == set()


@pytest.mark.parametrize(
    ("page", "heading", "refused"),
    [
        ("docs/export.md", "Properties", refused_export(Unknown="")),
        ("docs/import.md", "Properties", refused_import(Unknown="")),
        ("docs/extras/lookups.md", "Properties of a lookup", refused_lookup(Unknown="")),
    ],
)
def test_the_documented_properties_are_those_that_are_accepted(
    page: str, heading: str, refused: Callable[[], StrongRefError]
) -> None:
    cloudformations_own = {"ServiceToken", "ServiceTimeout"}
    assert names_in(rows(page, heading)) == allowed_by(refused) | cloudformations_own


def test_the_documented_keys_of_from_are_those_that_are_accepted() -> None:
    text = (ROOT / "docs/import.md").read_text()
    table = text[text.index("The keys of `From`:") :].split("\n\n")[1]
    documented = set(re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE))
    assert documented == allowed_by(refused_import(From={"Unknown": ""}))


def allowed_by(refused: Callable[[], StrongRefError]) -> set[str]:
    error = refused()
    assert isinstance(error, BadRequestError)
    return set(re.split(", | and ", error.problem.partition("must be one of ")[2]))


def test_the_documented_rates_are_the_first_ones_and_the_template_sets_no_limit() -> None:
    documented = rows("docs/costs-and-limits.md", "Rates")
    assert {variable.strip("`"): float(rate) for _, variable, rate, _ in documented} == {
        f"STRONGREF_{field.name.upper()}_PER_SECOND": getattr(FIRST_RATES, field.name) for field in fields(RateLimits)
    }
    template = load((ROOT / "template.yaml").read_text())
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    for parameter, variable, *_ in documented:
        if parameter:
            assert variables[variable.strip("`")] == {"Ref": parameter.strip("`")}
            given = template["Parameters"][parameter.strip("`")]
            assert given["Default"] == given["MinValue"] == RateLimits().reads == 0


def test_the_documented_parameters_are_the_installations() -> None:
    documented = names_in(rows("docs/install.md", "Parameters"))
    assert documented == set(load((ROOT / "template.yaml").read_text())["Parameters"])


@pytest.mark.parametrize(
    ("role", "heading"),
    [
        ("ExporterRole", "The exporter"),
        ("ImporterRole", "The importer"),
        ("JanitorRole", "The janitor"),
        ("LookupRole", "The lookup"),
        ("TransformerRole", "The macro"),
    ],
)
def test_the_documented_permissions_are_those_of_the_role(role: str, heading: str) -> None:
    documented = {
        (action, branch)
        for actions, on, _ in rows("docs/security.md", heading)
        for action in re.findall("`([^`]+)`", actions)
        for branch in re.findall("`([^`]+)`", on) or [""]
    }
    properties = load((ROOT / "template.yaml").read_text())["Resources"][role]["Properties"]
    statements = [each for policy in properties["Policies"] for each in policy["PolicyDocument"]["Statement"]]
    granted = {
        (action, branch)
        for statement in statements
        for action in listed(statement["Action"])
        for resource_ in listed(statement["Resource"])
        for branch in re.findall(r"parameter/strongref/(\w+)", str(resource_)) or [""]
    }
    assert documented == granted


def listed(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]


def policies() -> list[dict[str, Any]]:
    """The policies of security.md, in their order: for lookups, and for who deploys."""
    return [json.loads(block.text) for block in blocks("json") if block.page.name == "security.md"]


def test_the_documented_policy_of_who_deploys_is_the_commands() -> None:
    given: dict[str, Any] = {
        "Resources": {"Imports": {"Type": IMPORT_TYPE, "Properties": {"From": {"Stack": "network"}}}}
    }
    printed = permissions.policy(given, permissions.Principal.DEPLOYER, DeploymentTarget(US, ACCOUNT, "web"))
    (statement,) = printed["Statement"]
    assert policies()[1] == statement | {"Resource": [statement["Resource"][0].replace("Importer-", "")]}


def test_the_documented_policy_allows_what_the_types_handlers_need() -> None:
    """As the resource schemas say that cfn-lint has: topics by any means, buckets by their names."""
    schemas = files("cfnlint.data.schemas")
    known = json.loads(schemas.joinpath("providers", f"{US}.json").read_text())
    policy = policies()[0]
    allowed = [action for statement in policy["Statement"] for action in statement["Action"]]
    used = set()
    for type_name, *handlers in (("AWS::SNS::Topic", "read", "list"), ("AWS::S3::Bucket", "read")):
        schema = json.loads(schemas.joinpath("resources", f"{known[type_name]}.json").read_text())
        for needed in (action for handler in handlers for action in schema["handlers"][handler]["permissions"]):
            by = [pattern for pattern in allowed if fnmatchcase(needed, pattern)]
            assert by, needed
            used.update(by)
    assert used == set(allowed)


def test_the_documented_log_messages_are_logged() -> None:
    sources = "".join(path.read_text() for path in ROOT.glob("layers/core/strongref/**/*.py"))
    for _, message, _ in rows("docs/events.md", "Logs"):
        assert f'"{message.strip("`")}"' in sources


def commands() -> list[tuple[str, str]]:
    found = [(str(block), line) for block in blocks("sh") for line in block.text.splitlines()]
    assert found
    return found


@pytest.mark.parametrize(("where", "command"), commands())
def test_a_command_exists(where: str, command: str) -> None:
    program, *arguments = shlex.split(command)
    checks = {
        "make": _make,
        "sam": _sam,
        "aws": _aws,
        "strongref": _strongref,
        "python": _python,
        "pip": _pip,
        "mkdir": _mkdir,
    }
    assert program in checks, where
    checks[program](arguments)


def _make(arguments: list[str]) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(arguments) <= set(targets)


def _strongref(arguments: list[str]) -> None:
    typed = arguments[: arguments.index(">")] if ">" in arguments else arguments
    parser().parse_args(typed)  # ends the test if it does not understand


def _mkdir(arguments: list[str]) -> None:
    assert arguments[0] == "-p"


def _pip(arguments: list[str]) -> None:
    action, *names = arguments
    extras = {extra for name in names for extra in re.findall(r"\[([^]]*)\]", name)}
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert (action, extras <= set(known)) == ("install", True)


def _python(arguments: list[str]) -> None:
    assert (ROOT / arguments[0]).is_file()


def _sam(arguments: list[str]) -> None:
    assert arguments[0] in ("build", "deploy", "validate", "remote")


def _aws(arguments: list[str]) -> None:
    """Service, operation and options are those of AWS's own model; files exist."""
    service, operation, *options = arguments
    for before, argument in pairwise(options):
        if before == "--template-file":
            assert (ROOT / argument).is_file()
    if (service, operation) == ("cloudformation", "deploy"):  # the command line's own
        return
    model = get_session().get_service_model(service)
    (found,) = [name for name in model.operation_names if xform_name(name, "-") == operation]
    shape = model.operation_model(found).input_shape
    assert shape is not None
    members = {xform_name(name, "-"): member.type_name for name, member in shape.members.items()}
    known = {f"--{name}" for name in members} | {"--region", "--query"}
    known |= {f"--no-{name}" for name, kind in members.items() if kind == "boolean"}
    assert {option for option in options if option.startswith("--")} <= known


def test_each_page_with_commands_has_one_end_to_end_test_that_runs_them() -> None:
    """See `tests/e2e/reader.py`."""
    named = [
        page
        for module in (ROOT / "tests/e2e").glob("test_documentation_*.py")
        for page in re.findall(r'"([\w/.-]+\.md)"', module.read_text().partition("PAGES = ")[2].partition("\n\n")[0])
    ]
    with_commands = {str(block.page.relative_to(ROOT)) for block in commands_to_run()}
    assert sorted(named) == sorted(with_commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match("https?://", target):
            continue
        file, _, anchor = target.partition("#")
        linked = (page.parent / file).resolve() if file else page
        assert linked.exists(), target
        assert not anchor or anchor in _anchors(linked), target


def _anchors(page: Path) -> set[str]:
    """Of each heading: in lower case, without punctuation, with a hyphen for each space."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 260


def test_every_file_that_contributing_names_exists() -> None:
    named = re.findall(
        r"`((?:layers|src|tests|docs|tools|handlers|examples)/[\w/.-]*)`", (ROOT / "CONTRIBUTING.md").read_text()
    )
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_at_least_ten_questions_are_answered_by_one_or_two_files_each() -> None:
    answers = rows("CONTRIBUTING.md", "Where is …?")
    assert len(answers) >= 10
    for question, answer in answers:
        assert question.endswith("?")
        assert 1 <= len(re.findall(r"`[\w/.-]+/[\w.-]+`", answer)) <= 2 or "errors.py" in answer, question
