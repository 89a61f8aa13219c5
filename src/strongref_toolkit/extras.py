"""Optional dependencies: what to install when one is missing."""

from __future__ import annotations

_EXTRAS = {"aws_cdk": "cdk", "kubernetes": "kubernetes", "pluralizer": "refs"} | dict.fromkeys(
    ("cfnlint", "samtranslator", "yaml"), "check"
)
"""Modules that one extra brings."""
_SHARED = ("cdk8s", "constructs", "jsii", "ruamel")
"""Modules that the extra of whatever imports them brings."""


def missing_dependency(user: str, error: ImportError, extra: str) -> str | None:
    """What to install for a command or a package, which has an extra of its own; None if no extra brings the module."""
    module = (error.name or "").partition(".")[0]
    if module == "cdktf":  # deprecated, and so no extra
        install = "run pip install cdktf"
    elif module in _EXTRAS or module in _SHARED:
        install = f"install strongref again, with its extra {_EXTRAS.get(module, extra)}"
    else:
        return None
    return f"{user} needs {module}, which is not installed: {install}"
