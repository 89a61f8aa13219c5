"""Errors of lookups: short, with the next step, and not counted as failures if the query was wrong."""

from __future__ import annotations

import pytest

from strongref.aws import errors as api_errors
from strongref.errors import ErrorMetric, StrongRefError
from strongref.lookup import errors
from strongref.text import REASON_LIMIT

LONG = "x" * 5_000
DENIED = api_errors.LookUpDeniedError("GetResource", "AccessDeniedException", LONG, "eu-west-1")
ALL = [
    errors.ResourceQueryError(LONG, LONG),
    errors.UnknownTypeError(LONG, ["AWS::S3::Bucket", "AWS::S3::Buckets"]),
    api_errors.UnsupportedError("AWS::S3::Bucket", "GetResource", "eu-west-1"),
    errors.MissingPropertyError("AWS::S3::Bucket", [LONG] * 50, [LONG] * 5),
    errors.RejectedPropertyError("AWS::S3::Bucket", [LONG] * 50),
    api_errors.NoSuchResourceError("AWS::S3::Bucket", LONG, "eu-west-1", 3),
    errors.UnrelatedArnError("AWS::S3::Bucket", LONG, "eu-west-1"),
    errors.AmbiguousError("AWS::S3::Bucket", LONG, [LONG] * 5),
    errors.TooManyError("AWS::S3::Bucket", LONG, 101, 100),
    errors.NoSuchAttributeError("AWS::S3::Bucket", LONG, LONG, [LONG, LONG], [LONG]),
    errors.NoSuchAttributeError("AWS::S3::Bucket", LONG, LONG, [], [LONG] * 50),
    errors.UnsupportedAttributeError("AWS::S3::Bucket", LONG, "a list of maps or of lists"),
    errors.DynamicReferenceError("AWS::S3::Bucket", LONG),
    errors.AttributesTooLargeError("AWS::S3::Bucket", 5206, [LONG] * 50, named=True),
    errors.AttributesTooLargeError("AWS::S3::Bucket", 5206, [LONG] * 50, named=False),
    errors.LookupPolicyError(DENIED, "AWS::S3::Bucket"),
    api_errors.CloudControlError("GetResource", "GeneralServiceException", LONG, "eu-west-1"),
    DENIED,
    api_errors.PropertiesAskedError([LONG] * 20),
]

OF_THE_APIS = {type(error) for error in ALL if type(error).__module__ == api_errors.__name__}


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_a_text_is_short_and_one_line(error: StrongRefError) -> None:
    assert len(str(error)) < REASON_LIMIT
    assert len(str(error).splitlines()) == 1
    assert str(error).endswith((".", "?", "…"))


def test_every_error_is_tested() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__}
    assert {type(error) for error in ALL} - OF_THE_APIS == kinds - {errors.RejectedLookupError}


def test_a_wrong_question_is_not_counted_as_a_failure() -> None:
    failures = {api_errors.CloudControlError, api_errors.LookUpDeniedError, api_errors.PropertiesAskedError}
    failures.add(errors.LookupPolicyError)
    assert {type(error) for error in ALL if error.counted is ErrorMetric.ERRORS} == failures
    assert {error.counted for error in ALL} == {ErrorMetric.ERRORS, ErrorMetric.REJECTED}


def test_the_next_step_is_shown() -> None:
    assert "whole identifier" not in str(errors.MissingPropertyError("T", ["A"]))
    assert "Or give its whole identifier, A|B." in str(errors.MissingPropertyError("T", ["A", "B"], ["A", "B"]))
    assert str(api_errors.UnsupportedError("T", "ListResources")) == (
        "T does not support ListResources of Cloud Control. Give its complete primary identifier as the physical ID."
    )
