"""`strongref forget`: gives up places that are out of reach, or deletes what another account has published here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from strongref.contract.index import FORGOTTEN, INDEX, Place, encode_place, index_name, index_of, path_of, read_index
from strongref.contract.names import ExportScope, Key, Site
from strongref.contract.releases import Release
from strongref.contract.values import ParameterType
from strongref.errors import StrongRefError
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.fences import FenceHolder, fences_below
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
from strongref_toolkit.json_values import time_text
from strongref_toolkit.published_exports import export_scopes
from strongref_toolkit.session import ToolSession, enabled_regions, one_region
from strongref_toolkit.threads import in_regions

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from strongref.contract.fence import Fence
    from strongref.protocol.ports import Ports, Store

_FIELDS = ("export", "region", "consumer", "written")

Named = tuple[str, str, Place, "datetime | None"]
"""An Export's logical ID, its stack's ARN, a place, and the request that last began to write there."""

_Found = dict[ExportScope, dict[Key, ValueTags]]
"""The values of each scope, and what their tags say."""


def forget_region(args: argparse.Namespace, session: ToolSession) -> int:
    """Mark a stack's places in a region, or in another account, as given up: it can be changed and deleted without."""
    is_account = args.gone.isdecimal()
    if args.stack is None:
        if is_account:
            return _forget_account(args, session)
        raise UsageError(f"--stack is missing: the stack that exports to {args.gone}")
    home = one_region(args.region)
    aws = session.aws(home)
    store, account = session.ports(settings=settings(session)).stores(home, session.clock), aws.accounts.own
    with progress(f"Looking for {args.stack}"):
        named = _named(store, args.stack)
        places = [each for each in named if args.gone == each[2].account or each[2][:2] == (account, args.gone)]
        if not places:
            sites = {each[2].region if each[2].account == account else each[2].account for each in named}
            others = ", ".join(sorted(sites)) or "nowhere"
            raise UsageError(f"{args.stack} in {home} does not export to {args.gone}; it exports to {others}")
        # Only the functions may assume the role of another account.
        reached = not is_account and _is_reached(aws.store(aws.where(args.gone, None)))
    rows = [
        (logical_id, place.region, place.consumer, time_text(wrote) if wrote else "unknown")
        for logical_id, _, place, wrote in places
    ]
    risk = (
        f"Nobody can know who imports from {args.stack} in {args.gone}. After this, {args.stack} can drop that "
        f"{'account' if is_account else 'region'} or be deleted without it, as long as its function cannot reach it. "
        "What is stored there stays."
    )
    notes = [risk]
    if reached:
        notes.append(f"You can reach {args.gone}: if the function can, too, this changes nothing.")
    title = f"Places to forget in {args.gone}"
    table = TextTable(("EXPORT", "REGION", "CONSUMER", "LAST WRITTEN"), rows, title=title, notes=notes)
    documents = [dict(zip(_FIELDS, row, strict=True)) for row in rows]
    gone = {"account": args.gone, "region": None} if is_account else {"account": account, "region": args.gone}
    plan = Result([table], {**gone, "reached": reached, "places": documents})
    if args.dry_run:
        show(plan, args)
        return 0
    ask_about(plan, args, f"Forget {args.gone} for {args.stack}?")
    now = session.clock.now().replace(microsecond=0)
    for logical_id, arn, place, _ in places:
        claim = "-".join(["forgotten", *([place.account] if is_account else []), place.region, place.consumer])
        key, reason = Key(logical_id), f"{args.gone} was forgotten"
        trace = Release(args.stack, key, place.consumer, place.region, claim, aws.accounts.caller, now, reason)
        store.create(trace.name, ParameterType.STRING, trace.encode(), {})
        mark = f"{index_name(args.stack, logical_id)}{path_of(place, FORGOTTEN)}"
        store.overwrite(mark, ParameterType.STRING, encode_place(arn, now))
    if args.output != "table":
        show(plan, args)
    return 0


def _named(store: Store, stack: str) -> list[Named]:
    """The places of each Export, once each: a denial may be left from a former stack of that name."""
    found = read_index(store.under(f"{INDEX}/{stack}"))
    named: dict[tuple[str, Place], Named] = {}
    for (name, arn), entry in found.items():
        for place in {*entry.places, *entry.denied}:  # Of what is named, some may be missing.
            at = index_of(name)[1], place
            if place in entry.places or at not in named:
                named[at] = (at[0], arn, place, entry.wrote.get(place))
    return [named[at] for at in sorted(named)]


def _is_reached(store: Store) -> bool:
    with suppress(StrongRefError):
        fences_below(store, "/strongref/fences")
        return True
    return False


def _forget_account(args: argparse.Namespace, session: ToolSession) -> int:
    """Without a stack: delete what another account has published here and nobody imports."""
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
    plan = _published(args, region, aws.accounts.own, found)
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
        show(_published(args, region, aws.accounts.own, found), args)
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


def _published(args: argparse.Namespace, region: str, own: str, found: _Found) -> Result:
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
