"""Which regions the caller's account can use."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from boto3.session import Session

from strongref.aws.clients import Clients
from strongref_toolkit.errors import UsageError
from strongref_toolkit.session import DEFAULT_PARTITION_REGION, default_region, regions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_toolkit.session import ToolSession

_DISABLED = "not-opted-in"


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
    return list(dict.fromkeys(regions(given)))


def check_regions(given: Iterable[str]) -> None:
    """Check names of regions; no call is made.

    Raises:
        UsageError: a region is not known.
    """
    known = _known_regions()
    for each in given:
        if each not in known:
            close = get_close_matches(each, known, 2)
            hint = f"Did you mean {' or '.join(close)}?" if close else "Give a region code such as us-east-1."
            raise UsageError(f"{each!r} is not a region that this botocore knows. {hint}")


def _known_regions() -> list[str]:
    session = Session()
    partitions = session.get_available_partitions()
    return sorted(region for each in partitions for region in session.get_available_regions("ssm", each))
