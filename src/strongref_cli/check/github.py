"""Reports for GitHub Actions: annotations of the templates, and the summary of the job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from strongref_cli.check.report import StackReport, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LEVELS = {Verdict.UNKNOWN: "warning", Verdict.LOST: "error", Verdict.REFUSED: "error"}


def annotated(report: StackReport, file: str) -> Iterator[str]:
    """A workflow command for each reason of a verdict (GitHub: workflow commands for GitHub Actions)."""
    for stack in report.all_stacks:
        for verdict, text in stack.reasons:
            if verdict in _LEVELS:
                title = _escaped(f"{stack.stack} ({stack.region}) {verdict}").replace(":", "%3A").replace(",", "%2C")
                yield f"::{_LEVELS[verdict]} file={_escaped(file)},title={title}::{_escaped(text)}"


def add_to_summary(reports: Iterable[str]) -> None:
    """Add reports in Markdown to the summary of the step that runs, if it is one of GitHub's."""
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write("\n".join(reports))


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
