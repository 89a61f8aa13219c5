"""Kubernetes' API over HTTP on the loopback, as far as references use it: discovery, get, list.

It answers like the API server (Kubernetes: API Concepts; apimachinery, `pkg/api/errors`): failures are objects of the
kind Status with a reason and a code, except for paths that no group serves, which are plain text; lists come in pages
whose `continue` expires; rights are checked for each verb and resource; a caller without credentials is anonymous and
has none. An object exists in all versions that its kind is served in.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from ssl import SSLContext

TOKEN = "a-token-not-to-be-shown"
USER = "system:serviceaccount:default:reader"


class Served(NamedTuple):
    """A kind that is installed: a CRD's names."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True


class _Refused(Exception):  # noqa: N818
    """A failure as an answer."""

    def __init__(self, code: int, reason: str, message: str, **more: object) -> None:
        super().__init__(code, reason, message, more)
        self.code = code
        self.status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code,
            **more,
        }


class _Unserved(Exception):  # noqa: N818
    """No group or resource has the path."""


@dataclass
class KubeApi:
    """A cluster.

    Attributes:
        kinds: the installed ones.
        objects: the existing ones.
        denied: verbs and resources that the reader lacks, as in `("get", "securitygroups")`.
        expired: whether the credentials are rejected.
        overloaded: the number of next requests that are answered with 429.
        retry_after: the header of that answer; None leaves it out.
        broken: the status of every answer to a request for objects; 0 for none.
        instead: status, headers and body of answers at some paths that are not the API's.
        stale: whether a list cannot be continued any more.
        silent: while set, requests are not answered.
        asked: the paths of all requests, with their queries.
    """

    kinds: list[Served] = field(default_factory=list)
    objects: list[Mapping[str, Any]] = field(default_factory=list)
    denied: set[tuple[str, str]] = field(default_factory=set)
    expired: bool = False
    overloaded: int = 0
    retry_after: str | None = "0"
    broken: int = 0
    instead: dict[str, tuple[int, dict[str, str], str]] = field(default_factory=dict)
    stale: bool = False
    silent: threading.Event | None = None
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def kubeconfig(
        self, folder: Path, user: Mapping[str, Any] | None = None, cluster: Mapping[str, Any] | None = None, **more: Any
    ) -> Path:
        """A kubeconfig whose current context is this cluster.

        Args:
            folder: to write it to.
            user: with the credentials; by default the token.
            cluster: more settings of the cluster.
            **more: more settings of the context.
        """
        written = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": self.url, **(cluster or {})}}],
            "users": [{"name": "reader", "user": {"token": TOKEN} if user is None else dict(user)}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "reader", **more}}],
        }
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(written))
        return path

    def answer(self, path: str, query: Mapping[str, str], token: str) -> Mapping[str, Any]:
        """The answer to a GET."""
        if not token:
            message = f'forbidden: User "system:anonymous" cannot get path "{path}"'
            raise _Refused(403, "Forbidden", message, details={})
        if self.expired or token != f"Bearer {TOKEN}":
            raise _Refused(401, "Unauthorized", "Unauthorized")
        parts = [unquote(part) for part in path.split("/") if part]
        parts = ["apis", "", *parts[1:]] if parts[0] == "api" and parts[1:] else parts
        match parts[:3] + ["namespaces", ""] * (len(parts) in (4, 5)) + parts[3:]:  # of the whole cluster, or as it is
            case ["api"]:
                return {"kind": "APIVersions", "versions": ["v1"]}
            case ["apis"]:
                groups = [self._group(name) for name in dict.fromkeys(kind.group for kind in self.kinds)]
                return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
            case ["apis", group]:
                return {"kind": "APIGroup", "apiVersion": "v1", **self._group(group)}
            case ["apis", group, version]:
                return self._resources(group, version)
            case ["apis", group, version, "namespaces", namespace, plural]:
                return self._list(self._served(group, version, plural, namespace), namespace, query)
            case ["apis", group, version, "namespaces", namespace, plural, name]:
                return self._get(self._served(group, version, plural, namespace), namespace, name)
            case _:
                raise _Unserved

    def _group(self, name: str) -> Mapping[str, Any]:
        versions = list(dict.fromkeys(kind.version for kind in self.kinds if kind.group == name))
        if not versions:
            raise _Unserved
        listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
        return {"name": name, "versions": listed, "preferredVersion": listed[-1]}

    def _resources(self, group: str, version: str) -> Mapping[str, Any]:
        served = [kind for kind in self.kinds if (kind.group, kind.version) == (group, version)]
        if not served:
            raise _Unserved
        verbs = ["delete", "get", "list", "patch", "create", "update", "watch"]
        resources = [
            {"name": name, "singularName": "", "namespaced": kind.namespaced, "kind": kind.kind, "verbs": verbs}
            for kind in served
            for name in (f"{kind.plural}/status", kind.plural)
        ]
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{group}/{version}",
            "resources": resources,
        }

    def _served(self, group: str, version: str, plural: str, namespace: str) -> Served:
        for kind in self.kinds:
            if (kind.group, kind.version, kind.plural, kind.namespaced) == (group, version, plural, namespace != ""):
                return kind
        raise _Unserved

    def _of(self, kind: Served, namespace: str) -> list[Mapping[str, Any]]:
        wanted = (kind.group, kind.kind, namespace)
        found = [
            {**each, "apiVersion": f"{kind.group}/{kind.version}"}
            for each in self.objects
            if (each["apiVersion"].rpartition("/")[0], each["kind"], each["metadata"].get("namespace", "")) == wanted
        ]
        return sorted(found, key=lambda each: each["metadata"]["name"])

    def _get(self, kind: Served, namespace: str, name: str) -> Mapping[str, Any]:
        self._allow("get", kind, namespace, name)
        for each in self._of(kind, namespace):
            if each["metadata"]["name"] == name:
                return each
        resource = f"{kind.plural}.{kind.group}"
        details = {"name": name, "group": kind.group, "kind": kind.plural}
        raise _Refused(404, "NotFound", f'{resource} "{name}" not found', details=details)

    def _list(self, kind: Served, namespace: str, query: Mapping[str, str]) -> Mapping[str, Any]:
        self._allow("list", kind, namespace)
        given = query.get("continue", "0")
        if not given.isdecimal():
            raise _Refused(400, "BadRequest", "continue key is not valid")
        start = int(given)
        if start and self.stale:
            message = "The provided continue parameter is too old to display a consistent list result."
            raise _Refused(410, "Expired", message, metadata={"continue": "inconsistent"})
        found = self._of(kind, namespace)
        end = start + int(query.get("limit") or len(found) or 1)
        left = {"continue": str(end), "remainingItemCount": len(found) - end} if end < len(found) else {}
        return {
            "apiVersion": f"{kind.group}/{kind.version}",
            "kind": f"{kind.kind}List",
            "metadata": {"resourceVersion": "42", **left},
            "items": found[start:end],
        }

    def _allow(self, verb: str, kind: Served, namespace: str, name: str = "") -> None:
        if self.broken:
            raise _Refused(self.broken, "InternalError", "Internal error occurred: etcdserver: request timed out")
        if (verb, kind.plural) in self.denied:
            resource = f"{kind.plural}.{kind.group}"
            which = f' "{name}"' if name else ""
            message = (
                f'{resource}{which} is forbidden: User "{USER}" cannot {verb} resource "{kind.plural}" in API group '
                f'"{kind.group}" in the namespace "{namespace}"'
            )
            raise _Refused(403, "Forbidden", message, details={"group": kind.group, "kind": kind.plural})


