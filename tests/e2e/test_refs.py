"""References of manifests, resolved by the command itself: to stacks that were deployed, to manifests, to a cluster.

The cluster speaks Kubernetes' API over HTTP; the VPC link is that of ACK's design.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.templates import EU, export, stack
from tests.support.kube_api import TOKEN, KubeApi, Served, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.harness import Aws

COMMAND = Path(sys.executable).with_name("strongref")
EXAMPLES = Path(__file__).parents[2] / "examples/refs"
GENERATOR = EXAMPLES / "apigatewayv2-controller/generator.yaml"
EC2, API = "ec2.services.k8s.aws", "apigatewayv2.services.k8s.aws"
REFUSED = "UPDATE_ROLLBACK_COMPLETE"
TRUE = "True"


@pytest.fixture
def run(aws: Aws, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `strongref refs COMMAND` with the design's generator.yaml, away from any cluster of whoever runs this."""
    environment = aws.emulator.env(aws.account, EU) | {"HOME": str(tmp_path)}
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "http_proxy"):
        environment.pop(name, None)

    def strongref(command: str, *arguments: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
        line = [str(COMMAND), "refs", command, "--generator", str(GENERATOR), *map(str, arguments)]
        return subprocess.run(  # noqa: S603 (our own)
            line, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path, **given
        )

    return strongref


def found(kind: str, name: str, *, terminal: str = "False", synced: str = TRUE, **status: str) -> dict[str, Any]:
    """An object of ACK's as a cluster has it."""
    conditions = [{"type": "ACK.Terminal", "status": terminal}, {"type": "ACK.ResourceSynced", "status": synced}]
    return {
        "apiVersion": f"{EC2}/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "status": {"conditions": conditions, **status},
    }


OBJECTS = [
    found("SecurityGroup", "web", id="sg-1"),
    found("SecurityGroup", "broken", terminal=TRUE, id="sg-2"),
    found("SecurityGroup", "new", synced="False", id="sg-3"),
    found("Subnet", "a", subnetID="subnet-1"),
    found("Subnet", "b", subnetID="subnet-2"),
    found("Subnet", "bare"),
]


def link(spec: str) -> str:
    return f"apiVersion: {API}/v1alpha1\nkind: VPCLink\nmetadata: {{name: orders}}\nspec:\n  name: orders\n{spec}"


WANTED = link(
    "  securityGroupRefs: # one\n    - from: {name: web}\n  subnetRefs:\n    - from:\n        name: a # first\n"
    "    - from:\n        name: b\n"
)
RESOLVED = link("  securityGroupIDs: # one\n    - sg-1\n  subnetIDs:\n    - subnet-1 # first\n    - subnet-2\n")


@pytest.fixture(params=["manifests", "cluster"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """The objects, in a set of manifests or in a cluster, and the options that say so."""
    if request.param == "manifests":
        path = tmp_path / "objects.yaml"
        path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))
        yield ["--from", str(path)]
        return
    kinds = [Served(EC2, "v1alpha1", kind, f"{kind.lower()}s") for kind in ("SecurityGroup", "Subnet")]
    with serving(KubeApi(kinds, list(OBJECTS))) as api:
        yield ["--cluster", "--kubeconfig", str(api.kubeconfig(tmp_path)), "--context", "here"]


def test_the_designs_vpc_link_resolves_from_manifests_and_from_a_cluster(
    run: Callable[..., Any], source: list[str], tmp_path: Path
) -> None:
    (tmp_path / "link.yaml").write_text(WANTED)
    done = run("resolve", "link.yaml", *source, "-o", "out")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / "out/link.yaml").read_text() == RESOLVED
    assert run("resolve", "-", *source, input=WANTED).stdout == RESOLVED


