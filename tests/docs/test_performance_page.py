"""docs/performance.md and the report match the benchmarks' results, and show nothing of a developer's machine."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import calls, document, latency, overview, quota, sharing, summary
from benchmarks.__main__ import PAGE, REPORT, RESULTS, main
from benchmarks.document import TABLES
from benchmarks.installing import CDK, ROOT
from benchmarks.processes import Process
from benchmarks.sides import NEWEST, OURS, STRONG

_FILES = sorted(RESULTS.glob("*.json"))


def test_every_table_has_results_and_no_result_is_without_a_table() -> None:
    assert [path.stem for path in _FILES] == sorted(TABLES)


def test_the_page_and_the_report_are_what_the_results_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == summary.render(RESULTS)
    assert REPORT.read_text(encoding="utf-8") == document.render(RESULTS)


def test_every_link_of_the_report_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)\s#]+)", REPORT.read_text(encoding="utf-8")):
        assert (REPORT.parent / target).exists(), target


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_results_are_of_a_full_run_and_show_how_they_were_measured(path: Path) -> None:
    result = json.loads(path.read_text(encoding="utf-8"))
    assert not result["quick"]
    assert TABLES[path.stem].METHOD.strip()
    assert {"strongref", "Python", "boto3", "node"} <= result["versions"].keys()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])


def test_results_are_summaries_that_people_can_read() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in _FILES) < 600


@pytest.mark.parametrize("path", [*_FILES, PAGE, REPORT, *CDK.glob("*.json")], ids=lambda path: path.name)
def test_nothing_shows_on_whose_machine_it_was_measured(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert str(Path.home()) not in text
    assert str(ROOT) not in text
    assert "127.0.0.1" not in text
    assert '"resolved"' not in text


def counted(ours: int, theirs: int, *, event: str = "exports: delete", done: bool = True) -> dict[str, Any]:
    rows = [
        {"event": event, "n": 10, "side": side, "calls": count, "done": done or side == OURS, "status": "SUCCESS"}
        for side, count in ((OURS, ours), (STRONG, theirs))
    ]
    return {"titles": {OURS: "ours", STRONG: "theirs"}, "without": "", "rows": rows}


@pytest.mark.parametrize(("ours", "met"), [(37, True), (38, False)])
def test_calls_are_met_up_to_a_quarter_and_twelve_more_than_the_strong_handlers(ours: int, met: bool) -> None:
    assert calls.verdicts(counted(ours, 20))[0].met is met


def test_creating_exports_must_take_far_fewer_calls_than_the_strong_handlers() -> None:
    assert [calls.verdicts(counted(ours, 20, event="exports: create"))[1].met for ours in (24, 25)] == [True, False]


def test_events_that_the_others_do_not_carry_out_are_not_compared() -> None:
    assert calls.verdicts(counted(38, 0, done=False))[0].met is None


@pytest.mark.parametrize(
    ("status", "seconds", "met"), [("SUCCESS", 105.0, True), ("SUCCESS", 105.1, False), ("FAILED", 50.0, False)]
)
def test_the_time_under_quota_is_met_by_a_success_in_time(status: str, seconds: float, met: bool) -> None:
    row = {"side": OURS, "what": "imports", "others": 0.0, "limit_seconds": 100.0, "soonest_seconds": 99.0}
    data = {"n": 1000, "rows": [row | {"status": status, "seconds": seconds, "reason": "Rate exceeded"}]}
    assert [verdict.met for verdict in quota.verdicts(data)] == [met]


@pytest.mark.parametrize(
    ("made", "listed", "met"),
    [
        (20, 1.5, [True, True, True]),
        (21, 1.5, [False, True, True]),
        (20, 1.51, [True, False, True]),
        (20, 1.9, [True, False, False]),
    ],
)
def test_a_list_is_met_by_few_calls_in_half_more_than_the_time_of_its_records(
    made: int, listed: float, met: list[bool]
) -> None:
    measured = {("one", "list"): 0.5, ("four", "list"): listed, ("four", "records"): 1.0, ("four", "pages"): 1.2}
    rows = [
        {"case": case, "side": side, "paced": False, "calls": [made], "runs": [0.9 * spent, spent]}
        for (case, side), spent in measured.items()
    ]
    verdicts = overview.verdicts({"rows": rows})
    assert [verdict.met for verdict in verdicts] == met
    assert [not verdict.why for verdict in verdicts if verdict.target.endswith("records")] == met[1:2]


@pytest.mark.parametrize(
    ("throttled", "failed", "met"), [(20, 0, True), (21, 0, False), (0, 1, False)], ids=["share", "more", "failed"]
)
def test_sharing_is_met_by_a_share_up_to_the_larger_one_next_to_the_cdks_handlers(
    throttled: int, failed: int, met: bool
) -> None:
    sides = {OURS: (100, throttled, failed), STRONG: (10, 0, 1), NEWEST: (10, 2, 1)}
    rows = [
        {"side": side, "what": "exports", "n": 10, "made": [made, made], "throttled": [0, count], "failed": failures}
        for side, (made, count, failures) in sides.items()
    ]
    (verdict,) = sharing.verdicts({"titles": dict.fromkeys(sides, ""), "without": "", "rows": rows})
    assert verdict.met is met
    assert bool(verdict.misses) is (throttled > 20)


@pytest.mark.parametrize(("ours", "met"), [(1.0, True), (1.1, False)])
def test_latency_is_met_if_the_worst_run_is_no_slower_than_the_strong_handlers(ours: float, met: bool) -> None:
    rows = [
        {"side": side, "what": what, "n": 100, "runs": spent}
        for what in ("exports", "imports")
        for side, spent in ((OURS, [0.5, 0.5, 2 * ours, 0.5, 0.5]), (STRONG, [1.0, 1.0, 2.0, 1.0, 1.0]))
    ]
    judged = latency.verdicts({"rows": rows, "without": ""})
    assert [each.met for each in judged] == [met, met]
    assert [bool(each.why) for each in judged] == [not met, not met]


@pytest.mark.parametrize(("worst", "met"), [(0.09, True), (0.091, False)])
def test_one_value_is_created_in_time_if_the_worst_run_is(worst: float, met: bool) -> None:
    row = {"side": OURS, "what": "imports", "n": 1, "runs": [0.05, 0.05, worst]}
    (judged, *_) = latency.verdicts({"rows": [row], "without": "none"})[1:]
    assert judged.met is met


def test_the_page_begins_with_where_it_is_slower_in_the_worst_run() -> None:
    rows = [
        {"side": side, "what": "exports", "n": 1, "runs": runs}
        for side, runs in ((OURS, [0.2, 0.3]), (STRONG, [0.1, 0.1]), (NEWEST, [1.0, 1.0]))
    ]
    starts = [
        {"ours": ours, "role": role, "first": first}
        for role in ("sdk", "importer")
        for ours, first in ((True, [0.3, 0.4]), (False, [0.2, 0.2] if role == "importer" else [0.1, 0.1]))
    ]
    found = summary.slower({"rows": rows}, {"rows": starts})
    assert "by up to 3.0 times (1 export), 2.0 times (a cold function):" in found
    rows[0]["runs"], starts[2]["first"] = [0.1, 0.1], [0.2, 0.2]
    assert summary.slower({"rows": rows}, {"rows": starts}) == ""


@pytest.mark.parametrize(("ours", "met"), [(15, True), (16, False)])
def test_another_account_may_take_two_calls_and_a_role_more(ours: int, met: bool) -> None:
    rows = [counted(12, 12, event="exports: create"), counted(ours, 0, event="exports: abroad")]
    assert calls.verdicts({**rows[0], "rows": [each for data in rows for each in data["rows"]]})[-1].met is met


def test_a_missed_target_shows_the_reason() -> None:
    (verdict, *_) = calls.verdicts(counted(38, 20))
    assert verdict.why
    assert "38 calls where 37 are allowed" in verdict.misses[0]


@pytest.mark.parametrize("tables", [["calls"], pytest.param(["calls", "quota"], marks=pytest.mark.slow)], ids="-".join)
def test_a_quick_run_measures_and_writes_elsewhere_without_node(tables: list[str], tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in [*_FILES, PAGE, REPORT]}
    main(["--quick", "--without-cdk", "--into", str(tmp_path), *tables])
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    report = (tmp_path / "results/report.md").read_text(encoding="utf-8")
    assert "| Create exports | 10 | 21 |" in report
    assert "| Create exports | 21 |" in page
    for text in (page, report):
        assert "The CDK's columns are missing: omitted." in text
        assert "A quick run: its figures mean nothing." in text
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        *(f"{table}.json" for table in tables),
        "report.md",
    ]
    assert {path: path.read_bytes() for path in before} == before


_BUSY = """
import json, os, sys, time
os.write(int(sys.argv[1]), b'{"ready": true}\\n')
for line in sys.stdin:
    began = time.monotonic()
    while time.process_time() < 0.2:
        pass
    found = {"seconds": time.monotonic() - began, "cpu_seconds": time.process_time(), "error": None, "peak_kb": 0}
    os.write(int(sys.argv[1]), json.dumps(found).encode() + b"\\n")
"""


def test_a_function_has_no_more_of_a_processor_than_its_memory_gives_it() -> None:
    with Process([sys.executable, "-c", _BUSY], {}, processor=0.25) as function:
        ran = function.send({})
    assert ran.cpu_seconds >= 0.2
    assert ran.cpu_seconds / ran.seconds < 0.4
