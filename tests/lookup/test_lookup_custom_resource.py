"""The lookup's function: each event answered once, whatever comes of it, and nothing left behind or written down."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from strongref.aws.cloud_control import Resource
from strongref.aws.errors import CloudControlError, LookUpDeniedError, NoSuchResourceError
from strongref.errors import StrongRefError, WaitInterruptedError
from strongref.log import logger
from strongref.lookup.custom_resource import ResourceLookup
from strongref.lookup.query import ResourceQuery
from strongref.runtime.custom_resource import CustomResource
from tests.support.response_server import FakeContext, ResponseServer
from tests.support.verifying import CREDULOUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.lookup.search import Finder
    from strongref.protocol.time import Clock

EVENTS = Path(__file__).parents[1] / "events"
PHYSICAL_ID = "strongref-lookup/site/Bucket"
FAILED_ID = "strongref-failed-create/site/Bucket"
UNFINISHED_ID = "strongref-unfinished-create/site/Bucket"
SECRET = "s3cret"
ACCOUNT = "222222222222"
BUCKET = Resource(
    "AWS::S3::Bucket",
    "photos",
    {"Arn": "arn:aws:s3:::photos", "DomainName": "photos.s3.amazonaws.com", "Description": SECRET, "Tags": [{}]},
)


@dataclass
class FakeFinder:
    """A region's resources: the same one whatever is wanted, or an error."""

    outcome: Resource | Exception = BUCKET
    asked: list[tuple[str, ResourceQuery]] = field(default_factory=list)
    region: str = ""

    def within(self, region: str, clock: Clock) -> Finder:
        assert clock.remaining() > 0
        self.region = region
        return cast("Finder", self)

    def find(self, query: ResourceQuery) -> Resource:
        self.asked.append((self.region, query))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@dataclass
class Passed:
    """What was handed over to another invocation."""

    left: list[StrongRefError] = field(default_factory=list)

    def __call__(self, _function: str, _event: Mapping[str, Any], left: StrongRefError, _clock: Clock) -> None:
        self.left.append(left)


@pytest.fixture
def server() -> Iterator[ResponseServer]:
    with ResponseServer() as started:
        yield started


def raw(name: str, server: ResponseServer, **properties: object) -> dict[str, Any]:
    """An event that is to be answered here; a property that is to be None is taken out."""
    found: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    merged = found["ResourceProperties"] | properties
    kept = {key: value for key, value in merged.items() if value is not None}
    return found | {"ResponseURL": server.url, "ResourceProperties": kept}


def sent(event: dict[str, Any], finder: FakeFinder, server: ResponseServer, hand_over: Any = None) -> dict[str, Any]:
    """The one answer to an event."""
    before = len(server.answers)
    CustomResource(ResourceLookup(finder.within).handle, hand_over or _nobody, CREDULOUS)(event, FakeContext())
    (answer,) = server.answers[before:]
    return answer


def _nobody(*_: object) -> NoReturn:
    raise AssertionError("nothing is to be handed over")


def test_a_create_tells_the_attributes_that_it_is_asked_for(server: ResponseServer) -> None:
    finder = FakeFinder()
    answer = sent(raw("create_lookup", server), finder, server)
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", PHYSICAL_ID)
    assert answer["Data"] == {
        "Identifier": "photos",
        "Arn": "arn:aws:s3:::photos",
        "DomainName": "photos.s3.amazonaws.com",
    }
    assert finder.asked == [("eu-west-1", ResourceQuery("AWS::S3::Bucket", physical_id="photos", account=ACCOUNT))]


def test_without_attributes_all_that_can_be_returned_is(server: ResponseServer) -> None:
    answer = sent(raw("create_lookup", server, Attributes=None, Region=None), finder := FakeFinder(), server)
    assert answer["Data"] == {
        "Identifier": "photos",
        "Arn": "arn:aws:s3:::photos",
        "DomainName": "photos.s3.amazonaws.com",
        "Description": SECRET,
    }
    assert finder.asked[0][0] == "us-east-1"


def test_an_update_looks_again_and_is_never_a_replacement(server: ResponseServer) -> None:
    finder = FakeFinder(Resource("AWS::SNS::Topic", "arn:t", {"Arn": "arn:t", "DomainName": "x"}))
    answer = sent(raw("update_lookup", server), finder, server)
    assert answer["PhysicalResourceId"] == PHYSICAL_ID
    assert answer["Data"]["Identifier"] == "arn:t"
    assert finder.asked == [("eu-west-1", ResourceQuery("AWS::S3::Bucket", name="albums", account=ACCOUNT))]


