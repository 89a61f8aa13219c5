"""A load balancer with its security group and listener, exported whole to an app in another region."""

import os

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2

from strongref_cdk import CrossRegion, export_application_load_balancer

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="eu-west-1")
stack = cdk.Stack(app, "entrance", env=env)

vpc = ec2.Vpc(stack, "Vpc", availability_zones=["eu-west-1a", "eu-west-1b"], nat_gateways=0)
balancer = elbv2.ApplicationLoadBalancer(stack, "Alb", vpc=vpc, internet_facing=True)
balancer.add_listener("Http", port=80, default_action=elbv2.ListenerAction.fixed_response(404))
export_application_load_balancer(balancer, "Web", via=CrossRegion(regions=["us-east-1"], consumer="website"))

app.synth()
