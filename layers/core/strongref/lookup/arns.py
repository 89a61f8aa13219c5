"""ARNs, as far as a resource's name has to be found in one. Pure.

`arn:<partition>:<service>:<region>:<account>:<resource>`, where the resource is a name, or a kind and a name with `/`
or `:` in between (AWS General Reference, Amazon Resource Names). A name may hold such separators itself, and a path may
stand before it: which of the two it is, an ARN does not tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ARN = re.compile(r"arn:([^:]+):([^:]*):([^:]*):([^:]*):(.+)", re.DOTALL)
_BOUNDARY = re.compile("[/:]")
_ACCOUNT = re.compile("[0-9]{12}")
_PARTITIONS = {"cn": "aws-cn", "us-gov": "aws-us-gov"}
"""By the beginnings of their regions' names; those that are closed to the public are not among them."""


def is_arn(text: str) -> bool:
    """Whether it has an ARN's six fields."""
    return _ARN.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Arn:
    """An ARN, taken apart."""

    partition: str
    service: str
    region: str
    account: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> Arn | None:
        """The ARN; None if it is none."""
        found = _ARN.fullmatch(text)
        return cls(*found.groups()) if found else None

    @property
    def kind(self) -> str:
        """What stands before the name, as `function` in `function:web`; empty where nothing does."""
        kind, *rest = _BOUNDARY.split(self.resource.removeprefix("/"), maxsplit=1)
        return kind if rest else ""

    @property
    def name(self) -> str:
        """Everything behind the kind: the name, with the path before it if there is one."""
        return _BOUNDARY.split(self.resource.removeprefix("/"), maxsplit=1)[-1]

    @property
    def ending(self) -> str:
        """What stands behind the last boundary: the name, unless that holds one itself."""
        return _BOUNDARY.split(self.resource)[-1]

    @property
    def text(self) -> str:
        return self.beside(self.resource)

    def beside(self, resource: str) -> str:
        """The ARN of another resource of the same service, region and account."""
        return f"arn:{self.partition}:{self.service}:{self.region}:{self.account}:{resource}"


@dataclass(frozen=True, slots=True)
class Here:
    """Where resources are looked for.

    Attributes:
        region: as in `eu-west-1`.
        account: its number; None where nobody told it.
    """

    region: str
    account: str | None = None

    def has(self, arn: Arn) -> bool:
        """Whether what an ARN names can be here.

        Global services' ARNs have no region, some have no account, and that of AWS's own policies is no number.
        """
        is_anothers = self.account and _ACCOUNT.fullmatch(arn.account) and arn.account != self.account
        return arn.region in ("", self.region) and not is_anothers

    def arn(self, service: str, resource: str) -> str | None:
        """The ARN of what is here; None where the account is not known."""
        if self.account is None:
            return None
        partition = next((each for start, each in _PARTITIONS.items() if self.region.startswith(f"{start}-")), "aws")
        return f"arn:{partition}:{service}:{self.region}:{self.account}:{resource}"
