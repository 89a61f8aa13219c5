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


def version_problems(session: ToolSession, regions: Sequence[str]) -> tuple[list[Problem], dict[str, AwsCallError]]:
    """Regions whose installation is of another version than that of others, and those of which AWS does not say."""

    def look(region: str) -> Found | AwsCallError:
        try:
            return _find(session, region)
        except AwsCallError as error:
            return error

    answers = in_threads([partial(look, region) for region in regions])
    failed = {region: each for region, each in zip(regions, answers, strict=True) if isinstance(each, AwsCallError)}
    return list(_differing([each for each in answers if not isinstance(each, AwsCallError)])), failed


def _differing(found: Sequence[Found]) -> Iterator[Problem]:
    for each in differences(found, everywhere=False):
        if each.what == "version":
            listed = ", ".join(f"{version} in {region}" for region, version in sorted(each.values.items()))
            step = "run strongref install in all of them"
            yield Problem(found[0].region, "version-differs", Severity.ACTION, f"strongref is {listed}", step)


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
