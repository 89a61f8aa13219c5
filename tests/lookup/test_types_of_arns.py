"""The types that an ARN can be of."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

import pytest

from strongref.arns import Arn
from strongref.lookup.arn_formats import FLAT, FORMS, types_of
from strongref.lookup.resource_types import resource_type_of, types

AT = "eu-west-1:111111111111"
OF = {
    f"arn:aws:appsync:{AT}:apis/a": ["AWS::AppSync::Api", "AWS::AppSync::GraphQLApi"],
    f"arn:aws:autoscaling:{AT}:autoScalingGroup:1:autoScalingGroupName/a": ["AWS::AutoScaling::AutoScalingGroup"],
    f"arn:aws:codepipeline:{AT}:release": ["AWS::CodePipeline::Pipeline"],
    f"arn:aws:connect:{AT}:instance/1/contact-flow/2": ["AWS::Connect::ContactFlow"],
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
    # several types have ARNs of one form
    f"arn:aws:backup:{AT}:backup-vault:a": ["AWS::Backup::BackupVault", "AWS::Backup::LogicallyAirGappedBackupVault"],
    f"arn:aws:cloudwatch:{AT}:alarm:a:b/c": [
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::CompositeAlarm",
        "AWS::CloudWatch::LogAlarm",
    ],
    f"arn:aws:kafka:{AT}:cluster/a/1": ["AWS::MSK::Cluster", "AWS::MSK::ServerlessCluster"],
    f"arn:aws:kms:{AT}:key/1": ["AWS::KMS::Key"],
    f"arn:aws:kms:{AT}:key/mrk-1": ["AWS::KMS::Key", "AWS::KMS::ReplicaKey"],
    "arn:aws:s3::111111111111:accesspoint/a.mrap": ["AWS::S3::MultiRegionAccessPoint"],
    # what belongs to a resource is not that resource
    f"arn:aws:acm-pca:{AT}:certificate-authority/1/certificate/2": [],
    f"arn:aws:amplify:{AT}:apps/a/branches/b": [],
    f"arn:aws:appsync:{AT}:apis/a/functions/b": [],
    f"arn:aws:appsync:{AT}:apis/a/types/B/resolvers/c": ["AWS::AppSync::Resolver"],
    f"arn:aws:bedrock:{AT}:prompt/a:1": [],
    f"arn:aws:connect:{AT}:instance/1/agent/2": [],
    f"arn:aws:dynamodb:{AT}:table/a": ["AWS::DynamoDB::Table"],
    f"arn:aws:dynamodb:{AT}:table/a/index/b": [],
    f"arn:aws:dynamodb:{AT}:table/a/stream/2026-01-01T00:00:00.000": [],
    f"arn:aws:kinesis:{AT}:stream/a/consumer/b:1": [],
    f"arn:aws:lambda:{AT}:function:web:$LATEST": [],
    f"arn:aws:lambda:{AT}:function:web:3/durable-execution/a/b": [],
    f"arn:aws:logs:{AT}:log-group:/aws/lambda/web:*": ["AWS::Logs::LogGroup"],
    f"arn:aws:logs:{AT}:log-group:/aws/lambda/web:log-stream:a": ["AWS::Logs::LogStream"],
    f"arn:aws:mediaconnect:{AT}:flow:1:a/vpcInterface/b": [],
    f"arn:aws:sns:{AT}:app/GCM/a": [],
    f"arn:aws:sns:{AT}:endpoint/GCM/a/1": [],
    "arn:aws:apigateway:eu-west-1::/apis/a/authorizers/b": [],
    "arn:aws:apigateway:eu-west-1::/apis/a/integrations/b": [],
    "arn:aws:apigateway:eu-west-1::/apis/a/routes/b": [],
    "arn:aws:apigateway:eu-west-1::/apis/a/stages/b": ["AWS::ApiGatewayV2::Stage"],
    "arn:aws:apigateway:eu-west-1::/restapis/a/resources/b": ["AWS::ApiGateway::Resource"],
    "arn:aws:apigateway:eu-west-1::/restapis/a/resources": [],
    # a name that looks like a type
    f"arn:aws:events:{AT}:rule/bus/archive": ["AWS::Events::Rule"],
    f"arn:aws:ssm:{AT}:parameter/app/document": ["AWS::SSM::Parameter"],
    f"arn:aws:ssm:{AT}:parameter/app/document/a": ["AWS::SSM::Parameter"],
    "arn:aws:iam::111111111111:role/team/group": ["AWS::IAM::Role"],
    "arn:aws:iam::111111111111:role/team/group/web": ["AWS::IAM::Role"],
    # an ID of several parts
    f"arn:aws:batch:{AT}:job-definition/a:1": ["AWS::Batch::JobDefinition"],
    f"arn:aws:ecs:{AT}:task-set/a/b/c": ["AWS::ECS::TaskSet"],
    f"arn:aws:eks:{AT}:nodegroup/a/b/1": ["AWS::EKS::Nodegroup"],
    f"arn:aws:glue:{AT}:table/a/b": ["AWS::Glue::Table"],
    f"arn:aws:imagebuilder:{AT}:component/a/1.0.0/1": ["AWS::ImageBuilder::Component"],
    f"arn:aws:secretsmanager:{AT}:secret:app/db/password-1": ["AWS::SecretsManager::Secret"],
}


@pytest.mark.parametrize(("text", "expected"), OF.items())
def test_the_types_of_an_arn(text: str, expected: list[str]) -> None:
    arn = Arn.parse(text)
    assert arn
    assert types_of(arn) == expected


def test_an_arn_is_never_taken_for_that_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """One type of each service. Where ARNs have one word, everything after it is the ID."""
    monkeypatch.setattr("strongref.lookup.arn_formats.resource_type_of", cache(resource_type_of))  # to be quick
    one = {each.tagged_by[0]: each.type_name for each in map(resource_type_of, types()) if each.tagged_by}
    arns = {
        name: Arn("aws", service, "eu-west-1", "111111111111", f"{name.rpartition('::')[2].lower()}/a/part/b")
        for service, name in one.items()
        if not re.fullmatch(FLAT, service)
    }
    assert len(arns) > 100
    assert [name for name, arn in arns.items() if types_of(arn)] == []


def test_the_forms_name_types_and_services_that_there_are() -> None:
    services = json.loads(files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text())
    named = {service for form in FORMS for service in re.findall("[a-z0-9-]+", form.partition(":")[0])}
    assert named <= services.keys()
    assert {name for names in FORMS.values() for name in names} <= set(types())
