"""`strongref refs`: its listings and generated YAML, its sources, what it writes and reports, and exit codes."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
import yaml

import strongref_cli as cli
from strongref.contract.event import Event, RequestType
from strongref.runtime.wiring import exporter
from strongref_manifests.manifest_set import ManifestSetClaims
from strongref_toolkit import files
from tests.support.documents import ROOT
from tests.support.empty_aws import empty_aws
from tests.support.fake_ssm import FakeClock
from tests.support.kube_api import TOKEN, KubeApi, Served, serving
from tests.support.schemas import validate
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Iterator

EU, US = "eu-west-1", "us-east-1"
ACCOUNT = "123456789012"
STACK = f"arn:aws:cloudformation:{EU}:{ACCOUNT}:stack/network/1"
HIDDEN = "a-value-not-to-be-shown"
GENERATOR = str(ROOT / "examples/refs/apigatewayv2-controller/generator.yaml")
EC2 = "ec2.services.k8s.aws"
SYNCED = [{"type": "ACK.ResourceSynced", "status": "True"}]


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with empty_aws(monkeypatch, EU):
        yield


def refs(*arguments: str | Path, generator: str | None = GENERATOR) -> int:
    command, *others = map(str, arguments)
    return cli.main(["refs", command, *(["--generator", generator] if generator else []), *others])


def export(values: dict[str, Any], **more: Any) -> None:
    properties = {"Region": EU, "Values": values, **more}
    created = Event(RequestType.CREATE, STACK, "Exports", "1", None, properties, None, "https://x", "Custom::X")
    with waited_for():
        exporter().handle(created, FakeClock())


def deploy(name: str, outputs: dict[str, str]) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    template = {"Resources": {"Topic": topic}, "Outputs": {key: {"Value": value} for key, value in outputs.items()}}
    boto3.client("cloudformation", EU).create_stack(StackName=name, TemplateBody=json.dumps(template))


def ec2(kind: str, name: str, **status: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    content = {"conditions": SYNCED, **status}
    return {"apiVersion": f"{EC2}/v1alpha1", "kind": kind, "metadata": metadata, "status": content}


OBJECTS = [
    ec2("SecurityGroup", "web", id="sg-1"),
    ec2("SecurityGroup", "db", id="sg-2"),
    ec2("Subnet", "a", subnetID="subnet-1"),
]
LINK = """\
apiVersion: apigatewayv2.services.k8s.aws/v1alpha1
kind: VPCLink
metadata: {name: orders}
spec:
  name: orders
  securityGroupRefs: # who
    - from: {name: web} # one
    - from:
        name: db
  subnetRefs: [{from: {name: a}}]
"""
RESOLVED = """\
apiVersion: apigatewayv2.services.k8s.aws/v1alpha1
kind: VPCLink
metadata: {name: orders}
spec:
  name: orders
  securityGroupIDs: # who
    - sg-1 # one
    - sg-2
  subnetIDs: [subnet-1]
