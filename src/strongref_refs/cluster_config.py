"""How a cluster is reached: by a kubeconfig, or from within a pod, as kubectl does it; by Kubernetes' own client.

The client is imported only where a cluster is asked for: it takes a second, and comes with `strongref[kubernetes]`.
"""

from __future__ import annotations

import logging
import os
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.text import some
from strongref_refs.base import mapping
from strongref_refs.errors import ClusterConfigError, NoClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
"""Set in every pod (Kubernetes: Accessing the API from a Pod)."""

_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""A pod's (the same)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Connection:
    """A way to a cluster.

    Attributes:
        namespace: that of the context, or of the pod; None if it has none.
    """

    namespace: str | None
    _client: Any  # kubernetes.client.ApiClient
    _whose: str  # for errors: `context here in /home/me/.kube/config`

    @property
    def host(self) -> str:
        """The server's address, as the kubeconfig has it: there may be a password in it."""
        return str(self._client.configuration.host)

    @property
    def pool(self) -> Any:  # noqa: ANN401
        """A `urllib3.PoolManager` that knows certificates and proxy."""
        return self._client.rest_client.pool_manager

    def headers(self) -> dict[str, str]:
        """Those of a request, credentials included; a command that gets them is run again once they have run out.

        Raises:
            ClusterConfigError: they cannot be had, or cannot be sent.
        """
        settings = _loaded(self._whose, self._client.configuration.auth_settings)
        found = {each["key"]: str(each["value"]).strip() for each in settings.values() if each["in"] == "header"}
        if not all(value.isascii() and value.isprintable() for value in found.values()):
            raise ClusterConfigError(
                f"the credentials of {self._whose} have characters in them that no token has: is it the right file?"
            )
        return {**self._client.default_headers, "Accept": "application/json", **found}


def connect(kubeconfig: str | None = None, context: str | None = None) -> Connection:
    """The cluster of a kubeconfig's context or, in a pod without a kubeconfig, the pod's own. Nothing is asked yet.

    Args:
        kubeconfig: a file; by default those of KUBECONFIG, or `~/.kube/config`.
        context: one of its; by default its current one.

    Raises:
        NoClientError: Kubernetes' client is not installed.
        ClusterConfigError: there is no such file or context, or nothing at all.
    """
    try:
        with watched():
            from kubernetes import client, config  # noqa: PLC0415 (see above)
    except ImportError:
        raise NoClientError from None
    loading: Any = config  # it has no types
    settings = client.Configuration()

    def connection(whose: str, namespace: str | None, load: Callable[[], object]) -> Connection:
        _loaded(whose, load, f"{whose} does not tell how to reach a cluster: try kubectl config view")
        made = _loaded(whose, lambda: client.ApiClient(settings), f"{whose} has a proxy that there cannot be")
        return Connection(namespace, made, whose)

    files = kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    there = any(Path(each).expanduser().is_file() for each in files.split(os.pathsep) if each)
    if not there and not kubeconfig and not context and os.environ.get(_SERVICE_HOST):
        return connection(
            "the pod's service account", _own_namespace(), lambda: loading.load_incluster_config(settings)
        )
    if not there:
        raise ClusterConfigError(f"there is no kubeconfig {files}")
    contexts, current = _loaded(
        files, lambda: _contexts(files), f"{files} does not tell how to reach a cluster: try kubectl config view"
    )
    chosen = context or current
    if chosen not in contexts:
        which = f"has no context {chosen}" if chosen else "names no current context"
        raise ClusterConfigError(f"kubeconfig {files} {which}; it has {some(contexts) or 'none'}")
    return connection(
        f"context {chosen} in {files}", contexts[chosen], lambda: loading.load_kube_config(files, chosen, settings)
    )


def _loaded(whose: str, load: Callable[[], T], otherwise: str = "") -> T:
    """What the client's own code makes of a kubeconfig.

    Args:
        whose: credentials, for errors.
        load: that code. Its errors may quote the kubeconfig, or what a command said: none is told, whatever it is.
        otherwise: what is told, unless it is that credentials cannot be had.

    Raises:
        ClusterConfigError: it failed.
    """
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 (the client's own)

    no_credentials = (
        f"the credentials of {whose} cannot be had: the command or provider that gets them failed. Run it by hand, or "
        "try kubectl get namespaces"
    )
    with watched() as told:
        try:
            made = load()
        except HTTPError:  # a provider does not answer
            problem = no_credentials
        except Exception:  # noqa: BLE001 (see above)
            problem = otherwise or no_credentials
        else:
            problem = ""
    if told or problem:
        raise ClusterConfigError(no_credentials if told else problem)
    return made


@contextmanager
def watched() -> Iterator[list[str]]:
    """What the client tells beside its answers is not shown; errors, which are of credentials, are what is yielded.

    It only logs what goes wrong with credentials that a command gets, with what that command said. What it warns of
    (certificates that somebody said are not to be looked at, versions) is not for whoever resolves references.
    """
    told: list[str] = []

    class Watching(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.levelname)

    watching, root = Watching(logging.ERROR), logging.getLogger()
    others, root.handlers = root.handlers, [watching]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield told
    finally:
        root.handlers = others


def _contexts(files: str) -> tuple[dict[str, str | None], str]:
    """The namespace of each context of a kubeconfig, and which context is its current one; empty if none is."""
    from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415 (see above)

    merger: Any = KubeConfigMerger  # it has no types
    merged = merger(files).config.value
    contexts = {}
    for each in merged["contexts"]:
        namespace = mapping(mapping(each.value).get("context")).get("namespace")
        contexts[str(each.value["name"])] = str(namespace) if namespace else None
    return contexts, str(merged.get("current-context") or "")


def _own_namespace() -> str | None:
    try:
        return _OWN_NAMESPACE.read_text().strip() or None
    except OSError:
        return None
