"""The one reader of CloudFormation: what is not there, what is gone, and what a refusal says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from strongref.aws.clients import Clients
from strongref_toolkit.aws import Where
from strongref_toolkit.cloudformation import CloudFormationReader
from strongref_toolkit.errors import AwsCallError
from tests.support.watched import EU, aws_of

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "text-of-aws"


class Answering(Clients):
    """A client whose methods return these pages, one after the other, or fail with a code."""

    def __init__(self, *pages: dict[str, Any], code: str = "") -> None:
        super().__init__()
        self.pages, self.code = pages, code
        self.requests: list[dict[str, Any]] = []

    def _make(self, service: str, region: str) -> object:
        del service, region
        return self

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def answer(**request: Any) -> Any:
            self.requests.append(request)
            if self.code:
                raise ClientError({"Error": {"Code": self.code, "Message": SECRET}}, method)
            return self.pages[len(self.requests) - 1]

        return answer


def reader(clients: Answering) -> CloudFormationReader:
    return CloudFormationReader(aws_of(clients), Where(None, EU))


READS: dict[str, Callable[[CloudFormationReader], object]] = {
    "stack": lambda read: read.stack("web"),
    "resource": lambda read: read.resource("web", "A"),
    "resources": lambda read: list(read.resources("web")),
    "template": lambda read: read.template("web"),
    "transforms": lambda read: read.transforms("web"),
    "change set": lambda read: list(read.change_set("web", "next")),
    "importers": lambda read: read.importers("web-Vpc"),
    "events": lambda read: list(read.events("web")),
}
OF_A_REGION: dict[str, Callable[[CloudFormationReader], object]] = {
    "stacks": lambda read: list(read.stacks()),
    "exports": lambda read: list(read.exports()),
}


@pytest.mark.parametrize("code", ["ValidationError", "ChangeSetNotFound"])
@pytest.mark.parametrize("read", READS)
def test_what_does_not_exist_is_none_or_empty(read: str, code: str) -> None:
    assert not READS[read](reader(Answering(code=code)))


@pytest.mark.parametrize("read", READS)
def test_a_refusal_is_an_error_that_says_what_was_called_and_nothing_of_awss_text(read: str) -> None:
    with pytest.raises(AwsCallError, match=r" in eu-west-1 failed: AccessDenied\. Check the caller") as error:
        READS[read](reader(Answering(code="AccessDenied")))
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("read", OF_A_REGION)
def test_a_region_never_looks_empty_because_a_call_failed(read: str) -> None:
    with pytest.raises(AwsCallError):
        OF_A_REGION[read](reader(Answering(code="ValidationError")))


def test_what_was_deleted_does_not_exist() -> None:
    gone = {"StackName": "web", "StackStatus": "DELETE_COMPLETE"}
    assert reader(Answering({"Stacks": [gone]})).stack("web") is None
    assert (
        reader(Answering({"StackResourceDetail": {"ResourceStatus": "DELETE_COMPLETE"}})).resource("web", "A") is None
    )
    states = Counter(["CREATE_COMPLETE", "DELETE_COMPLETE", "DELETE_FAILED", "DELETE_IN_PROGRESS", "UPDATE_FAILED"])
    listed = {"StackResourceSummaries": [{"ResourceStatus": each} for each in states]}
    assert [each["ResourceStatus"] for each in reader(Answering(listed)).resources("web")] == [
        each for each in states if each != "DELETE_COMPLETE"
    ]


def test_pages_are_followed_by_the_token_that_the_service_has() -> None:
    pages = [{"NextToken": "a"}, {"PaginationToken": "b"}, {"NextContinuationToken": "c"}, {}]
    clients = Answering(*pages)
    assert list(aws_of(clients).pages(Where(None, EU), "ListExports", "all", Clients.cloudformation)) == pages
    tokens = [set(each.items()) for each in clients.requests]
    assert ("NextToken", "a") in tokens[1]
    assert ("PaginationToken", "b") in tokens[2]
    assert ("ContinuationToken", "c") in tokens[3]


def test_only_a_page_that_is_needed_is_asked_for() -> None:
    clients = Answering({"Exports": [{"Name": "A"}], "NextToken": "more"})
    assert next(reader(clients).exports())["Name"] == "A"
    assert len(clients.requests) == 1


def test_awss_text_is_shown_where_it_cannot_quote_a_value_and_a_next_step_otherwise() -> None:
    said = AwsCallError("CreateChangeSet", "stack web", EU, "ValidationError", "No such parameter.\n")
    assert str(said) == "CreateChangeSet of stack web in eu-west-1 failed: ValidationError. No such parameter."
    signed_out = AwsCallError("CreateChangeSet", "stack web", EU, "NoCredentialsError")
    assert "failed: NoCredentialsError. Configure AWS credentials: sign in" in str(signed_out)
    assert len(str(AwsCallError("CreateChangeSet", "s" * 999, EU, "ValidationError", "m" * 9999))) < 1000
