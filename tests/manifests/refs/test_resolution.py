"""References are resolved: each referenced object is read once, its state checked and its value copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.errors import StrongRefError
from strongref_manifests.refs import errors
from strongref_manifests.refs.base import ObjectName
from strongref_manifests.refs.resolution import (
    Condition,
    Edit,
    ObjectResolution,
    ReferenceResolver,
    references_resolved,
)
from tests.support.ack import (
    EC2,
    GATEWAY,
    GENERATORS,
    FakeObjects,
    applied,
    field,
    kind,
    kinds_of,
    link,
    made,
    ref,
    thing,
    vpc_link,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strongref_manifests.refs.base import Field, Manifest

WEB = made("SecurityGroup", "web", {"id": "sg-1"})
A = made("Subnet", "a", {"subnetID": "subnet-a"})
B = made("Subnet", "b", {"subnetID": "subnet-b"})


def resolved(manifest: Manifest, *objects: tuple[ObjectName, Manifest | StrongRefError]) -> ObjectResolution:
    return ReferenceResolver([vpc_link()], FakeObjects(*objects)).resolve(manifest)


def condition_of(outcome: ObjectResolution) -> Condition:
    assert outcome.condition
    return outcome.condition


class TestTheVpcLinkOfTheDesign:
    """Every error of its listing (aws-controllers-k8s, cross-controller resource references) occurs."""

    SPEC = {"name": "link", "securityGroupRefs": [ref("web")], "subnetRefs": [ref("b"), ref("a")]}  # noqa: RUF012

    def test_it_resolves(self) -> None:
        outcome = resolved(link(self.SPEC), WEB, A, B)
        assert outcome.problems == ()
        assert applied(link(self.SPEC), outcome.edits)["spec"] == {
            "name": "link",
            "securityGroupIDs": ["sg-1"],
            "subnetIDs": ["subnet-b", "subnet-a"],
        }
        assert condition_of(outcome) == Condition("True")

    def test_both(self) -> None:
        outcome = resolved(link({**self.SPEC, "subnetIDs": ["subnet-c"]}), WEB, A, B)
        assert [type(each) for each in outcome.problems] == [errors.ResourceReferenceAndIDNotSupportedError]
        assert outcome.edits == ()
        assert condition_of(outcome) == Condition(
            "Unknown",
            "Reference resolution failed",
            "both resource reference wrapper and ID cannot be used together: SubnetIDs,SubnetRefs",
        )

    def test_neither(self) -> None:
        outcome = resolved(link({"name": "link"}))
        (problem,) = outcome.problems
        assert isinstance(problem, errors.ResourceReferenceOrIDRequiredError)
        assert problem.upstream == "resource reference wrapper or ID required: SubnetIDs,SubnetRefs"
        assert outcome.condition is None

    @pytest.mark.parametrize("empty", [ref(""), ref(None), {"from": None}, {}, None])
    def test_nil_or_empty(self, empty: object) -> None:
        outcome = resolved(link({"subnetRefs": [ref("a"), empty]}), A)
        assert [type(each) for each in outcome.problems] == [errors.NamelessReferenceError]
        assert condition_of(outcome).reason == "provided resource reference is nil or empty: SubnetRefs"
        assert condition_of(outcome).status == "Unknown"

    def test_terminal(self) -> None:
        outcome = resolved(link({"subnetRefs": [ref("a")]}), made("Subnet", "a", {"subnetID": "x"}, terminal="True"))
        assert [type(each) for each in outcome.problems] == [errors.ResourceReferenceTerminalError]
        assert condition_of(outcome) == Condition(
            "False",
            "Reference resolution failed",
            "the referenced resource has 'ACK.Terminal' condition 'True'. Cannot be referenced. "
            "resource:Subnet, namespace:shop, name:a",
        )

    @pytest.mark.parametrize("synced", ["False", "Unknown", None])
    def test_not_synced(self, synced: str | None) -> None:
        outcome = resolved(link({"subnetRefs": [ref("a")]}), made("Subnet", "a", {"subnetID": "x"}, synced=synced))
        assert [type(each) for each in outcome.problems] == [errors.ResourceReferenceNotSyncedError]
        assert condition_of(outcome) == Condition(
            "Unknown",
            "Reference resolution failed",
            "the referenced resource is not synced yet. resource:Subnet, namespace:shop, name:a",
        )

    def test_missing_target_field(self) -> None:
        outcome = resolved(link({"subnetRefs": [ref("a")]}), made("Subnet", "a", {"id": "subnet-a"}))
        assert [type(each) for each in outcome.problems] == [errors.ResourceReferenceMissingTargetFieldError]
        assert condition_of(outcome).status == "Unknown"
        assert condition_of(outcome).reason == (
            "the referenced resource is missing the target field. "
            "resource:Subnet, namespace:shop, name:a, targetField:Status.SubnetID"
        )

    def test_not_found(self) -> None:
        outcome = resolved(link({"subnetRefs": [ref("a")]}), WEB)
        (problem,) = outcome.problems
        assert isinstance(problem, errors.UnreadableReferenceError)
        assert isinstance(problem.error, errors.NoSuchObjectError)
        assert condition_of(outcome).status == "Unknown"
        assert condition_of(outcome).reason == 'subnets.ec2.services.k8s.aws "a" not found'

    def test_another_namespace(self) -> None:
        outcome = resolved(link({"subnetRefs": [ref("a", namespace="net")]}), A)
        assert condition_of(outcome) == Condition(
            "False",
            "Reference resolution failed",
            "cross-namespace resource reference is not allowed. Set --enable-cross-namespace=true to allow it. "
            "sourceNamespace:shop, targetNamespace:net, name:a",
        )


class TestReading:
    def test_the_object_is_read_in_the_referring_objects_namespace(self) -> None:
        objects = FakeObjects(A)
        ReferenceResolver([vpc_link()], objects).resolve(link({"subnetRefs": [ref("a")]}))
        assert objects.asked == [ObjectName(EC2, "Subnet", "shop", "a")]

    def test_an_object_without_a_namespace_is_in_the_default_one(self) -> None:
        objects = FakeObjects()
        manifest = link({"subnetRefs": [ref("a")]}, namespace=None)
        assert ReferenceResolver([vpc_link()], objects).resolve(manifest).subject.namespace == "default"
        assert ReferenceResolver([vpc_link()], objects, namespace="shop").resolve(manifest).subject.namespace == "shop"
        assert [wanted.namespace for wanted in objects.asked] == ["default", "shop"]

    def test_what_several_refer_to_is_read_once_also_if_it_is_not_there(self) -> None:
        objects = FakeObjects(WEB, A)
        resolver = ReferenceResolver([vpc_link()], objects)
        spec = {"securityGroupRefs": [ref("web"), ref("web")], "subnetRefs": [ref("a"), ref("gone")]}
        first, second = resolver.resolve(link(spec)), resolver.resolve(link(spec, name="other"))
        assert len(objects.asked) == len(set(objects.asked)) == 3
        assert [len(outcome.problems) for outcome in (first, second)] == [1, 1]
        assert "VPCLink shop/other" in str(second.problems[0])

    def test_unreadable_and_invalid_references_are_all_reported(self) -> None:
        spec = {"securityGroupRefs": [ref("x"), ref("web")], "subnetRefs": [ref(""), ref("y"), ref("a")]}
        outcome = resolved(link(spec), WEB, A)
        assert [type(each) for each in outcome.problems] == [
            errors.NamelessReferenceError,
            errors.UnreadableReferenceError,
            errors.UnreadableReferenceError,
        ]
        assert condition_of(outcome).reason.count("; ") == 2

    def test_objects_that_refer_to_each_other_resolve(self) -> None:
        groups = kinds_of((GENERATORS / "ec2.yaml").read_text(), "ec2")["SecurityGroup"]
        objects = {}
        for name, other in (("a", "b"), ("b", "a")):
            wanted, group = made("SecurityGroup", name, {"id": f"sg-{name}"}, synced=None)
            group["spec"] = {"vpcID": "vpc-1", "ingressRules": [{"userIDGroupPairs": [{"groupRef": ref(other)}]}]}
            objects[wanted] = group
        resolver = ReferenceResolver([groups], FakeObjects(*objects.items()))
        outcomes = [resolver.resolve(group) for group in objects.values()]
        assert [outcome.edits for outcome in outcomes] == [
            (Edit(("spec", "ingressRules", 0, "userIDGroupPairs", 0), "groupRef", "groupID", f"sg-{other}"),)
            for other in ("b", "a")
        ]

    @given(st.permutations(["a", "b", "c"]))
    def test_in_which_order_objects_are_resolved_does_not_matter(self, order: list[str]) -> None:
        of = field("VpcId", target="Status.VPCID")
        ring = dict(zip("abc", "bca", strict=True))
        found = {
            name: {**made("VPC", name, {"vpcID": f"vpc-{name}"})[1], "spec": {"vpcRef": ref(other)}}
            for name, other in ring.items()
        }
        objects = FakeObjects(*((ObjectName(EC2, "VPC", "shop", name), each) for name, each in found.items()))
        resolver = ReferenceResolver([kind(of)], objects)
        for name in order:
            manifest = {**thing({"vpcRef": ref(ring[name])}, namespace="shop")}
            assert [edit.value for edit in resolver.resolve(manifest).edits] == [f"vpc-{ring[name]}"]


def value(of: Field, found: Mapping[str, Any]) -> ObjectResolution:
    wanted = ObjectName(EC2, "VPC", "default", "a")
    manifest = thing({of.reference_step: [ref("a")] if of.many else ref("a")})
    return ReferenceResolver([kind(of)], FakeObjects((wanted, found))).resolve(manifest)


SYNCED = {"conditions": [{"type": "ACK.ResourceSynced", "status": "True"}]}
ARN = "Status.ACKResourceMetadata.ARN"


class TestHooks:
    """Route's target is `integrations/ID` by a hook of its controller; a plain copy of the ID would be wrong."""

    ROUTE = kinds_of((GENERATORS / "apigatewayv2.yaml").read_text(), "apigatewayv2")["Route"]

    def resolved(self, spec: dict[str, Any], **values: str) -> ObjectResolution:
        manifest = {**link(spec), "kind": "Route"}
        return ReferenceResolver([self.ROUTE], FakeObjects(), FakeValues(**values).get).resolve(manifest)

    def test_what_a_controller_resolves_by_code_of_its_own_is_refused(self) -> None:
        outcome = self.resolved({"apiID": "a", "targetRef": ref("i")})
        assert outcome.edits == ()
        (problem,) = outcome.problems
        assert str(problem) == (
            "Route shop/link: spec.targetRef is resolved by the controller's own code (hook references_post_resolve), "
            "and its result is not known here. Set spec.target directly."
        )
        assert condition_of(outcome).status == "Unknown"

    def test_the_routes_other_references_are_ordinary(self) -> None:
        found = {"metadata": {}, "status": {**SYNCED, "apiID": "a1", "authorizerID": "b2"}}
        keys = [ObjectName(GATEWAY, each, "shop", "x") for each in ("API", "Authorizer")]
        manifest = {
            **link({"apiRef": ref("x"), "authorizerRef": ref("x"), "target": "integrations/c3"}),
            "kind": "Route",
        }
        outcome = ReferenceResolver([self.ROUTE], FakeObjects(*((key, found) for key in keys))).resolve(manifest)
        assert outcome.problems == ()
        assert [(edit.step, edit.value) for edit in outcome.edits] == [("apiID", "a1"), ("authorizerID", "b2")]

    def test_elsewhere_that_may_be_any_field_of_the_kind(self) -> None:
        fields = "{ApiId: {references: {resource: API, path: Status.APIID}}}"
        text = f"resources: {{Stage: {{hooks: {{references_pre_resolve: {{code: x}}}}, fields: {fields}}}}}"
        stage = {**link({"stageName": "a", "apiRef": ref("a")}), "kind": "Stage"}
        outcome = ReferenceResolver(kinds_of(text, "apigatewayv2").values(), FakeObjects()).resolve(stage)
        assert [type(each) for each in outcome.problems] == [errors.InvalidReferenceError]

    def test_other_problems_are_reported_too(self) -> None:
        outcome = self.resolved({"apiID": "a", "apiRef": ref(""), "targetRef": ref("")})
        assert [type(each) for each in outcome.problems] == [
            errors.ResourceReferenceAndIDNotSupportedError,
            errors.NamelessReferenceError,
            errors.NamelessReferenceError,
        ]

    def test_what_a_stack_has_is_filled_in_as_it_is(self) -> None:
        from_stack = {"from": {"stack": "shop", "name": "Target"}}
        outcome = self.resolved({"apiID": "a", "targetRef": from_stack}, Target="integrations/abc123")
        assert [edit.value for edit in outcome.edits] == ["integrations/abc123"]

    def test_without_references_nothing_is_wrong(self) -> None:
        assert self.resolved({"apiID": "a", "target": "integrations/abc123"}).problems == ()


