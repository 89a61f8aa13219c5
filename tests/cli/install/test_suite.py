"""The suite as it is loaded: from this checkout, and with distributions that cannot be packaged."""

from __future__ import annotations

import re
from importlib.metadata import PathDistribution
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

import strongref
from strongref_cli.install import suite as loading
from strongref_cli.install.errors import InstallError
from strongref_cli.install.suite import LAYER, Archive, load_suite
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from pathlib import Path

LOCK = dict(re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", (ROOT / LAYER / "requirements.txt").read_text()))


def archive(path: str) -> Archive:
    (found,) = [each for each in load_suite().archives if each.path == path]
    return found


def files(found: Archive) -> dict[str, bytes]:
    with ZipFile(BytesIO(found.content())) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def test_the_layer_is_the_package_and_the_locked_distributions_without_what_differs_by_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "can_compile_for", lambda _: False)
    found = files(archive(LAYER))
    package = {
        f"python/strongref/{path.relative_to(ROOT / LAYER / 'strongref').as_posix()}"
        for path in (ROOT / LAYER / "strongref").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in found if name.startswith("python/strongref/")} == package
    metadata = [name for name in found if name.endswith(".dist-info/METADATA")]
    names = {name.removeprefix("python/").partition("-")[0].replace("_", "-") for name in metadata}
    assert names == set(LOCK)
    assert not [name for name in found if ".." in name or name.endswith((".pyc", "/RECORD", "/INSTALLER"))]
    assert {"python/crhelper/__init__.py", "python/typing_extensions.py", "python/jmespath/__init__.py"} < set(found)


def test_a_functions_code_is_its_folder() -> None:
    assert files(archive("handlers/exporter")) == {"app.py": (ROOT / "handlers/exporter/app.py").read_bytes()}


def test_the_same_suite_has_the_same_keys_and_the_same_template() -> None:
    one, other = load_suite(), load_suite()
    assert one.template_for("s3://b/{}".format) == other.template_for("s3://b/{}".format)
    assert [each.content() for each in one.archives] == [each.content() for each in other.archives]
    assert one.version == strongref.__version__


def test_bytecode_is_added_only_by_the_functions_own_version_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "can_compile_for", lambda python: python == "3.13")
    with_bytecode = archive(LAYER)
    assert "python/strongref/__pycache__" in {name.rpartition("/")[0] for name in files(with_bytecode)}
    assert "bytecode" not in "".join(load_suite().notes)
    monkeypatch.setattr(loading, "can_compile_for", lambda _: False)
    without = archive(LAYER)
    assert with_bytecode.key != without.key
    assert len(with_bytecode.content()) > len(without.content())
    assert "run this command with Python 3.13 to add bytecode" in "".join(load_suite().notes)


def installed(
    folder: Path, name: str, files: dict[str, str], *, requires: str = "", recorded: bool = True
) -> Distribution:
    """A distribution in a folder."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    if recorded:
        lines = [
            *files,
            f"{info.name}/METADATA",
            f"{info.name}/RECORD",
            f"{info.name}/direct_url.json",
            "../../bin/tool",
        ]
        (info / "RECORD").write_text("".join(f"{line},,\n" for line in lines))
    return PathDistribution(info)


def test_scripts_and_the_installers_notes_are_left_out(tmp_path: Path) -> None:
    found = installed(tmp_path, "thing", {"thing/__init__.py": "", "thing/data.txt": "x"})
    names = {"python/thing/__init__.py", "python/thing/data.txt", "python/thing-1.0.dist-info/METADATA"}
    assert set(loading._files(found)) == names


def test_a_compiled_distribution_is_refused(tmp_path: Path) -> None:
    found = installed(tmp_path, "thing", {"thing/__init__.py": "", "thing/_fast.so": ""})
    with pytest.raises(InstallError, match="thing has compiled code for this machine"):
        loading._files(found)


def test_a_distribution_without_its_modules_is_refused(tmp_path: Path) -> None:
    found = installed(tmp_path, "thing", {"thing.pth": "/elsewhere"})  # as in place of a checkout
    with pytest.raises(InstallError, match="thing has no list of its modules"):
        loading._files(found)


def test_a_distribution_whose_installer_kept_no_list_is_refused(tmp_path: Path) -> None:
    found = installed(tmp_path, "thing", {"thing/__init__.py": ""}, recorded=False)
    with pytest.raises(InstallError, match="thing has no list of its modules"):
        loading._files(found)


def test_a_distribution_with_a_missing_file_is_refused(tmp_path: Path) -> None:
    found = installed(tmp_path, "thing", {"thing/__init__.py": "", "thing/more.py": ""})
    (tmp_path / "thing/more.py").unlink()
    with pytest.raises(InstallError, match=r"thing is installed incompletely: more\.py is missing"):
        loading._files(found)


def test_a_missing_distribution_is_named_and_a_conditional_one_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    more = "Requires-Dist: other (>=1)\nRequires-Dist: absent; python_version < '3'\nRequires-Dist: x; extra == 'x'\n"
    installed(tmp_path, "thing", {"thing/__init__.py": ""}, requires=more)
    with pytest.raises(InstallError, match="other is not installed, and the layer needs it"):
        list(loading._distributions({"thing": "1.0"}))
    installed(tmp_path, "other", {"other/__init__.py": ""})
    assert [each.name for each in loading._distributions({"thing": "1.0"})] == ["thing", "other"]


def test_another_version_of_what_the_layer_corrects_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    installed(tmp_path, "crhelper", {"crhelper/__init__.py": ""})
    needed = r"crhelper 1\.0 is installed, and the layer needs 2\.0\.12: pip install crhelper==2\.0\.12"
    with pytest.raises(InstallError, match=needed):
        list(loading._distributions({"crhelper": "2.0.12"}))


def test_versions_that_were_not_tested_are_named() -> None:
    assert loading._notes({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "1"}) == [
        f"The layer has b 2; strongref {strongref.__version__} was tested with 1.",
        f"The layer has c 3; strongref {strongref.__version__} was tested with none.",
    ]


def test_an_installation_without_the_template_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "_CHECKOUT", tmp_path)
    with pytest.raises(InstallError, match=r"template\.yaml is not part of this installation of strongref"):
        load_suite()
