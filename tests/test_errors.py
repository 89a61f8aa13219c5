"""The texts of errors: those of the contract to the letter, and every one short, whatever it is about."""

from __future__ import annotations

import pytest

from strongref import errors
from strongref.errors import (
    AccessDeniedError,
    BadRequestError,
    ChangingError,
    ConflictingExportError,
    ExportsInUseError,
    ExportsKeptError,
    ForeignParameterError,
    InUse,
    NoSuchExportError,
    NoSuchProducerError,
    NothingExportedError,
    OutOfTimeError,
    StackLookupError,
    StoreError,
    StrongRefError,
    ThrottledError,
    TooManyClaimsError,
    UnreadableRecordError,
    UnsettledError,
)
from strongref.text import cut, some, stack_text
from tests.support.builders import SHOP, WEB, stack_arn

NETWORK = "stack network (eu-west-1, 111111111111)"
WEB_TEXT = "stack web (us-east-1, 111111111111)"
SHOP_TEXT = "stack shop (us-east-1, 111111111111)"
CHANGE_WAY_OUT = "Remove that import first, or set OnChange: propagate. Nothing was changed."
DROP_WAY_OUT = "Remove that import first. Nothing was changed."


def in_use(keys: int, verb: str = "changed", importers: tuple[str, ...] = (WEB,), first: int = 1) -> list[InUse]:
    return [InUse(f"K{number}", verb, importers) for number in range(first, first + keys)]


TEN = "K1, K2, K3, K4, K5, K6, K7, K8, K9"


