"""What people do about stored exports: republish, release and heal. The rules are those of the functions."""
