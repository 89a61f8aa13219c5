"""Tokens of the CDK for Terraform in a cdk8s app: each is replaced by a value from Terraform's state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import cdktf

from strongref.errors import or_else
from strongref.macro.template import mapped
from strongref.memo import Memo
from strongref_cdk8s import errors
from strongref_cdk8s.resolver import MarkedResolver, NotWhole, check_is_value, is_marked, is_of_library
from strongref_manifests.errors import BadAddressError, NoSuchAddressError
from strongref_manifests.leftovers import CDK_NUMBER, CDKTF_NUMBER
from strongref_manifests.terraform.addresses import TerraformOutput, TerraformReference, TerraformResource
from strongref_manifests.terraform.source import read_at, value_of
from strongref_toolkit.jsii_objects import same
from strongref_toolkit.json_values import EXACT, Json, number, texts_in
from strongref_toolkit.session import ToolSession

if TYPE_CHECKING:
    from strongref_manifests.terraform.states import TerraformState

_INTERPOLATION = re.compile(r"(?<!\$)\$\{|(?<!%)%\{")
"""Text that Terraform would evaluate."""

_ADDRESSABLE = (cdktf.TerraformResource, cdktf.TerraformDataSource)


class CdkTfResolver(MarkedResolver):
    """Replaces tokens of the CDK for Terraform by values from Terraform's states.

    A reference to an attribute is found by its address. An expression that only Terraform can evaluate, such as a
    function call, is found by the `TerraformOutput` that has it as its value, if the stack is given.
    """

    mark = re.compile(r"([$#]\{TfToken\[[a-zA-Z0-9:._-]+\]\})")
    any_mark = re.compile(r"[$#&]\{TfToken\[[^\]\n]*\]\}")
    number = CDKTF_NUMBER

    def __init__(
        self,
        *stacks: Any,
        state: str | Mapping[str, str] | None = None,
        sensitive: bool = False,
        allow: Iterable[str] = (),
        region: str | None = None,
        role: str | None = None,
    ) -> None:
        """Create one, for one app.

        Args:
            *stacks: all stacks that the app has tokens of; may be left out for a single stack if `state` is a string.
            state: a state file, a file with the output of `terraform show -json`, or
                `s3://BUCKET/KEY[@REGION][#ACCOUNT]`; for several stacks, a map of these by stack ID. By default the
                location in each stack's backend, which must be local or S3.
            sensitive: whether sensitive values may be written.
            allow: addresses of sensitive values that may be written in any case.
            region: the region of states in S3 whose address has none; by default the environment's.
            role: the ARN of the role to assume for states in other accounts, with `ACCOUNT` in place of the account ID.

        Raises:
            BadAddressError: an address is none.
            NoStateGivenError: neither stacks nor a state are given.
            OneStateError: one state is given for several stacks.
        """
        if not stacks and not isinstance(state, str):
            raise errors.NoStateGivenError
        if len(stacks) > 1 and isinstance(state, str):
            raise errors.OneStateError([str(each.node.id) for each in stacks])
        super().__init__()
        self._expressions = _ExpressionReader()
        self._stacks = [_DefinedStack(each, self._expressions) for each in stacks]
        self._only: Any = None
        self._state = state
        self._sensitive = sensitive
        self._allowed = [TerraformReference.parse(each, whole=True) for each in allow]
        self._aws = lambda: ToolSession.start().aws(region, role)
        self._states: Memo[str, TerraformState] = Memo()

    def begin(self) -> None:
        super().begin()
        # The program may have changed the stacks' outputs.
        self._stacks = [_DefinedStack(each.construct, self._expressions) for each in self._stacks]

    def concerns(self, value: object) -> bool:
        if isinstance(value, str):
            return "{TfToken[" in value
        if isinstance(value, list) and len(value) == 1:
            return _starts(value[0], "#{TfToken[") or (is_marked(value[0], CDK_NUMBER) and _is_list_of_numbers(value))
        if isinstance(value, dict):
            return len(value) == 1 and _starts(next(iter(value)), "&{TfToken[")
        return is_marked(value, CDKTF_NUMBER) or is_of_library("cdktf", value)

    def whole(self, value: object) -> Json:
        if isinstance(value, str) and len(list(self.split(value))) > 1:
            raise NotWhole
        if isinstance(value, str | float | list | dict):
            return self._values.get(f"{type(value).__name__} {value}", lambda: self._value(value))
        return self._value(value)

    def _value(self, value: object) -> Json:
        given = self._expressions.expression(value)
        expression = _in_braces(given)
        if expression is None:
            for _, each in texts_in(given):
                if _INTERPOLATION.search(each):
                    raise errors.NotAReferenceError(errors.shown_expression(errors.shown_tokens(value)))
            return given
        owner = self._expressions.stack_of(value)
        try:
            reference = TerraformReference.parse(expression, whole=True)
        except BadAddressError:
            found = self._output(expression, owner)
        else:
            found = self._in(self._state_with(reference, owner), reference)
        return _as_asked(value, found, expression)

    def _output(self, expression: str, owner: cdktf.TerraformStack) -> Json:
        shown = f"${{{errors.shown_expression(expression)}}}"
        found = [
            (stack, name)
            for stack in self._stacks
            for name, declared, value in stack.outputs
            if declared == expression and same(self._expressions.stack_of(value), owner)
        ]
        if not found:
            raise errors.NotAReferenceError(shown)
        stacks = {stack.name: stack for stack, _ in found}
        if owner is None and len(stacks) > 1:
            raise errors.SeveralStacksError(shown, list(stacks))
        failures = []
        for stack, name in sorted(found, key=lambda each: not same(each[0].construct, owner)):
            try:
                return self._in(self._state_of(stack.construct), TerraformReference(TerraformOutput(name)))
            except NoSuchAddressError as error:  # another output with this value may be applied already
                failures.append(error)
        raise failures[0]

    def _state_with(self, reference: TerraformReference, owner: cdktf.TerraformStack) -> str:
        """The location of the state that has a reference: that of the reference's own stack."""
        if not self._stacks:
            if owner is not None and self._only is not None and not same(self._only, owner):
                stacks = [str(each.node.path) for each in (self._only, owner)]
                raise errors.SeveralStacksError(f"${{{reference}}}", stacks)
            self._only = self._only or owner
            return str(self._state)
        if owner is not None:
            for each in self._stacks:
                if same(each.construct, owner):
                    return self._state_of(owner)
            raise errors.StackNotGivenError(f"${{{reference}}}", str(owner.node.path))
        address = reference.target.whole if isinstance(reference.target, TerraformResource) else str(reference.target)
        defining = [each for each in self._stacks if len(self._stacks) == 1 or each.defines(address)]
        if not defining:
            raise errors.NotAReferenceError(f"${{{reference}}}")
        if len(defining) > 1:
            raise errors.SeveralStacksError(f"${{{reference}}}", [each.name for each in defining])
        return self._state_of(defining[0].construct)

    def _in(self, where: str, reference: TerraformReference) -> Json:
        state = self._states.get(where, lambda: read_at(where, self._aws))
        return value_of(state, reference, sensitive=self._sensitive, allowed=self._allowed)

    def _state_of(self, stack: cdktf.TerraformStack) -> str:
        name = str(stack.node.id)
        if isinstance(self._state, Mapping) and name in self._state:
            return self._state[name]
        return self._state if isinstance(self._state, str) else _state_in_backend(stack)


