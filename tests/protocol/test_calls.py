"""What a deployment costs in calls: counted, and held to a bound."""

from __future__ import annotations

from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.accounts import Accounts
from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter
from strongref.contract.names import Site
from strongref.protocol.side_by_side import in_turn
from tests.support.builders import ACCOUNT
from tests.support.cloud import UNLIMITED, Cloud

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sts.type_defs import CredentialsTypeDef

    from strongref.contract.response import Response
    from tests.support.cloudformation.requests import ResourceRequest

EU, US = "eu-west-1", "us-east-1"
B = "222222222222"
WRITES = {"PutParameter", "DeleteParameters", "AddTagsToResource", "RemoveTagsFromResource"}


def exports(count: int, **more: Any) -> dict[str, Any]:
    values = {
        f"Key{number:04d}": f"arn:aws:service:eu-west-1:111111111111:thing/{number:08d}" for number in range(count)
    }
    return {"Region": US, "Consumer": "web", "Values": values} | more


def imports(names: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"From": {"Stack": "network", "Region": EU}} | ({"Names": names} if names else {}) | more


def in_answers(count: int, size: int = 40) -> dict[str, dict[str, Any]]:
    """As many imports as it takes for each to fit into an answer."""
    keys = [f"Key{number:04d}" for number in range(count)]
    return {f"Imports{at}": imports(keys[at : at + size]) for at in range(0, count, size)}


def counted(cloud: Cloud, do: Callable[[], object]) -> Counter[str]:
    """The calls to SSM, by action, and to CloudFormation (`lookups`), that something makes."""
    cloud.calls.clear()
    cloud.lookups = 0
    do()
    return Counter(action for action, _ in cloud.calls) + Counter({"lookups": cloud.lookups})


@pytest.mark.parametrize("count", [1, 10, 40, 100, 1000])
def test_a_create_of_n_values_takes_at_most_n_and_a_twentieth_and_twelve_calls(count: int) -> None:
    cloud = Cloud()
    calls = counted(cloud, lambda: cloud.deploy("network", EU, {"Exports": exports(count)}))
    assert calls["PutParameter"] >= count
    assert calls.total() <= count + count / 20 + 12


@pytest.mark.parametrize("count", [1, 10, 40])
def test_an_import_of_n_values_takes_at_most_n_and_a_quarter_and_twelve_calls(count: int) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(count)})
    for properties in (imports(), imports(list(exports(count)["Values"]))):
        calls = counted(cloud, partial(cloud.deploy, "web", US, {"Imports": properties}))
        assert calls["AddTagsToResource"] == count
        assert calls.total() <= count + count / 4 + 12
        cloud.deploy("web", US, {})


@pytest.mark.parametrize("count", [100, 1000])
def test_a_large_import_which_returns_nothing_since_its_values_are_secure_keeps_to_the_same_bound(count: int) -> None:
    """No answer holds a thousand values; secure ones are claimed and not returned."""
    cloud = Cloud()
    values = exports(count)
    cloud.deploy("network", EU, {"Exports": values | {"SecureKeys": list(values["Values"])}})
    calls = counted(cloud, lambda: cloud.deploy("web", US, {"Imports": imports()}))
    assert calls["AddTagsToResource"] == count
    assert calls.total() <= count + count / 4 + 12


@pytest.mark.parametrize("count", [1, 10, 40, 100, 1000])
def test_a_delete_of_n_exports_takes_at_most_n_and_a_quarter_and_twelve_calls(count: int) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(count)})
    calls = counted(cloud, lambda: cloud.delete("network", EU))
    assert calls["DeleteParameters"] >= count / 10
    assert calls.total() <= count + count / 4 + 12
    assert not cloud.texts(US)


@pytest.mark.parametrize("count", [1, 10, 40, 100, 1000])
def test_a_consumers_end_takes_at_most_n_and_a_quarter_and_twelve_calls(count: int) -> None:
    """Its claims are taken off, and its prefix is cleaned."""
    cloud = Cloud()
    values = exports(count)
    cloud.deploy("network", EU, {"Exports": values | {"SecureKeys": list(values["Values"])}})
    cloud.deploy("web", US, {"Imports": imports()})
    calls = counted(cloud, lambda: cloud.delete("web", US))
    assert calls.total() <= count + count / 4 + 12
    assert not cloud.values(US)


