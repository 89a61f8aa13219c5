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

    def beside(self, resource: str) -> str:
        """The ARN of another resource of the same service, region and account."""
        return f"arn:{self.partition}:{self.service}:{self.region}:{self.account}:{resource}"
