"""Objects that are exported and imported whole: what they are, and the channels that carry them."""

from strongref.objects.base import (
    DeserializationContext,
    ResolveType,
    Serializable,
    SerializationContext,
    Target,
)
from strongref.objects.channels import CloudFormation, CrossRegion, Parameters
from strongref.objects.errors import ObjectError
from strongref.objects.json_objects import JsonSerializationContext, from_json
from strongref.objects.parameters import read_object
from strongref.objects.plain import PlainTarget
from strongref.objects.stack import Stack
from strongref.objects.synthesis import Synthesis
from strongref.objects.variables import EnvironmentSerializationContext, from_environment, one_variable

__all__ = [
    "CloudFormation",
    "CrossRegion",
    "DeserializationContext",
    "EnvironmentSerializationContext",
    "JsonSerializationContext",
    "ObjectError",
    "Parameters",
    "PlainTarget",
    "ResolveType",
    "Serializable",
    "SerializationContext",
    "Stack",
    "Synthesis",
    "Target",
    "from_environment",
    "from_json",
    "one_variable",
    "read_object",
]
