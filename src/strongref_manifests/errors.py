"""What can go wrong with a token or a manifest. Texts name tokens, files and paths; values are never in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.text import cut
from strongref_toolkit.errors import ResolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.errors import StrongRefError

_SHOWN = 250
"""Characters of a token, a name or a path in a text."""


@dataclass(eq=False)
class BadTokenError(ResolveError):
    """A token that cannot be understood.

    Attributes:
        token: its text.
        problem: what is wrong with it.
    """

    token: str
    problem: str

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} is no token: {self.problem}. For the text itself write $${{ for ${{."


@dataclass(eq=False)
class NotEnabledError(ResolveError):
    """A token of a scheme that has to be asked for, and was not.

    Attributes:
        token: its text.
        how: the option that enables it.
    """

    token: str
    how: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is resolved only if that is asked for: give {self.how}. For the text itself "
            "write $${ for ${."
        )


@dataclass(eq=False)
class TokenInKeyError(ResolveError):
    """A token stands in a key, where nothing is resolved."""

    token: str

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} stands in a key, and only values are resolved. Write that key out."


@dataclass(eq=False)
class NotTextError(ResolveError):
    """A value that is no text stands where only text can.

    Attributes:
        token: whose value it is.
        came: what it is instead, as in `a list`.
        where: where it stands, as in `inside a longer text`.
    """

    token: str
    came: str
    where: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is {self.came}, which cannot stand {self.where}. Let the token be the whole "
            "value, or name one part of it."
        )


@dataclass(eq=False)
class LooksUnresolvedError(ResolveError):
    """Something is left that looks like a token, in a run that is to leave none.

    Attributes:
        what: its text.
        of_whom: whose token it looks like.
    """

    what: str
    of_whom: str

    def __str__(self) -> str:
        return (
            f"{cut(self.what, _SHOWN)} looks like {self.of_whom} that nobody has resolved. Resolve it before, or leave "
            "out --strict; if it is meant to stay, and begins with ${, write $${."
        )


@dataclass(eq=False)
class OutputNotFetchedError(ResolveError):
    """There is no value for an output of a stack.

    Attributes:
        key: the output's logical id.
        stack: the stack's name, and the logical ids of the nested stacks that lead to it.
        why: what is missing, or failed.
        hint: what more is known of it.
    """

    key: str
    stack: str
    why: str = "Output not found"
    hint: str = ""

    def __str__(self) -> str:
        which = f"output key '{cut(self.key, _SHOWN)}' (stack: {cut(self.stack, _SHOWN)})"
        return (
            f"Failed fetching output value for {which}. Error: "
            f"{cut(self.why, 350).removesuffix('.')}. Are you sure you deployed the CDK stack? {cut(self.hint, _SHOWN)}"
        ).rstrip()


@dataclass(eq=False)
class StackNotFoundError(ResolveError):
    """There is no such stack."""

    stack: str
    region: str

    def __str__(self) -> str:
        return f"There is no stack {cut(self.stack, _SHOWN)} in {self.region}."


@dataclass(eq=False)
class NotAStackError(ResolveError):
    """What should lead to a nested stack is a resource of another type.

    Attributes:
        logical_id: its own.
        type_name: its type.
    """

    logical_id: str
    type_name: str

    def __str__(self) -> str:
        return f"{cut(self.logical_id, _SHOWN)} is no nested stack but a {self.type_name}."


@dataclass(eq=False)
class ResourceNotFoundError(ResolveError):
    """A stack has no such resource, or none that exists now.

    Attributes:
        logical_id: its own.
        stack: the stack's name.
        region: where.
    """

    logical_id: str
    stack: str
    region: str

    def __str__(self) -> str:
        return (
            f"There is no resource {cut(self.logical_id, _SHOWN)} in stack {cut(self.stack, _SHOWN)} in {self.region}, "
            "or no such stack. Check the logical id (the CDK adds a hash to it), region and account, and that it is "
            "deployed."
        )


class UnknownAttributeError(ResolveError):
    """Nobody but CloudFormation can tell this attribute.

    Attributes:
        attribute: its name.
        logical_id: the resource's.
        type_name: the resource's.
        why: what stands in the way; by default, that the type is one of CloudFormation's alone.
    """

    def __init__(self, attribute: str, logical_id: str, type_name: str, why: str | None = None) -> None:
        super().__init__(attribute, logical_id, type_name, why)
        self.attribute = attribute
        self.logical_id = logical_id
        self.type_name = type_name
        self.why = why or f"only CloudFormation knows the attributes of a {type_name}"

    def __str__(self) -> str:
        which = f"{cut(self.attribute, _SHOWN)} of {cut(self.logical_id, _SHOWN)}"
        return (
            f"{which} cannot be had: {cut(self.why, 350).removesuffix('.')}. Make it an output of its stack, and write "
            "${cfn:STACK.OUTPUT}."
        )


@dataclass(eq=False)
class NoSuchParameterError(ResolveError):
    """Parameter Store has no parameter of that name."""

    name: str
    region: str

    def __str__(self) -> str:
        return f"There is no parameter {cut(self.name, _SHOWN)} in {self.region}. Check its name, region and account."


@dataclass(eq=False)
class SecretNotReadError(ResolveError):
    """Secrets Manager has no such secret, or it does not hold what was asked of it.

    Attributes:
        name: the secret's name or ARN.
        region: where.
        problem: what is missing; never anything of the secret itself.
    """

    name: str
    region: str
    problem: str

    def __str__(self) -> str:
        return f"Secret {cut(self.name, _SHOWN)} in {self.region}: {cut(self.problem, 400)}."


@dataclass(eq=False)
class NoSuchVariableError(ResolveError):
    """The environment has no such variable, or it holds no text."""

    name: str
    problem: str = "is not set"

    def __str__(self) -> str:
        return f"The environment variable {cut(self.name, _SHOWN)} {self.problem}. Set it, or take the token out."


@dataclass(eq=False)
class SeveralError(ResolveError):
    """Several things are wrong with one value."""

    errors: Sequence[StrongRefError]

    def __str__(self) -> str:
        return cut(" ".join(str(error) for error in self.errors), 990)


@dataclass(eq=False)
class ManifestError(ResolveError):
    """A file that cannot be read as what its name says it is.

    Attributes:
        file: its name.
        line: where, from 1; None if it is the whole of it.
        problem: what is wrong there; nothing of the file's text is in it.
    """

    file: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line else ""
        return f"{cut(self.file, 2 * _SHOWN)}{where}: {cut(self.problem, 400)}."


@dataclass(eq=False)
class InputError(ResolveError):
    """What is to be read, or where to write, was not given rightly. Nothing was read or written."""

    problem: str

    def __str__(self) -> str:
        return cut(self.problem, 990)
