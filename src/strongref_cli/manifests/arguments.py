"""The options of `strongref resolve` and `refs`."""

from __future__ import annotations

import argparse

from strongref.contract.names import SHARED
from strongref_cli.terminal.options import (
    Commands,
    add_command,
    add_flag,
    add_options,
    add_output,
    add_profile,
    add_region,
    add_role,
    repeatable,
)
from strongref_manifests.tokens import ON_DEMAND

CLAIM, HOLD, UNCLAIM = "--claim", "--hold", "--unclaim"

ROLE_NAME = "strongref-references"
"""The default name of the ClusterRole; different from a controller's own role, which it would replace."""


def _manifests(command: argparse.ArgumentParser) -> None:
    """The manifests that a command reads, where it writes them, and the cluster that it may read."""
    command.add_argument("manifest", nargs="*", help="files, folders of *.yaml, *.yml and *.json, or - alone")
    where = command.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FOLDER", help="the folder to write to")
    add_flag(where, "--in-place", "overwrite the manifests")
    add_flag(where, "--check", "resolve everything, and write nothing")
    command.add_argument("--kubeconfig", metavar="FILE", help="the kubeconfig; by default kubectl's")
    command.add_argument("--context", help="the kubeconfig's context; by default the current one")


_CLAIM_HELP = "claim the exports in use, and release those no longer in use"
_HOLD_HELP = "with --claim: also create hold stacks in the producers' regions"


def add_refs(commands: Commands) -> None:
    refs = add_command(commands, "refs", "resolve and list the reference fields of ACK manifests")
    below = refs.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    repeatable(common, "--generator", "a controller's generator.yaml", metavar="FILE")
    common.add_argument("--service", help="the controller's service; by default from its folder")
    repeatable(common, "--crd", "files or folders with CRDs", metavar="FILE")
    _refs_resolve(below, common)
    fields = add_command(below, "fields", "list all reference fields, and what they refer to", parents=[common])
    add_output(fields)
    fields.set_defaults(run="manifests.refs:list_fields", extra="refs")
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
    resolve.add_argument(CLAIM, metavar="NAME", help=_CLAIM_HELP)
    add_flag(resolve, HOLD, _HOLD_HELP)
    add_flag(resolve, "--sensitive", "also write secret exports")
    add_region(resolve, "the region of references that name none")
    add_options(resolve, add_role, add_profile)
    resolve.set_defaults(run="manifests.refs:resolve_references", extra="refs")


def add_resolve(commands: Commands) -> None:
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
    claims.add_argument(CLAIM, metavar="NAME", help=_CLAIM_HELP)
    claims.add_argument(UNCLAIM, metavar="NAME", help="release everything that NAME claims; takes no manifests")
    add_flag(resolve, HOLD, _HOLD_HELP)
    add_region(resolve, "the region of tokens that name none")
    add_options(resolve, add_role, add_profile)
    resolve.set_defaults(run="manifests.resolve:resolve_tokens", extra="manifests")
