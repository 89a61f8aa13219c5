"""Zip files: the same content makes the same bytes and the same key, and compiled code is refused."""

from __future__ import annotations

import io
import marshal
import sys
import zipfile

import pytest

from strongref_cli.install.errors import InstallError
from strongref_cli.install.packaging import content_hash, object_key, refuse_compiled, zip_bytes
from strongref_cli.install.suite import can_compile_for, compiled

FILES = {"python/b.py": b"B = 1\n", "python/a/__init__.py": b"", "python/a/data.json": b"{}"}


def test_the_order_of_the_files_does_not_matter() -> None:
    turned = dict(reversed(FILES.items()))
    assert zip_bytes(FILES) == zip_bytes(turned)
    assert content_hash(FILES) == content_hash(turned)


def test_a_zip_file_has_the_files_and_no_dates_and_everyone_may_read_them() -> None:
    with zipfile.ZipFile(io.BytesIO(zip_bytes(FILES))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
        assert archive.namelist() == sorted(FILES)
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {each.external_attr >> 16 for each in archive.infolist()} == {0o644}
        assert {each.create_system for each in archive.infolist()} == {3}


@pytest.mark.parametrize(
    "other",
    [
        {**FILES, "python/b.py": b"B = 2\n"},
        {**FILES, "python/c.py": b""},
        {"python/b.py" if name == "python/b.py" else f"{name}x": content for name, content in FILES.items()},
        {"python/b.pyB": b" = 1\n", **{name: each for name, each in FILES.items() if name != "python/b.py"}},
    ],
    ids=["content", "more", "names", "a name that goes on as the content"],
)
def test_other_files_have_another_hash(other: dict[str, bytes]) -> None:
    assert content_hash(other) != content_hash(FILES)


def test_what_is_made_of_the_files_is_part_of_the_hash() -> None:
    assert content_hash(FILES, "bytecode") != content_hash(FILES)


def test_keys_are_below_our_own_prefix() -> None:
    assert object_key("handlers/exporter", "0123", "zip") == "strongref/handlers-exporter/0123.zip"


@pytest.mark.parametrize("name", ["python/x/_speedups.cpython-313-darwin.so", "python/x/_x.pyd", "python/x/_x.DLL"])
def test_compiled_code_is_refused_with_the_way_out(name: str) -> None:
    with pytest.raises(InstallError) as error:
        refuse_compiled("jmespath", {**FILES, name: b""})
    assert name.rpartition("/")[2] in str(error.value)
    assert "pip install --force-reinstall --no-binary :all: jmespath" in str(error.value)


def test_python_code_is_not() -> None:
    refuse_compiled("jmespath", FILES)


def test_bytecode_is_where_python_looks_for_it_with_lambdas_paths_and_is_not_checked() -> None:
    made = compiled(FILES)
    tag = sys.implementation.cache_tag
    assert set(made) == {f"python/__pycache__/b.{tag}.pyc", f"python/a/__pycache__/__init__.{tag}.pyc"}
    content = made[f"python/__pycache__/b.{tag}.pyc"]
    assert int.from_bytes(content[4:8], "little") == 0b01  # by the hash of its source, which is not checked
    assert marshal.loads(content[16:]).co_filename == "/opt/python/b.py"  # noqa: S302 (made here)


def test_only_the_functions_own_version_of_python_can_make_it() -> None:
    assert can_compile_for(f"3.{sys.version_info.minor}")
    assert not can_compile_for(f"3.{sys.version_info.minor + 1}")
    assert not can_compile_for("")
