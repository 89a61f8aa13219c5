"""What can go wrong while a cdk8s app is written. Texts name constructs, keys and tokens; values are never in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.text import cut, some
from strongref_toolkit.errors import ResolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.errors import StrongRefError

_SHOWN = 300
"""Characters of a token in a text."""

_AS_OPTIONS = (
    (
        "give --region, set AWS_REGION, or write @REGION at the end of the token",
        "give the resolver region=…, set AWS_REGION, or give the stack or the token a region of its own",
    ),
    ("--region", "region=…"),
    ("--role ", "role="),
    ("Give --sensitive (or sensitive=True)", "Give the resolver sensitive=True"),
    ("--sensitive", "sensitive=True"),
    ("--tf ", "tf="),
)
"""What the command's options are called in programs."""


def told(error: StrongRefError) -> str:
    """An error's text, for whoever writes a program."""
    text = str(error)
    for option, argument in _AS_OPTIONS:
        text = text.replace(option, argument)
    return text


@dataclass(eq=False)
class UnresolvedError(ResolveError):
    """Values of an app cannot be resolved. One line for each of them: it is as long as it has to be.

    Attributes:
        problems: where, and why.
    """

    problems: Sequence[str]

    def __str__(self) -> str:
        count = f"{len(self.problems)} value{'' if len(self.problems) == 1 else 's'}"
        return "\n".join([f"{count} could not be resolved:", *(f"  {problem}" for problem in self.problems)])


@dataclass(eq=False)
class OutputNotDefinedError(ResolveError):
    """No output of the app has the value that a token of the AWS CDK stands for.

    Attributes:
        token: what CloudFormation would be given in its place, as JSON.
        app_is_needed: some of it refers to nothing of an app's, and none was given to look for its output in.
    """

    token: str
    app_is_needed: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        hint = " It refers to no resource of an app: give AwsCdkResolver(app=…), too." if self.app_is_needed else ""
        return (
            f"Unable to find output defined for token: {cut(self.token, _SHOWN)}. Make sure you defined a CfnOutput "
            f"for this value.{hint}"
        )


@dataclass(eq=False)
class UnreadableTokenError(ResolveError):
    """The CDK itself cannot tell what a token stands for.

    Attributes:
        token: as it came.
        problem: what it says.
    """

    token: str
    problem: str

    def __str__(self) -> str:
        first = (self.problem.splitlines() or [""])[0].strip(" .:")
        return f"{cut(self.token, _SHOWN)} cannot be read: {cut(first, _SHOWN)}. Check how that token was made."


@dataclass(eq=False)
class NotANumberError(ResolveError):
    """A token for a number is given what is none.

    Attributes:
        token: as it came.
        source: whose value it is: what CloudFormation or Terraform would be given.
    """

    token: str
    source: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} should be a number, and the value of {cut(self.source, _SHOWN)} is none, or is "
            "too large to be exact. Correct what that is, or let it stand as text."
        )


@dataclass(eq=False)
class SeveralStacksError(ResolveError):
    """Which stack a token belongs to cannot be told.

    Attributes:
        token: as JSON, or as it came.
        stacks: that it may belong to.
    """

    token: str
    stacks: Sequence[str]

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} may belong to {cut(some(self.stacks, 5), _SHOWN)}, and it is another value in "
            "each. Let it refer to something of one of these stacks."
        )


@dataclass(eq=False)
class UnknownSchemeError(ResolveError):
    """A scheme of tokens is asked for that there is not.

    Attributes:
        scheme: it.
        allowed: those that there are.
    """

    scheme: str
    allowed: Sequence[str]

    def __str__(self) -> str:
        return f"{cut(self.scheme, _SHOWN)} is no scheme: allowed are {some(self.allowed)}; for tf give tf=['STATE']."


@dataclass(eq=False)
class NotAReferenceError(ResolveError):
    """A token of the CDK for Terraform is no reference to an attribute, and no output has its value.

    Attributes:
        expression: what Terraform would be given.
    """

    expression: str

    def __str__(self) -> str:
        return (
            f"{cut(self.expression, _SHOWN)} is no reference to an attribute of a given stack, and only Terraform can "
            "evaluate it. Make it the value of a TerraformOutput of that stack, and give the stack to CdkTfResolver."
        )


class NoStateGivenError(ResolveError):
    """A resolver is made without anything to find a state by."""

    def __str__(self) -> str:
        return "CdkTfResolver needs the stacks whose tokens there are, or state='FILE': give one of them."


@dataclass(eq=False)
class UnknownBackendError(ResolveError):
    """A stack of the CDK for Terraform keeps its state where it cannot be read from here.

    Attributes:
        stack: its name.
        backend: its kind, as in `remote`.
    """

    stack: str
    backend: str

    def __str__(self) -> str:
        return (
            f"The state of stack {cut(self.stack, _SHOWN)} is in a backend of kind {self.backend}, which cannot be "
            "read. Give what terraform show -json prints: state='FILE'."
        )


@dataclass(eq=False)
class StackNotGivenError(ResolveError):
    """A token of the CDK for Terraform belongs to a stack that the resolver was not given.

    Attributes:
        expression: what Terraform would be given.
        stack: its path in its app.
    """

    expression: str
    stack: str

    def __str__(self) -> str:
        return (
            f"{cut(self.expression, _SHOWN)} belongs to stack {cut(self.stack, _SHOWN)}, which was not given, or to "
            "another one of that name. Give the same CdkTfResolver all stacks whose tokens there are."
        )


@dataclass(eq=False)
class OneStateError(ResolveError):
    """Several stacks are given, and one state for all of them.

    Attributes:
        stacks: their ids.
    """

    stacks: Sequence[str]

    def __str__(self) -> str:
        return (
            f"One state is given for the stacks {cut(some(self.stacks, 5), _SHOWN)}, and each has its own. Give "
            "state={'STACK': 'FILE', …}, or none where their backends tell."
        )


@dataclass(eq=False)
class LeftOverError(ResolveError):
    """Something is left in a manifest that looks like a token, and is none of the given resolvers'.

    Attributes:
        token: it.
        of_whom: whose it is, as in `a token of the CDK`.
    """

    token: str
    of_whom: str

    def __str__(self) -> str:
        if "Token[" in self.token:
            way = "Give cdk8s.App the resolver for it, AwsCdkResolver or CdkTfResolver"
        elif "token[" in self.token.lower():
            way = "The case of its letters was changed: let an output have the value that is wanted"
        elif self.token.startswith("{{"):
            way = (
                "Let the cluster read it itself, or write ${secret:…} or ${ssm:…} for "
                "TokenResolver('secret', 'ssm', sensitive=True)"
            )
        else:
            way = "Let it be the whole value, or make text of it with Token.as_string before it is put into other text"
        return f"{cut(self.token, _SHOWN)} is {self.of_whom}, which nothing resolves here. {way}."


@dataclass(eq=False)
class NothingResolvedError(ResolveError):
    """A token stands where cdk8s asks no resolver, and would be written as it is."""

    token: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} stands where cdk8s resolves nothing, as in a JSON patch. Give that value to "
            "the object itself."
        )
