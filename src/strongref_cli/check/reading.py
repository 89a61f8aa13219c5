"""Everything that `strongref check` reads: stacks, change sets, and what is stored about their exports.

Nothing is written, and no value that was read is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from strongref.arns import partition_of
from strongref.contract.event import Event, RequestType
from strongref.contract.hold_stacks import HOLDS, HoldParameter
from strongref.contract.index import INDEX, IndexEntry, index_of, read_index
from strongref.contract.names import SHARED, ExportScope, Key, Site, StackArn, is_stack_name
from strongref.contract.requests import ImportRequest, Strength
from strongref.contract.response import check_size
from strongref.errors import StoreError, UnreadableRecordError
from strongref.memo import Memo
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.imports import attributes
from strongref.protocol.imports import physical_id as import_id
from strongref.protocol.inspection import TagInspector
from strongref.protocol.installations import is_installed
from strongref.protocol.lag import ReadLag
from strongref.protocol.published import ImportingAccount, RecordedExports
from strongref.protocol.several_producers import SeveralProducers
from strongref.protocol.snapshot import read_scope
from strongref.protocol.stored_exports import ExportIdentity, StoredExports, ValueTags
from strongref.protocol.time import Patience
from strongref.refusals import ForeignParameterError, HoldMissingError
from strongref.text import cut, did_you_mean
from strongref_cli.check.parameters import described_names
from strongref_cli.check.stored import NOTHING_STORED, Location, StoredScope, StoredStack, locations_of
from strongref_cli.check.unknown import SourceKind
from strongref_cli.check.updates import ResourceChange
from strongref_cli.check.version import StackVersion, pseudo_parameters
from strongref_cli.install.installed import export_accounts
from strongref_cli.install.stacks import RegionStacks
from strongref_manifests.sources.attributes import template_of
from strongref_toolkit.cloudformation import NESTED_STACK, CloudFormationReader, has_no_changes, parameter_values
from strongref_toolkit.errors import AwsCallError, NoWayInError, UsageError
from strongref_toolkit.session import ToolSession, check_regions

if TYPE_CHECKING:
    from strongref.contract.values import Parameter, Value
    from strongref.protocol.ports import Store
    from strongref_cli.check.comparison import Comparison

_UUID = "00000000-0000-0000-0000-000000000000"
"""In the place of what CloudFormation makes up: as long as that, since responses have a limit."""
_IMPATIENT = Patience(0, 0, float)
"""What is being changed right now is unknown, and not waited for."""
_OVER = ("OBSOLETE", "EXECUTE_")
"""What the execution status begins with of a change set that cannot be executed anymore."""
_EMPTY = ("REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE")
"""Statuses of stacks without resources: one that only has a change set, and one whose creation failed."""


@dataclass(frozen=True, slots=True)
class DeployedStack:
    arn: StackArn
    status: str  # CloudFormation's stack status; empty if there is no stack
    parameters: Mapping[str, str] = field(repr=False)  # what an update keeps; none if it has never been deployed
    names: Mapping[str, Any] = field(repr=False)  # what `Ref` gives for pseudo parameters
    version: StackVersion | None  # None if it has never been deployed, so that there is nothing to compare with
    # the ARNs of the stacks that are nested in it, by logical ID
    nested: Mapping[str, str] = field(default_factory=dict)


class ChangeSet(NamedTuple):
    version: StackVersion  # what the stack would become
    changes: Mapping[str, ResourceChange]
    nested: Mapping[str, str]  # the ARNs of the change sets of nested stacks, by logical ID


class StackReader:
    """Reads the stacks of one region of the caller's account; and what they export to others, if there is a role."""

    def __init__(self, session: ToolSession, region: str, role: str | None = None) -> None:
        self._session, self._role = session, role
        self._aws = aws = session.aws(region, role)
        self._cloudformation = CloudFormationReader(aws, aws.where(region, None))
        self.account = aws.accounts.own
        self.region = region
        self._ports = replace(session.ports(self.account, lag=ReadLag()), patience=_IMPATIENT)
        self._clock = session.clock
        self._stacks: Memo[str, DeployedStack | None] = Memo()
        self._change_sets: Memo[tuple[StackArn, str], ChangeSet] = Memo()
        self._users: Memo[str, tuple[str, ...]] = Memo()
        self._exported: Memo[str, frozenset[str]] = Memo()
        self._inspector = TagInspector(self._ports.stacks)
        self._stores: Memo[Site, Store] = Memo()
        self._listed: Memo[str, tuple[str, ...]] = Memo()
        self._installed: Memo[str, bool] = Memo()
        self._tags: Memo[tuple[str, Location], Mapping[Key, ValueTags]] = Memo()

    def again(self) -> StackReader:
        """Another one, which has read nothing yet."""
        return StackReader(self._session, self.region, self._role)

    def no_such_stack(self, name: str) -> UsageError:
        """The error for a name that no stack has, with those that are similar, if the caller may list them."""
        close: list[str] = []
        with suppress(AwsCallError):
            close = get_close_matches(name, self._cloudformation.names(), 3)
        hint = did_you_mean(close, "Check the name, the region and the account.")
        return UsageError(f"Stack {cut(name, 128)} does not exist in {self.region}. {hint}")

    def with_texts(self) -> CloudFormationReader:
        """CloudFormation with its own texts in errors: they are about a template, and have no exported values."""
        return RegionStacks.of(self._session, self.region)

    def stack(self, name: str) -> DeployedStack | None:
        """The stack with this name or ARN; None if there is none."""
        return self._stacks.get(name, lambda: self._stack(name))

    def _stack(self, name: str) -> DeployedStack | None:
        found = self._cloudformation.stack(name)
        if not found:
            return None
        arn = StackArn.parse(found["StackId"])
        status = found["StackStatus"]
        names = pseudo_parameters(arn, exists=True, topics=found.get("NotificationARNs"))
        if status in _EMPTY:
            return DeployedStack(arn, status, {}, names, None)
        template = template_of(self._cloudformation, str(arn))
        if template is None:
            return None
        values = {**described_names(template, found, hidden=SourceKind.FIXED), **names}
        outputs = found.get("Outputs", ())
        exported = {each["OutputKey"]: each["ExportName"] for each in outputs if each.get("ExportName")}
        version = StackVersion.of(template, values, exported)
        return DeployedStack(arn, status, parameter_values(found), names, version, self._nested(str(arn)))

    def new_stack(self, name: str) -> DeployedStack:
        """A stack that does not exist yet. Raises `UsageError`: no stack can have this name."""
        if not is_stack_name(name):
            raise self.no_such_stack(name)
        arn = StackArn(partition_of(self.region), self.region, self.account, name, "-")
        return DeployedStack(arn, "", {}, pseudo_parameters(arn, exists=False), None)

    def change_set(self, stack: DeployedStack, change_set: str) -> ChangeSet:
        """A change set of a stack, by its name or ARN.

        Raises:
            UsageError: there is none, it is being created, has failed, or is obsolete.
        """
        return self._change_sets.get((stack.arn, change_set), lambda: self._change_set(stack, change_set))

    def _change_set(self, stack: DeployedStack, change_set: str) -> ChangeSet:
        pages = list(self._cloudformation.change_set(stack.arn.name, change_set))
        template = template_of(self._cloudformation, stack.arn.name, ChangeSetName=change_set) if pages else None
        # An ARN is found whatever the stack's name is.
        if template is None or pages[0].get("StackId", str(stack.arn)) != str(stack.arn):
            what = f"Stack {stack.arn.name} has no change set {cut(change_set, 128)}."
            raise UsageError(f"{what} Check the name, the region and the account.")
        first, changes = pages[0], (each for page in pages for each in page.get("Changes", ()))
        listed = [each["ResourceChange"] for each in changes if "ResourceChange" in each]
        reason = first.get("StatusReason", "")
        execution = first.get("ExecutionStatus", "")
        status = execution if execution.startswith(_OVER) else first["Status"]
        if status != "CREATE_COMPLETE" and (listed or not has_no_changes(reason)):
            because = f" ({reason})" if reason else ""
            raise UsageError(
                f"Change set {change_set} is {status}{because}: there is nothing to check in it. Wait until it is "
                "CREATE_COMPLETE, or create another one."
            )
        names = {**described_names(template, first, hidden=SourceKind.CHANGING), **stack.names}
        nested = {each["LogicalResourceId"]: each["ChangeSetId"] for each in listed if each.get("ChangeSetId")}
        resources = {each["LogicalResourceId"]: _change(each) for each in listed}
        return ChangeSet(StackVersion.of(template, names), resources, nested)

    def stored(self, stack: DeployedStack, comparison: Comparison, exports: Iterable[str] = ()) -> StoredStack:
        """What is stored about the exports of a stack, wherever its old and new version and the index say.

        `exports` are the CloudFormation exports whose users matter.
        """
        own, name = self._store(Site(self.region)), stack.arn.name
        found = read_index(own.under(f"{INDEX}/{name}", decrypted=False))
        index = {index_of(own_name)[1]: entry for (own_name, arn), entry in found.items() if arn == str(stack.arn)}
        scopes = {
            (logical_id, at): self._scope(ExportIdentity(str(stack.arn), logical_id), at, index.get(logical_id))
            for logical_id, at in locations_of(stack.arn, comparison, index)
        }
        held = {each.hold for each in index.values() if each.hold}.union(comparison.old.outputs)
        holds = {export: self._holds(own, export) for export in sorted(held)}
        # Hold stacks are known by their parameters: the others import an export themselves.
        hold_stacks = {each.stack for each in chain(*holds.values())}
        users = {each: tuple(user for user in self.users(each) if user not in hold_stacks) for each in exports}
        listed: tuple[str, ...] | AwsCallError = ()
        try:
            if any(at.site.account for _, at in scopes):
                listed = self._listed.get("", partial(export_accounts, self._session, self.region))
        except AwsCallError as error:
            listed = error
        return StoredStack(index, scopes, holds, users, listed)

    def importable(self, stack: DeployedStack, logical_id: str, request: ImportRequest) -> Mapping[Key, Value]:
        """The values that an Import of a stack would get; raises what the importer would."""
        check_regions([request.producer.region] if request.producer else [])
        consumer, store = request.consumer or self._root_name(stack), self._store(Site(self.region))
        arn = str(stack.arn) if stack.status else f"{str(stack.arn).removesuffix('-')}{_UUID}"
        event = Event(RequestType.CREATE, arn, logical_id, _UUID, None, {}, None, "", "")
        generation = import_id(stack.arn, logical_id, request)
        account = ImportingAccount(stack.arn.account, consumer)
        claimant = Claimant(
            generation, arn, account, fits=lambda values: check_size(event, generation, attributes(values))
        )
        if request.producer:
            scope = ExportScope(SHARED if request.shared else consumer, request.producer)
            attempt, scopes = ClaimAttempt(self._ports, store, self._clock, claimant, scope, request.names), [scope]
            values = attempt.read_weakly()
        else:
            several = SeveralProducers(self._ports, store, self._clock, claimant, consumer, request.names or ())
            values, scopes = several.read_weakly(), [*several.scopes]
        for scope in scopes if request.strength is Strength.STRONG else ():
            if scope.producer.account != stack.arn.account:
                continue
            for export, producer in RecordedExports.read(store, scope).holds(values).items():
                info = self._ports.stacks.by_arn(producer)
                if info and info.at_rest and export not in info.exports and producer != arn:
                    raise HoldMissingError(export, str(scope.producer))
        return values

    def has_parameter(self, name: str) -> bool:
        return bool(self._store(Site(self.region)).get([name]))

    def tags(self, region: str, name: str) -> Mapping[str, str]:
        """The tags of a parameter; none if it does not exist."""
        return self._store(Site(region)).tags(name) or {}

    def _root_name(self, stack: DeployedStack) -> str:
        found = self._ports.stacks.by_arn(str(stack.arn)) if stack.status else None
        return StackArn.parse(found.root_arn).name if found else stack.arn.name

    def users(self, export: str) -> tuple[str, ...]:
        """The names of the stacks that import a CloudFormation export of the region."""
        return self._users.get(export, lambda: tuple(self._cloudformation.importers(export)))

    def has_export(self, name: str) -> bool:
        exports = self._cloudformation.exports
        return name in self._exported.get("", lambda: frozenset(each["Name"] for each in exports()))

    def _scope(self, export: ExportIdentity, at: Location, entry: IndexEntry | None) -> StoredScope:
        """What an Export sees in a place: all Exports of a stack see what is read there once."""
        try:
            check_regions([at.site.region])
            store = self._store(at.site)
            stored = read_scope(store, at.scope, export, self._inspector)
        except (UsageError, UnreadableRecordError, ForeignParameterError) as error:
            return StoredScope(StoredExports({}, None), problem=error)
        except (NoWayInError, StoreError) as error:
            was_tried = not isinstance(error, NoWayInError) or error.code
            if was_tried and entry is not None and at.place in entry.forgotten:
                return NOTHING_STORED
            if isinstance(error, NoWayInError):
                return StoredScope(StoredExports({}, None), unread=error)
            raise
        asked = store, at.scope, sorted(stored.stored), export.stack
        tags = self._tags.get((export.stack, at), lambda: self._inspector.inspect(*asked))
        return StoredScope(replace(stored, named=entry is not None and at.place in entry.places), tags)

    @staticmethod
    def _holds(store: Store, export: str) -> tuple[HoldParameter, ...]:
        names = store.under(f"{HOLDS}/{export.replace(':', '.')}", decrypted=False)
        return tuple(hold for name in names if (hold := HoldParameter.of(name)))

    def is_installed(self, region: str) -> bool:
        """Whether strongref is installed in another region; True if the caller may not know."""
        return self._installed.get(region, lambda: is_installed(self._store(Site(region))))

    def _store(self, site: Site) -> Store:
        """The Parameter Store of a site. Raises `NoWayInError`: it is in another account that does not let us in."""
        return self._stores.get(site, partial(self._opened, *site))

    def _opened(self, region: str, account: str) -> Store:
        aws = self._aws
        store = aws.store(aws.where(region, account)) if account else self._ports.stores(region, self._clock)
        return cast("Store", _ReadOnce(store))

    def _nested(self, arn: str) -> dict[str, str]:
        """The ARNs of the stacks that are nested in a stack, by logical ID."""
        return {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for each in self._cloudformation.resources(arn)
            if each["ResourceType"] == NESTED_STACK and each.get("PhysicalResourceId")
        }


class _ReadOnce:
    """A store of which every path is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: Memo[tuple[str, bool], dict[str, Parameter]] = Memo()
        self.tags, self.get, self.region, self.account = store.tags, store.get, store.region, store.account
        self.side_by_side = store.side_by_side

    def under(self, path: str, *, decrypted: bool = True) -> dict[str, Parameter]:
        return self._found.get((path, decrypted), lambda: self._store.under(path, decrypted=decrypted))


def _change(given: Mapping[str, Any]) -> ResourceChange:
    actions = {"Add": ResourceChange.ADDED, "Import": ResourceChange.ADDED, "Remove": ResourceChange.REMOVED}
    replacements = {"True": ResourceChange.REPLACED, "False": ResourceChange.KEPT}
    modified = replacements.get(str(given.get("Replacement")), ResourceChange.MAYBE_REPLACED)
    return actions.get(given["Action"], modified)
