"""Stacks of the CDK for Terraform: their outputs and resources, and the stack and the state of a token."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import cdktf

from strongref.errors import or_else
from strongref.macro.template import mapped
from strongref_cdk8s.errors import UnknownBackendError, UnreadableTokenError, shown_tokens
from strongref_cdk8s.resolver import check_is_value

if TYPE_CHECKING:
    from strongref.untyped import AnyJson
    from strongref_toolkit.json_values import Json

_ADDRESSABLE = (cdktf.TerraformResource, cdktf.TerraformDataSource)


class ExpressionReader:
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
            found: Json = self._resolve(value, preparing=False)
        except RuntimeError as error:
            problem = str(error)
        else:
            return found
        raise UnreadableTokenError(shown_tokens(value), problem)

    def stack_of(self, value: object) -> cdktf.TerraformStack:
        """The stack of the first reference in a value; None if it has no reference."""
        self._scope.found = None
        with suppress(RuntimeError):  # from add_dependency below; or unreadable, which `expression` reports
            self._resolve(_addressed(value), preparing=True)
        return self._scope.found

    def _resolve(self, value: object, *, preparing: bool) -> AnyJson:
        resolver = cdktf.DefaultTokenResolver(cdktf.StringConcat())
        return cdktf.Tokenization.resolve(value, scope=self._scope, resolver=resolver, preparing=preparing)

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


class DefinedStack:
    def __init__(self, stack: cdktf.TerraformStack, expressions: ExpressionReader) -> None:
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
        return or_else(lambda: in_braces(self._expressions.expression(value)), None)


def _addressed(value: object) -> object:
    """A value with addresses in place of whole resources, as a `TerraformOutput` writes them."""
    found: object = mapped(value, lambda each: each.fqn if isinstance(each, _ADDRESSABLE) else each)
    return found


def state_in_backend(stack: cdktf.TerraformStack) -> str:
    """Where a stack's own backend keeps its state; without a backend, in a file (cdktf, LocalBackend).

    Raises:
        UnknownBackendError: strongref cannot read that kind of backend.
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
    """The expression in `${…}`; None for any other value."""
    if isinstance(given, str) and given.startswith("${") and given.endswith("}"):
        return given[2:-1]
    return None
