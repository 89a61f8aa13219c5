"""The page of the command line is made from the commands."""

from __future__ import annotations

import shlex

from strongref_cli.arguments import parser
from tests.support.commands import commands_of
from tools.cli_page import _EXAMPLES, PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run make texts"


def test_every_command_is_on_it() -> None:
    assert [line.split()[-1] for line in page().splitlines() if line.startswith("## strongref ")] == [
        *commands_of(parser())
    ]


def test_every_example_can_be_typed() -> None:
    for example in (each for examples in _EXAMPLES.values() for each in examples):
        assert parser().parse_args(shlex.split(example))
