"""What the janitor does about holds, and about the index."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock, patch

import pytest

from strongref.aws.parameter_store import SsmStore
from strongref.contract.event import RequestType
from strongref.contract.format import HOLD_FORMAT
from strongref.contract.hold_stacks import HOLDS, HoldStack
from strongref.contract.index import IndexEntry, Place, encode_place, index_name, path_of, read_index
from strongref.contract.names import Key, StackArn, claim_tag
from strongref.contract.values import Parameter, ParameterType
from strongref.errors import AccessDeniedError, OutOfTimeError, StackLookupError
from strongref.protocol import janitor, janitor_holds
from strongref.protocol.behind_fences import FencedStore
from strongref.protocol.findings import FindingType
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.hold_steps import HoldStep
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor import Checkpoint, Janitor
from strongref.protocol.janitor_holds import CONFIRM_SECONDS, HoldTender
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.published import RecordedExports
from strongref.protocol.time import Patience
from strongref.refusals import ChangingError
from tests.protocol.test_holds import HELD, HOLD, UNHELD, hold_stacks, holding
from tests.protocol.test_scenarios import EU, US, exports, imports
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import ExportInUseError, LaterResourceError
from tests.support.cloudformation.stacks import CLEANUP, UPDATING
from tests.support.fake_ssm import FakeClock

HOUR = 3600.0
BEFORE = datetime(2025, 1, 1, tzinfo=UTC)
INDEX = index_name("network", "Exports")
RECORD = f"/strongref/records/web/{ACCOUNT}/{EU}/network/Exports"


@pytest.fixture(params=[0.0, 2.0], ids=["reads at once", "late reads"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    made = Cloud()
    made.lag = ReadLag(request.param)
    return made


@pytest.fixture
def held(cloud: Cloud) -> Cloud:
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.clock.sleep(2 * HOUR)
    return cloud


def tend(cloud: Cloud, region: str = US, after: Checkpoint = ("", ""), *, repairs: bool = True) -> list[str]:
    """Run a region's janitor, from where an earlier invocation stopped; what it found."""
    ports = Ports(cloud.stores, cloud, Patience(30, 2, lambda: 0.5), cloud.token, cloud.lag)
    found = Janitor(ports, region, ACCOUNT, repairs).tend(cloud.clock, after)
    return [finding.kind.value for each in found for finding in each.findings]


def index(cloud: Cloud, region: str = EU) -> dict[str, IndexEntry]:
    """The entries, without dates."""
    texts = {f"/{name}": text for name, text in cloud.texts(region).items() if name.startswith("strongref/index/")}
    found = read_index({name: Parameter(name, ParameterType.STRING, text) for name, text in texts.items()})
    return {name: replace(each, wrote={}, exact=frozenset()) for (name, _), each in found.items()}


def entry(cloud: Cloud, *places: Place, hold: str = HOLD) -> dict[str, IndexEntry]:
    return {INDEX: IndexEntry(cloud.stack("network", EU).arn, frozenset(places), hold)}


def name_places(cloud: Cloud, *places: Place) -> None:
    """Name places in the index, with the date of the stack's creation."""
    for place in places:
        put(cloud, f"{INDEX}{path_of(place)}", encode_place(cloud.stack("network", EU).arn, BEFORE))


def put(cloud: Cloud, name: str, text: str) -> None:
    cloud.ssm(EU).put_parameter(Name=name, Type="String", Value=text, Overwrite=True)


IN_US = Place(ACCOUNT, US, "web")


# -- holds ------------------------------------------------------------------------------------------------------------


def test_where_all_is_well_nothing_is_done(held: Cloud) -> None:
    held.clock.sleep(60)
    assert (tend(held), tend(held, EU)) == ([], [])  # The fence of the creation has expired.
    before = (held.texts(US), held.texts(EU), [each.arn for each in hold_stacks(held)])
    assert (tend(held), tend(held, EU)) == ([], [])
    assert (held.texts(US), held.texts(EU), [each.arn for each in hold_stacks(held)]) == before


