"""What an installation has to do in a region, given what is there and what is wanted. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

VERSION_OUTPUT = "Version"
"""The output of the installation that says which version it is. Versions before 0.1.0's last changes have none."""

EXPORTS = ("strongref-exporter", "strongref-importer", "strongref-lookup")
"""The CloudFormation exports by which templates find the functions."""

DEFAULT_STACK = "strongref"
"""The name of the installation's stack, as in samconfig.toml."""

TRUST = "strongref-trust-"
"""What the names of the stack of trust.yaml and of its CloudFormation export begin with; then the trusted account."""

TAGS = {"application": "strongref"}
"""The tags of the stack, as in samconfig.toml."""

PROTECTION = "termination protection → on"
"""The change to a stack that anyone could delete, although other stacks need its functions."""

UPDATABLE = (
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
    "IMPORT_ROLLBACK_COMPLETE",
)
IN_REVIEW = "REVIEW_IN_PROGRESS"
"""The status of a stack that has change sets, and nothing else yet: of an installation that was interrupted."""

NEVER_WORKED = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""A stack in these can only be deleted."""


@dataclass(frozen=True, slots=True)
class FoundStack:
    """The installation's stack, as CloudFormation describes it."""

    arn: str
    status: str
    version: str | None = None  # None if its template does not say
    parameters: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    template: str = field(default="", repr=False)  # as it was deployed; empty if it was not read
    protected: bool = False  # against deletion (CloudFormation's termination protection)
    reason: str = ""  # CloudFormation's reason for the status
    updated: str = ""  # when its last operation began; empty before the first update


@dataclass(frozen=True, slots=True)
class Found:
    region: str
    stack: FoundStack | None
    elsewhere: str = ""  # another stack that exports the functions, if this one does not exist
    trusted: Mapping[str, str] = field(default_factory=dict)  # the stacks of trust.yaml by account, for `status`


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person who installs asks for: the same in every region."""

    stack: str  # the stack's name
    version: str | None  # None if the template has none
    known_parameters: tuple[str, ...]  # those of the template
    parameters: Mapping[str, str] = field(default_factory=dict)  # given; others keep their values, or have defaults
    tags: Mapping[str, str] = field(default_factory=dict)  # given; others stay
    force: bool = False  # also an older version
    protected: bool = True  # against deletion
    removal: str = "strongref uninstall"  # the command that removes the stack


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    PROTECT = "protect"  # turn on termination protection, and nothing else
    NOTHING = "nothing"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class InstallPlan:
    region: str
    stack: str  # the stack's name
    action: Action
    reason: str = ""  # why it is refused
    before: str | None = None  # the version that is there; None if there is none, or it is unknown
    parameters: Mapping[str, str | None] = field(default_factory=dict)  # to be sent; None keeps the present value
    tags: Mapping[str, str] = field(default_factory=dict)  # to be sent
    changes: tuple[str, ...] = ()  # what an update changes, one short line each
    updated: str = ""  # as in `FoundStack`: another one shows that this plan's update has begun
    protected: bool = False  # as in `FoundStack`


class RegionResult(StrEnum):
    """How it ended in one region, as the commands show it."""

    INSTALLED = "installed"
    UPDATED = "updated"
    UP_TO_DATE = "up to date"
    WOULD_INSTALL = "would install"
    WOULD_UPDATE = "would update"
    REMOVED = "removed"
    WOULD_REMOVE = "would remove"
    NOT_INSTALLED = "not installed"
    IN_USE = "in use"
    REFUSED = "refused"
    FAILED = "failed"
    UNTOUCHED = "not touched"  # since another region's removal was refused


BAD = (RegionResult.IN_USE, RegionResult.REFUSED, RegionResult.FAILED)
"""Results that make a command exit with 1."""


@dataclass(frozen=True, slots=True)
class RegionOutcome:
    region: str
    result: RegionResult
    before: str | None = None  # the version that was there
    details: tuple[str, ...] = ()  # changes, reasons, uses; one short line each


def plan_install(found: Found, wanted: Wanted, template: str) -> InstallPlan:
    """Decide for one region; `template` is the one that it is to have."""
    stack = found.stack
    if found.elsewhere:
        reason = f"strongref is installed as stack {found.elsewhere}. Give --stack {found.elsewhere} to update it."
        return InstallPlan(found.region, wanted.stack, Action.REFUSE, reason)
    if not stack or stack.status == IN_REVIEW:
        return InstallPlan(
            found.region, wanted.stack, Action.CREATE, parameters=wanted.parameters, tags={**TAGS, **wanted.tags}
        )
    if reason := _obstacle(stack, wanted):
        return InstallPlan(found.region, wanted.stack, Action.REFUSE, reason, stack.version)
    kept = {name: None for name in wanted.known_parameters if name in stack.parameters}
    tags = {**stack.tags, **TAGS, **wanted.tags}
    changes = tuple(_changes(stack, wanted, template, tags))
    is_safe = stack.protected or not wanted.protected
    action = Action.UPDATE if changes else Action.NOTHING if is_safe else Action.PROTECT
    return InstallPlan(
        found.region,
        wanted.stack,
        action,
        before=stack.version,
        parameters={**kept, **wanted.parameters},
        tags=tags,
        changes=changes if is_safe else (*changes, PROTECTION),
        updated=stack.updated,
        protected=stack.protected,
    )


def _obstacle(stack: FoundStack, wanted: Wanted) -> str:
    """Why a stack cannot be updated; empty if it can."""
    if stack.status in NEVER_WORKED:
        return (
            f"The stack {wanted.stack} is in {stack.status} and cannot be updated. Remove it with {wanted.removal}, "
            "then install again."
        )
    if stack.status == "UPDATE_ROLLBACK_FAILED":
        return (
            f"The stack {wanted.stack} is in {stack.status}. Continue its rollback in CloudFormation "
            f"(aws cloudformation continue-update-rollback --stack-name {wanted.stack}), then install again."
        )
    if stack.status not in UPDATABLE:
        return f"The stack {wanted.stack} is in {stack.status}. Wait until CloudFormation has finished, then try again."
    if stack.version and wanted.version and is_older(wanted.version, stack.version) and not wanted.force:
        return (
            f"Version {stack.version} is installed, and this would install {wanted.version}. Upgrade the command or "
            "take a newer release, or give --force to install the older version."
        )
    return ""


def _changes(stack: FoundStack, wanted: Wanted, template: str, tags: Mapping[str, str]) -> list[str]:
    changes = []
    if stack.version != wanted.version:
        changes.append(f"version {stack.version or 'unknown'} → {wanted.version}")
    elif stack.template.strip() != template.strip():
        changes.append("template or code")
    changes += [
        f"{name} {stack.parameters.get(name, '(default)') or '(empty)'} → {value or '(empty)'}"
        for name, value in wanted.parameters.items()
        if stack.parameters.get(name) != value
    ]
    changes += [f"tag {name} → {value}" for name, value in tags.items() if stack.tags.get(name) != value]
    return changes


_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(.*)")


def is_older(version: str, other: str) -> bool:
    """Whether a version comes before another one; False if one of them is no version. A pre-release is older."""
    found = [each for each in map(_VERSION.fullmatch, (version, other)) if each]
    orders = [([int(number) for number in each.group(1, 2, 3)], not each[4], each[4]) for each in found]
    return len(orders) > 1 and orders[0] < orders[1]
