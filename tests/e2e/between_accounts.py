"""What the scenarios between accounts are about: A exports to B, which trusts it, and to C, which does not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any

from strongref.contract.names import CLAIM_TAG, StackArn
from strongref_cli.install.trust import TEMPLATE
from tests.e2e.harness import Aws, waiting_resource
from tests.e2e.templates import EU, US, Template, export, importing, stack
from tests.e2e.test_command_line import Shell
from tests.support.emulator.sam import APPLICATION
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Deployed
    from tests.e2e.test_command_line import Done

A, B, C = "414141414141", "424242424242", "434343434343"
HELD = "474747474747"
"""Another one like A, for tests that have its janitor run: the more there is, the longer that takes."""

LATE = "464646464646"
"""An account that A lists, and that installs the application later than A."""

PARTNERS = [f"45{number:010}" for number in range(16)]
"""Accounts whose trust comes and goes: one for each worker, so that no other test is in the way."""

BUS = "strongref"

CREATED, UPDATED = "CREATE_COMPLETE", "UPDATE_COMPLETE"
NOT_CREATED, ROLLED_BACK, STUCK = "ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED"


def trust(aws: Aws, producer: str = A) -> None:
    """Let another account write to this one, unless it may already."""
    if not aws.status(f"strongref-trust-{producer}", EU):
        parameters = [{"ParameterKey": "Producer", "ParameterValue": producer}]
        aws.deploy(f"strongref-trust-{producer}", TEMPLATE.read_text("utf-8"), EU, CREATED, Parameters=parameters)


def revoke(aws: Aws, producer: str = A) -> None:
    """Take it back, and have no event of a later time that is the same in whole seconds."""
    sleep(1)
    aws.delete(f"strongref-trust-{producer}", EU)


def configure(aws: Aws, region: str, **parameters: str) -> None:
    """Update an installation's parameters, and have no event of a later time that is the same in whole seconds."""
    sleep(1)
    client = aws.client("cloudformation", region)
    found = client.describe_stacks(StackName=APPLICATION)["Stacks"][0]["Parameters"]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in found} | parameters
    client.update_stack(
        StackName=APPLICATION,
        UsePreviousTemplate=True,
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()],
    )
    aws.wait(APPLICATION, region, UPDATED)


def unpaced(aws: Aws, function: str, region: str) -> None:
    """Have a function of the application make as many calls to CloudFormation as it can: the emulator has no quota."""
    client, name = aws.client("lambda", region), aws.physical_ids(APPLICATION, region)[function]
    variables = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    more = {"STRONGREF_STACKS_PER_SECOND": "200"}
    client.update_function_configuration(FunctionName=name, Environment={"Variables": variables | more})


@dataclass(frozen=True)
class Between:
    """One test's producer in A and eu-west-1, and its consumer in B and us-east-1.

    Attributes:
        a: or another account that exports likewise.
        partner: an account that trusts A, and that no other test uses at the same time. Nothing is installed there.
    """

    a: Aws
    b: Aws
    partner: Aws
    producer: str
    consumer: str

    @classmethod
    def of(cls, a: Aws, names: Callable[[str], str]) -> Between:
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        partner = Aws(a.emulator, PARTNERS[worker])
        trust(partner, a.account)
        return cls(a, Aws(a.emulator, B), partner, names("network"), names("web"))

    def exports(self, values: dict[str, Any], *accounts: str, **more: Any) -> Template:
        """An Export to accounts, B if none are given, for the consumer unless something else is given."""
        account = list(accounts) if len(accounts) > 1 else next(iter(accounts), B)
        return export(values, Account=account, **{"consumer": self.consumer, **more})

    def publish(self, values: dict[str, Any], *accounts: str, expect: str, **more: Any) -> Deployed:
        """Deploy the producer with one Export."""
        return self.a.deploy(self.producer, stack({"Exports": self.exports(values, *accounts, **more)}), EU, expect)

    def taking(self, *names: str, producer: str | None = None, **more: Any) -> Template:
        """A template with an Import from a stack of A."""
        origin = {"Stack": producer or self.producer, "Region": EU, "Account": self.a.account}
        return importing("", *names, From=origin, **more)

    def consume(self, *names: str, expect: str, region: str = US, **more: Any) -> Deployed:
        """Deploy the consumer with one Import."""
        return self.b.deploy(self.consumer, self.taking(*names, **more), region, expect)

    def stored(self, aws: Aws, region: str = US, consumer: str | None = None) -> dict[str, str]:
        """What the producer has published in an account, by key."""
        path = f"/strongref/exports/{consumer or self.consumer}/{self.a.account}/{EU}/{self.producer}/"
        return {name.removeprefix(path): value for name, value in aws.values(region, path).items()}

    def claims(self, key: str, region: str = US, consumer: str | None = None) -> list[str]:
        """The names of the stacks that claim a value in B."""
        name = f"/strongref/exports/{consumer or self.consumer}/{self.a.account}/{EU}/{self.producer}/{key}"
        tags = self.b.tags(region, name)
        return sorted(StackArn.parse(each).name for tag, each in tags.items() if tag.startswith(CLAIM_TAG))

    def left(self, *accounts: Aws) -> list[str]:
        """The names of all that is stored about the producer in A and other accounts."""
        found = [name for aws in (self.a, *accounts) for at in (EU, US) for name in aws.parameters(at, "/strongref")]
        return [name for name in found if f"/{self.producer}/" in name]

    def why(self, stack: str | None = None) -> str:
        """The reasons that a producer's events give for its last operation."""
        return "\n".join(self.a.reasons(stack or self.producer, EU))

    def why_not(self, region: str = US) -> str:
        """Likewise of the consumer."""
        return "\n".join(self.b.reasons(self.consumer, region))

    def begin_an_update(self, values: dict[str, Any], *accounts: str) -> None:
        """Bring the producer into an update that has changed its Export, and that goes on until it is failed."""
        exports = {"Exports": self.exports(values, *accounts), "Later": waiting_resource("Exports")}
        self.a.begin(self.producer, stack(exports), EU)
        wait_until(lambda: self.a.statuses(self.producer, "Later", EU), "the resource that waits")

    def roll_back(self, expect: str) -> None:
        """Fail that update."""
        self.a.fail(self.producer, "Later", EU)
        self.a.wait(self.producer, EU, expect)

    def command(self, aws: Aws, *arguments: str, region: str = EU) -> Done:
        return Shell(aws.emulator.env(aws.account, region)).run(*arguments)
