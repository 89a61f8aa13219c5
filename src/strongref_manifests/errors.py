"""Errors of tokens, manifests and Terraform states. Texts name tokens, files and addresses, never values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.text import cut, some
from strongref_toolkit.errors import ResolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.errors import StrongRefError

_LITERAL = "To keep the text as it is, write $${ for ${."

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
        return f"{cut(self.token, _SHOWN)} is not a valid token: {self.problem}. {_LITERAL}"


@dataclass(eq=False)
class NotEnabledError(ResolveError):
    """A token of a scheme that is not enabled.

    Attributes:
        token: its text.
        how: the option that enables it.
    """

    token: str
    how: str

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} is not resolved by default: add {self.how}. {_LITERAL}"


@dataclass(eq=False)
class TokenInKeyError(ResolveError):
    """A token is in a key, and keys are not resolved."""

    token: str

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} stands in a key, and only values are resolved. Write that key out."


@dataclass(eq=False)
class TokenNotTextError(ResolveError):
    """The value of a token is not text, and only text can stand in its place.

    Attributes:
        token: whose value it is.
        kind: what it is instead, as in `a list`.
        where: where it stands, as in `inside a longer text`.
    """

    token: str
    kind: str
    where: str

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is {self.kind}, which cannot stand {self.where}. Let the token be the whole "
            "value, or name one part of it."
        )


@dataclass(eq=False)
class LooksUnresolvedError(ResolveError):
    """A strict run found what looks like an unresolved token.

    Attributes:
        what: its text.
        origin: what kind of token it looks like.
    """

    what: str
    origin: str

    def __str__(self) -> str:
        return (
            f"{cut(self.what, _SHOWN)} looks like {self.origin} that was not resolved. Resolve it first, or leave out "
            "--strict. To keep text that begins with ${, write $${."
        )


@dataclass(eq=False)
class OutputNotFetchedError(ResolveError):
    """An output of a stack has no value.

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
    """A resource on the path to a nested stack is of another type.

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


@dataclass(eq=False)
class UnknownAttributeError(ResolveError):
    """An attribute that cannot be read from outside of CloudFormation.

    Attributes:
        attribute: its name.
        logical_id: the resource's.
        type_name: the resource's.
        why: the reason; by default, that only CloudFormation knows attributes of that type.
    """

    attribute: str
    logical_id: str
    type_name: str
    why: str = ""

    def __str__(self) -> str:
        which = f"{cut(self.attribute, _SHOWN)} of {cut(self.logical_id, _SHOWN)}"
        why = self.why or f"only CloudFormation knows the attributes of a {self.type_name}"
        return (
            f"{which} cannot be read: {cut(why, 350).removesuffix('.')}. Make it an output of its stack, and write "
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
    """Secrets Manager has no such secret, or the secret lacks the requested field.

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
        return f"The environment variable {cut(self.name, _SHOWN)} {self.problem}. Set it, or remove the token."


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
    """The manifests to read, or the place to write to, are not valid. Nothing was read or written."""

    problem: str

    def __str__(self) -> str:
        return cut(self.problem, 990)


@dataclass(eq=False)
class BadAddressError(ResolveError):
    """Text that is no address of a value.

    Attributes:
        text: it.
        problem: what is wrong with it.
    """

    text: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{cut(self.text, _SHOWN)} is no address of a value in a Terraform state: {self.problem}. It should look "
            "like output.NAME or module.NAME.TYPE.NAME[KEY].ATTRIBUTE."
        )


@dataclass(eq=False)
class NotAStateError(ResolveError):
    """What should be a state cannot be read as one.

    Attributes:
        where: its file or S3 address.
        problem: what it is instead; nothing of its content is in it.
    """

    where: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{cut(self.where, _SHOWN)} is no Terraform state: {cut(self.problem, 400)}. Give a state file of version "
            "4, or what terraform show -json prints."
        )


@dataclass(eq=False)
class StateNotReadError(ResolveError):
    """A state's file or object cannot be read.

    Attributes:
        where: its file or S3 address.
        problem: why.
    """

    where: str
    problem: str

    def __str__(self) -> str:
        return f"The Terraform state {cut(self.where, _SHOWN)} cannot be read: {cut(self.problem, 400)}."


@dataclass(eq=False)
class NoSuchStateError(ResolveError):
    """A token names a state that was not given.

    Attributes:
        name: of the state; empty for the one without a name.
        given: the names that there are.
    """

    name: str
    given: Sequence[str]

    def __str__(self) -> str:
        which = f"named {cut(self.name, _SHOWN)}" if self.name else "without a name"
        there = f" There is {cut(some([each or 'one without a name' for each in self.given], 5), _SHOWN)}."
        return (
            f"No Terraform state {which} is given.{there if self.given else ''} Give "
            f"--tf {f'{cut(self.name, _SHOWN)}=' if self.name else ''}STATE."
        )


@dataclass(eq=False)
class StateTwiceError(ResolveError):
    """Two states are given under one name, or both without one.

    Attributes:
        name: theirs; empty where they have none.
    """

    name: str

    def __str__(self) -> str:
        which = f"are named {cut(self.name, _SHOWN)}" if self.name else "have no name"
        return f"Two Terraform states {which}. Give all but one a name of its own: --tf NAME=STATE."


@dataclass(eq=False)
class NoSuchAddressError(ResolveError):
    """A state holds nothing at an address.

    Attributes:
        address: that was asked for.
        where: the state.
        close: what is like it, or other instances of the same resource.
        indexed: whether those are its instances: it has `count` or `for_each`, here or in a module around it.
        holds: how much there is at all, as in `3 resources and 1 output`.
    """

    address: str
    where: str
    close: Sequence[str]
    indexed: bool = field(kw_only=True)
    holds: str = field(kw_only=True)

    def __str__(self) -> str:
        address, where = cut(self.address, _SHOWN), cut(self.where, _SHOWN)
        if self.indexed:
            return f"{address} is no single resource in {where}. Write one of {cut(some(self.close, 5), _SHOWN)}."
        hint = f"Did you mean {cut(' or '.join(self.close[:2]), _SHOWN)}?" if self.close else f"It holds {self.holds}."
        return (
            f"There is no {address} in the Terraform state {where}. {hint} Check the address, and that it is applied."
        )


@dataclass(eq=False)
class NoSuchStateAttributeError(ResolveError):
    """What an address leads to is not there.

    Attributes:
        address: as far as there is something.
        step: what is not there, as in `.arn` or `[3]`.
        there: what is, as in `attributes arn, bucket and id`.
    """

    address: str
    step: str
    there: str

    def __str__(self) -> str:
        return f"{cut(self.address, _SHOWN)} has no {cut(self.step, _SHOWN)}. It {cut(self.there, _SHOWN)}."


@dataclass(eq=False)
class UnsetError(ResolveError):
    """An attribute or output is null: Terraform knows no value."""

    address: str

    def __str__(self) -> str:
        return f"{cut(self.address, _SHOWN)} is null in the Terraform state. Set it there, or take the reference out."


@dataclass(eq=False)
class SensitiveError(ResolveError):
    """A value is sensitive, or part of it is, and sensitive values are not enabled.

    Attributes:
        address: what was asked for.
        part: what of it is sensitive, if not all of it.
    """

    address: str
    part: str = ""

    def __str__(self) -> str:
        what = f"{cut(self.part, _SHOWN)} in it" if self.part else "it"
        return (
            f"{cut(self.address, _SHOWN)} is not given out: {what} is sensitive in Terraform. Give --sensitive (or "
            "sensitive=True) if it may stand readable in what is written, or let the cluster read it itself."
        )
