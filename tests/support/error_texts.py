"""The one registry of error texts: each case makes an error, and its text is in the documentation.

Unit tests may compare with a case instead of quoting a sentence. `make texts` writes changed texts into the pages,
where a comment above a block names its cases. So a changed word is edited once: in the error itself.

docs/troubleshooting/ has every text that CloudFormation shows. Other pages may show some of them, and those of tools.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from strongref import refusals
from strongref.contract.names import Key
from strongref.contract.notices import propagated_text
from strongref.refusals import InUse
from tests.support import function_errors, macro_errors, property_errors
from tests.support.builders import WEB, stack_arn
from tests.support.cloudformation.operations import ExportInUseError
from tests.support.documents import Block, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strongref.errors import StrongRefError

WIDTH = 88
"""Characters of a line: what the site shows without breaking it."""

GROUPS: Mapping[str, Mapping[str, Callable[[], StrongRefError]]] = {
    "export-properties": property_errors.OF_EXPORTS,
    "import-properties": property_errors.OF_IMPORTS,
    "lookup-properties": property_errors.OF_LOOKUPS,
    "lookup-resources": function_errors.RESOURCES,
    "macro-references": macro_errors.REFERENCES,
    "macro-exports": macro_errors.EXPORTS,
    "macro-cdk": macro_errors.CDK,
    "macro-templates": macro_errors.TEMPLATES,
}
"""Cases that one block shows, by the name that stands for all of them there."""

BY_OTHER_NAMES: Mapping[str, Callable[[], StrongRefError]] = {
    **function_errors.BY_OTHER_NAMES,
    **property_errors.BY_OTHER_NAMES,
    **macro_errors.BY_OTHER_NAMES,
}
"""Texts that begin with a name of the user's own, and go on with the words of another case."""

CLOUDFORMATION: Mapping[str, Callable[[], StrongRefError]] = {
    **function_errors.CASES,
    **function_errors.ATTRIBUTES,
    **macro_errors.SEVERAL,
    **{name: make for group in GROUPS.values() for name, make in group.items()},
}
"""What the functions and the macro show in CloudFormation."""

TOOLS: Mapping[str, Callable[[], StrongRefError]] = {
    "readme-in-use": lambda: refusals.ExportsInUseError(
        [InUse("CertificateArn", "changed", (stack_arn("site", "eu-west-1"),))]
    ),
    "accounts-in-use": lambda: refusals.ExportsInUseError(
        [InUse("Cidr", "changed", (function_errors.WEB_OF_B,))], accounts=("222222222222",)
    ),
    "get-started-in-use": lambda: refusals.ExportsInUseError(
        [InUse(name, "changed", (stack_arn("consumer", "us-east-1"),)) for name in ("TopicArn", "TopicName")]
    ),
}
"""What only the tools' own pages show: of the command line and of the packages."""

CASES: Mapping[str, Callable[[], StrongRefError]] = {**CLOUDFORMATION, **BY_OTHER_NAMES, **TOOLS}

NOTICES: Mapping[str, str] = {
    "propagated": propagated_text([(Key("CertArn"), [WEB])]),
    "held": str(ExportInUseError("network-Exports", [function_errors.HOLD])),
}
"""Texts in the stack's events that are no errors of strongref: of a successful change, and CloudFormation's own."""


def text_of(case: str) -> str:
    """The text of a case."""
    return NOTICES.get(case) or str(CASES[case]())


def cases_of(block: Block) -> list[str]:
    """The names of the cases that a block of the documentation shows."""
    named = re.fullmatch(r"<!-- errors?: ([a-z0-9 -]+) -->", block.above)
    assert named, f"{block} has no comment above it that names a case"
    cases = [case for name in named[1].split() for case in GROUPS.get(name, [name])]
    assert {*cases} <= {*CASES, *NOTICES}, f"{block} names a case that does not exist"
    return cases


def texts_in(block: Block) -> list[str]:
    """The texts that a block shows, with an empty line between each two of them."""
    return [" ".join(text.split()) for text in block.text.split("\n\n")]


def filled(cases: Sequence[str]) -> str:
    """The content of a block that shows these cases."""
    return "\n\n".join(
        textwrap.fill(text_of(case), WIDTH, break_long_words=False, break_on_hyphens=False) for case in cases
    )


def main() -> None:
    """Write every text into the page that shows it."""
    for block in blocks("text"):
        cases = cases_of(block)
        if block.text != (now := f"{filled(cases)}\n"):
            opening = f"{block.above}\n```text\n"
            page = block.page.read_text()
            block.page.write_text(page.replace(f"{opening}{block.text}", f"{opening}{now}"))


if __name__ == "__main__":
    main()
