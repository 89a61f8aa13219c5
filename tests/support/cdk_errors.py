"""What docs/cdk.md shows of errors: the case that each text belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_cdk import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError


def _at(path: str, error: StrongRefError) -> Callable[[], StrongRefError]:
    return lambda: errors.ConstructError(path, error)


ARN = "An ARN that is none"

CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "cdk-not-one": _at("entrance/Alb", errors.NotOneError("application load balancer", "listener", 2)),
    "cdk-exported-elsewhere": _at("other", errors.ExportedElsewhereError("JohnnyBucket", "photos")),
    "cdk-other-options": _at("albums", errors.OtherOptionsError("Deployer", ["mutable"])),
    "cdk-option-needed": _at(
        "albums", errors.OptionNeededError("cluster", "vpc", "that of its services, in addition to other options")
    ),
    "cdk-uneven": _at(
        "albums", errors.UnevenSubnetsError({"public": ["eu-west-1b", "eu-west-1a"], "private": ["eu-west-1a"]})
    ),
    "cdk-refused": _at(
        "albums",
        errors.RefusedByCdkError(
            "the role Deployer",
            f'ARNs must start with "arn:" and have at least 6 components: {ARN}\n    at some.js',
            {ARN: "RoleArn"},
        ),
    ),
    "cdk-no-ready-type": _at("albums", errors.NoReadyTypeError("Pair")),
    "cdk-no-stack": _at("App", errors.NoStackError()),
    "cdk-not-deployed": _at("albums", errors.NotDeployedError("JohnnyBucket-BucketArn", "photos")),
    "cdk-secret": _at("photos", errors.SecretError()),
    "cdk-no-such-construct": _at("photos/Jobs", errors.NoSuchConstructError("bucket", "Queue", "bucket_arn")),
    "cdk-no-listener": _at("entrance/Alb", errors.NoListenerError()),
}
