"""Lost, torn, left over: each is found, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.contract.values import ParameterType, Value
from tests.support.builders import NETWORK, SCOPE, WEB, values
from tests.support.cloud import Cloud
from tests.support.invariants import (
    UNREADABLE,
    Name,
    Reference,
    leftovers,
    lost,
    published,
    records,
    stored,
    torn,
    torn_values,
)

if TYPE_CHECKING:
    from tests.support.fake_ssm import FakeParameter

US = "us-east-1"
(A,) = values(A="")
NAME = SCOPE.parameter_name(A)
CLAIM = ("strongref:claim:1", WEB)
REFERENCE = Reference((US, NAME), frozenset({CLAIM}), Value(ParameterType.STRING, "a1"))


@pytest.fixture
def there() -> dict[Name, FakeParameter]:
    """The value A of the stack network, exported and claimed."""
    cloud = Cloud()
    cloud.deploy("network", "eu-west-1", {"Exports": {"Region": US, "Consumer": "web", "Values": {"A": "a1"}}})
    tags = [{"Key": CLAIM[0], "Value": CLAIM[1]}]
    cloud.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=NAME, Tags=tags)
    return stored(cloud.regions)


def said(there: dict[Name, FakeParameter]) -> list[Value]:
    return published(REFERENCE, records(there))


def test_where_all_is_well_nothing_is_found(there: dict[Name, FakeParameter]) -> None:
    assert lost(REFERENCE, there) is None
    assert torn(REFERENCE, said(there)) is None
    assert torn_values(there) == []


@pytest.mark.parametrize(
    ("change", "how"),
    [
        ({"text": "a2"}, "another value"),
        ({"kind": "SecureString"}, "another value"),
        ({"tags": ((CLAIM[0], NETWORK),)}, "claim is gone"),
        ({"tags": ()}, "claim is gone"),
    ],
)
def test_a_reference_is_lost_without_its_value_or_its_claim(
    there: dict[Name, FakeParameter], change: dict[str, object], how: str
) -> None:
    there[US, NAME] = there[US, NAME]._replace(**change)  # type: ignore[arg-type]
    assert how in (lost(REFERENCE, there) or "")


def test_a_reference_is_lost_without_its_parameter(there: dict[Name, FakeParameter]) -> None:
    del there[US, NAME]
    assert lost(REFERENCE, there) == "lost: it is gone"


def test_a_reference_whose_value_may_change_is_lost_without_its_claim_alone(there: dict[Name, FakeParameter]) -> None:
    any_value = Reference(REFERENCE.name, REFERENCE.claims)
    there[US, NAME] = there[US, NAME]._replace(text="a2")
    assert lost(any_value, there) is None
    assert torn(any_value, said(there)) is None
    there[US, NAME] = there[US, NAME]._replace(tags=())
    assert lost(any_value, there)


def test_a_value_is_torn_from_a_record_that_says_another_one(there: dict[Name, FakeParameter]) -> None:
    there[US, NAME] = there[US, NAME]._replace(text="a2")
    assert torn_values(there) == [(US, NAME)]
    assert torn(REFERENCE, [Value(ParameterType.STRING, "a2")]) == "torn: its record has another value"


def test_a_reference_is_torn_without_a_record_and_an_unreadable_one_publishes_nothing(
    there: dict[Name, FakeParameter],
) -> None:
    record = (US, f"{SCOPE.path('records')}/Exports")
    there[record] = there[record]._replace(text="{")
    assert records(there) == {(US, SCOPE.path("records")): {"Exports": UNREADABLE}}
    assert torn(REFERENCE, said(there)) == "torn: no record publishes it"
    del there[record]
    assert records(there) == {}
    assert torn_values(there) == []  # withdrawn, not torn


def test_leftovers_are_named_with_their_region(there: dict[Name, FakeParameter]) -> None:
    assert leftovers(there) == [f"leftover: {name} in {region}" for region, name in sorted(there)]
