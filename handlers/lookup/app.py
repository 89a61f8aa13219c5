"""`Custom::ResourceLookup`: the Lambda handler."""

from strongref.runtime.custom_resource import CustomResource
from strongref.runtime.wiring import lookup

handler = CustomResource(*lookup())
