"""Numbers for CloudWatch, in the embedded metric format: a JSON line in the log that becomes metrics of `StrongRef`.

A function that has nothing to count does not load what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE = "StrongRef"
SERVICE = "strongref"
"""The value of the one dimension, `service`."""


def count(numbers: Mapping[str, int]) -> None:
    """Add numbers to the metrics of these names."""
    from aws_lambda_powertools import Metrics  # noqa: PLC0415 (45 ms, which no event that goes well needs)
    from aws_lambda_powertools.metrics import MetricUnit  # noqa: PLC0415

    metrics = Metrics(namespace=NAMESPACE, service=SERVICE)
    for name, number in numbers.items():
        metrics.add_metric(name, MetricUnit.Count, number)
    metrics.flush_metrics()
