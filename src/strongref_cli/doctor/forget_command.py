"""`strongref forget`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from strongref.contract.index import FORGOTTEN, INDEX, Place, encode_place, index_name, index_of, path_of, read_index
from strongref.contract.names import Key
from strongref.contract.releases import Release
from strongref.contract.values import ParameterType
from strongref.errors import StrongRefError
from strongref.protocol.fences import fences_below
from strongref_cli.doctor.forget_account import forget_account
from strongref_cli.install.installed import settings
from strongref_cli.terminal.output import Result, TextTable, ask_about, progress, show
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import time_text
from strongref_toolkit.session import ToolSession, one_region

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from strongref.protocol.ports import Store

_FIELDS = ("export", "region", "consumer", "written")

Named = tuple[str, str, Place, "datetime | None"]
"""An Export's logical ID, its stack's ARN, a place, and the request that last began to write there."""


def forget_region(args: argparse.Namespace, session: ToolSession) -> int:
    """Mark a stack's places in a region, or in another account, as given up: it can be changed and deleted without."""
    is_account = args.gone.isdecimal()
    if args.stack is None:
        if is_account:
            return forget_account(args, session)
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
