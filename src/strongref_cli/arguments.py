"""The command line: every command with its options, and the function that runs it.

Commands import boto3, ruamel.yaml and more. Nothing here does, so that `--help` answers at once: a parser names its
function as `module:function`, and `strongref_cli.main` imports that module of this package when the command runs.
"""

from __future__ import annotations

import argparse

from strongref import __version__
from strongref.contract.names import SHARED
from strongref_cli.overview.states import STATES
from strongref_cli.terminal.options import (
    Commands,
    Parser,
    add_account,
    add_command,
    add_dry_run,
    add_flag,
    add_options,
    add_output,
    add_profile,
    add_region,
    add_regions,
    add_role,
    add_yes,
    repeatable,
)
from strongref_cli.transform.permissions import Principal
from strongref_manifests.tokens import ON_DEMAND

CONTEXT_FILE = "strongref.context.json"
"""As in `strongref_objects.synthesis.context_file`, which takes too long to import here."""

ROLE_NAME = "strongref-references"
"""The default name of the ClusterRole; different from a controller's own role, which it would replace."""

_FOLLOWS = "It begins in the given regions, and follows references to others."
_CLAIM_HELP = "claim the exports in use, and release those no longer in use"
_HOLD_HELP = "with --claim: also create hold stacks in the producers' regions"


def parser() -> argparse.ArgumentParser:
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


def _install(commands: Commands) -> None:
    """`install`, `status` and `uninstall`."""
    install = add_command(commands, "install", "install or upgrade the functions in regions")
    status = add_command(commands, "status", "show which version each region has, and what differs")
    uninstall = add_command(commands, "uninstall", "remove the functions from regions, unless stacks need them")
    bucket = "use the existing buckets PREFIX-REGION; by default, it creates strongref-ACCOUNT-REGION"
    install.add_argument("--bucket", metavar="PREFIX", help=bucket)
    source = "install the release in this folder; by default, what pip has installed"
    install.add_argument("--from", dest="release", metavar="FOLDER", help=source)
    repeatable(install, "--parameter", "a parameter of the template", metavar="NAME=VALUE")
    repeatable(install, "--tag", "a tag of the stack", metavar="NAME=VALUE")
    add_flag(install, "--force", "also replace a newer version")
    uninstall.add_argument("--bucket", metavar="PREFIX", help="the prefix, if install had one")
    add_flag(uninstall, "--purge", "also delete the code, and the buckets that install created")
    add_options(uninstall, add_yes, add_dry_run)
    add_dry_run(install)
    for command, function in ((install, "install_suite"), (status, "show_status"), (uninstall, "uninstall_suite")):
        command.add_argument("--stack", default="strongref", help="the stack's name; by default strongref")
        add_options(command, add_regions, add_output, run=f"install.commands:{function}")


def _trust(commands: Commands) -> None:
    trust = add_command(
        commands,
        "trust",
        "let another account export values into this account",
        epilog="It deploys a role for all regions. That account then lists this one in its ExportAccounts.",
    )
    trust.add_argument("producer", metavar="PRODUCER", help="the ID of that account")
    what = trust.add_mutually_exclusive_group()
    add_flag(what, "--remove", "delete its stack again")
    add_flag(what, "--template", "only print the template")
    repeatable(trust, "--parameter", "a parameter of the template", metavar="NAME=VALUE")
    add_options(trust, add_region, add_profile, add_yes, add_output, run="install.trust:trust_account")


def _list(commands: Commands) -> None:
    exports = add_command(commands, "list", "list exports and who imports them")
    add_regions(exports)
    exports.add_argument("--stack", help="only exports of this stack")
    exports.add_argument("--consumer", help=f"only exports for this consumer; {SHARED} for shared exports")
    exports.add_argument("--importer", help="only exports that this stack imports")
    exports.add_argument("--state", choices=STATES, help="only exports or imports in this state")
    add_options(exports, add_role, add_output, run="overview.commands:list_exports")


def _who(commands: Commands) -> None:
    reads = "It also reads every region that the stack exports to."
    who = add_command(commands, "who", "show who imports a stack's exports, and what it imports", epilog=reads)
    who.add_argument("stack", metavar="STACK", help="the stack, or a manifest set")
    who.add_argument("key", metavar="KEY", nargs="?", help="only this export, or everything in the map of this name")
    add_options(who, add_regions, add_role, add_output, run="overview.commands:show_who")


def _graph(commands: Commands) -> None:
    graph = add_command(commands, "graph", "draw all stacks and their references", epilog=_FOLLOWS)
    formats = ("html", "mermaid", "dot", "json")
    default = "the output format; by default from the file's name, or mermaid"
    graph.add_argument("--output", choices=formats, help=default)
    graph.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    add_options(graph, add_regions, add_role, run="graph.command:show_graph")


