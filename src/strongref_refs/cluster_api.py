"""Kubernetes' API, as far as references need it: what it serves, an object, the names of many.

Answers are plain JSON and are looked at here: whatever stands between may answer anything in the API's place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from strongref_refs.base import mapping
from strongref_refs.cluster_config import connect, watched
from strongref_refs.errors import AnsweredError, DeniedError, NotTheApiError, UnauthorizedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_refs.base import Manifest
    from strongref_refs.cluster_config import Connection

PAGE = 500
"""Objects in one answer to a list, as kubectl asks for (its --chunk-size)."""

TRIES = 4
"""Of a request that the API asks to be made again later (429, 503)."""

PATIENCE = 10
"""The seconds that are waited for that at most: whoever waits is to be told before."""

_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 30.0
_LATER = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class Resource(NamedTuple):
    """A kind as the API serves it.

    Attributes:
        version: of its group, as in `v1alpha1`.
        plural: its name in paths, as in `securitygroups`.
    """

    group: str
    kind: str
    version: str
    plural: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}"


class GoneError(Exception):
    """What was asked for is not there (404), or not any more (410)."""


class _Right(NamedTuple):
    """What has to be allowed."""

    verb: str
    resource: Resource
    namespace: str


@dataclass(frozen=True, slots=True)
class ClusterApi:
    """A cluster's API.

    Attributes:
        server: its address.
        namespace: that of the context; None if it has none.
    """

    server: str
    namespace: str | None
    _connection: Connection
    _timeouts: tuple[float, float] = (_CONNECT_SECONDS, _ANSWER_SECONDS)

    @classmethod
    def connect(
        cls,
        kubeconfig: str | None = None,
        context: str | None = None,
        timeouts: tuple[float, float] = (_CONNECT_SECONDS, _ANSWER_SECONDS),
    ) -> ClusterApi:
        """As `cluster_config.connect`, with the seconds to wait for a connection, and for each part of an answer."""
        found = connect(kubeconfig, context)
        server = re.sub("//.*@", "//", found.host)  # told in errors, without a password
        return cls(server, found.namespace, found, timeouts)

    def groups(self) -> dict[str, list[str]]:
        """The groups of the API that the cluster serves, and each one's versions, the preferred one first.

        Raises:
            ClusterError: the cluster does not answer that.
            ClusterConfigError: its credentials cannot be had.
        """
        action = "list API groups"
        try:
            body = self._ask(action, "/apis")
        except GoneError:
            body = {}
        if body.get("kind") != "APIGroupList":
            raise NotTheApiError(self.server, action)
        found: dict[str, list[str]] = {}
        for each in _maps(body, "groups"):
            preferred = mapping(each.get("preferredVersion")).get("version")
            versions = [str(one.get("version")) for one in _maps(each, "versions")]
            found[str(each.get("name"))] = sorted(versions, key=lambda version: version != preferred)
        return found

    def resource(self, group: str, version: str, kind: str) -> Resource | None:
        """A kind of a group, in a version; None if that has no such kind.

        Raises:
            GoneError: there is no such version.
            ClusterError: the cluster does not answer that.
            ClusterConfigError: its credentials cannot be had.
        """
        action = f"list the kinds of {group}/{version}"
        body = self._ask(action, _path("apis", group, version))
        if body.get("kind") != "APIResourceList":
            raise NotTheApiError(self.server, action)
        for each in _maps(body, "resources"):
            plural = str(each.get("name"))
            if each.get("kind") == kind and "/" not in plural:
                return Resource(group, kind, version, plural)
        return None

    def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        """An object.

        Raises:
            GoneError: there is none.
            ClusterError: the cluster does not give it.
            ClusterConfigError: its credentials cannot be had.
        """
        action = f"get {resource} {namespace}/{name}"
        found = self._ask(action, _path(*_below(resource, namespace), name), _Right("get", resource, namespace))
        if (found.get("kind"), mapping(found.get("metadata")).get("name")) != (resource.kind, name):
            raise NotTheApiError(self.server, action)
        return found

    def names(self, resource: Resource, namespace: str, after: str = "") -> tuple[list[str], str]:
        """The names of some objects of a kind in a namespace, and what to give as `after` for more; empty at the end.

        Raises:
            GoneError: the list has grown too old to be gone on with.
            ClusterError: the cluster does not give it.
            ClusterConfigError: its credentials cannot be had.
        """
        query = {"limit": str(PAGE)} | ({"continue": after} if after else {})
        right = _Right("list", resource, namespace)
        page = self._ask(f"list {resource} in {namespace}", _path(*_below(resource, namespace)), right, query)
        found = [str(mapping(item.get("metadata")).get("name") or "") for item in _maps(page, "items")]
        return found, str(mapping(page.get("metadata")).get("continue") or "")

    def _ask(
        self, action: str, path: str, right: _Right | None = None, query: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """The answer.

        Args:
            action: what is asked, for errors.
            path: of the API.
            right: what has to be allowed; None for what everybody may who is known.
            query: what else is asked.
        """
        response = self._answer(action, path, query)
        status = response.status
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise GoneError
        if status == HTTPStatus.FORBIDDEN and right:
            raise DeniedError(self.server, action, right.verb, str(right.resource), right.namespace)
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise UnauthorizedError(self.server, action, status)
        if status != HTTPStatus.OK:
            raise AnsweredError(self.server, action, status)
        try:
            body = json.loads(response.data)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):  # out of the handler: its error quotes what came
            raise NotTheApiError(self.server, action)
        return body

    def _answer(self, action: str, path: str, query: Mapping[str, str] | None) -> Any:  # noqa: ANN401 (of urllib3)
        response = self._send(action, path, query)
        for _ in range(TRIES - 1):
            seconds = re.fullmatch("[0-9]{1,9}", response.headers.get("Retry-After", "").strip())
            if response.status not in _LATER or not seconds:
                break
            wait = int(seconds[0])
            if wait > PATIENCE:
                raise AnsweredError(self.server, action, response.status, wait)
            sleep(wait)
            response = self._send(action, path, query)
        return response

    def _send(self, action: str, path: str, query: Mapping[str, str] | None) -> Any:  # noqa: ANN401 (of urllib3)
        from urllib3 import Retry, Timeout  # noqa: PLC0415 (as `cluster_config`)
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        headers = self._connection.headers()
        connecting, reading = self._timeouts
        try:
            with watched():
                return self._connection.pool.request(
                    "GET",
                    f"{self._connection.host}{path}",
                    fields=query,
                    headers=headers,
                    timeout=Timeout(connect=connecting, read=reading),
                    redirect=False,  # the API has none: it leads to a page to log in at
                    retries=Retry(total=1, read=0, other=0, backoff_factor=0.1, respect_retry_after_header=False),
                )
        except (HTTPError, HTTPException, OSError, ValueError) as error:
            problem = _unreached(error)
        # Out here the client's error, which quotes what was sent, is in no error's context.
        raise UnreachableError(self.server, action, problem)


def _path(*parts: str) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _below(resource: Resource, namespace: str) -> tuple[str, ...]:
    return "apis", resource.group, resource.version, "namespaces", namespace, resource.plural


def _maps(body: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects in a list; an empty one may be null, as Go has it."""
    found = body.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _unreached(error: Exception) -> str:
    """Why no answer came, in words that name nothing that was sent."""
    from ssl import SSLCertVerificationError  # noqa: PLC0415 (only where something is wrong)

    from urllib3 import exceptions as known  # noqa: PLC0415 (the client's own)

    cause = error.reason if isinstance(error, known.MaxRetryError) and error.reason else error
    if isinstance(cause, known.SSLError) and any(isinstance(each, SSLCertVerificationError) for each in cause.args):
        return "its certificate is not trusted, or is another server's"
    words = (
        (known.SSLError, "TLS with it failed: does it speak TLS, and are the certificates right?"),
        (known.NameResolutionError, "its name is not known"),
        (known.NewConnectionError, "the connection was refused"),
        (known.TimeoutError, "no answer in time"),
        (known.ProxyError, "the proxy does not let it through"),
        (known.ProtocolError, "the connection broke off"),
        (known.LocationValueError, "its address is no URL"),
    )
    return next((word for kind, word in words if isinstance(cause, kind)), "it cannot be connected to")
