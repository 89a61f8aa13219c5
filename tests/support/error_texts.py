"""The one registry of error texts: each case makes an error, and its text stands in the documentation.

Unit tests may compare with a case instead of quoting a sentence. `make texts` writes changed texts into the pages,
where a comment above a block names its case. So a changed word is edited once: in the error itself.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from strongref import errors
from strongref.aws.cloud_control import Resource
from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.contract.response import ResponseTooLargeError
from strongref.errors import InUse, LookUpDeniedError, StrongRefError
from strongref.lookup import errors as lookup_errors
from strongref.lookup.arn_search import MAX_READS
from strongref.lookup.attributes import attribute
from strongref.lookup.custom_resource import LookupRequest
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from strongref.protocol.verification import EventNotVerifiedError, EventRejectedError
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, SHOP, WEB, stack_arn
from tests.support.cdk_errors import CASES as OF_CDK
from tests.support.check_errors import CASES as OF_CHECK
from tests.support.documents import Block, blocks
from tests.support.macro_errors import CASES as OF_MACRO
from tests.support.object_errors import CASES as OF_OBJECTS
from tests.support.object_lookup_errors import CASES as OF_OBJECT_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WIDTH = 120

PRODUCER = str(SCOPE.producer)
CERT = SCOPE.value(next(iter(ExportRequest.parse({"Values": {"CertArn": "x"}}, StackArn.parse(NETWORK)).values)))
US, EU = "us-east-1", "eu-west-1"
DHCP = ["DhcpOptionsId", "VpcId"]
QUEUE = f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/jobs"
LARGEST = ["Environment.Variables.SETTINGS", "Description"]


def refused_export(**properties: object) -> Callable[[], StrongRefError]:
    return lambda: _refusal(lambda: ExportRequest.parse({"Values": {}} | properties, StackArn.parse(NETWORK)))


def refused_import(**properties: object) -> Callable[[], StrongRefError]:
    given = {"From": {"Stack": "network"}} | properties
    return lambda: _refusal(lambda: ImportRequest.parse(given, StackArn.parse(WEB)))


def refused_lookup(**properties: object) -> Callable[[], StrongRefError]:
    given = {"TypeName": "AWS::S3::Bucket"} | properties
    return lambda: _refusal(lambda: LookupRequest.parse(given, StackArn.parse(WEB)))


def _refusal(parse: Callable[[], object]) -> StrongRefError:
    try:
        parse()
    except StrongRefError as refusal:
        return refusal
    raise AssertionError(parse)


def nothing_exported(
    producer: str = PRODUCER, consumer: str | None = "web", *, known: bool = True, elsewhere: bool = False
) -> Callable[[], StrongRefError]:
    return lambda: errors.NothingExportedError(producer, consumer, US, known=known, elsewhere=elsewhere)


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "readme-in-use": lambda: errors.ExportsInUseError(
        [InUse("CertificateArn", "changed", (stack_arn("site", "eu-west-1"),))]
    ),
    "in-use-changed": lambda: errors.ExportsInUseError([InUse("CertArn", "changed", (WEB,))]),
    "in-use-retyped": lambda: errors.ExportsInUseError([InUse("Hosts", "given another type", (WEB,))]),
    "in-use-unknown": lambda: errors.ExportsInUseError(
        [InUse("CertArn", "changed", (stack_arn("web", US, "222222222222"),))], {stack_arn("web", US, "222222222222")}
    ),
    "in-use-dropped": lambda: errors.ExportsInUseError(
        [InUse("Alb/Arn", "dropped", (SHOP, WEB)), InUse("SubnetIds", "dropped", (SHOP, WEB))]
    ),
    "kept": lambda: errors.ExportsKeptError([InUse("CertArn", "kept", (WEB,))]),
    "foreign": lambda: errors.ForeignParameterError({CERT: None}),
    "foreign-stack": lambda: errors.ForeignParameterError(
        dict.fromkeys([CERT, "/b", "/c"], stack_arn("imposter", "eu-west-1"))
    ),
    "conflicting": lambda: errors.ConflictingExportError(["CertArn"], "MoreExports"),
    "changing": lambda: errors.ChangingError(PRODUCER, f"MoreExports of {PRODUCER}, until 2026-01-31 12:00:00 UTC"),
    "still-changing": lambda: errors.StillChangingError(
        PRODUCER, f"MoreExports of {PRODUCER}, until 2026-01-31 12:00:00 UTC"
    ),
    "unreadable": lambda: errors.UnreadableRecordError(f"{SCOPE.records}/MoreExports", "MoreExports"),
    "newer-format": lambda: errors.NewerFormatError(f"{SCOPE.records}/Exports", "2", "2.0.0", "1", "1.4.0"),
    "undecryptable": lambda: errors.UndecryptableError("GetParameters", "InvalidKeyId", CERT, US),
    "recently-deleted": lambda: errors.RecentlyDeletedError(CERT, US),
    "unsettled": lambda: errors.UnsettledError(["CertArn"], PRODUCER),
    "no-such-producer": lambda: errors.NoSuchProducerError(PRODUCER),
    "nothing-exported": nothing_exported(),
    "nothing-exported-but-shared": nothing_exported(elsewhere=True),
    "nothing-exported-but-alone": nothing_exported(consumer=None, elsewhere=True),
    "nothing-exported-unknown": nothing_exported(PRODUCER.replace(ACCOUNT, "222222222222"), known=False),
    "no-such-export": lambda: errors.NoSuchExportError({"CertArm": ["CertArn"]}, PRODUCER, ["CertArn"]),
    "no-such-export-at-all": lambda: errors.NoSuchExportError(
        {"Queue": []}, PRODUCER, ["Alb.Arn", "CertArn", "SubnetIds"]
    ),
    "hold-missing": lambda: errors.HoldMissingError("network-Exports", PRODUCER),
    "hold-pending": lambda: errors.HoldPendingError("network-Exports", PRODUCER, "CREATE_IN_PROGRESS"),
    "producer-deleted": lambda: errors.ProducerLeavingError(PRODUCER, "network-Exports", deleted=True),
    "producer-removes": lambda: errors.ProducerLeavingError(PRODUCER, "network-Exports", deleted=False),
    "hold-failed": lambda: errors.HoldFailedError(
        f"strongref-hold-{ACCOUNT}-web-0123456789abcdef", EU, "Resource handler returned message: Rate exceeded"
    ),
    "too-many-claims": lambda: errors.TooManyClaimsError(["VpcId"], PRODUCER),
    "too-large": lambda: ResponseTooLargeError(5206, ["Policy", "SubnetIds"]),
    "too-large-alone": lambda: ResponseTooLargeError(5206, ["Policy"], ["Policy"]),
    "denied": lambda: errors.AccessDeniedError("PutParameter", "AccessDeniedException", CERT, US),
    "denied-caller": lambda: errors.CallerDeniedError("RemoveTagsFromResource", "AccessDeniedException", CERT, US),
    "throttled": lambda: errors.ThrottledError("PutParameter", "ThrottlingException", CERT, US),
    "out-of-time": lambda: errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US),
    "time-spent": lambda: errors.ServiceTimeoutError(
        4, 3600, errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US)
    ),
    "hand-over": lambda: errors.ReinvokeError(
        "AccessDeniedException", errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US)
    ),
    "store": lambda: errors.StoreError("PutParameter", "ParameterLimitExceeded", CERT, US),
    "store-key": lambda: errors.StoreError("PutParameter", "InvalidKeyId", CERT, US),
    "store-invalid": lambda: errors.StoreError("PutParameter", "ValidationException", CERT, US),
    "stack-lookup": lambda: errors.StackLookupError("network", US, "AccessDenied"),
    "event-rejected": lambda: EventRejectedError("CloudFormation does not wait for it"),
    "event-not-verified": lambda: EventNotVerifiedError(errors.StackLookupError("network", EU, "AccessDenied")),
    "outdated": lambda: errors.OutdatedRequestError("Exports"),
    "time-up": errors.InvocationTimeoutError,
    "internal": lambda: errors.InternalError("KeyError", "8f507cfc-xmpl-4697-b07a-ac58fc914c95"),
    "bad-unknown-property": refused_export(Vaules={}),
    "bad-values-missing": lambda: _refusal(lambda: ExportRequest.parse({}, StackArn.parse(NETWORK))),
    "bad-account": refused_export(Account="222222222222"),
    "bad-region": refused_export(Region="Ireland"),
    "bad-consumer": refused_export(Consumer="my web"),
    "bad-on-change": refused_export(OnChange="ignore"),
    "bad-hold": refused_export(Hold="network_exports"),
    "bad-secure-key": refused_export(Values={"DbPassword": "x"}, SecureKeys=["DbPasswort"]),
    "bad-secure-list": refused_export(Values={"Hosts": ["a", "b"]}, SecureKeys=["Hosts"]),
    "bad-comma": refused_export(Values={"Hosts": ["a", "b,c"]}),
    "bad-empty": refused_export(Values={"CertArn": ""}),
    "bad-too-long": refused_export(Values={"Policy": "x" * 9000}),
    "bad-characters": refused_export(Values={"Cert Arn": "x"}),
    "bad-import-unknown-property": refused_import(Form={}),
    "bad-from": lambda: _refusal(lambda: ImportRequest.parse({}, StackArn.parse(WEB))),
    "bad-from-key": refused_import(From={"Stak": "network"}),
    "bad-from-stack": refused_import(From={"Region": "eu-west-1"}),
    "bad-from-account": refused_import(From={"Stack": "network", "Account": "1234"}),
    "bad-names": refused_import(Names=["Cert Arn"]),
    "bad-shared": refused_import(Shared="yes"),
    "bad-strength": refused_import(Strength="firm"),
    "bad-shared-consumer": refused_import(Shared="true", Consumer="web"),
    "lookup-none": lambda: errors.NoSuchResourceError("AWS::SNS::Topic", "physical ID news", EU, 12),
    "lookup-ambiguous": lambda: lookup_errors.AmbiguousError(
        "AWS::Logs::MetricFilter", "physical ID errors", ["web|errors", "shop|errors"]
    ),
    "lookup-missing": lambda: lookup_errors.MissingPropertyError(
        "AWS::ElasticLoadBalancingV2::Listener", ["LoadBalancerArn"]
    ),
    "lookup-rejected": lambda: lookup_errors.RejectedPropertyError(
        "AWS::ElasticLoadBalancingV2::Listener", ["LoadBalancerArn"]
    ),
    "lookup-missing-parts": lambda: lookup_errors.MissingPropertyError(
        "AWS::EC2::VPCDHCPOptionsAssociation", DHCP, DHCP
    ),
    "lookup-unsupported": lambda: errors.UnsupportedError("AWS::IAM::Policy", "GetResource", EU),
    "lookup-too-many": lambda: lookup_errors.TooManyError("AWS::ApiGateway::RestApi", "name shop", 240, MAX_READS),
    "lookup-unknown-type": lambda: _refusal(lambda: resource_type_of("AWS::S3::Buckets")),
    "lookup-wanted": lambda: _refusal(lambda: ResourceQuery("AWS::S3::Bucket", physical_id="a", name="a").describe()),
    "lookup-no-attribute": lambda: _refusal(
        lambda: attribute(Resource("AWS::RDS::DBInstance", "web", {"Endpoint": {"Address": "x"}}), "Endpoint.Adress")
    ),
    "lookup-failed": lambda: errors.CloudControlError(
        "GetResource", "GeneralServiceException", "AWS::S3::Bucket photos", EU
    ),
    "lookup-not-allowed": lambda: LookUpDeniedError("ListResources", "AccessDeniedException", "AWS::SNS::Topic", EU),
    "bad-lookup-unknown-property": refused_lookup(Type="AWS::S3::Bucket"),
    "bad-lookup-type": refused_lookup(TypeName="S3"),
    "bad-lookup-nothing": refused_lookup(),
    "bad-lookup-several": refused_lookup(PhysicalId="a", Name="a"),
    "bad-lookup-empty": refused_lookup(PhysicalId=""),
    "bad-lookup-arn": refused_lookup(Arn="news"),
    "bad-lookup-account": refused_lookup(Arn="arn:aws:sns:us-east-1:222222222222:news"),
    "bad-lookup-region": refused_lookup(Arn=f"arn:aws:sns:eu-west-1:{ACCOUNT}:news", Region=US),
    "bad-lookup-tags": refused_lookup(Tags=[]),
    "bad-lookup-attributes": refused_lookup(Name="a", Attributes=[]),
    "lookup-denied": lambda: lookup_errors.LookupPolicyError(
        LookUpDeniedError("GetResource", "AccessDeniedException", f"AWS::SQS::Queue {QUEUE}", "eu-west-1"),
        "AWS::SQS::Queue",
    ),
    "lookup-too-large": lambda: lookup_errors.AttributesTooLargeError(
        "AWS::Lambda::Function", 5206, LARGEST, named=False
    ),
    "lookup-too-large-named": lambda: lookup_errors.AttributesTooLargeError(
        "AWS::Lambda::Function", 5206, LARGEST[:1], named=True
    ),
    "lookup-unsupported-attribute": lambda: lookup_errors.UnsupportedAttributeError(
        "AWS::S3::Bucket", "Tags", "a list of maps or of lists"
    ),
    "lookup-dynamic-reference": lambda: lookup_errors.DynamicReferenceError("AWS::Lambda::Function", "Description"),
    "too-large-for-standard": lambda: errors.StandardTierError("PutParameter", "ValidationException", CERT, US),
    **OF_MACRO,
    **OF_CHECK,
    **OF_CDK,
    **OF_OBJECTS,
    **OF_OBJECT_TYPES,
}


def case_of(block: Block) -> str:
    """The name of the case that a block of the documentation shows."""
    named = re.fullmatch(r"<!-- error: ([a-z-]+) -->", block.above)
    assert named, f"{block} has no comment above it that names a case"
    return named[1]


def main() -> None:
    """Write every text that changed into the page that shows it."""
    for block in blocks("text"):
        now = str(CASES[case_of(block)]())
        if now.split() != block.text.split():
            filled = textwrap.fill(now, WIDTH, break_long_words=False, break_on_hyphens=False)
            opening = f"{block.above}\n```text\n"
            page = block.page.read_text()
            block.page.write_text(page.replace(f"{opening}{block.text}", f"{opening}{filled}\n"))


if __name__ == "__main__":
    main()
