"""Whether a field is a list, required or below a map, from CRDs and the APIs' own models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ruamel.yaml import YAML

from strongref_manifests.refs.base import ACK_GROUPS, CombinedShapes, FieldShape
from strongref_manifests.refs.config import load
from strongref_manifests.refs.crds import CrdShapes, crd_spec
from strongref_manifests.refs.errors import GeneratorError
from strongref_manifests.refs.models import ApiModel, service_model
from tests.support.ack import EC2, kinds_of


def crd(kind: str, spec: object, *, group: str = EC2) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"properties": {"spec": spec}}}
    versions = [{"name": "v1alpha1", "schema": {}}, {"name": "v1", "storage": True, "schema": schema}]
    return {"kind": "CustomResourceDefinition", "spec": {"group": group, "names": {"kind": kind}, "versions": versions}}


def structure(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def several(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT = {"type": "string"}


class TestCrds:
    def known(self, spec: object, *path: str, kind: str = "Thing") -> FieldShape | None:
        return CrdShapes(dict([crd_spec("a.yaml", crd("Thing", spec))]), EC2).shape(kind, path)

    def test_a_list_is_one(self) -> None:
        spec = structure(subnetIDs=several(TEXT), vpcID=TEXT)
        assert self.known(spec, "SubnetIds") == FieldShape(("subnetIDs",), many=True, spelled=True)
        assert self.known(spec, "VPCID") == FieldShape(("vpcID",), many=False, spelled=True)

    def test_lists_of_structures_are_gone_through(self) -> None:
        spec = structure(rules=several(structure(pairs=several(structure(type_=TEXT)))))
        assert self.known(spec, "Rules", "Pairs", "Type") == FieldShape(
            ("rules", "pairs", "type_"), many=False, spelled=True, lists=(True, True)
        )

    def test_maps_of_structures_are_reported(self) -> None:
        below = {"type": "object", "additionalProperties": several(structure(keyARN=TEXT, more=structure(id=TEXT)))}
        spec = structure(config=structure(listeners=below))
        assert self.known(spec, "Config", "Listeners", "KeyArn") == FieldShape(
            ("config", "listeners", "keyARN"), many=False, map_at=1, spelled=True, lists=(False, False)
        )
        found = self.known(spec, "Config", "Listeners", "More", "Id")
        assert found is not None
        assert found.map_at == 1

    @pytest.mark.parametrize("path", [("Nothing",), ("VPCID", "Deeper"), ("Rules", "Nothing")])
    def test_of_what_it_does_not_have_it_knows_nothing(self, path: tuple[str, ...]) -> None:
        assert self.known(structure(vpcID=TEXT, rules=several(structure())), *path) is None

    @pytest.mark.parametrize(
        "spec",
        [
            structure(a=None),
            {"properties": {1: TEXT, None: TEXT, "a": True}},
            {"properties": {"a": {"properties": ["b"]}}},
        ],
    )
    def test_a_crd_that_is_not_whole_is_no_reason_to_fail(self, spec: dict[str, Any]) -> None:
        assert self.known(spec, "A") is not None
        assert self.known(spec, "A", "B") is None

    def test_of_other_kinds_and_groups_it_knows_nothing(self) -> None:
        specs = dict([crd_spec("a.yaml", crd("Cluster", structure(a=TEXT), group="eks" + ACK_GROUPS))])
        eks = CrdShapes(specs, "eks" + ACK_GROUPS)
        assert eks.shape("Cluster", ("A",)) is not None
        assert eks.shape("Nodegroup", ("A",)) is None
        assert CrdShapes(specs, "rds" + ACK_GROUPS).shape("Cluster", ("A",)) is None
        assert [eks.lacks(kind, ("B",)) for kind in ("Cluster", "Nodegroup")] == [True, False]

    def test_a_kind_is_known_by_either_spelling(self) -> None:
        shapes = CrdShapes(dict([crd_spec("a.yaml", crd("VPCLink", structure(a=TEXT)))]), EC2)
        assert shapes.shape("VpcLink", ("A",)) == shapes.shape("VPCLink", ("A",)) is not None

    @pytest.mark.parametrize(
        "spoilt",
        [
            {"kind": "CustomResourceDefinition"},
            {"kind": "CustomResourceDefinition", "spec": {"versions": []}},
            {"kind": "CustomResourceDefinition", "spec": {"versions": ["v1"]}},
            {"kind": "CustomResourceDefinition", "spec": {"versions": [{"storage": True, "schema": None}]}},
            {**crd("Thing", {}), "spec": {**crd("Thing", {})["spec"], "names": {}}},
            crd("Thing", True),
            crd("Thing", None),
            crd("Thing", ["a"]),
        ],
    )
    def test_what_is_no_crd_with_a_schema_is_said_to_be_none(self, spoilt: dict[str, Any]) -> None:
        with pytest.raises(GeneratorError, match=r"^crds/a.yaml: "):
            crd_spec("crds/a.yaml", spoilt)


def model(service: str, text: str = "{}") -> ApiModel:
    known = service_model(service)
    assert known is not None
    return ApiModel(known, YAML(typ="safe").load(text))


class TestModels:
    def test_services_are_found_by_acks_names_for_them(self) -> None:
        for name in ("ec2", "lambda", "elbv2", "opensearchservice", "sfn", "acmpca", "applicationautoscaling"):
            assert service_model(name) is not None, name

    def test_a_service_is_found_by_the_name_of_its_model(self) -> None:
        assert service_model("unheardof") is None
        found = service_model("unheardof", "lambda")
        assert found is not None
        assert found.service_name == "lambda"

    def test_a_kinds_fields_are_what_creates_it_takes(self) -> None:
        links = model("apigatewayv2")
        assert links.shape("VpcLink", ["SubnetIDs"]) == FieldShape(("SubnetIds",), many=True, required=True)
        assert links.shape("VpcLink", ["SecurityGroupIds"]) == FieldShape(
            ("SecurityGroupIds",), many=True, required=False
        )
        assert links.shape("Stage", ["ApiId"]) == FieldShape(("ApiId",), many=False, required=True)

    def test_structures_and_lists_of_them_are_gone_through(self) -> None:
        assert model("eks").shape("Cluster", ["encryptionconfig", "provider", "keyarn"]) == FieldShape(
            ("encryptionConfig", "provider", "keyArn"), many=False, required=False, lists=(True, False)
        )

    def test_what_a_structure_requires_is_not_required_of_the_kind(self) -> None:
        """ACK's code generator asks only what the operation itself requires."""
        known = service_model("elbv2")
        assert known is not None
        assert "Issuer" in known.shape_for("AuthenticateOidcActionConfig").required_members
        assert model("elbv2").shape("Listener", ["DefaultActions", "AuthenticateOidcConfig", "Issuer"]) == FieldShape(
            ("DefaultActions", "AuthenticateOidcConfig", "Issuer"), many=False, required=False, lists=(True, False)
        )

    def test_a_map_on_the_path_is_reported(self) -> None:
        found = model("apigatewayv2").shape("Route", ["RequestParameters", "Required"])
        assert found == FieldShape(
            ("RequestParameters", "Required"), many=False, required=False, map_at=0, lists=(False,)
        )
        assert model("apigatewayv2").shape("Stage", ["RouteSettings", "LoggingLevel"]) == FieldShape(
            ("RouteSettings", "LoggingLevel"), many=False, required=False, map_at=0, lists=(False,)
        )

    def test_another_operation_may_create_it(self) -> None:
        text = (
            "operations: {TerminateInstances: {operation_type: [Delete], resource_name: Instance}, B: ,"
            " RunInstances: {operation_type: [Create, Update], resource_name: [Other, Instance]}}"
        )
        assert model("ec2").shape("Instance", ["SubnetId"]) is None
        assert model("ec2", text).shape("Instance", ["SubnetID"]) == FieldShape(
            ("SubnetId",), many=False, required=False
        )

    @pytest.mark.parametrize("of_type", ["CREATE", "create", "[Update, Create]"])
    def test_the_type_of_an_operation_is_read_in_any_case(self, of_type: str) -> None:
        text = f"operations: {{Subscribe: {{operation_type: {of_type}, resource_name: Subscription}}}}"
        assert model("sns", text).shape("Subscription", ["TopicArn"]) == FieldShape(
            ("TopicArn",), many=False, required=True
        )

    def test_parameters_may_be_wrapped_and_are_not_required_then(self) -> None:
        text = "operations: {CreateBackupSelection: {input_wrapper_field_path: BackupSelection}}"
        found = model("backup", text).shape("BackupSelection", ["IamRoleARN"])
        assert found == FieldShape(("IamRoleArn",), many=False, required=False)
        assert model("backup", text).lacks("BackupSelection", ["BackupPlanId"])
        wrong = "operations: {CreateBackupSelection: {input_wrapper_field_path: Nothing}}"
        assert model("backup", wrong).shape("BackupSelection", ["IamRoleArn"]) is None

    def test_a_field_may_come_from_what_an_operation_returns(self) -> None:
        source = "{operation: ListResourceRecordSets, path: ResourceRecordSets..HealthCheckId}"
        text = f"resources: {{RecordSet: {{fields: {{HealthCheckId: {{from: {source}}}}}}}}}"
        found = model("route53", text).shape("RecordSet", ["HealthCheckId"])
        assert found == FieldShape(("HealthCheckId",), many=False, required=False)

    @pytest.mark.parametrize(
        ("kind", "path", "lacks"),
        [
            ("Subnet", "Nothing", True),
            ("Subnet", "VpcId.Deeper", True),
            ("Subnet", "VPCID", False),
            ("Unheardof", "VpcId", False),
            ("Vpc", "Text", False),
            ("Vpc", "Listed.Deeper", False),
            ("Vpc", "Attribute", False),
            ("Vpc", "From", False),
            ("Vpc", "Required", True),
        ],
    )
    def test_what_it_lacks_is_known_unless_generator_yaml_adds_it(self, kind: str, path: str, lacks: bool) -> None:
        fields = (
            "Text: {type: string}, Listed: {custom_field: {list_of: Nothing}}, Attribute: {is_attribute: true},"
            " From: {from: {operation: Nothing, path: A}}, Required: {is_required: true}"
        )
        assert model("ec2", f"resources: {{Vpc: {{fields: {{{fields}}}}}}}").lacks(kind, path.split(".")) is lacks

    def test_renamed_fields_are_found_by_their_new_names(self) -> None:
        text = "resources: {Function: {renames: {operations: {CreateFunction: {input_fields: {FunctionName: Name}}}}}}"
        assert model("lambda", text).shape("Function", ["Name"]) == FieldShape(("Name",), many=False, required=True)

    @pytest.mark.parametrize(
        ("settings", "path", "shape"),
        [
            ("custom_field: {list_of: String}", "Added", FieldShape(("Added",), many=True, required=False)),
            ("custom_field: {list_of: CreateRouteInput}", "Added.GatewayID", FieldShape(
                ("Added", "GatewayId"), many=False, lists=(True,)
            )),
            ("custom_field: {list_of: IpPermission}", "Added.UserIDGroupPairs.VPCID", FieldShape(
                ("Added", "UserIdGroupPairs", "VpcId"), many=False, lists=(True, True)
            )),
            ("custom_field: {map_of: IpRange}", "Added.CidrIp", FieldShape(
                ("Added", "CidrIp"), many=False, map_at=0, lists=(False,)
            )),
            ("custom_field: {list_of: Nothing}", "Added", FieldShape(("Added",), many=True)),
            ("type: '[]*string'", "Added", FieldShape(("Added",), many=True)),
            ("type: '*string'", "Added", FieldShape(("Added",), many=False)),
            ("from: {operation: AttachInternetGateway, path: VpcId}", "Added", FieldShape(("Added",), many=False)),
            ("from: {operation: CreateTags, path: Resources}", "Added", FieldShape(("Added",), many=True)),
            ("from: {operation: RunInstances, path: Placement.HostId}", "Added", FieldShape(("Added",), many=False)),
            ("from: {operation: RunInstances, path: Placement.Nothing}", "Added", None),
            ("from: {operation: Nothing, path: A}", "Added", None),
            ("custom_field: {list_of: Nothing}", "Added.Deeper", None),
            ("is_required: true", "Added", None),
        ],
    )  # fmt: skip
    def test_fields_that_generator_yaml_adds_are_of_what_it_names(
        self, settings: str, path: str, shape: FieldShape | None
    ) -> None:
        known = model("ec2", f"resources: {{Thing: {{fields: {{added: {{{settings}}}}}}}}}")
        found = known.shape("Thing", path.split("."))
        assert found == (shape and replace(shape, required=False))

    @pytest.mark.parametrize("path", [["Nothing"], ["VpcId", "Deeper"]])
    def test_of_other_fields_it_knows_nothing(self, path: list[str]) -> None:
        assert model("ec2").shape("Subnet", path) is None


