"""Zip files for Lambda, and the template that names them. Pure.

The same content has the same key in S3, so nothing is uploaded twice. The template is our own, and stays text, with its
comments; reading YAML needs a library that not every user has.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TypeAlias

from strongref_cli.install.errors import InstallError

Files: TypeAlias = Mapping[str, bytes]
"""Contents by relative path, with `/` as separator."""

KEY_PREFIX = "strongref/"
"""What the keys of all objects begin with: they are ours."""

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can have
_MODE = 0o644
_HASH = 32  # hexadecimal digits
_COMPILED = (".so", ".pyd", ".dylib", ".dll")

_LOCATION = re.compile(r"^( +(?:CodeUri|ContentUri): +)(?!s3://)(\S+)", re.MULTILINE)
_PARAMETERS = re.compile(r"^Parameters:\n((?:(?:[ #].*)?\n)+)", re.MULTILINE)
_DECLARED = re.compile(r"^ {2}([A-Za-z0-9]+):\n((?: {4}.*\n)*)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_RUNTIME = re.compile(r"^ +Runtime: +python([\d.]+)$", re.MULTILINE)


def content_hash(files: Files, mark: str = "") -> str:
    """Identifies the files by their names and contents; `mark` stands for what is made of them later.

    It is not the hash of the zip file: compression differs between versions of zlib, and content does not.
    """
    whole = sha256(mark.encode())
    for name in sorted(files):
        whole.update(f"\0{name}\0{len(files[name])}\0".encode())
        whole.update(files[name])
    return whole.hexdigest()[:_HASH]


def object_key(name: str, hash_: str, suffix: str) -> str:
    """The key of an object: `strongref/handlers-exporter/0123….zip`."""
    return f"{KEY_PREFIX}{name.replace('/', '-')}/{hash_}.{suffix}"


def zip_bytes(files: Files) -> bytes:
    """A zip file without dates and owners, sorted by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, on every system: the mode counts
            info.external_attr = _MODE << 16
            archive.writestr(info, files[name])
    return buffer.getvalue()


def refuse_compiled(distribution: str, files: Files) -> None:
    """Raise `InstallError` for extension modules: they are built for this machine, not for Lambda's."""
    found = sorted(name for name in files if PurePosixPath(name).suffix.lower() in _COMPILED)
    if found:
        raise InstallError(
            f"{distribution} has compiled code for this machine ({PurePosixPath(found[0]).name}), which does not run "
            f"in Lambda. Install it without: pip install --force-reinstall --no-binary :all: {distribution}"
        )


def local_paths(template: str) -> list[str]:
    """The folders that the template takes code from, each once, in their order."""
    return list(dict.fromkeys(found[2] for found in _LOCATION.finditer(template)))


def with_locations(template: str, locations: Mapping[str, str]) -> str:
    """The template with an S3 URI for each local path. Raises `InstallError`: a path has none."""

    def located(found: re.Match[str]) -> str:
        if found[2] not in locations:
            raise InstallError(f"{found[2]} is in the template, and there is no code for it.")
        return f"{found[1]}{locations[found[2]]}"

    return _LOCATION.sub(located, template)


def declared_parameters(template: str) -> dict[str, dict[str, str]]:
    """How the template declares its parameters, by name: the text of `Type`, `AllowedPattern` and so on."""
    section = _PARAMETERS.search(template)
    return {name: dict(_ATTRIBUTE.findall(text)) for name, text in _DECLARED.findall(section[1])} if section else {}


def parameter_problem(declared: Mapping[str, str], value: str) -> str:
    """Why CloudFormation would refuse a value of a parameter; empty if it would not."""
    kind, pattern = declared.get("Type", ""), declared.get("AllowedPattern", "")
    items = [each.strip() for each in value.split(",")] if kind == "CommaDelimitedList" else [value]
    if pattern and not all(re.fullmatch(pattern, each) for each in items):
        return declared.get("ConstraintDescription", f"it must match {pattern}")
    allowed = [each.strip(" '") for each in declared.get("AllowedValues", "").strip("[]").split(",") if each]
    if allowed and value not in allowed:
        return f"it must be one of {', '.join(allowed)}"
    least, most = float(declared.get("MinValue", "-inf")), float(declared.get("MaxValue", "inf"))
    if kind == "Number" and not (_NUMBER.fullmatch(value) and least <= float(value) <= most):
        return f"it must be a number from {least:g} to {most:g}".removesuffix(" to inf")
    return ""


def python_version(template: str) -> str:
    """The Python that the functions run on, as in `3.13`; empty if the template does not say."""
    found = _RUNTIME.search(template)
    return found[1] if found else ""
