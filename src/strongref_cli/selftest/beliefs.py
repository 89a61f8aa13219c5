"""What strongref believes about AWS, in one list, of which the table in docs/how-it-works.md is made."""

from __future__ import annotations

from typing import NamedTuple


class Seen(NamedTuple):
    """What a look at AWS has shown of a belief.

    Attributes:
        holds: whether it is as it is believed to be.
        seen: what it was like.
        setting: the installation's parameter that follows from it, as `ReadLag=2`; empty if none does.
    """

    holds: bool
    seen: str
    setting: str = ""


class Belief(NamedTuple):
    """Something that the code relies on.

    Attributes:
        name: as in the report.
        says: what is believed.
        where: the module that relies on it: in layers/core/strongref, or in the repository.
        source: AWS's page that says so, by its title, or `UNDOCUMENTED`.
        shown_by: the check or the probe that looks at it; empty if none can.
    """

    name: str
    says: str
    where: str
    source: str
    shown_by: str = ""


UNDOCUMENTED = "undocumented"


def _of(source: str, *beliefs: tuple[str, str, str, str]) -> tuple[Belief, ...]:
    """The beliefs for which AWS has this page: name, belief, module, and what looks at it."""
    return tuple(Belief(name, says, where, source, shown_by) for name, says, where, shown_by in beliefs)


