"""Connects each function's use case to AWS: one session, one rate limiter, one client for each service and region."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from strongref.aws.clients import Clients, dns_suffix
from strongref.aws.in_threads import in_threads
from strongref.aws.lambda_functions import LambdaInvoker
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.event import Event, RequestType
from strongref.protocol.side_by_side import in_turn
from strongref.runtime.outbox import Outbox

if TYPE_CHECKING:
    from strongref.aws.cloudformation import CloudFormationStacks
    from strongref.aws.parameter_store import Stores
    from strongref.contract.response import Response
    from strongref.lookup.search import Finder
    from strongref.protocol.janitor import Janitor
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import Abroad, Ports, SideBySide
    from strongref.protocol.time import Clock
    from strongref.runtime.custom_resource import CustomResource
    from strongref.runtime.schedule import ScheduledFunction


class Waits(NamedTuple):
    """How long to wait for others, who wait for reads that lag: a change takes three lags."""

    seconds: float
    lags: float  # in addition, in lags

    def under(self, lag: ReadLag) -> float:
        """Seconds where reads may lag by that."""
        return self.seconds + self.lags * lag.seconds


PATIENCE = Waits(120.0, 30.0)
"""To wait for others: longer than the fence of a crashed holder exists (`fences.FENCE_SECONDS`)."""

PATIENCE_TO_CREATE_AN_IMPORT = Waits(35.0, 4.0)
"""A Create that fails loses nothing. But it waits until a value whose name was deleted a moment ago can be put back
(`recreation.RECREATION_SECONDS`). An Update waits longer: it may be a rollback, which must not fail."""

JANITOR_PATIENCE = Waits(5.0, 4.0)
"""The next run finds again what this one leaves."""

JANITOR_RATE_SHARE = 0.5
"""The share of a function's rate limits that the janitor uses."""

JANITOR_SESSION = "strongref-janitor"
"""The name of its sessions in other accounts."""

PAUSE = 2.0

EXPORT_ACCOUNTS = "STRONGREF_EXPORT_ACCOUNTS"
"""The environment variable with the other accounts that Exports may write to, separated by commas."""

EVENT_BUS = "STRONGREF_EVENT_BUS"
"""The environment variable with the name or ARN of the bus that notices are sent to; empty for none."""


class _Process:
    """What a function keeps from one invocation to the next, and what each of them gets of it."""

    def __init__(self, limits: RateLimits) -> None:
        self.clients, self.limiter = Clients(), RateLimiter(limits)
        self.reinvoke = LambdaInvoker(self.clients.functions, self.limiter)

    def custom_resource(
        self,
        handle: Callable[[Event, Clock], Response],
        outbox: Outbox | None = None,
        side_by_side: SideBySide = in_turn,
    ) -> CustomResource:
        # Not needed by the janitor.
        from strongref.contract.origin import ResponseHosts  # noqa: PLC0415
        from strongref.protocol.lag import ReadLag  # noqa: PLC0415
        from strongref.protocol.verification import EventVerifier  # noqa: PLC0415
        from strongref.runtime.custom_resource import CustomResource  # noqa: PLC0415

        hosts = ResponseHosts.from_environment()
        verifier = EventVerifier(hosts, dns_suffix, self.stacks, ReadLag.from_environment())
        return CustomResource(handle, self.reinvoke, verifier, outbox or Outbox(), side_by_side)

    def ports(self, account: str, clock: Clock, patience: Waits, side_by_side: SideBySide = in_turn) -> Ports:
        # Not needed by lookups.
        from strongref.protocol.lag import ReadLag  # noqa: PLC0415
        from strongref.protocol.ports import Ports  # noqa: PLC0415
        from strongref.protocol.time import Patience  # noqa: PLC0415

        lag = ReadLag.from_environment()
        return Ports(
            stores=replace(self._stores, side_by_side=side_by_side),
            stacks=self.stacks(account, clock),
            patience=Patience(patience.under(lag), PAUSE, random.random),
            token=partial(secrets.token_hex, 4),
            lag=lag,
        )

    def abroad(self, account: str, region: str, session: str, side_by_side: SideBySide) -> Abroad | None:
        """Other accounts, for one invocation in this account and region; None without any.

        Then nothing is loaded for them. Sessions there have the given name.
        """
        if not (listed := tuple(filter(None, os.environ.get(EXPORT_ACCOUNTS, "").split(",")))):
            return None
        from strongref.aws.accounts import Accounts  # noqa: PLC0415 (not needed without other accounts)

        return Accounts(listed, account, session, region, self.clients, self.limiter, side_by_side).store

    def stacks(self, account: str, clock: Clock) -> CloudFormationStacks:
        from strongref.aws.cloudformation import CloudFormationStacks  # noqa: PLC0415 (loaded with the first event)

        # The function runs in the account of its stack, so the clients have that account's credentials.
        return CloudFormationStacks(self.clients.cloudformation, self.limiter, clock, account=account)

    @cached_property
    def _stores(self) -> Stores:
        """The Parameter Stores: what they learn about regions is kept, too."""
        from strongref.aws.parameter_store import Stores  # noqa: PLC0415 (not needed by lookups)

        return Stores(self.clients.ssm, self.limiter)

    def outbox(self) -> Outbox:
        """What sends notices to the installation's event bus; without a bus, nothing is loaded for it."""
        name = os.environ.get(EVENT_BUS)
        if not name:
            return Outbox()
        from strongref.aws.event_bus import EventBus  # noqa: PLC0415 (not needed without a bus)

        return Outbox(EventBus(name, os.environ.get("AWS_REGION", ""), self.clients.events).put)


