"""docs/troubleshooting/: every text that CloudFormation can show is found there.

What can be shown is read from the code: from the classes of errors, and from the places that construct them.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from string import Formatter
from typing import TYPE_CHECKING

import pytest

import strongref
from strongref.errors import StrongRefError
from tests.support.documents import ROOT, Block, blocks
from tests.support.error_texts import BY_OTHER_NAMES, CLOUDFORMATION, NOTICES, TOOLS, cases_of, text_of, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FOLDER = ROOT / "docs/troubleshooting"
FIRST_WORDS = 6
"""How many words of a text people search for."""

CODE = [
    path
    for package in ("runtime", "protocol", "contract", "lookup", "macro", "aws")
    for path in sorted((ROOT / "layers/core/strongref" / package).glob("*.py"))
]
"""What the functions of the custom resources and of the macro run."""

NEVER_SHOWN = {
    "StrongRefError": "has no text",
    "TemplateError": "has no text without a problem, which its subclasses have",
    "PartialCreateError": "has the text of the error in it",
    "WaitInterruptedError": "has the text of the error in it",
    "PropertiesAskedError": "is caught where resources are listed",
    "LookUpDeniedError": "is a LookupPolicyError in CloudFormation",
    "EventRejectedError": "gets no response; the log has it",
    "EventPendingError": "gets none yet; the log has it",
    "JanitorUnfinishedError": "is the janitor's; the log has it",
    "MalformedEventError": "is about events that CloudFormation does not send",
    "BadEndpointError": "needs an endpoint in the environment, as on one's own machine",
    "DeliveryError": "says that there was no response; the log has it",
    "BadArnError": "is a MalformedEventError in CloudFormation",
}
"""The errors of the package that CloudFormation does not show, and why."""

NOT_SHOWN_FROM = {"lookup/query.py": "the properties of a lookup are checked before, with texts of their own"}
"""The modules whose own texts CloudFormation does not show, and why."""

OTHER_WORDS = {
    "the event's fragment must be a map": "CloudFormation sends a map",
    "must be a number of": "a function does not start with such an environment",
    "any region": "the text is of commands",
    **dict.fromkeys(
        (
            *("a boolean", "a function", "a list of references", "one reference", "another deployment", "in progress"),
            *("of an unknown version", "and the given properties", "See its events", "cannot be imported"),
            *("an Import of", "the condition of", "an output that the macro adds for an Export"),
        ),
        "what a text that is here has a place for",
    ),
}
"""What errors are constructed with and is no text of its own on the pages, and why."""


def is_here(block: Block) -> bool:
    return FOLDER in block.page.parents


@cache
def everything() -> str:
    """All pages, as a search sees them: words with single spaces between them."""
    return " ".join(" ".join(path.read_text().split()) for path in sorted(FOLDER.glob("*.md")))


@cache
def shown() -> str:
    """All texts on the pages."""
    return "\n".join(text for block in blocks("text") if is_here(block) for text in texts_in(block))


@pytest.mark.parametrize("case", [*CLOUDFORMATION, *NOTICES])
def test_a_text_is_found_by_its_first_words(case: str) -> None:
    assert " ".join(text_of(case).split()[:FIRST_WORDS]) in everything()


@pytest.mark.parametrize("case", BY_OTHER_NAMES)
def test_a_text_is_found_by_the_words_after_its_first_name(case: str) -> None:
    assert " ".join(text_of(case).split()[1:FIRST_WORDS]) in shown()


def test_a_tools_text_is_on_some_page() -> None:
    on_pages = {case for block in blocks("text") for case in cases_of(block)}
    assert set(TOOLS) - on_pages == set()


@pytest.mark.parametrize("block", blocks("text"), ids=str)
def test_a_block_shows_what_its_errors_say(block: Block) -> None:
    assert texts_in(block) == [" ".join(text_of(case).split()) for case in cases_of(block)]


def test_no_text_is_here_twice() -> None:
    here = [case for block in blocks("text") if is_here(block) for case in cases_of(block)]
    assert sorted(here) == sorted(set(here))


@cache
def errors() -> dict[str, type[StrongRefError]]:
    """Every error of the package, by name."""
    for module in walk_packages(strongref.__path__, "strongref."):
        import_module(module.name)
    return {kind.__name__: kind for kind in _below(StrongRefError) if kind.__module__.startswith("strongref.")}


def _below(kind: type[StrongRefError]) -> Iterator[type[StrongRefError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)


def whose_text(kind: type[StrongRefError]) -> str:
    """The class that has the text of a class: itself, or one that it inherits the text from."""
    return next(each.__name__ for each in kind.__mro__ if {"sentence", "problem", "__str__"} & vars(each).keys())


def test_every_error_that_can_be_shown_is_here() -> None:
    here = {whose_text(type(make())) for make in CLOUDFORMATION.values()}
    assert {whose_text(kind) for kind in errors().values()} - here == set(NEVER_SHOWN)


@pytest.mark.parametrize("name", [name for name, kind in errors().items() if "sentence" in vars(kind)])
def test_the_constant_words_of_an_error_are_here(name: str) -> None:
    if whose_text(errors()[name]) not in NEVER_SHOWN:
        assert [words for words in _words(literal for literal, *_ in _parsed(name)) if words not in shown()] == []


def _parsed(name: str) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    return iter(list(Formatter().parse(errors()[name].sentence)))


def _words(literals: Iterator[str]) -> Iterator[str]:
    """The literals that a person could search for."""
    for literal in literals:
        words = " ".join(literal.strip(" .,:;()'").split())
        if " " in words:
            yield words


MAKERS = {"must_be", "_string"}
"""Functions that make errors of what they are given."""


@pytest.mark.parametrize("path", CODE, ids=lambda path: "/".join(path.parts[-2:]))
def test_what_the_code_says_in_an_error_is_here(path: Path) -> None:
    if "/".join(path.parts[-2:]) not in NOT_SHOWN_FROM:
        said = [words for words in _words(_said(ast.parse(path.read_text()))) if words not in OTHER_WORDS]
        assert [words for words in said if words not in shown()] == []


def _said(module: ast.Module) -> Iterator[str]:
    """The literal parts of what errors are constructed with."""
    assigned = defaultdict(list)
    for name, value in _assigned(module):
        assigned[name].append(value)
    for call in (node for node in ast.walk(module) if isinstance(node, ast.Call)):
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name in MAKERS or (name in errors() and name not in NEVER_SHOWN):
            for argument in (*call.args, *(each.value for each in call.keywords)):
                yield from _literals(argument, assigned)
        elif name == "Property":
            yield from (text for each in call.keywords if each.arg == "required" for text in _literals(each.value, {}))


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names of the module that something is assigned to, and what."""
    for node in ast.walk(module):
        if isinstance(node, ast.Assign):
            targets = [name.id for each in node.targets for name in ast.walk(each) if isinstance(name, ast.Name)]
            yield from ((name, node.value) for name in targets)


