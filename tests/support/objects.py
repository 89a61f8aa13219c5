"""A small account for objects: CloudFormation's exports, strongref's and parameters, all in memory.

Templates are deployed as far as objects need it: functions are put in, custom resources are sent to the real exporter
and importer, parameters are stored, and outputs exported. What is looked up while templates are made is looked up here.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from strongref.contract.names import short_hash
from strongref.protocol.time import Patience
from strongref_objects import PlainTarget, Stack, Synthesis
from strongref_objects.channels.cloudformation import StackExport
from strongref_objects.channels.importing import HOLDER
from strongref_objects.channels.parameters import read_parameters
from strongref_toolkit.published_exports import PublishedExports
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from strongref_objects import DeserializationContext, SerializationContext
    from strongref_objects.channels import Channel

EU, US = "eu-west-1", "us-east-1"


def held_by(resources: Mapping[str, Any]) -> list[str]:
    """The exports of CloudFormation that the holders among a template's resources hold."""
    values = [each["Properties"]["Value"] for name, each in resources.items() if name.startswith(HOLDER)]
    joined = [value["Fn::Select"][1]["Fn::Split"][1]["Fn::Join"][1] for value in values]
    return [name["Fn::ImportValue"] for _, *names in joined for name in names]


Part = Any
"""Of a tree: a string, a list of strings, or a tree."""


@dataclass(frozen=True)
class Tree:
    """An object of any shape."""

    parts: Mapping[str, Part]

    def serialize(self, ctx: SerializationContext) -> None:
        for key, part in self.parts.items():
            if isinstance(part, Tree):
                ctx.write_object(key, part)
            elif isinstance(part, list):
                ctx.write_string_list(key, part)
            else:
                ctx.write_string(key, part)

    def read(self, ctx: DeserializationContext, *, allow_unresolved: bool = False) -> Tree:
        """An object of this one's shape."""
        found: dict[str, Part] = {}
        for key, part in self.parts.items():
            if isinstance(part, Tree):
                found[key] = part.read(ctx.read_object(key), allow_unresolved=allow_unresolved)
            elif isinstance(part, list):
                found[key] = ctx.read_string_list(key, allow_unresolved=allow_unresolved)
            else:
                found[key] = ctx.read_string(key)
        return Tree(found)

    def evaluated(self, evaluate: Callable[[Any], Any]) -> Tree:
        """This tree with what stands for values made values."""
        return Tree(
            {
                key: part.evaluated(evaluate) if isinstance(part, Tree) else evaluate(part)
                for key, part in self.parts.items()
            }
        )


