"""What a look-up tells of a resource: its attributes, as `Fn::GetAtt` can return them. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.contract.response import RESPONSE_LIMIT
from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from strongref.aws.cloud_control import Resource
    from strongref.errors import LookUpDeniedError

IDENTIFIER = "Identifier"
"""The attribute that is always there: the primary identifier by which Cloud Control knows the resource."""

Data = dict[str, str | list[str]]


@dataclass(eq=False)
class NotAnAttributeError(StrongRefError):
    """An attribute was asked for that holds what `Fn::GetAtt` cannot return.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        name: the attribute's.
        holds: what it holds, in a word; never its value.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    name: str
    holds: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, 200)} of {self.type_name} holds {self.holds}, which Fn::GetAtt cannot return: it returns "
            "strings, and lists of them. Take it out of Attributes."
        )


@dataclass(eq=False)
class TooMuchToTellError(StrongRefError):
    """The attributes of a resource do not fit into an answer.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        size: of the answer, in bytes.
        names: what to leave out for the rest to fit, largest first.
        named: whether they were asked for by name.
    """

    counted = ErrorMetric.REJECTED

    type_name: str
    size: int
    names: Sequence[str]
    named: bool = field(kw_only=True)

    def __str__(self) -> str:
        names = cut(some(self.names), NAMES_LIMIT)
        way_out = (
            f"Take {names} out of Attributes, into another look-up."
            if self.named
            else f"Name those that are needed in Attributes. The largest are {names}."
        )
        return (
            f"The attributes of this {self.type_name} are too large together for CloudFormation: an answer of "
            f"{self.size} bytes, {RESPONSE_LIMIT} are allowed. {way_out}"
        )


@dataclass(eq=False)
class NotAllowedToLookError(StrongRefError):
    """The function's role may not read such resources: the installation does not say that it may.

    Attributes:
        error: the call that was denied.
        type_name: as in `AWS::S3::Bucket`.
    """

    error: LookUpDeniedError
    type_name: str

    def __str__(self) -> str:
        return (
            f"{self.error.action} of {cut(self.error.target, 300)} in {self.error.region} was denied "
            f"({self.error.code}). Cloud Control reads with the permissions of the function's role: name a policy that "
            f"allows to read {self.type_name} in LookupPolicies, a parameter of strongref's installation, and see that "
            "neither PermissionsBoundary nor a service control policy forbids it."
        )


def attributes(resource: Resource, names: Iterable[str] | None) -> Data:
    """What `Fn::GetAtt` may ask for: the identifier, and these attributes or all that it can return.

    A map stands for all that is inside it, with dots between the levels.

    Args:
        resource: as it was found.
        names: of attributes; None stands for all of them.

    Raises:
        NoSuchAttributeError: one of these names is none of its attributes.
        NotAnAttributeError: one of them holds what cannot be returned.
    """
    if names is None:
        return dict(_leaves("", resource.properties)) | {IDENTIFIER: resource.identifier}
    from strongref.lookup.attributes import attribute  # noqa: PLC0415 (it guesses, which takes time to import)

    data: Data = {}
    for name in names:
        if name != IDENTIFIER:
            found = dict(_leaves(name, attribute(resource, name)))
            if not found:
                raise NotAnAttributeError(resource.type_name, name, _held(attribute(resource, name)))
            data |= found
    return data | {IDENTIFIER: resource.identifier}


def _leaves(name: str, value: object) -> Iterator[tuple[str, str | list[str]]]:
    """What is at a name, or below it, that can be returned."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _leaves(f"{name}.{key}" if name else key, below)
    elif isinstance(value, list):
        texts = [_text(item) for item in value]
        if None not in texts:
            yield name, [text for text in texts if text is not None]
    elif (text := _text(value)) is not None:
        yield name, text


def _text(value: object) -> str | None:
    """A scalar as CloudFormation writes it; None for anything else."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _held(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return "a list with nothing in a place" if None in value else "a list of maps or of lists"
    return "a map without a string in it"
