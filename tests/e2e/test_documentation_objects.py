"""The page of objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator.control import Emulator


PAGES = ("docs/extras/objects.md",)

pytestmark = pytest.mark.story


def test_each_command_of_the_page_does_what_it_says(emulator: Emulator, tmp_path: Path) -> None:
    with reading(emulator, PAGES, tmp_path) as reader:
        reader.install()
        _objects(reader)


def _objects(reader: Reader) -> None:
    """The objects' page: a bucket of one app, which another app's role may read, and which stays for as long."""
    aws = reader.aws
    reader.run("python examples/objects/photos.py")
    bucket = aws.physical_ids("photos", EU)["Photos"]
    iam, role = aws.client("iam", EU), aws.physical_ids("gallery", EU)["Role"]
    policy = iam.get_role_policy(RoleName=role, PolicyName="photos")["PolicyDocument"]
    assert policy["Statement"][0]["Resource"] == f"arn:aws:s3:::{bucket}/*"
    kept = json.loads((reader.checkout / "strongref.context.json").read_text())
    found = sorted(filter(None, kept.values()))  # A setting that the bucket does not have is kept as empty.
    assert found == [f"arn:aws:s3:::{bucket}", bucket][: len(found)]
    assert found
    variables = reader.run("strongref objects list").splitlines()
    assert f"export PHOTOS_BUCKET_NAME={bucket}" in variables
    shown = reader.run("strongref objects context").splitlines()
    assert len(shown) == 2 * (len(kept) + 2)  # Listed, then forgotten; with a head and a note.
    assert shown[-1] == f"{len(kept)} values removed from strongref.context.json."
    assert json.loads((reader.checkout / "strongref.context.json").read_text()) == {}
    aws.delete("photos", EU, "CREATE_COMPLETE")
    assert "in use by gallery" in "".join(aws.reasons("photos", EU))
    aws.delete("gallery", EU)
    aws.delete("photos", EU)
