"""AWS calls of one region, with retries and the session's rate limits; errors keep AWS's own text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from strongref.aws.retry import CallFailedError, RetryingCaller, client_for
from strongref_cli.install.errors import AwsCallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from strongref_toolkit.session import ToolSession


@dataclass(frozen=True)
class RegionCalls:
    """Makes the calls. Its clients are those of the session."""

    session: ToolSession
    region: str

    def call(self, action: str, client_in: Callable[[str], Any], method: str, **request: Any) -> Any:  # noqa: ANN401 (as botocore)
        """The response to a call.

        Raises:
            AwsCallError: it failed.
        """
        message = ""

        def function(**given: Any) -> Any:  # noqa: ANN401 (the same)
            nonlocal message
            try:
                return getattr(client_for(client_in, self.region), method)(**given)
            except ClientError as error:
                message = error.response.get("Error", {}).get("Message", "")
                raise

        caller = RetryingCaller(self.region, self.session.limiter, self.session.clock)
        try:
            return caller.call(action, function, **request)
        except CallFailedError as error:
            code = error.code
        raise AwsCallError(action, self.region, code, message)

    def pages(
        self,
        action: str,
        client_in: Callable[[str], Any],
        method: str,
        *,
        token: tuple[str, str] = ("NextToken", "NextToken"),  # of the response, and what the next request calls it
        **request: Any,  # noqa: ANN401 (the same)
    ) -> Iterator[Mapping[str, Any]]:
        """The pages of a response."""
        given, asked = token
        while True:
            page = self.call(action, client_in, method, **request)
            yield page
            if not page.get(given):
                return
            request[asked] = page[given]
