"""What IAM has to allow for a template's references: for whoever deploys it, and for the functions behind it. Pure.

What is known of a template decides how narrow the ARNs are: what only CloudFormation knows is a `*` in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.address import SHARED, Key, Place, Producer, consumer_prefix
from strongref.macro.base import MACRO, is_function
from strongref.macro.exporting import TYPE as EXPORT
from strongref.macro.grouping import TYPE as IMPORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.macro.base import Node, Template

ANY = "*"

_DYNAMIC = re.compile(r"\{\{resolve:ssm(?:-secure)?:([A-Za-z0-9_./-]+)(?::[0-9]+)?\}\}")


class Principal(StrEnum):
    """Who has to be allowed something."""

    DEPLOYER = "deployer"
    """Who deploys the template, or the role that CloudFormation is given for it."""
    IMPORTER = "importer"
    """The role of the importer's function."""
    EXPORTER = "exporter"
    """The role of the exporter's function."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a template is to be deployed, as far as that is known.

    Attributes:
        stack: the stack's name; of a nested stack, the root's.
        parameters: values of the template's parameters, where they differ from their defaults.
        application: the name of the stack that strongref itself is installed by.
    """

    region: str = ANY
    account: str = ANY
    stack: str = ANY
    partition: str = "aws"
    parameters: Mapping[str, str] = field(default_factory=dict)
    application: str = "strongref"


def policy(template: Template, principal: Principal, setting: Setting) -> dict[str, Node]:
    """The policy that a principal needs for a template whose references have been transformed."""
    known = _Known(template, setting)
    statements = {Principal.DEPLOYER: _deployer, Principal.IMPORTER: _importer, Principal.EXPORTER: _exporter}
    made = statements[principal](known)
    return {"Version": "2012-10-17", "Statement": [each.document for each in made if each.resources]}


@dataclass(frozen=True, slots=True)
class _Statement:
    sid: str
    actions: tuple[str, ...]
    resources: Iterable[str]

    @property
    def document(self) -> dict[str, Node]:
        listed = {"Action": sorted(self.actions), "Resource": sorted(set(self.resources))}
        return {"Sid": self.sid, "Effect": "Allow", **listed}


def _deployer(known: _Known) -> list[_Statement]:
    setting = known.setting
    functions = {IMPORT: "Importer", EXPORT: "Exporter"}
    needed = [name for type_name, name in functions.items() if known.of_type(type_name)]
    needed += ["Transformer"] if known.has_macro else []
    invoked = [known.arn("lambda", setting.region, f"function:{setting.application}-{name}-*") for name in needed]
    read = [known.parameter(setting.region, name) for name in known.dynamic()]
    return [
        _Statement("Functions", ("lambda:InvokeFunction",), invoked),
        _Statement("DynamicReferences", ("ssm:GetParameters",), read),
    ]


