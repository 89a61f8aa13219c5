"""The command line: every command with its options, and the function that runs it.

Commands import boto3, ruamel.yaml and more. Nothing here does, so that `--help` answers at once: a parser names its
function as `module:function`, and `strongref_cli.main` imports that module of this package when the command runs.
"""

from __future__ import annotations

import argparse

from strongref import __version__
from strongref.contract.names import ALL
from strongref_cli.options import (
    Commands,
    Once,
    Parser,
    add_command,
    add_consumer,
    add_output,
    add_profile,
    add_region,
    add_regions,
    add_yes,
    repeatable,
)
from strongref_cli.permissions import Principal
from strongref_manifests.tokens import ON_DEMAND
from strongref_toolkit.errors import PLACEHOLDER

ROLE = f"the role to assume in other accounts: arn:aws:iam::{PLACEHOLDER}:role/NAME; {PLACEHOLDER} stands for the ID"
CLAIM, HOLD, UNCLAIM = "--claim", "--hold", "--unclaim"

CONTEXT_FILE = "strongref.context.json"
"""The same as in `strongref_objects.synthesis.context_file`, which takes too long to import here."""

_ALL_STACKS = f"{ALL}: exports for all stacks"

ROLE_NAME = "strongref-references"
"""The default name of the ClusterRole; different from a controller's own role, which it would replace."""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    whole: argparse.ArgumentParser = Parser(
        prog="strongref",
        description="Strong references between CloudFormation stacks: list exports and their importers, look up "
        "resources, and write values into templates and manifests.",
    )
    whole.add_argument("--version", action="version", version=__version__)
    whole.set_defaults(extra=None)
    commands = whole.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for add in _COMMANDS:
        add(commands)
    return whole


def _check(commands: Commands) -> None:
    check = add_command(
        commands,
        "check",
        "predict what a deployment does to exports, and what is refused; never the values",
        epilog="To compare them, check reads all values of the stack's exports, and decrypts secure ones.",
    )
    check.add_argument("--stack", metavar="NAME", help="the stack to create or update")
    what = check.add_mutually_exclusive_group(required=True)
    what.add_argument("--template", metavar="FILE", help="its new template, in YAML or JSON; - for standard input")
    what.add_argument("--change-set", metavar="NAME", help="a change set of it; more is known than from a template")
    what.add_argument("--delete", metavar="STACK", help="instead, the stack to delete")
    check.add_argument(
        "--parameters",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="for --template: values of its parameters; others keep theirs, or have their defaults",
    )
    add_region(check, "the stack's region")
    check.add_argument("--strict", action="store_true", help="exit with 1 also if something is unknown")
    add_profile(check)
    add_output(check)
    check.set_defaults(run="check:check_deployment", extra="manifests")


def _list(commands: Commands) -> None:
    exports = add_command(commands, "list", "list exports and who imports them; never the values")
    add_regions(exports, "a region of the values")
    exports.add_argument("--stack", help="only exports of this stack")
    add_consumer(exports, f"only exports for this consumer; {_ALL_STACKS}")
    exports.add_argument("--importer", help="only exports that this stack imports")
    exports.add_argument("--state", choices=STATES, help="only exports in this state, or with an import in it")
    add_output(exports)
    exports.set_defaults(run="overview:list_exports")


def _who(commands: Commands) -> None:
    who = add_command(
        commands,
        "who",
        "show who imports what a stack exports, and what it imports; never the values",
        epilog="It also reads every region that the stack exports to.",
    )
    who.add_argument("stack", metavar="STACK", help="the stack's name, or that of a set of manifests")
    who.add_argument("key", metavar="KEY", nargs="?", help="only this export, or all in the map of this name")
    add_regions(who, "the stack's region")
    add_output(who)
    who.set_defaults(run="overview:show_who")


STATES = (
    "published",
    "missing",
    "restored",
    "foreign",
    "withdrawn",
    "orphaned",
    "unreadable",
    "imported",
    "unused",
    "outdated",
    "gone",
    "unheld",
)


def _graph(commands: Commands) -> None:
    graph = add_command(
        commands,
        "graph",
        "draw all stacks and their references; never the values",
        epilog="It reads every region that stacks found there export to or live in.",
    )
    graph.add_argument(
        "--output",
        choices=("html", "mermaid", "dot", "json"),
        help="the format; by default that of the file's name, or mermaid",
    )
    graph.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    add_regions(graph, "a region to begin with")
    graph.set_defaults(run="graph:show_graph")