class World:
    """One account.

    Attributes:
        asked: how often each kind of thing was looked up while templates were made.
    """

    def __init__(self, context_file: Path) -> None:
        self.context_file = context_file
        self.cloud = Cloud()
        self.exports: dict[str, dict[str, StackExport]] = defaultdict(dict)
        self.asked: Counter[str] = Counter()
        self._imports: dict[tuple[str, str], set[str]] = {}

    def run(self) -> Synthesis:
        """One run of a program."""
        return _Here(self)

    def stack(self, name: str, region: str | None = EU, *, template: Mapping[str, Any] | None = None) -> Stack:
        """A stack in a program's run of its own."""
        return Stack(PlainTarget(name, region, ACCOUNT, template), synthesis=self.run())

    def deploy(self, stack: Stack) -> Callable[[Any], Any]:
        """Deploy a stack; what gives the value that something in its template stands for.

        Raises:
            ExportInUseError: an export that another stack imports would change or go, which CloudFormation refuses.
        """
        target = cast("PlainTarget", stack.target)
        assert target.region
        template = target.template()
        resources = template.get("Resources", {})
        custom = {
            logical_id: self._evaluate(resource["Properties"], target, {})
            for logical_id, resource in resources.items()
            if resource["Type"].startswith("Custom::CrossRegion")
        }
        deployed = self.cloud.deploy(target.name, target.region, custom)
        attributes = {logical_id: each.attributes for logical_id, each in deployed.resources.items()}

        def evaluate(value: Any) -> Any:
            return self._evaluate(value, target, attributes)

        for resource in resources.values():
            if resource["Type"] == "AWS::SSM::Parameter":
                self.cloud.ssm(target.region).put_parameter(**evaluate(resource["Properties"]), Overwrite=True)
        outputs = [output for output in template.get("Outputs", {}).values() if "Export" in output]
        exported = {
            evaluate(each["Export"]["Name"]): StackExport(target.name, evaluate(each["Value"])) for each in outputs
        }
        self._export(target.name, target.region, exported)
        self._imports[target.region, target.name] = set(imported(template))
        return evaluate

    def _export(self, stack: str, region: str, exported: Mapping[str, StackExport]) -> None:
        former = {name: each for name, each in self.exports[region].items() if each.stack == stack}
        lost = {name for name, each in former.items() if exported.get(name) != each}
        users = {name for (where, _), names in self._imports.items() if where == region for name in names}
        if lost & users:
            raise ExportInUseError(lost & users)
        others = {name: each for name, each in self.exports[region].items() if name not in former}
        self.exports[region] = {**others, **exported}

    def _evaluate(self, value: Any, target: PlainTarget, attributes: Mapping[str, Mapping[str, Any]]) -> Any:
        region = str(target.region)
        if isinstance(value, list):
            return [self._evaluate(each, target, attributes) for each in value]
        if isinstance(value, str):
            found = re.fullmatch(r"\{\{resolve:ssm:(.*)\}\}", value)
            return self.cloud.texts(region)[f"{found[1]}".removeprefix("/")] if found else value
        if not isinstance(value, Mapping):
            return value
        done = {key: self._evaluate(each, target, attributes) for key, each in value.items()}
        name, argument = cast("tuple[str, Any]", next(iter(done.items()), ("", None)))
        functions: dict[str, Callable[[], Any]] = {
            "Ref": lambda: f"{argument}-ref",
            "Fn::GetAtt": lambda: attributes.get(argument[0], {}).get(argument[1], "-".join(argument)),
            "Fn::Join": lambda: argument[0].join(argument[1]),
            "Fn::Select": lambda: argument[1][argument[0]],
            "Fn::Split": lambda: argument[1].split(argument[0]),
            "Fn::Sub": lambda: argument.replace("${AWS::StackName}", target.name),
            "Fn::ImportValue": lambda: self._exported(argument, region),
        }
        return functions[name]() if name in functions else done

    def _exported(self, name: str, region: str) -> str:
        return name if name.startswith("strongref-") else self.exports[region][name].value


class ExportInUseError(Exception):
    """As CloudFormation refuses an update."""


def imported(template: Any) -> list[str]:
    """The names in every `Fn::ImportValue`."""
    found = [template["Fn::ImportValue"]] if isinstance(template, dict) and "Fn::ImportValue" in template else []
    below = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    return found + [name for each in below for name in imported(each)]


class _Here(Synthesis):
    """Looks things up in a world."""

    def __init__(self, world: World) -> None:
        super().__init__(world.context_file)
        self._world = world

    def once(self, what: Hashable, ask: Callable[[], Any]) -> Any:  # noqa: ARG002
        def answer() -> Any:
            kind, home, *rest = cast("tuple[Any, ...]", what)
            self._world.asked[kind] += 1
            cloud = self._world.cloud
            store = cloud.stores(home.region, cloud.clock)
            if kind == "ListExports":
                return self._world.exports[home.region]
            if kind == "ssm":
                return read_parameters(store, *rest)
            assert kind == "strongref"
            return PublishedExports(store, cloud.clock, Patience(3, 2, lambda: 0.5), *rest)

        return super().once(what, answer)


def template(stack: Stack) -> dict[str, Any]:
    """A plain stack's template, as it is now."""
    return cast("PlainTarget", stack.target).template()


def use(stack: Stack, *values: Any) -> None:
    """Use values in a stack's template."""
    for number, value in enumerate(values):
        properties = {"Name": f"/used/{number}", "Type": "String", "Value": value}
        stack.target.put_resource(f"Used{number}", "AWS::SSM::Parameter", properties)


def item(value: Any) -> str:
    """The end of the name of a list's item."""
    return short_hash(json.dumps(value, sort_keys=True))


def custom(stack: Stack) -> list[dict[str, Any]]:
    """The properties of a stack's custom resources."""
    found = template(stack).get("Resources", {}).values()
    return [each["Properties"] for each in found if each["Type"].startswith("Custom::")]


def produced(world: World, *, via: Channel | None = None, **exported: Any) -> Stack:
    """A deployed stack network in eu-west-1, which exports strings, lists and objects."""
    stack = world.stack("network")
    for name, value in exported.items():
        if isinstance(value, Tree):
            stack.export_object(name, value, via=via)
        elif isinstance(value, list):
            stack.export_string_list(name, value, via=via)
        else:
            stack.export_string(name, value, via=via)
    world.deploy(stack)
    return stack
