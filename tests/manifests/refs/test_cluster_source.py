"""`${k8s:…}`: one field of an object in a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import strongref_cli as cli
from strongref_manifests.errors import BadTokenError, NoSuchStateAttributeError, UnsetError
from strongref_manifests.refs.errors import DeniedError, KindNotInstalledError, NoSuchObjectError, UnreachableError
from strongref_manifests.refs.wiring import ClusterSource
from strongref_manifests.tokens import Token, tokens_in
from tests.support.empty_aws import empty_aws
from tests.support.kube_api import KubeApi, Served, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from strongref_toolkit.json_values import Json

ACM = "acm.services.k8s.aws"
RECORD = {"name": "_a.example.com.", "type_": "CNAME", "value": "_b.acm-validations.aws."}


def thing(group: str, kind: str, namespace: str, **content: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}v1", "kind": kind, "metadata": {"name": "shop", "namespace": namespace}, **content}


@pytest.fixture
def api() -> Iterator[KubeApi]:
    kinds = [Served(ACM, "v1", "Certificate", "certificates"), Served("", "v1", "Service", "services")]
    kinds += [Served("", "v1", "Secret", "secrets"), Served("", "v1", "Node", "nodes", namespaced=False)]
    kinds.append(Served("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False))
    status = {"domainValidations": [{"resourceRecord": RECORD}], "conditions": [], "a.b": {"c": None, "d": 1}}
    objects: list[Mapping[str, Any]] = [
        thing(f"{ACM}/", "Certificate", "web", status=status),
        thing("", "Service", "default", spec={"ports": [{"port": 80}]}, status={"loadBalancer": {}}),
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": {"providerID": "aws:///x"}},
    ]
    with serving(KubeApi(kinds, objects)) as found:
        yield found


def read(api: KubeApi, folder: Path, *tokens: str) -> list[Json]:
    source = ClusterSource(str(api.kubeconfig(folder, namespace="web")))
    return [source.fetch(each) for text in tokens for each in tokens_in(text)]


def test_one_field_of_an_object_is_read_from_the_cluster_as_it_is_and_the_object_once(
    api: KubeApi, tmp_path: Path
) -> None:
    record = f"${{k8s:Certificate.{ACM}/shop:status.domainValidations[0].resourceRecord"
    tokens = [f"{record}.value}}", f"{record}}}", "${k8s:Service/default/shop:spec.ports[0].port}"]
    tokens += [f'${{k8s:Certificate.{ACM}/shop:status["a.b"].d}}', "${k8s:Node/n1:spec.providerID}"]
    assert read(api, tmp_path, *tokens) == [RECORD["value"], RECORD, 80, 1, "aws:///x"]
    assert [each for each in api.asked if "/namespaces/" in each] == [
        f"/apis/{ACM}/v1/namespaces/web/certificates/shop",
        "/api/v1/namespaces/default/services/shop",
    ]


@pytest.mark.parametrize(
    ("reference", "error", "reported"),
    [
        (
            "Service/default/shop:status.loadBalancer.ingress[0].hostname",
            NoSuchStateAttributeError,
            "status.loadBalancer of Service default/shop has no .ingress. It is empty.",
        ),
        (
            f"Certificate.{ACM}/shop:status.domainValidations[1].x",
            NoSuchStateAttributeError,
            "status.domainValidations of Certificate web/shop has no [1]. It is a list of 1",
        ),
        ("Node/n1:status.x", NoSuchStateAttributeError, "Node n1 has no .status. It has apiVersion,"),
        (
            f'Certificate.{ACM}/shop:status["a.b"].c.z',
            NoSuchStateAttributeError,
            'status["a.b"].c of Certificate web/shop has no .z. It is null.',
        ),
        (
            f'Certificate.{ACM}/shop:status["a.b"].c',
            UnsetError,
            'status["a.b"].c of Certificate web/shop is null in the cluster. Set it there, or remove the reference.',
        ),
        (f"Certificate.{ACM}/other:status.x", NoSuchObjectError, "Did you mean shop?"),
        (f"Cert.{ACM}/shop:status.x", KindNotInstalledError, f"the kind Cert of {ACM}. Check both, or install"),
        ("Services/shop:spec.x", KindNotInstalledError, "does not serve the kind Services of v1. Check both,"),
        ("ServiceList/shop:spec.x", KindNotInstalledError, "does not serve the kind ServiceList of v1. "),
        ("Node/n2:spec.x", NoSuchObjectError, "Node n2 was not found in the cluster http"),
        ("PersistentVolume/n1:spec.x", NoSuchObjectError, "Check its name, or create it first."),
        (
            "Node/n9:spec.x",
            DeniedError,
            "denied get on nodes in the cluster (403 Forbidden). Allow the caller that verb",
        ),
        (f"Certificate.{ACM}/shop:status.-x", BadTokenError, "it should look like ${k8s:KIND.GROUP/NAME:PATH}."),
        ("Secret/shop:data.password", BadTokenError, "it should look like ${k8s:KIND.GROUP/NAME:PATH}."),
        ("Service/shop", BadTokenError, "it should look like ${k8s:KIND.GROUP/NAME:PATH}."),
    ],
)
def test_what_a_cluster_does_not_have_is_reported(
    reference: str, error: type[Exception], reported: str, api: KubeApi, tmp_path: Path
) -> None:
    if error is DeniedError:
        api.denied.add(("get", "nodes"))
    with pytest.raises(error) as refused:
        read(api, tmp_path, f"${{k8s:{reference}}}")
    assert reported in str(refused.value)


def test_a_cluster_that_cannot_be_reached_is_called_once(tmp_path: Path) -> None:
    source = ClusterSource(str(KubeApi(url="http://127.0.0.1:1").kubeconfig(tmp_path)))
    errors = []
    for _ in range(2):
        with pytest.raises(UnreachableError) as refused:
            source.fetch(Token("k8s", "Service/shop:spec.x"))
        errors.append(refused.value)
    assert errors[0] is errors[1]


def test_the_command_reads_the_cluster_of_the_kubeconfig_only_on_demand(
    api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    file, config = tmp_path / "a.yaml", api.kubeconfig(tmp_path)
    file.write_text("apiVersion: v1\nkind: ConfigMap\ndata:\n  port: ${k8s:Service/shop:spec.ports[0].port|text}\n")
    asked = ["resolve", str(file), "-o", str(tmp_path / "out")]
    given = [*asked, "--kubeconfig", str(config)]
    with empty_aws(monkeypatch, "eu-west-1"):
        assert cli.main(given) == cli.main([*asked, "--context", "here"]) == 2
        assert capsys.readouterr().err.count("--kubeconfig and --context require --with k8s") == 2
        assert cli.main(asked) == 1
        assert "is not resolved by default: add --with k8s" in capsys.readouterr().err
        assert cli.main([*given, "--with", "k8s", "--context", "gone"]) == 1
        assert "gone" in capsys.readouterr().err
        assert cli.main([*given, "--with", "k8s", "--context", "here"]) == 0
    assert (tmp_path / "out/a.yaml").read_text().endswith('data:\n  port: "80"\n')
