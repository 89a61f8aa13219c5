"""`${env:…}` and its like in real cdk8s apps, alone and beside the CDK's tokens."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import boto3
import cdk8s
import cdk8s_plus_31 as kplus
import pytest
from aws_cdk import aws_s3 as s3
from cdk8s_plus_31 import k8s
from moto import mock_aws

import strongref_cdk8s
from strongref_cdk8s import AwsCdkResolver, TokenResolver
from strongref_cdk8s.errors import UnknownSchemeError
from strongref_manifests.sources.outputs import StackOutputs
from strongref_toolkit.errors import UsageError
from tests.support.cdk8s_apps import Manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STATE = Path(__file__).parents[1] / "terraform" / "site.tfstate"
EU = "eu-west-1"
EVIL = "${env:SECRET} ${Token[TOKEN.1]} $${env:STAGE}"


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    given = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": EU, "STAGE": "prod", "EVIL": EVIL}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        ssm = boto3.client("ssm", EU)
        ssm.put_parameter(Name="/site/hosts", Value="a,b", Type="StringList")
        ssm.put_parameter(Name="/site/name", Value="site", Type="String")
        boto3.client("secretsmanager", EU).create_secret(Name="db", SecretString='{"password": "correct-horse"}')
        yield


def manifests(data: Mapping[str, Any], *resolvers: object) -> Manifests:
    made = Manifests(*resolvers)
    made.config_map("C", data)
    return made


def failing(made: Manifests) -> str:
    with pytest.raises(RuntimeError) as failed:
        made.written()
    return str(failed.value)


def test_tokens_are_resolved_as_the_command_does() -> None:
    resolver = TokenResolver("env", "ssm", "secret", tf=[str(STATE)])
    data = {
        "env": "${env:STAGE}",
        "text": "${env:STAGE}-${ssm:/site/name}",
        "secret": "${secret:db:password}",
        "tf": "${tf:aws_s3_bucket.site.bucket}",
        "number": "port ${tf:output.database.port}",
        "escaped": "$${env:STAGE} and ${env:STAGE}",
        "shell": "${HOME} $(HOME) ${env:-x}",
        "plain": "x",
    }
    assert manifests(data, resolver).data() == {
        "env": "prod",
        "text": "prod-site",
        "secret": "correct-horse",
        "tf": "site-7f3a",
        "number": "port 5432",
        "escaped": "${env:STAGE} and prod",
        "shell": "${HOME} $(HOME) ${env:-x}",
        "plain": "x",
    }


def test_a_token_that_is_a_whole_value_keeps_its_type_unless_it_has_a_form() -> None:
    made = Manifests(TokenResolver("ssm", tf=[str(STATE)]))
    hosts = {"name": "HOSTS", "value": "${ssm:/site/hosts|join:;}"}
    port = {"name": "PORT", "value": "${tf:output.database.port|text}"}
    probed = k8s.HttpGetAction(port=k8s.IntOrString.from_string("${tf:output.database.port}"))
    made.pod("P", args=["${ssm:/site/name}"], env=[hosts, port], liveness_probe=k8s.Probe(http_get=probed))
    container = made.container()
    assert (container["args"], container["livenessProbe"]["httpGet"]["port"]) == (["site"], 5432)
    assert container["env"] == [{"name": "HOSTS", "value": "a;b"}, {"name": "PORT", "value": "5432"}]


def test_what_is_no_text_is_refused_where_kubernetes_takes_only_text() -> None:
    made = Manifests(TokenResolver("ssm", tf=[str(STATE)]))
    made.pod("P", env=[{"name": "PORT", "value": "${tf:output.database.port}"}])
    made.config_map("C", {"hosts": "${ssm:/site/hosts}"})
    text, fix = failing(made), "where Kubernetes takes only text. Write "
    assert f"env[0].value: ${{tf:output.database.port}} is a number, which cannot stand {fix}${{tf:output" in text
    assert f"C, data.hosts: ${{ssm:/site/hosts}} is a list, which cannot stand {fix}${{ssm:/site/hosts|join:,}}" in text


def test_the_metadata_and_the_items_of_a_list_are_places_of_their_own(tmp_path: Path) -> None:
    """cdk8s asks about an object's metadata twice: by itself, and as a part of the object."""
    made = Manifests(TokenResolver("ssm", "env"))
    made.annotated("A", {"hosts": "${ssm:/site/hosts}"})
    listed = {"kind": "ConfigMap", "apiVersion": "v1", "data": {"hosts": "${ssm:/site/hosts}"}}
    (tmp_path / "list.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [{}, listed]}))
    cdk8s.Include(made.chart, "L", url=str(tmp_path / "list.yaml"))
    text = failing(made)
    assert "2 values could not be resolved" in text
    assert "Manifest/A, metadata.annotations.hosts: ${ssm:/site/hosts} is a list, which cannot stand where" in text
    assert ", items[1].data.hosts: ${ssm:/site/hosts} is a list, which cannot stand where" in text
    made = Manifests(TokenResolver("env"))
    made.annotated("A", {"evil": "${env:EVIL}"})
    (written,) = made.written()
    assert written["metadata"]["annotations"] == {"evil": EVIL}


def test_the_metadata_of_a_workload_s_pods_is_asked_about_in_its_midst() -> None:
    """What follows it is the workload's again."""
    made = Manifests(TokenResolver("ssm", tf=[str(STATE)]))
    port = kplus.EnvValue.from_value("${tf:output.database.port}")
    container = kplus.ContainerProps(image="${ssm:/site/name}", env_variables={"PORT": port})
    kplus.Deployment(made.chart, "D", containers=[container])
    text = failing(made)
    assert "Manifest/D/Resource, spec.template.spec.containers[0].env[0].value: ${tf:output.database.port} is a" in text
    assert "where Kubernetes takes only text" in text


def test_a_sensitive_value_of_terraform_s_is_allowed_by_its_address() -> None:
    made = Manifests(TokenResolver(tf=[str(STATE)], allow=["aws_ssm_parameter.url.value"]))
    made.config_map("C", {"url": "${tf:aws_ssm_parameter.url.value}"})
    (written,) = made.data().values()
    assert written
    made.config_map("D", {"password": "${tf:output.password}"})
    with pytest.raises(RuntimeError, match=r"Give the resolver allow=\[…\] with this address to write it"):
        made.written()


def test_a_value_is_written_as_it_is_whatever_it_looks_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StackOutputs, "value", lambda *_: EVIL)
    stack = cdk.Stack(cdk.App(), "aws")
    name = s3.Bucket(stack, "Bucket").bucket_name
    cdk.CfnOutput(stack, "Name", value=name)
    for resolvers in ([AwsCdkResolver(), TokenResolver("env")], [TokenResolver("env"), AwsCdkResolver()]):
        data = {
            "env": "${env:EVIL}",
            "cdk": name,
            "both": f"{name}/${{env:STAGE}}/${{env:EVIL}}",
            "escaped": f"$${{{name}",
        }
        assert manifests(data, *resolvers).data() == {
            "env": EVIL,
            "cdk": EVIL,
            "both": f"{EVIL}/prod/{EVIL}",
            "escaped": f"${{{EVIL}",
        }


