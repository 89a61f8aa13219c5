"""Errors of tokens, manifests and Terraform states. Texts name tokens, files and addresses, never values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from strongref.macro.template import DEPTH_LIMIT
from strongref.text import cut, did_you_mean, some
from strongref_toolkit.errors import ResolveError

if TYPE_CHECKING:
    from strongref.errors import StrongRefError

TOO_DEEP = f"it has more than {DEPTH_LIMIT} levels of maps and lists; flatten it"
"""What is wrong with a file, in an error's words."""

_SHOWN = 250
"""Characters of a token, a name or a path in a text."""


class BadTokenError(ResolveError):
    token: str
    problem: str
    sentence = "{token:250} is not a valid token: {problem}. To keep the text as it is, write $${{ for ${{."


class NotEnabledError(ResolveError):
    token: str
    how: str  # the option that enables it
    sentence = "{token:250} is not resolved by default: add {how}. To keep the text as it is, write $${{ for ${{."


class TokenInKeyError(ResolveError):
    token: str
    sentence = "{token:250} stands in a key, and only values are resolved. Write that key out."


class TokenNotTextError(ResolveError):
    token: str
    kind: str  # what it is instead, as in `a list`
    why: str  # what it cannot do therefore, as in `stand inside a longer text`
    fix: str
    sentence = "{token:250} is {kind}, which cannot {why}. {fix:500}."


class LooksUnresolvedError(ResolveError):
    what: str
    origin: str  # what kind of token it looks like
    sentence = (
        "{what:250} looks like {origin} that was not resolved. Resolve it first, or leave out --strict. To keep text "
        "that begins with ${{, write $${{."
    )


class OutputNotFetchedError(ResolveError):
    key: str  # the output's logical id
    stack: str  # the stack's name, and the logical ids of the nested stacks that lead to it
    why: str = ""  # what failed; by default, the stack or the output is not there
    hint: str = ""  # what more is known of it

    def __str__(self) -> str:
        which = f"output key '{cut(self.key, _SHOWN)}' (stack: {cut(self.stack, _SHOWN)})"
        why = cut(self.why, 350) or "Output not found. Are you sure you deployed the CDK stack?"
        return f"Failed fetching output value for {which}. Error: {why} {cut(self.hint, _SHOWN)}".rstrip()


class StackNotFoundError(ResolveError):
    stack: str
    region: str
    sentence = "There is no stack {stack:250} in {region}."


class NotAStackError(ResolveError):
    """A resource on the path to a nested stack is of another type."""

    logical_id: str
    type_name: str
    sentence = "{logical_id:250} is not a nested stack but {type_name}."


class ResourceNotFoundError(ResolveError):
    logical_id: str
    stack: str
    region: str
    sentence = (
        "There is no resource {logical_id:250} in stack {stack:250} in {region}, or no such stack. Check the logical "
        "id (the CDK adds a hash to it), region and account, and that it is deployed."
    )


class UnknownAttributeError(ResolveError):
    attribute: str
    logical_id: str
    type_name: str
    why: str = ""  # the reason; by default, that only CloudFormation knows attributes of that type

    def __str__(self) -> str:
        which = f"{cut(self.attribute, _SHOWN)} of {cut(self.logical_id, _SHOWN)}"
        why = self.why or f"only CloudFormation knows the attributes of a {self.type_name}"
        return (
            f"{which} cannot be read: {cut(why, 350).removesuffix('.')}. Make it an output of its stack, and write "
            "${cfn:STACK.OUTPUT}."
        )


class NoSuchParameterError(ResolveError):
    name: str
    region: str
    sentence = "There is no parameter {name:250} in {region}. Check its name, region and account."


class SecretNotReadError(ResolveError):
    name: str  # the secret's name or ARN
    region: str
    problem: str  # what is missing; never anything of the secret itself
    sentence = "Secret {name:250} in {region}: {problem:400}."


class NoSuchVariableError(ResolveError):
    name: str
    problem: str = "is not set"
    sentence = "The environment variable {name:250} {problem}. Set it, or remove the token."


