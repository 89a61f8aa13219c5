"""The channels between stacks, as a program names them with `via`. What each does is in a module of its own. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from strongref.contract.names import is_stack_name
from strongref.contract.properties import parse_account, parse_label, parse_region
from strongref.errors import BadRequestError
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES
from strongref_objects.errors import BadChannelError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = re.compile(r"(?:/[A-Za-z0-9_.-]+)+")


@dataclass(frozen=True, slots=True)
class CloudFormation:
    """CloudFormation's own exports: one account, one region. The channel that is meant where none is named."""


@dataclass(frozen=True, slots=True)
class CrossRegion:
    """strongref's exports, which other regions can import and hold.

    To export, say whom to: `CrossRegion(regions=["eu-west-1"], consumer="web")`. To import, say whom from:
    `CrossRegion(stack="network", region="us-east-1")`.

    Attributes:
        regions: to export: where the values go; by default the stack's own region.
        consumer: to export: the importing stack's name, or a label; by default any stack may import. To import: the
            label that the export names; by default the importing stack's name.
        stack: to import: the exporting stack's name.
        region: to import: the exporting stack's region; by default the importing stack's own.
        account: to import: the exporting stack's account; by default the importing stack's own.
        shared: to import: from what any stack may import.
        value_bytes: to import at deployment: what a value has at most, since all of one import share an answer. Where
            it is said in two ways, the larger counts.
    """

    regions: Sequence[str] = ()
    consumer: str | None = None
    stack: str | None = None
    region: str | None = None
    account: str | None = None
    shared: bool = False
    value_bytes: int = field(default=VALUE_BYTES, compare=False)

    def __post_init__(self) -> None:
        """Check what can be checked before it is known what it is for.

        Raises:
            BadChannelError: something of it cannot be.
        """
        given = (self.regions,) if isinstance(self.regions, str) else self.regions
        object.__setattr__(self, "regions", tuple(dict.fromkeys(given)))
        try:
            for region in (*self.regions, *([self.region] if self.region is not None else ())):
                parse_region("a region", region)
            if self.account is not None:
                parse_account("account", self.account)
            if self.consumer is not None:
                parse_label("consumer", self.consumer)
        except BadRequestError as error:
            problem = str(error)
        else:
            problem = self._wrong()
        if problem:
            raise BadChannelError(problem)

    def _wrong(self) -> str:
        if self.stack is not None and not is_stack_name(str(self.stack)):
            return f"stack: {f'{self.stack}'[:60]!r} came; the exporting stack's name is needed"
        if type(self.value_bytes) is not int or not 1 <= self.value_bytes <= DATA_BYTES:
            return f"value_bytes: a number from 1 to {DATA_BYTES} is needed"
        return ""

    def check_export(self) -> None:
        """Raises `BadChannelError` if this says whom to import from."""
        if self.stack is not None or self.region is not None or self.account is not None or self.shared:
            raise BadChannelError(
                "stack, region, account and shared say whom to import from; to export give regions and consumer"
            )
        if self.value_bytes != VALUE_BYTES:
            raise BadChannelError("value_bytes is for imports, which share an answer; to export leave it out")

    def check_import(self) -> None:
        """Raises `BadChannelError` if this does not say whom to import from, or whom to export to."""
        if self.stack is None:
            raise BadChannelError("to import give the exporting stack's name: CrossRegion(stack=…)")
        if self.regions:
            raise BadChannelError("regions says where to export to; to import give stack, region and account")
        if self.shared and self.consumer is not None:
            raise BadChannelError("consumer has no meaning with shared=True; leave one of the two out")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Plain parameters below a prefix of Parameter Store: readable at run time too, and held by nobody.

    Attributes:
        prefix: as in `/shared/network`.
    """

    prefix: str

    def __post_init__(self) -> None:
        """Raises `BadChannelError` if the prefix is none, or in somebody else's part of Parameter Store."""
        prefix = self.prefix.rstrip("/")
        object.__setattr__(self, "prefix", prefix)
        if not _PREFIX.fullmatch(prefix):
            raise BadChannelError(
                f"{self.prefix[:60]!r} is no prefix of parameters; give one like /shared/network, of letters, digits, "
                "_, . and -"
            )
        first = prefix.split("/")[1].lower()
        if first.startswith(("aws", "ssm")):
            raise BadChannelError(f"{prefix[:60]!r}: names that begin with aws or ssm are AWS's own")
        if first == "strongref":
            raise BadChannelError(f"{prefix[:60]!r}: what is below /strongref is strongref's own; use CrossRegion")


Channel: TypeAlias = CloudFormation | CrossRegion | Parameters
