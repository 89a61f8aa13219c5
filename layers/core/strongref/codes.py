"""AWS's error codes, by what they mean. Pure."""

from __future__ import annotations

DENIED = frozenset(
    {
        *("AccessDeniedException", "AccessDenied", "UnauthorizedOperation", "AuthorizationError"),
        *("InvalidCredentialsException", "NotAuthorizedForSourceException", "KMSAccessDeniedException"),
    }
)
"""The codes of calls that IAM, a service control policy or a key policy does not allow."""

NOT_ACCEPTED = ("UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure")
"""The codes of calls in a region that is not enabled for the account."""

THROTTLED = (
    *("ThrottlingException", "Throttling", "ThrottledException", "RequestThrottled", "RequestThrottledException"),
    *("TooManyRequestsException", "RequestLimitExceeded"),
)
"""The codes of calls that are more than a quota allows."""
