"""Resolving: how many calls and how much time manifests take."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench, Data, Verdict, say, timed
from benchmarks.sides import EU
from benchmarks.tables import median, number, ratio, seconds, table
from benchmarks.world import rates
from tests.support.local_ssm.control import LocalSsm
from tests.support.local_ssm.service import ACCOUNT

TITLE = "Resolving manifests"
METHOD = """
`strongref resolve` writes manifests whose values are outputs of 20 stacks: one manifest and one DescribeStacks call
for each stack, however many values there are. The other columns show the same command without its memory: it makes a
call for each value, as a resolver that fetches values one by one does, such as cdk8s's AwsCdkResolver (which also
starts a process for each value; that time is left out here).

Each run is a process of its own, and its start counts. The local service answers each call after 10 ms. There is no
quota, and our rate limit is switched off. Times are medians, measured in turns. Every run checks every value.
"""

_STACKS = 20
_TOKENS = (20, 200, 1_000)
_LATENCY_MS = 10.0
_REPETITIONS = 5

_RUN = "import sys; from strongref_cli import main; sys.exit(main(sys.argv[1:]))"
_FORGET = "from strongref.memo import Memo; Memo.get = lambda self, key, ask: ask(); "
_SIDES = {"once": ("Each stack once", _RUN), "anew": ("Each value again", _FORGET + _RUN)}


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    with LocalSsm.start() as service, tempfile.TemporaryDirectory() as folder:
        service.options(latency_ms=_LATENCY_MS)
        environment = {**os.environ, **service.env(EU), **rates(paced=False)}
        for tokens in _TOKENS[:2] if bench.quick else _TOKENS:
            manifests = Path(folder, str(tokens))
            _write(manifests, tokens)
            service.stacks(_stacks(tokens))
            for _ in range(1 if bench.quick else _REPETITIONS):
                for side, (_, program) in _SIDES.items():
                    service.reset()
                    out = Path(folder, "out")
                    spent, _ = timed(program, ["resolve", str(manifests), "-o", str(out), "--strict"], environment)
                    _check(out, tokens)
                    row = found.setdefault((side, tokens), {"calls": set(), "seconds": []})
                    row["calls"].add(sum(service.state().counts.values()))
                    row["seconds"].append(spent)
            say(f"resolving: {tokens} tokens")
    rows = [
        {"side": side, "tokens": tokens, "calls": sorted(row["calls"]), "seconds": median(row["seconds"])}
        for (side, tokens), row in found.items()
    ]
    return {"stacks": _STACKS, "titles": {side: title for side, (title, _) in _SIDES.items()}, "rows": rows}


def _keys(tokens: int) -> list[str]:
    return [f"Output{at}" for at in range(tokens // _STACKS)]


def _value(stack: int, key: str) -> str:
    return f"value-of-{key.lower()}-{stack}"


def _stacks(tokens: int) -> list[dict[str, Any]]:
    return [
        {
            "StackId": f"arn:aws:cloudformation:{EU}:{ACCOUNT}:stack/stack{at}/6e1b0a20-da77-11e4-9c0a-1234567db123",
            "StackName": f"stack{at}",
            "StackStatus": "UPDATE_COMPLETE",
            "Outputs": {key: _value(at, key) for key in _keys(tokens)},
        }
        for at in range(_STACKS)
    ]


def _write(folder: Path, tokens: int) -> None:
    folder.mkdir()
    for at in range(_STACKS):
        lines = "".join(f"  {key}: ${{cfn:stack{at}.{key}}}\n" for key in _keys(tokens))
        (folder / f"{at}.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\ndata:\n{lines}", encoding="utf-8")


def _check(out: Path, tokens: int) -> None:
    for at in range(_STACKS):
        written = (out / f"{at}.yaml").read_text(encoding="utf-8").splitlines()[3:]
        if written != [f"  {key}: {_value(at, key)}" for key in _keys(tokens)]:
            raise RuntimeError(f"manifest {at} of {tokens} tokens is not what it should be")


def render(data: Data) -> list[str]:
    """Calls and times by how many values there are."""
    found = {(row["side"], row["tokens"]): row for row in data["rows"]}
    header = ["Values", "Stacks", *(f"{title}: calls" for title in data["titles"].values())]
    header += [*(f"{title}: time" for title in data["titles"].values()), "ratio of times"]
    rows = []
    for tokens in dict.fromkeys(row["tokens"] for row in data["rows"]):
        each = [found[side, tokens] for side in data["titles"]]
        times = [row["seconds"] for row in each]
        counts = [" or ".join(map(number, row["calls"])) for row in each]
        rows.append([number(tokens), number(data["stacks"]), *counts, *map(seconds, times), ratio(*times)])
    return table(header, rows)


def verdicts(data: Data) -> list[Verdict]:
    """One call for each stack, however many values there are."""
    stacks = data["stacks"]
    most = max(row["tokens"] for row in data["rows"])
    (calls,) = [row["calls"] for row in data["rows"] if row["side"] == "once" and row["tokens"] == most]
    measured = f"{' or '.join(map(number, calls))} calls"
    return [Verdict(f"{number(most)} values of {stacks} stacks in {stacks} calls", calls == [stacks], measured)]
