"""What the janitor cannot read, ask about or repair: it is reported, and the rest is tended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from strongref.aws.parameter_store import SsmStore
from strongref.contract.hold_stacks import HOLDS
from strongref.contract.index import index_name
from strongref.contract.names import RESTORED_TAG
from strongref.contract.releases import RELEASES
from strongref.errors import AccessDeniedError, OutOfTimeError, StackLookupError, StoreError, StrongRefError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import Janitor, JanitorProgress
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from tests.contract.test_format import JSON
from tests.protocol.test_janitor import OLD_FENCE, examined, found, name
from tests.protocol.test_scenarios import EU, US, exports, imports
from tests.support.builders import ACCOUNT, stack_arn
from tests.support.cloud import Cloud
from tests.support.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.values import Parameter
    from strongref.protocol.janitor import Checkpoint

BASE = f"web/{ACCOUNT}/{EU}/base"
"""Sorts before everything else: what stops the janitor there stops it at once."""

LOST = name("X")


@pytest.fixture
def cloud() -> Cloud:
    """Two producers and a consumer; of the second producer's value, the parameter has gone."""
    cloud = Cloud()
    cloud.deploy("base", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    cloud.deploy("network", EU, {"Exports": exports({"X": "x1"})})
    cloud.deploy("web", US, {"Imports": imports("A") | {"From": {"Stack": "base", "Region": EU}}})
    cloud.ssm(US).delete_parameter(Name=LOST)
    return cloud


def fail_stacks(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, method: str, part: str) -> None:
    real: Callable[..., Any] = getattr(cloud, method)

    def failing(asked: str, *more: Any) -> Any:
        if part in asked:
            raise StackLookupError(asked, EU, "AccessDenied")
        return real(asked, *more)

    monkeypatch.setattr(cloud, method, failing)


def fail_store(
    monkeypatch: pytest.MonkeyPatch, method: str, part: str, error: type[StoreError] = AccessDeniedError
) -> None:
    real: Callable[..., Any] = getattr(SsmStore, method)

    def failing(store: SsmStore, asked: Any, *more: Any, **how: Any) -> Any:
        asked = asked if isinstance(asked, str) else list(asked)
        if part in str(asked):
            raise error(method, "AccessDeniedException", str(asked), store.region)
        return real(store, asked, *more, **how)

    monkeypatch.setattr(SsmStore, method, failing)


def unknown(findings: list[Finding]) -> list[tuple[str, bool]]:
    """The parameters that nothing is known about, and whether the finding says why."""
    return [(each.parameter, "AccessDenied" in each.why) for each in findings if each.kind is FindingType.FAILED_CALL]


def is_restored(cloud: Cloud) -> bool:
    return LOST in cloud.ssm(US).parameters()


def test_a_producer_that_cannot_be_asked_about_counts_as_existing(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_stacks(cloud, monkeypatch, "by_arn", "stack/base/")
    before = {each: text for each, text in cloud.texts(US).items() if "/base/" in each}
    assert unknown(examined(cloud)) == unknown(found(cloud)) == [(name("Exports", "records", BASE), True)]
    assert is_restored(cloud)
    assert {each: text for each, text in cloud.texts(US).items() if "/base/" in each} == before


def test_a_consumer_that_cannot_be_asked_about_gets_nothing_restored(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.deploy("site", EU, {"Exports": {"Region": US, "Values": {"S": "s1"}}})
    shared = f"/strongref/exports/_shared/{ACCOUNT}/{EU}/site/S"
    cloud.ssm(US).delete_parameter(Name=shared)
    fail_stacks(cloud, monkeypatch, "by_name", "web")
    assert unknown(found(cloud)) == [
        (f"/strongref/exports/{BASE}", True),
        (f"/strongref/exports/web/{ACCOUNT}/{EU}/network", True),
    ]
    assert (is_restored(cloud), shared in cloud.ssm(US).parameters()) == (False, True)


def test_tags_that_cannot_be_read_hide_one_value(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    del cloud.stack("web", US).resources["Imports"]  # its claim is stale
    fail_store(monkeypatch, "tags", "/base/B")
    findings = found(cloud)
    assert unknown(findings) == [(name("B", scope=BASE), True)]
    assert (FindingType.STALE_CLAIM, name("A", scope=BASE)) in {(each.kind, each.parameter) for each in findings}
    assert is_restored(cloud)


@pytest.mark.parametrize(
    ("method", "part", "left"),
    [
        ("untag", f"{BASE}/A", name("A", scope=BASE)),
        ("delete", f"{BASE}/Stray", name("Stray", scope=BASE)),
        ("create", f"{BASE}/B", name("B", scope=BASE)),
    ],
)
def test_a_repair_that_fails_is_reported_as_that_and_the_others_are_made(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, method: str, part: str, left: str
) -> None:
    del cloud.stack("web", US).resources["Imports"]
    producer = {"Key": "strongref:producer", "Value": cloud.stack("base", EU).arn}
    cloud.ssm(US).put_parameter(Name=name("Stray", scope=BASE), Type="String", Value="s", Tags=[producer])
    cloud.ssm(US).delete_parameter(Name=name("B", scope=BASE))
    repaired = {name("A", scope=BASE), name("Stray", scope=BASE), name("B", scope=BASE), LOST} - {left}
    fail_store(monkeypatch, method, part)
    findings = found(cloud)
    assert unknown(findings) == [(left, True)]
    assert {each.parameter for each in findings if each.kind is not FindingType.FAILED_CALL} == repaired
    assert is_restored(cloud)


def test_a_scope_that_cannot_be_fenced_is_left_alone(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud.ssm(US).delete_parameter(Name=name("B", scope=BASE))
    fail_store(monkeypatch, "overwrite", f"/fences/{BASE}")
    assert unknown(found(cloud)) == [(f"/strongref/exports/{BASE}", True)]
    assert is_restored(cloud)


@pytest.mark.parametrize(
    ("method", "part", "path"), [("delete", "/fences/", "/strongref/fences"), ("under", RELEASES, RELEASES)]
)
def test_fences_and_traces_that_cannot_be_deleted_stop_nothing(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, method: str, part: str, path: str
) -> None:
    cloud.ssm(US).put_parameter(
        Name=name("Dead.1", "fences", f"none/{ACCOUNT}/{EU}/none"), Type="String", Value=OLD_FENCE
    )
    fail_store(monkeypatch, method, part)
    findings = found(cloud)
    assert (path, True) in unknown(findings)
    assert is_restored(cloud)


@pytest.mark.parametrize("path", ["/strongref/holds", "/strongref/index"])
def test_a_region_whose_holds_or_index_cannot_be_read_stops_nothing(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """The index of the producers' region is that of several values; the region's own comes last."""
    fail_store(monkeypatch, "under", path)
    findings = found(cloud)
    assert path in dict(unknown(findings))
    assert is_restored(cloud)


def test_an_index_entry_that_cannot_be_compared_stops_no_other(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    base, network = (f"{index_name(stack, 'Exports')}/{ACCOUNT}/{US}/web" for stack in ("base", "network"))
    fail_store(monkeypatch, "create", base)
    cloud.ssm(EU).delete_parameters(Names=[base, network])
    findings = found(cloud)
    assert unknown(findings) == [(index_name("base", "Exports"), True)]
    assert network in cloud.ssm(EU).parameters()


@pytest.mark.parametrize(
    "head",
    [
        "[]",
        "nonsense",
        json.dumps({"stack": "no ARN", "values": {"A": "a"}}),
        json.dumps({"stack": 5, "values": {}}),
        json.dumps({"stack": stack_arn("x", "us-moon-1", "me"), "values": {"A": "a"}}),
    ],
)
def test_a_record_that_says_anything_stops_nothing(cloud: Cloud, head: str) -> None:
    cloud.ssm(US).put_parameter(Name=name("Odd", "records", BASE), Type="String", Value=head)
    cloud.clock.sleep(1)
    findings = found(cloud)
    assert {each.kind for each in findings} & {FindingType.FAILED_CALL, FindingType.UNREADABLE_RECORD}
    assert is_restored(cloud)
    assert name("Odd", "records", BASE) in cloud.ssm(US).parameters()


NAMES = st.lists(
    st.sampled_from(["web", ACCOUNT, "me", EU, "moon", "base", "network", "A", "x.1", "Exports", "_shared"]),
    min_size=1,
    max_size=7,
)
TREES = st.sampled_from(["exports", "records", "fences", "index", "holds", "releases", "manifests"])


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TREES, NAMES, JSON), max_size=5), st.text(min_size=1, max_size=9), st.sampled_from([US, EU]))
def test_whatever_is_stored_the_rest_is_tended(odd: list[tuple[str, list[str], object]], tag: str, region: str) -> None:
    cloud = Cloud()
    cloud.deploy("zone", EU, {"Exports": exports({"X": "x1"})})
    cloud.deploy("web", US, {})
    lost = f"/strongref/exports/web/{ACCOUNT}/{EU}/zone/X"
    cloud.ssm(US).delete_parameter(Name=lost)
    for tree, levels, content in odd:
        cloud.ssm(region).put_parameter(
            Name=f"/strongref/{tree}/{'/'.join(levels)}",
            Type="String",
            Value=json.dumps(content).replace("{{", "{ {"),  # which no parameter may have
            Overwrite=True,
        )
    for each in list(cloud.ssm(US).parameters()):
        cloud.ssm(US).add_tags_to_resource(
            ResourceType="Parameter",
            ResourceId=each,
            Tags=[
                {"Key": key, "Value": f"x{tag.encode().hex()}"} for key in ("strongref:claim:1", "strongref:producer")
            ],
        )
    cloud.clock.sleep(3600)
    found(cloud)
    assert lost in cloud.ssm(US).parameters()


@pytest.mark.parametrize("what", ["tags", "stack", "producer"])
def test_what_only_the_second_look_sees_is_left_to_the_next_run(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A claim is stale, and a stack deleted, only if two looks agree."""
    del cloud.stack("web", US).resources["Imports"]
    if what == "producer":
        found(cloud)  # takes the claim off
        cloud.vanish("base", EU)

    def stored() -> dict[str, object]:
        return {each: found for each, found in cloud.ssm(US).parameters().items() if "/base/" in each}

    before = stored()
    with monkeypatch.context() as first:
        failing = iter([True])
        owner, method = (SsmStore, "tags") if what == "tags" else (cloud, "by_arn")
        part = {"tags": "/base/A", "stack": "stack/web/", "producer": "stack/base/"}[what]
        real: Callable[..., Any] = getattr(owner, method)

        def once(*given: Any) -> Any:
            if part in str(given[-1]) and next(failing, False):
                if what == "tags":
                    raise AccessDeniedError("ListTagsForResource", "AccessDeniedException", part, US)
                raise StackLookupError("x", EU, "AccessDenied")
            return real(*given)

        first.setattr(owner, method, once)
        kinds = {each.kind for each in found(cloud)}
    assert kinds & {FindingType.FAILED_CALL, FindingType.UNKNOWN_CLAIM}
    assert stored() == before
    found(cloud)
    assert stored() != before


def visit(cloud: Cloud, after: Checkpoint, *, skip: bool) -> tuple[list[JanitorProgress], StrongRefError | None]:
    """What an invocation does from a mark on, and why it stops."""
    janitor = Janitor(Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token), US, ACCOUNT)
    done: list[JanitorProgress] = []
    try:
        for each in janitor.tend(cloud.clock, after, skip=skip):
            done.append(each)  # noqa: PERF402 (what was done before the error counts)
    except StrongRefError as error:
        return done, error
    return done, None


def test_what_takes_an_invocation_all_its_time_is_left_out(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_store(monkeypatch, "tags", "/base/", OutOfTimeError)
    done, error = visit(cloud, ("", ""), skip=False)
    assert isinstance(error, OutOfTimeError)
    assert {each.mark for each in done} == {("", "")}
    done, error = visit(cloud, done[-1].mark, skip=True)
    assert error is None
    findings = [finding for each in done for finding in each.findings]
    assert [each for each in findings if each.kind is FindingType.FAILED_CALL] == [
        Finding(FindingType.FAILED_CALL, f"/strongref/exports/{BASE}")
    ]
    assert is_restored(cloud)
    assert cloud.ssm(US).parameters()[LOST].tags
    assert RESTORED_TAG in dict(cloud.ssm(US).parameters()[LOST].tags)


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        (f"/strongref/exports/{BASE}", (f"/strongref/exports/{BASE}", "B")),
        ("/strongref/holds", ("~", "")),
        ("/strongref/index", ("~", "holds")),
    ],
)
def test_the_holds_and_the_index_can_be_left_out(cloud: Cloud, path: str, mark: Checkpoint) -> None:
    done, error = visit(cloud, mark, skip=True)
    assert error is None
    assert next(finding.parameter for each in done for finding in each.findings) == path


def test_a_region_whose_holds_cannot_be_listed_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"X": "x1"})})
    for number in range(3):
        cloud.deploy(f"web{number}", US, {"Imports": imports("X", Consumer="web")})
    asked: list[str] = []
    real = SsmStore.under

    def under(store: SsmStore, path: str, **how: bool) -> dict[str, Parameter]:
        if (store.region, path) == (EU, HOLDS):
            asked.append(path)
            raise AccessDeniedError("GetParametersByPath", "AccessDeniedException", path, EU)
        return real(store, path, **how)

    monkeypatch.setattr(SsmStore, "under", under)
    unknown = [each for each in found(cloud) if each.kind is FindingType.FAILED_CALL]
    assert sorted(each.stacks for each in unknown) == [(cloud.stack(f"web{number}", US).arn,) for number in range(3)]
    assert asked == [HOLDS]
