"""Referenced objects that are in a live cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.refs.cluster_api import GoneError
from strongref.refs.errors import NoSuchObjectError
from strongref.refs.manifests import closest
from strongref.refs.source_errors import ClusterError, KindNotInstalledError
from strongref.resolvers.sources import Once

if TYPE_CHECKING:
    from strongref.refs.base import Manifest, Wanted
    from strongref.refs.cluster_api import ClusterApi, Resource

_TIMES = 2
"""That a list is begun."""


class ClusterObjects:
    """Referenced objects of a cluster. It is asked, once, what it serves: so plurals and versions are its own."""

    def __init__(self, api: ClusterApi) -> None:
        """Make the source.

        Raises:
            ClusterError: the cluster cannot be reached, or does not take the credentials.
        """
        self._api = api
        self._versions = api.groups()
        self._resources: Once[tuple[str, str], Resource] = Once()
        self._names: Once[tuple[Resource, str], list[str]] = Once()

    def get(self, wanted: Wanted) -> Manifest:
        """As `base.Objects`.

        Raises:
            NoSuchObjectError: there is none.
            KindNotInstalledError: its controller is not installed.
            ClusterError: the cluster does not give it.
        """
        resource = self._resources.get((wanted.group, wanted.kind), lambda: self._resource(wanted))
        try:
            return self._api.get(resource, wanted.namespace, wanted.name)
        except GoneError:
            pass
        there = closest(wanted.name, self._names_beside(resource, wanted.namespace))
        raise NoSuchObjectError(wanted, f"the cluster {self._api.server}", there)

    def _resource(self, wanted: Wanted) -> Resource:
        for version in self._versions.get(wanted.group, ()):
            try:
                found = self._api.resource(wanted.group, version, wanted.kind)
            except GoneError:  # it has gone since
                continue
            if found:
                return found
        raise KindNotInstalledError(self._api.server, f"find {wanted.kind}", wanted.kind, wanted.group)

    def _names_beside(self, resource: Resource, namespace: str) -> list[str]:
        """The names of the objects of that kind, as a help for whoever mistyped one; none if they are not to be had."""
        try:
            return self._names.get((resource, namespace), lambda: self._all_names(resource, namespace))
        except ClusterError:
            return []

    def _all_names(self, resource: Resource, namespace: str) -> list[str]:
        for _ in range(_TIMES):
            try:
                return list(self._api.names(resource, namespace))
            except GoneError:  # the list was too old to be gone on with: once more, from its beginning
                continue
        return []
