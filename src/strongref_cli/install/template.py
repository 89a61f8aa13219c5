"""The installation's template, as text: its local paths become objects in S3. Pure.

It is our own template, and the text keeps its comments; reading YAML needs a library that not every user has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref_cli.install.errors import IncompleteSuiteError

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOCATION = re.compile(r"^( +(?:CodeUri|ContentUri): +)(?!s3://)(\S+)", re.MULTILINE)
_PARAMETERS = re.compile(r"^Parameters:\n((?:(?:[ #].*)?\n)+)", re.MULTILINE)
_NAME = re.compile(r"^ {2}([A-Za-z0-9]+):", re.MULTILINE)
_RUNTIME = re.compile(r"^ +Runtime: +python([\d.]+)$", re.MULTILINE)


def local_paths(template: str) -> list[str]:
    """The folders that the template takes code from, each once, in their order."""
    return list(dict.fromkeys(found[2] for found in _LOCATION.finditer(template)))


def with_locations(template: str, locations: Mapping[str, str]) -> str:
    """The template with an S3 URI for each local path. Raises `IncompleteSuiteError`: a path has none."""

    def located(found: re.Match[str]) -> str:
        if found[2] not in locations:
            raise IncompleteSuiteError(found[2], "is in the template, and there is no code for it.")
        return f"{found[1]}{locations[found[2]]}"

    return _LOCATION.sub(located, template)


def parameter_names(template: str) -> list[str]:
    """The names of the template's parameters."""
    section = _PARAMETERS.search(template)
    return _NAME.findall(section[1]) if section else []


def python_version(template: str) -> str:
    """The Python that the functions run on, as in `3.13`; empty if the template does not say."""
    found = _RUNTIME.search(template)
    return found[1] if found else ""
