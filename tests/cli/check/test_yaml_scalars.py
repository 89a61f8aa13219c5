"""What stands in a template without quotes is what CloudFormation reads, and not what it looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref_cli.check.comparison import Comparison
from strongref_cli.check.parameters import new_names
from strongref_cli.check.report import Verdict
from strongref_cli.check.unknown import Unknown, plain, text_of
from strongref_cli.check.updates import Stays
from strongref_manifests.text.templates import read
from tests.support.builders import WEB, values
from tests.support.checks import exporting, stored, template, update, version

if TYPE_CHECKING:
    from tests.support.checks import Template

UNKNOWN = None


def exported(scalar: str) -> Template:
    """A template that exports what is written so in YAML."""
    return {**read("x.yaml", f"Resources: {{E: {{A: {scalar}}}}}").content["Resources"]["E"]}


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("012345670123", "1402433619"), ("0x1F", "31"), ("1_000", "1000"), ("+5", "5"), ("12:30:45", "45045"),
        ("0b11", "3"), ("yes", "true"), ("No", "false"), ("on", "true"), ("y", "y"), ("-0", "0"),
        # Text for every reader, or a number that all write in the same way.
        ("089", "089"), ("123456789012", "123456789012"), ("2012-10-17", "2012-10-17"), ("1.5", "1.5"),
        ("0o17", "0o17"), ("1.2.3", "1.2.3"), ("10.0.0.0/16", "10.0.0.0/16"),
        # It is not documented what CloudFormation makes of these.
        ("1.50", UNKNOWN), ("1e3", UNKNOWN), ("1_0.5", UNKNOWN), (".5", UNKNOWN), ("2012-13-45", UNKNOWN),
        ("2012-10-17T10:00:00Z", UNKNOWN), (".inf", UNKNOWN),
    ],
)  # fmt: skip
def test_a_scalar_without_quotes_is_what_cloudformation_reads(written: str, sent: str | None) -> None:
    version_of_it = version(template(Exports=exporting(exported(written))))
    properties = version_of_it.resources["Exports"].properties
    assert isinstance(properties, dict)
    found = properties["Values"]
    assert isinstance(found, dict)
    assert (None if isinstance(found["A"], Unknown) else text_of(found["A"])) == sent
    if sent is not UNKNOWN:
        assert exported(f"'{sent}'")["A"] == sent


@pytest.mark.parametrize(
    ("before", "stored_as", "after", "expected"),
    [
        ("012345670123", "1402433619", "'012345670123'", Verdict.REFUSED),
        ("012345670123", "1402433619", "'1402433619'", Verdict.ACCEPTED),
        ("yes", "true", "'yes'", Verdict.REFUSED),
        ("1.50", "1.5", "1.50", Verdict.ACCEPTED),
        ("1.50", "1.5", "'1.5'", Verdict.ACCEPTED),
        ("'1.50'", "1.50", "1.50", Verdict.UNKNOWN),
    ],
)
def test_quotes_make_a_difference(before: str, stored_as: str, after: str, expected: Verdict) -> None:
    old, new = (template(Exports=exporting(exported(each))) for each in (before, after))
    assert update(old, new, stored(values(A=stored_as), {"A": (WEB,)})).verdict is expected


def test_a_number_that_is_written_as_before_stays() -> None:
    old = version(template(Exports=exporting({"A": "x"})))
    assert Comparison(old, old).stays(plain("1.50"), plain("1.50")) is Stays.YES


def test_the_default_of_a_parameter_is_read_as_well() -> None:
    written = "Parameters: {A: {Type: String, Default: 010}, B: {Type: String, Default: 1.50}}"
    names = new_names(read("x.yaml", f"{written}\nResources: {{}}").content, {}, {})
    assert names["A"] == "8"
    assert isinstance(names["B"], Unknown)
