"""The actors that the cases are made of: exporters E, importers I and cleanups C, around one value of one producer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.hold_stacks import DIGEST, HoldStack, digest
from strongref.contract.names import Key, StackArn, claim_tag
from strongref.contract.requests import ImportRequest
from strongref.contract.response import Response
from strongref.protocol import imports
from strongref.protocol.janitor import Janitor
from strongref.protocol.stored_exports import physical_id
from tests.support.abroad import OTHER, THIRD
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloudformation.operations import ExportInUseError
from tests.support.cloudformation.requests import ResourceRequest
from tests.support.cloudformation.stacks import DELETING, UPDATING
from tests.support.explorer.actors import TRUST, Actor
from tests.support.explorer.session import exporter, importer
from tests.support.explorer.world import REGION, DirectSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.contract.event import Event
    from tests.support.explorer.session import Session
    from tests.support.explorer.world import World

KEY = Key("K")
HOLD = "network-Exports"
VALUE_NAME = SCOPE.parameter_name(KEY)
PAIR = (KEY, Key("L"))
"""Two values: what is done to both does not depend on each other, and may happen in any order."""


def _imports(keys: Sequence[Key], account: str = ACCOUNT) -> dict[str, object]:
    """An Import's properties in a stack of this account."""
    source = {"Stack": "network", "Region": "eu-west-1"} | ({"Account": ACCOUNT} if account != ACCOUNT else {})
    return {"From": source, "Names": [*keys], "Consumer": "web"}


IMPORT = _imports([KEY])


def producer(number: int) -> str:
    """The ARN of a stack called network; there have been several of that name."""
    return f"arn:aws:cloudformation:eu-west-1:{ACCOUNT}:stack/network/{number}1111111-0000-0000-0000-000000000000"


PRODUCER = producer(1)
FORMER = producer(0)
OWN_ID = physical_id(StackArn.parse(PRODUCER), "Exports")


def stack(name: str, account: str = ACCOUNT) -> str:
    return f"arn:aws:cloudformation:{REGION}:{account}:stack/{name}/22222222-0000-0000-0000-000000000000"


def event(kind: RequestType, arn: str, logical_id: str, properties: dict[str, object], physical_id: str = "") -> Event:
    return ResourceRequest(kind, arn, logical_id, properties, physical_id).event(f"{logical_id}-{kind.value}")


def exported(value: str, keys: Sequence[Key] = (KEY,)) -> dict[str, object]:
    """An Export's properties; `drop` stands for no value, and what follows an `@` for other accounts."""
    value, *accounts = value.split("@")
    values = {} if value == "drop" else dict.fromkeys(keys, value)
    return {"Region": REGION, "Consumer": "web", "Values": values, **({"Account": accounts} if accounts else {})}


def wanting(value: str, *, instead_of: str = "", of: str = PRODUCER, keys: Sequence[Key] = (KEY,)) -> Event:
    """An Export's Create, or the Update of one that published something else; values are as for `exported`."""
    if not instead_of:
        return event(RequestType.CREATE, of, "Exports", exported(value, keys))
    old = exported(instead_of, keys)
    update = ResourceRequest(RequestType.UPDATE, of, "Exports", exported(value, keys), "x", old)
    return update.event(f"to-{value}")


def E(*wanted: str, name: str = "E", update: bool = False, keys: Sequence[Key] = (KEY,)) -> Actor:  # noqa: N802
    """An exporter that wants one value after the other."""
    events = [wanting(value, instead_of="drop" if update else "", keys=keys) for value in wanted]
    return Actor(name, PRODUCER, exporter, events, status=UPDATING, fences=True)


def one_of_two(name: str, to: str, instead_of: str | None = None) -> Actor:
    """One of two Exports of a stack, E or S, at its Create or at an Update; `K=v1 L=v2` are values."""
    logical_id = {"E": "Exports", "S": "More"}[name]
    new, old = (
        exported("drop") | {"Values": dict(each.split("=") for each in (values or "").split())}
        for values in (to, instead_of)
    )
    asked = ResourceRequest(RequestType.CREATE, PRODUCER, logical_id, new)
    if instead_of is not None:
        asked = ResourceRequest(RequestType.UPDATE, PRODUCER, logical_id, new, "x", old)
    return Actor(name, PRODUCER, exporter, [asked.event(f"{logical_id}-event")], status=UPDATING, fences=True)


def changes(name: str, before: str, after: str, *, begins: str = "", hands_over_to: str = "") -> Actor:
    """An exporter at an Update."""
    update = wanting(after, instead_of=before)
    return Actor(
        name, PRODUCER, exporter, [update], status=UPDATING, begins=begins, fences=True, hands_over_to=hands_over_to
    )


