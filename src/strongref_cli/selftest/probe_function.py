"""The function of the probes' custom resources. Lambda gets this text as it is, so it imports nothing of ours.

It stores what it sees of each request in a parameter, then responds. Of the response URL's query, which has the
signature, it stores only the date.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import Request, urlopen

import boto3
from botocore.exceptions import ClientError

Event = dict[str, Any]

_client = cache(boto3.client)

_LONGEST = 45
"""Seconds for which the deletion of the stack waits, so that others meet it."""
_SHARES = {"Create": 1, "Update": 10, "Delete": 4}
"""How much shorter a request is looked at."""


def handler(event: Event, context: Any) -> None:  # noqa: ANN401 (Lambda's own)
    came, asked, ssm = time.time(), event["ResourceProperties"], _client("ssm")
    left = int(asked.get("Chain", -1))
    if left >= 0:
        ssm.put_parameter(Name=f"{asked['Into']}/left", Value=str(left), Type="String", Overwrite=True)
    if left > 0:
        later = json.dumps({**event, "ResourceProperties": {**asked, "Chain": left - 1}})
        _client("lambda").invoke(FunctionName=context.function_name, InvocationType="Event", Payload=later)
        return
    if asked.get("Late") == "true":
        with suppress(ssm.exceptions.ParameterAlreadyExists):  # It has failed before.
            ssm.put_parameter(Name=f"{asked['Into']}/first", Value="came", Type="String")
            raise RuntimeError("Deliver it again")
    looks: list[list[Any]] = []
    watched = float(asked.get("Seconds", 0)) / _SHARES[event["RequestType"]]
    while not looks or time.time() < came + watched:
        time.sleep(min(0.5, watched) if looks else 0)
        look = _look(event, came)
        if not looks or looks[-1][1:] != look[1:]:
            looks.append(look)
    if asked.get("Waits") and looks[0][1] == "DELETE_IN_PROGRESS":
        while time.time() < came + _LONGEST and not ssm.get_parameters(Names=[f"{asked['Into']}/go"])["Parameters"]:
            time.sleep(0.5)
    url = urlsplit(event["ResponseURL"])
    dates = [(key, value) for key, value in parse_qsl(url.query) if key in ("X-Amz-Date", "Expires")]
    seen = {
        "kind": event["RequestType"],
        "physical_id": event.get("PhysicalResourceId", ""),
        "stack": event["StackId"],
        "properties": asked,
        "came": came,
        "url": url._replace(query=urlencode(dates)).geturl(),
        "looks": looks,
        "limits": _limits(asked["Into"], event["StackId"].split("/")[1]) if asked.get("Limits") else {},
    }
    if "Into" in asked:
        seen["stored"] = time.time()
        name = f"{asked['Into']}/{event['RequestId']}"
        ssm.put_parameter(Name=name, Value=json.dumps(seen), Type="String", Overwrite=True)
    body = json.dumps(_response(event, asked, looks[0][1])).encode()
    urlopen(Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT"))  # noqa: S310 (as it was sent)


def _limits(name: str, export: str) -> Event:
    """What AWS says to the function's role, which may read this parameter and no other, and while its stack begins."""
    read, pages = _client("ssm").get_parameters, _client("cloudformation").get_paginator("list_exports")
    control = {"TypeName": "AWS::Lambda::Function", "Identifier": "strongref"}

    def exported() -> bool:
        return any(each["Name"] == export for page in pages.paginate() for each in page["Exports"])

    return {
        "own": _said(read, Names=[name]),
        "foreign": _said(read, Names=[name, "/strongref"]),
        "control": _said(_client("cloudcontrol").get_resource, **control),
        "exported": _said(exported),
    }


def _said(call: Callable[..., object], **request: object) -> str:
    """The code and the text of the error; without one, whether there is anything."""
    try:
        return str(bool(call(**request)))
    except ClientError as error:
        return str(error)


def _look(event: Event, came: float) -> list[Any]:
    """What is shown, and how many seconds after the event came: of the resource, then of its stack."""
    request = {"StackName": event["StackId"], "LogicalResourceId": event["LogicalResourceId"]}
    cloudformation = _client("cloudformation")
    detail = _asked(cloudformation.describe_stack_resource, request).get("StackResourceDetail", {})
    seconds = time.time() - came
    stack = _asked(cloudformation.describe_stacks, {"StackName": event["StackId"]})["Stacks"][0]["StackStatus"]
    updated = detail["LastUpdatedTimestamp"].timestamp() if detail else 0
    return [seconds, stack, detail.get("ResourceStatus", ""), detail.get("PhysicalResourceId", ""), updated]


def _asked(call: Callable[..., Any], request: Event) -> Any:  # noqa: ANN401 (a response of AWS)
    """A response; empty if nothing has that name. A new role's permissions take a moment, and so does throttling."""
    for pause in (0.5, 1, 2, 4, 8, 0):
        try:
            return call(**request)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":
                return {}
            if not pause:
                raise
            time.sleep(pause)
    return {}


def _response(event: Event, asked: Event, stack: str) -> Event:
    """Deletions fail as asked only in a cleanup, so that the stack itself can go at any time.

    After the properties with `Lacks`, in a rollback, the response lacks the attribute that another resource uses.
    """
    body = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    body |= {"PhysicalResourceId": asked.get("Id", "other"), "Status": "SUCCESS"}
    if event["RequestType"] == "Delete":
        body["PhysicalResourceId"] = event["PhysicalResourceId"]
    if asked.get("Fails") == event["RequestType"] and stack not in ("DELETE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS"):
        return body | {"Status": "FAILED", "Reason": "It was asked to fail"}
    if event.get("OldResourceProperties", {}).get("Lacks") == "true":
        return body
    data = {"A": "a", "Fill": ""}
    body["Data"] = data
    data["Fill"] = "x" * (int(asked.get("Bytes", 0)) - len(json.dumps(body)))
    return body
