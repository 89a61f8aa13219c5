"""What `Ref` gives, by AWS's own account of it: the CDK's generated classes, of which there is one for each type.

They tell of each type which of its properties its `Ref` is, as in `get stageRef(){return{restApiId:this.restApiId,
stageName:this.ref}}`. Where nothing else is known, they take `Ref` for the whole identifier.
"""

from __future__ import annotations

import re
import tarfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from strongref.lookup.overrides import STRATEGIES
from strongref.lookup.resource_types import ResourceType, resource_type_of, types

_CLASS = re.compile(r"class Cfn\w+ extends")
_TYPE = re.compile(r'CFN_RESOURCE_TYPE_NAME="([^"]+)"')
_REF = re.compile(r"get \w+Ref\(\)\{return\{(.*?)\}\}")
_OF_REF = re.compile(r"(\w+):this\.ref\b")

ELSEWHERE = {
    # Cloud Control does not know these types; what their schemas call Id is made up for the schema.
    "AWS::AppMesh::GatewayRoute",
    "AWS::AppMesh::Mesh",
    "AWS::AppMesh::Route",
    "AWS::AppMesh::VirtualGateway",
    "AWS::AppMesh::VirtualNode",
    "AWS::AppMesh::VirtualRouter",
    "AWS::AppMesh::VirtualService",
    "AWS::CodeBuild::Project",
    "AWS::CodePipeline::Webhook",
    "AWS::DAX::Cluster",
    "AWS::Elasticsearch::Domain",
    "AWS::Glue::DevEndpoint",
    # The same thing by another name.
    "AWS::EventSchemas::RegistryPolicy",
    "AWS::IoT::Policy",
    "AWS::S3::StorageLens",
    # The class takes the fleet's name for the device's.
    "AWS::SageMaker::Device",
}
"""Types whose `Ref` has another name than the identifier, without that being so."""


@cache
def refs() -> dict[str, str]:
    """The properties that a type's `Ref` is part of, as the class has them, by type."""
    spec = find_spec("aws_cdk")
    assert spec
    (archive,) = (Path(str(spec.origin)).parent / "_jsii").glob("aws-cdk-lib@*.tgz")
    found = {}
    with tarfile.open(archive) as packed:
        for member in packed:
            file = packed.extractfile(member) if member.name.endswith(".generated.js") else None
            for text in _CLASS.split(file.read().decode()) if file else ():
                type_name, reference = _TYPE.search(text), _REF.search(text)
                if type_name and reference:
                    found[type_name[1]] = reference[1]
    return {name: found[name] for name in types() if name in found}


def is_part(resource_type: ResourceType, part: str, name: str) -> bool:
    """Whether a class's property is that part of an identifier: `modelName` is the Name of a Model."""
    thing, called = resource_type.type_name.rpartition("::")[2].lower(), part.rpartition(".")[2].lower()
    return name.lower().endswith(called) or called == thing + name.lower()


def test_nearly_all_types_have_a_class() -> None:
    assert len(refs()) > 0.95 * len(types())


def test_the_own_part_of_a_composite_identifier_is_what_ref_is_where_it_is_one_part() -> None:
    seen = 0
    for type_name, properties in refs().items():
        resource_type, one = resource_type_of(type_name), _OF_REF.findall(properties)
        if resource_type.is_composite and one:
            seen += 1
            assert resource_type.own_part, type_name
            alike = is_part(resource_type, resource_type.own_part, one[0]) or one[0] == "recordSetName"
            assert alike, f"{type_name}: {resource_type.own_part}, {one[0]}"
    assert seen > 30


def test_a_single_identifier_is_what_ref_is_unless_the_type_has_a_rule_of_its_own() -> None:
    others = set()
    for type_name, properties in refs().items():
        resource_type, one = resource_type_of(type_name), _OF_REF.findall(properties)
        is_ref = any(is_part(resource_type, resource_type.identifier[0], name) for name in one)
        if properties and not resource_type.is_composite and not is_ref:
            others.add(type_name)
    assert others - ELSEWHERE <= set(STRATEGIES)
    assert {"AWS::Events::Rule", "AWS::ElastiCache::User", "AWS::Batch::JobDefinition"} <= others
