"""The three that are compared, and how each says the same thing: properties, and the functions that they go to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchmarks import processes
from benchmarks.installing import Node, Python
from benchmarks.processes import Process

EU, US = "eu-west-1", "us-east-1"
PRODUCER, CONSUMER = "network", "web"
Values = dict[str, str]
Properties = dict[str, Any]

OURS, STRONG, NEWEST = "strongref", "cdk-strong", "cdk-newest"


def values(count: int, first: int = 0, mark: str = "thing") -> Values:
    """As many values of a usual size."""
    return {
        f"Key{number:05d}": f"arn:aws:service:{EU}:111111111111:{mark}/{number:08d}"
        for number in range(first, first + count)
    }


@dataclass(frozen=True)
class Ours:
    """strongref, as installed, with a share of a processor."""

    python: Python
    processor: float = 1.0
    key: str = OURS  # its name in results
    title: str = "strongref"  # its name in tables

    def exports(self, given: Values, *, secure: bool = False) -> Properties:
        """The properties of the exporting resource.

        All values are `SecureString`s where an import could not return so many: it claims those only.
        """
        more = {"SecureKeys": list(given)} if secure else {}
        return {"Region": US, "Consumer": CONSUMER, "Values": given} | more

    def imports(self, given: Values) -> Properties:
        return {"From": {"Stack": PRODUCER, "Region": EU}, "Names": list(given)}

    def start(self, what: str, environment: Mapping[str, str]) -> Process:
        """The function that carries out `exports` or `imports`."""
        function = {"exports": "exporter", "imports": "importer"}[what]
        return processes.python(self.python, function, environment, self.processor)


@dataclass(frozen=True)
class Cdk:
    """The CDK's handlers of one version."""

    node: Node
    key: str

    @property
    def title(self) -> str:
        return f"CDK {self.node.package(self.key)}"

    def exports(self, given: Values, *, secure: bool = False) -> Properties:
        """Its parameters are plain always."""
        del secure
        return {"WriterProps": {"region": US, "prefix": CONSUMER, "exports": _named(given)}}

    def imports(self, given: Values) -> Properties:
        """CloudFormation has resolved the values by then, by one read each that is nobody's call here."""
        return {"ReaderProps": {"region": US, "prefix": CONSUMER, "imports": _named(given)}}

    def start(self, what: str, environment: Mapping[str, str]) -> Process:
        return processes.node(self.node, self.key, {"exports": "writer", "imports": "reader"}[what], environment)


Side: TypeAlias = Ours | Cdk


def _named(given: Values) -> Values:
    return {f"/cdk/exports/{CONSUMER}/{PRODUCER}{EU.replace('-', '')}{key}": value for key, value in given.items()}


def sides(python: Python, node: Node | str) -> Sequence[Side]:
    """Ours first, and the CDK's if they can be run."""
    ours = Ours(python)
    return [ours] if isinstance(node, str) else [ours, Cdk(node, STRONG), Cdk(node, NEWEST)]
