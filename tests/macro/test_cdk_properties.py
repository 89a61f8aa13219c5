"""What holds for every template with Writers and Readers of the CDK: made up by hypothesis."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from strongref.macro.edits import TemplateEdits
from strongref.macro.transform import Settings, plan
from strongref_manifests.text.template_edits import changed
from strongref_manifests.text.templates import read
from tests.macro.test_properties import FUNCTIONS, SCALARS, branched, in_blocks, plain, templates
from tests.support.examples import examples
from tests.support.macro import EXPORTS, IMPORTS, cdk_name, get, provider, reader, resource, writer

if TYPE_CHECKING:
    from collections.abc import Iterator

STACKS = ("Site", "Shop")
VERSIONS = [
    f"RefFCurrentVersion58B8A55D7749ed525f29a5cb49be4da2f7c73110{end}" for end in ("4A799A6C", "Version8749FC94")
]
NAMES = [cdk_name(key, stack) for key in (*(f"Key{number}" for number in range(40)), *VERSIONS) for stack in STACKS]
READERS = {"Reader": [name for name in NAMES if "/Site/" in name], "ReaderWithoutProvider": [NAMES[1], NAMES[-1]]}
USES = st.sampled_from([(reader_id, name) for reader_id, names in READERS.items() for name in names]).flatmap(
    lambda use: st.sampled_from([get(*use), {"Fn::GetAtt": ".".join(use)}, {"Fn::Sub": ["${A}", {"A": get(*use)}]}])
)


def functions(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return plain(below) | branched(below) | st.lists(below, max_size=3).map(lambda items: {"Fn::Join": ["", items]})


VALUES = st.recursive(SCALARS | FUNCTIONS | USES, functions, max_leaves=12)
EXPORTED = st.dictionaries(
    st.sampled_from(NAMES), st.sampled_from(["a", {"Ref": "P"}, get("R0", "Arn")]) | USES, max_size=5
)
ORDERS = st.lists(st.sampled_from(["R0", *READERS]), unique=True, max_size=3)
SETTINGS = st.fixed_dictionaries(
    {}, optional={"Writers": st.sampled_from(["keep", "remove"]), "ValueBytes": st.sampled_from([1, 500])}
)


@st.composite
def apps(draw: st.DrawFn) -> dict[str, Any]:
    """Templates of stacks that export, import, or do both, in any order of their resources."""
    template = draw(templates(VALUES))
    resources = template["Resources"] | {"Last": resource({"A": draw(VALUES)}, DependsOn=draw(ORDERS))}
    resources |= {"Writer": writer(draw(EXPORTED)), "OtherWriter": writer(draw(EXPORTED), "us-east-1")}
    resources |= provider("Writer") | provider("Reader")
    resources |= {name: reader(names) for name, names in READERS.items()}
    del resources["ReaderWithoutProvider"]["Properties"]["ServiceToken"]
    order = draw(st.permutations(list(resources)))
    return {
        **template,
        "Metadata": {"StrongRef": draw(SETTINGS)},
        "Resources": {name: resources[name] for name in order},
        "Outputs": {"Out": {"Value": draw(VALUES)}},
    }


def entries(node: Any) -> Iterator[Any]:
    yield node
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from entries(below)


def is_version(name: str) -> bool:
    return name.rpartition("/")[2] in VERSIONS


def expected(node: Any, where: dict[str, str]) -> Any:
    """A value whose uses of Readers are replaced, by an independent rule: the Import that has a key."""
    if isinstance(node, list):
        return [expected(item, where) for item in node]
    if not isinstance(node, dict):
        return node
    if list(node) == ["Fn::GetAtt"]:
        given = node["Fn::GetAtt"]
        logical_id, attribute = given.split(".", 1) if isinstance(given, str) else given
        if logical_id in READERS and not is_version(attribute):
            key = attribute.rpartition("/")[2]
            return get(where[key], key)
    return {key: expected(below, where) for key, below in node.items()}


def imported(done: dict[str, Any]) -> dict[str, str]:
    made = {name: each["Properties"] for name, each in done["Resources"].items() if each["Type"] == IMPORTS}
    return {key: name for name, each in made.items() if "From" not in each for key in each["Names"]}


@examples(60)
@given(apps())
def test_every_use_reads_its_own_key_and_what_is_no_use_stays(app: dict[str, Any]) -> None:
    done = plan(app, Settings()).apply(app)
    where = imported(done)
    assert done["Outputs"]["Out"] == expected(app["Outputs"]["Out"], where)
    for name, each in app["Resources"].items():
        if each["Type"] == "AWS::ECS::Service":
            assert done["Resources"][name]["Properties"] == expected(each["Properties"], where)
    names = {name for names in READERS.values() for name in names if not is_version(name)}
    assert set(where) == {name.rpartition("/")[2] for name in names}


@examples(60)
@given(apps())
def test_every_value_is_exported_under_its_key_for_its_stack(app: dict[str, Any]) -> None:
    done = plan(app, Settings()).apply(app)
    made = {name: each["Properties"] for name, each in done["Resources"].items() if each["Type"] == EXPORTS}
    removes = app["Metadata"]["StrongRef"].get("Writers") == "remove"
    for name in ("Writer", "OtherWriter"):
        props = app["Resources"][name]["Properties"]["WriterProps"]
        stays = done["Resources"].get(name, {})
        for path, value in props["exports"].items():
            _, _, _, consumer, key = path.split("/")
            if is_version(path):
                assert path in stays["Properties"]["WriterProps"]["exports"]
                continue
            (found,) = (
                logical_id
                for logical_id, each in made.items()
                if each.get("Region") == props["region"] and each.get("Consumer") == consumer
            )
            assert made[found]["Values"][key] == expected(value, imported(done))
            assert (path in stays["Properties"]["WriterProps"]["exports"]) is not removes if stays else removes
            assert not stays or found in stays["DependsOn"]


@examples(60)
@given(apps())
def test_nothing_refers_to_what_is_gone_and_the_second_time_nothing_changes(app: dict[str, Any]) -> None:
    before = deepcopy(app)
    done = plan(app, Settings()).apply(app)
    assert app == before
    gone = set(app["Resources"]) - set(done["Resources"])
    words = {word for each in entries(done) if isinstance(each, str) for word in re.split(r"[.${}]", each)}
    assert gone & words == set()
    assert plan(done, Settings()) == TemplateEdits()


@examples(40)
@given(apps(), st.sampled_from([None, 1]))
def test_in_a_files_text_the_same_becomes_of_it(app: dict[str, Any], indent: int | None) -> None:
    for text in (json.dumps(app, indent=indent), in_blocks(app)):
        found = read("t", text)
        after = read("t", changed(found, plan(found.content, Settings()))).content
        assert after == plan(app, Settings()).apply(app)
        assert list(after["Resources"]) == list(plan(app, Settings()).apply(app)["Resources"])