def test_it_makes_the_holds_that_are_missing_after_hold_was_added(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, HELD)
    assert tend(cloud) == [FindingType.UNHELD]
    assert holding(cloud) == [[HOLD]]
    with pytest.raises(ExportInUseError):
        cloud.delete("network", EU)
    assert tend(cloud) == []


def test_it_deletes_the_holds_of_an_export_that_names_none_any_more(held: Cloud) -> None:
    held.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})}, outputs=[HOLD])
    assert tend(held) == [FindingType.UNHELD]
    assert hold_stacks(held) == []
    held.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Revision="2")}, outputs=[])


def test_a_key_that_moves_to_another_export_takes_its_hold_with_it(held: Cloud) -> None:
    both = {"Exports": exports({"B": "b1"}, Hold=HOLD), "More": exports({"A": "a1"}, Hold="network-More")}
    held.deploy("network", EU, HELD | {"More": both["More"]})
    assert tend(held) == [FindingType.UNHELD]
    assert holding(held) == [[HOLD, "network-More"]]
    held.deploy("network", EU, both)
    assert tend(held) == [FindingType.UNHELD]
    assert holding(held) == [["network-More"]]
    held.deploy("network", EU, {"More": both["More"]})


def test_a_janitor_that_only_looks_says_of_a_hold_what_a_repair_would(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Hold=HOLD)}, outputs=[])
    assert tend(cloud, repairs=False) == [FindingType.HOLD_IMPOSSIBLE]
    cloud.stack("network", EU).status = UPDATING
    assert tend(cloud, repairs=False) == [FindingType.HOLD_PENDING]
    cloud.stack("network", EU).status = "UPDATE_COMPLETE"
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Hold=HOLD)})
    assert tend(cloud, repairs=False) == [FindingType.UNHELD]
    assert hold_stacks(cloud) == []


def test_a_hold_that_is_there_by_the_second_look_is_not_missing(held: Cloud) -> None:
    (hold,) = cloud_holds = held.parameters_below(EU, HOLDS)
    text = held.ssm(EU).parameters()[hold].text
    held.ssm(EU).delete_parameters(Names=cloud_holds)
    assert tend(held, repairs=False) == []  # The hold stack says that it holds.
    put(held, hold, text)


def test_a_forgotten_output_needs_a_person(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Hold=HOLD)}, outputs=[])
    assert tend(cloud) == [FindingType.HOLD_IMPOSSIBLE]
    cloud.stack("network", EU).status = UPDATING
    assert tend(cloud) == [FindingType.HOLD_PENDING]


def test_a_hold_that_cannot_be_made_is_not_reported_as_repaired(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Hold=HOLD)})
    cloud.fail_stacks("not authorized")
    assert tend(cloud) == [FindingType.HOLD_IMPOSSIBLE]


@pytest.mark.parametrize("again", [1, 0], ids=["few values", "too many values"])
def test_it_makes_the_holds_of_values_that_an_earlier_invocation_read(cloud: Cloud, again: int) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, HELD)
    with patch.object(janitor, "PART", 1), patch.object(janitor_holds, "READ_AGAIN", again):
        assert tend(cloud, after=("/strongref/exports/web/111111111111/eu-west-1/network", "A")) == (
            [FindingType.UNHELD] if again else []
        )
    assert holding(cloud) == ([[HOLD]] if again else [])


def test_a_key_where_an_earlier_invocation_stopped_is_no_claim(cloud: Cloud) -> None:
    """It sorts after every tag of a claim."""
    cloud.deploy("network", EU, {"Exports": exports({"zone": "z"})})
    cloud.deploy("web", US, {"Imports": imports("zone")})
    cloud.deploy("network", EU, {"Exports": exports({"zone": "z"}, Hold=HOLD)})
    assert tend(cloud, after=(SCOPE.path("exports"), "zone")) == [FindingType.UNHELD]


