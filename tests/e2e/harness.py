"""What the end-to-end tests do with AWS: stacks, parameters, functions, in the words of the tests."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from botocore.exceptions import ClientError

from tests.support.emulator.answers import PATH
from tests.support.emulator.control import ACCOUNT
from tests.support.emulator.sam import APPLICATION
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from tests.e2e.agreement import Agreement
    from tests.support.emulator.control import Answer, Call, Emulator

Template = dict[str, Any]

EXPORTS = "/strongref/exports/"
_RESOURCE = ("StackId", "LogicalResourceId")
_REQUEST = ("RequestType", "ResourceType", "PhysicalResourceId")
_BEGINNINGS = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS")


def assumed(sts: Any, role: str, **request: Any) -> tuple[str, str, str]:
    """The key of a role's session, for `Emulator.client`."""
    found = sts.assume_role(**{"RoleArn": role, "RoleSessionName": "session", **request})["Credentials"]
    return found["AccessKeyId"], found["SecretAccessKey"], found["SessionToken"]


def failing_resource(*depends_on: str) -> Template:
    """A resource whose creation fails, after those that it depends on were created or updated."""
    function = "arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:no-such-function"
    resource: Template = {"Type": "Custom::Failing", "Properties": {"ServiceToken": {"Fn::Sub": function}}}
    return resource | ({"DependsOn": list(depends_on)} if depends_on else {})


def waiting_resource(*depends_on: str) -> Template:
    """A resource whose creation goes on until `Aws.fail` ends it."""
    policy = {"ResourceSignal": {"Count": 1, "Timeout": "PT12H"}}
    return {"Type": "AWS::CloudFormation::WaitCondition", "CreationPolicy": policy, "DependsOn": list(depends_on)}


@dataclass(frozen=True)
class Deployed:
    """How a stack's operation ended."""

    arn: str
    status: str
    outputs: dict[str, str]


@dataclass(frozen=True)
class Invocation:
    """How a function that a test invoked ended.

    Attributes:
        result: what it returned, or its error.
        failed: whether that is an error.
        answers: what it PUT to the response URL.
    """

    result: Any
    failed: bool
    answers: list[dict[str, Any]]