@pytest.mark.parametrize("properties", [{}, {"TypeName": "nonsense"}, {"PhysicalId": ["a"], "Unknown": "1"}])
def test_a_delete_has_nothing_to_do_and_asks_nobody(server: ResponseServer, properties: dict[str, object]) -> None:
    finder = FakeFinder(NoSuchResourceError("AWS::S3::Bucket", "physical ID photos", "us-east-1"))
    answer = sent(raw("delete_lookup", server, **properties), finder, server)
    assert (answer["Status"], answer["PhysicalResourceId"], answer["Data"]) == ("SUCCESS", PHYSICAL_ID, {})
    assert finder.asked == []


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (
            NoSuchResourceError("AWS::S3::Bucket", "physical ID photos", "eu-west-1"),
            "No AWS::S3::Bucket with physical ID photos in eu-west-1. Check the name, the region and the account.",
        ),
        (
            LookUpDeniedError("GetResource", "AccessDeniedException", "AWS::S3::Bucket photos", "eu-west-1"),
            (
                "GetResource of AWS::S3::Bucket photos in eu-west-1 was denied (AccessDeniedException). Cloud Control "
                "reads with the permissions of the function's role: add a policy that allows to read AWS::S3::Bucket "
                "to LookupPolicies, a parameter of strongref's installation, and check that neither "
                "PermissionsBoundary nor a service control policy denies it."
            ),
        ),
    ],
)
def test_a_create_that_failed_leaves_nothing_for_its_delete(
    server: ResponseServer, outcome: StrongRefError, reason: str
) -> None:
    answer = sent(raw("create_lookup", server), FakeFinder(outcome), server)
    assert (answer["Status"], answer["Reason"], answer["PhysicalResourceId"]) == ("FAILED", reason, FAILED_ID)
    deleted = raw("delete_lookup", server) | {"PhysicalResourceId": FAILED_ID}
    assert sent(deleted, FakeFinder(outcome), server)["Status"] == "SUCCESS"


@pytest.mark.parametrize("outcome", [RuntimeError(SECRET), KeyError(SECRET)])
def test_a_defect_is_answered_without_its_text_and_its_delete_asks_nobody(
    server: ResponseServer, outcome: Exception
) -> None:
    answer = sent(raw("create_lookup", server), FakeFinder(outcome), server)
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("FAILED", UNFINISHED_ID)
    assert type(outcome).__name__ in answer["Reason"]
    assert SECRET not in answer["Reason"]
    deleted = raw("delete_lookup", server) | {"PhysicalResourceId": UNFINISHED_ID}
    assert sent(deleted, finder := FakeFinder(outcome), server)["Status"] == "SUCCESS"
    assert finder.asked == []


def test_a_bad_property_is_refused_before_anybody_is_asked(server: ResponseServer) -> None:
    answer = sent(raw("create_lookup", server, Name="photos"), finder := FakeFinder(), server)
    assert answer["Reason"] == "PhysicalId and Name: cannot be combined; give one of PhysicalId, Arn, Name and Tags"
    assert finder.asked == []


@pytest.mark.parametrize(
    ("names", "way_out"),
    [
        (["Policy", "Arn"], "Leave Policy out of Attributes: a single value is too large."),
        (None, "List only the attributes that you need in Attributes. The largest are Policy."),
    ],
)
def test_what_does_not_fit_into_an_answer_is_refused(
    server: ResponseServer, names: list[str] | None, way_out: str
) -> None:
    large = Resource("AWS::S3::Bucket", "photos", {"Arn": "arn:aws:s3:::photos", "Policy": "x" * 4000})
    answer = sent(raw("create_lookup", server, Attributes=names), FakeFinder(large), server)
    assert answer["Status"] == "FAILED"
    assert answer["Reason"].startswith("The attributes of this AWS::S3::Bucket are too large for CloudFormation: the")
    assert answer["Reason"].endswith(way_out)


def test_an_identifier_that_is_too_large_by_itself_is_refused_too(server: ResponseServer) -> None:
    large = Resource("AWS::S3::Bucket", "😀" * 1024, {})
    answer = sent(raw("create_lookup", server, Attributes=["Identifier"]), FakeFinder(large), server)
    assert answer["Reason"].endswith("Leave Identifier out of Attributes: a single value is too large.")


def test_what_throttling_leaves_undone_goes_on_in_another_invocation(server: ResponseServer) -> None:
    throttled = WaitInterruptedError(
        CloudControlError("ListResources", "ThrottlingException", "AWS::S3::Bucket", "eu-west-1")
    )
    passed = Passed()
    CustomResource(ResourceLookup(FakeFinder(throttled).within).handle, passed, CREDULOUS)(
        raw("create_lookup", server), FakeContext()
    )
    assert passed.left == [throttled]
    assert server.answers == []


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What the functions' logger writes."""
    stream = io.StringIO()
    handler: Any = logger.registered_handler
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before)


def test_no_value_is_logged(server: ResponseServer, logged: io.StringIO) -> None:
    assert sent(raw("create_lookup", server, Attributes=["Description"]), FakeFinder(), server)["Data"]["Description"]
    assert sent(raw("create_lookup", server, Attributes=["Tags"]), FakeFinder(), server)["Status"] == "FAILED"
    assert logged.getvalue().count("Responded") == 2
    assert SECRET not in logged.getvalue()
