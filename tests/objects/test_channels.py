"""Any object through any channel: it comes out as it went in, or is refused before anything is written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from strongref_objects import (
    CrossRegion,
    EnvironmentSerializationContext,
    JsonSerializationContext,
    ObjectError,
    Parameters,
    PlainTarget,
    ResolveType,
    from_environment,
    from_json,
    one_variable,
    read_object,
)
from tests.support.objects import EU, US, Tree, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref_objects import Stack
    from strongref_objects.channels import Channel

KEYS = st.text("aAbB1", min_size=1, max_size=3) | st.text("aA-_.: é/", min_size=0, max_size=3) | st.just("K" * 150)
TEXTS = (
    st.text("ab1:/.", max_size=5) | st.text(max_size=4) | st.sampled_from(["", " ", "{{x}}", "a,b", "${A}", '"\\\n'])
)
LISTS = st.lists(TEXTS, max_size=3)
TREES = st.recursive(
    st.dictionaries(KEYS, TEXTS | LISTS, max_size=3).map(Tree),
    lambda below: st.dictionaries(KEYS, TEXTS | LISTS | below, max_size=3).map(Tree),
    max_leaves=5,
)
FIT_TEXTS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters=",{"), min_size=1, max_size=12)
FIT_PARTS = FIT_TEXTS | st.lists(FIT_TEXTS, min_size=1, max_size=4)
FIT_KEYS = st.text("aAbB1", min_size=1, max_size=4)
FIT_TREES = st.recursive(
    st.dictionaries(FIT_KEYS, FIT_PARTS, min_size=1, max_size=4).map(Tree),
    lambda below: st.dictionaries(FIT_KEYS, FIT_PARTS | below, min_size=1, max_size=4).map(Tree),
    max_leaves=6,
)
"""Objects that any channel between stacks can carry."""

NAMES = st.sampled_from(["Web", "my-bucket", "W", "W_b", "a:b", "W" * 254])

UNHURRIED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

FUNCTIONS = Tree(
    {
        "Arn": {"Fn::GetAtt": ["Alb", "Arn"]},
        "Zones": ["a", {"Ref": "Zone"}],
        "Group": Tree({"Id": {"Ref": "Group"}, "Name": "it's"}),
    }
)
WHAT_FUNCTIONS_GIVE = Tree(
    {"Arn": "Alb-Arn", "Zones": ["a", "Zone-ref"], "Group": Tree({"Id": "Group-ref", "Name": "it's"})}
)

BETWEEN_STACKS: dict[str, tuple[Channel | None, Channel | None, ResolveType]] = {
    "cloudformation, at synthesis": (None, None, ResolveType.SYNTHESIS),
    "strongref, at synthesis": (
        CrossRegion(regions=[US], consumer="web"),
        CrossRegion(stack="network", region=EU),
        ResolveType.SYNTHESIS,
    ),
    "strongref, at deployment": (
        CrossRegion(regions=[US]),
        CrossRegion(stack="network", region=EU, shared=True),
        ResolveType.DEPLOYMENT,
    ),
    "parameters, at synthesis": (Parameters("/shared"), Parameters("/shared"), ResolveType.SYNTHESIS),
}


@pytest.fixture
def world() -> Iterator[Callable[[], World]]:
    """Makes a new one each time: hypothesis keeps a fixture for all its examples."""
    with tempfile.TemporaryDirectory() as folder:
        yield lambda: World(Path(tempfile.mkdtemp(dir=folder)) / "context.json")


def template(stack: Stack) -> dict[str, Any]:
    return cast("PlainTarget", stack.target).template()


def through(world: World, how: str, name: str, tree: Tree) -> Tree:
    """What comes out of a channel between two stacks."""
    out, into, kind = BETWEEN_STACKS[how]
    producer = world.stack("network")
    before = template(producer)
    try:
        producer.export_object(name, tree, via=out)
    except ObjectError:
        assert template(producer) == before, "something was written of what was refused"
        raise
    world.deploy(producer)
    consumer = world.stack("web", EU if out is None or isinstance(out, Parameters) else US)
    ctx = consumer.import_object(name, type=kind, weak=isinstance(into, Parameters), via=into)
    read = tree.read(ctx, allow_unresolved=True)
    return read.evaluated(world.deploy(consumer))


@pytest.mark.parametrize("how", BETWEEN_STACKS)
@UNHURRIED
@given(name=NAMES, tree=TREES)
@example(name="Web", tree=Tree({"A-b": "1", "Ab": "2"}))
@example(name="Web", tree=Tree({"A": Tree({"K" * 150: "1", "K" * 149 + "L": "2"})}))
@example(name="Web", tree=Tree({"Empty": Tree({}), "A": "x"}))
def test_between_stacks_an_object_comes_out_as_it_went_in_or_is_refused_at_once(
    world: Callable[[], World], how: str, name: str, tree: Tree
) -> None:
    try:
        found = through(world(), how, name, tree)
    except ObjectError:
        return
    assert found == tree


@pytest.mark.parametrize("how", BETWEEN_STACKS)
@UNHURRIED
@given(name=st.sampled_from(["Web", "my-bucket", "W1"]), tree=FIT_TREES)
def test_between_stacks_what_can_be_carried_is_not_refused(
    world: Callable[[], World], how: str, name: str, tree: Tree
) -> None:
    assert through(world(), how, name, tree) == tree


@pytest.mark.parametrize("how", BETWEEN_STACKS)
def test_between_stacks_what_stands_for_values_is_carried_too(world: Callable[[], World], how: str) -> None:
    there = world()
    out, into, kind = BETWEEN_STACKS[how]
    producer = there.stack("network")
    producer.export_object("Web", FUNCTIONS, via=out)
    there.deploy(producer)
    consumer = there.stack("web", EU if out is None or isinstance(out, Parameters) else US)
    ctx = consumer.import_object("Web", type=kind, weak=isinstance(into, Parameters), via=into)
    read = FUNCTIONS.read(ctx, allow_unresolved=True)
    assert read.evaluated(there.deploy(consumer)) == WHAT_FUNCTIONS_GIVE


@pytest.mark.parametrize("how", BETWEEN_STACKS)
def test_between_stacks_an_ordinary_object_is_not_refused(world: Callable[[], World], how: str) -> None:
    tree = Tree({"A": "a", "B": ["b", "c"], "C": Tree({"D": "d", "E": Tree({"F": ["f"]})})})
    assert through(world(), how, "my-bucket", tree) == tree


@UNHURRIED
@given(tree=TREES)
@example(tree=Tree({"Arn": "1", "arn": "2"}))
@example(tree=Tree({"A": '"\\', "B": ["\ud800", "é"]}))
def test_as_json_an_object_comes_out_as_it_went_in_or_is_refused(tree: Tree) -> None:
    ctx = JsonSerializationContext()
    try:
        tree.serialize(ctx)
        text = ctx.text()
    except ObjectError:
        return
    assert isinstance(text, str)
    assert json.loads(text) == ctx.json
    assert tree.read(from_json(text)) == tree
    assert tree.read(from_json(ctx.json)) == tree


@UNHURRIED
@given(name=NAMES, tree=TREES)
@example(name="Web", tree=Tree({"AbC": "1", "Ab_c": "2"}))
@example(name="Web", tree=Tree({"A": Tree({"B": "1"}), "A_B": "2"}))
def test_in_variables_an_object_comes_out_as_it_went_in_or_is_refused(name: str, tree: Tree) -> None:
    try:
        ctx = EnvironmentSerializationContext(name)
        tree.serialize(ctx)
        variables = cast("dict[str, str]", ctx.variables)
    except ObjectError:
        return
    assume(variables)
    assert tree.read(from_environment(name, variables)) == tree


CDK_KEYS = st.sampled_from(["BucketArn", "BucketName", "SecurityGroup", "Zones", "KMSKeyId"])


@UNHURRIED
@given(
    st.recursive(
        st.dictionaries(CDK_KEYS, TEXTS | LISTS, max_size=4).map(Tree),
        lambda below: st.dictionaries(CDK_KEYS, TEXTS | LISTS | below, max_size=4).map(Tree),
        max_leaves=6,
    )
)
def test_any_values_under_ordinary_keys_are_carried_by_json(tree: Tree) -> None:
    for ctx in (from_environment("Web", cast("dict[str, str]", one_variable("Web", tree))), from_json(_json(tree))):
        assert tree.read(ctx) == tree


def _json(tree: Tree) -> dict[str, Any]:
    ctx = JsonSerializationContext()
    tree.serialize(ctx)
    return ctx.json


@UNHURRIED
@given(st.dictionaries(CDK_KEYS, TEXTS | st.lists(FIT_TEXTS, min_size=1, max_size=3), min_size=1).map(Tree))
def test_any_values_under_ordinary_keys_are_carried_by_variables(tree: Tree) -> None:
    ctx = EnvironmentSerializationContext("Web")
    tree.serialize(ctx)
    assert tree.read(from_environment("Web", cast("dict[str, str]", ctx.variables))) == tree


@UNHURRIED
@given(name=st.sampled_from(["Web", "my-bucket"]), tree=TREES)
def test_in_one_variable_an_object_comes_out_as_it_went_in_or_is_refused(name: str, tree: Tree) -> None:
    try:
        variables = cast("dict[str, str]", one_variable(name, tree))
    except ObjectError:
        return
    assert tree.read(from_environment(name, variables)) == tree


@UNHURRIED
@given(name=NAMES, tree=TREES)
def test_from_parameters_an_object_is_read_at_run_time_as_it_went_in(
    world: Callable[[], World], name: str, tree: Tree
) -> None:
    there = world()
    producer = there.stack("network")
    try:
        producer.export_object(name, tree, via=Parameters("/shared/"))
    except ObjectError:
        return
    assume(template(producer).get("Resources"))
    there.deploy(producer)
    store = there.cloud.stores(EU, there.cloud.clock)
    assert tree.read(read_object("/shared/", name, store=store)) == tree


def test_the_target_may_say_what_stands_for_a_value() -> None:
    target = PlainTarget("network")
    for reported in (None, target):
        json_ctx = JsonSerializationContext(reported)
        FUNCTIONS.serialize(json_ctx)
        assert json_ctx.text() == {
            "Fn::Join": [
                "",
                [
                    '{"arn": "',
                    {"Fn::GetAtt": ["Alb", "Arn"]},
                    '", "zones": ["',
                    {"Fn::Join": ['", "', ["a", {"Ref": "Zone"}]]},
                    '"], "group": {"id": "',
                    {"Ref": "Group"},
                    '", "name": "it\'s"}}',
                ],
            ]
        }
        ctx = EnvironmentSerializationContext("Web", reported)
        FUNCTIONS.serialize(ctx)
        assert ctx.variables["WEB_ZONES"] == {"Fn::Join": [",", ["a", {"Ref": "Zone"}]]}
        assert one_variable("Web", FUNCTIONS, reported) == {"WEB": json_ctx.text()}


@pytest.mark.parametrize("whole", ["text", "one variable"])
def test_json_with_functions_in_it_is_joined_when_it_is_deployed(world: Callable[[], World], whole: str) -> None:
    there = world()
    evaluate = there.deploy(there.stack("network"))
    ctx = JsonSerializationContext()
    FUNCTIONS.serialize(ctx)
    text = ctx.text() if whole == "text" else one_variable("Web", FUNCTIONS)["WEB"]
    assert isinstance(text, dict)
    assert FUNCTIONS.read(from_json(evaluate(text))) == WHAT_FUNCTIONS_GIVE


def test_variables_with_functions_in_them_are_joined_when_they_are_deployed(world: Callable[[], World]) -> None:
    there = world()
    evaluate = there.deploy(there.stack("network"))
    ctx = EnvironmentSerializationContext("Web")
    FUNCTIONS.serialize(ctx)
    variables = {name: evaluate(value) for name, value in ctx.variables.items()}
    assert FUNCTIONS.read(from_environment("Web", variables)) == WHAT_FUNCTIONS_GIVE


def test_a_whole_list_that_a_function_gives_is_joined(world: Callable[[], World]) -> None:
    there = world()
    producer = there.stack("network")
    producer.export_string_list("Zones", {"Fn::GetAZs": ""})
    producer.export_string_list("Zones", {"Fn::GetAZs": ""}, via=Parameters("/shared"))
    producer.export_string_list("Zones", {"Fn::GetAZs": ""}, via=CrossRegion())
    written = template(producer)
    (output,) = (each for name, each in written["Outputs"].items() if not name.endswith("Hold"))
    assert output["Value"] == {"Fn::Join": [",", {"Fn::GetAZs": ""}]}
    values = {each["Type"]: each["Properties"] for each in written["Resources"].values()}
    assert values["AWS::SSM::Parameter"]["Value"] == {"Fn::Join": [",", {"Fn::GetAZs": ""}]}
    assert values["AWS::SSM::Parameter"]["Type"] == "StringList"
    assert values["Custom::CrossRegionExport"]["Values"] == {"Zones": {"Fn::GetAZs": ""}}
    ctx = JsonSerializationContext()
    ctx.write_string_list("Zones", {"Fn::GetAZs": ""})
    assert ctx.text() == {"Fn::Join": ["", ['{"zones": ["', {"Fn::Join": ['", "', {"Fn::GetAZs": ""}]}, '"]}']]}
