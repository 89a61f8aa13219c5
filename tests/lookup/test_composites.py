"""Every type with a composite identifier: its resources are found in each form that CloudFormation has for them.

Each type's resources are made with the parts of one resource, and its near misses: those that share all parts but one
with it, those whose parts begin or end like its own, and those in which two parts have changed places.
"""

from __future__ import annotations

import pytest

from strongref.aws.errors import LookUpDeniedError, NoSuchResourceError
from strongref.lookup.errors import AmbiguousError, MissingPropertyError
from strongref.lookup.overrides import PARENT_AND_OWN, STRATEGIES
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of, types
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, error, finder

SHAPES = {name: resource_type_of(name) for name in types() if resource_type_of(name).is_composite}
ORDINARY = sorted(set(SHAPES) - set(STRATEGIES) - PARENT_AND_OWN)
WITH_OWN = [name for name in ORDINARY if SHAPES[name].own is not None]
WITHOUT = [name for name in ORDINARY if SHAPES[name].own is None]


def of_each_shape(names: list[str]) -> pytest.MarkDecorator:
    """Every type in `make unit`; the fast run has one of each shape."""
    first = {shape(name): name for name in reversed(names)}.values()
    rows = [pytest.param(name, marks=() if name in first else pytest.mark.slow) for name in names]
    return pytest.mark.parametrize("type_name", rows)


def shape(name: str) -> tuple[object, ...]:
    """What the rules look at: the parts, the resource's own, and which parts its service asks for before it lists."""
    parts, asked = SHAPES[name].identifier, SHAPES[name].required_inputs
    places = [parts.index(value_of) if value_of in parts else None for _, value_of in (asked or [()])[0]]
    return len(parts), SHAPES[name].own, *places


REAL = {"ScalableDimension": "ecs:service:DesiredCount", "ServiceNamespace": "ecs"}
"""One follows from the other."""


def parts_of(type_name: str) -> list[str]:
    """A resource's parts: ARNs where the schema calls them so, else a name."""
    arn = f"arn:aws:service:{REGION}:{ACCOUNT}:kind"
    return [
        REAL.get(part, f"{arn}{number}/it" if part.lower().endswith("arn") else f"it{number}")
        for number, part in enumerate(SHAPES[type_name].identifier)
    ]


def cloud(type_name: str, *, without: str = "", needs: bool = True) -> FakeCloudControl:
    """The resource and its near misses."""
    resource_type, parts = SHAPES[type_name], parts_of(type_name)
    made = {"|".join(parts)}
    for position, part in enumerate(parts):
        for other in (f"other-{part}", f"{part}-other", f"other/{part}", f"{part}/other"):
            made.add("|".join([*parts[:position], other, *parts[position + 1 :]]))
    made.add("|".join(reversed(parts)))
    listing = [name for name, _ in resource_type.required_inputs[0]] if resource_type.required_inputs and needs else []
    return FakeCloudControl(
        {type_name: {each: {} for each in sorted(made - {without})}}, needs={type_name: listing}, listed=[]
    )


def everything(type_name: str, *but: int) -> dict[str, str]:
    """All properties that are known of the resource, but for parts of its identifier at some positions."""
    resource_type = SHAPES[type_name]
    parts = dict(zip(resource_type.identifier, parts_of(type_name), strict=True))
    without = {resource_type.identifier[position] for position in but}
    return {name: text for name, text in (inputs(type_name) | parts).items() if name not in without}


def inputs(type_name: str) -> dict[str, str]:
    """What its service asks for before it lists."""
    resource_type = SHAPES[type_name]
    parts = dict(zip(resource_type.identifier, parts_of(type_name), strict=True))
    return {value_of: parts.get(value_of, "given") for _, value_of in (resource_type.required_inputs or [()])[0]}


def test_there_are_hundreds() -> None:
    assert len(ORDINARY) > 300
    assert len(WITH_OWN) > 250
    assert sum(len(SHAPES[name].identifier) > 2 for name in ORDINARY) > 60


@of_each_shape(ORDINARY)
def test_the_whole_identifier_is_asked_for_once(type_name: str) -> None:
    whole, there = "|".join(parts_of(type_name)), cloud(type_name)
    found = finder(there).find(ResourceQuery(type_name, physical_id=whole))
    assert found.identifier == whole
    assert there.calls == {"GetResource": 1}
    gone = ResourceQuery(type_name, physical_id=whole)
    with pytest.raises(NoSuchResourceError):
        finder(cloud(type_name, without=whole)).identifier(gone)


@of_each_shape(ORDINARY)
def test_a_part_tells_it_where_all_others_are_known(type_name: str) -> None:
    parts = parts_of(type_name)
    for position, part in enumerate(parts):
        there = cloud(type_name)
        wanted = ResourceQuery(type_name, physical_id=part, properties=everything(type_name, position))
        assert finder(there).identifier(wanted) == "|".join(parts)
        assert there.calls == {"GetResource": 1}
        with pytest.raises(NoSuchResourceError):
            finder(cloud(type_name, without="|".join(parts))).identifier(wanted)


@of_each_shape(WITH_OWN)
def test_its_own_part_tells_it_from_its_siblings_with_no_more_than_the_service_asks_for(type_name: str) -> None:
    resource_type, parts = SHAPES[type_name], parts_of(type_name)
    assert resource_type.own is not None
    at = resource_type.own
    own = parts[at]
    siblings = [
        "|".join([*parts[: resource_type.own], other, *parts[resource_type.own + 1 :]])
        for other in (f"x-{own}", f"{own}/x")
    ]
    named_so = "|".join([part if part == own else f"other-{part}" for part in parts])
    wanted = ResourceQuery(type_name, physical_id=own, properties=inputs(type_name))
    there = FakeCloudControl({type_name: {each: {} for each in ["|".join(parts), *siblings]}})
    assert finder(there).identifier(wanted) == "|".join(parts)
    if not set(resource_type.identifier) & set(wanted.properties):  # Nothing is known of its parents.
        there.add(type_name, named_so)
        with pytest.raises(AmbiguousError, match="could be"):
            finder(there).identifier(wanted)


@of_each_shape(WITHOUT)
def test_where_no_part_is_its_own_one_alone_tells_nothing(type_name: str) -> None:
    with pytest.raises(MissingPropertyError) as refused:
        finder(cloud(type_name)).identifier(ResourceQuery(type_name, physical_id=parts_of(type_name)[0]))
    assert tuple(refused.value.identifier) == SHAPES[type_name].identifier
    assert "Or give its whole identifier" in str(refused.value)


@of_each_shape([name for name in WITH_OWN if SHAPES[name].required_inputs])
def test_what_has_to_be_known_before_it_is_listed_is_reported_without_a_call(type_name: str) -> None:
    resource_type, there = SHAPES[type_name], cloud(type_name)
    assert resource_type.own is not None
    with pytest.raises(MissingPropertyError) as refused:
        finder(there).identifier(ResourceQuery(type_name, physical_id=parts_of(type_name)[resource_type.own]))
    assert list(refused.value.missing) == [value_of for _, value_of in resource_type.required_inputs[0]]
    assert not there.calls


@of_each_shape(ORDINARY)
def test_an_error_is_no_answer(type_name: str) -> None:
    there = cloud(type_name)
    there.failing = {"GetResource": [error("AccessDeniedException")]}
    with pytest.raises(LookUpDeniedError):
        finder(there).identifier(ResourceQuery(type_name, physical_id="|".join(parts_of(type_name))))
