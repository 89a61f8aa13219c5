"""The exit statuses of all commands; Ctrl-C has 130."""

FAILED, WRONG_USAGE, AWS_FAILED = 1, 2, 3
CLOSED_PIPE = 141
"""What shells report for a command whose reader has read enough."""