def with_secret(to: str, *, instead_of: str = "", begins: str = "", name: str = "E") -> Actor:
    """An Export of a value and of a secret, both of which change or go: at its Create or at an Update."""
    new, old = (
        exported(value, PAIR) | {"SecureKeys": [PAIR[1]] if value != "drop" else []} for value in (to, instead_of)
    )
    asked = ResourceRequest(RequestType.CREATE, PRODUCER, "Exports", new)
    if instead_of:
        asked = ResourceRequest(RequestType.UPDATE, PRODUCER, "Exports", new, "x", old)
    return Actor(name, PRODUCER, exporter, [asked.event(f"to-{to}")], status=UPDATING, begins=begins, fences=True)


def key_goes() -> Actor:
    """Somebody who disables the secrets' key, and enables it again."""

    def turn(session: Session, event: Event) -> Response:
        goes = event.request_type is RequestType.CREATE
        session.ask(
            ("key", "goes" if goes else "is back", ""), lambda w: w.ssm.lock() if goes else w.ssm.locked.clear()
        )
        return Response("")

    events = [event(kind, PRODUCER, "Key", {}, "x") for kind in (RequestType.CREATE, RequestType.DELETE)]
    return Actor("key", PRODUCER, turn, events, status=UPDATING, fences=True)


def deleted(name: str, value: str) -> Actor:
    """An exporter at the Delete of an Export, in a stack that is being deleted."""
    deletion = event(RequestType.DELETE, PRODUCER, "Exports", exported(value), OWN_ID)
    return Actor(name, PRODUCER, exporter, [deletion], status=UPDATING, begins=DELETING, fences=True)


def trust_goes(account: str = OTHER) -> Actor:
    """Another account that trusts nobody anymore, from any call on, and again from any later one on."""

    def turn(session: Session, event: Event) -> Response:
        revoked = frozenset({account}) if event.request_type is RequestType.CREATE else frozenset()
        session.ask((TRUST, "goes" if revoked else "is back", account), lambda world: world.revoke(revoked))
        return Response("")

    events = [event(kind, PRODUCER, "Trust", {}, "x") for kind in (RequestType.CREATE, RequestType.DELETE)]
    return Actor(TRUST, PRODUCER, turn, events, status=UPDATING, fences=True)


def zombie(name: str, before: str, after: str) -> Actor:
    """An exporter that is still at work for a deleted stack."""
    return Actor(name, FORMER, exporter, [wanting(after, instead_of=before, of=FORMER)], status="", fences=True)


def I(  # noqa: E743, N802
    name: str, *, releases: bool = False, undone: bool = False, keys: Sequence[Key] = (KEY,), account: str = ACCOUNT
) -> Actor:
    """An importer; `releases`: its import is deleted again; `undone`: if it dies, its stack may be rolled back."""
    arn, imported = stack(name, account), _imports(keys, account)
    events = [event(RequestType.CREATE, arn, "Imports", imported)]
    deletion = event(RequestType.DELETE, arn, "Imports", imported, generation(arn, keys))
    if releases:
        events.append(deletion)
    return Actor(name, arn, importer, events, stays=not releases, undo=deletion if undone else None)


def twins(first: str, second: str, *, hands_over: bool = False) -> list[Actor]:
    """Two deliveries of one import's event; or the first invocation for it and the one that it hands over to."""
    arn = stack(first)
    create = event(RequestType.CREATE, arn, "Imports", IMPORT)
    return [
        Actor(first, arn, importer, [create], stays=True, hands_over_to=second if hands_over else ""),
        Actor(second, arn, importer, [create], stays=True),
    ]


def L(status: str, *, at_once: bool = True) -> Actor:  # noqa: N802
    """A producer that leaves: it removes its CloudFormation export if nobody imports it, then deletes its Export."""
    deletion = event(RequestType.DELETE, PRODUCER, "Exports", exported("v1") | {"Hold": HOLD}, "x")

    def leave(session: Session, event: Event) -> Response:
        operation = ("status", "withdraws", status)
        if not session.ask(operation, lambda world: world.withdraw(PRODUCER, status, at_once=at_once)):
            raise ExportInUseError(HOLD, [])
        return exporter(session, event)

    return Actor("L", PRODUCER, leave, [deletion], status=UPDATING, fences=True)


def generation(arn: str, keys: Sequence[Key] = (KEY,)) -> str:
    """The physical ID of an import in a stack."""
    parsed = StackArn.parse(arn)
    return imports.physical_id(parsed, "Imports", ImportRequest.parse(_imports(keys, parsed.account), parsed))


