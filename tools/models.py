"""Writes `strongref/aws/models`: botocore's descriptions of AWS's services, cut down to the calls that are made.

botocore reads the description of a whole service and of all services' endpoints when it makes a client: megabytes, and
the larger part of what a cold start of a function takes besides imports. Run by `make lock`, when botocore has moved.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from botocore.loaders import Loader

from strongref.untyped import AnyJson

TARGET = Path(__file__).resolve().parents[1] / "layers/core/strongref/aws/models"

CALLS = {
    "cloudcontrol": ("GetResource", "ListResources"),
    "cloudformation": (
        "CreateStack",
        "DeleteStack",
        "DescribeStackEvents",
        "DescribeStackResource",
        "DescribeStacks",
        "ListImports",
        "ListStackResources",
        "UpdateStack",
    ),
    "events": ("PutEvents",),
    "lambda": ("Invoke",),
    "resourcegroupstaggingapi": ("GetResources",),
    "ssm": (
        "AddTagsToResource",
        "DeleteParameters",
        "GetParameters",
        "GetParametersByPath",
        "ListTagsForResource",
        "PutParameter",
        "RemoveTagsFromResource",
    ),
    "sts": ("AssumeRole",),
}
"""Those of the functions, by service, in botocore's words. The command, which starts seldom, has all of botocore."""


def models() -> dict[str, str]:
    """The files' texts, by path below the target, in the order in which botocore looks for them."""
    loader = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])
    found = {}
    for service, calls in CALLS.items():
        version = loader.determine_latest_version(service, "service-2")
        model = trimmed(loader.load_service_model(service, "service-2", version), calls)
        found[f"{service}/{version}/service-2.json"] = json.dumps(model, indent=1, sort_keys=True) + "\n"
    endpoints = loader.load_data("endpoints")
    for partition in endpoints["partitions"]:
        partition["services"] = {name: each for name, each in partition["services"].items() if name in CALLS}
    return found | {"endpoints.json": json.dumps(endpoints, indent=1, sort_keys=True) + "\n"}


def trimmed(model: dict[str, Any], calls: tuple[str, ...]) -> dict[str, Any]:
    """A service with these calls only, and without its documentation."""
    operations = {call: model["operations"][call] for call in calls}
    shapes: dict[str, Any] = {}
    for operation in operations.values():
        named = [operation.get("input"), operation.get("output"), *operation.get("errors", ())]
        for each in filter(None, named):
            _collect(each["shape"], model["shapes"], shapes)
    cut: dict[str, Any] = _undocumented({**model, "operations": operations, "shapes": shapes})
    return cut


def _collect(name: str, known: dict[str, Any], shapes: dict[str, Any]) -> None:
    if name in shapes:
        return
    shape = shapes[name] = known[name]
    for each in [
        *shape.get("members", {}).values(),
        *(shape[part] for part in ("member", "key", "value") if part in shape),
    ]:
        _collect(each["shape"], known, shapes)


def _undocumented(model: AnyJson) -> AnyJson:
    if isinstance(model, dict):
        return {name: _undocumented(part) for name, part in model.items() if name not in ("documentation", "examples")}
    return [_undocumented(part) for part in model] if isinstance(model, list) else model


def main() -> None:
    """Write them."""
    for path, text in models().items():
        file = TARGET / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{file.relative_to(TARGET.parents[3])}\n")


if __name__ == "__main__":
    main()