def test_no_hold_is_looked_after_where_claims_cannot_be_read_again(held: Cloud) -> None:
    read = TagInspector.inspect_in_scope

    def denied(inspector: TagInspector, store: Any, scope: Any, keys: Any) -> Any:
        if "A" in (keys := list(keys)):
            raise AccessDeniedError("ListTagsForResource", "AccessDeniedException", "A", US)
        return read(inspector, store, scope, keys)

    with patch.object(janitor, "PART", 1), patch.object(TagInspector, "inspect_in_scope", denied):
        assert tend(held, after=(SCOPE.path("exports"), "A")) == [FindingType.FAILED_CALL]


def test_an_invocation_that_ends_among_holds_is_not_repeated_for_ever(cloud: Cloud) -> None:
    """Each one goes on after the import with which the one before it ran out of time."""
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    importers = [f"web{number}" for number in range(4)]
    for each in importers:
        cloud.deploy(each, US, {"Imports": imports("A", Consumer="web")})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Hold=HOLD)})
    after, tried = ("", ""), []

    def ended(_tender: HoldTender, keeper: HoldKeeper, *_: object) -> None:
        tried.append(keeper.stack.importer)
        raise OutOfTimeError("ListTagsForResource", "OutOfTime", "x", US)

    with patch.object(HoldTender, "_repaired", ended):
        for _ in importers:
            ports = Ports(cloud.stores, cloud, Patience(30, 2, lambda: 0.5), cloud.token, cloud.lag)
            with suppress(OutOfTimeError):
                for progress in Janitor(ports, US, ACCOUNT).tend(cloud.clock, after):
                    after = progress.mark
    assert sorted(tried) == sorted(cloud.stack(each, US).arn for each in importers)
    assert tend(cloud, after=after) == []
    assert tend(cloud) == [FindingType.UNHELD] * 4


def test_for_a_hold_that_is_missing_altogether_only_what_it_is_for_is_looked_at_again(cloud: Cloud) -> None:
    """It is looked at behind a fence, where deployments wait."""
    cloud.deploy("network", EU, {"Exports": exports({f"Key{number}": "v" for number in range(20)})})
    for consumer in ("web", "shop"):
        cloud.deploy(consumer, US, {"Imports": imports("Key1", Consumer="web")})
    cloud.deploy("network", EU, {"Exports": exports({f"Key{number}": "v" for number in range(20)}, Hold=HOLD)})
    cloud.calls.clear()
    assert tend(cloud) == [FindingType.UNHELD] * 2
    assert [action for action, _ in cloud.calls].count("ListTagsForResource") == 20 + 1 + 1


@pytest.mark.parametrize("is_held", [True, False])
def test_what_was_claimed_since_the_first_look_has_its_hold(held: Cloud, is_held: bool) -> None:
    """The janitor reads all values first, and what is held much later."""
    if not is_held:
        held.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})}, outputs=[HOLD])
        tend(held)
    more = exports({"C": "c"}, **({"Hold": "network-More"} if is_held else {}))
    held.deploy("network", EU, (HELD if is_held else {"Exports": exports({"A": "a1", "B": "b1"})}) | {"More": more})
    held.deploy("web", US, {"Imports": imports()})
    held.deploy("network", EU, HELD | {"More": exports({"C": "c"}, Hold="network-More")})
    looked = HoldTender.make_missing

    def later(tender: HoldTender, scope: Any, recorded: Any, seen: Any, *more: Any) -> Any:
        only_a = {claim: {key: keys[key] for key in keys if key != "C"} for claim, keys in seen.items()}
        return looked(tender, scope, recorded, only_a, *more)

    with patch.object(HoldTender, "make_missing", later):
        tend(held)
    assert [HOLD, "network-More"] in holding(held)


