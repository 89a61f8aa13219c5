"""What docs/extras/objects.md says is so: its programs run, its tables are the code's, its errors are all there are."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from strongref.contract.holds import HOLD_TYPE
from strongref.contract.response import RESPONSE_LIMIT
from strongref.contract.values import MAX_BYTES
from strongref.errors import StrongRefError
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES
from strongref_objects import CrossRegion, Parameters, PlainTarget, ResolveType, Stack, channels
from strongref_objects.base import errors
from strongref_objects.base import names as naming
from strongref_objects.channels.cloudformation import HOLDER_PATH
from strongref_objects.channels.holding import HOLDER
from strongref_objects.synthesis.context_file import CONTEXT_FILE
from tests.objects.test_synthesis import run, web
from tests.support import object_errors, object_lookup_errors
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.watched import OTHER, OWN, US, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strongref_objects.channels import Channel
    from tests.support.documents import Block

PAGE = "docs/extras/objects.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = sorted((ROOT / "examples/objects").glob("*.py"))
GROUP = ("Web", "SecurityGroup", "SecurityGroupId")


def of_page(language: str) -> list[Block]:
    return [block for block in blocks(language) if block.page == ROOT / PAGE]


def test_the_programs_are_the_examples_as_they_stand() -> None:
    """Two of them are run by `tests/e2e/test_documentation.py`, one after the other."""
    texts = [block.text for block in of_page("python")]
    assert [each.name for each in EXAMPLES] == ["gallery.py", "load_balancer.py", "photos.py"]
    for example in EXAMPLES:
        assert texts.count(example.read_text()) == 1
        assert f"../examples/objects/{example.name}" in TEXT


def test_the_json_is_what_the_program_prints() -> None:
    (block,) = of_page("json")
    program = ROOT / "examples/objects/load_balancer.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)  # noqa: S603 (our own)
    assert json.loads(done.stdout) == json.loads(block.text)
    assert done.stdout + "\n" == block.text


def test_every_other_line_of_code_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    own = {example.read_text() for example in EXAMPLES}
    rest = [block.text for block in of_page("python") if block.text not in own]
    assert rest
    for text in rest:
        exec(text, {})  # noqa: S102 (the documentation's)


def test_the_documented_methods_are_those_that_there_are() -> None:
    own = {name: method for name, method in vars(Stack).items() if inspect.isfunction(method) and name[0] != "_"}
    given = {
        f"{name}({', '.join(_parameters(method))})" for name, method in own.items() if name.startswith(("ex", "im"))
    }
    assert names_in(rows(PAGE, "Exporting and importing")) == given


def _parameters(method: object) -> Iterator[str]:
    assert callable(method)
    keyword_only = False
    for name, each in inspect.signature(method).parameters.items():
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "*"
        if name != "self":
            yield name


def test_the_documented_channels_and_types_are_those_that_there_are() -> None:
    kinds = {each.partition("(")[0] for each in names_in(rows(PAGE, "Channels"))}
    assert kinds == {each.__name__ for each in channels.Channel.__args__}
    assert names_in(rows(PAGE, "At synthesis or at deployment")) == {str(kind) for kind in map(_spelt, ResolveType)}
    fields = set(inspect.signature(CrossRegion).parameters)
    section = TEXT[TEXT.index("To export across regions") : TEXT.index("What is written in each")]
    assert set(re.findall(r"`?\b(regions|consumer|stack|region|shared)\b=?", section)) <= fields


def _spelt(kind: ResolveType) -> str:
    return f"ResolveType.{kind.name}"


def test_the_documented_names_are_those_that_are_written() -> None:
    table = TEXT[TEXT.index("| Channel | The security group's id |") :].split("\n\n")[0].splitlines()[2:]
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
        (naming.EXPORT_NAME_LIMIT, "more than {} characters"),
        (MAX_BYTES, "at most {:,} bytes"),
        (RESPONSE_LIMIT, "answer of {:,} bytes"),
        (VALUE_BYTES, "{} bytes are"),
        (DATA_BYTES, "more than {:,} bytes can be imported weakly only"),
        (naming.PARAMETER_LEVELS, "up to {} levels"),
        (DATA_BYTES, "how long they are at most, up to {:,}:"),
        (VALUE_BYTES, "values of more than {} bytes need `value_bytes`"),
    ):
        assert of.format(number) in " ".join(TEXT.split())
    for name in (HOLDER, HOLD_TYPE, f"{HOLDER_PATH}/<stack>/<hash>", CONTEXT_FILE):
        assert f"`{name}`" in TEXT


def test_the_variables_that_are_named_as_refused_are_refused() -> None:
    ((named, *_),) = re.findall(r"told how to run, such as (`\w+`(,? (or )?`\w+`)*)\.", " ".join(TEXT.split()))
    names = re.findall(r"`(\w+)`", named)
    assert len(names) > 2
    for name in names:
        with pytest.raises(errors.BadNameError):
            naming.variable_name((name,))


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


def test_the_documented_permissions_are_those_of_the_calls_that_are_made(clients: Watched, tmp_path: Path) -> None:
    """For something that is not there, whose look-up goes as far as any."""
    documented = {
        channel: set(re.findall(r"`\w+:(\w+)`", actions)) for channel, actions, _ in rows(PAGE, "Permissions")
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


def test_every_error_of_objects_is_shown() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, StrongRefError)}
    own = {kind for kind in kinds if kind.__module__ == errors.__name__ and not kind.__name__.startswith("_")}
    cases = [*object_errors.CASES.values(), *object_lookup_errors.CASES.values()]
    assert own - {errors.ObjectError} == {type(make()) for make in cases}


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