READ_ONLY = {"services.k8s.aws/read-only": "true"}
ADOPT = {"services.k8s.aws/adoption-policy": "adopt"}


class TestObjectsThatExistAlready:
    """ACK's controllers ignore errors of references of read-only objects, and of those to adopt."""

    MISSING = {"subnetRefs": [ref("nowhere")]}  # noqa: RUF012

    def resolved(
        self, annotations: object, spec: dict[str, Any], *objects: tuple[ObjectName, Manifest], **metadata: object
    ) -> ObjectResolution:
        manifest = link(spec)
        manifest["metadata"] |= {"annotations": annotations, **metadata}
        return resolved(manifest, *objects)

    @pytest.mark.parametrize(
        "annotations", [READ_ONLY, {"services.k8s.aws/read-only": "True"}, ADOPT, READ_ONLY | ADOPT]
    )
    @pytest.mark.parametrize(
        "spec",
        [
            MISSING,
            {"subnetRefs": [ref("a"), ref("b", namespace="net")]},
            {"subnetRefs": [ref("a"), ref("")]},
            {"subnetRefs": [ref("a")], "subnetIDs": ["subnet-1"]},
            {"subnetRefs": [ref("new")]},
        ],
    )
    def test_they_keep_references_that_cannot_be_resolved(
        self, annotations: dict[str, str], spec: dict[str, Any]
    ) -> None:
        new = made("Subnet", "new", {"subnetID": "x"}, synced="False")
        outcome = self.resolved(annotations, {**spec, "securityGroupRefs": [ref("web")]}, A, WEB, new)
        assert (outcome.problems, outcome.edits) == ((), ())
        (ignored,) = outcome.ignored
        assert isinstance(ignored, errors.FieldError)
        assert condition_of(outcome).reason == ignored.upstream
        assert condition_of(outcome).status != "True"

    def test_they_need_no_references(self) -> None:
        outcome = self.resolved(ADOPT, {})
        assert outcome == ObjectResolution(outcome.subject)
        outcome = self.resolved(ADOPT, {"securityGroupRefs": [ref("web")]}, WEB)
        assert ([edit.value for edit in outcome.edits], outcome.problems, outcome.ignored) == ([("sg-1",)], (), ())
        assert condition_of(outcome).reason == "resource reference wrapper or ID required: SubnetIDs,SubnetRefs"

    def test_what_can_be_resolved_is(self) -> None:
        outcome = self.resolved(READ_ONLY, {"subnetRefs": [ref("a")]}, A)
        assert ([edit.value for edit in outcome.edits], outcome.ignored) == ([("subnet-a",)], ())
        assert condition_of(outcome) == Condition("True")

    @pytest.mark.parametrize(
        "annotations",
        [
            None,
            {},
            "text",
            {"services.k8s.aws/read-only": "yes"},
            {"services.k8s.aws/adoption-policy": "adopt-or-create"},
            {"services.k8s.aws/adoption-policy": "Adopt"},
            ADOPT | {"services.k8s.aws/adopted": "true"},
        ],
    )
    def test_others_need_them(self, annotations: object) -> None:
        assert self.resolved(annotations, self.MISSING).problems
        assert self.resolved(annotations, {}).problems

    def test_one_that_its_controller_has_adopted_needs_them(self) -> None:
        assert self.resolved(ADOPT, self.MISSING, finalizers=[f"finalizers.{GATEWAY}/VPCLink"]).problems
        assert self.resolved(ADOPT, self.MISSING, finalizers=["foregroundDeletion"]).ignored

    @pytest.mark.parametrize(
        "spec",
        [
            {"subnetRefs": ref("a")},
            {"subnetRef": ref("a"), "subnetIDs": ["subnet-1"]},
            {"subnetRefs": [{"from": {"nmae": "a"}}]},
        ],
    )
    def test_what_the_clusters_api_refuses_stays_a_problem(self, spec: dict[str, Any]) -> None:
        outcome = self.resolved(READ_ONLY, spec)
        assert (bool(outcome.problems), outcome.ignored) == (True, ())

    def test_a_cluster_that_does_not_answer_stays_a_problem(self) -> None:
        key = ObjectName(EC2, "Subnet", "shop", "nowhere")
        manifest = {**link(self.MISSING), "metadata": {"name": "link", "namespace": "shop", "annotations": READ_ONLY}}
        assert resolved(manifest, (key, Unasked())).problems
        missing = errors.KindNotInstalledError("https://x", "find Subnet", "Subnet", EC2)
        assert resolved(manifest, (key, missing)).ignored

    def test_a_reference_to_a_stack_cannot_stay(self) -> None:
        spec = {"subnetRefs": [{"from": {"stack": "network", "name": "a"}}], "securityGroupRefs": [ref("nowhere")]}
        manifest = {**link(spec), "metadata": {"name": "link", "annotations": READ_ONLY}}
        outcome = ReferenceResolver([vpc_link()], FakeObjects(), FakeValues(a="subnet-1").get).resolve(manifest)
        assert ([type(each) for each in outcome.problems], outcome.ignored) == ([errors.UnreadableReferenceError], ())


