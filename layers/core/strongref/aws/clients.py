"""AWS clients: one session, few imports, and service models reduced to the calls that strongref makes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from strongref.errors import BadEndpointError

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_cloudcontrol import CloudControlApiClient
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_resourcegroupstaggingapi import ResourceGroupsTaggingAPIClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_sts import STSClient
    from mypy_boto3_sts.type_defs import CredentialsTypeDef

    from strongref.untyped import Untyped


MODELS = Path(__file__).with_name("models")
"""Reduced service models, which botocore reads instead of its own; written by `tools/models.py`."""

CONNECT_SECONDS = 5
READ_SECONDS = 15
"""A call takes no longer than both together, so a fence outlasts it (`fence.IN_FLIGHT`)."""

FUNCTION_SECONDS = 900
"""Seconds that a function may run (AWS: Lambda quotas)."""

_CONNECTIONS = 32
"""Kept open by a client. They are opened when calls run side by side; more calls open connections for one call each."""

_CONNECT_SECONDS = {"events": 2}
_READ_SECONDS = {
    "cloudcontrol": 40,  # It responds only after the resource's own service has.
    "events": 2,  # Notices: see `runtime.outbox`.
    "lambda": 3,  # A function invokes itself at the end of an invocation, and must leave time for retries.
}

_REQUEST_IDS = ("x-amzn-RequestId", "x-amz-request-id")


@cache
def dns_suffix(partition: str) -> str:
    """What the host names of a partition's services end with, as in `amazonaws.com`; empty for one that is not known.

    Source: botocore's endpoint data.
    """
    partitions = json.loads((MODELS / "endpoints.json").read_bytes())["partitions"]
    return str({each["partition"]: each["dnsSuffix"] for each in partitions}.get(partition, ""))


class Clients:
    """AWS clients of one session, one for each service and region. They are made when first used, by any thread."""

    def __init__(self, session: Session | None = None, watch: Callable[[Untyped], None] = lambda _events: None) -> None:
        """Make none yet; `watch` is given the events of each client that is made."""
        self._session = session
        self.watch = watch
        self._read_seconds = 0  # of all services; 0 for those of each
        self._made: dict[tuple[str, str], object] = {}
        self._lock = threading.Lock()  # Clients are thread-safe, and sessions, which make them, are not.

    def with_credentials(self, given: CredentialsTypeDef) -> Clients:
        """Clients with the credentials of a role that these have assumed."""
        keys = (given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
        if self._session:
            from boto3.session import Session  # noqa: PLC0415 (as below)

            return Clients(Session(*keys), self.watch)
        return Clients(_session(*keys), self.watch)

    def ssm(self, region: str) -> SSMClient:
        return cast("SSMClient", self._client("ssm", region))

    def cloudformation(self, region: str) -> CloudFormationClient:
        return cast("CloudFormationClient", self._client("cloudformation", region))

    def functions(self, region: str) -> LambdaClient:
        return cast("LambdaClient", self._client("lambda", region))

    def answering(self, region: str) -> Untyped:
        """For the command only: functions whose answer is waited for, as long as they may run."""
        patient = Clients(self._session, self.watch)
        patient._read_seconds = FUNCTION_SECONDS
        return patient.functions(region)

    def events(self, region: str) -> Untyped:
        return self._client("events", region)

    def cloudcontrol(self, region: str) -> CloudControlApiClient:
        return cast("CloudControlApiClient", self._client("cloudcontrol", region))

    def tagging(self, region: str) -> ResourceGroupsTaggingAPIClient:
        return cast("ResourceGroupsTaggingAPIClient", self._client("resourcegroupstaggingapi", region))

    def secrets(self, region: str) -> SecretsManagerClient:
        """For the command only: the functions' session has no model of this service."""
        return cast("SecretsManagerClient", self._client("secretsmanager", region))

    def s3(self, region: str) -> S3Client:
        return cast("S3Client", self._client("s3", region))

    def sts(self, region: str) -> STSClient:
        return cast("STSClient", self._client("sts", region))

    def ec2(self, region: str) -> Untyped:
        """For the command only, as `secrets`."""
        return self._client("ec2", region)

    def _client(self, service: str, region: str) -> object:
        if (service, region) not in self._made:
            with self._lock:
                if (service, region) not in self._made:
                    self._made[service, region] = self._make(service, region)
        return self._made[service, region]

    def _make(self, service: str, region: str) -> object:
        # Imported late: this is most of a function's start-up time, and a bad request needs no client.
        from botocore import __version__ as botocore_version  # noqa: PLC0415
        from botocore.config import Config  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415

        self._session = self._session or _session()
        config = Config(
            retries={"total_max_attempts": 1},  # RetryingCaller retries: it knows the deadline.
            connect_timeout=_CONNECT_SECONDS.get(service, CONNECT_SECONDS),
            read_timeout=self._read_seconds or _READ_SECONDS.get(service, READ_SECONDS),
            max_pool_connections=_CONNECTIONS,
            user_agent=f"strongref Botocore/{botocore_version}",  # as a text: botocore makes its own with each call
        )
        try:
            client = cast("Any", self._session).client(service, region_name=region, config=config)
        except BotoCoreError:  # an invalid region
            raise
        except ValueError:
            raise BadEndpointError(service) from None
        client.meta.events.register("before-parse", _refuse_what_is_not_from_aws)
        self.watch(client.meta.events)
        return client


def _refuse_what_is_not_from_aws(response_dict: Mapping[str, Any], **_: object) -> None:
    """An event handler of botocore, which takes a web page with status 200 for a response that has nothing in it."""
    from botocore.parsers import ResponseParserError  # noqa: PLC0415 (as above)

    headers = response_dict["headers"]
    if headers.get("Content-Type", "").startswith("text/html") and not any(name in headers for name in _REQUEST_IDS):
        raise ResponseParserError


def _session(*keys: str) -> Session:
    """A session whose clients know only the calls that strongref makes, which makes them much faster to create.

    Without keys and a token, it finds credentials where botocore looks for them.
    """
    from boto3.session import Session  # noqa: PLC0415 (as above)
    from botocore.loaders import Loader  # noqa: PLC0415
    from botocore.session import get_session  # noqa: PLC0415

    class ReducedLoader(Loader):
        """Lists the reduced models only; botocore's own loader searches hundreds of folders."""

        def list_available_services(self, _type_name: str) -> list[str]:
            return sorted(folder.name for folder in MODELS.iterdir() if folder.is_dir())

    core = get_session()
    core.register_component("data_loader", ReducedLoader([str(MODELS)]))
    if keys:
        core.set_credentials(*keys)
    return Session(botocore_session=core)
