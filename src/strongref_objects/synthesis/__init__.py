"""What is looked up in AWS while templates are made: each thing once per run, then kept in the context file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from strongref.memo import Memo
from strongref.untyped import AnyJson
from strongref_objects.base.errors import NothingToImportError, UnknownLocationError
from strongref_objects.synthesis.context_file import CONTEXT_FILE, ContextFile, ContextKey
from strongref_toolkit.errors import UnknownCallerError

if TYPE_CHECKING:
    from pathlib import Path

    from strongref.protocol.ports import Store
    from strongref_objects.base import Target
    from strongref_toolkit.aws import Aws
    from strongref_toolkit.session import ToolSession


T = TypeVar("T")


class Home(NamedTuple):
    """The account and region of a stack."""

    account: str
    region: str


class Synthesis:
    """One run of a program that makes templates; all its stacks may share it."""

    def __init__(
        self, context_file: str | Path = CONTEXT_FILE, toolbox: ToolSession | None = None, role: str | None = None
    ) -> None:
        """Nothing is read, imported or called before the first lookup.

        Args:
            context_file: its path.
            toolbox: calls AWS; by default that of this process.
            role: the ARN of the role to assume in other accounts, with `ACCOUNT` in place of the account ID.
        """
        self.context_file = ContextFile(context_file)
        self.exported: dict[Hashable, object] = {}  # what stacks of the program export, and its names, by `location`
        self.missed: dict[Hashable, str] = {}  # settings that were read before their export: by which stack
        self._given_toolbox = toolbox
        self._role = role
        self._answers: Memo[Hashable, Any] = Memo()

    def home(self, target: Target, name: str, *, is_lookup: bool = False) -> Home:
        """The account and region of a stack; the caller's own account if the stack does not name one.

        Args:
            target: the stack.
            name: what is looked up for it, for errors.
            is_lookup: whether it is looked up by its tags, which is impossible at deployment.

        Raises:
            UnknownLocationError: the stack has no region; or it has no account, and the caller no credentials.
        """
        at_deployment = "" if is_lookup else "import with type=ResolveType.DEPLOYMENT"
        if target.region is None:
            raise UnknownLocationError(name, target.name, "region", at_deployment)
        if target.account is not None:
            return Home(target.account, target.region)
        try:
            return Home(self.aws(target.region).accounts.own, target.region)
        except UnknownCallerError:
            fix = at_deployment or "use credentials (AWS_PROFILE)"
        raise UnknownLocationError(name, target.name, "account", fix)

    def remember(
        self,
        key: ContextKey,
        ask: Callable[[], Any],
        *,
        is_complete: Callable[[Any], bool] = lambda _entry: True,
        is_setting: bool = False,
    ) -> AnyJson:
        """The context file's entry of this key; if there is none, what `ask` returns (JSON, not None), which is kept.

        Args:
            key: of the entry.
            ask: looks it up; its errors are raised.
            is_complete: whether an entry can be used; if not, it is looked up again.
            is_setting: whether an empty entry is kept if `ask` raises `NothingToImportError`.

        Raises:
            ContextFileError: the file cannot be read or written.
        """
        entry = self.context_file.get(key)
        if entry is None or not is_complete(entry):
            try:
                entry = ask()
            except NothingToImportError:
                if not is_setting:
                    raise
                entry = ""
            self.context_file.put(key, entry)
        return entry

    def items(self, of_list: ContextKey, name: str, ask: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
        """What the items of a list are exported as, by item; empty if they are not exported one by one.

        They are looked up together with the list. For a list that an older version has put into the context file they
        are not: an update does not make a run call AWS. Errors as above.
        """
        key = replace(of_list, name=name)
        found: Mapping[str, str] | None = self.context_file.get(key)
        if found is None and self.context_file.is_new(of_list):
            found = ask()
            self.context_file.put(key, found)
        return found or {}

    def once(self, question: Hashable, ask: Callable[[], T]) -> T:
        """What `ask` returned or raised the first time that this run asked the question."""
        answer: T = self._answers.get(question, ask)
        return answer

    def aws(self, region: str) -> Aws:
        """AWS for this run. The region is that of STS, if it must be called."""
        return self.once("aws", lambda: self.toolbox.aws(region, self._role))

    def store(self, home: Home) -> Store:
        """Parameter Store of a stack's account and region; errors as `Aws.where` and `Aws.store`."""
        aws = self.aws(home.region)
        return aws.store(aws.where(home.region, home.account))

    @cached_property
    def toolbox(self) -> ToolSession:
        from strongref_toolkit.session import ToolSession  # noqa: PLC0415 (lookups only)

        return self._given_toolbox or ToolSession.start()