class SeveralError(ResolveError):
    errors: Sequence[StrongRefError]  # what is wrong with one value

    def __str__(self) -> str:
        return cut(" ".join(str(error) for error in self.errors), 990)


class ManifestError(ResolveError):
    """A file that cannot be read as what its name says it is."""

    file: str
    line: int | None  # where, from 1; None if it is the whole of it
    problem: str  # what is wrong there; nothing of the file's text is in it

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line else ""
        return f"{cut(self.file, 2 * _SHOWN)}{where}: {cut(self.problem, 400)}."


class BadAddressError(ResolveError):
    text: str
    problem: str
    sentence = (
        "{text:250} is no address of a value in a Terraform state: {problem}. It should look like output.NAME or "
        "module.NAME.TYPE.NAME[KEY].ATTRIBUTE."
    )


class NotAStateError(ResolveError):
    where: str  # its file or S3 address
    problem: str  # what it is instead; nothing of its content is in it
    sentence = (
        "{where:250} is no Terraform state: {problem:400}. Give a state file of version 4, or what terraform show "
        "-json prints."
    )


class StateNotReadError(ResolveError):
    where: str  # its file or S3 address
    problem: str
    sentence = "The Terraform state {where:250} cannot be read: {problem:400}."


class NoSuchStateError(ResolveError):
    name: str  # of the state; empty for the one without a name
    given: Sequence[str]  # the names that there are

    def __str__(self) -> str:
        which = f"named {cut(self.name, _SHOWN)}" if self.name else "without a name"
        there = f" There is {cut(some([each or 'one without a name' for each in self.given], 5), _SHOWN)}."
        return (
            f"No Terraform state {which} is given.{there if self.given else ''} Give "
            f"--tf {f'{cut(self.name, _SHOWN)}=' if self.name else ''}STATE."
        )


class StateTwiceError(ResolveError):
    name: str  # theirs; empty where they have none

    def __str__(self) -> str:
        which = f"are named {cut(self.name, _SHOWN)}" if self.name else "have no name"
        return f"Two Terraform states {which}. Give all but one a name of its own: --tf NAME=STATE."


class NoSuchAddressError(ResolveError):
    address: str
    where: str  # the state
    close: Sequence[str]  # what is like it, or other instances of the same resource
    # whether those are its instances: it has `count` or `for_each`, here or in a module around it
    indexed: bool = field(kw_only=True)
    holds: str = field(kw_only=True)  # how much there is at all, as in `3 resources and 1 output`

    def __str__(self) -> str:
        address, where = cut(self.address, _SHOWN), cut(self.where, _SHOWN)
        if self.indexed:
            return f"{address} is no single resource in {where}. Write one of {cut(some(self.close, 5), _SHOWN)}."
        hint = did_you_mean(self.close[:2], f"It holds {self.holds}.")
        return (
            f"There is no {address} in the Terraform state {where}. {hint} Check the address, and that it is applied."
        )


class NoSuchStateAttributeError(ResolveError):
    address: str  # as far as there is something
    step: str  # what is not there, as in `.arn` or `[3]`
    there: str  # what is, as in `attributes arn, bucket and id`
    sentence = "{address:250} has no {step:250}. It {there:250}."


class UnsetError(ResolveError):
    address: str
    where: str = "the Terraform state"
    sentence = "{address:250} is null in {where}. Set it there, or remove the reference."


class SensitiveError(ResolveError):
    address: str
    part: str = ""  # what of it is sensitive, if not all of it
    is_guess: bool = field(default=False, kw_only=True)  # whether only its name says so

    def __str__(self) -> str:
        what = f"{cut(self.part, _SHOWN)} in it" if self.part else "it"
        why = "has the name of a secret, which is only a guess" if self.is_guess else "is sensitive in Terraform"
        return (
            f"{cut(self.address, _SHOWN)} is not given out: {what} {why}. Give --allow with this address to write it "
            "in plain text, or let the cluster read it itself."
        )
