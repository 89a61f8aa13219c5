"""A file that lists what a pipeline deploys: stacks with their templates, checked together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from strongref.text import some
from strongref.untyped import AnyJson
from strongref_cli.terminal.parameter_files import parameters
from strongref_toolkit.errors import UsageError, os_problem
from strongref_toolkit.session import check_regions

_KEYS = ("stack", "template", "region", "parameters", "new")


@dataclass(frozen=True, slots=True)
class ListedStack:
    stack: str  # its name
    template: str  # the file
    region: str | None  # None for the default one
    parameters: Mapping[str, str]
    new: bool = False  # the template creates it


def read_stacks(file: str) -> list[ListedStack]:
    """The stacks of a file in YAML or JSON; raises `UsageError`: it is none."""
    try:
        listed = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--stacks {file}: {os_problem(error)}.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"--stacks {file}: it is neither YAML nor JSON") from None
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"--stacks {file}: it must be a list of maps with stack and template")
    return [_listed(f"--stacks {file}, number {number}", each) for number, each in enumerate(listed, 1)]


def _listed(where: str, given: AnyJson) -> ListedStack:
    if not isinstance(given, Mapping):
        raise UsageError(f"{where}: it must be a map with stack and template")
    if unknown := [str(key) for key in given if key not in _KEYS]:
        raise UsageError(f"{where}: {some(unknown)} is unknown; must be one of {some(_KEYS)}")
    if missing := [key for key in _KEYS[:2] if not isinstance(given.get(key), str)]:
        raise UsageError(f"{where}: {some(missing)} must be given as text")
    values = given.get("parameters") or []
    if isinstance(values, Mapping):
        values = [f"{name}={value}" for name, value in values.items()]
    values = [values] if isinstance(values, str) else values
    region = None if given.get("region") is None else str(given["region"])
    check_regions([] if region is None else [region])
    found = parameters(f"{where}: parameters", map(str, values))
    return ListedStack(given["stack"], given["template"], region, found, new=bool(given.get("new")))
