"""Parameter Store of one account and region in memory, at the level of a boto3 client, as strict as the real one.

Parameters are immutable tuples in one plain dict, so that a state is copied and compared cheaply: a model checker
takes hundreds of thousands of copies.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from botocore.exceptions import ClientError

from strongref.protocol.time import CLOCK_SKEW_SECONDS
from tests.support import ssm_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mypy_boto3_ssm import SSMClient

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)

Tags = tuple[tuple[str, str], ...]


class FakeParameter(NamedTuple):
    """A parameter as stored."""

    kind: str
    tier: str
    text: str
    version: int
    modified: datetime
    tags: Tags


class Slot(NamedTuple):
    """A name's history: how often it was written, and the parameter that it has now."""

    writes: int
    parameter: FakeParameter | None


Snapshot = frozenset[tuple[str, Slot]]


class FakeClock:
    """`ports.Clock` that moves only when it is slept on.

    Attributes:
        slept: how long, each time.
        on_sleep: called after each, with the seconds slept so far.
    """

    def __init__(self, remaining: float = 600.0) -> None:
        self.slept: list[float] = []
        self.on_sleep: Callable[[float], object] = lambda _slept: None
        self._deadline = remaining

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=sum(self.slept))

    def earliest(self) -> datetime:
        return self.now() - timedelta(seconds=CLOCK_SKEW_SECONDS)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.on_sleep(sum(self.slept))

    def remaining(self) -> float:
        return self._deadline - sum(self.slept)

    def before_call(self, action: str) -> None:
        """Nothing to renew."""


