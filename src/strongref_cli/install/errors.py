"""Errors of installations."""

from __future__ import annotations

from strongref.errors import StrongRefError
from strongref_toolkit.errors import AwsCallError


class InstallError(StrongRefError):
    """The root of this package's errors: one region's, or the suite's."""


class DeploymentFailedError(InstallError):
    reason: str  # CloudFormation's, of the first resource that failed
    sentence = "{reason:900}"


class ForeignBucketError(InstallError):
    bucket: str
    sentence = (
        "The bucket {bucket} exists, and this account does not own it or may not use it. Give other buckets: "
        "--bucket PREFIX stands for the buckets PREFIX-REGION."
    )


class MissingBucketError(InstallError):
    bucket: str
    sentence = "The bucket {bucket} does not exist. Create it, or leave out --bucket to have one created."


class IncompleteSuiteError(InstallError):
    """What is to be installed is not all there, or cannot run in Lambda."""

    part: str  # a file or a distribution, as in `crhelper`
    problem: str
    sentence = "{part} {problem}"


FAILURES = (InstallError, AwsCallError)
"""What fails one region, and leaves the others alone."""
