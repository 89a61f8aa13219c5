"""The end of a history: everything is deleted, and nothing refuses to go."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.index import FORGOTTEN, INDEX, Place, encode_place, index_name, index_of, path_of, read_index
from strongref.contract.names import SHARED, ExportScope
from strongref.contract.record import Record
from strongref.contract.values import ParameterType
from strongref.protocol.janitor import Janitor
from strongref.protocol.ports import Ports, none_abroad
from strongref.protocol.time import Patience
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.fake_ssm import EPOCH, FakeClock
from tests.support.fuzz.history import LONG
from tests.support.fuzz.invocation import site_text
from tests.support.fuzz.lookups import Lookups
from tests.support.fuzz.properties import ACCOUNTS, CONSUMERS, PRODUCERS
from tests.support.invariants import ABROAD, leftovers, records, stored

if TYPE_CHECKING:
    from strongref.aws.parameter_store import SsmStore
    from strongref.protocol.time import Clock
    from tests.support.cloudformation.operations import Resources
    from tests.support.fuzz.history import History

REGIONS = sorted({region for _, region in (*PRODUCERS, *CONSUMERS)})


def delete_everything(history: History) -> None:
    """Consumers are deleted first, then producers are emptied; what deleted stacks left is adopted, and goes."""
    cloud = history.cloud
    history.note("everybody has finished; now everything is deleted")
    history.wait(LONG)
    cloud.ssm(CONSUMERS[0][1]).locked.clear()
    history.check_held()
    for which in CONSUMERS:
        if cloud.find(*which):
            _delete(history, *which)
    _tend(history)  # A failed update leaves its hold to the janitor, and so does a stack that vanished.
    if (cloud.away or not all(cloud.trusting.values())) and len(history.story) % 2:
        _give_up(history)
        _tend(history)
    history.note("every region is back, and every account trusts again")
    cloud.away.clear()
    cloud.trusting = dict.fromkeys(cloud.trusting, True)
    _tend(history)  # What was held for a place that could not be reached until now is released.
    for name, region in PRODUCERS:
        _empty(history, name, region)
    for scope, region in _remaining_scopes(history):
        producer = (scope.producer.stack, scope.producer.region)
        history.deploy(*producer, _as_recorded(history, scope, region))
        history.finish()
        _empty(history, *producer)
    _tend(history)
    left = leftovers(stored(cloud.regions))
    if left:
        history.fail("; ".join(left))


def _give_up(history: History) -> None:
    """What is away stays away, as `forget` says; so producers go on without it."""
    cloud = history.cloud
    closed = [account for account, lets_in in cloud.trusting.items() if not lets_in]
    gone = {(ACCOUNT, region) for region in cloud.away} | {
        (account, region) for account in closed for region in REGIONS
    }
    for name, region in PRODUCERS:
        if not (stack := cloud.find(name, region)):
            continue
        store, named = cloud.stores(region, FakeClock()), set[tuple[str, Place]]()
        for (at, arn), entry in read_index(store.under(INDEX)).items():
            named |= {(at, place) for place in entry.places if arn == stack.arn}
        for logical_id, each in stack.resources.items():  # An Export without values is named nowhere.
            consumer = each.properties.get("Consumer", SHARED)
            named |= {(index_name(name, logical_id), Place(*site, consumer)) for site in gone}
        for at, place in sorted(named):
            if place[:2] in gone and index_of(at)[0] == name:
                history.note(f"{at} forgets {place}")
                text = encode_place(stack.arn, cloud.now())
                store.overwrite(f"{at}{path_of(place, FORGOTTEN)}", ParameterType.STRING, text)
    _tend(history, only_abroad=True)  # What is held for a place that was given up is released.
    for name, region in PRODUCERS:
        _empty(history, name, region)


def _tend(history: History, *, only_abroad: bool = False) -> None:
    """The janitors of all regions run, one after the other, when reads show everything.

    They reach regions that are away for others; `only_abroad` leaves those alone.
    """
    cloud = history.cloud
    history.wait(LONG)
    clock = FakeClock(remaining=1e12)
    clock.slept.append((cloud.now() - EPOCH).total_seconds())
    clock.on_sleep = lambda _slept: history.wait(clock.slept[-1])  # or no read ever shows a fence that lags
    own, patience = Lookups(cloud, ACCOUNT), Patience(60, 2, lambda: 0.5)
    ports = Ports(partial(Cloud.stores, cloud), own, patience, cloud.token, cloud.lag, abroad=cloud.store)
    for account in () if only_abroad else sorted({*ACCOUNTS.values()}):
        stores = partial(_stores_of, cloud, account)
        there = replace(ports, stores=stores, stacks=Lookups(cloud, account), abroad=none_abroad)
        for region in REGIONS:
            list(Janitor(there, region, account).tend(clock))
    for region in REGIONS:
        list(Janitor(ports, region, ACCOUNT, tends_abroad=True).tend(clock, only_abroad=only_abroad))


def _stores_of(cloud: Cloud, account: str, region: str, clock: Clock) -> SsmStore:
    return replace(cloud.stores(region, clock), client=cloud.ssm(site_text(region, account)).as_client())


def _empty(history: History, name: str, region: str) -> None:
    stack = history.cloud.find(name, region)
    if stack is None:
        return
    if stack.status == "UPDATE_ROLLBACK_FAILED":
        history.continue_rollback(name, region)
        history.finish()
        if stack.status != "UPDATE_ROLLBACK_COMPLETE":
            history.fail(f"stuck: nothing is wrong any more, and the rollback of {name} cannot be continued")
        _tend(history, only_abroad=True)  # While a producer is stuck, what holds it for another account stays.
    if not stack.status.endswith("_FAILED"):
        resources = {
            logical_id: {**resource.properties, "Values": {}, "SecureKeys": []}
            for logical_id, resource in stack.resources.items()
        }
        history.deploy(name, region, resources)
        history.finish()
        if stack.status != "UPDATE_COMPLETE":
            history.fail(f"nobody imports anything, and stack {name} cannot be emptied")
    _delete(history, name, region)


def _delete(history: History, name: str, region: str) -> None:
    history.delete(name, region)
    history.finish()
    if history.cloud.find(name, region):
        history.fail(f"nobody imports anything, and stack {name} cannot be deleted")


def _remaining_scopes(history: History) -> list[tuple[ExportScope, str]]:
    scopes = set()
    for region, name in stored(history.cloud.regions):
        tree = name.split("/")[2]
        scope = ExportScope.of(tree, name)
        if scope and tree in ("exports", "records"):
            scopes.add((scope, region))
    return sorted(scopes)


def _as_recorded(history: History, scope: ExportScope, region: str) -> Resources:
    """The Exports that a deleted stack had there; if only values remain, one that will find them."""
    at, _, account = region.partition(ABROAD)
    place: dict[str, Any] = {"Region": at} | ({"Account": account} if account else {})
    place |= {} if scope.consumer == SHARED else {"Consumer": scope.consumer}
    resources = {}
    said = records(stored(history.cloud.regions)).get((region, scope.path("records")), {})
    for logical_id, record in said.items():
        secure = []
        values: dict[str, object] = {}
        for key, value in (record.values if isinstance(record, Record) else {}).items():
            *above, last = key.split("/")
            inner = values
            for level in above:
                inner = inner.setdefault(level, {})  # type: ignore[assignment]
            inner[last] = value.attribute
            secure += [key.replace("/", ".")] if value.is_secure else []
        resources[logical_id] = {**place, "Values": values, "SecureKeys": secure}
    return resources or {"Z": {**place, "Values": {}}}
