"""`strongref selftest`: proves in somebody's own account what everything else here only believes about AWS."""
