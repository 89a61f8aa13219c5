"""Referenced objects of a live cluster, read with Kubernetes' own client over HTTP, and all that can fail."""

from __future__ import annotations

import base64
import ipaddress
import json
import logging
import re
import socket
import ssl
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from strongref_manifests.refs import cluster as cluster_module
from strongref_manifests.refs import cluster_config, wiring
from strongref_manifests.refs.base import ObjectName
from strongref_manifests.refs.cluster import ClusterApi, ClusterObjects
from strongref_manifests.refs.cluster_config import Connection, connect
from strongref_manifests.refs.errors import (
    AnsweredError,
    ClusterConfigError,
    DeniedError,
    KindNotInstalledError,
    NoSuchObjectError,
    NotTheApiError,
    UnauthorizedError,
    UnreachableError,
)
from tests.support.kube_api import TOKEN, KubeApi, Served, serving
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strongref.errors import StrongRefError

EC2 = "ec2.services.k8s.aws"
GROUPS = Served(EC2, "v1alpha1", "SecurityGroup", "securitygroups")
WEB = ObjectName(EC2, "SecurityGroup", "default", "web")
DB = ObjectName(EC2, "SecurityGroup", "default", "db")


def security_group(name: str, namespace: str = "default", version: str = "v1alpha1") -> dict[str, Any]:
    return {
        "apiVersion": f"{EC2}/{version}",
        "kind": "SecurityGroup",
        "metadata": {"name": name, "namespace": namespace},
        "status": {"id": f"sg-{namespace}-{name}"},
    }


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Use no cluster or proxy of the machine that runs the tests."""
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
def connected(api: KubeApi, tmp_path: Path) -> Connection:
    return connect(str(api.kubeconfig(tmp_path)))


@pytest.fixture
def objects(connected: Connection) -> ClusterObjects:
    return ClusterObjects(connected)


def refused(objects: ClusterObjects | Connection, wanted: ObjectName = WEB) -> StrongRefError:
    """The error of reading an object; neither it nor its causes show credentials."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 (each test says which)
        (ClusterObjects(objects) if isinstance(objects, Connection) else objects).get(wanted)
    error = caught.value
    assert TOKEN not in "".join(traceback.format_exception(error))
    assert error.__cause__ is None
    assert error.__context__ is None
    assert len(str(error)) < 1000
    return error  # type: ignore[return-value]


def test_an_object_is_got_by_its_namespace_and_name(api: KubeApi, objects: ClusterObjects) -> None:
    assert objects.get(WEB) == security_group("web")
    assert objects.get(ObjectName(EC2, "SecurityGroup", "shop", "web")) == security_group("web", "shop")
    served = f"/apis/{EC2}/v1alpha1"
    assert api.asked == [
        "/apis",
        served,
        f"{served}/namespaces/default/securitygroups/web",
        f"{served}/namespaces/shop/securitygroups/web",
    ]


def test_plural_and_version_are_those_that_the_cluster_serves(api: KubeApi, connected: Connection) -> None:
    api.kinds = [
        Served("apps", "v1", "Deployment", "deployments"),
        Served(EC2, "v1alpha1", "Subnet", "subnets"),
        Served(EC2, "v1alpha1", "SecurityGroup", "secgroupses"),
        Served(EC2, "v1", "Subnet", "subnets"),
    ]
    assert ClusterObjects(connected).get(WEB) == security_group("web")
    assert api.asked[-1] == f"/apis/{EC2}/v1alpha1/namespaces/default/secgroupses/web"


def test_a_missing_object_is_reported_with_similar_names(
    api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "PAGE", 2)
    api.objects += [security_group(f"web-{number}") for number in range(3)]
    error = refused(objects, ObjectName(EC2, "SecurityGroup", "default", "wed"))
    assert isinstance(error, NoSuchObjectError)
    assert (error.among, error.close[0]) == (f"the cluster {api.url}", "web")
    assert lists(api) == ["limit=2", "continue=2&limit=2"], "two pages at most, of the three that there are"
    refused(objects, ObjectName(EC2, "SecurityGroup", "default", "dc"))
    assert len(lists(api)) == 2


