"""What is installed in several regions, side by side: what is broken, and what differs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strongref_cli.install.plan import UPDATABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strongref_cli.install.plan import Found

INSTALLED = "installed"
NOT_INSTALLED = "not installed"
UNKNOWN = "unknown"


class Difference(NamedTuple):
    """Something that is not the same in all regions."""

    what: str  # `version`, `installed`, or a parameter's name
    values: Mapping[str, str]  # by region


def version_of(found: Found) -> str:
    return (found.stack.version or UNKNOWN) if found.stack else ""


def problems(regions: Sequence[Found]) -> list[str]:
    """What is broken, one sentence each."""
    broken = [
        f"The stack in {each.region} is in {each.stack.status}."
        for each in regions
        if each.stack and each.stack.status not in UPDATABLE
    ]
    elsewhere = [
        f"In {each.region}, strongref is installed as stack {each.elsewhere}: give --stack {each.elsewhere}."
        for each in regions
        if each.elsewhere
    ]
    return [
        *broken,
        *elsewhere,
        *(["strongref is not installed in any of these regions."] if not (_installed(regions) or elsewhere) else []),
    ]


def differences(regions: Sequence[Found], *, everywhere: bool = True) -> list[Difference]:
    """What differs between regions.

    Args:
        regions: what is in each.
        everywhere: whether a region without an installation differs from one that has one.
    """
    there = _installed(regions)
    found = []
    if everywhere and there and len(there) < len(regions):
        states = {each.region: INSTALLED if each.stack else NOT_INSTALLED for each in regions if not each.elsewhere}
        found.append(Difference(INSTALLED, states))
    found.append(Difference("version", {each.region: version_of(each) for each in there}))
    stacks = {each.region: each.stack for each in there if each.stack}
    names = sorted({name for stack in stacks.values() for name in stack.parameters})
    found += [
        Difference(name, {region: stack.parameters.get(name, "") for region, stack in stacks.items()}) for name in names
    ]
    return [each for each in found if len(set(each.values.values())) > 1]


def _installed(regions: Sequence[Found]) -> list[Found]:
    return [each for each in regions if each.stack]
