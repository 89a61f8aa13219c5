"""The rollback of an Import ends well: what cannot be claimed again is returned as far as it can be read, and named."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.contract.names import CLAIM_TAG, claim_tag
from strongref.contract.unclaimed import UNCLAIMED, Unclaimed
from strongref.errors import StrongRefError, UndecryptableError, UnfinishedError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.imports import Importer
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.refusals import NoSuchExportError
from strongref_cli.doctor.diagnosis import Severity, problem_of
from tests.protocol.test_janitor import examined, found
from tests.protocol.test_lost_records import held_exports
from tests.protocol.test_newer_formats import write
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.protocol.test_scenarios_rare import refusing
from tests.support.builders import SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError
from tests.support.cloudformation.requests import SIGNED_FORMAT
from tests.support.cloudformation.stacks import ROLLBACK, UPDATING
from tests.support.fake_ssm import EPOCH, FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.contract.response import Response
    from tests.support.cloudformation.requests import ResourceRequest

OLD = {"Exports": exports({"A": "a1", "B": "b1"}), "More": exports({"C": "c1", "S": "s1"}, SecureKeys=["S"])}
A = f"{SCOPE.path('exports')}/A"
HEAD = f"{SCOPE.path('records')}/Exports"
WEAK = {"Strength": "weak"}


class AnsweringCloud(Cloud):
    """Remembers the last response to an Update."""

    answer: Response

    def send(self, request: ResourceRequest) -> Response:
        answer = super().send(request)
        if request.kind is RequestType.UPDATE:
            self.answer = answer
        return answer


@pytest.fixture
def cloud() -> AnsweringCloud:
    cloud = AnsweringCloud()
    cloud.deploy("network", EU, OLD)
    return cloud


def roll_back(cloud: AnsweringCloud, old: dict[str, Any], meanwhile: Callable[[], object]) -> tuple[Any, str]:
    """Web imports something else, something happens, and its update is rolled back: the attributes and the reason."""
    cloud.deploy("web", US, {"Imports": old})

    original = cloud._export

    def later(*_: object) -> None:
        cloud._export = original  # type: ignore[method-assign]
        meanwhile()
        raise LaterResourceError

    cloud._export = later  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError):
        cloud.deploy("web", US, {"Imports": imports(Names=[])})
    assert cloud.stack("web", US).status == "UPDATE_ROLLBACK_COMPLETE"
    return cloud.answer.data, cloud.answer.reason


def network(cloud: Cloud, values: dict[str, Any], **more: Any) -> None:
    cloud.deploy("network", EU, {**OLD, "Exports": exports(values, **more)})


def untag(cloud: Cloud) -> None:
    """A person releases the claims on A."""
    keys = [key for key in cloud.tags(US, name("A")) if key.startswith(CLAIM_TAG)]
    cloud.ssm(US).remove_tags_from_resource(ResourceType="Parameter", ResourceId=A, TagKeys=keys)


def released(cloud: Cloud, *then: Callable[[], object]) -> None:
    untag(cloud)
    for each in then:
        each()


def by_hand(cloud: Cloud, parameter: str = A) -> None:
    cloud.ssm(US).put_parameter(Name=parameter, Type="String", Value="by hand", Overwrite=True)


def deny(cloud: Cloud, action: str, part: str = "/strongref/") -> None:
    cloud.ssm(US).before_call = refusing(action, part)


def fenced(cloud: Cloud) -> None:
    """Somebody changes exports, for longer than CloudFormation waits."""

    def renew(_slept: float = 0) -> None:
        fence = Fence("somebody", cloud.clock.now() + timedelta(seconds=90), lifetime=timedelta(seconds=90))
        path = f"{SCOPE.path('fences')}/Exports.1"
        cloud.ssm(US).put_parameter(Name=path, Type="String", Value=fence.encode(), Overwrite=True)

    cloud.clock = FakeClock(400)
    cloud.clock.on_sleep = renew
    renew()


LARGE = {f"L{number}": "x" * 900 for number in range(5)}


@dataclass(frozen=True)
class Case:
    """What an import names, what happens during its update, and what its rollback returns."""

    names: tuple[str, ...]
    meanwhile: Callable[[AnsweringCloud], object]
    returned: Mapping[str, str]
    unprotected: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)


CASES = {
    "weak, and dropped": Case(
        ("A", "B"), lambda cloud: network(cloud, {"B": "b1"}), {"B": "b1"}, left_out=("A",), more=WEAK
    ),
    "weak, and its producer deleted": Case(
        ("A", "B"), lambda cloud: cloud.delete("network", EU), {}, left_out=("A", "B"), more=WEAK
    ),
    "weak, and torn": Case(("A", "C"), partial(by_hand, parameter=HEAD), {"A": "a1", "C": "c1"}, more=WEAK),
    "released, and dropped": Case(
        ("A", "B"), lambda cloud: released(cloud, lambda: network(cloud, {"B": "b1"})), {"B": "b1"}, left_out=("A",)
    ),
    "released, and full": Case(
        ("A", "B"),
        lambda cloud: released(cloud, lambda: cloud.fill_tags(US, name("A"))),
        {"A": "a1", "B": "b1"},
        ("A",),
    ),
    "torn": Case(("A", "C"), partial(by_hand, parameter=HEAD), {"A": "a1", "C": "c1"}, ("A",)),
    "newer": Case(("A", "C"), partial(write, parameter=HEAD), {"A": "a1", "C": "c1"}, ("A",)),
    "locked": Case(("A", "C", "S"), lambda cloud: cloud.ssm(US).lock(), {"A": "a1", "C": "c1"}, ("S",)),
    "changed by hand": Case(("A", "B"), by_hand, {"A": "a1", "B": "b1"}, ("A",)),
    "a fence that stays": Case(("A", "B"), fenced, {"A": "a1", "B": "b1"}, ("A", "B"), more={"ServiceTimeout": "400"}),
    "released, and claims denied": Case(
        ("A", "B"),
        lambda cloud: released(cloud, lambda: deny(cloud, "AddTagsToResource")),
        {"A": "a1", "B": "b1"},
        ("A",),
    ),
    "records denied": Case(
        ("A", "B"), partial(deny, action="GetParametersByPath", part="/records/"), {"A": "a1", "B": "b1"}, ("A", "B")
    ),
    "values denied": Case(
        ("A", "B"), partial(deny, action="GetParameters", part="/exports/"), {"A": "a1", "B": "b1"}, ("A", "B")
    ),
    "everything, and something new is full": Case(
        (),
        lambda cloud: (network(cloud, {"A": "a1", "B": "b1", "N": "n"}), cloud.fill_tags(US, name("N"))),  # type: ignore[func-returns-value]
        {"A": "a1", "B": "b1", "C": "c1", "N": "n"},
        ("N",),
    ),
    "everything, and outgrown": Case(
        (),
        lambda cloud: network(cloud, {"A": "a1", "B": "b1", **LARGE}),
        {"A": "a1", "B": "b1", "C": "c1", **dict.fromkeys(("L2", "L3", "L4"), "x" * 900)},
        left_out=("L0", "L1"),
    ),
    "propagated, and outgrown": Case(
        ("A", "B"),
        lambda cloud: network(cloud, {"A": "x" * 4000, "B": "y" * 300}, OnChange="propagate"),
        {"B": "y" * 300},
        left_out=("A",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rollback_ends_well(cloud: AnsweringCloud, case: str) -> None:
    given = CASES[case]
    before = cloud.tags(US, name("A"))
    returned, reason = roll_back(cloud, imports(*given.names, **given.more), lambda: given.meanwhile(cloud))
    assert returned == given.returned
    for key in (*given.unprotected, *given.left_out):
        assert key in reason
    assert bool(reason) is bool(given.unprotected or given.left_out)
    named = [*given.unprotected, *given.left_out]
    assert noted(cloud) == ([" and ".join(named)] if named else [])
    if name("A") in cloud.values(US):
        assert before.items() <= cloud.tags(US, name("A")).items()


def rolled_back(cloud: AnsweringCloud, names: dict[str, Any]) -> tuple[Mapping[str, object], str]:
    """What the rollback of an Import returns, in as much time as the clock has."""
    web = cloud.stack("web", US)
    web.status, web.updates = ROLLBACK, web.updates + 1
    own_id = web.resources["Imports"].physical_id
    request = web.request(RequestType.UPDATE, "Imports", names, own_id, imports("B"))
    with web.asking(request):
        response = cloud.send(request)
    return response.data, response.reason


def test_a_rollback_waits_for_a_change_also_if_something_else_cannot_be_read(cloud: AnsweringCloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A", "C", "S")})
    cloud.ssm(US).lock()
    cloud.clock = FakeClock(885)
    path, seconds = f"{SCOPE.path('fences')}/More.1", timedelta(seconds=90)

    def renew(_slept: float = 0) -> None:
        if cloud.clock.now() - EPOCH < timedelta(seconds=400):
            text = Fence("somebody", cloud.clock.now() + seconds, lifetime=seconds).encode()
            cloud.ssm(US).put_parameter(Name=path, Type="String", Value=text, Overwrite=True)
        elif path in cloud.ssm(US).parameters():
            cloud.ssm(US).delete_parameters(Names=[path])

    cloud.clock.on_sleep = renew
    renew()
    returned, reason = rolled_back(cloud, imports("A", "C", "S"))
    assert returned == {"A": "a1", "C": "c1"}
    assert "Not protected: S" in reason


@pytest.mark.parametrize(("action", "names"), [("ListTagsForResource", "A and B"), ("AddTagsToResource", "A")])
def test_the_last_invocation_notes_what_it_had_no_time_to_claim(cloud: AnsweringCloud, action: str, names: str) -> None:
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    untag(cloud)
    cloud.clock = FakeClock(385)

    def throttled(called: str, _request: dict[str, Any]) -> None:
        if called == action:
            cloud.clock.slept.append(0.5)
            error = {"Error": {"Code": "ThrottlingException", "Message": ""}}
            raise ClientError(error, called)  # type: ignore[arg-type]

    cloud.ssm(US).before_call = throttled
    returned, _ = rolled_back(cloud, imports("A", "B", ServiceTimeout="400"))
    assert returned == {"A": "a1", "B": "b1"}
    assert noted(cloud) == [names]


def noted(cloud: Cloud) -> list[str]:
    """The names of what is not protected, or left out, in the notes about it."""
    found = [Unclaimed.decode(f"/{each}", text) for each, text in cloud.texts(US).items()]
    return [note.names for note in found if note and note.name.removeprefix("/") in cloud.texts(US)]


BROKEN = [
    case
    for case in CASES
    if case not in {"weak, and torn", "everything, and something new is full"} and "fence" not in case
]


@pytest.mark.parametrize("case", BROKEN)
def test_an_update_that_is_not_rolled_back_fails(cloud: AnsweringCloud, case: str) -> None:
    """Nothing is returned without protection but in a rollback."""
    given = CASES[case]
    wanted = imports(*given.names, **given.more)
    cloud.deploy("web", US, {"Imports": wanted})
    given.meanwhile(cloud)
    cloud.clock.slept.clear()
    web = cloud.stack("web", US)
    web.begin_update()
    again = wanted | {"Revision": "2"}
    with pytest.raises(StrongRefError):
        cloud.send(web.request(RequestType.UPDATE, "Imports", again, web.resources["Imports"].physical_id, wanted))
    assert noted(cloud) == []


@pytest.mark.parametrize("lag", [0, 2])
def test_what_was_a_rollback_when_the_event_came_is_none(cloud: AnsweringCloud, lag: float) -> None:
    """CloudFormation's answer is out of date: the rollback before has ended."""
    cloud.deploy("web", US, {"Imports": imports("S")})
    cloud.ssm(US).lock()
    web, cloud.lag = cloud.stack("web", US), ReadLag(lag)
    web.begin_update()
    web.status = ROLLBACK if lag else UPDATING

    def show(_slept: float) -> None:
        web.status = UPDATING

    cloud.clock.on_sleep = show
    with pytest.raises(UndecryptableError):
        cloud.send(web.request(RequestType.UPDATE, "Imports", imports("S"), "x", imports("B")))


