"""`Custom::CrossRegionImport`: the Lambda handler."""

from strongref.runtime.custom_resource import CustomResource
from strongref.runtime.wiring import importer

handler = CustomResource(*importer())
