"""docs/events.md: its example is as the schema says, and its tables are complete.

tests/e2e/test_events.py tries its patterns.
"""

from __future__ import annotations

import json
import re

from strongref.contract.notices import DETAIL_LIMIT, LIST_LIMIT, NoticeType
from strongref.runtime.outbox import DROPPED, SEND_SECONDS
from tests.support.documents import ROOT, blocks, load, names_in, rows
from tests.support.notices import SCHEMA, check

PAGE = "docs/events.md"
EXAMPLE = next(json.loads(block.text) for block in blocks("json") if block.page.name == "events.md")
TEXT = " ".join((ROOT / PAGE).read_text().split())


def test_the_example_is_as_the_schema_says() -> None:
    check(EXAMPLE)


def test_all_types_are_documented() -> None:
    assert names_in(rows(PAGE, "Types")) == {kind.value for kind in NoticeType}


def test_all_fields_are_documented() -> None:
    definitions = SCHEMA["$defs"]
    fields = {name for kind in ("export", "janitor", "released") for name in definitions[kind]["properties"]}
    assert names_in(rows(PAGE, "Details")) == fields


def test_the_limits_are_documented() -> None:
    assert f"at most {LIST_LIMIT} items in a list, and {DETAIL_LIMIT:,} bytes" in TEXT
    assert f"one try of at most {SEND_SECONDS:.0f} seconds" in TEXT
    assert f"`{DROPPED}`" in TEXT


def test_the_mails_use_what_events_have() -> None:
    rule = load((ROOT / "examples/notices/mail.yaml").read_text())["Resources"]["Rule"]["Properties"]
    (target,) = rule["Targets"]
    transformer = target["InputTransformer"]
    used = set(re.findall(r"<(\w+)>", transformer["InputTemplate"]))
    assert used == transformer["InputPathsMap"].keys()
    assert all(re.fullmatch('"[^"]+"', line) for line in transformer["InputTemplate"].splitlines())
