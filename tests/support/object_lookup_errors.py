"""The errors of ready types, look-ups and `strongref objects`, each as docs/extras/objects.md shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.errors import StrongRefError
from strongref_objects.base.errors import (
    BadTierError,
    NoRouteTableError,
    NothingToImportError,
    NotInContextError,
    NotReadableError,
    NotTaggedError,
    SecretPartsError,
    SeveralPartsError,
    SeveralStoredObjectsError,
    SeveralTaggedError,
    TooManyInRegionError,
    TooManyTaggedError,
    UnknownLocationError,
)
from strongref_objects.lookups.subnet_tiers import TIER_TAG, Tier
from strongref_objects.types import (
    ApplicationLoadBalancer,
    Bucket,
    Declared,
    HostedZone,
    Listener,
    Queue,
    Subnets,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _of_another_kind() -> None:
    class Stream(Declared):
        """A stream of Kinesis."""

        shards: int


def _of_two_names() -> None:
    class Stream(Declared):
        """A stream of Kinesis."""

        type: str = text()
        type_: str = text()


def _of_a_text() -> None:
    ApplicationLoadBalancer.of_resource("Web", security_group="sg-1", listener=Listener.of_resource("Https"))


TAGS = "tags department, stage"
BALANCER = "arn:aws:elasticloadbalancing:eu-west-1:111111111111:loadbalancer/app/web/50dc6c495c0c9188"


def met(do: Callable[[], object]) -> Callable[[], StrongRefError]:
    """The error that something ends in."""

    def meet() -> StrongRefError:
        with pytest.raises(StrongRefError) as raised:
            do()
        return raised.value

    return meet


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "objects-arn": met(lambda: Bucket.from_arn("photos")),
    "objects-arn-other": met(lambda: Bucket.from_arn("arn:aws:sqs:eu-west-1:111111111111:jobs")),
    "objects-identity-name": met(lambda: Queue.from_name("my jobs")),
    "objects-identity-text": met(lambda: Bucket.from_arn({"bucket": "photos"})),
    "objects-identity-place": met(lambda: Queue.from_name("jobs", account="12")),
    "objects-not-reported": met(lambda: HostedZone.of_resource("Zone")),
    "objects-not-reported-arn": met(lambda: ApplicationLoadBalancer.from_arn(BALANCER)),
    "objects-no-such-part": met(lambda: Bucket.from_name("photos", encryption_key="x")),
    "objects-not-declared": met(_of_another_kind),
    "objects-declared-twice": met(_of_two_names),
    "objects-other-part": met(_of_a_text),
    "objects-uneven": met(lambda: Subnets(["subnet-1", "subnet-2"], ["eu-west-1a"], ["rtb-1"])),
    "objects-look-up-tagged": lambda: SeveralTaggedError("AWS::SNS::Topic", TAGS, ["…:news", "…:alarms"]),
    "objects-look-up-many": lambda: TooManyTaggedError("AWS::S3::Bucket", TAGS, 103, 100),
    "objects-look-up-around": lambda: TooManyInRegionError("AWS::EC2::Subnet", "VpcId vpc-1", 301, 300),
    "objects-look-up-unread": lambda: NotReadableError("AWS::Kinesis::Stream", "GetResource", "eu-west-1"),
    "objects-look-up-tier": lambda: BadTierError("subnet-1", TIER_TAG, "DMZ", list(Tier)),
    "objects-look-up-table": lambda: NoRouteTableError(["subnet-1"], "vpc-1", ["rtb-1", "rtb-2"]),
    "objects-look-up-several": lambda: SeveralPartsError(BALANCER, "listener", ["…/listener/1", "…/listener/2"]),
    "objects-look-up-nowhere": lambda: UnknownLocationError("a VPC with these tags", "web", "region", ""),
    "objects-look-up-untold": lambda: NotTaggedError("role"),
    "objects-command-none": lambda: NothingToImportError(
        "JonnyBucket", "CloudFormation's exports in eu-west-1", ["JohnnyBucket"]
    ),
    "objects-command-several": lambda: SeveralStoredObjectsError(
        "Web",
        [
            "exports of stack network (eu-west-1, 111111111111) to all",
            "exports of stack network (eu-west-1, 111111111111) to shop",
        ],
    ),
    "objects-command-secret": lambda: SecretPartsError("Database", ["Password"]),
    "objects-command-context": lambda: NotInContextError(
        ["JonnyBucket"], "strongref.context.json", ["JohnnyBucket-BucketArn"]
    ),
}