def _order(commands: Commands) -> None:
    order = add_command(commands, "order", "show the order in which to deploy or delete stacks", epilog=_FOLLOWS)
    add_flag(order, "--delete", "show the order of deletion")
    order.add_argument("--format", choices=("sh",), help="print commands that deploy the outdated importers")
    add_options(order, add_regions, add_role, add_output, run="graph.command:show_order")


def _check(commands: Commands) -> None:
    reads = "To compare values, it reads all exports of the stack, and decrypts secure ones."
    summary = "predict what a deployment changes and whether strongref refuses it"
    check = add_command(commands, "check", summary, epilog=reads)
    check.add_argument("--stack", metavar="NAME", help="the stack to create or update")
    what = check.add_mutually_exclusive_group(required=True)
    what.add_argument("--template", metavar="FILE", help="its new template; - for standard input")
    what.add_argument("--change-set", metavar="NAME", help="a change set of the stack")
    what.add_argument("--delete", metavar="STACK", help="the stack to delete")
    what.add_argument("--stacks", metavar="FILE", help="a YAML list of stacks with their templates")
    given = "the template's parameters, or files of them (JSON, samconfig.toml); others keep their values, or defaults"
    names = ("--parameters", "--parameter-overrides")
    check.add_argument(*names, nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=given)
    add_region(check)
    assume = "the template of a stack NAME that comes first"
    check.add_argument("--assume", action="append", default=[], metavar="[NAME=]FILE", help=assume)
    add_flag(check, "--github", "annotate the templates in GitHub Actions")
    add_flag(check, "--create-change-set", "create a change set, read it and delete it")
    add_flag(check, "--new", "the template creates the stack")
    add_flag(check, "--strict", "also fail if something is unknown, or the stack does not exist")
    add_options(check, add_role, add_profile, add_output, run="check.command:check_deployment", extra="check")


def _doctor(commands: Commands) -> None:
    doctor = add_command(commands, "doctor", "find what is wrong in stored data, and repair what is safe")
    add_regions(doctor)
    add_flag(doctor, "--fix", "show the findings, then repair what is safe")
    add_options(doctor, add_yes, add_output, run="doctor.command:examine")


def _release(commands: Commands) -> None:
    release = add_command(
        commands,
        "release",
        "release a stack's claim on an export",
        epilog="The stack may still use the export, so the command first shows what may break. It stores who released "
        "the claim, and why, for 90 days.",
    )
    release.add_argument("stack", metavar="STACK", help="the stack that exports it")
    release.add_argument("key", metavar="KEY", help="the export, or everything in the map of this name")
    consumer = "the importing stack: NAME, NAME@REGION or its ARN; manifests:NAME for a manifest set"
    release.add_argument("--consumer", required=True, help=consumer)
    release.add_argument("--reason", required=True, help="why you release it; stored for 90 days")
    add_options(release, add_dry_run, add_yes, add_regions, add_output, run="doctor.releasing:release_claim")


def _forget(commands: Commands) -> None:
    forget = add_command(
        commands,
        "forget",
        "give up a region or an account that a stack exports to, and that is out of reach",
        epilog="Then the stack can drop it, or be deleted, without it. While the function reaches it, the mark does "
        "not count. Without --stack, the command deletes what an account has published here, unless an import claims "
        "it. It stores who did that, and when, for 90 days.",
    )
    forget.add_argument(
        "gone", metavar="REGION|ACCOUNT", help="the region, or the ID of the other account, that is out of reach"
    )
    forget.add_argument("--stack", metavar="STACK", help="the stack that exports to it; required for a region")
    add_region(forget, "the region of the stack, or of what the account has published")
    add_options(forget, add_profile, add_dry_run, add_yes, add_output, run="doctor.forget_command:forget_region")


def _republish(commands: Commands) -> None:
    republish = add_command(commands, "republish", "restore deleted values from their records")
    republish.add_argument("stack", metavar="STACK", help="the stack that exports them")
    republish.add_argument("--key", help="only this export, or everything in the map of this name")
    add_options(republish, add_dry_run, add_yes, add_regions, add_output, run="doctor.republishing:republish_exports")


def _selftest(commands: Commands) -> None:
    selftest = add_command(
        commands,
        "selftest",
        "prove on real stacks that everything works in this account",
        epilog="Give the producers' region first, then the consumers'. It removes everything that it has created.",
    )
    repeatable(selftest, "--region", "the region; twice for references between two", metavar="REGION")
    add_profile(selftest)
    role = "a role of another account, to export to that one as well"
    selftest.add_argument("--account-role", metavar="ARN", help=role)
    repeatable(selftest, "--only", "only this check or probe; another name lists them", metavar="CHECK")
    what = selftest.add_mutually_exclusive_group()
    add_flag(what, "--quick", "only what takes 8 minutes")
    add_flag(what, "--policy", "only print the permissions that it needs")
    clean = "only remove what a run has left, or all runs"
    what.add_argument("--clean", metavar="RUN", nargs="?", const="", help=clean)
    add_options(selftest, add_yes, add_output, run="selftest.command:selftest")