"""


@pytest.fixture
def link(tmp_path: Path) -> Path:
    path = tmp_path / "link.yaml"
    path.write_text(LINK)
    return path


@pytest.fixture
def others(tmp_path: Path) -> Path:
    path = tmp_path / "others.yaml"
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))
    return path


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KubeApi]:
    kinds = [Served(EC2, "v1alpha1", kind, f"{kind.lower()}s") for kind in ("SecurityGroup", "Subnet")]
    with serving(KubeApi(kinds, list(OBJECTS))) as api:
        (tmp_path / ".kube").mkdir()
        api.kubeconfig(tmp_path / ".kube").rename(tmp_path / ".kube/config")
        yield api


def document(capsys: pytest.CaptureFixture[str], generator: str = GENERATOR) -> dict[str, Any]:
    """What `fields` prints for programs, which follows its schema."""
    assert refs("fields", "--output", "json", generator=generator) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    validate("refs-fields", printed)
    return printed


class TestListing:
    def test_fields_are_listed_as_a_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert refs("fields") == 0
        assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
            ["KIND", "FIELD", "REFERENCE", "REFERS", "TO", "GROUP", "PATH"],
            ["Integration", "apiID", "apiRef", "API", "apigatewayv2.services.k8s.aws", "Status.APIID"],
            ["VPCLink", "securityGroupIDs", "securityGroupRefs", "SecurityGroup", EC2, "Status.ID"],
            ["VPCLink", "subnetIDs", "subnetRefs", "Subnet", EC2, "Status.SubnetID"],
        ]

    def test_the_tables_columns_begin_below_each_other(self, capsys: pytest.CaptureFixture[str]) -> None:
        refs("fields")
        head, *lines = capsys.readouterr().out.splitlines()
        for title in ("FIELD", "REFERENCE", "REFERS TO", "GROUP", "PATH"):
            at = head.index(title)
            assert all(line[at - 2 : at] == "  " and line[at] != " " for line in lines)

    def test_fields_are_listed_as_a_document(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert document(capsys)["fields"][2] == {
            "group": "apigatewayv2.services.k8s.aws",
            "kind": "VPCLink",
            "field": "subnetIDs",
            "reference": "subnetRefs",
            "list": True,
            "required": True,
            "refersTo": {"group": EC2, "kind": "Subnet", "path": "Status.SubnetID"},
            "refused": None,
        }

    def test_fields_are_listed_as_markdown(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert refs("fields", "--output", "markdown") == 0
        assert capsys.readouterr().out.splitlines()[:3] == [
            "| KIND | FIELD | REFERENCE | REFERS TO | GROUP | PATH |  |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            "| Integration | apiID | apiRef | API | apigatewayv2.services.k8s.aws | Status.APIID |  |",
        ]

    @pytest.mark.parametrize("service", ["apigatewayv2", "ec2", "eks", "elbv2", "iam", "lambda"])
    def test_the_fields_of_real_controllers_are_listed(self, service: str, capsys: pytest.CaptureFixture[str]) -> None:
        lines = (ROOT / "tests/generators/fields.txt").read_text().splitlines()
        expected = {tuple(line.split()[1:4]) for line in lines if line.split()[0] == service}
        assert refs("fields", generator=f"{ROOT}/tests/generators/{service}.yaml") == 0
        listed = [line.split()[:3] for line in capsys.readouterr().out.splitlines()[1:]]
        assert {tuple(each) for each in listed} == expected
        assert len(listed) == len(expected) > 5
        assert len(document(capsys, f"{ROOT}/tests/generators/{service}.yaml")["fields"]) == len(expected)

    def test_fields_by_which_nothing_is_referred_to_are_marked(self, capsys: pytest.CaptureFixture[str]) -> None:
        generator = f"{ROOT}/tests/generators/apigatewayv2.yaml"
        assert refs("fields", generator=generator) == 0
        lines = capsys.readouterr().out.splitlines()
        assert {line.split()[0] for line in lines if line.endswith("  refused: hook references_post_resolve")} == {
            "Route"
        }
        marked = [each for each in document(capsys, generator)["fields"] if each["refused"]]
        assert [(each["kind"], each["field"], each["refused"]) for each in marked] == [
            ("Route", "target", "hook references_post_resolve")
        ]

    def test_fields_below_maps_are_marked(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "apigatewayv2.yaml"
        entry = "{references: {resource: Level, path: Status.ID}}"
        path.write_text(f"resources: {{Stage: {{fields: {{RouteSettings.LoggingLevel: {entry}}}}}}}")
        assert refs("fields", generator=str(path)) == 0
        assert capsys.readouterr().out.endswith("  refused: routeSettings is a map\n")

    @pytest.mark.parametrize("command", ["fields", "rbac", "schema"])
    def test_a_path_that_the_api_lacks_is_noted(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "apigatewayv2.yaml"
        entry = "{references: {resource: Subnet, service_name: ec2, path: Status.SubnetID}}"
        path.write_text(f"resources: {{VpcLink: {{fields: {{SubnetIds: {entry}, A.SubnetIdd: {entry}}}}}}}")
        assert refs(command, generator=str(path)) == 0
        printed = capsys.readouterr()
        assert printed.err == (
            f"strongref: {path}: VPCLink has no A.SubnetIdd in the API, so its reference is refused. Correct the name, "
            "or add the kind's CRD with --crd.\n"
        )
        assert "ubnet" in printed.out

    def test_several_controllers_are_listed_after_each_other(self, capsys: pytest.CaptureFixture[str]) -> None:
        more = ["--generator", f"{ROOT}/tests/generators/iam.yaml"]
        assert refs("fields", *more) == 0
        kinds = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
        assert list(dict.fromkeys(kinds)) == [
            "KIND",
            "Integration",
            "VPCLink",
            "Group",
            "InstanceProfile",
            "Role",
            "User",
        ]

    def test_the_role_of_a_real_controller_has_the_rules_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Those of ack-lambda-controller (lambda-controller, `config/rbac/cluster-role-controller.yaml`)."""
        assert refs("rbac", "--name", "reader", generator=f"{ROOT}/tests/generators/lambda.yaml") == 0
        role = yaml.safe_load(capsys.readouterr().out)
        assert role["metadata"] == {"name": "reader"}
        rules = [(rule["apiGroups"][0].partition(".")[0], rule["resources"][0]) for rule in role["rules"]]
        assert {"get", "list"} == {verb for rule in role["rules"] for verb in rule["verbs"]}
        theirs = ["ec2 securitygroups", "ec2 subnets", "kms keys", "mq brokers", "s3 buckets"]
        own = [(service, name) for service, name in map(str.split, theirs)]
        assert [rule for rule in rules if rule in own] == own
        assert [rule for rule in rules if (rule[0], rule[1].removesuffix("/status")) in own] == [
            pair for service, name in own for pair in ((service, name), (service, f"{name}/status"))
        ]

    def test_the_role_has_what_the_own_role_allows_only_on_demand(self, capsys: pytest.CaptureFixture[str]) -> None:
        refs("rbac")
        assert "apigatewayv2" not in capsys.readouterr().out
        refs("rbac", "--all")
        assert "apigatewayv2" in capsys.readouterr().out

    def test_fragments_are_yaml_by_the_crds_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert refs("schema") == 0
        made = yaml.safe_load(capsys.readouterr().out)
        spec = made["vpclinks.apigatewayv2.services.k8s.aws"]["properties"]["spec"]
        assert spec["properties"]["subnetRefs"]["items"]["properties"]["from"]["type"] == "object"

    def test_crds_decide_what_is_a_list(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = tmp_path / "crds"
        folder.mkdir()
        (folder / "kustomization.yaml").write_text("resources: [a.yaml]\n")
        crd = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "spec": {
                "group": "apigatewayv2.services.k8s.aws",
                "names": {"kind": "VPCLink"},
                "versions": [
                    {
                        "name": "v1alpha1",
                        "storage": True,
                        "schema": {
                            "openAPIV3Schema": {
                                "properties": {"spec": {"properties": {"subnetIDs": {"type": "string"}}}}
                            }
                        },
                    }
                ],
            },
        }
        (folder / "a.yaml").write_text(yaml.safe_dump(crd))
        assert refs("fields", "--crd", folder) == 0
        listed = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
        assert listed[-2:] == [
            ["VPCLink", "securityGroupIDs", "securityGroupRefs"],
            ["VPCLink", "subnetIDs", "subnetRef"],
        ]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ([], "no reference fields are known: add controllers' generator.yaml files with --generator"),
        (["--generator", "{a}", "--generator", "{a}"], "{a} and {a} are both for apigatewayv2: keep one"),
        (["--generator", "{a}", "--generator", "{a}", "--service", "x"], "--service requires a single --generator"),
        (["--generator", "{a}", "--crd", "{tmp}/gone.yaml"], "{tmp}/gone.yaml does not exist"),
        (["--generator", ""], "--generator is empty: is a variable not set?"),
        (["--generator", "{a}", "--service", ""], "--service is empty: is a variable not set?"),
        (["--generator", "{a}", "--crd", "{a}"], "--crd must have a CustomResourceDefinition, got none"),
    ],
)
def test_invalid_generator_options_are_reported(
    arguments: list[str], output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each.format(a=GENERATOR, tmp=tmp_path) for each in arguments]
    assert refs("fields", *given, generator=None) == 2
    assert output.format(a=GENERATOR, tmp=tmp_path) in capsys.readouterr().err


