"""What is asked of AWS while templates are made: each thing once a run, and then kept in the context file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from strongref_objects.context_file import CONTEXT_FILE, ContextFile, ContextKey
from strongref_objects.errors import NoPlaceError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from strongref.aws.clients import Clients
    from strongref.protocol.ports import Store
    from strongref_objects.base import Target
    from strongref_toolkit.aws import Aws
    from strongref_toolkit.toolbox import Toolbox


class Home(NamedTuple):
    """Whose a stack is, and where it is deployed."""

    account: str
    region: str


class Synthesis:
    """One run of a program that makes templates: all its stacks may share it.

    Attributes:
        context_file: what earlier runs have found.
    """

    def __init__(
        self, context_file: str | Path = CONTEXT_FILE, toolbox: Toolbox | None = None, role: str | None = None
    ) -> None:
        """Make one; nothing is asked, read or imported before something is looked up.

        Args:
            context_file: its path.
            toolbox: what AWS is called with; by default that of this process.
            role: the ARN of the role to assume in another account, with `ACCOUNT` in the place of its number.
        """
        self.context_file = ContextFile(context_file)
        self._toolbox = toolbox
        self._role = role
        self._aws: Aws | None = None
        self._answers: Memo[Hashable, Any] = Memo()

    def home(self, target: Target, name: str) -> Home:
        """The account and region of a stack; the caller's own account where the stack does not say.

        Args:
            target: the stack.
            name: what is to be looked up for it, for errors.

        Raises:
            NoPlaceError: its region is not known, or the account is not and the caller has no credentials.
        """
        if target.region is None:
            raise NoPlaceError(name, target.name, "region")
        if target.account is not None:
            return Home(target.account, target.region)
        from strongref_toolkit.errors import UnknownCallerError  # noqa: PLC0415 (only where something is looked up)

        try:
            return Home(self.aws(target.region).accounts.own, target.region)
        except UnknownCallerError:
            pass
        raise NoPlaceError(name, target.name, "account")

    def remember(
        self,
        key: ContextKey,
        ask: Callable[[], Any],
        *,
        is_whole: Callable[[Any], bool] = lambda _kept: True,
    ) -> Any:  # noqa: ANN401 (JSON)
        """What is kept under this key; else what `ask` returns (JSON, not None), which is kept from then on.

        Args:
            key: of the entry.
            ask: asks for it.
            is_whole: whether what is kept will do; if not, it is asked for again.

        Raises:
            ContextFileError: the file cannot be read or written.
            StrongRefError: what `ask` raises.
        """
        kept = self.context_file.get(key)
        if kept is None or not is_whole(kept):
            kept = ask()
            self.context_file.put(key, kept)
        return kept

    def once(self, what: Hashable, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 (the caller knows)
        """What was answered to this before in this run; else what `ask` returns or raises now, and from then on."""
        return self._answers.get(what, ask)

    def aws(self, region: str) -> Aws:
        """AWS for this run.

        Args:
            region: where STS is asked, if it has to be.
        """
        if self._aws is None:
            from strongref_toolkit.aws import Aws  # noqa: PLC0415 (as above)

            tools = self.toolbox
            self._aws = Aws(tools.accounts(region, self._role), tools.limiter, tools.clock, None)
        return self._aws

    def clients(self, home: Home) -> Clients:
        """The clients of a stack's account.

        Raises:
            NoWayInError: it is not the caller's own, and no role is given.
            UnknownCallerError: STS does not say whose credentials these are.
        """
        aws = self.aws(home.region)
        return aws.clients(aws.where(home.region, home.account))

    def store(self, home: Home) -> Store:
        """Parameter Store of a stack's account and region; errors as `clients`."""
        from strongref.aws.parameter_store import Stores  # noqa: PLC0415 (as above)

        tools = self.toolbox
        return Stores(self.clients(home).ssm, tools.limiter)(home.region, tools.clock)

    @property
    def toolbox(self) -> Toolbox:
        if self._toolbox is None:
            from strongref_toolkit.toolbox import Toolbox  # noqa: PLC0415 (as above)

            self._toolbox = Toolbox.of_this_process()
        return self._toolbox