class TestTarget:
    @pytest.mark.parametrize(
        ("path", "found"),
        [
            (ARN, {"status": {**SYNCED, "ackResourceMetadata": {"arn": "x"}}}),
            ("Status.VPCID", {"status": {**SYNCED, "vpcID": "x"}}),
            ("Spec.Name", {"spec": {"name": "x"}, "status": SYNCED}),
            ("Spec.Config.VpcId", {"spec": {"config": {"vpcID": "x"}}, "status": SYNCED}),
            ("Status.Type", {"status": {**SYNCED, "type_": "x"}}),
        ],
    )
    def test_the_value_at_the_path_is_copied(self, path: str, found: dict[str, Any]) -> None:
        outcome = value(field("VpcId", target=path), found)
        assert [edit.value for edit in outcome.edits] == ["x"]

    @pytest.mark.parametrize(
        "status",
        [
            {},
            {"ackResourceMetadata": None},
            {"ackResourceMetadata": {}},
            {"ackResourceMetadata": {"arn": None}},
            {"ackResourceMetadata": {"arn": ""}},
            {"ackResourceMetadata": "x"},
            {"ackResourceMetadata": [{"arn": "x"}]},
        ],
    )
    @pytest.mark.parametrize("skip_state", [False, True])
    def test_whether_it_is_there_is_checked_even_if_the_state_is_not(
        self, status: dict[str, Any], skip_state: bool
    ) -> None:
        outcome = value(field("VpcId", target=ARN, skip_state=skip_state), {"status": {**SYNCED, **status}})
        assert [type(each) for each in outcome.problems] == [errors.ResourceReferenceMissingTargetFieldError]

    @pytest.mark.parametrize(
        ("found", "got"), [(3, "a number"), (True, "true or false"), (["x"], "a list"), ({"a": "x"}, "a map")]
    )
    def test_only_strings_are_copied(self, found: object, got: str) -> None:
        (problem,) = value(field("VpcId"), {"status": {**SYNCED, "id": found}}).problems
        assert isinstance(problem, errors.TargetNotStringError)
        assert problem.got == got

    @pytest.mark.parametrize(
        "found",
        [
            {"status": {"id": "x"}},
            {"status": {"id": "x", "conditions": [{"type": "ACK.ResourceSynced", "status": "False"}]}},
            {"status": {"id": "x", "conditions": [{"type": "ACK.Terminal", "status": "False"}]}},
        ],
    )
    def test_where_the_state_is_not_to_be_checked_it_need_not_be_synced(self, found: dict[str, Any]) -> None:
        assert [edit.value for edit in value(field("VpcId", skip_state=True), found).edits] == ["x"]
        (problem,) = value(field("VpcId"), found).problems
        assert isinstance(problem, errors.ResourceReferenceNotSyncedError)

    @pytest.mark.parametrize("skip_state", [False, True])
    @pytest.mark.parametrize("others", [[], [{"type": "ACK.ResourceSynced", "status": "True"}]])
    def test_what_is_terminal_is_never_referred_to(self, skip_state: bool, others: list[Any]) -> None:
        found = {"status": {"id": "x", "conditions": [*others, {"type": "ACK.Terminal", "status": "True"}]}}
        outcome = value(field("VpcId", skip_state=skip_state), found)
        assert [type(each) for each in outcome.problems] == [errors.ResourceReferenceTerminalError]
        assert condition_of(outcome).status == "False"

    @pytest.mark.parametrize(
        "found",
        [{}, {"status": "x"}, {"status": {"conditions": "x"}}, {"status": {"conditions": ["x", {"type": "Ready"}]}}],
    )
    def test_an_object_without_conditions_is_not_synced(self, found: dict[str, Any]) -> None:
        (problem,) = value(field("VpcId"), found).problems
        assert isinstance(problem, errors.ResourceReferenceNotSyncedError)


