"""A failed call says what to do next, whatever its code; and never what AWS said."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from strongref.aws.clients import MODELS
from strongref.aws.cloud_control import CloudControlApi, TaggingApi
from strongref.aws.cloudformation import CloudFormationStacks
from strongref.aws.event_bus import EventBus
from strongref.aws.lambda_functions import LambdaInvoker
from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RATE_OF_ACTION, RateLimiter, RateLimits
from strongref.codes import DENIED
from strongref.contract.notices import Notice, NoticeType
from strongref.contract.values import ParameterType
from strongref.errors import InvocationTimeoutError, ServiceError, StackLookupError, StoreError, StrongRefError
from strongref.log import logger
from strongref.next_steps import next_step
from tests.support.builders import ACCOUNT, WEB
from tests.support.fake_ssm import FakeClock, FakeSsm

if TYPE_CHECKING:
    from collections.abc import Callable

REGION = "us-east-1"
REQUEST_ID = "1f0c5e2a-xmpl-4b7e-9c55-0d6a4f1c2b3d"
SECRET = "the value itself"

ANSWERS = {
    ("AddTagsToResource", "TooManyTagsError"): "an error of its own",
    ("AssumeRole", ""): "RoleDeniedError says what to do about all of them",
    ("Invoke", ""): "ReinvokeError says what to do about all of them",
    ("PutParameter", "ParameterAlreadyExists"): "part of the protocol",
    ("", "AlreadyExistsException"): "the same for hold stacks; Cloud Control uses it for creations only",
    ("", "InvalidResourceId"): "no such parameter, which is part of the protocol",
    ("", "InvalidResourceType"): "the type is always Parameter",
    ("GetParametersByPath", "InvalidFilterKey"): "no filters are used",
    ("GetParametersByPath", "InvalidFilterOption"): "the same",
    ("GetParametersByPath", "InvalidFilterValue"): "the same",
    ("", "ResourceNotFoundException"): "an error of its own",
    ("", "TypeNotFoundException"): "an error of its own",
    ("", "UnsupportedActionException"): "an error of its own",
    ("", "NotUpdatableException"): "nothing is updated through Cloud Control",
}
"""Codes that need no next step, by action and code; an empty one stands for all."""


def declared() -> list[tuple[str, str]]:
    """The error codes that the services declare, by action."""
    found = []
    for path in MODELS.glob("*/*/service-2.json"):
        model = json.loads(path.read_bytes())
        for action, operation in model["operations"].items():
            for error in operation.get("errors", ()):
                shape = model["shapes"][error["shape"]]
                found.append((action, shape.get("error", {}).get("code") or error["shape"]))
    return found


def test_every_code_that_a_service_declares_has_a_next_step_or_needs_none() -> None:
    assert len(declared()) > 50
    needless = {
        (action, code) for action, code in declared() if ANSWERS.keys() & {(action, code), (action, ""), ("", code)}
    }
    assert sorted({*declared()} - needless - {each for each in declared() if next_step(*each)}) == []


@pytest.mark.parametrize(
    "code",
    [
        *("AccessDenied", "AccessDeniedException", "ValidationException", "KMSInvalidStateException"),
        *(
            "OptInRequired",
            "UnrecognizedClientException",
            "InvalidClientTokenId",
            "ExpiredToken",
            "ExpiredTokenException",
        ),
        *("SignatureDoesNotMatch", "InvalidSignatureException", "RequestExpired", "EndpointConnectionError"),
        *("ReadTimeoutError", "ConnectTimeoutError", "NoCredentialsError", "InternalServerError", "TooManyUpdates"),
        *("PolicyLimitExceeded", "RequestLimitExceeded", "ThrottlingException", "InvalidRegionError"),
    ],
)
def test_codes_that_any_service_may_answer_have_one(code: str) -> None:
    assert next_step("PutParameter", code)
    assert next_step("DescribeStacks", code)


def test_a_denied_call_names_the_permission_as_iam_calls_it() -> None:
    services = {"DescribeStackResource": "cloudformation", "GetResources": "tag", "PutEvents": "events"}
    for action, service in services.items():
        assert f" needs {service}:{action}. " in next_step(action, "AccessDenied")
    assert " needs ssm:PutParameter, with tags also ssm:AddTagsToResource. " in next_step(
        "PutParameter", "AccessDenied"
    )
    assert "KMS" in next_step("GetParametersByPath", "AccessDeniedException")
    assert "KMS" not in next_step("DeleteParameters", "AccessDeniedException")
    assert "needs GetSecretValue. " in next_step("GetSecretValue", "AccessDeniedException")
    functions = {action for action, _ in declared()} - {"Invoke"}
    assert [action for action in functions if f" needs {action}" in next_step(action, "AccessDenied")] == []
    assert functions < set(RATE_OF_ACTION) | {"PutEvents"}


def test_every_step_is_a_sentence_that_leaves_room() -> None:
    from strongref import next_steps  # noqa: PLC0415 (its table is its own)

    steps = [*next_steps._STEPS.values(), *(next_step("GetParametersByPath", code) for code in DENIED)]
    assert [step for step in steps if not re.fullmatch(r"[A-Z][^\n]{10,260}\.", step)] == []


def test_the_errors_of_calls_end_with_the_step() -> None:
    step = next_step("PutParameter", "InvalidKeyId")
    assert str(StoreError("PutParameter", "InvalidKeyId", "/a", REGION)).endswith(f"failed: InvalidKeyId. {step}")
    assert str(StoreError("PutParameter", "NotHeardOf", "/a", REGION)).endswith("failed: NotHeardOf.")
    asked = StackLookupError("web", REGION, "AccessDenied", action="ListStackResources")
    assert "needs cloudformation:ListStackResources" in str(asked)
    held = ServiceError("CreateStack", "LimitExceededException", "stack strongref-hold-1", REGION)
    assert str(held).endswith("quota of stacks. Delete some, or request a higher quota.")


class Refusing:
    """A client whose calls all fail."""

    def __getattr__(self, _name: str) -> Callable[..., Any]:
        def call(**_request: object) -> None:
            raise refusal()

        return call


def refusal(code: str = "AccessDeniedException") -> ClientError:
    answer: Any = {
        "Error": {"Code": code, "Message": f"cannot put {SECRET}"},
        "ResponseMetadata": {"HTTPStatusCode": 400, "RequestId": REQUEST_ID},
    }
    return ClientError(answer, "Any")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stream = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", stream)
    return stream


def client(_region: str) -> Any:
    return Refusing()


NOTICE = Notice(NoticeType.CHANGE_REFUSED, {"summary": "A cannot be changed."}, ())
LIMITER, CLOCK = RateLimiter(RateLimits()), FakeClock()
CALLS: dict[str, Callable[[], object]] = {
    "PutParameter": lambda: SsmStore(client(REGION), REGION, LIMITER, CLOCK).create(
        "/a", ParameterType.SECURE, SECRET, {}
    ),
    "DescribeStacks": lambda: CloudFormationStacks(client, LIMITER, CLOCK, account=ACCOUNT).by_arn(WEB),
    "DeleteStack": lambda: CloudFormationStacks(client, LIMITER, CLOCK, account=ACCOUNT).delete_stack("a", REGION),
    "GetResource": lambda: CloudControlApi(client, REGION, LIMITER, CLOCK).get("AWS::S3::Bucket", "photos"),
    "GetResources": lambda: list(TaggingApi(client, REGION, LIMITER, CLOCK).arns([], {"team": "web"})),
    "Invoke": lambda: LambdaInvoker(client, LIMITER)(
        f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:f", {}, InvocationTimeoutError(), CLOCK
    ),
    "PutEvents": lambda: EventBus("people", REGION, client).put([NOTICE]),
}


@pytest.mark.parametrize("action", CALLS)
def test_a_failed_call_is_logged_with_its_code_and_request_id_and_without_its_text(
    action: str, log: io.StringIO
) -> None:
    with pytest.raises(StrongRefError):
        CALLS[action]()
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert {name: line[name] for name in ("message", "action", "code", "region", "aws_request_id")} == {
        "message": "A call to AWS failed",
        "action": action,
        "code": "AccessDeniedException",
        "region": REGION,
        "aws_request_id": REQUEST_ID,
    }
    assert SECRET not in log.getvalue()


def test_an_answer_of_the_protocol_is_not_logged_as_a_failure(log: io.StringIO) -> None:
    store = SsmStore(FakeSsm().as_client(), REGION, LIMITER, CLOCK)
    store.create("/a", ParameterType.STRING, "x", {})
    with pytest.raises(StoreError):
        store.create("/a", ParameterType.STRING, "x", {})
    assert store.tags("/b") is None
    assert log.getvalue() == ""
