"""CloudFormation in one region, as it is read and changed for the installation's stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from strongref.aws.clients import Clients
from strongref.untyped import Untyped
from strongref_cli.install.errors import InstallError
from strongref_cli.install.plan import TRUST, VERSION_OUTPUT, Action, FoundStack, InstallPlan
from strongref_toolkit.cloudformation import NESTED_STACK, CloudFormationReader, change_set_parameters, parameter_values

if TYPE_CHECKING:
    from strongref_toolkit.session import ToolSession


class CreatedChangeSet(NamedTuple):
    """A change set, and its stack: IAM asks for permissions on the stack."""

    arn: str
    stack: str  # the stack's ARN

    def request(self) -> dict[str, str]:
        return {"ChangeSetName": self.arn, "StackName": self.stack}


class RegionStacks(CloudFormationReader):
    """Errors show AWS's own texts, which are about the installation and hold no exported values."""

    @classmethod
    def of(cls, session: ToolSession, region: str) -> RegionStacks:
        aws = session.aws(region, shows_texts=True)
        return cls(aws, aws.where(region, None))

    def find(self, name: str, *, with_template: bool = False) -> FoundStack | None:
        """A stack, by its name or ARN; None if there is none."""
        stack = self.stack(name)
        if not stack:
            return None
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())}
        template = self.template(stack["StackId"], "Original") if with_template else ""
        return FoundStack(
            stack["StackId"],
            stack["StackStatus"],
            outputs.get(VERSION_OUTPUT),
            parameter_values(stack),
            {each["Key"]: each["Value"] for each in stack.get("Tags", ())},
            template if isinstance(template, str) else "",  # botocore parses templates in JSON; ours is in YAML
            protected=bool(stack.get("EnableTerminationProtection")),
            reason=stack.get("StackStatusReason", ""),
            updated=str(stack.get("LastUpdatedTime", "")),
        )

    def exporter_of(self, export: str) -> str:
        """The name of the stack that exports something; empty if none does."""
        exporters = (each["ExportingStackId"] for each in self.exports() if each["Name"] == export)
        return next(exporters, "//").split("/")[1]

    def trusted(self) -> dict[str, str]:
        """The stacks of trust.yaml, whatever they are called, by the account that they trust."""
        found = ((each["Name"], each["ExportingStackId"]) for each in self.exports())
        return {name.removeprefix(TRUST): arn.split("/")[1] for name, arn in found if name.startswith(TRUST)}

    def create_change_set(self, plan: InstallPlan, name: str, template: Mapping[str, Untyped]) -> CreatedChangeSet:
        """Begin to create a change set. A stack whose creation fails is deleted.

        The template is the request's `TemplateURL` or `TemplateBody`, with its `Capabilities`.
        """
        new = plan.action is Action.CREATE
        created = self._call(
            "CreateChangeSet",
            plan.stack,
            StackName=plan.stack,
            ChangeSetName=name,
            ChangeSetType="CREATE" if new else "UPDATE",
            Parameters=change_set_parameters(plan.parameters),
            Tags=[{"Key": key, "Value": value} for key, value in plan.tags.items()],
            **template,
            **({"OnStackFailure": "DELETE"} if new else {}),
        )
        return CreatedChangeSet(created["Id"], created["StackId"])

    def progress(self, which: CreatedChangeSet) -> tuple[str, str]:
        """The status of a change set, and the reason for it. Raises `InstallError`: it was deleted."""
        for found in self.change_set(which.stack, which.arn):
            return found["Status"], found.get("StatusReason", "")
        raise InstallError("Someone else has deleted the change set.")

    def execute(self, which: CreatedChangeSet) -> None:
        self._call("ExecuteChangeSet", which.stack, **which.request())

    def delete_change_set(self, which: CreatedChangeSet) -> None:
        self._call("DeleteChangeSet", which.stack, **which.request())

    def delete(self, stack: str) -> None:
        """Begin to delete a stack."""
        self._call("DeleteStack", stack, StackName=stack)

    def protect(self, stack: str, *, on: bool) -> None:
        """Turn termination protection on or off. CloudFormation deletes no stack that has it."""
        self._call("UpdateTerminationProtection", stack, StackName=stack, EnableTerminationProtection=on)

    def failure(self, arn: str, operation: str) -> str:
        """Why the last operation of a stack failed: its first resource that did, if any, and CloudFormation's reason.

        The operation is CREATE, UPDATE or DELETE; a creation includes the deletion that follows its failure.
        """
        found = of_stack = ""
        for event in self.events(arn):
            reason, status = event.get("ResourceStatusReason", ""), event["ResourceStatus"]
            if event["PhysicalResourceId"] == arn and status.endswith("ROLLBACK_IN_PROGRESS"):
                of_stack = reason  # If an export is missing or in use, no resource fails.
            if status.endswith("_FAILED") and reason:
                kind = event["ResourceType"]
                found = reason if kind == NESTED_STACK else f"{event['LogicalResourceId']} ({kind}): {reason}"
            if event["PhysicalResourceId"] == arn and status == f"{operation}_IN_PROGRESS":
                break  # Events come the newest first: the others are those of earlier operations.
        return found or of_stack

    def _call(self, action: str, stack: str, **request: Untyped) -> Untyped:
        return self.aws.call(self.where, action, f"stack {stack}", Clients.cloudformation, **request)
