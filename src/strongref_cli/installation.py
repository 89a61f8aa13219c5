"""What other commands need of the installation of a region: its version, and its event bus."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from strongref.aws.event_bus import EventBus
from strongref.log import logger
from strongref.runtime.outbox import Outbox
from strongref_install.calls import RegionCalls
from strongref_install.comparison import differences
from strongref_install.errors import AwsCallError
from strongref_install.finding import find
from strongref_install.plan import DEFAULT_STACK
from strongref_install.stacks import RegionStacks
from strongref_operations.diagnosis import Problem, Severity
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref.contract.notices import Notice
    from strongref_install.plan import Found
    from strongref_toolkit.session import ToolSession


def version_problems(session: ToolSession, regions: Sequence[str]) -> Iterator[Problem]:
    """Regions whose installation is of another version than that of others.

    Raises:
        AwsCallError: CloudFormation does not say.
    """
    found = in_threads([partial(_find, session, region) for region in regions])
    for each in differences(found, everywhere=False):
        if each.what == "version":
            listed = ", ".join(f"{version} in {region}" for region, version in sorted(each.values.items()))
            step = "run strongref install in all of them"
            yield Problem(regions[0], "version-differs", Severity.ACTION, f"strongref is {listed}", step)


def notify(session: ToolSession, region: str, notice: Notice) -> None:
    """Send a notice to the event bus of a region's installation, if it names one: one try, and no failure."""
    try:
        stack = _find(session, region).stack
    except AwsCallError as error:
        logger.warning("Notices were not sent", extra={"detail_types": [notice.type.value], "error": str(error)})
        return
    bus = stack.parameters.get("EventBus", "") if stack else ""
    if bus:
        outbox = Outbox(EventBus(bus, region, session.clients.events))
        outbox(notice)
        outbox.send()


def _find(session: ToolSession, region: str) -> Found:
    return find(RegionStacks(RegionCalls(session, region)), DEFAULT_STACK)
