"""docs/install.md: its policy allows what the commands and CloudFormation do; its options and results are real."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

from strongref.aws.rate_limit import RATE_OF_ACTION
from strongref_cli.install.bucket import bucket_name
from strongref_cli.install.plan import BAD, RegionResult
from strongref_toolkit import cloudformation, session
from tests.support.commands import arguments_of, commands_of, parser_of
from tests.support.documents import ROOT, blocks
from tests.support.installation import RESOURCES

PAGE = "docs/install.md"
TEXT = (ROOT / PAGE).read_text()
US = "us-east-1"

IAM_ACTIONS = {
    "CreateBucket": {"s3:CreateBucket", "s3:PutBucketOwnershipControls"},
    "DeleteBucket": {"s3:DeleteBucket"},
    "DeleteObjects": {"s3:DeleteObject"},
    "HeadBucket": {"s3:ListBucket"},
    "HeadObject": {"s3:GetObject"},
    "ListObjectsV2": {"s3:ListBucket"},
    "PutBucketEncryption": {"s3:PutEncryptionConfiguration"},
    "PutObject": {"s3:PutObject"},
    "PutPublicAccessBlock": {"s3:PutBucketPublicAccessBlock"},
}
"""Of S3's calls (AWS: Amazon S3 API Reference, each call's permissions). CloudFormation's have the calls' names."""

OF_CLOUDFORMATION = {"cloudformation:TagResource"}
"""What a change set with tags needs in addition."""

EXPANDED = {
    "AWS::Serverless::Function": [
        "AWS::Lambda::Function",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::Permission",
        "AWS::Events::Rule",
    ],
    "AWS::Serverless::LayerVersion": ["AWS::Lambda::LayerVersion"],
}
"""What CloudFormation creates for SAM's types."""

UNUSED = (
    *("ec2:*", "elasticfilesystem:*", "s3files:*", "kms:*", "firehose:*"),  # networks, file systems, keys, deliveries
    *("s3:REST.PUT.OBJECT", "s3:GetObjectVersion"),  # of buckets with versions
    *("iam:*UserPolicy", "iam:*GroupPolicy"),
)
"""What the types' handlers need for properties that the template does not have."""


def statements() -> list[dict[str, Any]]:
    (policy,) = [json.loads(block.text) for block in blocks("json") if block.page == ROOT / PAGE]
    found: list[dict[str, Any]] = policy["Statement"]
    return found


def listed(given: Any) -> list[str]:
    return given if isinstance(given, list) else [given]


def actions(*sids: str) -> set[str]:
    return {action for each in statements() if each["Sid"] in sids for action in listed(each["Action"])}


def calls() -> set[str]:
    """The API actions that the package calls, itself or by the methods of the reader that it uses."""

    def named(text: str) -> set[str]:
        return RATE_OF_ACTION.keys() & set(re.findall(r'"([A-Z]\w+)"', text))

    sources = "".join(path.read_text() for path in (ROOT / "src/strongref_cli/install").glob("*.py"))
    _, *methods = (ROOT / str(cloudformation.__file__)).read_text().split("\n    def ")
    found = named(sources).union(*(named(each) for each in methods if f".{each.partition('(')[0]}(" in sources))
    assert {"CreateBucket", "CreateChangeSet", "ListStackResources"} < found
    return found


def test_the_policy_allows_the_commands_own_calls_and_no_others() -> None:
    needed = {iam for call in calls() for iam in IAM_ACTIONS.get(call, {f"cloudformation:{call}"})}
    assert '"DescribeRegions"' in (ROOT / str(session.__file__)).read_text()
    needed |= {"ec2:DescribeRegions", "ssm:GetParametersByPath"} | OF_CLOUDFORMATION
    assert actions("Search", "Stack", "Bucket", "Code", "Leftovers") == needed


def test_the_policy_allows_what_cloudformation_does_for_every_resource() -> None:
    schemas = files("cfnlint.data.schemas")
    known = json.loads(schemas.joinpath("providers", f"{US}.json").read_text())
    allowed = actions("Code", "Resources", "ResourceLists", "Roles", "ServiceTokens")
    used = set()
    for type_name in sorted(
        {name for each in RESOURCES.values() for name in EXPANDED.get(each["Type"], [each["Type"]])}
    ):
        schema = json.loads(schemas.joinpath("resources", f"{known[type_name]}.json").read_text())
        handlers = [schema.get("handlers", {}).get(name, {}) for name in ("create", "read", "update", "delete")]
        for needed in (action for handler in handlers for action in handler.get("permissions", [])):
            if any(fnmatchcase(needed, pattern) for pattern in UNUSED):
                continue
            by = [pattern for pattern in allowed if fnmatchcase(needed, pattern)]
            assert by, (type_name, needed)
            used.update(by)
    assert used == allowed - {"s3:DeleteObject", "s3:PutObject"}  # the command's own


def test_the_policy_is_about_this_bucket_and_stack() -> None:
    (bucket,) = [each["Resource"] for each in statements() if each["Sid"] == "Bucket"]
    assert fnmatchcase(f"arn:aws:s3:::{bucket_name('111111111111', US)}", bucket)
    assert parser_of().parse_args(["install"]).stack == "strongref"


def test_the_documented_options_are_those_of_the_commands() -> None:
    """The page of the command line has all of them, from the commands themselves."""
    of_others = {"--retain-resources", "--parameter-overrides", "--fix"}  # AWS's, SAM's, and those of `doctor`
    documented = set(re.findall("`(--[a-z-]+)", TEXT)) - of_others
    assert len(documented) >= 7
    assert documented <= arguments_of("install") | arguments_of("uninstall")
    below = {"--region", "--all-regions", "--profile", "--debug", "--stack", "--output"}
    assert arguments_of("status") == below
    assert arguments_of("uninstall") == below | {"--bucket", "--purge", "--dry-run", "--yes"}
    assert {"install", "status", "uninstall"} < set(commands_of(parser_of()))


def test_the_documented_results_are_those_that_there_are() -> None:
    sentence = re.search(r"Results are (.*?)\.\n", TEXT, re.DOTALL)
    assert sentence
    good, _, bad = sentence[1].partition("exit status 1:")
    assert set(re.findall("`([^`]+)`", bad)) == {each.value for each in BAD}
    assert set(re.findall("`([^`]+)`", good)) == {each.value for each in RegionResult} - {each.value for each in BAD}
