"""An AWS with nothing in it: moto's, and an environment that has credentials and nothing else about AWS."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from botocore.client import BaseClient
from botocore.exceptions import ClientError
from moto import mock_aws

from strongref.aws import clients
from strongref.aws.clients import Clients
from tests.support.commands import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

_make = Clients._make
_session_of_functions = cache(clients._session)
_made: dict[tuple[str | bool | None, ...], object] = {}
_making = Lock()


class _Events:
    """The events of a client that outlives a test: what is registered is removed after it."""

    registered: ClassVar[list[Callable[[], object]]] = []

    def __init__(self, events: Any) -> None:
        self._events = events

    def register_first(self, name: str, handler: Callable[..., object]) -> None:
        self._events.register_first(name, handler)
        self.registered.append(partial(self._events.unregister, name, handler))

    def register_last(self, name: str, handler: Callable[..., object]) -> None:
        self._events.register_last(name, handler)
        self.registered.append(partial(self._events.unregister, name, handler))

    @classmethod
    def forget(cls) -> None:
        while cls.registered:
            cls.registered.pop()()


@contextmanager
def empty_aws(monkeypatch: pytest.MonkeyPatch, region: str = "") -> Iterator[None]:
    """Have one, with this region as the environment's.

    Clients are made once for all tests, since that takes longer than most calls. Those of a subclass are its own.
    """
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.setenv(name, "")  # so that it is as before afterward: --profile sets AWS_PROFILE
        monkeypatch.delenv(name)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")  # Of moto's own, a test could not delete them.
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    if region:
        monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setattr(Clients, "_make", _made_once)
    try:
        with mock_aws():
            yield
    finally:
        _Events.forget()


def _made_once(self: Clients, service: str, region: str) -> object:
    if type(self) is not Clients:
        return _make(self, service, region)
    with _making:
        self._session = self._session or _session_of_functions()
        given = self._session.get_credentials()
        whose = (given.access_key, given.token) if given else ()
        key = (self._session is _session_of_functions(), *whose, service, region)
        if key not in _made:
            _made[key] = _make(Clients(self._session), service, region)
        client: Any = _made[key]
        self.watch(_Events(client.meta.events))
        return client


def intercept(monkeypatch: pytest.MonkeyPatch, answer: Callable[[BaseClient, str, dict[str, Any]], Any]) -> None:
    """Have a function see each call of any client, its action and its request, and answer it unless it returns None."""
    call = BaseClient._make_api_call  # type: ignore[attr-defined] # botocore declares it elsewhere

    def asked(client: BaseClient, action: str, request: dict[str, Any]) -> Any:
        answered = answer(client, action, request)
        return call(client, action, request) if answered is None else answered

    monkeypatch.setattr(BaseClient, "_make_api_call", asked)


def deny(monkeypatch: pytest.MonkeyPatch, action: str, region: str = "us-east-1") -> None:
    """Have AWS deny an action in a region."""

    def denied(client: BaseClient, asked: str, _: object) -> None:
        if (asked, client.meta.region_name) == (action, region):
            text = SECRET if client.meta.service_model.service_name == "ssm" else "Not allowed"
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": text}}, asked)

    intercept(monkeypatch, denied)
