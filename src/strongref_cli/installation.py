"""What other commands need of the installation of a region: its version, its event bus, and its KMS key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from strongref.aws.event_bus import EventBus
from strongref.aws.parameter_store import default_key
from strongref.log import logger
from strongref.runtime.outbox import Outbox
from strongref_install.calls import RegionCalls
from strongref_install.comparison import differences
from strongref_install.errors import AwsCallError
from strongref_install.finding import find
from strongref_install.plan import DEFAULT_STACK
from strongref_install.stacks import RegionStacks
from strongref_operations.diagnosis import Problem, Severity
from strongref_toolkit.memo import Memo
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    found = _find(session, region)
    stack = found.stack or (_stacks(session, region).find(found.elsewhere) if found.elsewhere else None)
    return stack.parameters.get(name, "") if stack else ""


def _find(session: ToolSession, region: str) -> Found:
    return find(_stacks(session, region), DEFAULT_STACK)


def _stacks(session: ToolSession, region: str) -> RegionStacks:
    return RegionStacks(RegionCalls(session, region))
