"""`strongref refs`: reference fields of manifests, as for ACK's controllers.

`resolve` replaces references with values, `fields` lists the fields, `rbac` and `schema` write what a cluster needs.
"""

from __future__ import annotations

import argparse
import json
import re
from io import StringIO
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from strongref_cli import refs_resolving
from strongref_cli.jobs import check_not_empty
from strongref_cli.output import put_out
from strongref_cli.parsing import register
from strongref_refs.crds import fragments
from strongref_refs.names import plural
from strongref_refs.rbac import NAME, cluster_role
from strongref_refs.wiring import generators
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref_cli.parsing import Commands
    from strongref_refs.base import Field, Generator, Kind
    from strongref_toolkit.toolbox import Toolbox

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]*")
"""A role's name, as those of Kubernetes' own roles."""

_WIDTH = 120
_HEAD = ("KIND", "FIELD", "REFERENCE", "REFERS TO", "GROUP", "PATH", "")


def add(commands: Commands) -> None:
    """Add the command, with its own commands."""
    own = register(commands, "refs", "reference fields of manifests, by the rules of ACK's controllers")
    below = own.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--generator",
        action="append",
        metavar="FILE",
        help="generator.yaml of a controller; repeatable",
    )
    common.add_argument("--service", help="service of the controller, as in ec2; by default from its folder")
    common.add_argument(
        "--crd",
        action="append",
        default=[],
        metavar="FILE",
        help="files or folders with CRDs, which have the types of fields; repeatable",
    )
    refs_resolving.add(below, common)
    fields = register(below, "fields", "list all reference fields, and what they refer to", parents=[common])
    fields.add_argument("--json", action="store_true", help="print one JSON object per line")
    fields.set_defaults(do=_fields)
    rbac = register(below, "rbac", "write the ClusterRole for reading referenced objects", parents=[common])
    rbac.add_argument("--name", default=NAME, help=f"name of the role; default: {NAME}")
    rbac.add_argument("--all", action="store_true", help="include what the controllers' own roles allow already")
    rbac.set_defaults(do=_rbac)
    schema = register(below, "schema", "write what reference fields add to the schemas of CRDs", parents=[common])
    schema.set_defaults(do=_schema)


def _fields(asked: argparse.Namespace, _toolbox: Toolbox) -> int:
    found = [(kind, field) for given in _generators(asked) for kind in given.kinds for field in kind.fields]
    rows = [(*_row(kind, field), _note(kind.why_not(field))) for kind, field in found]
    lines = (_as_json(*each) for each in found) if asked.json else _table([_HEAD, *rows])
    return _print("".join(f"{line}\n" for line in lines))


def _row(kind: Kind, field: Field) -> tuple[str, ...]:
    reference = field.reference
    own = ".".join(field.steps)
    ref = ".".join((*field.steps[:-1], field.reference_step))
    return kind.name, own, ref, reference.resource, reference.group, reference.path


def _note(why_not: str) -> str:
    return f"refused: {why_not}" if why_not else ""


def _as_json(kind: Kind, field: Field) -> str:
    name, own, ref, resource, group, path = _row(kind, field)
    why_not = kind.why_not(field)
    return json.dumps(
        {
            "group": kind.group,
            "kind": name,
            "field": own,
            "reference": ref,
            "list": field.many,
            "required": field.required,
            "refersTo": {"group": group, "kind": resource, "path": path},
            **({"refused": why_not} if why_not else {}),
        }
    )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _rbac(asked: argparse.Namespace, _toolbox: Toolbox) -> int:
    if not _ROLE.fullmatch(asked.name):
        raise UsageError("--name must be letters and digits, with . : _ - after the first one")
    return _print(cluster_role(_generators(asked), asked.name, plural, own=asked.all))


def _schema(asked: argparse.Namespace, _toolbox: Toolbox) -> int:
    yaml = YAML()
    yaml.width = _WIDTH
    out = StringIO()
    yaml.dump(fragments(_generators(asked), plural), out)
    return _print(out.getvalue())


def _print(text: str) -> int:
    put_out(text.encode())
    return 0


def _generators(asked: argparse.Namespace) -> list[Generator]:
    check_not_empty({"--generator": asked.generator or (), "--service": [asked.service], "--crd": asked.crd})
    return generators(asked.generator, asked.service, asked.crd)
