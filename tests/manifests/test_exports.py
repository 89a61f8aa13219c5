"""Strongref's exports as a source: read as a weak import reads them, and taken down for who claims them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.names import SHARED, ExportScope, Key, Producer
from strongref.contract.values import ParameterType, Value
from strongref.protocol.time import Patience
from strongref.refusals import ChangingError
from strongref_manifests.errors import BadTokenError
from strongref_manifests.sources.on_demand import ExportSource
from strongref_manifests.tokens import Token
from strongref_toolkit.aws import Aws
from strongref_toolkit.errors import NotExportedError, SecureValueError
from strongref_toolkit.published_exports import PublishedExports
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from strongref.contract.values import Parameter
    from strongref_toolkit.aws import Accounts

EU, US = "eu-west-1", "us-east-1"
HIDDEN = "a-value-not-to-be-shown"
VALUES = {
    "VpcId": "vpc-1",
    "SubnetIds": ["a", "b"],
    "Alb": {"Arn": "arn:alb", "SecurityGroup": {"Id": "sg-1"}},
    "Password": HIDDEN,
    "Db": {"Password": HIDDEN, "Host": "db"},
}
NETWORK = Producer(ACCOUNT, EU, "network")


class Own:
    """`accounts.Accounts` of which only the caller's own account is asked."""

    own = ACCOUNT


@pytest.fixture
def cloud() -> Cloud:
    cloud = Cloud()
    for consumer in ({}, {"Consumer": "web"}):
        stack = "network" if not consumer else "own"
        properties = {"Region": US, "Values": VALUES, "SecureKeys": ["Password", "Db.Password"], **consumer}
        cloud.deploy(stack, EU, {"Exports": properties})
    return cloud


def source(cloud: Cloud, consumer: str = SHARED, *, region: str = US, sensitive: bool = False) -> ExportSource:
    aws = Aws(cast("Accounts", Own()), RateLimiter(RateLimits()), cloud.clock, region)
    patience = Patience(3, 2, lambda: 0.5)
    store = cloud.stores(region, cloud.clock)
    return ExportSource(aws, PublishedExports(store, cloud.clock, patience, consumer, sensitive=sensitive))


def token(reference: str, region: str | None = EU, account: str | None = None) -> Token:
    return Token("export", reference, region, account)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("VpcId", "vpc-1"),
        ("SubnetIds", ["a", "b"]),
        ("Alb.Arn", "arn:alb"),
        ("Alb/SecurityGroup/Id", "sg-1"),
        ("Alb.SecurityGroup", {"Id": "sg-1"}),
        ("Alb", {"Arn": "arn:alb", "SecurityGroup": {"Id": "sg-1"}}),
    ],
)
def test_an_export_is_text_a_list_or_a_map(cloud: Cloud, key: str, value: object) -> None:
    assert source(cloud).fetch(token(f"network.{key}")) == value
    assert source(cloud).fetch(token(f"network.{key}", account=ACCOUNT)) == value
    assert source(cloud, "web").fetch(token(f"own.{key}")) == value


def test_what_was_asked_for_is_taken_down_by_place(cloud: Cloud) -> None:
    exports = source(cloud)
    exports.prefetch([])
    for key in ("VpcId", "Alb", "VpcId"):
        exports.fetch(token(f"network.{key}"))
    with pytest.raises(NotExportedError):
        exports.fetch(token("network.Gone"))
    scope = ExportScope(SHARED, NETWORK)
    assert exports.exports.uses == {(scope, key) for key in ("VpcId", "Alb/Arn", "Alb/SecurityGroup/Id")}


def test_values_that_someone_holds_are_not_read(cloud: Cloud) -> None:
    exports = source(cloud, region=EU)
    exports.exports.hold({(ExportScope(SHARED, NETWORK), Key("A")): Value(ParameterType.STRING, "held")})
    assert exports.fetch(token("network.A", None)) == "held"


