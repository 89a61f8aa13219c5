"""Small files that hold much: aliases of aliases, and deep nesting, in every reader; an error, and at once."""

from __future__ import annotations

import json
from time import process_time
from typing import TYPE_CHECKING

import pytest

import strongref_cli as cli
from strongref.errors import StrongRefError
from strongref.macro.errors import TooDeepError
from strongref.macro.template import DEPTH_LIMIT
from strongref.macro.transform import Settings, plan
from strongref_manifests.errors import ManifestError
from strongref_manifests.refs.config import load
from strongref_manifests.terraform.states import read_state
from strongref_manifests.text import json_reader, templates, yaml_reader
from strongref_manifests.text.yaml_reader import ALIASED_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READERS: list[Callable[[str], object]] = [
    lambda text: templates.read("a.yaml", text),
    lambda text: yaml_reader.parse("a.yaml", text),
    lambda text: load(text, "a.yaml", "ec2"),
]


def repeated(times: int) -> str:
    """Lists of ten aliases of lists of ten aliases and so on, and an empty template around them."""
    lists = [f"  l{each}: &l{each} [{', '.join([f'*l{each - 1}'] * 10)}]\n" for each in range(1, times)]
    return f"Resources: {{}}\nresources: {{}}\nMetadata:\n  l0: &l0 [{', '.join('abcdefghij')}]\n{''.join(lists)}"


def time_of(read: Callable[[str], object], text: str) -> float:
    started = process_time()
    with pytest.raises(StrongRefError):
        read(text)
    return process_time() - started


@pytest.mark.parametrize("read", READERS)
def test_aliases_of_aliases_end(read: Callable[[str], object]) -> None:
    read(repeated(3))
    for times in (9, 90):
        with pytest.raises(StrongRefError, match=r"^a.yaml, line 8: its aliases stand for more than 20,000 values or"):
            read(repeated(times))


@pytest.mark.parametrize("read", READERS)
def test_long_texts_that_aliases_repeat_count(read: Callable[[str], object]) -> None:
    text = "a" * (ALIASED_LIMIT * 10)
    with pytest.raises(StrongRefError, match=r"^a.yaml, line 12: its aliases stand for more than 20,000 values or"):
        read("a: &a " + text + "\nb:\n" + "- *a\n" * 20)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: [*a]}", "a: &a\n  &b b: *a"])
def test_an_alias_within_what_it_stands_for_is_reported(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(StrongRefError, match=r": the alias \*a stands within what it stands for; write it out"):
        read(text)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT,
        "a: " + "{a: " * DEPTH_LIMIT + "}" * DEPTH_LIMIT,
        "\n".join(f"{' ' * each}a:" for each in range(DEPTH_LIMIT + 1)),
        "- " * (DEPTH_LIMIT + 1) + "a",
        "a: &a " + "[" * 120 + "]" * 120 + "\nb: " + "[" * 90 + "*a" + "]" * 90,
        "[" * 100_000,
    ],
)
def test_deep_nesting_ends(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(
        StrongRefError, match=r"a.yaml, line \d+: it has more than 200 levels of maps and lists; flatten"
    ):
        read(text)


def test_what_is_as_deep_as_may_be_is_read() -> None:
    deep = "[" * (DEPTH_LIMIT - 1) + "]" * (DEPTH_LIMIT - 1)
    for read in READERS:
        read(f"a: {deep}\nresources: {{}}")
    json_reader.parse("a.json", f'{{"a": {deep}}}')


@pytest.mark.parametrize("levels", [DEPTH_LIMIT, 500, 990, 100_000])
def test_deep_json_ends(levels: int) -> None:
    text = f'{{"version": 4, "outputs": {"[" * levels}{"]" * levels}}}'
    with pytest.raises(StrongRefError, match="it has more than 200 levels of maps and lists; flatten it"):
        read_state(text.encode(), "a.tfstate")
    with pytest.raises(ManifestError, match=r"^a.json.*: it has more than 200 levels of maps and lists; flatten it"):
        json_reader.parse("a.json", text)


@pytest.mark.parametrize("read", READERS)
def test_a_refusal_takes_as_long_as_reading_as_much_text(read: Callable[[str], object]) -> None:
    """In relation to a file that is read to its end and is wrong there: without bounds, thousands of times as long."""
    for bad in (repeated(9), "a: " + "[" * 1000 + "]" * 1000):
        plain = "".join(f"a{each}: [1, 2, 3, 4]\n" for each in range(len(bad) // 20)) + "["
        usual = min(time_of(read, plain) for _ in range(3))
        assert min(time_of(read, bad) for _ in range(3)) < 30 * usual + 0.01


def test_the_macro_reads_no_deeper_either() -> None:
    """It gets JSON, where nothing stands for something else, so that only levels have to be bounded."""
    deep: object = {"XRef": {"From": {"Stack": "a", "Name": "b"}}}
    for _ in range(DEPTH_LIMIT):
        deep = {"Fn::If": ["C", deep, 1]}
    template = {"Resources": {"A": {"Type": "T", "Properties": {"B": deep}}}}
    assert json.dumps(template)
    with pytest.raises(TooDeepError, match=r"more than 200 levels of maps and lists, at A\.Properties\.B\.Fn::If\[1\]"):
        plan(template, Settings())


@pytest.mark.parametrize("command", [["transform"], ["resolve", "--check"]])
def test_commands_report_the_file(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(repeated(9) + "token: ${env:HOME}\n")
    assert cli.main([*command, str(path)]) == 1
    assert f"{path}, line 8: its aliases stand for" in capsys.readouterr().err
