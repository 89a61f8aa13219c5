"""What the real Parameter Store refuses and lenient emulators let pass: pure, standard library only.

Codes are those of botocore's SSM service model (2014-11-06). Where AWS leaves a border open (characters or
bytes of a value, a lone `{{`, an empty list item), the stricter reading is taken: what passes here passes
there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Refusal = tuple[str, str]

INVALID = "ValidationException"
LEVELS = 15
ARN_LENGTH = 1011
STANDARD_BYTES = 4096
ADVANCED_BYTES = 8192
TAGS_PER_PARAMETER = 50
TAG_KEY_LENGTH = 128
TAG_VALUE_LENGTH = 256
BATCH = 10
"""Names in one GetParameters or DeleteParameters."""
PAGE = {"GetParametersByPath": 10, "DescribeParameters": 50}
KINDS = ("SecureString", "StringList", "String")

_NAME = re.compile(r"[a-zA-Z0-9_.\-/]+")
# The model's ^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$ in Python's words: \w is letters, numbers and _ of any script.
_TAG = re.compile(r"[\w \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000.:/=+\-@]*")
_BAD_NAME = (
    'Parameter name: can\'t be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist '
    "of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the "
    "following 3 symbols .-_"
)
_TOO_BIG = "{0} tier parameters support a maximum parameter value of {1} characters."
_NO_WAY_BACK = (
    "This parameter uses the advanced-parameter tier. You can't downgrade a parameter from the "
    "advanced-parameter tier to the standard-parameter tier."
)


@dataclass(frozen=True)
class Stored:
    """A parameter that exists already: its type, its tier (Standard or Advanced) and its tags' keys."""

    kind: str
    tier: str
    tags: frozenset[str]


def refusal(
    action: str,
    request: Mapping[str, Any],
    stored: Callable[[str], Stored | None],
    *,
    region: str = "us-east-1",
    account: str = "123456789012",
) -> Refusal | None:
    """The error code and message with which the real service refuses a request; None if it does not.

    Args:
        action: the API action, as in `PutParameter`.
        request: its parameters in the API's spelling.
        stored: looks up a parameter by its name.
        region: part of the ARN, whose length counts towards the name's.
        account: likewise.
    """
    if action == "PutParameter":
        return next(_put(request, stored, f"arn:aws:ssm:{region}:{account}:parameter/"), None)
    if action in ("GetParameters", "DeleteParameters"):
        return next(_batch(request["Names"]), None)
    if action in PAGE:
        return next(_page(request, PAGE[action]), None)
    if action in ("AddTagsToResource", "RemoveTagsFromResource", "ListTagsForResource"):
        return next(_tagging(action, request, stored), None)
    return None


def _put(request: Mapping[str, Any], stored: Callable[[str], Stored | None], arn_prefix: str) -> Iterator[Refusal]:
    name = request["Name"]
    found = stored(name)
    yield from _name(name, arn_prefix)
    yield from _value(request["Value"], request.get("Type") or (found.kind if found else ""))
    yield from _size(request["Value"], request.get("Tier", "Standard"))
    tags = request.get("Tags") or ()
    if tags and request.get("Overwrite"):
        yield (INVALID, "Invalid request: tags and overwrite can't be used together.")
    yield from _tags(tags, frozenset())
    yield from _type_and_tier(request, found)


def _name(name: str, arn_prefix: str) -> Iterator[Refusal]:
    plain = name.lower().lstrip("/")
    if plain.startswith("aws"):
        # Seen as AccessDeniedException for every name that begins so, with or without a slash.
        yield ("AccessDeniedException", f"No access to reserved parameter name: {name}.")
    if plain.startswith("ssm") or not _NAME.fullmatch(name) or "//" in name or name.endswith("/"):
        yield (INVALID, _BAD_NAME)
    if "/" in name and not name.startswith("/"):
        yield (INVALID, "Parameter name must be a fully qualified name.")
    if len(name.strip("/").split("/")) > LEVELS:
        yield ("HierarchyLevelLimitExceededException", f"A hierarchy can have a maximum of {LEVELS} levels.")
    if len(arn_prefix) + len(name.removeprefix("/")) > ARN_LENGTH:
        yield (INVALID, f"The name and its ARN's prefix have more than {ARN_LENGTH} characters.")


