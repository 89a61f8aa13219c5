"""Terraform's states: `${tf:ADDRESS.ATTRIBUTE}` and `${tf:output.NAME}`, from files and from S3.

With several states, all but one have names, and a token says which one: `${tf:network/output.vpc_id}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError

from strongref.aws.clients import Clients
from strongref.memo import Memo
from strongref.text import some
from strongref_manifests import errors
from strongref_manifests.terraform.addresses import TerraformOutput, TerraformReference, TerraformResource, path_text
from strongref_manifests.terraform.states import StateValue, TerraformState, read_state
from strongref_manifests.tokens import LOCATION, TF, Token, TokenSource
from strongref_toolkit.errors import AwsCallError, os_problem
from strongref_toolkit.json_values import Json, Path, is_within

if TYPE_CHECKING:
    from strongref_toolkit.aws import Aws

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_S3 = re.compile(rf"s3://(?P<bucket>[^/]+)/(?P<key>.+?){LOCATION}")

_WHY = {
    "NoSuchKey": "there is no such object in the bucket; a workspace's is at env:/WORKSPACE/KEY",
    "NoSuchBucket": "there is no such bucket",
    "AccessDenied": (
        "access was denied; reading it takes s3:GetObject, and kms:Decrypt where a key encrypts it. Without "
        "s3:ListBucket an object that is not there is denied too"
    ),
}


class TerraformStates(TokenSource):
    """The source of `tf` tokens. A state is read once, when it is first asked for a value."""

    scheme = TF

    def __init__(
        self, given: Iterable[str], aws: Callable[[], Aws], *, sensitive: bool = False, allow: Iterable[str] = ()
    ) -> None:
        """Make one, for one run.

        Args:
            given: where states are, as for `read_at`; all but one with a name before them: `NAME=WHERE`.
            aws: as for `read_at`.
            sensitive: whether sensitive values may be given out.
            allow: addresses of sensitive values that may be given out in any case; with `NAME/`, in that state only.

        Raises:
            StateTwiceError: two of them have the same name, or none.
            BadAddressError: an address is none.
        """
        self._given: dict[str, str] = {}
        for each in given:
            name, where = _named(each, "=")
            if name in self._given:
                raise errors.StateTwiceError(name)
            self._given[name] = where
        self._aws = aws
        self._sensitive = sensitive
        named = [_named(each, "/") for each in allow]
        self._allowed = [(name, TerraformReference.parse(address, whole=True)) for name, address in named]
        self._states: Memo[str, TerraformState] = Memo()

    def fetch(self, token: Token) -> Json:
        """What `output.NAME` or `module.x.aws_s3_bucket.b[0].arn` is; with `NAME/` before it, in that state."""
        name, asked = _named(token.reference, "/")
        reference = TerraformReference.parse(asked)
        if name not in self._given:
            raise errors.NoSuchStateError(name, list(self._given))
        where = self._given[name]
        state = self._states.get(where, lambda: read_at(where, self._aws))
        allowed = [each for of, each in self._allowed if of in ("", name)]
        return value_of(state, reference, sensitive=self._sensitive, allowed=allowed)


def read_at(where: str, aws: Callable[[], Aws]) -> TerraformState:
    """The state at `terraform.tfstate`, or at `s3://BUCKET/KEY[@REGION][#ACCOUNT]` as Terraform's S3 backend keeps it.

    A workspace's state is at `env:/WORKSPACE/KEY` of its bucket (Terraform: backend type s3, Data Storage). `aws`,
    which calls go through, is made only for a state in S3.

    Raises:
        NotAStateError: what is there is none.
        StateNotReadError: there is nothing, or it may not be read.
        StrongRefError: as `Aws.where` and `Accounts.clients`.
    """
    return read_state(_object(where, aws) if where.startswith("s3://") else _file(where), where)


def _object(where: str, aws: Callable[[], Aws]) -> bytes:
    found = _S3.fullmatch(where)
    if not found:
        problem = "it should look like s3://BUCKET/KEY, with @REGION and #ACCOUNT if need be"
        raise errors.StateNotReadError(where, problem)
    bucket, key, region, account = found.group("bucket", "key", "region", "account")
    called = aws()
    try:
        answer = called.call(called.where(region, account), "GetObject", where, Clients.s3, Bucket=bucket, Key=key)
        content: bytes = answer["Body"].read()
    except AwsCallError as error:
        problem = _WHY.get(error.code) or f"GetObject in {error.region} failed: {error.code}"
    except BotoCoreError as error:  # it broke off in the middle
        problem = type(error).__name__
    else:
        return content
    raise errors.StateNotReadError(where, problem)


def _file(where: str) -> bytes:
    try:
        return FilePath(where).read_bytes()
    except OSError as error:
        raise errors.StateNotReadError(where, os_problem(error)) from None


def _named(text: str, mark: str) -> tuple[str, str]:
    """What stands before the mark, if that is a name, and the rest of the text."""
    name, found, rest = text.partition(mark)
    return (name, rest) if found and _NAME.fullmatch(name) else ("", text)


def value_of(
    state: TerraformState, reference: TerraformReference, *, sensitive: bool, allowed: Iterable[TerraformReference] = ()
) -> Json:
    """The value that a reference means; a number, a boolean, a list or a map where it is one.

    If sensitive values may not be given out, those that are allowed still may, with all that is in them.

    Raises:
        NoSuchAddressError: the state holds nothing there.
        NoSuchStateAttributeError: the path leads to nothing.
        SensitiveError: the value is sensitive, or part of it is, and such values are not allowed.
        UnsetError: it is null.
    """
    target = reference.target
    if target not in state.held:
        raise _no_such(state, target)
    held = state.held[target]
    value = held.value
    path: Path = ()
    opened = [each.path for each in allowed if each.target == target]
    is_open = sensitive or is_within(reference.path, opened)
    for step in reference.path:
        if not is_open:
            _check_all(held, reference, path)
        path, value = into(f"{target}{path_text(path)}", path, value, step)
    if not is_open:
        _check_all(held, reference, path)
        _check_parts(held, reference, path, opened)
    if value is None:
        raise errors.UnsetError(str(reference))
    return value


def into(address: str, path: Path, value: Json, step: str | int) -> tuple[Path, Json]:
    """One step further: as Terraform, a list's position may be given as text, and a map's key as a number."""
    if isinstance(value, dict):
        if str(step) in value:
            return (*path, str(step)), value[str(step)]
        near = get_close_matches(str(step), value, 3) or sorted(value)
        there = f"has {some(near, 5)}" if value else "is empty"
    elif isinstance(value, list):
        number = int(step) if str(step).isdecimal() else -1
        if 0 <= number < len(value):
            return (*path, number), value[number]
        there = f"is a list of {len(value)}, which are counted from [0]" if value else "is an empty list"
    else:
        there = "is null" if value is None else "is a single value"
    raise errors.NoSuchStateAttributeError(address, path_text([step]), there)


def _check_all(held: StateValue, reference: TerraformReference, path: Path) -> None:
    is_marked = is_within(path, held.sensitive)
    if is_marked or is_within(path, held.guessed):
        raise errors.SensitiveError(str(reference), is_guess=not is_marked)


def _check_parts(held: StateValue, reference: TerraformReference, path: Path, opened: Collection[Path]) -> None:
    for paths in (held.sensitive, held.guessed):
        if closed := [each[len(path) :] for each in paths if is_within(each, [path]) and not is_within(each, opened)]:
            parts = some(sorted(map(path_text, closed)), 3)
            raise errors.SensitiveError(str(reference), parts, is_guess=paths is held.guessed)


def _no_such(state: TerraformState, target: TerraformOutput | TerraformResource) -> errors.NoSuchAddressError:
    """With the instances of the same resource, if it is only the keys that differ, or with what is called like it."""
    instances = [
        str(each)
        for each in state.held
        if isinstance(target, TerraformResource) and isinstance(each, TerraformResource) and each.whole == target.whole
    ]
    close = instances or get_close_matches(str(target), map(str, state.held), 3)
    outputs = sum(not isinstance(each, TerraformResource) for each in state.held)
    holds = f"{_counted(len(state.held) - outputs, 'resource')} and {_counted(outputs, 'output')}"
    return errors.NoSuchAddressError(str(target), state.where, close, indexed=bool(instances), holds=holds)


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
