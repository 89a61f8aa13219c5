"""What holds for every template: made up by hypothesis."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from strongref.macro.conditions import When
from strongref.macro.edits import TemplateEdits
from strongref.macro.transform import Settings, plan
from strongref_manifests.text.template_edits import changed
from strongref_manifests.text.templates import read
from tests.support.examples import examples
from tests.support.macro import IMPORTS, ref, resource
from tests.support.styled_yaml import StyledYaml

if TYPE_CHECKING:
    from collections.abc import Iterator

"""What is made up here is large, and the processors are shared with other tests."""

CONDITIONS = ("A", "B", "C")
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029", exclude_categories=["Cs", "Cc"]))
SCALARS = (
    TEXTS
    | st.integers(-999, 999)
    | st.booleans()
    | st.sampled_from(["0123", "yes", "2012-10-17", "1e3", "a: b", "# c"])
)
FUNCTIONS = st.sampled_from(
    [
        {"Ref": "P"},
        {"Fn::GetAtt": ["R0", "Arn"]},
        {"Fn::Sub": "${P}-x"},
        {"Fn::Base64": {"Ref": "P"}},
        {"Ref": "AWS::NoValue"},
    ]
)
KEYS = st.sampled_from(["Name", "Vpc", "Tags", "Deep", "With space", "Y", "Prefer", "VpcRef"])
NAMES = st.sampled_from([f"Name{number}" for number in range(30)] + ["Alb.Arn", "Alb.Sg.Id"])
REFERENCES = st.builds(
    ref, NAMES, st.sampled_from(["network", "shop", {"Ref": "P"}]), st.sampled_from(["eu-west-1", "us-east-1"])
)


def plain(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(children, max_size=3) | st.dictionaries(KEYS, children, max_size=3)


def branched(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.sampled_from(CONDITIONS), children, children).map(lambda given: {"Fn::If": list(given)})


def referring(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    one = st.tuples(st.sampled_from(["OneRef", "OtherRef"]), REFERENCES | branched(REFERENCES))
    many = st.tuples(st.just("ManyRefs"), st.lists(REFERENCES | branched(REFERENCES), min_size=1, max_size=4))
    return st.tuples(st.dictionaries(KEYS, children, max_size=2), st.lists(one | many, max_size=2)).map(
        lambda given: given[0] | dict(given[1])
    )


UNTOUCHED = st.recursive(SCALARS | FUNCTIONS, plain, max_leaves=8)
REFERRING = st.recursive(
    SCALARS | FUNCTIONS, lambda below: referring(below) | plain(below) | branched(below), max_leaves=12
)


EXPORTING = st.builds(
    lambda consumer, value: {"Consumer": consumer, "Values": {"K": value}},
    st.sampled_from(["web", "shop"]),
    st.sampled_from(["text", "0123", 7, {"Ref": "P"}, {"ARef": ref("A")}]),
)


def templates(values: st.SearchStrategy[Any], *, exporting: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    resources = st.lists(
        st.tuples(
            st.dictionaries(KEYS, values, max_size=3),
            st.sampled_from([None, *CONDITIONS]),
            st.none() | EXPORTING if exporting else st.none(),
        ),
        min_size=1,
        max_size=4,
    )

    def made(given: list[tuple[dict[str, Any], str | None, dict[str, Any] | None]]) -> dict[str, Any]:
        return {
            "Parameters": {"P": {"Type": "String"}},
            "Conditions": {each: {"Fn::Equals": [{"Ref": "P"}, each]} for each in CONDITIONS},
            "Resources": {
                f"R{number}": resource(
                    properties,
                    **({"Condition": condition} if condition else {}),
                    **({"Exports": {"As": f"E{number}", **exports}} if exports else {}),
                )
                for number, (properties, condition, exports) in enumerate(given)
            },
        }

    return resources.map(made)


@examples(60)
@given(templates(UNTOUCHED, exporting=False))
def test_a_template_without_references_comes_back_as_it_was(template: dict[str, Any]) -> None:
    changes = plan(template, Settings())
    assert changes == TemplateEdits()
    assert changes.apply(template) == template


@examples(60)
@given(templates(REFERRING))
def test_what_was_transformed_is_left_as_it_is(template: dict[str, Any]) -> None:
    before = deepcopy(template)
    done = plan(template, Settings()).apply(template)
    assert template == before
    assert plan(done, Settings()) == TemplateEdits()
    assert json.loads(json.dumps(done)) == done


@examples(60)
@given(templates(REFERRING))
def test_every_value_comes_from_an_import_that_is_there_whenever_it_is_used(template: dict[str, Any]) -> None:
    done = plan(template, Settings()).apply(template)
    made = {name: each for name, each in done["Resources"].items() if each["Type"] == IMPORTS}
    used: set[tuple[str, str]] = set()
    for name, each in done["Resources"].items():
        if name not in made:
            for logical_id, attribute, holds in uses(each["Properties"], conditions(each.get("Condition"), done)):
                if logical_id in made:
                    used.add((logical_id, attribute))
                    assert attribute in made[logical_id]["Properties"]["Names"]
                    assert conditions(made[logical_id].get("Condition"), done) <= holds
    assert used == {(name, each_name) for name, each in made.items() for each_name in each["Properties"]["Names"]}


@examples(60)
@given(templates(REFERRING))
def test_what_is_used_always_is_imported_once(template: dict[str, Any]) -> None:
    done = plan(template, Settings()).apply(template)
    by_name: dict[str, list[frozenset[tuple[str, bool]]]] = {}
    for each in done["Resources"].values():
        if each["Type"] == IMPORTS:
            for name in each["Properties"]["Names"]:
                key = json.dumps([each["Properties"]["From"], name])
                by_name.setdefault(key, []).append(conditions(each.get("Condition"), done))
    for whens in by_name.values():
        assert not any(one is not other and one <= other for one in whens for other in whens)


def conditions(name: str | None, template: dict[str, Any]) -> frozenset[tuple[str, bool]]:
    """What a condition of a template stands for, those that were made looked into."""
    if name is None:
        return frozenset()
    if name in CONDITIONS:
        return frozenset([(name, True)])
    return terms(template["Conditions"][name])


def terms(definition: dict[str, Any]) -> frozenset[tuple[str, bool]]:
    if "Fn::And" in definition:
        return frozenset().union(*map(terms, definition["Fn::And"]))
    if "Fn::Not" in definition:
        return frozenset([(definition["Fn::Not"][0]["Condition"], False)])
    return frozenset([(definition["Condition"], True)])


def uses(node: Any, holds: frozenset[tuple[str, bool]]) -> Iterator[tuple[str, str, frozenset[tuple[str, bool]]]]:
    if isinstance(node, list):
        for item in node:
            yield from uses(item, holds)
    elif isinstance(node, dict):
        if "Fn::If" in node:
            condition, yes, no = node["Fn::If"]
            yield from uses(yes, holds | {(condition, True)})
            yield from uses(no, holds | {(condition, False)})
        elif "Fn::GetAtt" in node:
            yield node["Fn::GetAtt"][0], node["Fn::GetAtt"][1], holds
        else:
            for below in node.values():
                yield from uses(below, holds)


@given(st.sets(st.tuples(st.sampled_from(CONDITIONS), st.booleans())))
def test_a_made_condition_means_what_it_was_made_of(holds: set[tuple[str, bool]]) -> None:
    when = When(frozenset(holds))
    definition = when.definition
    reported = {when.name: definition} if definition else {}
    assert conditions(when.name, {"Conditions": reported}) == when.holds


@examples(40)
@given(templates(REFERRING), st.sampled_from([None, 1, 2, 4]))
def test_in_a_files_text_the_same_becomes_of_it(template: dict[str, Any], indent: int | None) -> None:
    """JSON, and YAML between brackets and in blocks, are read as what the plain data becomes."""
    given_json = json.dumps({"Transform": "StrongRef", **template}, indent=indent)
    for text in (given_json, in_blocks({"Transform": ["StrongRef", "Other"], **template})):
        found = read("t", text)
        changes = plan(found.content, Settings())
        after = read("t", changed(found, changes)).content
        assert after.pop("Transform", ["Other"]) == ["Other"]
        assert after == plan(template, Settings()).apply(template)
        assert list(after["Resources"]) == list(plan(template, Settings()).apply(template)["Resources"])


def in_blocks(node: Any, indent: int = 0) -> str:
    """As YAML, each key on a line of its own."""
    pad = " " * indent
    if isinstance(node, dict) and node:
        lines = []
        for key, value in node.items():
            below = isinstance(value, dict | list) and value
            lines.append(
                f"{pad}{written(key)}:" + (f"\n{in_blocks(value, indent + 2)}" if below else f" {written(value)}")
            )
        return "\n".join(lines)
    if isinstance(node, list) and node:
        items = [
            in_blocks(item, indent + 2) if isinstance(item, dict | list) and item else f"{pad}  {written(item)}"
            for item in node
        ]
        return "\n".join(f"{pad}- {item[indent + 2 :]}" for item in items)
    return written(node)


def written(node: Any) -> str:
    return json.dumps(node, ensure_ascii=False)


@examples(60)
@given(templates(REFERRING), st.integers(0), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_comment_and_every_line_without_a_reference_stays(
    template: dict[str, Any], seed: int, line_break: str, named: bool
) -> None:
    styled = StyledYaml(Random(seed))  # noqa: S311 (styles, not secrets)
    styled.write({"Transform": ["StrongRef", "B"]} | template if named else template)
    text = "".join(f"{line.text}{line_break}" for line in styled.lines)
    written = read("t.yaml", text)
    result = changed(written, plan(written.content, Settings()))
    assert read("t.yaml", result).content.get("Resources") == plan(template, Settings()).apply(template)["Resources"]
    for comment in styled.comments:
        assert result.count(comment) == 1, comment
    assert line_break == "\n" or "\n" not in result.replace("\r\n", "")
    left = iter(result.split(line_break))
    for line in styled.lines:
        if not line.changes:
            assert any(each == line.text for each in left), line.text
