"""Expands the installation's template without CloudFormation, from standard input to standard output.

It runs in the SAM CLI's environment: the SAM Translator is the code that CloudFormation's own transform runs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

PREFIX = "BucketPrefix"
_BUCKET = {"Fn::Sub": f"${{{PREFIX}}}-${{AWS::Region}}"}


class _NoPolicies:
    """The template names no managed policies: nothing is looked up."""

    def load(self) -> dict[str, str]:
        return {}


def expanded(text: str) -> dict[str, Any]:
    """The template without its transform; its code is in the bucket of each region."""
    template: dict[str, Any] = yaml_parse(text)
    for resource in template["Resources"].values():
        for name in ("CodeUri", "ContentUri"):
            if location := resource["Properties"].get(name):
                _, key = location.removeprefix("s3://").split("/", 1)
                resource["Properties"][name] = {"Bucket": _BUCKET, "Key": key}
    template.setdefault("Parameters", {})[PREFIX] = {
        "Type": "String",
        "AllowedPattern": "[a-z0-9][a-z0-9.-]{2,48}",
        "Description": "The buckets with the code are named by this prefix, a hyphen and the region",
    }
    found: dict[str, Any] = transform(template, {}, _NoPolicies())
    found.pop("Transform", None)
    return found


def main() -> int:
    json.dump(expanded(sys.stdin.read()), sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
