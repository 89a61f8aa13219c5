"""Helpers for what programs on people's machines print. Pure."""

from __future__ import annotations


def os_problem(error: OSError) -> str:
    """The operating system's reason for a failure, for use in a sentence: `permission denied`."""
    return (error.strerror or type(error).__name__).lower()


def printable(text: str) -> str:
    """Text without what would control a terminal: what others have stored may hold anything."""
    return "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in text)
