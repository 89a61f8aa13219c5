"""What an installation decides about the parameters that it stores. Its functions have it in their environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TypeAlias

from strongref.errors import TAG_LIMIT

KMS_KEY = "STRONGREF_KMS_KEY"
"""The ID or alias of the KMS key for secure values; empty for the account's default."""

PARAMETER_TAGS = "STRONGREF_PARAMETER_TAGS"
"""The tags of each new parameter, in addition to strongref's own, as in `team=web,cost-center=7`."""

Settings: TypeAlias = Callable[[str, str], str]
"""A setting of a region's installation, given the region and the name of the setting; empty if it has none."""


def from_environment(_region: str, name: str) -> str:
    return os.environ.get(name, "")


def with_parameter_tags(settings: Settings, region: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Tags, which count more, and as many of the installation's as there is room for: a value may have many claims."""
    pairs = (pair.partition("=") for pair in settings(region, PARAMETER_TAGS).split(","))
    own = {key: value for key, _, value in pairs if key}
    return {**dict(islice(own.items(), max(0, TAG_LIMIT - len(tags)))), **tags}