class TestChain:
    def test_what_the_first_leaves_open_the_next_tells(self) -> None:
        class Knows:
            def __init__(self, shape: FieldShape | None) -> None:
                self._shape = shape

            def shape(self, *_: object) -> FieldShape | None:
                return self._shape

            def lacks(self, *_: object) -> bool:
                return self._shape is None

        first = FieldShape(("a",), many=True)
        second = FieldShape(("A",), many=False, required=True)
        assert CombinedShapes(Knows(None), Knows(first), Knows(second)).shape("A", ["A"]) == FieldShape(
            ("a",), many=True, required=True
        )
        assert CombinedShapes(Knows(first)).shape("A", ["A"]) == first
        assert CombinedShapes(Knows(None)).shape("A", ["A"]) is None
        assert CombinedShapes(Knows(None)).lacks("A", ["A"])
        assert not CombinedShapes(Knows(None), Knows(first)).lacks("A", ["A"])
        assert not CombinedShapes().lacks("A", ["A"])


def test_a_field_below_a_map_is_known_to_be() -> None:
    text = (
        "resources:\n  Stage:\n    fields:\n      RouteSettings.LoggingLevel:\n"
        "        references: {resource: Level, path: Status.ID}\n"
    )
    (field,) = kinds_of(text, "apigatewayv2")["Stage"].fields
    assert field.through_map == "routeSettings"
    assert not load(text, "unheardof.yaml").kinds[0].fields[0].through_map
