"""What is told of a resource by its ARN, type by type: as data. Pure.

Most ARNs name their type as CloudFormation does, or in the plural, and the resource by its own part of the identifier.
Here are those that do not, with the formats of AWS's Service Authorization Reference (resource types defined by …).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.contract.arns import Arn
from strongref.lookup.errors import UnrelatedArnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from strongref.lookup.table import Shape

IDENTIFYING = frozenset({"AWS::SecretsManager::Secret", "AWS::CloudFormation::Stack"})
"""Types whose identifier is an ARN without being called so."""

PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "AWS::ApiGateway::Stage": r"/restapis/(?P<RestApiId>[^/]+)/stages/(?P<StageName>[^/]+)",
        "AWS::ApiGatewayV2::Stage": r"/apis/(?P<ApiId>[^/]+)/stages/(?P<StageName>[^/]+)",
        "AWS::EC2::EIP": r"elastic-ip/(?P<AllocationId>[^/]+)",
        "AWS::EC2::FlowLog": r"vpc-flow-log/(?P<Id>[^/]+)",
        "AWS::EC2::Host": r"dedicated-host/(?P<HostId>[^/]+)",
        "AWS::EC2::KeyPair": r"key-pair/(?P<KeyPairId>[^/]+)",
        "AWS::ElastiCache::CacheCluster": r"cluster:(?P<ClusterName>[^:]+)",
        "AWS::ElasticBeanstalk::Environment": r"environment/(?P<ApplicationName>[^/]+)/(?P<EnvironmentName>[^/]+)",
        "AWS::Glue::Table": r"table/(?P<DatabaseName>[^/]+)/(?P<Name>[^/]+)",
    }.items()
}
"""By type: the last field of an ARN, whose parts are properties of the resource."""


def _queue(arn: Arn) -> list[str]:
    suffix = "amazonaws.com.cn" if arn.partition == "aws-cn" else "amazonaws.com"
    return [f"https://sqs.{arn.region}.{suffix}/{arn.account}/{arn.resource}"]


def _parameter(arn: Arn) -> list[str]:
    """A name that holds a slash begins with one, which its ARN lacks; another one may."""
    return [f"/{arn.resource_id}"] if "/" in arn.resource_id else [arn.resource_id, f"/{arn.resource_id}"]


def _log_group(arn: Arn) -> list[str]:
    return [arn.resource_id.removesuffix(":*")]


GUESSES: Mapping[str, Callable[[Arn], list[str]]] = {
    "AWS::Logs::LogGroup": _log_group,
    "AWS::SQS::Queue": _queue,
    "AWS::SSM::Parameter": _parameter,
}
"""By type: what its identifier may be, where that is another form of what its ARN says."""


def guesses(shape: Shape, arn: Arn) -> Sequence[str]:
    """The identifiers that a resource with an ARN may have: few, since each is asked for."""
    guess = GUESSES.get(shape.type_name)
    if guess:
        return guess(arn)
    pattern = PATTERNS.get(shape.type_name)
    if pattern:
        found = pattern.fullmatch(arn.resource)
        parts = [found.groupdict().get(part) for part in shape.identifier] if found else [None]
        return ["|".join(map(str, parts))] if all(parts) else []
    if shape.is_composite:
        return []
    # Where it says its ARN, what stands at the end of one may be tried: it is asked whether that is its.
    return list(dict.fromkeys((arn.resource_id, arn.last_segment))) if shape.arn else [arn.resource_id]


def said(shape: Shape, text: str) -> Mapping[str, str] | None:
    """What an ARN says of the properties of a resource of a type; None where it is not known how it does."""
    arn, pattern = Arn.parse(text), PATTERNS.get(shape.type_name)
    found = pattern.fullmatch(arn.resource) if arn and pattern else None
    return found.groupdict() if found else None


def is_of_type(arn: Arn, shape: Shape) -> bool:
    """Whether an ARN names a type: as `PATTERNS` has it, or as CloudFormation does, but for case, hyphens and plural.

    As `nat-gateway` for `NatGateway`, and `/restapis/` for `RestApi`.
    """
    _, service, kind = shape.type_name.lower().split("::")
    if arn.service not in (service, *(shape.tagged_by or ())):
        return False
    pattern = PATTERNS.get(shape.type_name)
    if pattern:
        return pattern.fullmatch(arn.resource) is not None
    return arn.resource_type.replace("-", "").lower() in (kind, f"{kind}s")


def related(arn: Arn, text: str, shape: Shape, region: str) -> None:
    """See that an ARN can be told to be one of a type's.

    Raises:
        UnrelatedArnError: resources of the type do not say their ARN, and this one does not name them.
    """
    if not shape.arn and not is_of_type(arn, shape):
        raise UnrelatedArnError(shape.type_name, text, region)


def of_type(arns: Iterable[str], shape: Shape) -> list[str]:
    """The ARNs that name the type; all of them if none does, since some services call it something else."""
    parsed = {text: Arn.parse(text) for text in arns}
    named_so = [text for text, arn in parsed.items() if arn and is_of_type(arn, shape)]
    return named_so or list(parsed)


def are_same(told: object, text: str) -> bool:
    """Whether what a resource says of its ARN is this. A log group's may end in `:*`, which stands for its streams."""
    return isinstance(told, str) and told.removesuffix(":*") == text.removesuffix(":*")
