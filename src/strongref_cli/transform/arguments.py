"""The options of `strongref transform`."""

from __future__ import annotations

from strongref_cli.terminal.options import Commands, Once, add_command, repeatable
from strongref_cli.transform.permissions import Principal


def add_transform(commands: Commands) -> None:
    transform = add_command(commands, "transform", "print a template as the macro StrongRef transforms it")
    transform.add_argument("template", metavar="TEMPLATE", help="the template; - for standard input")
    where = transform.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    where.add_argument("--check", action="store_true", help="report errors, and write nothing")
    where.add_argument(
        "--iam",
        choices=[each.value for each in Principal],
        help="print the IAM policy of this principal instead",
    )
    of_policy = transform.add_argument_group("with --iam")
    of_policy.add_argument("--region", action=Once, metavar="REGION", help="the stack's region")
    of_policy.add_argument("--account", help="the stack's account")
    of_policy.add_argument("--stack", help="the stack's name")
    of_policy.add_argument("--partition", default="aws", help="the partition: aws, aws-cn or aws-us-gov")
    of_policy.add_argument("--application", default="strongref", help="the name of strongref's own stack")
    repeatable(of_policy, "--parameter", "a template parameter; repeatable", metavar="NAME=VALUE")
    transform.set_defaults(run="transform.command:transform_template", extra="manifests")
