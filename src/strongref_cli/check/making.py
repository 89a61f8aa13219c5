"""Makes a change set to be read, and deletes it: whatever only CloudFormation knows about a template is in it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from strongref.aws.clients import Clients
from strongref_cli.check.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref_toolkit.cloudformation import CloudFormationReader

_MOST_BYTES = 51_200
"""AWS: CreateChangeSet, TemplateBody. A larger template has to be in S3."""
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
"""All of them: the change set is never executed."""
_POLL_SECONDS = 2.0
_EMPTY = ("", "REVIEW_IN_PROGRESS")
"""Statuses of stacks that have never been deployed."""
_UNFINISHED = ("CREATE_PENDING", "CREATE_IN_PROGRESS")


@contextmanager
def made_change_set(
    cloudformation: CloudFormationReader, stack: str, status: str, template: str, parameters: Mapping[str, str | None]
) -> Iterator[str]:
    """The name of a change set that exists within this context; with it, the empty stack goes that it may have made.

    Args:
        cloudformation: of the stack's region. Its errors show AWS's texts.
        stack: its name.
        status: its status; empty if it does not exist.
        template: its text.
        parameters: None for one that keeps its value.

    Raises:
        TooLargeError: the template needs a bucket.
        AwsCallError: CloudFormation refuses the template, or the change set cannot be deleted.
    """
    size = len(template.encode())
    if size > _MOST_BYTES:
        raise TooLargeError(size, _MOST_BYTES)
    name, found = f"strongref-check-{uuid4().hex}", {"StackName": stack}

    def call(action: str, **request: Any) -> None:
        target = f"change set {name} of stack {stack}"
        cloudformation.aws.call(cloudformation.where, action, target, Clients.cloudformation, **found, **request)

    try:
        call(
            "CreateChangeSet",
            ChangeSetName=name,
            ChangeSetType="CREATE" if status in _EMPTY else "UPDATE",
            Description="Made by strongref check, which reads it and deletes it",
            TemplateBody=template,
            Parameters=[_parameter(*each) for each in parameters.items()],
            Capabilities=_CAPABILITIES,
            IncludeNestedStacks=True,
        )
        while next(cloudformation.change_set(stack, name), {"Status": ""})["Status"] in _UNFINISHED:
            cloudformation.aws.clock.sleep(_POLL_SECONDS)
        yield name
    finally:
        # Also after ctrl-C, while CloudFormation was being asked: it may have been made.
        if any(cloudformation.change_set(stack, name)):
            call("DeleteChangeSet", ChangeSetName=name)
            if not status:
                call("DeleteStack")


def _parameter(name: str, value: str | None) -> dict[str, object]:
    kept: dict[str, object] = {"UsePreviousValue": True} if value is None else {"ParameterValue": value}
    return {"ParameterKey": name, **kept}
