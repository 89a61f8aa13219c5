"""Names as ACK derives them: of kinds, of fields in manifests, of reference fields, of API resources. Pure.

The rules are those of ACK's code generator: reference fields by `aws-controllers-k8s/code-generator`,
`pkg/model/field.go`, the spelling by the table of initialisms in `aws-controllers-k8s/pkg`, `names/names.go`, with all
its side effects (`Decrypt` becomes `DECRypt`), since manifests have those names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pluralizer import Pluralizer

_TABLE = r"""
    Ids=IDs Id(?!entifier|le|entity|entities|empotency|c)|\AID\Z=ID Idc=IDC Dbi=DBI Db(?!i)|DB=DB CACert=CACert=caCert
    M[dD]5Of=MD5Of Ipc=IPC IPAddress=IPAddress=ipAddress I[Pp]v4=IPv4 I[Pp]v6=IPv6 Ip(?!art|am)=IP IPSet=IPSet=ipSet
    Amis=AMIs Ami=AMI Acl Acm(?!e)|ACM(?!e)=ACM Aiml Acp Api Arn ArgoCd=ArgoCD=argoCD Asn Awsvpc|\AAWSVPC=AWSVPC=awsVPC
    Aws Az Bgp Cors Cidr Cname Cpu Crl Cps Csr Dhcp Dns Dpd Ebs Ec2 [Ee]cr(?!et|ease)=ECR Ecs Edi(?!t)=EDI Efs Eks
    Ena(?!bl)=ENA Ecmp Fifo Fpga Gid Gpu Grpc Html HTTP(?!S[A-Z])|Http(?!s)=HTTP Https Iam Icmp Io(?!ps)=IO Iops Ipam
    Ja3 Json Jwt Kms Ldap Mfa Mibps=MiBps=miBps Nat(?!i)=NAT Oid(?!c)|OID(?!C)=OID Oidc Ocsp Pca Pid
    Ramdisk=RAMDisk=ramDisk Ram=RAM Rfc Sasl Scram Sdk Sha256 Sns Sqli Sql Sqs Sriov Sse Ssl Tcp Tde Tpm Tls
    (?i:ttl)(?!ing|e)=TTL Udp uri(?!ty)|Uri|URI=URI Url Uuid Uids=UIDs Uid=UID U[Ii](?![Dd])=UI Vlan [Vv]pce=VPCE
    [Vv][Pp][Cc](?!e)=VPC Vpn Vgw Waf Xml Xss Yaml
"""
"""Initialisms in the order of the search: a word whose spelling is all capitals, or `pattern=spelling`.

A third part is the spelling at the start of a name that begins with a lowercase letter, if it is not all lowercase.
"""


def _initialism(entry: str) -> tuple[re.Pattern[str], str, str]:
    """The pattern of an entry of the table, its spelling, and its spelling at the start of a lowercase name."""
    pattern, _, spellings = entry.partition("=")
    if not spellings:
        return re.compile(rf"\A{pattern.upper()}|{pattern}"), pattern.upper(), pattern.lower()
    spelling, _, first = spellings.partition("=")
    return re.compile(pattern), spelling, first or spelling.lower()


_INITIALISMS = tuple(map(_initialism, _TABLE.split()))

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

_SEVERAL_OF_CAPITALS = re.compile("[A-Z]{2}s$")
"""As in `AllowedAPIs`, and not in `DNS`."""

_PLURALS = Pluralizer()  # type: ignore[no-untyped-call] # the library is typed in part


@cache
def camel(name: str) -> str:
    """As Go code spells it: `VpcId` is `VPCID`."""
    words = _words(name)
    return _spelled(words[:1].upper() + words[1:])


@cache
def lower_camel(name: str) -> str:
    """As manifests spell it: `VpcId` is `vpcID`."""
    words = _words(_spelled(name[:1].upper() + name[1:], lower_first=True))  # ACK reads models with capitals
    lower = _spelled(words[:1].lower() + words[1:], lower_first=True)
    return f"{lower}_" if lower in _KEYWORDS.split() else lower


def _words(name: str) -> str:
    """A name without separators; a letter after one, or after a digit, is a capital."""
    return re.sub(r"[ _.-]+", "", re.sub(r"[0-9 _.-][a-z]", lambda found: found[0].upper(), name))


def _spelled(name: str, *, lower_first: bool = False) -> str:
    """A name with its initialisms in capitals; with `lower_first`, not the one at its start."""
    for pattern, spelling, first in _INITIALISMS:
        at_start = lower_first and pattern.match(name)
        name = (first + pattern.sub(spelling, name[at_start.end() :])) if at_start else pattern.sub(spelling, name)
    return name


def reference_name(name: str, *, many: bool) -> str:
    """The reference field of a field, as manifests spell it: `SecurityGroupIds` has `securityGroupRefs`.

    The name may have any of its spellings; `many` is whether the field is a list.

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
        return name.endswith(("s", "S"))
    if _SEVERAL_OF_CAPITALS.search(name):
        return True
    last = re.split(r"(?=[A-Z][a-z])", name)[-1]
    return not last.isupper() and bool(_PLURALS.is_plural(last)) and not _PLURALS.is_singular(last)


@cache
def plural(kind: str) -> str:
    """A kind's resource in the API: `SecurityGroup` has `securitygroups`."""
    return str(_PLURALS.plural(kind)).lower()


def is_same(name: object, step: str) -> bool:
    """Whether a key of an object or a schema is that of a path; case does not matter, as in Go's JSON."""
    return str(name).rstrip("_").lower() == step.lower()


def dotted(path: Sequence[str]) -> str:
    """`Routes.GatewayID`, as in ACK's error texts."""
    return ".".join(camel(step) for step in path)
