"""API calls per event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import NEWEST, OURS, STRONG, values
from benchmarks.tables import NONE, missing, number, ratio, table
from benchmarks.world import Outcome, World, rates
from strongref.runtime.wiring import EXPORT_ACCOUNTS

TITLE = "Calls"
METHOD = """
Each side's handler runs in its own process and gets CloudFormation's events one after the other. A local service that
speaks the protocols of SSM and CloudFormation counts the calls. All of our calls count: values, records, fences, tags,
and lookups of stacks. There is no quota and no latency. Our rate limit is switched off, which changes no count.

Imported values are secure: a response has room for about 40 values, and secure ones are claimed but not returned. The
CDK's importer gets values that CloudFormation has already resolved, with one read each, which is not counted.

10 % means at least one value. An import of other names replaces our resource: the Delete of the old one, which
CloudFormation sends in its cleanup, is counted with it.

The CDK's handlers write to their own account only.
"""

EVENTS = {
    "exports: create": "Create exports",
    "exports: abroad": "Create exports in another account",
    "exports: same": "Update exports, nothing changes",
    "exports: changed": "Update exports, 10 % of the values change",
    "exports: renamed": "Update exports, 10 % are replaced by others",
    "exports: delete": "Delete exports",
    "imports: create": "Create an import",
    "imports: same": "Update an import, nothing changes",
    "imports: renamed": "Update an import, 10 % are replaced by others",
    "imports: taken out": "Delete an import",
    "imports: delete": "Delete the importing stack",
}
_CREATES = ("exports: create", "imports: create")
_EXTRA = 12
_EXTRA_ABROAD = 3
"""Two calls, and AssumeRole."""
_OTHER = "222222222222"
_STRONG, _CREATE, _NEWEST = 1.25, 0.6, 1.25


def run(bench: Bench) -> Data:
    """Count."""
    rows: list[dict[str, Any]] = []
    counts = (1, 10) if bench.quick else (1, 10, 100, 1000)
    for side in bench.sides:
        with World(side, rates(paced=False)) as world:
            for count in counts:
                for event, outcome, writes in _story(world, count):
                    done = outcome.done and outcome.counts.get("PutParameter", 0) >= writes
                    row = {"event": event, "n": count, "side": side.key, "calls": outcome.calls, "done": done}
                    rows.append(row | {"status": outcome.status})
                say(f"calls: {side.title}, {count:,} values")
    with World(bench.sides[0], {**rates(paced=False), EXPORT_ACCOUNTS: _OTHER}) as world:
        for count in counts:
            world.forget()
            outcome = world.create("exports", {**world.side.exports(values(count)), "Account": _OTHER})
            row = {"event": "exports: abroad", "n": count, "side": OURS, "calls": outcome.calls, "done": outcome.done}
            rows.append(row | {"status": outcome.status})
    return {"titles": bench.titles, "without": bench.without, "rows": rows}


def _story(world: World, count: int) -> Iterator[tuple[str, Outcome, int]]:
    """Events in order: the name, the outcome, and how many values the event must write at least."""
    side, some = world.side, max(1, count // 10)
    wanted = values(count)
    world.forget()
    yield "exports: create", world.create("exports", side.exports(wanted)), count
    yield "exports: same", world.update("exports", side.exports(wanted)), 0
    changed = world.update("exports", side.exports(wanted | values(some, mark="other")))
    yield "exports: changed", changed, some
    kept = (wanted | values(some, mark="other")) if changed.done else wanted
    kept = {key: value for key, value in kept.items() if key not in values(some)} | values(some, first=count)
    yield "exports: renamed", world.update("exports", side.exports(kept)), some
    yield "exports: delete", world.delete("exports"), 0
    world.forget()
    world.create("exports", side.exports(values(count + some), secure=True))
    yield "imports: create", world.create("imports", side.imports(wanted)), 0
    yield "imports: same", world.update("imports", side.imports(wanted)), 0
    yield "imports: renamed", world.update("imports", side.imports(values(count, first=some))), 0
    yield "imports: taken out", world.delete("imports", with_stack=False), 0
    world.forget()
    world.create("exports", side.exports(wanted, secure=True))
    world.create("imports", side.imports(wanted))
    yield "imports: delete", world.delete("imports"), 0


_NOTE = """
"Refused" and "not written" describe the CDK's handlers: until 2.257.0 a changed value failed the update. Newer
versions do not write it, and the update succeeds.
"""


def render(data: Data) -> list[str]:
    """Every event and count, ours and the CDK's."""
    titles = data["titles"]
    found = _found(data)
    theirs = [key for key in titles if key != OURS]
    header = ["Event", "N", titles[OURS], *(cell for key in theirs for cell in (titles[key], "ratio"))]
    rows = []
    for event, title in EVENTS.items():
        for count in sorted({row["n"] for row in data["rows"]}):
            ours = found[event, count, OURS]
            row: list[object] = [title, number(count), _shown(ours)]
            for key in theirs:
                if (event, count, key) not in found:  # They export to no other account.
                    row += [NONE, NONE]
                    continue
                other = found[event, count, key]
                row += [_shown(other), ratio(ours["calls"], other["calls"]) if other["done"] else NONE]
            rows.append(row)
    return [*table(header, rows), *(["", *_NOTE.strip().splitlines()] if theirs else missing(data, "columns"))]


