"""The upgrade from version 0.2.0 and the way back: what is stored stays, operations go on, and everything works on."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import strongref
import strongref_cli as cli
from strongref.contract.index import INDEX, index_name
from strongref.contract.names import ExportScope, Producer
from tests.e2e.harness import Aws, waiting_resource
from tests.e2e.templates import EMPTY, EU, US, export, exporting, held, imported, stack
from tests.support.emulator import sam
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from tests.support.emulator.control import Emulator

    Template = dict[str, Any]

TOKENS = "/strongref/service-tokens/"
CREATED, UPDATED, ROLLED_BACK = "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"
BOTH = ("--region", EU, "--region", US)

SITES_RECORDS = "/strongref/records/site/"

HEALTHY = [("vault", "unprotected")]
"""What doctor finds if all is well: the Export of the secret has no `Hold`."""

PLAIN = {"A": "a1", "List": ["x", "y"], "Map": {"Key": "m1"}}
SECURE = {"Password": "hunter2", "User": "admin"}
FRESH = {"F": "f1", "Secret": "s1", **{f"Long{number}": "x" * 300 for number in range(20)}}
"""More than one parameter of a record can have, and a secret."""


def stored(aws: Aws) -> dict[tuple[str, str], tuple[dict[str, Any], dict[str, str]]]:
    """Every parameter of strongref in both regions, by region and name: all that SSM knows of it, and its tags.

    Those of the holds are resources of their stacks.
    """
    return {
        (region, name): (parameter, aws.tags(region, name))
        for region in (EU, US)
        for name, parameter in aws.parameters(region, "/strongref/").items()
    }


def without_index(found: Mapping[tuple[str, str], object]) -> dict[tuple[str, str], object]:
    return {each: there for each, there in found.items() if not each[1].startswith(INDEX)}


def taking(producer: str, *names: str, consumer: str = "web", **more: Any) -> Template:
    """A stack with one Import."""
    return stack(
        {"Imports": imported(producer, *names, **({} if "Shared" in more else {"Consumer": consumer}), **more)}
    )


def plain(values: Mapping[str, Any] = PLAIN, **more: Any) -> Template:
    return held({"Exports": export(dict(values), consumer="web", **more)})


def secure(**changes: str) -> Template:
    return exporting({**SECURE, **changes}, consumer="web", SecureKeys=["Password"])


def shared(zone: str = "z1", **more: Any) -> Template:
    return held({"Exports": export({"Zone": zone}, **more)})


def spread(value: str = "e1") -> Template:
    return held({"Exports": export({"Everywhere": value}, consumer="web", region=[EU, US])})


def fresh(**changes: Any) -> Template:
    """An Export of more than one parameter to two regions."""
    return exporting({**FRESH, **changes}, consumer="shop", region=[EU, US], SecureKeys=["Secret"])


def create_all(aws: Aws) -> None:
    """Export and import in every way."""
    for name, template in (("plain", plain()), ("secure", secure()), ("shared", shared()), ("spread", spread())):
        aws.deploy(name, template, EU, CREATED)
    aws.deploy("web", taking("plain", "A", "List", "Map.Key"), US, CREATED)
    aws.deploy("vault", taking("secure", "Password", "User"), US, CREATED)
    aws.deploy("zones", taking("shared", "Zone", Shared=True), US, CREATED)
    aws.deploy("here", taking("spread", "Everywhere"), EU, CREATED)


def refused(aws: Aws) -> None:
    """What is imported is neither changed nor dropped, and its hold refuses the deletion of its producer."""
    refusals = {
        "plain": (plain({"A": "a2", "Map": {"Key": ["m1"]}}), "web"),
        "secure": (secure(Password="hunter3"), "vault"),
        "shared": (shared("z2"), "zones"),
        "spread": (spread("e2"), "here"),
    }
    for name, (template, importer) in refusals.items():
        aws.deploy(name, template, EU, ROLLED_BACK)
        assert f"imported by stack {importer} (" in " ".join(aws.reasons(name, EU)), name
    assert "Delete canceled. Cannot delete export shared-Exports" in not_deleted(aws, "shared")


def not_deleted(aws: Aws, name: str, expect: str = ROLLED_BACK) -> str:
    """Why a stack in eu-west-1 cannot be deleted."""
    aws.delete(name, EU, expect)
    return " ".join(aws.reasons(name, EU))


def begin_updates(aws: Aws) -> None:
    """Bring stacks into updates that do not end: one has changed its Export, one has another Import and its old one.

    The record of the one is open, as a function leaves it that dies while it changes tags.
    """
    aws.deploy("halfway", exporting({"H": "before"}, consumer="site"), EU, CREATED)
    aws.deploy("moving", taking("plain", "A"), US, CREATED)
    changed = {"Exports": export({"H": "after", "New": "n"}, consumer="site"), "Later": waiting_resource("Exports")}
    aws.begin("halfway", stack(changed), EU)
    other = imported("plain", "List", Consumer="web")
    aws.begin("moving", stack({"Imports": other, "Later": waiting_resource("Imports")}), US)
    for name, region in (("halfway", EU), ("moving", US)):
        wait_until(lambda name=name, region=region: aws.statuses(name, "Later", region), f"the update of {name}")  # type: ignore[misc]
    assert "after" in aws.values(US, "/strongref/exports/site/").values()
    ((name, text),) = aws.values(US, SITES_RECORDS).items()
    text = json.dumps({**json.loads(text), "open": True})
    aws.client("ssm", US).put_parameter(Name=name, Value=text, Type="String", Overwrite=True)


def end_updates(aws: Aws, moving: str) -> None:
    """The one is rolled back; the other ends as is said, and keeps one Import and its hold."""
    aws.fail("halfway", "Later", EU)
    aws.signal("moving", "Later", US, moving)
    aws.wait("halfway", EU, ROLLED_BACK)
    aws.wait("moving", US, UPDATED if moving == "SUCCESS" else ROLLED_BACK)
    assert list(aws.values(US, "/strongref/exports/site/").values()) == ["before"]
    assert ["open" in json.loads(text) for text in aws.values(US, SITES_RECORDS).values()] == [False]
    path = ExportScope("web", Producer(aws.account, EU, "plain")).path("exports")
    claimed = [key for key in ("A", "List") if aws.stack_arn("moving", US) in aws.tags(US, f"{path}/{key}").values()]
    assert claimed == ["List" if moving == "SUCCESS" else "A"]
    assert len(aws.parameters(EU, f"/strongref/holds/plain-Exports/{aws.account}/{US}/moving")) == 1


def tend(aws: Aws) -> None:
    """Have the janitors of both regions go through everything."""
    for region in (US, EU):
        invoked = aws.invoke("Janitor", {"detail-type": "Scheduled Event"}, region)
        assert not invoked.failed, invoked.result


def run(aws: Aws, capsys: pytest.CaptureFixture[str], *arguments: str | Path, expect: int = 0) -> str:
    """What a command of this version prints, whichever version the functions have."""
    with patch.dict(os.environ, aws.emulator.env(aws.account, US)):
        status = cli.main([str(each) for each in arguments])
    shown = capsys.readouterr()
    assert status == expect, shown
    return shown.out


def findings(aws: Aws, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """What doctor finds: the importer, and the finding."""
    found = json.loads(run(aws, capsys, "doctor", *BOTH, "--output", "json"))["findings"]
    return [(each["stacks"][0]["name"], each["kind"]) for each in found]


def delete_all(aws: Aws) -> None:
    """What is released can be changed, and what is deleted leaves nothing behind."""
    aws.deploy("zones", EMPTY, US, UPDATED)
    aws.deploy("shared", shared("z2"), EU, UPDATED)
    assert "imported by stack vault (" in not_deleted(aws, "secure", "DELETE_FAILED")
    for name, region in (("web", US), ("vault", US), ("zones", US), ("moving", US), ("here", EU)):
        aws.delete(name, region)
    for name in ("plain", "secure", "shared", "spread", "halfway"):
        aws.delete(name, EU)
    left = [name for _, name in stored(aws) if not name.startswith(TOKENS)]
    listed = aws.client("cloudformation", EU).get_paginator("list_stacks").paginate()
    there = [each for page in listed for each in page["StackSummaries"] if each["StackStatus"] != "DELETE_COMPLETE"]
    assert (left, [each["StackName"] for each in there]) == ([], [sam.APPLICATION])


def test_an_upgrade_changes_nothing_that_is_stored_and_everything_works_on(
    emulator: Emulator, older: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aws = Aws(emulator, "252525252525")
    sam.copy_application(emulator, aws.account, of=older)
    create_all(aws)
    # The command is the first to be upgraded.
    manifest, claim = tmp_path / "service.yaml", ("resolve", "--claim", "shop", "--consumer", "web", "--hold")
    manifest.write_text(f"kind: Service\nspec: {{key: '${{export:plain.Map.Key@{EU}}}'}}\n")
    run(aws, capsys, *claim, manifest, "-o", tmp_path / "out")
    status = json.loads(run(aws, capsys, "status", *BOTH, "--output", "json"))
    assert [each["version"] for each in status["regions"]] == ["0.2.0", "0.2.0"]
    assert findings(aws, capsys) == HEALTHY
    template = tmp_path / "template.json"
    template.write_text(json.dumps(plain({**PLAIN, "A": "a2"})))
    predicted = run(aws, capsys, "check", "--template", template, "--stack", "plain", "--region", EU, expect=1)
    assert "A cannot be changed: it is imported by stack web (" in " ".join(predicted.split())
    begin_updates(aws)
    before = stored(aws)

    sam.copy_application(emulator, aws.account, regions=[EU])
    tend(aws)
    assert stored(aws) == before
    refused(aws)
    tend(aws)
    assert without_index(stored(aws)) == without_index(before)
    aws.deploy("late", taking("plain", "A"), US, CREATED)
    aws.delete("late", US)

    sam.copy_application(emulator, aws.account, regions=[US])
    assert aws.outputs(sam.APPLICATION, EU)["Version"] == strongref.__version__
    assert findings(aws, capsys) == HEALTHY
    tend(aws)
    assert without_index(stored(aws)) == without_index(before)
    assert (EU, f"{index_name('plain', 'Exports')}/{aws.account}/{US}/web") in stored(aws)
    # With other properties that change nothing that is stored, each update is an event.
    aws.deploy("plain", plain(OnChange="propagate"), EU, UPDATED)
    aws.deploy("shared", shared(OnChange="propagate"), EU, UPDATED)
    aws.deploy("web", taking("plain", "A", "List", "Map.Key", Revision="2"), US, UPDATED)
    aws.deploy("vault", taking("secure", "Password", "User", Revision="2"), US, UPDATED)
    aws.deploy("here", taking("spread", "Everywhere", Revision="2"), EU, UPDATED)
    assert without_index(stored(aws)) == without_index(before)
    refused(aws)

    end_updates(aws, "SUCCESS")
    aws.delete("web", US)
    aws.deploy("plain", plain({**PLAIN, "Map": {"Key": "m2"}}), EU, ROLLED_BACK)
    assert "imported by manifests shop (" in " ".join(aws.reasons("plain", EU))
    run(aws, capsys, "resolve", "--unclaim", "shop")
    aws.deploy("web", taking("plain", "A"), US, CREATED)
    delete_all(aws)


def test_the_way_back_and_the_upgrade_again(emulator: Emulator, older: str) -> None:
    aws = Aws(emulator, "242424242424")
    sam.copy_application(emulator, aws.account)
    create_all(aws)
    aws.deploy("fresh", fresh(), EU, CREATED)
    aws.deploy("shop", taking("fresh", "F", "Secret", consumer="shop"), US, CREATED)
    refused(aws)
    begin_updates(aws)
    before = stored(aws)

    sam.copy_application(emulator, aws.account, of=older)
    assert aws.outputs(sam.APPLICATION, EU)["Version"] == "0.2.0"
    assert stored(aws) == before
    tend(aws)
    assert without_index(stored(aws)) == without_index(before)
    end_updates(aws, "FAILURE")
    refused(aws)
    # It changes, imports and releases what this version wrote.
    aws.deploy("fresh", fresh(New="n1", Long1="shorter"), EU, UPDATED)
    aws.deploy("shop", taking("fresh", "F", "Secret", "New", consumer="shop"), US, UPDATED)
    aws.deploy("kiosk", taking("fresh", "F", consumer="shop"), US, CREATED)
    aws.deploy("shop", EMPTY, US, UPDATED)
    aws.deploy("fresh", fresh(New="n2", Secret="s2"), EU, UPDATED)
    aws.deploy("fresh", fresh(F="f2"), EU, ROLLED_BACK)
    aws.deploy("shop", taking("fresh", "F", "New", consumer="shop"), US, UPDATED)
    aws.delete("halfway", EU)

    sam.copy_application(emulator, aws.account)
    tend(aws)  # It did not know the index of what it has deleted.
    refused(aws)
    for name, region in (("shop", US), ("kiosk", US), ("fresh", EU)):
        aws.delete(name, region)
    delete_all(aws)