def test_an_unreadable_generator_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refs("fields", generator=f"{tmp_path}/gone.yaml") == 2
    assert capsys.readouterr().err == f"strongref: {tmp_path}/gone.yaml: no such file or directory.\n"
    (tmp_path / "a.yaml").write_bytes(b"\xff")
    assert refs("fields", generator=f"{tmp_path}/a.yaml") == 1
    assert capsys.readouterr().err == f"strongref: {tmp_path}/a.yaml: not UTF-8 text.\n"
    assert refs("rbac", "--name", "a role") == 2


def test_an_unreadable_crd_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: [1")
    assert refs("fields", "--crd", file) == 1
    assert capsys.readouterr().err.startswith(f"strongref: {file}, line ")

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert refs("fields", "--crd", file) == 1
    assert capsys.readouterr().err == f"strongref: {file}: permission denied.\n"


def test_whose_controller_it_is_follows_from_its_folder_or_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "apigatewayv2-controller"
    folder.mkdir()
    (folder / "generator.yaml").write_text((ROOT / GENERATOR).read_text())
    monkeypatch.chdir(folder)
    assert refs("fields", generator="generator.yaml") == 0
    assert " apigatewayv2.services.k8s.aws " in capsys.readouterr().out
    assert refs("fields", "--service", "apigateway", generator="generator.yaml") == 0
    assert " apigateway.services.k8s.aws " in capsys.readouterr().out
    (tmp_path / "generator.yaml").write_text((folder / "generator.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    assert refs("fields", generator="generator.yaml") == 1
    assert "--service" in capsys.readouterr().err


class TestResolving:
    def test_objects_of_manifests_are_referred_to(
        self, link: Path, others: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert refs("resolve", link, "--from", others, "-o", tmp_path / "out") == 0
        assert (tmp_path / "out/link.yaml").read_text() == RESOLVED
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err == "strongref: 1 file, 1 object with references, 2 fields filled in\n"
        assert link.read_text() == LINK

    def test_what_is_resolved_is_not_resolved_again(self, link: Path, others: Path) -> None:
        assert refs("resolve", link, "--from", others, "--in-place") == 0
        assert link.read_text() == RESOLVED
        stamp = link.stat()
        assert refs("resolve", link, "--from", others, "--in-place") == 0
        assert link.stat() == stamp

    def test_objects_of_the_same_manifests_are_referred_to(self, link: Path, tmp_path: Path) -> None:
        more = "".join(f"---\n{yaml.safe_dump(each)}" for each in OBJECTS)
        link.write_text(LINK + more)
        assert refs("resolve", link, "-o", tmp_path / "out") == 0
        assert (tmp_path / "out/link.yaml").read_text() == RESOLVED + more

    def test_objects_that_are_given_count_before_those_of_the_manifests(
        self, link: Path, others: Path, tmp_path: Path
    ) -> None:
        bare = {"apiVersion": f"{EC2}/v1alpha1", "kind": "Subnet", "metadata": {"name": "a"}, "spec": {}}
        link.write_text(f"{LINK}---\n{yaml.safe_dump(bare)}")
        assert refs("resolve", link, "-o", tmp_path / "out") == 1
        assert refs("resolve", link, "--from", others, "-o", tmp_path / "out") == 0

    def test_a_namespace_is_that_of_the_object_or_is_given(self, link: Path, others: Path) -> None:
        assert refs("resolve", link, "--from", others, "--check", "--namespace", "shop") == 1
        link.write_text(LINK.replace("{name: orders}", "{name: orders, namespace: shop}"))
        assert refs("resolve", link, "--from", others, "--check") == 1
        moved = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": OBJECTS}).replace("default", "shop")
        others.write_text(moved)
        assert refs("resolve", link, "--from", others, "--check") == 0

    def test_objects_that_are_given_without_a_namespace_are_in_that_too(self, link: Path, others: Path) -> None:
        bare = [{**each, "metadata": {"name": each["metadata"]["name"]}} for each in OBJECTS]
        others.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": bare}))
        assert refs("resolve", link, "--from", others, "--check", "--namespace", "shop") == 0
        link.write_text(LINK.replace("{name: orders}", "{name: orders, namespace: shop}"))
        assert refs("resolve", link, "--from", others, "--check", "--namespace", "shop") == 0
        assert refs("resolve", link, "--from", others, "--check") == 1

    def test_objects_of_a_cluster_are_referred_to(
        self, link: Path, cluster: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert refs("resolve", link, "--cluster", "-o", tmp_path / "out") == 0
        assert (tmp_path / "out/link.yaml").read_text() == RESOLVED
        gets = [asked for asked in cluster.asked if "/namespaces/" in asked]
        assert [asked.rpartition("/namespaces/")[2] for asked in gets] == [
            "default/securitygroups/web",
            "default/securitygroups/db",
            "default/subnets/a",
        ]
        cluster.denied.add(("get", "subnets"))
        assert refs("resolve", link, "--cluster", "-o", tmp_path / "none") == 1
        output = capsys.readouterr().err
        assert f"denied get on subnets.{EC2} in namespace default" in output
        assert TOKEN not in output
        assert not (tmp_path / "none").exists()

    def test_the_namespace_of_a_cluster_is_the_contexts(self, link: Path, cluster: KubeApi, tmp_path: Path) -> None:
        cluster.objects = [{**each, "metadata": {**each["metadata"], "namespace": "shop"}} for each in OBJECTS]
        kubeconfig = cluster.kubeconfig(tmp_path, namespace="shop")
        given: list[str | Path] = ["resolve", link, "--cluster", "--check"]
        assert refs(*given) == 1
        assert refs(*given, "--kubeconfig", kubeconfig, "--context", "here") == 0
        assert refs(*given, "--kubeconfig", kubeconfig, "--namespace", "default") == 1
        assert refs(*given, "--kubeconfig", kubeconfig, "--context", "there") == 1

    def test_exports_and_outputs_of_stacks_are_referred_to(
        self, link: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        export({"SubnetIds": ["subnet-1", "subnet-2"], "Groups": {"Web": "sg-1"}, "Key": HIDDEN}, SecureKeys=["Key"])
        deploy("site", {"Group": "sg-2"})
        text = LINK.replace("{name: web}", "{stack: network, name: Groups.Web}").replace(
            "name: db", "stack: site\n        output: Group"
        )
        link.write_text(text.replace("{name: a}", "{stack: network, name: SubnetIds, account: '123456789012'}"))
        assert refs("resolve", link, "-o", tmp_path / "out") == 0
        assert (tmp_path / "out/link.yaml").read_text() == RESOLVED.replace("[subnet-1]", "[subnet-1, subnet-2]")
        link.write_text(text.replace("{name: a}", "{stack: network, name: Key}"))
        assert refs("resolve", link, "--check") == 1
        output = capsys.readouterr().err
        assert "spec.subnetRefs: from: {stack: network, name: Key} is a SecureString. Give --sensitive" in output
        assert refs("resolve", link, "--in-place", "--sensitive") == 0
        assert HIDDEN in link.read_text()
        assert HIDDEN not in output + capsys.readouterr().err

    def test_a_stack_without_exports_is_reported_without_tokens(
        self, link: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        link.write_text("\n".join(LINK.splitlines()[:5]) + "\n  subnetRefs: [{from: {stack: network, name: Ids}}]\n")
        assert refs("resolve", link, "--check") == 1
        output = capsys.readouterr().err
        assert "Check that stack's name, region and account, its Export's Region" in output
        assert not re.search("[@#$]", output)

    def test_exports_are_those_of_a_consumer(self, link: Path, tmp_path: Path) -> None:
        export({"Ids": ["subnet-1"]}, Consumer="shop")
        link.write_text("\n".join(LINK.splitlines()[:5]) + "\n  subnetRefs: [{from: {stack: network, name: Ids}}]\n")
        assert refs("resolve", link, "--check") == 1
        assert refs("resolve", link, "-o", tmp_path / "out", "--consumer", "shop") == 0
        assert refs("resolve", link, "--check", "--consumer", "a b") == 2

    def test_all_problems_of_all_objects_are_reported_and_nothing_is_written(
        self, link: Path, others: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        wrong = LINK.replace("{name: a}", "{name: b}").replace("name: db", "name: ''")
        link.write_text(f"{LINK}---\n{wrong}")
        (tmp_path / "broken.yaml").write_text("a: [1")
        given: list[str | Path] = ["resolve", link, tmp_path / "broken.yaml", "--from", others, "-o", tmp_path / "out"]
        assert refs(*given) == 1
        output = capsys.readouterr().err.splitlines()
        assert output[0].startswith(f"{tmp_path}/broken.yaml, line ")
        assert output[1].startswith(f"{link}, document 2: ")
        assert "spec.securityGroupRefs" in output[1]
        assert output[2].startswith(f"{link}, document 2: ")
        assert "Subnet default/b was not found in the manifests given" in output[2]
        assert output[3:] == ["strongref: 1 file could not be read and 2 problems. Nothing was written."]
        assert not (tmp_path / "out").exists()

    def test_a_reference_that_cannot_be_replaced_is_reported(
        self, link: Path, others: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        wrong = LINK.replace("subnetRefs: ", "subnetRefs: &x ")
        link.write_text(f"{LINK}---\n{wrong}---\n{wrong.replace('orders', 'bills')}")
        assert refs("resolve", link, "--from", others, "--in-place") == 1
        assert link.read_text().startswith(LINK)
        output = "cannot be replaced as it is written: write it out, without anchors, aliases and tags."
        assert capsys.readouterr().err.splitlines() == [
            f"{link}, document 2: VPCLink default/orders: spec.subnetRefs (line 21) {output}",
            f"{link}, document 3: VPCLink default/bills: spec.subnetRefs (line 32) {output}",
            "strongref: 2 problems. Nothing was written.",
        ]

    def test_a_reference_in_an_object_within_another_one_is_left_alone_and_reported(
        self, link: Path, others: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        template = "".join(f"        {line}\n" for line in LINK.splitlines())
        head = "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: link}\n"
        graph = f"{head}spec:\n  resources:\n    - id: link\n      template:\n{template}"
        link.write_text(f"{LINK}---\n{graph}---\napiVersion: v1\nkind: Service\nmetadata: {{name: a}}\n")
        assert refs("resolve", link, "--from", others, "-o", tmp_path / "out") == 0
        assert (tmp_path / "out/link.yaml").read_text().startswith(f"{RESOLVED}---\n{graph}---\n")
        left, _ = capsys.readouterr().err.splitlines()
        assert left == (
            f"{link}, document 2: spec.resources[0].template.spec.securityGroupRefs looks like a reference and stays "
            "as it is, since ResourceGraphDefinition default/link is no object of ACK's."
        )

    def test_objects_to_adopt_keep_what_cannot_be_resolved_and_the_run_goes_on(
        self, link: Path, others: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        adopted = LINK.replace(
            "{name: orders}", '{name: old, annotations: {services.k8s.aws/adoption-policy: "adopt"}}'
        )
        adopted = adopted.replace("{name: a}", "{name: gone}")
        link.write_text(f"{LINK}---\n{adopted}")
        assert refs("resolve", link, "--from", others, "-o", tmp_path / "out", "--conditions") == 0
        assert (tmp_path / "out/link.yaml").read_text().endswith(f"---\n{adopted}")
        printed = capsys.readouterr()
        note, done = printed.err.splitlines()
        assert note == (
            f"{link}, document 2: VPCLink default/old: spec.subnetRefs: Subnet default/gone was not found in the "
            "manifests given. Did you mean a? "
            "Ignored, since the object is read-only or to be adopted: it is left as it is."
        )
        assert done == "strongref: 1 file, 2 objects with references, 2 fields filled in"
        assert [json.loads(line)["status"] for line in printed.out.splitlines()] == ["True", "Unknown"]

    def test_conditions_are_printed_whether_it_is_done_or_not(
        self, link: Path, others: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given: list[str | Path] = ["resolve", link, "--from", others, "--check", "--conditions"]
        assert refs(*given) == 0
        (line,) = capsys.readouterr().out.splitlines()
        assert json.loads(line) == {
            "file": str(link),
            "document": 1,
            "kind": "VPCLink",
            "namespace": "default",
            "name": "orders",
            "type": "ACK.ReferencesResolved",
            "status": "True",
            "reason": "",
            "message": "",
        }
        link.write_text(LINK.replace("{name: a}", "{name: b}"))
        assert refs(*given) == 1
        condition = json.loads(capsys.readouterr().out)
        assert condition["status"] == "Unknown"
        assert f'subnets.{EC2} "b" not found' in condition["reason"] + condition["message"]

    def test_objects_without_references_have_no_condition(
        self, others: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert refs("resolve", others, "--check", "--conditions") == 0
        output = capsys.readouterr()
        assert (output.out, output.err) == ("", "strongref: 1 file, 0 objects with references, 0 fields filled in\n")

    def test_progress_is_shown_on_a_terminal(
        self, link: Path, others: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        monkeypatch.setenv("TERM", "xterm")
        assert refs("resolve", link, "--check", "--from", others) == 0
        printed = capsys.readouterr()
        assert (printed.out, "Resolving references" in printed.err) == ("", True)

    def test_standard_input_goes_to_standard_output(self, others: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        out = Stream()
        monkeypatch.setattr("sys.stdin", Stream(LINK.encode()))
        monkeypatch.setattr("sys.stdout", out)
        assert refs("resolve", "-", "--from", others) == 0
        assert out.buffer.getvalue().decode() == RESOLVED

    @pytest.mark.parametrize(
        ("arguments", "output"),
        [
            (["{link}"], "say where to write: -o FOLDER, or --in-place; --check writes nothing"),
            (["--check"], "no manifests: give files or folders, or - for standard input"),
            (["-", "{link}"], "give it alone, without -o"),
            (["-", "--conditions"], "--conditions prints to standard output, as the manifest does: add --check"),
            (["{link}", "--check", "--from", "gone.yaml"], "gone.yaml does not exist"),
            (["{link}", "--check", "--crd", ""], "--crd is empty: is a variable not set?"),
            (["{link}", "--check", "--from", ""], "--from is empty: is a variable not set?"),
            (["{link}", "--check", "--context", "x"], "--kubeconfig and --context require --cluster"),
            (["{link}", "--in-place", "--claim", "x"], "--claim cannot be combined with --in-place"),
            (["{link}", "--check", "--hold"], "--hold protects what --claim NAME claims: give both"),
            (["{link}", "--check", "--claim", "a b"], "--claim must be a stack's name"),
        ],
    )
    def test_invalid_options_are_reported_before_anything_is_done(
        self, arguments: list[str], output: str, link: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert refs("resolve", *(each.format(link=link) for each in arguments)) == 2
        assert output in capsys.readouterr().err
        assert link.read_text() == LINK

    def test_a_file_without_permission_is_reported(
        self, link: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def refuse(_: Path) -> bytes:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
        assert refs("resolve", link, "--check") == 1
        assert capsys.readouterr().err.startswith(f"{link}: permission denied.\n")


@pytest.mark.parametrize(
    "command",
    [
        ["fields"],
        ["fields", "--output", "json"],
        ["rbac"],
        ["schema"],
        ["resolve", "{link}", "--check", "--conditions"],
    ],
    ids=lambda command: command[0],
)
def test_a_full_disk_for_the_output_is_reported(
    command: list[str], link: Path, others: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each.format(link=link) for each in command] + (["--from", str(others)] if "--check" in command else [])
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert refs(*given) == 1
    problem = "standard output could not be written: no space left on device. Nothing was written."
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("name", ["reader", "ack-reader", "system:reader", "a:", "a.b", "yet", "123", "1e3", "true"])
@pytest.mark.parametrize("more", ["", "-1"])
def test_a_role_has_the_given_name(name: str, more: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refs("rbac", "--name", name + more) == 0
    assert yaml.safe_load(capsys.readouterr().out)["metadata"] == {"name": name + more}


@pytest.mark.parametrize(
    "name", ["null", "Yes", "NO", "on", "off", "y", "N", "2026-01-01", "0x1F", "1_000", "12:30:45"]
)
def test_a_role_that_yaml_takes_for_something_else_is_in_quotes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refs("rbac", "--name", name) == 0
    assert f'  name: "{name}"\n' in capsys.readouterr().out


class Stream:
    """A standard stream of text over one of bytes."""

    def __init__(self, data: bytes = b"") -> None:
        self.buffer = io.BytesIO(data)

    def flush(self) -> None:
        pass


class TestClaiming:
    MANIFEST = "\n".join(LINK.splitlines()[:5]) + "\n  subnetRefs: [{from: {stack: network, name: SubnetIds}}]\n"
    CLAIMANT = f"strongref:manifests:{ACCOUNT}:shop"

    def claims(self) -> dict[str, list[str]]:
        """Who claims each value, by key."""
        ssm = boto3.client("ssm", EU)
        found = {}
        below = f"/strongref/exports/_shared/{ACCOUNT}/{EU}/network"
        for parameter in ssm.get_parameters_by_path(Path=below, Recursive=True)["Parameters"]:
            tags = ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId=parameter["Name"])["TagList"]
            claims = [tag["Value"] for tag in tags if tag["Key"].startswith("strongref:claim:")]
            found[parameter["Name"].removeprefix(f"{below}/")] = claims
        return found

    def test_exports_that_are_used_are_claimed(
        self, link: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        export({"SubnetIds": ["subnet-1"], "VpcId": "vpc-1"})
        link.write_text(self.MANIFEST)
        assert refs("resolve", link, "-o", tmp_path / "out", "--claim", "shop") == 0
        assert capsys.readouterr().err == (
            "strongref: 1 file, 1 object with references, 1 field filled in, 1 export used by manifests shop\n"
        )
        assert self.claims() == {"SubnetIds": [self.CLAIMANT], "VpcId": []}
        assert "subnetIDs: [subnet-1]" in (tmp_path / "out/link.yaml").read_text()
        assert cli.main(["resolve", "--unclaim", "shop"]) == 0
        assert self.claims() == {"SubnetIds": [], "VpcId": []}

    @pytest.mark.parametrize("given", [["--hold"], []])
    def test_exports_are_held_if_asked_for(
        self, given: list[str], link: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        export({"SubnetIds": ["subnet-1"]})
        link.write_text(self.MANIFEST)
        asked: list[bool] = []

        def hold(_claims: ManifestSetClaims, _used: Any, _write: Any, *, hold_stacks: bool) -> None:
            asked.append(hold_stacks)

        monkeypatch.setattr(ManifestSetClaims, "hold", hold)
        assert refs("resolve", link, "-o", tmp_path / "out", "--claim", "shop", *given) == 0
        assert asked == [bool(given)]

    def test_an_object_of_a_cluster_is_got_once_although_all_is_resolved_twice(
        self, link: Path, cluster: KubeApi, tmp_path: Path
    ) -> None:
        export({"SubnetIds": ["subnet-1"]})
        link.write_text(LINK.replace("{name: a}", "{stack: network, name: SubnetIds}"))
        assert refs("resolve", link, "--cluster", "-o", tmp_path / "out", "--claim", "shop") == 0
        assert (tmp_path / "out/link.yaml").read_text() == RESOLVED
        assert [asked.rpartition("/")[2] for asked in cluster.asked if "/namespaces/" in asked] == ["web", "db"]

    def test_a_check_claims_nothing(self, link: Path) -> None:
        export({"SubnetIds": ["subnet-1"]})
        link.write_text(self.MANIFEST)
        assert refs("resolve", link, "--check", "--claim", "shop") == 0
        assert self.claims() == {"SubnetIds": []}

    def test_what_is_written_is_what_is_held(self, link: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The stack changes the value after it was read, and before it is claimed."""
        export({"SubnetIds": ["subnet-1"]})
        link.write_text(self.MANIFEST)
        hold = ManifestSetClaims.hold

        def late(claims: ManifestSetClaims, used: Any, write: Any, **more: Any) -> None:
            export({"SubnetIds": ["subnet-9"]})
            hold(claims, used, write, **more)

        monkeypatch.setattr(ManifestSetClaims, "hold", late)
        assert refs("resolve", link, "-o", tmp_path / "out", "--claim", "shop") == 0
        assert "subnetIDs: [subnet-9]" in (tmp_path / "out/link.yaml").read_text()

    def test_a_value_that_cannot_stand_there_any_more_is_not_written_and_not_held(
        self, link: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """One reference takes one value; between reading and claiming, the stack makes a list of it."""
        export({"Api": "api-1"})
        link.write_text(
            "apiVersion: apigatewayv2.services.k8s.aws/v1alpha1\nkind: Integration\nmetadata: {name: a}\n"
            "spec:\n  apiRef: {from: {stack: network, name: Api}}\n"
        )
        hold = ManifestSetClaims.hold

        def late(claims: ManifestSetClaims, used: Any, write: Any, **more: Any) -> None:
            export({"Api": ["api-1", "api-2"]})
            hold(claims, used, write, **more)

        monkeypatch.setattr(ManifestSetClaims, "hold", late)
        assert refs("resolve", link, "-o", tmp_path / "out", "--claim", "shop") == 1
        output = [
            line for line in capsys.readouterr().err.splitlines() if not line.startswith("{")
        ]  # the exporter's log
        assert output[0].startswith(f"{link}, document 1: Integration default/a: spec.apiRef.from must name one ")
        assert output[1:] == ["strongref: 1 problem. Nothing was written."]
        assert not (tmp_path / "out").exists()
        assert self.claims() == {"Api": []}

    def test_the_result_for_standard_output_is_written_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A run that slept past its fence has to hold once more, and then writes once more."""
        export({"SubnetIds": ["subnet-1"]})
        out = Stream()
        monkeypatch.setattr("sys.stdin", Stream(self.MANIFEST.encode()))
        monkeypatch.setattr("sys.stdout", out)
        hold = ManifestSetClaims.hold

        def twice(claims: ManifestSetClaims, used: Any, write: Any, **more: Any) -> None:
            hold(claims, used, lambda held: (write(held), write(held))[0], **more)

        monkeypatch.setattr(ManifestSetClaims, "hold", twice)
        assert refs("resolve", "-", "--claim", "shop") == 0
        assert out.buffer.getvalue().decode().count("subnetIDs: [subnet-1]") == 1

    def test_a_run_that_cannot_write_claims_nothing(
        self, link: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        export({"SubnetIds": ["subnet-1"]})
        link.write_text(self.MANIFEST)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(files, "_temporary", full)
        assert refs("resolve", link, "-o", tmp_path / "out", "--claim", "shop") == 1
        assert self.claims() == {"SubnetIds": []}