@pytest.mark.parametrize(
    ("uses", "text"),
    [
        (
            [InUse("CertArn", "changed", (WEB,))],
            f"CertArn cannot be changed: it is imported by {WEB_TEXT}. {CHANGE_WAY_OUT}",
        ),
        (
            [InUse("CertArn", "dropped", (WEB,))],
            f"CertArn cannot be dropped: it is imported by {WEB_TEXT}. {DROP_WAY_OUT}",
        ),
        (
            [InUse("CertArn", "changed", (SHOP, WEB))],
            f"CertArn cannot be changed: it is imported by {SHOP_TEXT} and {WEB_TEXT}. {CHANGE_WAY_OUT}",
        ),
        (in_use(2), f"K1 and K2 cannot be changed: they are imported by {WEB_TEXT}. {CHANGE_WAY_OUT}"),
        (
            [*in_use(1), *in_use(2, "dropped", first=2)],
            (
                f"K1 cannot be changed: it is imported by {WEB_TEXT}. K2 and K3 cannot be dropped: they are imported "
                f"by {WEB_TEXT}. {DROP_WAY_OUT}"
            ),
        ),
        (in_use(10), f"{TEN} and K10 cannot be changed: they are imported by {WEB_TEXT}. {CHANGE_WAY_OUT}"),
        (in_use(11), f"{TEN}, K10 and 1 more cannot be changed: they are imported by {WEB_TEXT}. {CHANGE_WAY_OUT}"),
        (in_use(99), f"{TEN}, K10 and 89 more cannot be changed: they are imported by {WEB_TEXT}. {CHANGE_WAY_OUT}"),
        (
            [*in_use(10), *in_use(2, "dropped", (SHOP,), first=11)],
            (
                f"{TEN} and K10 cannot be changed: they are imported by {WEB_TEXT}. 2 more cannot be changed or "
                f"dropped either. {DROP_WAY_OUT}"
            ),
        ),
        (
            [*in_use(9), *in_use(3, "dropped", first=10)],
            (
                f"K1, K2, K3, K4, K5, K6, K7, K8 and K9 cannot be changed: they are imported by {WEB_TEXT}. K10 and 2 "
                f"more cannot be dropped: they are imported by {WEB_TEXT}. {DROP_WAY_OUT}"
            ),
        ),
        (
            [InUse("A", "changed", tuple(stack_arn(f"s{number}") for number in range(8)))],
            "A cannot be changed: it is imported by "
            + ", ".join(f"stack s{number} (us-east-1, 111111111111)" for number in range(5))
            + f" and 3 more. {CHANGE_WAY_OUT}",
        ),
    ],
)
def test_who_imports_what_is_told_to_the_letter(uses: list[InUse], text: str) -> None:
    assert str(ExportsInUseError(uses)) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (BadRequestError("Region", "'x' came"), "Region: 'x' came"),
        (
            StoreError("PutParameter", "InternalServerError", "/a", "us-east-1"),
            "PutParameter of /a in us-east-1 failed: InternalServerError.",
        ),
        (
            AccessDeniedError("PutParameter", "AccessDeniedException", "/a", "us-east-1"),
            (
                "PutParameter of /a in us-east-1 was denied (AccessDeniedException). Check the function's role, its "
                "permissions boundary and service control policies."
            ),
        ),
        (
            ThrottledError("PutParameter", "ThrottlingException", "/a", "us-east-1"),
            "PutParameter in us-east-1 was throttled (ThrottlingException) until the time was up. Deploy again.",
        ),
        (
            OutOfTimeError("PutParameter", "", "/a", "us-east-1"),
            "The time was up before PutParameter of /a in us-east-1. Deploy again: it goes on from here.",
        ),
        (
            StackLookupError("web", "us-east-1", "Throttling"),
            "CloudFormation in us-east-1 could not be asked about stack web: Throttling.",
        ),
        (
            ExportsKeptError([InUse("A", "kept", (WEB,)), InUse("B", "kept", (SHOP,)), InUse("C", "kept", (SHOP,))]),
            (
                f"A stays: imported by {WEB_TEXT}. B and C stay: imported by {SHOP_TEXT}. The export is withdrawn: "
                "nobody can import it anew, and the value goes when its last import does."
            ),
        ),
        (
            ForeignParameterError({"/strongref/a": SHOP, "/strongref/b": None}),
            (
                f"Parameter /strongref/a (and 1 more) is not this stack's to write: it belongs to {SHOP_TEXT}. Delete "
                "that parameter, or export under another name. Nothing of it was touched."
            ),
        ),
        (
            ForeignParameterError({"/strongref/a": None}),
            (
                "Parameter /strongref/a is not this stack's to write: it was not made by strongref. Delete that "
                "parameter, or export under another name. Nothing of it was touched."
            ),
        ),
        (
            ConflictingExportError(["A", "B"], "More"),
            (
                "A and B cannot be exported: More in the same stack exports the same name with another value. Give one "
                "of them another name, or both the same value. Nothing was changed."
            ),
        ),
        (
            ChangingError(NETWORK, "Exports, until noon"),
            f"The exports of {NETWORK} are being changed right now (by Exports, until noon). Deploy again in a moment.",
        ),
        (
            UnreadableRecordError("/strongref/records/x/More", "More"),
            (
                "Record /strongref/records/x/More cannot be read. Deploy More with another Revision to write it anew; "
                "until then nothing is changed beside it."
            ),
        ),
        (
            UnsettledError(["A", "B"], NETWORK),
            (
                f"What is stored for A and B is not what {NETWORK} exports: a change of it did not come to its end, or "
                "it was changed by hand. Deploy the exporting stack with another Revision, then this one again."
            ),
        ),
        (
            NoSuchProducerError(NETWORK),
            (
                f"Nothing to import: {NETWORK} does not exist. Check From (Stack, Region, Account), or deploy that "
                "stack first."
            ),
        ),
        (
            NothingExportedError(NETWORK, "web", "us-east-1", known=True, elsewhere=False),
            (
                f"Nothing to import: {NETWORK} exists, but exports nothing to consumer web in us-east-1. Check the "
                "Export's Region (us-east-1) and Consumer (web) there, or the Import's Consumer here."
            ),
        ),
        (
            NothingExportedError(NETWORK, None, "us-east-1", known=False, elsewhere=False),
            (
                f"Nothing to import: {NETWORK} (which cannot be asked about from here) exports nothing as shared in "
                "us-east-1. Check the Export's Region (us-east-1) and Consumer (left out) there, or the Import's "
                "Consumer here."
            ),
        ),
        (
            NothingExportedError(NETWORK, "web", "us-east-1", known=True, elsewhere=True),
            (
                f"Nothing to import: {NETWORK} exists, but exports nothing to consumer web in us-east-1. It has shared "
                "exports: set Shared: true."
            ),
        ),
        (
            NothingExportedError(NETWORK, None, "us-east-1", known=True, elsewhere=True),
            (
                f"Nothing to import: {NETWORK} exists, but exports nothing as shared in us-east-1. It exports to this "
                "consumer alone: leave Shared out."
            ),
        ),
        (
            NoSuchExportError({"CertArm": ["CertArn", "Cert"]}, NETWORK, ["CertArn", "Cert"]),
            (
                "Stack network (eu-west-1, 111111111111) does not export CertArm (did you mean CertArn or Cert?) to "
                "this consumer. Export it there first, or correct Names."
            ),
        ),
        (
            NoSuchExportError({"A": ["AB"], "Zone": []}, NETWORK, ["AB", "B", "C", "D", "E", "F", "G"]),
            (
                "Stack network (eu-west-1, 111111111111) does not export A (did you mean AB?) and Zone to this "
                "consumer. It exports AB, B, C, D, E and 2 more. Export it there first, or correct Names."
            ),
        ),
        (
            TooManyClaimsError(["A"], NETWORK),
            (
                f"A of {NETWORK} cannot be imported once more: SSM allows 50 tags on a parameter, and each import is "
                "one. Give this consumer an Export of its own (Consumer: …), or import weakly (Strength: weak). "
                "Nothing was claimed."
            ),
        ),
    ],
)
def test_an_error_says_what_is_wrong_where_and_what_to_do(error: StrongRefError, text: str) -> None:
    assert str(error) == text


def test_every_error_descends_from_one() -> None:
    found = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert len(found) > 15
    assert all(issubclass(each, StrongRefError) for each in found)


def test_long_keys_do_not_hide_who_imports_them() -> None:
    assert WEB_TEXT in str(ExportsInUseError([InUse("k" * 300 + str(n), "changed", (WEB,)) for n in range(20)]))


def test_a_stack_is_told_by_name_region_and_account_and_what_is_none_as_it_is() -> None:
    assert stack_text(WEB) == WEB_TEXT
    assert stack_text("somebody") == "'somebody'"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ],
)
def test_names_are_listed_up_to_a_number(names: list[str], text: str) -> None:
    assert some(names, 3) == text


def test_a_text_is_cut_with_an_ellipsis() -> None:
    assert cut("abcd", 4) == "abcd"
    assert cut("abcde", 4) == "abc…"
