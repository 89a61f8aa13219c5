"""Numbers for CloudWatch, in the embedded metric format: a JSON line in the log that becomes metrics of `StrongRef`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE = "StrongRef"
SERVICE = "strongref"
"""The value of the one dimension, `service`."""


def count(numbers: Mapping[str, int]) -> None:
    """Add numbers to the metrics of these names."""
    metrics = Metrics(namespace=NAMESPACE, service=SERVICE)
    for name, number in numbers.items():
        metrics.add_metric(name, MetricUnit.Count, number)
    metrics.flush_metrics()
