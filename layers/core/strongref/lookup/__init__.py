"""Finds the one resource that a physical ID, an ARN, a name or tags stand for, and reads its attributes.

CloudFormation knows a resource by its physical ID, Cloud Control by its primary identifier. `identify` says how one
leads to the other, `finder` makes the calls, and `custom_resource` answers a `Custom::ResourceLookup`.
"""
