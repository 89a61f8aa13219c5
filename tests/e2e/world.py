"""What the scenarios check: values, claims and records, by the key and the names of the stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.e2e.templates import EU, US, exporting, importing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws, Deployed


@dataclass(frozen=True)
class World:
    """One test's producer in eu-west-1 and its consumer in us-east-1."""

    aws: Aws
    producer: str
    consumer: str

    @classmethod
    def of(cls, aws: Aws, names: Callable[[str], str]) -> World:
        return cls(aws, names("network"), names("web"))

    def publish(self, values: dict[str, Any], expect: str | None = None, **more: Any) -> Deployed:
        """Deploy the producer with one Export of these values for the consumer."""
        more = {"consumer": self.consumer} | more
        return self.aws.deploy(self.producer, exporting(values, **more), EU, expect)

    def consume(self, *names: str, expect: str | None = None, **more: Any) -> Deployed:
        """Deploy the consumer with one Import of these names."""
        return self.aws.deploy(self.consumer, importing(self.producer, *names, **more), US, expect)

    def name(self, key: str, *, consumer: str | None = None, producer: str | None = None) -> str:
        owner = f"{self.aws.account}/{EU}/{producer or self.producer}"
        return f"/strongref/exports/{consumer or self.consumer}/{owner}/{key}"

    def values(self, *, consumer: str | None = None, region: str = US) -> dict[str, str]:
        """What is stored for a consumer, by producer and key."""
        prefix = f"/strongref/exports/{consumer or self.consumer}/"
        found = self.aws.values(region, prefix)
        return {"/".join(name.removeprefix(prefix).split("/")[3:]): value for name, value in found.items()}

    def claims(self, key: str, *, consumer: str | None = None, region: str = US) -> list[str]:
        """The names of the stacks that claim a value."""
        tags = self.aws.tags(region, self.name(key, consumer=consumer))
        return sorted(arn.split("/")[1] for tag, arn in tags.items() if tag.startswith("strongref:claim:"))

    def all_stored(self, region: str = US) -> dict[str, str]:
        """Every parameter of the producer, values, records and fences alike."""
        found = self.aws.values(region, "/strongref/")
        return {name: value for name, value in found.items() if f"/{self.producer}/" in f"{name}/"}

    def why(self, stack: str | None = None, region: str = EU) -> str:
        """The reasons that a stack's events give for its last operation."""
        return "\n".join(self.aws.reasons(stack or self.producer, region))

    def importers(self, *stacks: str) -> str:
        """Stacks as the texts name them."""
        return " and ".join(f"stack {name} ({US}, {self.aws.account})" for name in stacks or [self.consumer])
