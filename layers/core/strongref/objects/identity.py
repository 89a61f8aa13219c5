"""From a resource's ARN to its name and back, and on to what follows from both. Pure.

An ARN that is not known yet, since a template has a function in its place, is taken apart by CloudFormation: what
comes of it are `Fn::Select` and `Fn::Split`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from strongref.lookup.arns import Arn
    from strongref.objects.base import Text

Pieces = Mapping[str, "Text"]
"""What a form is filled with: `arn`, `name`, `partition`, `region`, `account`, `suffix`; without what is not known."""

_PSEUDO = {
    "partition": "AWS::Partition",
    "region": "AWS::Region",
    "account": "AWS::AccountId",
    "suffix": "AWS::URLSuffix",
}
"""What CloudFormation calls what the stack that refers to it has."""

_SUFFIXES = {
    "aws-cn": "amazonaws.com.cn",
    "aws-eusc": "amazonaws.eu",
    "aws-iso": "c2s.ic.gov",
    "aws-iso-b": "sc2s.sgov.gov",
    "aws-iso-e": "cloud.adc-e.uk",
    "aws-iso-f": "csp.hci.ic.gov",
}
"""Of the names of a partition's endpoints, where it is not `amazonaws.com` (botocore: partitions)."""

_PARTITIONS = {
    "cn-": "aws-cn",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
}
"""By the beginnings of their regions' names (the same)."""

_TOKEN = "{Token["  # noqa: S105 (a marker of the CDK's, no password)


@dataclass(frozen=True, slots=True)
class ArnForm:
    """How the ARNs of a type are spelled.

    Attributes:
        text: as in `arn:{partition}:dynamodb:{region}:{account}:table/{name}`.
        name: what a name has to match.
        has_path: whether a path may stand before the name, with slashes, as in roles.
    """

    text: str
    name: str = r"\S+"
    has_path: bool = False

    @property
    def _prefix(self) -> str:
        """What stands before the name in an ARN's last field, as in `table/`."""
        return self.text.split(":", 5)[5].removesuffix("{name}")

    @property
    def _service(self) -> str:
        return self.text.split(":")[2]

    def fits(self, arn: Arn) -> bool:
        """Whether it is the ARN of such a resource."""
        return arn.service == self._service and self._name_in(arn) is not None

    def is_name(self, text: str) -> bool:
        """Whether a resource can be called so."""
        return re.fullmatch(self.name, text) is not None

    def pieces(self, arn: Arn) -> dict[str, Text]:
        """What such a resource's ARN says."""
        found = {"arn": arn.text, "name": self._name_in(arn) or "", **_of_partition(arn.partition)}
        return {**found, "region": arn.region, "account": arn.account}

    def pieces_of_unresolved(self, arn: Text) -> dict[str, Text]:
        """What CloudFormation can tell from an ARN that is not known yet: no name behind a path of any length."""
        pieces: dict[str, Text] = {"arn": arn, "suffix": _pseudo("suffix")}
        pieces |= {
            name: _select(number, ":", arn) for name, number in (("partition", 1), ("region", 3), ("account", 4))
        }
        if not self.has_path:
            slashes = self._prefix.count("/")
            number = slashes or 5 + self._prefix.count(":")
            pieces["name"] = _select(number, "/" if slashes else ":", arn)
        return pieces

    def pieces_of_name(
        self, name: Text, partition: Text | None, region: Text | None, account: Text | None
    ) -> dict[str, Text]:
        """What follows from a name. What is not given is that of the stack that refers to it."""
        if partition is None and isinstance(region, str) and not is_unresolved(region):
            partition = next((each for start, each in _PARTITIONS.items() if region.startswith(start)), "aws")
        of_partition = _of_partition(partition) if partition is not None else _of_partition(_pseudo("partition"))
        pieces = {"name": name, **of_partition, "region": region or _pseudo("region")}
        pieces["account"] = account or _pseudo("account")
        arn = fill(self.text, pieces)
        return pieces if arn is None else {**pieces, "arn": arn}

    def _name_in(self, arn: Arn) -> str | None:
        if not arn.resource.startswith(self._prefix):
            return None
        rest = arn.resource.removeprefix(self._prefix)
        name = rest.rpartition("/")[2] if self.has_path else rest
        return name if self.is_name(name) else None


def is_unresolved(value: object) -> bool:
    """Whether something stands for a value: one of CloudFormation's functions, or a token of the CDK."""
    return isinstance(value, Mapping) or (isinstance(value, str) and _TOKEN in value)


def frozen(value: object) -> Hashable:
    """What stands for a value, a list or a function where things are told apart."""
    if isinstance(value, Mapping):
        return frozenset((key, frozen(each)) for key, each in value.items())
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def fill(form: str, pieces: Pieces) -> Text | None:
    """A form with its pieces: text if all of them are; None if one is not known."""
    parts: list[Text] = []
    for literal, field, *_ in Formatter().parse(form):
        for part in (literal, pieces.get(field) if field else ""):
            if part is None:
                return None
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part != "":
                parts.append(part)
    return parts[0] if len(parts) == 1 else {"Fn::Join": ["", parts]}


def _of_partition(partition: Text) -> dict[str, Text]:
    known = isinstance(partition, str) and not is_unresolved(partition)
    suffix = _SUFFIXES.get(str(partition), "amazonaws.com") if known else _pseudo("suffix")
    return {"partition": partition, "suffix": suffix}


def _pseudo(name: str) -> dict[str, Any]:
    return {"Ref": _PSEUDO[name]}


def _select(number: int, separator: str, text: Text) -> dict[str, Any]:
    return {"Fn::Select": [number, {"Fn::Split": [separator, text]}]}