@pytest.mark.parametrize("what", ["holds", "index entry", "stack"])
def test_what_cannot_be_looked_after_stops_nothing_else(held: Cloud, what: str) -> None:
    held.vanish("web", US)
    read, kept = SsmStore.under, index(held)

    def denied(store: SsmStore, path: str, **more: bool) -> Any:
        if path == HOLDS and store.region == EU and what == "holds":
            raise AccessDeniedError("GetParametersByPath", "AccessDeniedException", path, EU)
        return read(store, path, **more)

    if what == "index entry":
        put(held, index_name("network", "Broken"), '{"stack":"x","places":{}}')
    if what == "stack":
        put(held, f"/strongref/holds/x/{ACCOUNT}/nowhere-1/gone/0123456789abcdef", "x")
    with patch.object(SsmStore, "under", denied):
        found = tend(held), tend(held, EU) if what != "holds" else []
    assert kept.items() <= index(held).items()
    if what != "holds":
        assert FindingType.STALE_HOLD in found[1]


@pytest.mark.parametrize("repairs", [True, False])
def test_a_hold_that_cloudformation_does_not_list_is_corrected(held: Cloud, *, repairs: bool) -> None:
    (stack,) = hold_stacks(held)
    stack.imports = frozenset()
    assert tend(held, repairs=repairs) == [FindingType.UNHELD]
    assert (holding(held), tend(held) != []) == ([[HOLD] if repairs else []], not repairs)


@pytest.mark.parametrize("repairs", [True, False])
def test_a_stack_of_a_holds_name_that_is_not_ours_is_reported_and_stays(held: Cloud, *, repairs: bool) -> None:
    (stack,) = hold_stacks(held)
    stack.tags = {}
    before = stack.copy()
    assert tend(held, repairs=repairs) == [FindingType.HOLD_IMPOSSIBLE]
    assert tend(held, EU) == []
    assert stack == before


def test_imports_of_an_export_are_listed_once_for_all_of_them(held: Cloud) -> None:
    for each in ("api", "shop"):
        held.deploy(each, US, {"Imports": imports("A", Consumer="web")})
    with patch.object(held, "importing_stacks", side_effect=held.importing_stacks) as ask:
        assert tend(held) == []
    assert ask.call_count == 1


def test_it_waits_for_all_lists_at_once(held: Cloud) -> None:
    for number in range(20):
        held.deploy(f"web{number}", US, {"Imports": imports("A", Consumer="web")})
    for stack in hold_stacks(held):
        held.delete_stack(stack.arn, EU)
    before = sum(held.clock.slept)
    assert tend(held) == [FindingType.UNHELD] * 21
    fences = 21 * (held.lag.before_reading + held.lag.after_writing)
    assert sum(held.clock.slept) - before <= fences + 5