SUBNETS = "  subnetRefs: [{from: {name: a}}]\n"
ERRORS = {
    "ResourceReferenceAndIDNotSupported": (
        f"  securityGroupIDs: [sg-9]\n  securityGroupRefs: [{{from: {{name: web}}}}]\n{SUBNETS}",
        "spec.securityGroupRefs",
        "both resource reference wrapper and ID cannot be used together",
    ),
    "ResourceReferenceOrIDRequired": (
        "  securityGroupRefs: [{from: {name: web}}]\n",
        "spec.subnetRefs",
        "resource reference wrapper or ID required",
    ),
    "empty": ("  subnetRefs: [{from: {name: ''}}]\n", "spec.subnetRefs", "provided resource reference is nil or empty"),
    "ResourceReferenceTerminal": (
        f"  securityGroupRefs: [{{from: {{name: broken}}}}]\n{SUBNETS}",
        "SecurityGroup default/broken",
        "the referenced resource has 'ACK.Terminal' condition 'True'",
    ),
    "ResourceReferenceNotSynced": (
        f"  securityGroupRefs: [{{from: {{name: new}}}}]\n{SUBNETS}",
        "SecurityGroup default/new",
        "the referenced resource is not synced yet",
    ),
    "ResourceReferenceMissingTargetField": (
        "  subnetRefs: [{from: {name: bare}}]\n",
        "Status.SubnetID",
        "the referenced resource is missing the target field",
    ),
    "not found": (
        "  subnetRefs: [{from: {name: c}}]\n",
        "Subnet default/c was not found in",
        f'subnets.{EC2} "c" not found',
    ),
    "ResourceReferenceCrossNamespaceNotAllowed": (
        "  subnetRefs: [{from: {name: a, namespace: shop}}]\n",
        "spec.subnetRefs",
        "cross-namespace resource reference is not allowed",
    ),
}
"""What is refused: the manifest, what is reported of it, and what ACK's condition says."""


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_of_the_design_is_reported_and_is_in_the_condition(
    name: str, run: Callable[..., Any], source: list[str], tmp_path: Path
) -> None:
    spec, reported, upstream = ERRORS[name]
    (tmp_path / "link.yaml").write_text(link(spec))
    done = run("resolve", "link.yaml", *source, "--in-place", "--conditions")
    assert done.returncode == 1
    first, last = done.stderr.splitlines()
    assert first.startswith("link.yaml, document 1: ")
    assert reported in first
    assert not name.startswith("Resource") or f"{name}: VPCLink default/orders" in first
    assert last == "strongref: 1 problem. Nothing was written."
    condition = json.loads(done.stdout)
    assert (condition["type"], condition["name"]) == ("ACK.ReferencesResolved", "orders")
    assert upstream in condition["reason"] + condition["message"]
    assert condition["status"] in ("False", "Unknown")
    assert (tmp_path / "link.yaml").read_text() == link(spec)


