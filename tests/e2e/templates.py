"""Templates of the scenarios: as users write them, with the service tokens that the application exports."""

from __future__ import annotations

from typing import Any

Template = dict[str, Any]
Properties = dict[str, Any]

EU, US = "eu-west-1", "us-east-1"


def stack(resources: Template, outputs: dict[str, Any] | None = None) -> Template:
    """A template; one without resources has one that does nothing, since CloudFormation wants at least one."""
    nothing = {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}
    found: Template = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources | nothing}
    if outputs:
        found["Outputs"] = {name: {"Value": value} for name, value in outputs.items()}
    return found


def export(values: Properties, *, consumer: str | None = None, region: Any = US, **more: Any) -> Template:
    properties = {"Region": region, "Values": values, **more} | ({"Consumer": consumer} if consumer else {})
    return {
        "Type": "Custom::CrossRegionExport",
        "Properties": {"ServiceToken": {"Fn::ImportValue": "strongref-exporter"}, **properties},
    }


def hold_output(export: str = "Exports", name: str | None = None) -> Template:
    """The output that an Export's property Hold is about."""
    return {
        "Value": {"Fn::GetAtt": [export, "Hold"]},
        "Export": {"Name": name or {"Fn::Sub": f"${{AWS::StackName}}-{export}"}},
    }


def held(resources: Template, *exports: str, more: Template | None = None) -> Template:
    """A template in which these Exports name a CloudFormation export, with the outputs for it."""
    for each in exports or ["Exports"]:
        resources[each]["Properties"]["Hold"] = {"Fn::Sub": f"${{AWS::StackName}}-{each}"}
    template = stack({**resources, **(more or {})})
    return template | {"Outputs": {f"{each}Hold": hold_output(each) for each in exports or ["Exports"]}}


def function(name: str, code: str, statement: Template) -> Template:
    """A template with a function for custom resources, and with a role that may do this; it exports the ARN."""
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    policy = {"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    role = {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]}, "Policies": [policy]}
    properties = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Timeout": 900,
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Code": {"ZipFile": code},
    }
    return {
        "Resources": {
            "Role": {"Type": "AWS::IAM::Role", "Properties": role},
            "Function": {"Type": "AWS::Lambda::Function", "Properties": properties},
        },
        "Outputs": {"Function": {"Value": {"Fn::GetAtt": ["Function", "Arn"]}, "Export": {"Name": name}}},
    }


def topic(name: str | None = None) -> Template:
    """A resource whose ARN can be exported, and whose deletion can be seen."""
    return {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": name} if name else {}}


def imported(producer: str, *names: str, region: str = EU, **more: Any) -> Template:
    properties = {"From": {"Stack": producer, "Region": region}, **({"Names": list(names)} if names else {}), **more}
    return {
        "Type": "Custom::CrossRegionImport",
        "Properties": {"ServiceToken": {"Fn::ImportValue": "strongref-importer"}, **properties},
    }


def lookup(type_name: str, **properties: Any) -> Template:
    return {
        "Type": "Custom::ResourceLookup",
        "Properties": {"ServiceToken": {"Fn::ImportValue": "strongref-lookup"}, "TypeName": type_name, **properties},
    }


def exporting(values: Properties, **more: Any) -> Template:
    """A stack with one Export."""
    return stack({"Exports": export(values, **more)})


def importing(producer: str, *names: str, **more: Any) -> Template:
    """A stack with one Import, its values as outputs."""
    return stack(
        {"Imports": imported(producer, *names, **more)},
        {name.replace(".", ""): {"Fn::GetAtt": ["Imports", name]} for name in names},
    )


def looking_up(type_name: str, *attributes: str, **properties: Any) -> Template:
    """A stack with one look-up, some of its attributes as outputs."""
    return stack(
        {"Found": lookup(type_name, **properties)},
        {name.replace(".", ""): {"Fn::GetAtt": ["Found", name]} for name in attributes},
    )


EMPTY = stack({})
