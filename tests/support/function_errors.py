"""The errors of the functions, each as docs/troubleshooting/ shows it; those of properties are in `property_errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref import errors, refusals
from strongref.aws import errors as api_errors
from strongref.aws.cloud_control import Resource
from strongref.contract.names import StackArn, writer_role
from strongref.contract.requests import ExportRequest
from strongref.contract.response import ResponseTooLargeError
from strongref.lookup import errors as lookup_errors
from strongref.lookup.arn_search import MAX_READS
from strongref.lookup.attributes import attribute
from strongref.lookup.resource_types import resource_type_of
from strongref.protocol.hold_keeper import FOREIGN
from strongref.protocol.verification import EventNotVerifiedError
from strongref.refusals import InUse
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, SHOP, WEB, stack_arn
from tests.support.property_errors import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError

PRODUCER = str(SCOPE.producer)
CERT = SCOPE.parameter_name(
    next(iter(ExportRequest.parse({"Values": {"CertArn": "x"}}, StackArn.parse(NETWORK)).values))
)
US, EU = "us-east-1", "eu-west-1"
WEB_OF_B = stack_arn("web", US, "222222222222")
WRITER = writer_role("aws", "222222222222", ACCOUNT)
NOT_ENABLED = errors.StoreError(
    "PutParameter", "UnrecognizedClientException", f"{SCOPE.path('fences')}/Exports.1a2b", US
)
DHCP = ["DhcpOptionsId", "VpcId"]
QUEUE = f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/jobs"
HOLD = f"strongref-hold-{ACCOUNT}-web-0123456789abcdef"
LARGEST = ["Environment.Variables.SETTINGS", "Description"]


def nothing_exported(
    producer: str = PRODUCER, consumer: str | None = "web", *, known: bool = True, elsewhere: bool = False
) -> Callable[[], StrongRefError]:
    return lambda: refusals.NothingExportedError(producer, consumer, US, known=known, elsewhere=elsewhere)


def _query(problem: str) -> Callable[[], StrongRefError]:
    return lambda: lookup_errors.ResourceQueryError("AWS::ElasticLoadBalancingV2::Listener", problem)


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "in-use-changed": lambda: refusals.ExportsInUseError([InUse("CertArn", "changed", (WEB,))]),
    "in-use-retyped": lambda: refusals.ExportsInUseError([InUse("Hosts", "given another type", (WEB,))]),
    "in-use-unknown": lambda: refusals.ExportsInUseError([InUse("CertArn", "changed", (WEB,))], {WEB}),
    "in-use-abroad": lambda: refusals.ExportsInUseError(
        [InUse("CertArn", "changed", (WEB_OF_B,))], accounts={"222222222222"}
    ),
    "in-use-dropped": lambda: refusals.ExportsInUseError(
        [InUse("Alb/Arn", "dropped", (SHOP, WEB)), InUse("SubnetIds", "dropped", (SHOP, WEB))]
    ),
    "kept": lambda: refusals.ExportsKeptError([InUse("CertArn", "kept", (WEB,))]),
    "foreign": lambda: refusals.ForeignParameterError({CERT: None}),
    "foreign-stack": lambda: refusals.ForeignParameterError({CERT: stack_arn("imposter", "eu-west-1")}),
    "conflicting": lambda: refusals.ConflictingExportError(["CertArn"], "MoreExports"),
    "changing": lambda: refusals.ChangingError(PRODUCER, f"MoreExports of {PRODUCER}, until 2026-01-31 12:00:00 UTC"),
    "unreadable": lambda: errors.UnreadableRecordError(f"{SCOPE.path('records')}/MoreExports", "MoreExports"),
    "newer-format": lambda: errors.NewerFormatError(f"{SCOPE.path('records')}/Exports", "2", "2.0.0", "1", "1.4.0"),
    "undecryptable": lambda: errors.UndecryptableError("GetParameters", "InvalidKeyId", CERT, US),
    "record-left": lambda: refusals.RecordLeftError(
        errors.UndecryptableError("GetParameters", "InvalidKeyId", f"{SCOPE.path('records')}/Exports.1", US)
    ),
    "out-of-reach": lambda: refusals.OutOfReachError("network", EU, NOT_ENABLED),
    "passed-over": lambda: refusals.PassedOverError(NOT_ENABLED),
    "account-not-listed": lambda: errors.AccountNotListedError(
        "AssumeRole", "AccessDenied", "", US, account="333333333333", listed=("222222222222",)
    ),
    "account-denied": lambda: errors.RoleDeniedError("AssumeRole", "AccessDenied", WRITER, US, account="222222222222"),
    "denied-abroad": lambda: errors.DeniedAbroadError(
        "PutParameter", "AccessDeniedException", CERT, US, account="222222222222", role=WRITER
    ),
    "recently-deleted": lambda: errors.RecentlyDeletedError(CERT, US),
    "unsettled": lambda: refusals.UnsettledError(["CertArn"], PRODUCER),
    "no-such-producer": lambda: refusals.NoSuchProducerError(PRODUCER),
    "nothing-exported": nothing_exported(),
    "nothing-exported-but-shared": nothing_exported(elsewhere=True),
    "nothing-exported-but-alone": nothing_exported(consumer=None, elsewhere=True),
    "nothing-exported-unknown": nothing_exported(PRODUCER.replace(ACCOUNT, "222222222222"), known=False),
    "no-such-export": lambda: refusals.NoSuchExportError({"CertArm": ["CertArn"]}, PRODUCER, ["CertArn"]),
    "no-such-export-at-all": lambda: refusals.NoSuchExportError(
        {"Queue": []}, PRODUCER, ["Alb.Arn", "CertArn", "SubnetIds"]
    ),
    "not-exported": lambda: refusals.NoProducerError(["CertArm"], "web", US),
    "several-producers": lambda: refusals.SeveralProducersError(
        "CertArn", "web", [PRODUCER, PRODUCER.replace("network", "edge")]
    ),
    "hold-missing": lambda: refusals.HoldMissingError("network-Exports", PRODUCER),
    "hold-pending": lambda: refusals.HoldPendingError("network-Exports", PRODUCER, "CREATE_IN_PROGRESS"),
    "producer-deleted": lambda: refusals.ProducerLeavingError(PRODUCER, "network-Exports", deleted=True),
    "producer-removes": lambda: refusals.ProducerLeavingError(PRODUCER, "network-Exports", deleted=False),
    "hold-foreign": lambda: refusals.HoldFailedError(HOLD, EU, FOREIGN),
    "hold-failed": lambda: refusals.HoldFailedError(HOLD, EU, "Resource handler returned message: Rate exceeded"),
    "too-many-claims": lambda: refusals.TooManyClaimsError(["VpcId"], PRODUCER),
    "partly-imported": lambda: refusals.PartlyImportedError(
        ["CertArn"], ["Zone"], ["Policy"], str(refusals.ChangingError(PRODUCER, "another deployment"))
    ),
    "too-large": lambda: ResponseTooLargeError(5206, ["Policy", "SubnetIds"]),
    "too-large-alone": lambda: ResponseTooLargeError(5206, ["Policy"], ["Policy"]),
    "denied": lambda: errors.AccessDeniedError("PutParameter", "AccessDeniedException", CERT, US),
    "throttled": lambda: errors.ThrottledError("PutParameter", "ThrottlingException", CERT, US),
    "out-of-time": lambda: errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US),
    "time-spent": lambda: errors.ServiceTimeoutError(
        4, 3600, errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US)
    ),
    "hand-over": lambda: errors.ReinvokeError(
        "AccessDeniedException", errors.ThrottledError("PutParameter", "ThrottlingException", CERT, US)
    ),
    "store": lambda: errors.StoreError("PutParameter", "ParameterLimitExceeded", CERT, US),
    "store-key": lambda: errors.StoreError("PutParameter", "InvalidKeyId", CERT, US),
    "store-invalid": lambda: errors.StoreError("PutParameter", "ValidationException", CERT, US),
    "stack-lookup": lambda: errors.StackLookupError("network", EU, "AccessDenied"),
    "event-not-verified": lambda: EventNotVerifiedError(errors.StackLookupError("network", EU, "AccessDenied")),
    "outdated": lambda: errors.OutdatedRequestError("Exports"),
    "time-up": errors.InvocationTimeoutError,
    "internal": lambda: errors.InternalError("KeyError", "8f507cfc-xmpl-4697-b07a-ac58fc914c95"),
    "too-large-for-standard": lambda: errors.StandardTierError("PutParameter", "ValidationException", CERT, US),
}

RESOURCES: Mapping[str, Callable[[], StrongRefError]] = {
    "lookup-none": lambda: api_errors.NoSuchResourceError("AWS::SNS::Topic", "physical ID news", EU, 12),
    "lookup-ambiguous": lambda: lookup_errors.AmbiguousError(
        "AWS::Logs::MetricFilter", "physical ID errors", ["web|errors", "shop|errors"]
    ),
    "lookup-missing": lambda: lookup_errors.MissingPropertyError(
        "AWS::ElasticLoadBalancingV2::Listener", ["LoadBalancerArn"]
    ),
    "lookup-rejected": lambda: lookup_errors.RejectedPropertyError(
        "AWS::ElasticLoadBalancingV2::Listener", ["LoadBalancerArn"]
    ),
    "lookup-too-many": lambda: lookup_errors.TooManyError("AWS::ApiGateway::RestApi", "name shop", 240, MAX_READS),
    "lookup-unknown-type": lambda: refusal(lambda: resource_type_of("AWS::S3::Buckets")),
    "lookup-property": _query("it has no property LoadBalancerARN; did you mean LoadBalancerArn?"),
    "lookup-no-name": _query("it has no name property; give its tags, ARN or physical ID"),
    "lookup-no-tags": _query("such resources cannot be found by tags; use another way"),
    "lookup-unrelated-arn": lambda: lookup_errors.UnrelatedArnError(
        "AWS::SQS::Queue", f"arn:aws:sns:eu-west-1:{ACCOUNT}:news", EU
    ),
    "lookup-unsupported": lambda: api_errors.UnsupportedError("AWS::IAM::Policy", "GetResource", EU),
    "lookup-failed": lambda: api_errors.CloudControlError(
        "GetResource", "GeneralServiceException", "AWS::S3::Bucket photos", EU
    ),
    "lookup-denied": lambda: lookup_errors.LookupPolicyError(
        api_errors.LookUpDeniedError("GetResource", "AccessDeniedException", f"AWS::SQS::Queue {QUEUE}", "eu-west-1"),
        "AWS::SQS::Queue",
    ),
}
"""Why a resource is not found."""

ATTRIBUTES: Mapping[str, Callable[[], StrongRefError]] = {
    "lookup-no-attribute": lambda: refusal(
        lambda: attribute(Resource("AWS::RDS::DBInstance", "web", {"Endpoint": {"Address": "x"}}), "Endpoint.Adress")
    ),
    "lookup-unsupported-attribute": lambda: lookup_errors.UnsupportedAttributeError(
        "AWS::S3::Bucket", "Tags", "a list of maps or of lists"
    ),
    "lookup-dynamic-reference": lambda: lookup_errors.DynamicReferenceError("AWS::Lambda::Function", "Description"),
    "lookup-too-large": lambda: lookup_errors.AttributesTooLargeError(
        "AWS::Lambda::Function", 5206, LARGEST, named=False
    ),
    "lookup-too-large-named": lambda: lookup_errors.AttributesTooLargeError(
        "AWS::Lambda::Function", 5206, LARGEST[:1], named=True
    ),
}
"""Why an attribute is not returned."""

BY_OTHER_NAMES: Mapping[str, Callable[[], StrongRefError]] = {
    "lookup-missing-parts": lambda: lookup_errors.MissingPropertyError(
        "AWS::EC2::VPCDHCPOptionsAssociation", DHCP, DHCP
    )
}
"""Words of other cases, after other names."""
