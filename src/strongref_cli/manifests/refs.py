"""`strongref refs`: reference fields of manifests, as for ACK's controllers.

`resolve` replaces references with values, `fields` lists the fields, `rbac` and `schema` write what a cluster needs.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from strongref_cli.terminal.output import Result, TextTable, put_out, show
from strongref_manifests.refs.crds import fragments
from strongref_manifests.refs.rbac import cluster_role
from strongref_manifests.refs.wiring import generators
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from strongref_manifests.refs.base import Field, Generator, Kind

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]*")
"""A role's name, as those of Kubernetes' own roles."""

_WIDTH = 120
_HEAD = ("KIND", "FIELD", "REFERENCE", "REFERS TO", "GROUP", "PATH", "")


def list_fields(asked: argparse.Namespace) -> int:
    found = [(kind, field) for given in _generators(asked) for kind in given.kinds for field in kind.fields]
    rows = [(*_row(kind, field), field.why_not and f"refused: {field.why_not}") for kind, field in found]
    show(Result([TextTable(_HEAD, rows)], {"fields": [_document(*each) for each in found]}), asked.output)
    return 0


def _row(kind: Kind, field: Field) -> tuple[str, ...]:
    reference = field.reference
    own = ".".join(field.steps)
    ref = ".".join(field.reference_steps)
    return kind.name, own, ref, reference.resource, reference.group, reference.path


def _document(kind: Kind, field: Field) -> dict[str, Any]:
    name, own, ref, resource, group, path = _row(kind, field)
    return {
        "group": kind.group,
        "kind": name,
        "field": own,
        "reference": ref,
        "list": field.many,
        "required": field.required,
        "refersTo": {"group": group, "kind": resource, "path": path},
        "refused": field.why_not or None,
    }


def print_role(asked: argparse.Namespace) -> int:
    if not _ROLE.fullmatch(asked.name):
        raise UsageError("--name must be letters and digits, with . : _ - after the first one")
    return _print(cluster_role(_generators(asked), asked.name, own=asked.all))


def print_schema(asked: argparse.Namespace) -> int:
    yaml = YAML()
    yaml.width = _WIDTH
    out = StringIO()
    yaml.dump(fragments(_generators(asked)), out)
    return _print(out.getvalue())


def _print(text: str) -> int:
    put_out(text.encode())
    return 0


def _generators(asked: argparse.Namespace) -> list[Generator]:
    return generators(asked.generator, asked.service, asked.crd)
