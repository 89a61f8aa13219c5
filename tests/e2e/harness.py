"""What a scenario does to AWS and sees of it: stacks deployed and deleted, their events, parameters, tags, logs.

CloudFormation is asked as its users ask it; the functions run with their own roles, IAM enforced.
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tests.support.emulator.control import ACCOUNT, Answer, Call, Emulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

EU, US = "eu-west-1", "us-east-1"
REGIONS = (EU, US)
APPLICATION = "strongref"
EXPORTS = "/strongref/exports"
_POLL_SECONDS = 0.1
_GIVE_UP_SECONDS = 120
_NO_UPDATE = "No updates are to be performed"


@dataclass(frozen=True)
class Happened:
    """One of a stack's events."""

    resource: str
    kind: str
    status: str
    reason: str
    physical_id: str


@dataclass(frozen=True)
class StackResult:
    """How a deployment or a deletion ended, with the events that it caused, oldest first."""

    arn: str
    status: str
    outputs: dict[str, str]
    events: list[Happened]

    @property
    def reasons(self) -> str:
        """Why whatever failed did, a line each."""
        failed = (event for event in self.events if event.reason and "FAILED" in event.status)
        return "\n".join(f"{event.resource} {event.status}: {event.reason}" for event in failed)

    def statuses(self, resource: str) -> list[str]:
        """What became of one resource, in order."""
        return [event.status for event in self.events if event.resource == resource]


@dataclass(frozen=True)
class Started:
    """A deployment or a deletion under way."""

    arn: str
    region: str
    seen: frozenset[str]
    unchanged: bool = False


