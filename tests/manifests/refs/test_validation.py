"""All problems of reference fields are found before anything is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.text import some
from strongref_manifests.refs import errors
from strongref_manifests.refs.base import Field, Kind, ObjectName
from strongref_manifests.refs.errors import FieldError, RefsError
from strongref_manifests.refs.validation import CheckedObject, check, find_references
from strongref_toolkit.json_values import path_text, type_text
from tests.support.ack import EC2, field, kind, ref, thing

SUBJECT = ObjectName(EC2, "Thing", "shop", "it")


def checked(spec: object, *fields: Field) -> CheckedObject:
    return check(kind(*fields), SUBJECT, thing(spec))


def problems(spec: object, *fields: Field) -> list[RefsError]:
    return list(checked(spec, *fields).problems)


def only(spec: object, *fields: Field) -> RefsError:
    (problem,) = problems(spec, *fields)
    return problem


VPC = field("VpcId")
VPCS = field("VpcIds", many=True)
NEEDED = field("VpcId", required=True)
ROUTE = field("Routes.VpcId")


class TestBothOrNeither:
    @pytest.mark.parametrize(
        ("spec", "of"),
        [
            ({"vpcID": "vpc-1", "vpcRef": ref("a")}, VPC),
            ({"vpcID": "", "vpcRef": ref("a")}, VPC),
            ({"vpcIDs": ["vpc-1"], "vpcRefs": [ref("a")]}, VPCS),
            ({"vpcIDs": ["vpc-1"], "vpcRefs": ref("a")}, VPCS),
        ],
    )
    def test_resource_reference_and_id_not_supported(self, spec: dict[str, Any], of: Field) -> None:
        found = [
            each for each in problems(spec, of) if isinstance(each, errors.ResourceReferenceAndIDNotSupportedError)
        ]
        assert len(found) == 1
        assert found[0].name == "ResourceReferenceAndIDNotSupported"

    @pytest.mark.parametrize(
        ("spec", "of"),
        [
            ({"vpcRef": ref("a")}, VPC),
            ({"vpcID": None, "vpcRef": ref("a")}, VPC),
            ({"vpcID": "vpc-1", "vpcRef": None}, VPC),
            ({"vpcIDs": [], "vpcRefs": [ref("a")]}, VPCS),
            ({"vpcIDs": ["vpc-1"], "vpcRefs": []}, VPCS),
            ({"vpcID": "vpc-1"}, NEEDED),
            ({"vpcRef": ref("a")}, NEEDED),
            ({}, VPC),
            (None, VPC),
        ],
    )
    def test_one_of_them_is_right(self, spec: dict[str, Any], of: Field) -> None:
        assert problems(spec, of) == []

    @pytest.mark.parametrize("spec", [{}, None, {"vpcID": None}, {"vpcRef": None}])
    def test_resource_reference_or_id_required(self, spec: object) -> None:
        problem = only(spec, NEEDED)
        assert isinstance(problem, errors.ResourceReferenceOrIDRequiredError)
        assert str(problem).startswith("ResourceReferenceOrIDRequired: Thing shop/it must set spec.vpcID or spec.vpcR")

    def test_an_empty_list_is_neither(self) -> None:
        needed = field("VpcIds", many=True, required=True)
        assert isinstance(only({"vpcIDs": [], "vpcRefs": []}, needed), errors.ResourceReferenceOrIDRequiredError)

    def test_what_is_required_in_a_structure_that_is_not_there_is_not_missed(self) -> None:
        below = field("Routes.VpcId", required=True)
        assert problems({}, below) == problems({"routes": []}, below) == problems({"routes": None}, below) == []
        (first,) = problems({"routes": [{}, {"vpcID": "vpc-1"}]}, below)
        assert isinstance(first, FieldError)
        assert first.location.identifier_text == "spec.routes[0].vpcID"


class TestNames:
    @pytest.mark.parametrize(
        "reference",
        [{}, {"from": None}, {"from": {}}, {"from": {"name": None}}, ref(""), {"from": {"namespace": "shop"}}],
    )
    def test_a_reference_that_names_nothing_is_nil_or_empty(self, reference: object) -> None:
        problem = only({"vpcRef": reference}, VPC)
        assert isinstance(problem, errors.NamelessReferenceError)
        assert "provided resource reference is nil or empty: spec.vpcRef." in str(problem)

    def test_the_item_of_a_list_is_named(self) -> None:
        first, second = problems({"vpcRefs": [ref("a"), ref(""), None]}, VPCS)
        assert "spec.vpcRefs[1]." in str(first)
        assert "spec.vpcRefs[2]." in str(second)

    def test_another_namespace_is_not_supported(self) -> None:
        problem = only({"vpcRef": ref("a", namespace="other")}, VPC)
        assert isinstance(problem, errors.ResourceReferenceCrossNamespaceNotAllowedError)
        assert (problem.namespace, problem.target) == ("other", "a")

    def test_the_default_one_is_another_too(self) -> None:
        problem = only({"vpcRef": ref("a", namespace="default")}, VPC)
        assert isinstance(problem, errors.ResourceReferenceCrossNamespaceNotAllowedError)

    @pytest.mark.parametrize("namespace", ["shop", "", None])
    def test_ones_own_namespace_may_be_named(self, namespace: str | None) -> None:
        assert problems({"vpcRef": ref("a", namespace=namespace)}, VPC) == []

    @pytest.mark.parametrize(
        ("reference", "keys"),
        [
            ({**ref("a"), "kind": "VPC"}, ["kind"]),
            ({**ref("a"), "name": "b"}, ["name"]),
            ({"fron": {"name": "a"}}, ["fron"]),
            (ref("a", nmae="b"), ["nmae"]),
            (ref("a", region="eu-west-1", output="b"), ["region", "output"]),
        ],
    )
    def test_unknown_keys_are_reported(self, reference: object, keys: list[str]) -> None:
        problem = only({"vpcRef": reference}, VPC)
        assert isinstance(problem, errors.InvalidReferenceError)
        assert problem.found.endswith(f".{some(keys)}")
        assert "unknown; must be one of " in problem.problem

    @pytest.mark.parametrize(
        ("reference", "key"),
        [
            ({"name": "a"}, "name"),
            ({"name": "a", "namespace": "shop"}, "name"),
            ({"stack": "network", "name": "VpcId"}, "name"),
            ({"stack": "network", "output": "VpcId"}, "stack"),
        ],
    )
    def test_a_forgotten_from_is_reported(self, reference: object, key: str) -> None:
        problem = only({"vpcRefs": [ref("a"), reference]}, VPCS)
        assert isinstance(problem, errors.InvalidReferenceError)
        assert (problem.found, problem.problem) == ("spec.vpcRefs[1]", f"has {key} outside of from")
        assert str(only({"vpcRef": reference}, VPC)).endswith(f"outside of from. Write from: {{{key}: …}}.")


ROUTES = replace(ROUTE, lists=(True,), certain=True)
CONFIG = replace(field("Config.SubnetIds", many=True), lists=(False,), certain=True)
A_MAP, A_LIST, EITHER = "a map", "a list of maps", "a map or a list of maps"


class TestShapesOnTheWay:
    @pytest.mark.parametrize(
        ("spec", "of", "found", "must_be", "got"),
        [
            ({"routes": {"vpcRef": ref("a")}}, ROUTES, "spec.routes", A_LIST, "a map"),
            ({"routes": {"web": {"vpcRef": ref("a")}}}, ROUTES, "spec.routes", A_LIST, "a map"),
            ({"routes": "a"}, ROUTES, "spec.routes", A_LIST, "a string"),
            ({"routes": [{}, 3]}, ROUTES, "spec.routes[1]", A_MAP, "a number"),
            ({"config": [{"subnetRefs": [ref("a")]}]}, CONFIG, "spec.config", A_MAP, "a list"),
            ({"config": "a"}, CONFIG, "spec.config", A_MAP, "a string"),
            ({"routes": "a"}, ROUTE, "spec.routes", EITHER, "a string"),
            ("a", ROUTE, "spec", A_MAP, "a string"),
            ([{"routes": [{"vpcRef": ref("a")}]}], ROUTE, "spec", A_MAP, "a list"),
        ],
    )
    def test_a_wrong_type_is_reported_and_nothing_below_it(
        self, spec: object, of: Field, found: str, must_be: str, got: str
    ) -> None:
        assert str(only(spec, of)) == f"Thing shop/it: {found} must be {must_be}, got {got}."

    @pytest.mark.parametrize(
        ("spec", "of"),
        [
            ({"routes": [{"vpcRef": ref("a")}]}, ROUTES),
            ({"routes": [[{"vpcRef": ref("a")}]]}, ROUTES),
            ({"routes": None}, ROUTES),
            ({"config": {"subnetRefs": [ref("a")]}}, CONFIG),
            ({"routes": {"vpcRef": ref("a")}}, replace(ROUTE, lists=(True,))),
            ({"config": [{"subnetRefs": [ref("a")]}]}, replace(CONFIG, certain=False)),
        ],
    )
    def test_valid_types_are_accepted_and_guessed_types_are_not_enforced(self, spec: object, of: Field) -> None:
        assert problems(spec, of) == []

    @pytest.mark.parametrize("spec", ["x", {"routes": "x"}, {"routes": {"a": 1}}, {"routes": [3]}])
    def test_a_wrong_type_is_reported_once_for_all_fields_below_it(self, spec: object) -> None:
        fields = [
            replace(field(f"Routes.{name}Id"), lists=(True,), certain=True) for name in ("Vpc", "Subnet", "Gateway")
        ]
        assert isinstance(only(spec, *fields), errors.InvalidReferenceError)

    def test_each_wrong_type_is_reported(self) -> None:
        assert len(problems({"routes": ["x", {}, 3]}, ROUTES, replace(ROUTES, reference_step="aRef"))) == 2


class TestShapes:
    @pytest.mark.parametrize(
        ("spec", "of", "found", "got"),
        [
            ({"vpcRef": "a"}, VPC, "spec.vpcRef", "a string"),
            ({"vpcRef": [ref("a")]}, VPC, "spec.vpcRef", "a list"),
            ({"vpcRef": {"from": "a"}}, VPC, "spec.vpcRef.from", "a string"),
            ({"vpcRef": {"from": ["a"]}}, VPC, "spec.vpcRef.from", "a list"),
            ({"vpcRef": ref(3)}, VPC, "spec.vpcRef.from.name", "a number"),
            ({"vpcRef": ref(True)}, VPC, "spec.vpcRef.from.name", "true or false"),
            ({"vpcRef": ref("a", namespace=["shop"])}, VPC, "spec.vpcRef.from.namespace", "a list"),
            ({"vpcRefs": ref("a")}, VPCS, "spec.vpcRefs", "a map"),
            ({"vpcRefs": "a"}, VPCS, "spec.vpcRefs", "a string"),
            ({"vpcRefs": [ref("a"), "b"]}, VPCS, "spec.vpcRefs[1]", "a string"),
            ({"routes": "a"}, ROUTE, "spec.routes", "a string"),
            ({"routes": [{}, 3]}, ROUTE, "spec.routes[1]", "a number"),
            ("a", VPC, "spec", "a string"),
            ([], VPC, "spec", "a list"),
        ],
    )
    def test_a_wrong_type_is_reported_with_its_path(self, spec: object, of: Field, found: str, got: str) -> None:
        problem = only(spec, of)
        assert isinstance(problem, errors.InvalidReferenceError)
        assert (problem.found, problem.problem.rpartition(", got ")[2]) == (found, got)

    def test_no_value_is_shown(self) -> None:
        assert "hunter2" not in str(problems({"vpcRef": "hunter2", "vpcID": "hunter2"}, VPC))

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "nothing"),
            (True, "true or false"),
            (1.5, "a number"),
            ("a", "a string"),
            ([], "a list"),
            ((), "a list"),
            ({}, "a map"),
        ],
    )
    def test_values_are_shown_by_their_type(self, value: object, text: str) -> None:
        assert type_text(value) == text


class TestStrays:
    def test_a_reference_below_a_map_is_refused(self) -> None:
        problem = only({"listeners": {"web": {"vpcRef": ref("a")}}}, field("Listeners.VpcId"))
        assert isinstance(problem, errors.InvalidReferenceError)
        assert problem.found == "spec.listeners.web.vpcRef"
        assert "is below listeners, which is a map" in problem.problem
        assert problem.fix == "Set vpcID directly"

    def test_one_in_a_list_below_a_map_too(self) -> None:
        problem = only({"a": {"x": {"b": [{"vpcRefs": [ref("a")]}]}}}, field("A.B.VpcIds", many=True))
        assert isinstance(problem, errors.InvalidReferenceError)
        assert problem.found == "spec.a.x.b[0].vpcRefs"

    @pytest.mark.parametrize(
        ("spec", "found"),
        [
            ({"a": {"vpcRef": ref("a")}}, "spec.a.vpcRef"),
            ({"a": {"GET /": {"vpcRef": ref("a")}}}, 'spec.a["GET /"].vpcRef'),
            ({"a": {"b": {"vpcRef": ref("a")}}}, "spec.a.b.vpcRef"),
            ({"a": {"GET /": [{"b": {"vpcRef": ref("a")}}]}}, 'spec.a["GET /"][0].b.vpcRef'),
        ],
    )
    def test_where_a_map_is_known_to_be_one_nothing_below_it_is_referred_to(
        self, spec: dict[str, Any], found: str
    ) -> None:
        below = replace(field("A.B.VpcId", required=True), through_map="a")
        problem = only(spec, below)
        assert isinstance(problem, errors.InvalidReferenceError)
        assert problem.found == found
        assert "is below a, which is a map" in problem.problem
        assert isinstance(only({"b": {"vpcRef": ref("a")}}, below), errors.UnknownReferenceFieldError)
        assert problems({"a": {"GET /": {}}}, below) == []

    def test_a_field_that_the_api_does_not_have_cannot_be_referred_for(self) -> None:
        absent = replace(field("A.Vcp"), absent=True)
        problem = only({"a": [{"vcpRef": ref("a")}]}, absent, VPC)
        assert str(problem) == (
            "Thing shop/it: spec.a[0].vcpRef is the reference of A.Vcp, which the API does not have. "
            "Correct the name in generator.yaml, or add the kind's CRD with --crd."
        )
        misspelled = only({"a": {"vcpRefs": [ref("a")]}}, absent)
        assert isinstance(misspelled, errors.UnknownReferenceFieldError)
        assert list(misspelled.close) == []
        assert problems({"a": {}}, absent) == []

    def test_a_misspelled_reference_field_is_reported(self) -> None:
        problem = only({"vpcRefs": [ref("a")]}, VPC, field("SubnetId"))
        assert isinstance(problem, errors.UnknownReferenceFieldError)
        assert (problem.found, list(problem.close)) == ("spec.vpcRefs", ["spec.vpcRef"])

    def test_a_reference_field_like_no_other_is_reported(self) -> None:
        problem = only({"other": {"bucketRef": ref("a")}}, VPC)
        assert isinstance(problem, errors.UnknownReferenceFieldError)
        assert list(problem.close) == []

    @pytest.mark.parametrize(
        ("spec", "found", "close"),
        [
            ({"vpcRefs": [{"name": "a"}]}, "spec.vpcRefs", "spec.vpcRef"),
            ({"vcpRef": {"name": "a"}}, "spec.vcpRef", "spec.vpcRef"),
            ({"routes": [{"vpcRefs": [3, {"name": "a"}]}]}, "spec.routes[0].vpcRefs", "spec.routes.vpcRef"),
        ],
    )
    def test_a_misspelled_field_without_from_is_reported(self, spec: dict[str, Any], found: str, close: str) -> None:
        of = (VPC,) if "routes" not in spec else (ROUTE,)
        problem = only(spec, *(replace(each, reference_step="vpcRef") for each in of))
        assert isinstance(problem, errors.UnknownReferenceFieldError)
        assert (problem.found, list(problem.close)) == (found, [close])

    @pytest.mark.parametrize(
        "spec",
        [
            {"gitRef": "main"},
            {"backRef": {"name": "a"}},
            {"vpcRefs": [3], "vpcReef": {"name": "a"}},
            {"vpcRefs": [{"key": "a"}]},
            {"other": {"vpcRefs": {"name": "a"}}},
            {"vpcRefs": {3: {"name": "a"}}},
            {"hrefs": ["a"], "Refs": [{"name": "a"}]},
            {"from": {"name": "a"}},
            {"xref": {"from": {"name": "a"}}},
        ],
    )
    def test_other_fields_are_ignored(self, spec: dict[str, Any]) -> None:
        assert checked(spec, VPC) == CheckedObject((), (), referring=False)

    def test_references_are_found_wherever_they_stand(self) -> None:
        spec = {"a": [{"bRef": ref("x")}, {"cRefs": [3, ref("y")]}], "dRefs": ref("z"), "eRefs": [3]}
        assert list(find_references(spec)) == [("spec", "a", 0, "bRef"), ("spec", "a", 1, "cRefs"), ("spec", "dRefs")]


class TestEverything:
    def test_all_problems_of_all_fields_are_reported(self) -> None:
        fields = (NEEDED, field("SubnetIds", many=True), field("Routes.GatewayId"))
        spec = {
            "subnetIDs": ["subnet-1"],
            "subnetRefs": [ref(""), ref("a", namespace="other"), "b"],
            "routes": [{"gatewayRef": ref("a"), "gatewayID": "igw-1"}, {"gatewayRef": None}, {"gatewayRef": 3}],
            "peerRef": ref("a"),
        }
        assert [type(problem) for problem in problems(spec, *fields)] == [
            errors.ResourceReferenceOrIDRequiredError,
            errors.ResourceReferenceAndIDNotSupportedError,
            errors.NamelessReferenceError,
            errors.ResourceReferenceCrossNamespaceNotAllowedError,
            errors.InvalidReferenceError,
            errors.ResourceReferenceAndIDNotSupportedError,
            errors.InvalidReferenceError,
            errors.UnknownReferenceFieldError,
        ]

    def test_valid_references_are_in_the_documents_order(self) -> None:
        spec = {"routes": [{"vpcRef": ref("b")}, {}, {"vpcRef": ref("c")}], "vpcRef": ref("a")}
        found = checked(spec, VPC, ROUTE).fields
        assert [(location.reference_text, [each.name for each in targets]) for location, targets in found] == [
            ("spec.routes[0].vpcRef", ["b"]),
            ("spec.routes[2].vpcRef", ["c"]),
            ("spec.vpcRef", ["a"]),
        ]

    def test_each_item_of_nested_lists_is_a_place_of_its_own(self) -> None:
        pairs = field("Rules.Pairs.VpcId")
        spec = {"rules": [{"pairs": [{"vpcRef": ref("a")}, {"vpcRef": ref("b")}]}, {"pairs": [{"vpcRef": ref("c")}]}]}
        assert [location.container for location, _ in checked(spec, pairs).fields] == [
            ("spec", "rules", 0, "pairs", 0),
            ("spec", "rules", 0, "pairs", 1),
            ("spec", "rules", 1, "pairs", 0),
        ]

    def test_problems_are_in_the_documents_order(self) -> None:
        spec = {"rules": [{"pairs": [{}, {"vpcRef": 3}]}, {"pairs": [{}]}]}
        found = problems(spec, field("Rules.Pairs.VpcId", required=True))
        assert [each.location.identifier_text for each in found if isinstance(each, FieldError)] == [
            "spec.rules[0].pairs[0].vpcID",
            "spec.rules[0].pairs[1].vpcID",
            "spec.rules[1].pairs[0].vpcID",
        ]

    def test_a_stack_may_be_named_in_an_objects_place(self) -> None:
        source = {"stack": "network", "name": "VpcId", "region": "eu-west-1"}
        ((_, targets),) = checked({"vpcRef": {"from": source}}, VPC).fields
        assert targets[0].stack == source

    def test_whether_there_is_a_reference_at_all_is_known(self) -> None:
        assert not checked({"vpcID": "vpc-1", "vpcRef": "ignored"}, field("SubnetId")).referring
        assert checked({"vpcRef": "wrong"}, VPC).referring
        assert checked({"vpcRefs": [ref("")]}, VPCS).referring
        assert checked({"routes": {"vpcRef": ref("a")}}, ROUTES).referring
        assert not checked({"routes": {"vpcID": "vpc-1"}}, ROUTES).referring
        assert checked({"vpcRefs": [ref("a")]}, VPC).referring


@pytest.mark.parametrize("nothing", [{"vpcRefs": []}, {"vpcRefs": None}, {}])
def test_an_empty_list_is_no_reference(nothing: dict[str, Any]) -> None:
    found = checked({"vpcIDs": ["vpc-1"], **nothing}, VPCS)
    assert found == CheckedObject((), (), referring=False)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["vpcRef", "vpcRefs", "vpcID", "from", "name", "namespace", "stack", "routes", "rules", "a"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=25,
)
FIELDS = (
    VPC,
    field("Routes.VpcId", many=True, required=True),
    field("Rules.Routes.VpcId"),
    field("A.VpcId", required=True),
)
GUESSED: Kind = kind(*FIELDS)
KNOWN: Kind = kind(*(replace(each, lists=(True, False)[: len(each.steps) - 1], certain=True) for each in FIELDS))


@given(JSON, st.sampled_from([GUESSED, KNOWN]))
def test_each_reference_is_valid_or_reported(spec: object, of: Kind) -> None:
    found = check(of, SUBJECT, thing(spec))
    used = {(*location.container, location.field.reference_step) for location, _ in found.fields}
    assert len(used) == len(found.fields)
    texts = " ".join(str(problem) for problem in found.problems)
    wrong_types = {each.location.container for each in found.problems if isinstance(each, errors.InvalidReferenceError)}
    wrong_types = {place for place in wrong_types if f": {path_text(place)} must be a" in texts}
    for place in find_references(spec):
        above = {place[:length] for length in range(1, len(place))} & wrong_types
        assert place in used or above or path_text(place) in texts
    assert all(targets for _, targets in found.fields)
