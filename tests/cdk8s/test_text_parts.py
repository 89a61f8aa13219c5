"""What is written in the place of tokens: which of it is text still, and which is a value and left alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_cdk8s.dry_run import TextPart, text_of, with_values
from strongref_cdk8s.errors import shown_expression, shown_tokens, shown_tree
from strongref_toolkit.errors import SelectError
from strongref_toolkit.intrinsics import (
    REFERENCE,
    Undetermined,
    evaluate,
    is_of_its_stack,
    joined,
    references,
    simplified,
    text,
)
from strongref_toolkit.json_values import EXACT, number, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_toolkit.intrinsics import Tree
    from strongref_toolkit.json_values import Json


def splitter(mark: str, value: str) -> object:
    """A resolver whose only token is one character."""

    def split(text: str) -> Iterator[TextPart]:
        for position, part in enumerate(text.split(mark)):
            if position:
                yield TextPart(value, None)
            if part:
                yield TextPart(part)

    return split


@given(st.text(alphabet="abXY", max_size=12))
def test_a_value_is_never_read_for_tokens_by_anybody(given_text: str) -> None:
    """X stands for something that holds an X and a Y, and Y for both, too: whoever comes first, each is done once."""
    expected = given_text.replace("X", "x").replace("Y", "y")
    first = with_values((TextPart(given_text),), "one", splitter("X", "[XY]"))  # type: ignore[arg-type]
    second = with_values(first, "two", splitter("Y", "{XY}"))  # type: ignore[arg-type]
    again = with_values(second, "one", splitter("X", "[XY]"))  # type: ignore[arg-type]
    assert text_of(again) == text_of(second) == expected.replace("x", "[XY]").replace("y", "{XY}")


def test_every_text_in_a_value_has_a_path() -> None:
    value: Json = {"a": ["x", {"b": "y"}], "c": 1, "d": "z"}
    assert list(texts_in(value)) == [(("a", 0), "x"), (("a", 1, "b"), "y"), (("d",), "z")]


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [("5", 5), ("-1", -1), ("1.5", 1.5), ("1e3", 1000.0), ("", None), ("x", None), ("nan", None), ("inf", None)],
)
def test_a_number_is_read_from_text(given_text: str, expected: float | None) -> None:
    found = number(given_text)
    assert (type(found), found) == (type(expected), expected)


def ref(path: str, attribute: str = "Ref") -> Tree:
    return {REFERENCE: [path, attribute]}


A, B = ref("0:a/A"), ref("0:a/B", "Arn")


def of_stack(name: str) -> Tree:
    return {"Ref": f"AWS::{name}"}


parts = st.text(alphabet="ab", max_size=3) | st.sampled_from([A, B])


@given(st.lists(parts, max_size=6), st.integers(0, 6))
def test_joining_is_the_same_in_whatever_order(items: list[Tree], cut_at: int) -> None:
    def whole(some: list[Tree]) -> Tree:
        result: Tree = ""
        for item in some:
            result = joined(result, item)
        return result

    assert joined(whole(items[:cut_at]), whole(items[cut_at:])) == whole(items)
    nested: Tree = {"Fn::Join": ["", [*items[:cut_at], {"Fn::Join": ["", items[cut_at:]]}]]}
    assert simplified(nested) == whole(items)


def test_a_tree_is_simplified_everywhere_but_where_a_separator_stands() -> None:
    nested: Tree = {"Fn::Split": [",", {"Fn::Join": ["", ["a", {"Fn::Join": ["", ["b", A]]}]]}]}
    assert simplified(nested) == {"Fn::Split": [",", {"Fn::Join": ["", ["ab", A]]}]}
    assert simplified({"Fn::Join": ["-", ["a", "b"]]}) == {"Fn::Join": ["-", ["a", "b"]]}
    assert simplified({"Fn::Join": ["", A]}) == {"Fn::Join": ["", A]}
    assert joined("a", {"Fn::Join": ["-", [A]]}) == {"Fn::Join": ["", ["a", {"Fn::Join": ["-", [A]]}]]}
    assert simplified([{"k": {"Fn::Join": ["", []]}}, 1]) == [{"k": ""}, 1]


def test_a_tree_is_written_as_the_cdk_writes_it() -> None:
    assert text({"Fn::GetAtt": ["Bücket", "Arn"]}) == '{"Fn::GetAtt":["Bücket","Arn"]}'


def test_references_and_what_is_another_value_in_each_stack_are_found() -> None:
    tree: Tree = {"Fn::Join": ["", ["arn:", of_stack("Partition"), {"Fn::Select": [0, {"Fn::Split": [",", A]}]}, B]]}
    assert list(references(tree)) == [("0:a/A", "Ref"), ("0:a/B", "Arn")]
    assert is_of_its_stack(tree)
    assert not is_of_its_stack({"Fn::Join": ["", [A, {"k": [B]}]]})
    assert is_of_its_stack([{"Fn::If": ["C", A, B]}])


class Outputs:
    """Known trees, by their JSON."""

    def __init__(self, known: list[tuple[Tree, Json]]) -> None:
        self.known = {json.dumps(tree): value for tree, value in known}

    def value(self, tree: Tree) -> Json:
        try:
            return self.known[json.dumps(tree)]
        except KeyError:
            raise Undetermined from None


KNOWN = Outputs([(A, "x,y"), (B, "arn:b"), ({"Fn::Join": ["", [A, B]]}, "both"), (ref("0:a/N"), 5), (ref("l"), ["p"])])


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("plain", "plain"),
        (None, None),
        (A, "x,y"),
        ({"Fn::Join": ["", [A, B]]}, "both"),
        ({"Fn::Join": ["-", [A, B, ref("0:a/N")]]}, "x,y-arn:b-5"),
        ({"Fn::Join": ["-", {"Fn::Split": [",", A]}]}, "x-y"),
        ({"Fn::Join": [B, ["1", A]]}, "1arn:bx,y"),
        ({"Fn::Split": [":", B]}, ["arn", "b"]),
        ({"Fn::Split": [{"Fn::Select": [1, ["-", ","]]}, A]}, ["x", "y"]),
        ({"Fn::Select": [1, {"Fn::Split": [",", A]}]}, "y"),
        ({"Fn::Select": ["1", {"Fn::Split": [",", A]}]}, "y"),
        ({"Fn::Select": [0, ref("l")]}, "p"),
        ({"k": [A, 1]}, {"k": ["x,y", 1]}),
    ],
)
def test_a_tree_comes_to_what_its_parts_do(tree: Tree, expected: Json) -> None:
    assert evaluate(tree, KNOWN.value) == expected


@pytest.mark.parametrize(
    "tree",
    [
        of_stack("Region"),
        ref("0:a/C"),
        {"Fn::ImportValue": "x"},
        {"Fn::Join": ["-", [A, ref("0:a/C")]]},
        {"Fn::Join": ["-", A]},
        {"Fn::Join": "x"},
        {"Fn::Join": [ref("0:a/C"), [A, B]]},
        {"Fn::Split": ["", A]},
        {"Fn::Split": [ref("l"), A]},
        {"Fn::Join": ["-", [{"k": 1}]]},
        {"Fn::GetAtt": ["A", "Arn"]},
    ],
)
def test_what_has_no_known_value_is_unknown(tree: Tree) -> None:
    with pytest.raises(Undetermined):
        evaluate(tree, KNOWN.value)


@pytest.mark.parametrize(
    ("index", "shown"), [(2, "got 2."), ("-1", "got -1."), ("x", "got another index."), (B, "got another index.")]
)
def test_an_index_outside_of_the_list_is_reported_without_deployed_values(index: Tree, shown: str) -> None:
    with pytest.raises(SelectError, match="at least 0 and less than 2") as refused:
        evaluate({"Fn::Select": [index, {"Fn::Split": [",", A]}]}, KNOWN.value)
    assert shown in str(refused.value)
    assert "arn" not in str(refused.value) + repr(refused.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0", 0),
        ("-5", -5),
        ("8080", 8080),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        (str(EXACT), EXACT),
        (f"-{EXACT}", -EXACT),
        (str(EXACT + 1), None),
        ("9" * 5000, None),
        ("1e999", None),
        ("1_000", None),
        (" 80", None),
        ("80\n", None),
        ("٣", None),
        ("007", None),
        ("+1", None),
        ("nan", None),
        ("0x10", None),
        ("", None),
    ],
)
def test_a_number_is_what_json_has_for_one_and_never_another_than_was_given(given: str, expected: float | None) -> None:
    assert number(given) == expected
    assert type(number(given)) is type(expected)


def test_long_text_of_a_program_s_own_is_left_out_of_what_errors_show() -> None:
    tree: Tree = {"Fn::Join": ["", ["pw=hunter2;", {"Fn::GetAtt": ["Bucket", "WebsiteURL"]}, "/x", {"Ref": "Bucket"}]]}
    assert shown_tree(tree) == {
        "Fn::Join": ["", ["…", {"Fn::GetAtt": ["Bucket", "WebsiteURL"]}, "/x", {"Ref": "Bucket"}]]
    }
    assert shown_tree({"k": ["hunter2", 1]}) == {"k": ["…", 1]}
    shown = shown_expression('join("-", ["hunter2", aws_x.y["a long key"].z, "a\\"hunter2"])')
    assert shown == 'join("-", ["…", aws_x.y["a long key"].z, "…"])'
    assert (
        shown_tokens("postgres://u:hunter2@${Token[TOKEN.1]}/${TfToken[a.2]}")
        == "${Token[TOKEN.1]} and ${TfToken[a.2]}"
    )
    assert shown_tokens(["#{Token[x.1]}"]) == "#{Token[x.1]}"
    assert shown_tokens(1.5) == "1.5"
    assert shown_tokens("hunter2") == "a str"
