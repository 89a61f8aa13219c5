"""Names follow the contract, and can be parsed again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import (
    SHARED,
    BadArnError,
    ExportScope,
    Key,
    Producer,
    StackArn,
    arn_prefix_length,
    claim_tag,
    consumer_prefix,
    is_level,
    owner_tag,
    short_hash,
)
from tests.support.builders import SCOPE, WEB

LEVEL = st.text("abcXYZ019_-", min_size=1, max_size=20)


def test_the_three_trees_have_the_names_of_the_contract() -> None:
    assert SCOPE.path("exports") == "/strongref/exports/web/111111111111/eu-west-1/network"
    assert SCOPE.path("records") == "/strongref/records/web/111111111111/eu-west-1/network"
    assert SCOPE.path("fences") == "/strongref/fences/web/111111111111/eu-west-1/network"
    assert SCOPE.parameter_name(Key("Alb/SecurityGroup/Id")) == f"{SCOPE.path('exports')}/Alb/SecurityGroup/Id"
    assert (
        ExportScope(SHARED, SCOPE.producer).path("exports")
        == "/strongref/exports/_shared/111111111111/eu-west-1/network"
    )


def test_a_producer_is_named_with_its_region_and_account() -> None:
    assert str(SCOPE.producer) == "stack network (eu-west-1, 111111111111)"


def test_a_consumers_prefix_covers_its_exports_and_none_of_a_longer_name() -> None:
    longer = ExportScope("web-2", SCOPE.producer)
    assert SCOPE.path("exports").startswith(f"{consumer_prefix('web')}/")
    assert not longer.path("exports").startswith(f"{consumer_prefix('web')}/")


@given(LEVEL, LEVEL, LEVEL, LEVEL, st.lists(LEVEL, min_size=1, max_size=9))
def test_a_name_is_parsed_into_scope_and_key(
    consumer: str, account: str, region: str, stack: str, key: list[str]
) -> None:
    scope = ExportScope(consumer, Producer(account, region, stack))
    name = scope.parameter_name(Key("/".join(key)))
    assert ExportScope.of("exports", name) == scope
    assert scope.key(name) == "/".join(key)


@pytest.mark.parametrize(
    "name",
    ["/strongref/exports", "/strongref/exports/web/1/eu-west-1", "/strongref/exports/web/1/eu-west-1/network", ""],
)
def test_a_name_with_too_few_levels_has_no_scope(name: str) -> None:
    assert ExportScope.of("exports", name) is None


def test_a_stack_arn_is_parsed_and_formatted() -> None:
    arn = StackArn.parse("arn:aws-cn:cloudformation:cn-north-1:123456789012:stack/web-2/51af3dc0-da77-11e4-872e-12345")
    assert (arn.partition, arn.region, arn.account) == ("aws-cn", "cn-north-1", "123456789012")
    assert (arn.name, arn.unique) == ("web-2", "51af3dc0-da77-11e4-872e-12345")
    assert str(StackArn.parse(str(arn))) == str(arn)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "web",
        f"{WEB}/more",
        f"{WEB}\n",
        WEB.replace("111111111111", "1111"),
        WEB.replace("111111111111", "\u0661" * 12),
        WEB.replace("stack/web", "stack/1web"),
        WEB.replace("stack/", "stackset/"),
        WEB.replace("cloudformation", "ssm"),
        "x" * 5000,
    ],
)
def test_a_text_that_is_not_a_stack_arn_is_rejected_and_shown(text: str) -> None:
    with pytest.raises(BadArnError) as refused:
        StackArn.parse(text)
    assert repr(text)[:50] in str(refused.value)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("text", ["a", "Z", "0", "_", "-", "CertArn", "a-b_c", "a" * 500])
def test_letters_digits_underscore_and_dash_make_a_level(text: str) -> None:
    assert is_level(text)


@pytest.mark.parametrize("text", ["", "a b", "a/b", "a.b", "ä", "\u0663", "a\n", "{", "a:b", "🙂"])
def test_other_characters_do_not_make_a_level(text: str) -> None:
    assert not is_level(text)


@given(st.text(max_size=300))
def test_tags_of_an_owner_and_a_claim_fit_and_differ(text: str) -> None:
    owner, claim = owner_tag(text), claim_tag(text)
    assert owner == f"strongref:export:{short_hash(text)}"
    assert claim == f"strongref:claim:{short_hash(text)}"
    assert len(short_hash(text)) == 16
    assert set(short_hash(text)) <= set("0123456789abcdef")
    assert max(len(owner), len(claim)) <= 128


def test_another_id_has_another_tag() -> None:
    ids = [f"strongref-import/web/Imports/{number}" for number in range(1000)]
    assert len({claim_tag(each) for each in ids}) == 1000


def test_an_arn_prefix_is_counted_with_partition_region_and_account() -> None:
    assert arn_prefix_length("aws", "eu-west-1", "111111111111") == len("arn:aws:ssm:eu-west-1:111111111111:parameter")
