"""What other commands need of the installation of a region: its stack, its event bus, and its KMS key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from strongref.aws.event_bus import EventBus
from strongref.aws.parameter_store import default_key
from strongref.log import logger
from strongref.runtime.outbox import Outbox
from strongref_cli.install.finding import find
from strongref_cli.install.plan import DEFAULT_STACK
from strongref_cli.install.stacks import RegionStacks
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.notices import Notice
    from strongref_cli.install.plan import Found
    from strongref_toolkit.session import ToolSession


def installed_in(session: ToolSession, region: str) -> Found:
    """What is installed in a region; raises `AwsCallError` if CloudFormation does not say."""
    return find(RegionStacks.of(session, region), DEFAULT_STACK)


def notify(session: ToolSession, region: str, notice: Notice) -> None:
    """Send a notice to the event bus of a region's installation, if it names one: one try, and no failure."""
    try:
        bus = _parameter(session, region, "EventBus")
    except AwsCallError as error:
        logger.warning("Notices were not sent", extra={"detail_types": [notice.type.value], "error": str(error)})
        return
    if bus:
        outbox = Outbox(EventBus(bus, region, session.clients.events))
        outbox(notice)
        outbox.send()


def kms_keys(session: ToolSession) -> Callable[[str], str]:
    """The KMS key of each region, as for `Stores`: what is put back is encrypted as the region's functions would.

    `STRONGREF_KMS_KEY` goes before the installations' keys, for people who may not describe their stacks. The function
    raises `AwsCallError` if CloudFormation does not describe an installation's stack.
    """
    known: Memo[str, str] = Memo()
    return lambda region: default_key(region) or known.get(region, partial(_parameter, session, region, "KmsKey"))


def _parameter(session: ToolSession, region: str, name: str) -> str:
    """A parameter of a region's installation, whatever its stack is called; empty without one."""
    found = installed_in(session, region)
    stack = found.stack or (RegionStacks.of(session, region).find(found.elsewhere) if found.elsewhere else None)
    return stack.parameters.get(name, "") if stack else ""
