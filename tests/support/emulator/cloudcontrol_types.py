"""Some resource types as Cloud Control describes them, out of the state of the emulator's services.

Identifiers, and what a list has to be given, are those of CloudFormation's resource schemas. The permissions are one
for each of a type's handlers, of the several that its schema names. That of an `AWS::Lambda::Permission` is
`FunctionName|Id` here, as its schema has it; that the service has the function's ARN in it is what others say
(Pulumi's CDK importer), and unit tests have both.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ministack.core.responses import get_account_id, get_region
from ministack.services import alb, apigateway_v1, eventbridge, iam, lambda_svc, s3, sns, sqs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Model = dict[str, Any]


def everywhere(_model: Model) -> bool:
    """Whether a resource can be read from here: of a regional service only those of this region are known at all."""
    return True


@dataclass(frozen=True)
class Kind:
    """A resource type.

    Attributes:
        name: as in `AWS::S3::Bucket`.
        identifier: the properties of its primary identifier.
        models: every resource of it.
        read: the permission that reading one needs.
        list: the permission that listing them needs.
        arn: what a resource is called in policies; given no more than what a list is asked with, or nothing, too.
        list_needs: the properties that a list has to be given.
        parent_exists: whether what these properties name is there.
        terse: whether its handler names one missing property, in a wording of its own.
        here: whether one that is listed can be read in the request's region.
        listed: whether one is listed at all.
        native: another form of the identifier, by which one can be read.
    """

    name: str
    identifier: tuple[str, ...]
    models: Callable[[], Iterator[Model]]
    read: str
    list: str
    arn: Callable[[Model], str]
    list_needs: tuple[str, ...] = ()
    parent_exists: Callable[[Model], bool] = everywhere
    terse: bool = False
    here: Callable[[Model], bool] = everywhere
    listed: Callable[[Model], bool] = everywhere
    native: Callable[[Model], str | None] = lambda _model: None

    def identify(self, model: Model) -> str:
        """A resource's primary identifier."""
        return "|".join(model[name] for name in self.identifier)


def _buckets() -> Iterator[Model]:
    for name in s3._buckets:
        region = s3.bucket_region(name)
        yield {
            "BucketName": name,
            "Arn": f"arn:aws:s3:::{name}",
            "DomainName": f"{name}.s3.amazonaws.com",
            "DualStackDomainName": f"{name}.s3.dualstack.{region}.amazonaws.com",
            "RegionalDomainName": f"{name}.s3.{region}.amazonaws.com",
            "WebsiteURL": f"http://{name}.s3-website-{region}.amazonaws.com",
            "VersioningConfiguration": {"Status": s3._bucket_versioning.get(name) or "Suspended"},
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "Tags": _tags(s3._bucket_tags.get(name)),
        }


def _queues() -> Iterator[Model]:
    for url, queue in list(sqs._queues.items()):
        held = queue["attributes"]
        yield {
            "QueueUrl": url,
            "QueueName": queue["name"],
            "Arn": held["QueueArn"],
            "DelaySeconds": int(held["DelaySeconds"]),
            "VisibilityTimeout": int(held["VisibilityTimeout"]),
            "MessageRetentionPeriod": int(held["MessageRetentionPeriod"]),
            "Tags": _tags(queue.get("tags")),
        }


def _topics() -> Iterator[Model]:
    for arn, topic in list(sns._topics.items()):
        yield {
            "TopicArn": arn,
            "TopicName": arn.rpartition(":")[2],
            "DisplayName": topic["attributes"].get("DisplayName", ""),
            "Subscription": [
                {"Endpoint": each["endpoint"], "Protocol": each["protocol"]} for each in topic["subscriptions"]
            ],
            "Tags": _tags(topic.get("tags")),
        }


def _rules() -> Iterator[Model]:
    for key, rule in list(eventbridge._rules.items()):
        yield {
            "Arn": rule["Arn"],
            "Name": rule["Name"],
            "RuleName": rule["Name"],
            "EventBusName": rule["EventBusName"],
            "ScheduleExpression": rule["ScheduleExpression"] or None,
            "EventPattern": json.loads(rule["EventPattern"]) if rule["EventPattern"] else None,
            "State": rule["State"],
            "Targets": [{"Arn": each["Arn"], "Id": each["Id"]} for each in eventbridge._targets.get(key, [])],
        }


def _rule_on_its_bus(model: Model) -> str:
    bus, name = model["EventBusName"], model["Name"]
    return str(name if bus == "default" else f"{bus}|{name}")


def _roles() -> Iterator[Model]:
    for name, role in list(iam._roles.items()):
        yield {
            "RoleName": name,
            "Arn": role["Arn"],
            "RoleId": role["RoleId"],
            "Path": role["Path"],
            "Description": role.get("Description", ""),
            "MaxSessionDuration": role.get("MaxSessionDuration", 3600),
        }


def _functions() -> Iterator[Model]:
    for name, function in list(lambda_svc._functions.items()):
        config = function["config"]
        yield {
            "FunctionName": name,
            "Arn": config["FunctionArn"],
            **{
                key: config.get(key) for key in ("Handler", "Runtime", "MemorySize", "Timeout", "Role", "Architectures")
            },
            "Environment": config.get("Environment"),
        }


