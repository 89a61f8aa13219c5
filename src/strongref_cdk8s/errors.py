"""Errors of resolvers in cdk8s apps. Texts name constructs, keys and tokens, never values."""

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
"""Options of the command, and the same in programs."""


def in_program_terms(error: StrongRefError) -> str:
    """An error's text, with the options of the command as arguments."""
    text = str(error)
    for option, argument in _AS_OPTIONS:
        text = text.replace(option, argument)
    return text


@dataclass(eq=False)
class UnresolvedValuesError(ResolveError):
    """Values of an app cannot be resolved; the text has a line for each, however many there are.

    Attributes:
        problems: the location and the reason of each.
    """

    problems: Sequence[str]

    def __str__(self) -> str:
        count = f"{len(self.problems)} value{'' if len(self.problems) == 1 else 's'}"
        return "\n".join([f"{count} could not be resolved:", *(f"  {problem}" for problem in self.problems)])


@dataclass(eq=False)
class OutputNotDefinedError(ResolveError):
    """No output of the app has the value of a token of the AWS CDK.

    Attributes:
        token: what CloudFormation would get in its place, as JSON.
        needs_app: it refers to no resource of an app, and the resolver was given no app to search for its output.
    """

    token: str
    needs_app: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        hint = " It refers to no resource of an app: also give AwsCdkResolver(app=…)." if self.needs_app else ""
        return (
            f"Unable to find output defined for token: {cut(self.token, _SHOWN)}. Make sure you defined a CfnOutput "
            f"for this value.{hint}"
        )


@dataclass(eq=False)
class UnreadableTokenError(ResolveError):
    """The CDK itself cannot resolve a token.

    Attributes:
        token: as the program has it.
        problem: the CDK's error.
    """

    token: str
    problem: str

    def __str__(self) -> str:
        first = (self.problem.splitlines() or [""])[0].strip(" .:")
        return (
            f"{cut(self.token, _SHOWN)} cannot be read: {cut(first, _SHOWN)}. Check how the program creates the token."
        )


@dataclass(eq=False)
class NotANumberError(ResolveError):
    """The value of a token for a number is not a number.

    Attributes:
        token: as the program has it.
        source: what CloudFormation or Terraform would get in its place.
    """

    token: str
    source: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} must be a number, but the value of {cut(self.source, _SHOWN)} is not one, or "
            "is too large to be exact. Correct the value, or use the token as text."
        )


@dataclass(eq=False)
class SeveralStacksError(ResolveError):
    """A token may belong to several stacks.

    Attributes:
        token: as JSON, or as the program has it.
        stacks: those stacks.
    """

    token: str
    stacks: Sequence[str]

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} may belong to {cut(some(self.stacks, 5), _SHOWN)}, and has another value in "
            "each. Use a token that refers to a resource of one of these stacks."
        )


@dataclass(eq=False)
class UnknownSchemeError(ResolveError):
    """A scheme of tokens does not exist.

    Attributes:
        scheme: as the program has it.
        allowed: the existing ones.
    """

    scheme: str
    allowed: Sequence[str]

    def __str__(self) -> str:
        allowed = " or ".join([", ".join(self.allowed[:-1]), self.allowed[-1]])
        return f"A scheme must be {allowed}, got {cut(self.scheme, _SHOWN)}. For tf give tf=['STATE']."


@dataclass(eq=False)
class NotAReferenceError(ResolveError):
    """A token of the CDK for Terraform does not refer to an attribute, and no output has its value.

    Attributes:
        expression: what Terraform would get in its place.
    """

    expression: str

    def __str__(self) -> str:
        return (
            f"{cut(self.expression, _SHOWN)} is not a reference to an attribute of a given stack, and only Terraform "
            "can evaluate it. Make it the value of a TerraformOutput of that stack, and give the stack to "
            "CdkTfResolver."
        )


class NoStateGivenError(ResolveError):
    """A resolver is given neither stacks nor a state."""

    def __str__(self) -> str:
        return "CdkTfResolver needs the stacks that the app has tokens of, or state='FILE'. Give one of them."


@dataclass(eq=False)
class UnknownBackendError(ResolveError):
    """The backend of a stack of the CDK for Terraform is of a kind that strongref cannot read.

    Attributes:
        stack: the stack's name.
        backend: the kind, as in `remote`.
    """

    stack: str
    backend: str

    def __str__(self) -> str:
        return (
            f"The state of stack {cut(self.stack, _SHOWN)} is in a backend of kind {self.backend}, which strongref "
            "cannot read. Give a file with the output of terraform show -json: state='FILE'."
        )


@dataclass(eq=False)
class StackNotGivenError(ResolveError):
    """A token of the CDK for Terraform belongs to a stack that the resolver was not given.

    Attributes:
        expression: what Terraform would get in its place.
        stack: the stack's path in its app.
    """

    expression: str
    stack: str

    def __str__(self) -> str:
        return (
            f"{cut(self.expression, _SHOWN)} belongs to a stack {cut(self.stack, _SHOWN)} that CdkTfResolver was not "
            "given. Give one CdkTfResolver all stacks that the app has tokens of."
        )


@dataclass(eq=False)
class OneStateError(ResolveError):
    """Several stacks are given, and one state for all of them.

    Attributes:
        stacks: their IDs.
    """

    stacks: Sequence[str]

    def __str__(self) -> str:
        return (
            f"One state is given for the stacks {cut(some(self.stacks, 5), _SHOWN)}, but each has its own. Give "
            "state={'STACK': 'FILE', …}, or leave state out to use their backends."
        )


@dataclass(eq=False)
class LeftOverError(ResolveError):
    """A manifest still has text that looks like a token, which none of the given resolvers knows.

    Attributes:
        token: that text.
        kind: what it is, as in `a token of the CDK`.
    """

    token: str
    kind: str

    def __str__(self) -> str:
        if "Token[" in self.token:
            way = "Give cdk8s.App the resolver for it, AwsCdkResolver or CdkTfResolver"
        elif "token[" in self.token.lower():
            way = "The program changed the case of its letters: define an output with the value that it needs"
        elif self.token.startswith("{{"):
            way = (
                "Let the cluster read it itself, or write ${secret:…} or ${ssm:…} for "
                "TokenResolver('secret', 'ssm', sensitive=True)"
            )
        else:
            way = "Use it as the whole value, or turn it into text with Token.as_string before adding other text"
        return f"{cut(self.token, _SHOWN)} is {self.kind}, which no resolver of this app resolves. {way}."


@dataclass(eq=False)
class NothingResolvedError(ResolveError):
    """A token is in a place that cdk8s asks no resolver about."""

    token: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is in a place that cdk8s does not resolve, such as a JSON patch. Set that "
            "value on the object itself."
        )
