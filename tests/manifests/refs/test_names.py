"""Names are derived as by ACK: of reference fields, of fields in manifests, of API resources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_manifests.refs.names import camel, dotted, is_many, lower_camel, plural, reference_name

SPELLINGS = """
    VpcId VPCID vpcID
    VPCID VPCID vpcID
    peerVpcId PeerVPCID peerVPCID
    DBSubnetGroupName DBSubnetGroupName dbSubnetGroupName
    DbInstanceId DBInstanceID dbInstanceID
    DBInstanceIdentifier DBInstanceIdentifier dbInstanceIdentifier
    DbiResourceId DBIResourceID dbiResourceID
    KMSKeyID KMSKeyID kmsKeyID
    SSEKMSKeyId SSEKMSKeyID sseKMSKeyID
    KmsKeyArn KMSKeyARN kmsKeyARN
    ID ID id
    Id ID id
    Idle Idle idle
    Identifier Identifier identifier
    IdempotencyToken IdempotencyToken idempotencyToken
    IpAddressType IPAddressType ipAddressType
    Ipv6CidrBlockAssociationSet IPv6CIDRBlockAssociationSet ipv6CIDRBlockAssociationSet
    CustomerOwnedIpv4Pool CustomerOwnedIPv4Pool customerOwnedIPv4Pool
    Ipv4IpamPoolId IPv4IPAMPoolID ipv4IPAMPoolID
    EnableDns64 EnableDNS64 enableDNS64
    EnableLniAtDeviceIndex EnableLniAtDeviceIndex enableLniAtDeviceIndex
    EnableResourceNameDnsAAAARecord EnableResourceNameDNSAAAARecord enableResourceNameDNSAAAARecord
    AlpnPolicy AlpnPolicy alpnPolicy
    AuthenticateOidcConfig AuthenticateOIDCConfig authenticateOIDCConfig
    HttpHeaderConfig HTTPHeaderConfig httpHeaderConfig
    HttpsPort HTTPSPort httpsPort
    GrpcCode GRPCCode grpcCode
    CodeSha256 CodeSHA256 codeSHA256
    MD5OfBody MD5OfBody md5OfBody
    CACertificateIdentifier CACertificateIdentifier caCertificateIdentifier
    AwsvpcConfiguration AWSVPCConfiguration awsVPCConfiguration
    RamdiskId RAMDiskID ramDiskID
    MultipartUpload MultipartUpload multipartUpload
    NatGatewayId NATGatewayID natGatewayID
    NativeAuditFieldsIncluded NativeAuditFieldsIncluded nativeAuditFieldsIncluded
    Throttling Throttling throttling
    SecurityGroups SecurityGroups securityGroups
    VpcEndpointId VPCEndpointID vpcEndpointID
    SourceVpceId SourceVPCEID sourceVPCEID
    vpceConfiguration VPCEConfiguration vpceConfiguration
    Type Type type_
    Package Package package_
    s3_bucket S3Bucket s3Bucket
    S3bucket S3Bucket s3Bucket
    IotThing IOtThing iotThing
    AcmeEndpointArn AcmeEndpointARN acmeEndpointARN
    AcmCertificateArn ACMCertificateARN acmCertificateARN
    ACMCertificateArn ACMCertificateARN acmCertificateARN
    ArgoCd ArgoCD argoCD
    argoCd ArgoCD argoCD
    aWSOwnedKey AWSOwnedKey awsOwnedKey
    AwsIdc AWSIDC awsIDC
    IdcInstanceArn IDCInstanceARN idcInstanceARN
    OIDCProviderArn OIDCProviderARN oidcProviderARN
    IpCidr IPCIDR ipCIDR
    DnssecKeys DNSSEcKeys dnssecKeys
    AMITypes AMITypes aMITypes
    NATGatewayID NATGatewayID nATGatewayID
"""

REFERENCES = """
    SecurityGroupIds securityGroupRefs
    SubnetIDs subnetRefs
    Subnets subnetRefs
    Policies policyRefs
    Addresses addressRefs
    AddressIds addressRefs
    NotificationTopicARNs notificationTopicRefs
    RouteTables routeTableRefs
    VPCs vpcRefs
    AllowedAPIs allowedAPIRefs
    AllowedApis allowedAPIRefs
    RoleARNS roleRefs
    groupids groupRefs
    FunctionNames functionRefs
    ApiId apiRef
    VPCID vpcRef
    VpcId vpcRef
    KeyArn keyRef
    KMSKeyID kmsKeyRef
    DBSubnetGroupName dbSubnetGroupRef
    TableNAME tableRef
    NodeRole nodeRoleRef
    PermissionsBoundary permissionsBoundaryRef
    Target targetRef
    Address addressRef
    KMS kmsRef
    URI uriRef
