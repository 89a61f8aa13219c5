"""What docs/check.md says is so: its verdicts and its workflow. Its commands run end to end."""

from __future__ import annotations

import re
import shlex

import yaml

from strongref_cli.check.report import Verdict
from strongref_cli.check.stacks_file import read_stacks
from tests.support.commands import parser_of
from tests.support.documents import ROOT, blocks, rows

PAGE = "docs/check.md"


def test_the_documented_verdicts_are_those_that_there_are() -> None:
    assert [first.strip("`") for first, *_ in rows(PAGE, "Verdicts")] == [each.value for each in Verdict]


def test_the_workflow_gives_what_the_reusable_one_asks_for() -> None:
    (block,) = blocks("yaml workflow")
    (job,) = yaml.safe_load(block.text)["jobs"].values()
    reusable = yaml.safe_load((ROOT / ".github/workflows/check-exports.yml").read_text())
    inputs = reusable[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true.
    required = {name for name, each in inputs.items() if each.get("required")}
    assert required <= set(job["with"]) <= set(inputs)
    assert len(block.text.splitlines()) <= 10
    assert (ROOT / job["with"]["stacks"]).is_file()
    (used,) = [each for each in reusable["jobs"]["check"]["steps"] if each["uses"] == "./.strongref"]
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert set(used["with"]) <= set(action["inputs"])


def test_the_list_of_stacks_is_the_example() -> None:
    (block,) = blocks("yaml stacks")
    listed = read_stacks(str(ROOT / "examples/certificate/stacks.yml"))
    assert [each.stack for each in listed] == [each["stack"] for each in yaml.safe_load(block.text)]
    assert all((ROOT / each.template).is_file() for each in listed)


def test_the_action_runs_a_command_that_there_is() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (command,) = re.findall(r"^strongref (.*?) \$OPTIONS", "\n".join(each["run"] for each in steps), re.MULTILINE)
    args = parser_of().parse_args(shlex.split(command))
    assert (args.stacks, args.github) == ("$STACKS", True)
