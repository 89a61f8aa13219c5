"""What leaves a Writer of the CDK while a stack may still read it. Pure.

A Reader tags what it reads, and a Writer refused to drop that until aws-cdk-lib 2.257. Since 2.258, none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from strongref.errors import StrongRefError
from strongref.macro.cdk import WRITER
from strongref.text import some
from strongref_cli.check.report import StackFinding, Verdict
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from strongref_cli.check.version import StackVersion

_READ_BY = "aws-cdk:strong-ref:"


def left_writers(
    old: StackVersion, new: StackVersion | None, tags: Callable[[str, str], Mapping[str, str]]
) -> Iterator[StackFinding]:
    """The parameters that Writers drop and Readers still use.

    `new` is None if the stack is deleted. `tags` returns the tags of a parameter, given its region and name.
    """
    for region, name in sorted(_written(old) - (_written(new) if new else set())):
        try:
            readers = sorted(tag.removeprefix(_READ_BY) for tag in tags(region, name) if tag.startswith(_READ_BY))
        except StrongRefError as error:
            text = f"Whether a stack still reads {name} of a CDK Writer is unknown: {error}"
            yield StackFinding(Verdict.UNKNOWN, text)
            continue
        if readers:
            text = f"{name} leaves a CDK Writer, and {some(readers)} in {region} still reads it. "
            text += "A Writer of aws-cdk-lib 2.258 or later deletes it anyway; earlier ones refuse. "
            yield StackFinding(Verdict.LOST, f"{text}Deploy what reads it first, without its Reader.")


def _written(version: StackVersion) -> set[tuple[str, str]]:
    """The parameters that the Writers of a version write, by region and name."""
    given = (
        mapping(mapping(version.resources[each].properties).get("WriterProps")) for each in version.of_type(WRITER)
    )
    return {(str(each.get("region")), name) for each in given for name in mapping(each.get("exports"))}
