"""Objects that are exported and imported whole: what they are, and the channels that carry them."""

from strongref_objects.base import DeserializationContext, ResolveType, Serializable, SerializationContext, Target
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.errors import ObjectError
from strongref_objects.json_objects import JsonSerializationContext, from_json
from strongref_objects.parameters import read_object
from strongref_objects.plain import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.synthesis import Synthesis
from strongref_objects.variables import EnvironmentSerializationContext, from_environment, one_variable

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
