"""The documentation as data: its pages, code blocks and tables, and its templates as CloudFormation would read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from strongref.contract.names import StackArn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXAMPLES = sorted(ROOT.glob("examples/*/*.yaml"))

_TEMPLATE = "# template: "


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of code.

    Attributes:
        above: the line above its fence: a comment there may say what it is.
    """

    page: Path
    line: int
    language: str
    text: str
    above: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def template(self) -> str | None:
        """The template's name, if it is a whole one."""
        first = self.text.partition("\n")[0]
        return first.removeprefix(_TEMPLATE) if first.startswith(_TEMPLATE) else None


def blocks(language: str) -> list[Block]:
    """Every block of a language, on every page."""
    return [block for page in PAGES for block in _blocks(page) if block.language == language]


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    text = (ROOT / page).read_text()
    section = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    lines = section[section.index("|") :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names_in(table: list[list[str]]) -> set[str]:
    """What stands in backticks in a table's first column."""
    return {name for first, *_ in table for name in re.findall("`([^`]+)`", first)}


def example(name: str) -> str:
    """The text of an example's template, without the comment on top."""
    lines = (ROOT / "examples" / f"{name}.yaml").read_text().splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return "".join(lines[start:])


def load(text: str) -> dict[str, Any]:
    """A template's content, with the short forms of intrinsic functions as the long ones."""
    loaded = yaml.load(text, _Loader)  # noqa: S506 (a SafeLoader)
    assert isinstance(loaded, dict)
    return loaded


class Deployment:
    """A template at work: what CloudFormation makes of its intrinsic functions.

    Attributes:
        attributes: of the resources that were really made; those of the others are made up.
    """

    def __init__(self, template: Mapping[str, Any], stack: str) -> None:
        self.template = template
        self.stack = StackArn.parse(stack)
        self.attributes: dict[str, Mapping[str, object]] = {}

    def custom_resources(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Logical id, type and properties of each, as its function gets them."""
        resources = self.template.get("Resources", self.template)
        for logical_id, resource in resources.items():
            if resource["Type"].startswith("Custom::"):
                yield logical_id, resource["Type"], self.sent(resource["Properties"])

    def sent(self, value: Any) -> Any:
        """A value with its functions resolved, and every scalar as a string."""
        if isinstance(value, dict):
            if len(value) == 1:
                (name, argument), *_ = value.items()
                if name == "Ref" or name.startswith("Fn::"):
                    return self._resolve(name, argument)
            return {key: self.sent(below) for key, below in value.items()}
        if isinstance(value, list):
            return [self.sent(item) for item in value]
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else str(value)

    def _resolve(self, name: str, argument: Any) -> Any:
        functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": lambda given: self._attribute(given[0], given[1]),
            "Fn::Sub": lambda text: re.sub(r"\$\{([^}]+)\}", lambda found: self._named(found[1]), text),
            "Fn::ImportValue": lambda given: f"imported-{self.sent(given)}",
            "Fn::Join": lambda given: given[0].join(self.sent(given[1])),
            "Fn::Select": lambda given: self.sent(given[1])[given[0]],
            "Fn::Cidr": lambda _: [f"10.0.{number}.0/24" for number in range(4)],
            "Fn::GetAZs": lambda _: [f"{self.stack.region}{zone}" for zone in "abc"],
        }
        return functions[name](argument)

    def _named(self, name: str) -> str:
        resource, _, attribute = name.partition(".")
        return str(self._attribute(resource, attribute) if attribute else self._ref(name))

    def _ref(self, name: str) -> Any:
        pseudo = {
            "AWS::AccountId": self.stack.account,
            "AWS::Region": self.stack.region,
            "AWS::StackName": self.stack.name,
        }
        if name in pseudo:
            return pseudo[name]
        parameter = self.template.get("Parameters", {}).get(name)
        if parameter is None:
            return f"the-id-of-{name}"
        default = str(parameter.get("Default", "given-by-hand"))
        return default.split(",") if parameter["Type"] == "CommaDelimitedList" else default

    def _attribute(self, resource: str, attribute: str) -> Any:
        if resource in self.attributes:
            return self.attributes[resource][attribute]
        return f"the-{attribute}-of-{resource}"


class _Loader(yaml.CSafeLoader):
    """YAML with CloudFormation's tags."""


def _function(loader: yaml.CSafeLoader, name: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        argument: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        argument = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        argument = loader.construct_mapping(node, deep=True)
    if name == "GetAtt":
        argument = argument.split(".", 1)
    return {name if name in ("Ref", "Condition") else f"Fn::{name}": argument}


_Loader.add_multi_constructor("!", _function)


def _blocks(page: Path) -> Iterator[Block]:
    """A block in a content tab is indented, and so is what stands in it.

    `<!-- kind: macro -->` above a block of yaml makes its language `yaml macro`. The site takes one word after a fence.
    """
    above, start, indent = "", 0, ""
    language: str | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if language is None and (fence := re.fullmatch(r"( *)```(.*)", line)):
            kind = re.fullmatch(r"<!-- kind: (\w+) -->", above)
            start, indent, language, inside = number, fence[1], f"{fence[2]} {kind[1]}" if kind else fence[2], []
        elif language is not None and line == f"{indent}```":
            yield Block(page, start, language, "\n".join(inside) + "\n", above)
            language = None
        elif language is not None:
            inside.append(line.removeprefix(indent))
        else:
            above = line.strip()
