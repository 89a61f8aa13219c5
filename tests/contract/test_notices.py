"""Notices: what each says, that it is what the schema says, and that it fits into an event however much there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.contract.event import Event, RequestType
from strongref.contract.names import ExportScope, Key, ManifestSet, Producer, Site
from strongref.contract.notices import (
    DETAIL_LIMIT,
    LIST_LIMIT,
    ImportedValue,
    Notice,
    NoticeType,
    Observation,
    claim_released,
    of_export,
    of_janitor,
    propagated_text,
)
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, SHOP, WEB, stack_arn
from tests.support.notices import SCHEMA, check_schema, detail_of

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "s3cret-value"
EVENT = Event(
    RequestType.UPDATE, NETWORK, "Exports", "request-1", "strongref-export/x", {"Values": {"A": SECRET}},
    {"Values": {"A": SECRET}}, "https://example.com/?X-Amz-Signature=s3cret-value", "Custom::CrossRegionExport",
)  # fmt: skip
PRODUCER = {"kind": "stack", "name": "network", "region": "eu-west-1", "account": ACCOUNT}
IMPORTER = {"kind": "stack", "name": "web", "region": "us-east-1", "account": ACCOUNT, "id": WEB}
BY = f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin/alice"
MANIFESTS = str(ManifestSet(ACCOUNT, "shop"))

OTHER = "222222222222"

A = ImportedValue(Site("us-east-1"), SCOPE, Key("A"), (WEB,))
B = ImportedValue(Site("us-east-1"), SCOPE, Key("Alb/Arn"), (SHOP, WEB))
STALE = Observation("stale-claim", SCOPE.parameter_name(Key("Alb/Arn")), (WEB,))
HOLD = Observation("hold-impossible", "strongref-hold-111111111111-web-0123456789abcdef", (WEB,))

ONE_OF_EACH: dict[NoticeType, Callable[[], Notice]] = {
    NoticeType.CHANGE_REFUSED: lambda: of_export(
        NoticeType.CHANGE_REFUSED, EVENT, [A._replace(change="changed")], "A cannot be changed."
    ),
    NoticeType.VALUES_PROPAGATED: lambda: of_export(NoticeType.VALUES_PROPAGATED, EVENT, [A, B], "A and B changed."),
    NoticeType.VALUES_KEPT: lambda: of_export(NoticeType.VALUES_KEPT, EVENT, [A], "A stays."),
    NoticeType.PLACE_PASSED_OVER: lambda: of_export(
        NoticeType.PLACE_PASSED_OVER, EVENT, [], "eu-west-1 was left as it is."
    ),
    NoticeType.REPAIRS_MADE: lambda: of_janitor(NoticeType.REPAIRS_MADE, ACCOUNT, "us-east-1", [STALE, STALE]),
    NoticeType.FINDINGS_REPORTED: lambda: of_janitor(NoticeType.FINDINGS_REPORTED, ACCOUNT, "us-east-1", [HOLD]),
    NoticeType.CLAIM_RELEASED: lambda: claim_released([A], BY, "web was deleted by hand"),
}


def test_the_schema_is_one() -> None:
    check_schema()
    assert set(SCHEMA["properties"]["detail-type"]["enum"]) == {kind.value for kind in NoticeType}


@pytest.mark.parametrize("kind", NoticeType)
def test_each_type_is_as_the_schema_says_and_has_no_value(kind: NoticeType) -> None:
    notice = ONE_OF_EACH[kind]()
    assert notice.type is kind
    detail_of(notice)
    assert SECRET not in notice.body


def test_a_refusal_names_producer_request_values_and_importers() -> None:
    assert detail_of(ONE_OF_EACH[NoticeType.CHANGE_REFUSED]()) == {
        "summary": "A cannot be changed.",
        "producer": {**PRODUCER, "id": NETWORK},
        "export": "Exports",
        "request": {"id": "request-1", "type": "Update"},
        "values": [{"consumer": "web", "region": "us-east-1", "key": "A", "importers": [WEB], "change": "changed"}],
        "importers": [IMPORTER],
        "more": {"values": 0, "importers": 0},
    }


def test_a_propagation_names_every_stack_that_must_be_deployed_again_once() -> None:
    changed = [A, B, A._replace(site=Site("ap-southeast-2"), importers=(MANIFESTS,))]
    summary = propagated_text((each.key, each.importers) for each in changed)
    notice = of_export(NoticeType.VALUES_PROPAGATED, EVENT, changed, summary)
    detail = detail_of(notice)
    assert [each["name"] for each in detail["importers"]] == ["shop", "web", "shop"]
    assert [each["kind"] for each in detail["importers"]] == ["stack", "stack", "manifests"]
    where = f"(us-east-1, {ACCOUNT})"
    assert detail["summary"] == (
        f"A and Alb.Arn changed while imported by manifests shop ({ACCOUNT}), stack shop {where} and stack web {where}."
        " Deploy these with another Revision of their Import to pick up the new value."
    )
    assert notice.resources == (NETWORK,)


def test_findings_name_what_the_parameters_name_says() -> None:
    detail = detail_of(ONE_OF_EACH[NoticeType.REPAIRS_MADE]())
    assert detail["summary"] == f"The janitor repaired stale-claim (2) in us-east-1 ({ACCOUNT})."
    assert detail["findings"][0] == {
        "finding": "stale-claim",
        "parameter": f"/strongref/exports/web/{ACCOUNT}/eu-west-1/network/Alb/Arn",
        "stacks": [IMPORTER],
        "producer": PRODUCER,
        "consumer": "web",
        "key": "Alb/Arn",
    }
    (unprotected,) = detail_of(ONE_OF_EACH[NoticeType.FINDINGS_REPORTED]())["findings"]
    assert unprotected.keys() == {"finding", "parameter", "stacks"}
    orphaned = Observation("orphaned", f"{SCOPE.path('records')}/Exports", ())
    record = detail_of(of_janitor(NoticeType.REPAIRS_MADE, ACCOUNT, "us-east-1", [orphaned]))
    assert record["findings"][0]["consumer"] == "web"
    assert "key" not in record["findings"][0]


def test_the_same_value_and_finding_in_two_accounts_are_told_apart() -> None:
    sites = [Site("us-east-1", account) for account in ("", OTHER, "333333333333")]
    detail = detail_of(of_export(NoticeType.VALUES_KEPT, EVENT, [A._replace(site=each) for each in sites], "A stays."))
    where = {"consumer": "web", "region": "us-east-1", "key": "A", "importers": [WEB]}
    assert detail["values"] == [where, {**where, "account": OTHER}, {**where, "account": "333333333333"}]
    place = f"strongref:place:{OTHER}:us-east-1:web"
    found = [STALE._replace(site=each, stacks=(place,)) for each in sites[1:]]
    findings = detail_of(of_janitor(NoticeType.REPAIRS_MADE, ACCOUNT, "eu-west-1", found))["findings"]
    assert [(each["account"], each["region"]) for each in findings] == [
        (each.account, each.region) for each in sites[1:]
    ]
    assert findings[0]["stacks"] == [
        {"kind": "consumer", "name": "web", "region": "us-east-1", "account": OTHER, "id": place}
    ]


def test_a_release_names_who_when_and_why() -> None:
    detail = detail_of(ONE_OF_EACH[NoticeType.CLAIM_RELEASED]())
    assert (detail["by"], detail["reason"]) == (BY, "web was deleted by hand")
    assert (detail["producer"], detail["importers"]) == (PRODUCER, [IMPORTER])


def test_a_claim_that_names_nobody_is_shown_as_it_is() -> None:
    value = ImportedValue(Site("us-east-1"), SCOPE, Key("A"), ("by hand",))
    detail = detail_of(claim_released([value], BY, "nobody knows it"))
    assert detail["importers"] == [{"kind": "other", "id": "by hand"}]


LONG = ExportScope("c" * 100, Producer(ACCOUNT, "ap-southeast-2", "s" * 128))
MANY = [
    ImportedValue(
        Site("ap-southeast-2"),
        LONG,
        Key(f"{number:0>300}"),
        tuple(stack_arn(f"{number + each:i>128}", "ap-southeast-2", unique="u" * 36) for each in range(10)),
        "changed",
    )
    for number in range(0, 10_000, 10)
]


@pytest.mark.parametrize(
    "made",
    [
        lambda: of_export(NoticeType.CHANGE_REFUSED, EVENT, MANY, "No. " * 500),
        lambda: claim_released(MANY, BY, "because " * 500),
    ],
)
def test_however_much_there_is_it_fits_and_says_how_much_is_missing(made: Callable[[], Notice]) -> None:
    notice = made()
    detail = detail_of(notice)
    assert len(notice.body.encode()) <= DETAIL_LIMIT
    for name, total in (("values", len(MANY)), ("importers", 10 * len(MANY))):
        assert 0 < len(detail[name]) <= LIST_LIMIT
        assert len(detail[name]) + detail["more"][name] == total


def test_however_many_findings_there_are_they_fit() -> None:
    notice = of_janitor(NoticeType.FINDINGS_REPORTED, ACCOUNT, "us-east-1", [STALE] * 10_000)
    detail = detail_of(notice)
    assert len(notice.body.encode()) <= DETAIL_LIMIT
    assert 0 < len(detail["findings"]) == 10_000 - detail["more"]["findings"]
    assert detail["summary"].startswith("The janitor found stale-claim (10000)")
