"""Stacks of the CDK for Terraform: what is in them, which one a token belongs to, and where each one's state is."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import cdktf

from strongref_cdk8s import literals
from strongref_cdk8s.errors import UnknownBackendError, UnreadableTokenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_toolkit.json_values import Json


class Expressions:
    """Reads tokens."""

    def of(self, value: Any) -> Json:  # noqa: ANN401 (text, a list, a map, a number or one of cdktf's own objects)
        """What Terraform would be given for a value, as in `${aws_s3_bucket.b.arn}`.

        Raises:
            UnreadableTokenError: cdktf does not know the token.
        """
        try:
            found: Json = self._resolve(value, preparing=False)
        except RuntimeError as error:
            problem = str(error)
        else:
            return found
        raise UnreadableTokenError(literals.marks(value), problem)

    def stack_of(self, value: Any) -> Any:  # noqa: ANN401 (as above; a cdktf.TerraformStack)
        """The stack that the first reference in a value belongs to; None where there is none."""
        self._scope.found = None
        with suppress(RuntimeError):  # Ours, below; or it cannot be read, which is told when it is.
            self._resolve(value, preparing=True)
        return self._scope.found

    def _resolve(self, value: Any, *, preparing: bool) -> Any:  # noqa: ANN401 (as above)
        resolver = cdktf.DefaultTokenResolver(cdktf.StringConcat())
        return cdktf.Tokenization.resolve(value, scope=self._scope, resolver=resolver, preparing=preparing)

    @cached_property
    def _scope(self) -> _Scope:
        with TemporaryDirectory() as folder:  # cdktf makes one for what it would write.
            return _Scope(cdktf.App(outdir=folder), "strongref")


class _Scope(cdktf.TerraformStack):  # type: ignore[misc]  # cdktf is not read by mypy
    """A stack of no app's: in any other one, what belongs to one stack is written as a reference between two.

    Before cdktf makes such a reference, it tells the one stack that it depends on the other (cdktf 0.21.0, lib/app.js,
    crossStackReference). Here it goes no further, so that nothing is put into either.
    """

    found: Any = None

    def add_dependency(self, dependency: Any) -> None:  # noqa: ANN401 (a cdktf.TerraformStack)
        self.found = dependency
        raise RuntimeError("that is all")


class Output(NamedTuple):
    """A `TerraformOutput`.

    Attributes:
        name: in the state.
        expression: that it has as its value; None where that is none.
        value: as the program gave it.
    """

    name: str
    expression: str | None
    value: Any


class Stack:
    """A stack whose tokens there may be."""

    def __init__(self, stack: Any, expressions: Expressions, state_of: Callable[[Any], str]) -> None:  # noqa: ANN401 (a cdktf.TerraformStack)
        self.construct = stack
        self.name = str(stack.node.id)
        self._expressions = expressions
        self._state_of = state_of

    @cached_property
    def state(self) -> str:
        return self._state_of(self.construct)

    def defines(self, address: str) -> bool:
        """Whether a resource or data source of that address is in it."""
        addressable = (cdktf.TerraformResource, cdktf.TerraformDataSource)
        fqns = (each.fqn for each in self.construct.node.find_all() if isinstance(each, addressable))
        return any(self._expressions.of(fqn) == f"${{{address}}}" for fqn in fqns)

    def outputs_of(self, expression: str) -> list[Output]:
        """The outputs that have this value."""
        return [each for each in self._outputs if each.expression == expression]

    def forget(self) -> None:
        """It may have other outputs by now."""
        self.__dict__.pop("_outputs", None)

    @cached_property
    def _outputs(self) -> list[Output]:
        return [
            Output(str(each.friendly_unique_id), in_braces(self._expressions.of(each.value)), each.value)
            for each in self.construct.node.find_all()
            if isinstance(each, cdktf.TerraformOutput)
        ]


def kept(stack: Any) -> str:  # noqa: ANN401 (a cdktf.TerraformStack)
    """Where a stack's own backend keeps its state; a stack without one keeps it in a file (cdktf, LocalBackend).

    Raises:
        UnknownBackendError: it cannot be read from here.
    """
    name = str(stack.node.id)
    for each in stack.node.children:
        if isinstance(each, cdktf.TerraformBackend):
            settings = each.to_terraform()["terraform"]
            if "backend" not in settings:
                raise UnknownBackendError(name, next(iter(settings), "none"))
            ((kind, given),) = settings["backend"].items()
            if kind == "local":  # Terraform runs in the stack's own folder (cdktf 0.21.0, lib/manifest.js).
                return str(Path(stack.node.root.outdir, "stacks", name, given["path"]))
            if kind == "s3":  # cdktf deploys into the default workspace, whose state is at the key itself.
                region = f"@{given['region']}" if given.get("region") else ""
                return f"s3://{given['bucket']}/{given['key']}{region}"
            raise UnknownBackendError(name, kind)
    return f"terraform.{name}.tfstate"


def in_braces(given: Json) -> str | None:
    """The expression of a text that is one and nothing else."""
    if isinstance(given, str) and given.startswith("${") and given.endswith("}"):
        return given[2:-1]
    return None
