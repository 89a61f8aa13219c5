"""What can go wrong while a cdk8s app is written. Texts name constructs, keys and tokens; values are never in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import cut, some
from strongref.resolvers.errors import ResolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 300
"""Characters of a token in a text."""


class UnresolvedError(ResolveError):
    """Values of an app cannot be resolved. One line for each of them: it is as long as it has to be.

    Attributes:
        problems: where, and why.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        count = f"{len(self.problems)} value{'' if len(self.problems) == 1 else 's'}"
        return "\n".join([f"{count} could not be resolved:", *(f"  {problem}" for problem in self.problems)])


class OutputNotDefinedError(ResolveError):
    """No output of the app has the value that a token of the AWS CDK stands for.

    Attributes:
        token: what CloudFormation would be given in its place, as JSON.
    """

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token

    def __str__(self) -> str:
        return (
            f"Unable to find output defined for token: {cut(self.token, _SHOWN)}. Make sure you defined a CfnOutput "
            "for this value."
        )


class UnreadableTokenError(ResolveError):
    """The CDK itself cannot tell what a token stands for.

    Attributes:
        token: as it came.
        problem: what it says.
    """

    def __init__(self, token: str, problem: str) -> None:
        super().__init__(token, problem)
        self.token = token
        self.problem = problem

    def __str__(self) -> str:
        first = (self.problem.splitlines() or [""])[0].strip(" .:")
        return f"{cut(self.token, _SHOWN)} cannot be read: {cut(first, _SHOWN)}. Check how that token was made."


class NotANumberError(ResolveError):
    """A token for a number is given a text that is none."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} should be a number, and its output's value is none. Correct that output."


class SeveralStacksError(ResolveError):
    """Which stack a token belongs to cannot be told.

    Attributes:
        token: as JSON, or as it came.
        stacks: that it may belong to.
    """

    def __init__(self, token: str, stacks: Sequence[str]) -> None:
        super().__init__(token, stacks)
        self.token = token
        self.stacks = stacks

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} may belong to {cut(some(self.stacks, 5), _SHOWN)}, and it is another value in "
            "each. Let it refer to something of one of these stacks."
        )


class UnknownSchemeError(ResolveError):
    """A scheme of tokens is asked for that there is not.

    Attributes:
        scheme: it.
        allowed: those that there are.
    """

    def __init__(self, scheme: str, allowed: Sequence[str]) -> None:
        super().__init__(scheme, allowed)
        self.scheme = scheme
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{cut(self.scheme, _SHOWN)} is no scheme: allowed are {some(self.allowed)}; for tf give tf=['STATE']."


class NotAReferenceError(ResolveError):
    """A token of the CDK for Terraform is no reference to an attribute, and no output has its value.

    Attributes:
        expression: what Terraform would be given.
    """

    def __init__(self, expression: str) -> None:
        super().__init__(expression)
        self.expression = expression

    def __str__(self) -> str:
        return (
            f"{cut(self.expression, _SHOWN)} is no reference to an attribute of a given stack, and only Terraform can "
            "evaluate it. Make it the value of a TerraformOutput of that stack, and give the stack to CdkTfResolver."
        )


class NoStateGivenError(ResolveError):
    """A resolver is made without anything to find a state by."""

    def __str__(self) -> str:
        return "CdkTfResolver needs the stacks whose tokens there are, or state='FILE': give one of them."


class UnknownBackendError(ResolveError):
    """A stack of the CDK for Terraform keeps its state where it cannot be read from here.

    Attributes:
        stack: its name.
        backend: its kind, as in `remote`.
    """

    def __init__(self, stack: str, backend: str) -> None:
        super().__init__(stack, backend)
        self.stack = stack
        self.backend = backend

    def __str__(self) -> str:
        return (
            f"The state of stack {cut(self.stack, _SHOWN)} is in a backend of kind {self.backend}, which cannot be "
            "read. Give what terraform show -json prints: state='FILE'."
        )


class NothingResolvedError(ResolveError):
    """A token stands where cdk8s asks no resolver, and would be written as it is."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} stands where cdk8s resolves nothing, as in a JSON patch. Give that value to "
            "the object itself."
        )
