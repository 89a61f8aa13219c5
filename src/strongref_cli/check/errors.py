"""Errors of `strongref check`: what keeps it from an answer. Texts name stacks and templates, never values."""

from __future__ import annotations

from strongref.errors import StrongRefError


class UnexpandableLoopError(StrongRefError):
    """CloudFormation's transform would refuse the loop."""

    loop: str  # the loop's key, as in `Fn::ForEach::Buckets`
    problem: str
    sentence = "{loop:120} cannot be expanded: {problem}."
