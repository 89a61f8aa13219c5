"""Who exports what to whom: everything that strongref stores in some regions, read once, and pure questions about it."""
