"""`strongref transform`: a template as the macro StrongRef transforms it, or the IAM policy that it needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from strongref.arns import partition_of
from strongref.contract.properties import parse_account
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref.errors import BadRequestError
from strongref.macro.cdk import cdk_references
from strongref.macro.errors import TransformFailedError
from strongref.macro.transform import Settings, plan
from strongref.text import some
from strongref_cli.manifests.manifest_files import STANDARD, failed
from strongref_cli.terminal.options import pairs
from strongref_cli.terminal.output import count, put_out
from strongref_cli.transform.permissions import Principal, policy
from strongref_cli.transform.template_facts import DeploymentTarget
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.template_edits import changed, parameters
from strongref_manifests.text.templates import read
from strongref_toolkit.errors import UsageError, os_problem
from strongref_toolkit.files import write
from strongref_toolkit.messages import tell

if TYPE_CHECKING:
    import argparse


_SETTINGS = {"region": None, "account": None, "stack": None, "partition": None, "application": "strongref"}
"""The options that describe the deployment for `--iam`, with their defaults."""


def transform_template(args: argparse.Namespace) -> int:
    target = _target(args)
    name = "standard input" if args.template == STANDARD else args.template
    template = read(name, template_text(args.template, name))
    try:
        changes = plan(template.content, Settings.parse(parameters(template.content)))
    except TransformFailedError as error:
        places = ((template.line(problem.path), problem) for problem in error.problems)
        problems = [f"{template.file}{f', line {line}' if line else ''}: {problem}" for line, problem in places]
        return failed((), problems, "problem")
    if args.iam:
        known = template.content.get("Parameters") or {}
        if unknown := [name for name in target.parameters if name not in known]:
            raise UsageError(f"--parameter: the template has no {some(unknown)}")
        document = policy(changes.apply(template.content), Principal(args.iam), target)
        put_out(f"{json.dumps(document, indent=2)}\n".encode())
        return 0
    result = changed(template, changes)
    if args.out:
        write({Path(args.out): result.encode()})
    elif not args.check:
        put_out(result.encode())
    types = [each.value.get("Type") for each in changes.additions if isinstance(each.value, Mapping)]  # else a loop
    done = [count(len(changes.replacements), "reference")]
    done += [count(types.count(IMPORT_TYPE), "Import"), count(types.count(EXPORT_TYPE), "Export")]
    tell("note", ", ".join(done))
    if left := cdk_references(template.content)[0].left:
        tell("note", f"left to the CDK, since each deployment renames Lambda versions: {some(left)}")
    return 0


def _target(args: argparse.Namespace) -> DeploymentTarget:
    values = pairs("--parameter", args.parameter)
    given = {name: getattr(args, name) for name in _SETTINGS}
    for name in (*_SETTINGS, "parameter"):
        if getattr(args, name) not in (None, [], _SETTINGS.get(name)) and not args.iam:
            raise UsageError(f"--{name} requires --iam")
    given["partition"] = given["partition"] or partition_of(given["region"] or "")
    if target_account := given["account"]:
        try:
            parse_account("--account", target_account)
        except BadRequestError as error:
            raise UsageError(str(error)) from None
    return DeploymentTarget(parameters=values, **{name: value for name, value in given.items() if value is not None})


def template_text(template: str, name: str) -> str:
    try:
        return (sys.stdin.buffer.read() if template == STANDARD else Path(template).read_bytes()).decode()
    except OSError as error:
        raise UsageError(f"{name}: {os_problem(error)}.") from None
    except UnicodeDecodeError:
        raise ManifestError(name, None, "it is not text in UTF-8") from None
