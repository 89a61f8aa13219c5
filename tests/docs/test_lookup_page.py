"""What its page says is so: options, errors, rules, numbers, and how the importer's rules would answer."""

from __future__ import annotations

import re

import pytest

from strongref.aws.retry_and_rate_limit import FIRST_RATES
from strongref.errors import NoSuchResourceError
from strongref.lookup import arn_search, errors, overrides, reader
from strongref.lookup.errors import AmbiguousError
from strongref.lookup.query import ResourceQuery
from tests.support.commands import arguments_of
from tests.support.documents import ROOT, names_in, rows
from tests.support.fake_cloudcontrol import FakeCloudControl, finder

PAGE = "docs/extras/lookups.md"
TEXT = (ROOT / PAGE).read_text()


def table(beginning: str) -> list[list[str]]:
    """The rows of the table with such a head; a cell may hold an escaped `|`."""
    lines = TEXT[TEXT.index(beginning) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_documented_options_are_the_commands() -> None:
    assert names_in(rows(PAGE, "Options")) == arguments_of("lookup")


def test_every_error_of_a_lookup_is_explained() -> None:
    kinds = {name for name, kind in vars(errors).items() if getattr(kind, "__module__", "") == errors.__name__}
    assert {name for name in kinds - {"RejectedLookupError"} if f"`{name}`" not in TEXT} == set()


def test_every_type_with_a_rule_of_its_own_is_reported() -> None:
    different = (overrides.STRATEGIES, overrides.IDENTIFIERS, overrides.OWN, overrides.DERIVED)
    assert {row[0].strip("`") for row in table("| Type | What is different |")} == {
        name for each in different for name in each
    }


@pytest.mark.parametrize(
    "reported",
    [
        f"up to {['', 'one', 'two', 'three', 'four', 'five'][reader.LIST_ATTEMPTS]} times",
        f"at most {arn_search.MAX_READS} of them",
        f"{['', '', '', '', '', 'five'][int(FIRST_RATES.resources)]} a second to begin with",
    ],
)
def test_the_numbers_are_the_codes(reported: str) -> None:
    assert reported in " ".join(TEXT.split())


def the_importers(identifiers: list[str], physical_id: str) -> str | None:
    """What its rule finds: the first that begins or ends so."""
    return next((each for each in identifiers if each.startswith(physical_id) or each.endswith(physical_id)), None)


@pytest.mark.parametrize("row", table("| Type | In this order there are"), ids=lambda row: row[0])
def test_the_examples_next_to_the_importers_rules_come_out_as_reported(row: list[str]) -> None:
    kind, there, looked_for, importers, ours = row
    type_name, *given = re.findall("`([^`]+)`", kind)
    identifiers, physical_id = re.findall("`([^`]+)`", there), looked_for.strip("`")
    reported = {"the first": [identifiers[0]], "none": [], "both, an error": identifiers}
    reported |= {"the second": identifiers[1:2]}
    found = the_importers(identifiers, physical_id)
    assert [found] == reported[importers]

    cloud = FakeCloudControl({type_name: {each: {"ManagedPolicyName": each.split("/")[-1]} for each in identifiers}})
    known = dict(text.split("=") for text in given)
    try:
        answer = [finder(cloud).identifier(ResourceQuery(type_name, physical_id=physical_id, properties=known))]
    except NoSuchResourceError:
        answer = []
    except AmbiguousError as error:
        answer = [*error.identifiers]
    assert answer == reported[ours]


def test_an_empty_physical_id_fits_the_importers_first_resource() -> None:
    assert the_importers(["a", "b"], "") == "a"
