"""Tokens of the CDK for Terraform in a cdk8s app: each becomes what Terraform's state has for what it names."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cdktf

from strongref.cdk8s.errors import (
    NoStateGivenError,
    NotANumberError,
    NotAReferenceError,
    SeveralStacksError,
    UnknownBackendError,
    UnreadableTokenError,
)
from strongref.cdk8s.numbers import number
from strongref.cdk8s.resolver import CloudResolver, Mark, NotWhole, is_of_library
from strongref.resolvers import wiring
from strongref.resolvers.sources import Once
from strongref.resolvers.terraform import StateReader, TerraformStates
from strongref.resolvers.terraform_addresses import Reference, Resource
from strongref.resolvers.terraform_errors import BadAddressError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.resolvers.base import Json

_MARK = re.compile(r"([$#]\{TfToken\[[a-zA-Z0-9:._-]+\]\})")
_ANY_MARK = re.compile(r"[$#&]\{TfToken\[[^\]\n]*\]\}")
_NUMBER, _NUMBERS = b"\xfd\xff", b"\xfb\xff"
"""The two highest bytes of a number that is a token, and of the only item of such a list of numbers
(cdktf 0.21.0, lib/tokens/private/encoding.js)."""

_ONE = "state"
"""What the only state of a `TerraformStates` is called here."""


class CdkTfResolver(CloudResolver):
    """Gives tokens of the CDK for Terraform the values that Terraform's states hold.

    A reference to an attribute is found by its address. What only Terraform can evaluate, such as a function, is found
    by the `TerraformOutput` that has it as its value, if the stack is given.
    """

    def __init__(
        self,
        *stacks: Any,  # noqa: ANN401 (cdktf.TerraformStack)
        state: str | Mapping[str, str] | None = None,
        sensitive: bool = False,
        region: str | None = None,
        role: str | None = None,
    ) -> None:
        """Make one, for one app.

        Args:
            *stacks: whose tokens there are; none are needed where there is one state for all.
            state: where the state is: a state file, a file of what `terraform show -json` prints, or
                `s3://BUCKET/KEY[@REGION][#ACCOUNT]`; one for each stack, by its id, where they have several. By default
                where each stack's own backend keeps it, if that is a file or S3.
            sensitive: whether sensitive values may be written.
            region: of states in S3 whose address has none; the environment's by default.
            role: the ARN of the role to assume for states in other accounts, with `ACCOUNT` in the place of its number.

        Raises:
            NoStateGivenError: it cannot be told where the states are.
        """
        if not stacks and not isinstance(state, str):
            raise NoStateGivenError
        self._stacks = [_Stack(each, self) for each in stacks]
        self._state = state
        self._sensitive = sensitive
        self._reader = StateReader(lambda: wiring.aws(region, role))
        self._values: Once[str, Json] = Once()
        self._states: dict[str, TerraformStates] = {}

    def left_in(self, value: object) -> str | None:
        if isinstance(value, str):
            found = _ANY_MARK.search(value)
            return found[0] if found else None
        return repr(value) if _marked(value, _NUMBER) else None

    def concerns(self, value: object) -> bool:
        if isinstance(value, str):
            return "{TfToken[" in value
        if isinstance(value, list) and len(value) == 1:
            return _starts(value[0], "#{TfToken[") or (_marked(value[0], _NUMBERS) and _is_list_of_numbers(value))
        if isinstance(value, dict):
            return len(value) == 1 and _starts(next(iter(value)), "&{TfToken[")
        return _marked(value, _NUMBER) or is_of_library("cdktf", value)

    def split(self, text: str) -> Iterator[str]:
        for position, part in enumerate(_MARK.split(text)):
            if part:
                yield Mark(part) if position % 2 else part

    def whole(self, value: Any) -> Json:  # noqa: ANN401 (text, a list, a map, a number or one of cdktf's own objects)
        if isinstance(value, str) and len(list(self.split(value))) > 1:
            raise NotWhole
        if isinstance(value, str | float | list | dict):
            return self._values.get(f"{type(value).__name__} {value}", lambda: self._value(value))
        return self._value(value)

    def expression(self, value: Any) -> Json:  # noqa: ANN401 (as above)
        """What Terraform would be given for a value, as in `${aws_s3_bucket.b.arn}`.

        Raises:
            UnreadableTokenError: cdktf does not know the token.
        """
        try:
            found: Json = cdktf.Tokenization.resolve(
                value, scope=self._scope, resolver=cdktf.DefaultTokenResolver(cdktf.StringConcat()), preparing=False
            )
        except RuntimeError as error:
            problem = str(error)
        else:
            return found
        raise UnreadableTokenError(str(value), problem)

    @cached_property
    def _scope(self) -> Any:  # noqa: ANN401 (a cdktf.TerraformStack)
        """A stack of no app's: in any other one, what belongs to one stack is written as a reference between two."""
        return cdktf.TerraformStack(cdktf.App(), "strongref")

    def _value(self, value: Any) -> Json:  # noqa: ANN401 (as above)
        given = self.expression(value)
        expression = _in_braces(given)
        if expression is None:
            return given
        try:
            reference = Reference.parse(expression)
        except BadAddressError:
            return _as_asked(value, self._output(expression))
        if self._stacks:
            return _as_asked(value, self._in(self._owner(reference).state, str(reference)))
        return _as_asked(value, self._in(str(self._state), str(reference)))

    def _output(self, expression: str) -> Json:
        found = {each: name for each in self._stacks for name in each.outputs_of(expression)}
        if not found:
            raise NotAReferenceError(f"${{{expression}}}")
        if len(found) > 1:
            raise SeveralStacksError(f"${{{expression}}}", [each.name for each in found])
        ((stack, name),) = found.items()
        return self._in(stack.state, f"output.{name}")

    def _owner(self, reference: Reference) -> _Stack:
        """The stack that has what is referred to: the only one, or the only one in which it is defined."""
        if len(self._stacks) == 1:
            return self._stacks[0]
        own = f"${{{reference.target.whole if isinstance(reference.target, Resource) else reference.target}}}"
        defining = [each for each in self._stacks if own in each.elements]
        if not defining:
            raise NotAReferenceError(f"${{{reference}}}")
        if len(defining) > 1:
            raise SeveralStacksError(f"${{{reference}}}", [each.name for each in defining])
        return defining[0]

    def _in(self, where: str, reference: str) -> Json:
        if where not in self._states:
            self._states[where] = TerraformStates([f"{_ONE}={where}"], self._reader, sensitive=self._sensitive)
        return self._states[where].value(f"{_ONE}/{reference}")

    def state_of(self, stack: Any) -> str:  # noqa: ANN401 (a cdktf.TerraformStack)
        """Where a stack's state is.

        Raises:
            UnknownBackendError: that cannot be told, or cannot be read from here.
        """
        name = str(stack.node.id)
        if isinstance(self._state, Mapping) and name in self._state:
            return self._state[name]
        return self._state if isinstance(self._state, str) else _kept(stack)


