"""What resolvers are wired to, in the command and in cdk8s apps: AWS with the caller's own credentials, and sources."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from boto3.session import Session

from strongref.resolvers.attributes import StackAttributes
from strongref.resolvers.environment import Environment
from strongref.resolvers.exports import Exports
from strongref.resolvers.nested import StackResources
from strongref.resolvers.outputs import StackOutputs
from strongref.resolvers.parameters import Parameters
from strongref.resolvers.secretsmanager import Secrets
from strongref.resolvers.sources import Aws
from strongref.resolvers.terraform import StateReader, TerraformStates
from strongref.resolvers.tokens import CFN, CFN_ATTR, ENV, EXPORT, SECRET, SSM
from strongref.toolbox import Toolbox, regions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from strongref.resolvers.sources import Source

BY_DEFAULT = (CFN, CFN_ATTR)
ON_DEMAND = (EXPORT, SSM, SECRET, ENV)
"""Schemes that nothing of is resolved unless whoever runs it says so."""

_STS_REGION = "us-east-1"
"""Whose STS is asked where the run has no region of its own."""


def aws(region: str | None, role: str | None, toolbox: Toolbox | None = None) -> Aws:
    """AWS for one run.

    Args:
        region: of what is in no region of its own; by default that of the environment or of its AWS profile.
        role: the ARN of the role to assume in another account, with `ACCOUNT` in the place of its number.
        toolbox: that of this process by default.
    """
    here = region or os.environ.get("AWS_REGION") or Session().region_name
    tools = toolbox or Toolbox.of_this_process()
    return Aws(tools.accounts(here or _STS_REGION, role), tools.limiter, tools.clock, here)


def sources(  # noqa: PLR0913 (as the command's options)
    schemes: Collection[str],
    *,
    tf: Sequence[str],
    consumer: str,
    sensitive: bool,
    region: str | None,
    role: str | None,
    toolbox: Toolbox | None = None,
) -> list[Source]:
    """A source for each scheme that is to be resolved: `BY_DEFAULT`, and what is asked for.

    Args:
        schemes: of `ON_DEMAND`.
        tf: states of Terraform's, as `TerraformStates` has them.
        consumer: for whom the exports are.
        sensitive: whether secrets are given.
        region: as `aws`.
        role: as `aws`.
        toolbox: as `aws`.

    Raises:
        UsageError: exports are asked for, and there is no region to read them in.
    """
    toolbox = toolbox or Toolbox.of_this_process()
    called = aws(region, role, toolbox)
    resources = StackResources(called)
    outputs = StackOutputs(called, resources)

    def exports() -> Source:
        ports = toolbox.ports()
        store = ports.stores(regions([called.region] if called.region else None)[0], toolbox.clock)
        return Exports(called, store, toolbox.clock, ports.patience, consumer, sensitive=sensitive)

    on_demand: Mapping[str, Callable[[], Source]] = {
        EXPORT: exports,
        SSM: lambda: Parameters(called, sensitive=sensitive),
        SECRET: lambda: Secrets(called),
        ENV: Environment,
    }
    made: list[Source] = [outputs, StackAttributes(called, resources, outputs)]
    made += [on_demand[scheme]() for scheme in ON_DEMAND if scheme in schemes]
    if tf:
        made.append(TerraformStates(tf, StateReader(lambda: called), sensitive=sensitive))
    return made