def C(*, strong: bool = False, account: str = ACCOUNT) -> Actor:  # noqa: N802
    """A consumer's cleanup: its stack, which the prefix is named after, is being deleted."""
    arn = stack("web", account)
    imported = _imports([KEY], account)
    properties = imported if strong else {**imported, "Strength": "weak"}
    physical_id = generation(arn) if strong else "strongref-import/C"
    deletion = event(RequestType.DELETE, arn, "Imports", properties, physical_id)
    return Actor("C", arn, importer, [deletion], status=DELETING, fences=True)


def drop(session: Session) -> Response:
    """A fresh exporter that publishes nothing any more."""
    return exporter(session, wanting("drop"))


def drop_abroad(session: Session) -> Response:
    """A fresh exporter that publishes nothing any more in any other account, whose janitor has looked after claims."""
    assert isinstance(session, DirectSession)
    there = DirectSession(session.world)
    there.account = OTHER
    list(Janitor(there.ports(), REGION, OTHER).tend(there))
    return exporter(session, wanting(f"drop@{OTHER}@{THIRD}"))


def drop_both(session: Session) -> Response:
    """The same for two Exports of the stack."""
    exporter(session, event(RequestType.CREATE, PRODUCER, "More", exported("drop")))
    return drop(session)


# -- what was before ---------------------------------------------------------------------------------------------------


def nothing(world: World) -> None:
    """Nothing was ever exported."""


def there(world: World) -> None:
    """The value is there, and nobody imports it."""
    exporter(DirectSession(world), wanting("v1"))


def abroad(world: World) -> None:
    """The value is in another account, and nobody imports it."""
    exporter(DirectSession(world), wanting(f"v1@{OTHER}"))


def claimed_abroad(world: World) -> None:
    """In addition, it is imported by the consumer that the prefix is named after."""
    abroad(world)
    _claim(world, stack("web", OTHER))


def gone_abroad(world: World) -> None:
    """The parameter was cleaned up there; the record exists."""
    abroad(world)
    world.ssm.delete_parameter(Name=VALUE_NAME)


def third(world: World) -> None:
    """The value is in a third account."""
    exporter(DirectSession(world), wanting(f"v1@{THIRD}"))


def both_there(world: World) -> None:
    """Two values are there, and nobody imports them."""
    exporter(DirectSession(world), wanting("v1", keys=PAIR))


def secret(world: World) -> None:
    """A value and a secret are there, and nobody imports them."""
    asked = ResourceRequest(RequestType.CREATE, PRODUCER, "Exports", exported("v1", PAIR) | {"SecureKeys": [PAIR[1]]})
    exporter(DirectSession(world), asked.event("create"))


def one_each(world: World) -> None:
    """Each of two Exports of a stack has a value, and nobody imports them."""
    there(world)
    exporter(DirectSession(world), event(RequestType.CREATE, PRODUCER, "More", exported("v1", PAIR[1:])))


def both_gone(world: World) -> None:
    """The parameters were cleaned up; the record exists."""
    both_there(world)
    for key in PAIR:
        world.ssm.delete_parameter(Name=SCOPE.parameter_name(key))


def held(world: World) -> None:
    """The value is there, and its Export names a CloudFormation export of the producer's stack."""
    exporter(DirectSession(world), event(RequestType.CREATE, PRODUCER, "Exports", exported("v1") | {"Hold": HOLD}))
    world.stacks[PRODUCER].exports = frozenset({HOLD})


def gutted(world: World) -> None:
    """In addition, the stack of an import's hold says that it holds; a moment ago, somebody took its import out."""
    held(world)
    hold = HoldStack.of_import(StackArn.parse(stack("I")), claim_tag(generation(stack("I"))), SCOPE)
    there = world.new_stack(hold.name, SCOPE.producer.region)
    there.status, there.tags, there.outputs = "CREATE_COMPLETE", hold.tags, {DIGEST: digest([HOLD])}
    world.imported = frozenset({(hold.name, True, 0)}) if world.lag else frozenset()


def gone(world: World) -> None:
    """The parameter was cleaned up with a former stack of the consumer's name; the record exists."""
    there(world)
    world.ssm.delete_parameter(Name=VALUE_NAME)


def claimed(world: World) -> None:
    """The value is there, and imported by the consumer that the prefix is named after."""
    there(world)
    _claim(world, stack("web"))


def _claim(world: World, arn: str) -> None:
    tag = {"Key": claim_tag(generation(arn)), "Value": arn}
    world.ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=VALUE_NAME, Tags=[tag])


def left(world: World) -> None:
    """The value was left behind by a former stack of the producer's name."""
    exporter(DirectSession(world), wanting("v1", of=FORMER))
