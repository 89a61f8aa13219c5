"""What is in a region: the installation, and what needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_cli.install.errors import ForeignBucketError
from strongref_cli.install.plan import EXPORTS, Found
from strongref_cli.install.removal import Leftovers
from strongref_cli.install.usage import ListedResource, importing, use_of

if TYPE_CHECKING:
    from strongref.protocol.ports import Store
    from strongref_cli.install.bucket import CodeBucket
    from strongref_cli.install.stacks import RegionStacks
    from strongref_cli.install.usage import Use


def find(stacks: RegionStacks, name: str, *, with_template: bool = False) -> Found:
    """The installation of a region; `name` is its stack's."""
    stack = stacks.find(name, with_template=with_template)
    return Found(stacks.where.region, stack, "" if stack else stacks.exporter_of(EXPORTS[0]))


def uses(stacks: RegionStacks, installation: str) -> list[Use]:
    """The stacks of a region that need its installation, given that stack's name.

    Every stack's resources are listed: what strongref stores does not know lookups, weak imports, and empty Exports.
    """
    imports = importing({export: stacks.importers(export) for export in EXPORTS})
    found = []
    for name, arn in sorted(stacks.names().items()):
        if name == installation:
            continue
        resources, mine = list(map(ListedResource.of, stacks.resources(arn))), imports.get(name, set())
        transforms = () if use_of(name, resources, mine, ()) else stacks.transforms(arn)
        found.append(use_of(name, resources, mine, transforms))
    return [each for each in found if each]


_ALL, _OF_THE_STACK = "/strongref", "/strongref/service-tokens/"


def leftovers(bucket: CodeBucket, store: Store) -> Leftovers:
    """What is in a region and stays when the stack is deleted."""
    try:
        there = bucket.exists()
    except ForeignBucketError:
        there = False
    stored = [name for name in store.under(_ALL, decrypted=False) if not name.startswith(_OF_THE_STACK)]
    return Leftovers(bucket.name if there else "", len(bucket.keys()) if there else 0, len(stored))
