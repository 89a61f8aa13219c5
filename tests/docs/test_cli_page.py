"""The page of the command line is made from the commands."""

from __future__ import annotations

import json
import re
import shlex

from strongref_cli.arguments import parser
from tests.support.commands import COMMANDS, arguments_of, commands_of
from tests.support.documents import ROOT
from tests.support.schemas import SCHEMAS
from tools.cli_page import _EXAMPLES, PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run make texts"


def test_every_command_is_on_it() -> None:
    assert [line.split()[-1] for line in page().splitlines() if line.startswith("## strongref ")] == [
        *commands_of(parser())
    ]


def test_every_document_has_a_schema_and_the_page_links_it() -> None:
    commands = {" ".join(names): names for names in COMMANDS if "--output" in arguments_of(*names)}
    assert dict(re.findall(r"\[([a-z ]+)\]\(../schemas/([a-z-]+)\.schema\.json\)", page())) == {
        command: "-".join(names) for command, names in commands.items()
    }
    of_others = {"events"}
    assert {each.name.removesuffix(".schema.json") for each in SCHEMAS.iterdir()} == of_others | {
        "-".join(names) for names in commands.values()
    }
    assert all(f"schemas/{each}.schema.json" in (ROOT / f"docs/{each}.md").read_text() for each in of_others)
    for command, names in commands.items():
        title = json.loads((SCHEMAS / f"{'-'.join(names)}.schema.json").read_text())["title"]
        assert re.match(f"strongref {command} --output json(:|$)", title), title


def test_every_example_can_be_typed() -> None:
    for example in (each for examples in _EXAMPLES.values() for each in examples):
        assert parser().parse_args(shlex.split(example))
