"""A team's service in the network and the cluster of another team, behind its load balancer."""

import os

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2

from strongref_cdk import import_application_load_balancer, import_cluster, import_vpc, listener_of

app = cdk.App()
env = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="eu-west-1")
stack = cdk.Stack(app, "shop", env=env)

vpc = import_vpc(stack, "Network")
cluster = import_cluster(stack, "Apps", vpc=vpc)
balancer = import_application_load_balancer(stack, "Web", vpc=vpc)

task = ecs.FargateTaskDefinition(stack, "Task")
image = ecs.ContainerImage.from_registry("public.ecr.aws/nginx/nginx")
task.add_container("web", image=image, port_mappings=[ecs.PortMapping(container_port=80)])
public = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)
options = {"vpc_subnets": public, "assign_public_ip": True}  # or it could not fetch its image
service = ecs.FargateService(stack, "Service", cluster=cluster, task_definition=task, **options)

targets = elbv2.ApplicationTargetGroup(stack, "Targets", vpc=vpc, port=80, targets=[service])
paths = elbv2.ListenerCondition.path_patterns(["/shop/*"])
listener_of(balancer).add_target_groups("Shop", target_groups=[targets], priority=10, conditions=[paths])

app.synth()
