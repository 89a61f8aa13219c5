"""Looks at what strongref believes about AWS, where no check of what it promises shows it. Each has its own stacks."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from strongref.aws.clients import Clients
from strongref.aws.cloud_control import TAGGED_PER_PAGE
from strongref.aws.rate_limit import FIRST_RATES
from strongref.aws.retry import THROTTLING_CODES
from strongref.contract.hold_stacks import HOLD_TYPE
from strongref.protocol.hold_keeper import HURRIED_SECONDS
from strongref.protocol.lag import DEFAULT_LAG, MAX_LAG
from strongref.protocol.ports import BATCH
from strongref.protocol.recreation import RECREATION_SECONDS
from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref_cli.install.installed import read_lag
from strongref_cli.selftest.beliefs import Seen
from strongref_cli.selftest.lab import ensure
from strongref_cli.selftest.requests import chain, redelivery, request
from strongref_cli.selftest.scene import CREATED, NOTHING, Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.untyped import Untyped
    from strongref_cli.selftest.lab import Lab

ROUNDS = 5
BURST_SECONDS = 4.0
GIVE_UP_SECONDS = 60.0
_EXISTS = "ParameterAlreadyExists"
_TOO_LONG = "x" * 4097
"""A value for which a parameter of the standard tier has no room."""


class Probe(NamedTuple):
    """A look at some beliefs; otherwise as a `Check`."""

    name: str
    says: str  # what it looks at
    run: Callable[[Scene], Mapping[str, Seen]]  # returns what was seen, by the name of the belief
    quick: bool = True


class Reads(NamedTuple):
    """A parameter, written in every way, each write followed by reads until one shows it."""

    lab: Lab
    region: str
    path: str

    def measure(self) -> dict[str, float]:
        """Seconds from the end of each write to the end of the last read that does not show it, by belief."""
        name, found = f"{self.path}/value", {}
        tagged = {"ResourceType": "Parameter", "ResourceId": name}
        self.call("PutParameter", Name=name, Value="1", Type="String")
        found["lag-create-path"] = self.until(lambda: self._shown("GetParametersByPath", Path=self.path) == ["1"])
        self.call("PutParameter", Name=name, Value="2", Type="String", Overwrite=True)
        found["lag-overwrite-get"] = self.until(lambda: self._shown("GetParameters", Names=[name]) == ["2"])
        self.call("AddTagsToResource", **tagged, Tags=[{"Key": "k", "Value": "v"}])
        found["lag-tag-list"] = self.until(lambda: self._tags(tagged) == ["k"])
        self.call("RemoveTagsFromResource", **tagged, TagKeys=["k"])
        found["lag-untag-list"] = self.until(lambda: not self._tags(tagged))
        self.call("DeleteParameters", Names=[name])
        found["lag-delete-path"] = self.until(lambda: not self._shown("GetParametersByPath", Path=self.path))
        new = {"Name": name, "Value": "3", "Type": "String"}
        found["recreation"] = self.until(lambda: not self._refused(_EXISTS, "PutParameter", **new), RECREATION_SECONDS)
        self.call("DeleteParameters", Names=[name])
        return found

    def call(self, action: str, **request: Any) -> Untyped:
        return self.lab.call(Clients.ssm, action, self.region, **request)

    def until(self, shown: Callable[[], bool], give_up: float | None = None) -> float:
        began, lag = time.monotonic(), 0.0
        while not shown() and lag <= (give_up or GIVE_UP_SECONDS):
            lag = time.monotonic() - began
            self.lab.sleep(0.02)
        return lag

    def _shown(self, action: str, **request: Any) -> list[str]:
        return [each["Value"] for each in self.call(action, **request)["Parameters"]]

    def _tags(self, tagged: Mapping[str, str]) -> list[str]:
        return [each["Key"] for each in self.call("ListTagsForResource", **tagged)["TagList"]]

    def dated(self) -> Seen:
        """How much later than the end of a write its LastModifiedDate is, by AWS's time."""
        name = f"{self.path}/dated"
        self.call("PutParameter", Name=name, Value="1", Type="String")
        now = self.lab.session.clock.now()
        self.until(lambda: bool(self._shown("GetParameters", Names=[name])))
        found = self.call("GetParameters", Names=[name])["Parameters"][0]["LastModifiedDate"]
        self.call("DeleteParameters", Names=[name])
        seconds = (found - now).total_seconds()
        return Seen(abs(seconds) <= 2 * CLOCK_SKEW_SECONDS, f"{seconds:+.1f} s")

    def refusals(self) -> dict[str, Seen]:
        """What Parameter Store refuses, by belief, with the code."""
        name, found = f"{self.path}/refused", {}
        tags = {"ResourceType": "Parameter", "ResourceId": name, "Tags": [{"Key": "k", "Value": "v"}]}
        plain = {"Name": name, "Value": "1", "Type": "String"}
        large = {**plain, "Value": _TOO_LONG, "Tier": "Standard"}
        other = {**plain, "Type": "StringList", "Overwrite": True}
        found["tags-of-nothing"] = self._refused("InvalidResourceId", "AddTagsToResource", **tags)
        found["store-limits"] = self._refused("ValidationException", "PutParameter", **large)
        self.call("PutParameter", **plain)
        found["create-once"] = self._refused(_EXISTS, "PutParameter", **plain)
        found["store-type"] = self._refused("HierarchyTypeMismatchException", "PutParameter", **other)
        self.call("DeleteParameters", Names=[name])
        return {belief: Seen(bool(code), code or "not refused") for belief, code in found.items()}

    def _refused(self, code: str, action: str, **request: Any) -> str:
        return self.lab.refusal(code, Clients.ssm, action, self.region, **request)

    def pages(self) -> Seen:
        """What a second page has if a name of the first one is deleted before."""
        path = f"{self.path}/pages"
        names = [f"{path}/{number:02}" for number in range(BATCH + 2)]
        for name in names:
            self.call("PutParameter", Name=name, Value="1", Type="String")
        self.until(lambda: len(self._page(path)[0]) == BATCH)
        first, token = self._page(path)
        self.until(lambda: len(self._page(path, token)[0]) == len(names) - BATCH)
        self.call("DeleteParameters", Names=first[:1])
        second, _ = self._page(path, token)
        for at in range(0, len(names), BATCH):
            self.call("DeleteParameters", Names=names[at : at + BATCH])
        missing = len({*names} - {*first, *second})
        return Seen(not missing, f"{len(first)} and {len(second)} of {len(names)}, {missing} left out")

    def _page(self, path: str, token: str = "") -> tuple[list[str], str]:
        more = {"NextToken": token} if token else {}
        page = self.call("GetParametersByPath", Path=path, MaxResults=BATCH, **more)
        return [each["Name"] for each in page["Parameters"]], page.get("NextToken", "")


