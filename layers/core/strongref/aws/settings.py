"""What an installation decides about the parameters that it stores. Its functions have it in their environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

KMS_KEY = "STRONGREF_KMS_KEY"
"""The ID or alias of the KMS key for secure values; empty for the account's default."""

PARAMETER_TAGS = "STRONGREF_PARAMETER_TAGS"
"""The tags of each new parameter, in addition to strongref's own, as in `team=web,cost-center=7`."""

Settings: TypeAlias = Callable[[str, str], str]
"""A setting of a region's installation, given the region and the name of the setting; empty if it has none."""


def from_environment(_region: str, name: str) -> str:
    return os.environ.get(name, "")


def parameter_tags(settings: Settings, region: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in settings(region, PARAMETER_TAGS).split(","))
    return {key: value for key, _, value in pairs if key}