def verdicts(data: Data) -> list[Verdict]:
    """Against both of the CDK's handlers."""
    found = _found(data)

    def judged(target: str, key: str, factor: float, events: tuple[str, ...], why: str) -> Verdict:
        misses, held = [], 0
        for event, count, side in found:
            if side != key or event not in events or not found[event, count, key]["done"]:
                continue
            ours, most = found[event, count, OURS]["calls"], factor * found[event, count, key]["calls"] + _EXTRA
            if ours <= most:
                held += 1
            else:
                misses.append(f"{EVENTS[event]}, N = {count:,}: {ours:,} calls where {most:,.0f} are allowed")
        if not misses and not held:
            return Verdict(target, None, data["without"] or NONE)
        measured = f"{held} of {held + len(misses)} cases"
        return Verdict(target, not misses, measured, why if misses else "", misses)

    return [
        judged(
            "Calls of every event at most 1.25 of CDK 2.257.0's plus 12", STRONG, _STRONG, tuple(EVENTS), _WHY_STRONG
        ),
        judged(
            "Calls to create exports at most 0.6 of CDK 2.257.0's plus 12", STRONG, _CREATE, ("exports: create",), ""
        ),
        judged(
            "Calls to create exports and imports at most 1.25 of CDK 2.276.0's plus 12", NEWEST, _NEWEST, _CREATES, ""
        ),
        _abroad(found),
    ]


def _abroad(found: dict[tuple[str, int, str], dict[str, Any]]) -> Verdict:
    """Against our own calls in another region."""
    target = "Calls to create exports in another account at most those in another region, two more, and AssumeRole"
    there = {count: row for (event, count, side), row in found.items() if (event, side) == ("exports: abroad", OURS)}
    more = [row["calls"] - found["exports: create", count, OURS]["calls"] for count, row in there.items()]
    if not more:
        return Verdict(target, None, NONE)
    met = max(more) <= _EXTRA_ABROAD and all(row["done"] for row in there.values())
    return Verdict(target, met, f"{max(more):+d} with up to {max(there):,} values")


_WHY_STRONG = """
The CDK's handlers compare an event's old properties with its new ones, and trust that these are stored. Ours read what
is stored, ten values per call, because an event can arrive twice or late and a value can be missing. An import of
other names is a new resource to CloudFormation. It claims its values before the old one releases its own, so that no
value is unprotected in between and a failed update keeps what it had.
"""


def _found(data: Data) -> dict[tuple[str, int, str], dict[str, Any]]:
    return {(row["event"], row["n"], row["side"]): row for row in data["rows"]}


def _shown(row: dict[str, Any]) -> str:
    if row["status"] != "SUCCESS":
        return f"refused ({number(row['calls'])})"
    return number(row["calls"]) if row["done"] else f"not written ({number(row['calls'])})"
