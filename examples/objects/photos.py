"""The template of a stack that exports its bucket whole."""

import json
import sys

from strongref_objects import PlainTarget, Stack
from strongref_objects.types import Bucket

TEMPLATE = {"Resources": {"Photos": {"Type": "AWS::S3::Bucket"}}}

target = PlainTarget("photos", region="eu-west-1", template=TEMPLATE)
stack = Stack(target)
stack.export_object("JohnnyBucket", Bucket.of_resource("Photos"))

if __name__ == "__main__":
    json.dump(target.template(), sys.stdout, indent=2)
