"""An app that reads another app's bucket. While it does, that bucket can neither be replaced nor deleted."""

import os

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from strongref_cdk import import_bucket

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="eu-west-1")
stack = cdk.Stack(app, "albums", env=env)

bucket = import_bucket(stack, "JohnnyBucket")
role = iam.Role(stack, "Reader", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
bucket.grant_read(role)

app.synth()
