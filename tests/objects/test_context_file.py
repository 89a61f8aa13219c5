"""The file that keeps what was looked up: found again, never half-written, and nobody's entries lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strongref_objects.base.errors import ContextFileError
from strongref_objects.synthesis import context_file
from strongref_objects.synthesis.context_file import ContextFile, ContextKey, listing, reset

ACCOUNT = "111111111111"
ARN = ContextKey("cloudformation", ACCOUNT, "eu-west-1", "", "JohnnyBucket-BucketArn")
NAME = ContextKey("cloudformation", ACCOUNT, "eu-west-1", "", "JohnnyBucket-BucketName")
OTHER = ContextKey("cloudformation", ACCOUNT, "us-east-1", "", "Johnny")
ACROSS = ContextKey("strongref", ACCOUNT, "us-east-1", f"web/{ACCOUNT}/eu-west-1/network", "Alb/SecurityGroup/Id")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "strongref.context.json"


def filled(path: Path, *keys: ContextKey) -> ContextFile:
    file = ContextFile(path)
    for key in keys:
        file.put(key, f"value of {key.name}")
    return file


def test_what_was_put_is_found_again_by_another_run_in_a_file_that_people_can_read(path: Path) -> None:
    filled(path, ACROSS, ARN)
    assert ContextFile(path).get(ARN) == "value of JohnnyBucket-BucketArn"
    assert ContextFile(path).get(NAME) is None
    assert path.read_text() == (
        "{\n"
        f'  "strongref:cloudformation:account={ACCOUNT}:region=eu-west-1:of=:name=JohnnyBucket-BucketArn": '
        '"value of JohnnyBucket-BucketArn",\n'
        f'  "strongref:strongref:account={ACCOUNT}:region=us-east-1:of=web/{ACCOUNT}/eu-west-1/network:'
        'name=Alb/SecurityGroup/Id": "value of Alb/SecurityGroup/Id"\n'
        "}\n"
    )


@pytest.mark.parametrize("key", [ARN, OTHER, ACROSS, ContextKey("lookup", ACCOUNT, "eu-west-1", "Vpc", "a=b:c\nd")])
def test_a_key_is_reported_from_its_text(key: ContextKey) -> None:
    assert ContextKey.parse(str(key)) == key


def test_account_region_channel_and_name_each_make_another_key(path: Path) -> None:
    file = filled(path, ARN)
    for key in (
        ContextKey("ssm", ACCOUNT, "eu-west-1", "", ARN.name),
        ContextKey("cloudformation", "222222222222", "eu-west-1", "", ARN.name),
        ContextKey("cloudformation", ACCOUNT, "us-east-1", "", ARN.name),
        NAME,
    ):
        assert file.get(key) is None


def test_a_file_is_not_touched_where_nothing_changes(path: Path) -> None:
    filled(path, ARN)
    before = path.stat()
    filled(path, ARN)
    assert reset(path, ["Unknown"]) == []
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_other_tools_entries_stay_and_are_not_listed(path: Path) -> None:
    path.write_text('{"availability-zones:account=1": ["a"], "strongref:odd": 1}')
    filled(path, ARN)
    assert list(listing(path)) == [ARN]
    reset(path)
    assert json.loads(path.read_text()) == {"availability-zones:account=1": ["a"], "strongref:odd": 1}


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        (["JohnnyBucket"], [ARN, NAME]),
        (["Johnny-Bucket"], [ARN, NAME]),
        (["JohnnyBucket-BucketArn"], [ARN]),
        (["Johnny"], [OTHER]),
        (["Alb"], [ACROSS]),
        (["Alb/SecurityGroup", "Johnny"], [OTHER, ACROSS]),
        ([str(NAME)], [NAME]),
        (["Bucket", "-", ""], []),
        (None, [ARN, NAME, OTHER, ACROSS]),
        ([], []),
    ],
)
def test_entries_are_reset_by_their_objects_names_or_all_together(
    path: Path, names: list[str] | None, gone: list[ContextKey]
) -> None:
    filled(path, ARN, NAME, OTHER, ACROSS)
    assert reset(path, names) == gone
    assert list(listing(path)) == [key for key in (ARN, NAME, OTHER, ACROSS) if key not in gone]


OWN = ContextKey("strongref", ACCOUNT, "us-east-1", f"_shared/{ACCOUNT}/eu-west-1/network", "web/Url")
BESIDE = ContextKey("ssm", ACCOUNT, "eu-west-1", "/shared", "web-api/Url")
BELOW = ContextKey("ssm", ACCOUNT, "eu-west-1", "/shared", "web.old/Url")
STAGE = ContextKey("lookup", ACCOUNT, "eu-west-1", "Vpc/AWS.EC2.VPC", "department=web")
WHOLE = ContextKey("lookup", ACCOUNT, "eu-west-1", "Vpc/AWS.EC2.VPC", "department=web-api/x")
COMPONENT = ContextKey("cloudformation", ACCOUNT, "eu-west-1", "", "webapi-Url")


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("web", {OWN}),
        ("web-api", {COMPONENT, BESIDE}),
        ("web.old", {BELOW}),
        ("web/Url", {OWN}),
        ("department=web", {STAGE}),
        ("department=web-api", set()),
        ("department=web-api/x", {WHOLE}),
        ("webapi.Url", set()),
    ],
)
def test_objects_whose_names_begin_like_another_ones_are_not_forgotten_with_it(
    path: Path, name: str, gone: set[ContextKey]
) -> None:
    filled(path, OWN, BESIDE, BELOW, STAGE, WHOLE, COMPONENT)
    assert set(reset(path, [name])) == gone


def test_nothing_is_listed_or_reset_where_there_is_no_file(path: Path) -> None:
    assert listing(path) == {}
    assert reset(path) == []
    assert not path.exists()


def test_what_another_run_has_kept_meanwhile_stays(path: Path) -> None:
    file = ContextFile(path)
    assert file.get(ARN) is None  # It has read the file.
    filled(path, OTHER)
    file.put(ARN, "x")
    assert list(listing(path)) == [ARN, OTHER]
    assert file.get(OTHER) == "value of Johnny"


RUN = """
import sys
from strongref_objects.synthesis.context_file import ContextFile, ContextKey
file = ContextFile(sys.argv[1])
for number in range(15):
    file.put(ContextKey("ssm", "1" * 12, "eu-west-1", sys.argv[2], f"n{number}"), "v")
