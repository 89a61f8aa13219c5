"""What README and docs say is so: properties, permissions, commands, links."""

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

from strongref.aws.rate_limit import FIRST_RATES, RateLimits
from strongref.contract.requests import IMPORT_TYPE
from strongref.errors import BadRequestError
from strongref_cli.install.trust import TEMPLATE as TRUST_TEMPLATE
from strongref_cli.transform import permissions
from strongref_cli.transform.template_facts import DeploymentTarget
from tests.e2e.reader import commands as commands_to_run
from tests.support.builders import ACCOUNT, stack_arn
from tests.support.commands import parser_of
from tests.support.documents import PAGES, ROOT, Deployment, blocks, example, load, names_in, rows
from tests.support.installation import RESOURCES, TAGGING, statements
from tests.support.property_errors import refused_export, refused_import, refused_lookup
from tools import beliefs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from strongref.errors import StrongRefError


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
        ("TransformerRole", ""),
    ],
)
def test_the_documented_permissions_are_those_of_the_role(role: str, heading: str) -> None:
    own = rows("docs/security.md", heading) if heading else []
    tagging = [row for row in rows("docs/security.md", "Tags of parameters") if role == f"{row[0]}Role"]
    own += [[f"`{TAGGING}`", on, ""] for _, on in tagging]
    documented = {
        (action, target, where)
        for actions, on, _ in [*rows("docs/security.md", "Every function"), *own]
        for action in re.findall("`([^`]+)`", actions)
        for target, where in documented_targets(on)
    }
    granted = {
        (action, *target_of(str(resource)))
        for statement in statements(role, tagged=True)
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }
    wider = {(action, target, "here") for action, target, where in granted if where == "in all regions"}
    assert documented == granted - wider


def test_the_documented_permissions_of_other_accounts_are_those_of_the_policy_and_of_the_writer() -> None:
    assert [row[0] for row in rows("docs/security.md", "Other accounts")] == ["`sts:AssumeRole`"]
    (assuming,) = RESOURCES["AccountsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert assuming["Action"] == "sts:AssumeRole"
    documented = {
        (action, target)
        for actions, on, _ in rows("docs/security.md", "The writer")
        for action in re.findall("`([^`]+)`", actions)
        for target in re.findall("`([^`]+)`", on)
    }
    writer = load(TRUST_TEMPLATE.read_text())["Resources"]["WriterRole"]["Properties"]["Policies"]
    granted = {
        (action, target_of(str(resource))[0])
        for policy in writer
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }
    assert documented == granted


def documented_targets(on: str) -> Iterator[tuple[str, str]]:
    """What a cell of the page names, and in which regions: parts have semicolons between them."""
    for part in on.split(";"):
        where = "in all regions" if "in all regions" in part else "here"
        names = re.findall("`([^`]+)`", part) or ["hold stacks" if "hold stacks" in part else ""]
        yield from ((name, where) for name in names)


def target_of(resource: str) -> tuple[str, str]:
    """What a resource of a policy is on the page, and in which regions."""
    where = "in all regions" if re.search(r":(ssm|cloudformation):\*:", resource) else "here"
    branch = re.search(r"parameter/strongref/([\w-]+)", resource)
    return branch[1] if branch else "hold stacks" if "stack/strongref-hold-" in resource else "", where


def listed(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]


def policies() -> list[dict[str, Any]]:
    """The policies of security.md, in their order: for lookups, and for who deploys."""
    return [json.loads(block.text) for block in blocks("json") if block.page.name == "security.md"]


def test_the_documented_policy_of_who_deploys_is_the_commands() -> None:
    given: dict[str, Any] = {
        "Resources": {"Imports": {"Type": IMPORT_TYPE, "Properties": {"From": {"Stack": "network"}}}}
    }
    printed = permissions.policy(given, permissions.Principal.DEPLOYER, DeploymentTarget("us-east-1", ACCOUNT, "web"))
    (statement,) = printed["Statement"]
    assert policies()[1] == statement | {"Resource": [statement["Resource"][0].replace("Importer-", "")]}


def test_the_documented_policy_allows_what_the_types_handlers_need() -> None:
    """As the resource schemas say that cfn-lint has: topics by any means, buckets by their names."""
    schemas = files("cfnlint.data.schemas")
    known = json.loads(schemas.joinpath("providers", "us-east-1.json").read_text())
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
        "cfn-lint": _cfn_lint,
        "python": _python,
        "python3": _python,
        "source": _source,
        "pip": _pip,
        "mkdir": _mkdir,
    }
    assert program in checks, where
    checks[program](arguments)


