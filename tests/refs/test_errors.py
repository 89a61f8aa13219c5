"""Errors of reference fields: called as ACK calls them, told in under 1,000 characters, whatever names they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import REASON_LIMIT
from strongref_refs import errors
from strongref_refs.base import Field, Reference, Spot, Subject, Wanted
from tests.support.ack import spot

if TYPE_CHECKING:
    from collections.abc import Callable

VPC = Wanted("ec2.services.k8s.aws", "VPC", "vpcs", "default", "main")

TEXTS = {
    "AndIDNotSupported": (
        errors.ResourceReferenceAndIDNotSupportedError(spot()),
        (
            "ResourceReferenceAndIDNotSupported: Thing default/it has both spec.vpcID and spec.vpcRef. Take one "
            "of them out."
        ),
    ),
    "OrIDRequired": (
        errors.ResourceReferenceOrIDRequiredError(spot("Routes.VpcIds", many=True)),
        (
            "ResourceReferenceOrIDRequired: Thing default/it has neither spec.routes.vpcIDs nor "
            "spec.routes.vpcRefs, and needs one. Give one of them."
        ),
    ),
    "empty": (
        errors.EmptyReferenceError(spot("VpcIds", many=True), 2),
        (
            "Thing default/it: provided resource reference is nil or empty: spec.vpcRefs[2]. Name the VPC in "
            "from.name, or take the reference out."
        ),
    ),
    "CrossNamespace": (
        errors.ResourceReferenceCrossNamespaceNotAllowedError(spot(), "network", "main"),
        (
            "ResourceReferenceCrossNamespaceNotAllowed: Thing default/it: spec.vpcRef refers to main in "
            "namespace network. References across namespaces are not supported: leave from.namespace out, and "
            "refer to an object of the same namespace."
        ),
    ),
    "map": (
        errors.ReferenceBelowMapError(spot(), "spec.listeners.web.vpcRef", "listeners"),
        (
            "Thing default/it: spec.listeners.web.vpcRef stands below listeners, which is a map: references "
            "below maps are not supported. Give vpcID itself there."
        ),
    ),
    "shape": (
        errors.ReferenceShapeError(spot(), "spec.vpcRef", "a string", "one reference, {from: {name: …}}"),
        "Thing default/it: spec.vpcRef is a string. Give one reference, {from: {name: …}}.",
    ),
    "hook": (
        errors.ResolvedByHookError(spot(), "references_post_resolve"),
        (
            "Thing default/it: spec.vpcRef is resolved by the controller's own code (hook references_post_resolve), "
            "and what that makes of it is not known here. Give spec.vpcID itself."
        ),
    ),
    "from": (
        errors.FromMissingError(spot(), "spec.vpcRef", "name"),
        "Thing default/it: spec.vpcRef has name, and no from. Put it below from: {from: {name: …}}.",
    ),
    "key": (
        errors.FromKeyError(spot(), "spec.vpcRef.from", ["nmae"], ("name", "namespace", "stack")),
        (
            "Thing default/it: spec.vpcRef.from has nmae, which a reference does not have. Take that out; there "
            "are name, namespace and stack."
        ),
    ),
    "Terminal": (
        errors.ResourceReferenceTerminalError(spot(), VPC),
        (
            "ResourceReferenceTerminal: Thing default/it: spec.vpcRef refers to VPC default/main, whose "
            "condition ACK.Terminal is True. Mend that object first."
        ),
    ),
    "NotSynced": (
        errors.ResourceReferenceNotSyncedError(spot(), VPC),
        (
            "ResourceReferenceNotSynced: Thing default/it: spec.vpcRef refers to VPC default/main, whose "
            "condition ACK.ResourceSynced is not True. Wait until its controller has made it, and try again."
        ),
    ),
    "MissingTargetField": (
        errors.ResourceReferenceMissingTargetFieldError(spot(), VPC, "Status.VPCID"),
        (
            "ResourceReferenceMissingTargetField: Thing default/it: spec.vpcRef refers to VPC default/main, "
            "which has no Status.VPCID. Wait until its controller has filled that in, or give spec.vpcID itself."
        ),
    ),
    "string": (
        errors.TargetNotStringError(spot(), VPC, "Status.VPCID", "a list"),
        (
            "Thing default/it: spec.vpcRef refers to VPC default/main, whose Status.VPCID is a list; only "
            "strings can be referred to. Give spec.vpcID itself."
        ),
    ),
    "not found": (
        errors.UnreadableReferenceError(spot(), errors.NoSuchObjectError(VPC, "the manifests given", ["mian"])),
        "Thing default/it: spec.vpcRef: VPC default/main was not found in the manifests given. Did you mean mian?",
    ),
    "value": (
        errors.ValueShapeError(spot(), "spec.vpcRef.from", "a list"),
        (
            "Thing default/it: what spec.vpcRef.from names is a list, and one string that is not empty is "
            "needed. Name a value that is one."
        ),
    ),
    "values": (
        errors.NoValuesError(spot(), "spec.vpcRef.from"),
        (
            "Thing default/it: spec.vpcRef.from names a stack, and no source of stacks' values was given. Name "
            "an object in from.name."
        ),
    ),
    "field": (
        errors.UnknownReferenceFieldError(spot().subject, "spec.vpcRefs", ["spec.vpcRef"]),
        "Thing default/it has spec.vpcRefs, which is no reference field of Thing. Did you mean spec.vpcRef?",
    ),
    "kind": (
        errors.UnknownKindError(spot().subject, "spec.vpcRef"),
        (
            "Thing default/it has spec.vpcRef, which looks like a reference, and no generator.yaml describes "
            "Thing of ec2.services.k8s.aws. Give that controller's with --generator."
        ),
    ),
    "generator": (
        errors.GeneratorError("ec2/generator.yaml", "resources.Vpc.fields.A.references.path", "it is missing", 7),
        "ec2/generator.yaml, line 7: resources.Vpc.fields.A.references.path: it is missing",
    ),
    "service": (
        errors.ServiceUnknownError("generator.yaml"),
        (
            "generator.yaml does not say whose controller it is for, and its folder is not called "
            "NAME-controller. Give the service with --service, as in ec2."
        ),
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_each_names_the_object_the_place_and_what_to_do_next(case: str) -> None:
    error, text = TEXTS[case]
    assert str(error) == text
    assert error.counted is ErrorMetric.REJECTED


def test_every_error_has_a_text_here() -> None:
    roots = {errors.RefsError, errors.FieldError, errors.ReferencedError, errors.NoSuchObjectError}
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, StrongRefError)}
    assert {kind for kind in kinds if kind.__module__ == errors.__name__} - roots == {
        type(error) for error, _ in TEXTS.values()
    }


def test_those_that_ack_has_are_called_as_ack_calls_them() -> None:
    of_fields = [error for error, _ in TEXTS.values() if isinstance(error, errors.FieldError)]
    named = {type(error).__name__: error.name for error in of_fields if error.name}
    assert named == {f"ResourceReference{name}Error": f"ResourceReference{name}" for name in (
        "AndIDNotSupported", "OrIDRequired", "CrossNamespaceNotAllowed", "Terminal", "NotSynced", "MissingTargetField"
    )}  # fmt: skip


def test_upstreams_text_of_a_nested_field_has_its_path() -> None:
    error = errors.ResourceReferenceAndIDNotSupportedError(spot("Routes.VpcPeeringConnectionId"))
    assert error.upstream.endswith(": Routes.VPCPeeringConnectionID,Routes.VPCPeeringConnectionRef")


def test_upstreams_text_of_a_nested_field_that_is_missing_has_its_name_only() -> None:
    error = errors.ResourceReferenceOrIDRequiredError(spot("Routes.VpcPeeringConnectionId"))
    assert error.upstream.endswith(" required: VPCPeeringConnectionID,VPCPeeringConnectionRef")


def test_without_a_field_like_it_the_generator_may_be_too_old() -> None:
    text = str(errors.UnknownReferenceFieldError(spot().subject, "spec.vpcRef"))
    assert text.endswith("which is no reference field of Thing. Take it out, or give a newer generator.yaml.")


def test_a_single_key_is_told_as_one() -> None:
    assert str(errors.FromKeyError(spot(), "spec.vpcRef", ["kind"], ("from",))).endswith("; there is from.")


def test_where_ack_has_no_such_error_its_condition_tells_ours() -> None:
    error = errors.ReferenceBelowMapError(spot(), "spec.a.b.vpcRef", "a")
    assert error.upstream == str(error)


NAME = st.text("ab-", min_size=1, max_size=300)
MAKERS: list[Callable[[Spot, Wanted, str], StrongRefError]] = [
    lambda spot, _, __: errors.ResourceReferenceAndIDNotSupportedError(spot),
    lambda spot, _, __: errors.ResourceReferenceOrIDRequiredError(spot),
    lambda spot, _, __: errors.EmptyReferenceError(spot, 3),
    lambda spot, _, name: errors.ResourceReferenceCrossNamespaceNotAllowedError(spot, name, name),
    lambda spot, _, name: errors.ReferenceBelowMapError(spot, name, name),
    lambda spot, _, name: errors.ReferenceShapeError(spot, name, "a string", name),
    lambda spot, _, __: errors.ResolvedByHookError(spot, "references_post_resolve"),
    lambda spot, _, name: errors.FromMissingError(spot, name, "stack"),
    lambda spot, _, name: errors.FromKeyError(spot, name, [name] * 20, ("name", "namespace", "stack")),
    lambda spot, wanted, _: errors.ResourceReferenceTerminalError(spot, wanted),
    lambda spot, wanted, _: errors.ResourceReferenceNotSyncedError(spot, wanted),
    errors.ResourceReferenceMissingTargetFieldError,
    lambda spot, wanted, name: errors.TargetNotStringError(spot, wanted, name, "a list"),
    lambda spot, wanted, name: errors.UnreadableReferenceError(
        spot, errors.NoSuchObjectError(wanted, name, [name] * 5)
    ),
    lambda spot, _, name: errors.ValueShapeError(spot, name, "a list"),
    lambda spot, _, name: errors.NoValuesError(spot, name),
    lambda spot, _, name: errors.UnknownReferenceFieldError(spot.subject, name, [name] * 5),
    lambda spot, _, name: errors.UnknownKindError(spot.subject, name),
    lambda _, __, name: errors.GeneratorError(name, name, name * 3, 12345),
    lambda _, __, name: errors.ServiceUnknownError(name),
    lambda _, wanted, name: errors.NoSuchObjectError(wanted, name, [name] * 5),
]


@given(st.sampled_from(MAKERS), NAME, NAME, NAME)
def test_however_long_the_names_are_the_text_stays_short(
    make: Callable[[Spot, Wanted, str], StrongRefError], one: str, two: str, three: str
) -> None:
    field = Field((one,), (two,), three, many=True, required=False, reference=Reference(one, two, three))
    place = Spot(Subject(one, two, three, one), field, ("spec", two, 0, three))
    text = str(make(place, Wanted(one, two, three, one, two), three))
    assert len(text) < REASON_LIMIT
    assert text.endswith((".", "?")) or "GeneratorError" in type(make(place, VPC, three)).__name__