def _lookup(commands: Commands) -> None:
    lookup = add_command(
        commands,
        "lookup",
        "print a resource's primary identifier, or its attributes",
        epilog="For scripts, --output table prints only the identifier on one line, or with --attribute only the "
        "values, one per line.",
    )
    of_type = "the resource type, such as AWS::S3::Bucket; not needed with --arn if the ARN shows it"
    lookup.add_argument("type", metavar="TYPE", nargs="?", help=of_type)
    lookup.add_argument("physical_id", metavar="PHYSICAL_ID", nargs="?", help="the physical ID in CloudFormation")
    lookup.add_argument("--arn", help="the ARN, instead of the physical ID")
    lookup.add_argument("--name", help="the name in its service, instead of the physical ID")
    repeatable(lookup, "--tag", "a tag, instead of the physical ID", metavar="KEY=VALUE")
    repeatable(lookup, "--property", "a property that must match", metavar="NAME=VALUE")
    repeatable(lookup, "--attribute", "print this attribute, such as Endpoint.Address", metavar="NAME")
    add_options(lookup, add_region, add_account, add_profile, add_output, run="lookup:look_up")


def _objects(commands: Commands) -> None:
    objects = add_command(commands, "objects", "list and print exported objects")
    below = objects.add_subparsers(required=True, metavar="COMMAND")
    every = add_command(below, "list", "list objects and their keys")
    add_options(every, add_regions, _channel, add_output, run="objects.commands:list_objects")
    show = add_command(below, "show", "print one object as a tree")
    export = add_command(below, "export", "print one object as JSON or as shell variables")
    for each in (show, export):
        each.add_argument("name", metavar="NAME", help="the object's name")
        each.add_argument("--type", help="its type: Bucket, or MODULE:CLASS; by default from its keys")
        add_options(each, add_region, add_profile, _channel)
        add_flag(each, "--sensitive", "also print the values of SecureStrings")
    show.set_defaults(run="objects.commands:show_object")
    export.add_argument("--format", choices=("json", "env"), required=True, help="the output format")
    export.add_argument("--name", dest="variables", metavar="PREFIX", help="the variables' prefix; by default NAME")
    export.set_defaults(run="objects.commands:export_object")
    context = add_command(below, "context", "list what lookups stored in the context file, or remove it")
    context.add_argument("--file", help=f"the file; by default {CONTEXT_FILE}")
    add_output(context)
    remove = context.add_mutually_exclusive_group()
    remove.add_argument("--reset", nargs="+", metavar="NAME", help="remove these objects or values")
    add_flag(remove, "--clear", "remove everything that strongref stored")
    context.set_defaults(run="objects.commands:show_context")


def _channel(command: argparse.ArgumentParser) -> None:
    channels, summary = ("cloudformation", "strongref", "ssm"), "the channel; by default the first of these"
    command.add_argument("--via", choices=channels, default=channels[0], help=summary)
    add_account(command)
    whose = f"via strongref: only exports for this consumer; {SHARED} for shared exports"
    command.add_argument("--consumer", help=whose)
    command.add_argument("--stack", help="not via ssm: only exports of this stack")
    command.add_argument("--prefix", help="via ssm: the prefix, such as /shared/network")


def _manifests(command: argparse.ArgumentParser) -> None:
    """The manifests that a command reads, where it writes them, and the cluster that it may read."""
    command.add_argument("manifest", nargs="*", help="files, folders of *.yaml, *.yml and *.json, or - alone")
    where = command.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FOLDER", help="the folder to write to")
    add_flag(where, "--in-place", "overwrite the manifests")
    add_flag(where, "--check", "resolve everything, and write nothing")
    command.add_argument("--kubeconfig", metavar="FILE", help="the kubeconfig; by default kubectl's")
    command.add_argument("--context", help="the kubeconfig's context; by default the current one")


