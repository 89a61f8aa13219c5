"""CloudFormation's query protocol over a table of stacks: what a handler may ask about stacks."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from tests.support.local_ssm.wire import Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ACTIONS = ("DescribeStackResource", "DescribeStacks", "ListStackResources")
_NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"
_XML = "text/xml"
_REGION_OF_ARN = 3
_CREATED = "2025-01-01T00:00:00Z"
_PAGE_BYTES = 1_000_000
"""AWS: DescribeStacks, NextToken: the next page begins where the output exceeds 1 MB."""

Stack = dict[str, Any]
"""StackId, StackName, StackStatus; CreationTime, if it matters; Resources: a list of LogicalResourceId,
PhysicalResourceId and the like; Outputs: a map."""


def action_of(body: bytes) -> dict[str, str]:
    """A request's parameters, `Action` among them."""
    return dict(parse_qsl(body.decode()))


def perform(stacks: Iterable[Stack], request: Mapping[str, str], region: str, delay: float) -> Response:
    """Carry out a call and answer it as CloudFormation does."""
    wanted, action = request.get("StackName", ""), request["Action"]
    here = [stack for stack in stacks if stack["StackId"].split(":")[_REGION_OF_ARN] == region]
    if action == "DescribeStacks" and not wanted:
        return _answer(action, _page(here, request.get("NextToken", "")), delay)
    found = [stack for stack in here if wanted in (stack["StackId"], stack["StackName"])]
    if not found:
        return error("ValidationError", f"Stack with id {wanted} does not exist", delay)
    if action == "DescribeStacks":
        shown = "".join(_member(_stack(stack)) for stack in found)
        return _answer(action, f"<Stacks>{shown}</Stacks>", delay)
    if action == "DescribeStackResource":
        named = [
            each for each in found[0].get("Resources", ()) if each["LogicalResourceId"] == request["LogicalResourceId"]
        ]
        if not named:
            return error("ValidationError", f"Resource {request['LogicalResourceId']} does not exist", delay)
        return _answer(action, f"<StackResourceDetail>{_resource(named[0])}</StackResourceDetail>", delay)
    resources = "".join(_member(_resource(resource)) for resource in found[0].get("Resources", ()))
    return _answer(action, f"<StackResourceSummaries>{resources}</StackResourceSummaries>", delay)


def error(code: str, message: str, delay: float = 0.0) -> Response:
    """An error as CloudFormation answers it."""
    fields = _fields({"Type": "Sender", "Code": code, "Message": message})
    body = f'<ErrorResponse xmlns="{_NAMESPACE}"><Error>{fields}</Error><RequestId>0</RequestId></ErrorResponse>'
    return Response(400, body.encode(), _XML, delay)


def _answer(action: str, result: str, delay: float) -> Response:
    body = (
        f'<{action}Response xmlns="{_NAMESPACE}"><{action}Result>{result}</{action}Result>'
        f"<ResponseMetadata><RequestId>0</RequestId></ResponseMetadata></{action}Response>"
    )
    return Response(200, body.encode(), _XML, delay)


def _page(stacks: Iterable[Stack], after: str) -> str:
    """One page of all stacks that are not deleted; its token is the last ARN on it. A stack never splits."""
    listed = sorted((each for each in stacks if each["StackStatus"] != "DELETE_COMPLETE"), key=itemgetter("StackId"))
    shown, last, size = "", "", 0
    for stack in (each for each in listed if each["StackId"] > after):
        text = _member(_stack(stack))
        size += len(text.encode())
        if shown and size > _PAGE_BYTES:
            return f"<Stacks>{shown}</Stacks>{_fields({'NextToken': last})}"
        shown, last = shown + text, stack["StackId"]
    return f"<Stacks>{shown}</Stacks>"


def _stack(stack: Stack) -> str:
    shown = {name: stack[name] for name in ("StackId", "StackName", "StackStatus")}
    outputs = "".join(
        _member(_fields({"OutputKey": key, "OutputValue": value})) for key, value in stack.get("Outputs", {}).items()
    )
    created = {"CreationTime": stack.get("CreationTime", _CREATED)}
    return f"{_fields({**shown, **created})}<Outputs>{outputs}</Outputs>"


def _resource(resource: Mapping[str, str]) -> str:
    return _fields({"ResourceStatus": "CREATE_COMPLETE", "LastUpdatedTimestamp": _CREATED, **resource})


def _member(inner: str) -> str:
    return f"<member>{inner}</member>"


def _fields(given: Mapping[str, str]) -> str:
    return "".join(f"<{name}>{escape(value)}</{name}>" for name, value in given.items())