def _permissions() -> Iterator[Model]:
    for name, function in list(lambda_svc._functions.items()):
        for statement in function["policy"]["Statement"]:
            principal = statement.get("Principal", {})
            yield {
                "FunctionName": name,
                "Id": statement["Sid"],
                "Action": statement["Action"],
                "Principal": principal.get("Service", principal.get("AWS"))
                if isinstance(principal, dict)
                else principal,
            }


def _apis() -> Iterator[Model]:
    for identifier, api in list(apigateway_v1._rest_apis.items()):
        root = next(each["id"] for each in apigateway_v1._resources[identifier].values() if each["path"] == "/")
        yield {"RestApiId": identifier, "RootResourceId": root, "Name": api["name"]}


def _stages() -> Iterator[Model]:
    for api, stages in list(apigateway_v1._stages_v1.items()):
        for name, stage in stages.items():
            yield {
                "RestApiId": api,
                "StageName": name,
                "DeploymentId": stage["deploymentId"],
                "Description": stage.get("description", ""),
                "TracingEnabled": stage["tracingEnabled"],
                "Variables": stage.get("variables") or {},
            }


def _paths() -> Iterator[Model]:
    for api, resources in list(apigateway_v1._resources.items()):
        for identifier, resource in resources.items():
            yield {
                "RestApiId": api,
                "ResourceId": identifier,
                "ParentId": resource["parentId"],
                "PathPart": resource["pathPart"],
            }


def _listeners() -> Iterator[Model]:
    for arn, listener in list(alb._listeners.items()):
        yield {
            "ListenerArn": arn,
            "LoadBalancerArn": listener["LoadBalancerArn"],
            "Port": listener["Port"],
            "Protocol": listener["Protocol"],
        }


def _tags(tags: dict[str, str] | None) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def _of(service: str, resource: str, name: str) -> Callable[[Model], str]:
    """What a resource of a regional service is called in policies, by the property that holds its name."""
    return lambda model: f"arn:aws:{service}:{get_region()}:{get_account_id()}:{resource}{model.get(name, '*')}"


def _itself(name: str = "Arn") -> Callable[[Model], str]:
    """The property that holds an ARN."""
    return lambda model: model.get(name, "*")


def _api(model: Model) -> str:
    return f"arn:aws:apigateway:{get_region()}::/restapis/{model.get('RestApiId', '*')}"


def _has_api(model: Model) -> bool:
    return model["RestApiId"] in apigateway_v1._rest_apis


TYPES = {
    kind.name: kind
    for kind in (
        Kind(
            "AWS::S3::Bucket",
            ("BucketName",),
            _buckets,
            "s3:ListBucket",
            "s3:ListAllMyBuckets",
            lambda model: f"arn:aws:s3:::{model.get('BucketName', '*')}",
            here=lambda model: s3.bucket_region(model["BucketName"]) == get_region(),
        ),
        Kind("AWS::SQS::Queue", ("QueueUrl",), _queues, "sqs:GetQueueAttributes", "sqs:ListQueues", _itself()),
        Kind(
            "AWS::SNS::Topic", ("TopicArn",), _topics, "sns:GetTopicAttributes", "sns:ListTopics", _itself("TopicArn")
        ),
        # Its code reads by the physical id as well, and lists the default bus alone (AWS:
        # aws-cloudformation-resource-providers-events, CompositePID and ListHandler of aws-events-rule).
        Kind(
            "AWS::Events::Rule",
            ("Arn",),
            _rules,
            "events:DescribeRule",
            "events:ListRules",
            _itself(),
            listed=lambda model: model["EventBusName"] == "default",
            native=_rule_on_its_bus,
        ),
        Kind("AWS::IAM::Role", ("RoleName",), _roles, "iam:GetRole", "iam:ListRoles", _itself()),
        Kind(
            "AWS::Lambda::Function",
            ("FunctionName",),
            _functions,
            "lambda:GetFunction",
            "lambda:ListFunctions",
            _itself(),
        ),
        Kind(
            "AWS::Lambda::Permission",
            ("FunctionName", "Id"),
            _permissions,
            "lambda:GetPolicy",
            "lambda:GetPolicy",
            _of("lambda", "function:", "FunctionName"),
            list_needs=("FunctionName",),
            parent_exists=lambda model: model["FunctionName"] in lambda_svc._functions,
        ),
        Kind("AWS::ApiGateway::RestApi", ("RestApiId",), _apis, "apigateway:GET", "apigateway:GET", _api),
        Kind(
            "AWS::ApiGateway::Stage",
            ("RestApiId", "StageName"),
            _stages,
            "apigateway:GET",
            "apigateway:GET",
            _api,
            list_needs=("RestApiId",),
            parent_exists=_has_api,
        ),
        Kind(
            "AWS::ApiGateway::Resource",
            ("RestApiId", "ResourceId"),
            _paths,
            "apigateway:GET",
            "apigateway:GET",
            _api,
            list_needs=("RestApiId",),
            parent_exists=_has_api,
        ),
        Kind(
            "AWS::ElasticLoadBalancingV2::Listener",
            ("ListenerArn",),
            _listeners,
            "elasticloadbalancing:DescribeListeners",
            "elasticloadbalancing:DescribeListeners",
            lambda _model: "*",
            list_needs=("LoadBalancerArn",),
            parent_exists=lambda model: model["LoadBalancerArn"] in alb._lbs,
            terse=True,
        ),
    )
}

UNSUPPORTED = ("AWS::IAM::Policy",)
"""Types whose schema has no handlers to read or list with."""
