"""The errors of templates with references, each as docs/macro.md shows it."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from strongref.macro.errors import MacroError, TransformFailedError
from strongref.macro.transform import Settings, plan
from tests.support.macro import ref, resource, template

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


def _cluster(node: Any) -> Callable[[], StrongRefError]:  # noqa: ANN401
    return _of(template({"ClusterRef": node}))


def _exports(given: Any, **more: Any) -> Callable[[], StrongRefError]:  # noqa: ANN401
    return _of(template(LoadBalancer=resource({}, Exports=given), **more))


def _parameter() -> StrongRefError:
    try:
        Settings.parse({"ValueBytes": 5000})
    except MacroError as error:
        return error
    raise AssertionError


_LOOP = {"Service${Name}": resource({"ClusterRef": ref("ClusterArn", {"Ref": "Name"})})}

CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "macro-both": _of(template({"LoadBalancers": [{"TargetGroupArn": "x", "TargetGroupArnRef": ref("A")}]})),
    "macro-empty": _cluster(ref("")),
    "macro-missing": _cluster({"From": {"Name": "ClusterArn"}}),
    "macro-unknown": _cluster({"From": {"Stack": "a", "Name": "b", "Nmae": "c"}}),
    "macro-small": _cluster({"from": {"stack": "network", "name": "web"}}),
    "macro-list": _cluster([ref("A")]),
    "macro-single": _of(template({"SubnetsRefs": ref("SubnetIds")})),
    "macro-shape": _cluster({"From": "network.ClusterArn"}),
    "macro-property": _cluster(ref("A", region="Ireland")),
    "macro-loop": _of(template(**{"Fn::ForEach::Services": ["Name", ["a"], _LOOP]})),
    "macro-exports-empty": _exports({"Region": "us-east-1"}),
    "macro-exports-value": _exports({"Values": {"Hosts": ["a,b"]}}),
    "macro-conflict": _of(
        template(
            LoadBalancer=resource({}, Exports={"As": "WebAlb", "Consumer": "web"}),
            Dashboard=resource({}, Exports={"As": "WebAlb", "Consumer": "web"}),
        )
    ),
    "macro-turns": _of(
        template(**{"Fn::ForEach::Topics": ["Name", ["a"], {"Topic${Name}": resource({}, Exports={"As": "Topic"})}]})
    ),
    "macro-taken": _exports({"As": "Alb"}, Exports44136fa3=resource({})),
    "macro-part": _of(template({"Fn::Transform": {"Name": "StrongRef"}})),
    "macro-no-template": _of({}),
    "macro-deep": _cluster(reduce(lambda below, _: {"Deep": below}, range(200), ref("A"))),
    "macro-parameter": _parameter,
}
