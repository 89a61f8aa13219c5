"""The upgrade: exports and imports of an older version stay exactly as they are under this one, and go on working."""

from __future__ import annotations

import io
import json
import subprocess
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest

from strongref.contract.index import INDEX, index_name
from tests.e2e.harness import Aws, waiting_resource
from tests.e2e.templates import EMPTY, EU, US, export, exporting, imported, stack
from tests.support.documents import ROOT
from tests.support.emulator import sam
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Template = dict[str, Any]

OLD = "a78dfd0"
"""The last version before the package was reorganized."""

PARTS = ("template.yaml", "samconfig.toml", "handlers", "layers")
TOKENS = "/strongref/service-tokens/"
PLAIN = {"A": "a1", "List": ["x", "y"], "Map": {"Key": "m1"}}
SECURE = {"Password": "hunter2", "User": "admin"}


def old_version(folder: Path) -> Path:
    """The application's sources as they were."""
    command = ["git", "-C", str(ROOT), "archive", "--format=zip", OLD, *PARTS]
    archived = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if archived.returncode:
        why = archived.stderr.decode(errors="replace").strip()
        pytest.fail(f"This test needs commit {OLD}. Get the whole history with `git fetch --unshallow`. ({why})")
    with ZipFile(io.BytesIO(archived.stdout)) as archive:
        archive.extractall(folder / "sources")
    return folder / "sources"


def stored(aws: Aws) -> dict[tuple[str, str], tuple[dict[str, Any], dict[str, str]]]:
    """Every parameter of strongref in both regions, by region and name: all that SSM knows of it, and its tags."""
    return {
        (region, name): (parameter, aws.tags(region, name))
        for region in (EU, US)
        for name, parameter in aws.parameters(region, "/strongref/").items()
    }


def without_index(found: Mapping[tuple[str, str], object]) -> dict[tuple[str, str], object]:
    return {each: there for each, there in found.items() if not each[1].startswith(INDEX)}


def left(aws: Aws) -> set[str]:
    """The names of what is stored, in addition to what belongs to the application itself."""
    return {name for _, name in stored(aws) if not name.startswith(TOKENS)}


def taking(producer: str, *names: str, **more: Any) -> Template:
    """A stack with one Import."""
    return stack({"Imports": imported(producer, *names, **more)})


def live(*, other: bool = False) -> list[tuple[str, str, Template]]:
    """Stacks, producers first: name, region and template.

    Args:
        other: with other properties that change nothing that is stored, so that the update is an event.
    """
    policy = {"OnChange": "propagate"} if other else {}
    more = {"Revision": "2"} if other else {}
    return [
        ("plain", EU, exporting(PLAIN, consumer="web", **policy)),
        ("secure", EU, exporting(SECURE, consumer="web", SecureKeys=["Password"], **policy)),
        ("shared", EU, exporting({"Zone": "z1"}, **policy)),
        ("spread", EU, exporting({"Everywhere": "e1"}, consumer="web", region=[EU, US], **policy)),
        ("web", US, taking("plain", "A", "List", "Map.Key", **more)),
        ("vault", US, taking("secure", "Password", "User", Consumer="web", **more)),
        ("zones", US, taking("shared", "Zone", Shared=True, **more)),
        ("here", EU, taking("spread", "Everywhere", Consumer="web", **more)),
    ]


def install_old_version(aws: Aws, folder: Path) -> Path:
    """Install the old version; its built template, with which it can be installed again."""
    sources = old_version(folder)
    folder = folder / "old"
    folder.mkdir()
    built = sam.build(folder, sources)
    deploy_old_version(aws, built)
    return built


def deploy_old_version(aws: Aws, built: Path) -> None:
    overrides = {name: value for name, value in sam.QUICK.items() if name != "ReadLag"}  # it had none
    sam.deploy_everywhere(aws.emulator, built, overrides=overrides, account=aws.account)


def begin_an_update(aws: Aws) -> None:
    """Bring a stack into an update that has changed its export, and that has not ended."""
    aws.deploy("halfway", exporting({"H": "before"}, consumer="site"), EU, "CREATE_COMPLETE")
    changed = {"Exports": export({"H": "after", "New": "n"}, consumer="site"), "Later": waiting_resource("Exports")}
    aws.begin("halfway", stack(changed), EU)
    wait_until(lambda: "after" in aws.values(US, "/strongref/exports/site/").values(), "the changed export")
    wait_until(lambda: aws.statuses("halfway", "Later", EU), "the resource that waits")


def test_an_upgrade_changes_nothing_that_is_stored_and_everything_goes_on_working(
    upgraded: Aws, built: Path, tmp_path: Path
) -> None:
    aws = upgraded
    install_old_version(aws, tmp_path)
    for name, region, template in live():
        aws.deploy(name, template, region, "CREATE_COMPLETE")
    begin_an_update(aws)
    older = {"stack": aws.stack_arn("plain", EU), "places": {aws.account: {"web": [US]}}}  # as version 0.2.0 wrote it
    aws.put_foreign(EU, index_name("plain", "Exports"), value=json.dumps(older))
    before = stored(aws)

    sam.deploy_everywhere(aws.emulator, built / "template.yaml", account=aws.account)
    assert aws.status(sam.APPLICATION, EU) == aws.status(sam.APPLICATION, US) == "UPDATE_COMPLETE"
    assert stored(aws) == before

    for name, region, template in (*live(other=True), *live()):
        aws.deploy(name, template, region, "UPDATE_COMPLETE")
        assert stored(aws) == before, name

    refusals = [
        exporting({**PLAIN, "A": "a2"}, consumer="web"),
        exporting({"A": "a1"}, consumer="web"),
        exporting({**PLAIN, "Map": {"Key": ["m1"]}}, consumer="web"),
    ]
    for template in refusals:
        aws.deploy("plain", template, EU, "UPDATE_ROLLBACK_COMPLETE")
        assert "imported by stack web" in " ".join(aws.reasons("plain", EU))
        now = stored(aws)
        assert without_index(now) == without_index(before)
    assert (EU, f"{index_name('plain', 'Exports')}/{aws.account}/{US}/web") in now

    roll_back(aws)
    release(aws)


def roll_back(aws: Aws) -> None:
    """An update that began under the old version is rolled back by this one."""
    aws.fail("halfway", "Later", EU)
    aws.wait("halfway", EU, "UPDATE_ROLLBACK_COMPLETE")
    assert list(aws.values(US, "/strongref/exports/site/").values()) == ["before"]


def release(aws: Aws) -> None:
    """What is released can be changed, and what is deleted leaves nothing behind."""
    aws.deploy("web", EMPTY, US, "UPDATE_COMPLETE")
    aws.deploy("plain", exporting({**PLAIN, "A": "a2"}, consumer="web"), EU, "UPDATE_COMPLETE")
    assert "a2" in aws.values(US, "/strongref/exports/web/").values()
    aws.delete("shared", EU, "DELETE_FAILED")
    for name, region in (("vault", US), ("zones", US), ("here", EU), ("web", US)):
        aws.delete(name, region)
    for name in ("plain", "secure", "shared", "spread", "halfway"):
        aws.delete(name, EU)
    assert left(aws) == set()
