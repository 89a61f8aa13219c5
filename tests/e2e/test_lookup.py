"""`Custom::ResourceLookup`, deployed: templates get the attributes of resources that its role is allowed to read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.e2e.templates import EU, US, looking_up, lookup, stack
from tests.support.documents import blocks, load
from tests.support.emulator.sam import APPLICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws, Template

LAMBDA = {
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]
}


def of(resource: str, attribute: str) -> Template:
    return {"Fn::GetAtt": [resource, attribute]}


def ref(resource: str) -> Template:
    return {"Ref": resource}


def why(aws: Aws, name: str, template: Template) -> str:
    """The reasons of a stack that cannot be created. It rolls back cleanly."""
    aws.deploy(name, template, EU, "ROLLBACK_COMPLETE")
    reasons = "\n".join(aws.reasons(name, EU))
    aws.delete(name, EU)
    return reasons


@pytest.mark.story
def test_a_single_an_arn_and_a_composite_identifier_are_found_by_physical_id(
    looking: Aws, names: Callable[[str], str]
) -> None:
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "News"}},
        "Rule": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 day)"}},
        "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": names("api")}},
        "Deployment": {"Type": "AWS::ApiGateway::Deployment", "Properties": {"RestApiId": ref("Api")}},
        "Stage": {
            "Type": "AWS::ApiGateway::Stage",
            "Properties": {
                "RestApiId": ref("Api"),
                "DeploymentId": ref("Deployment"),
                "StageName": "prod",
                "Variables": {"Colour": "blue"},
            },
        },
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": LAMBDA}},
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Code": {"ZipFile": "def handler(*_): pass"},
                "Handler": "index.handler",
                "Runtime": "python3.13",
                "Role": of("Role", "Arn"),
            },
        },
        "Permission": {
            "Type": "AWS::Lambda::Permission",
            "Properties": {
                "Action": "lambda:InvokeFunction",
                "FunctionName": ref("Function"),
                "Principal": "sns.amazonaws.com",
            },
        },
        "FoundBucket": lookup("AWS::S3::Bucket", PhysicalId=ref("Bucket"), Attributes=["Arn", "RegionalDomainName"]),
        "FoundTopic": lookup("AWS::SNS::Topic", PhysicalId=ref("Topic")),
        "FoundRule": lookup("AWS::Events::Rule", PhysicalId=ref("Rule")),
        "FoundStage": lookup("AWS::ApiGateway::Stage", PhysicalId=ref("Stage"), Properties={"RestApiId": ref("Api")}),
        "FoundPermission": lookup(
            "AWS::Lambda::Permission", PhysicalId=ref("Permission"), Properties={"FunctionName": ref("Function")}
        ),
    }
    outputs = {
        "BucketArn": of("FoundBucket", "Arn"),
        "BucketDomain": of("FoundBucket", "RegionalDomainName"),
        "TopicName": of("FoundTopic", "DisplayName"),
        "RuleArn": of("FoundRule", "Arn"),
        "RuleSchedule": of("FoundRule", "ScheduleExpression"),
        "StageIdentifier": of("FoundStage", "Identifier"),
        "StageColour": of("FoundStage", "Variables.Colour"),
        "StageTraced": of("FoundStage", "TracingEnabled"),
        "Permission": of("FoundPermission", "Principal"),
        "PermissionIdentifier": of("FoundPermission", "Identifier"),
        "Ref": ref("FoundBucket"),
    }
    name = names("identifiers")
    looking.deploy(name, stack(resources, outputs), EU, "CREATE_COMPLETE")
    ids, reported = looking.physical_ids(name, EU), looking.outputs(name, EU)

    assert reported == {
        "BucketArn": f"arn:aws:s3:::{ids['Bucket']}",
        "BucketDomain": f"{ids['Bucket']}.s3.{EU}.amazonaws.com",
        "TopicName": "News",
        "RuleArn": f"arn:aws:events:{EU}:{looking.account}:rule/{ids['Rule']}",
        "RuleSchedule": "rate(1 day)",
        "StageIdentifier": f"{ids['Api']}|prod",
        "StageColour": "blue",
        "StageTraced": "false",
        "Permission": "sns.amazonaws.com",
        "PermissionIdentifier": f"{ids['Function']}|{ids['Permission']}",
        "Ref": f"strongref-lookup/{name}/FoundBucket",
    }
    assert "rate(1 day)" not in looking.logs(EU)
    looking.delete(name, EU)


def test_a_resource_is_found_by_tags_by_name_and_by_arn_in_another_region(
    looking: Aws, names: Callable[[str], str]
) -> None:
    own = names("news")
    tags = [{"Key": "test", "Value": own}, {"Key": "team", "Value": "web"}]
    arn = looking.client("sns", US).create_topic(Name=own, Tags=tags)["TopicArn"]
    looking.client("sns", US).create_topic(Name=f"other-{own}", Tags=tags[:1])
    by = {
        "Tags": lookup("AWS::SNS::Topic", Tags={"test": own, "team": "web"}, Region=US),
        "Name": lookup("AWS::SNS::Topic", Name=own, Region=US),
        "Arn": lookup("AWS::SNS::Topic", Arn=arn),
    }
    resources = {f"By{way}": resource for way, resource in by.items()}
    name = names("ways")
    looking.deploy(name, stack(resources, {way: of(f"By{way}", "Identifier") for way in by}), EU, "CREATE_COMPLETE")
    assert looking.outputs(name, EU) == dict.fromkeys(by, arn)
    looking.delete(name, EU)


def test_a_rule_on_a_bus_of_its_own_is_found_though_it_is_not_listed(looking: Aws, names: Callable[[str], str]) -> None:
    events, bus, name = looking.client("events", EU), names("bus"), names("stack")
    events.create_event_bus(Name=bus)
    rule = names("rule")
    arn = events.put_rule(Name=rule, EventBusName=bus, EventPattern='{"source": ["shop"]}')["RuleArn"]
    found = looking_up("AWS::Events::Rule", "Identifier", "EventBusName", PhysicalId=f"{bus}|{rule}")
    assert looking.deploy(name, found, EU, "CREATE_COMPLETE").outputs == {"Identifier": arn, "EventBusName": bus}
    looking.delete(name, EU)
    assert f"No AWS::Events::Rule with physical ID {rule} in {EU}" in why(
        looking, name, looking_up("AWS::Events::Rule", PhysicalId=rule)
    )


def test_what_else_is_known_has_to_be_true_of_what_is_found(looking: Aws, names: Callable[[str], str]) -> None:
    name = names("topic")
    looking.client("sns", EU).create_topic(Name=name, Attributes={"DisplayName": "News"})
    false = why(
        looking, name, looking_up("AWS::SNS::Topic", PhysicalId=name, Properties={"DisplayName": "not-to-be-reported"})
    )
    assert f"No AWS::SNS::Topic with physical ID {name} and the given properties (DisplayName) in {EU}" in false
    true = looking_up("AWS::SNS::Topic", "DisplayName", PhysicalId=name, Properties={"DisplayName": "News"})
    assert looking.deploy(name, true, EU, "CREATE_COMPLETE").outputs == {"DisplayName": "News"}
    looking.delete(name, EU)


def test_a_resource_among_more_than_a_page_of_them_is_found(looking: Aws, names: Callable[[str], str]) -> None:
    events, own = looking.client("events", EU), names("rule")
    for number in range(30):
        events.put_rule(Name=f"{own}-{number:02}", ScheduleExpression="rate(1 day)")
    name = names("paged")
    last = looking_up("AWS::Events::Rule", "Arn", PhysicalId=f"{own}-29")
    assert looking.deploy(name, last, EU, "CREATE_COMPLETE").outputs["Arn"].endswith(f":rule/{own}-29")
    for number in range(30):
        events.delete_rule(Name=f"{own}-{number:02}")
    looking.delete(name, EU)


def test_errors_are_the_reasons_of_the_stacks_events(looking: Aws, names: Callable[[str], str]) -> None:
    own, name = names("twin"), names("wrong")
    sns = looking.client("sns", EU)
    twins = [sns.create_topic(Name=f"{own}-{each}", Tags=[{"Key": "test", "Value": own}])["TopicArn"] for each in "ab"]

    missing = why(looking, name, looking_up("AWS::S3::Bucket", PhysicalId=own))
    assert f"No AWS::S3::Bucket with identifier {own} in {EU}" in missing
    ambiguous = why(looking, name, looking_up("AWS::SNS::Topic", Tags={"test": own}))
    assert all(twin in ambiguous for twin in twins)
    unsupported = why(looking, name, looking_up("AWS::IAM::Policy", PhysicalId=own))
    assert "AWS::IAM::Policy does not support " in unsupported
    unknown = why(looking, name, looking_up("AWS::S3::Bukket", PhysicalId=own))
    assert "AWS::S3::Bukket is not a resource type that can be looked up. Did you mean AWS::S3::Bucket" in unknown
    asked = why(looking, name, looking_up("AWS::ApiGateway::Stage", PhysicalId="prod"))
    assert "AWS::ApiGateway::Stage cannot be looked up without RestApiId" in asked
    attribute = why(looking, name, looking_up("AWS::SNS::Topic", PhysicalId=twins[0], Attributes=["TopicArm"]))
    assert "has no attribute TopicArm. Did you mean TopicArn" in attribute
    mistaken = why(looking, name, looking_up("AWS::SNS::Topic", PhysicalId=own, Names=[own]))
    assert "Names is unknown; must be one of TypeName, " in mistaken
    for twin in twins:
        sns.delete_topic(TopicArn=twin)


def test_what_a_service_asks_for_before_it_lists_is_taken_from_what_is_known(
    looking: Aws, names: Callable[[str], str]
) -> None:
    """Its list handler wants a property that no schema names: Cloud Control's error does."""
    elb, name = looking.client("elbv2", EU), names("balancer")
    balancer = elb.create_load_balancer(Name=name, Subnets=["subnet-a", "subnet-b"])["LoadBalancers"][0]
    action = {"Type": "fixed-response", "FixedResponseConfig": {"StatusCode": "200"}}
    request = {"LoadBalancerArn": balancer["LoadBalancerArn"], "Protocol": "HTTP", "DefaultActions": [action]}
    listeners = [elb.create_listener(**request, Port=port)["Listeners"][0]["ListenerArn"] for port in (80, 81)]
    wanted = {"PhysicalId": listeners[1].partition(":listener/")[2]}

    asked = why(looking, name, looking_up("AWS::ElasticLoadBalancingV2::Listener", **wanted))
    assert "AWS::ElasticLoadBalancingV2::Listener cannot be looked up without LoadBalancerArn" in asked
    known = {"Properties": {"LoadBalancerArn": balancer["LoadBalancerArn"]}}
    found = looking_up("AWS::ElasticLoadBalancingV2::Listener", "Identifier", "Port", **wanted, **known)
    deployed = looking.deploy(name, found, EU, "CREATE_COMPLETE")
    assert deployed.outputs == {"Identifier": listeners[1], "Port": "81"}
    looking.delete(name, EU)


