"""What can go wrong with a token or a manifest. Texts name tokens, files and paths; values are never in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import Counted, StrongRefError, cut, some

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 250
"""Characters of a token, a name or a path in a text."""


class ResolveError(StrongRefError):
    """The root of what is told about tokens and manifests: somebody asked for what cannot be, or not now."""

    counted = Counted.REJECTED


class BadTokenError(ResolveError):
    """A token that cannot be understood.

    Attributes:
        token: its text.
        problem: what is wrong with it.
    """

    def __init__(self, token: str, problem: str) -> None:
        super().__init__(token, problem)
        self.token = token
        self.problem = problem

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} is no token: {self.problem}. For the text itself write $${{ for ${{."


class NotEnabledError(ResolveError):
    """A token of a scheme that has to be asked for, and was not.

    Attributes:
        token: its text.
        how: the option that enables it.
    """

    def __init__(self, token: str, how: str) -> None:
        super().__init__(token, how)
        self.token = token
        self.how = how

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is resolved only if that is asked for: give {self.how}. For the text itself "
            "write $${ for ${."
        )


class TokenInKeyError(ResolveError):
    """A token stands in a key, where nothing is resolved."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token

    def __str__(self) -> str:
        return f"{cut(self.token, _SHOWN)} stands in a key, and only values are resolved. Write that key out."


class NotTextError(ResolveError):
    """A value that is no text stands where only text can.

    Attributes:
        token: whose value it is.
        came: what it is instead, as in `a list`.
        where: where it stands, as in `inside a longer text`.
    """

    def __init__(self, token: str, came: str, where: str) -> None:
        super().__init__(token, came, where)
        self.token = token
        self.came = came
        self.where = where

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is {self.came}, which cannot stand {self.where}. Let the token be the whole "
            "value, or name one part of it."
        )


class LooksUnresolvedError(ResolveError):
    """Something is left that looks like a token, in a run that is to leave none.

    Attributes:
        what: its text.
        of_whom: whose token it looks like.
    """

    def __init__(self, what: str, of_whom: str) -> None:
        super().__init__(what, of_whom)
        self.what = what
        self.of_whom = of_whom

    def __str__(self) -> str:
        return (
            f"{cut(self.what, _SHOWN)} looks like {self.of_whom} that nobody has resolved. Resolve it before, or leave "
            "out --strict; if it is meant to stay, and begins with ${, write $${."
        )


class FetchFailedError(ResolveError):
    """A call to AWS failed.

    Attributes:
        action: the API action, as in `DescribeStacks`.
        target: what it was about.
        region: where.
        code: AWS's error code.
    """

    counted = Counted.ERRORS

    def __init__(self, action: str, target: str, region: str, code: str) -> None:
        super().__init__(action, target, region, code)
        self.action = action
        self.target = target
        self.region = region
        self.code = code

    def __str__(self) -> str:
        return (
            f"{self.action} of {cut(self.target, _SHOWN)} in {self.region} failed: {self.code}. Check the caller's "
            "permissions, and that it is the right account and region."
        )


class OutputNotFetchedError(ResolveError):
    """There is no value for an output of a stack.

    Attributes:
        key: the output's logical id.
        stack: the stack's name, and the logical ids of the nested stacks that lead to it.
        why: what is missing, or failed.
        hint: what more is known of it.
    """

    def __init__(self, key: str, stack: str, why: str = "Output not found", hint: str = "") -> None:
        super().__init__(key, stack, why, hint)
        self.key = key
        self.stack = stack
        self.why = why
        self.hint = hint

    def __str__(self) -> str:
        which = f"output key '{cut(self.key, _SHOWN)}' (stack: {cut(self.stack, _SHOWN)})"
        return (
            f"Failed fetching output value for {which}. Error: "
            f"{cut(self.why, 350).removesuffix('.')}. Are you sure you deployed the CDK stack? {cut(self.hint, _SHOWN)}"
        ).rstrip()


class NoRegionError(ResolveError):
    """Something of AWS's is asked for, and nobody said in which region."""

    def __str__(self) -> str:
        return "No region: give --region, set AWS_REGION, or write @REGION at the end of the token."


class StackNotFoundError(ResolveError):
    """There is no such stack."""

    def __init__(self, stack: str, region: str) -> None:
        super().__init__(stack, region)
        self.stack = stack
        self.region = region

    def __str__(self) -> str:
        return f"There is no stack {cut(self.stack, _SHOWN)} in {self.region}."