def test_the_update_that_failed_is_not_taken_for_its_rollback(cloud: AnsweringCloud) -> None:
    """Lambda delivers it again while its stack rolls back."""
    cloud.deploy("web", US, {"Imports": imports("B")})
    web = cloud.stack("web", US)
    web.begin_update()
    update = web.request(RequestType.UPDATE, "Imports", imports("B", "X"), "x", imports("B"))
    rollback = web.request(RequestType.UPDATE, "Imports", imports("B", "X"), "x", imports("B"))
    web.status = ROLLBACK
    importer = Importer(Ports(cloud.stores, cloud, Patience(0, 0, lambda: 0.5), cloud.token))
    late = update.event("1", signed=EPOCH.strftime(SIGNED_FORMAT))
    with pytest.raises(NoSuchExportError):
        importer.handle(late, cloud.clock)  # Its rollback was not sent yet.
    sent = EPOCH + timedelta(seconds=2)
    with web.asking(rollback, sent), pytest.raises(NoSuchExportError):
        importer.handle(late, cloud.clock)
    with web.asking(rollback, sent):
        answer = importer.handle(rollback.event("2", signed=sent.strftime(SIGNED_FORMAT)), cloud.clock)
    assert answer.data == {"B": "b1"}


def test_the_update_that_failed_is_not_taken_for_its_rollback_where_answers_lag(cloud: AnsweringCloud) -> None:
    """Its resource still seems to be in progress when its stack is known to roll back."""
    cloud.lag = ReadLag(2)
    cloud.deploy("web", US, {"Imports": imports("B")})
    web = cloud.stack("web", US)
    web.status = ROLLBACK
    update = web.request(RequestType.UPDATE, "Imports", imports("B", "X"), "x", imports("B"))
    with web.asking(update):
        waits = len(cloud.clock.slept) + 3  # for the missing name, for the stack's phase, and for the resource

        def end(_slept: float) -> None:
            web.asked = None if len(cloud.clock.slept) >= waits else web.asked

        cloud.clock.on_sleep = end
        event = update.event("1", signed=EPOCH.strftime(SIGNED_FORMAT))
        importer = Importer(Ports(cloud.stores, cloud, Patience(0, 0, lambda: 0.5), cloud.token, cloud.lag))
        with pytest.raises(NoSuchExportError):
            importer.handle(event, cloud.clock)


