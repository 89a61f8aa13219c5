"""Places in other accounts that are not read, and what would happen at best and at worst. Pure.

At worst, every value there is imported, by `222222222222 (not read)`. Where that makes a difference, nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from strongref.contract.names import Key, claim_tag, owner_tag
from strongref.contract.record import Record
from strongref.contract.requests import ExportRequest, accepted
from strongref.contract.values import ParameterType, Value
from strongref.errors import StrongRefError
from strongref.protocol.stored_exports import Owner, StoredExports, ValueTags
from strongref_cli.check.report import ExportPrediction, StackFinding, StackReport, Verdict
from strongref_cli.check.wanted import LATER, UNREAD, former_export

if TYPE_CHECKING:
    from strongref_cli.check.simulation import Simulation
    from strongref_cli.check.stored import StoredStack

_SOMETHING = {Key("values-not-read"): Value(ParameterType.STRING, "")}
"""Stands for values of which not even the names are known."""


def at_worst(simulation: Simulation, predict: Callable[[Simulation], StackReport]) -> StackReport:
    """What happens, whatever is stored where nothing is read: what that decides is unknown."""
    stored = simulation.stored
    whys = " ".join(sorted({str(each.unread) for each in stored.scopes.values() if each.unread}))
    cases = [_filled(simulation, is_claimed=each) for each in (False, True)] if whys else [stored]
    reasons = [whys] if whys else []
    if isinstance(stored.listed, StrongRefError):
        everybody = tuple(at.site.account for _, at in stored.scopes)
        cases = [*(replace(each, listed=everybody) for each in cases), cases[-1]]
        reasons.append("The installation's ExportAccounts are not read.")
    first, *others = (predict(replace(simulation, stored=each)) for each in cases)
    return reduce(_between, zip(reasons, others, strict=True), first)


def _between(best: StackReport, other: tuple[str, StackReport]) -> StackReport:
    why, worst = other
    exports = tuple(_export_between(why, *each) for each in zip(best.exports, worst.exports, strict=True))
    new = [each for each in worst.findings if each not in best.findings]
    unknown = (StackFinding(Verdict.UNKNOWN, f"{why} At worst: {each.text}") for each in new)
    findings = (old if old.verdict is Verdict.ACCEPTED else each for old, each in zip(new, unknown, strict=True))
    return replace(best, exports=exports, findings=(*best.findings, *findings))


def _export_between(why: str, best: ExportPrediction, worst: ExportPrediction) -> ExportPrediction:
    changes = worst.changes or best.changes
    if best.verdict is worst.verdict:
        return replace(worst, changes=changes)
    verdict = Verdict.LOST if best.verdict is Verdict.LOST else Verdict.UNKNOWN
    text = f"unknown: {why} At worst: {' '.join(worst.reasons)}"
    return replace(worst, verdict=verdict, reasons=(*best.reasons, text), changes=changes)


def _filled(simulation: Simulation, *, is_claimed: bool) -> StoredStack:
    """What is stored, with what the deployed Exports of a stack have published where it is not read."""
    stack, comparison, stored = simulation.stack, simulation.comparison, simulation.stored
    arn, scopes = str(stack), dict(stored.scopes)

    def hidden(value: Value) -> Value:  # differs from whatever an update makes of an unknown one
        return replace(value, text=value.text.replace(LATER, UNREAD))

    requests = {
        each: accepted(ExportRequest.parse, former_export(each, comparison, stored) or {}, stack)
        for each in comparison.old.exports
    }
    for (logical_id, at), found in stored.scopes.items():
        if not found.unread:
            continue
        is_named = logical_id in stored.index and at.place in stored.index[logical_id].places
        records = {
            each: Record(arn, {key: hidden(value) for key, value in request.values.items()}, request.hold)
            for each, request in requests.items()
            if request and request.values and request.publishes_to(*at)
        }
        if logical_id not in records and (is_named or requests.get(logical_id, records) is None):
            records[logical_id] = Record(arn, _SOMETHING)
        owners = {key: each for each, record in records.items() for key in record.values}
        who = f"{at.site.account} {UNREAD}"
        claims = {claim_tag(who): who} if is_claimed else {}
        tags = {key: ValueTags(Owner.OURS, arn, {owner_tag(each): each}, claims) for key, each in owners.items()}
        values = {key: records[each].values[key] for key, each in owners.items()}
        exports = StoredExports(values, records.pop(logical_id, None), others=records)
        scopes[logical_id, at] = replace(found, exports=exports, tags=tags)
    return replace(stored, scopes=scopes)
