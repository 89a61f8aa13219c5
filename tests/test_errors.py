"""The texts of errors: those of the contract to the letter, and every one short, whatever it is about."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import walk_packages
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from strongref import errors, refusals
from strongref.aws import errors as api_errors
from strongref.errors import StrongRefError
from strongref.macro.errors import TemplateError
from strongref.protocol.verification import EventRejectedError
from strongref.refusals import (
    ConflictingExportError,
    ExportsInUseError,
    ExportsKeptError,
    InUse,
    TooManyClaimsError,
    UnsettledError,
)
from strongref.text import NAMES_LIMIT, REASON_LIMIT, cut, filled, some, stack_text
from strongref_cli.doctor.republishing import StillChangingError
from strongref_toolkit.errors import CallerDeniedError
from tests.support.builders import SHOP, WEB, stack_arn
from tests.support.error_texts import CASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
NETWORK = "stack network (eu-west-1, 111111111111)"
WEB_TEXT = "stack web (us-east-1, 111111111111)"
SHOP_TEXT = "stack shop (us-east-1, 111111111111)"
CHANGE_WAY_OUT = "Remove that import first, or set OnChange: propagate. Nothing was changed."
CHANGES_WAY_OUT = CHANGE_WAY_OUT.replace("that import", "those imports")
DROP_WAY_OUT = "Remove that import first. Nothing was changed."
DROPS_WAY_OUT = DROP_WAY_OUT.replace("that import", "those imports")


def test_what_fails_has_another_result_and_what_has_no_time_has_none() -> None:
    def attempt(error: StrongRefError) -> str:
        raise error

    assert errors.or_else(lambda: "found", None) == "found"
    assert errors.or_else(lambda: attempt(errors.OutdatedRequestError("Exports")), None) is None
    with pytest.raises(errors.UnfinishedError):
        errors.or_else(lambda: attempt(errors.InvocationTimeoutError()), None)


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
            f"CertArn cannot be changed: it is imported by {SHOP_TEXT} and {WEB_TEXT}. {CHANGES_WAY_OUT}",
        ),
        (
            [InUse("CertArn", "changed", (SHOP,)), InUse("CertArn", "changed", (WEB,))],  # in two regions
            f"CertArn cannot be changed: it is imported by {SHOP_TEXT} and {WEB_TEXT}. {CHANGES_WAY_OUT}",
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
                f"dropped either. {DROPS_WAY_OUT}"
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
            + f" and 3 more. {CHANGES_WAY_OUT}",
        ),
    ],
)
def test_who_imports_what_is_reported_to_the_letter(uses: list[InUse], text: str) -> None:
    assert str(ExportsInUseError(uses)) == text


NOT_SHOWN = {
    ("ThrottledError", "target"),
    ("OutOfTimeError", "code"),
    ("StandardTierError", "action"),
    ("StandardTierError", "code"),
    ("RoleDeniedError", "region"),
    *(("AccountNotListedError", name) for name in ("action", "code", "region")),
}
"""Data of a base class that does not matter for these."""

CUT = {"bad-long-name"}
"""Cases about something that is too long to be shown whole."""

FUNCTIONS = {
    name: error
    for name, make in CASES.items()
    if name not in CUT and (error := make()).__module__.startswith("strongref.")
}


@pytest.mark.parametrize("error", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_text_is_short_and_shows_what_the_error_carries(error: StrongRefError) -> None:
    text = str(error)
    assert len(text) < REASON_LIMIT
    assert len(text.splitlines()) == 1
    fields: Iterable[str] = getattr(error, "__dataclass_fields__", ())
    shown = [getattr(error, name) for name in fields if (type(error).__name__, name) not in NOT_SHOWN]
    assert [data for data in shown if isinstance(data, str) and data.casefold() not in text.casefold()] == []


OF_COMMANDS = [
    (
        CallerDeniedError("PutParameter", "AccessDenied", "/strongref/a", "us-east-1"),
        "PutParameter of /strongref/a in us-east-1 was denied (AccessDenied). Check the caller's permissions, ",
        "permissions boundary and service control policies; docs/security.md lists what each command needs.",
    ),
    (
        api_errors.LookUpDeniedError("ListResources", "AccessDenied", "AWS::SNS::Topic", "eu-west-1"),
        "ListResources of AWS::SNS::Topic in eu-west-1 was denied (AccessDenied). Check that the caller may call it, ",
        "and may read such resources: Cloud Control calls their service on its behalf.",
    ),
    (
        StillChangingError("stack network", "MoreExports"),
        "The exports of stack network are still being changed (by MoreExports). ",
        "Run the command again when that has finished.",
    ),
    (
        EventRejectedError("CloudFormation does not wait for it"),
        "The event was rejected: CloudFormation does not wait for it. ",
        "Nothing was done for it.",
    ),
]
"""Errors that only commands and logs show, each with the two halves of its text."""


@pytest.mark.parametrize(("error", "text", "more"), OF_COMMANDS)
def test_what_only_commands_and_logs_show_is_said_to_the_letter(error: StrongRefError, text: str, more: str) -> None:
    assert str(error) == text + more


def test_every_error_descends_from_one() -> None:
    modules = (errors, refusals, api_errors)
    found = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    found = [each for each in found if issubclass(each, Exception)]
    assert len(found) > 40
    assert all(issubclass(each, StrongRefError) for each in found)


@pytest.mark.parametrize(
    "error",
    [
        ExportsInUseError([InUse("Alb/Sg/Id", "changed", (WEB,))]),
        ExportsKeptError([InUse("Alb/Sg/Id", "kept", (WEB,))]),
        ConflictingExportError(["Alb/Sg/Id"], "Exports"),
        UnsettledError(["Alb/Sg/Id"], NETWORK),
        TooManyClaimsError(["Alb/Sg/Id"], NETWORK),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_key_is_shown_as_templates_spell_it(error: StrongRefError) -> None:
    assert "Alb.Sg.Id " in str(error)
    assert "Alb/Sg/Id" not in str(error)


def test_long_keys_do_not_hide_who_imports_them() -> None:
    assert WEB_TEXT in str(ExportsInUseError([InUse("k" * 300 + str(n), "changed", (WEB,)) for n in range(20)]))


def test_a_stack_is_reported_by_name_region_and_account_and_what_is_none_as_it_is() -> None:
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


def declared_errors(of: type[StrongRefError] = StrongRefError) -> Iterator[type[StrongRefError]]:
    for each in of.__subclasses__():
        yield each
        yield from declared_errors(each)


def every_module() -> None:
    for package in ("strongref", *(path.name for path in (ROOT / "src").glob("*_*"))):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)


def test_every_sentence_is_what_its_error_says_and_names_only_what_the_error_has() -> None:
    every_module()
    found = {each for each in declared_errors() if "sentence" in vars(each)}
    hidden = [each for each in found if not (each.__str__ is StrongRefError.__str__ or issubclass(each, TemplateError))]
    paths = [(each, path) for each in found for _, path, _, _ in Formatter().parse(each.sentence) if path]
    unknown = [
        (each, path)
        for each, path in paths
        if (name := path.partition(".")[0]) not in signature(each).parameters and not hasattr(each, name)
    ]
    assert len(found) > 100
    assert (hidden, unknown) == ([], [])


class Shown(NamedTuple):
    text: str
    names: tuple[str, ...]
    number: int = 3


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("{text} and {text:5}", "a long text and a lo…"),
        ("{text!r}, {text!r:5}", "'a long text', 'a lo…'"),
        ("{names}", "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more"),
        ("{names:2} of {number}", "n0, n1 and 10 more of 3"),
        ("{text.__class__:9}", "<class '…"),
        ("{{{text.__class__.__name__}}}", "{str}"),
        ("nothing", "nothing"),
    ],
)
def test_a_sentence_is_filled_with_attributes(sentence: str, text: str) -> None:
    assert filled(sentence, Shown("a long text", tuple(f"n{number}" for number in range(12)))) == text


def test_a_list_in_a_sentence_leaves_room_for_the_rest() -> None:
    assert len(filled("{names}", Shown("", ("n" * 400, "m" * 400)))) == NAMES_LIMIT
