"""Wires the token sources, for the command and for cdk8s apps: AWS is called with the caller's own credentials."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from strongref_manifests.sources.attributes import StackAttributes
from strongref_manifests.sources.on_demand import EnvironmentSource, ExportSource, ParameterSource, SecretSource
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.terraform.source import TerraformStates
from strongref_manifests.tokens import EXPORT, TokenSource
from strongref_toolkit.published_exports import PublishedExports
from strongref_toolkit.session import ToolSession, one_region


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
    made: list[TokenSource] = [outputs, StackAttributes(outputs)]
    if EXPORT in schemes:
        ports = session.ports()
        store = ports.stores(one_region(called.region), session.clock)
        exports = PublishedExports(store, session.clock, ports.patience, consumer, sensitive=sensitive)
        made.append(ExportSource(called, exports))
    others = (ParameterSource(called, sensitive=sensitive), SecretSource(called), EnvironmentSource())
    made += [each for each in others if each.scheme in schemes]
    if tf:
        made.append(TerraformStates(tf, lambda: called, sensitive=sensitive, allow=allow))
    return made
