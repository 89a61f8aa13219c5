"""Errors of reference fields, and of where objects and values are read. Texts name objects and fields, never values.

Errors that ACK has too carry its name for them (`aws-controllers-k8s/runtime`, `pkg/errors/resource_reference.go`).
`upstream` is the text that its controllers put into the condition `ACK.ReferencesResolved`, filled in from `acks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from http.client import responses
from typing import TYPE_CHECKING, ClassVar

from strongref.errors import BadRequestError, StrongRefError
from strongref.text import REASON_LIMIT, cut, did_you_mean, filled
from strongref_manifests.refs.names import dotted, plural

if TYPE_CHECKING:
    from strongref_manifests.refs.base import FieldLocation, ObjectName

_SHOWN = 180
"""Characters of an object, with its namespace and name, or of a path in a text; Kubernetes allows 253 in a name."""

_NAME = 100
"""Characters of one name, or of the path of a field."""


class RefsError(StrongRefError):
    """The root of all errors of reference fields."""


# What describes reference fields.


class GeneratorError(RefsError):
    """A generator.yaml or a CRD is not valid."""

    source: str
    where: str  # the entry, as in `resources.VpcLink.fields.SubnetIds.references.path`
    problem: str
    line: int | None = None  # from 1; None if it is not known

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        problem = str(BadRequestError(self.where, self.problem)) if self.where else self.problem
        return f"{cut(self.source, _SHOWN)}{line}: {cut(problem, REASON_LIMIT - 300)}."


class ServiceUnknownError(RefsError):
    source: str
    sentence = (
        "{source:180} does not name its controller, and its folder is not named SERVICE-controller. Set the service "
        "with --service, as in ec2."
    )


class UnknownKindError(RefsError):
    subject: ObjectName
    found: str
    sentence = (
        "{subject:180} has {found:180}, which looks like a reference, but no generator.yaml describes "
        "{subject.kind:100} of {subject.group:100}. Add the one of that controller with --generator."
    )


class UnknownReferenceFieldError(RefsError):
    subject: ObjectName
    found: str  # the path, as in `spec.subnetRef`
    close: Sequence[str] = ()  # the most similar reference fields of the kind
    sentence = "{subject:180} has {found:180}, which is not a reference field of {subject.kind:100}. {_hint}"

    @property
    def _hint(self) -> str:
        return did_you_mean(self.close[:3], "Remove it, or use a newer generator.yaml.")


# One reference field.


class FieldError(RefsError):
    """The root of what is wrong at one location."""

    name: ClassVar[str] = ""  # what ACK calls the error; empty if ACK has no such error
    acks: ClassVar[str] = ""  # the sentence of ACK's controllers; empty if they have none
    location: FieldLocation

    @property
    def is_upstream(self) -> bool:
        """Whether ACK's controllers fail with this error, too, when they resolve references."""
        return bool(self.acks)

    @property
    def upstream(self) -> str:
        """The text of ACK's controllers; ours if they have none."""
        return filled(self.acks, self) if self.acks else str(self)

    @property
    def _subject(self) -> str:
        return f"{f'{self.name}: ' if self.name else ''}{cut(str(self.location.subject), _SHOWN)}"

    @property
    def _identifier(self) -> str:
        return cut(self.location.identifier_text, _NAME)

    @property
    def _reference(self) -> str:
        return cut(self.location.reference_text, _NAME)

    @property
    def _upstream_reference(self) -> str:
        """`Routes.GatewayRef`, as the controllers' code spells it."""
        return dotted((*self.location.field.path[:-1], self.location.field.reference_step))

    @property
    def _upstream_fields(self) -> str:
        return f"{dotted(self.location.field.path)},{self._upstream_reference}"

    @property
    def _upstream_names(self) -> str:
        """`GatewayID,GatewayRef`: some of their texts leave out the path."""
        return f"{dotted(self.location.field.path[-1:])},{dotted((self.location.field.reference_step,))}"


class ResourceReferenceAndIDNotSupportedError(FieldError):
    name = "ResourceReferenceAndIDNotSupported"
    sentence = "{_subject} sets both {_identifier} and {_reference}. Remove one of them."
    acks = "both resource reference wrapper and ID cannot be used together: {_upstream_fields}"


