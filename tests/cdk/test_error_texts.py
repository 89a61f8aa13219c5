"""The texts of the errors of CDK apps, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref_cdk import errors
from tests.support.error_classes import errors_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.errors import StrongRefError


def _at(path: str, error: StrongRefError) -> Callable[[], StrongRefError]:
    return lambda: errors.ConstructError(path, error)


ARN = "An ARN that is none"

TEXTS = [
    pytest.param(
        _at("entrance/Alb", errors.NotOneError("application load balancer", "listener", 2)),
        ("entrance/Alb: The application load balancer has 2 listeners. Choose the one that belongs to it: listener=…."),
        id="not-one",
    ),
    pytest.param(
        _at("other", errors.ExportedElsewhereError("JohnnyBucket", "photos")),
        (
            "other: JohnnyBucket is exported by stack photos of this app in the same account and region, where a "
            "name must be unique. Export it under another name."
        ),
        id="exported-elsewhere",
    ),
    pytest.param(
        _at("albums", errors.OtherOptionsError("Deployer", ["mutable"])),
        (
            "albums: Deployer is already imported with another mutable. Use the construct from the first import, "
            "or pass the same options."
        ),
        id="other-options",
    ),
    pytest.param(
        _at("albums", errors.OptionsNeededError("cluster", ["vpc"], is_exported=False)),
        ("albums: The CDK needs more about a cluster: pass vpc=…."),
        id="option-needed",
    ),
    pytest.param(
        _at("albums", errors.OptionsNeededError("security group", ["allow_all_outbound"], is_exported=True)),
        (
            "albums: The CDK needs more about a security group: pass allow_all_outbound=…, or export it first in the "
            "same app, with the same account and region."
        ),
        id="settings-needed",
    ),
    pytest.param(
        _at("albums", errors.UnevenSubnetsError({"public": ["eu-west-1b", "eu-west-1a"], "private": ["eu-west-1a"]})),
        (
            "albums: The CDK needs the same number of subnets in each availability zone, in every tier of a VPC, "
            "got public: eu-west-1a and eu-west-1b; private: eu-west-1a. Import the VPC's parts, as in "
            "import_object(…).read_object('PrivateSubnets')."
        ),
        id="uneven",
    ),
    pytest.param(
        _at(
            "albums",
            errors.RefusedByCdkError(
                "the role Deployer",
                f'ARNs must start with "arn:" and have at least 6 components: {ARN}\n    at some.js',
                {ARN: "RoleArn"},
            ),
        ),
        (
            'albums: The CDK refuses the role Deployer: ARNs must start with "arn:" and have at least 6 '
            "components: <RoleArn>."
        ),
        id="refused",
    ),
    pytest.param(
        _at("albums", errors.NoReadyTypeError("Pair")),
        (
            "albums: Pair is not a ready type of the CDK. Read it with its own deserialize, and make the "
            "construct from its members."
        ),
        id="no-ready-type",
    ),
    pytest.param(
        _at("App", errors.NoStackError()),
        ("App: The construct is not in a stack, and only stacks export and import. Pass a construct of a stack."),
        id="no-stack",
    ),
    pytest.param(
        _at("albums", errors.NotDeployedError("JohnnyBucket-BucketArn", "photos")),
        (
            "albums: There is no JohnnyBucket-BucketArn yet: stack photos of this app exports it, but was not "
            "deployed with it. Pass the construct from stack to stack, or import with "
            "type=ResolveType.DEPLOYMENT."
        ),
        id="not-deployed",
    ),
    pytest.param(
        _at("photos", errors.SecretError()),
        (
            "photos: An exported value must not be a secret, because anyone could read it. Export the secret's "
            "ARN or name, and read the secret where it is used. Nothing was written."
        ),
        id="secret",
    ),
    pytest.param(
        _at("photos/Jobs", errors.NoSuchConstructError("bucket", "Queue", "bucket_arn")),
        (
            "photos/Jobs: The construct must be a bucket, got a Queue, which has no bucket_arn. Use the function "
            "for its type."
        ),
        id="no-such-construct",
    ),
    pytest.param(
        _at("entrance/Nlb", errors.NoSuchConstructError("application load balancer", "Nlb")),
        "entrance/Nlb: The construct must be an application load balancer, got a Nlb. Use the function for its type.",
        id="of-another-type",
    ),
    pytest.param(
        _at("entrance/Alb", errors.NoListenerError()),
        (
            "entrance/Alb: The listener is only known for a load balancer from import_application_load_balancer "
            "or another function of strongref_cdk. Use the listener that the program has made."
        ),
        id="no-listener",
    ),
]


@pytest.mark.parametrize(("make", "text"), TEXTS)
def test_an_error_says_this(make: Callable[[], StrongRefError], text: str) -> None:
    assert str(make()) == text


def test_every_error_has_its_text_here() -> None:
    without_text = {errors.CdkError, errors.ConstructError}
    declared = {each for each in errors_of(errors) if issubclass(each, errors.CdkError)}
    made = [make() for make, _ in (each.values for each in TEXTS)]  # type: ignore[operator]
    assert {type(error.error) for error in made} == declared - without_text
