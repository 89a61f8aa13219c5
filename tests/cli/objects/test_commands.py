"""`strongref objects`: what it lists, shows and gives to scripts, channel by channel, and how it ends if it cannot."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

import strongref_cli as cli
from strongref.aws.clients import Clients
from strongref.aws.parameter_store import SsmStore
from strongref.errors import AccessDeniedError
from strongref.protocol.published import RecordedExports
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.channels.cloudformation import StackExport
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.stored_objects import StoredObject, objects_of_cloudformation
from strongref_objects.synthesis.context_file import CONTEXT_FILE, ContextFile, ContextKey
from strongref_objects.types import ApplicationLoadBalancer, Bucket, Key, Listener, SecurityGroup, Subnets, Vpc
from strongref_toolkit.session import ToolSession
from tests.support.deployed_objects import deploy, export
from tests.support.documents import ROOT
from tests.support.fake_cloudcontrol import limiter
from tests.support.fake_ssm import FakeClock
from tests.support.schemas import messages, validate
from tests.support.watched import EU, HIDDEN, OWN, US, in_moto

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref.contract.values import Parameter
    from tests.support.commands import Run

BUCKET = Bucket("arn:aws:s3:::assets", "assets")
BALANCER = ApplicationLoadBalancer(
    load_balancer_arn="arn:alb",
    load_balancer_dns_name="web.example.com",
    load_balancer_canonical_hosted_zone_id="Z1",
    security_group=SecurityGroup("sg-1"),
    listener=Listener("arn:listener"),
)
VPC = Vpc("vpc-1", isolated_subnets=Subnets(["subnet-1", "subnet-2"], ["a", "b"], ["rtb-1", "rtb-2"]))
LONG, KEY = "A" * 249, Key("arn:key", "key")


@pytest.fixture(scope="module", autouse=True)
def aws() -> Iterator[None]:
    """Objects in CloudFormation's exports, in strongref's and in parameters, by two stacks."""
    with pytest.MonkeyPatch.context() as patch:
        # The same for all tests: clients take time to be made.
        tools = ToolSession(Clients(boto3.Session()), limiter(), FakeClock())
        patch.setattr(ToolSession, "start", lambda _, **_more: tools)
        for _ in in_moto(patch, EU):
            for name in ("network", "other"):
                target = PlainTarget(name, EU, OWN)
                stack = Stack(target)
                stack.export_object("Twice", BUCKET, via=CrossRegion())
                if name == "network":
                    _export_all(stack)
                deploy(target)
            yield


def _export_all(stack: Stack) -> None:
    for via in (CloudFormation(), CrossRegion(), CrossRegion(regions=[US], consumer="web"), Parameters("/shared")):
        stack.export_object("JohnnyBucket", BUCKET, via=via)
        stack.export_object("Web", BALANCER, via=via)
        stack.export_object("Net", VPC, via=via)
        stack.export_string("Single", "alone", via=via)
    stack.export_object(LONG, KEY)


@pytest.fixture
def run(command_line: Run) -> Run:
    return partial(command_line, "objects")


VIA = {
    "cloudformation": ["--via", "cloudformation"],
    "strongref": ["--via", "strongref"],
    "ssm": ["--via", "ssm", "--prefix", "/shared"],
}


def table(out: str) -> list[list[str]]:
    """The cells of a printed table, without its head and the note below it."""
    _, *lines, _ = out.splitlines()
    return [re.split(" {2,}", line) for line in lines]


def test_list_tells_the_objects_of_cloudformations_exports_and_their_keys(run: Run) -> None:
    status, out, err = run("list", "--stack", "network")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["REGION", "OBJECT", "KEY", "FROM"]
    lines = table(out)
    origin = "CloudFormation's exports of stack network"
    assert [EU, "JohnnyBucket", "BucketArn", origin] in lines
    at = lines.index([EU, "Web", "Listener.ListenerArn", origin])
    assert lines[at + 1 : at + 5] == [
        ["", "LoadBalancerArn"],
        ["", "LoadBalancerCanonicalHostedZoneId"],
        ["", "LoadBalancerDnsName"],
        ["", "SecurityGroup.SecurityGroupId"],
    ]
    assert out.splitlines()[-1] == f"{sum(row[0] == EU for row in lines)} objects in {EU}."
    assert "Single" not in out  # A string is no object.
    assert "assets" not in out


@pytest.mark.parametrize(
    ("via", "origin", "stacks", "consumer"),
    [
        ("cloudformation", "CloudFormation's exports of stack network", ["network"], None),
        ("strongref", f"exports of stack network ({EU}, {OWN}) to _shared", ["network"], "_shared"),
        ("ssm", "parameters below /shared", [], None),
    ],
)
def test_list_gives_a_document_for_every_channel(
    run: Run, via: str, origin: str, stacks: list[str], consumer: str | None
) -> None:
    status, out, _ = run("list", *VIA[via], "--output", "json")
    document = json.loads(out)
    validate("objects-list", document)
    assert (status, document["via"], document["regions"]) == (0, via, [EU])
    found = {each["name"]: each for each in document["objects"]}
    assert found["JohnnyBucket"] == {
        "region": EU,
        "name": "JohnnyBucket",
        "stacks": stacks,
        "consumer": consumer,
        "from": origin,
        "keys": ["BucketArn", "BucketName"],
    }
    assert {"JohnnyBucket", "Net", "Web"} <= set(found)


def test_the_document_of_a_list_tells_consumers_apart(run: Run) -> None:
    _, out, _ = run("list", "--via", "strongref", "--region", EU, "--region", US, "--output", "json")
    document = json.loads(out)
    validate("objects-list", document)
    assert document["regions"] == [EU, US]
    found = [each for each in document["objects"] if each["name"] == "JohnnyBucket"]
    assert [(each["region"], each["consumer"]) for each in found] == [(EU, "_shared"), (US, "web")]


def test_list_as_markdown_is_a_table(run: Run) -> None:
    _, out, _ = run("list", *VIA["ssm"], "--output", "markdown")
    assert out.splitlines()[:4] == [
        "| REGION | OBJECT | KEY | FROM |",
        "| --- | --- | --- | --- |",
        f"| {EU} | JohnnyBucket | BucketArn | parameters below /shared |",
        "|  |  | BucketName |  |",
    ]


@pytest.mark.parametrize("command", [["list"], ["show", "Web"], ["export", "Web", "--format", "json"]])
def test_progress_is_shown_on_a_terminal(run: Run, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run(*command)[1]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    status, out, err = run(*command)
    assert (status, out) == (0, plain)
    assert "Reading objects" in err


def test_list_goes_through_regions_and_tells_consumers_apart(run: Run) -> None:
    _, out, _ = run("list", "--via", "strongref", "--region", EU, "--region", US)
    assert [row for row in table(out) if "JohnnyBucket" in row] == [
        [EU, "JohnnyBucket", "BucketArn", f"exports of stack network ({EU}, {OWN}) to _shared"],
        [US, "JohnnyBucket", "BucketArn", f"exports of stack network ({EU}, {OWN}) to web"],
    ]
    assert out.splitlines()[-1].endswith(f" objects in {EU} and {US}.")


@pytest.mark.parametrize(
    "command", [["list"], ["show", "Web"], ["export", "Web", "--format", "json"]], ids=lambda it: it[0]
)
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ["--via", "strongref", "--region", US, "--consumer", "_shared"],
            "--consumer '_shared'. Known names: web. Check the name",
        ),
        (["--via", "strongref", "--region", US, "--stack", "nobody"], "--stack 'nobody'. Known names: network. Check"),
        (["--via", "strongref", "--region", US, "--stack", "netwrok"], "--stack 'netwrok'. Did you mean network?"),
        (["--stack", "netwrok"], "--stack 'netwrok'. Did you mean network?"),
    ],
)
def test_a_stack_or_consumer_that_does_not_exist_is_an_error(
    run: Run, command: list[str], options: list[str], problem: str
) -> None:
    status, out, err = run(*command, *options)
    assert (status, out) == (2, "")
    assert err.startswith("strongref: Nothing in ")
    assert problem in err


def test_a_stack_that_exports_no_object_has_none(run: Run) -> None:
    boto3.client("ssm", EU).put_parameter(
        Name=f"/strongref/exports/_shared/{OWN}/{EU}/plain/Single", Type="String", Value="x"
    )
    assert run("list", "--via", "strongref", "--stack", "plain") == (0, f"No objects in {EU}.\n", "")


@pytest.mark.parametrize("via", ["cloudformation", "strongref"])
def test_all_regions_are_read(run: Run, via: str) -> None:
    _, out, _ = run("list", "--all-regions", "--via", via, "--output", "json")
    document = json.loads(out)
    assert {EU, US} < set(document["regions"])
    assert document["objects"]


def test_a_region_that_cannot_be_read_is_named_and_the_others_are_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    under = SsmStore.under

    def denied(store: SsmStore, path: str, *, decrypted: bool = True) -> dict[str, Parameter]:
        if store.region == US:
            raise AccessDeniedError("GetParametersByPath", "AccessDenied", path, US)
        return under(store, path, decrypted=decrypted)

    monkeypatch.setattr(SsmStore, "under", denied)
    both = ["list", "--via", "strongref", "--region", US, "--region", EU]
    status, out, err = run(*both, "--output", "json")
    document = json.loads(out)
    validate("objects-list", document)
    assert (status, document["regions"], [each["region"] for each in document["unread"]]) == (3, [EU], [US])
    assert messages(err)[0].startswith(f"{US} was not read: GetParametersByPath of ")
    assert "JohnnyBucket" in out
    status, out, err = run("list", "--via", "strongref", "--region", US)
    assert (status, out, err.startswith("strongref: GetParametersByPath of ")) == (3, "", True)


def test_regions_are_read_side_by_side(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=20)

    def exports(*_: object) -> dict[str, object]:
        both.wait()
        return {}

    monkeypatch.setattr("strongref_cli.objects.commands.list_exports", exports)
    assert run("list", "--region", EU, "--region", US) == (0, f"No objects in {EU} and {US}.\n", "")


@pytest.mark.parametrize("via", VIA)
def test_show_is_a_tree(run: Run, via: str) -> None:
    status, out, err = run("show", "Web", *VIA[via])
    assert (status, err) == (0, "")
    assert out.splitlines()[1:] == [
        "  Listener:",
        "    ListenerArn: arn:listener",
        "  LoadBalancerArn: arn:alb",
        "  LoadBalancerCanonicalHostedZoneId: Z1",
        "  LoadBalancerDnsName: web.example.com",
        "  SecurityGroup:",
        "    SecurityGroupId: sg-1",
    ]


@pytest.mark.parametrize("via", VIA)
def test_lists_are_lists_where_the_channel_or_the_type_tells(run: Run, via: str) -> None:
    _, out, _ = run("show", "Net", *VIA[via], "--type", "vpc")
    expected = ["    SubnetIds:", "      - subnet-1", "      - subnet-2"]
    at = out.splitlines().index(expected[0])
    assert out.splitlines()[at : at + 3] == expected
    _, out, _ = run("show", "Net", *VIA[via])
    assert ("    SubnetIds: subnet-1,subnet-2" in out.splitlines()) == (via == "cloudformation")


@pytest.mark.parametrize("via", VIA)
@pytest.mark.parametrize("more", [[], ["--type", "ApplicationLoadBalancer"]])
def test_export_gives_the_json_of_the_design(run: Run, via: str, more: list[str]) -> None:
    status, out, _ = run("export", "Web", "--format", "json", *VIA[via], *more)
    assert (status, json.loads(out)) == (
        0,
        {
            "loadBalancerArn": "arn:alb",
            "loadBalancerDnsName": "web.example.com",
            "loadBalancerCanonicalHostedZoneId": "Z1",
            "securityGroup": {"securityGroupId": "sg-1"},
            "listener": {"listenerArn": "arn:listener"},
        },
    )


@pytest.mark.parametrize("via", VIA)
def test_export_gives_variables_under_the_objects_name_or_another_one(run: Run, via: str) -> None:
    assert run("export", "JohnnyBucket", "--format", "env", *VIA[via]) == (
        0,
        "export JOHNNY_BUCKET_BUCKET_ARN=arn:aws:s3:::assets\nexport JOHNNY_BUCKET_BUCKET_NAME=assets\n",
        "",
    )
    _, out, _ = run("export", "Net", "--format", "env", "--name", "My", "--type", "Vpc", *VIA[via])
    assert "export MY_ISOLATED_SUBNETS_SUBNET_IDS=subnet-1,subnet-2" in out.splitlines()


NASTY = [
    *("'; touch /tmp/x; '", '"$(id)"', "`id`", "a\nb", "$HOME", "\\", "!x", "*", "~", "ü", "a\tb", " a ", "--", "#"),
    *("a'b", "\n", "x\r\ny", "\x1b[2J", "\x7f", "export A=1; exit 1", "'\"'", "(", "{a,b}", "<x", ">x", "|", "&"),
]


def test_whatever_the_values_are_evaluating_them_sets_them_and_does_nothing_else(run: Run, tmp_path: Path) -> None:
    parameters = boto3.client("ssm", EU)
    for number, value in enumerate(NASTY):
        parameters.put_parameter(Name=f"/nasty/Odd/V{number}", Type="String", Value=value)
    status, out, _ = run("export", "Odd", "--format", "env", "--via", "ssm", "--prefix", "/nasty")
    assert status == 0
    printing = "; ".join(f'printf "%s\\0" "$ODD_V{number}"' for number in range(len(NASTY)))
    done = subprocess.run(  # noqa: S603 (it is what is tested)
        ["/bin/sh", "-c", f'eval "$1"; {printing}; env | grep -c ^ODD_', "sh", out],
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    *values, count = done.stdout.split(b"\0")
    assert [value.decode() for value in values] == NASTY
    assert int(count) == len(NASTY)
    assert (done.stderr, list(tmp_path.iterdir())) == (b"", [])


def test_what_would_be_a_command_to_a_terminal_is_shown_quoted(run: Run) -> None:
    boto3.client("ssm", EU).put_parameter(Name="/control/Odd/V", Type="String", Value="\x1b[2J")
    _, out, _ = run("show", "Odd", "--via", "ssm", "--prefix", "/control")
    assert out.splitlines() == ["Odd (parameters below /control)", '  V: "\\u001b[2J"']


def test_a_name_that_is_no_variables_is_refused(run: Run) -> None:
    for prefix in ("1", "1; id"):
        status, out, err = run("export", "JohnnyBucket", "--format", "env", "--name", prefix)
        assert (status, out) == (1, "")
        assert err.startswith(f"strongref: '{prefix}.BucketArn' is not a valid export name")
    _, out, _ = run("export", "JohnnyBucket", "--format", "env", "--name", "A=1;$(id)")
    assert out.splitlines()[0] == "export A_1_ID_BUCKET_ARN=arn:aws:s3:::assets"


@pytest.fixture
def _secret() -> None:
    """A part of an object that is a SecureString."""
    boto3.client("ssm", EU).put_parameter(Name="/shared/Db/Password", Type="SecureString", Value=HIDDEN, Overwrite=True)
    boto3.client("ssm", EU).put_parameter(Name="/shared/Db/Host", Type="String", Value="db", Overwrite=True)


@pytest.mark.usefixtures("_secret")
def test_secrets_are_given_only_where_that_is_asked_for(run: Run) -> None:
    there = ["Db", *VIA["ssm"]]
    assert HIDDEN not in run("list", *VIA["ssm"])[1]
    assert run("show", *there)[1].splitlines()[1:] == [
        "  Host: db",
        "  Password: (a SecureString: --sensitive shows it)",
    ]
    assert run("show", *there, "--sensitive")[1].splitlines()[2] == f"  Password: {HIDDEN}"
    for form in ("json", "env"):
        assert run("export", *there, "--format", form) == (
            1,
            "",
            "strongref: Password of Db is a SecureString. Use --sensitive to print secrets.\n",
        )
    assert json.loads(run("export", *there, "--format", "json", "--sensitive")[1])["password"] == HIDDEN


def test_secrets_of_strongrefs_exports_are_given_only_where_that_is_asked_for_too(run: Run) -> None:
    values = {"Values": {"Db": {"Host": "db", "Password": HIDDEN}}, "SecureKeys": ["Db/Password"], "Consumer": "safe"}
    export("databases", EU, "Exports", values)
    there = ["Db", "--via", "strongref", "--consumer", "safe"]
    assert run("show", *there)[1].splitlines()[1:] == [
        "  Host: db",
        "  Password: (a SecureString: --sensitive shows it)",
    ]
    assert run("export", *there, "--format", "env")[0] == 1
    assert json.loads(run("export", *there, "--format", "json", "--sensitive")[1])["password"] == HIDDEN


def test_an_object_that_is_not_there_names_the_closest(run: Run) -> None:
    text = (
        f"There is no JonnyBucket in CloudFormation's exports in {EU}. Did you mean JohnnyBucket? Deploy the stack "
        "that exports it first, or correct the name."
    )
    assert run("show", "JonnyBucket") == (1, "", f"strongref: {text}\n")
    status, out, err = run("export", "Single", "--format", "json", *VIA["strongref"])
    assert (status, out) == (1, "")
    assert "There is no Single in strongref's exports in eu-west-1." in err


def test_a_part_that_is_not_there_is_reported(run: Run) -> None:
    status, out, err = run("export", "JohnnyBucket", "--format", "json", "--type", "Queue")
    assert (status, out) == (1, "")
    assert "There is no JohnnyBucket.QueueArn in CloudFormation's exports of stack network." in err


def test_of_several_objects_of_one_name_one_has_to_be_chosen(run: Run) -> None:
    status, _, err = run("show", "Twice", "--via", "strongref")
    text = (
        f"There are several objects Twice: exports of stack network ({EU}, {OWN}) to _shared and exports of stack "
        f"other ({EU}, {OWN}) to _shared. Choose one with --stack or --consumer."
    )
    assert (status, err) == (1, f"strongref: {text}\n")
    assert run("show", "Twice", "--via", "strongref", "--stack", "other")[0] == 0


def test_hyphens_in_a_name_mean_nothing_to_cloudformation(run: Run) -> None:
    assert run("show", "Johnny-Bucket")[0] == 0
    assert run("show", "Johnny-Bucket", *VIA["ssm"])[0] == 1


def test_names_that_were_cut_need_the_type(run: Run) -> None:
    status, out, err = run("export", LONG, "--format", "json")
    found = json.loads(out)
    assert (status, found.pop("keyId"), list(found.values())) == (0, "key", ["arn:key"])
    assert err == "strongref: 1 name is cut and ends with a hash: use --type to restore the keys\n"
    status, out, err = run("export", LONG, "--format", "json", "--type", "Key")
    assert (status, json.loads(out), err) == (0, {"keyArn": "arn:key", "keyId": "key"}, "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", "X", "--type", "Bukket"], "--type must be a type such as Bucket, got Bukket"),
        (
            ["show", "JohnnyBucket", "--type", "nowhere.at:All"],
            "--type: nowhere.at cannot be imported: ModuleNotFoundError",
        ),
        (
            ["show", "JohnnyBucket", "--type", "json:dumps"],
            "--type: json:dumps must be a class with a method deserialize",
        ),
        (["list", "--prefix", "/x"], "--prefix is only for --via ssm, got --via cloudformation"),
        (
            ["list", "--via", "ssm", "--prefix", "/x", "--stack", "a"],
            "--stack is only for --via cloudformation or strongref, got --via ssm",
        ),
        (["list", "--consumer", "a"], "--consumer is only for --via strongref, got --via cloudformation"),
        (["list", "--via", "ssm"], "--via ssm needs --prefix, as in --prefix /shared/network"),
        (["list", "--via", "ssm", "--prefix", "shared"], "--prefix: 'shared' is not a valid prefix of parameters"),
        (
            ["show", "X", "--region", EU, "--region", US],
            "--region is given twice, and this command works in one region",
        ),
        (["show", "X", "--region", "eu-wset-1"], "'eu-wset-1' is not a region that this botocore knows. Did you mean"),
        (["list", "--region", "eu-wset-1"], "'eu-wset-1' is not a region that this botocore knows. Did you mean"),
    ],
)
def test_what_was_not_asked_rightly_is_reported(run: Run, arguments: list[str], problem: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"strongref: {problem}")


def test_an_object_of_another_account_needs_a_role(run: Run) -> None:
    status, _, err = run("list", "--account", "222222222222")
    assert status == 3
    assert err.startswith(
        "strongref: Account 222222222222 is not the caller's own. Give the role to assume in it: --role"
    )
    role = "arn:aws:iam::ACCOUNT:role/reader"
    nothing = (0, f"No objects in {EU}.\n", "")
    assert run("list", "--account", "222222222222", "--role", role) == nothing
    assert run("list", *VIA["strongref"], "--account", "222222222222", "--role", role) == nothing


def test_a_type_of_ones_own_is_one_of_a_module(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_types.py").write_text(
        "from strongref_objects.types import Declared, text\n\n\n"
        "class Named(Declared):\n    bucket_name: str = text()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    _, out, err = run("export", "JohnnyBucket", "--format", "json", "--type", "own_types:Named")
    assert (err, json.loads(out)) == ("", {"bucketName": "assets"})


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes a module of somebody's own; its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])

    def make(text: str) -> str:
        name = f"theirs_{tmp_path.name}_{len(list(tmp_path.iterdir()))}"
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return make


READING = "    @classmethod\n    def deserialize(cls, ctx):\n        print('reading')\n        "
LOUD = f"""
print("at once")

