"""`strongref check`: what a deployment would do to a stack's exports, before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.macro.template import FOR_EACH, Template
from strongref.text import some
from strongref_cli.check.checking import StackCheck
from strongref_cli.check.errors import CheckError
from strongref_cli.check.reading import StackReader
from strongref_cli.check.rendering import as_json, as_markdown, as_table
from strongref_cli.check.report import Verdict
from strongref_cli.manifests.manifest_files import STANDARD
from strongref_cli.terminal.options import pairs
from strongref_cli.terminal.output import progress, put_out, wrapped
from strongref_cli.transform.command import template_text
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.templates import read
from strongref_toolkit.errors import UsageError
from strongref_toolkit.session import ToolSession, one_region

if TYPE_CHECKING:
    import argparse


_OUTPUTS = {"table": as_table, "json": as_json, "markdown": as_markdown}


def check_deployment(args: argparse.Namespace, session: ToolSession) -> int:
    """Exit with 1 if something is refused or lost, and with 2 if there is no answer: pipelines tell them apart."""
    try:
        return _checked(args, session)
    except (CheckError, ManifestError) as error:
        raise UsageError(str(error)) from None


def _checked(args: argparse.Namespace, session: ToolSession) -> int:
    if args.parameters and not args.template:
        raise UsageError("--parameters requires --template")
    given = pairs("--parameters", args.parameters)
    if not args.delete and not args.stack:
        raise UsageError("--template and --change-set require --stack")
    if args.delete and args.stack:
        raise UsageError("--delete names the stack itself: leave --stack out")
    region = one_region(args.region)
    template = _template(args.template) if args.template else None
    with progress(f"Checking {args.delete or args.stack}"):
        check = StackCheck(StackReader(session, region))
        if args.delete:
            report = check.deletion(args.delete)
        elif template is None:
            report = check.change_set(args.stack, args.change_set)
        else:
            report = check.template(args.stack, template, given)
    text = _OUTPUTS[args.output](report)
    put_out((wrapped(text) if args.output == "table" else text).encode())
    failing = (Verdict.REFUSED, Verdict.LOST, *((Verdict.UNKNOWN,) if args.strict else ()))
    return int(report.verdict in failing)


def _template(file: str) -> Template:
    name = "standard input" if file == STANDARD else file
    template = read(name, template_text(file, name)).content
    _check_resources(name, template.get("Resources"))
    return template


def _check_resources(file: str, resources: object) -> None:
    """Without them, everything that the stack has would look as if it were removed."""
    found = {dict: "an empty map", list: "a list", type(None): "nothing"}.get(type(resources), "a single value")
    problem = f"it has no Resources, got {found}"
    if isinstance(resources, dict) and resources:
        outside_loops = {name: each for name, each in resources.items() if not name.startswith(FOR_EACH)}
        wrong = [
            name
            for name, each in outside_loops.items()
            if not (isinstance(each, dict) and isinstance(each.get("Type"), str))
        ]
        problem = f"{some(wrong, 5)} in Resources must be a map with a Type" if wrong else ""
    if problem:
        raise ManifestError(file, None, f"{problem}. Pass a CloudFormation template")