def test_where_cloudformation_does_not_list_imports_no_hold_is_replaced(
    held: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    before, denied = [each.copy() for each in hold_stacks(held)], StackLookupError(HOLD, EU, "AccessDenied")
    with patch.object(held, "importing_stacks", side_effect=denied):
        assert tend(held) == [FindingType.FAILED_CALL]
    assert hold_stacks(held) == before
    (logged,) = (vars(each) for each in caplog.records if each.levelname == "ERROR")
    assert (logged["hold"], logged["importer"]) == (before[0].name, held.stack("web", US).arn)


def test_a_stack_does_not_hold_what_it_exports_itself(cloud: Cloud) -> None:
    own = {"Exports": exports({"A": "a"}, Region=EU, Consumer="network", Hold=HOLD), "Imports": imports("A")}
    cloud.deploy("network", EU, own)
    assert (tend(cloud, EU), hold_stacks(cloud)) == ([], [])


@pytest.mark.parametrize("repairs", [True, False])
def test_it_deletes_a_hold_whose_import_is_gone(held: Cloud, *, repairs: bool) -> None:
    held.vanish("web", US)
    assert tend(held, EU, repairs=repairs) == [FindingType.STALE_HOLD]
    assert len(hold_stacks(held)) == (0 if repairs else 1)


@pytest.mark.parametrize("repairs", [True, False])
def test_a_hold_of_a_newer_format_is_reported_and_stays(held: Cloud, *, repairs: bool) -> None:
    held.vanish("web", US)
    (stack,) = hold_stacks(held)
    stack.tags = {**stack.tags, HOLD_FORMAT: "2"}
    assert tend(held, EU, repairs=repairs) == [FindingType.NEWER_FORMAT]
    assert hold_stacks(held) == [stack]


@pytest.mark.parametrize("what", [{"tags": {}}, {"created": None}], ids=["not ours", "of no known age"])
def test_a_stack_of_a_holds_name_stays_unless_it_is_an_old_one_of_ours(held: Cloud, what: dict[str, Any]) -> None:
    held.vanish("web", US)
    (stack,) = hold_stacks(held)
    for name, value in what.items():
        setattr(stack, name, value)
    assert tend(held, EU) == []
    assert hold_stacks(held) == [stack]


def test_it_deletes_the_hold_of_a_generation_that_was_rolled_back(held: Cloud) -> None:
    """A failed Update leaves its hold and its claims: both are stale once its stack is at rest."""
    web = held.stack("web", US)
    with web.asking(request := web.request(RequestType.UPDATE, "Imports", imports("A", "B"), "x", imports("A"))):
        held.send(request)
    assert len(hold_stacks(held)) == 2
    held.clock.sleep(2 * HOUR)
    assert tend(held, EU) == [FindingType.STALE_HOLD]
    assert len(hold_stacks(held)) == 1


@pytest.mark.parametrize("why", ["young", "at work"])
def test_it_leaves_a_hold_whose_import_may_still_be_made(held: Cloud, why: str) -> None:
    web = held.stack("web", US)
    held.vanish("web", US) if why == "young" else setattr(web, "status", UPDATING)
    if why == "young":
        for each in hold_stacks(held):
            each.created += timedelta(seconds=sum(held.clock.slept))
    else:
        web.resources.clear()
    assert tend(held, EU) == []
    assert len(hold_stacks(held)) == 1


@pytest.mark.parametrize("repairs", [True, False])
def test_an_import_that_comes_back_between_the_looks_keeps_its_hold(held: Cloud, *, repairs: bool) -> None:
    """Or CloudFormation's first answers lag: they are about the time before it was there."""
    known = held.physical_ids(held.stack("web", US).arn)
    answers = iter([frozenset[str](), frozenset[str](), known])
    with patch.object(held, "physical_ids", lambda _: next(answers)):
        assert tend(held, EU, repairs=repairs) == []
    assert len(hold_stacks(held)) == 1


def test_a_stack_of_the_same_name_does_not_keep_a_hold(held: Cloud) -> None:
    held.vanish("web", US)
    held.deploy("web", US, {"Imports": imports("A")})
    held.clock.sleep(2 * HOUR)
    assert tend(held, EU) == [FindingType.STALE_HOLD]
    assert len(hold_stacks(held)) == 1


def test_what_is_not_a_hold_stacks_is_not_touched(held: Cloud) -> None:
    put(held, f"/strongref/holds/x/{ACCOUNT}/{US}/nobody/0123456789abcdef", "x")
    put(held, "/strongref/holds/x", "x")
    before = held.texts(EU)
    assert tend(held, EU) == []
    assert held.texts(EU) == before


def test_a_hold_stays_while_its_producer_may_roll_back_to_it(held: Cloud) -> None:
    """The update that names none has not ended."""
    original, found = held._export, list[str]()

    def later(*_: object) -> None:
        found.extend(tend(held))
        raise LaterResourceError

    held._export = later  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError):
        held.deploy("network", EU, UNHELD, outputs=[HOLD])
    held._export = original  # type: ignore[method-assign]
    assert found == [FindingType.HOLD_PENDING]
    assert len(hold_stacks(held)) == 1


# -- step by step -----------------------------------------------------------------------------------------------------


def tender(cloud: Cloud) -> HoldTender:
    ports = Ports(cloud.stores, cloud, Patience(30, 2, lambda: 0.5), cloud.token, cloud.lag)
    return HoldTender(ports, US, ACCOUNT, cloud.clock)


