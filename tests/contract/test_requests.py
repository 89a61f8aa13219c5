"""Properties: what is taken, what is refused and how, and that no value of `Values` is ever reported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from strongref.arns import partition_of
from strongref.contract.names import MAX_NAME, SHARED, ExportScope, Producer, Site, StackArn
from strongref.contract.requests import ExportRequest, ImportRequest, OnChange, Strength
from strongref.errors import BadRequestError
from tests.support.builders import ACCOUNT, NETWORK, WEB, items, secure, values

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPORTER = StackArn.parse(NETWORK)
IMPORTER = StackArn.parse(WEB)
FROM = {"Stack": "network", "Region": "eu-west-1"}
CONSUMER = (
    "Consumer must be a stack's name or a label of at most 128 letters, digits, _ and -, not starting with _, got"
)
NO_REGION = "must be a region code such as us-east-1, got"


def export(given: Mapping[str, object]) -> ExportRequest:
    return ExportRequest.parse(given, EXPORTER)


def imported(given: Mapping[str, object]) -> ImportRequest:
    return ImportRequest.parse(given, IMPORTER)


def test_an_export_of_every_property_is_read() -> None:
    request = export(
        {
            "ServiceToken": "arn:aws:lambda:…",
            "ServiceTimeout": "600",
            "Region": ["us-east-1", "ap-southeast-2", "us-east-1"],
            "Account": ACCOUNT,
            "Consumer": "web",
            "OnChange": "propagate",
            "Hold": "network:Exports-1",
            "Values": {"A": "x", "B": ["y", "z"], "Db": {"Password": "p", "User": "u"}},
            "SecureKeys": ["Db.Password"],
            "Revision": "3",
        }
    )
    assert request == ExportRequest(
        sites=(Site("us-east-1"), Site("ap-southeast-2")),
        scope=ExportScope("web", Producer(ACCOUNT, "eu-west-1", "network")),
        values=values(A="x", B=items("y", "z"), Db__Password=secure("p"), Db__User="u"),
        on_change=OnChange.PROPAGATE,
        hold="network:Exports-1",
        revision="3",
    )


def test_an_export_of_values_alone_is_shared_and_stays_in_its_region() -> None:
    assert export({"Values": {}}) == ExportRequest(
        sites=(Site("eu-west-1"),),
        scope=ExportScope(SHARED, Producer(ACCOUNT, "eu-west-1", "network")),
        values={},
        on_change=OnChange.REFUSE,
        hold="",
        revision="",
    )


@pytest.mark.parametrize(
    "region", ["us-gov-west-1", "cn-northwest-1", "us-isob-east-1", "eusc-de-east-1", "ap-southeast-7", "mx-central-1"]
)
def test_regions_of_every_partition_are_known(region: str) -> None:
    stack = replace(StackArn.parse(NETWORK), partition=partition_of(region), region=region)
    assert ExportRequest.parse({"Values": {}, "Region": region}, stack).sites == (Site(region),)
    other = replace(stack, partition="aws", region="eu-west-1")
    if stack.partition != "aws":
        with pytest.raises(BadRequestError, match=f"partition aws of the stack; {region} is in {stack.partition}"):
            ExportRequest.parse({"Values": {}, "Region": ["us-east-1", region]}, other)
        with pytest.raises(BadRequestError, match=r"From.Region must be in the partition"):
            ImportRequest.parse({"From": {"Stack": "network", "Region": "eu-west-1"}}, stack)


@pytest.mark.parametrize("name", ["Db", "Db.Password", "Db/Password"])
def test_secure_keys_may_be_written_with_dots_or_slashes(name: str) -> None:
    request = export({"Values": {"Db": {"Password": "p"}}, "SecureKeys": [name]})
    assert request.values == {"Db/Password": secure("p")}


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"Values": None}, "Values must be a map of names to values, got nothing"),
        ({"Region": "Frankfurt"}, f"Region {NO_REGION} 'Frankfurt'"),
        ({"Region": ""}, f"Region {NO_REGION} ''"),
        ({"Region": None}, f"Region {NO_REGION} nothing"),
        ({"Region": {"a": "b"}}, f"Region {NO_REGION} a map"),
        ({"Region": "us-east-\u0661"}, NO_REGION),
        ({"Region": "us-east-1\n"}, NO_REGION),
        ({"Region": []}, "Region must name a region, got an empty list; leave it out for the stack's own"),
        ({"Region": ["us-east-1", "x"]}, f"Region[1] {NO_REGION} 'x'"),
        ({"Region": ["us-east-1", ["us-east-1"]]}, f"Region[1] {NO_REGION} a list"),
        ({"Region": [1]}, f"Region[0] {NO_REGION} 1"),
        ({"Account": "12"}, "Account must be an account's twelve digits, in quotes, got '12'"),
        ({"Account": 111111111111}, "Account must be an account's twelve digits, in quotes, got 111111111111"),
        ({"Account": "\u0661" * 12}, "must be an account's twelve digits, in quotes, got"),
        ({"Account": ["111111111111", []]}, "Account[1] must be an account's twelve digits, in quotes, got a list"),
        ({"Account": []}, "Account must name an account, got an empty list"),
        ({"Consumer": ""}, f"{CONSUMER} ''"),
        ({"Consumer": "_shared"}, f"{CONSUMER} '_shared'"),
        ({"Consumer": "a/b"}, f"{CONSUMER} 'a/b'"),
        ({"Consumer": "web.2"}, f"{CONSUMER} 'web.2'"),
        ({"Consumer": ["web"]}, f"{CONSUMER} a list"),
        ({"Consumer": None}, f"{CONSUMER} nothing"),
        ({"Consumer": "x" * 129}, f"{CONSUMER} '{'x' * 60}'"),
        ({"OnChange": "Refuse"}, "OnChange must be refuse or propagate, got 'Refuse'"),
        ({"OnChange": "keep"}, "OnChange must be refuse or propagate, got 'keep'"),
        ({"OnChange": ["refuse"]}, "OnChange must be refuse or propagate, got a list"),
        ({"OnChange": None}, "OnChange must be refuse or propagate, got nothing"),
        (
            {"Hold": "network_exports"},
            "Hold must be a CloudFormation export's name of at most 255 letters, digits, col",
        ),
        ({"Hold": "x" * 256}, "Hold must be a CloudFormation export's name of at most 255 letters"),
        ({"Hold": ""}, "Hold must be a CloudFormation export's name of at most 255 letters"),
        ({"Hold": ["a"]}, "Hold must be a CloudFormation export's name of at most 255 letters, digits, colons and"),
        ({"Revision": 3}, "Revision must be a string, got 3"),
        ({"Revision": ["3"]}, "Revision must be a string, got a list"),
        ({"Revision": {}}, "Revision must be a string, got a map"),
        ({"SecureKeys": "A"}, "SecureKeys must be a list of strings, got 'A'"),
        ({"SecureKeys": {"A": "true"}}, "SecureKeys must be a list of strings, got a map"),
        ({"SecureKeys": ["A", 1]}, "SecureKeys[1] must be a string, got 1"),
        (
            {"SecureKeys": ["A", "B", "C.D"]},
            "SecureKeys must be keys of Values, with dots between levels, got B and C.D",
        ),
        ({"SecureKeys": ["List"]}, "Values.List must be a string to be secure, got a list"),
        (
            {"Value": {}, "region": "x"},
            "Value and region are unknown; must be one of Region, Account, Consumer, OnChange, Hold, Values, Secu",
        ),
    ],
)
def test_a_bad_property_of_an_export_is_named(properties: dict[str, object], error: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        export({"ServiceToken": "t", "Values": {"A": "x", "List": ["y"]}} | properties)
    assert error in str(refused.value)
    assert str(refused.value).startswith(tuple(properties)) or "Values" in error


def test_an_export_without_values_is_refused() -> None:
    error = r"^Values is missing; must be a map of names to values \({} publishes nothing\)$"
    with pytest.raises(BadRequestError, match=error):
        export({"ServiceToken": "t"})


def test_a_name_of_1011_characters_with_its_arn_is_taken_and_one_more_is_not() -> None:
    region = "ap-southeast-2"
    arn = f"arn:aws:ssm:{region}:{ACCOUNT}:parameter/strongref/exports/web/{ACCOUNT}/eu-west-1/network/"
    fits = "x" * (MAX_NAME - len(arn))
    given = {"Region": ["us-east-1", region], "Consumer": "web"}
    assert list(export(given | {"Values": {fits: "v"}}).values) == [fits]
    with pytest.raises(BadRequestError) as refused:
        export(given | {"Values": {fits[:-3]: {"yyy": "v"}}})
    most = MAX_NAME - len(f"arn:aws:ssm:{region}:{ACCOUNT}:parameter")
    assert str(refused.value).startswith("Values.xxx")
    assert str(refused.value).endswith(f"at most {most} characters in {region}, got {most + 1}. Shorten its names")


def test_an_import_of_every_property_is_read() -> None:
    request = imported(
        {
            "ServiceToken": "arn:aws:lambda:…",
            "ServiceTimeout": "600",
            "From": {"Stack": "network", "Region": "eu-west-1", "Account": "222222222222"},
            "Names": ["CertArn", "Alb.Arn", "Alb/Arn", "CertArn"],
            "Shared": "false",
            "Strength": "weak",
            "Consumer": "web",
            "Revision": "2",
        }
    )
    assert request == ImportRequest(
        producer=Producer("222222222222", "eu-west-1", "network"),
        names=("CertArn", "Alb/Arn"),
        shared=False,
        strength=Strength.WEAK,
        consumer="web",
        revision="2",
    )


def test_an_import_takes_everything_strongly_from_its_own_account_and_region() -> None:
    assert imported({"From": {"Stack": "network"}}) == ImportRequest(
        producer=Producer(ACCOUNT, "us-east-1", "network"),
        names=None,
        shared=False,
        strength=Strength.STRONG,
        consumer=None,
        revision="",
    )


NEEDED = "From must be a map with Stack, and where they differ Region and Account, got"


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"From": None}, f"{NEEDED} nothing"),
        ({"From": "network"}, f"{NEEDED} 'network'"),
        ({"From": ["network"]}, f"{NEEDED} a list"),
        ({"From": {}}, "From.Stack is missing; must be the producing stack's name"),
        ({"From": {"Stack": ""}}, "From.Stack must be the producing stack's name, got ''"),
        ({"From": {"Stack": "1a"}}, "From.Stack must be the producing stack's name, got '1a'"),
        ({"From": {"Stack": "a_b"}}, "From.Stack must be the producing stack's name, got 'a_b'"),
        ({"From": {"Stack": ["a"]}}, "From.Stack must be the producing stack's name, got a list"),
        ({"From": {"Stack": "a" * 129}}, f"From.Stack must be the producing stack's name, got '{'a' * 60}'"),
        ({"From": {"Stack": NETWORK}}, "must be the producing stack's name, got"),
        ({"From": FROM | {"Region": "x"}}, f"From.Region {NO_REGION} 'x'"),
        ({"From": FROM | {"Region": ["us-east-1"]}}, f"From.Region {NO_REGION} a list"),
        ({"From": FROM | {"Account": "1"}}, "From.Account must be an account's twelve digits, in quotes, got '1'"),
        ({"From": FROM | {"Name": "x"}}, "From.Name is unknown; must be one of Stack, Region and Account"),
        ({"Names": "CertArn"}, "Names must be a list of strings, got 'CertArn'"),
        ({"Names": {"A": "B"}}, "Names must be a list of strings, got a map"),
        ({"Names": None}, "Names must be a list of strings, got nothing"),
        ({"Names": ["A", 2]}, "Names[1] must be a string, got 2"),
        ({"Names": ["A", "B C"]}, "Names[1] must consist of letters, digits, _ and -, got 'B C'"),
        ({"Names": [""]}, "Names[0] must not be empty"),
        ({"Names": ["A..B"]}, "Names[0] must have no empty level, got 'A..B'"),
        ({"Names": ["a.b.c.d.e.f.g.h.i.j"]}, "Names[0] must be at most 9 levels deep, got 10"),
        ({"Shared": "yes"}, "Shared must be true or false, got 'yes'"),
        ({"Shared": "True"}, "Shared must be true or false, got 'True'"),
        ({"Shared": {}}, "Shared must be true or false, got a map"),
        ({"Strength": "strongly"}, "Strength must be strong or weak, got 'strongly'"),
        ({"Strength": {}}, "Strength must be strong or weak, got a map"),
        ({"Consumer": "a b"}, f"{CONSUMER} 'a b'"),
        ({"Consumer": "web", "Shared": "true"}, "Consumer has no meaning with Shared: true; leave one of the two"),
        ({"Revision": 2}, "Revision must be a string, got 2"),
        ({"Values": {}}, "Values is unknown; must be one of From, Names, Shared, Strength, Consumer and Revision"),
    ],
)
def test_a_bad_property_of_an_import_is_named(properties: dict[str, object], error: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        imported({"From": FROM} | properties)
    assert error in str(refused.value)
    assert str(refused.value).startswith(tuple(properties))


def test_an_import_without_from_is_of_any_producer() -> None:
    assert imported({"Names": ["A"]}).producer is None
    assert imported({"Names": [], "Consumer": "fleet", "Strength": "weak"}).names == ()


@pytest.mark.parametrize(
    ("given", "why"),
    [({}, "Names is required without it"), ({"Shared": "true", "Names": ["A"]}, "Shared has no meaning without it")],
)
def test_an_import_without_from_names_what_it_imports_for_its_consumer(given: dict[str, object], why: str) -> None:
    with pytest.raises(BadRequestError, match=f"^From is missing; must be a map with Stack, .* {why}$"):
        imported(given)
