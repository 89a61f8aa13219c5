"""What people do about stored exports: republish, release and repair. The rules are those of the functions."""
