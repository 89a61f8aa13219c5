"""What stacks are deployed with: few names and texts, so that they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.support.abroad import OTHER
from tests.support.builders import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

PRODUCERS = (("network", "eu-west-1"), ("base", "eu-west-1"))
CONSUMERS = (("web", "us-east-1"), ("shop", "us-east-1"), ("mall", "us-east-1"))
ACCOUNTS = {"mall": OTHER}
"""The stacks of another account."""

BOTH = [ACCOUNT, OTHER]

_TEXTS = st.sampled_from(["one", "two"])
_MAPS = st.fixed_dictionaries({"x": _TEXTS}, optional={"y": _TEXTS})
VALUES = st.one_of(
    st.fixed_dictionaries({"A": _TEXTS}, optional={"B": _TEXTS, "S": _TEXTS, "M": _MAPS}),
    st.fixed_dictionaries({"A": _TEXTS}, optional={"B": _TEXTS}),
    st.fixed_dictionaries({"A": _TEXTS}),
    st.fixed_dictionaries({}, optional={"B": _TEXTS, "S": _TEXTS, "M": _MAPS}),
)
NAMES = st.sampled_from([["A"]] * 4 + [["A", "B"], ["B"], ["S"], ["M"], ["A", "M.x"]])


def _rarely(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 9)) == 0


@st.composite
def _export(draw: st.DrawFn) -> dict[str, Any]:
    values = draw(VALUES)
    where = draw(st.sampled_from(["us-east-1"] * 14 + [["us-east-1", "eu-west-1"], "eu-west-1"]))
    accounts = draw(st.sampled_from([None] * 5 + [OTHER, BOTH, BOTH]))
    properties: dict[str, Any] = {"Region": where, "Values": values}
    if accounts:
        properties |= {"Account": accounts, "Values": plain(values)}
    consumer = draw(st.sampled_from(["web"] * 8 + ["shop", None]))
    if consumer:
        properties["Consumer"] = consumer
    if "S" in properties["Values"]:
        properties["SecureKeys"] = ["S"]
    if _rarely(draw):
        properties["OnChange"] = "propagate"
    if _rarely(draw):
        properties["Revision"] = draw(_TEXTS)
    return properties


@st.composite
def _import(draw: st.DrawFn, own: str) -> dict[str, Any]:
    name, region = draw(st.sampled_from(PRODUCERS[:1] * 5 + PRODUCERS[1:]))
    properties: dict[str, Any] = {"From": source(own, name, region)}
    names = draw(NAMES)
    if not _rarely(draw):
        properties["Names"] = names
    whose = draw(st.sampled_from(["web"] * 6 + ["own", "shared"]))
    if whose == "shared":
        properties["Shared"] = "true"
    elif whose not in ("own", own):
        properties["Consumer"] = whose
    if _rarely(draw):
        properties["Strength"] = "weak"
    if _rarely(draw):
        properties["Revision"] = draw(_TEXTS)
    return properties


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """These values without secure ones, which other accounts do not get."""
    return {key: value for key, value in values.items() if key != "S"}


def source(own: str, name: str, region: str) -> dict[str, str]:
    """Where a stack imports from."""
    return {"Stack": name, "Region": region} | ({"Account": ACCOUNT} if own in ACCOUNTS else {})


def with_holds(stack: str, resources: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """A producing stack's resources, each of which names a CloudFormation export of the stack."""
    return {logical_id: {**each, "Hold": f"{stack}-{logical_id}"} for logical_id, each in resources.items()}


def exports() -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    """A producing stack's resources."""
    return st.one_of(
        st.fixed_dictionaries({"X": _export()}),
        st.fixed_dictionaries({"X": _export()}),
        st.fixed_dictionaries({"X": _export(), "Y": _export()}),
        st.fixed_dictionaries({"X": _export()}),
        st.fixed_dictionaries({"Y": _export()}),
    )


def imports(own: str) -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    """A consuming stack's resources."""
    return st.one_of(
        st.fixed_dictionaries({"P": _import(own)}),
        st.fixed_dictionaries({"P": _import(own)}),
        st.fixed_dictionaries({"P": _import(own), "Q": _import(own)}),
        st.fixed_dictionaries({"P": _import(own)}),
        st.just({}),
    )
