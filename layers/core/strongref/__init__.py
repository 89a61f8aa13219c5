"""Strong references between CloudFormation stacks, across regions.

This package is exactly what runs in Lambda. Each folder may import those above it in this list, and none below it:

    contract/   what templates ask for, what is stored and reported: names, values, records, properties, notices. Pure.
    protocol/   the rules and the steps. Knows ports to the outside, never botocore.
    aws/        every call to AWS, one module for each service; one for retries, one for rate limits.
    lookup/     `Custom::ResourceLookup`: from a name to the attributes of a resource.
    macro/      `Transform: StrongRef`: turns references in templates into Exports and Imports.
    runtime/    what Lambda needs: handlers for custom resources and schedules, the response's delivery, the wiring.

`arns`, `codes`, `errors`, `refusals`, `text`, `log` and `metrics` serve all of them. The functions in `handlers/` only
import `runtime` and `macro`.

An event of an Export passes these stages:

    stage       module                        input                         output
    receive     runtime.custom_resource       Lambda's event                `Event`, or a rejection
    verify      protocol.verification         `Event`, CloudFormation       the same, or a rejection
    parse       protocol.export_event         `Event`                       `ExportEvent`: what to publish where
    fence       protocol.behind_fences        scopes                        `FencedStore` for each
    read        protocol.snapshot             `FencedStore`                 `Snapshot`: values, records, tags
    phase       protocol.phases               request type, stack status    `Phase`, and its policies
    plan        protocol.planner              `Snapshot`, `ClaimPolicy`     `ExportPlan`: instructions, or refusals
    apply       protocol.executor             `ExportPlan`                  calls to Parameter Store
    respond     contract.response             `Response`                    the body that CloudFormation gets
    notify      runtime.outbox                `Notice`, from plans          events on the installation's event bus

`Exporter.handle` in `protocol.exports` parses, fences and responds; `ExportAttempt.carry_out` in
`protocol.export_attempt` is the stages from read to apply, one after the other.

An event of an Import is read by `protocol.imports`, in the same phases. `ClaimAttempt` in `protocol.claims` reads,
claims and verifies, and `ClaimRelease` in `protocol.cleanup` releases and cleans up. If it cannot claim everything in a
rollback, `protocol.import_rollback` decides for each key. `protocol.janitor` repairs what no event does.

Nothing is public but `__version__`: this is the Lambda layer.
"""

__all__ = ["__version__"]

__version__ = "0.3.0"
