"""CloudFormation in one account and region, as tools on people's machines read it: a method for each thing.

Nothing is remembered, so that someone who waits for an operation sees it change. What is not there is None, or an empty
list. That is decided here: CloudFormation has one error code for what does not exist and for other bad requests, and it
returns what was deleted, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from strongref.aws.clients import Clients
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import type_defs

    from strongref_toolkit.aws import Aws, Where

NESTED_STACK = "AWS::CloudFormation::Stack"

HIDDEN = "****"
"""What CloudFormation shows of a parameter with NoEcho."""

_ABSENT = ("ValidationError", "ChangeSetNotFound", "ChangeSetNotFoundException")
"""What CloudFormation answers where a stack, a resource or a change set is not there, or nothing imports an export."""

_DELETED = "DELETE_COMPLETE"

_NO_CHANGES = ("No updates are to be performed", "didn't contain changes")
"""In the reasons of change sets without changes. There is no code for it."""


def has_no_changes(reason: str) -> bool:
    """Whether a change set failed because there is nothing to change."""
    return any(text in reason for text in _NO_CHANGES)


def parameter_values(described: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of a stack or a change set, by name."""
    return {each["ParameterKey"]: each.get("ParameterValue", "") for each in described.get("Parameters", ())}


def change_set_parameters(given: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The parameters of a change set; None for one that keeps its value."""
    kept: dict[str, Any] = {"UsePreviousValue": True}
    return [
        {"ParameterKey": key, **(kept if text is None else {"ParameterValue": text})} for key, text in given.items()
    ]


class CloudFormationReader:
    """Reads stacks by their names or ARNs.

    Methods raise `AwsCallError`, and errors as for `Accounts.clients`.
    """

    def __init__(self, aws: Aws, where: Where) -> None:
        self.aws = aws
        self.where = where

    def stack(self, stack: str, called: str | None = None) -> type_defs.StackTypeDef | None:
        """What DescribeStacks returns for a stack; `called` is what errors call it."""
        page = next(self._of("DescribeStacks", f"stack {called or stack}", StackName=stack), None)
        found: type_defs.StackTypeDef | None = page and page["Stacks"][0]
        return found if found and found["StackStatus"] != _DELETED else None

    def stacks(self) -> Iterator[type_defs.StackTypeDef]:
        """All stacks, nested ones, too."""
        for page in self._pages("DescribeStacks", "all stacks"):
            yield from page["Stacks"]

    def names(self) -> dict[str, str]:
        """The ARNs of all stacks, nested ones, too, by name (ListStacks: many more of them on a page)."""
        client = self.aws.clients(self.where).cloudformation(self.where.region)
        statuses: Any = client.meta.service_model.shape_for("StackStatus")
        existing = [each for each in statuses.enum if each != _DELETED]
        pages = self._pages("ListStacks", "all stacks", StackStatusFilter=existing)
        return {each["StackName"]: each["StackId"] for page in pages for each in page["StackSummaries"]}

    def resource(self, stack: str, logical_id: str) -> type_defs.StackResourceDetailTypeDef | None:
        request = {"StackName": stack, "LogicalResourceId": logical_id}
        page = next(self._of("DescribeStackResource", f"{logical_id} of stack {stack}", **request), None)
        found: type_defs.StackResourceDetailTypeDef | None = page and page["StackResourceDetail"]
        return found if found and found["ResourceStatus"] != _DELETED else None

    def resources(self, stack: str) -> Iterator[type_defs.StackResourceSummaryTypeDef]:
        for page in self._of("ListStackResources", f"stack {stack}", StackName=stack):
            yield from (each for each in page["StackResourceSummaries"] if each["ResourceStatus"] != _DELETED)

    def template(self, stack: str, stage: str = "Processed", **change_set: str) -> str | dict[str, Any] | None:
        """The template of a stack, or of its change set (`ChangeSetName`); a map if it is in JSON.

        The stage is `Processed` for what transforms have made of it, or `Original`.
        """
        request = {"StackName": stack, "TemplateStage": stage, **change_set}
        page = next(self._of("GetTemplate", f"stack {stack}", **request), None)
        return page["TemplateBody"] if page else None

    def transforms(self, stack: str) -> list[str]:
        """The macros that the template of a stack names."""
        pages = self._of("GetTemplateSummary", f"stack {stack}", StackName=stack)
        return [each for page in pages for each in page.get("DeclaredTransforms", ())]

    def change_set(self, stack: str, change_set: str) -> Iterator[type_defs.DescribeChangeSetOutputTypeDef]:
        """The pages of a change set. What is not a list is the same on each of them."""
        request = {"StackName": stack, "ChangeSetName": change_set}
        return self._of("DescribeChangeSet", f"change set {change_set}", **request)

    def exports(self) -> Iterator[type_defs.ExportTypeDef]:
        """All CloudFormation exports of the region, as their pages come."""
        for page in self._pages("ListExports", "exports"):
            yield from page["Exports"]

    def importers(self, export: str) -> list[str]:
        """The names of the stacks that import a CloudFormation export, sorted."""
        pages = self._of("ListImports", f"export {export}", ExportName=export)
        return sorted(name for page in pages for name in page["Imports"])

    def events(self, stack: str) -> Iterator[type_defs.StackEventTypeDef]:
        """What happened to a stack, the newest first, as the pages come."""
        for page in self._of("DescribeStackEvents", f"stack {stack}", StackName=stack):
            yield from page["StackEvents"]

    def _of(self, action: str, target: str, **request: str) -> Iterator[Any]:
        """The pages of a response about one thing; none if it is not there."""
        try:
            yield from self._pages(action, target, **request)
        except AwsCallError as error:
            if error.code not in _ABSENT:
                raise

    def _pages(self, action: str, target: str, **request: Any) -> Iterator[Any]:
        return self.aws.pages(self.where, action, target, Clients.cloudformation, **request)
