"""What a look-up is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from strongref.contract.arns import Arn, partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from strongref.aws.cloud_control import Resource


@dataclass(frozen=True, slots=True)
class Wanted:
    """One resource, by one of the things that it is known by.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        physical_id: what CloudFormation knows it by, its `Ref`.
        arn: its ARN.
        name: what its service calls it.
        tags: tags that it has, and no other resource of its type.
        properties: what else is known of it, by property: parts of a composite identifier. All of it has to be true.
        hints: the same, of a template: parts of the identifier have to be true. The rest only helps to list them:
            it may have changed since, and a service may write it in another way.
        account: the number of the account where it is looked for, if that is known: ARNs of others are none of its.
    """

    type_name: str
    physical_id: str | None = None
    arn: str | None = None
    name: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    account: str | None = None


@dataclass(frozen=True, slots=True)
class LookupScope:
    """The region and account where resources are looked up.

    Attributes:
        region: as in `eu-west-1`.
        account: the account ID; None if unknown.
    """

    region: str
    account: str | None = None

    def may_contain(self, arn: Arn) -> bool:
        """Whether the ARN's resource could be here. ARNs of global services have no region."""
        is_elsewhere = self.account and arn.is_in_account_other_than(self.account)
        return arn.region in ("", self.region) and not is_elsewhere

    def arn(self, service: str, resource: str) -> str | None:
        """The ARN of a resource here; None if the account is unknown."""
        if self.account is None:
            return None
        return str(Arn(partition_of(self.region), service, self.region, self.account, resource))


class CloudControl(Protocol):
    """Cloud Control of one account and region, paged and paced. Every method may raise a `lookup.errors` error."""

    region: str

    def get(self, type_name: str, identifier: str) -> Resource:
        """The resource of that primary identifier (GetResource)."""
        ...

    def each(self, type_name: str, model: Mapping[str, str]) -> Iterator[Resource]:
        """Every resource of a type, page by page (ListResources).

        Args:
            type_name: as in `AWS::S3::Bucket`.
            model: the properties that its service asks for; empty where it needs none.
        """
        ...


class Tagging(Protocol):
    """The resource groups tagging API of one account and region, paged and paced."""

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        """The ARNs of what has all of these tags (GetResources)."""
        ...
