"""The forms of ARNs: from a resource's ARN to its name and back, and to what follows from both. Pure.

CloudFormation takes an unresolved ARN apart, with `Fn::Select` and `Fn::Split`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Any

from strongref.arns import Arn, partition_of
from strongref.aws.clients import dns_suffix
from strongref.contract.properties import parse_account, parse_region, string
from strongref.errors import BadRequestError, or_else
from strongref_objects.base.errors import BadLocationError, WrongTypeError
from strongref_objects.base.values import concatenated, is_function, kind_of_value

if TYPE_CHECKING:
    from strongref_objects.base import Text

Fields = Mapping[str, "Text"]
"""The fields that fill a form: `arn`, `name`, `partition`, `region`, `account`, `suffix`; unknown ones are missing."""

_PSEUDO = {
    "partition": "AWS::Partition",
    "region": "AWS::Region",
    "account": "AWS::AccountId",
    "suffix": "AWS::URLSuffix",
}
"""CloudFormation's pseudo parameters for the stack's own fields."""

_FORM = re.compile(r"arn:(\{partition\}|[^:{}]+):[^:{}]+:(\{region\}|[^:{}]*):(\{account\}|[^:{}]*):.+")

_TOKEN = "{Token["  # noqa: S105 (the CDK's marker, not a password)


@dataclass(frozen=True, slots=True)
class ArnForm:
    """The form of a type's ARNs."""

    text: str  # as in `arn:{partition}:dynamodb:{region}:{account}:table/{name}`
    name: str = r"\S+"  # the pattern of valid names
    has_path: bool = False  # whether a path with slashes can precede the name, as in roles

    @property
    def problem(self) -> str | None:
        """What is wrong with the form itself; None if nothing is."""
        if not _FORM.fullmatch(self.text):
            return "an ARN must have six fields, as in arn:{partition}:sqs:{region}:{account}:{name}"
        if self.text.partition("{name}")[1:] != ("{name}", ""):
            return "{name} must occur once in an ARN, at its end"
        return None

    @property
    def _prefix(self) -> str:
        """What precedes the name in an ARN's last field, as in `table/`."""
        return self.text.split(":", 5)[5].removesuffix("{name}")

    def fits(self, arn: Arn) -> bool:
        """Whether it is the ARN of such a resource."""
        if self.problem:  # Python keeps a class for a while even if its declaration raised an error.
            return False
        _, partition, service, region, account, _ = self.text.split(":", 5)
        fields = [(partition, arn.partition), (region, arn.region), (account, arn.account)]
        right = (
            or_else(partial(parse, "", text), None) is not None if form.startswith("{") else form == text
            for (form, text), parse in zip(fields, _PARSERS.values(), strict=True)
        )
        return service == arn.service and all(right) and self._name_in(arn) is not None

    def is_name(self, text: str) -> bool:
        return re.fullmatch(self.name, text) is not None

    def fields(self, arn: Arn) -> dict[str, Text]:
        found = {"arn": str(arn), "name": self._name_in(arn) or "", **_of_partition(arn.partition)}
        return {**found, "region": arn.region, "account": arn.account}

    def fields_of_unresolved(self, arn: Text) -> dict[str, Text]:
        """What CloudFormation can take from an unresolved ARN: everything but a name that a path can precede."""
        fields: dict[str, Text] = {"arn": arn, "suffix": _pseudo("suffix")}
        for name, number in (("partition", 1), ("region", 3), ("account", 4)):
            fields[name] = _select(number, ":", arn)
        if not self.has_path:
            slashes = self._prefix.count("/")
            number = slashes or 5 + self._prefix.count(":")
            fields["name"] = _select(number, "/" if slashes else ":", arn)
        return fields

    def fields_of_name(
        self, name: Text, partition: Text | None, region: Text | None, account: Text | None
    ) -> dict[str, Text]:
        """What follows from a name; the partition, region and account are the stack's own by default."""
        if partition is None and isinstance(region, str) and not is_unresolved(region):
            partition = partition_of(region)
        of_partition = _of_partition(_pseudo("partition") if partition is None else partition)
        fields = {"name": name, **of_partition, "region": region or _pseudo("region")}
        fields["account"] = account or _pseudo("account")
        arn = fill(self.text, fields)
        return fields if arn is None else {**fields, "arn": arn}

    def _name_in(self, arn: Arn) -> str | None:
        if not arn.resource.startswith(self._prefix):
            return None
        rest = arn.resource.removeprefix(self._prefix)
        *path, name = rest.split("/") if self.has_path else [rest]
        return name if all(re.fullmatch("[!-~]+", each) for each in path) and self.is_name(name) else None


_PARSERS: Mapping[str, Callable[[str, object], str]] = {
    "partition": string("a partition such as aws or aws-cn", re.compile("aws(-[a-z]+)*").fullmatch),
    "region": parse_region,
    "account": parse_account,
}
"""By argument of `Declared.from_name`."""


def is_unresolved(value: object) -> bool:
    """Whether this is an intrinsic function, or contains a token of the CDK."""
    return isinstance(value, Mapping) or (isinstance(value, str) and _TOKEN in value)


def check_text(label: str, what: str, given: object) -> None:
    """Raises `WrongTypeError` if the ARN or name of an object is neither text nor an intrinsic function."""
    if not isinstance(given, str) and not is_function(given):
        raise WrongTypeError(label, what, "a string or an intrinsic function", kind_of_value(given))


def check_location(label: str, given: Mapping[str, object]) -> None:
    """Raises `BadLocationError` if a partition, region or account is neither valid nor None, for the stack's own."""
    for argument, value in given.items():
        if value is None or is_function(value) or (isinstance(value, str) and is_unresolved(value)):
            continue
        try:
            _PARSERS[argument](argument, value)
        except BadRequestError as error:
            raise BadLocationError(label, argument, error.problem) from None


def hashable(value: object) -> Hashable:
    """A value, list or intrinsic function as a key of a dictionary."""
    if isinstance(value, Mapping):
        return frozenset((key, hashable(each)) for key, each in value.items())
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value


def fill(form: str, fields: Fields) -> Text | None:
    """A form with its fields: text if all of them are text; None if a field is unknown."""
    parts: list[Text] = []
    for literal, field, *_ in Formatter().parse(form):
        part = fields.get(field) if field else ""
        if part is None:
            return None
        parts += [literal, part]
    return concatenated(parts)


def _of_partition(partition: Text) -> dict[str, Text]:
    known = isinstance(partition, str) and not is_unresolved(partition)
    suffix = (dns_suffix(partition) or "amazonaws.com") if known else _pseudo("suffix")
    return {"partition": partition, "suffix": suffix}


def _pseudo(name: str) -> dict[str, Any]:
    return {"Ref": _PSEUDO[name]}


def _select(number: int, separator: str, text: Text) -> dict[str, Any]:
    return {"Fn::Select": [number, {"Fn::Split": [separator, text]}]}
