"""What stacks export by strongref to a stack whose template is being made, looked up in its account and region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED, Producer
from strongref_objects.at_synthesis import an_object
from strongref_objects.context_file import ContextKey
from strongref_objects.errors import NothingToImportError, SecureObjectError
from strongref_objects.naming import key_of, shown
from strongref_toolkit.errors import NotExportedError, SecureValueError
from strongref_toolkit.published_exports import PublishedExports

if TYPE_CHECKING:
    from strongref_objects.base import Target
    from strongref_objects.channels import CrossRegion
    from strongref_objects.naming import Path
    from strongref_objects.synthesis import Home, Synthesis


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
    producer = Producer(account, region, via.stack or "")  # to import, a channel names its stack
    at = ContextKey("strongref", home.account, home.region, f"{consumer}/{account}/{region}/{via.stack}", key)
    return synthesis.remember(at, lambda: _no_map(path, _ask(synthesis, home, consumer, producer, path)))


def _no_map(path: Path, found: Any) -> Any:  # noqa: ANN401 (JSON)
    if isinstance(found, dict):
        raise an_object(path)
    return found


def _ask(synthesis: Synthesis, home: Home, consumer: str, producer: Producer, path: Path) -> Any:  # noqa: ANN401 (JSON)
    exports: PublishedExports = synthesis.once(
        ("strongref", home, consumer), lambda: _exports(synthesis, home, consumer)
    )
    close: tuple[str, ...]
    try:
        return exports.value(producer, key_of(path), shown(path))
    except SecureValueError:
        secure = True
    except NotExportedError as error:
        secure = False
        close = tuple(error.close)
    if secure:
        raise SecureObjectError(shown(path))
    whom = "to all" if consumer == SHARED else f"to consumer {consumer}"
    where = f"what {producer} exports {whom} in {home.region}"
    raise NothingToImportError(shown(path), where, close)


def _exports(synthesis: Synthesis, home: Home, consumer: str) -> PublishedExports:
    tools = synthesis.toolbox
    return PublishedExports(synthesis.store(home), tools.clock, tools.ports().patience, consumer)