class Aws:
    """AWS as one account sees it, the application deployed in both regions."""

    def __init__(self, emulator: Emulator, account: str = ACCOUNT) -> None:
        self.emulator = emulator
        self.account = account
        self._clients: dict[tuple[str, str], Any] = {}

    def client(self, service: str, region: str = EU) -> Any:  # noqa: ANN401 (boto3's clients have no common type)
        """The account's root, asking a service in a region."""
        key = (service, region)
        if key not in self._clients:
            self._clients[key] = self.emulator.client(service, region, self.account)
        return self._clients[key]

    def deploy(
        self,
        stack: str,
        region: str,
        template: str | Mapping[str, Any],
        *,
        expect: str = "",
        parameters: Mapping[str, str] | None = None,
    ) -> StackResult:
        """Create the stack or update it, wait, and check how that ended.

        Args:
            stack: its name.
            region: where it is, or shall be.
            template: as text, or as data.
            expect: the status that it has to end in; CREATE_COMPLETE or UPDATE_COMPLETE unless given.
            parameters: of the template.
        """
        exists = self.status(stack, region) != ""
        started = self.start(stack, region, template, parameters=parameters)
        result = self.wait(started)
        if not started.unchanged:
            _check(stack, result, expect or ("UPDATE_COMPLETE" if exists else "CREATE_COMPLETE"))
        return result

    def start(
        self, stack: str, region: str, template: str | Mapping[str, Any], *, parameters: Mapping[str, str] | None = None
    ) -> Started:
        """Begin to create or update a stack; `wait` tells how it ends."""
        cloudformation = self.client("cloudformation", region)
        request = {
            "StackName": stack,
            "TemplateBody": template if isinstance(template, str) else json.dumps(template),
            "Parameters": [{"ParameterKey": key, "ParameterValue": value} for key, value in (parameters or {}).items()],
            "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        }
        before = self._describe(stack, region)
        if not before:
            return Started(cloudformation.create_stack(**request)["StackId"], region, frozenset())
        arn = str(before["StackId"])
        seen = frozenset(event["EventId"] for event in self._events(arn, region))
        try:
            cloudformation.update_stack(**request)
        except ClientError as error:
            if _NO_UPDATE not in str(error):
                raise
            return Started(arn, region, seen, unchanged=True)
        return Started(arn, region, seen)

    def delete(
        self, stack: str, region: str, *, expect: str = "DELETE_COMPLETE", retain: Sequence[str] = ()
    ) -> StackResult:
        """Delete a stack, wait, and check how that ended; resources to retain are for one that failed before."""
        result = self.wait(self.start_delete(stack, region, retain=retain))
        _check(stack, result, expect)
        return result

    def start_delete(self, stack: str, region: str, *, retain: Sequence[str] = ()) -> Started:
        """Begin to delete a stack; `wait` tells how it ends."""
        arn = str(self._describe(stack, region)["StackId"])
        seen = frozenset(event["EventId"] for event in self._events(arn, region))
        more = {"RetainResources": list(retain)} if retain else {}
        self.client("cloudformation", region).delete_stack(StackName=arn, **more)
        return Started(arn, region, seen)

    def wait(self, started: Started) -> StackResult:
        """Wait until nothing goes on in the stack any more."""
        deadline = time.monotonic() + _GIVE_UP_SECONDS
        while True:
            found = self._describe(started.arn, started.region)
            events = [
                event for event in self._events(started.arn, started.region) if event["EventId"] not in started.seen
            ]
            if (events or started.unchanged) and not found["StackStatus"].endswith("_IN_PROGRESS"):
                outputs = {item["OutputKey"]: str(item["OutputValue"]) for item in found.get("Outputs", ())}
                return StackResult(started.arn, found["StackStatus"], outputs, [_happened(event) for event in events])
            assert time.monotonic() < deadline, f"{started.arn} is still {found['StackStatus']}"
            time.sleep(_POLL_SECONDS)

    def status(self, stack: str, region: str) -> str:
        """A stack's status; empty if there is no such stack. By ARN also that of a deleted one."""
        return str(self._describe(stack, region).get("StackStatus", ""))

    def events(self, stack: str, region: str) -> list[Happened]:
        """All that ever happened to a stack, oldest first."""
        return [_happened(event) for event in self._events(stack, region)]

    def parameters(self, region: str, path: str = EXPORTS) -> dict[str, str]:
        """The values below a path, decrypted, by their names."""
        pages = self.client("ssm", region).get_paginator("get_parameters_by_path")
        found = pages.paginate(Path=path, Recursive=True, WithDecryption=True)
        return {parameter["Name"]: parameter["Value"] for page in found for parameter in page["Parameters"]}

    def tags(self, region: str, name: str) -> dict[str, str]:
        """A parameter's tags."""
        answer = self.client("ssm", region).list_tags_for_resource(ResourceType="Parameter", ResourceId=name)
        return {tag["Key"]: tag["Value"] for tag in answer["TagList"]}

    def claims(self, region: str, name: str) -> list[str]:
        """The ARNs of the stacks that claim a parameter, one for each claim."""
        tags = self.tags(region, name)
        return sorted(value for key, value in tags.items() if key.startswith("strongref:claim:"))

    def token(self, function: str, region: str = EU) -> str:
        """The ARN of `exporter` or `importer`."""
        return self.parameters(region, "/strongref/service-tokens")[f"/strongref/service-tokens/{function}"]

    def invoke(self, function: str, event: Mapping[str, Any], region: str = EU) -> list[Answer]:
        """Call `exporter` or `importer` as CloudFormation does, and return its answers to this one event."""
        address = f"{self.emulator.url}/_ministack/cfn-response/{uuid.uuid4()}"
        payload = json.dumps({"ResponseURL": address, **event})
        self.client("lambda", region).invoke(FunctionName=self.token(function, region), Payload=payload)
        return [answer for answer in self.emulator.answers() if address.endswith(answer.token)]

    def logs(self, function: str, region: str = EU) -> str:
        """All that `exporter` or `importer` has logged in a region."""
        pages = self.client("logs", region).get_paginator("filter_log_events")
        found = pages.paginate(logGroupName=f"/aws/lambda/{APPLICATION}-{function}")
        return "\n".join(event["message"] for page in found for event in page["events"])

    def answers(self, stack: str = "") -> list[Answer]:
        """All answers of custom resources, or those for the stack of an ARN."""
        return [
            answer for answer in self.emulator.answers() if not stack or (answer.body or {}).get("StackId") == stack
        ]

    def calls(self, services: Iterable[str] = ("ssm",)) -> list[Call]:
        """The calls that the functions and everybody else made since the emulator's last `reset_calls`."""
        wanted = frozenset(services)
        return [call for call in self.emulator.calls() if call.service in wanted]

    def _describe(self, stack: str, region: str) -> dict[str, Any]:
        try:
            answer = self.client("cloudformation", region).describe_stacks(StackName=stack)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationError":
                raise
            return {}
        found: dict[str, Any] = answer["Stacks"][0]
        return found

    def _events(self, stack: str, region: str) -> list[dict[str, Any]]:
        pages = self.client("cloudformation", region).get_paginator("describe_stack_events")
        newest_first = [event for page in pages.paginate(StackName=stack) for event in page["StackEvents"]]
        return newest_first[::-1]


def _happened(event: Mapping[str, Any]) -> Happened:
    fields = ("LogicalResourceId", "ResourceType", "ResourceStatus", "ResourceStatusReason", "PhysicalResourceId")
    return Happened(*(str(event.get(field, "")) for field in fields))


def _check(stack: str, result: StackResult, expected: str) -> None:
    assert result.status == expected, f"{stack} is {result.status}, not {expected}:\n{result.reasons}"
