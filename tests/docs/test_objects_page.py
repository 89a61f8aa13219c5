"""What docs/extras/objects.md says is so: its programs run, its tables are the code's."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.hold_stacks import HOLD_TYPE
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES
from strongref_objects import CrossRegion, Parameters, PlainTarget, ResolveType, Stack, channels
from strongref_objects.base import errors
from strongref_objects.base import names as naming
from strongref_objects.channels.cloudformation import HOLDER_PATH
from strongref_objects.synthesis.context_file import CONTEXT_FILE
from tests.objects.test_synthesis import run, web
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.watched import OTHER, OWN, US, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strongref.errors import StrongRefError
    from strongref_objects.channels import Channel
    from tests.support.documents import Block

PAGE = "docs/extras/objects.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = ROOT / "examples/objects"
GROUP = ("Web", "SecurityGroup", "SecurityGroupId")


def of_page(language: str) -> list[Block]:
    return [block for block in blocks(language) if block.page == ROOT / PAGE]


def test_the_programs_are_the_examples_as_they_stand() -> None:
    """They are run by `tests/e2e/test_documentation_objects.py`, one after the other."""
    texts = [block.text for block in of_page("python")]
    assert texts[:2] == [(EXAMPLES / f"{name}.py").read_text() for name in ("photos", "gallery")]
    assert [each.name for each in EXAMPLES.glob("*.py") if f"`examples/objects/{each.name}`" not in TEXT] == []


def test_the_linked_program_prints_the_object_as_json() -> None:
    program = EXAMPLES / "load_balancer.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)  # noqa: S603 (our own)
    assert json.loads(done.stdout) == {
        "loadBalancerArn": {"Ref": "LoadBalancer"},
        "securityGroup": {"securityGroupId": {"Fn::GetAtt": ["Group", "GroupId"]}},
    }


def test_every_other_line_of_code_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in of_page("python")[2:]:
        exec(block.text, names)  # noqa: S102 (the documentation's)
    stream = names["Stream"].from_arn("arn:aws:kinesis:eu-west-1:111111111111:stream/clicks")
    assert (stream.stream_name, names["photos"].bucket_name) == ("clicks", "photos")
    assert names["jobs"].queue_arn == "arn:aws:sqs:eu-west-1:111111111111:jobs"
    assert list(names["variables"]) == re.findall("PHOTOS_[A-Z_]+", TEXT)
    for name in names["variables"]:
        monkeypatch.setenv(name, "photos-1x")
    assert names["handler"]({}, None) == "photos-1x"


def test_the_named_methods_are_those_that_there_are() -> None:
    own = {name for name, method in vars(Stack).items() if inspect.isfunction(method) and name[0] != "_"}
    assert {name for name in own if name.startswith(("ex", "im")) and name not in TEXT} == set()


def test_the_documented_channels_and_types_are_those_that_there_are() -> None:
    kinds = {each.partition("(")[0] for each in names_in(rows(PAGE, "Channels"))}
    assert kinds == {each.__name__ for each in channels.Channel.__args__}
    head = TEXT[TEXT.index("## Synthesis or deployment") :].splitlines()[2]
    assert re.findall(r"`(ResolveType\.\w+)`", head) == [f"ResolveType.{kind.name}" for kind in ResolveType]
    calls = re.findall(r"`(CrossRegion\([a-z][^`]*\))`", TEXT)
    assert len(calls) == 2
    assert all(eval(call, {"CrossRegion": CrossRegion}) for call in calls)  # noqa: S307 (the documentation's)
    assert {"shared", "hold", "value_bytes"} <= set(inspect.signature(CrossRegion).parameters)


def test_the_documented_names_are_those_that_are_written() -> None:
    table = TEXT[TEXT.index("| Channel | Name |") :].split("\n\n")[0].splitlines()[2:]
    documented = {cells[0].strip(): cells[1].strip(" `") for cells in (line.strip("|").split("|") for line in table)}
    assert documented == {
        "CloudFormation": naming.export_name(GROUP),
        "strongref": naming.export_key(GROUP),
        "parameters below `/shared`": naming.parameter_name("/shared", GROUP),
        "JSON": ".".join(map(naming.json_key, GROUP[1:])),
        "environment variables": naming.variable_name(GROUP),
    }


def test_the_documented_numbers_are_the_codes() -> None:
    for number, of in (
        (DATA_BYTES, "more than {:,} bytes only with `weak=True`"),
        (VALUE_BYTES, "`value_bytes` for values of more than {} bytes"),
    ):
        assert of.format(number) in " ".join(TEXT.split())
    for name in (HOLD_TYPE, f"{HOLDER_PATH}/<stack>/<hash>", CONTEXT_FILE):
        assert f"`{name}`" in TEXT


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


def test_the_documented_permissions_are_those_of_the_calls_that_are_made(clients: Watched, tmp_path: Path) -> None:
    """For something that is not there, whose look-up goes as far as any."""
    documented = {
        channel: set(re.findall(r"`(?!kms)\w+:(\w+)`", actions)) for channel, actions, _ in rows(PAGE, "Permissions")
    }
    ways: dict[str, Channel | None] = {
        "CloudFormation": None,
        "strongref": CrossRegion(stack="network", region=US),
        "Parameters": Parameters("/shared"),
    }
    made: dict[str, set[str]] = {}
    whose = "any"
    for account in (OWN, None, OTHER):
        for channel, via in ways.items():
            clients.calls.clear()
            stack = web(run(clients, tmp_path / "context.json", "arn:aws:iam::ACCOUNT:role/reader"), account)
            with pytest.raises(errors.NothingToImportError):
                stack.import_string("Name", weak=True, via=via)
            calls = {action for action, count in clients.calls.items() if count}
            made.setdefault(channel, set()).update(calls - documented[whose])
            made.setdefault(whose, set()).update(calls & documented[whose])
    assert made == documented


LONG = "x" * 3000


@pytest.mark.parametrize(
    "error",
    [
        errors.BadNameError(LONG, LONG),
        errors.NameClashError(LONG, LONG, LONG),
        errors.ExportedTwiceError(LONG, [LONG] * 20),
        errors.ExportedTwiceError(LONG, [LONG]),
        errors.BadValueError(LONG, LONG),
        errors.UnresolvedImportError(LONG, "CloudFormation's exports", LONG),
        errors.BadStrengthError(LONG, "CloudFormation's exports", "x" * 300),
        errors.NothingToImportError(LONG, LONG, [LONG] * 9),
        errors.OwnExportError(LONG, LONG),
        errors.UnknownLocationError(LONG, LONG, "account", LONG[:60]),
        errors.WrongKindError(LONG, "neither a text, a list of texts nor an object", "write it as a string"),
        errors.UnreadableError(LONG, "its JSON is not an object"),
        errors.SecureObjectError(LONG),
        errors.LogicalIdTakenError(LONG, LONG, LONG),
        errors.BadChannelError(LONG),
        errors.ContextFileError(LONG, LONG),
    ],
    ids=lambda error: type(error).__name__,
)
def test_however_long_a_name_is_the_text_is_not(error: StrongRefError) -> None:
    assert len(str(error)) < 1000


def test_an_import_by_default_is_at_synthesis_strong_and_through_cloudformation() -> None:
    for method in (Stack.import_string, Stack.import_string_list, Stack.import_object):
        given = inspect.signature(method).parameters
        assert (given["type"].default, given["weak"].default, given["via"].default) == (
            ResolveType.SYNTHESIS,
            False,
            None,
        )
    assert PlainTarget("web").template() == {"AWSTemplateFormatVersion": "2010-09-09"}
