"""Which regions the caller's account can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.aws.retry_and_rate_limit import CallFailedError, RetryingCaller, client_for
from strongref_toolkit.errors import FetchFailedError
from strongref_toolkit.session import DEFAULT_PARTITION_REGION, default_region

if TYPE_CHECKING:
    from strongref_toolkit.session import ToolSession

_DISABLED = "not-opted-in"


def enabled_regions(session: ToolSession, home: str | None = None) -> list[str]:
    """The regions that are enabled for the caller's account, sorted.

    They are those of one partition: that of the home region, by default of the environment or of the AWS profile.

    Raises:
        FetchFailedError: EC2 does not list them.
    """
    home = home or default_region() or DEFAULT_PARTITION_REGION
    caller = RetryingCaller(home, session.limiter, session.clock)
    try:
        answer = caller.call("DescribeRegions", client_for(session.clients.ec2, home).describe_regions)
    except CallFailedError as error:
        code = error.code
    else:
        # EC2 leaves out the disabled ones by itself (AWS: DescribeRegions, AllRegions). Not every emulator does.
        return sorted(each["RegionName"] for each in answer["Regions"] if each.get("OptInStatus") != _DISABLED)
    raise FetchFailedError("DescribeRegions", "the account's regions", home, code)
