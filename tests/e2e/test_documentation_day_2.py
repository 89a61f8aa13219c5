"""The pages of day 2: a value is claimed, refused, healed and released; stacks are stuck and get free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.harness import Aws, waiting_resource
from tests.e2e.reader import reading
from tests.e2e.templates import EMPTY, EU, US, export, exporting, importing, stack
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = (
    "docs/day-2/delete.md",
    "docs/day-2/move.md",
    "docs/day-2/refused-change.md",
    "docs/day-2/release-a-claim.md",
    "docs/day-2/repair.md",
    "docs/day-2/replace.md",
    "docs/day-2/rotate-a-secret.md",
    "docs/day-2/see-who-uses-what.md",
    "docs/janitor.md",
)


@pytest.mark.story
def test_each_command_of_these_pages_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        aws = reader.aws
        reader.install()
        # The network of the operations page: a value is claimed, and its stack cannot be deleted.
        aws.deploy("network", exporting({"CertArn": "arn:x"}, consumer="web"), EU, "CREATE_COMPLETE")
        aws.deploy("web", importing("network", "CertArn"), US, "CREATE_COMPLETE")
        reader.run("strongref list --region us-east-1\nstrongref who network --region eu-west-1")
        reader.run("strongref who network --region eu-west-1")
        assert "network" in (reader.checkout / "graph.html").read_text()
        assert "web still uses this" in reader.run("strongref release network CertArn")
        assert "strongref:claim:" in reader.run("aws ssm list-tags-for-resource")
        reader.run("aws ssm get-parameters --names")
        reader.run("strongref list --state outdated --region us-east-1")
        name = f"/strongref/exports/web/{aws.account}/{EU}/network/CertArn"
        aws.client("ssm", US).delete_parameter(Name=name)
        assert "missing" in reader.run("strongref doctor --region us-east-1 --region eu-west-1", fails=True)
        assert "restored" in reader.run("strongref doctor --region us-east-1 --fix --yes", fails=True)
        aws.client("ssm", US).delete_parameter(Name=name)
        assert "CertArn  web       web" in reader.run("strongref republish network --region us-east-1")
        again = importing("network", "CertArn", Revision="2")
        aws.deploy("web", again, US, "UPDATE_COMPLETE")
        reader.run("aws ssm get-parameters-by-path --recursive --path /strongref/fences")
        reader.run("aws ssm get-parameters-by-path --recursive --path /strongref/holds")
        aws.delete("network", EU, "DELETE_FAILED")
        reader.run("aws cloudformation delete-stack --stack-name network --retain-resources Exports")
        aws.wait("network", EU, "DELETE_COMPLETE")
        reader.run("sam remote invoke Janitor")
        (found,) = aws.logged(US, "Found, and needs a decision")
        assert "imported-orphan" in found
        assert aws.values(US, "/strongref/exports/web")

        # A successor adopts what was retained; then an update that cannot be rolled back, twice.
        for beginning, released in (
            ("aws cloudformation continue-update-rollback --stack-name network --region", True),
            ("aws cloudformation continue-update-rollback --stack-name network --resources-to-skip", False),
        ):
            _stick(aws)
            if released:
                aws.deploy("web", EMPTY, US, "UPDATE_COMPLETE")
            reader.run(beginning)
            aws.wait("network", EU, "UPDATE_ROLLBACK_COMPLETE")
            assert ("old" in aws.values(US, "/strongref/exports/web").values()) == released


def _stick(aws: Aws) -> None:
    """Get the network into UPDATE_ROLLBACK_FAILED: a value that its update changes is claimed before that fails."""
    values = {"CertArn": "arn:x", "New": "old"}
    if aws.status("web", US):
        aws.deploy("web", EMPTY, US)
    aws.deploy("network", exporting(values, consumer="web", Revision="1"), EU)
    changed = export({**values, "New": "new"}, consumer="web", Revision="1")
    aws.begin("network", stack({"Exports": changed, "Later": waiting_resource("Exports")}), EU)
    wait_until(lambda: "new" in aws.values(US, "/strongref/exports/web").values(), "the new value")
    aws.deploy(
        "web", importing("network", "New"), US, "UPDATE_COMPLETE" if aws.status("web", US) else "CREATE_COMPLETE"
    )
    aws.fail("network", "Later", EU)
    aws.wait("network", EU, "UPDATE_ROLLBACK_FAILED")