def _as_asked(value: object, found: Json, expression: str) -> Json:
    """A value of the type that its token is used as, converted as Terraform does."""
    if isinstance(value, str) and isinstance(found, bool | int | float):
        return json.dumps(found)
    if isinstance(value, float):
        made = number(found) if isinstance(found, str) else found
        if made is None or (isinstance(made, int) and abs(made) > EXACT):
            raise errors.NotANumberError(repr(value), f"${{{errors.shown_expression(expression)}}}")
        return made
    return found


def _starts(value: object, mark: str) -> bool:
    return isinstance(value, str) and value.startswith(mark)


def _is_list_of_numbers(value: list[float]) -> bool:
    """Whether cdktf knows it: a number that is a token of the AWS CDK looks the same."""
    try:
        return cdktf.Tokenization.reverse_number_list(value) is not None
    except RuntimeError:
        return False


class _ExpressionReader:
    """Reads tokens as Terraform expressions."""

    def expression(self, value: object) -> Json:
        """What Terraform would get for a value, as in `${aws_s3_bucket.b.arn}`.

        Raises:
            ConstructGivenError: it is a construct that has no address in a state.
            UnreadableTokenError: cdktf cannot resolve the token.
        """
        value = _addressed(value)
        check_is_value(value)
        try:
            return self._resolve(value, preparing=False)
        except RuntimeError as error:
            problem = str(error)
        raise errors.UnreadableTokenError(errors.shown_tokens(value), problem)

    def stack_of(self, value: object) -> cdktf.TerraformStack:
        """The stack of the first reference in a value; None if it has no reference."""
        self._scope.found = None
        with suppress(RuntimeError):  # from add_dependency below; or unreadable, which `expression` reports
            self._resolve(_addressed(value), preparing=True)
        return self._scope.found

    def _resolve(self, value: object, *, preparing: bool) -> Json:
        resolver = cdktf.DefaultTokenResolver(cdktf.StringConcat())
        found: Json = cdktf.Tokenization.resolve(value, scope=self._scope, resolver=resolver, preparing=preparing)
        return found

    @cached_property
    def _scope(self) -> _Scope:
        with TemporaryDirectory() as folder:  # cdktf creates its output folder at once
            return _Scope(cdktf.App(outdir=folder), "strongref")


