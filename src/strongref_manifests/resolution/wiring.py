"""Wires the token sources, for the command and for cdk8s apps: AWS is called with the caller's own credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_manifests.sources.attributes import StackAttributes
from strongref_manifests.sources.environment import EnvironmentSource
from strongref_manifests.sources.exports import ExportSource
from strongref_manifests.sources.nested import StackResources
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.sources.parameters import ParameterSource
from strongref_manifests.sources.secretsmanager import SecretSource
from strongref_manifests.terraform.source import StateReader, TerraformStates
from strongref_manifests.tokens import CFN, CFN_ATTR, ENV, EXPORT, SECRET, SSM
from strongref_toolkit.toolbox import Toolbox, aws, regions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from strongref_manifests.tokens import TokenSource

BY_DEFAULT = (CFN, CFN_ATTR)
ON_DEMAND = (EXPORT, SSM, SECRET, ENV)
"""Schemes that are resolved only if they are enabled."""


def sources(  # noqa: PLR0913 (as the command's options)
    schemes: Collection[str],
    *,
    tf: Sequence[str],
    consumer: str,
    sensitive: bool,
    region: str | None,
    role: str | None,
    toolbox: Toolbox | None = None,
) -> list[TokenSource]:
    """A source for each enabled scheme: those `BY_DEFAULT`, and the given ones.

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

    def exports() -> TokenSource:
        ports = toolbox.ports()
        store = ports.stores(regions([called.region] if called.region else None)[0], toolbox.clock)
        return ExportSource(called, store, toolbox.clock, ports.patience, consumer, sensitive=sensitive)

    on_demand: Mapping[str, Callable[[], TokenSource]] = {
        EXPORT: exports,
        SSM: lambda: ParameterSource(called, sensitive=sensitive),
        SECRET: lambda: SecretSource(called),
        ENV: EnvironmentSource,
    }
    made: list[TokenSource] = [outputs, StackAttributes(called, resources, outputs)]
    made += [on_demand[scheme]() for scheme in ON_DEMAND if scheme in schemes]
    if tf:
        made.append(TerraformStates(tf, StateReader(lambda: called), sensitive=sensitive))
    return made