BELIEFS = (
    *_of(
        UNDOCUMENTED,
        ("lag-create-path", "A list of a path has a new parameter within ReadLag", "protocol/fences.py", "reads"),
        ("lag-overwrite-get", "A read returns an overwrite within ReadLag", "protocol/claims.py", "reads"),
        ("lag-tag-list", "A list of tags has a new tag within ReadLag", "protocol/lag.py", "reads"),
        ("lag-untag-list", "A list of tags misses a removed tag within ReadLag", "protocol/cleanup.py", "reads"),
        ("lag-delete-path", "A list of a path misses a deleted name within ReadLag", "protocol/fences.py", "reads"),
        ("path-pages", "A page begins after the last name of the page before", "aws/parameter_store.py", "reads"),
        ("in-progress", "A resource is in progress when its function is called", "protocol/verification.py", "request"),
        ("response-key", "A response URL names stack, resource and request", "contract/origin.py", "request"),
        ("response-date", "A response URL is signed when the request is sent", "contract/origin.py", "request"),
        ("set-before-signed", "LastUpdatedTimestamp is not after the URL", "protocol/verification.py", "request"),
        ("rollback-is-later", "A rollback is set in progress after the update", "protocol/unreached.py", "request"),
        ("missing-attribute", "A rollback ends without an attribute", "protocol/import_rollback.py", "request"),
        ("export-leaving", "Nobody imports from a stack in deletion", "protocol/hold_keeper.py", "request"),
        ("yaml", "YAML is 1.1: 0123 is 83, yes is true", "src/strongref_cli/check/unknown.py", "request"),
        ("hold-time", "A stack of one parameter is created within a minute", "protocol/hold_keeper.py", "holding"),
        ("list-imports", "ListImports has a stack within ReadLag", "protocol/hold_keeper.py", "holding"),
        ("tagging-lag", "GetResources finds a new tag within a minute", "lookup/search.py", "tagging"),
        ("failed-create", "A resource whose creation failed is sent a Delete", "protocol/phases.py", "failed-create"),
        ("cleanup-failure", "A Delete that fails in the cleanup phase fails nothing", "protocol/phases.py", ""),
        ("imports-first", "A stack's imports are resolved before its resources", "contract/hold_stacks.py", ""),
        ("failed-delete", "What an undeleted resource depends on stays", "macro/exports.py", ""),
        ("one-operation", "A stack has one operation at a time", "protocol/staleness.py", ""),
        ("made-up-names", "CloudFormation's names differ in each region and account", "template.yaml", ""),
        ("conditions", "A condition may compare what functions return", "src/strongref_cli/check/evaluation.py", ""),
        ("cloud-control-lists", "Lists of Cloud Control have identifiers only", "aws/cloud_control.py", ""),
    ),
    *_of(
        "DeleteParameter",
        ("recreation", "A deleted name can be used again within 30 seconds", "protocol/recreation.py", "reads"),
    ),
    *_of(
        "PutParameter",
        ("store-type", "An overwrite cannot change a parameter's type", "protocol/executor.py", "reads"),
        ("create-once", "A parameter is created once, together with its tags", "aws/parameter_store.py", "race"),
    ),
    *_of(
        "Access CloudFormation using an interface endpoint",
        ("response-host", "A response goes to CloudFormation's bucket", "contract/origin.py", "request"),
    ),
    *_of(
        "Custom resource request objects",
        ("scalars", "Numbers and booleans arrive as text", "contract/properties.py", "request"),
        ("cleanup-phase", "What was replaced is deleted in the cleanup phase", "protocol/phases.py", "request"),
        ("rollback-request", "A rollback sends an Update with the former properties", "protocol/phases.py", "refusal"),
    ),
    *_of(
        "How Lambda handles errors and retries with asynchronous invocation",
        ("redelivery", "Lambda delivers a raised event in a minute", "protocol/verification.py", "redelivery"),
    ),
    *_of(
        "AWS Systems Manager endpoints and quotas",
        ("rates", "Parameter Store serves 40 reads and 3 writes a second", "aws/rate_limit.py", "rates"),
    ),
    *_of(
        "Get exported outputs from a deployed CloudFormation stack",
        ("export-in-use", "An imported export and its stack stay", "contract/hold_stacks.py", "hold"),
        ("called-via", "aws:CalledVia has CloudFormation for what it does for its caller", "template.yaml", "hold"),
        ("resource-types", "cloudformation:ResourceTypes has the types of the request", "template.yaml", "hold"),
    ),
    *_of(
        "Custom resource response objects",
        ("replacement", "Another physical ID is a replacement", "protocol/imports.py", "make-before-break"),
        ("attributes", "Fn::GetAtt returns texts and lists of a response's Data", "contract/response.py", "kinds"),
    ),
    *_of(
        "GetParameters",
        ("batches", "GetParameters and DeleteParameters take ten names", "protocol/ports.py", "many"),
        ("throttling", "A throttled call fails with a code for it, and has done nothing", "aws/retry.py", "many"),
    ),
    *_of(
        "Perform custom processing on CloudFormation templates with template macros",
        ("macro-call", "A macro gets the whole template, before AWS's own transforms", "macro/event.py", "macro"),
    ),
    *_of(
        "Custom resources",
        ("service-timeout", "CloudFormation waits for ServiceTimeout", "contract/continuation.py", "continuation"),
    ),
    *_of(
        "API reference of the service",
        ("deleted-stacks", "A deleted stack is found by its ARN only", "aws/cloudformation.py", ""),
        ("on-failure", "With OnFailure: DELETE, a failed creation leaves no stack", "aws/cloudformation.py", ""),
        ("nested-stacks", "A nested stack is a stack with a ParentId", "aws/cloudformation.py", ""),
        ("store-limits", "Sizes, tags and tiers of parameters", "aws/parameter_store.py", ""),
        ("tagging-pages", "A page of GetResources has up to 100 resources", "aws/cloud_control.py", ""),
        ("event-size", "PutEvents takes 10 entries and 256 KB", "aws/event_bus.py", ""),
    ),
    *_of(
        "IAM and Lambda user guides",
        ("plural-actions", "Each name of a request is authorized on its own", "template.yaml", ""),
        ("principal-arn", "aws:PrincipalArn of a session is its role", "src/strongref_cli/install/trust.yaml", ""),
        ("role-chaining", "A session that a role assumes ends within an hour", "aws/accounts.py", ""),
        ("cloud-control-callers", "Cloud Control reads with its caller's permissions", "aws/cloud_control.py", ""),
        ("loop-detection", "Lambda stops a function's 16th invocation of itself", "contract/continuation.py", ""),
        ("clocks", "Clocks of functions and of AWS differ by less than a second", "protocol/time.py", ""),
    ),
    *_of(
        "AWS resource and property types reference",
        ("vpc-attributes", "Fn::GetAtt returns a VPC's CidrBlock", "src/strongref_objects/types/__init__.py", ""),
    ),
)
