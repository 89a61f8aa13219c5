"""How a cluster is reached: as kubectl does it, by a kubeconfig or by a pod's service account. Makes no request.

Importing this takes a second and the extra `kubernetes`: see `wiring.cluster`.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kubernetes import client, config
from kubernetes.config.kube_config import KubeConfigMerger
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from strongref.text import some
from strongref_manifests.refs.errors import ClusterConfigError
from strongref_toolkit.json_values import mapping

_SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
"""Set in every pod (Kubernetes: Accessing the API from a Pod)."""

_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""A pod's own namespace (the same)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Connection:
    server: str  # its address, without a password that the kubeconfig may have in it
    namespace: str | None  # of the context, or of the pod; None if it has none
    client: Any  # a `kubernetes.client.ApiClient`


class CheckedConfiguration(client.Configuration):  # type: ignore[misc]  # the client has no types
    """The client's configuration, with credentials that are checked before each request."""

    whose = ""  # the credentials, for errors: `context prod in /home/me/.kube/config`

    def auth_settings(self) -> dict[str, Any]:
        """The credentials; a command that provides them runs again when they have expired.

        Raises:
            ClusterConfigError: they are not available, or not valid in a header.
        """
        found: dict[str, Any] = run_client(self.whose, super().auth_settings)
        for each in found.values():
            each["value"] = value = str(each["value"]).strip()
            if not (value.isascii() and value.isprintable()):
                problem = "have characters that no token has: is it the right file?"
                raise ClusterConfigError(f"the credentials of {self.whose} {problem}")
        return found


def connect(kubeconfig: str | None = None, context: str | None = None) -> Connection:
    """The cluster of a kubeconfig's context or, in a pod without a kubeconfig, the pod's own.

    Args:
        kubeconfig: a file; by default those of KUBECONFIG, or `~/.kube/config`.
        context: one of its contexts; by default the current one.

    Raises:
        ClusterConfigError: there is no such file or context, or it is not valid.
    """
    files = kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    exists = any(Path(each).expanduser().is_file() for each in files.split(os.pathsep) if each)
    if not exists and not kubeconfig and not context and os.environ.get(_SERVICE_HOST):
        return _connection("the pod's service account", _pod_namespace(), config.load_incluster_config)
    if not exists:
        raise ClusterConfigError(f"there is no kubeconfig {files}")
    contexts, current = run_client(files, lambda: _contexts(files), _invalid(files))
    chosen = context or current
    if chosen not in contexts:
        which = f"has no context {chosen}" if chosen else "has no current context"
        raise ClusterConfigError(f"kubeconfig {files} {which}; it has {some(contexts) or 'none'}")
    load = partial(config.load_kube_config, files, chosen)
    return _connection(f"context {chosen} in {files}", contexts[chosen], load)


def run_client(whose: str, run: Callable[[], T], otherwise: str = "") -> T:
    """Run code of the client that reads a kubeconfig or gets credentials.

    Its errors may quote the kubeconfig or a command's output, so none of them is shown.

    Raises:
        ClusterConfigError: it failed; says `otherwise`, unless the credentials `whose` are what is missing.
    """
    no_credentials = (
        f"the credentials of {whose} are not available: the command or provider that gets them failed. Run it by "
        "hand, or try kubectl get namespaces"
    )
    with quiet() as logged:
        try:
            made = run()
        except HTTPError:  # a provider does not answer
            problem = no_credentials
        except Exception:  # noqa: BLE001 (see above)
            problem = otherwise or no_credentials
        else:
            problem = ""
    if logged or problem:
        raise ClusterConfigError(no_credentials if logged else problem)
    return made


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Hide the client's warnings and logs; yields the errors that it logs, by level.

    If a command fails to provide credentials, the client only logs that, with the command's output.
    """
    logged: list[str] = []

    class Recording(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(record.levelname)

    root = logging.getLogger()
    others, root.handlers = root.handlers, [Recording(logging.ERROR)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield logged
    finally:
        root.handlers = others


def _connection(whose: str, namespace: str | None, load: Callable[..., object]) -> Connection:
    settings = CheckedConfiguration()
    settings.whose = whose
    run_client(whose, lambda: load(client_configuration=settings), _invalid(whose))
    api_client = run_client(whose, lambda: client.ApiClient(settings), f"{whose} has an invalid proxy")
    pool = api_client.rest_client.pool_manager
    once_more = Retry(total=1, read=0, other=0, backoff_factor=0.1, respect_retry_after_header=False)
    # The API never redirects: a redirect leads to a login page.
    pool.urlopen = partial(pool.urlopen, redirect=False, retries=once_more)
    return Connection(re.sub("//.*@", "//", str(settings.host)), namespace, api_client)


def _invalid(whose: str) -> str:
    return f"{whose} does not say how to reach a cluster: try kubectl config view"


def _contexts(files: str) -> tuple[dict[str, str | None], str]:
    """The namespace of each context, and the current context; empty if there is none.

    The client's own `list_kube_config_contexts` fails without a current context, even if another one is chosen.
    """
    merged = KubeConfigMerger(files).config.value
    contexts = {}
    for each in merged["contexts"]:
        namespace = mapping(mapping(each.value).get("context")).get("namespace")
        contexts[str(each.value["name"])] = str(namespace) if namespace else None
    return contexts, str(merged.get("current-context") or "")


def _pod_namespace() -> str | None:
    try:
        return _POD_NAMESPACE.read_text().strip() or None
    except OSError:
        return None
