"""Takes a guard out of a copy of the project, and shows that the tests which rest on it fail.

A test that passes with and without what it tests proves nothing. Run by `make guards`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
LEFT_BEHIND = (".git", ".build", ".aws-sam", ".hypothesis", "__pycache__", ".*_cache")

SMALLEST = "every_order and (change or drop) and not imports and not exporters and not crash"
"""The protocol's smallest cases: a change or a drop meets one import."""

EVERY_FAULT = "test_whatever_goes_wrong_nothing_claimed_is_lost_and_the_next_event_makes_it_right"


@dataclass(frozen=True)
class Guard:
    """A piece of code that protects, and the tests that must fail without it.

    Attributes:
        name: what is taken out.
        file: where it stands.
        code: the code, which stands there once.
        instead: what stands there without it.
        tests: pytest's selection.
        must_fail: the beginnings of the names of tests, each of which has to be among those run, and to fail.
    """

    name: str
    file: str
    code: str
    instead: str
    tests: tuple[str, ...]
    must_fail: tuple[str, ...]


GUARDS = (
    Guard(
        name="the refusal to change or drop what is claimed",
        file="layers/core/strongref/protocol/plan.py",
        code="    if in_use:\n        raise ExportsInUseError(in_use)\n",
        instead="",
        tests=(
            "tests/e2e/test_refusals.py",
            "tests/e2e/test_importing.py",
            "tests/protocol/test_interleavings.py",
            "-k",
            f"test_02 or test_03 or test_05 or test_07 or ({SMALLEST})",
        ),
        must_fail=(
            "test_02_a_claimed_value_is_not_changed",
            "test_03_a_claimed_value_is_not_dropped[dropped]",
            "test_03_a_claimed_value_is_not_dropped[moved to another region]",
            "test_03_a_claimed_value_is_not_dropped[moved to another consumer]",
            "test_03_a_claimed_producer_is_not_deleted",
            "test_05_of_a_change_that_is_refused_in_part_nothing_is_applied",
            "test_07_an_update_that_fails_later_keeps_the_old_claim_all_along",
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: change x import]",
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: drop x import]",
        ),
    ),
    Guard(
        name="the fence that an exporter puts up before it looks at the claims",
        file="layers/core/strongref/protocol/fences.py",
        code="        self.ports.stores(self.region, clock).overwrite(self.name, Kind.STRING, fence.encode())\n",
        instead="        _ = Kind, fence, clock\n",
        tests=(
            "tests/protocol/test_interleavings.py",
            "-k",
            SMALLEST,
        ),
        must_fail=(
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: change x import]",
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: drop x import]",
        ),
    ),
    Guard(
        name="the record that is left open until the tags are right",
        file="layers/core/strongref/protocol/apply.py",
        code="            record = replace(plan.record or Record(self.me.stack, {}), open=True)\n",
        instead="            _, record = replace, plan.record\n",
        tests=(
            "tests/protocol/test_faults.py",
            "-k",
            "killed and (another or dead or renamed)",
        ),
        must_fail=(f"{EVERY_FAULT}[export: create where a dead stack",),
    ),
    Guard(
        name="the chance that parts callers which were throttled together",
        file="layers/core/strongref/aws/retry_and_rate_limit.py",
        code="1 - _SOONEST - chance * (_LATEST - _SOONEST)",
        instead="1 - _SOONEST - 0 * chance * (_LATEST - _SOONEST)",
        tests=("tests/aws/test_under_quota.py", "-k", "together"),
        must_fail=("test_who_was_throttled_together_does_not_come_back_together",),
    ),
    Guard(
        name="the end that a fence puts to a run over a set of manifests",
        file="src/strongref_manifests/manifest_set.py",
        code="self.ports.stores(region, Sooner(clock, posts[0].clock))",
        instead="self.ports.stores(region, clock if Sooner else posts[0].clock)",
        tests=("tests/manifests/test_manifest_set.py",),
        must_fail=("test_a_run_that_slept_past_its_fence_takes_nothing_from_the_one_that_came_meanwhile",),
    ),
    Guard(
        name="the comparison of a physical id with the whole name in an ARN",
        file="layers/core/strongref/lookup/matching.py",
        code="(arn and physical_id == arn.name)",
        instead="(arn and arn.name.endswith(physical_id))",
        tests=("tests/lookup/test_properties.py", "-k", "own_the_physical_id"),
        must_fail=("test_an_answer_is_the_one_resource_whose_own_the_physical_id_is_or_none_at_all",),
    ),
    Guard(
        name="the refusal to give out what has something sensitive in it",
        file="src/strongref_manifests/terraform/values.py",
        code="        _check_parts(held, reference, path)\n",
        instead="",
        tests=("tests/manifests/test_terraform.py", "-k", "sensitive"),
        must_fail=("test_what_is_sensitive_is_refused_unless_it_is_asked_for[aws_lambda_function.api.environment-",),
    ),
    Guard(
        name="the hold of what is read while a template is made",
        file="src/strongref_objects/at_synthesis.py",
        code="        if path[0] in self._strong:\n            self._hold(path, value)\n",
        instead="",
        tests=("tests/objects/test_design.py", "tests/objects/test_importing.py", "-k", "held or hold"),
        must_fail=(
            "test_req8_at_synthesis_the_program_gets_values_and_the_template_holds_them",
            "test_what_is_imported_at_synthesis_is_held_by_one_resource",
        ),
    ),
    Guard(
        name="the look at what a stack exports already under a name",
        file="src/strongref_objects/exported.py",
        code="        raise ExportedTwiceError(name, [shown(path) for path in keys if len(path) > 1])\n",
        instead="        return not keys\n",
        tests=("tests/objects/test_design.py", "tests/objects/test_exporting.py", "-k", "req5"),
        must_fail=(
            "test_req5_two_different_things_under_one_name_are_an_error_that_writes_nothing",
            "test_req5_a_name_stands_for_one_thing_in_every_channel",
        ),
    ),
)