def _order(commands: Commands) -> None:
    order = add_command(commands, "order", "show in which order stacks can be deployed or deleted")
    order.add_argument("--delete", action="store_true", help="the order of deletion")
    add_regions(order, "a region to begin with")
    add_output(order)
    order.set_defaults(run="graph:show_order")


def _completion(commands: Commands) -> None:
    completion = add_command(commands, "completion", "print a script that completes commands and options in a shell")
    completion.add_argument("shell", metavar="SHELL", choices=("bash", "zsh"), help="bash or zsh")
    completion.set_defaults(run="completion:print_script")


def _doctor(commands: Commands) -> None:
    doctor = add_command(commands, "doctor", "find what is wrong with what is stored, and repair what is safe")
    add_regions(doctor, "a region to examine")
    doctor.add_argument("--fix", action="store_true", help="after showing what is wrong, repair what is safe to repair")
    add_yes(doctor)
    add_output(doctor)
    doctor.set_defaults(run="healing:examine")


def _release(commands: Commands) -> None:
    release = add_command(
        commands,
        "release",
        "take a stack's claim off an export, although the stack may still use it",
        epilog="It shows what may break before it does anything, and leaves a trace for 90 days.",
    )
    release.add_argument("stack", metavar="STACK", help="the stack that exports it")
    release.add_argument("key", metavar="KEY", help="the export, or all in the map of this name")
    release.add_argument(
        "--consumer",
        required=True,
        help="the stack whose claim is released; stack:NAME if a set of manifests has the same name",
    )
    release.add_argument("--reason", required=True, help="why, for the trace")
    release.add_argument("--dry-run", action="store_true", help="show what would be released, and release nothing")
    add_yes(release)
    add_regions(release, "a region of the exporting stack or of the values")
    add_output(release)
    release.set_defaults(run="healing:release_claim")


def _republish(commands: Commands) -> None:
    republish = add_command(commands, "republish", "restore deleted values from their records")
    republish.add_argument("stack", metavar="STACK", help="the stack that exports them")
    republish.add_argument("--key", help="only this export, or all in the map of this name")
    add_regions(republish, "a region of the values")
    add_output(republish)
    republish.set_defaults(run="healing:republish_exports")


def _install(commands: Commands) -> None:
    """`install`, `status` and `uninstall`."""
    install = add_command(commands, "install", "install or upgrade the functions in regions")
    status = add_command(commands, "status", "show what is installed in regions, and what differs")
    uninstall = add_command(commands, "uninstall", "remove the functions from regions, unless stacks use them")
    bucket = "take the buckets PREFIX-REGION, which exist; by default strongref-ACCOUNT-REGION, which it creates"
    install.add_argument("--bucket", metavar="PREFIX", help=bucket)
    source = "install this release, a folder; by default, what pip has installed"
    install.add_argument("--from", dest="release", metavar="FOLDER", help=source)
    repeatable(install, "--parameter", "a parameter of the installation; repeatable", metavar="NAME=VALUE")
    repeatable(install, "--tag", "a tag of the stack; repeatable", metavar="NAME=VALUE")
    install.add_argument("--force", action="store_true", help="also install an older version than the present one")
    uninstall.add_argument("--bucket", metavar="PREFIX", help="the buckets of the installation, if given to install")
    uninstall.add_argument("--purge", action="store_true", help="also delete the code in the buckets, and own buckets")
    add_yes(uninstall)
    for command in (install, uninstall):
        command.add_argument("--dry-run", action="store_true", help="show what would happen, and change nothing")
    for command, function in ((install, "install_suite"), (status, "show_status"), (uninstall, "uninstall_suite")):
        command.add_argument("--stack", default="strongref", help="the name of its stack; by default strongref")
        add_regions(command, "a region")
        add_output(command)
        command.set_defaults(run=f"installing:{function}")


def _lookup(commands: Commands) -> None:
    lookup = add_command(
        commands,
        "lookup",
        "print a resource's primary identifier, or its attributes",
        epilog="For scripts, --output table prints only the identifier on one line, or with --attribute only the "
        "values, one per line.",
    )
    lookup.add_argument("type", metavar="TYPE", help="the resource type, as in AWS::S3::Bucket")
    lookup.add_argument("physical_id", metavar="PHYSICAL_ID", nargs="?", help="the physical ID in CloudFormation")
    lookup.add_argument("--arn", help="the ARN, instead of the physical ID")
    lookup.add_argument("--name", help="the name in its service, instead of the physical ID")
    repeatable(lookup, "--tag", "a tag, instead; repeatable", metavar="KEY=VALUE")
    repeatable(lookup, "--property", "a property that must match; repeatable", metavar="NAME=VALUE")
    repeatable(lookup, "--attribute", "print this attribute; A.B is B in A; repeatable", metavar="NAME")
    add_region(lookup, "the resource's region")
    lookup.add_argument("--account", help="the resource's account, if it is not the caller's")
    lookup.add_argument("--role", help=ROLE)
    add_profile(lookup)
    add_output(lookup)
    lookup.set_defaults(run="lookup:look_up")


