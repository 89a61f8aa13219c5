"""Where a response may go and when CloudFormation requested it: what an event's presigned URL says. Pure.

Anyone who may invoke a function can send it any event. Its response has attributes, which can be secrets, so it goes to
CloudFormation's own bucket only, and there only to the object of the resource that the event is for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

VARIABLE = "STRONGREF_RESPONSE_HOSTS"
"""The environment variable that lists more hosts, separated by commas."""

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
"""The environment variable of every AWS SDK. An emulator sets it; its response URLs are its own."""

_VALIDITY = timedelta(hours=2)
"""How long a response URL is valid. Those of Signature Version 2 only say when that ends."""

_HTTPS = 443


@dataclass(frozen=True, slots=True)
class ResponseHosts:
    """The hosts at which a function may respond."""

    more: Collection[str] = ()  # of this installation: for forms of CloudFormation's URL that are not known here
    endpoint: str = ""  # of an emulator, as a URL; empty in AWS

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> ResponseHosts:
        more = (host.strip().lower() for host in environment.get(VARIABLE, "").split(","))
        return cls(frozenset(filter(None, more)), environment.get(ENDPOINT_VARIABLE, ""))

    def accept(self, url: str, region: str, suffix: str, key: str) -> bool:
        """Whether a function of this region may respond at an event's URL.

        The suffix is the DNS suffix of the region's partition, as in `amazonaws.com`. The bucket must be
        CloudFormation's: in the host's name, or else first in the path. The object's name must begin with the key.
        """
        try:
            parts = urlsplit(url)
            origin = _origin(parts)
            if self.endpoint and origin == _origin(urlsplit(self.endpoint)):
                return True
        except ValueError:
            return False
        scheme, host, port = origin
        if scheme != "https" or port != _HTTPS or "@" in parts.netloc:
            return False
        bucket = response_bucket(region)
        forms = ("s3", f"s3-{region}", f"s3.{region}", f"s3.dualstack.{region}")
        if host not in {f"{bucket}.{form}.{suffix}" for form in forms} and host not in self.more:
            return False
        root = "/" if host.startswith(f"{bucket}.") else f"/{bucket}/"
        name = unquote(parts.path.removeprefix(root))
        # The whole name: clients resolve `..` in it.
        is_key = re.fullmatch(re.escape(key) + "[0-9A-Za-z-]+", name)
        return parts.path.startswith(root) and is_key is not None


def _origin(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, (parts.hostname or "").lower(), parts.port or (_HTTPS if parts.scheme == "https" else 80)


def response_bucket(region: str) -> str:
    """CloudFormation's bucket for the responses of a region (AWS: CloudFormation User Guide, VPC endpoints)."""
    return f"cloudformation-custom-resource-response-{region.replace('-', '')}"


def response_key(stack: str, logical_id: str) -> str:
    """How the name of the object that CloudFormation waits for begins; the request's ID follows."""
    return f"{stack}|{logical_id}|"


def signed_at(url: str) -> datetime | None:
    """When CloudFormation signed a response URL (UTC), in whole seconds; None without Signature Version 4."""
    with suppress(KeyError, ValueError):
        signed = parse_qs(urlsplit(url).query)["X-Amz-Date"][0]
        return datetime.strptime(signed, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return None


def requested_at(url: str) -> datetime | None:
    """When CloudFormation signed a response URL (UTC), or about then; None if it does not say.

    Signature Version 2 has only the end of the URL's validity.
    """
    if signed := signed_at(url):
        return signed
    try:
        query = parse_qs(urlsplit(url).query)
        return datetime.fromtimestamp(int(query["Expires"][0]), UTC) - _VALIDITY
    except (KeyError, ValueError, OverflowError, OSError):
        return None
