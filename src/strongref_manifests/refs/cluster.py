"""Referenced objects in a live cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.memo import Memo
from strongref_manifests.refs import errors
from strongref_manifests.refs.cluster_api import ClusterApi
from strongref_manifests.refs.manifests import closest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubernetes.dynamic import Resource

    from strongref_manifests.refs.base import Manifest, ObjectKey
    from strongref_manifests.refs.cluster_config import Connection

PAGES = 2
"""Pages of a list that are read at most to find similar names."""

_LABEL = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")
_NAMESPACE = re.compile(rf"(?=.{{1,63}}\Z){_LABEL}")
"""Names of objects and of namespaces (Kubernetes: Object Names and IDs; RFC 1123); the client does not quote paths."""

T = TypeVar("T")


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
        self._objects: Memo[ObjectKey, Manifest] = Memo()
        self._resources: Memo[tuple[str, str], Any] = Memo()
        self._names: Memo[tuple[str, str, str], list[str]] = Memo()
        self._lost: errors.RefsError | None = None

    def get(self, key: ObjectKey) -> Manifest:
        """As `base.ObjectSource`.

        Raises:
            NoSuchObjectError: it does not exist.
            KindNotInstalledError: its controller is not installed.
            ClusterError: the cluster does not return it.
            ClusterConfigError: the credentials are not available any more.
        """
        return self._objects.get(key, lambda: self._get(key))

    def _get(self, key: ObjectKey) -> Manifest:
        resource = self._resources.get((key.group, key.kind), lambda: self._resource(key))
        close: list[str] = []
        if _NAMESPACE.fullmatch(key.namespace):
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

    def _resource(self, key: ObjectKey) -> Resource:
        found = self._ask(self._api.find, key.group, key.kind)
        if found is None:
            raise errors.KindNotInstalledError(self._api.server, f"find {key.kind}", key.kind, key.group)
        return found

    def _some_names(self, resource: Resource, key: ObjectKey) -> list[str]:
        """Names of objects of a kind, to suggest one for a misspelled name; as many as the cluster returns."""
        found: list[str] = []
        after = ""
        for _ in range(PAGES):
            try:
                names, after = self._ask(self._api.names, resource, key.namespace, after)
            except errors.RefsError:
                break
            found += names
            if not after:
                break
        return found
