"""Parameter Store (SSM): reads, writes, deletes and tags parameters."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from strongref import errors
from strongref.aws.retry import CallFailedError, RetryingCaller, client_for, pages
from strongref.aws.settings import KMS_KEY, Settings, from_environment, with_parameter_tags
from strongref.contract.values import Parameter, ParameterType
from strongref.protocol.ports import BATCH, SideBySide
from strongref.protocol.side_by_side import call_all, in_turn
from strongref.text import some

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_ssm.type_defs import ParameterTypeDef, PutParameterResultTypeDef

    from strongref.aws.rate_limit import RateLimiter
    from strongref.protocol.time import Clock

T = TypeVar("T")

_DENIED = ("AccessDeniedException", "AccessDenied", "UnauthorizedOperation")
_VALUES = "/strongref/exports/"
"""The path of values. Whoever overwrites one has read it."""

_TIER = "Intelligent-Tiering"
"""The standard tier, which is free, if 4 KB are enough; else the advanced one."""
_INVALID = "ValidationException"
"""The code for a tier that the region does not support, and for other bad requests. There is no code of its own."""
_STANDARD_BYTES = 4096
"""Of a standard parameter's value (AWS: PutParameter, Value)."""
_KEY_CODES = ("AccessDeniedException", "InvalidKeyId")
"""The codes of a read that cannot decrypt: the caller may not use the KMS key, or it is disabled or deleted. The first
is also that of a read which is not allowed at all."""

_ERRORS: dict[str, type[errors.StoreError]] = {
    "ParameterAlreadyExists": errors.AlreadyExistsError,
    "ParameterNotFound": errors.NotFoundError,
    "InvalidResourceId": errors.NotFoundError,
    "TooManyTagsError": errors.TooManyTagsError,
    errors.OUT_OF_TIME: errors.OutOfTimeError,
}
_EXPECTED = (errors.AlreadyExistsError, errors.NotFoundError)
"""Errors that are an answer: they are part of the protocol."""