def _value(value: str, kind: str) -> Iterator[Refusal]:
    if not value:
        yield _constraint("value", "length greater than or equal to 1")
    if "{{" in value:
        yield (INVALID, 'Parameter value can\'t nest another parameter. Do not use "{{}}" in the value.')
    if kind == "StringList" and not all(item.strip() for item in value.split(",")):
        yield (INVALID, "An item of a StringList is empty.")


def _size(value: str, tier: str) -> Iterator[Refusal]:
    size = len(value.encode())
    if size > ADVANCED_BYTES:
        yield (INVALID, _TOO_BIG.format("Advanced", ADVANCED_BYTES))
    if size > STANDARD_BYTES and tier not in ("Advanced", "Intelligent-Tiering"):
        yield (INVALID, _TOO_BIG.format("Standard", STANDARD_BYTES))


def _type_and_tier(request: Mapping[str, Any], found: Stored | None) -> Iterator[Refusal]:
    kind = request.get("Type")
    if kind and kind not in KINDS:
        yield _constraint("type", f"enum value set: [{', '.join(KINDS)}]")
    if found is None:
        if not kind:
            yield (INVALID, "A parameter type is required when you create a parameter.")
        return
    if not request.get("Overwrite"):
        return  # The service's own ParameterAlreadyExists, which emulators get right.
    if kind and kind != found.kind:
        yield ("HierarchyTypeMismatchException", f"A parameter's type can't be changed from {found.kind} to {kind}.")
    if found.tier == "Advanced" and request.get("Tier") == "Standard":
        yield (INVALID, _NO_WAY_BACK)


def _batch(names: Sequence[str]) -> Iterator[Refusal]:
    if len(names) > BATCH:
        yield _constraint("names", f"length less than or equal to {BATCH}")
    if not names:
        yield _constraint("names", "length greater than or equal to 1")


def _page(request: Mapping[str, Any], most: int) -> Iterator[Refusal]:
    wanted = request.get("MaxResults", 1)
    if not 1 <= wanted <= most:
        yield _constraint("maxResults", f"value between 1 and {most}")
    path = request.get("Path", "/")
    if not path.startswith("/"):
        yield (INVALID, 'The parameter path must begin with a forward slash "/".')


def _tagging(action: str, request: Mapping[str, Any], stored: Callable[[str], Stored | None]) -> Iterator[Refusal]:
    if request["ResourceType"] != "Parameter":
        return
    if action == "AddTagsToResource":
        yield from _tag_texts(request["Tags"])
    found = stored(request["ResourceId"])
    if found is None:
        yield ("InvalidResourceId", "The resource ID isn't valid.")
    elif action == "AddTagsToResource":
        yield from _tags(request["Tags"], found.tags)


def _tags(tags: Iterable[Mapping[str, str]], present: frozenset[str]) -> Iterator[Refusal]:
    yield from _tag_texts(tags)
    # PutParameter's model declares no such error; AddTagsToResource's does.
    if len(present | {tag["Key"] for tag in tags}) > TAGS_PER_PARAMETER:
        yield ("TooManyTagsError", f"A parameter can have at most {TAGS_PER_PARAMETER} tags.")


def _tag_texts(tags: Iterable[Mapping[str, str]]) -> Iterator[Refusal]:
    for tag in tags:
        if not 1 <= len(tag["Key"]) <= TAG_KEY_LENGTH:
            yield _constraint("tags.key", f"length between 1 and {TAG_KEY_LENGTH}")
        if len(tag["Value"]) > TAG_VALUE_LENGTH:
            yield _constraint("tags.value", f"length less than or equal to {TAG_VALUE_LENGTH}")
        if not _TAG.fullmatch(tag["Key"] + tag["Value"]):
            yield _constraint("tags", r"regular expression pattern: ^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$")


def _constraint(where: str, what: str) -> Refusal:
    found = f"1 validation error detected: Value at '{where}' failed to satisfy constraint"
    return (INVALID, f"{found}: Member must have {what}")
