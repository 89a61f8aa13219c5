"""Values: maps become keys, values become what a parameter can hold, and names mean what is below them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import Key
from strongref.contract.values import MAX_BYTES, Kind, attribute_name, check_levels, parse_values, select
from strongref.errors import BadRequestError
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
        assert value.kind is (Kind.STRING_LIST if isinstance(leaf, list) else Kind.STRING)


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
        ("text", [], "Values: a map of names to values is needed, a string came"),
        (["text"], [], "Values: a map of names to values is needed, a list came"),
        (None, [], "Values: a map of names to values is needed, nothing came"),
        (3, [], "Values: a map of names to values is needed, a number came"),
        (True, [], "Values: a map of names to values is needed, a boolean came"),
        ({"A": None}, [], "Values.A: a string, a list of strings or a map is needed, nothing came"),
        ({"A": {"B": 1.5}}, [], "Values.A.B: a string, a list of strings or a map is needed, a number came"),
        ({"A": (1,)}, [], "Values.A: a string, a list of strings or a map is needed, tuple came"),
        ({"A": ""}, [], "Values.A: it is empty, and Parameter Store holds no empty value"),
        ({"A": {"B": {}}}, [], "Values.A.B: an empty map exports nothing; take it out or give it a value"),
        ({"A": []}, [], "Values.A: an empty list cannot be stored; take it out or give it an item"),
        ({"A": ["x", 1]}, [], "Values.A: its item 2 is a number; only strings are allowed in a list"),
        ({"A": ["x", ["y"]]}, [], "Values.A: its item 2 is a list; only strings are allowed in a list"),
        ({"A": [{"x": "y"}]}, [], "Values.A: its item 1 is a map; only strings are allowed in a list"),
        ({"A": ["x", ""]}, [], "Values.A: its item 2 is empty, which a StringList cannot hold"),
        ({"A": ["x", "y,z"]}, [], "its item 2 holds a comma, which a StringList cannot keep; export the items as a"),
        ({"A": [" x"]}, [], "Values.A: its item 1 begins or ends with white space, which a StringList may lose"),
        ({"A": ["x\n"]}, [], "Values.A: its item 1 begins or ends with white space"),
        ({"A": "x" * 8193}, [], "Values.A: it is 8193 bytes long; a parameter holds at most 8192"),
        ({"A": "ä" * 4097}, [], "Values.A: it is 8194 bytes long; a parameter holds at most 8192"),
        ({"A": ["x" * 4096, "y" * 4096]}, [], "Values.A: it is 8193 bytes long; a parameter holds at most 8192"),
        ({"A": "a{{b}}"}, [], "Values.A: it holds '{{', which Parameter Store takes for a reference and refuses"),
        ({"A": ["{{b}}"]}, [], "Values.A: it holds '{{', which Parameter Store takes for a reference and refuses"),
        ({"A": "x\ud800"}, [], "Values.A: it holds half a character (a lone surrogate), which cannot be stored"),
        ({"A b": "x"}, [], "Values.A b: 'A b' has characters other than letters, digits, _ and -"),
        ({"A": {"B/C": "x"}}, [], "Values.A.B/C: 'B/C' has characters other than letters, digits, _ and -"),
        ({"A.B": "x"}, [], "Values.A.B: 'A.B' has characters other than letters, digits, _ and -"),
        ({"": "x"}, [], "Values.: '' has characters other than letters, digits, _ and -"),
        ({"A": "x"}, ["B"], "SecureKeys: B is not in Values; name keys of it, with / between levels"),
        ({"A": "x"}, ["A", "A/B", "C"], "SecureKeys: A/B and C is not in Values"),
        ({"AB": "x"}, ["A"], "SecureKeys: A is not in Values"),
        ({}, ["A"], "SecureKeys: A is not in Values"),
        (
            {"A": ["x"]},
            ["A"],
            "A: a list cannot be secure; join it into one string, or take it out of SecureKeys",
        ),
        ({"A": {"B": ["x"], "C": "y"}}, ["A"], "Values.A.B: a list cannot be secure; join it into one string"),
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
    with pytest.raises(BadRequestError, match=r"^Values(\.a){10}: it is 10 levels deep; at most 9 are allowed$"):
        parse_values("Values", nested(10), [])


def test_depth_beyond_reason_is_refused_all_the_same() -> None:
    with pytest.raises(BadRequestError, match="10 levels deep"):
        parse_values("Values", nested(5000), [])


def test_levels_of_a_name_are_checked() -> None:
    check_levels("Names[0]", DEEP.split("/"))
    with pytest.raises(BadRequestError, match=r"^Names\[0\]: it is 10 levels deep; at most 9 are allowed$"):
        check_levels("Names[0]", [*DEEP.split("/"), "j"])
    with pytest.raises(BadRequestError, match=r"^Names\[0\]: '' has characters other than"):
        check_levels("Names[0]", ["a", ""])


def test_a_name_means_its_key_and_all_below_it() -> None:
    keys = [Key(each) for each in ("B", "A/C", "A/B", "A", "AB", "A-B/C")]
    assert select(["A", "A/B", "X"], keys) == {"A": ["A", "A/B", "A/C"], "A/B": ["A/B"], "X": []}


def test_without_names_every_key_means_itself() -> None:
    assert select(None, [Key("B"), Key("A/B")]) == {"A/B": ["A/B"], "B": ["B"]}
    assert select(None, []) == {}


def test_an_attribute_has_dots_between_levels() -> None:
    assert attribute_name(Key("Alb/SecurityGroup/Id")) == "Alb.SecurityGroup.Id"
