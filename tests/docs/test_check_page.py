"""What docs/check.md says is so: its verdicts and its workflow. Its commands run end to end."""

from __future__ import annotations

import re
import shlex

import yaml

from strongref_cli.check.report import Verdict
from tests.support.commands import parser_of
from tests.support.documents import ROOT, blocks, rows

PAGE = "docs/check.md"


def test_the_documented_verdicts_are_those_that_there_are() -> None:
    assert [first.strip("`") for first, *_ in rows(PAGE, "Verdicts")] == [each.value for each in Verdict]


def test_the_workflow_runs_a_command_that_there_is_and_comments_what_it_prints() -> None:
    (block,) = blocks("yaml workflow")
    (job,) = yaml.safe_load(block.text)["jobs"].values()
    runs = [step["run"] for step in job["steps"] if "run" in step]
    (command,) = [run for run in runs if run.startswith("strongref ")]
    arguments, files = command.removeprefix("strongref ").split(" > ")
    args = parser_of().parse_args(shlex.split(arguments))
    assert args.output == "markdown"
    assert (ROOT / args.template).is_file()
    for file in files.split(" 2> "):
        assert [file in run for run in runs] == [False, True, True, False]
    variables = {name for step in job["steps"] for name in step.get("env", {})}
    assert set(re.findall(r"\$([A-Z]+)", "".join(runs))) <= variables
