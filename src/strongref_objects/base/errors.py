"""Errors of objects that are exported, imported and looked up. Texts name objects and keys, never values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from strongref.aws.errors import UnsupportedError
from strongref.errors import StrongRefError
from strongref.lookup.errors import AmbiguousError, TooManyError
from strongref.text import NAMES_LIMIT, cut, did_you_mean, some

_SHOWN = 120
"""Characters of one name, ARN or key in a text."""

_SPOKEN = re.compile("[AEFHILMNORSX][A-Z0-9]*s?|[AEIOaeio][a-z].*|[Uu](?!se|sa|ni|ti|ri).*")
"""A first word that sounds as if it begins with a vowel: an abbreviation spelled letter by letter, or a word."""


def a(label: str) -> str:
    """A label with its article: `a bucket`, `an application load balancer`, `a user pool`, `an EC2 instance`."""
    return f"{'an' if _SPOKEN.fullmatch(label.split(maxsplit=1)[0]) else 'a'} {label}"


def capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def _sentences(*given: str) -> str:
    return " ".join(each for each in given if each)


class ObjectError(StrongRefError):
    """The base class of all errors of this package, except lookup errors that refine one of `strongref.lookup`."""


# Exporting


class BadNameError(ObjectError):
    name: str  # the full name, with dots between the keys
    problem: str
    sentence = "{name!r:120} is not a valid export name: {problem:500}. Choose another name."


class NameClashError(ObjectError):
    first: str
    second: str
    written: str  # what both would be written as
    sentence = (
        "{first!r:120} and {second!r:120} would both be written as {written:255}. Rename one of them. Nothing of the "
        "second was written."
    )


class ExportedTwiceError(ObjectError):
    name: str
    keys: Sequence[str]  # the keys that differ, or that only one of the two has; empty if a string differs

    def __str__(self) -> str:
        verb = "differs" if len(self.keys) == 1 else "differ"
        differing = f" ({cut(some(self.keys), NAMES_LIMIT)} {verb})" if self.keys else ""
        return (
            f"{cut(self.name, _SHOWN)} is already exported with another value{differing}. Export the second one under "
            "its own name. Nothing of it was written."
        )


class BadValueError(ObjectError):
    name: str  # the value's, with dots between the keys
    problem: str  # what is wrong with it; never the value
    sentence = "{name:120} cannot be exported: {problem:500}. Nothing was written."


class LogicalIdTakenError(ObjectError):
    logical_id: str
    stack: str  # the template's stack
    purpose: str  # what strongref needs the ID for
    sentence = (
        "Stack {stack:128} has its own output or resource {logical_id:255}, but strongref needs this logical ID for "
        "{purpose:255}. Rename the stack's own one."
    )


# Importing


class UnresolvedImportError(ObjectError):
    name: str
    channel: str  # as in `CloudFormation's exports`
    reason: str  # why the value itself is necessary
    sentence = (
        "{name:120} cannot be imported through {channel} at deployment: {reason:500}. Import it with "
        "type=ResolveType.SYNTHESIS."
    )


class BadStrengthError(ObjectError):
    name: str
    channel: str  # as in `CloudFormation's exports`
    problem: str  # why, and the next step
    sentence = "{name:120} cannot be imported this way through {channel}: {problem}."


class NothingToImportError(ObjectError):
    name: str
    where: str
    close: Sequence[str] = ()

    def __str__(self) -> str:
        fact = f"There is no {cut(self.name, _SHOWN)} in {cut(self.where, 300)}."
        fix = "Deploy the stack that exports it first, or correct the name."
        return _sentences(fact, did_you_mean(self.close[:3]), fix)


class OwnExportError(ObjectError):
    name: str
    stack: str
    sentence = (
        "{name:120} is exported by stack {stack:128} itself, and a stack cannot import its own exports. Use the "
        "exported value directly."
    )


class ImportedBeforeError(ObjectError):
    name: str
    stack: str  # the importing one
    sentence = (
        "{name:120} is already imported by stack {stack:128}, at deployment, without the settings that this export "
        "has. Export it before the program imports it. Nothing was written."
    )


class UnknownLocationError(ObjectError):
    name: str
    stack: str  # the stack that the lookup is for
    missing: str  # `region` or `account`
    alternative: str  # what else to do, as in `import with type=…`; empty if there is nothing

    def __str__(self) -> str:
        return (
            f"{cut(capitalized(self.name), _SHOWN)} cannot be looked up: the {self.missing} of {cut(self.stack, 128)} "
            f"is unknown. Set its {self.missing}{f', or {self.alternative}' if self.alternative else ''}."
        )


class WrongKindError(ObjectError):
    """A list was read as a string, or a string as a list, or an object as a value."""

    name: str
    kind: str  # what it is, as in `a list`
    fix: str
    sentence = "{name:120} is {kind}: {fix}."


class UnreadableError(ObjectError):
    name: str
    problem: str
    sentence = "{name:120} cannot be read: {problem}. Write it again with JsonSerializationContext."


class SecureObjectError(ObjectError):
    """A part of an object is a SecureString, which strongref never puts into a template or a file."""

    name: str
    sentence = (
        "{name:120} is a SecureString, and objects hold no secrets. Use {{{{resolve:ssm-secure:NAME}}}} in the "
        "template instead."
    )


class BadChannelError(ObjectError):
    problem: str
    sentence = "via: {problem:500}."


class BadTypeError(ObjectError):
    given: str
    sentence = (
        "type must be ResolveType.SYNTHESIS ('Synthesis') or ResolveType.DEPLOYMENT ('Deployment'), got {given!r:120}."
    )


class ContextFileError(ObjectError):
    path: str
    problem: str
    sentence = "{path:300}: {problem:500}."


# Types of objects, ARNs and names


class _OfTypeError(ObjectError):
    label: str  # the type of object in words, as in `bucket`

    @property
    def one(self) -> str:
        """As in `a bucket`."""
        return a(self.label)

    @property
    def _which(self) -> str:
        return capitalized(self.one)


class NotAnArnError(_OfTypeError):
    given: str
    is_name: bool = field(kw_only=True)  # whether the text is a valid name of such an object

    def __str__(self) -> str:
        fix = "It could be a name: use from_name." if self.is_name else "An ARN begins with arn: and has six fields."
        return f"{cut(self.given, _SHOWN)!r} is not the ARN of {self.one}. {fix}"


class OtherArnError(_OfTypeError):
    arn: str
    form: str
    other: str | None = None  # the type that the ARN is of, if that is known

    def __str__(self) -> str:
        fact = f"is the ARN of {a(self.other)}, not of" if self.other else "is not the ARN of"
        return f"{cut(self.arn, _SHOWN)} {fact} {self.one}. The ARN of {self.one} must match {self.form}."


class NotANameError(_OfTypeError):
    name: str
    pattern: str

    def __str__(self) -> str:
        is_arn = self.name.startswith("arn:")
        fix = "It looks like an ARN: use from_arn." if is_arn else f"A name must match {cut(self.pattern, 200)}."
        return f"{cut(self.name, _SHOWN)!r} is not a valid name of {self.one}. {fix}"


class WrongTypeError(_OfTypeError):
    argument: str  # as in `ARN` or `security_group`
    expected: str  # what the argument must be
    given: str  # what it is, in words; never the value
    sentence = "{argument:120} of {one} must be {expected:120}, got {given:120}."


class BadLocationError(_OfTypeError):
    argument: str  # `partition`, `region` or `account`
    problem: str  # what is wrong with it, beginning with a verb
    sentence = "The {argument} of {one} {problem:500}."


class MissingMembersError(_OfTypeError):
    missing: Sequence[str]  # the members' names, as in `hosted_zone_name`
    source: str  # as in `its ARN`

    def __str__(self) -> str:
        shown = cut(some(self.missing), NAMES_LIMIT)
        arguments = ", ".join(f"{name}=…" for name in self.missing[:2])
        return f"{shown} of {self.one} cannot be derived from {self.source}. Also pass {arguments}."


class UnknownMembersError(_OfTypeError):
    names: Sequence[str]
    members: Sequence[str]

    def __str__(self) -> str:
        given = cut(some(self.names), NAMES_LIMIT // 2)
        return f"{self._which} has no {given}. It has {cut(some(self.members, 15), NAMES_LIMIT)}."


class UnevenListsError(_OfTypeError):
    lengths: dict[str, int]  # the number of items of each list

    def __str__(self) -> str:
        counts = some([f"{name} has {length}" for name, length in self.lengths.items()])
        return f"The lists of {self.one} must have the same length: {counts}."


class BadDeclarationError(_OfTypeError):
    problem: str
    sentence = "{_which} cannot be declared like this: {problem:500}."


# Lookups by tags


class NotTaggedError(_OfTypeError):
    """The tagging API does not list such resources, whatever tags they have."""

    sentence = (
        "{_which} cannot be looked up by tags: AWS's tagging API does not list such resources. Use its ARN or its "
        "name: from_arn, from_name."
    )


class SeveralTaggedError(AmbiguousError):
    sentence = (
        "{type_name} with {wanted:240} could be {identifiers:2}. Add a tag that only the right one has, or use its "
        "ARN: from_arn."
    )


class TooManyTaggedError(TooManyError):
    """So many resources have the tags that reading each of them would take too long."""

    sentence = (
        "{among} resources could be {type_name} with {wanted:500}, and strongref reads at most {most} one by one. Add "
        "a tag that only the right one has, or use its ARN: from_arn."
    )


class TooManyInRegionError(TooManyError):
    """A region has so many resources that those of one VPC cannot be found among them."""

    sentence = (
        "{among} resources of the region could be {type_name} with {wanted:500}, and strongref reads at most {most} "
        "one by one. Use the VPC's ARN and list what is in it: Vpc.from_arn(…, private_subnets=…)."
    )


class NotReadableError(UnsupportedError):
    """Cloud Control does not read or list resources of a type that is part of an object."""

    def __str__(self) -> str:
        where = f" in {self.region}" if self.region else ""
        return (
            f"{self.type_name} does not support {self.action} of Cloud Control{where}, which a lookup by tags needs. "
            "Use the resource's ARN or name: from_arn, from_name."
        )


class BadTierError(ObjectError):
    subnet: str
    tag: str
    value: str
    tiers: Sequence[str]
    sentence = (
        "Tag {tag} of {subnet:120} must be one of {tiers}, got {value!r:120}. Correct it, or remove it: then the "
        "subnet's routes decide its tier."
    )


class NoRouteTableError(ObjectError):
    subnets: Sequence[str]  # those without a route table of their own, which use the VPC's main one
    vpc: str
    tables: Sequence[str]  # its route tables, of which one is the main one

    def __str__(self) -> str:
        which = f"which of {cut(some(self.tables, 5), NAMES_LIMIT // 2)} that is" if self.tables else "which that is"
        has, it = ("has", "it") if len(self.subnets) == 1 else ("have", "each of them")
        return (
            f"{cut(some(self.subnets, 5), NAMES_LIMIT // 2)} of {self.vpc} {has} no route table association, so the "
            f"VPC's main route table applies, but Cloud Control does not show {which}. Associate a route table with "
            f"{it}."
        )


class SeveralPartsError(ObjectError):
    """A resource has several parts of a kind, or none, where an object of the type has exactly one."""

    found: str
    part: str  # the argument that chooses one, as in `listener`
    candidates: Sequence[str]

    def __str__(self) -> str:
        has = f"several ({cut(some(self.candidates, 3), NAMES_LIMIT)})" if self.candidates else "none"
        return f"{cut(self.found, 2 * _SHOWN)} must have one {self.part}, but has {has}. Choose one: {self.part}=…."


# The command line


class SeveralStoredObjectsError(ObjectError):
    name: str
    origins: Sequence[str]  # where each comes from, in words
    sentence = "There are several objects {name:120}: {origins:5}. Choose one with --stack or --consumer."


class SecretPartsError(ObjectError):
    """Parts of an object are SecureStrings, and the caller did not ask for secrets."""

    name: str
    keys: Sequence[str]  # the keys of those parts

    def __str__(self) -> str:
        are = "is a SecureString" if len(self.keys) == 1 else "are SecureStrings"
        return (
            f"{cut(some(self.keys, 5), NAMES_LIMIT)} of {cut(self.name, _SHOWN)} {are}. Use --sensitive to print "
            "secrets."
        )


class NotInContextError(ObjectError):
    names: Sequence[str]
    file: str
    close: Sequence[str]

    def __str__(self) -> str:
        names = cut(some(self.names, 5), NAMES_LIMIT // 2)
        fact = f"{cut(self.file, 2 * _SHOWN)} has no {names}."
        return _sentences(fact, did_you_mean(self.close[:3]), "Nothing was removed.")
