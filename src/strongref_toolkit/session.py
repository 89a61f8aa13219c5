"""What a tool on someone's machine is made of: the caller's credentials, one rate limiter, the time that it may take.

The command `strongref`, resolvers in cdk8s apps and lookups in CDK apps all start here, and nowhere else.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache, partial
from typing import NamedTuple

from boto3.session import Session

from strongref.aws.clients import Clients
from strongref.aws.cloudformation import CloudFormationStacks
from strongref.aws.in_threads import in_threads
from strongref.aws.parameter_store import Stores
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.aws.settings import Settings, from_environment
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Clock, Patience
from strongref.text import did_you_mean
from strongref.untyped import Untyped
from strongref_toolkit.aws import Accounts, Aws
from strongref_toolkit.clock import AwsClock
from strongref_toolkit.errors import CallerDeniedError, UsageError
from strongref_toolkit.log import log_calls, log_to_stderr

FENCE_WAIT = 120.0
"""Seconds to wait for another deployment: longer than the fence of one that crashed takes to expire."""

_PAUSE = 2.0
_HOUR = 3600.0

DEFAULT_PARTITION_REGION = "us-east-1"
"""Where services of the whole account are called if the run has no region."""

_DISABLED = "not-opted-in"


class ToolSession(NamedTuple):
    """One run of a tool. Everything that calls AWS shares its rate limiter."""

    clients: Clients
    limiter: RateLimiter
    clock: Clock

    @classmethod
    def start(cls, profile: str | None = None, *, debug: bool = False) -> ToolSession:
        """Start a session of this process.

        It uses botocore's own service models: the Lambda layer's cover only what the functions call.

        The credentials of `profile` are used even if the environment has others, unlike with `AWS_PROFILE`. With
        `debug`, each call is shown on standard error.
        """
        log_to_stderr()
        clock = AwsClock(_HOUR)

        def watch(events: Untyped) -> None:
            clock.watch(events)
            if debug:
                log_calls(events)

        clients = Clients(Session(profile_name=profile), watch)
        return cls(clients, RateLimiter(RateLimits.from_environment()), clock)

    def ports(self, account: str = "", settings: Settings = from_environment, lag: ReadLag | None = None) -> Ports:
        """The ports of the export protocol; stacks of `account` may be described, by default none.

        `settings` are as for `Stores`; by default, they are those of the environment, and so is `lag`. Whatever
        changes exports needs those of the installations: `strongref_cli.install.installed` has both.
        """
        clients, limiter, clock = self
        return Ports(
            stores=Stores(clients.ssm, limiter, CallerDeniedError, settings=settings, side_by_side=in_threads),
            stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=account, settings=settings),
            patience=Patience(FENCE_WAIT, _PAUSE, random.random),
            token=partial(secrets.token_hex, 4),
            lag=lag or ReadLag.from_environment(),
        )

    def accounts(self, region: str, role: str | None) -> Accounts:
        """Clients by account; arguments as for `Accounts`."""
        return Accounts(self.clients, region, self.limiter, self.clock, role)

    def aws(self, region: str | None = None, role: str | None = None, *, shows_texts: bool = False) -> Aws:
        """AWS in any account and region; arguments as for `Accounts` and `Aws`.

        By default, `region` is that of the environment or of the AWS profile.
        """
        default = region or default_region()
        accounts = self.accounts(default or DEFAULT_PARTITION_REGION, role)
        return Aws(accounts, self.limiter, self.clock, default, shows_texts)


def one_region(given: str | None) -> str:
    """The given region, or the one of the environment or of the AWS profile. Raises `UsageError`: there is none."""
    if region := given or default_region():
        return region
    raise UsageError("no region: give --region, or set AWS_REGION")


def default_region() -> str | None:
    return os.environ.get("AWS_REGION") or Session().region_name


def enabled_regions(session: ToolSession) -> list[str]:
    """The regions that are enabled for the caller's account, sorted.

    They are those of one partition: that of the region of the environment or of the AWS profile.

    Raises:
        AwsCallError: EC2 does not list them.
    """
    aws, home = session.aws(), default_region() or DEFAULT_PARTITION_REGION
    found = aws.call(aws.where(home, None), "DescribeRegions", "the account's regions", Clients.ec2)["Regions"]
    # EC2 leaves out the disabled ones by itself (AWS: DescribeRegions, AllRegions). Not every emulator does.
    return sorted(each["RegionName"] for each in found if each.get("OptInStatus") != _DISABLED)


def chosen_regions(session: ToolSession, given: list[str], *, everywhere: bool) -> list[str]:
    """The regions that a command works in: the given ones, all that are enabled, or the default one.

    Raises:
        UsageError: there is none.
        AwsCallError: as for `enabled_regions`.
    """
    if everywhere:
        return enabled_regions(session)
    return list(dict.fromkeys(given)) or [one_region(None)]


@cache
def _known_regions() -> frozenset[str]:
    session = Session()
    partitions = session.get_available_partitions()
    return frozenset(region for each in partitions for region in session.get_available_regions("ssm", each))


def check_regions(given: Iterable[str]) -> None:
    """Check names of regions; no call is made. Raises `UsageError`: a region is not known."""
    known = _known_regions()
    for each in given:
        if each not in known:
            close = get_close_matches(each, sorted(known), 2)
            hint = did_you_mean(close, "Give a region code such as us-east-1.")
            raise UsageError(f"{each!r} is not a region that this botocore knows. {hint}")
