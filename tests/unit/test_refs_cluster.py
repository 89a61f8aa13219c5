"""Referenced objects of a live cluster: Kubernetes' own client, over HTTP, and everything that can get in its way."""

from __future__ import annotations

import builtins
import json
import logging
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from strongref.refs import cluster_api, cluster_config
from strongref.refs.base import Wanted
from strongref.refs.cluster import ClusterObjects
from strongref.refs.cluster_api import ClusterApi
from strongref.refs.errors import NoSuchObjectError
from strongref.refs.source_errors import (
    AnsweredError,
    ClusterConfigError,
    DeniedError,
    KindNotInstalledError,
    NoClientError,
    UnauthorizedError,
    UnreachableError,
)
from tests.support.kube_api import TOKEN, KubeApi, Served, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strongref.errors import StrongRefError

EC2 = "ec2.services.k8s.aws"
GROUPS = Served(EC2, "v1alpha1", "SecurityGroup", "securitygroups")
WEB = Wanted(EC2, "SecurityGroup", "securitygroups", "default", "web")


def security_group(name: str, namespace: str = "default", version: str = "v1alpha1") -> dict[str, Any]:
    return {
        "apiVersion": f"{EC2}/{version}",
        "kind": "SecurityGroup",
        "metadata": {"name": name, "namespace": namespace},
        "status": {"id": f"sg-{namespace}-{name}"},
    }


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No cluster of whoever runs the tests, and no proxy, is met."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with serving(
        KubeApi([GROUPS], [security_group("web"), security_group("db"), security_group("web", "shop")])
    ) as api:
        yield api


@pytest.fixture
def connected(api: KubeApi, tmp_path: Path) -> ClusterApi:
    return ClusterApi.connect(str(api.kubeconfig(tmp_path)))


@pytest.fixture
def objects(connected: ClusterApi) -> ClusterObjects:
    return ClusterObjects(connected)


