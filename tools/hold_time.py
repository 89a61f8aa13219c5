"""Measures what a hold costs in an account and region: the time of hold stacks, and what CloudFormation refuses.

    python tools/hold_time.py --region eu-west-1 --rounds 5

It creates and deletes stacks named strongref-hold-probe-* only, with your own credentials, and parameters below
/strongref/holds that CloudFormation makes for them. It also shows what AWS does not document: whether an export can be
imported while its stack is being deleted.
"""

from __future__ import annotations

import argparse
import json
import secrets
import time
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import ClientError

from strongref.contract.hold_stacks import HOLD_STACK, HOLD_TYPE, HoldStack
from strongref.contract.names import Producer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_cloudformation import CloudFormationClient

PAUSE = 0.5
GIVE_UP_SECONDS = 600.0


class Probe:
    """One round: a producer with two exports, and a hold stack that is created, updated and deleted."""

    def __init__(self, client: CloudFormationClient, account: str, region: str) -> None:
        self._client = client
        self._producer = f"{HOLD_STACK}probe-{secrets.token_hex(4)}"
        self._exports = [f"{self._producer}-{number}" for number in (1, 2)]
        producer = Producer(account, region, self._producer)
        self._hold = HoldStack(self._producer, "probe", "strongref:claim:0", account, region, "probe", producer)

    def measure(self) -> dict[str, str]:
        """What was measured, by what it is."""
        found = {}
        try:
            self._create_producer()
            found["create a hold stack"] = self._timed("create", self._exports[:1])
            found["hold one export more"] = self._timed("update", self._exports)
            found["delete the held producer"] = self._delete_held()
            found["delete the hold stack"] = self._timed_deletion(self._hold.name)
            found["import during the producer's deletion"] = self._import_while_deleting()
        finally:
            for name in (self._hold.name, self._producer):
                self._timed_deletion(name)
        return found

    def _create_producer(self) -> None:
        resource = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
        outputs = {f"Hold{at}": {"Value": name, "Export": {"Name": name}} for at, name in enumerate(self._exports)}
        template = {"Resources": {"Nothing": resource}, "Outputs": outputs}
        self._client.create_stack(StackName=self._producer, TemplateBody=json.dumps(template))
        self._wait(self._producer)

    def _timed(self, action: str, exports: Sequence[str]) -> str:
        began = time.monotonic()
        status = self._change(action, exports)
        return f"{time.monotonic() - began:.1f} s, {status}"

    def _change(self, action: str, exports: Sequence[str]) -> str | None:
        call = self._client.create_stack if action == "create" else self._client.update_stack
        call(
            StackName=self._hold.name,
            TemplateBody=self._hold.template(exports),
            ResourceTypes=[HOLD_TYPE],
            Tags=[{"Key": key, "Value": value} for key, value in self._hold.tags.items()],
        )
        return self._wait(self._hold.name)

    def _delete_held(self) -> str:
        """The producer's status after a deletion that must be refused."""
        self._client.delete_stack(StackName=self._producer)
        time.sleep(PAUSE)
        return f"{self._wait(self._producer) or 'deleted'}"

    def _timed_deletion(self, name: str) -> str:
        began = time.monotonic()
        self._client.delete_stack(StackName=name)
        return f"{time.monotonic() - began:.1f} s, {status}" if (status := self._wait(name)) else _seconds(began)

    def _import_while_deleting(self) -> str:
        self._client.delete_stack(StackName=self._producer)
        try:
            status = self._change("create", self._exports[:1])
        except ClientError as error:
            return f"refused: {error.response['Error']['Code']}"
        return "accepted" if status == "CREATE_COMPLETE" else f"fails: {status}"

    def _wait(self, name: str) -> str | None:
        """The status of a stack when nothing is going on in it; None if there is none."""
        until = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < until:
            try:
                status = self._client.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
            except ClientError:
                return None
            if not status.endswith("IN_PROGRESS"):
                return status
            time.sleep(PAUSE)
        return "IN_PROGRESS"


def _seconds(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print every round."""
    parser = argparse.ArgumentParser(description="Measure what a hold costs.")
    parser.add_argument("--region", required=True)
    parser.add_argument("--rounds", type=int, default=5, help="rounds to measure, 5 by default")
    args = parser.parse_args(arguments)
    session = boto3.Session(region_name=args.region)
    account = session.client("sts").get_caller_identity()["Account"]
    client = session.client("cloudformation")
    rounds = [Probe(client, account, args.region).measure() for _ in range(args.rounds)]
    for kind in rounds[0]:
        print(f"{kind:40s} {', '.join(found[kind] for found in rounds)}")  # noqa: T201 (a command)


if __name__ == "__main__":
    main()
