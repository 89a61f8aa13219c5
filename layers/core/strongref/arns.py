"""ARNs: `arn:<partition>:<service>:<region>:<account>:<resource>`. Pure. The only reader of ARNs in the project.

The resource is an ID, or a type and an ID with `/` or `:` in between (AWS: IAM User Guide, Amazon Resource Names). An
ID may hold such separators itself, and a path may precede it: an ARN does not say which of the two it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_ARN = re.compile(r"arn:([^:\s]+):([^:\s]+):([^:\s]*):([^:\s]*):(\S.*)", re.DOTALL)
_SEPARATOR = re.compile("[/:]")
_ACCOUNT_ID = re.compile("[0-9]{12}")
_STACK = re.compile(r"stack/([A-Za-z][A-Za-z0-9-]*)/([^/:\s]+)")

_PARTITIONS = {
    "cn-": "aws-cn",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
}
"""By prefix of their region codes (botocore: partitions.json)."""


def is_arn(text: str) -> bool:
    return Arn.parse(text) is not None


def partition_of(region: str) -> str:
    """The partition of a region code: `aws-cn` for `cn-north-1`, `aws` for most."""
    return next((partition for prefix, partition in _PARTITIONS.items() if region.startswith(prefix)), "aws")


@dataclass(frozen=True, slots=True)
class Arn:
    partition: str  # as in `aws`
    service: str  # as in `lambda`
    region: str  # empty for global services
    account: str  # an account ID; empty for some services, and `aws` for AWS's own policies
    resource: str  # everything after the account, as in `function:web`

    @classmethod
    def parse(cls, text: str) -> Arn | None:
        """The ARN's fields; None if the text is not an ARN."""
        found = _ARN.fullmatch(text)
        return cls(*found.groups()) if found else None

    @classmethod
    def of(cls, text: str) -> Arn:
        """The fields of what AWS gave as an ARN. Raises `ValueError` if the text is not one."""
        if arn := cls.parse(text):
            return arn
        raise ValueError(text)

    def __str__(self) -> str:
        return f"arn:{self.partition}:{self.service}:{self.region}:{self.account}:{self.resource}"

    @property
    def resource_type(self) -> str:
        """`function` in `function:web`; empty if the resource is an ID alone."""
        resource_type, *rest = _SEPARATOR.split(self.resource.removeprefix("/"), maxsplit=1)
        return resource_type if rest else ""

    @property
    def resource_id(self) -> str:
        """Everything after the resource type: the ID, and the path before it if there is one."""
        return _SEPARATOR.split(self.resource.removeprefix("/"), maxsplit=1)[-1]

    @property
    def last_segment(self) -> str:
        """Everything after the last separator: the ID, unless the ID itself holds a separator."""
        return _SEPARATOR.split(self.resource)[-1]

    def with_resource(self, resource: str) -> Arn:
        """The ARN of another resource of the same service, region and account."""
        return replace(self, resource=resource)

    @property
    def stack(self) -> tuple[str, str] | None:
        """The name and the unique ID of the stack; None if it is not the ARN of one."""
        found = _STACK.fullmatch(self.resource)
        is_complete = self.service == "cloudformation" and self.region and _ACCOUNT_ID.fullmatch(self.account)
        return (found[1], found[2]) if found and is_complete else None

    @property
    def has_account_id(self) -> bool:
        return _ACCOUNT_ID.fullmatch(self.account) is not None

    def is_in_account_other_than(self, account: str) -> bool:
        """Whether the ARN has an account ID, and a different one. An ARN without one could be of any account."""
        return self.has_account_id and self.account != account