def _objects(commands: Commands) -> None:
    objects = add_command(commands, "objects", "list exported objects, and print one for people or scripts")
    below = objects.add_subparsers(required=True, metavar="COMMAND")
    every = add_command(below, "list", "list objects and their keys; never the values")
    add_regions(every, "a region of the objects")
    _channel(every)
    add_output(every)
    every.set_defaults(run="objects:list_objects")
    show = add_command(below, "show", "print one object as a tree")
    export = add_command(below, "export", "print one object as JSON or as shell variables")
    for each in (show, export):
        each.add_argument("name", metavar="NAME", help="the object's name")
        each.add_argument("--type", help="its type: Bucket, or MODULE:CLASS; by default read from its keys")
        add_region(each, "the object's region")
        add_profile(each)
        _channel(each)
        each.add_argument("--sensitive", action="store_true", help="also print the values of SecureStrings")
    show.set_defaults(run="objects:show_object")
    export.add_argument("--format", choices=("json", "env"), required=True, help="the output format")
    export.add_argument("--name", dest="variables", metavar="PREFIX", help="the variables' prefix; by default NAME")
    export.set_defaults(run="objects:export_object")
    context = add_command(below, "context", "list what lookups have stored in the context file, or remove it")
    context.add_argument("--file", help=f"the file; by default {CONTEXT_FILE}")
    add_output(context)
    remove = context.add_mutually_exclusive_group()
    remove.add_argument("--reset", nargs="+", metavar="NAME", help="remove these objects or values")
    remove.add_argument("--clear", action="store_true", help="remove everything that strongref has stored")
    context.set_defaults(run="objects:show_context")


def _channel(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--via",
        choices=("cloudformation", "strongref", "ssm"),
        default="cloudformation",
        help="the channel; by default cloudformation",
    )
    command.add_argument("--account", help="the objects' account, if it is not the caller's")
    command.add_argument("--role", help=ROLE)
    add_consumer(command, f"via strongref: only exports for this consumer; {_ALL_STACKS}")
    command.add_argument("--stack", help="via cloudformation or strongref: only exports of this stack")
    command.add_argument("--prefix", help="via ssm: the parameters' prefix, as in /shared/network")


def _manifests(command: argparse.ArgumentParser) -> None:
    """The manifests that a command reads, and where it writes them."""
    command.add_argument("manifest", nargs="*", help="files; folders of *.yaml, *.yml and *.json; or - alone")
    where = command.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FOLDER", help="the folder to write to; relative paths are kept")
    where.add_argument("--in-place", action="store_true", help="overwrite the manifests")
    where.add_argument("--check", action="store_true", help="resolve everything, and write nothing")


_CLAIM_HELP = "claim the exports in use, and release those that NAME no longer uses"
_HOLD_HELP = "with --claim: also protect the exporting stacks from deletion, by stacks in their regions"


def _refs(commands: Commands) -> None:
    refs = add_command(commands, "refs", "reference fields of manifests, by the rules of ACK's controllers")
    below = refs.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    repeatable(common, "--generator", "generator.yaml of a controller; repeatable", metavar="FILE")
    common.add_argument("--service", help="service of the controller, as in ec2; by default from its folder")
    crds = "files or folders with CRDs, which have the types of fields; repeatable"
    repeatable(common, "--crd", crds, metavar="FILE")
    _refs_resolve(below, common)
    fields = add_command(below, "fields", "list all reference fields, and what they refer to", parents=[common])
    add_output(fields)
    fields.set_defaults(run="refs:list_fields", extra="refs")
    rbac = add_command(below, "rbac", "write the ClusterRole for reading referenced objects", parents=[common])
    rbac.add_argument("--name", default=ROLE_NAME, help=f"the ClusterRole's name; by default {ROLE_NAME}")
    rbac.add_argument("--all", action="store_true", help="include what the controllers' own roles allow already")
    rbac.set_defaults(run="refs:print_role", extra="refs")
    schema = add_command(below, "schema", "write what reference fields add to the schemas of CRDs", parents=[common])
    schema.set_defaults(run="refs:print_schema", extra="refs")