class Loud:
{READING}return cls()

    def serialize(self, ctx):
        print("export PATH=/nowhere")
        ctx.write_string("Url", "x")
"""


def test_what_a_programs_own_module_prints_is_not_evaluated(run: Run, module: Callable[[str], str]) -> None:
    status, out, err = run("export", "JohnnyBucket", "--format", "env", "--type", f"{module(LOUD)}:Loud")
    assert (status, out) == (0, "export JOHNNY_BUCKET_URL=x\n")
    assert err == "at once\nreading\nexport PATH=/nowhere\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("raise SystemExit(0)", "{module} cannot be imported: SystemExit"),
        (f"class Own:\n{READING}raise KeyError('{HIDDEN}')", "Own cannot be used: it raised KeyError"),
        (f"class Own:\n{READING}raise SystemExit('{HIDDEN}')", "Own cannot be used: it raised SystemExit"),
        (f"class Own:\n{READING}return cls()", "Own cannot be used: what it reads has no serialize"),
        (f"class Own:\n    serialize = 1\n{READING}return cls()", "Own cannot be used: what it reads has no serialize"),
        ("class Own:\n    def deserialize(self, ctx):\n        return 1", "Own cannot be used: it raised TypeError"),
        ("class Own:\n    deserialize = 'no'", "{module}:Own must be a class with a method deserialize"),
        (
            "def deserialize(_):\n    pass\n\nimport sys\nOwn = sys.modules[__name__]",
            "{module}:Own must be a class with a method",
        ),
    ],
)
def test_whatever_a_programs_own_class_ends_in_is_reported_without_its_text(
    run: Run, module: Callable[[str], str], text: str, problem: str
) -> None:
    name = module(text)
    for command in (["show", "JohnnyBucket"], ["export", "JohnnyBucket", "--format", "env"]):
        status, out, err = run(*command, "--type", f"{name}:Own")
        assert (status, out) == (2, "")
        assert f"strongref: --type: {problem.format(module=name)}" in err
        assert HIDDEN not in err


def test_the_documented_object_of_ones_own_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples/objects")
    monkeypatch.setattr("sys.path", [*sys.path])
    status, out, err = run("export", "Web", "--format", "env", "--type", "load_balancer:LoadBalancer")
    assert (status, out, err) == (
        0,
        "export WEB_LOAD_BALANCER_ARN=arn:alb\nexport WEB_SECURITY_GROUP_SECURITY_GROUP_ID=sg-1\n",
        "",
    )


@pytest.mark.usefixtures("_secret")
def test_a_type_that_has_no_secret_needs_none(run: Run, module: Callable[[str], str]) -> None:
    text = "from strongref_objects.types import Declared, text\n\n\nclass Own(Declared):\n    {}: str = text()\n"
    there = ["Db", *VIA["ssm"], "--format", "env", "--type"]
    assert run("export", *there, f"{module(text.format('host'))}:Own") == (0, "export DB_HOST=db\n", "")
    reported = "strongref: Password of Db is a SecureString. Use --sensitive to print secrets.\n"
    password = f"{module(text.format('password'))}:Own"
    assert run("export", *there, password) == (1, "", reported)
    assert run("export", *there, password, "--sensitive")[1] == f"export DB_PASSWORD={HIDDEN}\n"


@pytest.mark.usefixtures("_secret")
@pytest.mark.parametrize(
    ("arguments", "decrypted"),
    [
        (["list"], False),
        (["show", "Db"], False),
        (["export", "JohnnyBucket", "--format", "json"], False),
        (["show", "Db", "--sensitive"], True),
    ],
)
def test_secrets_are_decrypted_only_where_they_are_asked_for(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], *, decrypted: bool
) -> None:
    asked: list[bool] = []
    under = SsmStore.under

    def watched(store: SsmStore, path: str, *, decrypted: bool = True) -> dict[str, Parameter]:
        asked.append(decrypted)
        return under(store, path, decrypted=decrypted)

    monkeypatch.setattr(SsmStore, "under", watched)
    assert run(*arguments, *VIA["ssm"])[0] == 0
    assert asked == [decrypted]


def test_two_keys_that_would_be_one_are_reported(run: Run) -> None:
    parameters = boto3.client("ssm", EU)
    for name in ("a", "a/b", "a-b"):
        parameters.put_parameter(Name=f"/clash/Obj/{name}", Type="String", Value="x")
    there = ["--via", "ssm", "--prefix", "/clash"]
    for command in (["show", "Obj"], ["export", "Obj", "--format", "json"]):
        status, out, err = run(*command, *there)
        assert (status, out) == (1, "")
        assert err.startswith("strongref: 'a.b' and 'a-b' would both be written as a-b. Rename one of them.")
    assert [row[-1] for row in table(run("list", *there)[1])[1:]] == ["a.b", "a-b"]


def test_exports_that_are_no_objects_are_none() -> None:
    names = ["-lead", "dup--x", "end-", "-", "alone", "good-one"]
    assert [each.name for each in objects_of_cloudformation({name: StackExport("s", "v") for name in names})] == [
        "good"
    ]


def test_of_exports_of_several_stacks_one_stacks_are_chosen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    exports = {"Shared-A": StackExport("first", "a"), "Shared-B": StackExport("second", "b")}
    monkeypatch.setattr("strongref_cli.objects.commands.list_exports", lambda *_: exports)
    together = "Shared (CloudFormation's exports of stack first and second)"
    assert run("show", "Shared")[1].splitlines() == [together, "  A: a", "  B: b"]
    alone = "Shared (CloudFormation's exports of stack second)"
    assert run("show", "Shared", "--stack", "second")[1].splitlines() == [alone, "  B: b"]
    assert run("list", "--stack", "third")[2].startswith("strongref: Nothing in eu-west-1 matches --stack 'third'.")
    assert json.loads(run("list", "--output", "json")[1])["objects"][0]["stacks"] == ["first", "second"]


@pytest.mark.parametrize("arguments", [["list"], ["list", "--output", "json"], ["context"], ["show", "Web"]])
def test_a_standard_output_that_is_full_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, arguments: list[str]
) -> None:
    with capsys.disabled(), Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "stderr", errors := io.StringIO())
        more = ["--file", file] if arguments == ["context"] else []
        assert cli.main(["objects", *arguments, *more]) == 1
        monkeypatch.undo()
    assert "standard output could not be written: no space left on device" in errors.getvalue()


def test_what_the_locale_has_no_letters_for_is_listed_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ContextFile(tmp_path / "c.json").put(ContextKey("lookup", OWN, EU, "Vpc/AWS.EC2.VPC", "team=Größe"), "x")
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="ascii"))
    assert cli.main(["objects", "context", "--file", str(tmp_path / "c.json")]) == 0
    assert "team=Größe" in printed.getvalue().decode()


def test_a_part_that_is_an_object_is_no_text(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "flat_types.py").write_text(
        "from strongref_objects.types import Declared, text\n\n\n"
        "class Flat(Declared):\n    security_group: str = text()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    status, _, err = run("show", "Web", "--type", "flat_types:Flat")
    assert (status, err) == (1, "strongref: Web.SecurityGroup is an object: read it with read_object.\n")


def test_what_is_being_written_is_waited_for_and_then_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    torn = RecordedExports({}, torn=True, unreadable=True)
    monkeypatch.setattr(RecordedExports, "read", lambda _store, _place: torn)
    status, out, err = run("show", "Web", "--via", "strongref")
    assert (status, out) == (1, "")
    assert err.startswith(f"strongref: The exports of stack network ({EU}, {OWN}) are being changed")


def test_keys_below_a_key_stand_next_to_it() -> None:
    values = {("A",): "1", ("A", "B"): "2", ("A", "B", "C"): "3", ("D", "E"): "4"}
    assert StoredObject("X", "", values).tree == {"A": "1", "A-B": "2", "A-B-C": "3", "D": {"E": "4"}}


KEYS = [
    ContextKey("cloudformation", OWN, EU, "", "JohnnyBucket-BucketArn"),
    ContextKey("lookup", OWN, EU, "Vpc", "department=sales"),
    ContextKey("strongref", OWN, US, f"web/{OWN}/{EU}/network", "Web/LoadBalancerArn"),
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A context file with an entry of each kind."""
    for key in KEYS:
        ContextFile(tmp_path / "context.json").put(key, HIDDEN)
    return str(tmp_path / "context.json")


