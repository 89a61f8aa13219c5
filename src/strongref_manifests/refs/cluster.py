"""Referenced objects in a live cluster, by Kubernetes' own dynamic client.

What the client leaves open is here: time limits for every request, retries where the API asks for them, errors without
credentials or contents, and a check that the answer is the API's, since a proxy may answer in its place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from ssl import SSLCertVerificationError
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import urllib3.exceptions as transport
from kubernetes.client import ApiException
from kubernetes.dynamic import DynamicClient, Resource
from kubernetes.dynamic.exceptions import DynamicApiError, NotFoundError, ResourceNotFoundError
from kubernetes.dynamic.resource import ResourceInstance, ResourceList

from strongref.memo import Memo
from strongref.untyped import AnyJson
from strongref_manifests.refs import errors
from strongref_manifests.refs.cluster_config import Connection, quiet
from strongref_manifests.refs.manifests import closest
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from strongref_manifests.refs.base import Manifest, ObjectName

T = TypeVar("T")

PAGES = 2
"""Pages of a list that are read at most to find similar names."""

_LABEL = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")
_NAMESPACE = re.compile(rf"(?=.{{1,63}}\Z){_LABEL}")
"""Names of objects and of namespaces (Kubernetes: Object Names and IDs; RFC 1123); the client does not quote paths."""

PAGE = 500
"""Objects in one answer to a list, as for kubectl (its --chunk-size)."""

TIMEOUTS = 5.0, 30.0
"""Seconds to wait for a connection, and for each part of an answer."""

TRIES = 4
"""Of a request that the API asks callers to repeat later (429, 503)."""

PATIENCE = 10
"""Seconds that a retry waits at most; for a longer wait, the caller gets an error at once."""

_LATER = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_UNEXPECTED = (AttributeError, KeyError, TypeError, ValueError)
"""What the client's discovery raises if an answer is not the API's."""

_NO_CACHE = os.path.join(os.devnull, "discovery.json")  # noqa: PTH118 (not a path that can exist)
"""The discovery's cache file, which cannot be read or written: any later run would read one in the temporary folder."""


class ClusterObjects:
    """Referenced objects of a cluster; each is requested once.

    Plurals and versions are those that the cluster serves. Once it cannot be reached or rejects the credentials, it is
    not called again.
    """

    def __init__(self, connection: Connection) -> None:
        """Find out which API groups the cluster serves.

        Raises:
            ClusterError: the cluster cannot be reached, or rejects the credentials.
            ClusterConfigError: the credentials are not available.
        """
        self._api = ClusterApi(connection)
        self._objects: Memo[ObjectName, Manifest] = Memo()
        self._resources: Memo[tuple[str, str], Any] = Memo()
        self._names: Memo[tuple[str, str, str], list[str]] = Memo()
        self._lost: errors.RefsError | None = None

    def get(self, key: ObjectName) -> Manifest:
        """As `base.ObjectSource`.

        Raises:
            NoSuchObjectError: it does not exist.
            KindNotInstalledError: its controller is not installed.
            ClusterError: the cluster does not return it.
            ClusterConfigError: the credentials are not available any more.
        """
        return self._objects.get(key, lambda: self._get(key))

    def _get(self, key: ObjectName) -> Manifest:
        resource = self._resources.get((key.group, key.kind), lambda: self._resource(key))
        close: list[str] = []
        if not resource.namespaced:
            key = replace(key, namespace="")
        if not key.namespace or _NAMESPACE.fullmatch(key.namespace):
            if _NAME.fullmatch(key.name):
                found = self._ask(self._api.read, resource, key.namespace, key.name)
                if found is not None:
                    return found
            names = self._names.get((key.group, key.kind, key.namespace), lambda: self._some_names(resource, key))
            close = closest(key.name, names)
        raise errors.NoSuchObjectError(key, f"the cluster {self._api.server}", close)

    def _ask(self, ask: Callable[..., T], *args: Any) -> T:
        if self._lost:
            raise self._lost
        try:
            return ask(*args)
        except (errors.UnreachableError, errors.UnauthorizedError, errors.ClusterConfigError) as error:
            self._lost = error
            raise

    def _resource(self, key: ObjectName) -> Resource:
        found = self._ask(self._api.find, key.group, key.kind)
        if found is None:
            raise errors.KindNotInstalledError(self._api.server, f"find {key.kind}", key.kind, key.group or "v1")
        return found

    def _some_names(self, resource: Resource, key: ObjectName) -> list[str]:
        """Names of objects of a kind, to suggest one for a misspelled name; as many as the cluster returns."""
        found: list[str] = []
        after = ""
        with suppress(errors.RefsError):
            for _ in range(PAGES):
                names, after = self._ask(self._api.names, resource, key.namespace, after)
                found += names
                if not after:
                    break
        return found


