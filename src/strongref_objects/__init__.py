"""Whole objects that stacks export and import: `stack.Stack` does it for one template.

Its parts, bottom up:

- `base`: the contracts of objects and templates, their names and values, and all errors
- `synthesis`: what is looked up while templates are made, and the context file that keeps it
- `channels`: CloudFormation's exports, strongref's, Parameter Store, JSON and environment variables
- `types`: the ready types, and how to declare another one
- `lookups`: objects that are looked up in an account and region by their tags
- `stored_objects`: the objects in an account and region, for the command line
"""

from strongref_objects.base import DeserializationContext, ResolveType, Serializable, SerializationContext, Target
from strongref_objects.base.errors import ObjectError
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.channels.environment import EnvironmentSerializationContext, from_environment, one_variable
from strongref_objects.channels.json_text import JsonSerializationContext, from_json
from strongref_objects.channels.parameters import read_object
from strongref_objects.plain import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.synthesis import Synthesis

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
