"""Errors of resolvers in cdk8s apps. Texts name constructs, keys and tokens, never values.

Tokens are shown without the program's own text around them, which may hold a secret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from strongref.text import cut, some
from strongref_toolkit.errors import ResolveError
from strongref_toolkit.intrinsics import Tree, intrinsic

if TYPE_CHECKING:
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
    ("Give --allow with this address", "Give the resolver allow=[…] with this address"),
    ("--sensitive", "sensitive=True"),
    ("--tf ", "tf="),
)
"""Options of the command, and the same in programs."""

_LEFT_OUT = "…"
_SHORT = 4
"""Characters of text that is shown: most often a separator of joined parts."""

_TOKEN = re.compile(r"[$#&]\{(?:Tf)?Token\[[^\]\n]*\]\}")
_QUOTED = re.compile(r'[\w\])]\["(?:[^"\\]|\\.)*"\]|"((?:[^"\\]|\\.)*)"')
"""A key, as in `a.b["key"]`, or a string in a Terraform expression."""

_NAMING = frozenset({"Ref", "Condition", "Fn::GetAtt", "Fn::FindInMap", "Fn::ImportValue"})
"""Functions whose text arguments are names."""


def shown_tokens(value: object) -> str:
    if isinstance(value, float):
        return repr(value)
    found = _TOKEN.findall(str(value))
    return some(found, 3) if found else f"a {type(value).__name__}"


def shown_tree(tree: Tree) -> Tree:
    """A tree without its longer texts."""
    function = intrinsic(tree)
    if function and function[0] in _NAMING:
        return tree
    if isinstance(tree, dict):
        return {key: shown_tree(below) for key, below in tree.items()}
    if isinstance(tree, list):
        return [shown_tree(item) for item in tree]
    return _LEFT_OUT if isinstance(tree, str) and len(tree) > _SHORT else tree


def shown_expression(text: str) -> str:
    """A Terraform expression without its longer strings."""
    return _QUOTED.sub(lambda found: f'"{_LEFT_OUT}"' if found[1] and len(found[1]) > _SHORT else found[0], text)


def in_program_terms(error: StrongRefError) -> str:
    """An error's text, with the options of the command as arguments."""
    text = str(error)
    for option, argument in _AS_OPTIONS:
        text = text.replace(option, argument)
    return text


class UnresolvedValuesError(ResolveError):
    """Values of an app cannot be resolved; the text has a line for each, however many there are."""

    problems: Sequence[str]  # the location and the reason of each

    def __str__(self) -> str:
        count = f"{len(self.problems)} value{'' if len(self.problems) == 1 else 's'}"
        return "\n".join([f"{count} could not be resolved:", *(f"  {problem}" for problem in self.problems)])


class OutputNotDefinedError(ResolveError):
    token: str  # what CloudFormation would get in its place, as JSON
    # it refers to no resource of an app, and the resolver was given no app to search for its output
    needs_app: bool = field(default=False, kw_only=True)
    is_list: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        hint = ' It is a list: output its items joined by a separator, as in Fn.join(",", …).' if self.is_list else ""
        hint += " It refers to no resource of an app: also give AwsCdkResolver(app=…)." if self.needs_app else ""
        return (
            f"Unable to find output defined for token: {cut(self.token, _SHOWN)}. Make sure you defined a CfnOutput "
            f"for this value.{hint}"
        )


class UnreadableTokenError(ResolveError):
    token: str  # as the program has it
    problem: str  # the CDK's error

    def __str__(self) -> str:
        first = (self.problem.splitlines() or [""])[0].strip(" .:")
        return (
            f"{cut(self.token, _SHOWN)} cannot be read: {cut(first, _SHOWN)}. Check how the program creates the token."
        )


class ConstructGivenError(ResolveError):
    path: str  # the construct's, in its app
    sentence = "The construct {path:300} is not a value. Use one of its attributes, such as its name or its ARN."


class NotANumberError(ResolveError):
    token: str  # as the program has it
    source: str  # what CloudFormation or Terraform would get in its place
    sentence = (
        "{token:300} must be a number, but the value of {source:300} is not one, or is too large to be exact. Correct "
        "the value, or use the token as text."
    )


class SeveralStacksError(ResolveError):
    token: str  # as JSON, or as the program has it
    stacks: Sequence[str]
    sentence = (
        "{token:300} may belong to {stacks:5}, and has another value in each. Use a token that refers to a resource of "
        "one of these stacks."
    )


class UnknownSchemeError(ResolveError):
    scheme: str  # as the program has it
    allowed: Sequence[str]

    def __str__(self) -> str:
        allowed = " or ".join([", ".join(self.allowed[:-1]), self.allowed[-1]])
        return f"A scheme must be {allowed}, got {cut(self.scheme, _SHOWN)}. For tf give tf=['STATE']."


class NotAReferenceError(ResolveError):
    expression: str  # what Terraform would get in its place
    sentence = (
        "{expression:300} is not a reference to an attribute of a given stack, and only Terraform can evaluate it. "
        "Make it the value of a TerraformOutput of that stack, and give the stack to CdkTfResolver."
    )


class NoStateGivenError(ResolveError):
    sentence = "CdkTfResolver needs the stacks that the app has tokens of, or state='FILE'. Give one of them."


class UnknownBackendError(ResolveError):
    stack: str
    backend: str  # the kind, as in `remote`
    sentence = (
        "The state of stack {stack:300} is in a backend of kind {backend}, which strongref cannot read. Give a file "
        "with the output of terraform show -json: state='FILE'."
    )


class StackNotGivenError(ResolveError):
    expression: str  # what Terraform would get in its place
    stack: str  # the stack's path in its app
    sentence = (
        "{expression:300} belongs to a stack {stack:300} that CdkTfResolver was not given. Give one CdkTfResolver all "
        "stacks that the app has tokens of."
    )


class OneStateError(ResolveError):
    stacks: Sequence[str]
    sentence = (
        "One state is given for the stacks {stacks:5}, but each has its own. Give state={{'STACK': 'FILE', …}}, or "
        "leave state out to use their backends."
    )


class LeftOverError(ResolveError):
    token: str
    kind: str  # what it is, as in `a token of the CDK`

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


class NothingResolvedError(ResolveError):
    token: str
    sentence = (
        "{token:300} is in a place that cdk8s does not resolve, such as a JSON patch. Set that value on the object "
        "itself."
    )
