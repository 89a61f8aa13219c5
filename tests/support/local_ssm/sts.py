"""STS: who the caller is, and credentials of another account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.local_ssm.wire import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

CALLER, ASSUME = "GetCallerIdentity", "AssumeRole"
ACTIONS = (CALLER, ASSUME)
_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
_ACCOUNT_OF_ARN = 4


def perform(request: Mapping[str, str], account: str, delay: float) -> Response:
    """Answer as STS does; every role may be assumed by everyone."""
    action = request["Action"]
    result = f"<Arn>arn:aws:iam::{account}:root</Arn><UserId>{account}</UserId><Account>{account}</Account>"
    if action == ASSUME:
        key = f"<AccessKeyId>{request['RoleArn'].split(':')[_ACCOUNT_OF_ARN]}</AccessKeyId>"
        rest = "<SecretAccessKey>x</SecretAccessKey><SessionToken>x</SessionToken>"
        result = f"<Credentials>{key}{rest}<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>"
    body = (
        f'<{action}Response xmlns="{_NAMESPACE}"><{action}Result>{result}</{action}Result>'
        f"<ResponseMetadata><RequestId>0</RequestId></ResponseMetadata></{action}Response>"
    )
    return Response(200, body.encode(), "text/xml", delay)
