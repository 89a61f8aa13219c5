"""Cloud Control's reads, over what the emulator's services hold: its own knows only what was made through it.

Error texts are the service's, as its users have quoted them. Assumed is how large pages are, that lists tell
identifiers and nothing else, and that an identifier with another number of parts than its type's is a
ValidationException. Cloud Control calls the underlying service with its caller's credentials (AWS: Cloud Control API
User Guide, specifying credentials), so a caller needs the service's own permissions as well.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ministack.core.iam_evaluator import AuthError, enforce
from ministack.core.responses import get_region
from ministack.core.router import extract_access_key_id

from tests.support.emulator import gateway, iam, wrong
from tests.support.emulator.cloudcontrol_network import NETWORK
from tests.support.emulator.cloudcontrol_types import TYPES, UNSUPPORTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.emulator.cloudcontrol_types import Kind, Model

BELIEFS = ("cloud-control-lists", "cloud-control-callers")

_KINDS = TYPES | NETWORK

PAGE = 25
"""Resources a page. `MaxResults` is reserved (AWS: API_ListResources): it is checked, and changes nothing."""


class ServiceError(Exception):
    """What Cloud Control answers instead of resources."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Caller:
    """Whose credentials a request came with."""

    access_key: str

    def may(self, kind: Kind, action: str, arn: str) -> None:
        """Have the underlying service refuse what the caller may not do there.

        Raises:
            ServiceError: as the type's handler tells it.
        """
        denied = enforce(self.access_key, action, action.partition(":")[0], get_region(), resource_arn=arn)
        if denied is None or wrong.is_wrong("cloud-control-callers"):
            return
        principal = denied.code if isinstance(denied, AuthError) else denied.principal_arn
        because = f"because no identity-based policy allows the {action} action"
        problem = f"User: {principal} is not authorized to perform: {action} on resource: {arn} {because}"
        raise failed("AccessDeniedException", kind.name, problem, "AccessDenied")


def install() -> None:
    """Answer the reads; what makes or changes resources stays the emulator's."""
    gateway.around_service("cloudcontrol", _served)


async def _served(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    read = {"GetResource": get, "ListResources": page}.get(iam.action_of(request.headers))
    if read is None:
        return await serve(request)
    try:
        found = read(iam.parsed(request.body), Caller(extract_access_key_id(request.headers, request.query)))
    except ServiceError as error:
        return _response(400, {"__type": f"com.amazon.cloudapiservice#{error.code}", "Message": error.message})
    return _response(200, found)


def _response(status: int, content: Mapping[str, Any]) -> gateway.Response:
    return status, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(content).encode()


def get(request: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """GetResource.

    Raises:
        ServiceError: there is none, or it may not be read.
    """
    kind = _kind(request, "READ")
    identifier = str(request.get("Identifier") or "")
    model = next((each for each in kind.models() if identifier in (kind.identify(each), kind.native(each))), None)
    if model is None and identifier.count("|") != len(kind.identifier) - 1:
        pointers = ", ".join(f"/properties/{name}" for name in kind.identifier)
        raise ServiceError("ValidationException", f"Identifier {identifier} is not valid for identifier [{pointers}]")
    caller.may(kind, kind.read, kind.arn(model or {}))
    if model is None or not kind.here(model):
        problem = f"Resource of type '{kind.name}' with identifier '{identifier}' was not found."
        raise failed("ResourceNotFoundException", kind.name, problem, "NotFound")
    return {"TypeName": kind.name, "ResourceDescription": _description(kind, model, model)}


def page(request: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """ListResources: a page of it. Handlers have to tell no more than identifiers there, and these do not.

    Raises:
        ServiceError: they may not be listed, or not without more properties.
    """
    kind = _kind(request, "LIST")
    if not 1 <= request.get("MaxResults", 1) <= 100:
        raise ServiceError("ValidationException", "MaxResults must be between 1 and 100")
    model = _model(kind, request)
    caller.may(kind, kind.list, "*" if not kind.list_needs else kind.arn(model))
    listed = [each for each in kind.models() if kind.listed(each)]
    found = [each for each in listed if all(each.get(name) == model[name] for name in kind.list_needs)]
    if kind.list_needs and not kind.parent_exists(model):
        problem = "The resource you requested does not exist."
        raise failed("ResourceNotFoundException", kind.name, problem, "NotFound")
    found.sort(key=kind.identify)
    after = _position(request.get("NextToken"))
    left = [each for each in found if kind.identify(each) > after]
    shown = left[:PAGE]
    more = {"NextToken": b64encode(kind.identify(shown[-1]).encode()).decode()} if len(left) > PAGE else {}
    parts = [{name: each[name] for name in kind.identifier} for each in shown]
    descriptions = [_description(kind, each, part) for each, part in zip(shown, parts, strict=True)]
    return {"TypeName": kind.name, "ResourceDescriptions": descriptions, **more}


def _description(kind: Kind, model: Model, reported: Model) -> dict[str, str]:
    properties = {name: value for name, value in reported.items() if value is not None}
    return {"Identifier": kind.identify(model), "Properties": json.dumps(properties)}


def _kind(request: Mapping[str, Any], action: str) -> Kind:
    name = str(request.get("TypeName"))
    if name in UNSUPPORTED:
        raise ServiceError("UnsupportedActionException", f"Resource type {name} does not support {action} action")
    if name not in _KINDS:
        raise ServiceError("TypeNotFoundException", f"The type '{name}' cannot be found.")
    return _KINDS[name]


def _model(kind: Kind, request: Mapping[str, Any]) -> Model:
    try:
        model = json.loads(request.get("ResourceModel") or "{}")
    except ValueError:
        raise ServiceError("InvalidRequestException", "Invalid ResourceModel") from None
    missing = [name for name in kind.list_needs if not model.get(name)]
    if missing:
        start = f"ResourceModel property in {kind.name} list handler request input."
        if kind.terse:
            raise ServiceError(
                "InvalidRequestException", f"Missing Or Invalid {start} Required property: [{missing[0]}]"
            )
        keys = ", ".join(f"#: required key [{name}] not found" for name in missing)
        raise ServiceError("InvalidRequestException", f"Missing or invalid {start}Required property:  ({keys})")
    return {name: model[name] for name in kind.list_needs}


def failed(code: str, type_name: str, problem: str, handler_code: str) -> ServiceError:
    """An error of a type's own handler, as Cloud Control passes it on."""
    token = f"(HandlerErrorCode: {handler_code}, RequestToken: {uuid4()})"
    return ServiceError(code, f"{type_name} Handler returned status FAILED: {problem} {token}")


def _position(token: str | None) -> str:
    """The identifier that a page begins after."""
    try:
        return b64decode(token or "", validate=True).decode()
    except ValueError:
        raise ServiceError("InvalidRequestException", "Invalid NextToken") from None