class NotAStackError(ResolveError):
    """What should lead to a nested stack is a resource of another type.

    Attributes:
        logical_id: its own.
        type_name: its type.
    """

    def __init__(self, logical_id: str, type_name: str) -> None:
        super().__init__(logical_id, type_name)
        self.logical_id = logical_id
        self.type_name = type_name

    def __str__(self) -> str:
        return f"{cut(self.logical_id, _SHOWN)} is no nested stack but a {self.type_name}."


class ResourceNotFoundError(ResolveError):
    """A stack has no such resource, or none that exists now.

    Attributes:
        logical_id: its own.
        stack: the stack's name.
        region: where.
    """

    def __init__(self, logical_id: str, stack: str, region: str) -> None:
        super().__init__(logical_id, stack, region)
        self.logical_id = logical_id
        self.stack = stack
        self.region = region

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


class NotExportedError(ResolveError):
    """A stack does not export what a token asks for.

    Attributes:
        name: of the export.
        producer: whom it was asked of.
        whom: to whom it would have to be exported, as in `to consumer web in us-east-1`.
        close: names that are like it, or some of those that there are.
        hint: what else may be wrong.
    """

    def __init__(self, name: str, producer: str, whom: str, close: Sequence[str], hint: str) -> None:
        super().__init__(name, producer, whom, close, hint)
        self.name = name
        self.producer = producer
        self.whom = whom
        self.close = close
        self.hint = hint

    def __str__(self) -> str:
        there = f" It exports {cut(some(self.close, 5), _SHOWN)}." if self.close else ""
        return (
            f"{self.producer[0].upper()}{self.producer[1:]} does not export {cut(self.name, _SHOWN)} {self.whom}."
            f"{there} {self.hint}"
        )


class SecureValueError(ResolveError):
    """A value is stored as a secret, and nobody said that secrets may be written into manifests."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token

    def __str__(self) -> str:
        return (
            f"{cut(self.token, _SHOWN)} is a SecureString. Give --sensitive if it may stand readable in what is "
            "written, or let the cluster read it itself."
        )


class NoSuchParameterError(ResolveError):
    """Parameter Store has no parameter of that name."""

    def __init__(self, name: str, region: str) -> None:
        super().__init__(name, region)
        self.name = name
        self.region = region

    def __str__(self) -> str:
        return f"There is no parameter {cut(self.name, _SHOWN)} in {self.region}. Check its name, region and account."


class SecretNotReadError(ResolveError):
    """Secrets Manager has no such secret, or it does not hold what was asked of it.

    Attributes:
        name: the secret's name or ARN.
        region: where.
        problem: what is missing; never anything of the secret itself.
    """

    def __init__(self, name: str, region: str, problem: str) -> None:
        super().__init__(name, region, problem)
        self.name = name
        self.region = region
        self.problem = problem

    def __str__(self) -> str:
        return f"Secret {cut(self.name, _SHOWN)} in {self.region}: {cut(self.problem, 400)}."


class NoSuchVariableError(ResolveError):
    """The environment has no such variable, or it holds no text."""

    def __init__(self, name: str, problem: str = "is not set") -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"The environment variable {cut(self.name, _SHOWN)} {self.problem}. Set it, or take the token out."


class SeveralError(ResolveError):
    """Several things are wrong with one value."""

    def __init__(self, errors: Sequence[StrongRefError]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        return cut(" ".join(str(error) for error in self.errors), 990)


class ManifestError(ResolveError):
    """A file that cannot be read as what its name says it is.

    Attributes:
        file: its name.
        line: where, from 1; None if it is the whole of it.
        problem: what is wrong there; nothing of the file's text is in it.
    """

    def __init__(self, file: str, line: int | None, problem: str) -> None:
        super().__init__(file, line, problem)
        self.file = file
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line else ""
        return f"{cut(self.file, 2 * _SHOWN)}{where}: {cut(self.problem, 400)}."


class InputError(ResolveError):
    """What is to be read, or where to write, was not given rightly. Nothing was read or written."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return cut(self.problem, 990)


class WriteFailedError(ResolveError):
    """A file could not be written.

    Attributes:
        file: its name.
        problem: the system's word for it.
        written: how many files had taken their place before.
    """

    counted = Counted.ERRORS

    def __init__(self, file: str, problem: str, written: int) -> None:
        super().__init__(file, problem, written)
        self.file = file
        self.problem = problem
        self.written = written

    def __str__(self) -> str:
        so_far = f"Files written before it: {self.written}." if self.written else "Nothing was written."
        return f"{cut(self.file, 2 * _SHOWN)} could not be written: {self.problem}. {so_far}"