@dataclass(eq=False, slots=True)
class SsmStore:
    """`ports.Store` in AWS.

    If a create succeeds, but its response is lost, its retry raises `AlreadyExistsError`.
    """

    client: SSMClient
    region: str
    limiter: RateLimiter
    clock: Clock
    jitter: Callable[[], float] = random.random  # as in `RetryingCaller`
    # what a denied call raises: whose permissions to check
    denied: Callable[..., errors.StoreError] = errors.AccessDeniedError
    settings: Settings = from_environment  # as in `Stores`
    untiered: set[str] = field(default_factory=set)  # as in `Stores`
    side_by_side: SideBySide = in_turn
    account: str = ""  # as in `Stores`

    def get(self, names: Iterable[str]) -> dict[str, Parameter]:
        found = call_all(self, [partial(self._get, batch) for batch in _batches(names)])
        return {name: parameter for each in found for name, parameter in each.items()}

    def _get(self, batch: list[str]) -> dict[str, Parameter]:
        try:
            return self._get_batch(batch)
        except errors.StoreError as error:
            if error.code not in _KEY_CODES:
                raise
        # One key that cannot be used fails the whole call. Without decryption, all can be read.
        encrypted = self._get_batch(batch, decrypted=False)
        found = {name: each for name, each in encrypted.items() if not each.is_secure}
        for each in call_all(self, [partial(self._decrypted, each) for each in encrypted.values() if each.is_secure]):
            found |= each
        return found

    def _get_batch(self, names: list[str], *, decrypted: bool = True) -> dict[str, Parameter]:
        get, target = self.client.get_parameters, some(names, most=1)
        response = self._call("GetParameters", target, get, Names=names, WithDecryption=decrypted)
        return _by_name(response["Parameters"])

    def _decrypted(self, encrypted: Parameter) -> dict[str, Parameter]:
        """A parameter decrypted, or `locked` if it cannot be; empty if it has gone."""
        name = encrypted.name
        try:
            return self._get_batch([name])
        except errors.StoreError as error:
            if error.code not in _KEY_CODES:
                raise
            locked = errors.UndecryptableError("GetParameters", error.code, name, self.region, account=self.account)
            return {name: replace(encrypted, text="", locked=locked)}

    def under(self, path: str, *, decrypted: bool = True) -> dict[str, Parameter]:
        try:
            return self._under(path, decrypted=decrypted)
        except errors.StoreError as error:
            if not decrypted or error.code not in _KEY_CODES:
                raise
        # As in `_get`: most of them can be read a batch at a time.
        encrypted = self._under(path, decrypted=False)
        readable = {name: each for name, each in encrypted.items() if not each.is_secure}
        return readable | self.get(name for name in encrypted if name not in readable)

    def _under(self, path: str, *, decrypted: bool) -> dict[str, Parameter]:
        call = partial(self._call, "GetParametersByPath", path, self.client.get_parameters_by_path)
        request = {"Path": path, "Recursive": True, "WithDecryption": decrypted, "MaxResults": BATCH}
        return _by_name(each for page in pages(call, **request) for each in page["Parameters"])

    def create(self, name: str, kind: ParameterType, text: str, tags: Mapping[str, str]) -> None:
        self._put(name, kind, text, Tags=_tag_list(with_parameter_tags(self.settings, self.region, tags)))

    def overwrite(self, name: str, kind: ParameterType, text: str) -> int:
        tags = with_parameter_tags(self.settings, self.region, {})
        if tags and not name.startswith(_VALUES):  # Only a create takes tags.
            with suppress(errors.AlreadyExistsError):
                self.create(name, kind, text, {})
                return 1
        version = self._put(name, kind, text, Overwrite=True)
        if tags and version == 1:
            self.tag(name, tags)
        return version

    def delete(self, names: Iterable[str]) -> None:
        delete = partial(self._call, "DeleteParameters", function=self.client.delete_parameters)
        call_all(self, [partial(delete, target=some(batch, most=1), Names=batch) for batch in _batches(names)])

    def tags(self, name: str) -> dict[str, str] | None:
        response = self._call_tags("ListTagsForResource", name, self.client.list_tags_for_resource)
        return None if response is None else {tag["Key"]: tag["Value"] for tag in response.get("TagList", ())}

    def tag(self, name: str, tags: Mapping[str, str]) -> bool:
        add = self.client.add_tags_to_resource
        return self._call_tags("AddTagsToResource", name, add, Tags=_tag_list(tags)) is not None

    def untag(self, name: str, keys: Iterable[str]) -> bool:
        remove = self.client.remove_tags_from_resource
        return self._call_tags("RemoveTagsFromResource", name, remove, TagKeys=list(keys)) is not None

    def _put(self, name: str, kind: ParameterType, text: str, **how: Any) -> int:
        if kind is ParameterType.SECURE and (key := self.settings(self.region, KMS_KEY)):
            how["KeyId"] = key
        request = {"Name": name, "Type": kind.value, "Value": text, **how}
        put = partial(self._call, "PutParameter", name, self.client.put_parameter, **request)
        if self.region in self.untiered:
            return self._put_standard(put, name, text)
        try:
            return put(Tier=_TIER)["Version"]
        except errors.StoreError as error:
            if error.code != _INVALID:
                raise
        version = self._put_standard(put, name, text)
        self.untiered.add(self.region)
        return version

    def _put_standard(self, put: Callable[[], PutParameterResultTypeDef], name: str, text: str) -> int:
        """Put a parameter without a tier, which makes it a standard one."""
        try:
            return put()["Version"]
        except errors.StoreError as error:
            if error.code != _INVALID or len(text.encode()) <= _STANDARD_BYTES:
                raise
        raise errors.StandardTierError("PutParameter", _INVALID, name, self.region, account=self.account)

    def _call_tags(self, action: str, name: str, function: Callable[..., T], **request: Any) -> T | None:
        """The response; None if there is no parameter of that name."""
        try:
            return self._call(action, name, function, ResourceType="Parameter", ResourceId=name, **request)
        except errors.NotFoundError:
            return None

    def _call(self, action: str, target: str, function: Callable[..., T], **request: Any) -> T:
        caller = RetryingCaller(f"{self.account}{self.region}", self.limiter, self.clock, self.jitter)
        try:
            return caller.call(action, function, **request)
        except CallFailedError as error:
            failed = error
        other = self.denied if failed.code in _DENIED else errors.StoreError
        kind: Callable[..., errors.StoreError] = _ERRORS.get(failed.code, other)
        kind = errors.ThrottledError if failed.throttled else kind
        if kind not in _EXPECTED:
            failed.log(action, self.region)
        raise kind(action, failed.code, target, self.region, account=self.account)


@dataclass(frozen=True, slots=True)
class Stores:
    """The Parameter Stores of one account: `stores(region, clock)` makes calls until the clock's deadline."""

    client_in: Callable[[str], SSMClient]  # the client of a region, as from `clients.Clients.ssm`
    limiter: RateLimiter  # shared by all callers of the process
    denied: Callable[..., errors.StoreError] = errors.AccessDeniedError  # as in `SsmStore`
    settings: Settings = field(default=from_environment, kw_only=True)  # of the installations
    untiered: set[str] = field(default_factory=set, kw_only=True)  # the regions that turned out to support no tiers
    side_by_side: SideBySide = field(default=in_turn, kw_only=True)
    account: str = field(default="", kw_only=True)  # empty for the functions' own

    def __call__(self, region: str, clock: Clock) -> SsmStore:
        """The store of a region; raises `StoreError` if botocore does not accept the region's name."""
        try:
            client = client_for(self.client_in, region)
        except CallFailedError as error:
            code = error.code
        else:
            store = SsmStore(client, region, self.limiter, clock, denied=self.denied, settings=self.settings)
            return replace(store, untiered=self.untiered, side_by_side=self.side_by_side, account=self.account)
        raise errors.StoreError("Use", code, "Parameter Store", region, account=self.account)


def _batches(names: Iterable[str]) -> Iterator[list[str]]:
    """The names without duplicates, `BATCH` at a time."""
    rest = iter(dict.fromkeys(names))
    while batch := list(islice(rest, BATCH)):
        yield batch


def _tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _by_name(page: Iterable[ParameterTypeDef]) -> dict[str, Parameter]:
    return {
        found["Name"]: Parameter(
            name=found["Name"],
            type=ParameterType(found["Type"]),
            text=found["Value"],
            version=found["Version"],
            modified=found["LastModifiedDate"].astimezone(UTC).isoformat(),
        )
        for found in page
    }
