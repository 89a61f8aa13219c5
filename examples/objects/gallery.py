"""The template of another app's stack, whose role may read that bucket."""

import json
import sys

from strongref_objects import PlainTarget, Stack
from strongref_objects.types import Bucket

target = PlainTarget("gallery", region="eu-west-1")
stack = Stack(target)
bucket = Bucket.deserialize(stack.import_object("JohnnyBucket"))

trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
read = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"{bucket.bucket_arn}/*"}
target.put_resource(
    "Role",
    "AWS::IAM::Role",
    {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "Policies": [{"PolicyName": "photos", "PolicyDocument": {"Version": "2012-10-17", "Statement": [read]}}],
    },
)

if __name__ == "__main__":
    json.dump(target.template(), sys.stdout, indent=2)