def exporter() -> CustomResource:
    from strongref.protocol.exports import Exporter  # noqa: PLC0415 (a function loads only its own use case)

    process = _Process(RateLimits.from_environment())
    outbox = process.outbox()

    def handle(event: Event, clock: Clock) -> Response:
        stack = event.stack_arn
        ports = process.ports(stack.account, clock, PATIENCE, in_threads)
        abroad = process.abroad(stack.account, stack.region, stack.name, in_threads) or ports.abroad
        ports = replace(ports, notify=outbox, later=outbox.later, sees_installations=True, abroad=abroad)
        return Exporter(ports).handle(event, clock)

    return process.custom_resource(handle, outbox, in_threads)


def importer() -> CustomResource:
    from strongref.protocol.imports import Importer  # noqa: PLC0415 (as above)

    process = _Process(RateLimits.from_environment())

    def handle(event: Event, clock: Clock) -> Response:
        patience = PATIENCE_TO_CREATE_AN_IMPORT if event.request_type is RequestType.CREATE else PATIENCE
        return Importer(process.ports(event.stack_arn.account, clock, patience, in_threads)).handle(event, clock)

    return process.custom_resource(handle, side_by_side=in_threads)


def lookup() -> CustomResource:
    from strongref.lookup.custom_resource import ResourceLookup  # noqa: PLC0415 (as above)

    process = _Process(RateLimits.from_environment())

    def finder(region: str, clock: Clock) -> Finder:
        # Not needed by a Delete.
        from strongref.aws.cloud_control import CloudControlApi, TaggingApi  # noqa: PLC0415
        from strongref.lookup.search import Finder  # noqa: PLC0415

        clients, limiter = process.clients, process.limiter
        return Finder(
            CloudControlApi(clients.cloudcontrol, region, limiter, clock),
            TaggingApi(clients.tagging, region, limiter, clock),
        )

    return process.custom_resource(ResourceLookup(finder).handle)


def janitor() -> ScheduledFunction:
    """The janitor function. It is slow on purpose: deployments need the quotas more."""
    from strongref.protocol.janitor import Janitor  # noqa: PLC0415 (as above)
    from strongref.runtime.schedule import ScheduledFunction  # noqa: PLC0415

    process = _Process(RateLimits.from_environment().share(JANITOR_RATE_SHARE))

    def make(account: str, region: str, clock: Clock) -> Janitor:
        ports = process.ports(account, clock, JANITOR_PATIENCE)
        ports = replace(ports, abroad=process.abroad(account, region, JANITOR_SESSION, in_turn) or ports.abroad)
        return Janitor(ports, region, account, tends_abroad=True)

    return ScheduledFunction(make, process.reinvoke, process.outbox())
