"""Two programs: an app that exports one of every ready type that the emulator has, and an app that imports them all.

python -m tests.support.cdk_all_types exporting PREFIX
python -m tests.support.cdk_all_types importing PREFIX
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import aws_cdk as cdk
from constructs import Construct

from strongref_cdk.construct_kinds import kind_of
from strongref_objects import types
from strongref_objects.types.members import members
from tests.support import cdk_kinds

if TYPE_CHECKING:
    from strongref_objects.types import Declared


CASES = [case for case in cdk_kinds.CASES if case.name not in ("eks_cluster", "secret")]


def exporting(prefix: str, env: cdk.Environment) -> None:
    short = cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False)  # A template has 51,200 bytes.
    stack = cdk.Stack(cdk.App(), f"{prefix}-exporting", env=env, synthesizer=short)
    for case in CASES:
        case.export(case.make(Construct(stack, case.name)), _name(prefix, case.name))
    cdk.App.of(stack).synth()


def importing(prefix: str, env: cdk.Environment) -> None:
    """Each text that an imported construct tells is an output, called by its type and its name there."""
    stack = cdk.Stack(cdk.App(), f"{prefix}-importing", env=env)
    for case in CASES:
        of = types.READY[case.name.title().replace("_", "")]
        construct = case.import_(Construct(stack, case.name), _name(prefix, case.name))
        for name, value in _texts(of, construct).items():
            cdk.CfnOutput(stack, f"{case.name}.{name}", value=value).override_logical_id(
                f"{of.__name__}{name.title().replace('_', '')}"
            )
    cdk.App.of(stack).synth()


def _name(prefix: str, case: str) -> str:
    return f"{prefix}:{case.replace('_', '')}"


def _texts(of: type[Declared], construct: object) -> dict[str, str]:
    reported = kind_of(of).get
    return {
        name: getattr(construct, name)
        for name, member in members(of).items()
        if not member.of and not member.is_list and name not in reported
    }


if __name__ == "__main__":
    here = cdk.Environment(account=os.environ["CDK_DEFAULT_ACCOUNT"], region="eu-west-1")
    {"exporting": exporting, "importing": importing}[sys.argv[1]](sys.argv[2], here)