class _Stack:
    """A stack whose tokens there may be."""

    def __init__(self, stack: Any, resolver: CdkTfResolver) -> None:  # noqa: ANN401 (a cdktf.TerraformStack)
        self._stack = stack
        self._resolver = resolver
        self.name = str(stack.node.id)

    @cached_property
    def state(self) -> str:
        return self._resolver.state_of(self._stack)

    @cached_property
    def elements(self) -> set[Json]:
        """What is defined in it, as Terraform would be given a reference to it."""
        addressable = (cdktf.TerraformResource, cdktf.TerraformDataSource)
        return {str(self._resolver.expression(each.fqn)) for each in self._constructs if isinstance(each, addressable)}

    def outputs_of(self, expression: str) -> list[str]:
        """The names of the outputs that have this value: the first will do."""
        return [name for name, value in self._outputs if value == expression][:1]

    @cached_property
    def _outputs(self) -> list[tuple[str, str | None]]:
        return [
            (str(each.friendly_unique_id), _in_braces(self._resolver.expression(each.value)))
            for each in self._constructs
            if isinstance(each, cdktf.TerraformOutput)
        ]

    @cached_property
    def _constructs(self) -> list[Any]:
        found: list[Any] = self._stack.node.find_all()
        return found


def _kept(stack: Any) -> str:  # noqa: ANN401 (a cdktf.TerraformStack)
    """Where a stack's own backend keeps its state; a stack without one keeps it in a file (cdktf, LocalBackend)."""
    name = str(stack.node.id)
    for each in stack.node.children:
        if isinstance(each, cdktf.TerraformBackend):
            ((kind, given),) = each.to_terraform()["terraform"]["backend"].items()
            if kind == "local":
                return str(given["path"])
            if kind == "s3":  # cdktf deploys into the default workspace, whose state is at the key itself.
                region = f"@{given['region']}" if given.get("region") else ""
                return f"s3://{given['bucket']}/{given['key']}{region}"
            raise UnknownBackendError(name, kind)
    return f"terraform.{name}.tfstate"


def _in_braces(given: Json) -> str | None:
    """The expression of a text that is one and nothing else."""
    if isinstance(given, str) and given.startswith("${") and given.endswith("}"):
        return given[2:-1]
    return None


def _as_asked(value: object, found: Json) -> Json:
    """As Terraform does where an attribute is of another type than it is used as."""
    if isinstance(value, str) and isinstance(found, bool | int | float):
        return json.dumps(found)
    if isinstance(value, float) and isinstance(found, str):
        made = number(found)
        if made is None:
            raise NotANumberError(repr(value))
        return made
    return found


def _starts(value: object, mark: str) -> bool:
    return isinstance(value, str) and value.startswith(mark)


def _marked(value: object, mark: bytes) -> bool:
    return isinstance(value, float) and struct.pack(">d", value)[:2] == mark


def _is_list_of_numbers(value: list[float]) -> bool:
    """Whether it is: a single number that is a token of the AWS CDK looks the same."""
    try:
        return cdktf.Tokenization.reverse_number_list(value) is not None
    except RuntimeError:
        return False
