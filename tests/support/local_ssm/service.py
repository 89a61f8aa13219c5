"""The whole local service: SSM and tags of every account and region, stacks, answers, invocations, and control.

Synchronous and in one thread, as a request comes: what takes time is returned as a delay, which `wire` waits for.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.support.local_ssm import cloudformation, parameters, sts, tagging
from tests.support.local_ssm.wire import Request, Response
from tests.support.quota import Quotas

if TYPE_CHECKING:
    from collections.abc import Callable

CONTROL = "/_control/"
ANSWERS = "/answer/"
ACCOUNT = "111111111111"
"""The account of every request that was not signed with an account's number as the access key."""

_INVOKE = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")
_SCOPE = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/")
_TARGET = "AmazonSSM."
_THROTTLED = "ThrottlingException"


class Service:
    """What the server does with each request.

    Attributes:
        counts: the calls that were carried out, refused ones included, by action; not the throttled ones.
        throttled: those.
        answers: what custom resources sent to CloudFormation, in order.
        invocations: the events of functions that were invoked.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.counts: Counter[str] = Counter()
        self.throttled: Counter[str] = Counter()
        self.answers: list[Any] = []
        self.invocations: list[Any] = []
        self._now = now
        self._latency = 0.0
        self._quotas: Quotas | None = None
        self._stacks: list[cloudformation.Stack] = []
        self._stores: dict[tuple[str, str], parameters.IndexedSsm] = {}

    def answer(self, request: Request) -> Response:
        if request.path.startswith(CONTROL):
            return self._control(request)
        if request.method == "PUT" and request.path.startswith(ANSWERS):
            self.answers.append(json.loads(request.body))
            return Response(delay=self._latency)
        if invoked := _INVOKE.match(request.path):
            return self._invoke(unquote(invoked[1]), request)
        target = request.headers.get("x-amz-target", "")
        if target.startswith(_TARGET):
            return self._ssm(target.removeprefix(_TARGET), request)
        if target == tagging.TARGET:
            return self._tagging(request)
        return self._query(request)

    def store(self, account: str, region: str) -> parameters.IndexedSsm:
        """The parameters of an account and region."""
        if (account, region) not in self._stores:
            self._stores[account, region] = parameters.IndexedSsm(region, account)
        return self._stores[account, region]

    def _ssm(self, action: str, request: Request) -> Response:
        if action not in parameters.ACTIONS:
            return parameters.error("UnknownOperationException", action)
        account, region = _scope(request)
        if not self._admitted(action, account, region):
            return parameters.error(_THROTTLED, "Rate exceeded", self._latency)
        return parameters.perform(self.store(account, region), action, request.body, self._latency)

    def _tagging(self, request: Request) -> Response:
        account, region = _scope(request)
        if not self._admitted(tagging.ACTION, account, region):
            return parameters.error(_THROTTLED, "Rate exceeded", self._latency)
        return tagging.perform(self.store(account, region), request.body, self._latency)

    def _query(self, request: Request) -> Response:
        """CloudFormation's and STS's calls, which only their actions tell apart."""
        asked = cloudformation.action_of(request.body)
        account, region = _scope(request)
        if asked.get("Action") in sts.ACTIONS:
            self.counts[asked["Action"]] += 1
            return sts.perform(asked, account, self._latency)
        if asked.get("Action") not in cloudformation.ACTIONS:
            return cloudformation.error("InvalidAction", asked.get("Action", request.path))
        if not self._admitted(asked["Action"], account, region):
            return cloudformation.error("Throttling", "Rate exceeded", self._latency)
        return cloudformation.perform(self._stacks, asked, region, self._latency)

    def _invoke(self, function: str, request: Request) -> Response:
        self.counts["Invoke"] += 1
        self.invocations.append({"function": function, "event": json.loads(request.body)})
        return Response(202, b"", delay=self._latency)

    def _admitted(self, action: str, account: str, region: str) -> bool:
        if self._quotas and not self._quotas.admit(action, account, region, self._now()):
            self.throttled[action] += 1
            return False
        self.counts[action] += 1
        return True

    def _control(self, request: Request) -> Response:
        what = request.path.removeprefix(CONTROL)
        given: dict[str, Any] = json.loads(request.body or b"{}")
        if what == "reset":
            self._reset()
        elif what == "options":
            self._latency = given.get("latency_ms", 0.0) / 1000
            self._quotas = Quotas(**given["quotas"]) if given.get("quotas") else None
        elif what == "preload":
            store = self.store(given.get("account", ACCOUNT), given["region"])
            store.preload(given["names"], given["text"], given["tags"])
        elif what == "stacks":
            self._stacks = given["stacks"]
        elif what == "clear":
            self._stores.clear()
            self._reset()
        elif what != "state":
            return Response(404)
        return Response(body=json.dumps(self._state()).encode())

    def _reset(self) -> None:
        self.counts.clear()
        self.throttled.clear()
        self.answers.clear()
        self.invocations.clear()

    def _state(self) -> dict[str, Any]:
        return {
            "counts": self.counts,
            "throttled": self.throttled,
            "answers": self.answers,
            "invocations": self.invocations,
            "stored": {"/".join(key): len(store._in_order) for key, store in self._stores.items()},
        }


def _scope(request: Request) -> tuple[str, str]:
    """The account and the region that a request was signed for."""
    found = _SCOPE.search(request.headers.get("authorization", ""))
    if not found:
        return ACCOUNT, "us-east-1"
    key, region = found.groups()
    return key if re.fullmatch(r"\d{12}", key) else ACCOUNT, region
