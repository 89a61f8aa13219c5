"""The errors about properties of custom resources, each as docs/troubleshooting/ shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.event import Event
from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.errors import StrongRefError
from strongref.lookup.custom_resource import LookupRequest
from strongref.protocol.export_event import ExportEvent
from strongref.protocol.lag import DEFAULT_LAG, ReadLag
from strongref.protocol.stored_exports import physical_id
from tests.support.builders import ACCOUNT, NETWORK, WEB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def refused_export(**properties: object) -> Callable[[], StrongRefError]:
    return lambda: refusal(lambda: ExportRequest.parse({"Values": {}} | properties, StackArn.parse(NETWORK)))


def refused_import(**properties: object) -> Callable[[], StrongRefError]:
    given = {name: each for name, each in ({"From": {"Stack": "network"}} | properties).items() if each is not None}
    return lambda: refusal(lambda: ImportRequest.parse(given, StackArn.parse(WEB)))


def refused_lookup(**properties: object) -> Callable[[], StrongRefError]:
    given = {"TypeName": "AWS::S3::Bucket"} | properties
    return lambda: refusal(lambda: LookupRequest.parse(given, StackArn.parse(WEB)))


def refusal(parse: Callable[[], object]) -> StrongRefError:
    """The error that something ends in."""
    try:
        parse()
    except StrongRefError as error:
        return error
    raise AssertionError(parse)


def _value(value: Any, **properties: object) -> Callable[[], StrongRefError]:
    return refused_export(Values={"Hosts": value}, **properties)


def _nested(name: str, *below: str) -> dict[str, Any]:
    return {name: _nested(*below) if below else "x"}


def _delete_without_region() -> StrongRefError:
    """A Delete whose properties do not say where to delete."""
    deleted = Event.parse(
        {
            "RequestType": "Delete",
            "StackId": NETWORK,
            "LogicalResourceId": "Exports",
            "PhysicalResourceId": physical_id(StackArn.parse(NETWORK), "Exports"),
            "RequestId": "1",
            "ResponseURL": "https://cloudformation-custom-resource-response-euwest1.s3-eu-west-1.amazonaws.com/x",
            "ResourceType": "Custom::CrossRegionExport",
            "ResourceProperties": {"Region": "Ireland", "Values": {}},
        }
    )
    return refusal(lambda: ExportEvent.parse(deleted))


OF_EXPORTS: Mapping[str, Callable[[], StrongRefError]] = {
    "bad-unknown-property": refused_export(Vaules={}),
    "bad-values-missing": lambda: refusal(lambda: ExportRequest.parse({}, StackArn.parse(NETWORK))),
    "bad-values": refused_export(Values="x"),
    "bad-account": refused_export(Account="2222"),
    "bad-account-list": refused_export(Account=[]),
    "bad-account-secure": _value("x", SecureKeys=["Hosts"], Account="222222222222"),
    "bad-account-level": refused_export(Values={ACCOUNT: "x"}, Account="222222222222"),
    "bad-many-places": refused_export(Account=[f"{at:012}" for at in range(51)]),
    "bad-region": refused_export(Region="Ireland"),
    "bad-region-partition": refused_export(Region="cn-north-1"),
    "bad-region-list": refused_export(Region=[]),
    "bad-region-delete": _delete_without_region,
    "bad-consumer": refused_export(Consumer="my web"),
    "bad-on-change": refused_export(OnChange="ignore"),
    "bad-hold": refused_export(Hold="network_exports"),
    "bad-revision": refused_export(Revision=["2"]),
    "bad-timeout": lambda: refusal(lambda: ReadLag(DEFAULT_LAG).check_service_timeout(10)),
    "bad-secure-keys": refused_export(SecureKeys="DbPassword"),
    "bad-secure-key": refused_export(Values={"DbPassword": "x"}, SecureKeys=["DbPasswort"]),
    "bad-secure-list": _value(["a", "b"], SecureKeys=["Hosts"]),
    "bad-characters": refused_export(Values={"Cert Arn": "x"}),
    "bad-empty-level": refused_export(Values={"Alb": {"": "x"}}),
    "bad-many-levels": refused_export(Values=_nested(*"ABCDEFGHIJ")),
    "bad-long-name": refused_export(Values={"LongName" * 120: "x"}),
    "bad-empty-map": refused_export(Values={"Alb": {}}),
    "bad-leaf": _value(None),
    "bad-empty-list": _value([]),
    "bad-item": _value(["a", {}]),
    "bad-empty-item": _value(["a", ""]),
    "bad-comma": _value(["a", "b,c"]),
    "bad-space": _value([" a"]),
    "bad-empty": refused_export(Values={"CertArn": ""}),
    "bad-surrogate": refused_export(Values={"CertArn": "\ud800"}),
    "bad-too-long": refused_export(Values={"Policy": "x" * 9000}),
    "bad-braces": refused_export(Values={"Policy": "{{x}}"}),
}

OF_IMPORTS: Mapping[str, Callable[[], StrongRefError]] = {
    "bad-from": lambda: refusal(lambda: ImportRequest.parse({}, StackArn.parse(WEB))),
    "bad-from-stack": refused_import(From={"Region": "eu-west-1"}),
    "bad-from-account": refused_import(From={"Stack": "network", "Account": "1234"}),
    "bad-from-shared": refused_import(From=None, Shared="true"),
    "bad-shared": refused_import(Shared="yes"),
    "bad-strength": refused_import(Strength="firm"),
    "bad-shared-consumer": refused_import(Shared="true", Consumer="web"),
}

OF_LOOKUPS: Mapping[str, Callable[[], StrongRefError]] = {
    "bad-lookup-type": refused_lookup(TypeName="S3"),
    "bad-lookup-nothing": refused_lookup(),
    "bad-lookup-several": refused_lookup(PhysicalId="a", Name="a"),
    "bad-lookup-long": refused_lookup(Name="x" * 2000),
    "bad-lookup-arn": refused_lookup(Arn="news"),
    "bad-lookup-account": refused_lookup(Arn="arn:aws:sns:us-east-1:222222222222:news"),
    "bad-lookup-region": refused_lookup(Arn=f"arn:aws:sns:eu-west-1:{ACCOUNT}:news", Region="us-east-1"),
    "bad-lookup-tags": refused_lookup(Tags=[]),
    "bad-lookup-no-tags": refused_lookup(Tags={}),
    "bad-lookup-tag-key": refused_lookup(Tags={"k" * 200: "x"}),
    "bad-lookup-properties": refused_lookup(Name="a", Properties=[]),
    "bad-lookup-attributes": refused_lookup(Name="a", Attributes=[]),
    "bad-lookup-attribute": refused_lookup(Name="a", Attributes=["Endpoint."]),
}

BY_OTHER_NAMES: Mapping[str, Callable[[], StrongRefError]] = {
    "bad-import-unknown-property": refused_import(Form={}),
    "bad-from-shape": refused_import(From="network"),
    "bad-from-key": refused_import(From={"Stak": "network"}),
    "bad-names": refused_import(Names=["Cert Arn"]),
    "bad-lookup-unknown-property": refused_lookup(Type="AWS::S3::Bucket"),
    "bad-lookup-empty": refused_lookup(PhysicalId=""),
}
"""Words of other cases, after other names."""