@dataclass
class Aws:
    """The emulated AWS, as an account's root."""

    emulator: Emulator
    account: str = ACCOUNT
    agreement: Agreement | None = None  # compares what `strongref check` predicts with what happens, if given
    _arns: dict[tuple[str, str], str] = field(default_factory=dict)

    def client(self, service: str, region: str) -> Any:
        return self.emulator.client(service, region, self.account)

    def deploy(
        self, stack: str, template: Template | str, region: str, expect: str | None = None, **options: object
    ) -> Deployed:
        """Create or update a stack, and wait for the end: which is `expect`, if that is given."""
        with self.agreement.deploying(self, stack, template, region, options) if self.agreement else nullcontext():
            self.begin(stack, template, region, **options)
            return self.wait(stack, region, expect)

    def nested(self, name: str, template: Template, region: str) -> Template:
        """A nested stack; its template is stored under a name."""
        s3, bucket = self.client("s3", region), f"templates-{self.account}-{region}"
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": region}} if region != "us-east-1" else {}
            s3.create_bucket(Bucket=bucket, **elsewhere)
        s3.put_object(Bucket=bucket, Key=name, Body=json.dumps(template))
        url = f"{self.emulator.url}/{bucket}/{name}"
        return {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}

    def begin(self, stack: str, template: Template | str, region: str, **options: object) -> str:
        """Begin to create or update a stack, from a template or its text; its ARN."""
        client = self.client("cloudformation", region)
        there = self.status(stack, region)
        action = client.update_stack if there else client.create_stack
        request = {"Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"], **options}
        # CloudFormation takes 51,200 bytes of it.
        body = template if isinstance(template, str) else json.dumps(template, separators=(",", ":"))
        try:
            arn: str = action(StackName=stack, TemplateBody=body, **request)["StackId"]
        except ClientError as error:
            if "No updates are to be performed" not in str(error):
                raise
            arn = self.stack_arn(stack, region)
        self._arns[stack, region] = arn
        return arn

    def wait(self, stack: str, region: str, expect: str | None = None) -> Deployed:
        """Wait until a stack's operation has ended."""

        def ended() -> dict[str, Any] | None:
            found = self._describe(self.stack_arn(stack, region), region)
            return found if found and not found["StackStatus"].endswith("IN_PROGRESS") else None

        found = wait_until(ended, lambda: f"{stack}, which is still {self.status(stack, region)}")
        status = found["StackStatus"]
        assert expect in (None, status), f"{stack} is {status}, not {expect}: {self.reasons(stack, region)}"
        return Deployed(found["StackId"], status, _outputs(found))

    def fail(self, stack: str, resource: str, region: str) -> None:
        """Have the creation of a `waiting_resource` fail, once it has begun."""
        self.signal(stack, resource, region, "FAILURE")

    def signal(self, stack: str, resource: str, region: str, status: str) -> None:
        """Have the creation of a `waiting_resource` end, once it has begun."""
        client = self.client("cloudformation", region)

        def signalled() -> bool:
            with suppress(ClientError):
                client.signal_resource(StackName=stack, LogicalResourceId=resource, UniqueId="1", Status=status)
                return True
            return False

        wait_until(signalled, f"{resource} of {stack} to be created")

    def delete(self, stack: str, region: str, expect: str | None = "DELETE_COMPLETE", **options: object) -> str:
        """Delete a stack; its last status."""
        self.stack_arn(stack, region)  # Remembered: there is no asking by name afterwards.
        # `check` does not know which resources are retained, and a stack may be gone already.
        compared = self.agreement if not options and self.status(stack, region) else None
        with compared.deleting(self, stack, region) if compared else nullcontext():
            self.client("cloudformation", region).delete_stack(StackName=stack, **options)
            return self.wait(stack, region, expect).status

    def continue_rollback(self, stack: str, region: str, expect: str | None = "UPDATE_ROLLBACK_COMPLETE") -> str:
        """Try a failed rollback again; the stack's status after it."""
        self.client("cloudformation", region).continue_update_rollback(StackName=stack)
        return self.wait(stack, region, expect).status

    def status(self, stack: str, region: str) -> str | None:
        """A stack's status; None if there is none of that name any more."""
        found = self._describe(stack, region)
        return found["StackStatus"] if found else None

    def outputs(self, stack: str, region: str) -> dict[str, str]:
        found = self._describe(stack, region)
        assert found, f"no stack {stack} in {region}"
        return _outputs(found)

    def stack_arn(self, stack: str, region: str) -> str:
        """The ARN of a stack of that name, or of the last one."""
        found = self._describe(stack, region)
        if found:
            self._arns[stack, region] = found["StackId"]
        return self._arns[stack, region]

    def events(self, stack: str, region: str) -> list[dict[str, Any]]:
        """A stack's events since its last operation began, in their order."""
        pages = self.client("cloudformation", region).get_paginator("describe_stack_events")
        arn = self.stack_arn(stack, region)
        found: list[dict[str, Any]] = []
        for event in (event for page in pages.paginate(StackName=arn) for event in page["StackEvents"]):
            found.insert(0, event)
            if event["PhysicalResourceId"] == arn and _begins(event):
                break
        return found

    def statuses(self, stack: str, resource: str, region: str) -> list[str]:
        """What became of a resource (of the stack itself, by its name) in a stack's last operation."""
        found = self.events(stack, region)
        return [event["ResourceStatus"] for event in found if event["LogicalResourceId"] == resource]

    def reasons(self, stack: str, region: str) -> list[str]:
        """What the events of a stack's last operation give as reasons; also a deleted stack's."""
        found = (event.get("ResourceStatusReason") for event in self.events(stack, region))
        return [reason for reason in found if reason]

    def physical_ids(self, stack: str, region: str) -> dict[str, str]:
        """The physical ids of a stack's resources, by logical id."""
        pages = self.client("cloudformation", region).get_paginator("list_stack_resources").paginate(StackName=stack)
        found = (resource for page in pages for resource in page["StackResourceSummaries"])
        return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in found}

    def parameters(self, region: str, path: str = EXPORTS) -> dict[str, dict[str, Any]]:
        """The parameters below a path as SSM tells them, by name, in clear."""
        pages = self.client("ssm", region).get_paginator("get_parameters_by_path")
        found = pages.paginate(Path=path, Recursive=True, WithDecryption=True)
        return {parameter["Name"]: parameter for page in found for parameter in page["Parameters"]}

    def values(self, region: str, prefix: str = EXPORTS) -> dict[str, str]:
        """The values of the parameters below a path, by name."""
        return {name: parameter["Value"] for name, parameter in self.parameters(region, prefix).items()}

    def tags(self, region: str, name: str) -> dict[str, str]:
        answer = self.client("ssm", region).list_tags_for_resource(ResourceType="Parameter", ResourceId=name)
        return {tag["Key"]: tag["Value"] for tag in answer["TagList"]}

    def put_foreign(
        self,
        region: str,
        name: str,
        *,
        value: str = "somebody else's",
        kind: str = "String",
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Store a parameter that no stack published."""
        tag_list = [{"Key": key, "Value": text} for key, text in (tags or {}).items()]
        self.client("ssm", region).put_parameter(Name=name, Value=value, Type=kind, Tags=tag_list)

    def invoke(
        self, function: str, event: Mapping[str, Any], region: str, *, asked: Mapping[str, Any] | None = None
    ) -> Invocation:
        """Invoke a function of the application, by its logical id.

        Args:
            function: as in `Exporter`.
            event: any; it gets the `ResponseURL` of its resource, unless it has one.
            region: of the function.
            asked: the event that CloudFormation waits for: this one, if None; empty if for none.
        """
        name = self.physical_ids(APPLICATION, region)[function]
        token, (stack_id, logical_id) = str(uuid4()), (event.get(each, "") for each in _RESOURCE)
        payload = json.dumps({"ResponseURL": self.response_url(stack_id, logical_id, token), **event})
        with self.waiting_for(event if asked is None else asked):
            answer = self.client("lambda", region).invoke(FunctionName=name, Payload=payload)
            result = json.loads(answer["Payload"].read() or b"null")
        answers = [each.body for each in self.emulator.answers(token) if each.body]
        return Invocation(result, "FunctionError" in answer, answers)

    def waiting_for(self, event: Mapping[str, Any]) -> AbstractContextManager[None]:
        """While this lasts, CloudFormation waits for the response to an event; to none, if it is empty."""
        request = [str(event.get(each, "")) for each in (*_RESOURCE, *_REQUEST)]
        return self.emulator.in_progress(*request) if event else nullcontext()

    def response_url(self, stack_id: str, logical_id: str, token: str, signed: datetime | None = None) -> str:
        """As the emulator's CloudFormation makes them; signed now, unless a time is given."""
        key = quote(f"{stack_id}|{logical_id}|{token}", safe="")
        date = f"{signed or datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        return f"{self.emulator.url}{PATH}{key}?X-Amz-Date={date}&X-Amz-Expires=7200&X-Amz-Signature=secret"

    def logs(self, region: str) -> str:
        """All that the application's functions logged in a region."""
        client = self.client("logs", region)
        groups = client.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=f"/aws/lambda/{APPLICATION}-")
        names = [group["logGroupName"] for page in groups for group in page["logGroups"]]
        pages = client.get_paginator("filter_log_events")
        events = (page["events"] for name in names for page in pages.paginate(logGroupName=name))
        return "\n".join(event["message"] for found in events for event in found)

    def logged(self, region: str, *parts: str) -> list[str]:
        """The log lines with all these parts, once there is one: a function's log may arrive after its answer."""

        def lines() -> list[str]:
            return [line for line in self.logs(region).splitlines() if all(part in line for part in parts)]

        return wait_until(lines, f"a log line with {' and '.join(parts)}")

    def answers(self, stack: str) -> list[Answer]:
        """The responses to CloudFormation for a stack, in the order of their requests."""
        part = f"/{stack}/"
        return [each for each in self.emulator.answers(part) if each.body and part in each.body.get("StackId", "")]

    @property
    def calls(self) -> list[Call]:
        """The calls to SSM and CloudFormation so far."""
        return self.emulator.calls()

    def _describe(self, stack: str, region: str) -> dict[str, Any] | None:
        try:
            found = self.client("cloudformation", region).describe_stacks(StackName=stack)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        described: dict[str, Any] = found[0]
        return described


def _outputs(stack: Mapping[str, Any]) -> dict[str, str]:
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}


def _begins(event: Mapping[str, Any]) -> bool:
    """Whether an event of a stack itself is the first of an operation."""
    status, reason = event["ResourceStatus"], event.get("ResourceStatusReason")
    return status in _BEGINNINGS or (status == "UPDATE_ROLLBACK_IN_PROGRESS" and reason == "User Initiated")