def test_only_what_the_installations_policies_allow_is_looked_up(
    looking: Aws, aws: Aws, names: Callable[[str], str]
) -> None:
    name = names("denied")
    queue = looking.client("sqs", EU).create_queue(QueueName=name)["QueueUrl"]
    denied = why(looking, name, looking_up("AWS::SQS::Queue", PhysicalId=queue))
    assert f"GetResource of AWS::SQS::Queue {queue} in {EU} was denied (AccessDeniedException)" in denied
    assert "allows to read AWS::SQS::Queue to LookupPolicies" in denied

    aws.client("s3", EU).create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": EU})
    nothing_allowed = why(aws, name, looking_up("AWS::S3::Bucket", PhysicalId=name))
    assert "was denied (AccessDeniedException)" in nothing_allowed
    assert "LookupPolicies" in nothing_allowed


def test_a_lookup_is_made_once_until_its_properties_change_and_protects_nothing(
    looking: Aws, names: Callable[[str], str]
) -> None:
    name, own = names("weak"), names("topic")
    sns = looking.client("sns", EU)
    arn = sns.create_topic(Name=own, Attributes={"DisplayName": "Old"})["TopicArn"]
    template = looking_up("AWS::SNS::Topic", "DisplayName", Name=own)
    assert looking.deploy(name, template, EU, "CREATE_COMPLETE").outputs == {"DisplayName": "Old"}

    sns.set_topic_attributes(TopicArn=arn, AttributeName="DisplayName", AttributeValue="New")
    unchanged = stack(template["Resources"], {"DisplayName": of("Found", "DisplayName"), "More": "1"})
    assert looking.deploy(name, unchanged, EU, "UPDATE_COMPLETE").outputs["DisplayName"] == "Old"
    again = looking_up("AWS::SNS::Topic", "DisplayName", Name=own, Revision="2")
    before = looking.physical_ids(name, EU)["Found"]
    assert looking.deploy(name, again, EU, "UPDATE_COMPLETE").outputs == {"DisplayName": "New"}
    assert looking.physical_ids(name, EU)["Found"] == before

    sns.delete_topic(TopicArn=arn)
    gone = looking_up("AWS::SNS::Topic", "DisplayName", Name=own, Revision="3")
    looking.deploy(name, gone, EU, "UPDATE_ROLLBACK_FAILED")
    looking.client("cloudformation", EU).continue_update_rollback(StackName=name, ResourcesToSkip=["Found"])
    looking.wait(name, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert looking.outputs(name, EU) == {"DisplayName": "New"}
    looking.delete(name, EU)


def test_the_function_has_its_own_role_and_makes_no_needless_calls(looking: Aws, names: Callable[[str], str]) -> None:
    """In the other region, whose function no other test has called."""
    ids = looking.physical_ids(APPLICATION, US)
    iam = looking.client("iam", US)
    attached = iam.list_attached_role_policies(RoleName=ids["LookupRole"])["AttachedPolicies"]
    assert [each["PolicyName"] for each in attached] == ["lookups"]
    own = iam.get_role_policy(RoleName=ids["LookupRole"], PolicyName="lookup")["PolicyDocument"]
    assert {statement["Sid"] for statement in own["Statement"]} == {"CloudControl", "Tags", "Events", "Logs"}

    bucket = names("counted")
    looking.client("s3", US).create_bucket(Bucket=bucket)
    before = calls(looking, ids["Lookup"])
    name = names("costs")
    looking.deploy(name, looking_up("AWS::S3::Bucket", PhysicalId=bucket), US, "CREATE_COMPLETE")
    looking.delete(name, US)
    assert calls(looking, ids["Lookup"]) - before == Counter(
        {f"cloudcontrol:GetResource in {US}": 1, f"cloudformation:DescribeStackResource in {US}": 2}
    )


def calls(aws: Aws, function: str) -> Counter[str]:
    """What a function called so far, of what is counted."""
    made = [call for call in aws.calls if call.caller == function]
    return Counter({f"{call.service}:{call.action} in {call.region}": call.count for call in made})


def test_an_answer_that_is_too_large_says_what_to_name(looking: Aws, names: Callable[[str], str]) -> None:
    name = names("large")
    api = looking.client("apigateway", EU)
    identifier = api.create_rest_api(name=name)["id"]
    deployment = api.create_deployment(restApiId=identifier)["id"]
    variables = {f"Variable{number}": "x" * 500 for number in range(10)}
    api.create_stage(restApiId=identifier, stageName="prod", deploymentId=deployment, variables=variables)
    stage = {"PhysicalId": "prod", "Properties": {"RestApiId": identifier}}

    too_large = why(looking, name, looking_up("AWS::ApiGateway::Stage", **stage))
    assert "are too large for CloudFormation" in too_large
    assert "List only the attributes that you need in Attributes. The largest are Variables.Variable0, " in too_large
    named = looking_up("AWS::ApiGateway::Stage", "DeploymentId", **stage, Attributes=["DeploymentId"])
    assert looking.deploy(name, named, EU, "CREATE_COMPLETE").outputs == {"DeploymentId": deployment}
    looking.delete(name, EU)
    found = looking.emulator.answers(name)
    assert all(each.violations == [] and each.count == 1 for each in found)


def test_the_documented_look_ups_find_what_they_are_about(looking: Aws, names: Callable[[str], str]) -> None:
    documented = [load(block.text) for block in blocks("yaml") if block.page.name == "lookups.md"]
    found = {name: resource for snippet in documented for name, resource in snippet.items()}
    looking.client("s3", EU).create_bucket(Bucket="photos", CreateBucketConfiguration={"LocationConstraint": EU})
    tags = [{"Key": "team", "Value": "web"}, {"Key": "purpose", "Value": "news"}]
    topic = looking.client("sns", US).create_topic(Name="news", Tags=tags)["TopicArn"]
    resources = {
        "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": names("documented")}},
        "Deployment": {
            "Type": "AWS::ApiGateway::Deployment",
            "Properties": {"RestApiId": ref("Api"), "StageName": "prod"},
        },
        **found,
        "Stage": found["Stage"] | {"DependsOn": "Deployment"},
    }
    outputs = {
        "Photos": of("Photos", "RegionalDomainName"),
        "Stage": of("Stage", "DeploymentId"),
        "News": of("News", "TopicArn"),
    }
    name = names("documented")
    looking.deploy(name, stack(resources, outputs), EU, "CREATE_COMPLETE")
    assert looking.outputs(name, EU) == {
        "Photos": f"photos.s3.{EU}.amazonaws.com",
        "Stage": looking.physical_ids(name, EU)["Deployment"],
        "News": topic,
    }
    looking.delete(name, EU)