class _Request(NamedTuple):
    """A request, for errors and for checking its answer."""

    action: str  # as in `get securitygroups.ec2.services.k8s.aws default/web`
    kind: str = ""  # of the answer; empty if the caller checks it
    # verb, resource, and where, that the caller must be allowed; None for discovery, which every authenticated
    # caller may use
    right: tuple[str, str, str] | None = None


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    data: bytes


class ClusterApi(DynamicClient):  # type: ignore[misc]  # the client has no types
    """A cluster's API. A kind is looked up lazily: in all versions of its own group, and no others.

    Every method raises `ClusterError` for a failure, and `ClusterConfigError` if credentials are not available.
    """

    def __init__(self, connection: Connection) -> None:
        self.server = connection.server
        self._discover(
            lambda: super(ClusterApi, self).__init__(connection.client, cache_file=_NO_CACHE), "list API groups"
        )

    def find(self, group: str, kind: str) -> Resource:
        """The resource of a kind, in its group's preferred version if that has it; None if the kind is not served."""
        search = partial(self.resources.search, prefix="apis" if group else "api", group=group, kind=kind)
        found = self._discover(search, f"list the kinds of {group or 'v1'}") or ()
        kinds = [each for each in found if not isinstance(each, ResourceList)]  # the client makes one for each kind
        return min(kinds, key=lambda resource: not resource.preferred, default=None)

    def read(self, resource: Resource, namespace: str, name: str) -> Manifest | None:
        """An object; None if it does not exist."""
        called = f"{resource.name}.{resource.group}".rstrip(".")
        where, at = (f"namespace {namespace}", f"{namespace}/") if namespace else ("the cluster", "")
        asked = _Request(f"get {called} {at}{name}", right=("get", called, where))
        try:
            found = self.get(resource, name, namespace, asked=asked)
        except NotFoundError:
            return None
        if (found.get("kind"), mapping(found.get("metadata")).get("name")) != (resource.kind, name):
            raise errors.NotTheApiError(self.server, asked.action)
        return found  # type: ignore[no-any-return]

    def names(self, resource: Resource, namespace: str, after: str = "") -> tuple[list[str], str]:
        """The names of some objects in a namespace, and what to pass as `after` for more; empty at the end."""
        called = f"{resource.name}.{resource.group}".rstrip(".")
        where = f"namespace {namespace}" if namespace else "the cluster"
        asked = _Request(f"list {called} in {where}", right=("list", called, where))
        try:
            page = self.get(resource, None, namespace, asked=asked, limit=PAGE, _continue=after or None)
        except NotFoundError:  # the list has changed too much to be continued
            return [], ""
        items = page.get("items")
        each = items if isinstance(items, list) else ()  # Go has null for an empty list
        found = [str(mapping(mapping(item).get("metadata")).get("name") or "") for item in each]
        return found, str(mapping(page.get("metadata")).get("continue") or "")

    def request(self, method: str, path: str, body: object = None, **params: Any) -> AnyJson:
        """As the client's own, which sends all its requests here, those of its discovery too.

        Raises:
            NotFoundError: 404 or 410.
        """
        if path == "/version":
            return {}  # Discovery reads it first. Nothing here needs it, and not every caller may read it.
        asked = params.pop("asked", None) or _discovery(path)
        answered_as = params.pop("serializer", ResourceInstance)  # the client's, for its discovery
        send = partial(super().request, method, path, body, serialize=False, _request_timeout=TIMEOUTS, **params)
        answer = self._send(asked, send)
        for _ in range(TRIES - 1):
            seconds = re.fullmatch("[0-9]{1,9}", answer.headers.get("Retry-After", "").strip())
            if answer.status not in _LATER or not seconds:
                break
            if int(seconds[0]) > PATIENCE:
                raise errors.AnsweredError(self.server, asked.action, answer.status, int(seconds[0]))
            sleep(int(seconds[0]))
            answer = self._send(asked, send)
        content = self._content(asked, answer)
        return content if asked.right else answered_as(self, content)

    def _send(self, asked: _Request, send: Callable[[], Any]) -> _Answer:
        try:
            with quiet():
                response = send()
                return _Answer(response.status, response.headers, response.data)
        except DynamicApiError as error:
            if error.status:
                return _Answer(error.status, error.headers or {}, b"")
            problem = "TLS failed: does the server speak TLS, and are the certificates right?"
        except (transport.HTTPError, HTTPException, OSError, ValueError) as error:
            problem = _unreached(error)
        # Raised outside of the handlers: the client's error, which quotes the request, must not be its context.
        raise errors.UnreachableError(self.server, asked.action, problem)

    def _content(self, asked: _Request, answer: _Answer) -> Mapping[str, Any]:
        status = answer.status
        if status in _GONE and asked.kind != "APIGroupList":
            raise NotFoundError(ApiException(status=HTTPStatus.NOT_FOUND))
        if status == HTTPStatus.FORBIDDEN and asked.right:
            raise errors.DeniedError(self.server, asked.action, *asked.right)
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise errors.UnauthorizedError(self.server, asked.action, status)
        if status != HTTPStatus.OK and status not in _GONE:
            raise errors.AnsweredError(self.server, asked.action, status)
        try:
            content = json.loads(answer.data)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or (asked.kind and content.get("kind") != asked.kind):
            raise errors.NotTheApiError(self.server, asked.action)
        return content

    def _discover(self, discover: Callable[[], T], action: str) -> T | None:
        try:
            return discover()
        except ResourceNotFoundError:  # a version disappeared
            return None
        except _UNEXPECTED:
            pass
        raise errors.NotTheApiError(self.server, action)


def _discovery(path: str) -> _Request:
    """A request of the client's discovery: `/apis`, `apis/GROUP/VERSION`."""
    if version := path.strip("/").removeprefix("apis").lstrip("/"):
        return _Request(f"list the kinds of {version}", "APIResourceList")
    return _Request("list API groups", "APIGroupList")


def _unreached(error: Exception) -> str:
    """Why no answer came, in words that quote nothing of the request."""
    cause = error.reason if isinstance(error, transport.MaxRetryError) and error.reason else error
    if isinstance(cause, transport.SSLError) and any(isinstance(each, SSLCertVerificationError) for each in cause.args):
        return "its certificate is not trusted, or belongs to another server"
    words = (
        (transport.SSLError, "TLS failed: does the server speak TLS, and are the certificates right?"),
        (transport.NameResolutionError, "its name cannot be resolved"),
        (transport.NewConnectionError, "the connection was refused"),
        (transport.TimeoutError, "no answer in time"),
        (transport.ProxyError, "the proxy does not let it through"),
        (transport.ProtocolError, "the connection broke off"),
        (transport.LocationValueError, "its address is not a URL"),
    )
    return next((word for kind, word in words if isinstance(cause, kind)), "connecting to it failed")
