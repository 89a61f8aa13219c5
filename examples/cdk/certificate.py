"""A certificate of us-east-1 in a distribution of eu-west-1."""

import os

import aws_cdk as cdk
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins

from strongref_cdk import CrossRegion, ResolveType, export_certificate, import_certificate

app = cdk.App()
account = os.environ["CDK_DEFAULT_ACCOUNT"]
virginia = cdk.Stack(app, "certificate", env=cdk.Environment(account=account, region="us-east-1"))
ireland = cdk.Stack(app, "site", env=cdk.Environment(account=account, region="eu-west-1"))

certificate = acm.Certificate(virginia, "Certificate", domain_name="www.example.com")
export_certificate(certificate, "Certificate", via=CrossRegion(regions=["eu-west-1"], consumer="site"))

source = CrossRegion(stack="certificate", region="us-east-1")
imported = import_certificate(ireland, "Certificate", type=ResolveType.DEPLOYMENT, via=source)
cloudfront.Distribution(
    ireland,
    "Distribution",
    certificate=imported,
    domain_names=["www.example.com"],
    default_behavior=cloudfront.BehaviorOptions(origin=origins.HttpOrigin("example.com")),
)

app.synth()
