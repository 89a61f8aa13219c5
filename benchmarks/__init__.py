"""What strongref costs, measured, beside the CDK's cross-region references: `make bench`, or `python -m benchmarks`."""
