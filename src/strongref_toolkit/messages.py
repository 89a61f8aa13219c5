"""What a command says beside its result, on standard error: lines for people, or with JSON output, JSON lines."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from strongref_toolkit.errors import printable
from strongref_toolkit.json_values import document_head

Kind: TypeAlias = Literal["error", "note"]


class _Format:
    is_json = False


def messages_as_json(*, wanted: bool) -> None:
    """Choose what messages are from now on."""
    _Format.is_json = wanted


def tell(kind: Kind, text: str) -> None:
    sys.stderr.write(f"{message(kind, text)}\n")


def message(kind: Kind, text: str) -> str:
    if _Format.is_json:
        return json.dumps({**document_head(datetime.now(UTC)), kind: text})
    return printable(f"strongref: {text}")