def lists(api: KubeApi) -> list[str]:
    """The queries of the requests for lists."""
    return ["&".join(sorted(asked.partition("?")[2].split("&"))) for asked in api.asked if "?" in asked]


LISTED = f"/apis/{EC2}/v1alpha1/namespaces/default/securitygroups"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("failure", "close"),
    [
        ("denied", []),
        ("stale", ["db"]),
        ("broken", []),
        ("not the api", []),
        ('{"metadata": null, "items": null}', []),
        ('{"metadata": 3, "items": 3}', []),
        ('{"items": [null, {"metadata": null}, {"metadata": {"name": "web"}}]}', ["web"]),
    ],
)
def test_similar_names_are_optional(
    failure: str, close: list[str], api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "PAGE", 1)
    if failure == "denied":
        api.denied.add(("list", "securitygroups"))
    elif failure == "stale":
        api.stale = True
    elif failure == "broken":
        api.instead[LISTED] = (500, {}, "")
    else:
        api.instead[LISTED] = (200, JSON, failure)
    error = refused(objects, ObjectName(EC2, "SecurityGroup", "default", "wed"))
    assert isinstance(error, NoSuchObjectError)
    assert error.close == close


@pytest.mark.parametrize("name", ["..", ".", "a/b", "a?x=1", "a%2fb", "web#x", "Web", "x" * 254, "a..b", "-a", "web\n"])
def test_names_that_no_object_can_have_are_not_requested(name: str, api: KubeApi, objects: ClusterObjects) -> None:
    error = refused(objects, ObjectName(EC2, "SecurityGroup", "default", name))
    assert isinstance(error, NoSuchObjectError)
    assert error.close
    assert [asked.partition("?")[0] for asked in api.asked[2:]] == [LISTED]
    refused(objects, ObjectName(EC2, "SecurityGroup", f"../{name}", "web"))
    assert len(api.asked) == 3


def test_valid_names_are_requested(api: KubeApi, objects: ClusterObjects) -> None:
    for name in ("a", "1", "web-1.example.com", "x" * 253):
        api.objects.append(security_group(name))
        assert objects.get(ObjectName(EC2, "SecurityGroup", "default", name)) == security_group(name)


def test_a_denied_object_is_reported_with_the_missing_rule(api: KubeApi, objects: ClusterObjects) -> None:
    api.denied.add(("get", "securitygroups"))
    error = refused(objects)
    assert isinstance(error, DeniedError)
    assert "denied get on securitygroups.ec2.services.k8s.aws in namespace default" in str(error)
    assert "strongref refs rbac" in str(error)


def test_a_kind_that_is_not_installed_leads_to_its_controller(
    api: KubeApi, connected: Connection, objects: ClusterObjects
) -> None:
    error = refused(objects, ObjectName(EC2, "Subnet", "default", "a"))
    assert isinstance(error, KindNotInstalledError)
    assert "install its controller" in str(error)
    api.kinds = []
    assert isinstance(refused(connected), KindNotInstalledError)


def test_a_version_that_disappears_after_discovery_is_skipped(api: KubeApi, connected: Connection) -> None:
    api.kinds.append(Served(EC2, "v1", "SecurityGroup", "securitygroups"))
    objects = ClusterObjects(connected)
    api.kinds.pop()
    assert objects.get(WEB) == security_group("web")


def test_rejected_credentials_are_reported_before_any_other_request(api: KubeApi, connected: Connection) -> None:
    api.expired = True
    assert isinstance(refused(connected), UnauthorizedError)
    assert api.asked == ["/apis"]


def test_credentials_that_expire_later_are_reported(api: KubeApi, objects: ClusterObjects) -> None:
    api.expired = True
    assert isinstance(refused(objects), UnauthorizedError)
    api.expired = False
    asked = len(api.asked)
    assert isinstance(refused(objects, DB), UnauthorizedError), "an error of the cluster is the answer from then on"
    assert len(api.asked) == asked


def test_an_object_is_requested_once_even_if_it_fails(api: KubeApi, objects: ClusterObjects) -> None:
    assert objects.get(WEB) is objects.get(WEB)
    api.broken = 500
    error = refused(objects, DB)
    assert isinstance(error, AnsweredError)
    assert refused(objects, DB) is error
    assert [asked.rpartition("/")[2] for asked in api.asked[2:]] == ["web", "db"]


