"""Manifests as files: which are found through links, what is reported of others, and what writing leaves."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Self

import pytest

from strongref_manifests.resolution import files
from strongref_toolkit.errors import UsageError, WriteFailedError
from strongref_toolkit.files import write

if TYPE_CHECKING:
    from pathlib import Path

HIDDEN = b"a-value-not-to-be-shown"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a manifest, and one in a folder in it."""
    folder = tmp_path / "manifests"
    (folder / "web").mkdir(parents=True)
    for name in ("app.yaml", "web/web.yaml"):
        (folder / name).write_text("a: 1\n")
    return folder


def found(*given: Path | str, out: Path | None = None) -> list[str]:
    return [str(each.name) for each in files.find(map(str, given), out)]


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_linked_folders_are_read_under_each_of_their_names(folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "base.yaml").write_text("a: 1\n")
    (folder / "base").symlink_to(base)
    (folder / "other").symlink_to(folder / "web")
    (folder / "link.yaml").symlink_to(folder / "app.yaml")
    assert found(folder) == ["app.yaml", "link.yaml", "base/base.yaml", "other/web.yaml", "web/web.yaml"]


def test_a_folder_within_itself_is_read_once(folder: Path) -> None:
    (folder / "web/up").symlink_to(folder)
    (folder / "web/here").symlink_to(folder / "web")
    assert found(folder) == ["app.yaml", "web/web.yaml"]


def test_what_is_written_to_is_not_read_through_a_link_either(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "app.yaml").write_text("a: 1\n")
    (folder / "link").symlink_to(out)
    assert found(folder, out=out) == ["app.yaml", "web/web.yaml"]


def test_a_file_in_two_spellings_is_found_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "again").symlink_to(folder / "web")
    spellings = ["app.yaml", "./app.yaml", "web/../app.yaml", "again/web.yaml"]
    assert found(*spellings, folder / "app.yaml", folder) == ["app.yaml", "web.yaml"]


def _refusing(monkeypatch: pytest.MonkeyPatch, refused: Path, method: str) -> None:
    """As if the caller had no rights to a path; the super-user, who may run this, has all."""
    owner: Any = type(refused)
    allowed = getattr(owner, method)

    def call(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == refused:
            raise PermissionError(13, "Permission denied")
        return allowed(path, *arguments, **options)

    monkeypatch.setattr(owner, method, call)


@pytest.mark.parametrize("method", ["iterdir", "stat"])
def test_a_folder_that_may_not_be_read_is_named(folder: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _refusing(monkeypatch, folder / "web", method)
    with pytest.raises(UsageError, match=f"^{re.escape(str(folder))}/web cannot be read: permission denied$"):
        found(folder)


def test_a_file_or_a_place_out_of_reach_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for refused in (folder / "app.yaml", tmp_path / "out"):
        _refusing(monkeypatch, refused, "stat")
    with pytest.raises(UsageError, match=r"app\.yaml cannot be read: permission denied$"):
        found(folder / "app.yaml")
    with pytest.raises(UsageError, match=r"out cannot be read: permission denied$"):
        files.targets([], tmp_path / "out")


def test_links_that_lead_to_each_other_are_named_wherever_they_are_met(folder: Path, tmp_path: Path) -> None:
    loop = folder / "loop.yaml"
    loop.symlink_to(folder / "pool.yaml")
    (folder / "pool.yaml").symlink_to(loop)
    with pytest.raises(UsageError, match=r"loop\.yaml cannot be read: too many levels of symbolic links$"):
        found(folder)
    inputs = files.find([str(folder / "app.yaml")], None)
    out = tmp_path / "out"
    out.mkdir()
    (out / "app.yaml").symlink_to(out / "app.yaml")
    assert files.targets(inputs, out) == [out / "app.yaml"]


def test_a_link_to_nothing_is_a_manifest_that_is_not_there_or_nothing_at_all(folder: Path) -> None:
    (folder / "gone.yaml").symlink_to(folder / "nowhere")
    (folder / "gone").symlink_to(folder / "nowhere")
    assert found(folder) == ["app.yaml", "gone.yaml", "web/web.yaml"]
    with pytest.raises(UsageError, match=r"gone\.yaml does not exist$"):
        found(folder / "gone.yaml")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("fails", ["write", "copymode", "replace"])
def test_nothing_of_a_value_is_left_where_writing_ends_early(
    folder: Path, fails: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = left_in(folder)

    def fail(*_: object) -> None:
        raise error

    class Full:
        """A file that takes half of what it is given."""

        def __init__(self, descriptor: int, _mode: str) -> None:
            self.descriptor = descriptor

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.descriptor)

        def write(self, content: bytes) -> None:
            os.write(self.descriptor, content[: len(content) // 2])
            if content is HIDDEN:
                raise error

    if fails == "write":
        monkeypatch.setattr("os.fdopen", Full)
    elif fails == "copymode":
        monkeypatch.setattr("shutil.copymode", fail)
    else:
        monkeypatch.setattr(type(folder), "replace", fail)
    contents = {folder / "new.yaml": b"first", folder / "app.yaml": HIDDEN}
    with pytest.raises((WriteFailedError, KeyboardInterrupt)) as failed:
        write(contents)
    assert isinstance(failed.value, KeyboardInterrupt) == isinstance(error, KeyboardInterrupt)
    assert left_in(folder) == before
    assert (folder / "app.yaml").read_text() == "a: 1\n"


def test_a_file_keeps_its_rights_and_its_owner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "app.yaml"
    file.chmod(0o640)
    former = file.stat()
    given: list[tuple[int, int]] = []

    def chown(path: Path, owner: int, group: int) -> None:
        assert path.parent == folder
        given.append((owner, group))
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.chown", chown)
    write({file: b"a: 2\n"})
    assert given == [(former.st_uid, -1), (-1, former.st_gid)]
    assert file.read_text() == "a: 2\n"
    assert file.stat().st_mode == former.st_mode


def test_a_file_that_may_not_be_written_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "app.yaml"
    may = os.access
    monkeypatch.setattr("os.access", lambda path, mode: path != file and may(path, mode))
    with pytest.raises(WriteFailedError, match=r"app\.yaml could not be written: permission denied. Nothing was"):
        write({folder / "web/web.yaml": b"a: 2\n", file: b"a: 2\n"})
    assert left_in(folder) == ["app.yaml", "web/web.yaml"]
    assert (folder / "web/web.yaml").read_text() == "a: 1\n"
