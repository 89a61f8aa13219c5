"""The templates in README, docs and examples: accepted, alike, and fit for each other.

A ```yaml block is a whole template, `# template: NAME`, which is the example of that name, or a few resources of one.
The end-to-end tests deploy the whole ones.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest

from strongref.aws.parameter_store import Stores
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.event import Event
from strongref.contract.hold_stacks import HOLD_STACK
from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.lookup.custom_resource import LookupRequest
from strongref.protocol.exports import Exporter
from strongref.protocol.imports import Importer
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.time import Patience
from tests.support.builders import ACCOUNT, NETWORK, WEB, stack_arn
from tests.support.documents import EXAMPLES, Block, Deployment, blocks, example, load, names_in, rows
from tests.support.fake_ssm import FakeClock, FakeSsm
from tests.support.read_only_stacks import ReadOnlyStacks
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from strongref.contract.response import Response
    from strongref.protocol.ports import NewStack
    from strongref.protocol.time import Clock


class Everything(frozenset[str]):
    """Every name."""

    def __contains__(self, _name: object) -> bool:
        return True


class AllStacks(ReadOnlyStacks):
    """`ports.Stacks` where every stack exists and is at rest, and exports every name; hold stacks have to be made."""

    def __init__(self) -> None:
        self._made: dict[str, NewStack] = {}

    def by_arn(self, arn: str) -> StackInfo | None:
        return StackInfo(arn, StackArn.parse(arn).name, "UPDATE_COMPLETE", arn, exports=Everything())

    def by_name(self, name: str, region: str) -> StackInfo | None:
        found = self.by_arn(stack_arn(name, region))
        if found is None or not name.startswith(HOLD_STACK):
            return found
        if name not in self._made:
            return None
        outputs = json.loads(self._made[name].template)["Outputs"]
        return replace(found, outputs={key: each["Value"] for key, each in outputs.items()}, tags=self._made[name].tags)

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        del export, region
        return frozenset(self._made)

    def create_stack(self, stack: NewStack) -> str:
        self._made[stack.name] = stack
        return stack_arn(stack.name, stack.region)

    def physical_ids(self, arn: str) -> frozenset[str]:
        del arn
        return frozenset()


class Cloud:
    """The real exporter and importer over a store in memory for each region."""

    def __init__(self) -> None:
        self.regions: dict[str, FakeSsm] = {}
        self._stores = Stores(
            lambda region: self.regions.setdefault(region, FakeSsm(region, ACCOUNT)).as_client(),
            RateLimiter(RateLimits(*[1_000.0] * len(fields(RateLimits)))),
        )

    def deploy(self, template: Mapping[str, object], stack: str) -> Deployment:
        """Create every export and import of a template."""
        deployment = Deployment(template, stack)
        for logical_id, kind, properties in deployment.custom_resources():
            event = Event.parse(
                {
                    "RequestType": "Create",
                    "StackId": stack,
                    "LogicalResourceId": logical_id,
                    "RequestId": "1",
                    "ResponseURL": "https://example.com",
                    "ResourceType": kind,
                    "ResourceProperties": properties,
                }
            )
            with waited_for():
                deployment.attributes[logical_id] = self._handler(kind)(event, FakeClock()).data
        return deployment

    def _handler(self, kind: str) -> Callable[[Event, Clock], Response]:
        use_case = Exporter if kind == "Custom::CrossRegionExport" else Importer
        return use_case(Ports(self._stores, AllStacks(), Patience(0, 0, lambda: 0), lambda: "token")).handle

    def names(self, region: str) -> set[str]:
        store = self.regions.get(region, FakeSsm())
        return set(store.parameters())


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_the_custom_resources_of_a_template_are_accepted(block: Block) -> None:
    deployment = Deployment(load(block.text), stack_arn("some", "eu-west-1"))
    parsers: dict[str, Callable[[Mapping[str, object], StackArn], object]] = {
        "Custom::CrossRegionExport": ExportRequest.parse,
        "Custom::CrossRegionImport": ImportRequest.parse,
        "Custom::ResourceLookup": LookupRequest.parse,
    }
    resources = list(deployment.custom_resources())
    assert resources
    for _, kind, properties in resources:
        assert properties.pop("ServiceToken").startswith("imported-strongref-")
        parsers[kind](properties, deployment.stack)


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if block.template], ids=str)
def test_a_whole_template_is_the_example_of_that_name(block: Block) -> None:
    assert block.text == f"# template: {block.template}\n{example(str(block.template))}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name + "-" + path.stem)
def test_an_example_begins_with_a_comment_and_describes_itself(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# ")
    assert load(text)["Description"]


@pytest.mark.parametrize(
    ("producer", "where", "consumer", "there"),
    [
        ("certificate/certificate", "us-east-1", "certificate/site", "eu-west-1"),
        ("network/network", "eu-west-1", "network/service", "us-east-1"),
        ("network/network", "eu-west-1", "network/service", "eu-west-1"),
        ("structured/producer", "eu-west-1", "structured/consumer", "us-east-1"),
    ],
)
def test_an_example_finds_what_the_other_exports(producer: str, where: str, consumer: str, there: str) -> None:
    """As their defaults have it: every attribute that is used exists, every dynamic reference names a parameter."""
    cloud = Cloud()
    stacks = [(producer, where), (consumer, there)]
    for name, region in stacks:
        deployment = cloud.deploy(load(example(name)), stack_arn(name.split("/")[1], region))
        used = repr(deployment.sent([deployment.template["Resources"], deployment.template.get("Outputs", {})]))
        assert set(re.findall(r"{{resolve:ssm:([^}]+)}}", used)) <= cloud.names(region)


def test_the_prefix_and_the_attributes_are_those_of_the_first_templates() -> None:
    """The pages' first snippets fit together: the import reads what the export publishes."""
    firsts = [next(block for block in blocks("yaml") if block.page.name == page) for page in ("export.md", "import.md")]
    cloud = Cloud()
    exports = cloud.deploy(load(firsts[0].text), NETWORK).attributes["Exports"]
    imports = cloud.deploy(load(firsts[1].text), WEB).attributes["Imports"]

    documented = rows("docs/export.md", "Return values")
    assert {name.strip("`") for name, _ in documented} == set(exports)
    assert f"`{exports['Prefix']}`" in documented[0][1]
    assert names_in(rows("docs/import.md", "Return values")) == set(imports)