class _Scope(cdktf.TerraformStack):  # type: ignore[misc]  # cdktf is not read by mypy
    """A stack outside of all apps, so that every reference is one between stacks.

    Before cdktf writes such a reference, it makes the using stack depend on the other one (cdktf 0.21.0, lib/app.js,
    crossStackReference). This one stops it there, so that neither stack changes.
    """

    found: Any = None

    def add_dependency(self, dependency: cdktf.TerraformStack) -> None:
        self.found = dependency
        raise RuntimeError("stop here")


class _DefinedStack:
    def __init__(self, stack: cdktf.TerraformStack, expressions: _ExpressionReader) -> None:
        self.construct = stack
        self.name = str(stack.node.id)
        self._expressions = expressions

    def defines(self, address: str) -> bool:
        """Whether the stack has a resource or data source with that address."""
        fqns = (each.fqn for each in self.construct.node.find_all() if isinstance(each, _ADDRESSABLE))
        return any(self._expressions.expression(fqn) == f"${{{address}}}" for fqn in fqns)

    @cached_property
    def outputs(self) -> list[tuple[str, str | None, Any]]:
        """Each output's name in the state, its value's expression (None if it is not one), and the value as given."""
        outputs = (each for each in self.construct.node.find_all() if isinstance(each, cdktf.TerraformOutput))
        return [(str(each.friendly_unique_id), self._read(each.value), each.value) for each in outputs]

    def _read(self, value: object) -> str | None:
        # The value of another output may still be readable.
        return or_else(lambda: _in_braces(self._expressions.expression(value)), None)


def _addressed(value: object) -> object:
    """A value with addresses in place of whole resources, as a `TerraformOutput` writes them."""
    found: object = mapped(value, lambda each: each.fqn if isinstance(each, _ADDRESSABLE) else each)
    return found


def _state_in_backend(stack: cdktf.TerraformStack) -> str:
    """Where a stack's own backend keeps its state; without a backend, in a file (cdktf, LocalBackend).

    Raises:
        UnknownBackendError: strongref cannot read that kind of backend.
    """
    name = str(stack.node.id)
    for each in stack.node.children:
        if isinstance(each, cdktf.TerraformBackend):
            settings = each.to_terraform()["terraform"]
            if "backend" not in settings:
                raise errors.UnknownBackendError(name, next(iter(settings), "none"))
            ((kind, given),) = settings["backend"].items()
            if kind == "local":  # Terraform runs in the stack's own folder (cdktf 0.21.0, lib/manifest.js).
                return str(Path(stack.node.root.outdir, "stacks", name, given["path"]))
            if kind == "s3":  # cdktf deploys into the default workspace, whose state is at the key itself.
                region = f"@{given['region']}" if given.get("region") else ""
                return f"s3://{given['bucket']}/{given['key']}{region}"
            raise errors.UnknownBackendError(name, kind)
    return f"terraform.{name}.tfstate"


def _in_braces(given: Json) -> str | None:
    """The expression in `${…}`; None for any other value."""
    if isinstance(given, str) and given.startswith("${") and given.endswith("}"):
        return given[2:-1]
    return None
