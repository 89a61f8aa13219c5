"""`strongref transform`."""