def _refs_resolve(commands: Commands, common: argparse.ArgumentParser) -> None:
    resolve = add_command(
        commands, "resolve", "write manifests with values in place of their references", parents=[common]
    )
    _manifests(resolve)
    source = resolve.add_mutually_exclusive_group()
    others = "files or folders of referenced objects, as kubectl get -o yaml prints them; repeatable"
    repeatable(source, "--from", others, dest="others", metavar="MANIFEST")
    source.add_argument("--cluster", action="store_true", help="read referenced objects from a live cluster")
    resolve.add_argument("--kubeconfig", metavar="FILE", help="the kubeconfig; by default the one that kubectl uses")
    resolve.add_argument("--context", help="a context of the kubeconfig; by default its current one")
    resolve.add_argument(
        "-n", "--namespace", help="the namespace of objects without one; by default the context's, or default"
    )
    resolve.add_argument("--conditions", action="store_true", help="print each object's condition, a JSON object each")
    add_consumer(resolve, f"the exports' consumer; by default {_ALL_STACKS}", default=ALL)
    resolve.add_argument(CLAIM, metavar="NAME", help=_CLAIM_HELP)
    resolve.add_argument(HOLD, action="store_true", help=_HOLD_HELP)
    resolve.add_argument("--sensitive", action="store_true", help="also write secret exports")
    add_region(resolve, "the region of stacks and exports whose reference names none")
    resolve.add_argument("--role", help=ROLE)
    add_profile(resolve)
    resolve.set_defaults(run="refs_resolving:resolve_references", extra="refs")


def _resolve(commands: Commands) -> None:
    resolve = add_command(commands, "resolve", "write manifests with the values that their tokens stand for")
    _manifests(resolve)
    resolve.add_argument("--strict", action="store_true", help="fail for other text that looks like a token, too")
    schemes = f"also resolve {', '.join(ON_DEMAND)}; repeatable, or separated by commas"
    repeatable(resolve, "--with", schemes, dest="schemes", metavar="SCHEME")
    repeatable(resolve, "--tf", "a Terraform state: a file or s3://…; NAME=… for more than one", metavar="STATE")
    resolve.add_argument(
        "--sensitive", action="store_true", help="also write secrets: SecureStrings, sensitive values of Terraform"
    )
    allow = "also write this sensitive value of Terraform, and all that is in it; repeatable"
    repeatable(resolve, "--allow", allow, metavar="ADDRESS")
    add_consumer(resolve, f"the exports' consumer; by default {_ALL_STACKS}", default=ALL)
    claims = resolve.add_mutually_exclusive_group()
    claims.add_argument(CLAIM, metavar="NAME", help=_CLAIM_HELP)
    claims.add_argument(UNCLAIM, metavar="NAME", help="release everything that NAME claims; without manifests")
    resolve.add_argument(HOLD, action="store_true", help=_HOLD_HELP)
    add_region(resolve, "the region of tokens that name none")
    resolve.add_argument("--role", help=ROLE)
    add_profile(resolve)
    resolve.set_defaults(run="resolve:resolve_tokens", extra="manifests")


def _transform(commands: Commands) -> None:
    transform = add_command(commands, "transform", "print a template as the macro StrongRef transforms it")
    transform.add_argument("template", metavar="TEMPLATE", help="a file in YAML or JSON; - for standard input")
    where = transform.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    where.add_argument("--check", action="store_true", help="report errors, and write nothing")
    where.add_argument(
        "--iam",
        choices=[each.value for each in Principal],
        help="instead of the template, print the IAM policy that this principal needs for it, as JSON",
    )
    transform.add_argument("--region", action=Once, metavar="REGION", help="for --iam: the stack's region")
    transform.add_argument("--account", help="for --iam: the stack's account")
    transform.add_argument("--stack", help="for --iam: the stack's name")
    transform.add_argument("--partition", default="aws", help="for --iam: aws, aws-cn or aws-us-gov")
    transform.add_argument("--application", default="strongref", help="for --iam: the stack that strongref runs in")
    repeatable(transform, "--parameter", "for --iam: a parameter of the template; repeatable", metavar="NAME=VALUE")
    transform.set_defaults(run="transform:transform_template", extra="manifests")


_COMMANDS = (
    _install, _list, _who, _graph, _order, _check, _doctor, _release, _republish,
    _lookup, _objects, _refs, _resolve, _transform, _completion,
)  # fmt: skip
"""In the order in which the help lists them."""
