"""The ClusterRole that references need, as ACK's code generator writes it. Pure.

It allows `get` and `list` on the referenced resources of other services, and on their `/status`. A controller's own
role allows those of its own service already (code-generator, `templates/pkg/resource/references.go.tpl`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from strongref_manifests.refs.names import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_manifests.refs.base import Generator

_PLAIN = re.compile("(?!(?:y|n|yes|no|on|off|true|false|null)\\Z)[a-z][a-z0-9-]*", re.IGNORECASE)
"""A string that YAML 1.1 needs no quotes for: not a number, a date, a boolean or null."""

_RULE = """\
- apiGroups:
    - {group}
  resources:
    - {resource}
  verbs:
    - get
    - list
"""


def cluster_role(generators: Iterable[Generator], name: str, *, own: bool = False) -> str:
    """A ClusterRole in YAML; with `own` also for the referring service, for a caller without a controller's role."""
    wanted = {
        (reference.group, plural(reference.resource))
        for generator in generators
        for kind in generator.kinds
        for reference in (field.reference for field in kind.fields if field.can_refer)
        if own or reference.service != generator.service
    }
    rules = "".join(
        _RULE.format(group=group, resource=resource)
        for group, plural_name in sorted(wanted)
        for resource in (plural_name, f"{plural_name}/status")
    )
    quoted = name if _PLAIN.fullmatch(name) else json.dumps(name)
    head = f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {quoted}\n"
    return f"{head}rules:\n{rules}" if rules else f"{head}rules: []\n"
