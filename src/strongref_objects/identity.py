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

from strongref.contract.properties import parse_account, parse_region, shown
from strongref.errors import BadRequestError
from strongref_objects.collecting import came, is_function
from strongref_objects.identity_errors import BadPlaceError, NotTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from strongref.contract.arns import Arn
    from strongref_objects.base import Text

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

_PARTITION = re.compile("aws(-[a-z]+)*")

_FORM = re.compile(r"arn:(\{partition\}|[^:{}]+):[^:{}]+:(\{region\}|[^:{}]*):(\{account\}|[^:{}]*):.+")

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
    def problem(self) -> str | None:
        """What is wrong with the form itself; None if nothing is."""
        if not _FORM.fullmatch(self.text):
            return "an ARN has six fields, as in arn:{partition}:sqs:{region}:{account}:{name}"
        if self.text.partition("{name}")[1:] != ("{name}", ""):
            return "{name} has to stand at the end of an ARN, once"
        return None

    @property
    def _prefix(self) -> str:
        """What stands before the name in an ARN's last field, as in `table/`."""
        return self.text.split(":", 5)[5].removesuffix("{name}")

    def fits(self, arn: Arn) -> bool:
        """Whether it is the ARN of such a resource."""
        if self.problem:  # Of a class that was refused for it, which Python keeps for a while.
            return False
        _, partition, service, region, account, _ = self.text.split(":", 5)
        told = [(partition, arn.partition), (region, arn.region), (account, arn.account)]
        right = (
            _is(parse, text) if form.startswith("{") else form == text
            for (form, text), parse in zip(told, PLACES.values(), strict=True)
        )
        return service == arn.service and all(right) and self._name_in(arn) is not None

    def is_name(self, text: str) -> bool:
        """Whether a resource can be called so."""
        return re.fullmatch(self.name, text) is not None

    def pieces(self, arn: Arn) -> dict[str, Text]:
        """What such a resource's ARN says."""
        found = {"arn": str(arn), "name": self._name_in(arn) or "", **_of_partition(arn.partition)}
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
        *path, name = rest.split("/") if self.has_path else [rest]
        return name if all(re.fullmatch("[!-~]+", each) for each in path) and self.is_name(name) else None


def parse_partition(prop: str, given: object) -> str:
    if not isinstance(given, str) or not _PARTITION.fullmatch(given):
        raise BadRequestError(prop, f"{shown(given)} came; a partition is needed, as in aws or aws-cn")
    return given


PLACES: Mapping[str, Callable[[str, object], str]] = {
    "partition": parse_partition,
    "region": parse_region,
    "account": parse_account,
}
"""What checks where something is, by the names of the arguments that say it."""


def is_unresolved(value: object) -> bool:
    """Whether something stands for a value: one of CloudFormation's functions, or a token of the CDK."""
    return isinstance(value, Mapping) or (isinstance(value, str) and _TOKEN in value)


def check_text(label: str, what: str, given: object) -> None:
    """See that something is text, or stands for it.

    Args:
        label: of whose ARN or name it should be, as in `bucket`.
        what: `ARN` or `name`.
        given: what came.

    Raises:
        NotTextError: it is not.
    """
    if not isinstance(given, str) and not is_function(given):
        raise NotTextError(label, what, came(given))


def check_place(label: str, given: Mapping[str, object]) -> None:
    """See that something can be in a partition, region and account.

    Args:
        label: of what is there, as in `queue`.
        given: by the names of `PLACES`; None where nothing was.

    Raises:
        BadPlaceError: it cannot.
    """
    for argument, value in given.items():
        if value is None or is_function(value) or (isinstance(value, str) and is_unresolved(value)):
            continue
        try:
            PLACES[argument](argument, value)
        except BadRequestError as error:
            problem = error.problem
        else:
            continue
        raise BadPlaceError(label, argument, problem)


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


def _is(parse: Callable[[str, object], str], text: str) -> bool:
    try:
        parse("", text)
    except BadRequestError:
        return False
    return True


def _of_partition(partition: Text) -> dict[str, Text]:
    known = isinstance(partition, str) and not is_unresolved(partition)
    suffix = _SUFFIXES.get(str(partition), "amazonaws.com") if known else _pseudo("suffix")
    return {"partition": partition, "suffix": suffix}


def _pseudo(name: str) -> dict[str, Any]:
    return {"Ref": _PSEUDO[name]}


def _select(number: int, separator: str, text: Text) -> dict[str, Any]:
    return {"Fn::Select": [number, {"Fn::Split": [separator, text]}]}
