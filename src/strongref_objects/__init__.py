"""Whole objects that stacks export and import: `stack.Stack` does it for one template.

Its parts, bottom up:

- `base`: the contracts of objects and templates, their names and values, and all errors
- `synthesis`: what is looked up while templates are made, and the context file that keeps it
- `channels`: CloudFormation's exports, strongref's, Parameter Store, JSON and environment variables
- `types`: the ready types, and how to declare another one
- `lookups`: objects that are looked up in an account and region by their tags
- `stored_objects`: the objects in an account and region, for the command line

Public are the names here, and those of `types` and `lookups`. Everything else may move at any time.
"""

from strongref_objects.base import DeserializationContext as DeserializationContext
from strongref_objects.base import ResolveType as ResolveType
from strongref_objects.base import Serializable as Serializable
from strongref_objects.base import SerializationContext as SerializationContext
from strongref_objects.base import Target as Target
from strongref_objects.base import Text as Text
from strongref_objects.base import TextList as TextList
from strongref_objects.base.errors import ObjectError as ObjectError
from strongref_objects.channels import CloudFormation as CloudFormation
from strongref_objects.channels import CrossRegion as CrossRegion
from strongref_objects.channels import Parameters as Parameters
from strongref_objects.channels.parameters import read_object as read_object
from strongref_objects.channels.texts import EnvironmentSerializationContext as EnvironmentSerializationContext
from strongref_objects.channels.texts import JsonSerializationContext as JsonSerializationContext
from strongref_objects.channels.texts import from_environment as from_environment
from strongref_objects.channels.texts import from_json as from_json
from strongref_objects.channels.texts import one_variable as one_variable
from strongref_objects.plain_target import PlainTarget as PlainTarget
from strongref_objects.stack import Stack as Stack
from strongref_objects.synthesis import Synthesis as Synthesis
