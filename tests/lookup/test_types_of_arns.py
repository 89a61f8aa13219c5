"""The types that an ARN can be of."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from strongref.arns import Arn
from strongref.lookup.arn_formats import FORMS, types_of
from strongref.lookup.resource_types import types

AT = "eu-west-1:111111111111"
OF = {
    f"arn:aws:appsync:{AT}:apis/a": ["AWS::AppSync::Api", "AWS::AppSync::GraphQLApi"],
    f"arn:aws:autoscaling:{AT}:autoScalingGroup:1:autoScalingGroupName/a": ["AWS::AutoScaling::AutoScalingGroup"],
    f"arn:aws:codepipeline:{AT}:release": ["AWS::CodePipeline::Pipeline"],
    f"arn:aws:connect:{AT}:instance/1/contact-flow/2": ["AWS::Connect::ContactFlow", "AWS::Connect::Instance"],
    f"arn:aws:ecs:{AT}:service/cluster/web": ["AWS::ECS::Service"],
    f"arn:aws:elasticloadbalancing:{AT}:loadbalancer/app/a/1": ["AWS::ElasticLoadBalancingV2::LoadBalancer"],
    f"arn:aws:elasticloadbalancing:{AT}:loadbalancer/a": ["AWS::ElasticLoadBalancing::LoadBalancer"],
    f"arn:aws:elasticloadbalancing:{AT}:targetgroup/a/1": ["AWS::ElasticLoadBalancingV2::TargetGroup"],
    f"arn:aws:ec2:{AT}:elastic-ip/eipalloc-1": ["AWS::EC2::EIP"],
    f"arn:aws:ec2:{AT}:security-group/sg-1": ["AWS::EC2::SecurityGroup"],
    f"arn:aws:lambda:{AT}:function:web": ["AWS::Lambda::Function"],
    f"arn:aws:lambda:{AT}:function:web:3": ["AWS::Lambda::Version"],
    f"arn:aws:lambda:{AT}:function:web:live": ["AWS::Lambda::Alias"],
    f"arn:aws:lambda:{AT}:layer:tools:3": ["AWS::Lambda::LayerVersion"],
    f"arn:aws:rds:{AT}:cluster:a": ["AWS::DocDB::DBCluster", "AWS::Neptune::DBCluster", "AWS::RDS::DBCluster"],
    f"arn:aws:sns:{AT}:news": ["AWS::SNS::Topic"],
    f"arn:aws:sns:{AT}:news:0b1c": ["AWS::SNS::Subscription"],
    f"arn:aws:sqs:{AT}:jobs": ["AWS::SQS::Queue"],
    f"arn:aws:states:{AT}:stateMachine:a": ["AWS::StepFunctions::StateMachine"],
    "arn:aws-cn:s3:::photos": ["AWS::S3::Bucket"],
    "arn:aws:s3:::photos/a.jpg": [],
    "arn:aws:apigateway:eu-west-1::/restapis/a": ["AWS::ApiGateway::RestApi"],
    "arn:aws:apigateway:eu-west-1::/restapis/a/stages/prod": ["AWS::ApiGateway::Stage"],
    "arn:aws:iam::111111111111:policy/team/web": ["AWS::IAM::ManagedPolicy"],
    "arn:aws:iam::111111111111:role/team/web": ["AWS::IAM::Role"],
    f"arn:aws:nothing:{AT}:x/y": [],
}


@pytest.mark.parametrize(("text", "expected"), OF.items())
def test_the_types_of_an_arn(text: str, expected: list[str]) -> None:
    arn = Arn.parse(text)
    assert arn
    assert types_of(arn) == expected


def test_the_forms_name_types_and_services_that_there_are() -> None:
    services = json.loads(files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text())
    assert {form.partition(":")[0] for form in FORMS} <= services.keys()
    assert {name for names in FORMS.values() for name in names} <= set(types())
