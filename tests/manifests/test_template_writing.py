"""What is written into a template in YAML is read again as the same, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from strongref_manifests.text.template_writing import Bare, block, flow
from strongref_manifests.text.templates import canonical, content

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"))
ODD = st.sampled_from(
    ["yes", "0x1f", "1_000", "12:30", "~", "a: b", "a #b", "=", "<<", "\n", "a\n\n", " a\nb", "a \nb", "a\nb"]
)
SCALARS = TEXTS | ODD | st.integers(-(10**9), 10**9) | st.booleans() | st.none()
FUNCTIONS = ("Ref", "Condition", "Fn::Sub", "Fn::Join", "Fn::Base64", "Fn::ImportValue", "Fn::Select", "Fn::Length")


def larger(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    functions = st.tuples(st.sampled_from(FUNCTIONS), children).map(lambda pair: {pair[0]: pair[1]})
    attributes = st.lists(st.from_regex(r"[A-Za-z0-9]{1,9}", fullmatch=True), min_size=2, max_size=2)
    attribute = (attributes | TEXTS).map(lambda names: {"Fn::GetAtt": names})
    return st.lists(children, max_size=4) | st.dictionaries(TEXTS | ODD, children, max_size=4) | functions | attribute


NODES = st.recursive(SCALARS, larger, max_leaves=15)


@given(NODES, st.integers(0, 3))
@example({"Fn::GetAtt": "0\n"}, 0)
def test_it_is_read_as_it_was(node: Any, deep: int) -> None:
    assert content(f"Key: {flow(node)}\n") == {"Key": node}
    text = "\n".join(["Above:", *block("Key", node, 2, deep), "Below: 1", ""])
    assert content(text) == {"Above": {"Key": node}, "Below": 1}


@pytest.mark.parametrize(
    "text", ["yes", "No", "on", "y", "012", "0o7", "1e3", "1_0", "2012-10-17", "12:30:45", "=", "~", "null"]
)
def test_text_stays_text_for_readers_of_yaml_1_1(text: str) -> None:
    assert yaml.safe_load(f"A: {flow(text)}") == {"A": text}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"Ref": "AWS::Region"}, "!Ref AWS::Region"),
        ({"Fn::GetAtt": ["A", "B.C"]}, "!GetAtt A.B.C"),
        ({"Fn::GetAtt": ["A", {"Ref": "B"}]}, "!GetAtt [A, !Ref B]"),
        ({"Fn::GetAtt": "A.B"}, "{Fn::GetAtt: A.B}"),
        ({"Fn::GetAtt": ["A.B", "C"]}, "!GetAtt [A.B, C]"),
        ({"Fn::ImportValue": {"Fn::Sub": "${A}-b"}}, "{Fn::ImportValue: !Sub '${A}-b'}"),
        ({"Fn::If": ["A", {"Ref": "B"}, [1, True, None]]}, "!If [A, !Ref B, [1, true, null]]"),
        ({"Fn::ToJsonString": {"A": {"Fn::Length": [1]}}}, "{Fn::ToJsonString: {A: {Fn::Length: [1]}}}"),
        ({"Fn::ForEach::X": ["X", ["a"], {"${X}": 1}]}, "{Fn::ForEach::X: [X, [a], {'${X}': 1}]}"),
        ({"Fn::ForEach::X": "a\nb"}, '{Fn::ForEach::X: "a\\nb"}'),
        ("arn:aws:sns:eu-west-1:1:news", "arn:aws:sns:eu-west-1:1:news"),
        ("it's", "'it''s'"),
        ('say "x"\n', '"say \\"x\\"\\n"'),
        ({"A": {}, "B": []}, "{A: {}, B: []}"),
    ],
)
def test_it_is_short(node: Any, expected: str) -> None:
    assert flow(node) == expected


def test_what_is_long_has_a_line_for_each_part() -> None:
    names = [f"AVeryLongNameOfAnExport{number}" for number in range(6)]
    assert list(block("Names", names, 2, 0)) == ["  Names:", *(f"    - {name}" for name in names)]
    assert list(block("Map", dict.fromkeys(names, "x"), 0, 0)) == ["Map:", *(f"  {name}: x" for name in names)]
    assert list(block("Text", {"A": {"Fn::Sub": "a\n\nb"}}, 0, 0)) == ["Text:", "  A: !Sub |-", "    a", "", "    b"]
    assert list(block("Text", "a \nb", 0, 0)) == ['Text: "a \\nb"']


def test_what_is_written_is_compared_as_it_is_written_whatever_the_order() -> None:
    assert canonical({"A": 1, "B": [Bare("0123")]}) == canonical({"B": [Bare("0123")], "A": 1})
    assert canonical([Bare("0123")]) != canonical(["0123"])
    assert canonical([True]) != canonical([1])
