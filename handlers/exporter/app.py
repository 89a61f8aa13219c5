"""`Custom::CrossRegionExport`: the Lambda handler."""

from strongref.runtime.custom_resource import CustomResource
from strongref.runtime.wiring import exporter

handler = CustomResource(*exporter())
