"""Who exports what to whom: all that strongref stores in some regions, read once, and pure questions about it."""
