"""`strongref objects`."""
