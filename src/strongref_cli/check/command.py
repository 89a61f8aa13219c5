"""`strongref check`: what a deployment would do to a stack's exports, before it begins. No value is shown.

A report is shown as text for a terminal, as JSON, or as Markdown for a comment. For GitHub Actions it also annotates
the templates, and is in the summary of the job.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.errors import where_text
from strongref.macro.loops import FOR_EACH
from strongref.text import some, stack_text
from strongref_cli.check.checking import StackCheck
from strongref_cli.check.reading import StackReader
from strongref_cli.check.report import (
    ChangeKind,
    ExportPrediction,
    ImportPrediction,
    StackFinding,
    StackReport,
    ValueChange,
    Verdict,
)
from strongref_cli.check.stacks_file import ListedStack, read_stacks
from strongref_cli.manifests.manifest_files import STANDARD
from strongref_cli.overview.texts import ALL_IMPORTERS, MOST_IMPORTERS, importer_document
from strongref_cli.terminal.output import escaped, progress, put_out, wrapped
from strongref_cli.terminal.parameter_files import parameters
from strongref_cli.transform.command import template_text
from strongref_manifests.errors import ManifestError
from strongref_manifests.text.templates import TemplateText, read
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import document_text, mapping
from strongref_toolkit.session import ToolSession, one_region

if TYPE_CHECKING:
    import argparse
    from datetime import datetime


def check_deployment(args: argparse.Namespace, session: ToolSession) -> int:
    """Exit with 1 if something is refused or lost, and with 2 if there is no answer: pipelines tell them apart."""
    _check_usage(args)
    try:
        listed = read_stacks(args.stacks) if args.stacks else [_asked(args)]
        templates = [_template(each.template) if each.template else None for each in listed]
        assumed = {name: _template(file).content for name, file in map(_assumed, args.assume)}
        if args.stacks:
            assumed |= {each.stack: found.content for each, found in zip(listed, templates, strict=True) if found}

        @cache  # what the stacks of a region share is read once
        def check_in(region: str) -> StackCheck:
            return StackCheck(StackReader(session, region, args.role)).assuming(assumed)

        reports = []
        for each, template in zip(listed, templates, strict=True):
            with progress(f"Checking {each.stack}"):
                reports.append(_report(args, each, template, check_in(one_region(each.region or args.region))))
    except ManifestError as error:
        raise UsageError(str(error)) from None
    markdown = "\n".join(map(as_markdown, reports))
    if args.output == "json":
        put_out(as_json(reports, args.as_of).encode())
    elif args.output == "markdown":
        put_out(markdown.encode())
    else:
        put_out(wrapped("\n".join(map(as_table, reports)), _COLORS).encode())
    if args.github:
        found = [line for each, at in zip(reports, listed, strict=True) for line in _annotated(each, at.template)]
        put_out("".join(f"{line}\n" for line in found).encode())
        _add_to_summary(markdown)
    failing = (Verdict.REFUSED, Verdict.LOST, *((Verdict.UNKNOWN,) if args.strict else ()))
    return int(any(each.verdict in failing for each in reports))


def _check_usage(args: argparse.Namespace) -> None:
    if args.parameters and not args.template:
        raise UsageError("--parameters requires --template")
    if (args.template or args.change_set) and not args.stack:
        raise UsageError("--template and --change-set require --stack")
    if (args.delete or args.stacks) and args.stack:
        raise UsageError("--delete and --stacks name the stacks themselves: leave --stack out")
    if args.new and not args.template:
        raise UsageError("--new requires --template")
    if args.create_change_set and not (args.template or args.stacks):
        raise UsageError("--create-change-set requires --template or --stacks")


def _asked(args: argparse.Namespace) -> ListedStack:
    given = parameters("--parameters", args.parameters)
    return ListedStack(args.delete or args.stack, args.template or "", args.region, given, new=args.new)


def _report(
    args: argparse.Namespace, asked: ListedStack, template: TemplateText | None, check: StackCheck
) -> StackReport:
    if template and (args.strict or asked.new):
        check.expect(asked.stack, new=asked.new)
    if args.delete:
        return check.deletion(args.delete)
    if template is None:
        return check.change_set(asked.stack, args.change_set)
    if args.create_change_set:
        return check.made_change_set(asked.stack, template, asked.parameters)
    return check.template(asked.stack, template.content, asked.parameters)


def _assumed(given: str) -> tuple[str, str]:
    """The name of a stack and its template: `NAME=FILE`, or a file that is named for its stack."""
    name, is_named, file = given.partition("=")
    return (name, file) if is_named else (Path(given).stem, given)


def _template(file: str) -> TemplateText:
    name = "standard input" if file == STANDARD else file
    template = read(name, template_text(file, name))
    if problem := _problem_of(template.content.get("Resources")):
        raise ManifestError(name, None, f"{problem}. Pass a CloudFormation template")
    return template


def _problem_of(resources: object) -> str:
    """Without resources, everything that the stack has would look as if it were removed."""
    if not isinstance(resources, dict) or not resources:
        found = {dict: "an empty map", list: "a list", type(None): "nothing"}.get(type(resources), "a single value")
        return f"it has no Resources, got {found}"
    outside_loops = {name: mapping(each) for name, each in resources.items() if not name.startswith(FOR_EACH)}
    wrong = [name for name, each in outside_loops.items() if not isinstance(each.get("Type"), str)]
    return f"{some(wrong, 5)} in Resources must be a map with a Type" if wrong else ""


def as_table(report: StackReport) -> str:
    return "".join(f"{line}\n" for each in report.all_stacks for line in _lines(each))


def as_json(reports: Sequence[StackReport], as_of: datetime) -> str:
    return document_text({"stacks": list(map(_document, reports))}, as_of)


def as_markdown(report: StackReport) -> str:
    """A comment for a pull request."""
    return "\n".join(line for each in report.all_stacks for line in _markdown(each))


def _lines(report: StackReport) -> Iterator[str]:
    yield f"{report.stack} ({report.region}): {report.verdict}"
    for each in report.resources:
        yield f"  {each.logical_id}: {each.verdict}"
        yield from (f"    {reason}" for reason in each.reasons)
        shown = _shown(each)
        widths = [max(map(len, column)) for column in zip(*map(_row, shown), strict=True)]
        for change in shown:
            cells = "  ".join(cell.ljust(width) for cell, width in zip(_row(change), widths, strict=True))
            yield f"    {cells}  {_details(change, 'imported by ')}".rstrip()
        yield from (f"    {text}" for text in _rest(each))
    yield from (f"  {_kind(finding)}: {finding.text}" for finding in report.findings)
    if not report.resources:
        yield "  no Exports"


def _markdown(report: StackReport) -> Iterator[str]:
    yield f"### {_ICONS[report.verdict]} `{report.stack}` ({report.region}): {report.verdict}\n"
    for each in report.resources:
        yield f"**{each.logical_id}: {each.verdict}**\n"
        yield from (f"> {escaped(reason)}\n" for reason in each.reasons)
        shown = _shown(each)
        if shown:
            yield "| Change | Value | Region | Consumer | Imported by |\n|---|---|---|---|---|"
            for change in shown:
                cells = " | ".join(f"`{cell}`" if at else cell for at, cell in enumerate(_row(change)))
                yield f"| {cells} | {escaped(_details(change))} |"
            yield ""
        yield from (f"{text}\n" for text in _rest(each))
    yield from (f"- **{_kind(finding)}**: {escaped(finding.text)}" for finding in report.findings)
    yield ""


def _document(report: StackReport) -> dict[str, Any]:
    return {
        "stack": report.stack,
        "region": report.region,
        "verdict": report.verdict,
        "exports": [
            _resource_document(each) | {"changes": list(map(_change_document, each.changes))} for each in report.exports
        ],
        "imports": list(map(_resource_document, report.imports)),
        "findings": [{"verdict": each.verdict, "text": each.text} for each in report.findings],
        "nested": [_document(each) for each in report.nested],
    }


def _resource_document(each: ImportPrediction) -> dict[str, Any]:
    return {"logicalId": each.logical_id, "verdict": each.verdict, "reasons": list(each.reasons)}


def _change_document(change: ValueChange) -> dict[str, Any]:
    return {
        "change": change.kind,
        "key": change.name,
        "region": change.region,
        **({"account": change.account} if change.account else {}),
        "consumer": change.consumer,
        "importers": list(map(importer_document, change.importers)),
        **({"because": change.because} if change.because else {}),
    }


_COLORS = {
    f"(?<=: ){Verdict.ACCEPTED}$": "green",
    f"(?<=: )({Verdict.UNKNOWN}|{Verdict.LOST})$": "yellow",
    f"(?<=: ){Verdict.REFUSED}$": "red",
}
_ICONS = {Verdict.ACCEPTED: "✅", Verdict.UNKNOWN: "❔", Verdict.LOST: "⚠️", Verdict.REFUSED: "⛔"}
_LEVELS = {Verdict.UNKNOWN: "warning", Verdict.LOST: "error", Verdict.REFUSED: "error"}
"""Of GitHub's annotations."""


