"""Why a lookup fails. Errors name resources, properties and attributes, and never the values of properties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field

from strongref.aws.errors import LookUpDeniedError, NoSuchResourceError
from strongref.contract.response import RESPONSE_LIMIT
from strongref.errors import RejectedError, StrongRefError
from strongref.text import NAMES_LIMIT, cut, did_you_mean, some

_ID_LIMIT = 200
"""Characters of one identifier in a text; Cloud Control's limit is 1,024."""


class RejectedLookupError(RejectedError):
    """A lookup that cannot succeed as it was requested."""

    type_name: str  # as in `AWS::S3::Bucket`


class ResourceQueryError(RejectedLookupError):
    """A resource is not given in exactly one way, or in a way that its type does not support."""

    problem: str
    sentence = "{type_name:200}: {problem:500}"


class UnknownTypeError(RejectedLookupError):
    close: Sequence[str] = ()  # the types with the most similar names

    def __str__(self) -> str:
        meant = did_you_mean(self.close, "Check its name, as in AWS::S3::Bucket.")
        return f"{cut(self.type_name, _ID_LIMIT)} is not a resource type that can be looked up. {meant}"


class MissingPropertyError(RejectedLookupError):
    """The service requires more properties, or the physical ID alone is ambiguous."""

    missing: Sequence[str]  # the properties that are required and not known
    identifier: Sequence[str] = ()  # the parts of the primary identifier, if it is these that are missing

    def __str__(self) -> str:
        shown = [cut(name, 80) for name in self.missing]
        options = " ".join(f"--property {name}=…" for name in shown[:2])
        them = "it" if len(shown) == 1 else "them"
        whole = f" Or give its whole identifier, {cut('|'.join(self.identifier), 200)}." if self.identifier else ""
        return (
            f"{self.type_name} cannot be looked up without {cut(some(shown), 300)}. "
            f"Give {them} with {options}, in a template with Properties: {{{shown[0]}: …}}.{whole}"
        )


class RejectedPropertyError(MissingPropertyError):
    """The service still requires properties that it was given: what was given is not valid."""

    def __str__(self) -> str:
        fact = f"{self.type_name} cannot be looked up: its service still requires {cut(some(self.missing, 5), 300)}"
        return f"{fact}, although given. Check the value."


class UnrelatedArnError(NoSuchResourceError):
    sentence = (
        "ARN {wanted:500} cannot be matched to {type_name}: it does not name that type, and such resources do not have "
        "their ARN among their properties. Check the type, or give the physical ID."
    )


class AmbiguousError(RejectedLookupError):
    wanted: str  # what was looked for, as in `physical ID web`
    identifiers: Sequence[str]  # the primary identifiers of those that match
    sentence = (
        "{type_name} with {wanted:200} could be {identifiers:2}. Give one of these identifiers, or more of its "
        "properties."
    )


class TooManyError(RejectedLookupError):
    wanted: str  # what was looked for, as in `name web`
    among: int  # how many there are
    most: int  # how many are read
    sentence = (
        "To find {type_name} with {wanted:500}, {among} resources would have to be read one by one; the limit is "
        "{most}. Give its physical ID, or more of its properties."
    )


class NoSuchAttributeError(RejectedLookupError):
    identifier: str
    name: str  # as in `Endpoint.Address`
    close: Sequence[str]  # the attributes with the most similar names
    there: Collection[str]  # all of its attributes

    def __str__(self) -> str:
        which = f"{self.type_name} {cut(self.identifier, _ID_LIMIT)} has no attribute {cut(self.name, _ID_LIMIT)}."
        has = f"It has {cut(some(sorted(self.there)), 300) or 'none'}."
        return f"{which} {did_you_mean(self.close, has)}"


class UnsupportedAttributeError(RejectedLookupError):
    name: str
    holds: str  # what it holds, in a word; never its value
    sentence = (
        "{name:200} of {type_name} is {holds}. Fn::GetAtt returns only strings and lists of strings. Remove it from "
        "Attributes."
    )


class DynamicReferenceError(RejectedLookupError):
    name: str
    sentence = (
        "{name:200} of {type_name} contains a dynamic reference ({{{{resolve:…}}}}). CloudFormation would resolve it "
        "in the template that uses the lookup, so the lookup does not return it. List other attributes in Attributes."
    )


class AttributesTooLargeError(RejectedLookupError):
    size: int  # of the response, in bytes
    names: Sequence[str]  # the attributes to leave out so that the rest fits, largest first
    named: bool = field(kw_only=True)  # whether the attributes were requested by name
    alone: Sequence[str] = field(kw_only=True, default=())  # those of them that do not fit into any response

    def __str__(self) -> str:
        names = cut(some(self.names), NAMES_LIMIT)
        fit = [name for name in self.names if name not in self.alone]
        move = f"Move {cut(some(fit), 200)} from Attributes to another lookup." if fit else ""
        single = f"Leave {cut(some(self.alone), 200)} out of Attributes: a single value is too large. "
        way_out = (
            f"{single if self.alone else ''}{move}"
            if self.named
            else f"List only the attributes that you need in Attributes. The largest are {names}."
        )
        return (
            f"The attributes of this {self.type_name} are too large for CloudFormation: the response has {self.size} "
            f"bytes, the limit is {RESPONSE_LIMIT}. {way_out.strip()}"
        )


class LookupPolicyError(StrongRefError):
    error: LookUpDeniedError  # the call that was denied
    type_name: str  # as in `AWS::S3::Bucket`
    sentence = (
        "{error.action} of {error.target:300} in {error.region} was denied ({error.code}). Cloud Control reads with "
        "the permissions of the function's role: add a policy that allows to read {type_name} to LookupPolicies, a "
        "parameter of strongref's installation, and check that neither PermissionsBoundary nor a service control "
        "policy denies it."
    )
