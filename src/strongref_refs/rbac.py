"""The rights that references need: a ClusterRole, as ACK's code generator has them written. Pure.

Its markers ask for `get` and `list` on a referenced resource and on its `/status`, where another service's controller
has it; what the controller's own service has, its role allows anyhow (code-generator,
`templates/pkg/resource/references.go.tpl`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from strongref_refs.config import Generator

NAME = "strongref-references"
"""Of the role, unless somebody says otherwise; not that of a controller's own role, which it would replace."""

_PLAIN = re.compile("(?!(?:y|n|yes|no|on|off|true|false|null)\\Z)[a-z][a-z0-9-]*", re.IGNORECASE)
"""What needs no quotes: no number or date, and none of the words that YAML 1.1 takes for a boolean or nothing."""

_RULE = """\
- apiGroups:
    - {group}
  resources:
    - {resource}
  verbs:
    - get
    - list
"""


def cluster_role(generators: Iterable[Generator], name: str, plural: Callable[[str], str], *, own: bool = False) -> str:
    """A ClusterRole in YAML.

    Args:
        generators: what refers.
        name: of the role.
        plural: a kind's resource in the API.
        own: whether also what belongs to the service that refers to it; for whoever has no controller's role.
    """
    wanted = {
        (reference.group, plural(reference.resource))
        for generator in generators
        for kind in generator.kinds
        for reference in (field.reference for field in kind.fields if not field.through_map)
        if own or reference.service != generator.service
    }
    rules = "".join(
        _RULE.format(group=group, resource=resource)
        for group, plural_name in sorted(wanted)
        for resource in (plural_name, f"{plural_name}/status")
    )
    called = name if _PLAIN.fullmatch(name) else json.dumps(name)
    head = f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {called}\n"
    return f"{head}rules:\n{rules}" if rules else f"{head}rules: []\n"