def test_an_anonymous_caller_is_asked_to_log_in(api: KubeApi, tmp_path: Path) -> None:
    error = refused(connect(str(api.kubeconfig(tmp_path, user={}))))
    assert isinstance(error, UnauthorizedError)
    assert "rejected the credentials (403 Forbidden): they are missing" in str(error)


@pytest.mark.parametrize("path", ["/apis", f"/apis/{EC2}/v1alpha1", f"{LISTED}/web"])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        '"text"',
        "<html>a-value-not-to-be-shown</html>",
        '{"kind": "APIGroupList", "groups": [',
        "{}",
        '{"kind": "Status"}',
        "[" * 100_000,
        '{"kind": "SecurityGroup", "metadata": null}',
        '{"kind": "SecurityGroup", "metadata": {"name": "other"}}',
        '{"kind": "Subnet", "metadata": {"name": "web"}}',
        '{"a-value-not-to-be-shown": 1}',
    ],
)
def test_answers_of_another_server_are_refused(path: str, body: str, api: KubeApi, tmp_path: Path) -> None:
    api.instead[path] = (200, JSON, body)
    error = refused(connect(str(api.kubeconfig(tmp_path))))
    assert isinstance(error, NotTheApiError)
    assert f"The server at {api.url} is not Kubernetes' API: it did not " in str(error)
    assert "not-to-be-shown" not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("status", [404, 410])
def test_an_address_without_the_api_is_reported(status: int, api: KubeApi, connected: Connection) -> None:
    api.instead["/apis"] = (status, {"Content-Type": "text/plain"}, "404 page not found\n")
    assert isinstance(refused(connected), NotTheApiError)


@pytest.mark.parametrize(
    "groups", ["null", "3", "[null]", "[1]", f'[{{"name": "{EC2}"}}]', f'[{{"name": "{EC2}", "versions": [null]}}]']
)
def test_malformed_groups_are_refused(groups: str, api: KubeApi, connected: Connection) -> None:
    api.instead["/apis"] = (200, JSON, f'{{"kind": "APIGroupList", "groups": {groups}}}')
    assert isinstance(refused(connected), NotTheApiError)


@pytest.mark.parametrize("resources", ["null", "[]"])
def test_a_version_may_serve_nothing(resources: str, api: KubeApi, connected: Connection) -> None:
    api.instead[f"/apis/{EC2}/v1alpha1"] = (200, JSON, f'{{"kind": "APIResourceList", "resources": {resources}}}')
    assert isinstance(refused(connected), KindNotInstalledError)


@pytest.mark.parametrize("resources", ["3", "[null]", "[1]", "[{}]", '[{"name": "securitygroups"}]'])
def test_malformed_kinds_are_refused(resources: str, api: KubeApi, connected: Connection) -> None:
    api.instead[f"/apis/{EC2}/v1alpha1"] = (200, JSON, f'{{"kind": "APIResourceList", "resources": {resources}}}')
    assert isinstance(refused(connected), NotTheApiError)


