"""What the page of lookups says is so: its numbers and its examples of what matches."""

from __future__ import annotations

from strongref.contract.response import RESPONSE_LIMIT
from strongref.lookup import arn_search, custom_resource, overrides
from tests.support.documents import ROOT

PAGE = "docs/extras/lookups.md"
TEXT = " ".join((ROOT / PAGE).read_text().split())


def test_the_numbers_are_the_codes() -> None:
    assert f"at most {arn_search.MAX_READS} resources" in TEXT
    assert f"at most {RESPONSE_LIMIT:,} bytes" in TEXT
    assert f"1 to {custom_resource.MAX_TAGS} tags" in TEXT


def test_the_type_with_rules_of_its_own_has_them() -> None:
    assert "Types such as `AWS::Events::Rule` have their own rules" in TEXT
    assert "AWS::Events::Rule" in overrides.STRATEGIES