def test_all_errors_are_reported_at_once(run: Callable[..., Any], source: list[str], tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("---\n".join(link(spec) for spec, *_ in ERRORS.values()))
    done = run("resolve", "all.yaml", *source, "--check")
    assert done.returncode == 1
    reported = done.stderr.splitlines()
    assert [line.partition(": ")[0] for line in reported[:-1]] == [
        f"all.yaml, document {number}" for number in range(1, len(ERRORS) + 1)
    ]
    assert reported[-1] == f"strongref: {len(ERRORS)} problems. Nothing was written."


def test_what_gets_in_the_way_of_a_cluster_is_reported(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "link.yaml").write_text(WANTED)
    kinds = [Served(EC2, "v1alpha1", kind, f"{kind.lower()}s") for kind in ("SecurityGroup", "Subnet")]
    with serving(KubeApi(kinds, list(OBJECTS))) as api:
        given = ["resolve", "link.yaml", "--check", "--cluster", "--kubeconfig", str(api.kubeconfig(tmp_path))]
        assert run(*given).returncode == 0
        api.denied.add(("get", "securitygroups"))
        denied = run(*given)
        api.denied.clear()
        api.kinds = kinds[:1]
        missing = run(*given)
        api.kinds = kinds
        api.expired = True
        expired = run(*given)
    gone = run(*given)
    assert [done.returncode for done in (denied, missing, expired, gone)] == [1] * 4
    assert f"denied get on securitygroups.{EC2} in namespace default" in denied.stderr
    assert f"of {EC2}. Check both, or install its controller or CRDs." in missing.stderr
    assert "401 Unauthorized" in expired.stderr
    assert f"The cluster {api.url} cannot be reached" in gone.stderr
    assert TOKEN not in denied.stderr + missing.stderr + expired.stderr + gone.stderr


def test_the_vpc_links_rules_are_those_of_the_design(run: Callable[..., Any]) -> None:
    resources = ["securitygroups", "securitygroups/status", "subnets", "subnets/status"]
    rules = "".join(
        f"- apiGroups:\n    - {EC2}\n  resources:\n    - {name}\n  verbs:\n    - get\n    - list\n"
        for name in resources
    )
    assert run("rbac").stdout.partition("rules:\n")[2] == rules


def test_a_manifest_refers_to_what_a_stack_made_and_holds_it(
    aws: Aws, names: Callable[[str], str], run: Callable[..., Any], tmp_path: Path
) -> None:
    network, shop = names("network"), names("shop")
    topic = {"Type": "AWS::SNS::Topic"}

    def deploy(subnets: list[str], expect: str) -> None:
        resources = {"Topic": topic, "Exports": export({"SubnetIds": subnets, "Groups": {"Web": "sg-1"}}, region=EU)}
        aws.deploy(network, stack(resources, {"Group": "sg-2"}), EU, expect)

    deploy(["subnet-1", "subnet-2"], "CREATE_COMPLETE")
    (tmp_path / "link.yaml").write_text(
        link(
            f"  securityGroupRefs:\n    - from: {{stack: {network}, name: Groups.Web}}\n"
            f"    - from: {{stack: {network}, output: Group, region: {EU}, account: '{aws.account}'}}\n"
            f"  subnetRefs:\n    - from: {{stack: {network}, name: SubnetIds}} # all of them\n"
        )
    )
    done = run("resolve", "link.yaml", "-o", "out", "--claim", shop)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"2 fields filled in, 2 exports used by manifests {shop}\n")
    assert (tmp_path / "out/link.yaml").read_text() == link(
        "  securityGroupIDs:\n    - sg-1\n    - sg-2\n  subnetIDs:\n    - subnet-1\n    - subnet-2 # all of them\n"
    )
    deploy(["subnet-3"], REFUSED)
    assert f"SubnetIds cannot be changed: it is imported by manifests {shop}" in "\n".join(aws.reasons(network, EU))

    (tmp_path / "link.yaml").write_text(link(f"  subnetRefs: [{{from: {{stack: {network}, name: SubnetIdz}}}}]\n"))
    wrong = run("resolve", "link.yaml", "-o", "none", "--claim", shop)
    assert wrong.returncode == 1
    assert "does not export SubnetIdz" in wrong.stderr
    assert "It exports SubnetIds" in wrong.stderr
    deploy(["subnet-3"], REFUSED)
    unclaim = [str(COMMAND), "resolve", "--unclaim", shop]
    subprocess.run(unclaim, env=aws.emulator.env(aws.account, EU), check=True, capture_output=True)  # noqa: S603
    deploy(["subnet-3"], "UPDATE_COMPLETE")


def test_the_example_resolves(aws: Aws, run: Callable[..., Any], tmp_path: Path) -> None:
    done = run("resolve", EXAMPLES / "manifests", "--from", EXAMPLES / "objects", "--check", "--conditions")
    condition = json.loads(done.stdout)
    assert (done.returncode, condition["status"]) == (1, "Unknown")
    assert "stack network" in done.stderr.lower()
    assert "sg-0123456789abcdef0" not in done.stderr
    assert aws.status("network", EU) is None
    assert not (tmp_path / "out").exists()
