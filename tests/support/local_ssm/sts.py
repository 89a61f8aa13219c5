"""STS: who the caller is."""

from __future__ import annotations

from tests.support.local_ssm.wire import Response

ACTION = "GetCallerIdentity"
_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"


def perform(account: str, delay: float) -> Response:
    """Answer as STS does."""
    caller = f"<Arn>arn:aws:iam::{account}:root</Arn><UserId>{account}</UserId><Account>{account}</Account>"
    body = (
        f'<{ACTION}Response xmlns="{_NAMESPACE}"><{ACTION}Result>{caller}</{ACTION}Result>'
        f"<ResponseMetadata><RequestId>0</RequestId></ResponseMetadata></{ACTION}Response>"
    )
    return Response(200, body.encode(), "text/xml", delay)
