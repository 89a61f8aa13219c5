"""`strongref transform`: what the macro StrongRef makes of a template, and what the template needs from IAM."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strongref.contract.properties import parse_account, parse_region
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref.errors import BadRequestError
from strongref.macro.errors import TransformFailedError
from strongref.macro.transform import Settings, plan
from strongref.text import os_problem, some
from strongref_cli.jobs import STANDARD, count
from strongref_cli.output import put_out
from strongref_cli.parsing import register
from strongref_cli.permissions import (
    Principal,
    policy,
)
from strongref_cli.template_facts import DeploymentTarget
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.template_edits import changed, parameters
from strongref_manifests.text.templates import read
from strongref_toolkit.errors import UsageError
from strongref_toolkit.files import write

if TYPE_CHECKING:
    import argparse

    from strongref.macro.edits import TemplateEdits
    from strongref_cli.parsing import Commands
    from strongref_manifests.text.templates import TemplateText
    from strongref_toolkit.toolbox import Toolbox


def add(commands: Commands) -> None:
    """The command."""
    command = register(commands, "transform", "a template with its references made Imports, as by the macro StrongRef")
    command.add_argument("template", metavar="TEMPLATE", help="a file in YAML or JSON; - for standard input")
    where = command.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    where.add_argument("--check", action="store_true", help="say what is wrong, and write nothing")
    where.add_argument(
        "--iam",
        choices=[each.value for each in Principal],
        help="instead of the template, the policy that this one needs for it: JSON",
    )
    command.add_argument("--region", help="of the policy: where the template is deployed")
    command.add_argument("--account", help="of the policy: in which account")
    command.add_argument("--stack", help="of the policy: the stack's name")
    command.add_argument("--partition", default="aws", help="of the policy: aws, aws-cn or aws-us-gov")
    command.add_argument("--application", default="strongref", help="of the policy: the stack that strongref is in")
    command.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the policy: a parameter; repeatable"
    )
    command.set_defaults(do=_transform)


def _transform(asked: argparse.Namespace, _toolbox: Toolbox) -> int:
    setting = _setting(asked)
    name = "standard input" if asked.template == STANDARD else asked.template
    template = read(name, _text(asked.template, name))
    try:
        changes = plan(template.content, Settings.parse(parameters(template.content)))
    except TransformFailedError as error:
        for problem in error.problems:
            sys.stderr.write(f"{_where(template, problem.path)}: {problem}\n")
        count = len(error.problems)
        sys.stderr.write(f"strongref: {count} {'problem' if count == 1 else 'problems'}. Nothing was written.\n")
        return 1
    if asked.iam:
        _check_parameters(template, setting)
        document = policy(changes.apply(template.content), Principal(asked.iam), setting)
        put_out(f"{json.dumps(document, indent=2)}\n".encode())
        return 0
    result = changed(template, changes)
    if asked.out:
        write({Path(asked.out): result.encode()})
    elif not asked.check:
        put_out(result.encode())
    sys.stderr.write(f"strongref: {_done(changes)}\n")
    return 0


def _setting(asked: argparse.Namespace) -> DeploymentTarget:
    if asked.out == "":
        raise UsageError("-o is empty: is a variable not set?")
    given = dict(each.partition("=")[::2] for each in asked.parameter)
    if not all("=" in each for each in asked.parameter):
        raise UsageError("--parameter: a name and a value with = between them are needed")
    told = {name: getattr(asked, name) for name in ("region", "account", "stack", "partition", "application")}
    for name, value in told.items():
        if value == "":
            raise UsageError(f"--{name} is empty: is a variable not set?")
        if value not in (None, {"partition": "aws", "application": "strongref"}.get(name)) and not asked.iam:
            raise UsageError(f"--{name} is for --iam alone")
    for name, rule in (("region", parse_region), ("account", parse_account)):
        if told[name] is not None:
            try:
                rule(f"--{name}", told[name])
            except BadRequestError as error:
                raise UsageError(f"--{name}: {error.problem}") from None
    if given and not asked.iam:
        raise UsageError("--parameter is for --iam alone")
    return DeploymentTarget(parameters=given, **{name: value for name, value in told.items() if value is not None})


def _check_parameters(template: TemplateText, setting: DeploymentTarget) -> None:
    known = template.content.get("Parameters") or {}
    unknown = [name for name in setting.parameters if name not in known]
    if unknown:
        raise UsageError(f"--parameter: the template has no {some(unknown)}")


def _text(template: str, name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if template == STANDARD else Path(template).read_bytes()
    except OSError as error:
        problem = os_problem(error)
    else:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            problem = "it is not text in UTF-8"
    raise ManifestError(name, None, problem)


def _where(template: TemplateText, path: tuple[str | int, ...]) -> str:
    line = template.line(path)
    return f"{template.file}, line {line}" if line else template.file


def _done(changes: TemplateEdits) -> str:
    types = [each.value.get("Type") for each in changes.additions]
    told = [
        count(len(changes.replacements), "reference"),
        count(types.count(IMPORT_TYPE), "Import"),
        count(types.count(EXPORT_TYPE), "Export"),
    ]
    return ", ".join(told)