def outcomes(report: Path) -> dict[str, bool]:
    """Of each test that ran, whether it failed; by name."""
    found = {}
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 (pytest wrote it just now)
        found[case.get("name", "")] = case.find("failure") is not None
    return found


def without(guard: Guard, folder: Path) -> dict[str, bool]:
    """Run a guard's tests in a copy that lacks it."""
    copy = folder / "project"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    source = copy / guard.file
    text = source.read_text()
    if text.count(guard.code) != 1:
        sys.exit(f"{guard.name}: its code stands {text.count(guard.code)} times in {guard.file}, not once")
    source.write_text(text.replace(guard.code, guard.instead))
    report = folder / "report.xml"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{copy / 'layers/core'}{os.pathsep}{copy}",
        "STRONGREF_EMULATOR_PYTHON": _tool("STRONGREF_EMULATOR_PYTHON", ".build/venv-emulator/bin/python"),
        "STRONGREF_SAM": _tool("STRONGREF_SAM", ".build/venv-sam/bin/sam"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--tb=no", f"--junitxml={report}", *guard.tests]
    nowhere = subprocess.DEVNULL
    subprocess.run(command, cwd=copy, env=environment, stdout=nowhere, stderr=nowhere, check=False)  # noqa: S603
    return outcomes(report)


def _tool(variable: str, installed: str) -> str:
    return os.environ.get(variable) or str(ROOT / installed)


def main() -> int:
    """Take out one guard after the other; 1 if a test does not miss it."""
    missed = 0
    for guard in GUARDS:
        sys.stdout.write(f"without {guard.name}:\n")
        with tempfile.TemporaryDirectory(prefix="strongref-guards-") as folder:
            found = without(guard, Path(folder))
        for beginning in guard.must_fail:
            ran = [failed for name, failed in found.items() if name.startswith(beginning)]
            fails = bool(ran) and all(ran)
            missed += not fails
            sys.stdout.write(
                f"  {'fails, as it should' if fails else 'PASSES' if ran else 'DID NOT RUN'}: {beginning}\n"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
