"""CloudFormation in one region: the installation's stack, and the stacks that may need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from strongref_cli.install.errors import AwsCallError
from strongref_cli.install.plan import VERSION_OUTPUT, Action, FoundStack
from strongref_cli.install.usage import ListedResource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mypy_boto3_cloudformation.type_defs import ParameterTypeDef

    from strongref_cli.install.calls import RegionCalls
    from strongref_cli.install.plan import InstallPlan

T = TypeVar("T")

NO_SUCH_STACK = "ValidationError"
"""CloudFormation's code for a stack that does not exist, and for other bad requests."""

_GONE = "DELETE_COMPLETE"
_STACK_TYPE = "AWS::CloudFormation::Stack"
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
_NO_CHANGES = ("No updates are to be performed", "didn't contain changes")
"""In the reasons of change sets without changes. There is no code for it."""


class CreatedChangeSet(NamedTuple):
    """A change set, and its stack: IAM asks for permissions on the stack."""

    arn: str
    stack: str  # the stack's ARN

    def request(self) -> dict[str, str]:
        return {"ChangeSetName": self.arn, "StackName": self.stack}


@dataclass(frozen=True)
class RegionStacks:
    """Methods raise `AwsCallError`."""

    calls: RegionCalls

    def find(self, name: str, *, with_template: bool = False) -> FoundStack | None:
        """A stack, by its name or ARN; None if there is none."""
        found = self._existing("DescribeStacks", "describe_stacks", StackName=name)
        if not found:
            return None
        (stack,) = found["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
        template = self._template(stack["StackId"]) if with_template else ""
        return FoundStack(
            stack["StackId"],
            stack["StackStatus"],
            outputs.get(VERSION_OUTPUT),
            {each["ParameterKey"]: each.get("ParameterValue", "") for each in stack.get("Parameters", [])},
            {each["Key"]: each["Value"] for each in stack.get("Tags", [])},
            template,
            protected=bool(stack.get("EnableTerminationProtection")),
            reason=stack.get("StackStatusReason", ""),
            updated=str(stack.get("LastUpdatedTime", "")),
        )

    def _template(self, arn: str) -> str:
        found = self._existing("GetTemplate", "get_template", StackName=arn, TemplateStage="Original")
        body = found["TemplateBody"] if found else ""
        return body if isinstance(body, str) else ""  # botocore parses templates in JSON; ours is in YAML

    def exporter_of(self, export: str) -> str:
        """The name of the stack that exports something; empty if none does."""
        for page in self._pages("ListExports", "list_exports"):
            for each in page["Exports"]:
                if each["Name"] == export:
                    return str(each["ExportingStackId"]).split("/")[1]
        return ""

    def importers_of(self, export: str) -> list[str]:
        """The names of the stacks that import something."""
        # CloudFormation's code for a missing stack stands for an export, too, that no stack imports.
        pages = self._existing_pages("ListImports", "list_imports", ExportName=export)
        return [name for page in pages for name in page["Imports"]]

    def all(self) -> dict[str, str]:
        """The ARNs of all stacks that exist, by name; of nested ones, too."""
        client = self.calls.session.clients.cloudformation(self.calls.region)
        statuses: Any = client.meta.service_model.shape_for("StackStatus")
        existing = [each for each in statuses.enum if each != _GONE]
        pages = self._pages("ListStacks", "list_stacks", StackStatusFilter=existing)
        return {each["StackName"]: each["StackId"] for page in pages for each in page["StackSummaries"]}

    def resources(self, arn: str) -> list[ListedResource]:
        """The resources of a stack; none if it does not exist any more."""
        return [
            ListedResource(
                each["LogicalResourceId"],
                each["ResourceType"],
                each["ResourceStatus"],
                each.get("PhysicalResourceId", ""),
            )
            for page in self._existing_pages("ListStackResources", "list_stack_resources", StackName=arn)
            for each in page["StackResourceSummaries"]
        ]

    def transforms(self, arn: str) -> list[str]:
        """The macros that the template of a stack names; none if it has no template yet."""
        found = self._existing("GetTemplateSummary", "get_template_summary", StackName=arn)
        return list(found.get("DeclaredTransforms", [])) if found else []

    def create_change_set(self, plan: InstallPlan, name: str, url: str) -> CreatedChangeSet:
        """Begin to create a change set.

        A stack whose creation fails is deleted.

        Args:
            plan: what it does.
            name: its name.
            url: the template's.
        """
        new = plan.action is Action.CREATE
        created = self._call(
            "CreateChangeSet",
            "create_change_set",
            StackName=plan.stack,
            ChangeSetName=name,
            TemplateURL=url,
            ChangeSetType="CREATE" if new else "UPDATE",
            Capabilities=_CAPABILITIES,
            Parameters=[_parameter(key, value) for key, value in plan.parameters.items()],
            Tags=[{"Key": key, "Value": value} for key, value in plan.tags.items()],
            **({"OnStackFailure": "DELETE"} if new else {}),
        )
        return CreatedChangeSet(created["Id"], created["StackId"])

    def change_set(self, which: CreatedChangeSet) -> tuple[str, str]:
        """The status of a change set, and the reason for it."""
        found = self._call("DescribeChangeSet", "describe_change_set", **which.request())
        return found["Status"], found.get("StatusReason", "")

    def execute(self, which: CreatedChangeSet) -> None:
        self._call("ExecuteChangeSet", "execute_change_set", **which.request())

    def delete_change_set(self, which: CreatedChangeSet) -> None:
        self._call("DeleteChangeSet", "delete_change_set", **which.request())

    def delete(self, stack: str) -> None:
        """Begin to delete a stack."""
        self._call("DeleteStack", "delete_stack", StackName=stack)

    def protect(self, stack: str, *, on: bool) -> None:
        """Turn termination protection on or off. CloudFormation deletes no stack that has it."""
        request = {"StackName": stack, "EnableTerminationProtection": on}
        self._call("UpdateTerminationProtection", "update_termination_protection", **request)

    def failure(self, arn: str, operation: str) -> str:
        """Why the last operation of a stack failed: its first resource that did, and CloudFormation's reason.

        Args:
            arn: the stack's.
            operation: CREATE, UPDATE or DELETE; a creation includes the deletion that follows its failure.
        """
        found = ""
        for event in self._events(arn, f"{operation}_IN_PROGRESS"):
            reason, status = event.get("ResourceStatusReason", ""), event["ResourceStatus"]
            if status.endswith("_FAILED") and reason:
                kind = event["ResourceType"]
                found = reason if kind == _STACK_TYPE else f"{event['LogicalResourceId']} ({kind}): {reason}"
        return found

    def _events(self, arn: str, start: str) -> Iterator[Mapping[str, Any]]:
        """The events of the last operation that began with this status, the newest first."""
        for page in self._pages("DescribeStackEvents", "describe_stack_events", StackName=arn):
            for event in page["StackEvents"]:
                yield event
                if event["PhysicalResourceId"] == arn and event["ResourceStatus"] == start:
                    return

    def pause(self, seconds: float) -> None:
        """Wait, before CloudFormation is asked again."""
        self.calls.session.clock.sleep(seconds)

    def _call(self, action: str, method: str, **request: Any) -> Any:  # noqa: ANN401 (as botocore)
        return self.calls.call(action, self.calls.session.clients.cloudformation, method, **request)

    def _pages(self, action: str, method: str, **request: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 (the same)
        return self.calls.pages(action, self.calls.session.clients.cloudformation, method, **request)

    def _existing(self, action: str, method: str, **request: Any) -> Any:  # noqa: ANN401 (the same)
        """The response; None if the stack does not exist."""
        return next(self._if_exists(lambda: iter([self._call(action, method, **request)])), None)

    def _existing_pages(self, action: str, method: str, **request: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 (the same)
        """The pages of a response; none if the stack does not exist."""
        return self._if_exists(lambda: self._pages(action, method, **request))

    @staticmethod
    def _if_exists(responses: Callable[[], Iterator[T]]) -> Iterator[T]:
        try:
            yield from responses()
        except AwsCallError as error:
            if error.code != NO_SUCH_STACK:
                raise


def _parameter(name: str, value: str | None) -> ParameterTypeDef:
    if value is None:
        return {"ParameterKey": name, "UsePreviousValue": True}
    return {"ParameterKey": name, "ParameterValue": value}


def has_no_changes(reason: str) -> bool:
    """Whether a change set failed because there is nothing to change."""
    return any(text in reason for text in _NO_CHANGES)
