"""Graphs of made-up stacks: one to show, and one of any size, always the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from strongref_cli.overview.graph import Graph, Participant, Reference
from strongref_cli.overview.states import Protection

AS_OF = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
ACCOUNT = "111111111111"
LAYERS = (
    ("network", "dns", "identity", "logging", "certificates"),
    ("cluster", "database", "queue", "cache", "gateway"),
    ("orders", "payments", "catalog", "search", "accounts", "shipping"),
    ("storefront", "backoffice", "reports", "mobile-api", "partner-api"),
)
KEYS = ("VpcId", "SubnetIds", "CertificateArn", "Cluster/Endpoint", "Database/SecurityGroup/Id", "QueueUrl", "Topic")
REGIONS = ("eu-west-1", "us-east-1", "eu-central-1", "us-west-2", "ap-southeast-2", "sa-east-1")


def stack(name: str, region: str = "eu-west-1", account: str = ACCOUNT) -> Participant:
    return Participant(account, region, name)


def reference(
    producer: Participant,
    importer: Participant,
    *keys: str,
    outdated: tuple[str, ...] = (),
    protection: Protection = Protection.HELD,
) -> Reference:
    region = importer.region or producer.region
    return Reference(producer, importer, region, tuple(sorted(keys or ("Arn",))), outdated, protection)


def shop() -> Graph:
    """Twelve participants of three regions, as a small company has them."""
    network, certificate = stack("network"), stack("certificates", "us-east-1")
    dns, logs = stack("dns", "us-east-1"), stack("log-archive")
    cluster, database, queue = stack("cluster"), stack("orders-database"), stack("order-events")
    orders, payments = stack("orders"), stack("payments", "eu-central-1")
    site, waf = stack("storefront", "us-east-1"), stack("web-acl", "us-east-1")
    manifests = Participant(ACCOUNT, "", "shop", "manifests")
    return Graph(
        (logs,),
        (
            reference(network, cluster, "VpcId", "SubnetIds", "SecurityGroups/Nodes"),
            reference(network, database, "VpcId", "SubnetIds"),
            reference(cluster, orders, "Endpoint", "OidcProvider"),
            reference(database, orders, "Endpoint", "SecretArn", outdated=("Endpoint",)),
            reference(queue, orders, "QueueUrl"),
            reference(queue, payments, "TopicArn"),
            reference(cluster, payments, "OidcProvider"),
            reference(dns, certificate, "ZoneId"),
            reference(dns, site, "ZoneId"),
            reference(certificate, site, "CertificateArn"),
            reference(waf, site, "WebAclArn", protection=Protection.UNPROTECTED),
            reference(orders, site, "ApiDomainName"),
            reference(cluster, manifests, "IngressRoleArn", protection=Protection.UNHELD),
            reference(orders, manifests, "RoleArn", "TableName", protection=Protection.UNPROTECTED),
            reference(payments, manifests, "RoleArn", outdated=("RoleArn",), protection=Protection.UNPROTECTED),
        ),
        AS_OF,
    )


def abroad(protection: Protection) -> Graph:
    """A reference to whoever imports in an account that was not read."""
    web = Participant("222222222222", "us-east-1", "web", "consumer")
    made = replace(reference(stack("network"), web, protection=protection), keys=(), account=web.account)
    return Graph((), (made,), AS_OF)


def _number(*parts: object) -> int:
    return int.from_bytes(sha256(repr(parts).encode()).digest()[:4])


def landscape(size: int) -> Graph:
    """A graph of a number of participants: some foundations, much that rests on them, and a few that are alone."""
    members: list[tuple[int, Participant]] = []
    for at in range(size):
        layer = (0, 1, 1, 2, 2, 2, 3, 3, 2, 3)[at % 10] if at >= 2 else 0
        names = LAYERS[layer]
        name = names[_number(at, "name") % len(names)]
        account = str(111111111111 * (1 + _number(at, "account") % min(3, 1 + size // 25)))
        region = REGIONS[_number(at, "region") % min(6, 1 + size // 12)]
        is_set = layer == 3 and _number(at, "kind") % 6 == 0
        kind, region = ("manifests", "") if is_set else ("stack", region)
        members.append((layer, Participant(account, region, f"{name}-{at:03}", kind)))
    references = [
        new
        for at, (layer, importer) in enumerate(members)
        if layer and _number(at, "alone") % 12
        for new in _imports(at, importer, [each for other, each in members if other < layer])
    ]
    return Graph(tuple(each for _, each in members), tuple(references), AS_OF)


def _imports(at: int, importer: Participant, producers: list[Participant]) -> list[Reference]:
    near = [each for each in producers if each.account == importer.account] or producers
    hubs = near[:4] if _number(at, "hub") % 3 else near
    turns = range(1 + _number(at, "count") % 3)
    chosen = {(near if turn else hubs)[_number(at, turn, "from") % len(near if turn else hubs)] for turn in turns}
    return [
        reference(
            producer,
            importer,
            *{KEYS[_number(at, producer.name, turn) % len(KEYS)] for turn in range(1 + _number(at, position) % 3)},
            protection=Protection.HELD if _number(at, producer.name, "held") % 9 else Protection.UNPROTECTED,
        )
        for position, producer in enumerate(sorted(chosen))
    ]


def with_outdated(graph: Graph, every: int = 11) -> Graph:
    """A graph with an outdated key in some references."""
    return replace(
        graph,
        references=tuple(
            replace(each, outdated=each.keys[:1]) if not number % every else each
            for number, each in enumerate(graph.references)
        ),
    )
