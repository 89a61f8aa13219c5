"""The errors of templates with references, each as docs/troubleshooting/ shows it."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from strongref.macro.errors import MacroError, TransformFailedError
from strongref.macro.transform import Settings, plan
from tests.support.macro import cdk_name, get, reader, ref, resource, template, writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError


def _of(given: dict[str, Any]) -> Callable[[], StrongRefError]:
    """The only thing that is wrong with a template."""

    def reported() -> StrongRefError:
        try:
            plan(given, Settings())
        except TransformFailedError as error:
            (problem,) = error.problems
            return problem
        except MacroError as error:
            return error
        raise AssertionError

    return reported


def _of_two() -> StrongRefError:
    """Two problems of one template."""
    try:
        plan(template({"ClusterRef": ref(""), "SubnetsRefs": ref("SubnetIds")}), Settings())
    except TransformFailedError as error:
        return error
    raise AssertionError


def _cluster(node: Any) -> Callable[[], StrongRefError]:
    return _of(template({"ClusterRef": node}))


def _exports(given: Any, **more: Any) -> Callable[[], StrongRefError]:
    return _of(template(LoadBalancer=resource({}, Exports=given), **more))


def _setting(**given: Any) -> Callable[[], StrongRefError]:
    def reported() -> StrongRefError:
        try:
            Settings.parse(given)
        except MacroError as error:
            return error
        raise AssertionError

    return reported


def _of_many(count: int, made: Callable[[int], Any], **more: Any) -> Callable[[], StrongRefError]:
    """The only thing that is wrong with a template of many resources."""
    return _of(template(**{f"Part{number}": made(number) for number in range(count)}) | more)


def _exporting(number: int, **more: Any) -> Any:
    return resource({}, Exports={"As": f"Part{number}", **more})


_LOOP = {"Service${Name}": resource({"ClusterRef": ref("ClusterArn", {"Ref": "Name"})})}

REFERENCES: Mapping[str, Callable[[], StrongRefError]] = {
    "macro-both": _of(template({"LoadBalancers": [{"TargetGroupArn": "x", "TargetGroupArnRef": ref("A")}]})),
    "macro-empty": _cluster(ref("")),
    "macro-missing": _cluster({"From": {"Name": "ClusterArn"}}),
    "macro-no-from": _cluster({"Stack": "network", "Name": "ClusterArn"}),
    "macro-unknown": _cluster({"From": {"Stack": "a", "Name": "b", "Nmae": "c"}}),
    "macro-no-reference": _of(template({"ClusterRef": ref("A"), "OtherRefs": [ref("A"), None]})),
    "macro-list": _cluster([ref("A")]),
    "macro-single": _of(template({"SubnetsRefs": ref("SubnetIds")})),
    "macro-shape": _cluster({"From": "network.ClusterArn"}),
    "macro-shared-consumer": _cluster(ref("A", Shared=True, Consumer="web")),
    "macro-loop": _of(template(**{"Fn::ForEach::Services": ["Name", ["a"], _LOOP]})),
    "macro-suffix": _of(template({"VpcId": ref("VpcId")})),
    "macro-misplaced": _of(template({}) | {"Parameters": {"VpcId": {"Type": "String", "DefaultRef": ref("VpcId")}}}),
}

EXPORTS: Mapping[str, Callable[[], StrongRefError]] = {
    "macro-exports-empty": _exports({"Region": "us-east-1"}),
    "macro-exports-shape": _exports("Alb"),
    "macro-exports-no-values": _exports({"As": "Alb", "Values": {}}),
    "macro-exports-no-region": _exports({"As": "Alb", "Region": []}),
    "macro-exports-function": _of(
        template(
            LoadBalancer=resource({}, Exports={"Values": {"Fn::GetAtt": ["Alb", "All"]}}),
            Dashboard=resource({}, Exports={"As": "Dashboard"}),
        )
    ),
    "macro-conflict": _of(
        template(
            LoadBalancer=resource({}, Exports={"As": "WebAlb", "Consumer": "web"}),
            Dashboard=resource({}, Exports={"As": "WebAlb", "Consumer": "web"}),
        )
    ),
    "macro-conditions": _of_many(101, lambda number: _exporting(number) | {"Condition": f"Is{number}"}),
    "macro-turns": _of(
        template(**{"Fn::ForEach::Topics": ["Name", ["a"], {"Topic${Name}": resource({}, Exports={"As": "Topic"})}]})
    ),
    "macro-loop-text": _of(
        template(
            **{"Fn::ForEach::Topics": ["Name", ["a"], {"Topic${Name}": resource({}, Exports={"As": "Topic${Name}"})}]}
        )
    ),
    "macro-loop-id": _of(
        template(
            **{
                "Fn::ForEach::Topics": [
                    "Name",
                    ["a.b"],
                    {"Topic&{Name}": resource({}, Exports={"As": "Topic", "Consumer": {"Ref": "Name"}})},
                ]
            }
        )
    ),
    "macro-imported": _exports({"As": "Alb", "Consumer": {"Fn::Select": [0, ref("Consumers")]}}),
    "macro-hold": _of(
        template(Exports={"Type": "Custom::CrossRegionExport", "Properties": {"Values": {}, "Hold": "network"}})
    ),
}

_CERTIFICATE = cdk_name("CertificateArn")


def _reading(node: Any, **sections: Any) -> Callable[[], StrongRefError]:
    return _of(template(Reader=reader([_CERTIFICATE]), Site=resource({"Certificate": node})) | sections)


def _cdk_settings(given: Any) -> Callable[[], StrongRefError]:
    return _of(template({}) | {"Metadata": {"StrongRef": given}})


CDK: Mapping[str, Callable[[], StrongRefError]] = {
    "macro-cdk-use": _reading({"Ref": "Reader"}),
    "macro-cdk-text": _reading({"Fn::Sub": f"${{Reader.{_CERTIFICATE}}}"}),
    "macro-cdk-condition": _reading("", Conditions={"IsNew": {"Fn::Equals": [get("Reader", _CERTIFICATE), ""]}}),
    "macro-cdk-names": _of(template(Writer=writer({"Ref": "Names"}))),
    "macro-cdk-name": _of(template(Writer=writer({"/site/CertificateArn": ""}))),
    "macro-cdk-settings": _cdk_settings("keep"),
    "macro-cdk-setting": _cdk_settings({"Writer": "remove"}),
    "macro-cdk-writers": _cdk_settings({"Writers": "drop"}),
}

TEMPLATES: Mapping[str, Callable[[], StrongRefError]] = {
    "macro-taken": _exports({"As": "Alb"}, Exports44136fa3=resource({})),
    "macro-part": _of(template({"Fn::Transform": {"Name": "StrongRef"}})),
    "macro-no-template": _of({}),
    "macro-deep": _cluster(reduce(lambda below, _: {"Deep": below}, range(200), ref("A"))),
    "macro-outputs": _of(
        template(LoadBalancer=resource({}, Exports={"As": "Alb"}))
        | {"Outputs": {f"Output{number}": {"Value": "x"} for number in range(200)}}
    ),
    "macro-resources": _of_many(500, lambda number: resource({"ClusterRef": ref("A")} if number == 0 else {})),
    "macro-long-id": _of(
        template(
            **{"Fn::ForEach::Topics": ["Name", ["a"], {"LongLogicalId" * 19: _exporting(1, Consumer={"Ref": "Name"})}]}
        )
    ),
    "macro-parameter": _setting(ValueBytes=5000),
    "macro-parameter-hold": _setting(Hold="maybe"),
    "macro-parameter-unknown": _setting(Holds="true"),
}

BY_OTHER_NAMES: Mapping[str, Callable[[], StrongRefError]] = {
    "macro-small": _cluster({"from": {"stack": "network", "name": "web"}}),
    "macro-property": _cluster(ref("A", region="Ireland")),
    "macro-exports-value": _exports({"Values": {"Hosts": ["a,b"]}}),
}
"""Words of other cases, after other names."""

SEVERAL: Mapping[str, Callable[[], StrongRefError]] = {"macro-several": _of_two}
"""The texts of several problems, one after the other."""