class ResourceReferenceOrIDRequiredError(FieldError):
    name = "ResourceReferenceOrIDRequired"
    sentence = "{_subject} must set {_identifier} or {_reference}."
    acks = "resource reference wrapper or ID required: {_upstream_names}"


class NamelessReferenceError(FieldError):
    index: int | None = None  # of the item of a list; None if the field is not a list
    acks = "provided resource reference is nil or empty: {_upstream_reference}"

    def __str__(self) -> str:
        at = "" if self.index is None else f"[{self.index}]"
        return (
            f"{self._subject}: provided resource reference is nil or empty: {self._reference}{at}. "
            f"Name the {cut(self.location.field.reference.resource, _NAME)} in from.name, or remove the reference."
        )


class ResourceReferenceCrossNamespaceNotAllowedError(FieldError):
    name = "ResourceReferenceCrossNamespaceNotAllowed"
    namespace: str
    target: str
    sentence = (
        "{_subject}: {_reference} refers to {target:100} in namespace {namespace:100}. References across namespaces "
        "are not supported: remove from.namespace, and refer to an object in the same namespace."
    )
    acks = (
        "cross-namespace resource reference is not allowed. Set --enable-cross-namespace=true to allow it. "
        "sourceNamespace:{location.subject.namespace}, targetNamespace:{namespace}, name:{target}"
    )


class InvalidReferenceError(FieldError):
    """A reference, or something on the path to one, is not what its kind allows there."""

    found: str  # its path, as in `spec.subnetRefs[0].from`
    problem: str  # what is wrong with it, as in `must be a map with name, got a string`
    fix: str = ""  # the next step, if the problem does not name it

    def __str__(self) -> str:
        fix = f" {cut(self.fix, _SHOWN)}." if self.fix else ""
        return f"{self._subject}: {cut(self.found, _SHOWN)} {cut(self.problem, 2 * _SHOWN)}.{fix}"


class UnreadableReferenceError(FieldError):
    """What a reference names does not exist, or could not be read."""

    error: StrongRefError

    @property
    def is_upstream(self) -> bool:
        return isinstance(self.error, NoSuchObjectError | KindNotInstalledError)

    @property
    def upstream(self) -> str:
        return self.error.upstream if isinstance(self.error, NoSuchObjectError) else str(self.error)

    def __str__(self) -> str:
        return cut(f"{self._subject}: {self._reference}: {self.error}", REASON_LIMIT - 1)


class ReferencedError(FieldError):
    """The root of what is wrong with a referenced object."""

    referenced: ObjectName

    @property
    def _upstream_referenced(self) -> str:
        return f"resource:{self.referenced.kind}, namespace:{self.referenced.namespace}, name:{self.referenced.name}"

    @property
    def _refers(self) -> str:
        return f"{self._subject}: {self._reference} refers to {cut(str(self.referenced), _SHOWN)}"


class ResourceReferenceTerminalError(ReferencedError):
    name = "ResourceReferenceTerminal"
    sentence = "{_refers}, whose condition ACK.Terminal is True. Fix that object first."
    acks = "the referenced resource has 'ACK.Terminal' condition 'True'. Cannot be referenced. {_upstream_referenced}"


class ResourceReferenceNotSyncedError(ReferencedError):
    name = "ResourceReferenceNotSynced"
    sentence = (
        "{_refers}, whose condition ACK.ResourceSynced is not True. Wait until its controller has created it, then try "
        "again."
    )
    acks = "the referenced resource is not synced yet. {_upstream_referenced}"


class ResourceReferenceMissingTargetFieldError(ReferencedError):
    name = "ResourceReferenceMissingTargetField"
    path: str
    sentence = (
        "{_refers}, which has no {path:100}. Wait until its controller has set it, or set {_identifier} directly."
    )
    acks = "the referenced resource is missing the target field. {_upstream_referenced}, targetField:{path}"


class TargetNotStringError(ReferencedError):
    path: str
    got: str
    sentence = "{_refers}, whose {path:100} must be a string, got {got}. Set {_identifier} directly."