def claim(cloud: Cloud) -> tuple[str, str]:
    """That of web."""
    web = cloud.stack("web", US)
    return claim_tag(web.resources["Imports"].physical_id), web.arn


def needed(cloud: Cloud, *claimed: str) -> dict[str, str]:
    """What web needs to hold at the second look, given what it had claimed at the first."""
    tending, first = tender(cloud), TagInspector(cloud)
    keeper = tending._keeper(SCOPE, claim(cloud), first)
    assert keeper
    return tending._needed(keeper, claim(cloud), [Key(each) for each in claimed], first, cloud.stores(US, cloud.clock))


def release(cloud: Cloud, *keys: str) -> None:
    for key in keys:
        name = SCOPE.parameter_name(Key(key))
        cloud.ssm(US).remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=[claim(cloud)[0]])


def test_other_values_may_be_claimed_by_the_second_look(held: Cloud) -> None:
    held.deploy("web", US, {"Imports": imports("A", "B")})
    release(held, "A")
    assert needed(held, "A") == {HOLD: held.stack("network", EU).arn}
    release(held, "B")
    assert needed(held, "A") == {}


def test_a_record_that_is_lost_by_the_second_look_may_need_the_hold(held: Cloud) -> None:
    held.ssm(US).delete_parameters(Names=[RECORD])
    with pytest.raises(ChangingError):
        needed(held, "A")


@pytest.mark.parametrize(
    ("status", "is_changing"),
    [("UPDATE_COMPLETE", False), (UPDATING, True), (CLEANUP, False), ("UPDATE_ROLLBACK_FAILED", True), (None, False)],
)
def test_a_producer_may_name_another_hold_until_its_update_is_over(
    held: Cloud, status: str | None, is_changing: bool
) -> None:
    if status:
        held.stack("network", EU).status = status
    else:
        held.vanish("network", EU)
    assert tender(held)._is_changing(SCOPE.producer) is is_changing


def test_what_another_account_exports_has_no_hold_here(held: Cloud) -> None:
    theirs = replace(SCOPE, producer=replace(SCOPE.producer, account="222222222222"))
    assert tender(held)._keeper(theirs, claim(held), TagInspector(held)) is None


FOR_IT = {HOLD: "the producer"}


@pytest.mark.parametrize(
    ("step", "holds", "begun", "found"),
    [
        (HoldStep.NONE, FOR_IT, 0, []),
        (HoldStep.NONE, {}, 0, []),
        (HoldStep.CREATE, FOR_IT, 1, []),
        (HoldStep.REPLACE, {}, 0, [FindingType.UNHELD]),
    ],
)
def test_only_what_is_to_be_made_is_waited_for(
    held: Cloud, step: HoldStep, holds: dict[str, str], begun: int, found: list[FindingType]
) -> None:
    tending, keeper = tender(held), Mock(stack=HoldStack.of_import(StackArn.parse(claim(held)[1]), "tag", SCOPE))
    with patch.object(HoldTender, "_needed", lambda *_: holds), patch.object(HoldTender, "_begin", lambda *_: step):
        assert [each.kind for each in tending._repaired(keeper, claim(held), [], TagInspector(held))] == found
    assert len(tending._begun) == begun


@pytest.mark.parametrize("step", [HoldStep.NONE, HoldStep.CREATE])
def test_a_fence_stays_until_reads_show_what_was_done(held: Cloud, step: HoldStep) -> None:
    tending, lease = tender(held), FakeClock()
    keeper = tending._keeper(SCOPE, claim(held), TagInspector(held))
    assert keeper
    with patch.object(HoldKeeper, "begin", return_value=step):
        assert tending._begin(keeper, FOR_IT, FencedStore(held.stores(US, lease), lease)) is step
    assert sum(lease.slept) == (0 if step is HoldStep.NONE else held.lag.after_writing)


