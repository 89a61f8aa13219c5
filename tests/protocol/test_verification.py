"""Only events that CloudFormation waits for are carried out: what it must say about the resource, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from strongref.arns import Arn
from strongref.contract.continuation import Continuation
from strongref.contract.event import Event, RequestType
from strongref.contract.origin import ResponseHosts
from strongref.errors import OUT_OF_TIME, BadRequestError, StackLookupError, WaitInterruptedError
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import ResourceInfo, StackInfo
from strongref.protocol.verification import (
    AHEAD,
    ASKING_SECONDS,
    LAST_SECONDS,
    LATE_SECONDS,
    EventNotVerifiedError,
    EventPendingError,
    EventRejectedError,
    EventVerifier,
    is_given_up,
    is_in_use,
    is_superseded,
)
from tests.support.builders import ACCOUNT, stack_arn
from tests.support.cloudformation.requests import EXPORT, IMPORT, ResourceRequest
from tests.support.cloudformation.stacks import CLEANUP, ROLLBACK, ROLLBACK_CLEANUP
from tests.support.fake_ssm import EPOCH, FakeClock
from tests.support.read_only_stacks import ReadOnlyStacks

if TYPE_CHECKING:
    from strongref.errors import StrongRefError
    from strongref.protocol.time import Clock

REGION = "us-east-1"
STACK = stack_arn("web", REGION)
FUNCTION = Arn.of(f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:strongref-Importer-1")
ID = "strongref-import/web/Imports/0123"
OTHER = "strongref-import/web/Imports/4567"
CREATE, UPDATE, DELETE = RequestType


@dataclass
class Account(ReadOnlyStacks):
    """CloudFormation, which says this about one resource and its stack; first, and after some seconds."""

    resource_info: ResourceInfo | None
    status: str | None = None
    later: tuple[float, ResourceInfo | None] | None = None
    error: StrongRefError | None = None
    calls: list[str] = field(default_factory=list)
    clock: FakeClock = field(default_factory=FakeClock)

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        assert (arn, logical_id) == (STACK, "Imports")
        self.calls.append("DescribeStackResource")
        if self.error:
            raise self.error
        if self.later and sum(self.clock.slept) >= self.later[0]:
            return self.later[1]
        return self.resource_info

    def by_arn(self, arn: str) -> StackInfo | None:
        assert arn == STACK
        self.calls.append("DescribeStacks")
        return StackInfo(STACK, "web", self.status, STACK) if self.status else None

    def verifier(self, lag: float = 2.0) -> EventVerifier:
        def stacks(account: str, _clock: Clock) -> Account:
            assert account == ACCOUNT
            return self

        return EventVerifier(ResponseHosts(), lambda _partition: "amazonaws.com", stacks, ReadLag(lag))

    def accepts(self, event: Event, lag: float = 2.0) -> bool:
        try:
            self.verifier(lag).check_expected(event, self.clock)
        except (EventRejectedError, EventPendingError):
            return False
        return True

    def arrives(self, seconds: float) -> Account:
        """Let an event arrive so long after it was sent."""
        self.clock.slept.append(seconds)
        return self


def event(kind: RequestType, physical_id: str = ID) -> Event:
    properties = {"From": {"Stack": "network", "Region": "eu-west-1"}, "Names": ["A"]}
    request = ResourceRequest(
        kind,
        STACK,
        "Imports",
        properties,
        "" if kind is CREATE else physical_id,
        properties if kind is UPDATE else None,
    )
    return request.event("request-1", signed=f"{FakeClock().now():%Y%m%dT%H%M%SZ}")


def listed(status: str, physical_id: str = ID, kind: str = IMPORT) -> ResourceInfo:
    return ResourceInfo(kind, status, physical_id)


REPLACED = listed("UPDATE_COMPLETE", OTHER)


@pytest.mark.parametrize(
    ("what", "sent", "resource", "stack"),
    [
        ("create", event(CREATE), listed("CREATE_IN_PROGRESS", ""), "CREATE_IN_PROGRESS"),
        ("create in an update", event(CREATE), listed("CREATE_IN_PROGRESS", ""), "UPDATE_IN_PROGRESS"),
        ("update", event(UPDATE), listed("UPDATE_IN_PROGRESS"), "UPDATE_IN_PROGRESS"),
        ("rollback of an update", event(UPDATE), listed("UPDATE_IN_PROGRESS"), ROLLBACK),
        ("continue-update-rollback", event(UPDATE), listed("UPDATE_IN_PROGRESS"), ROLLBACK),
        ("rollback-stack of an update", event(UPDATE), listed("UPDATE_IN_PROGRESS"), ROLLBACK),
        ("rollback-stack of a create", event(DELETE), listed("DELETE_IN_PROGRESS"), "ROLLBACK_IN_PROGRESS"),
        ("delete", event(DELETE), listed("DELETE_IN_PROGRESS"), "DELETE_IN_PROGRESS"),
        ("delete after a failed create", event(DELETE), listed("DELETE_IN_PROGRESS"), "ROLLBACK_IN_PROGRESS"),
        ("delete of a resource taken out", event(DELETE), listed("DELETE_IN_PROGRESS"), CLEANUP),
        ("one taken out and gone", event(DELETE), None, CLEANUP),
        ("one gone, of a stack that is deleted", event(DELETE), None, "DELETE_IN_PROGRESS"),
        ("one replaced, of a stack that is deleted", event(DELETE), REPLACED, "DELETE_IN_PROGRESS"),
        ("cleanup of one replaced", event(DELETE), REPLACED, CLEANUP),
        ("cleanup after a rollback", event(DELETE), REPLACED, ROLLBACK_CLEANUP),
        ("rollback of one replaced", event(DELETE), REPLACED, ROLLBACK),
        ("rollback of one created", event(DELETE), None, ROLLBACK),
        ("nested stack that its parent deletes", event(DELETE), listed("DELETE_IN_PROGRESS"), "DELETE_IN_PROGRESS"),
        ("nested stack whose parent cleans up", event(DELETE), REPLACED, CLEANUP),
        ("instance of a stack set", event(CREATE), listed("CREATE_IN_PROGRESS", ""), "CREATE_IN_PROGRESS"),
    ],
    ids=lambda given: given if isinstance(given, str) and " " in given else "",
)
def test_what_cloudformation_waits_for_is_accepted(
    what: str, sent: Event, resource: ResourceInfo | None, stack: str
) -> None:
    account = Account(resource, stack)
    assert account.accepts(sent), what
    one_look = resource is not None and resource.status.endswith("_IN_PROGRESS")
    assert sum(account.clock.slept) == (0 if one_look else ReadLag(2.0).after_writing)
    assert account.calls == ["DescribeStackResource"] if one_look else ["DescribeStackResource", "DescribeStacks"] * 2


@pytest.mark.parametrize(
    ("sent", "resource", "stack"),
    [
        (event(CREATE), None, "CREATE_IN_PROGRESS"),
        (event(CREATE), listed("CREATE_COMPLETE"), "CREATE_COMPLETE"),
        (event(CREATE), listed("CREATE_FAILED"), "ROLLBACK_IN_PROGRESS"),
        (event(CREATE), listed("DELETE_IN_PROGRESS"), "ROLLBACK_IN_PROGRESS"),
        (event(CREATE), listed("CREATE_IN_PROGRESS", kind=EXPORT), "CREATE_IN_PROGRESS"),
        (event(UPDATE), None, None),
        (event(UPDATE), listed("UPDATE_COMPLETE"), "UPDATE_IN_PROGRESS"),
        (event(UPDATE), listed("DELETE_IN_PROGRESS"), "DELETE_IN_PROGRESS"),
        (event(UPDATE), listed("UPDATE_IN_PROGRESS", kind=EXPORT), "UPDATE_IN_PROGRESS"),
        (event(DELETE), listed("UPDATE_IN_PROGRESS"), "UPDATE_IN_PROGRESS"),
        (event(DELETE), listed("UPDATE_COMPLETE"), "UPDATE_COMPLETE"),
        (event(DELETE), listed("UPDATE_COMPLETE"), CLEANUP),
        (event(DELETE), REPLACED, "UPDATE_COMPLETE"),
        (event(DELETE), REPLACED, "UPDATE_IN_PROGRESS"),
        (event(DELETE), listed("UPDATE_IN_PROGRESS", OTHER), ROLLBACK),
        (event(DELETE), listed("DELETE_IN_PROGRESS", kind=EXPORT), "UPDATE_COMPLETE"),
        (event(DELETE), listed("DELETE_COMPLETE"), "DELETE_IN_PROGRESS"),
        (event(DELETE), None, "UPDATE_COMPLETE"),
        (event(DELETE), None, None),
    ],
)
def test_everything_else_is_rejected_after_it_was_asked_again(
    sent: Event, resource: ResourceInfo | None, stack: str | None
) -> None:
    account = Account(resource, stack)
    assert not account.accepts(sent)
    assert sum(account.clock.slept) >= 2 * 2.0 + LATE_SECONDS
    assert account.calls.count("DescribeStackResource") > 1


def test_a_list_that_is_late_is_waited_for() -> None:
    account = Account(None, "CREATE_IN_PROGRESS", later=(8.5, listed("CREATE_IN_PROGRESS", "")))
    assert account.accepts(event(CREATE))
    assert not Account(None, "CREATE_IN_PROGRESS", later=(8.5, listed("CREATE_IN_PROGRESS"))).accepts(
        event(CREATE), lag=0
    )


DENIED = StackLookupError(STACK, REGION, "AccessDenied")
SENT = event(UPDATE)


@pytest.mark.parametrize(
    ("seconds", "sent", "raised"),
    [
        (-6, SENT, False),
        (0, SENT, True),
        (149, SENT, True),
        (150, SENT, False),
        (0, replace(SENT, requested=None), False),
        (0, replace(SENT, continuation=Continuation(2, EPOCH)), False),
        (20, replace(SENT, service_timeout=180), True),
        (30, replace(SENT, service_timeout=180), False),
    ],
    ids=["dated ahead", "first", "second", "third", "undated", "continuation", "in time", "too late for another"],
)
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, EventRejectedError),
        (DENIED, EventNotVerifiedError),
        (WaitInterruptedError(DENIED), EventNotVerifiedError),
    ],
    ids=["not expected", "refused", "out of time"],
)
def test_an_event_that_is_not_verified_is_left_to_lambda_unless_that_was_the_last_delivery(
    seconds: float, sent: Event, raised: bool, error: StrongRefError | None, expected: type[StrongRefError]
) -> None:
    account = Account(listed("UPDATE_COMPLETE"), "UPDATE_COMPLETE", error=error).arrives(seconds)
    with pytest.raises(EventPendingError if raised else expected, match="AccessDenied" if error else "wait for it"):
        account.verifier().check_expected(sent, account.clock)


IN_PROGRESS = listed("UPDATE_IN_PROGRESS")
SAME_SECOND = replace(IN_PROGRESS, updated=EPOCH + timedelta(seconds=0.9))
ANOTHER = replace(IN_PROGRESS, updated=EPOCH + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("seconds", "resource", "accepted"),
    [(29, ANOTHER, True), (30, ANOTHER, False), (30, SAME_SECOND, True), (200, IN_PROGRESS, True)],
    ids=["not late", "of another request", "of the same second", "undated"],
)
def test_a_late_delivery_counts_only_for_the_request_that_the_resource_is_in_progress_for(
    seconds: float, resource: ResourceInfo, accepted: bool
) -> None:
    assert Account(resource).arrives(seconds).accepts(event(UPDATE)) is accepted


def test_what_continues_was_verified_before() -> None:
    continued = replace(event(UPDATE), continuation=Continuation(2, EPOCH))
    assert Account(ANOTHER).arrives(60).accepts(continued)


def test_it_is_looked_at_when_reads_show_what_was_there_when_it_arrived() -> None:
    account = Account(SAME_SECOND, later=(60 + 2.1, ANOTHER)).arrives(60)
    assert not account.accepts(event(UPDATE))


def test_a_late_delete_of_what_was_replaced_before_is_accepted() -> None:
    replaced = replace(REPLACED, updated=EPOCH)
    assert Account(replaced, CLEANUP).arrives(60).accepts(event(DELETE))
    assert not Account(replace(REPLACED, updated=ANOTHER.updated), CLEANUP).arrives(60).accepts(event(DELETE))


def test_it_is_not_asked_forever() -> None:
    seen: list[float] = []

    def stacks(_account: str, clock: Clock) -> Account:
        seen.append(clock.remaining())
        return Account(listed("UPDATE_IN_PROGRESS"))

    verifier = EventVerifier(ResponseHosts(), lambda _partition: "amazonaws.com", stacks, ReadLag())
    for seconds in (0, 150):
        clock = FakeClock(remaining=800)
        clock.slept.append(seconds)
        verifier.check_expected(event(UPDATE), clock)
    assert seen == [ASKING_SECONDS, LAST_SECONDS]


def test_an_event_whose_time_is_over_is_rejected() -> None:
    verifier, sent = Account(None).verifier(), event(UPDATE)
    verifier.check_origin(sent, FUNCTION, EPOCH + timedelta(seconds=99), 100)
    with pytest.raises(EventRejectedError, match="does not wait for it anymore"):
        verifier.check_origin(sent, FUNCTION, EPOCH + timedelta(seconds=100), 100)


def test_so_is_one_of_the_future_which_would_outdate_all_others() -> None:
    verifier, sent = Account(None).verifier(), event(UPDATE)
    verifier.check_origin(sent, FUNCTION, EPOCH - AHEAD)
    with pytest.raises(EventRejectedError, match="in the future"):
        verifier.check_origin(sent, FUNCTION, EPOCH - AHEAD - timedelta(seconds=1))


def test_nothing_is_known_of_the_time_of_one_whose_url_has_no_date() -> None:
    sent = event(UPDATE)
    undated = replace(sent, response_url=sent.response_url.partition("?")[0], requested=None)
    Account(None).verifier().check_origin(undated, FUNCTION, EPOCH)
    assert not is_superseded(undated, Account(None))


def test_what_is_at_rest_or_gone_was_asked_for_something_else_since() -> None:
    looks = (listed("UPDATE_IN_PROGRESS"), listed("UPDATE_COMPLETE"), None)
    assert [is_superseded(event(UPDATE), Account(found)) for found in looks] == [False, True, True]
    assert is_given_up(event(UPDATE), Account(None))
    assert not is_given_up(event(DELETE), Account(None))  # what it was sent for is to go in any case


@pytest.mark.parametrize(
    ("resource", "in_use"),
    [
        (listed("UPDATE_COMPLETE"), True),
        (listed("UPDATE_COMPLETE", OTHER), False),
        (listed("DELETE_IN_PROGRESS"), False),
        (None, False),
    ],
)
def test_a_resource_is_in_use_unless_it_is_being_deleted(resource: ResourceInfo | None, in_use: bool) -> None:
    assert is_in_use(Account(resource), STACK, "Imports", ID) is in_use


def test_what_is_not_listed_is_looked_at_twice() -> None:
    """The first list may be out of date: the resource has come back to that physical ID since."""
    account = Account(REPLACED, CLEANUP, later=(2.5, listed("UPDATE_COMPLETE")))
    assert not account.accepts(event(DELETE))


NO_TIME = StackLookupError(STACK, REGION, OUT_OF_TIME)


@pytest.mark.parametrize(
    ("answers", "error", "expected"),
    [
        (1, NO_TIME, EventRejectedError),
        (1, WaitInterruptedError(NO_TIME), EventRejectedError),
        (0, WaitInterruptedError(NO_TIME), EventNotVerifiedError),
        (1, WaitInterruptedError(DENIED), EventNotVerifiedError),
        (1, WaitInterruptedError(BadRequestError("x", "y")), EventNotVerifiedError),
    ],
    ids=["no time", "no time to wait", "no answer", "denied", "another error"],
)
def test_at_rest_is_no_failure_where_there_is_no_time_to_ask_again(
    answers: int, error: StrongRefError, expected: type[StrongRefError]
) -> None:
    account = Account(None).arrives(150)
    asked = iter([listed("UPDATE_COMPLETE")] * answers)

    def resource(_arn: str, _logical_id: str) -> ResourceInfo:
        if found := next(asked, None):
            return found
        raise error

    account.resource = resource  # type: ignore[method-assign, assignment]
    with pytest.raises(expected):
        account.verifier().check_expected(event(UPDATE), account.clock)


@pytest.mark.parametrize(
    "function",
    [
        f"arn:aws:lambda:{REGION}:222222222222:function:strongref-Importer-1",
        f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:strongref-Importer-1",
        f"arn:aws-cn:lambda:{REGION}:{ACCOUNT}:function:strongref-Importer-1",
    ],
    ids=["another account", "another region", "another partition"],
)
def test_a_stack_of_another_place_is_rejected(function: str) -> None:
    with pytest.raises(EventRejectedError, match="StackId"):
        Account(None).verifier().check_origin(event(CREATE), Arn.of(function), EPOCH)


def test_so_is_a_response_url_that_is_not_cloudformations() -> None:
    verifier = Account(None).verifier()
    verifier.check_origin(event(CREATE), FUNCTION, EPOCH)
    with pytest.raises(EventRejectedError, match="ResponseURL") as rejected:
        verifier.check_origin(replace(event(CREATE), response_url="https://example.org/secret"), FUNCTION, EPOCH)
    assert "example.org" not in str(rejected.value)
