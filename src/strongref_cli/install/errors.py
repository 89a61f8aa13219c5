"""Errors of installations."""

from __future__ import annotations

from strongref.errors import StrongRefError
from strongref_toolkit.errors import AwsCallError


class InstallError(StrongRefError):
    """A deployment failed, or what is to be deployed is not all there, or cannot run in Lambda."""

    problem: str  # CloudFormation's reason for the first resource that failed, or a sentence of ours
    sentence = "{problem:900}"


class ForeignBucketError(StrongRefError):
    bucket: str
    sentence = (
        "The bucket {bucket} exists, and this account does not own it or may not use it. Give other buckets: "
        "--bucket PREFIX stands for the buckets PREFIX-REGION."
    )


FAILURES = (InstallError, ForeignBucketError, AwsCallError)
"""What fails one region, and leaves the others alone."""
