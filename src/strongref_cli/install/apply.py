"""Carries out what was planned for one region, and waits until CloudFormation has finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from strongref.untyped import Untyped
from strongref_cli.install.errors import FAILURES, InstallError
from strongref_cli.install.packaging import content_hash, object_key
from strongref_cli.install.plan import Action, FoundStack, InstallPlan, RegionOutcome, RegionResult
from strongref_toolkit.cloudformation import has_no_changes
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from strongref_cli.install.bucket import CodeBucket
    from strongref_cli.install.stacks import CreatedChangeSet, RegionStacks
    from strongref_cli.install.suite import Suite

Show: TypeAlias = "Callable[[str], None]"
"""Shows what happens in a region now."""

POLL_SECONDS = 2.0
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
LAGGING_POLLS = 5


def preview(plan: InstallPlan) -> RegionOutcome | None:
    """The outcome of a plan that changes nothing; None if there is something to do."""
    if plan.action is Action.REFUSE:
        return RegionOutcome(plan.region, RegionResult.REFUSED, plan.before, (plan.reason,))
    if plan.action is Action.NOTHING:
        return RegionOutcome(plan.region, RegionResult.UP_TO_DATE, plan.before)
    return None


def dry_run(plan: InstallPlan) -> RegionOutcome:
    """The outcome that a plan would have."""
    result = RegionResult.WOULD_INSTALL if plan.action is Action.CREATE else RegionResult.WOULD_UPDATE
    return preview(plan) or RegionOutcome(plan.region, result, plan.before, plan.changes)


def install(plan: InstallPlan, suite: Suite, stacks: RegionStacks, bucket: CodeBucket, show: Show) -> RegionOutcome:
    """Carry out a plan.

    Raises:
        InstallError, ForeignBucketError, AwsCallError: it failed. CloudFormation has rolled back, or never began.
    """
    if outcome := preview(plan):
        return outcome
    done = RegionResult.UPDATED
    if plan.action is not Action.PROTECT:
        show("uploading code")
        done = deploy(plan, {"TemplateURL": upload(suite, bucket), "Capabilities": _CAPABILITIES}, stacks, show)
    if not plan.protected:
        show("turning on termination protection")
        stacks.protect(plan.stack, on=True)
    return RegionOutcome(plan.region, done, plan.before, () if done is RegionResult.UP_TO_DATE else plan.changes)


def deploy(plan: InstallPlan, template: Mapping[str, Untyped], stacks: RegionStacks, show: Show) -> RegionResult:
    """Create or update the stack of a plan; `template` is as for `create_change_set`, errors are as for `install`."""
    new = plan.action is Action.CREATE
    show("creating a change set")
    change_set = stacks.create_change_set(plan, f"strongref-{uuid4().hex}", template)
    if not _has_changes(stacks, change_set, plan.stack if new else ""):
        return RegionResult.UP_TO_DATE
    stacks.execute(change_set)
    operation = "CREATE" if new else "UPDATE"
    show(f"{'creating' if new else 'updating'} the stack")
    _finish(stacks, change_set.stack, operation, lambda stack: new or stack.updated != plan.updated)
    return RegionResult.INSTALLED if new else RegionResult.UPDATED


def upload(suite: Suite, bucket: CodeBucket) -> str:
    """Put into the bucket what it lacks of the suite; returns the template's URL."""
    template = suite.template_for(bucket.uri).encode()
    key = object_key("template", content_hash({"template.yaml": template}), "yaml")
    contents: dict[str, Callable[[], bytes]] = {each.key: each.content for each in suite.archives}
    contents[key] = lambda: template
    missing = {name: made for name, made in contents.items() if not bucket.has(name)}
    if missing:
        bucket.prepare()
    for name, made in missing.items():
        bucket.put(name, made())
    return bucket.url(key)


def _has_changes(stacks: RegionStacks, change_set: CreatedChangeSet, new: str) -> bool:
    """Wait for a change set. If it cannot be executed, it is deleted, with the empty stack `new` that it made."""
    while True:
        status, reason = stacks.progress(change_set)
        if status == "CREATE_COMPLETE":
            return True
        if status == "FAILED":
            break
        stacks.aws.clock.sleep(POLL_SECONDS)
    stacks.delete_change_set(change_set)
    if new:
        stacks.delete(new)
    if has_no_changes(reason):
        return False
    raise InstallError(reason or f"The change set is in {status}.")


def remove(stacks: RegionStacks, arn: str, show: Show, *, protected: bool = False) -> None:
    """Delete a stack, given its ARN.

    Its termination protection is turned off, if it is `protected`. If the stack stays, it is on again.

    Raises:
        InstallError, AwsCallError: CloudFormation could not delete it.
    """
    show("deleting the stack")
    if protected:
        stacks.protect(arn, on=False)
    try:
        stacks.delete(arn)
        _finish(stacks, arn, "DELETE", lambda stack: stack.status.startswith("DELETE"))
    except FAILURES:
        if protected:
            with suppress(AwsCallError):
                stacks.protect(arn, on=True)
        raise


def _finish(stacks: RegionStacks, arn: str, operation: str, has_begun: Callable[[FoundStack], bool]) -> None:
    """Wait until an operation of a stack has ended; raises `InstallError` or `AwsCallError` if it failed."""
    polls = 0
    while found := stacks.find(arn):
        # CloudFormation's reads may lag: what they show at first may be older than the operation.
        if not found.status.endswith("_IN_PROGRESS") and (has_begun(found) or polls >= LAGGING_POLLS):
            break
        stacks.aws.clock.sleep(POLL_SECONDS)
        polls += 1
    status, reason = (found.status, found.reason) if found else ("DELETE_COMPLETE", "")
    if status != f"{operation}_COMPLETE":
        raise InstallError(stacks.failure(arn, operation) or reason or f"The stack is in {status}.")
