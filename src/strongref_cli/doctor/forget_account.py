"""`strongref forget ACCOUNT` without a stack: deletes what another account has published here and nobody imports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, Key, Site
from strongref.contract.releases import Release
from strongref.contract.values import ParameterType
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.fences import FenceHolder
from strongref.protocol.inspection import TagInspector
from strongref.protocol.stored_exports import ValueTags
from strongref.refusals import ExportsInUseError, InUse
from strongref.text import attribute_name
from strongref_cli.doctor.republishing import StillChangingError
from strongref_cli.install.installed import read_lag, settings
from strongref_cli.install.stacks import RegionStacks
from strongref_cli.overview.exports import participant
from strongref_cli.overview.texts import participant_document
from strongref_cli.terminal.output import Result, TextTable, WaitNotice, ask_about, progress, show
from strongref_toolkit.errors import UsageError
from strongref_toolkit.published_exports import export_scopes
from strongref_toolkit.session import enabled_regions, one_region
from strongref_toolkit.threads import in_regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from strongref.contract.fence import Fence
    from strongref.protocol.ports import Ports
    from strongref_toolkit.session import ToolSession

_Found = dict[ExportScope, dict[Key, ValueTags]]
"""The values of each scope, and what their tags say."""


def forget_account(args: argparse.Namespace, session: ToolSession) -> int:
    region, gone, clock = one_region(args.region), args.gone, session.clock
    aws, site = session.aws(region), Site(region)
    if gone == aws.accounts.own:
        raise UsageError(f"{gone} is this account itself: give --stack, the stack that exports")
    _check_not_trusted(session, gone)
    ports = session.ports(aws.accounts.own, settings(session), read_lag(session, [region]))
    with progress(f"Looking for what {gone} has published"):
        store = ports.at(site, clock)
        scopes = [each for each in export_scopes(store, None) if each.producer.account == gone]
        if not scopes:
            raise UsageError(f"{gone} has published nothing in {region}")
        found = _unclaimed(ports, scopes, [FencedStore(store, clock)] * len(scopes))
    plan = _result(args, region, aws.accounts.own, found)
    if args.dry_run:
        show(plan, args)
        return 0
    ask_about(plan, args, f"Delete what {gone} has published in {region}?")
    now = clock.now().replace(microsecond=0)

    def delete(fenced: list[FencedStore]) -> _Found:
        found = _unclaimed(ports, scopes, fenced)
        for (scope, keys), behind in zip(found.items(), fenced, strict=True):
            about, claim = Key(f"{gone}/{scope.producer.region}"), f"forgotten-{gone}-{region}-{scope.consumer}"
            by, why = aws.accounts.caller, f"{gone} was forgotten"
            trace = Release(scope.producer.stack, about, scope.consumer, region, claim, by, now, why)
            behind.store.overwrite(trace.name, ParameterType.STRING, trace.encode())
            behind.store.delete(behind.store.under(scope.path("records"), decrypted=False))
            behind.store.delete([scope.parameter_name(key) for key in keys])
        return found

    def busy(fence: Fence) -> StillChangingError:
        return StillChangingError(f"account {gone}", str(fence))

    with progress(f"Deleting what {gone} has published") as step:
        ports, holder = replace(ports, waits=WaitNotice(step)), FenceHolder("forget", "strongref forget")
        found = behind_fences(ports, clock, [(site, scope) for scope in scopes], holder, delete, busy=busy)
    if args.output != "table":
        show(_result(args, region, aws.accounts.own, found), args)
    return 0


def _check_not_trusted(session: ToolSession, account: str) -> None:
    """Raises `UsageError` if the account may still write here. Trust is for all regions, wherever its stack is."""
    read, _ = in_regions(enabled_regions(session), lambda each: RegionStacks.of(session, each).trusted())
    for region, trusted in read.items():
        if account in trusted:
            remove = f"Run strongref trust {account} --remove --region {region} first"
            raise UsageError(f"{account} may still export here, by stack {trusted[account]} in {region}. {remove}")


def _unclaimed(ports: Ports, scopes: Sequence[ExportScope], stores: Sequence[FencedStore]) -> _Found:
    """What these scopes have, without what others made by hand.

    Raises:
        ExportsInUseError: something is imported.
        StrongRefError: a call failed, or as for `TagInspector.check_asked`.
    """
    inspector, found = TagInspector(ports.stacks), _Found()
    for scope, at in zip(scopes, stores, strict=True):
        keys = map(scope.key, at.store.under(scope.path("exports"), decrypted=False))
        tags = inspector.claims_on(at.store, scope, keys)
        found[scope] = {key: each for key, each in tags.items() if each.producer or each.claims}
    inspector.confirm_stale(found.values(), stores[0].clock, ports.lag)
    inspector.check_asked()
    of = [(scope, key, each) for scope, tags in found.items() for key, each in tags.items() if each.claims]
    in_use = [InUse(f"{attribute_name(key)} of {at.producer.stack}", "deleted", each.importers) for at, key, each in of]
    if in_use:
        raise ExportsInUseError(in_use, {why for *_, each in of for why in each.unknown.values()})
    return found


def _result(args: argparse.Namespace, region: str, own: str, found: _Found) -> Result:
    rows = [(each.consumer, each.producer.stack, each.producer.region, str(len(tags))) for each, tags in found.items()]
    notes = [
        "No import claims these values. What reads them without a claim finds nothing afterward.",
        f"In account {args.gone}, each of these stacks needs strongref forget {own} before it can drop them.",
    ]
    table = TextTable(("CONSUMER", "STACK", "REGION", "VALUES"), rows, f"What {args.gone} published in {region}", notes)
    published = [
        {"consumer": at.consumer, "producer": participant_document(participant(at.producer)), "values": len(tags)}
        for at, tags in found.items()
    ]
    return Result([table], {"account": args.gone, "region": region, "published": published})
