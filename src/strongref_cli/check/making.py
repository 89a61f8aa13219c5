"""Makes a change set to be read, and deletes it: whatever only CloudFormation knows about a template is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from strongref.aws.clients import Clients
from strongref_toolkit.cloudformation import CloudFormationReader, change_set_parameters
from strongref_toolkit.errors import UsageError

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

    `cloudformation` has AWS's texts in errors. `status` is empty without a stack. A parameter that stays is None.

    Raises:
        UsageError: the template needs a bucket.
        AwsCallError: CloudFormation refuses the template, or the change set cannot be deleted.
    """
    if (size := len(template.encode())) > _MOST_BYTES:
        raise UsageError(
            f"The template has {size} bytes, and CloudFormation takes {_MOST_BYTES} without a bucket. Upload it, "
            "create the change set, and give its name with --change-set."
        )
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
            Parameters=change_set_parameters(parameters),
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