@pytest.mark.parametrize(
    ("step", "found"),
    [(HoldStep.NONE, []), (HoldStep.WAIT, [FindingType.HOLD_PENDING]), (HoldStep.UPDATE, [FindingType.UNHELD])],
)
def test_who_only_looks_reports_what_a_repair_would_wait_for(
    held: Cloud, step: HoldStep, found: list[FindingType]
) -> None:
    keeper = Mock(look=Mock(return_value=step))
    assert [each.kind for each in tender(held)._looked_at(keeper, FOR_IT)] == found


def test_a_hold_that_is_not_made_within_a_minute_is_pending(held: Cloud) -> None:
    tending, since = tender(held), sum(held.clock.slept)
    tending._begun = [(Mock(is_made=Mock(return_value=False), begin=Mock(return_value=HoldStep.WAIT)), FOR_IT)]
    assert [each.kind for each in tending.confirm()] == [FindingType.HOLD_PENDING]
    assert sum(held.clock.slept) == since + CONFIRM_SECONDS


def test_what_ran_out_of_time_is_no_hold_that_cannot_be_made(held: Cloud) -> None:
    with pytest.raises(OutOfTimeError):
        tender(held)._not_made(Mock(), OutOfTimeError("CreateStack", "OutOfTime", "x", EU))


def test_only_the_records_of_stacks_that_exist_name_holds(held: Cloud) -> None:
    records = held.stores(US, held.clock).under(SCOPE.path("records"))
    assert {*janitor._of_living_stacks(SCOPE, records, TagInspector(held)).records} == {"Exports"}
    held.vanish("network", EU)
    assert janitor._of_living_stacks(SCOPE, records, TagInspector(held)).records == {}


# -- the index --------------------------------------------------------------------------------------------------------


def test_an_export_is_in_the_index_of_its_own_region(held: Cloud) -> None:
    """What an Update leaves stays named for its rollback, until a later event, or the janitor, finds it empty."""
    assert index(held) == entry(held, IN_US)
    held.deploy("web", US, {})
    held.deploy("network", EU, {"Exports": exports({"A": "a"}, Region=[US, EU], Hold=HOLD)})
    assert index(held) == entry(held, IN_US, Place(ACCOUNT, EU, "web"))
    held.deploy("network", EU, {"Exports": exports({"A": "a"}, Region=EU, Consumer="api", Hold=HOLD)})
    assert index(held) == entry(held, IN_US, Place(ACCOUNT, EU, "web"), Place(ACCOUNT, EU, "api"))
    held.deploy("network", EU, {"Exports": exports({"A": "b"}, Region=EU, Consumer="api", Hold=HOLD)})
    assert index(held) == entry(held, Place(ACCOUNT, EU, "api"))
    held.deploy("network", EU, {"Exports": exports({"A": "b"}, Region=EU, Consumer="web", Hold=HOLD)})
    assert tend(held, EU) == [FindingType.INDEX_ENTRY]
    assert index(held) == entry(held, Place(ACCOUNT, EU, "web"))
    held.delete("network", EU)
    assert index(held) == {}


def test_the_index_remembers_the_hold_until_the_export_goes(held: Cloud) -> None:
    held.deploy("web", US, {})
    held.deploy("network", EU, {"Exports": exports({})}, outputs=[])
    assert tend(held, EU) == [FindingType.INDEX_ENTRY]
    assert index(held) == entry(held)


def test_what_the_index_lacks_is_added_from_the_records(held: Cloud) -> None:
    """After an upgrade: exports of a version that had no index."""
    wanted = index(held)
    held.ssm(EU).delete_parameters(Names=[INDEX, f"{INDEX}{path_of(IN_US)}"])
    assert tend(held) == [FindingType.INDEX_ENTRY]
    assert index(held) == wanted
    assert (tend(held), tend(held, EU)) == ([], [])


OLDER = {"stack": "", "hold": HOLD, "places": {ACCOUNT: {"web": [US], "other": [US]}}}


