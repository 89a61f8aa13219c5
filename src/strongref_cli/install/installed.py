"""What is in a region: the installation, what needs it, and what other commands need of it, as its KMS key."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from strongref.aws.event_bus import EventBus
from strongref.aws.settings import KMS_KEY, PARAMETER_TAGS, Settings, from_environment
from strongref.log import logger
from strongref.memo import Memo
from strongref.protocol.lag import DEFAULT_LAG, MAX_LAG, VARIABLE, ReadLag
from strongref.runtime.outbox import Outbox
from strongref_cli.install.errors import ForeignBucketError
from strongref_cli.install.plan import DEFAULT_STACK, EXPORTS, Found
from strongref_cli.install.removal import Leftovers, use_of
from strongref_cli.install.stacks import RegionStacks
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from strongref.contract.notices import Notice
    from strongref.protocol.ports import Store
    from strongref_cli.install.bucket import CodeBucket
    from strongref_toolkit.session import ToolSession

_ALL, _OF_THE_STACK = "/strongref", "/strongref/service-tokens/"
_SETTINGS = {KMS_KEY: "KmsKey", PARAMETER_TAGS: "ParameterTags"}


def find(stacks: RegionStacks, name: str, *, with_template: bool = False) -> Found:
    """The installation of a region; `name` is its stack's."""
    stack = stacks.find(name, with_template=with_template)
    return Found(stacks.where.region, stack, "" if stack else stacks.exporter_of(EXPORTS[0]))


def uses(stacks: RegionStacks, installation: str) -> list[str]:
    """What the stacks of a region need its installation for, given that stack's name.

    Every stack's resources are listed: what strongref stores does not know lookups, weak imports, and empty Exports.
    """
    importers = {export: stacks.importers(export) for export in EXPORTS}
    found = []
    for name, arn in sorted(stacks.names().items()):
        if name == installation:
            continue
        resources = list(stacks.resources(arn))
        imports = [export for export, users in importers.items() if name in users]
        transforms = () if use_of(name, resources, imports, ()) else stacks.transforms(arn)
        found.append(use_of(name, resources, imports, transforms))
    return [each for each in found if each]


def leftovers(bucket: CodeBucket, store: Store) -> Leftovers:
    """What is in a region and stays when the stack is deleted."""
    try:
        there = bucket.exists()
    except ForeignBucketError:
        there = False
    stored = [name for name in store.under(_ALL, decrypted=False) if not name.startswith(_OF_THE_STACK)]
    return Leftovers(bucket.name if there else "", len(bucket.keys()) if there else 0, len(stored))


def installed_in(session: ToolSession, region: str) -> Found:
    """What is installed in a region; raises `AwsCallError` if CloudFormation does not say."""
    return find(RegionStacks.of(session, region), DEFAULT_STACK)


def notify(session: ToolSession, region: str, notice: Notice) -> None:
    """Send a notice to the event bus of a region's installation, if it names one: one try, and no failure."""
    try:
        bus = parameter(session, region, "EventBus")
    except AwsCallError as error:
        logger.warning("Notices were not sent", extra={"detail_types": [notice.type.value], "error": str(error)})
        return
    if bus:
        outbox = Outbox(EventBus(bus, region, session.clients.events).put)
        outbox(notice)
        outbox.send()


def settings(session: ToolSession) -> Settings:
    """The settings of each region's installation: what is put back is stored as the region's functions would.

    The environment goes before them, for people who may not describe their stacks. Without the key, no secure value can
    be written: that raises `AwsCallError`, if CloudFormation does not describe an installation's stack.
    """
    known: Memo[tuple[str, str], str] = Memo()

    def ask(region: str, name: str) -> str:
        try:
            return parameter(session, region, _SETTINGS[name])
        except AwsCallError:
            if name == KMS_KEY:
                raise
            return ""

    return lambda region, name: from_environment(region, name) or known.get((region, name), partial(ask, region, name))


def export_accounts(session: ToolSession, region: str) -> tuple[str, ...]:
    """The other accounts that a region's installation exports to; raises `AwsCallError` if that cannot be read."""
    return tuple(filter(None, parameter(session, region, "ExportAccounts").split(",")))


def read_lag(session: ToolSession, regions: Iterable[str]) -> ReadLag:
    """The largest `ReadLag` of the installations in these regions: a command must wait as long as their functions do.

    `STRONGREF_READ_LAG` goes before it, as for `settings`. Where CloudFormation does not describe an installation's
    stack, it may be the largest that there is.
    """
    if os.environ.get(VARIABLE):
        return ReadLag.from_environment()
    found = in_threads([partial(_lag, session, region) for region in sorted(set(regions))])
    return ReadLag(max(found, default=DEFAULT_LAG))


def _lag(session: ToolSession, region: str) -> float:
    try:
        return ReadLag.from_environment({VARIABLE: parameter(session, region, "ReadLag")}).seconds
    except AwsCallError:
        return MAX_LAG


def parameter(session: ToolSession, region: str, name: str) -> str:
    """A parameter of a region's installation, whatever its stack is called; empty without one."""
    found = installed_in(session, region)
    stack = found.stack or (RegionStacks.of(session, region).find(found.elsewhere) if found.elsewhere else None)
    return stack.parameters.get(name, "") if stack else ""