class FakeSsm:
    """What the tests use of an SSM client.

    Attributes:
        before_call: sees each call's action and request before it happens; may raise, to make it fail.
        locked: the names of SecureStrings whose KMS key cannot be used, with AWS's error code. One fails a whole read.
    """

    def __init__(
        self,
        region: str = "us-east-1",
        account: str = "123456789012",
        *,
        clock: Callable[[], datetime] | None = None,
        empty_pages: bool = False,
        before_call: Callable[[str, dict[str, Any]], None] | None = None,
    ) -> None:
        """Make an empty store.

        Args:
            region: part of the parameters' ARNs.
            account: likewise.
            clock: gives LastModifiedDate; by default, only the writes to each name are counted. Either way they count,
                across deletions, so that a parameter that is created again differs from the one before, and runs are
                alike.
            empty_pages: put a page without parameters, but with a token, before each page, as AWS may.
            before_call: see above.
        """
        self.region = region
        self.account = account
        self.before_call = before_call
        self._clock = clock
        self._empty_pages = empty_pages
        self._slots: dict[str, Slot] = {}
        self._frozen: Snapshot | None = None
        self.locked: dict[str, str] = {}

    def as_client(self) -> SSMClient:
        """Itself, for code that is typed with the real client."""
        return cast("SSMClient", self)

    def lock(self, code: str = "InvalidKeyId") -> None:
        """Make every SecureString that is there undecryptable."""
        self.locked = {name: code for name, found in self.parameters().items() if found.kind == "SecureString"}

    def snapshot(self) -> Snapshot:
        """The whole state: hashable, and equal for equal states."""
        if self._frozen is None:
            self._frozen = frozenset(self._slots.items())
        return self._frozen

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state."""
        self._slots = dict(snapshot)
        self._frozen = snapshot

    def parameters(self) -> dict[str, FakeParameter]:
        """All parameters, by name."""
        return {name: slot.parameter for name, slot in self._slots.items() if slot.parameter}

    def put_parameter(self, **request: Any) -> dict[str, Any]:
        self._begin("PutParameter", request)
        name, found = request["Name"], self._find(request["Name"])
        if found and not request.get("Overwrite"):
            raise error("ParameterAlreadyExists", "The parameter already exists.", "PutParameter")
        writes = self._slots[name].writes + 1 if name in self._slots else 1
        parameter = FakeParameter(
            kind=request.get("Type") or cast("FakeParameter", found).kind,
            tier=_tier(request, found),
            text=request["Value"],
            version=found.version + 1 if found else 1,
            modified=self._clock() + timedelta(microseconds=writes)
            if self._clock
            else EPOCH + timedelta(seconds=writes),
            tags=found.tags if found else _sorted_tags(request.get("Tags", ())),
        )
        self._set(name, Slot(writes, parameter))
        return {"Version": parameter.version, "Tier": parameter.tier}

    def get_parameters(self, **request: Any) -> dict[str, Any]:
        self._begin("GetParameters", request)
        names = list(dict.fromkeys(request["Names"]))
        found = {name: parameter for name in names if (parameter := self._find(name))}
        return {
            "Parameters": [self._shown(name, parameter, request) for name, parameter in found.items()],
            "InvalidParameters": [name for name in names if name not in found],
        }

    def get_parameters_by_path(self, **request: Any) -> dict[str, Any]:
        self._begin("GetParametersByPath", request)
        path = request["Path"].rstrip("/") + "/"
        names = self._names()
        below = names[bisect_left(names, path) : bisect_left(names, path[:-1] + chr(ord("/") + 1))]
        if not request.get("Recursive"):
            below = [name for name in below if "/" not in name[len(path) :]]
        page, token = self._page(below, request)
        return {"Parameters": [self._shown(name, self._known(name), request) for name in page], **token}

    def describe_parameters(self, **request: Any) -> dict[str, Any]:
        self._begin("DescribeParameters", request)
        filters = request.get("ParameterFilters", ())
        kept = [name for name in self._names() if all(_passes(name, self._known(name), f) for f in filters)]
        page, token = self._page(kept, request)
        return {"Parameters": [self._described(name) for name in page], **token}

    def delete_parameter(self, **request: Any) -> dict[str, Any]:
        self._begin("DeleteParameter", request)
        if not self._find(request["Name"]):
            raise error("ParameterNotFound", "No such parameter.", "DeleteParameter")
        self._delete(request["Name"])
        return {}

    def delete_parameters(self, **request: Any) -> dict[str, Any]:
        self._begin("DeleteParameters", request)
        there = [name for name in request["Names"] if self._find(name)]
        for name in there:
            self._delete(name)
        gone = [name for name in request["Names"] if name not in there]
        return {"DeletedParameters": there, "InvalidParameters": gone}

    def list_tags_for_resource(self, **request: Any) -> dict[str, Any]:
        self._begin("ListTagsForResource", request)
        tags = self._known(request["ResourceId"]).tags
        return {"TagList": [{"Key": key, "Value": value} for key, value in tags]}

    def add_tags_to_resource(self, **request: Any) -> dict[str, Any]:
        self._begin("AddTagsToResource", request)
        self._retag(request["ResourceId"], request["Tags"], ())
        return {}

    def remove_tags_from_resource(self, **request: Any) -> dict[str, Any]:
        self._begin("RemoveTagsFromResource", request)
        self._retag(request["ResourceId"], (), request["TagKeys"])
        return {}

    def _begin(self, action: str, request: dict[str, Any]) -> None:
        if self.before_call:
            self.before_call(action, request)
        refused = ssm_rules.refusal(action, request, self._stored, region=self.region, account=self.account)
        if refused:
            raise error(*refused, action)

    def _stored(self, name: str) -> ssm_rules.Stored | None:
        parameter = self._find(name)
        if parameter is None:
            return None
        return ssm_rules.Stored(parameter.kind, parameter.tier, frozenset(key for key, _ in parameter.tags))

    def _find(self, name: str) -> FakeParameter | None:
        slot = self._slots.get(name)
        return slot.parameter if slot else None

    def _known(self, name: str) -> FakeParameter:
        return cast("FakeParameter", self._slots[name].parameter)

    def _names(self) -> list[str]:
        return sorted(name for name, slot in self._slots.items() if slot.parameter)

    def _set(self, name: str, slot: Slot) -> None:
        self._slots[name] = slot
        self._frozen = None

    def _delete(self, name: str) -> None:
        self._set(name, self._slots[name]._replace(parameter=None))

    def _retag(self, name: str, add: Iterable[dict[str, str]], remove: Iterable[str]) -> None:
        """Change tags; neither the version nor the modification date changes by that."""
        slot, parameter = self._slots[name], self._known(name)
        kept = {key: value for key, value in parameter.tags if key not in set(remove)}
        tags = tuple(sorted((kept | dict(_sorted_tags(add))).items()))
        self._set(name, slot._replace(parameter=parameter._replace(tags=tags)))

    def _page(self, names: list[str], request: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
        """A page and its token: the last name seen, so that what comes and goes meanwhile shifts nothing."""
        token, size = request.get("NextToken", ""), request.get("MaxResults", 10)
        if self._empty_pages and not token.endswith("!"):
            return [], {"NextToken": f"{token}!"}
        begin = bisect_right(names, token.removesuffix("!"))
        page = names[begin : begin + size]
        return page, {"NextToken": page[-1]} if begin + size < len(names) else {}

    def _shown(self, name: str, parameter: FakeParameter, request: dict[str, Any]) -> dict[str, Any]:
        hidden = parameter.kind == "SecureString" and not request.get("WithDecryption")
        if parameter.kind == "SecureString" and not hidden and name in self.locked:
            raise error(self.locked[name], "The ciphertext refers to a key that is not to be used.", "GetParameters")
        return {
            "Name": name,
            "Type": parameter.kind,
            "Value": sha256(parameter.text.encode()).hexdigest() if hidden else parameter.text,
            "Version": parameter.version,
            "LastModifiedDate": parameter.modified,
            "ARN": f"arn:aws:ssm:{self.region}:{self.account}:parameter/{name.removeprefix('/')}",
            "DataType": "text",
        }

    def _described(self, name: str) -> dict[str, Any]:
        parameter = self._known(name)
        shown = self._shown(name, parameter, {})
        del shown["Value"]
        return {**shown, "Tier": parameter.tier}


def _passes(name: str, parameter: FakeParameter, condition: dict[str, Any]) -> bool:
    """One of DescribeParameters' filters; those on tags read what is there, where AWS reads an index."""
    key, values = condition["Key"], condition.get("Values", ())
    if key == "Path":
        recursive = condition.get("Option", "OneLevel") == "Recursive"
        paths = [path.rstrip("/") + "/" for path in values]
        return any(name.startswith(path) and (recursive or "/" not in name[len(path) :]) for path in paths)
    if key.startswith("tag:"):
        tags = dict(parameter.tags)
        tag = key.removeprefix("tag:")
        return tag in tags and (not values or tags[tag] in values)
    found = {"Name": name, "Type": parameter.kind, "Tier": parameter.tier}.get(key)
    if found is None:
        raise error("InvalidFilterKey", "The specified key isn't valid.", "DescribeParameters")
    return _matches(found, condition.get("Option", "Equals"), values)


def _matches(found: str, option: str, values: Sequence[str]) -> bool:
    if option == "BeginsWith":
        return found.startswith(tuple(values))
    if option == "Contains":
        return any(value in found for value in values)
    return found in values


def _tier(request: dict[str, Any], found: FakeParameter | None) -> str:
    """Intelligent-Tiering takes what the value needs; an advanced parameter stays one."""
    if found and found.tier == "Advanced":
        return "Advanced"
    tier: str = request.get("Tier", "Standard")
    if tier != "Intelligent-Tiering":
        return tier
    return "Advanced" if len(request["Value"].encode()) > ssm_rules.STANDARD_BYTES else "Standard"


def _sorted_tags(tags: Iterable[dict[str, str]]) -> Tags:
    return tuple(sorted((tag["Key"], tag["Value"]) for tag in tags))


def error(code: str, message: str, action: str) -> ClientError:
    answer = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    return ClientError(cast("Any", answer), action)
