"""What a template says before it is deployed: what only CloudFormation knows is a `*`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from strongref.contract.names import SHARED, ExportScope, Producer
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE, Strength
from strongref.macro.template import MACRO, Node, Template, is_function
from strongref_toolkit.json_values import texts_in

ANY = "*"

_DYNAMIC = re.compile(r"\{\{resolve:ssm(?:-secure)?:([A-Za-z0-9_./-]+)(?::[0-9]+)?\}\}")


@dataclass(frozen=True, slots=True)
class DeploymentTarget:
    """Where a template is deployed, as far as that is known."""

    region: str = ANY
    account: str = ANY
    stack: str = ANY  # the stack's name; of a nested stack, the root's
    partition: str = "aws"
    # values of the template's parameters, where they differ from their defaults
    parameters: Mapping[str, str] = field(default_factory=dict)
    application: str = "strongref"  # the name of the stack that strongref itself is installed with


def transforms(template: Template) -> tuple[str, ...]:
    declared = template.get("Transform") or []
    listed = declared if isinstance(declared, list) else [declared]
    return tuple(str(each.get("Name") if isinstance(each, Mapping) else each) for each in listed)


class TemplateFacts:
    def __init__(self, template: Template, setting: DeploymentTarget) -> None:
        self.setting = setting
        self._template = template
        given = {name: each for name, each in (template.get("Parameters") or {}).items() if isinstance(each, Mapping)}
        kinds = {name: str(each.get("Type", "")) for name, each in given.items()}
        defaults = {name: str(each["Default"]) for name, each in given.items() if "Default" in each}
        # The value of such a parameter is in another parameter, which it names.
        elsewhere = {name: ANY for name, kind in kinds.items() if kind.startswith("AWS::SSM::Parameter::Value<")}
        self._lists = {name for name, kind in kinds.items() if "List" in kind}
        own = {"Region": setting.region, "AccountId": setting.account, "StackName": setting.stack}
        pseudo = {f"AWS::{name}": value for name, value in (*own.items(), ("Partition", setting.partition))}
        self._names = {**defaults, **setting.parameters, **elsewhere, **pseudo}

    def arn(self, service: str, region: str, resource: str) -> str:
        return f"arn:{self.setting.partition}:{service}:{region}:{self.setting.account}:{resource}"

    def stack(self, region: str, name: str) -> str:
        return self.arn("cloudformation", region, f"stack/{name}/*")

    def parameter(self, region: str, name: str) -> str:
        return self.arn("ssm", region, f"parameter/{name.removeprefix('/')}")

    def below(self, region: str, root: str) -> list[str]:
        """The ARNs of a path itself and of all parameters below it."""
        return [self.parameter(region, root), self.parameter(region, f"{root}/*")]

    @property
    def has_macro(self) -> bool:
        return MACRO in transforms(self._template)

    def of_type(self, type_name: str) -> list[Mapping[str, Node]]:
        """The properties of the resources of a type, those in loops included."""
        return [each.get("Properties") or {} for each in _resources(self._template) if each.get("Type") == type_name]

    def imports(self) -> Iterator[tuple[ExportScope, list[str] | None, bool]]:
        """Each import: its scope, its names or None for all, and whether it is weak."""
        for given in self.of_type(IMPORT_TYPE):
            origin = given.get("From") or {"Region": ANY, "Stack": ANY}
            producer = Producer(
                self.text(origin.get("Account", self.setting.account)),
                self.text(origin.get("Region", self.setting.region)),
                self.text(origin.get("Stack")),
            )
            shared = str(given.get("Shared", "")).lower() == "true"
            consumer = SHARED if shared else self.text(given.get("Consumer", self.setting.stack))
            names = given.get("Names")
            wanted = [self.text(each) for each in names] if isinstance(names, list) else None
            yield ExportScope(consumer, producer), wanted, given.get("Strength") == Strength.WEAK.value

    def found_anywhere(self) -> list[str]:
        """The consumers of imports that look for their names in the exports of every stack."""
        return [
            self.text(each.get("Consumer", self.setting.stack))
            for each in self.of_type(IMPORT_TYPE)
            if "From" not in each
        ]

    def exports(self) -> Iterator[tuple[str, ExportScope]]:
        """Each export of the own account: its region and its scope."""
        producer = Producer(self.setting.account, self.setting.region, self.setting.stack)
        for given in self.of_type(EXPORT_TYPE):
            own = {self.setting.account, ANY}.intersection(self._accounts(given))
            for region in self.several(given.get("Region", self.setting.region)) if own else ():
                consumer = self.text(given["Consumer"]) if "Consumer" in given else SHARED
                yield region, ExportScope(consumer, producer)

    def others(self) -> set[str]:
        """The other accounts that it exports to."""
        found = {account for given in self.of_type(EXPORT_TYPE) for account in self._accounts(given)}
        return found - {self.setting.account}

    def _accounts(self, given: Mapping[str, Node]) -> list[str]:
        return self.several(given.get("Account", self.setting.account))

    def dynamic(self) -> list[str]:
        """The names of strongref's parameters that CloudFormation reads for the template."""
        names = [name for _, text in texts_in(self._template) for name in _DYNAMIC.findall(self._substituted(text))]
        return [name for name in names if name.startswith("/strongref/")]

    def several(self, node: Node) -> list[str]:
        """The items of a property that may be a list, or a parameter that is one."""
        if isinstance(node, list):
            return [text for item in node for text in self.several(item)]
        text = self.text(node)
        is_list = is_function(node) and node.get("Ref") in self._lists
        return [item.strip() for item in text.split(",")] if is_list else [text]

    def text(self, node: Node) -> str:
        """The text of a property; `*` if only CloudFormation knows it."""
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