def _answered(api: KubeApi, path: str, authorization: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and body."""
    api.asked.append(path)
    if api.silent:
        api.silent.wait(30)
    json_type = {"Content-Type": "application/json"}
    if api.overloaded:
        api.overloaded -= 1
        refused = _Refused(429, "TooManyRequests", "the server has received too many requests")
        later = {} if api.retry_after is None else {"Retry-After": api.retry_after}
        return 429, json_type | later, json.dumps(refused.status)
    parts = urlsplit(path)
    if parts.path in api.instead:
        return api.instead[parts.path]
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    try:
        return 200, json_type, json.dumps(api.answer(parts.path, query, authorization))
    except _Refused as error:
        return error.code, json_type, json.dumps(error.status)
    except _Unserved:
        return 404, {"Content-Type": "text/plain; charset=utf-8"}, "404 page not found\n"


@contextmanager
def serving(api: KubeApi, tls: SSLContext | None = None) -> Iterator[KubeApi]:
    """Serve the cluster on a free port of the loopback, with TLS if there is a certificate."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # An answer is one packet: of two, the second waits for 40 ms.

        def do_GET(self) -> None:
            code, headers, body = _answered(api, self.path, self.headers.get("Authorization") or "")
            self.send_response(code)
            for name, value in {**headers, "Content-Length": str(len(body.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing: requests are in `asked`."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Report nothing: the caller has timed out."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    api.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