def _importer(known: _Known) -> list[_Statement]:
    region, stack = known.setting.region, known.setting.stack
    places = list(known.imports())
    if not places:
        return []
    values = [known.parameter(region, name) for place, names in places for name in _values(place, names)]
    own = Place(stack, Producer(ANY, ANY, ANY))
    return [
        _Statement(
            "Values",
            (
                "ssm:GetParameters",
                "ssm:PutParameter",
                "ssm:DeleteParameters",
                "ssm:ListTagsForResource",
                "ssm:AddTagsToResource",
                "ssm:RemoveTagsFromResource",
            ),
            values,
        ),
        _Statement(
            "PathsAndRecords",
            ("ssm:GetParametersByPath",),
            [
                each
                for place, _ in places
                for root in (place.values, place.records)
                for each in known.below(region, root)
            ],
        ),
        _Statement(
            "Fences",
            ("ssm:GetParametersByPath", "ssm:PutParameter", "ssm:DeleteParameters"),
            [
                *(each for place, _ in places for each in known.below(region, place.fences)),
                known.parameter(region, own.fences),
            ],
        ),
        # When the stack is deleted: whatever is left below its prefix, unless somebody else claims it.
        _Statement(
            "CleanUp",
            (
                "ssm:GetParametersByPath",
                "ssm:DeleteParameters",
                "ssm:ListTagsForResource",
                "ssm:RemoveTagsFromResource",
            ),
            known.below(region, consumer_prefix(stack)),
        ),
        _Statement(
            "Producers",
            ("cloudformation:DescribeStacks",),
            [known.stack(place.producer.region, place.producer.stack) for place, _ in places],
        ),
        # Its own stack, and whoever claims what is to be cleaned up.
        _Statement(
            "Stacks",
            ("cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
            [known.stack(region, ANY)],
        ),
    ]


def _exporter(known: _Known) -> list[_Statement]:
    places = list(known.exports())

    def everywhere(branch: str) -> list[str]:
        return [each for region, place in places for each in known.below(region, getattr(place, branch))]

    return [
        _Statement(
            "Values",
            (
                "ssm:GetParametersByPath",
                "ssm:PutParameter",
                "ssm:DeleteParameters",
                "ssm:ListTagsForResource",
                "ssm:AddTagsToResource",
                "ssm:RemoveTagsFromResource",
            ),
            everywhere("values"),
        ),
        _Statement(
            "RecordsAndFences",
            ("ssm:GetParametersByPath", "ssm:PutParameter", "ssm:DeleteParameters"),
            [*everywhere("records"), *everywhere("fences")],
        ),
        # Whoever claims a value, by whatever name, is asked after, and whether a value is another stack's.
        _Statement(
            "Stacks",
            ("cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
            [
                *(known.stack(region, ANY) for region, _ in places),
                *(known.stack(place.producer.region, place.producer.stack) for _, place in places),
            ],
        ),
    ]


def _values(place: Place, names: list[str] | None) -> list[str]:
    if names is None:
        return [f"{place.values}/*"]
    keys = [place.value(Key(name.replace(".", "/"))) for name in names]
    return [each for key in keys for each in (key, f"{key}/*")]  # a map's name stands for all below it


class _Known:
    """A template, as far as it is known before it is deployed."""

    def __init__(self, template: Template, setting: Setting) -> None:
        self.setting = setting
        self._template = template
        given = template.get("Parameters") or {}
        defaults = {name: str(each["Default"]) for name, each in given.items() if "Default" in each}
        own = {"Region": setting.region, "AccountId": setting.account, "StackName": setting.stack}
        pseudo = {f"AWS::{name}": value for name, value in (*own.items(), ("Partition", setting.partition))}
        self._names = {**defaults, **setting.parameters, **pseudo}

    def arn(self, service: str, region: str, resource: str) -> str:
        return f"arn:{self.setting.partition}:{service}:{region}:{self.setting.account}:{resource}"

    def stack(self, region: str, name: str) -> str:
        return self.arn("cloudformation", region, f"stack/{name}/*")

    def parameter(self, region: str, name: str) -> str:
        return self.arn("ssm", region, f"parameter/{name.removeprefix('/')}")

    def below(self, region: str, root: str) -> list[str]:
        """A path, as it is asked for itself, and all parameters below it."""
        return [self.parameter(region, root), self.parameter(region, f"{root}/*")]

    @property
    def has_macro(self) -> bool:
        """Whether CloudFormation is to call the macro for it."""
        declared = self._template.get("Transform") or []
        names = [
            each.get("Name") if isinstance(each, Mapping) else each
            for each in (declared if isinstance(declared, list) else [declared])
        ]
        return MACRO in names

    def of_type(self, type_name: str) -> list[Mapping[str, Node]]:
        """The properties of the resources of a type, those in loops included."""
        return [each.get("Properties") or {} for each in _resources(self._template) if each.get("Type") == type_name]

    def imports(self) -> Iterator[tuple[Place, list[str] | None]]:
        """What is imported, and from where; None for everything."""
        for given in self.of_type(IMPORT):
            origin = given.get("From") or {}
            producer = Producer(
                self.text(origin.get("Account", self.setting.account)),
                self.text(origin.get("Region", self.setting.region)),
                self.text(origin.get("Stack")),
            )
            shared = str(given.get("Shared", "")).lower() == "true"
            consumer = SHARED if shared else self.text(given.get("Consumer", self.setting.stack))
            names = given.get("Names")
            yield Place(consumer, producer), [self.text(each) for each in names] if isinstance(names, list) else None

    def exports(self) -> Iterator[tuple[str, Place]]:
        """Where is exported to: regions and places."""
        producer = Producer(self.setting.account, self.setting.region, self.setting.stack)
        for given in self.of_type(EXPORT):
            regions = given.get("Region", self.setting.region)
            for region in regions if isinstance(regions, list) else [regions]:
                consumer = self.text(given["Consumer"]) if "Consumer" in given else SHARED
                yield self.text(region), Place(consumer, producer)

    def dynamic(self) -> list[str]:
        """The names of strongref's parameters that CloudFormation is to read for the template."""
        names = [name for text in _texts(self._template) for name in _DYNAMIC.findall(self._substituted(text))]
        return [name for name in names if name.startswith("/strongref/")]

    def text(self, node: Node) -> str:
        """What a property is, `*` where only CloudFormation knows."""
        if isinstance(node, str | int):
            return str(node)
        if is_function(node):
            ((name, argument),) = node.items()
            if name == "Ref":
                return self._names.get(argument, ANY)
            if name == "Fn::Sub" and isinstance(argument, str):
                return self._substituted(argument)
        return ANY

    def _substituted(self, text: str) -> str:
        return re.sub(r"\$\{([^!}][^}]*)\}", lambda found: self._names.get(found[1], ANY), text)


def _resources(template: Node) -> Iterator[Mapping[str, Node]]:
    """Every resource, those in loops included: a map with a type."""
    if isinstance(template, Mapping):
        if isinstance(template.get("Type"), str) and "Properties" in template:
            yield template
            return
        for below in template.values():
            yield from _resources(below)
    elif isinstance(template, list):
        for item in template:
            yield from _resources(item)


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for below in node.values():
            yield from _texts(below)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)
