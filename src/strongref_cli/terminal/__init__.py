"""What all commands share: options, tables, progress and questions; and here, exit statuses."""

FAILED, WRONG_USAGE, AWS_FAILED = 1, 2, 3
"""Exit statuses; Ctrl-C has 130."""

CLOSED_PIPE = 141
"""What shells report for a command whose reader has read enough."""
