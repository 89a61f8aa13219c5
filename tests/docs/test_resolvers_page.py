"""What docs/extras/manifests.md says of tokens, options and errors is so. Its commands run in the end-to-end tests."""

from __future__ import annotations

import re

import pytest

from strongref.errors import StrongRefError
from strongref_manifests import errors
from strongref_manifests.leftovers import leftover
from strongref_manifests.tokens import BY_DEFAULT, FORMS, NOWHERE, ON_DEMAND, Token, parse
from strongref_toolkit import errors as toolkit_errors
from tests.support.cdk8s_errors import CASES as CDK8S_CASES
from tests.support.commands import arguments_of
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.resolver_errors import CASES

PAGE = "docs/extras/manifests.md"
TEXT = (ROOT / PAGE).read_text()


def test_the_documented_tokens_are_those_that_there_are() -> None:
    documented = {form for first, *_ in rows(PAGE, "Tokens") for form in re.findall("`([^`]+)`", first)}
    assert documented == {form for forms in FORMS.values() for form in forms.split(" or ")}


def test_tokens_are_resolved_by_default_or_on_demand_as_documented() -> None:
    for first, _, how in rows(PAGE, "Tokens"):
        (token, *_) = parse(re.findall("`([^`]+)`", first)[0])
        assert isinstance(token, Token)
        if token.scheme in BY_DEFAULT:
            assert how == "always"
        else:
            assert how == ("with `--tf STATE`" if token.scheme == "tf" else f"with `--with {token.scheme}`")
            assert token.scheme in (*ON_DEMAND, "tf")


def test_the_documented_options_are_those_that_there_are() -> None:
    assert names_in(rows(PAGE, "Options")) == {each for each in arguments_of("resolve") if each.startswith("-")}


def test_every_permission_is_of_a_token() -> None:
    of_tokens = (FORMS.keys() - (NOWHERE - {"tf"})) | {"#ACCOUNT"}
    assert names_in(rows(PAGE, "Secrets")) == of_tokens | {"--claim", "--hold", "--unclaim"}


def test_every_error_of_tokens_and_manifests_is_shown() -> None:
    modules = (errors, toolkit_errors)
    kinds = {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, StrongRefError) and kind.__module__ == module.__name__
    }
    within_others = {toolkit_errors.ResolveError, errors.SeveralError, errors.StackNotFoundError, errors.NotAStackError}
    elsewhere = {toolkit_errors.UsageError, toolkit_errors.UnknownCallerError, toolkit_errors.SelectError}
    shown = {type(make()) for make in (*CASES.values(), *CDK8S_CASES.values())}  # The page of cdk8s shows Terraform's
    assert kinds - within_others - elsewhere <= shown


LONG = "x" * 3000


@pytest.mark.parametrize(
    "error",
    [
        errors.BadTokenError(LONG, CASES["resolve-token"]().args[1]),
        errors.NotEnabledError(LONG, "--tf STATE"),
        errors.TokenInKeyError(LONG),
        errors.TokenNotTextError(LONG, "nothing (null)", "inside a longer text"),
        errors.LooksUnresolvedError(LONG, "a dynamic reference of CloudFormation"),
        toolkit_errors.FetchFailedError("DescribeStackResource", LONG, "us-gov-west-1", "ValidationException"),
        errors.OutputNotFetchedError(LONG, LONG, LONG),
        errors.StackNotFoundError(LONG, "eu-west-1"),
        errors.NotAStackError(LONG, "AWS::S3::Bucket"),
        errors.ResourceNotFoundError(LONG, LONG, "eu-west-1"),
        errors.UnknownAttributeError(LONG, LONG, "x" * 60),
        toolkit_errors.NotExportedError(LONG, "stack x", "x" * 160, [LONG] * 9, "x" * 200),
        toolkit_errors.SecureValueError(LONG),
        errors.NoSuchParameterError(LONG, "eu-west-1"),
        errors.SecretNotReadError(LONG, "eu-west-1", LONG),
        errors.NoSuchVariableError(LONG),
        errors.SeveralError([errors.TokenInKeyError(LONG)] * 9),
        errors.ManifestError(LONG, 1, LONG),
        errors.InputError(LONG),
        toolkit_errors.WriteFailedError(LONG, "no space left on device", 1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_however_long_a_name_is_the_text_is_not(error: StrongRefError) -> None:
    assert len(str(error)) < 1000


def test_the_example_is_the_one_that_is_shown() -> None:
    (block,) = blocks("yaml manifest")
    assert block.text == (ROOT / "examples/manifests/kubernetes/reports.yaml").read_text()


def test_what_is_documented_as_left_over_is() -> None:
    section = TEXT[TEXT.index("\n## Strict\n") : TEXT.index("What is meant to stay is written")]
    documented = [text for line in section.splitlines() if line[:1] == "-" for text in re.findall("`([^`]+)`", line)]
    assert {text: bool(leftover(text)) for text in documented} == dict.fromkeys(documented, True) | {"${…}": True}


def test_what_is_documented_as_left_alone_is() -> None:
    line = TEXT[TEXT.index("**Literal text.**") :].partition("\n\n")[0]
    alone = set(re.findall(r"`([^`\n]+)`", line)) - {"$${", "${"}
    assert alone == {"${HOME}", "$(HOME)", "${PORT:-80}", "${foo:bar}", "${env:-none}"}
    assert [parse(text) for text in sorted(alone)] == [[text] for text in sorted(alone)]
