"""What a cluster needs for reference fields: a ClusterRole and fragments of CRDs' schemas."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from strongref_cli.arguments import ROLE_NAME
from strongref_manifests.refs.base import Field, FieldReference, Generator, Kind
from strongref_manifests.refs.config import load
from strongref_manifests.refs.crds import cluster_role, fragments
from strongref_manifests.refs.names import plural
from tests.support.documents import ROOT

API = "apigatewayv2.services.k8s.aws"


def field(  # noqa: PLR0913 (what a field has)
    path: str, steps: str, step: str, resource: str, service: str = "ec2", *, many: bool = False, through_map: str = ""
) -> Field:
    reference = FieldReference(resource, "Status.ID", service)
    above = [each.endswith("s") for each in steps.split(".")[:-1]]
    return Field(
        path=tuple(path.split(".")),
        steps=tuple(steps.split(".")),
        reference_step=step,
        many=many,
        required=False,
        reference=reference,
        through_map=through_map,
        lists=tuple(above),
    )


VPC_LINK = Generator(
    "apigatewayv2",
    "generator.yaml",
    (
        Kind(API, "Integration", (field("ApiId", "apiID", "apiRef", "API", "apigatewayv2"),)),
        Kind(
            API,
            "VPCLink",
            (
                field("SubnetIds", "subnetIDs", "subnetRefs", "Subnet", many=True),
                field("SecurityGroupIds", "securityGroupIDs", "securityGroupRefs", "SecurityGroup", many=True),
            ),
        ),
    ),
)
DESIGN = """\
- apiGroups:
    - ec2.services.k8s.aws
  resources:
    - securitygroups
  verbs:
    - get
    - list
- apiGroups:
    - ec2.services.k8s.aws
  resources:
    - securitygroups/status
  verbs:
    - get
    - list
- apiGroups:
    - ec2.services.k8s.aws
  resources:
    - subnets
  verbs:
    - get
    - list
- apiGroups:
    - ec2.services.k8s.aws
  resources:
    - subnets/status
  verbs:
    - get
    - list
"""
"""Of the design of ACK's cross-controller references: what VPCLink adds to apigatewayv2's ClusterRole."""


def test_the_rules_of_the_designs_vpc_link_are_its_own_text() -> None:
    head = f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {ROLE_NAME}\nrules:\n"
    assert cluster_role([VPC_LINK], ROLE_NAME) == head + DESIGN


def test_resources_of_the_controllers_own_service_are_optional() -> None:
    rules = yaml.safe_load(cluster_role([VPC_LINK], "reader", own=True))["rules"]
    assert [(rule["apiGroups"], rule["resources"]) for rule in rules[:2]] == [
        ([API], ["apis"]),
        ([API], ["apis/status"]),
    ]
    assert len(rules) == 6


def test_each_resource_is_named_once_however_many_refer_to_it() -> None:
    twice = Generator("eks", "", (Kind("eks.services.k8s.aws", "A", VPC_LINK.kinds[1].fields * 2),))
    assert cluster_role([VPC_LINK, twice], ROLE_NAME) == cluster_role([VPC_LINK], ROLE_NAME)


def test_only_referenced_resources_are_allowed() -> None:
    fields = (field("Targets.web.ID", "targets.web.id", "ref", "Subnet", through_map="targets"),)
    below_map = Generator("elbv2", "", (Kind("elbv2.services.k8s.aws", "X", fields), Kind("a", "B", ())))
    assert yaml.safe_load(cluster_role([below_map], ROLE_NAME, own=True))["rules"] == []


def test_without_references_there_is_a_role_without_rules() -> None:
    made = yaml.safe_load(cluster_role([Generator("s3", "", ())], "nothing"))
    assert made["rules"] == []
    assert made["metadata"] == {"name": "nothing"}


FROM = {
    "properties": {
        "from": {"properties": {"name": {"type": "string"}, "namespace": {"type": "string"}}, "type": "object"}
    },
    "type": "object",
}
"""A reference in the CRDs of ACK's controllers, descriptions apart: `vpcRef` of subnets.ec2.services.k8s.aws, as
controller-gen writes it from the runtime's AWSResourceReferenceWrapper; older ones have no `namespace`."""


def bare(schema: Any) -> Any:
    """Without descriptions."""
    if isinstance(schema, dict):
        return {key: bare(value) for key, value in schema.items() if key != "description" or isinstance(value, dict)}
    return schema