"""


def test_runs_side_by_side_lose_nothing_of_each_other(path: Path) -> None:
    runs = [
        subprocess.Popen([sys.executable, "-c", RUN, str(path), f"run{number}"])  # noqa: S603 (our own)
        for number in range(4)
    ]
    assert [run.wait() for run in runs] == [0] * 4
    assert len(listing(path)) == 60
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208 (nothing is left beside it, hidden or not)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"[" * 100_000, b'"text"'])
def test_a_broken_file_is_reported_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for use in (lambda: ContextFile(path).get(ARN), lambda: filled(path, ARN), lambda: listing(path)):
        with pytest.raises(ContextFileError, match="correct it, or delete it"):
            use()
    with pytest.raises(ContextFileError):
        reset(path)
    assert path.read_bytes() == content


def test_a_broken_files_line_is_reported(path: Path) -> None:
    path.write_text('{\n"a": 1,\n}\n')
    with pytest.raises(ContextFileError) as caught:
        ContextFile(path).get(ARN)
    assert (
        str(caught.value)
        == f"{path}: it is not valid JSON (line 3): correct it, or delete it to look everything up again."
    )


def test_a_file_that_cannot_be_read_or_written_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ContextFileError, match="it cannot be read: is a directory"):
        ContextFile(tmp_path).get(ARN)
    with pytest.raises(ContextFileError, match="its folder cannot be opened: no such file or directory"):
        ContextFile(tmp_path / "none" / "file").put(ARN, "x")
    path = tmp_path / "file"
    filled(path, ARN)
    kept = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ContextFileError, match="it cannot be written: no space left on device"):
        filled(path, OTHER)
    assert path.read_bytes() == kept
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_that_nobody_may_write_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, ARN)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ContextFileError, match="it cannot be written: permission denied"):
        filled(path, OTHER)
    assert list(listing(path)) == [ARN]


def test_a_link_stays_a_link_and_a_file_keeps_its_rights(tmp_path: Path) -> None:
    place, link = tmp_path / "real.json", tmp_path / "link.json"
    filled(place, ARN)
    place.chmod(0o640)
    link.symlink_to(place)
    filled(link, OTHER)
    assert link.is_symlink()
    assert list(listing(place)) == [ARN, OTHER]
    assert place.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_rights_of_new_files(path: Path) -> None:
    mask = os.umask(0o027)
    try:
        filled(path, ARN)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640


def test_where_there_are_no_locks_it_works_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_file, "fcntl", None)
    filled(path, ARN)
    assert list(listing(path)) == [ARN]
