"""What a lookup is asked for, and where it looks. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strongref.arns import Arn, is_arn, partition_of
from strongref.lookup.errors import ResourceQueryError


@dataclass(frozen=True, slots=True)
class ResourceQuery:
    """One resource, by its physical ID, ARN, name or tags."""

    type_name: str  # as in `AWS::S3::Bucket`
    physical_id: str | None = None  # CloudFormation's ID of it, its `Ref`
    arn: str | None = None  # its ARN
    name: str | None = None  # its name in its service
    tags: Mapping[str, str] = field(default_factory=dict)  # tags that it has, and no other resource of its type
    # its other properties, as parts of a composite identifier. All of them must match
    properties: Mapping[str, str] = field(default_factory=dict)
    # properties that a template gives. Parts of the identifier must match. The rest only helps to list resources: it
    # may have changed since, and a service may write it in another way
    hints: Mapping[str, str] = field(default_factory=dict)
    account: str | None = None  # the account ID, if known. ARNs of other accounts do not match

    def describe(self) -> str:
        """The resource in words: `physical ID web`. Of tags, only the keys.

        Raises:
            ResourceQueryError: it is not given in exactly one way, or that is empty or malformed.
        """
        ways = {"physical ID": self.physical_id, "ARN": self.arn, "name": self.name, "tags": self.tags or None}
        given = {way: text for way, text in ways.items() if text is not None}
        if len(given) != 1:
            got = " and ".join(given) or "nothing"
            raise ResourceQueryError(self.type_name, f"give one of physical ID, ARN, name and tags, got {got}")
        ((way, text),) = given.items()
        if not (text.strip() if isinstance(text, str) else text):
            raise ResourceQueryError(self.type_name, f"the {way} must not be empty")
        if way == "ARN" and not is_arn(str(text)):
            raise ResourceQueryError(self.type_name, "this is not an ARN; give it as the physical ID, or as the name")
        return f"{way} {', '.join(self.tags) if way == 'tags' else text}"


@dataclass(frozen=True, slots=True)
class LookupScope:
    region: str  # as in `eu-west-1`
    account: str | None = None  # the account ID; None if unknown

    def may_contain(self, arn: Arn) -> bool:
        """Whether the ARN's resource could be here. ARNs of global services have no region."""
        is_elsewhere = self.account and arn.is_in_account_other_than(self.account)
        return arn.region in ("", self.region) and not is_elsewhere

    def arn(self, service: str, resource: str) -> str | None:
        """The ARN of a resource here; None if the account is unknown."""
        if self.account is None:
            return None
        return str(Arn(partition_of(self.region), service, self.region, self.account, resource))
