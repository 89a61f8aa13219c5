"""The function of the probes' custom resources. Lambda gets this text as it is, so it imports nothing of ours.

It stores what it sees of each request in a parameter, then responds. Of the response URL's query, which has the
signature, it stores only the date.
"""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import Request, urlopen

import boto3
from botocore.exceptions import ClientError

Event = dict[str, Any]

_SHARES = {"Create": 1, "Update": 10, "Delete": 4}
"""How much shorter a request is looked at. A deletion takes long enough for others to meet it."""


def handler(event: Event, context: Any) -> None:  # noqa: ANN401 (Lambda's own)
    came, asked, ssm = time.time(), event["ResourceProperties"], boto3.client("ssm")
    left = int(asked.get("Chain", -1))
    if left >= 0:
        ssm.put_parameter(Name=f"{asked['Into']}/left", Value=str(left), Type="String", Overwrite=True)
    if left > 0:
        later = json.dumps({**event, "ResourceProperties": {**asked, "Chain": left - 1}})
        boto3.client("lambda").invoke(FunctionName=context.function_name, InvocationType="Event", Payload=later)
        return
    if asked.get("Late") == "true":
        _fail_once(ssm, f"{asked['Into']}/first")
    looks: list[list[Any]] = []
    watched = float(asked.get("Seconds", 0)) / _SHARES[event["RequestType"]]
    while not looks or time.time() < came + watched:
        time.sleep(min(0.5, watched) if looks else 0)
        seconds = time.time() - came
        look = _look(event)
        if not looks or looks[-1][1:] != look:
            looks.append([seconds, *look])
    url = urlsplit(event["ResponseURL"])
    dates = [(key, value) for key, value in parse_qsl(url.query) if key in ("X-Amz-Date", "Expires")]
    seen = {key: event.get(key, "") for key in ("RequestType", "PhysicalResourceId", "StackId", "ResourceProperties")}
    seen |= {"came": came, "url": url._replace(query=urlencode(dates)).geturl(), "looks": looks}
    if "Into" in asked:
        name = f"{asked['Into']}/{event['RequestId']}"
        ssm.put_parameter(Name=name, Value=json.dumps(seen), Type="String", Overwrite=True)
    body = json.dumps(_response(event, asked)).encode()
    urlopen(Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT"))  # noqa: S310 (as it was sent)


def _fail_once(ssm: Any, name: str) -> None:  # noqa: ANN401 (a client)
    try:
        ssm.put_parameter(Name=name, Value="came", Type="String")
    except ssm.exceptions.ParameterAlreadyExists:
        return
    raise RuntimeError("Deliver it again")


def _look(event: Event) -> list[Any]:
    client, which = boto3.client("cloudformation"), {"StackName": event["StackId"]}
    stack = client.describe_stacks(**which)["Stacks"][0]["StackStatus"]
    try:
        request = {**which, "LogicalResourceId": event["LogicalResourceId"]}
        found = client.describe_stack_resource(**request)["StackResourceDetail"]
    except ClientError:
        return [stack, "", "", 0]
    updated = found["LastUpdatedTimestamp"].timestamp()
    return [stack, found["ResourceStatus"], found.get("PhysicalResourceId", ""), updated]


def _response(event: Event, asked: Event) -> Event:
    """After the properties with `Lacks`, in a rollback, the response lacks the attribute that another resource uses."""
    body = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    body |= {"PhysicalResourceId": asked.get("Id", "other"), "Status": "SUCCESS"}
    if event["RequestType"] == "Delete":
        body["PhysicalResourceId"] = event["PhysicalResourceId"]
    if asked.get("Fails") == event["RequestType"]:
        return body | {"Status": "FAILED", "Reason": "It was asked to fail"}
    lacks = event.get("OldResourceProperties", {}).get("Lacks") == "true"
    return body if lacks else body | {"Data": {"A": "a"}}
