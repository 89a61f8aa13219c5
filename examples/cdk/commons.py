"""What a team has for all others: a network, a cluster in it, and the load balancer that stands before everything."""

import os

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2

from strongref_cdk import export_application_load_balancer, export_cluster, export_vpc

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="eu-west-1")
stack = cdk.Stack(app, "commons", env=env)

vpc = ec2.Vpc(stack, "Vpc", availability_zones=["eu-west-1a", "eu-west-1b"], nat_gateways=0)
cluster = ecs.Cluster(stack, "Cluster", vpc=vpc)
balancer = elbv2.ApplicationLoadBalancer(stack, "Alb", vpc=vpc, internet_facing=True)
balancer.add_listener("Http", port=80, default_action=elbv2.ListenerAction.fixed_response(404))

export_vpc(vpc, "Network")
export_cluster(cluster, "Apps")
export_application_load_balancer(balancer, "Web")

app.synth()