def test_context_tells_what_is_kept_and_no_values(run: Run, file: str) -> None:
    status, out, err = run("context", "--file", file)
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["REGION", "ACCOUNT", "CHANNEL", "NAME", "OF"]
    assert table(out) == [
        [EU, OWN, "cloudformation", "JohnnyBucket-BucketArn"],
        [EU, OWN, "lookup", "department=sales", "Vpc"],
        [US, OWN, "strongref", "Web/LoadBalancerArn", f"web/{OWN}/{EU}/network"],
    ]
    assert out.splitlines()[-1] == f"3 values in {file}."
    text = "the file does not exist; a program that makes templates writes it"
    assert run("context", "--file", f"{file}.none") == (1, "", f"strongref: {file}.none: {text}.\n")


def test_the_document_of_a_context_has_no_values(run: Run, file: str) -> None:
    _, out, _ = run("context", "--file", file, "--output", "json")
    document = json.loads(out)
    validate("objects-context", document)
    assert HIDDEN not in out
    assert (document["file"], document["removed"]) == (file, False)
    assert document["values"][:2] == [
        {"region": EU, "account": OWN, "channel": "cloudformation", "name": "JohnnyBucket-BucketArn", "of": None},
        {"region": EU, "account": OWN, "channel": "lookup", "name": "department=sales", "of": "Vpc"},
    ]
    for more, left in ((["--reset", "JohnnyBucket"], 1), (["--clear"], 2)):
        document = json.loads(run("context", "--file", file, *more, "--output", "json")[1])
        validate("objects-context", document)
        assert (document["removed"], len(document["values"])) == (True, left)


