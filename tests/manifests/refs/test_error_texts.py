"""The texts of errors of references in manifests."""

from __future__ import annotations

import pytest

from strongref_manifests.refs import errors
from tests.support.error_classes import errors_of
from tests.support.refs_errors import CASES

TEXTS = {
    "refs-both": (
        "ResourceReferenceAndIDNotSupported: VPCLink default/orders sets both spec.subnetIDs and "
        "spec.subnetRefs. Remove one of them."
    ),
    "refs-neither": (
        "ResourceReferenceOrIDRequired: VPCLink default/orders must set spec.subnetIDs or spec.subnetRefs."
    ),
    "refs-empty": (
        "VPCLink default/orders: provided resource reference is nil or empty: spec.subnetRefs[0]. Name the "
        "Subnet in from.name, or remove the reference."
    ),
    "refs-namespace": (
        "ResourceReferenceCrossNamespaceNotAllowed: VPCLink default/orders: spec.securityGroupRefs refers to "
        "web in namespace shop. References across namespaces are not supported: remove from.namespace, and "
        "refer to an object in the same namespace."
    ),
    "refs-map": (
        "Gateway default/orders: spec.listeners.web.certificateRef is below listeners, which is a map: "
        "references below maps are not supported. Set certificateARN directly."
    ),
    "refs-shape": (
        "VPCLink default/orders: spec.subnetRefs must be a list of references, [{from: {name: …}}], got a map."
    ),
    "refs-absent": (
        "VPCLink default/orders: spec.subnetzRefs is the reference of SubnetzIds, which the API does not "
        "have. Correct the name in generator.yaml, or add the kind's CRD with --crd."
    ),
    "refs-hook": (
        "Route default/orders: spec.targetRef is resolved by the controller's own code (hook "
        "references_post_resolve), and its result is not known here. Set spec.target directly."
    ),
    "refs-from": ("VPCLink default/orders: spec.subnetRefs[0] has name outside of from. Write from: {name: …}."),
    "refs-key": (
        "VPCLink default/orders: spec.securityGroupRefs[0].from.nmae is unknown; must be one of name, "
        "namespace and stack (did you mean name?)."
    ),
    "refs-field": (
        "VPCLink default/orders has spec.securityGroupRef, which is not a reference field of VPCLink. Did you"
        " mean spec.securityGroupRefs?"
    ),
    "refs-kind": (
        "Subnet default/orders has spec.vpcRef, which looks like a reference, but no generator.yaml describes"
        " Subnet of ec2.services.k8s.aws. Add the one of that controller with --generator."
    ),
    "refs-terminal": (
        "ResourceReferenceTerminal: VPCLink default/orders: spec.securityGroupRefs refers to SecurityGroup "
        "default/broken, whose condition ACK.Terminal is True. Fix that object first."
    ),
    "refs-not-synced": (
        "ResourceReferenceNotSynced: VPCLink default/orders: spec.securityGroupRefs refers to SecurityGroup "
        "default/new, whose condition ACK.ResourceSynced is not True. Wait until its controller has created "
        "it, then try again."
    ),
    "refs-missing": (
        "ResourceReferenceMissingTargetField: VPCLink default/orders: spec.securityGroupRefs refers to "
        "SecurityGroup default/bare, which has no Status.ID. Wait until its controller has set it, or set "
        "spec.securityGroupIDs directly."
    ),
    "refs-not-text": (
        "VPCLink default/orders: spec.securityGroupRefs refers to SecurityGroup default/odd, whose Status.ID "
        "must be a string, got a list. Set spec.securityGroupIDs directly."
    ),
    "refs-not-found": (
        "VPCLink default/orders: spec.securityGroupRefs: SecurityGroup default/wed was not found in the "
        "manifests given. Did you mean web?"
    ),
    "refs-several": (
        "SecurityGroup default/web is defined more than once, with differences: in a.yaml, document 1 and "
        "b.yaml, document 3. Keep one."
    ),
    "refs-stack": (
        "VPCLink default/orders: spec.securityGroupRefs: from must have one of name and output. A reference "
        "to a stack is {stack, name} for an export or {stack, output} for an output; region and account are "
        "optional."
    ),
    "refs-stack-value": (
        "Integration default/orders: spec.apiRef.from must name one non-empty string, got a list. Name another one."
    ),
    "refs-stack-map": (
        "VPCLink default/orders: spec.securityGroupRefs: from.name Vpc is a map of exports. Name one of them,"
        " with dots. A reference to a stack is {stack, name} for an export or {stack, output} for an output; "
        "region and account are optional."
    ),
    "refs-kubeconfig": (
        "kubeconfig /home/me/.kube/config has no context there; it has test and prod. Set --kubeconfig and "
        "--context as for kubectl."
    ),
    "refs-unreachable": (
        "The cluster https://cluster.example.com cannot be reached: no answer in time. Check the context, the"
        " network, and any VPN or proxy in between."
    ),
    "refs-unauthorized": (
        "The cluster https://cluster.example.com rejected the credentials (401 Unauthorized): they are "
        "missing, expired, or for another cluster. Log in again, as for kubectl."
    ),
    "refs-denied": (
        "The cluster https://cluster.example.com denied get on securitygroups.ec2.services.k8s.aws in "
        "namespace default (403 Forbidden). Allow the caller that verb in an RBAC rule; for reference "
        "fields, strongref refs rbac --all writes it."
    ),
    "refs-not-installed": (
        "The cluster https://cluster.example.com does not serve the kind SecurityGroup of "
        "ec2.services.k8s.aws. Check both, or install its controller or CRDs."
    ),
    "refs-not-the-api": (
        "The server at https://cluster.example.com is not Kubernetes' API: it did not list API groups. Check "
        "the server in the kubeconfig, and any proxy or login page in between."
    ),
    "refs-answered": (
        "The cluster https://cluster.example.com failed to get securitygroups.ec2.services.k8s.aws "
        "default/web: 500 Internal Server Error. Try again."
    ),
    "refs-generator": (
        "apigatewayv2-controller/generator.yaml, line 5: resources.VpcLink.fields.SubnetIds.references.path "
        "is missing; must be a path below Spec or Status, as in Status.ACKResourceMetadata.ARN."
    ),
    "refs-service": (
        "generator.yaml does not name its controller, and its folder is not named SERVICE-controller. Set the"
        " service with --service, as in ec2."
    ),
    "refs-unwritable": (
        "VPCLink default/orders: spec.subnetRefs (line 3) cannot be replaced as it is written: write it out, "
        "without anchors, aliases and tags."
    ),
}


def test_every_case_has_a_text() -> None:
    assert set(TEXTS) == set(CASES)


@pytest.mark.parametrize("name", TEXTS)
def test_an_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    assert str(CASES[name]()) == TEXTS[name]


def test_every_error_of_references_has_a_case() -> None:
    kinds = errors_of(errors)
    roots = {errors.RefsError, errors.FieldError, errors.ReferencedError, errors.ClusterError}
    within_others = {errors.NoSuchObjectError, errors.StackReferenceError}
    made = {type(make()) for make in CASES.values()}
    assert kinds - roots - within_others <= made
    reported = " ".join(TEXTS.values())
    assert "was not found in" in reported
    assert "A reference to a stack is" in reported


def test_where_ack_has_an_error_the_text_begins_with_its_name() -> None:
    shown = {error.name for make in CASES.values() if isinstance(error := make(), errors.FieldError) and error.name}
    known = {kind.name for kind in errors_of(errors) if issubclass(kind, errors.FieldError)}
    assert shown == known - {""}
    assert all(any(text.startswith(f"{name}: ") for text in TEXTS.values()) for name in shown)