class TestDiscovery:
    """The client's own, which would read a cache in the temporary folder, and the server's version."""

    def test_kinds_of_a_group_are_listed_once(self, api: KubeApi, connected: Connection) -> None:
        api.kinds += [Served(EC2, "v1alpha1", "Subnet", "subnets"), Served("apps", "v1", "Deployment", "deployments")]
        api.objects.append({**security_group("a"), "kind": "Subnet"})
        objects = ClusterObjects(connected)
        objects.get(WEB)
        objects.get(ObjectName(EC2, "Subnet", "default", "a"))
        assert [asked for asked in api.asked if "/namespaces/" not in asked] == ["/apis", f"/apis/{EC2}/v1alpha1"]

    def test_a_missing_kind_is_discovered_once_more(self, api: KubeApi, objects: ClusterObjects) -> None:
        for name in ("a", "b"):
            error = refused(objects, ObjectName(EC2, "Subnet", "default", name))
            assert isinstance(error, KindNotInstalledError)
        assert api.asked == ["/apis", f"/apis/{EC2}/v1alpha1"] * 2

    def test_the_preferred_version_is_taken(self, api: KubeApi, connected: Connection) -> None:
        api.kinds.append(Served(EC2, "v1", "SecurityGroup", "securitygroups"))
        assert ClusterObjects(connected).get(WEB) == security_group("web", version="v1")

    @pytest.mark.parametrize("status", [500, 503])
    def test_a_version_that_fails_is_not_taken_for_an_empty_one(
        self, status: int, api: KubeApi, connected: Connection
    ) -> None:
        api.instead[f"/apis/{EC2}/v1alpha1"] = (status, {}, "")
        error = refused(connected)
        assert isinstance(error, AnsweredError)
        assert error.status == status

    def test_it_has_the_time_limits_of_all_requests(
        self, api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cluster_module, "TIMEOUTS", (1.0, 0.2))
        api.silent = threading.Event()
        assert isinstance(refused(objects), UnreachableError)
        api.silent.set()

    def test_nothing_is_kept_on_disk_and_nothing_of_another_run_is_read(
        self, api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "temporary"
        folder.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        path = str(api.kubeconfig(tmp_path))
        assert ClusterObjects(connect(path)).get(WEB) == security_group("web")
        api.kinds = []
        assert isinstance(refused(connect(path)), KindNotInstalledError)
        assert list(folder.iterdir()) == []


def test_a_redirect_to_a_login_page_is_not_followed(api: KubeApi, connected: Connection) -> None:
    api.instead["/apis"] = (302, {"Location": f"{api.url}/login"}, "")
    error = refused(connected)
    assert isinstance(error, AnsweredError)
    assert str(error).endswith(
        ": 302 Found. Check the server in the kubeconfig, and any proxy or login page in between."
    )
    assert api.asked == ["/apis"]


@pytest.mark.parametrize(("status", "way_out"), [(400, "Check the server"), (500, "Try again."), (429, "Try again.")])
def test_only_passing_failures_suggest_a_retry(status: int, way_out: str, api: KubeApi, connected: Connection) -> None:
    api.instead["/apis"] = (status, {}, "")
    assert way_out in str(refused(connected))
    assert api.asked == ["/apis"]


def test_a_failure_of_the_cluster_is_reported_with_its_status(api: KubeApi, objects: ClusterObjects) -> None:
    api.broken = 500
    error = refused(objects)
    assert isinstance(error, AnsweredError)
    assert f"{api.url} failed to get securitygroups.{EC2} default/web: 500" in str(error)
    assert "etcdserver" not in str(error)


def test_an_overloaded_cluster_is_called_again_after_the_time_it_names(
    api: KubeApi, connected: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(cluster_module, "sleep", slept.append)
    api.retry_after = "10"
    api.overloaded = 3
    objects = ClusterObjects(connected)
    assert api.asked == ["/apis"] * 4
    assert slept == [10, 10, 10]
    assert objects.get(WEB) == security_group("web")
    api.overloaded = 9
    api.asked.clear()
    error = refused(objects, DB)
    assert isinstance(error, AnsweredError)
    assert error.status == 429
    assert api.asked == [f"{LISTED}/db"] * 4


@pytest.mark.parametrize("later", ["11", "3600", "999999999"])
def test_a_long_wait_is_an_error_instead(
    later: str, api: KubeApi, connected: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "sleep", lambda _: pytest.fail("it waits"))
    api.overloaded, api.retry_after = 9, later
    error = refused(connected)
    assert isinstance(error, AnsweredError)
    assert f"429 Too Many Requests. It asks callers to wait {later} seconds: try again then." in str(error)
    assert api.asked == ["/apis"]


@pytest.mark.parametrize("later", [None, "", "soon", "-1", "1.5", "Sat, 21 Nov 2026 20:00:00 GMT"])
def test_without_seconds_to_wait_there_is_no_retry(later: str | None, api: KubeApi, connected: Connection) -> None:
    api.overloaded, api.retry_after = 9, later
    assert isinstance(refused(connected), AnsweredError)
    assert api.asked == ["/apis"]


def test_a_cluster_that_refuses_the_connection_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gone = KubeApi(url=f"http://127.0.0.1:{port}")
    tried = []

    def refuse(address: tuple[str, int], *_: object, **__: object) -> None:
        tried.append(address[1])
        raise ConnectionRefusedError

    monkeypatch.setattr("urllib3.util.connection.create_connection", refuse)
    error = refused(connect(str(gone.kubeconfig(tmp_path))))
    assert isinstance(error, UnreachableError)
    assert tried == [port] * 2, "once more, and no more than that"
    assert capsys.readouterr() == ("", "")
    assert f"The cluster {gone.url} cannot be reached: the connection was refused." in str(error)


def test_a_cluster_that_does_not_answer_is_given_up(
    api: KubeApi, connected: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "TIMEOUTS", (60.0, 0.05))
    api.silent = threading.Event()
    error = refused(connected)
    api.silent.set()
    assert isinstance(error, UnreachableError)
    assert "no answer in time" in str(error)
    wait_until(lambda: api.asked, "the request")
    assert api.asked == ["/apis"]


def test_a_cluster_that_stops_answering_is_waited_for_once(
    api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects.get(WEB)
    monkeypatch.setattr(cluster_module, "TIMEOUTS", (60.0, 0.1))
    api.silent = threading.Event()
    error = refused(objects, DB)
    assert isinstance(error, UnreachableError)
    asked = len(api.asked)
    for number in range(50):
        wanted = ObjectName(EC2, "SecurityGroup", "default", f"web-{number}")
        assert refused(objects, wanted) is error
    assert len(api.asked) == asked
    api.silent.set()


def test_a_cluster_that_stops_answering_while_names_are_listed_is_waited_for_once(
    api: KubeApi, objects: ClusterObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = UnreachableError("x", "y", "no answer in time")

    def lose(*_: object) -> None:
        raise lost

    monkeypatch.setattr(ClusterApi, "names", lose)
    assert isinstance(refused(objects, ObjectName(EC2, "SecurityGroup", "default", "wed")), NoSuchObjectError)
    assert refused(objects) is lost
    assert len(api.asked) == 3


def test_a_server_without_tls_is_reported(api: KubeApi, tmp_path: Path) -> None:
    api.url = api.url.replace("http:", "https:")
    error = refused(connect(str(api.kubeconfig(tmp_path))))
    assert isinstance(error, UnreachableError)
    assert "TLS failed" in str(error)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "cluster")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2099, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, form, serialization.NoEncryption()))
    return path


@pytest.mark.filterwarnings("error")
def test_a_cluster_is_trusted_by_its_certificate(
    certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(KubeApi([GROUPS], [security_group("web")]), context) as api:

        def connected(**cluster: Any) -> Connection:
            return connect(str(api.kubeconfig(tmp_path, cluster=cluster)))

        trusted = {"certificate-authority": str(certificate)}
        assert ClusterObjects(connected(**trusted)).get(WEB) == security_group("web")
        assert ClusterObjects(connected(**{"insecure-skip-tls-verify": True})).get(WEB) == security_group("web")
        assert capsys.readouterr() == ("", "")
        assert "its certificate is not trusted" in str(refused(connected()))
        named = connected(**trusted, **{"tls-server-name": "elsewhere"})
        assert "its certificate is not trusted, or belongs to another server" in str(refused(named))


PROXY = f"{{server: 'http://x', proxy-url: '{TOKEN}'}}"


class TestWhichCluster:
    def test_its_address_is_shown_without_a_password(self, api: KubeApi, tmp_path: Path) -> None:
        there = api.url
        api.url = there.replace("//", f"//reader:{TOKEN}/{TOKEN}@")
        connected = connect(str(api.kubeconfig(tmp_path)))
        assert connected.server == there
        assert "its address is not a URL" in str(refused(connected))
        api.url = there.replace("//", f"//reader:{TOKEN}@")
        assert connect(str(api.kubeconfig(tmp_path))).server == there

    def test_it_is_that_of_the_context_that_is_named(self, api: KubeApi, tmp_path: Path) -> None:
        path = api.kubeconfig(tmp_path, namespace="shop")
        text = path.read_text()
        path.write_text(text.replace("current-context: here\n", ""))
        assert connect(str(path), "here").namespace == "shop"
        with pytest.raises(ClusterConfigError, match=r"kubeconfig .* has no current context; it has here"):
            connect(str(path))
        with pytest.raises(ClusterConfigError, match="has no context there; it has here"):
            connect(str(path), "there")

    def test_it_is_that_of_the_environment_without_a_file(
        self, api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".kube").mkdir()
        path = api.kubeconfig(tmp_path / ".kube")
        path.rename(path.with_name("config"))
        connected = connect()
        assert (connected.server, connected.namespace) == (api.url, None)
        (tmp_path / "a").mkdir()
        elsewhere = api.kubeconfig(tmp_path / "a", namespace="a")
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/gone:{elsewhere}")
        assert connect().namespace == "a"

    def test_it_is_the_pods_own_in_a_pod(self, api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from kubernetes.config import incluster_config  # noqa: PLC0415 (it takes a second)

        for name, text in (("token", TOKEN), ("ca.crt", "a certificate"), ("namespace", "shop\n")):
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
        monkeypatch.setattr(cluster_config, "_POD_NAMESPACE", tmp_path / "namespace")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", api.url.rpartition(":")[2])
        connected = connect()
        assert (connected.server, connected.namespace) == (api.url.replace("http:", "https:"), "shop")
        (tmp_path / "namespace").unlink()
        assert connect().namespace is None
        (credentials,) = connect().client.configuration.auth_settings().values()
        assert (credentials["key"], credentials["value"].lower()) == ("authorization", f"bearer {TOKEN}")
        (tmp_path / "token").unlink()
        with pytest.raises(ClusterConfigError, match="the pod's service account does not say"):
            connect()

    def test_without_a_kubeconfig_the_error_names_the_file(self, tmp_path: Path) -> None:
        with pytest.raises(ClusterConfigError, match=f"there is no kubeconfig {tmp_path}/.kube/config. Set --kube"):
            connect()
        with pytest.raises(ClusterConfigError, match=f"there is no kubeconfig {tmp_path}/gone"):
            connect(f"{tmp_path}/gone")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "a: [1",
            "just text",
            "contexts: 3",
            f"users: [{TOKEN}]",
            "contexts: [{name: here, context: {cluster: x}}]",
            "contexts: [{name: here}]",
            "contexts: [{name: here, context: null}]",
            "contexts: [null]",
            "contexts: [{name: here, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 5}}]",
            f"{{contexts: [{{name: here, context: {{cluster: c}}}}], clusters: [{{name: c, cluster: {PROXY}}}]}}",
        ],
    )
    def test_a_file_that_is_no_kubeconfig_is_not_quoted(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "kubeconfig"
        path.write_text(text)
        with pytest.raises(ClusterConfigError) as caught:
            connect(str(path), "here")
        assert TOKEN not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None
        assert not re.search("[A-Z][a-z]+(Error|Exception)", str(caught.value)), "no names of classes are shown"

    @pytest.mark.parametrize("other", [{"name": "other"}, {"name": "other", "context": None}])
    def test_another_context_may_be_broken(self, other: dict[str, Any], api: KubeApi, tmp_path: Path) -> None:
        path = api.kubeconfig(tmp_path)
        kubeconfig = yaml.safe_load(path.read_text())
        kubeconfig["contexts"].insert(0, other)
        path.write_text(yaml.safe_dump(kubeconfig))
        assert ClusterObjects(connect(str(path))).get(WEB) == security_group("web")

    def test_a_provider_of_credentials_that_does_not_answer_is_reported(self, api: KubeApi, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            issuer = f"http://127.0.0.1:{free.getsockname()[1]}"
        parts = [base64.urlsafe_b64encode(text).decode().rstrip("=") for text in (b'{"alg": "none"}', b'{"exp": 1}')]
        config = {"id-token": ".".join([*parts, "x"]), "idp-issuer-url": issuer, "client-id": TOKEN}
        path = api.kubeconfig(tmp_path, user={"auth-provider": {"name": "oidc", "config": config}})
        with pytest.raises(ClusterConfigError, match="are not available: the command or provider") as caught:
            connect(str(path))
        assert TOKEN not in "".join(traceback.format_exception(caught.value))

    @pytest.mark.parametrize("says", ["exit 3", "echo no-json", "echo '{}'", f"echo {TOKEN} >&2; exit 1"])
    def test_a_command_without_credentials_is_reported_and_not_quoted(
        self, says: str, api: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = api.kubeconfig(tmp_path, user=by_command(says))
        handlers = list(logging.getLogger().handlers)
        with pytest.raises(
            ClusterConfigError, match=r"the credentials of context here in .* are not available"
        ) as caught:
            connect(str(path))
        assert TOKEN not in "".join([str(caught.value), *capsys.readouterr()])
        assert logging.getLogger().handlers == handlers

    def test_a_command_gets_the_credentials(self, api: KubeApi, tmp_path: Path) -> None:
        path = api.kubeconfig(tmp_path, user=by_command(f"cat <<'X'\n{credentials(TOKEN)}\nX"))
        assert ClusterObjects(connect(str(path))).get(WEB) == security_group("web")

    def test_a_command_runs_again_when_credentials_have_expired(self, api: KubeApi, tmp_path: Path) -> None:
        script = f"cat <<'X'\n{credentials(TOKEN, expirationTimestamp='2026-11-21T00:00:00Z')}\nX"
        path = api.kubeconfig(tmp_path, user=by_command(f"echo >>{tmp_path}/runs; {script}"))
        objects = ClusterObjects(connect(str(path)))
        assert objects.get(WEB) == security_group("web")
        assert len((tmp_path / "runs").read_text()) > 1

    def test_a_command_that_fails_later_is_reported_and_not_quoted(
        self, api: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        script = f"""echo >>{tmp_path}/runs
if [ -e {tmp_path}/gone ]; then echo "the refresh token {TOKEN} has expired" >&2; exit 1; fi
cat <<'X'
{credentials(TOKEN, expirationTimestamp="2026-11-21T00:00:00Z")}
X"""
        objects = ClusterObjects(connect(str(api.kubeconfig(tmp_path, user=by_command(script)))))
        objects.get(WEB)
        (tmp_path / "gone").touch()
        asked, runs = len(api.asked), len((tmp_path / "runs").read_text())
        error = refused(objects, DB)
        assert isinstance(error, ClusterConfigError)
        assert "the credentials of context here in" in str(error)
        assert "are not available" in str(error)
        assert refused(objects, ObjectName(EC2, "SecurityGroup", "shop", "web")) is error
        assert len(api.asked) == asked, "credentials that have run out are not sent"
        assert len((tmp_path / "runs").read_text()) == runs + 1, "and the command is not run again"
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("how", ["tokenFile", "token", "exec"])
    def test_white_space_around_a_token_is_removed(self, how: str, api: KubeApi, tmp_path: Path) -> None:
        path = api.kubeconfig(tmp_path, user=token_user(how, f"{TOKEN}\n", tmp_path))
        assert ClusterObjects(connect(str(path))).get(WEB) == security_group("web")

    @pytest.mark.parametrize("how", ["tokenFile", "token", "exec"])
    @pytest.mark.parametrize("within", ["\n", "\r", "\u0000", "\u0080", "ü", "\u2026"])
    def test_a_token_that_cannot_be_sent_is_not_shown(
        self, how: str, within: str, api: KubeApi, tmp_path: Path
    ) -> None:
        error = refused(connect(str(api.kubeconfig(tmp_path, token_user(how, TOKEN + within + "x", tmp_path)))))
        assert isinstance(error, ClusterConfigError)
        assert "have characters that no token has" in str(error)
        assert api.asked == []

    def test_without_kubernetes_own_client_its_import_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("cluster", "cluster_config"):
            monkeypatch.delitem(sys.modules, f"strongref_manifests.refs.{module}")
        monkeypatch.setitem(sys.modules, "kubernetes", None)
        with pytest.raises(ModuleNotFoundError, match="kubernetes"):
            wiring.cluster(None, None)


def by_command(script: str) -> dict[str, Any]:
    """A user whose credentials come from a command."""
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script]}}


def credentials(token: str, **more: str) -> str:
    """The output of such a command."""
    version = "client.authentication.k8s.io/v1"
    return json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": {"token": token, **more}})


def token_user(how: str, token: str, folder: Path) -> dict[str, Any]:
    """A user with a token."""
    if how == "tokenFile":
        (folder / "token").write_text(token, newline="")
        return {"tokenFile": str(folder / "token")}
    if how == "exec":
        (folder / "says").write_text(credentials(token))
        return by_command(f"cat {folder}/says")
    return {"token": token}
