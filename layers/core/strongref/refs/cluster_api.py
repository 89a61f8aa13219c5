"""Kubernetes' API, as far as references need it: what it serves, an object, the names of many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from strongref.refs.cluster_config import connect
from strongref.refs.source_errors import AnsweredError, DeniedError, UnauthorizedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from strongref.refs.base import Manifest

PAGE = 500
"""Objects in one answer to a list, as kubectl asks for (its --chunk-size)."""

_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 30.0

T = TypeVar("T")


class Resource(NamedTuple):
    """A kind as the API serves it.

    Attributes:
        version: of its group, as in `v1alpha1`.
        plural: its name in paths, as in `securitygroups`.
    """

    group: str
    version: str
    plural: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}"


class GoneError(Exception):
    """What was asked for is not there (404), or not any more (410)."""


@dataclass(frozen=True, slots=True)
class ClusterApi:
    """A cluster's API.

    Attributes:
        server: its address.
        namespace: that of the context; None if it has none.
    """

    server: str
    namespace: str | None
    _client: Any  # kubernetes.client.ApiClient
    _timeouts: tuple[float, float] = (_CONNECT_SECONDS, _ANSWER_SECONDS)

    @classmethod
    def connect(
        cls,
        kubeconfig: str | None = None,
        context: str | None = None,
        timeouts: tuple[float, float] = (_CONNECT_SECONDS, _ANSWER_SECONDS),
    ) -> ClusterApi:
        """As `cluster_config.connect`, with the seconds to wait for a connection and for an answer."""
        found = connect(kubeconfig, context)
        server = re.sub("//[^/@]*@", "//", found.client.configuration.host)  # told in errors, without a password
        return cls(server, found.namespace, found.client, timeouts)

    def groups(self) -> dict[str, list[str]]:
        """The groups of the API that the cluster serves, and each one's versions, the preferred one first.

        Raises:
            ClusterError: the cluster does not answer that.
        """
        from kubernetes.client import ApisApi  # noqa: PLC0415 (as `cluster_config`)

        listed = self._ask("list API groups", None, lambda: ApisApi(self._client).get_api_versions(**self._within))
        found: dict[str, list[str]] = {}
        for each in listed.groups:
            preferred = each.preferred_version.version if each.preferred_version else None
            found[each.name] = sorted((one.version for one in each.versions), key=lambda version: version != preferred)
        return found

    def resource(self, group: str, version: str, kind: str) -> Resource | None:
        """A kind of a group, in a version; None if that has no such kind.

        Raises:
            ClusterError: the cluster does not answer that.
        """
        served = self._ask(
            f"list the kinds of {group}/{version}",
            None,
            lambda: self._objects.get_api_resources(group, version, **self._within),
        )
        for each in served.resources:
            if each.kind == kind and "/" not in each.name:
                return Resource(group, version, each.name)
        return None

    def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        """An object.

        Raises:
            GoneError: there is none.
            ClusterError: the cluster does not give it.
        """
        found: Manifest = self._ask(
            f"get {resource} {namespace}/{name}",
            ("get", resource, namespace),
            lambda: self._objects.get_namespaced_custom_object(
                resource.group, resource.version, namespace, resource.plural, name, **self._within
            ),
        )
        return found

    def names(self, resource: Resource, namespace: str) -> Iterator[str]:
        """The names of all objects of a kind in a namespace, page by page.

        Raises:
            GoneError: the list has grown too old to be gone on with.
            ClusterError: the cluster does not give it.
        """
        more: dict[str, str] = {}
        while True:
            page = self._page(resource, namespace, more)
            yield from (item["metadata"]["name"] for item in page["items"])
            token = page["metadata"].get("continue")
            if not token:
                return
            more = {"_continue": token}

    def _page(self, resource: Resource, namespace: str, more: Mapping[str, str]) -> Any:  # noqa: ANN401 (JSON)
        return self._ask(
            f"list {resource} in {namespace}",
            ("list", resource, namespace),
            lambda: self._objects.list_namespaced_custom_object(
                resource.group, resource.version, namespace, resource.plural, limit=PAGE, **more, **self._within
            ),
        )

    @property
    def _objects(self) -> Any:  # noqa: ANN401
        from kubernetes.client import CustomObjectsApi  # noqa: PLC0415 (as `cluster_config`)

        return CustomObjectsApi(self._client)

    @property
    def _within(self) -> dict[str, Any]:
        return {"_request_timeout": self._timeouts}

    def _ask(self, action: str, right: tuple[str, Resource, str] | None, ask: Callable[[], T]) -> T:
        """The answer.

        Args:
            action: what is asked, for errors.
            right: the verb, resource and namespace that have to be allowed.
            ask: the call.
        """
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415 (as `cluster_config`)
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        try:
            return ask()
        except ApiException as error:
            status, reason = error.status or 0, str(error.reason or "")
        except (HTTPError, OSError) as error:
            status, reason = 0, _unreached(error)
        # Out here the client's error, which quotes headers and bodies, is in no error's context.
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise GoneError
        if status == HTTPStatus.UNAUTHORIZED:
            raise UnauthorizedError(self.server, action)
        if status == HTTPStatus.FORBIDDEN and right:
            verb, resource, namespace = right
            raise DeniedError(self.server, action, verb, str(resource), namespace)
        if not status:
            raise UnreachableError(self.server, action, reason)
        raise AnsweredError(self.server, action, status, reason)


def _unreached(error: Exception) -> str:
    """Why no answer came, in a word that names nothing that was sent."""
    from urllib3 import exceptions as known  # noqa: PLC0415 (the client's own)

    cause = error.reason if isinstance(error, known.MaxRetryError) and error.reason else error
    words = (
        (known.SSLError, "its certificate is not trusted"),
        (known.NameResolutionError, "its name is not known"),
        (known.NewConnectionError, "the connection was refused"),
        (known.TimeoutError, "no answer in time"),
        (known.ProxyError, "the proxy does not let it through"),
    )
    return next((word for kind, word in words if isinstance(cause, kind)), type(cause).__name__)
