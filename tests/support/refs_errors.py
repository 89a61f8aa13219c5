"""The errors of references in manifests, raised by the code itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from strongref_manifests.refs import errors
from strongref_manifests.refs.base import Field, FieldReference, Kind, ObjectName
from strongref_manifests.refs.config import load
from strongref_manifests.refs.manifests import ManifestObject, ManifestObjects
from strongref_manifests.refs.manifests_writing import PlacedEdit, rewritten
from strongref_manifests.refs.resolution import Edit, ReferenceResolver
from strongref_manifests.refs.validation import check
from strongref_manifests.refs.wiring import StackValues
from strongref_manifests.text.manifests import read
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError
    from strongref_manifests.tokens import TokenSource
    from strongref_toolkit.json_values import Json

GENERATOR = ROOT / "examples/refs/apigatewayv2-controller/generator.yaml"
EC2, API = "ec2.services.k8s.aws", "apigatewayv2.services.k8s.aws"
SERVER = "https://cluster.example.com"
GROUP = ObjectName(EC2, "SecurityGroup", "default", "web")
GET = f"get securitygroups.{EC2} default/web"


def _object(kind: str, name: str, conditions: Mapping[str, str], **status: Any) -> ManifestObject:
    listed = [{"type": f"ACK.{each}", "status": value} for each, value in conditions.items()]
    content = {
        "apiVersion": f"{EC2}/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "status": {"conditions": listed, **status},
    }
    return ManifestObject("objects.yaml", 1, (), content)


_SYNCED = {"ResourceSynced": "True"}
_OBJECTS = [
    _object("SecurityGroup", "web", _SYNCED, id="sg-1"),
    _object("SecurityGroup", "broken", {"Terminal": "True"}, id="sg-1"),
    _object("SecurityGroup", "new", {"ResourceSynced": "False"}, id="sg-1"),
    _object("SecurityGroup", "bare", _SYNCED),
    _object("SecurityGroup", "odd", _SYNCED, id=["sg-1"]),
    _object("Subnet", "a", _SYNCED, subnetID="subnet-1"),
]


class _Stack:
    """A source of one value."""

    scheme = "export"

    def __init__(self, value: Json) -> None:
        self._value = value

    def prefetch(self, tokens: object) -> None:
        raise AssertionError(tokens)

    def fetch(self, _: object) -> Json:
        return self._value


def refused(spec: str, value: Json = "", kind: str = "VPCLink", group: str = API) -> Callable[[], StrongRefError]:
    """What is wrong with an object of these fields, where stacks export that value."""

    def make() -> StrongRefError:
        source: TokenSource = _Stack(value)
        generator = load(GENERATOR.read_text(), str(GENERATOR))
        resolver = ReferenceResolver(generator.kinds, ManifestObjects(_OBJECTS), StackValues(lambda _: source).get)
        content = {
            "apiVersion": f"{group}/v1alpha1",
            "kind": kind,
            "metadata": {"name": "orders"},
            "spec": yaml.safe_load(spec),
        }
        (problem,) = resolver.resolve(content).problems
        return problem

    return make


def _groups(reference: str) -> str:
    return f"{{subnetIDs: [subnet-1], securityGroupRefs: [{{from: {reference}}}]}}"


def _read(text: str) -> Callable[[], StrongRefError]:
    def make() -> StrongRefError:
        try:
            load(text, "apigatewayv2-controller/generator.yaml")
        except errors.GeneratorError as error:
            return error
        raise AssertionError

    return make


def _below_map() -> StrongRefError:
    field = Field(
        ("Listeners", "CertificateARN"),
        ("listeners", "certificateARN"),
        "certificateRef",
        many=False,
        required=False,
        reference=FieldReference("Certificate", "Status.ACKResourceMetadata.ARN", "acm"),
        through_map="listeners",
    )
    spec = {"listeners": {"web": {"certificateRef": {"from": {"name": "web"}}}}}
    (problem,) = check(
        Kind(API, "Gateway", (field,)), ObjectName(API, "Gateway", "default", "orders"), {"spec": spec}
    ).problems
    return problem


def _absent() -> StrongRefError:
    entry = "{resource: Subnet, path: Status.SubnetID, service_name: ec2}"
    text = f"resources: {{VpcLink: {{fields: {{SubnetzIds: {{references: {entry}}}}}}}}}"
    (kind,) = load(text, "apigatewayv2-controller/generator.yaml").kinds
    spec = {"subnetzRefs": [{"from": {"name": "a"}}]}
    (problem,) = check(kind, ObjectName(API, "VPCLink", "default", "orders"), {"spec": spec}).problems
    return problem


def _by_hook() -> StrongRefError:
    generator = ROOT / "tests/generators/apigatewayv2.yaml"
    resolver = ReferenceResolver(load(generator.read_text(), str(generator)).kinds, ManifestObjects(_OBJECTS))
    spec = {"apiID": "a1b2c3", "targetRef": {"from": {"name": "orders"}}}
    content = {"apiVersion": f"{API}/v1alpha1", "kind": "Route", "metadata": {"name": "orders"}, "spec": spec}
    (problem,) = resolver.resolve(content).problems
    return problem


def _unwritable() -> StrongRefError:
    manifest = read("app/link.yaml", b"kind: VPCLink\nspec:\n  subnetRefs: &subnets [{from: {name: a}}]\n")
    edit = Edit(("spec",), "subnetRefs", "subnetIDs", ("subnet-1",))
    ((_, error),) = rewritten(manifest, [PlacedEdit(1, (), edit, "VPCLink default/orders")])[1]
    return error


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "refs-both": refused("{subnetIDs: [subnet-1], subnetRefs: [{from: {name: a}}]}"),
    "refs-neither": refused("{}"),
    "refs-empty": refused("{subnetRefs: [{from: {name: ''}}]}"),
    "refs-namespace": refused(_groups("{name: web, namespace: shop}")),
    "refs-map": _below_map,
    "refs-shape": refused("{subnetRefs: {from: {name: a}}}"),
    "refs-absent": _absent,
    "refs-hook": _by_hook,
    "refs-from": refused("{subnetRefs: [{name: a}]}"),
    "refs-key": refused(_groups("{nmae: web}")),
    "refs-field": refused("{subnetIDs: [subnet-1], securityGroupRef: {from: {name: web}}}"),
    "refs-kind": refused("{vpcRef: {from: {name: main}}}", kind="Subnet", group=EC2),
    "refs-terminal": refused(_groups("{name: broken}")),
    "refs-not-synced": refused(_groups("{name: new}")),
    "refs-missing": refused(_groups("{name: bare}")),
    "refs-not-text": refused(_groups("{name: odd}")),
    "refs-not-found": refused(_groups("{name: wed}")),
    "refs-several": lambda: errors.AmbiguousObjectError(GROUP, ["a.yaml, document 1", "b.yaml, document 3"]),
    "refs-stack": refused(_groups("{stack: network}")),
    "refs-stack-value": refused("{apiRef: {from: {stack: network, name: Apis}}}", ["a", "b"], kind="Integration"),
    "refs-stack-map": refused(_groups("{stack: network, name: Vpc}"), {"Id": "vpc-1"}),
    "refs-kubeconfig": lambda: errors.ClusterConfigError(
        "kubeconfig /home/me/.kube/config has no context there; it has test and prod"
    ),
    "refs-unreachable": lambda: errors.UnreachableError(SERVER, GET, "no answer in time"),
    "refs-unauthorized": lambda: errors.UnauthorizedError(SERVER, GET, 401),
    "refs-denied": lambda: errors.DeniedError(SERVER, GET, "get", f"securitygroups.{EC2}", "namespace default"),
    "refs-not-installed": lambda: errors.KindNotInstalledError(SERVER, GET, "SecurityGroup", EC2),
    "refs-not-the-api": lambda: errors.NotTheApiError(SERVER, "list API groups"),
    "refs-answered": lambda: errors.AnsweredError(SERVER, GET, 500),
    "refs-generator": _read(
        "resources:\n  VpcLink:\n    fields:\n      SubnetIds:\n        references: {resource: Subnet}\n"
    ),
    "refs-service": lambda: errors.ServiceUnknownError("generator.yaml"),
    "refs-unwritable": _unwritable,
}