def test_a_rollback_for_which_nothing_can_be_read_fails(cloud: AnsweringCloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    with pytest.raises(StrongRefError):
        cloud.deploy("web", US, {"Imports": imports("X")})
    deny(cloud, "GetParametersByPath")
    web = cloud.stack("web", US)
    web.status = ROLLBACK
    with pytest.raises(StrongRefError, match="was denied"):
        cloud.send(web.request(RequestType.UPDATE, "Imports", imports("A"), "x", imports("X")))


@pytest.mark.parametrize("meanwhile", [partial(network, values={"B": "b1"}), partial(by_hand, parameter=HEAD)])
def test_a_rollback_that_fails_names_what_it_could_not_read(
    cloud: AnsweringCloud, meanwhile: Callable[[Cloud], object]
) -> None:
    """Whatever else is wrong: that alone does not fail it."""
    cloud.deploy("web", US, {"Imports": imports("A", **WEAK)})
    meanwhile(cloud)
    deny(cloud, "GetParametersByPath", "/exports/")
    with pytest.raises(StrongRefError, match=r"GetParametersByPath of .* was denied"):
        rolled_back(cloud, imports("A", **WEAK))


def test_a_rollback_waits_for_a_change_in_as_many_invocations_as_it_takes(cloud: AnsweringCloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    fenced(cloud)
    web = cloud.stack("web", US)
    web.status = ROLLBACK
    with pytest.raises(UnfinishedError):
        cloud.send(web.request(RequestType.UPDATE, "Imports", imports("A"), "x", imports("B")))
    assert noted(cloud) == []


def test_what_is_not_protected_is_found_until_the_import_claims_it(cloud: AnsweringCloud) -> None:
    _, reason = roll_back(cloud, imports("A", "B"), lambda: CASES["released, and full"].meanwhile(cloud))
    assert reason.startswith("Not protected: A. A of stack network")
    web = cloud.stack("web", US)
    claim = claim_tag(web.resources["Imports"].physical_id)
    wanted = Finding(FindingType.UNCLAIMED, Unclaimed(web.arn, claim).name, (web.arn,))
    assert (examined(cloud), found(cloud)) == ([wanted], [wanted])
    assert problem_of(US, wanted).severity is Severity.ACTION
    cloud.ssm(US).remove_tags_from_resource(ResourceType="Parameter", ResourceId=A, TagKeys=["tag0"])
    cloud.deploy("web", US, {"Imports": imports("A", "B", Revision="2")})
    assert (found(cloud), cloud.claims(US, name("A"))) == ([], ["web"])


@pytest.mark.parametrize("then", [lambda cloud: cloud.delete("web", US), lambda cloud: cloud.deploy("web", US, {})])
def test_a_note_goes_when_its_import_is_gone(cloud: AnsweringCloud, then: Callable[[Cloud], object]) -> None:
    roll_back(cloud, imports("A", "B"), lambda: CASES["released, and full"].meanwhile(cloud))
    then(cloud)
    examined(cloud)
    assert len(noted(cloud)) == 1
    assert FindingType.UNCLAIMED not in {each.kind for each in found(cloud)}
    assert noted(cloud) == []


def test_a_note_stays_if_its_import_comes_back_between_the_looks(
    cloud: AnsweringCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    roll_back(cloud, imports("A", "B"), lambda: CASES["released, and full"].meanwhile(cloud))
    known = cloud.physical_ids(cloud.stack("web", US).arn)
    answers = iter([frozenset[str]()])
    monkeypatch.setattr(cloud, "physical_ids", lambda _: next(answers, known))
    assert FindingType.UNCLAIMED in {each.kind for each in found(cloud)}
    assert len(noted(cloud)) == 1


def test_a_note_by_hand_is_ignored(cloud: AnsweringCloud) -> None:
    for number, written in enumerate(("x", "[]", "{}", '{"importer":"x","names":""}')):
        by_hand(cloud, f"{UNCLAIMED}/web/{number}")
        cloud.ssm(US).put_parameter(Name=f"{UNCLAIMED}/web/{number}", Value=written, Type="String", Overwrite=True)
    assert found(cloud) == []


def test_a_rollback_makes_no_hold_smaller(cloud: AnsweringCloud) -> None:
    """The hold of a value that cannot be claimed stays."""
    holding = {"Exports": exports({"A": "a1"}, Hold="H1"), "More": exports({"C": "c1"}, Hold="H2")}
    cloud.deploy("network", EU, holding)
    roll_back(cloud, imports("A", "C"), lambda: by_hand(cloud, HEAD))
    assert held_exports(cloud) == {"H1", "H2"}
