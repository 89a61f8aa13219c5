"""How ARNs name resources, type by type: as data. Pure.

Most ARNs have the type's name as CloudFormation spells it, or its plural, and the resource's own part of the
identifier. The exceptions are here, as in AWS's Service Authorization Reference (resource types defined by a service).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from strongref.arns import Arn
from strongref.aws.clients import dns_suffix
from strongref.lookup.resource_types import ResourceType, resource_type_of, types

ARN_IDENTIFIERS = frozenset({"AWS::SecretsManager::Secret", "AWS::CloudFormation::Stack"})
"""Types whose identifier is an ARN although its property has another name."""

RESOURCE_PATTERNS: Mapping[str, str] = {
    "AWS::ApiGateway::Stage": r"/restapis/(?P<RestApiId>[^/]+)/stages/(?P<StageName>[^/]+)",
    "AWS::ApiGatewayV2::Stage": r"/apis/(?P<ApiId>[^/]+)/stages/(?P<StageName>[^/]+)",
    "AWS::EC2::EIP": r"elastic-ip/(?P<AllocationId>[^/]+)",
    "AWS::EC2::FlowLog": r"vpc-flow-log/(?P<Id>[^/]+)",
    "AWS::EC2::Host": r"dedicated-host/(?P<HostId>[^/]+)",
    "AWS::EC2::KeyPair": r"key-pair/(?P<KeyPairId>[^/]+)",
    "AWS::ElastiCache::CacheCluster": r"cluster:(?P<ClusterName>[^:]+)",
    "AWS::ElasticBeanstalk::Environment": r"environment/(?P<ApplicationName>[^/]+)/(?P<EnvironmentName>[^/]+)",
    "AWS::Glue::Table": r"table/(?P<DatabaseName>[^/]+)/(?P<Name>[^/]+)",
}
"""By type: the resource of an ARN, whose groups are properties."""


FORMS: Mapping[str, tuple[str, ...]] = {
    r"apigateway:/(apis/[^/]+/.+|[^/]+(/[^/]+/[^/]+)+)": (),  # what HTTP APIs have, but stages; and lists
    r"appsync:apis/[^/]+": ("AWS::AppSync::Api", "AWS::AppSync::GraphQLApi"),
    r"backup:backup-vault:.+": ("AWS::Backup::BackupVault", "AWS::Backup::LogicallyAirGappedBackupVault"),
    r"(bedrock|connect|wisdom):.+:[^/]+": (),  # versions
    r"cloudwatch:alarm:.+": ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::LogAlarm"),
    r"codepipeline:[^/:]+": ("AWS::CodePipeline::Pipeline",),
    r"elasticloadbalancing:loadbalancer/(app|gwy|net)/.+": ("AWS::ElasticLoadBalancingV2::LoadBalancer",),
    r"elasticloadbalancing:loadbalancer/[^/]+": ("AWS::ElasticLoadBalancing::LoadBalancer",),
    r"iam:policy/.+": ("AWS::IAM::ManagedPolicy",),
    r"kafka:cluster/.+": ("AWS::MSK::Cluster", "AWS::MSK::ServerlessCluster"),
    r"kms:key/mrk-.+": ("AWS::KMS::Key", "AWS::KMS::ReplicaKey"),
    r"lambda:function:[^:]+:[0-9]+": ("AWS::Lambda::Version",),
    r"lambda:function:[^:]+:[\w-]+": ("AWS::Lambda::Alias",),
    r"lambda:function:[^:]+:.+": (),
    r"lambda:layer:[^:]+:[0-9]+": ("AWS::Lambda::LayerVersion",),
    r"mediaconnect:flow:[^/]+/.+": (),
    r"rds:cluster:[^:]+": ("AWS::DocDB::DBCluster", "AWS::Neptune::DBCluster", "AWS::RDS::DBCluster"),
    r"rds:db:[^:]+": ("AWS::DocDB::DBInstance", "AWS::Neptune::DBInstance", "AWS::RDS::DBInstance"),
    r"s3:[^/:]+": ("AWS::S3::Bucket",),
    r"s3:accesspoint/.+\.mrap": ("AWS::S3::MultiRegionAccessPoint",),
    r"sns:[^/:]+": ("AWS::SNS::Topic",),
    r"sns:[^/:]+:[^/:]+": ("AWS::SNS::Subscription",),
    r"sqs:[^/:]+": ("AWS::SQS::Queue",),
    r"states:stateMachine:.+:.+": ("AWS::StepFunctions::StateMachineAlias", "AWS::StepFunctions::StateMachineVersion"),
}
"""By service and whole resource of an ARN: the types that it can be of, where its words name none, or another one."""

FLAT = "apprunner|autoscaling|ecr|ecs|eks|elasticloadbalancing|events|iam|imagebuilder|kafka|kms|organizations|ssm"
"""Services whose ARNs have one word, before an ID of any number of parts, such as a name with its path."""


def _queue(arn: Arn) -> list[str]:
    suffix = dns_suffix(arn.partition) or "amazonaws.com"
    return [f"https://sqs.{arn.region}.{suffix}/{arn.account}/{arn.resource}"]


def _parameter(arn: Arn) -> list[str]:
    """A name with a slash in it begins with one, which its ARN lacks. Any other name may begin with one."""
    name = arn.resource_id
    return [f"/{name}"] if "/" in name else [name, f"/{name}"]


IDENTIFIERS_FROM_ARN: Mapping[str, Callable[[Arn], list[str]]] = {
    "AWS::Logs::LogGroup": lambda arn: [arn.resource_id.removesuffix(":*")],
    "AWS::SQS::Queue": _queue,
    "AWS::SSM::Parameter": _parameter,
}
"""By type: the identifiers that an ARN can stand for, where they have another form than the ARN's resource."""


