"""`strongref resolve --claim NAME` and `--unclaim NAME`: manifests that hold the exports which they use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from strongref.contract.names import ManifestSet
from strongref.contract.properties import parse_label
from strongref.errors import BadRequestError
from strongref_manifests.manifest_set import ManifestSetClaims
from strongref_toolkit.errors import UsageError
from strongref_toolkit.toolbox import regions

if TYPE_CHECKING:
    import argparse

    from strongref_toolkit.toolbox import Toolbox

CLAIM, UNCLAIM = "--claim", "--unclaim"


def set_claims(option: str, name: str, asked: argparse.Namespace, toolbox: Toolbox) -> ManifestSetClaims:
    """What the set of that name claims in the run's region.

    Raises:
        UsageError: no set can be called so, or no region is known.
        UnknownCallerError: the caller's own account cannot be found out.
    """
    (region,) = regions([asked.region] if asked.region else None)
    try:
        parse_label(option, name)
    except BadRequestError as error:
        problem = str(error)
    else:
        account = toolbox.accounts(region, None).own
        return ManifestSetClaims(toolbox.ports(account), toolbox.clock, region, ManifestSet(account, name))
    raise UsageError(problem)


def unclaim(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    """Let go of everything that a set claims in the run's region; the exit status."""
    claims = set_claims(UNCLAIM, asked.unclaim, asked, toolbox)
    freed = claims.release_all()
    for place, key in freed:
        sys.stdout.write(f"{claims.region}  {place.value(key)} is not claimed any more\n")
    if not freed:
        sys.stderr.write(f"strongref: manifests {asked.unclaim} claim nothing in {claims.region}\n")
    return 0
