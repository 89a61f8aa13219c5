"""Why a lookup fails. Errors name resources, properties and attributes, and never the values of properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.contract.response import RESPONSE_LIMIT
from strongref.errors import ErrorMetric, NoSuchResourceError, StrongRefError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from strongref.errors import LookUpDeniedError

_ID_LIMIT = 200
"""Characters of one identifier in a text; Cloud Control's limit is 1,024."""


@dataclass(eq=False)
class RejectedLookupError(StrongRefError):
    """A lookup that cannot succeed as it was requested.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
    """

    counted = ErrorMetric.REJECTED

    type_name: str


@dataclass(eq=False)
class ResourceQueryError(RejectedLookupError):
    """A resource is not given in exactly one way, or in a way that its type does not support."""

    problem: str

    def __str__(self) -> str:
        return f"{cut(self.type_name, _ID_LIMIT)}: {cut(self.problem, NAMES_LIMIT)}"


@dataclass(eq=False)
class UnknownTypeError(RejectedLookupError):
    """The table has no such type.

    Attributes:
        close: the types with the most similar names.
    """

    close: Sequence[str] = ()

    def __str__(self) -> str:
        meant = f"Did you mean {' or '.join(self.close)}?" if self.close else "Check its name, as in AWS::S3::Bucket."
        return f"{cut(self.type_name, _ID_LIMIT)} is not a resource type that can be looked up. {meant}"


@dataclass(eq=False)
class MissingPropertyError(RejectedLookupError):
    """The service requires more properties, or the physical ID alone is ambiguous.

    Attributes:
        missing: the properties that are required and not known.
        identifier: the parts of the primary identifier, if it is these that are missing.
    """

    missing: Sequence[str]
    identifier: Sequence[str] = ()

    def __str__(self) -> str:
        shown = [cut(name, 80) for name in self.missing]
        options = " ".join(f"--property {name}=…" for name in shown[:2])
        them = "it" if len(shown) == 1 else "them"
        whole = f" Or give its whole identifier, {cut('|'.join(self.identifier), 200)}." if self.identifier else ""
        return (
            f"{self.type_name} cannot be looked up without {cut(some(shown), 300)}. "
            f"Give {them} with {options}, in a template with Properties: {{{shown[0]}: …}}.{whole}"
        )


class UnrelatedArnError(NoSuchResourceError):
    """An ARN that cannot be matched to resources of a type: it does not name the type, and they do not name it."""

    def __str__(self) -> str:
        return (
            f"ARN {cut(self.wanted, NAMES_LIMIT)} cannot be matched to {self.type_name}: it does not name that type, "
            "and such resources do not have their ARN among their properties. Check the type, or give the physical ID."
        )


@dataclass(eq=False)
class AmbiguousError(RejectedLookupError):
    """Several resources match.

    Attributes:
        wanted: what was looked for, as in `physical ID web`.
        identifiers: the primary identifiers of those that match.
    """

    wanted: str
    identifiers: Sequence[str]

    def __str__(self) -> str:
        shown = some([cut(each, _ID_LIMIT) for each in self.identifiers], 2)
        return (
            f"{self.type_name} with {cut(self.wanted, _ID_LIMIT)} could be {shown}. "
            "Give one of these identifiers, or more of its properties."
        )


@dataclass(eq=False)
class TooManyError(RejectedLookupError):
    """More resources would have to be read one by one than is reasonable.

    Attributes:
        wanted: what was looked for, as in `name web`.
        among: how many there are.
        most: how many are read.
    """

    wanted: str
    among: int
    most: int

    def __str__(self) -> str:
        return (
            f"To find {self.type_name} with {cut(self.wanted, NAMES_LIMIT)}, {self.among} resources would have to be "
            f"read one by one; the limit is {self.most}. Give its physical ID, or more of its properties."
        )


@dataclass(eq=False)
class NoSuchAttributeError(RejectedLookupError):
    """A resource has no attribute of that name.

    Attributes:
        identifier: the resource's.
        name: as in `Endpoint.Address`.
        close: the attributes with the most similar names.
        there: all of its attributes.
    """

    identifier: str
    name: str
    close: Sequence[str]
    there: Collection[str]

    def __str__(self) -> str:
        which = f"{self.type_name} {cut(self.identifier, _ID_LIMIT)} has no attribute {cut(self.name, _ID_LIMIT)}."
        if self.close:
            return f"{which} Did you mean {' or '.join(cut(each, 100) for each in self.close)}?"
        return f"{which} It has {cut(some(sorted(self.there)), 300) or 'none'}."


@dataclass(eq=False)
class UnsupportedAttributeError(RejectedLookupError):
    """A requested attribute holds something that `Fn::GetAtt` cannot return.

    Attributes:
        name: the attribute's.
        holds: what it holds, in a word; never its value.
    """

    name: str
    holds: str

    def __str__(self) -> str:
        return (
            f"{cut(self.name, 200)} of {self.type_name} is {self.holds}. Fn::GetAtt returns only strings and lists of "
            "strings. Remove it from Attributes."
        )


@dataclass(eq=False)
class AttributesTooLargeError(RejectedLookupError):
    """The attributes of a resource do not fit into a response.

    Attributes:
        size: of the response, in bytes.
        names: the attributes to leave out so that the rest fits, largest first.
        named: whether the attributes were requested by name.
    """

    size: int
    names: Sequence[str]
    named: bool = field(kw_only=True)

    def __str__(self) -> str:
        names = cut(some(self.names), NAMES_LIMIT)
        way_out = (
            f"Move {names} from Attributes to another lookup."
            if self.named
            else f"List only the attributes that you need in Attributes. The largest are {names}."
        )
        return (
            f"The attributes of this {self.type_name} are too large for CloudFormation: the response has {self.size} "
            f"bytes, the limit is {RESPONSE_LIMIT}. {way_out}"
        )


@dataclass(eq=False)
class LookupPolicyError(StrongRefError):
    """The function's role may not read such resources: the installation has no policy for them.

    Attributes:
        error: the call that was denied.
        type_name: as in `AWS::S3::Bucket`.
    """

    error: LookUpDeniedError
    type_name: str

    def __str__(self) -> str:
        return (
            f"{self.error.action} of {cut(self.error.target, 300)} in {self.error.region} was denied "
            f"({self.error.code}). Cloud Control reads with the permissions of the function's role: add a policy that "
            f"allows to read {self.type_name} to LookupPolicies, a parameter of strongref's installation, and check "
            "that neither PermissionsBoundary nor a service control policy denies it."
        )
