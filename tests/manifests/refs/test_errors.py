"""Errors of reference fields: named as by ACK, and under 1,000 characters however long the names in them are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from strongref.text import REASON_LIMIT
from strongref_manifests.refs import errors
from strongref_manifests.refs.base import Field, FieldLocation, FieldReference, ObjectName
from tests.support.ack import location

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.errors import StrongRefError

VPC = ObjectName("ec2.services.k8s.aws", "VPC", "default", "main")


def test_errors_that_ack_has_have_its_names() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.FieldError)]
    named = {kind.__name__: kind.name for kind in kinds if kind.name}
    assert named == {f"ResourceReference{name}Error": f"ResourceReference{name}" for name in (
        "AndIDNotSupported", "OrIDRequired", "CrossNamespaceNotAllowed", "Terminal", "NotSynced", "MissingTargetField"
    )}  # fmt: skip


def test_upstreams_text_of_a_nested_field_has_its_path() -> None:
    error = errors.ResourceReferenceAndIDNotSupportedError(location("Routes.VpcPeeringConnectionId"))
    assert error.upstream.endswith(": Routes.VPCPeeringConnectionID,Routes.VPCPeeringConnectionRef")


def test_upstreams_text_of_a_nested_field_that_is_missing_has_its_name_only() -> None:
    error = errors.ResourceReferenceOrIDRequiredError(location("Routes.VpcPeeringConnectionId"))
    assert error.upstream.endswith(" required: VPCPeeringConnectionID,VPCPeeringConnectionRef")


def test_without_a_similar_field_the_next_step_is_another_generator() -> None:
    text = str(errors.UnknownReferenceFieldError(location().subject, "spec.vpcRef"))
    assert text.endswith("which is not a reference field of Thing. Remove it, or use a newer generator.yaml.")


def test_without_an_error_of_acks_the_condition_has_our_text() -> None:
    error = errors.InvalidReferenceError(location(), "spec.a.b.vpcRef", "must be a map")
    assert error.upstream == str(error) == "Thing default/it: spec.a.b.vpcRef must be a map."


NAME = st.text("ab-", min_size=1, max_size=1000)
MAKERS: list[Callable[[FieldLocation, ObjectName, str], StrongRefError]] = [
    lambda location, _, __: errors.ResourceReferenceAndIDNotSupportedError(location),
    lambda location, _, __: errors.ResourceReferenceOrIDRequiredError(location),
    lambda location, _, __: errors.NamelessReferenceError(location, 3),
    lambda location, _, name: errors.ResourceReferenceCrossNamespaceNotAllowedError(location, name, name),
    lambda location, _, name: errors.InvalidReferenceError(location, name, name * 3, name),
    lambda location, key, _: errors.ResourceReferenceTerminalError(location, key),
    lambda location, key, _: errors.ResourceReferenceNotSyncedError(location, key),
    errors.ResourceReferenceMissingTargetFieldError,
    lambda location, key, name: errors.TargetNotStringError(location, key, name, "a list"),
    lambda location, key, name: errors.UnreadableReferenceError(
        location, errors.NoSuchObjectError(key, name, [name] * 5)
    ),
    lambda location, _, name: errors.UnknownReferenceFieldError(location.subject, name, [name] * 5),
    lambda location, _, name: errors.UnknownKindError(location.subject, name),
    lambda _, __, name: errors.GeneratorError(name, name, name * 3, 12345),
    lambda _, __, name: errors.ServiceUnknownError(name),
    lambda _, key, name: errors.NoSuchObjectError(key, name, [name] * 5),
    lambda _, key, name: errors.AmbiguousObjectError(key, [name] * 9),
    lambda _, __, name: errors.StackReferenceError(name * 3),
    lambda _, __, name: errors.UnwritableReferenceError(name, name, 1),
    lambda _, __, name: errors.ClusterConfigError(name * 3),
    lambda _, __, name: errors.UnreachableError(name, name, "the proxy does not let it through"),
    lambda _, __, name: errors.UnauthorizedError(name, name, 401),
    lambda _, __, name: errors.NotTheApiError(name, name * 3),
    lambda _, __, name: errors.DeniedError(name, name, "list", name, name),
    lambda _, __, name: errors.KindNotInstalledError(name, name, name, name),
    lambda _, __, name: errors.AnsweredError(name, name * 3, 500),
]


@given(st.sampled_from(MAKERS), NAME, NAME, NAME)
def test_the_text_stays_short_however_long_the_names_are(
    make: Callable[[FieldLocation, ObjectName, str], StrongRefError], one: str, two: str, three: str
) -> None:
    field = Field((one,), (two,), three, many=True, required=False, reference=FieldReference(one, two, three))
    place = FieldLocation(ObjectName(one, two, three, one), field, ("spec", two, 0, three))
    text = str(make(place, ObjectName(one, two, one, two), three))
    assert len(text) < REASON_LIMIT
    assert text.endswith((".", "?", "…"))