class UnwritableReferenceError(RefsError):
    whose: str  # the object, as in `VPCLink default/orders`
    found: str  # the path, as in `spec.subnetRefs`
    line: int | None  # of the file, from 1; None behind an alias

    def __str__(self) -> str:
        line = f" (line {self.line})" if self.line else ""
        return (
            f"{cut(self.whose, _SHOWN)}: {cut(self.found, _SHOWN)}{line} cannot be replaced as it is written: write it "
            "out, without anchors, aliases and tags."
        )


# Where objects and values are read.


class NoSuchObjectError(RefsError):
    referenced: ObjectName
    among: str  # where it was looked up, as in `the manifests given`
    close: Sequence[str] = ()  # the most similar names of objects of its kind
    sentence = "{referenced:180} was not found in {among:100}. {_hint}"

    @property
    def _hint(self) -> str:
        where = self.referenced.namespace and " and namespace"
        return did_you_mean(self.close[:3], f"Check its name{where}, or create it first.")

    @property
    def upstream(self) -> str:
        """The text of Kubernetes' API (`apimachinery`, `errors.NewNotFound`)."""
        return f'{plural(self.referenced.kind)}.{self.referenced.group} "{self.referenced.name}" not found'


class AmbiguousObjectError(RefsError):
    referenced: ObjectName
    where: Sequence[str]
    sentence = "{referenced:180} is defined more than once, with differences: in {where:5}. Keep one."


class StackReferenceError(RefsError):
    problem: str
    sentence = (
        "{problem:500}. A reference to a stack is {{stack, name}} for an export or {{stack, output}} for an output; "
        "region and account are optional."
    )


class ClusterConfigError(RefsError):
    problem: str  # of a kubeconfig it names contexts and nothing else
    sentence = "{problem:700}. Set --kubeconfig and --context as for kubectl."


class ClusterError(RefsError):
    """The root of what a cluster answers, or fails to answer."""

    server: str  # its address
    action: str  # the request, as in `get securitygroups.ec2.services.k8s.aws default/web`

    @property
    def _cluster(self) -> str:
        return f"The cluster {cut(self.server, _SHOWN)}"


class UnreachableError(ClusterError):
    problem: str
    sentence = (
        "{_cluster} cannot be reached: {problem}. Check the context, the network, and any VPN or proxy in between."
    )


class UnauthorizedError(ClusterError):
    """The cluster rejected the credentials with 401, or with 403 where a caller without any counts as anonymous."""

    status: int

    def __str__(self) -> str:
        return (
            f"{self._cluster} rejected the credentials ({self.status} {responses[self.status]}): they are missing, "
            "expired, or for another cluster. Log in again, as for kubectl."
        )


class DeniedError(ClusterError):
    verb: str
    resource: str
    where: str  # as in `namespace default`
    sentence = (
        "{_cluster} denied {verb} on {resource:180} in {where:120} (403 Forbidden). Allow the caller that verb in an "
        "RBAC rule; for reference fields, strongref refs rbac --all writes it."
    )


class KindNotInstalledError(ClusterError):
    kind: str
    group: str

    sentence = (
        "{_cluster} does not serve the kind {kind:100} of {group:180}. Check both, or install its controller or CRDs."
    )


class NotTheApiError(ClusterError):
    """Something other than Kubernetes' API answers: another server, a proxy, a login page."""

    sentence = (
        "The server at {server:180} is not Kubernetes' API: it did not {action:400}. Check the server in the "
        "kubeconfig, and any proxy or login page in between."
    )


class AnsweredError(ClusterError):
    status: int  # of HTTP
    wait: int | None = None  # the seconds that the cluster asks callers to wait; None if it names none

    def __str__(self) -> str:
        if self.wait is not None:
            hint = f"It asks callers to wait {self.wait} seconds: try again then."
        elif self.status == HTTPStatus.TOO_MANY_REQUESTS or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            hint = "Try again."
        else:
            hint = "Check the server in the kubeconfig, and any proxy or login page in between."
        status = f"{self.status} {responses.get(self.status, '')}".strip()
        return f"{self._cluster} failed to {cut(self.action, 400)}: {status}. {hint}"