def identifiers_from_arn(resource_type: ResourceType, arn: Arn) -> Sequence[str]:
    """The identifiers that a resource with this ARN may have: few, since each is read."""
    convert = IDENTIFIERS_FROM_ARN.get(resource_type.type_name)
    if convert:
        return convert(arn)
    if resource_type.type_name in RESOURCE_PATTERNS:
        found = properties_in_arn(resource_type, arn) or {}
        parts = [found.get(part, "") for part in resource_type.identifier]
        return ["|".join(parts)] if all(parts) else []
    if resource_type.is_composite:
        return []
    # Where resources have their ARN among their properties, the last segment is worth a try: the ARN is compared.
    return list(dict.fromkeys((arn.resource_id, arn.last_segment))) if resource_type.arn_property else [arn.resource_id]


def properties_in_arn(resource_type: ResourceType, arn: Arn) -> Mapping[str, str] | None:
    """The properties that an ARN of the type has in it; None if its format is not known."""
    found = re.fullmatch(RESOURCE_PATTERNS.get(resource_type.type_name, ""), arn.resource)
    return found.groupdict() if found else None


def is_of_type(arn: Arn, resource_type: ResourceType) -> bool:
    """Whether an ARN names the type: by its pattern, or as CloudFormation does but for case, hyphens and plural.

    As `nat-gateway` for `NatGateway`, and `/restapis/` for `RestApi`.
    """
    _, service, kind = resource_type.type_name.lower().split("::")
    if arn.service not in (service, *(resource_type.tagged_by or ())):
        return False
    if resource_type.type_name in RESOURCE_PATTERNS:
        return properties_in_arn(resource_type, arn) is not None
    return arn.resource_type.replace("-", "").lower() in (kind, f"{kind}s")


def types_of(arn: Arn) -> list[str]:
    """The types that an ARN can be of: by what its whole resource matches, or else by its last word.

    Words and IDs take turns, as in `instance/…/contact-flow/…`, and the last ID may have two parts, as in
    `targetgroup/web/0b1c`. So no ARN is taken for that of its parent. Empty if the word names no type of the service.
    """
    every = {known.type_name: known for known in map(resource_type_of, types())}
    if found := [name for name in every if name in RESOURCE_PATTERNS and is_of_type(arn, every[name])]:
        return found
    for form, type_names in FORMS.items():
        if re.fullmatch(form, f"{arn.service}:{arn.resource}"):
            return list(type_names)
    if not (start := re.match("/?[^/:]+([/:])", arn.resource)):
        return []
    words = arn.resource.removeprefix("/").split(start[1])[:-1:2]
    word = words[0 if re.fullmatch(FLAT, arn.service) else -1]
    return [name for name, known in every.items() if is_of_type(arn.with_resource(f"{word}/"), known)]


def arns_of_type(arns: Iterable[str], resource_type: ResourceType) -> list[str]:
    """The ARNs that name the type; all of them if none does, since some services use another word."""
    parsed = {text: Arn.parse(text) for text in arns}
    return [text for text, arn in parsed.items() if arn and is_of_type(arn, resource_type)] or list(parsed)
