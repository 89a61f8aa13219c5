"""Properties, at random: no value is ever reported, texts stay short, and an import's identity is what it imports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given
from hypothesis import strategies as st

from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.errors import StrongRefError
from tests.support.builders import NETWORK, WEB, stack_arn
from tests.support.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable

EXPORTER = StackArn.parse(NETWORK)
IMPORTER = StackArn.parse(WEB)

MARK = "hidden"
"""Every value holds it, and nothing else does."""

LEVEL = st.sampled_from(["A", "B", "C-d", "a b", "", "x" * 1200]) | st.text("abc_/.é", max_size=3)
SCALAR = st.builds(
    "".join, st.tuples(st.text(max_size=5), st.just(MARK), st.sampled_from(["", ",", "{{", " ", "\ud800", "x" * 9000]))
)
TREE = st.recursive(
    SCALAR | st.none() | st.booleans() | st.lists(SCALAR | st.none() | st.just(""), max_size=3),
    lambda below: st.dictionaries(LEVEL, below, max_size=3) | st.lists(below, max_size=2),
    max_leaves=6,
)
SHORT = st.text(max_size=4) | st.just("x" * 3000)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | SHORT, lambda e: st.lists(e, max_size=3), max_leaves=3)
NAMES = st.lists(LEVEL, max_size=3)

EXPORT = st.fixed_dictionaries(
    {"Values": TREE | st.dictionaries(LEVEL, TREE, max_size=4)},
    optional={
        "Region": st.just("us-east-1") | JSON,
        "Account": st.just("111111111111") | JSON,
        "Consumer": st.just("web") | JSON,
        "OnChange": st.just("refuse") | JSON,
        "SecureKeys": NAMES | JSON,
        "Revision": st.just("1") | JSON,
        "Other": JSON,
    },
)


def outcome_of(parse: Callable[[dict[str, Any], StackArn], object], given: dict[str, Any], stack: StackArn) -> object:
    """The request, or the refusal."""
    try:
        return parse(given, stack)
    except StrongRefError as error:
        return error


@examples(300)
@given(EXPORT)
def test_no_error_tells_a_value_or_is_long(properties: dict[str, Any]) -> None:
    outcome = outcome_of(ExportRequest.parse, properties, EXPORTER)
    assert MARK not in f"{outcome!r}{outcome}"
    assert isinstance(outcome, ExportRequest) or len(str(outcome)) < 1000


IMPORT = st.fixed_dictionaries(
    {"From": st.just({"Stack": "network"}) | st.dictionaries(st.sampled_from(["Stack", "Region", "X"]), JSON) | JSON},
    optional={"Names": NAMES | JSON, "Shared": JSON, "Strength": JSON, "Consumer": JSON, "Revision": JSON}
    | {"X": JSON},
)


@given(IMPORT)
def test_no_error_of_an_import_is_long(properties: dict[str, Any]) -> None:
    outcome = outcome_of(ImportRequest.parse, properties, IMPORTER)
    assert isinstance(outcome, ImportRequest) or len(str(outcome)) < 1000


IMPORTED = st.fixed_dictionaries(
    {
        "From": st.fixed_dictionaries(
            {"Stack": st.sampled_from(["network", "db"])},
            optional={
                "Region": st.sampled_from(["us-east-1", "eu-west-1"]),
                "Account": st.sampled_from(["111111111111", "222222222222"]),
            },
        )
    },
    optional={
        "Names": st.lists(st.sampled_from(["A", "B", "C.D", "C/D"]), min_size=1, max_size=3),
        "Strength": st.sampled_from(["strong", "weak"]),
        "Revision": st.sampled_from(["1", "2"]),
        "ServiceToken": st.sampled_from(["arn:1", "arn:2"]),
    },
)
SCOPE = st.sampled_from([{}, {"Shared": "true"}, {"Shared": "false"}, {"Consumer": "web"}, {"Consumer": "shop"}])


def what_it_imports(given: dict[str, Any]) -> object:
    """Reported apart without the parser: defaults filled in, order and duplicates gone."""
    names = given.get("Names")
    return (
        {"Region": IMPORTER.region, "Account": IMPORTER.account} | given["From"],
        names and {name.replace(".", "/") for name in names},
        given.get("Shared", "false"),
        given.get("Strength", "strong"),
        given.get("Consumer"),
    )


@examples(200)
@given(IMPORTED, SCOPE, IMPORTED, SCOPE)
def test_an_imports_identity_changes_exactly_with_what_it_imports(
    one: dict[str, Any], one_scope: dict[str, str], other: dict[str, Any], other_scope: dict[str, str]
) -> None:
    given = [one | one_scope, other | other_scope, one | other_scope, one | one_scope | {"Revision": "9"}]
    identities = [ImportRequest.parse(each, IMPORTER).identity(IMPORTER, "Imports") for each in given]
    for each, identity in zip(given, identities, strict=True):
        same = what_it_imports(each) == what_it_imports(given[0])
        assert (identity == identities[0]) is same


@given(IMPORTED, st.randoms(use_true_random=False))
def test_the_order_of_names_and_properties_is_nothing(properties: dict[str, Any], random: Any) -> None:
    assume("Names" in properties)
    names = properties["Names"] * 2
    random.shuffle(names)
    shuffled = dict(reversed((properties | {"Names": names}).items()))
    one, other = (ImportRequest.parse(each, IMPORTER).identity(IMPORTER, "I") for each in (properties, shuffled))
    assert one == other


def test_every_stack_and_logical_id_has_an_identity_of_its_own() -> None:
    request = ImportRequest.parse({"From": {"Stack": "network"}}, IMPORTER)
    arns = [stack_arn("web"), stack_arn("web", unique="2"), stack_arn("web", "eu-west-1"), stack_arn("web-2")]
    identities = {request.identity(StackArn.parse(arn), name) for arn in arns for name in ("Imports", "Imports2")}
    assert len(identities) == 8


def test_names_cannot_be_made_to_look_like_something_else() -> None:
    one = ImportRequest.parse({"From": {"Stack": "a"}, "Names": ["A", "B"]}, IMPORTER).identity(IMPORTER, "I")
    other = ImportRequest.parse({"From": {"Stack": "a"}, "Names": ["A.B"]}, IMPORTER).identity(IMPORTER, "I")
    assert one != other
    assert json.loads(one)[5] == ["A", "B"]