def _reads(at: Scene) -> dict[str, Seen]:
    slowest: dict[str, float] = {}
    for region in dict.fromkeys(at.lab.regions):
        for number in range(ROUNDS):
            for belief, lag in Reads(at.lab, region, f"{at.path}/{number}").measure().items():
                slowest[belief] = max(lag, slowest.get(belief, 0.0))
    once = Reads(at.lab, at.lab.regions[1], f"{at.path}/once")
    bound = read_lag(at.lab.session, at.lab.regions).seconds
    recreation = slowest.pop("recreation")
    found = {
        "recreation": Seen(recreation <= RECREATION_SECONDS, f"refused for {recreation:.1f} s"),
        **once.refusals(),
        "path-pages": once.pages(),
        "modified-date": once.dated(),
    }
    for belief, lag in slowest.items():
        wanted = max(math.ceil(2 * lag), DEFAULT_LAG)
        seen = f"up to {lag:.2f} s in {ROUNDS} rounds; ReadLag is {bound:g}"
        found[belief] = Seen(lag < bound or not lag, seen, f"ReadLag={wanted:g}" if bound < wanted <= MAX_LAG else "")
    return found


def _holding(at: Scene) -> dict[str, Seen]:
    """A stack like those that hold an export: one parameter that imports it."""
    region, stacks, clock = at.lab.regions[0], at.lab.stacks(at.lab.regions[0]), at.lab.session.clock
    value = {"Name": f"{at.path}/hold", "Type": "String", "Value": {"Fn::ImportValue": at.producer}}
    resources = {"Hold": {"Type": HOLD_TYPE, "Properties": value}}
    too_early = _import_of_nothing(at, resources)
    at.produce({}, {"Hold": {"Value": at.producer, "Export": {"Name": at.producer}}}).expect(CREATED)
    first: dict[str, float] = {}

    def look() -> bool:
        at.lab.sleep(0.2)
        stack, importers = stacks.stack(at.consumer), stacks.importers(at.producer)
        now = time.monotonic()
        if stack and stack["StackStatus"] == CREATED:
            first.setdefault("created", now)
        if at.consumer in importers:
            first.setdefault("listed", now)
        return len(first) == 2  # noqa: PLR2004 (both)

    began, sent = time.monotonic(), clock.now()
    with ThreadPoolExecutor(1) as pool:
        creating = pool.submit(at.lab.deploy, region, at.consumer, {"Resources": resources})
        while not creating.done():
            look()
        creating.result().expect(CREATED)
    waited = Reads(at.lab, region, at.path).until(look)
    seconds = first["created"] - began
    lag = max(0.0, first["listed"] - first["created"]) if "listed" in first else waited
    bound = read_lag(at.lab.session, [region]).seconds
    (stack,) = at.lab.call(Clients.cloudformation, "DescribeStacks", region, StackName=at.consumer)["Stacks"]
    created, until, skew = stack["CreationTime"], clock.now(), timedelta(seconds=2 * CLOCK_SKEW_SECONDS)
    at.lab.delete(region, at.consumer).expect("")

    def is_gone(name: str) -> bool:
        request = {"StackName": name}
        return bool(at.lab.refusal("ValidationError", Clients.cloudformation, "DescribeStacks", region, **request))

    named = Reads(at.lab, region, at.path).until(lambda: is_gone(at.consumer), bound)
    found = not is_gone(stack["StackId"])
    return {
        "imports-first": too_early,
        "hold-time": Seen(seconds <= HURRIED_SECONDS, f"{seconds:.1f} s"),
        "list-imports": Seen(lag < bound or not lag, f"after {lag:.2f} s"),
        "deleted-stacks": Seen(found and named <= bound, f"by its name for {named:.2f} s, by its ARN: {found}"),
        "response-dates": Seen(sent - skew < created < until + skew, f"{created:%T} between {sent:%T} and {until:%T}"),
    }