def test_a_place_is_read_once(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    exports = source(cloud)
    read: list[str] = []
    under = SsmStore.under

    def watched(store: SsmStore, path: str, **how: bool) -> dict[str, Parameter]:
        read.append(path)
        return under(store, path, **how)

    monkeypatch.setattr(SsmStore, "under", watched)
    for key in ("VpcId", "SubnetIds"):
        exports.fetch(token(f"network.{key}"))
    assert read == [ExportScope(SHARED, NETWORK).path("records")]


def test_a_name_that_is_a_value_s_and_a_map_s_is_the_value_s(cloud: Cloud) -> None:
    cloud.deploy("more", EU, {"One": {"Region": US, "Values": {"A": "a", "M": {"B": "b"}}}})
    cloud.deploy(
        "more",
        EU,
        {
            "One": {"Region": US, "Values": {"A": "a", "M": {"B": "b"}}},
            "Two": {"Region": US, "Values": {"A": {"B": "b"}, "M": {"B": {"C": "c"}}}},
        },
    )
    assert source(cloud).fetch(token("more.A")) == "a"
    assert source(cloud).fetch(token("more.A.B")) == "b"
    assert source(cloud).fetch(token("more.M")) == {"B": "b"}


@pytest.mark.parametrize("key", ["Password", "Db", "Db.Password"])
def test_secret_values_are_given_only_if_that_is_asked_for(cloud: Cloud, key: str) -> None:
    with pytest.raises(SecureValueError) as refused:
        source(cloud).fetch(token(f"network.{key}"))
    assert HIDDEN not in str(refused.value)
    assert HIDDEN in str(source(cloud, sensitive=True).fetch(token(f"network.{key}")))


@pytest.mark.parametrize(
    ("reference", "consumer", "reported"),
    [
        ("network.VpcID", SHARED, "Stack network (eu-west-1, 111111111111) does not export VpcID to all in us-east-1."),
        ("network.VpcID", SHARED, "It exports VpcId. Correct the key, or export it there first."),
        (
            "network.Queue",
            SHARED,
            "It exports Alb.Arn, Alb.SecurityGroup.Id, Db.Host, Db.Password, Password and 2 more.",
        ),
        (
            "nobody.VpcId",
            SHARED,
            "does not export VpcId to all in us-east-1. Check that stack's name, region and account",
        ),
        ("nobody.VpcId", SHARED, "its Export's Region and Consumer, and whether --consumer is missing here."),
        ("network.VpcId", "web", "does not export VpcId to consumer web in us-east-1. Check that stack's name"),
        ("network.VpcId", "web", "its Export's Region and Consumer, and --consumer here."),
    ],
)
def test_what_is_not_exported_is_reported_with_what_may_be_wrong(
    cloud: Cloud, reference: str, consumer: str, reported: str
) -> None:
    with pytest.raises(NotExportedError) as refused:
        source(cloud, consumer).fetch(token(reference))
    assert reported.replace("111111111111", ACCOUNT) in str(refused.value)
    assert HIDDEN not in str(refused.value)


def test_an_export_that_is_being_written_is_waited_for_and_then_reported(cloud: Cloud) -> None:
    scope = ExportScope(SHARED, NETWORK)
    cloud.ssm(US).put_parameter(Name=f"{scope.path('records')}/Exports", Type="String", Value="{", Overwrite=True)
    before = cloud.clock.now()
    with pytest.raises(ChangingError, match="are being changed right now"):
        source(cloud).fetch(token("network.VpcId"))
    assert (cloud.clock.now() - before).total_seconds() >= 3


def test_what_is_missing_behind_a_fence_may_be_coming(cloud: Cloud) -> None:
    fence = f"{ExportScope(SHARED, NETWORK).path('fences')}/Exports.x"
    cloud.ssm(US).put_parameter(Name=fence, Type="String", Value='{"by":"x","until":"2099-01-01T00:00:00+00:00"}')
    with pytest.raises(ChangingError, match="by x, until 2025-01-01 00:15"):
        source(cloud).fetch(token("network.New"))


def test_a_fence_past_its_time_is_no_change_and_is_left_to_those_who_write(cloud: Cloud) -> None:
    fence = f"{ExportScope(SHARED, NETWORK).path('fences')}/Exports.x"
    cloud.ssm(US).put_parameter(
        Name=fence, Type="String", Value='{"by":"x","until":"1999-01-01T00:00:00+00:00","for":-9}'
    )
    with pytest.raises(NotExportedError):
        source(cloud).fetch(token("network.New"))
    assert cloud.ssm(US).get_parameters(Names=[fence])["Parameters"]


@pytest.mark.parametrize("reference", ["network", "my_network.VpcId", "network.a b", "network.", "network.A..B"])
def test_a_reference_that_is_no_stack_and_key_is_reported(cloud: Cloud, reference: str) -> None:
    with pytest.raises(BadTokenError, match=r"it should look like \$\{export:STACK.KEY\}"):
        source(cloud).fetch(token(reference))
