"""The one reader of CloudFormation: what is not there, what is gone, and what a refusal says."""

from __future__ import annotations

from collections.abc import Iterator
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


def read(clients: Answering, method: str, *arguments: str) -> Any:
    found = getattr(CloudFormationReader(aws_of(clients), Where(None, EU)), method)(*arguments)
    return list(found) if isinstance(found, Iterator) else found


OF_ONE_THING = [
    *(("stack", "web"), ("resource", "web", "A"), ("resources", "web"), ("template", "web"), ("transforms", "web")),
    *(("change_set", "web", "next"), ("importers", "web-Vpc"), ("events", "web")),
]


@pytest.mark.parametrize("code", ["ValidationError", "ChangeSetNotFound"])
@pytest.mark.parametrize("asked", OF_ONE_THING, ids="-".join)
def test_what_does_not_exist_is_none_or_empty(asked: tuple[str, ...], code: str) -> None:
    assert not read(Answering(code=code), *asked)


@pytest.mark.parametrize("asked", OF_ONE_THING, ids="-".join)
def test_a_refusal_says_what_was_called_and_nothing_of_awss_text(asked: tuple[str, ...]) -> None:
    with pytest.raises(AwsCallError, match=r" in eu-west-1 failed: AccessDenied\. Check the caller") as error:
        read(Answering(code="AccessDenied"), *asked)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("method", ["stacks", "exports"])
def test_a_region_never_looks_empty_because_a_call_failed(method: str) -> None:
    with pytest.raises(AwsCallError):
        read(Answering(code="ValidationError"), method)


def test_what_was_deleted_does_not_exist() -> None:
    gone = {"ResourceStatus": "DELETE_COMPLETE"}
    assert read(Answering({"Stacks": [{"StackStatus": "DELETE_COMPLETE"}]}), "stack", "web") is None
    assert read(Answering({"StackResourceDetail": gone}), "resource", "web", "A") is None
    there = [{"ResourceStatus": each} for each in ("UPDATE_FAILED", "DELETE_FAILED", "DELETE_IN_PROGRESS")]
    assert read(Answering({"StackResourceSummaries": [*there, gone]}), "resources", "web") == there


def test_pages_are_followed_by_the_token_that_the_service_has() -> None:
    pages = [{"NextToken": "a"}, {"PaginationToken": "b"}, {"NextContinuationToken": "c"}, {}]
    clients = Answering(*pages)
    assert list(aws_of(clients).pages(Where(None, EU), "ListExports", "all", Clients.cloudformation)) == pages
    assert clients.requests[-1] == {"NextToken": "a", "PaginationToken": "b", "ContinuationToken": "c"}


def test_only_a_page_that_is_needed_is_asked_for() -> None:
    clients = Answering({"Exports": [{"Name": "A"}], "NextToken": "more"})
    assert next(CloudFormationReader(aws_of(clients), Where(None, EU)).exports())["Name"] == "A"
    assert len(clients.requests) == 1


def test_awss_text_is_shown_where_it_cannot_quote_a_value_and_a_next_step_otherwise() -> None:
    said = AwsCallError("CreateChangeSet", "stack web", EU, "ValidationError", "No such parameter.\n")
    assert str(said) == "CreateChangeSet of stack web in eu-west-1 failed: ValidationError. No such parameter."
    signed_out = AwsCallError("CreateChangeSet", "stack web", EU, "NoCredentialsError")
    assert "failed: NoCredentialsError. Configure AWS credentials: sign in" in str(signed_out)
    assert len(str(AwsCallError("CreateChangeSet", "s" * 999, EU, "ValidationError", "m" * 9999))) < 1000