def _kind(finding: StackFinding) -> str:
    return "note" if finding.verdict is Verdict.ACCEPTED else finding.verdict


def _shown(resource: ImportPrediction) -> list[ValueChange]:
    changes = resource.changes if isinstance(resource, ExportPrediction) else ()
    return [each for each in changes if each.kind is not ChangeKind.UNCHANGED]


def _rest(resource: ImportPrediction) -> Iterator[str]:
    if isinstance(resource, ExportPrediction):
        unchanged = len(resource.changes) - len(_shown(resource))
        if unchanged or (not resource.changes and resource.verdict is Verdict.ACCEPTED):
            yield f"{unchanged:,} unchanged" if unchanged else "nothing changes"
        if any(len(change.importers) > MOST_IMPORTERS for change in _shown(resource)):
            yield ALL_IMPORTERS


def _row(change: ValueChange) -> tuple[str, str, str, str]:
    return change.kind, change.name, where_text(change.region, change.account), change.consumer


def _details(change: ValueChange, imported: str = "") -> str:
    parts = [f"{imported}{some(map(stack_text, change.importers), MOST_IMPORTERS)}"] if change.importers else []
    parts += [change.because] if change.because else []
    return "; ".join(parts)


def _annotated(report: StackReport, file: str) -> Iterator[str]:
    """A workflow command for each reason of a verdict (GitHub: workflow commands for GitHub Actions)."""
    for stack in report.all_stacks:
        for verdict, text in stack.reasons:
            if verdict in _LEVELS:
                title = _encoded(f"{stack.stack} ({stack.region}) {verdict}").replace(":", "%3A").replace(",", "%2C")
                yield f"::{_LEVELS[verdict]} file={_encoded(file)},title={title}::{_encoded(text)}"


def _add_to_summary(text: str) -> None:
    """Add Markdown to the summary of the step that runs, if it is one of GitHub's."""
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(text)


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
