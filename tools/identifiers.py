"""Writes `strongref/lookup/identifiers.json`: what CloudFormation's resource schemas say of finding a resource.

The schemas are those that cfn-lint ships, which are AWS's own, of every type that some region has. They are thousands
of files; what a look-up needs of them is a line for each type. Run by `make lock`, when cfn-lint has moved.

A type's line, with what does not apply left out:

    identifier  the properties of its primary identifier, in their order; dots lead into a property
    own         the position of the part that is the resource's own and not its parent's: what `Ref` gives, where it
                gives a part; left out where the schema does not tell
    needs       the properties that its list handler asks for, as alternatives; `A=B` is an input A that is given B's
                value
    takes       further parts of the identifier that the list handler takes; left out where no input is described
    name, arn   the properties by which a resource tells its own name and its own ARN
    tagged_by   the services, as they stand in ARNs, by which it is tagged; empty if it cannot be; left out if unknown
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "layers/core/strongref/lookup/identifiers.json"
SCHEMAS = Path(getattr(find_spec("cfnlint"), "origin", "")).parent / "data/schemas"
NOT_AWS = {"sam"}
"""Providers that are no regions: SAM's types are replaced by others before anything is made (`overrides.REPLACED`)."""

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]+|[A-Z]+[0-9]*")
_GENERATED = re.compile(r"(?!AccountId$).*(Id|Arn|ARN|Name|Identifier|Version|Hash)", re.DOTALL)


def table() -> str:
    """The file's text: a line for each type."""
    lines = [f"{json.dumps(name)}: {json.dumps(line(schema))}" for name, schema in sorted(schemas().items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of every type of every region that has a primary identifier."""
    files: dict[str, str] = {}
    for provider in sorted((SCHEMAS / "providers").glob("*.json")):
        if provider.stem not in NOT_AWS:
            files |= json.loads(provider.read_text(encoding="utf-8"))
    found = {
        name: json.loads((SCHEMAS / f"resources/{file}.json").read_text(encoding="utf-8"))
        for name, file in files.items()
    }
    return {name: schema for name, schema in found.items() if schema.get("primaryIdentifier")}


def line(schema: dict[str, Any]) -> dict[str, Any]:
    """What stands in the table for a type."""
    identifier = [_dotted(pointer) for pointer in schema["primaryIdentifier"]]
    inputs = schema.get("handlers", {}).get("list", {}).get("handlerSchema")
    own = _own(schema, identifier, inputs or {})
    found = {
        "identifier": identifier,
        "own": identifier.index(own) if own and len(identifier) > 1 else None,
        "needs": _needs(inputs) if inputs else None,
        "takes": [part for part in identifier if _takes(inputs, part)] if inputs else None,
        "name": next(_telling(schema, "Name"), None),
        "arn": next(_telling(schema, "Arn"), None),
        "tagged_by": _tagged_by(schema),
    }
    return {key: value for key, value in found.items() if value is not None}


def _dotted(pointer: str) -> str:
    return pointer.removeprefix("/properties/").replace("/", ".")


def _needs(inputs: dict[str, Any]) -> list[list[str]] | None:
    choices = [each["required"] for each in inputs.get("oneOf", inputs.get("anyOf", ())) if "required" in each]
    always = inputs.get("required", [])
    alternatives = [[*always, *choice] for choice in choices] or [always]
    return (
        [[_input(inputs, name) for name in alternative] for alternative in alternatives] if any(alternatives) else None
    )


def _input(inputs: dict[str, Any], name: str) -> str:
    """An input, and whose value it is where that is another property's: `Arn=Workspace`."""
    value_of = inputs.get("properties", {}).get(name, {}).get("$ref", name).rpartition("/")[2]
    return name if value_of == name else f"{name}={value_of}"


def _takes(inputs: dict[str, Any], part: str) -> bool:
    return (
        part in inputs.get("properties", {}) and _input(inputs, part) == part and part not in inputs.get("required", ())
    )


def _own(schema: dict[str, Any], identifier: list[str], inputs: dict[str, Any]) -> str | None:
    """The part that is the resource's own.

    What has to be known before resources are listed is their parents'. Of the rest it is what the service makes up,
    or what is called like the type, or simply by a name or an id. Where several are left, it is not known.
    """
    rest = [part for part in identifier if part not in inputs.get("required", ())] or identifier
    made_up = [part for part in rest if f"/properties/{part}" in schema.get("readOnlyProperties", ())]
    for pool in (rest, [part for part in made_up if _GENERATED.fullmatch(part)]):
        if len(pool) == 1:
            return pool[0]
    pool = made_up or rest
    for words in _endings(schema):
        called_so = [part for part in pool if re.fullmatch(f"{words}(Name|Id|Arn|Identifier)?", part, re.IGNORECASE)]
        if called_so:
            return called_so[0] if len(called_so) == 1 else None
    plain = [part for part in pool if part in ("Name", "Id", "Arn")]
    return plain[0] if len(plain) == 1 else None


def _endings(schema: dict[str, Any]) -> Iterator[str]:
    """`UserPoolClient`, `PoolClient`, `Client`."""
    words = _WORDS.findall(schema["typeName"].rpartition("::")[2])
    return ("".join(words[start:]) for start in range(len(words)))


def _telling(schema: dict[str, Any], what: str) -> Iterator[str]:
    """Properties that hold a resource's own name or ARN: called like the type, or simply so."""
    strings = {name.lower(): name for name, shape in schema["properties"].items() if _is_string(shape)}
    for words in (*_endings(schema), ""):
        called_so = strings.get(f"{words}{what}".lower())
        if called_so:
            yield called_so


def _is_string(shape: dict[str, Any]) -> bool:
    return shape.get("type", "string") == "string" or "$ref" in shape


def _tagged_by(schema: dict[str, Any]) -> Sequence[str] | None:
    tagging = schema.get("tagging", {})
    if not tagging.get("taggable", True):
        return []
    services = {permission.partition(":")[0].lower() for permission in tagging.get("permissions", ())}
    return sorted(services) or None


def main() -> None:
    """Write it."""
    TARGET.write_text(table(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.relative_to(TARGET.parents[4])}\n")


if __name__ == "__main__":
    main()
