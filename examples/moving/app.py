"""A CDK app that moves from cross-region references to strongref: this is step 2."""

import os

import aws_cdk as cdk
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins

from strongref_cdk import CrossRegion, ResolveType, export_certificate, import_certificate

app = cdk.App()
account = os.environ["CDK_DEFAULT_ACCOUNT"]
us, eu = (cdk.Environment(account=account, region=region) for region in ("us-east-1", "eu-west-1"))
producer = cdk.Stack(app, "certificate", env=us)
consumer = cdk.Stack(app, "site", env=eu, cross_region_references=True)

certificate = acm.Certificate(producer, "Certificate", domain_name="www.example.com")

# Step 1
export_certificate(certificate, "Site", via=CrossRegion(regions=["eu-west-1"], consumer="site"))

# Step 2
source = CrossRegion(stack="certificate", region="us-east-1")
imported = import_certificate(consumer, "Site", via=source, type=ResolveType.DEPLOYMENT)

cloudfront.Distribution(
    consumer,
    "Distribution",
    default_behavior=cloudfront.BehaviorOptions(origin=origins.HttpOrigin("origin.example.com")),
    domain_names=["www.example.com"],
    certificate=imported,  # Before step 2: certificate
)

app.synth()
