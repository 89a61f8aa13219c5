"""The list of beliefs about AWS: it is complete, and what it names exists."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest

from strongref_cli.selftest import command
from strongref_cli.selftest.behavior import ABROAD, CHECKS
from strongref_cli.selftest.beliefs import BELIEFS, Belief, Seen
from strongref_cli.selftest.command import Tried, believed
from strongref_cli.selftest.lab import Lab
from strongref_cli.selftest.probes import PROBES, Probe
from strongref_cli.selftest.scene import Scene
from tests.support.documents import ROOT
from tools import beliefs

if TYPE_CHECKING:
    from strongref_toolkit.session import ToolSession

EMULATOR = ROOT / "tests/support/emulator"
CORRECT_NOTHING = {"calls": "counts calls", "layers": "makes large archives faster"}
NAMES = {each.name for each in BELIEFS}
LOOKS = {*(each.name for each in (*CHECKS, *ABROAD)), *(each.name for each in PROBES)}


def corrections() -> dict[str, list[str]]:
    """The beliefs that each module of the emulator names which corrects it; they are read, as it needs the emulator."""
    found = {}
    for path in EMULATOR.glob("*.py"):
        tree = ast.parse(path.read_text())
        if any(isinstance(each, ast.FunctionDef) and each.name == "install" for each in tree.body):
            named = [each.value for each in tree.body if ast.unparse(each).startswith("BELIEFS = ")]  # type: ignore[attr-defined]
            found[path.stem] = list(ast.literal_eval(named[0])) if named else []
    return found


def test_every_correction_of_the_emulator_is_a_belief() -> None:
    found = corrections()
    assert {name for name, named in found.items() if not named} == set(CORRECT_NOTHING)
    assert {each for named in found.values() for each in named} <= NAMES


@pytest.mark.parametrize("belief", BELIEFS, ids=[each.name for each in BELIEFS])
def test_what_a_belief_names_exists(belief: Belief) -> None:
    assert (ROOT / "layers/core/strongref" / belief.where).is_file() or (ROOT / belief.where).is_file()
    assert belief.shown_by in {*LOOKS, ""}


def test_names_are_used_once_and_every_probe_looks_at_a_belief() -> None:
    assert {name for name, times in Counter(each.name for each in BELIEFS).items() if times > 1} == set()
    assert len(LOOKS) == len(CHECKS) + len(ABROAD) + len(PROBES)
    assert {each.name for each in PROBES} <= {each.shown_by for each in BELIEFS}


def test_the_page_has_the_list() -> None:
    assert beliefs.PAGE.read_text() == beliefs.written(), "run make texts"


def test_an_answer_of_another_form_fails_its_probe_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("delete_consumer", "delete_producer"):
        monkeypatch.setattr(Scene, each, lambda _: None)

    def run(_: Scene) -> dict[str, Seen]:
        raise KeyError("Parameters")

    lab = Lab(cast("ToolSession", None), "strongref-selftest-0a1b2c3d", ("eu-west-1", "us-east-1"), "111111111111")
    tried = command._try(Probe("reads", "", run), lab)
    assert (tried.passed, tried.seen) == (None, "An answer of AWS was not as expected: KeyError('Parameters')")
    assert {seen.holds for seen in believed([tried]).values()} == {None}


def test_a_belief_holds_as_far_as_its_check_or_probe_says() -> None:
    check = next(each for each in CHECKS if each.name == "hold")
    probe = next(each for each in PROBES if each.name == "reads")
    seen = {each.name: Seen(each.name != "recreation", each.name) for each in BELIEFS if each.shown_by == "reads"}
    found = believed([Tried(check, True, "held", 1.0, {}), Tried(probe, True, "", 1.0, seen)])
    assert {belief.name: each for belief, each in found.items() if belief.shown_by == "reads"} == seen
    assert {each for belief, each in found.items() if belief.shown_by == "hold"} == {Seen(True, "as in hold")}
    failed = believed([Tried(probe, False, "AccessDenied", 1.0, {})])
    assert set(failed.values()) == {Seen(False, "AccessDenied")}
    assert {belief.shown_by for belief in failed} == {"reads"}
