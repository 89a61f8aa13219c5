"""The texts of errors of tokens, manifests and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref_manifests import errors, forms
from strongref_toolkit import errors as toolkit_errors
from tests.support.cdk8s_errors import CASES as CDK8S_CASES
from tests.support.error_classes import errors_of
from tests.support.resolver_errors import CASES

if TYPE_CHECKING:
    from strongref.errors import StrongRefError

TEXTS = {
    "resolve-output": (
        "Failed fetching output value for output key 'BucketName' (stack: aws). Error: Output not found. Are "
        "you sure you deployed the CDK stack?"
    ),
    "resolve-stack": (
        "Failed fetching output value for output key 'BucketName' (stack: aws). Error: Output not found. Are "
        "you sure you deployed the CDK stack? There is no stack aws in eu-west-1."
    ),
    "resolve-not-a-stack": (
        "Failed fetching output value for output key 'BucketName' (stack: aws.Bucket). Error: Bucket is "
        "not a nested stack but AWS::S3::Bucket."
    ),
    "resolve-resource": (
        "There is no resource Bucket in stack aws in eu-west-1, or no such stack. Check the logical id (the "
        "CDK adds a hash to it), region and account, and that it is deployed."
    ),
    "resolve-attribute": (
        "Endpoint of Cluster cannot be read: only CloudFormation knows the attributes of a Custom::Cluster. "
        "Make it an output of its stack, and write ${cfn:STACK.OUTPUT}."
    ),
    "resolve-export": (
        "Stack network (eu-west-1, 111111111111) does not export VpcID to all in us-east-1. It exports VpcId."
        " Correct the key, or export it there first."
    ),
    "resolve-parameter": ("There is no parameter /site/domain in eu-west-1. Check its name, region and account."),
    "resolve-secret": "Secret db in eu-west-1: its JSON object has no key user.",
    "resolve-variable": ("The environment variable DOMAIN is not set. Set it, or remove the token."),
    "resolve-fetch": (
        "GetParameters of /site/domain in eu-west-1 failed: AccessDeniedException. Check the caller's "
        "credentials and permissions, the account and the region."
    ),
    "resolve-region": ("No region: give --region, set AWS_REGION, or write @REGION at the end of the token."),
    "resolve-time": (
        "AWS's time is unknown: its responses have no Date header. Check which proxy removes it, or run the "
        "command on another machine."
    ),
    "resolve-clock": (
        "This machine's clock jumped by 1800 seconds: the machine was suspended, or its clock was set. Others "
        "may have made changes in that time. Run the command again."
    ),
    "resolve-account": (
        "Account 222222222222 is not the caller's own. Give the role to assume in it: --role "
        "arn:aws:iam::ACCOUNT:role/NAME (ACCOUNT stands for the account)."
    ),
    "resolve-not-enabled": (
        "${ssm:/site/domain} is not resolved by default: add --with ssm. To keep the text as it is, write $${ for ${."
    ),
    "resolve-sensitive": (
        "${ssm:/db/password} is a SecureString. Give --sensitive to write it in plain text, or let the "
        "cluster read it itself."
    ),
    "resolve-token": (
        "${cfn:my_stack.Output} is not a valid token: it should look like ${cfn:STACK.OUTPUT}, and then "
        "@REGION or #ACCOUNT where they are not the run's own. To keep the text as it is, write $${ for ${."
    ),
    "resolve-key": ("${cfn:aws.BucketName} stands in a key, and only values are resolved. Write that key out."),
    "resolve-text": (
        "${export:network.SubnetIds} is a list, which cannot stand inside a longer text. Write "
        "${export:network.SubnetIds|join:,}."
    ),
    "resolve-text-only": (
        "${tf:output.port} is a number, which cannot stand where Kubernetes takes only text. Write "
        "${tf:output.port|text}."
    ),
    "resolve-strict": (
        "${Token[TOKEN.12]} looks like a token of the CDK that was not resolved. Resolve it first, or leave "
        "out --strict. To keep text that begins with ${, write $${."
    ),
    "resolve-manifest": (
        "chart/app.yaml, line 8: could not find expected ':'. It looks like a template: render it first, as "
        "in helm template … | strongref resolve -."
    ),
    "resolve-input": ("kubernetes/reports.yaml would be written over: give another folder with -o, or --in-place"),
    "resolve-claimed": (
        "SubnetIds cannot be changed: it is imported by manifests shop (111111111111). Remove that import "
        "first, or set OnChange: propagate. Nothing was changed."
    ),
    "resolve-set-busy": (
        "The claims of manifests shop are being changed right now (by the manifests shop, until 2026-10-08 "
        "12:00:00 UTC). Wait for that run, or give each of the two a name of its own."
    ),
    "resolve-nothing-used": (
        "These manifests use no exports, and manifests shop claim 2. Are they the right ones? Are they "
        "resolved already? To release all claims, use --unclaim shop."
    ),
    "resolve-ledger": (
        "/strongref/manifests/shop/5f3a91c2 cannot be read: it must be a JSON list of parameter names. "
        "Correct it, or delete it and the claims that it named."
    ),
    "resolve-hold-left": (
        "Stack strongref-hold-111111111111-shop-0123456789abcdef in eu-west-1 still protects exports that "
        "manifests shop no longer claim: its deletion ends as DELETE_FAILED. Everything else is done. Run the"
        " command again, or delete the stack."
    ),
    "resolve-write": ("out/reports.yaml could not be written: no space left on device. Nothing was written."),
}


def test_every_case_has_a_text() -> None:
    assert set(TEXTS) == set(CASES)


@pytest.mark.parametrize("name", TEXTS)
def test_an_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    assert str(CASES[name]()) == TEXTS[name]


def test_a_number_of_another_tool_s_token_has_no_part_to_name() -> None:
    error = forms.not_text("${Token[TOKEN.12]}", 5432, forms.TEXT_ONLY)
    assert str(error).endswith(
        "is a number, which cannot stand where Kubernetes takes only text. Make it text where it comes from."
    )


def test_every_error_of_tokens_and_manifests_has_a_case() -> None:
    kinds = errors_of(errors, toolkit_errors)
    within_others = {toolkit_errors.ResolveError, errors.SeveralError, errors.StackNotFoundError, errors.NotAStackError}
    elsewhere = {toolkit_errors.UsageError, toolkit_errors.UnknownCallerError, toolkit_errors.SelectError}
    elsewhere.add(toolkit_errors.CallerDeniedError)  # tests/test_errors.py
    made = {type(make()) for make in (*CASES.values(), *CDK8S_CASES.values())}  # Terraform's are the latter's
    assert kinds - within_others - elsewhere <= made


LONG = "x" * 3000


@pytest.mark.parametrize(
    "error",
    [
        errors.BadTokenError(LONG, CASES["resolve-token"]().args[1]),
        errors.NotEnabledError(LONG, "--tf STATE"),
        errors.TokenInKeyError(LONG),
        errors.TokenNotTextError(LONG, "nothing", forms.AS_TEXT, LONG),
        errors.LooksUnresolvedError(LONG, "a dynamic reference of CloudFormation"),
        toolkit_errors.AwsCallError("DescribeStackResource", LONG, "us-gov-west-1", "ValidationException"),
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
        toolkit_errors.UsageError(LONG),
        toolkit_errors.WriteFailedError(LONG, "no space left on device", 1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_however_long_a_name_is_the_text_is_not(error: StrongRefError) -> None:
    assert len(str(error)) < 1000