"""


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


@pytest.mark.parametrize(("name", "in_go", "in_manifests"), table(SPELLINGS))
def test_names_are_spelled_as_ack_spells_them(name: str, in_go: str, in_manifests: str) -> None:
    assert (camel(name), lower_camel(name)) == (in_go, in_manifests)


@pytest.mark.parametrize(("name", "reference"), table(REFERENCES))
def test_a_reference_field_has_the_fields_name_without_its_suffix(name: str, reference: str) -> None:
    assert reference_name(name, many=is_many(name)) == reference


@pytest.mark.parametrize("name", ["VPC", "Status", "Address", "Alias", "DNS", "KMS", "ImageSeries", "Analytics"])
def test_not_every_s_makes_a_list(name: str) -> None:
    assert not is_many(name)


@pytest.mark.parametrize("name", ["VPCs", "APIs", "URIs", "AllowedAPIs", "Subnets", "NetworkACLs", "SubnetIDs"])
def test_some_do(name: str) -> None:
    assert is_many(name)


def test_a_list_may_have_the_name_of_a_single_one() -> None:
    assert reference_name("VPC", many=True) == "vpcRefs"
    assert reference_name("VPC", many=False) == "vpcRef"


@pytest.mark.parametrize("name", ["Id", "Ids", "ID", "Name", "ARNs"])
def test_nothing_is_left_of_a_name_that_is_a_suffix(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        reference_name(name, many=False)


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("SecurityGroup", "securitygroups"),
        ("Policy", "policies"),
        ("VPC", "vpcs"),
        ("API", "apis"),
        ("ElasticIPAddress", "elasticipaddresses"),
        ("DHCPOptions", "dhcpoptions"),
        ("AccessEntry", "accessentries"),
        ("FunctionURLConfig", "functionurlconfigs"),
        ("DBSubnetGroup", "dbsubnetgroups"),
        ("InternetGateway", "internetgateways"),
    ],
)
def test_resources_are_called_as_the_crds_call_them(kind: str, resource: str) -> None:
    assert plural(kind) == resource


def test_a_path_is_written_as_in_acks_texts() -> None:
    assert dotted(("Routes", "GatewayId")) == "Routes.GatewayID"


FIRST = st.lists(st.sampled_from(["Security", "Vpc", "Kms", "Api", "Cidr", "Node", "Target", "Db"]), max_size=3)
LAST = st.sampled_from(["Group", "Subnet", "Vpc", "Key", "Role", "Gateway"])
WORDS = st.tuples(FIRST, LAST).map(lambda words: "".join([*words[0], words[1]]))
SINGLE = st.sampled_from(["Id", "ID", "Arn", "ARN", "Name"])
SEVERAL = st.sampled_from(["Ids", "IDs", "Arns", "ARNs", "Names"])


@given(WORDS, SINGLE)
def test_every_suffix_of_one_gives_the_same_reference(words: str, suffix: str) -> None:
    assert not is_many(words + suffix)
    assert reference_name(words + suffix, many=False) == reference_name(f"{words}Id", many=False)
    assert reference_name(words + suffix, many=False).endswith("Ref")


@given(WORDS, SEVERAL)
def test_a_list_has_the_reference_of_one_of_it_and_an_s(words: str, suffix: str) -> None:
    assert is_many(words + suffix)
    assert reference_name(words + suffix, many=True) == reference_name(f"{words}Id", many=False) + "s"


@given(WORDS, st.one_of(SINGLE, SEVERAL, st.just("")))
def test_how_a_generator_yaml_spells_a_name_does_not_matter(words: str, suffix: str) -> None:
    """Except for a few initialisms at its start: ACK spells `NATGatewayID` as `nATGatewayID`."""
    name = words + suffix
    assert camel(camel(name)) == camel(name)
    assert lower_camel(camel(name)) == lower_camel(name)
    for many in (False, True):
        assert reference_name(camel(name), many=many) == reference_name(name, many=many)


@given(st.from_regex("[A-Za-z][A-Za-z0-9]{0,20}", fullmatch=True))
def test_any_name_is_spelled_and_begins_small(name: str) -> None:
    assert camel(name)[0].isupper()
    assert lower_camel(name)[0].islower()
    assert lower_camel(name).rstrip("_").lower() == camel(name).lower() == name.lower()