def test_every_value_that_cannot_be_resolved_is_reported() -> None:
    data = {
        "a": "${env:NONE}",
        "b": "${ssm:/site/name}",
        "c": "${tf:output.x}",
        "d": "x ${ssm:",
        "e": "${env:NONE} ${env:NEITHER}",
        "${env:STAGE}": "x",
    }
    made = manifests(data, TokenResolver("env"))
    patched = made.config_map("P", {"a": "x"})
    patched.add_json_patch(cdk8s.JsonPatch.add("/data/b", "-${env:STAGE}"))
    patched.add_json_patch(cdk8s.JsonPatch.add("/data/c", "${env:STAGE"))
    text = failing(made)
    assert "8 values could not be resolved" not in text
    for each in (
        "Manifest/C, data.a: The environment variable NONE is not set",
        "Manifest/C, data.b: ${ssm:/site/name} is not resolved by default: add TokenResolver('ssm')",
        "Manifest/C, data.c: ${tf:output.x} is not resolved by default: add TokenResolver(tf=['STATE'])",
        "Manifest/C, data.d: ${ssm: is not a valid token: it has no } on its line",
        "Manifest/C, data.e: The environment variable NONE is not set",
        "Manifest/C, data.e: The environment variable NEITHER is not set",
        "Manifest/C, data.${env:STAGE}: ${env:STAGE} stands in a key",
        "Manifest/P, data.b: ${env:STAGE} is in a place that cdk8s does not resolve",
        "Manifest/P, data.c: ${env:STAGE is in a place that cdk8s does not resolve",
    ):
        assert f"\n  {each}" in text
    assert "9 values could not be resolved" in text


def test_a_list_or_nothing_cannot_stand_in_text() -> None:
    text = failing(manifests({"a": "x ${ssm:/site/hosts}"}, TokenResolver("ssm")))
    assert "data.a: ${ssm:/site/hosts} is a list, which cannot stand inside a longer text" in text


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(UnknownSchemeError, match=r"A scheme must be export, ssm, secret, env or k8s, got sms. For tf"):
        TokenResolver("sms")


def test_exports_are_read_in_the_region_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "does not export VpcId" in failing(manifests({"a": "${export:network.VpcId}"}, TokenResolver("export")))
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(UsageError, match="no region"):
        TokenResolver("export")


@pytest.mark.parametrize(
    ("missing", "resolver", "install"),
    [
        (
            "cdk8s",
            "TokenResolver",
            r"needs cdk8s, which is not installed: install strongref again, with its extra cdk8s",
        ),
        ("jsii", "TokenResolver", r"needs jsii, which is not installed: install strongref again, with its extra cdk8s"),
        (
            "aws_cdk",
            "AwsCdkResolver",
            r"AwsCdkResolver needs aws_cdk, which is not installed: install strongref again, with its extra cdk",
        ),
        ("cdktf", "CdkTfResolver", r"CdkTfResolver needs cdktf, which is not installed: run pip install cdktf"),
    ],
)
def test_a_missing_dependency_is_reported_with_its_pip_install(
    missing: str, resolver: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("strongref_cdk8s.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=install):
        getattr(strongref_cdk8s, resolver)


def test_a_dependency_that_is_too_old_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("strongref_cdk8s.awscdk", "strongref_toolkit.cdk_trees"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(cdk, "IFragmentConcatenator", raising=False)
    monkeypatch.setattr(cdk, "__getattr__", lambda name: (_ for _ in ()).throw(AttributeError(name)), raising=False)
    with pytest.raises(ImportError, match="Is cdk8s or the CDK too old"):
        _ = strongref_cdk8s.AwsCdkResolver


def test_another_package_that_is_missing_is_no_matter_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "strongref_cdk8s.tokens")
    monkeypatch.setitem(sys.modules, "strongref_manifests.tokens", None)
    with pytest.raises(ModuleNotFoundError, match=r"strongref_manifests\.tokens"):
        _ = strongref_cdk8s.TokenResolver


def test_there_is_nothing_else_in_the_package() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Other'"):
        _ = strongref_cdk8s.Other
    assert all(hasattr(strongref_cdk8s, name) for name in strongref_cdk8s.__all__)
