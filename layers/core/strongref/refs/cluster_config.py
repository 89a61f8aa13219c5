"""How a cluster is reached: by a kubeconfig, or from within a pod, as kubectl does it; by Kubernetes' own client.

The client is imported only where a cluster is asked for: it takes a second, and comes with `strongref[kubernetes]`.
"""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from strongref.errors import some
from strongref.refs.source_errors import ClusterConfigError, NoClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
"""Set in every pod (Kubernetes: Accessing the API from a Pod)."""

_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""A pod's (the same)."""

T = TypeVar("T")


class Connection(NamedTuple):
    """A way to a cluster.

    Attributes:
        client: a `kubernetes.client.ApiClient`.
        namespace: that of the context, or of the pod; None if it has none.
    """

    client: Any
    namespace: str | None


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
        from kubernetes import client, config  # noqa: PLC0415 (see above)
    except ImportError:
        raise NoClientError from None
    loading: Any = config  # it has no types
    settings = client.Configuration()
    settings.retries = _retries()
    files = kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    there = any(Path(each).expanduser().is_file() for each in files.split(os.pathsep) if each)
    if not there and not kubeconfig and not context and os.environ.get(_SERVICE_HOST):
        _configured("the pod's service account", lambda: loading.load_incluster_config(settings))
        return Connection(client.ApiClient(settings), _own_namespace())
    if not there:
        raise ClusterConfigError(f"there is no kubeconfig {files}")
    contexts, current = _configured(files, lambda: _contexts(files))
    chosen = context or current
    if chosen not in contexts:
        which = f"has no context {chosen}" if chosen else "names no current context"
        raise ClusterConfigError(f"kubeconfig {files} {which}; it has {some(contexts) or 'none'}")
    with _watched() as failed:
        _configured(files, lambda: loading.load_kube_config(files, chosen, settings))
    if failed:
        raise ClusterConfigError(
            f"the credentials of context {chosen} in {files} cannot be had: the command or provider that gets them "
            "failed. Run it by hand, or try kubectl get namespaces"
        )
    return Connection(client.ApiClient(settings), contexts[chosen])


def _configured(what: str, load: Callable[[], T]) -> T:
    """What the client's own code makes of a kubeconfig, whose errors may quote it."""
    from kubernetes.config import ConfigException  # noqa: PLC0415 (see above)
    from yaml import YAMLError  # noqa: PLC0415 (the client's own)

    try:
        return load()
    except (ConfigException, YAMLError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        kind = type(error).__name__
    raise ClusterConfigError(f"{what} does not tell how to reach a cluster ({kind}): try kubectl config view")


@contextmanager
def _watched() -> Iterator[list[str]]:
    """What goes wrong with credentials that a command gets: the client only logs that, with what the command said."""
    told: list[str] = []

    class Watching(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.levelname)

    watching, root = Watching(logging.ERROR), logging.getLogger()
    others, root.handlers = root.handlers, [watching]
    try:
        yield told
    finally:
        root.handlers = others


def _contexts(files: str) -> tuple[dict[str, str | None], str]:
    """The namespace of each context of a kubeconfig, and which context is its current one; empty if none is."""
    from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415 (see above)

    merger: Any = KubeConfigMerger  # it has no types
    merged = merger(files).config.value
    contexts = {each.value["name"]: each.value["context"].get("namespace") or None for each in merged["contexts"]}
    return contexts, merged.get("current-context") or ""


def _own_namespace() -> str | None:
    try:
        return _OWN_NAMESPACE.read_text().strip() or None
    except OSError:
        return None


def _retries() -> Any:  # noqa: ANN401
    """Once more for what got no connection; three times where the API says after how many seconds (429, 503)."""
    from urllib3 import Retry  # noqa: PLC0415 (the client's own)

    return Retry(total=3, connect=1, read=0, other=0, backoff_factor=0.1)
