"""The pages of the command line are made from the commands."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.commands import COMMANDS, arguments_of, commands_of, parser_of
from tests.support.documents import ROOT, rows
from tests.support.schemas import SCHEMAS
from tools import cli_page

if TYPE_CHECKING:
    import argparse

INDEX, PAGE = cli_page.INDEX.read_text(), cli_page.COMMANDS.read_text()
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE))


def options_of(command: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of a command, but its help."""
    return [each for each in command._actions if "--help" not in each.option_strings]


def test_the_pages_are_current() -> None:
    assert {path: path.read_text() for path in cli_page.pages()} == cli_page.pages(), "run make texts"


def test_every_command_is_on_the_page() -> None:
    assert list(SECTIONS) == [*commands_of(parser_of())]
    for names in COMMANDS:
        assert len(names) == 1 or f"- `{names[1]}`: " in SECTIONS[names[0]]


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_an_argument_of_a_command_is_in_its_section_or_is_a_common_option(names: tuple[str, ...]) -> None:
    common = dict(unescaped(rows("docs/cli/index.md", "Common options")))
    section, resolve = SECTIONS[names[0]], SECTIONS["resolve"]
    for action in options_of(COMMANDS[names]):
        argument, meaning = cli_page.row(action)
        line = f"- {argument}: {meaning}\n"
        if cli_page.is_common(action):
            assert common[argument].rstrip(".") == meaning.rstrip(".").removesuffix(cli_page.REPEATABLE)
            assert line not in section
        elif line not in section:
            assert names == ("refs", "resolve")
            assert line in resolve
            assert f"`{argument.rpartition(', ')[2].strip('`').partition(' ')[0]}`" in section.partition("Also ")[2]


def unescaped(table: list[list[str]]) -> list[list[str]]:
    """The rows of a table of two columns, whose cells may have escaped bars."""
    cells = [re.split(r"(?<!\\)\|", "|".join(row)) for row in table]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def test_a_region_is_repeatable_where_a_command_can_look_in_all() -> None:
    for names, command in COMMANDS.items():
        by_name = command._option_string_actions
        if "--region" in by_name and names != ("selftest",):  # it needs two
            repeatable = str(by_name["--region"].help).endswith(cli_page.REPEATABLE)
            assert repeatable == ("--all-regions" in by_name) == isinstance(by_name["--region"].default, list)


def test_every_document_has_a_schema_and_the_page_links_it() -> None:
    commands = {" ".join(names): names for names in COMMANDS if "--output" in arguments_of(*names)}
    linked = dict(re.findall(r"\[([a-z ]+)\]\(../schemas/([a-z-]+)\.schema\.json\)", INDEX))
    assert linked.items() >= {command: "-".join(names) for command, names in commands.items()}.items()
    of_others = {"common": INDEX, "message": INDEX, "events": (ROOT / "docs/events.md").read_text()}
    assert {each.name.removesuffix(".schema.json") for each in SCHEMAS.iterdir()} == of_others.keys() | {
        "-".join(names) for names in commands.values()
    }
    assert all(f"schemas/{each}.schema.json" in page for each, page in of_others.items())
    for command, names in commands.items():
        title = json.loads((SCHEMAS / f"{'-'.join(names)}.schema.json").read_text())["title"]
        assert re.match(f"strongref {command} --output json(:|$)", title), title


def test_every_example_can_be_typed() -> None:
    for example in (each for examples in cli_page.EXAMPLES.values() for each in examples):
        assert parser_of().parse_args(shlex.split(example))