def _literals(node: ast.expr, assigned: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    found, names = [node], set[str]()
    while found:
        for each in ast.walk(found.pop()):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value
            elif isinstance(each, ast.Name) and each.id not in names:
                names.add(each.id)
                found += assigned.get(each.id, ())


HEADING = re.compile(r"^##+ (.*….*)$", re.MULTILINE)


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.name)
def test_a_heading_has_the_words_of_a_text_below_it(page: Path) -> None:
    for heading, section in _sections(page.read_text()):
        for constant in (part.strip() for part in heading.split("…")):
            assert constant in " ".join(section.split()), heading


def _sections(text: str) -> Iterator[tuple[str, str]]:
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        heading, _, below = section.partition("\n")
        if "…" in heading:
            yield heading, below


@pytest.mark.parametrize(
    "words",
    [
        *("did not receive a response", "failed to stabilize", "Exports cannot be updated"),
        *("Some exports have changed", "cannot be updated as it is in use", "Response object is too long"),
        "Number of dynamic references",
        *("deadly embrace", "Lambda@Edge", "opt-in region", "stack refactoring", "UPDATE_ROLLBACK_FAILED"),
    ],
)
def test_the_words_of_cloudformation_and_of_the_cdk_are_found(words: str) -> None:
    assert any(words.lower() in page.read_text().lower() for page in FOLDER.glob("*.md"))