def test_what_version_0_2_0_stored_is_taken_over_by_the_next_event(held: Cloud) -> None:
    held.deploy("web", US, {})
    held.ssm(EU).delete_parameters(Names=[f"{INDEX}{path_of(IN_US)}"])
    put(held, INDEX, json.dumps({**OLDER, "stack": held.stack("network", EU).arn}))
    assert index(held)[INDEX].older == index(held)[INDEX].places == {IN_US, Place(ACCOUNT, US, "other")}
    assert (tend(held), tend(held, EU)) == ([], [])
    held.deploy("network", EU, {"Exports": exports({"A": "a2"}, Hold=HOLD)})
    tend(held, EU)
    assert index(held) == entry(held, IN_US)


def test_places_without_a_record_are_removed(held: Cloud) -> None:
    wanted = index(held)
    name_places(held, Place(ACCOUNT, US, "other"), Place(ACCOUNT, "ap-southeast-2", "web"))
    assert tend(held, EU) == 2 * [FindingType.INDEX_ENTRY]
    assert index(held) == wanted


def test_places_in_other_accounts_and_those_of_stacks_at_work_stay(held: Cloud) -> None:
    name_places(held, Place("222222222222", US, "other"))
    assert tend(held, EU) == []
    name_places(held, Place(ACCOUNT, US, "other"))
    held.stack("network", EU).status = UPDATING
    assert tend(held, EU) == []


def test_entries_of_deleted_stacks_go(held: Cloud) -> None:
    held.vanish("web", US)
    held.vanish("network", EU)
    assert tend(held, EU) == [FindingType.STALE_HOLD, FindingType.INDEX_ENTRY]
    assert index(held) == {}


def test_a_stack_that_is_deployed_between_the_looks_keeps_its_entry(held: Cloud) -> None:
    name_places(held, Place(ACCOUNT, US, "other"))
    network = held.stack("network", EU)
    held.clock.on_sleep = lambda _: setattr(network, "updates", network.updates + 1)
    found = tend(held, EU)
    assert found == ([] if held.lag.seconds else [FindingType.INDEX_ENTRY])


@pytest.mark.parametrize("repairs", [True, False])
def test_a_hold_stays_while_a_record_that_may_need_it_cannot_be_read(held: Cloud, *, repairs: bool) -> None:
    before = hold_stacks(held)
    held.ssm(US).put_parameter(Name=RECORD, Type="String", Value="nonsense", Overwrite=True)
    assert tend(held, repairs=repairs) == ["unreadable-record"]
    assert hold_stacks(held) == before


@pytest.mark.parametrize("repairs", [True, False])
def test_a_record_that_becomes_unreadable_meanwhile_does_not_take_the_hold_away(
    held: Cloud, monkeypatch: pytest.MonkeyPatch, *, repairs: bool
) -> None:
    before = hold_stacks(held)
    held.ssm(US).put_parameter(Name=RECORD, Type="String", Value="nonsense", Overwrite=True)
    monkeypatch.setattr(janitor, "_of_living_stacks", lambda *_: RecordedExports({}, torn=False, complete=["Exports"]))
    assert tend(held, repairs=repairs) == ["unreadable-record", *(["hold-pending"] if repairs else [])]
    assert hold_stacks(held) == before


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_hold_that_an_unreadable_record_names_too_stays(
    held: Cloud, monkeypatch: pytest.MonkeyPatch, *, meanwhile: bool
) -> None:
    """Another record has the same value, and names another hold."""
    more = exports({"A": "a1"}, Hold="network-More")
    held.deploy("network", EU, HELD | {"More": more})
    held.deploy("web", US, {"Imports": imports("A", Strength="strong")})
    held.clock.sleep(2 * HOUR)
    before = hold_stacks(held)
    assert [HOLD, "network-More"] in holding(held)
    readable = janitor._of_living_stacks
    if meanwhile:
        monkeypatch.setattr(janitor, "_of_living_stacks", lambda *given: replace(readable(*given), torn=False))
    name = RECORD.replace("/Exports", "/More")
    held.ssm(US).put_parameter(Name=name, Type="String", Value="nonsense", Overwrite=True)
    assert tend(held) == ["unreadable-record", *(["hold-pending"] if meanwhile else [])]
    assert hold_stacks(held) == before
