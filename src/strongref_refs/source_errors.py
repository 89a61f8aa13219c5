"""What can go wrong where referenced objects and values come from. Texts name them; values are never in one."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from http.client import responses
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric
from strongref.text import cut, some
from strongref_refs.errors import RefsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref_refs.base import Wanted

_SHOWN = 253
"""Characters of a name: no name of a Kubernetes object is longer (RFC 1123, subdomains)."""


@dataclass(eq=False)
class SeveralObjectsError(RefsError):
    """Several manifests describe the object that a reference names, and differ.

    Attributes:
        wanted: the object.
        where: the manifests.
    """

    wanted: Wanted
    where: Sequence[str]

    def __str__(self) -> str:
        called = f"{self.wanted.kind} {self.wanted.namespace}/{self.wanted.name}"
        places = cut(some(self.where, 5), 2 * _SHOWN)
        return f"{cut(called, _SHOWN)} is described more than once, and differently: in {places}. Give one of them."


@dataclass(eq=False)
class StackReferenceError(RefsError):
    """A reference to what a stack made that cannot be understood.

    Attributes:
        problem: what is wrong with it.
    """

    problem: str

    def __str__(self) -> str:
        return (
            f"from: {cut(self.problem, 500)}. A reference to a stack is {{stack, name}} for an export, or {{stack, "
            "output}; region and account may stand beside them."
        )


@dataclass(eq=False)
class UnwritableReferenceError(RefsError):
    """A reference is written in a way in which nothing can be put in its place.

    Attributes:
        whose: the object's, as in `VPCLink default/orders`.
        found: where it stands, as in `spec.subnetRefs`.
        line: of the file, from 1; None if it stands behind an alias.
    """

    whose: str
    found: str
    line: int | None

    def __str__(self) -> str:
        line = f" (line {self.line})" if self.line else ""
        return (
            f"{cut(self.whose, _SHOWN)}: {cut(self.found, _SHOWN)}{line} cannot be replaced as it is written: write it "
            "out, without anchors, aliases and tags."
        )


class NoClientError(RefsError):
    """Kubernetes' client is not installed."""

    def __str__(self) -> str:
        return "A live cluster needs Kubernetes' own client: pip install 'strongref[kubernetes]'."


@dataclass(eq=False)
class ClusterConfigError(RefsError):
    """Nothing says rightly how the cluster is to be reached.

    Attributes:
        problem: what is wrong with it; nothing that is in a kubeconfig but names of contexts.
    """

    problem: str

    def __str__(self) -> str:
        return f"{cut(self.problem, 700)}. Give --kubeconfig and --context, as kubectl has them."


class ClusterError(RefsError):
    """The root of what a cluster answers, or fails to.

    Attributes:
        server: its address.
        action: what was asked, as in `get securitygroups.ec2.services.k8s.aws default/web`.
    """

    counted = ErrorMetric.ERRORS

    def __init__(self, server: str, action: str, *data: object) -> None:
        super().__init__(server, action, *data)
        self.server = cut(server, 150)
        self.action = cut(action, 400)


class UnreachableError(ClusterError):
    """No answer came.

    Attributes:
        problem: why.
    """

    def __init__(self, server: str, action: str, problem: str) -> None:
        super().__init__(server, action, problem)
        self.problem = problem

    def __str__(self) -> str:
        return (
            f"The cluster {self.server} cannot be reached: {self.problem}. Check the context, the network and whatever "
            "stands between, such as a VPN or a proxy."
        )


class UnauthorizedError(ClusterError):
    """The credentials are not taken: none were given, or they have expired.

    Attributes:
        status: of HTTP: 401, or 403 where whoever has none is taken for anonymous, who may see nothing.
    """

    def __init__(self, server: str, action: str, status: int) -> None:
        super().__init__(server, action, status)
        self.status = status

    def __str__(self) -> str:
        return (
            f"The cluster {self.server} does not take the credentials ({self.status} {responses[self.status]}): there "
            "are none, they have expired, or they belong to another cluster. Log in again, as for kubectl."
        )


class DeniedError(ClusterError):
    """The credentials may not do this.

    Attributes:
        verb: what they may not, as in `get`.
        resource: of what, as in `securitygroups.ec2.services.k8s.aws`.
        namespace: where.
    """

    def __init__(self, server: str, action: str, verb: str, resource: str, namespace: str) -> None:
        super().__init__(server, action, verb, resource, namespace)
        self.verb = verb
        self.resource = resource
        self.namespace = namespace

    def __str__(self) -> str:
        return (
            f"The cluster {self.server} does not allow {self.verb} on {cut(self.resource, _SHOWN)} in namespace "
            f"{cut(self.namespace, 63)} (403 Forbidden). Whoever reads it needs a rule for that: strongref refs rbac "
            "--all writes them."
        )


class KindNotInstalledError(ClusterError):
    """The cluster knows no such kind: the controller that brings it is not installed.

    Attributes:
        kind: as in `SecurityGroup`.
        group: as in `ec2.services.k8s.aws`.
    """

    counted = ErrorMetric.REJECTED

    def __init__(self, server: str, action: str, kind: str, group: str) -> None:
        super().__init__(server, action, kind, group)
        self.kind = kind
        self.group = group

    def __str__(self) -> str:
        controller = f"the ACK controller for {self.group.partition('.')[0]}"
        return (
            f"The cluster {self.server} does not know the kind {cut(self.kind, 63)} of {cut(self.group, _SHOWN)}. "
            f"Install {cut(controller, 150)}, or at least its CRDs."
        )


class NotTheApiError(ClusterError):
    """Something else answers in the API's place: another server, a proxy, a page to log in at."""

    def __str__(self) -> str:
        return (
            f"What answers at {self.server} is not Kubernetes' API: it did not {self.action}. Check the server in the "
            "kubeconfig, and what stands between, such as a proxy or a page to log in at."
        )


class AnsweredError(ClusterError):
    """The cluster answered with something else than what was asked for.

    Attributes:
        status: of HTTP.
        reason: HTTP's own words for it, as in `Internal Server Error`.
        wait: the seconds that the cluster asks to be left alone for; None if it says nothing of them.
    """

    def __init__(self, server: str, action: str, status: int, reason: str, wait: int | None = None) -> None:
        super().__init__(server, action, status, reason, wait)
        self.status = status
        self.reason = reason
        self.wait = wait

    def __str__(self) -> str:
        if self.wait is not None:
            way_out = f"It asks for {self.wait} seconds of patience: try again then."
        elif self.status == HTTPStatus.TOO_MANY_REQUESTS or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            way_out = "Try again."
        else:
            way_out = "Check the server in the kubeconfig, and what stands between."
        return f"The cluster {self.server} failed at {self.action}: {self.status} {cut(self.reason, 100)}. {way_out}"