@pytest.mark.parametrize("count", [10, 40])
def test_an_import_taken_out_takes_at_most_n_and_a_quarter_and_twelve_calls(count: int) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(count)})
    cloud.deploy("web", US, {"Imports": imports()})
    calls = counted(cloud, lambda: cloud.deploy("web", US, {}))
    assert calls["RemoveTagsFromResource"] == count
    assert calls.total() <= count + count / 4 + 12


@pytest.mark.parametrize("count", [10, 100])
def test_an_update_that_changes_nothing_writes_nothing(count: int) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(count)})
    cloud.deploy("web", US, in_answers(count))
    again = {name: properties | {"ServiceTimeout": "60"} for name, properties in in_answers(count).items()}
    calls = counted(cloud, lambda: cloud.deploy("network", EU, {"Exports": exports(count, ServiceTimeout="60")}))
    assert not calls.keys() & WRITES
    assert calls.total() <= count / 5 + 12
    calls = counted(cloud, lambda: cloud.deploy("web", US, again))
    assert not calls.keys() & WRITES


def test_what_others_publish_and_import_does_not_make_it_dearer() -> None:
    costs = []
    for neighbours in (0, 30):
        cloud = Cloud()
        for number in range(neighbours):
            cloud.deploy(f"other{number}", EU, {"Exports": exports(20)})
            cloud.deploy(f"other{number}", EU, {"Exports": exports(20, Consumer=f"else{number}")})
        made = counted(cloud, partial(cloud.deploy, "network", EU, {"Exports": exports(20)}))
        read = counted(cloud, partial(cloud.deploy, "web", US, {"Imports": imports()}))
        costs.append((made, read))
    assert costs[0] == costs[1]


class Abroad(Clients):
    """Clients of another account, once its role was assumed."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self.cloud = cloud

    def sts(self, region: str) -> Any:
        def assume_role(**request: Any) -> dict[str, Any]:
            self.cloud.calls.append(("AssumeRole", {"region": region, **request}))
            return {"Credentials": {}}

        return SimpleNamespace(assume_role=assume_role)

    def with_credentials(self, given: CredentialsTypeDef) -> Clients:
        del given
        return self

    def ssm(self, region: str) -> Any:
        return self.cloud.ssm(str(Site(region, B))).as_client()


class CloudWithAccounts(Cloud):
    """Each of its invocations assumes roles of its own."""

    def send(self, request: ResourceRequest) -> Response:
        accounts = Accounts((B,), ACCOUNT, "network", EU, Abroad(self), RateLimiter(UNLIMITED), in_turn)
        self.store = accounts.store  # type: ignore[method-assign]
        return super().send(request)


def story(cloud: Cloud, **more: Any) -> list[Counter[str]]:
    """The calls of a creation, of an update that changes nothing and of one that does, and of a deletion."""
    cloud.sees_installations = True
    given = exports(100, **more)
    other = {**given, "Values": given["Values"] | {"Key0000": "other", "New": "n"}}
    deployed = [given, given | {"OnChange": "propagate"}, other]
    deploy = partial(cloud.deploy, "network", EU)
    found = [counted(cloud, partial(deploy, {"Exports": each})) for each in deployed]
    return [*found, counted(cloud, partial(cloud.delete, "network", EU))]


def test_another_account_takes_the_calls_of_another_region_and_its_role_is_assumed_once() -> None:
    """Without the look whether strongref is installed there, which its trust does not allow."""
    for here, there in zip(story(CloudWithAccounts()), story(CloudWithAccounts(), Account=B), strict=True):
        del here["GetParameters"]
        assert there == here + Counter(AssumeRole=1)


def test_without_other_accounts_nothing_more_is_called_than_before_there_were_any() -> None:
    assert (
        story(Cloud())
        == story(CloudWithAccounts())
        == [
            Counter(PutParameter=105, GetParametersByPath=4, GetParameters=1, DeleteParameters=1, lookups=1),
            Counter(GetParametersByPath=11),
            Counter(PutParameter=6, GetParametersByPath=14, ListTagsForResource=2, DeleteParameters=2, lookups=1),
            Counter(PutParameter=2, GetParametersByPath=15, ListTagsForResource=101, DeleteParameters=15, lookups=1),
        ]
    )
