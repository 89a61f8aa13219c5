"""The channels between stacks, as a program chooses one with `via`. Each has a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from strongref.contract.names import is_stack_name
from strongref.contract.properties import parse_account, parse_label, parse_region
from strongref.errors import BadRequestError
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES
from strongref_objects.base.errors import BadChannelError

_PREFIX = re.compile(r"(?:/[A-Za-z0-9_.-]+)+")


@dataclass(frozen=True, slots=True)
class CloudFormation:
    """CloudFormation's own exports: one account, one region. The default channel."""


@dataclass(frozen=True, slots=True)
class CrossRegion:
    """strongref's exports, which stacks in other regions and accounts can import and claim.

    An export names its consumers: `CrossRegion(regions=["eu-west-1"], consumer="web")`. An import names the exporting
    stack: `CrossRegion(stack="network", region="us-east-1")`, and its account if that is another one.
    """

    regions: Sequence[str] = ()  # for exports: the consumers' regions; by default the stack's own region
    # for exports: the importing stack's name, or a label; by default any stack may import. For imports: the label
    # that the export names; by default the importing stack's name
    consumer: str | None = None
    stack: str | None = None  # for imports: the exporting stack's name
    region: str | None = None  # for imports: the exporting stack's region; by default the importing stack's own
    account: str | None = None  # for imports: the exporting stack's account; by default the importing stack's own
    shared: bool = False  # for imports: whether to import what any stack may import
    # for imports at deployment: the most bytes that a value can have, since all values of an Import share one
    # response. Of several sizes, the largest counts
    value_bytes: int = field(default=VALUE_BYTES, compare=False)
    # for exports: whether imports make CloudFormation refuse to delete the exporting stack and to remove the Export
    hold: bool = True
    # for exports: the consumers' accounts, each of which has to trust this one; by default the stack's own account
    accounts: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raises `BadChannelError` if an argument is not valid in either direction."""
        for name in ("regions", "accounts"):
            given = getattr(self, name)
            object.__setattr__(self, name, tuple(dict.fromkeys((given,) if isinstance(given, str | int) else given)))
        try:
            for region in (*self.regions, *([self.region] if self.region is not None else ())):
                parse_region("a region", region)
            for account in self.accounts:
                parse_account("an account", account)
            if self.account is not None:
                parse_account("account", self.account)
            if self.consumer is not None:
                parse_label("consumer", self.consumer)
        except BadRequestError as error:
            raise BadChannelError(str(error)) from None
        if self.stack is not None and not is_stack_name(str(self.stack)):
            raise BadChannelError(f"stack must be the exporting stack's name, got {f'{self.stack}'[:60]!r}")
        if type(self.value_bytes) is not int or not 1 <= self.value_bytes <= DATA_BYTES:
            raise BadChannelError(f"value_bytes must be a number from 1 to {DATA_BYTES}")

    @property
    def places(self) -> list[tuple[str, str]]:
        """The accounts and regions to export to; empty for the stack's own."""
        return list(product(self.accounts or [""], self.regions or [""]))

    def check_export(self) -> None:
        """Raises `BadChannelError` if this has arguments for imports."""
        if self.stack is not None or self.region is not None or self.account is not None or self.shared:
            of_exports = "an export takes regions, accounts, consumer and hold"
            raise BadChannelError(f"stack, region, account and shared are for imports; {of_exports}")
        if self.value_bytes != VALUE_BYTES:
            raise BadChannelError("value_bytes is for imports, which share a response; leave it out of an export")

    def check_import(self) -> None:
        """Raises `BadChannelError` if this does not name the exporting stack, or has arguments for exports."""
        if self.stack is None:
            raise BadChannelError("an import must name the exporting stack: CrossRegion(stack=…)")
        if self.regions or self.accounts or not self.hold:
            of_imports = "an import takes stack, region and account"
            raise BadChannelError(f"regions, accounts and hold are for exports; {of_imports}")
        if self.shared and self.consumer is not None:
            raise BadChannelError("consumer and shared=True exclude each other; leave one of them out")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Plain parameters below a prefix of Parameter Store: readable at run time too; nothing holds them."""

    prefix: str  # as in `/shared/network`

    def __post_init__(self) -> None:
        """Raises `BadChannelError` if the prefix is not valid, or reserved by AWS or strongref."""
        prefix = self.prefix.rstrip("/")
        object.__setattr__(self, "prefix", prefix)
        if not _PREFIX.fullmatch(prefix):
            fix = "use one like /shared/network, of letters, digits, _, . and -"
            raise BadChannelError(f"{self.prefix[:60]!r} is not a valid prefix of parameters; {fix}")
        first = prefix.split("/")[1].lower()
        if first.startswith(("aws", "ssm")):
            raise BadChannelError(f"{prefix[:60]!r}: AWS reserves names that begin with aws or ssm")
        if first == "strongref":
            raise BadChannelError(f"{prefix[:60]!r}: strongref reserves names below /strongref; use CrossRegion")


Channel: TypeAlias = CloudFormation | CrossRegion | Parameters