def test_a_fragment_is_what_the_crds_of_ack_have() -> None:
    made = fragments([VPC_LINK])
    assert list(made) == [f"integrations.{API}", f"vpclinks.{API}"]
    assert bare(made[f"integrations.{API}"]) == {
        "properties": {"spec": {"properties": {"apiRef": FROM}, "type": "object"}}
    }
    listed = {"items": FROM, "type": "array"}
    assert bare(made[f"vpclinks.{API}"]) == {
        "properties": {"spec": {"properties": {"subnetRefs": listed, "securityGroupRefs": listed}, "type": "object"}}
    }
    assert made[f"vpclinks.{API}"]["properties"]["spec"]["properties"]["subnetRefs"]["items"]["description"] == (
        "Refers to the Subnet (ec2.services.k8s.aws) whose Status.ID is wanted."
    )


def test_a_fragment_is_nested_as_the_field_is() -> None:
    """`routes[].gatewayRef` and `routes[].natGatewayRef` of routetables.ec2.services.k8s.aws, and a structure."""
    fields = (
        field("Routes.GatewayId", "routes.gatewayID", "gatewayRef", "InternetGateway"),
        field("Routes.NatGatewayId", "routes.natGatewayID", "natGatewayRef", "NATGateway"),
        field("VPCConfig.SubnetIDs", "vpcConfig.subnetIDs", "subnetRefs", "Subnet", many=True),
        field("Targets.web.ID", "targets.web.id", "ref", "Subnet", through_map="targets"),
    )
    made = fragments([Generator("ec2", "", (Kind("ec2.services.k8s.aws", "RouteTable", fields),))])
    assert bare(made["routetables.ec2.services.k8s.aws"])["properties"]["spec"]["properties"] == {
        "routes": {
            "items": {"properties": {"gatewayRef": FROM, "natGatewayRef": FROM}, "type": "object"},
            "type": "array",
        },
        "vpcConfig": {"properties": {"subnetRefs": {"items": FROM, "type": "array"}}, "type": "object"},
    }


def test_the_api_says_whether_a_structure_is_in_a_list(real: Generator) -> None:
    """`encryptionConfig` of clusters.eks.services.k8s.aws is a list, `resourcesVPCConfig` is none."""
    cluster = bare(fragments([real])["clusters.eks.services.k8s.aws"])["properties"]["spec"]["properties"]
    provider = {"properties": {"provider": {"properties": {"keyRef": FROM}, "type": "object"}}, "type": "object"}
    assert cluster["encryptionConfig"] == {"items": provider, "type": "array"}
    assert cluster["resourcesVPCConfig"]["properties"]["subnetRefs"] == {"items": FROM, "type": "array"}


def test_a_kind_whose_references_are_all_below_maps_has_no_fragment() -> None:
    fields = (field("Targets.web.ID", "targets.web.id", "ref", "Subnet", through_map="targets"),)
    assert fragments([Generator("ec2", "", (Kind("ec2.services.k8s.aws", "X", fields),))]) == {}


@pytest.fixture
def real() -> Generator:
    path = ROOT / "tests/generators/eks.yaml"
    return load(path.read_text(), str(path))


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("SecurityGroup", "securitygroups"),
        ("Subnet", "subnets"),
        ("VPC", "vpcs"),
        ("RouteTable", "routetables"),
        ("InternetGateway", "internetgateways"),
        ("EgressOnlyInternetGateway", "egressonlyinternetgateways"),
        ("NATGateway", "natgateways"),
        ("TransitGateway", "transitgateways"),
        ("ElasticIPAddress", "elasticipaddresses"),
        ("DHCPOptions", "dhcpoptions"),
        ("NetworkACL", "networkacls"),
        ("FlowLog", "flowlogs"),
        ("VPCEndpoint", "vpcendpoints"),
        ("VPCPeeringConnection", "vpcpeeringconnections"),
        ("LaunchTemplate", "launchtemplates"),
        ("ManagedPrefixList", "managedprefixlists"),
        ("CapacityReservation", "capacityreservations"),
        ("VPCLink", "vpclinks"),
        ("API", "apis"),
        ("IntegrationResponse", "integrationresponses"),
        ("DBSubnetGroup", "dbsubnetgroups"),
        ("DBProxy", "dbproxies"),
        ("Policy", "policies"),
        ("OpenIDConnectProvider", "openidconnectproviders"),
        ("AccessEntry", "accessentries"),
        ("Capability", "capabilities"),
        ("PodIdentityAssociation", "podidentityassociations"),
        ("LoadBalancer", "loadbalancers"),
        ("Alias", "aliases"),
        ("FunctionURLConfig", "functionurlconfigs"),
    ],
)
def test_plurals_are_those_of_the_crds_of_ack(kind: str, resource: str) -> None:
    """The names of the files in the controllers' `config/crd/bases`."""
    assert plural(kind) == resource
