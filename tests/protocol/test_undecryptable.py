"""Values whose KMS key cannot be used: everything else is exported, imported, read and tended as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.names import Key, Producer
from strongref.errors import BadRequestError, UndecryptableError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.time import Patience
from strongref_toolkit.errors import NotExportedError
from strongref_toolkit.published_exports import PublishedExports
from tests.protocol.test_janitor import examined, found
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from strongref.contract.response import Response
    from tests.support.cloudformation.requests import ResourceRequest

P = f"/strongref/exports/{name('Db/P')}"
TAIL, HEAD = f"{SCOPE.path('records')}/Secrets.1", f"{SCOPE.path('records')}/Secrets"
SECRETS: dict[str, Any] = {"Db": {"P": "hunter2", "Host": "db"}, "User": "admin"}


def secrets(**more: Any) -> dict[str, Any]:
    return exports(SECRETS, SecureKeys=["Db/P"], **more)


@pytest.fixture
def cloud() -> Cloud:
    """One stack with plain values, and with secrets of another Export, whose key cannot be used."""
    cloud = Cloud()
    cloud.deploy("network", EU, {"Plain": exports({"A": "a1", "B": "b1"}), "Secrets": secrets()})
    cloud.ssm(US).lock()
    assert cloud.ssm(US).locked.keys() == {P, TAIL}
    return cloud


def network(cloud: Cloud, plain: dict[str, Any], **more: Any) -> None:
    cloud.deploy("network", EU, {"Plain": exports(plain, **more), "Secrets": secrets()})


def test_another_export_changes_drops_and_creates(cloud: Cloud) -> None:
    network(cloud, {"A": "a2", "C": "c1"})
    values = cloud.values(US)
    assert (values[name("A")], values[name("C")], name("B") in values) == ("a2", "c1", False)
    assert values[name("Db/P")] == "hunter2"
    network(cloud, {})
    assert name("A") not in cloud.values(US)
    assert name("Db/P") in cloud.values(US)
    cloud.ssm(US).locked = {}
    assert found(cloud) == []


def test_another_export_with_secrets_is_refused_for_they_may_be_the_same(cloud: Cloud) -> None:
    before = cloud.texts(US)
    with pytest.raises(UndecryptableError, match=f"Parameter {TAIL} in {US} cannot be decrypted"):
        network(cloud, {"A": "a1", "B": "b1", "S": "x"}, SecureKeys=["S"])
    assert cloud.texts(US) == before


@pytest.mark.parametrize("is_imported", [False, True])
def test_a_plain_value_does_not_take_the_place_of_a_secret(cloud: Cloud, is_imported: bool) -> None:
    if is_imported:
        locked, cloud.ssm(US).locked = cloud.ssm(US).locked, {}
        cloud.deploy("web", US, {"Imports": imports("Db/P")})
        cloud.ssm(US).locked = locked
    before = cloud.texts(US)
    with pytest.raises(UndecryptableError, match=f"Parameter {TAIL}"):
        network(cloud, {"A": "a1", "B": "b1", "Db": {"P": "plain"}})
    assert cloud.texts(US) == before


def test_other_values_are_imported(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A", "User", "Db.Host")})
    assert cloud.get("web", US) == {"A": "a1", "User": "admin", "Db.Host": "db"}
    cloud.deploy("web", US, {"Imports": imports("User", Strength="weak")})
    assert cloud.get("web", US) == {"User": "admin"}


@pytest.mark.parametrize("names", [["Db/P"], ["Db"], [], ["Nothing"]])
@pytest.mark.parametrize("strength", ["strong", "weak"])
def test_what_may_be_the_secret_is_not_imported(cloud: Cloud, names: list[str], strength: str) -> None:
    with pytest.raises(UndecryptableError, match=f"Parameter {TAIL}"):
        cloud.deploy("web", US, {"Imports": imports(*names, Strength=strength)})
    assert cloud.claims(US, name("Db/Host")) == []


def test_a_secret_is_not_imported_whose_own_parameter_cannot_be_decrypted(cloud: Cloud) -> None:
    del cloud.ssm(US).locked[TAIL]
    with pytest.raises(UndecryptableError, match=f"Parameter {P}"):
        cloud.deploy("web", US, {"Imports": imports("Db/P")})
    cloud.deploy("web", US, {"Imports": imports("Db.Host", "A")})
    assert cloud.get("web", US) == {"Db.Host": "db", "A": "a1"}


def test_an_export_writes_its_own_secret_again_and_so_heals_it(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Plain": exports({"A": "a1"}), "Secrets": secrets(Revision="2")})
    cloud.ssm(US).locked = {}  # they have another key now
    cloud.deploy("web", US, {"Imports": imports("Db/P")})
    assert found(cloud) == []


@pytest.mark.parametrize("locked", [[P], [P, TAIL]])
def test_an_imported_secret_of_its_own_is_not_overwritten_unseen(cloud: Cloud, locked: list[str]) -> None:
    cloud.ssm(US).locked = {}
    cloud.deploy("web", US, {"Imports": imports("Db/P")})
    cloud.ssm(US).locked = dict.fromkeys(locked, "InvalidKeyId")
    changed = exports({**SECRETS, "Db": {"P": "other", "Host": "db"}}, SecureKeys=["Db/P"])
    with pytest.raises(UndecryptableError, match=f"Parameter {P}"):
        cloud.deploy("network", EU, {"Plain": exports({"A": "a1", "B": "b1"}), "Secrets": changed})
    assert cloud.values(US)[name("Db/P")] == "hunter2"


def test_a_rollback_says_what_it_left_as_it_is(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Response] = []
    send = cloud.send

    def note(request: ResourceRequest) -> Response:
        answers.append(send(request))
        return answers[-1]

    monkeypatch.setattr(cloud, "send", note)
    changed = exports({**SECRETS, "Db": {"P": ""}}, SecureKeys=["Db/P"])
    with pytest.raises(BadRequestError):
        cloud.deploy("network", EU, {"Plain": exports({"A": "a1", "B": "b1"}), "Secrets": changed})
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert f"Parameter {TAIL} in {US} cannot be decrypted" in answers[-1].reason


def test_the_whole_stack_can_be_deleted(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Secrets": secrets()})
    cloud.delete("network", EU)
    assert cloud.values(US) == {}


def test_an_import_is_released_and_its_consumer_cleaned(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.delete("web", US)
    assert cloud.values(US) == {}


def test_the_janitor_reports_it_and_tends_to_the_rest(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    del cloud.stack("web", US).resources["Imports"]  # its claim is stale
    cloud.deploy("base", EU, {"Exports": exports({"X": "x1"})})
    cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('X', stack='base')}")
    before = examined(cloud)
    wanted = {
        (FindingType.UNDECRYPTABLE, HEAD),
        (FindingType.STALE_CLAIM, f"/strongref/exports/{name('A')}"),
        (FindingType.MISSING, f"/strongref/exports/{name('X', stack='base')}"),
    }
    assert {(each.kind, each.parameter) for each in before} == wanted
    assert {(each.kind, each.parameter) for each in found(cloud)} == wanted
    assert cloud.claims(US, name("A")) == []
    assert cloud.values(US)[name("X", stack="base")] == "x1"
    assert "hunter2" in cloud.values(US)[name("Db/P")]


def test_the_janitor_reports_a_value_that_cannot_be_decrypted(cloud: Cloud) -> None:
    del cloud.ssm(US).locked[TAIL]
    (finding,) = found(cloud)
    assert finding == Finding(FindingType.UNDECRYPTABLE, P)
    assert finding.why.startswith(f"Parameter {P} in {US} cannot be decrypted (GetParameters: InvalidKeyId)")


def test_a_resolver_reads_the_others(cloud: Cloud) -> None:
    store = cloud.stores(US, cloud.clock)
    published = PublishedExports(store, cloud.clock, Patience(5, 2, lambda: 0.5), "web", sensitive=True)
    producer = Producer(ACCOUNT, EU, "network")
    assert published.value(producer, "A", "token") == "a1"
    assert published.value(producer, "Db/Host", "token") == "db"
    for hidden in ("Db", "Db/P", "Nothing"):
        with pytest.raises(UndecryptableError, match=f"Parameter {TAIL}"):
            published.value(producer, hidden, "token")
    cloud.ssm(US).locked = {}
    published = PublishedExports(store, cloud.clock, Patience(5, 2, lambda: 0.5), "web", sensitive=True)
    assert published.value(producer, "Db/P", "token") == "hunter2"
    with pytest.raises(NotExportedError):
        published.value(producer, Key("Nothing"), "token")