class FakeValues:
    """Stacks' values by their name."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def get(self, given: Mapping[str, Any]) -> str | Sequence[str]:
        if isinstance(found := self._values[given["name"]], Exception):
            raise found
        return found  # type: ignore[no-any-return]


class Unasked(StrongRefError):  # noqa: N818
    sentence = "Stack network does not export that."


def from_stack(of: Field, *names: str, **values: Any) -> ObjectResolution:
    references = [{"from": {"stack": "network", "name": name}} for name in names]
    manifest = thing({of.reference_step: references if of.many else references[0]})
    return ReferenceResolver([kind(of)], FakeObjects(), FakeValues(**values).get).resolve(manifest)


class TestStacks:
    def test_a_stacks_value_is_filled_in(self) -> None:
        assert [edit.value for edit in from_stack(field("VpcId"), "a", a="vpc-1").edits] == ["vpc-1"]

    def test_lists_are_put_together_in_order(self) -> None:
        many = field("VpcIds", many=True)
        outcome = from_stack(many, "a", "b", "c", a="1", b=["2", "3"], c=("4",))
        assert [edit.value for edit in outcome.edits] == [("1", "2", "3", "4")]

    @pytest.mark.parametrize(
        ("found", "got"), [(["x"], "a list"), ("", "an empty value"), (3, "a number"), ({"a": "x"}, "a map")]
    )
    def test_one_string_is_needed_for_one_field(self, found: object, got: str) -> None:
        (problem,) = from_stack(field("VpcId"), "a", a=found).problems
        assert isinstance(problem, errors.InvalidReferenceError)
        assert problem.problem.endswith(f", got {got}")
        assert "must name one non-empty string" in str(problem)

    @pytest.mark.parametrize(
        ("found", "got"), [([], "an empty value"), (["x", ""], "a list"), (["x", 3], "a list"), (3, "a number")]
    )
    def test_strings_are_needed_for_a_list(self, found: object, got: str) -> None:
        (problem,) = from_stack(field("VpcIds", many=True), "a", a=found).problems
        assert isinstance(problem, errors.InvalidReferenceError)
        assert problem.problem.endswith(f", got {got}")
        assert "must name a list of non-empty strings" in str(problem)

    def test_the_error_of_the_source_is_reported(self) -> None:
        outcome = from_stack(field("VpcId"), "a", a=Unasked())
        (problem,) = outcome.problems
        assert isinstance(problem, errors.UnreadableReferenceError)
        assert str(problem) == "Thing default/it: spec.vpcRef: Stack network does not export that."
        assert condition_of(outcome).reason == "Stack network does not export that."

    def test_without_a_source_of_values_stacks_are_refused(self) -> None:
        manifest = thing({"vpcRef": {"from": {"stack": "network", "name": "a"}}})
        (problem,) = ReferenceResolver([kind(field("VpcId"))], FakeObjects()).resolve(manifest).problems
        assert isinstance(problem, errors.InvalidReferenceError)
        assert "no source of stacks' values" in problem.problem


class TestOtherObjects:
    @pytest.mark.parametrize(
        "manifest",
        [
            {"apiVersion": "v1", "kind": "ConfigMap", "spec": {"vpcRef": ref("a")}},
            {"apiVersion": "argoproj.io/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"vpcRef": ref("a")}},
            {"apiVersion": f"{EC2}/v1alpha1", "kind": "Other", "metadata": "text", "spec": {"vpcID": "vpc-1"}},
            {},
        ],
    )
    def test_they_are_left_alone(self, manifest: dict[str, Any]) -> None:
        outcome = ReferenceResolver([kind(field("VpcId"))], FakeObjects()).resolve(manifest)
        assert (outcome.edits, outcome.problems, outcome.condition) == ((), (), None)

    def test_an_ack_object_of_an_unknown_kind_with_references_is_reported(self) -> None:
        manifest = {"apiVersion": f"{EC2}/v1alpha1", "kind": "Other", "spec": {"a": [{"vpcRef": ref("a")}]}}
        (problem,) = ReferenceResolver([vpc_link()], FakeObjects()).resolve(manifest).problems
        assert isinstance(problem, errors.UnknownKindError)
        assert problem.found == "spec.a[0].vpcRef"

    @pytest.mark.parametrize("name", ["DomainName", "Unheardof"])
    def test_in_a_known_group_an_unknown_field_is_reported(self, name: str) -> None:
        kinds = kinds_of((GENERATORS / "apigatewayv2.yaml").read_text(), "apigatewayv2")
        assert kinds["DomainName"].fields == ()
        manifest = {**link({"certRef": ref("a"), "xRef": ref("a")}), "kind": name}
        outcome = ReferenceResolver(kinds.values(), FakeObjects()).resolve(manifest)
        assert str(outcome.problems[0]) == (
            f"{name} shop/link has spec.certRef, which is not a reference field of {name}. Remove it, or use a newer "
            "generator.yaml."
        )
        assert len(outcome.problems) == 2
        assert condition_of(outcome).status == "Unknown"
        assert ReferenceResolver(kinds.values(), FakeObjects()).resolve({**manifest, "spec": {"a": "b"}}).problems == ()

    def test_a_generated_name_is_a_name(self) -> None:
        manifest = {"metadata": {"generateName": "link-"}, "apiVersion": f"{EC2}/v1", "kind": "Thing"}
        assert ObjectName.of(manifest, "default") == ObjectName(EC2, "Thing", "default", "link-")


class TestEdits:
    def test_what_is_resolved_has_nothing_left_to_resolve(self) -> None:
        manifest = link({"securityGroupRefs": [ref("web")], "subnetRefs": [ref("a"), ref("b")]})
        again = resolved(applied(manifest, resolved(manifest, WEB, A, B).edits))
        assert (again.edits, again.problems, again.condition) == ((), (), None)

    def test_a_value_is_not_shown(self) -> None:
        assert repr(Edit(("spec", "rules", 0), "keyRef", "keyARN", "hunter2")) == "Edit(spec.rules[0].keyARN)"


NAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6)


@given(
    st.lists(st.fixed_dictionaries({}, optional={"vpcRef": st.sampled_from("abcd"), "subnetRefs": NAMES}), max_size=5)
)
def test_every_item_of_a_list_of_structures_gets_its_own(items: list[dict[str, Any]]) -> None:
    fields = (field("Rules.VpcId"), field("Rules.SubnetIds", many=True))
    objects = FakeObjects(
        *((ObjectName(EC2, "VPC", "default", name), {"status": {**SYNCED, "id": f"id-{name}"}}) for name in "abcd")
    )
    spec = {
        "rules": [
            {
                key: [ref(name) for name in names] if isinstance(names, list) else ref(names)
                for key, names in item.items()
            }
            for item in items
        ]
    }
    outcome = ReferenceResolver([kind(*fields)], objects).resolve(thing(spec))
    assert outcome.problems == ()
    expected = [
        {
            **({"vpcID": f"id-{item['vpcRef']}"} if "vpcRef" in item else {}),
            **({"subnetIDs": [f"id-{name}" for name in item["subnetRefs"]]} if "subnetRefs" in item else {}),
        }
        for item in items
    ]
    assert applied(thing(spec), outcome.edits)["spec"] == {"rules": expected}
    assert len(objects.asked) == len(set(objects.asked))


class TestConditions:
    def test_a_final_problem_makes_it_false(self) -> None:
        spot_problem = resolved(link({"subnetRefs": [ref("")]})).problems[0]
        final = resolved(link({"subnetRefs": [ref("a", namespace="b")]})).problems[0]
        assert references_resolved([spot_problem, final]).status == "False"
        assert references_resolved([spot_problem]).status == "Unknown"
        assert references_resolved([]) == Condition("True")

    def test_the_message_is_always_the_same_and_the_reason_has_the_problem(self) -> None:
        message, reason = "Reference resolution failed", "Stack network does not export that."
        assert references_resolved([Unasked()]) == Condition("Unknown", message, reason)

    def test_a_long_reason_is_cut(self) -> None:
        assert len(references_resolved([Unasked()] * 100).reason) == 1000
