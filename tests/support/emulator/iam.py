"""SSM's plural actions, authorized as AWS does it: each name on its own, and not all of Parameter Store at once.

And sessions of roles: in a condition, one is its role, where the emulator has the session; and what it assumes ends
within an hour.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from ministack.core import iam_actions, iam_evaluator
from ministack.core.iam_evaluator import AuthError, enforce, resolve_caller_identity
from ministack.core.responses import get_account_id, get_region
from ministack.core.router import extract_access_key_id
from ministack.services import iam

from tests.support.emulator import gateway, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

BELIEFS = ("plural-actions", "principal-arn", "role-chaining")

_SESSION = re.compile(r"arn:([a-z-]+):sts::([0-9]{12}):assumed-role/([^/]+)/.+")
_BY_NAMES = ("GetParameters", "DeleteParameters")
_CHAINED_SECONDS = 3600


def parameter_arn(name: str, region: str, account: str) -> str:
    """The resource of a parameter, or of a path (whose trailing slash AWS keeps)."""
    return name if name.startswith("arn:") else f"arn:aws:ssm:{region}:{account}:parameter/{name.removeprefix('/')}"


def checks(action: str, request: Mapping[str, Any], region: str, account: str) -> list[tuple[str, str]]:
    """The IAM actions and resources of a request that the emulator authorizes otherwise than AWS."""
    if action in _BY_NAMES:
        names = [name for name in request.get("Names") or () if isinstance(name, str)]
        return [(f"ssm:{action}", parameter_arn(name, region, account)) for name in names]
    if action == "GetParametersByPath":
        return [(f"ssm:{action}", parameter_arn(str(request.get("Path", "/")), region, account))]
    if action == "PutParameter" and request.get("Tags"):
        arn = parameter_arn(str(request.get("Name", "")), region, account)
        return [("ssm:PutParameter", arn), ("ssm:AddTagsToResource", arn)]
    return []


def action_of(headers: Mapping[str, str]) -> str:
    """`PutParameter` of the target header's `AmazonSSM.PutParameter`."""
    return headers.get("x-amz-target", "").rpartition(".")[2]


def parsed(body: bytes) -> dict[str, Any]:
    """A request's parameters; none of them, where it is malformed: the emulator answers that."""
    try:
        request = json.loads(body or b"{}")
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}


def install() -> None:
    """Have the emulator ask for the first of a request's checks; `denial` asks for the others."""
    gateway.around_service("sts", _assumed)
    original = iam_actions.extract_resource_arn

    def extract_resource_arn(  # noqa: PLR0913, PLR0917 (the emulator's signature)
        service: str,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        query_params: dict[str, list[str]],
        region: str,
        account_id: str,
    ) -> str:
        if service == "ssm":
            found = checks(action_of(headers), parsed(body), region, account_id)
            if found:
                return found[0][1]
        arn: str = original(service, method, path, headers, body, query_params, region, account_id)
        return arn

    iam_actions.extract_resource_arn = extract_resource_arn
    resolve = iam_evaluator._resolve_condition_key

    def resolve_condition_key(key: str, context: Any) -> Any:
        found = resolve(key, context)
        is_principal = key.lower() == "aws:principalarn" and not wrong.is_wrong("principal-arn")
        return principal_arn(found) if is_principal else found

    iam_evaluator._resolve_condition_key = resolve_condition_key


def principal_arn(caller: str) -> str:
    """A caller as `aws:PrincipalArn` has it, with its path (AWS: IAM User Guide, global condition keys)."""
    session = _SESSION.fullmatch(caller)
    if not session:
        return caller
    partition, account, name = session.groups()
    role = iam._roles.get_scoped(account, None, name)
    return str(role["Arn"]) if role else f"arn:{partition}:iam::{account}:role/{name}"


async def _assumed(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    """Refuse long sessions that a role's session asks for (AWS: STS API Reference, AssumeRole, DurationSeconds)."""
    asked = {**parse_qs(request.body.decode(errors="replace")), **request.query}
    if asked.get("Action") == ["AssumeRole"] and int(asked.get("DurationSeconds", ["0"])[0]) > _CHAINED_SECONDS:
        caller = resolve_caller_identity(extract_access_key_id(request.headers, request.query))
        if caller and _SESSION.fullmatch(caller["userArn"]):
            message = (
                "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining."
            )
            refused: gateway.Response = iam._error(400, "ValidationError", message, ns="sts")
            return refused
    return await serve(request)


def denial(request: gateway.Request) -> gateway.Response | None:
    """The answer to a request whose caller lacks one of the permissions after the first; None if it has them."""
    region, account = get_region(), get_account_id()
    key, named = extract_access_key_id(request.headers, request.query), action_of(request.headers)
    tags = iam_actions.request_tag_context("ssm", f"ssm:{named}", request.body, {})
    asked = checks(named, parsed(request.body), region, account)[1:]
    for action, arn in () if named in _BY_NAMES and wrong.is_wrong("plural-actions") else asked:
        denied = enforce(key, action, "ssm", region, resource_arn=arn, service_context=tags)
        if denied and not isinstance(denied, AuthError):
            answer: gateway.Response = iam_actions.access_denied_response(
                "ssm", action, denied.principal_arn, "", resource_arn=arn, explicit_deny=denied.decision == "Deny"
            )
            return answer
    return None
