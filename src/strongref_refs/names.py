"""Names as ACK derives them: of kinds, of fields in manifests, of reference fields, of API resources. Pure.

The rules are those of ACK's code generator: reference fields by `aws-controllers-k8s/code-generator`,
`pkg/model/field.go`, the spelling by the table of initialisms in `aws-controllers-k8s/pkg`, `names/names.go`, with all
its side effects (`Decrypt` becomes `DECRypt`), since manifests have those names.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pluralizer import Pluralizer

if TYPE_CHECKING:
    from collections.abc import Sequence

_BEFORE_OTHERS = (
    ("Ids", "IDs"),
    ("Id(?!entifier|le|entity|entities|empotency)", "ID"),
    ("Dbi", "DBI"),
    ("Db(?!i)", "DB"),
    ("M[dD]5Of", "MD5Of"),
    ("Ipc", "IPC"),
    ("I[Pp]v4", "IPv4"),
    ("I[Pp]v6", "IPv6"),
    ("Ip(?!art|am)", "IP"),
    ("Amis", "AMIs"),
    ("Awsvpc", "AWSVPC"),
    ("[Ee]cr(?!et|ease)", "ECR"),
    ("Edi(?!t)", "EDI"),
    ("Ena(?!bl)", "ENA"),
    ("Http(?!s)", "HTTP"),
    ("Io(?!ps)", "IO"),
    ("Mibps", "MiBps"),
    ("Nat(?!i)", "NAT"),
    ("Oid(?!c)", "OID"),
    ("Ramdisk", "RAMDisk"),
    ("[Tt][Tt][Ll](?!ing|e)", "TTL"),
    ("uri(?!ty)|Uri", "URI"),
    ("Uids", "UIDs"),
    ("Uid", "UID"),
    ("Ui(?!D|d)", "UI"),
    ("[Vv]pce", "VPCE"),
    ("[Vv]pc", "VPC"),
)
"""Initialisms with an exception or a spelling of their own, in the order of their search."""

_PLAIN = """
    Ami Acl Acm Acp Api Arn Asn Aws Az Bgp Cors Cidr Cname Cpu Crl Cps Csr Dhcp Dns Dpd Ebs Ec2 Ecs Efs Eks Ecmp Fifo
    Fpga Gid Gpu Grpc Html Https Iam Icmp Iops Ipam Ja3 Json Jwt Kms Ldap Mfa Oidc Ocsp Pca Pid Ram Rfc Sasl Scram Sdk
    Sha256 Sns Sqli Sql Sqs Sriov Sse Ssl Tcp Tde Tpm Tls Udp Url Uuid Vlan Vpn Vgw Waf Xml Xss Yaml
"""
"""Initialisms that are always in capitals."""

_INITIALISMS = tuple(
    (re.compile(pattern), upper)
    for pattern, upper in (*_BEFORE_OTHERS, *((word, word.upper()) for word in _PLAIN.split()))
)

_LOWER = {"AWSVPC": "awsVPC", "RAMDisk": "ramDisk", "MiBps": "miBps", "MD5Of": "md5Of", "CACert": "caCert"}
"""Initialisms that do not become all lower case at the start of a name."""

_LEADING = sorted({*(upper for _, upper in _INITIALISMS), "AIML", *_LOWER}, key=len, reverse=True)
_A_WORD = re.compile("s?(?![a-z])")
"""What follows an initialism at the end of a word: `DBInstance` begins with DB, not with DBI."""

_KEYWORDS = """
    break case chan const continue default defer else fallthrough for func go goto if import interface map package range
    return select struct switch type var
"""
"""Of Go: a field of such a name ends in `_` (`type_`), unless generator.yaml has a `go_tag` for it."""

_SUFFIXES = (
    *("id", "ids", "Id", "Ids", "ID", "IDs", "IDS"),
    *("Name", "Names", "NAME", "NAMEs", "NAMES"),
    *("Arn", "Arns", "ARN", "ARNs", "ARNS"),
)
"""Suffixes that a reference field's name does not have; the first match counts."""

_MANY_SUFFIXES = ("ids", "Ids", "IDs", "IDS", "Names", "NAMEs", "NAMES", "Arns", "ARNs", "ARNS")
"""Suffixes of lists."""

_SEVERAL_OF_CAPITALS = re.compile("[A-Z]{2}s$")
"""As in `AllowedAPIs`, and not in `DNS`."""

_PLURALS = Pluralizer()  # type: ignore[no-untyped-call] # the library is typed in part


@cache
def camel(name: str) -> str:
    """As Go code spells it: `VpcId` is `VPCID`."""
    words = re.sub(r"[ _.-]+(.?)", lambda found: found[1].upper(), name)
    words = re.sub(r"[0-9][a-z]", lambda found: found[0].upper(), words[:1].upper() + words[1:])
    for pattern, upper in _INITIALISMS:
        words = pattern.sub(upper, words)
    return words


@cache
def lower_camel(name: str) -> str:
    """As manifests spell it: `VpcId` is `vpcID`."""
    words = camel(name)
    fitting = [each for each in _LEADING if words.startswith(each)] or [words[:1]]
    leading = next((each for each in fitting if _A_WORD.match(words, len(each))), fitting[0])
    lower = _LOWER.get(leading, leading.lower()) + words[len(leading) :]
    return f"{lower}_" if lower in _KEYWORDS.split() else lower


def reference_name(name: str, *, many: bool) -> str:
    """The reference field of a field, as manifests spell it: `SecurityGroupIds` has `securityGroupRefs`.

    Args:
        name: the field's, in any of its spellings: `SecurityGroupIds`, `SecurityGroupIDs`.
        many: whether the field is a list.

    Raises:
        ValueError: the name is nothing but a suffix, as in `Id`.
    """
    suffix = next((each for each in _SUFFIXES if name.endswith(each)), "")
    stem = name.removesuffix(suffix)
    if not stem:
        raise ValueError(name)
    return lower_camel(f"{_PLURALS.singular(stem)}Refs" if many else f"{stem}Ref")


def is_many(name: str) -> bool:
    """Whether a field of this name is a list, judging by the name: `SubnetIds` and `Subnets` are, `VpcId` is not."""
    if name.endswith(_SUFFIXES):
        return name.endswith(_MANY_SUFFIXES)
    if _SEVERAL_OF_CAPITALS.search(name):
        return True
    last = re.split(r"(?=[A-Z][a-z])", name)[-1]
    return not last.isupper() and bool(_PLURALS.is_plural(last)) and not _PLURALS.is_singular(last)


@cache
def plural(kind: str) -> str:
    """A kind's resource in the API: `SecurityGroup` has `securitygroups`."""
    return str(_PLURALS.plural(kind)).lower()


def dotted(path: Sequence[str]) -> str:
    """`Routes.GatewayID`, as in ACK's error texts."""
    return ".".join(camel(step) for step in path)
