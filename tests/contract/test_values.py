"""Values: maps become keys, values become what a parameter can hold, and names mean what is below them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import Key
from strongref.contract.values import MAX_BYTES, ParameterType, check_levels, parse_values, select
from strongref.errors import BadRequestError
from strongref.text import attribute_name
from tests.support.builders import items, secure, text

DEEP = "/".join("abcdefghi")

LEVEL = st.text("abcXYZ019_-", min_size=1, max_size=6)
ITEM = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=",{"), min_size=1).filter(
    lambda item: item == item.strip()
)
LEAF = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{"), min_size=1) | st.lists(
    ITEM, min_size=1
)
TREE = st.recursive(LEAF, lambda below: st.dictionaries(LEVEL, below, min_size=1, max_size=3), max_leaves=8)


def test_maps_become_keys_in_order() -> None:
    given = {"SubnetIds": ["a", "b"], "Alb": {"SecurityGroup": {"Id": "sg-1"}, "Arn": "arn"}, "Password": "p"}
    parsed = parse_values("Values", given, ["Password"])
    assert list(parsed.items()) == [
        ("Alb/Arn", text("arn")),
        ("Alb/SecurityGroup/Id", text("sg-1")),
        ("Password", secure("p")),
        ("SubnetIds", items("a", "b")),
    ]


def test_nothing_may_be_exported() -> None:
    assert parse_values("Values", {}, []) == {}


@given(st.dictionaries(LEVEL, TREE, max_size=4))
def test_every_leaf_comes_back_under_its_key(tree: dict[str, object]) -> None:
    for key, value in parse_values("Values", tree, []).items():
        leaf: object = tree
        for level in key.split("/"):
            assert isinstance(leaf, dict)
            leaf = leaf[level]
        assert value.attribute == leaf
        assert value.type is (ParameterType.STRING_LIST if isinstance(leaf, list) else ParameterType.STRING)


@pytest.mark.parametrize("name", ["Db", "Db/Users", "Db/Users/Root"])
def test_a_secure_name_covers_all_below_it(name: str) -> None:
    parsed = parse_values("Values", {"Db": {"Users": {"Root": "x"}}, "DbName": "y"}, [name])
    assert parsed == {"Db/Users/Root": secure("x"), "DbName": text("y")}


def test_a_list_of_one_is_a_list() -> None:
    assert parse_values("Values", {"A": ["x"]}, [])[Key("A")].attribute == ["x"]


def test_a_secure_value_is_given_as_a_string() -> None:
    assert secure("a,b").attribute == "a,b"


@pytest.mark.parametrize("value", ["x" * MAX_BYTES, "ä" * (MAX_BYTES // 2), " ", "{a}", "a } } {", "\n"])
def test_what_a_parameter_holds_is_taken(value: str) -> None:
    assert parse_values("Values", {"A": value}, []) == {"A": text(value)}


@pytest.mark.parametrize(
    ("values", "secure_keys", "error"),
    [
        ("text", [], "Values must be a map of names to values, got a string"),
        (["text"], [], "Values must be a map of names to values, got a list"),
        (None, [], "Values must be a map of names to values, got nothing"),
        (3, [], "Values must be a map of names to values, got a number"),
        (True, [], "Values must be a map of names to values, got a boolean"),
        ({"A": None}, [], "Values.A must be a string, a list of strings or a map, got nothing"),
        ({"A": {"B": 1.5}}, [], "Values.A.B must be a string, a list of strings or a map, got a number"),
        ({"A": (1,)}, [], "Values.A must be a string, a list of strings or a map, got tuple"),
        ({"A": ""}, [], "Values.A must not be empty: Parameter Store holds no empty value"),
        ({"A": {"B": {}}}, [], "Values.A.B must hold a value, got an empty map; leave it out or give it a value"),
        ({"A": []}, [], "Values.A must have an item, got an empty list; leave it out or give it an item"),
        ({"A": ["x", 1]}, [], "Values.A must be a list of strings, got a number as item 2"),
        ({"A": ["x", ["y"]]}, [], "Values.A must be a list of strings, got a list as item 2"),
        ({"A": [{"x": "y"}]}, [], "Values.A must be a list of strings, got a map as item 1"),
        ({"A": ["x", ""]}, [], "Values.A must have no empty items, got one as item 2"),
        (
            {"A": ["x", "y,z"]},
            [],
            "must have items without commas, got one in item 2: a StringList splits there. Export the items as a",
        ),
        ({"A": [" x"]}, [], "Values.A must have items without white space around them, got some in item 1"),
        ({"A": ["x\n"]}, [], "Values.A must have items without white space around them, got some in item 1"),
        ({"A": "x" * 8193}, [], "Values.A must be at most 8192 bytes, got 8193"),
        ({"A": "ä" * 4097}, [], "Values.A must be at most 8192 bytes, got 8194"),
        ({"A": ["x" * 4096, "y" * 4096]}, [], "Values.A must be at most 8192 bytes, got 8193"),
        ({"A": "a{{b}}"}, [], "Values.A holds '{{', which Parameter Store takes for a reference and refuses"),
        ({"A": ["{{b}}"]}, [], "Values.A holds '{{', which Parameter Store takes for a reference and refuses"),
        ({"A": "x\ud800"}, [], "Values.A holds half a character (a lone surrogate), which cannot be stored"),
        ({"A b": "x"}, [], "Values.A b must consist of letters, digits, _ and -, got 'A b'"),
        ({"A": {"B/C": "x"}}, [], "Values.A.B/C must consist of letters, digits, _ and -, got 'B/C'"),
        ({"A.B": "x"}, [], "Values.A.B must consist of letters, digits, _ and -, got 'A.B'"),
        ({"": "x"}, [], "Values. must not be empty"),
        ({"A": {"": "x"}}, [], "Values.A. must have no empty level, got 'A.'"),
        ({"A": "x"}, ["B"], "SecureKeys must be keys of Values, with dots between levels, got B"),
        ({"A": "x"}, ["A", "A/B", "C"], "SecureKeys must be keys of Values, with dots between levels, got A.B and C"),
        ({"AB": "x"}, ["A"], "SecureKeys must be keys of Values, with dots between levels, got A"),
        ({}, ["A"], "SecureKeys must be keys of Values, with dots between levels, got A"),
        ({"A": ["x"]}, ["A"], "A must be a string to be secure, got a list"),
        ({"A": {"B": ["x"], "C": "y"}}, ["A"], "Values.A.B must be a string to be secure, got a list"),
    ],
)
def test_what_cannot_be_stored_is_refused(values: object, secure_keys: list[str], error: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        parse_values("Values", values, secure_keys)
    assert str(refused.value).endswith(error) or error in str(refused.value)


def nested(levels: int) -> dict[str, object]:
    tree: object = "x"
    for _ in range(levels):
        tree = {"a": tree}
    assert isinstance(tree, dict)
    return tree


def test_nine_levels_are_taken_and_ten_are_not() -> None:
    assert list(parse_values("Values", nested(9), [])) == ["a/a/a/a/a/a/a/a/a"]
    with pytest.raises(BadRequestError, match=r"^Values(\.a){10} must be at most 9 levels deep, got 10$"):
        parse_values("Values", nested(10), [])


def test_depth_beyond_reason_is_refused_all_the_same() -> None:
    with pytest.raises(BadRequestError, match="at most 9 levels deep, got 10"):
        parse_values("Values", nested(5000), [])


def test_levels_of_a_name_are_checked() -> None:
    check_levels("Names[0]", DEEP.split("/"))
    with pytest.raises(BadRequestError, match=r"^Names\[0\] must be at most 9 levels deep, got 10$"):
        check_levels("Names[0]", [*DEEP.split("/"), "j"])
    with pytest.raises(BadRequestError, match=r"^Names\[0\] must have no empty level, got 'a.'"):
        check_levels("Names[0]", ["a", ""])


def test_a_name_means_its_key_and_all_below_it() -> None:
    keys = [Key(each) for each in ("B", "A/C", "A/B", "A", "AB", "A-B/C")]
    assert select(["A", "A/B", "X"], keys) == {"A": ["A", "A/B", "A/C"], "A/B": ["A/B"], "X": []}


def test_without_names_every_key_means_itself() -> None:
    assert select(None, [Key("B"), Key("A/B")]) == {"A/B": ["A/B"], "B": ["B"]}
    assert select(None, []) == {}


def test_an_attribute_has_dots_between_levels() -> None:
    assert attribute_name(Key("Alb/SecurityGroup/Id")) == "Alb.SecurityGroup.Id"
