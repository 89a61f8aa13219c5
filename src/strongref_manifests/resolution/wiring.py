"""Wires the token sources, for the command and for cdk8s apps: AWS is called with the caller's own credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_manifests.sources.attributes import StackAttributes
from strongref_manifests.sources.on_demand import EnvironmentSource, ExportSource, ParameterSource, SecretSource
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.terraform.source import TerraformStates
from strongref_manifests.tokens import ENV, EXPORT, ON_DEMAND, SECRET, SSM, TokenSource
from strongref_toolkit.session import ToolSession, one_region

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence


def sources(  # noqa: PLR0913 (as the command's options)
    schemes: Collection[str],
    *,
    tf: Sequence[str],
    consumer: str,
    sensitive: bool,
    allow: Collection[str] = (),
    region: str | None,
    role: str | None,
    session: ToolSession | None = None,
) -> list[TokenSource]:
    """A source for each enabled scheme: those `BY_DEFAULT`, the given ones of `ON_DEMAND`, and `tf` if it has states.

    The arguments are as `TerraformStates`, `PublishedExports` and `ToolSession.aws` have them.

    Raises:
        UsageError: exports are asked for, and there is no region to read them in.
    """
    session = session or ToolSession.start()
    called = session.aws(region, role)
    outputs = StackOutputs(called)

    def exports() -> TokenSource:
        ports = session.ports()
        store = ports.stores(one_region(called.region), session.clock)
        return ExportSource(called, store, session.clock, ports.patience, consumer, sensitive=sensitive)

    on_demand: Mapping[str, Callable[[], TokenSource]] = {
        EXPORT: exports,
        SSM: lambda: ParameterSource(called, sensitive=sensitive),
        SECRET: lambda: SecretSource(called),
        ENV: EnvironmentSource,
    }
    made: list[TokenSource] = [outputs, StackAttributes(outputs)]
    made += [on_demand[scheme]() for scheme in ON_DEMAND if scheme in schemes]
    if tf:
        made.append(TerraformStates(tf, lambda: called, sensitive=sensitive, allow=allow))
    return made
