"""Referenced objects that are in a live cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from strongref_refs.cluster_api import GoneError
from strongref_refs.errors import (
    ClusterConfigError,
    KindNotInstalledError,
    NoSuchObjectError,
    RefsError,
    UnauthorizedError,
    UnreachableError,
)
from strongref_refs.manifests import closest
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_refs.base import Manifest, ObjectKey
    from strongref_refs.cluster_api import ClusterApi, Resource

PAGES = 2
"""Of a list that are read at most, for names like one that is not there."""

_LABEL = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")
_NAMESPACE = re.compile(rf"(?=.{{1,63}}\Z){_LABEL}")
"""What names of objects and of namespaces are (Kubernetes: Object Names and IDs; RFC 1123): safe in a path."""

P = ParamSpec("P")
T = TypeVar("T")


class ClusterObjects:
    """Referenced objects of a cluster, each asked for once.

    It is asked, once, what it serves: so plurals and versions are its own. When it cannot be reached any more, or does
    not take the credentials any more, it is asked nothing more.
    """

    def __init__(self, api: ClusterApi) -> None:
        """Make the source.

        Raises:
            ClusterError: the cluster cannot be reached, or does not take the credentials.
            ClusterConfigError: these cannot be had.
        """
        self._api = api
        self._versions = api.groups()
        self._objects: Memo[ObjectKey, Manifest] = Memo()
        self._resources: Memo[tuple[str, str], Resource] = Memo()
        self._names: Memo[tuple[Resource, str], list[str]] = Memo()
        self._lost: RefsError | None = None

    def get(self, wanted: ObjectKey) -> Manifest:
        """As `base.Objects`.

        Raises:
            NoSuchObjectError: there is none.
            KindNotInstalledError: its controller is not installed.
            ClusterError: the cluster does not give it.
            ClusterConfigError: the credentials cannot be had any more.
        """
        return self._objects.get(wanted, lambda: self._get(wanted))

    def _get(self, wanted: ObjectKey) -> Manifest:
        resource = self._resources.get((wanted.group, wanted.kind), lambda: self._resource(wanted))
        there: list[str] = []
        if _NAMESPACE.fullmatch(wanted.namespace):
            if _NAME.fullmatch(wanted.name):
                try:
                    return self._asked(self._api.get, resource, wanted.namespace, wanted.name)
                except GoneError:
                    pass
            key = (resource, wanted.namespace)
            there = closest(wanted.name, self._names.get(key, lambda: self._some_names(*key)))
        raise NoSuchObjectError(wanted, f"the cluster {self._api.server}", there)

    def _asked(self, ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the cluster answers."""
        if self._lost:
            raise self._lost
        try:
            return ask(*args, **kwargs)
        except (UnreachableError, UnauthorizedError, ClusterConfigError) as error:
            self._lost = error
            raise

    def _resource(self, wanted: ObjectKey) -> Resource:
        for version in self._versions.get(wanted.group, ()):
            try:
                found = self._asked(self._api.resource, wanted.group, version, wanted.kind)
            except GoneError:  # it has gone since
                continue
            if found:
                return found
        raise KindNotInstalledError(self._api.server, f"find {wanted.kind}", wanted.kind, wanted.group)

    def _some_names(self, resource: Resource, namespace: str) -> list[str]:
        """Names of objects of that kind, as a help for whoever mistyped one: those that are to be had."""
        found: list[str] = []
        after = ""
        for _ in range(PAGES):
            try:
                names, after = self._asked(self._api.names, resource, namespace, after)
            except (GoneError, RefsError):
                break
            found += names
            if not after:
                break
        return found
