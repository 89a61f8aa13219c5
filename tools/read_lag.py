"""Measures how long Parameter Store's reads lag behind writes in an account and region: `ReadLag` must be larger.

    python tools/read_lag.py --region us-east-1 --rounds 20

It writes and deletes parameters below /strongref-read-lag only, with your own credentials. They need ssm:PutParameter,
GetParameters, GetParametersByPath, AddTagsToResource, RemoveTagsFromResource, ListTagsForResource and DeleteParameter
there. For each kind of write it prints how long the slowest read did not show it: 0.00 means that the first read did.
"""

from __future__ import annotations

import argparse
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mypy_boto3_ssm import SSMClient

ROOT = "/strongref-read-lag"
GIVE_UP_SECONDS = 60.0


class Probe:
    """One round: a parameter of its own, written in every way, each write followed by reads until one shows it."""

    def __init__(self, client: SSMClient) -> None:
        self._client = client
        self._path = f"{ROOT}/{secrets.token_hex(6)}"
        self._name = f"{self._path}/value"

    def measure(self) -> dict[str, float]:
        """Seconds from the end of each write to the first read that shows it."""
        client, name = self._client, self._name
        found = {}
        try:
            client.put_parameter(Name=name, Value="1", Type="String")
            found["create -> path (a new fence)"] = _until(lambda: self._by_path() == "1")
            client.put_parameter(Name=name, Value="2", Type="String", Overwrite=True)
            found["overwrite -> path"] = _until(lambda: self._by_path() == "2")
            client.put_parameter(Name=name, Value="3", Type="String", Overwrite=True)
            found["overwrite -> get"] = _until(lambda: self._get() == "3")
            client.add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=[{"Key": "k", "Value": "v"}])
            found["tag -> list of tags"] = _until(lambda: "k" in self._tags())
            client.remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=["k"])
            found["untag -> list of tags"] = _until(lambda: "k" not in self._tags())
            client.delete_parameter(Name=name)
            found["delete -> path"] = _until(lambda: self._by_path() is None)
            found["delete -> create again"] = _until(self._create)
        finally:
            with suppress(client.exceptions.ParameterNotFound):
                client.delete_parameter(Name=name)
        return found

    def _by_path(self) -> str | None:
        found = self._client.get_parameters_by_path(Path=self._path)["Parameters"]
        return found[0]["Value"] if found else None

    def _get(self) -> str | None:
        found = self._client.get_parameters(Names=[self._name])["Parameters"]
        return found[0]["Value"] if found else None

    def _tags(self) -> set[str]:
        tags = self._client.list_tags_for_resource(ResourceType="Parameter", ResourceId=self._name)["TagList"]
        return {tag["Key"] for tag in tags}

    def _create(self) -> bool:
        try:
            self._client.put_parameter(Name=self._name, Value="4", Type="String")
        except ClientError:
            return False
        return True


def _until(shown: Callable[[], bool]) -> float:
    """Seconds until a read shows the write: the end of the last read that did not; 0 if the first one did."""
    began = time.monotonic()
    lag = 0.0
    while not shown():
        lag = time.monotonic() - began
        if lag > GIVE_UP_SECONDS:
            break
    return lag


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the slowest of each kind."""
    parser = argparse.ArgumentParser(description="Measure how long Parameter Store's reads lag behind writes.")
    parser.add_argument("--region", required=True)
    parser.add_argument("--rounds", type=int, default=20, help="rounds to measure, 20 by default")
    args = parser.parse_args(arguments)
    client = boto3.Session().client("ssm", region_name=args.region)
    rounds = [Probe(client).measure() for _ in range(args.rounds)]
    for kind in rounds[0]:
        print(f"{kind:30s} {max(found[kind] for found in rounds):6.2f} s")  # noqa: T201 (a command)
    slowest = max(lag for found in rounds for lag in found.values())
    print(f"\nReadLag must be larger than {slowest:.2f}; twice that is a good choice.")  # noqa: T201


if __name__ == "__main__":
    main()
