"""Templates with references, and what becomes of them: in the words of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.macro.errors import TransformFailedError
from strongref.macro.transform import Settings, plan

if TYPE_CHECKING:
    from collections.abc import Iterable

Node = Any
Template = dict[str, Any]

IMPORTS = "Custom::CrossRegionImport"
EXPORTS = "Custom::CrossRegionExport"


def ref(name: Node = "VpcId", stack: Node = "network", region: Node = "eu-west-1", **more: Node) -> Template:
    """A reference; what else there is stands beside its `From`."""
    return {"From": {"Stack": stack, "Region": region, "Name": name}, **more}


def resource(properties: Template, **more: Node) -> Template:
    return {"Type": "AWS::ECS::Service", "Properties": properties, **more}


def template(properties: Template | None = None, /, **resources: Node) -> Template:
    """A template with a resource `Service` of these properties, or with other resources."""
    return {"Resources": resources or {"Service": resource(properties or {})}}


def transformed(given: Template, *, hold: bool = True, **settings: int) -> Template:
    return plan(given, Settings(hold=hold, **settings)).apply(given)


def properties(given: Template, logical_id: str = "Service") -> Template:
    """The properties of a resource, once its template is transformed."""
    found: Template = transformed(given)["Resources"][logical_id]["Properties"]
    return found


def imports(given: Template, **settings: int) -> dict[str, Template]:
    """The Imports of what becomes of a template."""
    resources = transformed(given, hold=True, **settings)["Resources"]
    return {name: each for name, each in resources.items() if each["Type"] == IMPORTS}


def the_import(given: Template) -> tuple[str, Template]:
    """The only one: its logical id and its properties."""
    ((logical_id, made),) = imports(given).items()
    return logical_id, made["Properties"]


def get(logical_id: str, name: str) -> Template:
    return {"Fn::GetAtt": [logical_id, name]}


def problems(given: Template) -> list[str]:
    """The texts of all that is wrong with a template."""
    try:
        plan(given, Settings())
    except TransformFailedError as error:
        return [str(each) for each in error.problems]
    return []


WRITER = "Custom::CrossRegionExportWriter"
READER = "Custom::CrossRegionExportReader"


def cdk_name(key: str, consumer: str = "Site") -> str:
    return f"/cdk/exports/{consumer}/{key}"


def writer(exports: Template, region: Node = "eu-west-1", **more: Node) -> Template:
    """As the CDK writes it, by names; the function of its provider is `WriterFunction`."""
    properties = {"ServiceToken": get("WriterFunction", "Arn"), "WriterProps": {"region": region, "exports": exports}}
    return {"Type": WRITER, "Properties": properties, **more}


def reader(names: Iterable[str], prefix: str = "Site", **more: Node) -> Template:
    """As the CDK writes it; the function of its provider is `ReaderFunction`."""
    imports = {name: f"{{{{resolve:ssm:{name}}}}}" for name in names}
    given = {"region": "eu-west-1", "prefix": prefix, "imports": imports}
    return {"Type": READER, "Properties": {"ServiceToken": get("ReaderFunction", "Arn"), "ReaderProps": given}, **more}


def provider(kind: str) -> Template:
    """The role and the function of `Writer`s or `Reader`s."""
    function = {"Role": get(f"{kind}Role", "Arn"), "Handler": "__entrypoint__.handler"}
    return {
        f"{kind}Role": {"Type": "AWS::IAM::Role", "Properties": {}},
        f"{kind}Function": {"Type": "AWS::Lambda::Function", "Properties": function, "DependsOn": [f"{kind}Role"]},
    }
