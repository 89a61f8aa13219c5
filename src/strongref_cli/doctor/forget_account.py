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
from strongref.text import attribute_name, some, stack_text
from strongref_cli.doctor.republishing import StillChangingError
from strongref_cli.install.installed import read_lag, settings
from strongref_cli.install.stacks import RegionStacks
from strongref_cli.overview.exports import participant
from strongref_cli.overview.texts import importer_document, participant_document, place_document
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

_Claimed = dict[tuple[ExportScope, Key], ValueTags]
"""The claimed ones."""


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
        found = _inspected(ports, scopes, [FencedStore(store, clock)] * len(scopes))
    if claimed := _claimed(found):
        in_use = [InUse(_named(*at), "deleted", tags.importers) for at, tags in claimed.items()]
        raise ExportsInUseError(in_use, {each for tags in claimed.values() for each in tags.unknown.values()})
    notes = [
        "No import claims these values. What reads them without a claim finds nothing afterward.",
        f"In account {gone}, each of these stacks needs strongref forget {aws.accounts.own} before it can drop them.",
    ]
    plan = _result(args, region, found, {}, notes)
    if args.dry_run:
        show(plan, args)
        return 0
    ask_about(plan, args, f"Delete what {gone} has published in {region}?")
    now = clock.now().replace(microsecond=0)

    def delete(fenced: list[FencedStore]) -> _Claimed:
        claimed = _claimed(again := _inspected(ports, scopes, fenced))
        for scope, behind in zip(scopes, fenced, strict=True):
            if scope not in {each for each, _ in claimed}:  # The record of what stays would restore the rest.
                about, claim = Key(f"{gone}/{scope.producer.region}"), f"forgotten-{gone}-{region}-{scope.consumer}"
                by, why = aws.accounts.caller, f"{gone} was forgotten"
                trace = Release(scope.producer.stack, about, scope.consumer, region, claim, by, now, why)
                behind.store.overwrite(trace.name, ParameterType.STRING, trace.encode())
                behind.store.delete(behind.store.under(scope.path("records"), decrypted=False))
                behind.store.delete([scope.parameter_name(key) for key in again[scope]])
        return claimed

    def busy(fence: Fence) -> StillChangingError:
        return StillChangingError(f"account {gone}", str(fence))

    with progress(f"Deleting what {gone} has published") as step:
        ports, holder = replace(ports, waits=WaitNotice(step)), FenceHolder("forget", "strongref forget")
        kept = behind_fences(ports, clock, [(site, scope) for scope in scopes], holder, delete, busy=busy)
    done = {scope: tags for scope, tags in found.items() if scope not in {each for each, _ in kept}}
    show(_result(args, region, done, kept, ["This was deleted."] if done else []), args)
    return int(bool(kept))


def _check_not_trusted(session: ToolSession, account: str) -> None:
    """Raises `UsageError` if the account may still write here. Trust is for all regions, wherever its stack is."""
    read, _ = in_regions(enabled_regions(session), lambda each: RegionStacks.of(session, each).trusted())
    for region, trusted in read.items():
        if account in trusted:
            remove = f"Run strongref trust {account} --remove --region {region} first"
            raise UsageError(f"{account} may still export here, by stack {trusted[account]} in {region}. {remove}")


def _inspected(ports: Ports, scopes: Sequence[ExportScope], stores: Sequence[FencedStore]) -> _Found:
    """What these scopes have, without what others made by hand; errors as for `TagInspector.check_asked`."""
    inspector, found = TagInspector(ports.stacks), _Found()
    for scope, at in zip(scopes, stores, strict=True):
        keys = map(scope.key, at.store.under(scope.path("exports"), decrypted=False))
        tags = inspector.claims_on(at.store, scope, keys)
        found[scope] = {key: each for key, each in tags.items() if each.producer or each.claims}
    inspector.confirm_stale(found.values(), stores[0].clock, ports.lag)
    inspector.check_asked()
    return found


def _claimed(found: _Found) -> _Claimed:
    return {(scope, key): each for scope, tags in found.items() for key, each in tags.items() if each.claims}


def _named(scope: ExportScope, key: Key) -> str:
    return f"{attribute_name(key)} of {scope.producer.stack}"


def _result(args: argparse.Namespace, region: str, found: _Found, kept: _Claimed, notes: list[str]) -> Result:
    rows = [(each.consumer, each.producer.stack, each.producer.region, len(tags)) for each, tags in found.items()]
    title = f"What {args.gone} published in {region}"
    notes = notes + [
        f"{_named(*at)} is imported by {some(map(stack_text, tags.importers), 5)} by now: nothing of that stack for "
        f"{at[0].consumer} was deleted."
        for at, tags in kept.items()
    ]
    published = [
        {"consumer": at.consumer, "producer": participant_document(participant(at.producer)), "values": len(tags)}
        for at, tags in found.items()
    ]
    claimed = [
        {**place_document(region, *at), "importers": list(map(importer_document, tags.importers))}
        for at, tags in kept.items()
    ]
    table = TextTable(("CONSUMER", "STACK", "REGION", "VALUES"), [[*map(str, row)] for row in rows], title, notes)
    return Result([table], {"account": args.gone, "region": region, "published": published, "claimed": claimed})
