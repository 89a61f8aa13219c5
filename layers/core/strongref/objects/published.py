"""What stacks export by strongref to a stack whose template is being made, looked up in its account and region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.address import SHARED
from strongref.objects.at_synthesis import an_object
from strongref.objects.context_file import ContextKey
from strongref.objects.errors import NothingToImportError, SecureObjectError
from strongref.objects.naming import key_of, shown
from strongref.resolvers.errors import NotExportedError, SecureValueError
from strongref.resolvers.exports import Exports
from strongref.resolvers.tokens import EXPORT, Token

if TYPE_CHECKING:
    from strongref.objects.base import Target
    from strongref.objects.channels import CrossRegion
    from strongref.objects.naming import Path
    from strongref.objects.synthesis import Home, Synthesis


def look_up(target: Target, synthesis: Synthesis, via: CrossRegion, path: Path) -> Any:  # noqa: ANN401 (JSON)
    """The value or list at a path.

    Raises:
        WrongKindError: an object is there.
        NothingToImportError: that stack exports nothing of that name to this one.
        SecureObjectError: it is a secret.
        NoPlaceError: where to look is not known.
        StrongRefError: AWS does not tell.
    """
    key = key_of(path)
    home = synthesis.home(target, shown(path))
    consumer = SHARED if via.shared else via.consumer or target.name
    account, region = via.account or home.account, via.region or home.region
    token = Token(EXPORT, f"{via.stack}.{key}", region, account)
    at = ContextKey("strongref", home.account, home.region, f"{consumer}/{account}/{region}/{via.stack}", key)
    return synthesis.remember(at, lambda: _no_map(path, _ask(synthesis, home, consumer, token, path)))


def _no_map(path: Path, found: Any) -> Any:  # noqa: ANN401 (JSON)
    if isinstance(found, dict):
        raise an_object(path)
    return found


def _ask(synthesis: Synthesis, home: Home, consumer: str, token: Token, path: Path) -> Any:  # noqa: ANN401 (JSON)
    exports: Exports = synthesis.once(("strongref", home, consumer), lambda: _exports(synthesis, home, consumer))
    close: tuple[str, ...]
    try:
        return exports.fetch(token)
    except SecureValueError:
        secure = True
    except NotExportedError as error:
        secure = False
        close = tuple(error.close)
    if secure:
        raise SecureObjectError(shown(path))
    stack, _, _ = token.reference.partition(".")
    whom = "to all" if consumer == SHARED else f"to consumer {consumer}"
    where = f"what stack {stack} ({token.region}, {token.account}) exports {whom} in {home.region}"
    raise NothingToImportError(shown(path), where, close)


def _exports(synthesis: Synthesis, home: Home, consumer: str) -> Exports:
    tools = synthesis.toolbox
    aws, store = synthesis.aws(home.region), synthesis.store(home)
    return Exports(aws, store, tools.clock, tools.ports().patience, consumer)
