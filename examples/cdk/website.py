"""A site in us-east-1 in front of a load balancer in eu-west-1, which stays as it is for as long as the site does."""

import os

import aws_cdk as cdk
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins

from strongref_cdk import CrossRegion, import_application_load_balancer

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="us-east-1")
stack = cdk.Stack(app, "website", env=env)

balancer = import_application_load_balancer(stack, "Web", via=CrossRegion(stack="entrance", region="eu-west-1"))
origin = origins.LoadBalancerV2Origin(balancer, protocol_policy=cloudfront.OriginProtocolPolicy.HTTP_ONLY)
cloudfront.Distribution(stack, "Site", default_behavior=cloudfront.BehaviorOptions(origin=origin))

app.synth()
