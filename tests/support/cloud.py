"""One account in memory: its regions' Parameter Stores, and CloudFormation that calls the real use cases at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.event import Event, RequestType
from strongref.contract.names import CLAIM_TAG, StackArn, writer_role
from strongref.contract.response import Response
from strongref.errors import TAG_LIMIT, AccountNotListedError, RoleDeniedError
from strongref.protocol.exports import Exporter
from strongref.protocol.imports import Importer
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.runtime.custom_resource import is_failed_create
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.operations import CloudFormation
from tests.support.cloudformation.requests import IMPORT, ResourceRequest
from tests.support.fake_ssm import FakeClock, FakeSsm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.contract.names import Site
    from strongref.contract.notices import Notice
    from strongref.protocol.time import Clock
    from tests.support.cloudformation.stacks import FakeStack

UNLIMITED = RateLimits(1e9, 1e9, 1e9, 1e9, 1e9)


def carry_out(event: Event, ports: Ports, clock: Clock) -> Response:
    """What a function does with an event, between its envelope and its answer."""
    if event.request_type is RequestType.DELETE and is_failed_create(event.physical_id):
        return Response(event.physical_id or "")
    use_case = Importer(ports) if event.resource_type == IMPORT else Exporter(ports)
    return use_case.handle(event, clock)


class Cloud(CloudFormation):
    """One account.

    Attributes:
        regions: its Parameter Stores.
        calls: to all of them, with their requests.
        clock: of every invocation.
        lag: that every invocation reckons with.
        sees_installations: whether regions have what installations make.
        notices: what was reported to the people concerned.
        trusting: the other accounts that the installation lists, and whether each lets this one in. Their stores
            are among the regions, by the text of their sites.
    """

    def __init__(self, *, empty_pages: bool = False) -> None:
        super().__init__()
        self.regions: dict[str, FakeSsm] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.clock = FakeClock(remaining=100_000)
        self.lag = ReadLag()
        self.sees_installations = False
        self.notices: list[Notice] = []
        self.trusting: dict[str, bool] = {}
        self._new_ssm: Callable[..., FakeSsm] = partial(FakeSsm, empty_pages=empty_pages)

    def ssm(self, region: str) -> FakeSsm:
        if region not in self.regions:
            self.regions[region] = self._new_ssm(
                region,
                ACCOUNT,
                clock=lambda: self.now() or self.clock.now(),
                before_call=lambda *call: self.calls.append(call),
            )
        return self.regions[region]

    def values(self, region: str) -> dict[str, str]:
        """The values stored in a region, by the part of the name below `/strongref/exports/`."""
        return self._texts(region, "/strongref/exports/")

    def texts(self, region: str) -> dict[str, str]:
        """Everything stored in a region."""
        return self._texts(region, "/")

    def tags(self, region: str, name: str) -> dict[str, str]:
        return dict(self.ssm(region).parameters()[f"/strongref/exports/{name}"].tags)

    def parameters_below(self, region: str, path: str) -> list[str]:
        """The names of the parameters below a path."""
        return [f"{path}/{name}" for name in self._texts(region, f"{path}/")]

    def fill_tags(self, region: str, name: str) -> None:
        """Put as many tags on a value as it can have."""
        have = len(self.tags(region, name))
        tags = [{"Key": f"tag{number}", "Value": "x"} for number in range(TAG_LIMIT - have)]
        self.ssm(region).add_tags_to_resource(
            ResourceType="Parameter", ResourceId=f"/strongref/exports/{name}", Tags=tags
        )

    def claims(self, region: str, name: str) -> list[str]:
        """The names of the stacks that claim a value."""
        tags = self.tags(region, name)
        return sorted(StackArn.parse(arn).name for key, arn in tags.items() if key.startswith(CLAIM_TAG))

    def get(self, name: str, region: str, logical_id: str = "Imports") -> Mapping[str, object]:
        """A resource's attributes."""
        return self.stack(name, region).resources[logical_id].attributes

    def send(self, request: ResourceRequest) -> Response:
        patience = Patience(35 if request.type == IMPORT else 120, 2, lambda: 0.5)
        ports = Ports(self.stores, self, patience, self.token, self.lag, self.notices.append)
        ports = replace(ports, sees_installations=self.sees_installations, abroad=self.store)
        return carry_out(self.event(request), ports, self.clock)

    def event(self, request: ResourceRequest) -> Event:
        """What CloudFormation sends, with an ID of its own."""
        return request.event(f"request-{next(self.numbers)}")

    def stores(self, region: str, clock: Clock) -> SsmStore:
        return SsmStore(self.ssm(region).as_client(), region, RateLimiter(UNLIMITED), clock, lambda: 0.0)

    def store(self, site: Site, clock: Clock) -> SsmStore:
        """`ports.Abroad`."""
        if not self.trusting.get(site.account):
            kind = RoleDeniedError if site.account in self.trusting else AccountNotListedError
            role = writer_role("aws", site.account, ACCOUNT)
            raise kind("AssumeRole", "AccessDenied", role, site.region, account=site.account)
        client = self.ssm(str(site)).as_client()
        return SsmStore(client, site.region, RateLimiter(UNLIMITED), clock, lambda: 0.0, account=site.account)

    def keep_parameters(self, stack: FakeStack, names: frozenset[str]) -> None:
        ssm = self.ssm(stack.region)
        for name in sorted(names - stack.parameters):
            ssm.put_parameter(Name=name, Type="String", Value="held")
        if gone := sorted(stack.parameters - names):
            ssm.delete_parameters(Names=gone)
        super().keep_parameters(stack, names)

    def token(self) -> str:
        return f"token{next(self.numbers)}"

    def _texts(self, region: str, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): found.text
            for name, found in sorted(self.ssm(region).parameters().items())
            if name.startswith(prefix)
        }