def test_where_no_file_is_named_and_none_was_written_nothing_is_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("context") == (0, f"0 values in {CONTEXT_FILE}.\n", "")
    assert run("context", "--clear") == (0, f"0 values removed from {CONTEXT_FILE}.\n", "")
    ContextFile(CONTEXT_FILE).put(KEYS[0], HIDDEN)
    assert table(run("context")[1]) == [[EU, OWN, "cloudformation", "JohnnyBucket-BucketArn"]]


def test_context_forgets_objects_by_name_or_everything(run: Run, file: str) -> None:
    status, out, _ = run("context", "--file", file, "--reset", "JohnnyBucket", "department=sales")
    assert (status, len(table(out)), out.splitlines()[-1]) == (0, 2, f"2 values removed from {file}.")
    out = run("context", "--file", file, "--clear")[1]
    assert (table(out)[0][2:4], out.splitlines()[-1]) == (
        ["strongref", "Web/LoadBalancerArn"],
        f"1 value removed from {file}.",
    )
    assert run("context", "--file", file) == (0, f"0 values in {file}.\n", "")


def test_what_is_not_kept_cannot_be_forgotten(run: Run, file: str) -> None:
    text = f"{file} has no JonnyBucket. Did you mean JohnnyBucket-BucketArn? Nothing was removed."
    forgotten = run("context", "--file", file, "--reset", "JonnyBucket", "department=sales")
    assert forgotten == (1, "", f"strongref: {text}\n")
    assert len(table(run("context", "--file", file)[1])) == 3
    assert run("context", "--file", file, "--reset", "A", "--clear")[0] == 2


def test_a_broken_context_file_is_reported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    status, out, err = run("context", "--file", str(tmp_path / "x.json"))
    assert (status, out) == (1, "")
    assert "it is not valid JSON (line 1)" in err


def test_the_hold_of_an_export_is_no_object() -> None:
    """It is exported next to objects, with its own name as its value."""
    exports = {
        name: StackExport("network", value) for name, value in (("Web-Arn", "a"), ("web-Exports", "web-Exports"))
    }
    assert [each.name for each in objects_of_cloudformation(exports)] == ["Web"]
