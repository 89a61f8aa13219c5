"""A VPC and its subnets. It lists those that it has, and so can only be read at synthesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_objects.base.errors import MissingMembersError, UnevenListsError
from strongref_objects.types.arn_forms import ArnForm, is_unresolved
from strongref_objects.types.declared import Declared
from strongref_objects.types.members import part, text, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.base import Text, TextList

TIERS = ("public", "private", "isolated")
"""The tiers of a VPC's subnets, as in `public_subnets`."""


class Subnets(Declared, label="tier of subnets"):
    """The subnets of one tier, in the order of their availability zones. The lists belong together, item by item."""

    subnet_ids: TextList = texts()
    availability_zones: TextList = texts(held=False)
    route_table_ids: TextList = texts()

    def __post_init__(self) -> None:
        """Raises `UnevenListsError` if the lists have different lengths."""
        super().__post_init__()
        _check_even(self.declared.label, vars(self))


class Vpc(
    Declared,
    type_name="AWS::EC2::VPC",
    arn=ArnForm("arn:{partition}:ec2:{region}:{account}:vpc/{name}", "vpc-[0-9a-f]{8,17}"),
    label="VPC",
):
    """A VPC with the subnets that it has: public, private (with a route out) and isolated ones."""

    vpc_id: Text = text("VpcId", form="{name}")
    vpc_cidr_block: Text | None = text("CidrBlock", default=None)
    public_subnets: Subnets | None = part(Subnets, default=None)
    private_subnets: Subnets | None = part(Subnets, default=None)
    isolated_subnets: Subnets | None = part(Subnets, default=None)
    nat_gateway_ids: TextList | None = texts(default=None)
    # of each subnet of a tier: the name of its group, which the CDK selects subnets by, and its addresses. They are not
    # members of `Subnets`, which without optional members are read without another lookup
    public_subnet_names: TextList | None = texts(default=None, held=False)
    private_subnet_names: TextList | None = texts(default=None, held=False)
    isolated_subnet_names: TextList | None = texts(default=None, held=False)
    public_subnet_ipv4_cidr_blocks: TextList | None = texts(default=None)
    private_subnet_ipv4_cidr_blocks: TextList | None = texts(default=None)
    isolated_subnet_ipv4_cidr_blocks: TextList | None = texts(default=None)

    def __post_init__(self) -> None:
        """Raises `UnevenListsError` if a tier has another number of names or addresses than of subnets."""
        super().__post_init__()
        for tier in TIERS:
            names = [f"{tier}_subnet_names", f"{tier}_subnet_ipv4_cidr_blocks"]
            subnets: Subnets | None = getattr(self, f"{tier}_subnets")
            ids = () if subnets is None else subnets.subnet_ids
            _check_even(self.declared.label, {f"{tier}_subnets": ids, **{name: getattr(self, name) for name in names}})

    @property
    def availability_zones(self) -> list[str]:
        """The zones of its subnets, sorted. Raises `MissingMembersError` if some are unresolved."""
        tiers = [each for each in (self.public_subnets, self.private_subnets, self.isolated_subnets) if each]
        zones = [zone for tier in tiers for zone in tier.availability_zones]
        if any(is_unresolved(each) for each in (*zones, *(tier.availability_zones for tier in tiers))):
            raise MissingMembersError(self.declared.label, ["availability_zones"], "intrinsic functions")
        return sorted({str(zone) for zone in zones})


def _check_even(label: str, lists: Mapping[str, object]) -> None:
    """Raises `UnevenListsError` if lists whose lengths are known have different ones."""
    lengths = {name: len(items) for name, items in lists.items() if isinstance(items, tuple)}
    if len(set(lengths.values())) > 1:
        raise UnevenListsError(label, lengths)
