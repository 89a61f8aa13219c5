"""Values of a template's parameters in files, as the tools that deploy it read them. No error shows a value.

- CloudFormation: `[{"ParameterKey": "Name", "ParameterValue": "x"}]`
- CodePipeline, Git sync: `{"Parameters": {"Name": "x"}}`
- SAM: `parameter_overrides` of `samconfig.toml`, text or a list
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from strongref.untyped import AnyJson
from strongref_cli.terminal.options import pairs
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import mapping

_FORMS = "CloudFormation's list of ParameterKey and ParameterValue, a map with Parameters, or a samconfig.toml"
_DEPLOYING = (("default", "deploy"), ("default", "global"))
"""Where `sam deploy` looks for its options: the command's own come first (AWS: SAM CLI configuration file)."""


def parameters(option: str, given: Iterable[str]) -> dict[str, str]:
    """The values of an option that takes `NAME=VALUE` and files, by name; what comes later wins.

    Raises:
        UsageError: a file cannot be read or has another form, or a name is missing or given twice.
    """
    found: dict[str, str] = {}
    written = []
    for each in given:
        if "=" in each:
            written.append(each)
        else:
            found |= _in_file(option, each.removeprefix("file://"))
    return found | pairs(option, written)


def _in_file(option: str, file: str) -> dict[str, str]:
    try:
        text = Path(file).read_text(encoding="utf-8")
        content = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    except FileNotFoundError:
        problem = "is neither NAME=VALUE nor a file that exists"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except ValueError:
        problem = "is neither JSON nor, as .toml, TOML"
    else:
        found = _of_sam(option, content) if file.endswith(".toml") else _of_cloudformation(content)
        if found is not None:
            return found
        problem = f"has no parameters. It must be {_FORMS}"
    raise UsageError(f"{option} {file} {problem}")


def _of_cloudformation(content: AnyJson) -> dict[str, str] | None:
    """None if it has another form. A parameter that keeps its value is left out."""
    if isinstance(content, Mapping):
        content = content.get("Parameters", content)
    if isinstance(content, Mapping):
        content = [{"ParameterKey": name, "ParameterValue": value} for name, value in content.items()]
    if not isinstance(content, list) or not all("ParameterKey" in mapping(each) for each in content):
        return None
    return {str(each["ParameterKey"]): _text(each["ParameterValue"]) for each in content if "ParameterValue" in each}


def _of_sam(option: str, content: Mapping[str, AnyJson]) -> dict[str, str] | None:
    for environment, command in _DEPLOYING:
        options = mapping(mapping(mapping(content.get(environment)).get(command)).get("parameters"))
        given = options.get("parameter_overrides")
        with suppress(ValueError):  # a quote that is not closed
            given = shlex.split(given) if isinstance(given, str) else given
        if isinstance(given, list):
            return pairs(option, map(str, given))
    return None


def _text(value: AnyJson) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
