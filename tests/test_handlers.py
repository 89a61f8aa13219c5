"""A function starts with what it needs and nothing else: the modules that importing its handler loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BASE = ("", "arns", "errors", "grouping", "log", "metrics", "text", "contract", "contract.*")
"""Texts, logs, and the data that everything is about."""

CALLS = (
    *("codes", "aws", "aws.clients", "aws.in_threads", "aws.lambda_functions", "aws.rate_limit", "aws.retry"),
    *("protocol", "protocol.side_by_side", "runtime", "runtime.clock"),
)
"""What a function needs that calls AWS, and itself if its time runs short. Services are loaded with the first event."""

EVENTS = (
    *("runtime.custom_resource", "runtime.delivery", "runtime.outbox"),
    "runtime.silent_crhelper",
    *("protocol", "protocol.time", "protocol.verification"),
)
"""What a custom resource needs to verify events and to respond to them."""

FENCES = (
    *("protocol", "refusals"),
    *(f"protocol.{name}" for name in ("behind_fences", "fences", "inspection", "lag", "ports")),
    *(f"protocol.{name}" for name in ("staleness", "stored_exports", "time")),
)

ALLOWED = {
    "exporter": (
        *CALLS,
        *EVENTS,
        "runtime.wiring",
        *FENCES,
        "protocol.executor",
        *(f"protocol.export_{name}" for name in ("attempt", "event", "index")),
        *(f"protocol.{name}" for name in ("exports", "out_of_reach", "phases", "plan", "planner", "unreached")),
        "protocol.recreation",
        "protocol.snapshot",
    ),
    "importer": (
        *(*CALLS, *EVENTS, "runtime.wiring", *FENCES),
        *("protocol.claims", "protocol.cleanup", "protocol.hold_keeper", "protocol.hold_steps", "protocol.imports"),
        "protocol.phases",
        *("protocol.published", "protocol.recreation"),
    ),
    "janitor": (
        "memo",
        *(*CALLS, "runtime.outbox", "runtime.schedule", "runtime.wiring", *FENCES),
        *(
            "protocol.executor",
            "protocol.export_index",
            "protocol.findings",
            "protocol.hold_keeper",
            "protocol.hold_steps",
        ),
        *("protocol.out_of_reach", "protocol.phases"),
        *("protocol.janitor", "protocol.janitor_abroad", "protocol.janitor_failures"),
        *("protocol.janitor_holds", "protocol.janitor_index", "protocol.plan", "protocol.published"),
        "protocol.recreation",
    ),
    "lookup": (
        *(*CALLS, *EVENTS, "aws.errors", "protocol.lag", "runtime.wiring"),
        *("lookup", "lookup.attributes", "lookup.custom_resource", "lookup.errors", "lookup.query"),
    ),
    "macro": ("macro", "macro.*"),
}
"""By handler, the modules of strongref that it may load, in addition to `BASE`."""

LIBRARIES = {
    "exporter": {"boto3", "botocore", "crhelper", "urllib3"},
    "importer": {"boto3", "botocore", "crhelper", "urllib3"},
    "janitor": {"botocore"},
    "lookup": {"boto3", "botocore", "crhelper", "urllib3"},
    "macro": set[str](),
}
"""By handler, the libraries whose modules it may load, of those that take long. boto3 comes with crhelper."""

SLOW = {"boto3", "botocore", "crhelper", "urllib3"}

LOADED = "import json, sys, app; print(json.dumps(sorted(sys.modules)))"


def loaded(handler: str) -> set[str]:
    """All modules that a new process has loaded once it has imported a handler."""
    path = os.pathsep.join(map(str, (ROOT / "layers/core", ROOT / "handlers" / handler)))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "AWS_DEFAULT_REGION": "us-east-1"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", LOADED], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_every_handler_is_listed() -> None:
    assert {path.parent.name for path in ROOT.glob("handlers/*/app.py")} == ALLOWED.keys() == LIBRARIES.keys()


@pytest.mark.parametrize("handler", ALLOWED)
def test_importing_a_handler_loads_no_module_that_it_does_not_need(handler: str) -> None:
    modules = loaded(handler)
    own = {name.removeprefix("strongref").removeprefix(".") for name in modules if name.split(".")[0] == "strongref"}
    allowed = (*BASE, *ALLOWED[handler])
    assert {name for name in own if not any(fnmatchcase(name, pattern) for pattern in allowed)} == set()
    assert {pattern for pattern in allowed if not any(fnmatchcase(name, pattern) for name in own)} == set()
    assert not {name for name in modules if name.startswith("strongref_")}
    # Powertools looks for botocore, and loads none of its modules.
    assert {name.split(".")[0] for name in modules - {"botocore"}} & SLOW == LIBRARIES[handler]
