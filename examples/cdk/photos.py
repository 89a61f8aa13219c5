"""A bucket that other apps may use, too: in the same account and region."""

import os

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from strongref_cdk import export_bucket

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="eu-west-1")
stack = cdk.Stack(app, "photos", env=env)

bucket = s3.Bucket(stack, "Bucket")
export_bucket(bucket, "JohnnyBucket")

app.synth()