def refused(objects: ClusterObjects | ClusterApi, wanted: Wanted = WEB) -> StrongRefError:
    """The error of asking for an object, which shows no credentials, neither itself nor what led to it."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 (each test says which)
        (ClusterObjects(objects) if isinstance(objects, ClusterApi) else objects).get(wanted)
    error = caught.value
    assert TOKEN not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert len(str(error)) < 1000
    return error  # type: ignore[return-value]


def test_an_object_is_got_by_its_namespace_and_name(api: KubeApi, objects: ClusterObjects) -> None:
    assert objects.get(WEB) == security_group("web")
    assert objects.get(Wanted(EC2, "SecurityGroup", "securitygroups", "shop", "web")) == security_group("web", "shop")
    served = f"/apis/{EC2}/v1alpha1"
    assert api.asked == [
        "/apis/",
        served,
        f"{served}/namespaces/default/securitygroups/web",
        f"{served}/namespaces/shop/securitygroups/web",
    ]


def test_plural_and_version_are_those_that_the_cluster_serves(api: KubeApi, connected: ClusterApi) -> None:
    api.kinds = [
        Served("apps", "v1", "Deployment", "deployments"),
        Served(EC2, "v1alpha1", "Subnet", "subnets"),
        Served(EC2, "v1alpha1", "SecurityGroup", "secgroupses"),
        Served(EC2, "v1", "Subnet", "subnets"),
    ]
    assert ClusterObjects(connected).get(WEB) == security_group("web")
    assert api.asked[-1] == f"/apis/{EC2}/v1alpha1/namespaces/default/secgroupses/web"
    assert api.asked[1] == f"/apis/{EC2}/v1"


def test_an_object_that_is_not_there_is_told_with_names_like_it(
    api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_api, "PAGE", 2)
    api.objects += [security_group(f"web-{number}") for number in range(3)]
    error = refused(objects, Wanted(EC2, "SecurityGroup", "securitygroups", "default", "wed"))
    assert isinstance(error, NoSuchObjectError)
    assert (error.among, error.close[0]) == (f"the cluster {api.url}", "web")
    lists = [asked.partition("?")[2] for asked in api.asked if "?" in asked]
    assert lists == ["limit=2", "continue=2&limit=2", "continue=4&limit=2"]
    refused(objects, Wanted(EC2, "SecurityGroup", "securitygroups", "default", "dc"))
    assert len([asked for asked in api.asked if "?" in asked]) == 3


@pytest.mark.parametrize("hindered", ["denied", "stale", "broken"])
def test_names_like_it_are_no_more_than_a_help(
    hindered: str, api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_api, "PAGE", 1)
    if hindered == "denied":
        api.denied.add(("list", "securitygroups"))
    elif hindered == "stale":
        api.stale = True
    else:
        monkeypatch.setattr(KubeApi, "_list", lambda *_: {"metadata": {}, "items": []})
    error = refused(objects, Wanted(EC2, "SecurityGroup", "securitygroups", "default", "wed"))
    assert isinstance(error, NoSuchObjectError)
    assert error.close == []
    if hindered == "stale":
        assert [asked.partition("?")[2] for asked in api.asked if "?" in asked] == [
            *("limit=1", "continue=1&limit=1"),
            *("limit=1", "continue=1&limit=1"),
        ]


def test_a_denied_object_names_the_rule_that_lacks(api: KubeApi, objects: ClusterObjects) -> None:
    api.denied.add(("get", "securitygroups"))
    error = refused(objects)
    assert isinstance(error, DeniedError)
    assert "does not allow get on securitygroups.ec2.services.k8s.aws in namespace default" in str(error)
    assert "strongref refs rbac" in str(error)


def test_a_kind_that_is_not_installed_leads_to_its_controller(api: KubeApi, objects: ClusterObjects) -> None:
    error = refused(objects, Wanted(EC2, "Subnet", "subnets", "default", "a"))
    assert isinstance(error, KindNotInstalledError)
    assert "Install the ACK controller for ec2" in str(error)
    api.kinds = []
    assert isinstance(refused(objects._api), KindNotInstalledError)


def test_a_version_that_goes_while_it_is_asked_for_is_passed_over(api: KubeApi, connected: ClusterApi) -> None:
    api.kinds.append(Served(EC2, "v1", "SecurityGroup", "securitygroups"))
    assert connected.groups() == {EC2: ["v1", "v1alpha1"]}
    objects = ClusterObjects(connected)
    api.kinds.pop()
    assert objects.get(WEB) == security_group("web")


def test_credentials_that_are_not_taken_are_told_before_anything_is_asked_for(
    api: KubeApi, connected: ClusterApi
) -> None:
    api.expired = True
    assert isinstance(refused(connected), UnauthorizedError)
    assert api.asked == ["/apis/"]


def test_credentials_that_expire_on_the_way_are_told(api: KubeApi, objects: ClusterObjects) -> None:
    api.expired = True
    assert isinstance(refused(objects), UnauthorizedError)
    api.expired = False
    assert isinstance(refused(objects), UnauthorizedError), "asked once: an error is the answer from then on"


def test_a_cluster_that_fails_is_told_with_its_status(api: KubeApi, objects: ClusterObjects) -> None:
    api.broken = 500
    error = refused(objects)
    assert isinstance(error, AnsweredError)
    assert f"{api.url} failed at get securitygroups.{EC2} default/web: 500" in str(error)
    assert "etcdserver" not in str(error)


def test_an_overloaded_cluster_is_asked_again_as_it_says(api: KubeApi, connected: ClusterApi) -> None:
    api.overloaded = 2
    objects = ClusterObjects(connected)
    assert objects.get(WEB) == security_group("web")
    assert api.asked[:3] == ["/apis/"] * 3
    api.overloaded = 9
    error = refused(objects)
    assert isinstance(error, AnsweredError)
    assert error.status == 429


def test_a_cluster_that_nobody_listens_for_is_unreachable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gone = KubeApi(url=f"http://127.0.0.1:{port}")
    error = refused(ClusterApi.connect(str(gone.kubeconfig(tmp_path))))
    assert isinstance(error, UnreachableError)
    assert f"The cluster {gone.url} cannot be reached: the connection was refused." in str(error)


def test_a_cluster_that_does_not_answer_is_given_up(api: KubeApi, tmp_path: Path) -> None:
    api.silent = threading.Event()
    silent = ClusterApi.connect(str(api.kubeconfig(tmp_path)), timeouts=(1.0, 0.05))
    error = refused(silent)
    api.silent.set()
    assert isinstance(error, UnreachableError)
    assert "no answer in time" in str(error)


def test_something_that_is_no_api_is_unreachable_by_its_protocol(api: KubeApi, tmp_path: Path) -> None:
    api.url = api.url.replace("http:", "https:")
    error = refused(ClusterApi.connect(str(api.kubeconfig(tmp_path))))
    assert isinstance(error, UnreachableError)
    assert "its certificate is not trusted" in str(error)


class TestWhichCluster:
    def test_its_address_is_told_without_a_password(self, api: KubeApi, tmp_path: Path) -> None:
        there = api.url
        api.url = there.replace("//", f"//reader:{TOKEN}@")
        assert ClusterApi.connect(str(api.kubeconfig(tmp_path))).server == there

    def test_it_is_that_of_the_context_that_is_named(self, api: KubeApi, tmp_path: Path) -> None:
        path = api.kubeconfig(tmp_path, namespace="shop")
        text = path.read_text()
        path.write_text(text.replace("current-context: here\n", ""))
        assert ClusterApi.connect(str(path), "here").namespace == "shop"
        with pytest.raises(ClusterConfigError, match=r"kubeconfig .* names no current context; it has here"):
            ClusterApi.connect(str(path))
        with pytest.raises(ClusterConfigError, match="has no context there; it has here"):
            ClusterApi.connect(str(path), "there")

    def test_it_is_that_of_the_environment_without_a_file(
        self, api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".kube").mkdir()
        path = api.kubeconfig(tmp_path / ".kube")
        path.rename(path.with_name("config"))
        connected = ClusterApi.connect()
        assert (connected.server, connected.namespace) == (api.url, None)
        (tmp_path / "a").mkdir()
        elsewhere = api.kubeconfig(tmp_path / "a", namespace="a")
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/gone:{elsewhere}")
        assert ClusterApi.connect().namespace == "a"

    def test_it_is_the_pods_own_in_a_pod(self, api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from kubernetes.config import incluster_config  # noqa: PLC0415 (it takes a second)

        for name, text in (("token", TOKEN), ("ca.crt", "a certificate"), ("namespace", "shop\n")):
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
        monkeypatch.setattr(cluster_config, "_OWN_NAMESPACE", tmp_path / "namespace")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", api.url.rpartition(":")[2])
        connected = ClusterApi.connect()
        assert (connected.server, connected.namespace) == (api.url.replace("http:", "https:"), "shop")
        (tmp_path / "namespace").unlink()
        assert ClusterApi.connect().namespace is None
        (tmp_path / "token").unlink()
        with pytest.raises(ClusterConfigError, match="the pod's service account does not tell"):
            ClusterApi.connect()

    def test_there_may_be_none(self, tmp_path: Path) -> None:
        with pytest.raises(ClusterConfigError, match=f"there is no kubeconfig {tmp_path}/.kube/config. Give --kube"):
            ClusterApi.connect()
        with pytest.raises(ClusterConfigError, match=f"there is no kubeconfig {tmp_path}/gone"):
            ClusterApi.connect(f"{tmp_path}/gone")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "a: [1",
            "just text",
            "contexts: 3",
            f"users: [{TOKEN}]",
            "contexts: [{name: here, context: {cluster: x}}]",
        ],
    )
    def test_a_file_that_is_no_kubeconfig_is_not_quoted(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "kubeconfig"
        path.write_text(text)
        with pytest.raises(ClusterConfigError) as caught:
            ClusterApi.connect(str(path), "here")
        assert TOKEN not in str(caught.value)
        assert caught.value.__context__ is None

    @pytest.mark.parametrize("says", ["exit 3", "echo no-json", "echo '{}'", f"echo {TOKEN} >&2; exit 1"])
    def test_a_command_that_gets_no_credentials_is_told_and_not_quoted(
        self, says: str, api: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = api.kubeconfig(tmp_path)
        command = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", says]}
        kubeconfig = yaml.safe_load(path.read_text()) | {"users": [{"name": "reader", "user": {"exec": command}}]}
        path.write_text(yaml.safe_dump(kubeconfig))
        handlers = list(logging.getLogger().handlers)
        with pytest.raises(ClusterConfigError, match=r"the credentials of context here in .* cannot be had") as caught:
            ClusterApi.connect(str(path))
        assert TOKEN not in "".join([str(caught.value), *capsys.readouterr()])
        assert logging.getLogger().handlers == handlers

    def test_a_command_gets_the_credentials(self, api: KubeApi, tmp_path: Path) -> None:
        path = api.kubeconfig(tmp_path)
        status = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": TOKEN}}
        command = {"apiVersion": status["apiVersion"], "command": "echo", "args": [json.dumps(status)]}
        kubeconfig = yaml.safe_load(path.read_text()) | {"users": [{"name": "reader", "user": {"exec": command}}]}
        path.write_text(yaml.safe_dump(kubeconfig))
        assert ClusterObjects(ClusterApi.connect(str(path))).get(WEB) == security_group("web")

    def test_it_needs_kubernetes_own_client(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = builtins.__import__

        def without(name: str, *more: Any) -> Any:  # noqa: ANN401
            if name.partition(".")[0] == "kubernetes":
                raise ImportError(name)
            return real(name, *more)

        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(NoClientError, match=r"pip install 'strongref\[kubernetes\]'"):
            ClusterApi.connect(str(tmp_path))
