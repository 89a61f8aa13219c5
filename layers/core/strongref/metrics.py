"""CloudWatch metrics in the embedded metric format: a JSON log line that CloudWatch turns into metrics."""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

NAMESPACE = "StrongRef"
SERVICE = "strongref"
"""The value of the one dimension, `service`."""


def emit_counts(counts: Mapping[str, int]) -> None:
    """Add to counters, given by metric name."""
    metrics = Metrics(namespace=NAMESPACE, service=SERVICE)
    for name, number in counts.items():
        metrics.add_metric(name, MetricUnit.Count, number)
    metrics.flush_metrics()