def _refs(commands: Commands) -> None:
    refs = add_command(commands, "refs", "resolve and list the reference fields of ACK manifests")
    below = refs.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    repeatable(common, "--generator", "a controller's generator.yaml", metavar="FILE")
    common.add_argument("--service", help="the controller's service; by default from its folder")
    repeatable(common, "--crd", "files or folders with CRDs", metavar="FILE")
    _refs_resolve(below, common)
    fields = add_command(below, "fields", "list all reference fields, and what they refer to", parents=[common])
    add_options(fields, add_output, run="manifests.refs:list_fields", extra="refs")
    rbac = add_command(below, "rbac", "write the ClusterRole for reading referenced objects", parents=[common])
    rbac.add_argument("--name", default=ROLE_NAME, help=f"the ClusterRole's name; by default {ROLE_NAME}")
    add_flag(rbac, "--all", "include what the controllers' roles allow")
    rbac.set_defaults(run="manifests.refs:print_role", extra="refs")
    schema = add_command(below, "schema", "write what reference fields add to the CRDs' schemas", parents=[common])
    schema.set_defaults(run="manifests.refs:print_schema", extra="refs")


def _refs_resolve(commands: Commands, common: argparse.ArgumentParser) -> None:
    resolve = add_command(
        commands, "resolve", "write manifests with values in place of their references", parents=[common]
    )
    _manifests(resolve)
    source = resolve.add_mutually_exclusive_group()
    repeatable(source, "--from", "files or folders with referenced objects", dest="others", metavar="MANIFEST")
    add_flag(source, "--cluster", "read referenced objects from the cluster")
    resolve.add_argument("-n", "--namespace", help="the namespace of objects that name none; by default the context's")
    add_flag(resolve, "--conditions", "print each object's condition as a JSON object")
    resolve.add_argument("--consumer", default=SHARED, help=f"the exports' consumer; by default {SHARED}")
    resolve.add_argument("--claim", metavar="NAME", help=_CLAIM_HELP)
    add_flag(resolve, "--hold", _HOLD_HELP)
    add_flag(resolve, "--sensitive", "also write secret exports")
    add_region(resolve, "the region of references that name none")
    add_options(resolve, add_role, add_profile, run="manifests.refs:resolve_references", extra="refs")


def _resolve(commands: Commands) -> None:
    resolve = add_command(commands, "resolve", "write manifests with values in place of their tokens")
    _manifests(resolve)
    add_flag(resolve, "--strict", "also fail for text that resembles a token")
    repeatable(resolve, "--with", f"also resolve {', '.join(ON_DEMAND)}", dest="schemes", metavar="SCHEME")
    states = "a Terraform state: a file or s3://…; NAME=… for several"
    resolve.add_argument("--tf", action="append", default=[], metavar="STATE", help=states)
    add_flag(resolve, "--sensitive", "also write SecureStrings and sensitive Terraform values")
    repeatable(resolve, "--allow", "also write this sensitive Terraform value", metavar="ADDRESS")
    resolve.add_argument("--consumer", default=SHARED, help=f"the exports' consumer; by default {SHARED}")
    claims = resolve.add_mutually_exclusive_group()
    claims.add_argument("--claim", metavar="NAME", help=_CLAIM_HELP)
    claims.add_argument("--unclaim", metavar="NAME", help="release everything that NAME claims; takes no manifests")
    add_flag(resolve, "--hold", _HOLD_HELP)
    add_region(resolve, "the region of tokens that name none")
    add_options(resolve, add_role, add_profile, run="manifests.resolve:resolve_tokens", extra="manifests")


def _transform(commands: Commands) -> None:
    transform = add_command(commands, "transform", "print a template as the macro StrongRef transforms it")
    transform.add_argument("template", metavar="TEMPLATE", help="the template; - for standard input")
    where = transform.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    add_flag(where, "--check", "report errors, and write nothing")
    where.add_argument("--iam", choices=list(Principal), help="print the IAM policy of this principal instead")
    of_policy = transform.add_argument_group("with --iam")
    add_region(of_policy, "the stack's region")
    of_policy.add_argument("--account", help="the stack's account")
    of_policy.add_argument("--stack", help="the stack's name")
    of_policy.add_argument("--partition", help="the partition: aws, aws-cn or aws-us-gov; by default the region's")
    of_policy.add_argument("--application", default="strongref", help="the name of strongref's own stack")
    repeatable(of_policy, "--parameter", "a template parameter", metavar="NAME=VALUE")
    transform.set_defaults(run="transform.command:transform_template", extra="manifests")


def _completion(commands: Commands) -> None:
    """`completion` and `version`."""
    completion = add_command(commands, "completion", "print a completion script for a shell")
    shells = ("bash", "zsh", "fish")
    completion.add_argument("shell", metavar="SHELL", choices=shells, help="the shell: bash, zsh or fish")
    completion.set_defaults(run="completion:print_script")
    add_command(commands, "version", "print the version").set_defaults(run="completion:print_version")


_COMMANDS = (
    _install, _trust, _list, _who, _graph, _order, _check, _doctor, _release, _forget, _republish,
    _selftest, _lookup, _objects, _resolve, _refs, _transform, _completion,
)  # fmt: skip
"""In the order in which the help lists them."""
