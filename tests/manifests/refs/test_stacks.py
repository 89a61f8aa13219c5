"""References to stacks: which export or output they name, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref_manifests.errors import OutputNotFetchedError
from strongref_manifests.refs.errors import StackReferenceError
from strongref_manifests.refs.wiring import OF_EXPORT, StackValues, parse_stack_reference
from strongref_manifests.tokens import CFN, EXPORT, FORMS
from strongref_toolkit.errors import NoRegionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_manifests.tokens import Token
    from strongref_toolkit.json_values import Json


EU = "eu-west-1"


class Fixed:
    """A source of one value, or of one error."""

    def __init__(self, scheme: str, value: Json | Exception) -> None:
        self.scheme = scheme
        self.value = value
        self.asked: list[str] = []

    def prefetch(self, tokens: Iterable[Token]) -> None:
        raise AssertionError(tokens)

    def fetch(self, token: Token) -> Json:
        self.asked.append(str(token))
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.mark.parametrize(
    ("given", "token"),
    [
        ({"stack": "network", "name": "VpcId"}, "${export:network.VpcId}"),
        ({"stack": "network", "name": "Alb.SecurityGroup.Id"}, "${export:network.Alb.SecurityGroup.Id}"),
        ({"stack": "network", "name": "Alb/Arn", "region": "eu-west-1"}, "${export:network.Alb/Arn@eu-west-1}"),
        ({"stack": "network", "output": "VpcId"}, "${cfn:network.VpcId}"),
        ({"stack": "network.Inner", "output": "VpcId"}, "${cfn:network.Inner.VpcId}"),
        (
            {"stack": "network", "output": "VpcId", "region": "us-gov-west-1", "account": "222222222222"},
            "${cfn:network.VpcId@us-gov-west-1#222222222222}",
        ),
        ({"stack": "network", "output": "VpcId", "region": None, "account": None}, "${cfn:network.VpcId}"),
        ({"stack": "network", "output": "VpcId", "name": None}, "${cfn:network.VpcId}"),
        ({"stack": "network", "name": "VpcId", "output": None}, "${export:network.VpcId}"),
    ],
)
def test_a_reference_to_a_stack_is_an_export_or_an_output(given: dict[str, Any], token: str) -> None:
    assert str(parse_stack_reference(given)) == token


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"stack": "network"}, "from must have one of name and output."),
        ({"stack": "network", "name": None, "output": None}, "from must have one of name and output."),
        ({"stack": "network", "name": "a", "output": "b"}, "from must have one of name and output."),
        (
            {"stack": "network", "nmae": "a"},
            "from.nmae is unknown; must be one of stack, name, output, region and account (did you mean name?).",
        ),
        (
            {"stack": "network", "name": "a", "namespace": "b"},
            "from.namespace is unknown; must be one of stack, name, output, region and account (did you mean name?).",
        ),
        ({"stack": "", "name": "a"}, "from.stack must be the name of a stack, got ''."),
        ({"stack": "my_stack", "output": "a"}, "from.stack must be the name of a stack, got 'my_stack'."),
        ({"stack": "network.Inner", "name": "a"}, "from.stack must be the name of a stack, got 'network.Inner'."),
        ({"stack": "network", "name": ["a"]}, "from.name must be the name of an export, got a list."),
        ({"stack": "network", "name": "a b"}, "from.name must be the name of an export, got 'a b'."),
        ({"stack": "network", "name": "a@b"}, "from.name must be the name of an export, got 'a@b'."),
        ({"stack": "network", "output": "a.b"}, "from.output must be the logical ID of an output, got 'a.b'."),
        (
            {"stack": "network", "name": "a", "region": "Ireland"},
            "from.region must be a region code such as us-east-1, got 'Ireland'.",
        ),
        (
            {"stack": "network", "name": "a", "account": 222222222222},
            "from.account must be an account's twelve digits, in quotes, got 222222222222.",
        ),
    ],
)
def test_an_invalid_reference_to_a_stack_is_reported(given: dict[str, Any], text: str) -> None:
    with pytest.raises(StackReferenceError) as caught:
        parse_stack_reference(given)
    assert str(caught.value).startswith(text)
    assert caught.value.__context__ is None
    assert set(given) - {"nmae", "namespace"} <= set(OF_EXPORT)


def test_the_value_comes_from_the_source_of_such_tokens() -> None:
    sources = {CFN: Fixed(CFN, "vpc-1"), EXPORT: Fixed(EXPORT, ["subnet-1", "subnet-2"])}
    values = StackValues(sources.__getitem__)
    assert values.get({"stack": "network", "output": "VpcId"}) == "vpc-1"
    assert values.get({"stack": "network", "name": "SubnetIds"}) == ["subnet-1", "subnet-2"]
    assert values.get({"stack": "a.B", "output": "C", "region": EU, "account": "1" * 12}) == "vpc-1"
    assert values.get({"stack": "a", "name": "B.C"}) == ["subnet-1", "subnet-2"]
    assert [source.asked for source in sources.values()] == [
        [
            "from: {stack: network, output: VpcId}",
            f"from: {{stack: a.B, output: C, region: {EU}, account: '{'1' * 12}'}}",
        ],
        ["from: {stack: network, name: SubnetIds}", "from: {stack: a, name: B.C}"],
    ], "as somebody has written it, for errors"
    assert set(sources) <= set(FORMS)


def test_a_map_of_exports_is_refused() -> None:
    values = StackValues(lambda scheme: Fixed(scheme, {"Arn": "arn:aws:x", "Hidden": "a-value-not-to-be-shown"}))
    with pytest.raises(StackReferenceError, match=r"from\.name Alb is a map of exports\. Name one of them, with dots"):
        values.get({"stack": "network", "name": "Alb"})


def test_errors_of_sources_are_passed_on_except_for_a_missing_region() -> None:
    gone = OutputNotFetchedError("VpcId", "network")
    with pytest.raises(OutputNotFetchedError):
        StackValues(lambda scheme: Fixed(scheme, gone)).get({"stack": "network", "output": "VpcId"})
    with pytest.raises(
        StackReferenceError, match=r"from has no region\. Set --region or AWS_REGION, or add region to it\."
    ):
        StackValues(lambda scheme: Fixed(scheme, NoRegionError())).get({"stack": "network", "output": "VpcId"})