def _import_of_nothing(at: Scene, resources: Mapping[str, Any]) -> Seen:
    """What a creation does before CloudFormation finds that an export is missing."""
    region = at.lab.regions[0]
    ended = at.import_early({"Resources": {"Nothing": NOTHING, **resources}})
    touched = {each["LogicalResourceId"] for each in at.lab.stacks(region).events(at.consumer)} - {at.consumer}
    at.lab.delete(region, at.consumer).expect("")
    return Seen(ended.status != CREATED and not touched, f"{', '.join(sorted(touched)) or 'nothing'} before {ended}")


def _tagging(at: Scene) -> dict[str, Seen]:
    reads, filters = Reads(at.lab, at.lab.regions[1], at.path), [{"Key": at.lab.name, "Values": [at.check]}]
    tag = {"Key": at.lab.name, "Value": at.check}
    reads.call("PutParameter", Name=f"{at.path}/value", Value="1", Type="String", Tags=[tag])

    def shown() -> bool:
        found = at.lab.call(Clients.tagging, "GetResources", reads.region, TagFilters=filters)
        return bool(found["ResourceTagMappingList"])

    lag = reads.until(shown)
    large = {"ResourcesPerPage": TAGGED_PER_PAGE, "TagFilters": filters}
    refused = at.lab.refusal("InvalidParameterException", Clients.tagging, "GetResources", reads.region, **large)
    return {
        "tagging-lag": Seen(lag <= GIVE_UP_SECONDS, f"after {lag:.1f} s"),
        "tagging-pages": Seen(not refused, refused or "accepted"),
    }


def _rates(at: Scene) -> dict[str, Seen]:
    client, seen, enough = at.lab.session.clients.ssm(at.lab.regions[1]), [], True
    calls: dict[str, Callable[[str], object]] = {
        "reads": lambda name: client.get_parameters(Names=[name]),
        "writes": lambda name: client.put_parameter(Name=name, Value="1", Type="String"),  # Overwrites have a limit.
    }
    for (what, call), rate in zip(calls.items(), (FIRST_RATES.reads, FIRST_RATES.writes), strict=True):
        served, refused = _served(at, call, rate)
        enough = enough and (not refused or served >= rate / 2)  # Others in the account call it, too.
        seen.append(f"{served:.1f} {what} a second, {refused} refused")
    return {"rates": Seen(enough, "; ".join(seen))}


def _served(at: Scene, call: Callable[[str], object], rate: float) -> tuple[float, int]:
    """The calls a second that are served, of twice so many, and how many are refused because they are too many."""
    began = time.monotonic()

    def attempt(number: int) -> bool:
        at.lab.sleep(max(0.0, began + number / (2 * rate) - time.monotonic()))
        try:
            call(f"{at.path}/{number}")
        except ClientError as error:
            code = error.response["Error"]["Code"]
            ensure(code in THROTTLING_CODES, f"a call failed: {code}")
            return False
        except BotoCoreError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        served = list(pool.map(attempt, range(int(2 * rate * BURST_SECONDS))))
    return sum(served) / (time.monotonic() - began), served.count(False)


PROBES = (
    Probe("reads", "how long reads lag behind writes", _reads),
    Probe("request", "what CloudFormation sends to a function, and shows meanwhile", request),
    Probe("chain", "how often a function can invoke itself", chain, quick=False),
    Probe("redelivery", "when Lambda delivers an event again", redelivery, quick=False),
    Probe("holding", "how long a hold takes, and when it is listed", _holding),
    Probe("tagging", "when the tagging API finds a new tag", _tagging),
    Probe("rates", "how many calls Parameter Store serves", _rates, quick=False),
)