def _make(arguments: list[str]) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(arguments) <= set(targets)


def _strongref(arguments: list[str]) -> None:
    typed = arguments[: arguments.index(">")] if ">" in arguments else arguments
    parser_of().parse_args(typed)  # ends the test if it does not understand


def _cfn_lint(arguments: list[str]) -> None:
    template, option, package = arguments
    assert (ROOT / template).is_file()
    assert (option, (ROOT / "src" / package.replace(".", "/") / "rules.py").is_file()) == ("--append-rules", True)


def _mkdir(arguments: list[str]) -> None:
    assert arguments[0] == "-p"


def _pip(arguments: list[str]) -> None:
    action, *names = arguments
    extras = {extra for name in names for extra in re.findall(r"\[([^]]*)\]", name)}
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert (action, extras <= set(known)) == ("install", True)


def _python(arguments: list[str]) -> None:
    assert arguments[:2] == ["-m", "venv"] or (ROOT / arguments[0]).is_file()


def _source(arguments: list[str]) -> None:
    """What the line above it wrote."""
    assert arguments in ([".venv/bin/activate"], [".build/emulator.env"])


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
    if operation == "wait":
        state, *options = options
        waiters = get_session().get_waiter_model(service)
        (waiter,) = [name for name in waiters.waiter_names if xform_name(name, "-") == state]
        operation = xform_name(waiters.get_waiter(waiter).operation, "-")
    model = get_session().get_service_model(service)
    (found,) = [name for name in model.operation_names if xform_name(name, "-") == operation]
    shape = model.operation_model(found).input_shape
    assert shape is not None
    members = {xform_name(name, "-"): member.type_name for name, member in shape.members.items()}
    known = {f"--{name}" for name in members} | {"--region", "--query", "--output"}
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_fence_has_one_word_of_a_language(page: Path) -> None:
    """Anything else is no fence for the site: the block and the headings after it are gone."""
    assert re.findall(r"^ *```[^\n]*[^\w\n`][^\n]*$", page.read_text(), flags=re.MULTILINE) == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.is_relative_to(ROOT / "docs")], ids=lambda page: page.name
)
def test_a_page_of_the_site_links_only_to_the_site(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not re.match("https?://|#", target):
            assert (page.parent / target.partition("#")[0]).resolve().is_relative_to(ROOT / "docs"), target


def test_the_site_is_short_enough_to_be_read() -> None:
    texts = {page: beliefs.TABLE.sub("", page.read_text()) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    words = {page: len(text.split()) for page, text in texts.items()}
    assert {page.name: count for page, count in words.items() if count > 2_000} == {}
    assert sum(words.values()) < 38_700


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("README.md", 1000),
        ("docs/index.md", 250),
        ("docs/get-started.md", 850),
        ("docs/concepts.md", 750),
        ("docs/rollout.md", 700),
    ],
)
def test_the_pages_for_beginners_are_short(page: str, words: int) -> None:
    assert len((ROOT / page).read_text().split()) <= words


def test_the_badges_of_the_readme_are_true() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    badges = {path.stem: path.read_text() for path in (ROOT / "docs/pictures").glob("badge-*.svg")}
    assert set(badges) == set(re.findall(r"pictures/(badge-\w+)\.svg", (ROOT / "README.md").read_text()))
    assert f">{project['license']}<" in badges["badge-license"]
    assert f">{project['requires-python'].removeprefix('>=')}+<" in badges["badge-python"]


def test_the_resources_that_the_readme_shows_are_those_of_the_example() -> None:
    """Which the end-to-end tests deploy, with the parameters' defaults."""
    shown = [load(block.text) for block in blocks("yaml") if block.page == ROOT / "README.md"]
    for name, fragment in zip(("certificate", "site"), shown, strict=True):
        whole = load(example(f"certificate/{name}"))
        of_it = {section: {key: whole[section][key] for key in keys} for section, keys in fragment.items()}
        deployment = Deployment(whole, stack_arn(name, "us-east-1"))
        assert deployment.sent(fragment) == deployment.sent(of_it)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_picture_has_an_alt_text(page: Path) -> None:
    assert "![](" not in page.read_text()


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
