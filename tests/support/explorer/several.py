"""Who takes part where an Import names no producer, and the cases of it.

Stack network exports K, stack database L, and stack edge may export K, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.names import ExportScope, StackArn
from strongref.contract.requests import ImportRequest
from strongref.contract.response import Response
from strongref.protocol import imports
from strongref.refusals import ExportsInUseError
from tests.support.cloudformation.operations import ExportInUseError
from tests.support.cloudformation.requests import ResourceRequest
from tests.support.cloudformation.stacks import CLEANUP, ROLLBACK, UPDATING, FakeStack
from tests.support.explorer.actors import Actor
from tests.support.explorer.cases import Case
from tests.support.explorer.cast import KEY, PAIR, PRODUCER, event, exported, stack, wanting
from tests.support.explorer.session import exporter, importer
from tests.support.explorer.world import DirectSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strongref.contract.event import Event
    from tests.support.explorer.session import Session
    from tests.support.explorer.world import World

NETWORK = PRODUCER
DATABASE, EDGE = (PRODUCER.replace("network", name) for name in ("database", "edge"))
KEYS = {NETWORK: KEY, DATABASE: PAIR[1], EDGE: KEY}
SCOPES = [ExportScope("web", StackArn.parse(each).producer) for each in KEYS]
ANY: dict[str, object] = {"Names": [*PAIR], "Consumer": "web"}


def hold_of(arn: str) -> str:
    return f"{StackArn.parse(arn).name}-Exports"


# -- actors ------------------------------------------------------------------------------------------------------------


def X(arn: str, *wanted: str, instead_of: str = "v1", name: str = "") -> Actor:  # noqa: N802
    """An exporter of one of the stacks, at Updates."""
    changes = zip((instead_of, *wanted), wanted, strict=False)
    events = [wanting(value, instead_of=before, of=arn, keys=[KEYS[arn]]) for before, value in changes]
    return Actor(name or StackArn.parse(arn).name[0].upper(), arn, exporter, events, status=UPDATING, fences=True)


def A(name: str, *, releases: bool = False, undone: bool = False) -> Actor:  # noqa: N802
    """An importer of both names, of any stacks; as for `cast.I`."""
    arn = stack(name)
    events = [event(RequestType.CREATE, arn, "Imports", ANY)]
    deletion = event(RequestType.DELETE, arn, "Imports", ANY, generation(arn))
    if releases:
        events.append(deletion)
    return Actor(name, arn, importer, events, stays=not releases, undo=deletion if undone else None)


def again(*, instead_of: str = "", begins: str = "") -> Actor:
    """An import that has claimed both names: the same again, or in the rollback of an Update to another generation."""
    arn = stack("A")
    asked = ResourceRequest(RequestType.UPDATE, arn, "Imports", ANY, instead_of or generation(arn), {})
    update = asked.event("again")
    return Actor("A", arn, importer, [update], status=UPDATING, begins=begins, stays=True)


def deletion() -> Actor:
    """The deletion of an import that has claimed both names."""
    arn = stack("A")
    deleted = event(RequestType.DELETE, arn, "Imports", ANY, generation(arn))
    return Actor("A", arn, importer, [deleted], status=UPDATING, begins=CLEANUP)


def generation(arn: str) -> str:
    """The physical ID of the import in a stack."""
    return imports.physical_id(StackArn.parse(arn), "Imports", ImportRequest.parse(ANY, StackArn.parse(arn)))


def leaves(arn: str, name: str = "L") -> Actor:
    """A producer that removes its CloudFormation export if nobody imports it, then deletes its Export."""
    deletion = event(RequestType.DELETE, arn, "Exports", exported("v1", [KEYS[arn]]) | {"Hold": hold_of(arn)}, "x")

    def leave(session: Session, event: Event) -> Response:
        if not session.ask(("status", "withdraws", arn), lambda world: world.withdraw(arn, CLEANUP, at_once=True)):
            raise ExportInUseError(hold_of(arn), [])
        return exporter(session, event)

    return Actor(name, arn, leave, [deletion], status=UPDATING, fences=True)


# -- what was before, and what is last ---------------------------------------------------------------------------------


def two(world: World, *, held: bool = False, without: Sequence[str] = ()) -> None:
    """Network and database export a value each, and nobody imports them."""
    for arn in (NETWORK, DATABASE):
        world.stacks.setdefault(arn, FakeStack(arn, UPDATING))
        hold = {"Hold": hold_of(arn)} if held else {}
        if arn not in without:
            create = event(RequestType.CREATE, arn, "Exports", exported("v1", [KEYS[arn]]) | hold)
            exporter(DirectSession(world), create)
            world.stacks[arn].exports = frozenset(hold.values())


def two_held(world: World) -> None:
    """In addition, their Exports name CloudFormation exports."""
    two(world, held=True)


def one(world: World) -> None:
    """Only database exports a value."""
    two(world, without=[NETWORK])


def claimed(world: World) -> None:
    """Both values are imported by stack A."""
    two(world)
    importer(DirectSession(world), event(RequestType.CREATE, stack("A"), "Imports", ANY))


def drop_all(session: Session) -> Response:
    """Fresh exporters that publish nothing any more, each of which is refused if somebody relies on its value."""
    assert isinstance(session, DirectSession)
    refused = None
    for arn in KEYS.keys() & session.world.stacks:
        try:
            exporter(session, wanting("drop", of=arn))
        except ExportsInUseError as error:
            refused = error
    if refused:
        raise refused
    return Response("")


# -- cases -------------------------------------------------------------------------------------------------------------


def several(
    label: str, actors: Sequence[Actor], before: Callable[[World], None] = two, dying: str = "", deaths: int = 0
) -> Case:
    return Case(label, actors, before, dying, deaths, last=drop_all, scopes=SCOPES)


_TAKEN_OVER = [X(NETWORK, "drop"), X(EDGE, "v1", instead_of="drop")]
_THIRD = X(EDGE, "v3", instead_of="drop")


SMALL = [
    several("import", [A("A")]),
    several("change x import", [X(NETWORK, "v2"), A("A")]),
    several("drop x import", [X(NETWORK, "drop"), A("A")]),
    several("a third x import", [_THIRD, A("A")]),
    several("taken over x import", [*_TAKEN_OVER, A("A")]),
    several("create x import", [X(NETWORK, "v1", instead_of="drop"), A("A")], one),
    several("change of both x import", [X(NETWORK, "v2"), X(DATABASE, "v2"), A("A")]),
    several("drop x import, released", [X(NETWORK, "drop"), A("A", releases=True)]),
    several("a third x import; both may crash", [_THIRD, A("A", undone=True)], dying="EA", deaths=2),
    several("claimed: a third x the same again", [_THIRD, again()], claimed),
    several("claimed: a third x rollback", [_THIRD, again(instead_of="x", begins=ROLLBACK)], claimed),
    several("claimed: taken over x deletion", [*_TAKEN_OVER, deletion()], claimed),
    several("held: one leaves x import", [leaves(NETWORK), A("A")], two_held),
    several("held: the other leaves x import", [leaves(DATABASE), A("A")], two_held),
]
"""Each takes a moment."""

LARGE = [
    several("taken over x 2 imports", [*_TAKEN_OVER, A("A"), A("B", releases=True)]),
    several("a third that goes again x import", [X(EDGE, "v3", "drop", instead_of="drop"), A("A")]),
    several("change, a third x import", [X(NETWORK, "v2"), _THIRD, A("A")]),
    several("a third, drop x import; both may crash", [*_TAKEN_OVER, A("A", undone=True)], dying="NEA", deaths=2),
    several("claimed: taken over x deletion, import", [*_TAKEN_OVER, deletion(), A("B")], claimed),
    several("held: both leave x import", [leaves(NETWORK), leaves(DATABASE, "M"), A("A")], two_held),
    several("held: one leaves x 2 imports, one released", [leaves(NETWORK), A("A"), A("B", releases=True)], two_held),
    several(
        "held: the other leaves x import; both may crash", [leaves(DATABASE), A("A", undone=True)], two_held, "LA", 2
    ),
]
"""Up to millions of states."""
