"""Properties: what is taken, what is refused and how, and that no value of `Values` is ever told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.contract.names import MAX_NAME, SHARED, ExportScope, Producer, StackArn
from strongref.contract.requests import ExportRequest, ImportRequest, OnChange, Strength
from strongref.errors import BadRequestError
from tests.support.builders import ACCOUNT, NETWORK, WEB, items, secure, values

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPORTER = StackArn.parse(NETWORK)
IMPORTER = StackArn.parse(WEB)
FROM = {"Stack": "network", "Region": "eu-west-1"}
CONSUMER = (
    "came; a stack's name or a label of letters, digits, _ and - is needed, not starting with _, of at most 128 "
    "characters"
)
NO_REGION = "came; a region's code is needed, as in us-east-1"


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
            "Values": {"A": "x", "B": ["y", "z"], "Db": {"Password": "p", "User": "u"}},
            "SecureKeys": ["Db.Password"],
            "Revision": "3",
        }
    )
    assert request == ExportRequest(
        regions=("us-east-1", "ap-southeast-2"),
        scope=ExportScope("web", Producer(ACCOUNT, "eu-west-1", "network")),
        values=values(A="x", B=items("y", "z"), Db__Password=secure("p"), Db__User="u"),
        on_change=OnChange.PROPAGATE,
        revision="3",
    )


def test_an_export_of_values_alone_is_shared_and_stays_in_its_region() -> None:
    assert export({"Values": {}}) == ExportRequest(
        regions=("eu-west-1",),
        scope=ExportScope(SHARED, Producer(ACCOUNT, "eu-west-1", "network")),
        values={},
        on_change=OnChange.REFUSE,
        revision="",
    )


@pytest.mark.parametrize(
    "region",
    ["us-gov-west-1", "cn-northwest-1", "us-isob-east-1", "eusc-de-east-1", "ap-southeast-7", "mx-central-1"],
)
def test_regions_of_every_partition_are_known(region: str) -> None:
    assert export({"Values": {}, "Region": region}).regions == (region,)


@pytest.mark.parametrize("name", ["Db", "Db.Password", "Db/Password"])
def test_secure_keys_may_be_written_with_dots_or_slashes(name: str) -> None:
    request = export({"Values": {"Db": {"Password": "p"}}, "SecureKeys": [name]})
    assert request.values == {"Db/Password": secure("p")}


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"Values": None}, "Values: a map of names to values is needed, nothing came"),
        ({"Region": "Frankfurt"}, f"Region: 'Frankfurt' {NO_REGION}"),
        ({"Region": ""}, f"Region: '' {NO_REGION}"),
        ({"Region": None}, f"Region: nothing {NO_REGION}"),
        ({"Region": {"a": "b"}}, f"Region: a map {NO_REGION}"),
        ({"Region": "us-east-\u0661"}, NO_REGION),
        ({"Region": "us-east-1\n"}, NO_REGION),
        ({"Region": []}, "Region: an empty list came; name a region, or leave it out for the stack's own"),
        ({"Region": ["us-east-1", "x"]}, f"Region[1]: 'x' {NO_REGION}"),
        ({"Region": ["us-east-1", ["us-east-1"]]}, f"Region[1]: a list {NO_REGION}"),
        ({"Region": [1]}, f"Region[0]: 1 {NO_REGION}"),
        ({"Account": "12"}, "Account: '12' came; an account is twelve digits, in quotes"),
        ({"Account": 111111111111}, "Account: 111111111111 came; an account is twelve digits, in quotes"),
        ({"Account": "\u0661" * 12}, "came; an account is twelve digits, in quotes"),
        ({"Account": ["111111111111"]}, "Account: a list came; an account is twelve digits, in quotes"),
        (
            {"Account": "222222222222"},
            "Account: 222222222222 is not the stack's own account (111111111111); exports to other accounts are not",
        ),
        ({"Consumer": ""}, f"Consumer: '' {CONSUMER}"),
        ({"Consumer": "_shared"}, f"Consumer: '_shared' {CONSUMER}"),
        ({"Consumer": "a/b"}, f"Consumer: 'a/b' {CONSUMER}"),
        ({"Consumer": "web.2"}, f"Consumer: 'web.2' {CONSUMER}"),
        ({"Consumer": ["web"]}, f"Consumer: a list {CONSUMER}"),
        ({"Consumer": None}, f"Consumer: nothing {CONSUMER}"),
        ({"Consumer": "x" * 129}, f"Consumer: '{'x' * 60}' {CONSUMER}"),
        ({"OnChange": "Refuse"}, "OnChange: 'Refuse' came; allowed are refuse and propagate"),
        ({"OnChange": "keep"}, "OnChange: 'keep' came; allowed are refuse and propagate"),
        ({"OnChange": ["refuse"]}, "OnChange: a list came; allowed are refuse and propagate"),
        ({"OnChange": None}, "OnChange: nothing came; allowed are refuse and propagate"),
        ({"Revision": 3}, "Revision: a string is needed, 3 came"),
        ({"Revision": ["3"]}, "Revision: a string is needed, a list came"),
        ({"Revision": {}}, "Revision: a string is needed, a map came"),
        ({"SecureKeys": "A"}, "SecureKeys: a list of strings is needed, 'A' came"),
        ({"SecureKeys": {"A": "true"}}, "SecureKeys: a list of strings is needed, a map came"),
        ({"SecureKeys": ["A", 1]}, "SecureKeys[1]: a string is needed, 1 came"),
        ({"SecureKeys": ["A", "B", "C.D"]}, "SecureKeys: B and C/D is not in Values; name keys of it, with /"),
        ({"SecureKeys": ["List"]}, "Values.List: a list cannot be secure; join it into one string"),
        (
            {"Value": {}, "region": "x"},
            "Value and region: no such property; allowed are Region, Account, Consumer, OnChange, Values, SecureKeys",
        ),
    ],
)
def test_a_bad_property_of_an_export_is_named(properties: dict[str, object], error: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        export({"ServiceToken": "t", "Values": {"A": "x", "List": ["y"]}} | properties)
    assert error in str(refused.value)
    assert str(refused.value).startswith(tuple(properties)) or "Values" in error


def test_an_export_without_values_is_refused() -> None:
    error = r"^Values: it is missing; give a map of names to values \({} publishes nothing\)$"
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
    assert str(refused.value).endswith(
        f"its parameter's name would have {most + 1} characters; at most {most} fit in {region}. Shorten its names"
    )


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


NEEDED = "From: a map with Stack, and where they differ Region and Account, is needed;"


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"From": None}, f"{NEEDED} nothing came"),
        ({"From": "network"}, f"{NEEDED} 'network' came"),
        ({"From": ["network"]}, f"{NEEDED} a list came"),
        ({"From": {}}, "From.Stack: nothing came; the producing stack's name is needed"),
        ({"From": {"Stack": ""}}, "From.Stack: '' came; the producing stack's name is needed"),
        ({"From": {"Stack": "1a"}}, "From.Stack: '1a' came; the producing stack's name is needed"),
        ({"From": {"Stack": "a_b"}}, "From.Stack: 'a_b' came; the producing stack's name is needed"),
        ({"From": {"Stack": ["a"]}}, "From.Stack: a list came; the producing stack's name is needed"),
        ({"From": {"Stack": "a" * 129}}, f"From.Stack: '{'a' * 60}' came; the producing stack's name is needed"),
        ({"From": {"Stack": NETWORK}}, "came; the producing stack's name is needed"),
        ({"From": FROM | {"Region": "x"}}, f"From.Region: 'x' {NO_REGION}"),
        ({"From": FROM | {"Region": ["us-east-1"]}}, f"From.Region: a list {NO_REGION}"),
        ({"From": FROM | {"Account": "1"}}, "From.Account: '1' came; an account is twelve digits, in quotes"),
        ({"From": FROM | {"Name": "x"}}, "From.Name: no such property; allowed are Stack, Region and Account"),
        ({"Names": "CertArn"}, "Names: a list of strings is needed, 'CertArn' came"),
        ({"Names": {"A": "B"}}, "Names: a list of strings is needed, a map came"),
        ({"Names": None}, "Names: a list of strings is needed, nothing came"),
        ({"Names": []}, "Names: an empty list came; name an export, or leave it out to import everything"),
        ({"Names": ["A", 2]}, "Names[1]: a string is needed, 2 came"),
        ({"Names": ["A", "B C"]}, "Names[1]: 'B C' has characters other than letters, digits, _ and -"),
        ({"Names": [""]}, "Names[0]: '' has characters other than letters, digits, _ and -"),
        ({"Names": ["A..B"]}, "Names[0]: '' has characters other than letters, digits, _ and -"),
        ({"Names": ["a.b.c.d.e.f.g.h.i.j"]}, "Names[0]: it is 10 levels deep; at most 9 are allowed"),
        ({"Shared": "yes"}, "Shared: 'yes' came; allowed are true and false"),
        ({"Shared": "True"}, "Shared: 'True' came; allowed are true and false"),
        ({"Shared": {}}, "Shared: a map came; allowed are true and false"),
        ({"Strength": "strongly"}, "Strength: 'strongly' came; allowed are strong and weak"),
        ({"Strength": {}}, "Strength: a map came; allowed are strong and weak"),
        ({"Consumer": "a b"}, f"Consumer: 'a b' {CONSUMER}"),
        ({"Consumer": "web", "Shared": "true"}, "Consumer: it has no meaning with Shared: true; leave one of the two"),
        ({"Revision": 2}, "Revision: a string is needed, 2 came"),
        (
            {"Values": {}},
            "Values: no such property; allowed are From, Names, Shared, Strength, Consumer and Revision",
        ),
    ],
)
def test_a_bad_property_of_an_import_is_named(properties: dict[str, object], error: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        imported({"From": FROM} | properties)
    assert error in str(refused.value)
    assert str(refused.value).startswith(tuple(properties))


def test_an_import_without_a_producer_is_refused() -> None:
    with pytest.raises(BadRequestError, match=r"^From: a map with Stack, .* nothing came$"):
        imported({"Names": ["A"]})
