"""A CDK app with cross-region references that are strong."""

import os

import aws_cdk as cdk
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins

app = cdk.App()
account = os.environ["CDK_DEFAULT_ACCOUNT"]
us, eu = (cdk.Environment(account=account, region=region) for region in ("us-east-1", "eu-west-1"))
producer = cdk.Stack(app, "certificate", env=us)
consumer = cdk.Stack(app, "site", env=eu, cross_region_references=True)

certificate = acm.Certificate(producer, "Certificate", domain_name="www.example.com")
cloudfront.Distribution(
    consumer,
    "Distribution",
    default_behavior=cloudfront.BehaviorOptions(origin=origins.HttpOrigin("origin.example.com")),
    domain_names=["www.example.com"],
    certificate=certificate,
)

for each in app.node.find_all():
    if cdk.Stack.is_stack(each) and each.nested_stack_parent is None:
        each.add_transform("StrongRef")

app.synth()
