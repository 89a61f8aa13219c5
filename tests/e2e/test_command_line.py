"""The command line as a user runs it: a process of its own, on deployed stacks, through all that happens to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.templates import EU, US, export, held, imported, stack
from tests.e2e.world import World
from tests.support.commands import heed_interrupts
from tests.support.documents import blocks
from tests.support.emulator.sam import APPLICATION
from tests.support.schemas import messages, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.e2e.harness import Aws

COMMAND = str(Path(sys.executable).with_name("strongref"))
SECRET = "not-to-be-shown"
BOTH = ("--region", EU, "--region", US)
POLICY = next(json.loads(block.text) for block in blocks("json") if block.page.parent.name == "cli")


@dataclass(frozen=True)
class Done:
    """How a run of the command ended."""

    status: int
    out: str
    err: str
    document: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Shell:
    """Where the command runs."""

    environment: Mapping[str, str]

    def run(self, *arguments: str, **environment: str) -> Done:
        done = subprocess.run(  # noqa: S603
            [COMMAND, *arguments], env={**self.environment, **environment}, capture_output=True, text=True, check=False
        )
        assert SECRET not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def ask(self, command: str, *arguments: str) -> dict[str, Any]:
        """The JSON document that a command prints, which follows its schema."""
        done = self.run(command, *arguments, "--output", "json")
        document: dict[str, Any] = json.loads(done.out)
        validate(command, document)
        return document


@pytest.fixture
def account(aws: Aws, request: pytest.FixtureRequest) -> Aws:
    """That of the others; a test that repairs all that is wrong in an account has it to itself."""
    return request.getfixturevalue("tended") if "alone" in request.fixturenames else aws


@pytest.fixture
def world(account: Aws, names: Callable[[str], str]) -> World:
    found = World.of(account, names)
    publish(found, SECRET, "CREATE_COMPLETE")
    consume(found, "CREATE_COMPLETE")
    return found


def publish(world: World, a: str, expect: str, **more: str) -> None:
    """Deploy the producer, with this value of A."""
    values = {"A": a, "B": SECRET, "Map": {"C": SECRET}}
    template = held({"Exports": export(values, consumer=world.consumer, **more)})
    world.aws.deploy(world.producer, template, EU, expect)


def consume(world: World, expect: str, **more: str) -> None:
    """Deploy the consumer, which imports A and Map."""
    template = stack({"Imports": imported(world.producer, "A", "Map", **more)})
    world.aws.deploy(world.consumer, template, US, expect)


@pytest.fixture
def shell(world: World) -> Shell:
    return Shell({**os.environ, **world.aws.emulator.env(world.aws.account, EU)})


def states(shell: Shell, world: World) -> dict[str, tuple[str, list[str]]]:
    """The state of every export of the producer, and the states of its imports."""
    found = shell.ask("list", "--region", US, "--stack", world.producer)["exports"]
    return {each["key"]: (each["state"], [claim["state"] for claim in each["importers"]]) for each in found}


def findings(shell: Shell, world: World) -> set[str]:
    """What doctor finds about the stacks of this test; others use the account, too."""
    found = shell.ask("doctor", "--region", US)["findings"]
    about = (world.producer, world.consumer)
    named = [
        (each, f"{each['subject']} {each['parameter']} {[who['name'] for who in each['stacks']]}") for each in found
    ]
    return {each["kind"] for each, text in named if any(name in text for name in about)}


def test_the_life_of_a_reference(shell: Shell, world: World) -> None:
    assert states(shell, world) == {
        "A": ("published", ["current"]),
        "B": ("published", []),
        "Map.C": ("published", ["current"]),
    }
    (uses,) = shell.ask("who", world.producer)["stacks"]
    assert {each["protection"] for value in uses["exports"] for each in value["importers"]} == {"held"}
    (uses,) = shell.ask("who", world.consumer, "--region", US)["stacks"]
    assert [each["key"] for each in uses["imports"]] == ["A", "Map.C"]
    assert findings(shell, world) == set()

    # A propagated change: the importer has to be deployed again, until it is.
    publish(world, "new", "UPDATE_COMPLETE", OnChange="propagate")
    assert states(shell, world)["A"] == ("published", ["outdated"])
    assert findings(shell, world) == {"outdated-import"}
    assert "(outdated)" in shell.run("who", world.producer, "A").out
    consume(world, "UPDATE_COMPLETE", Revision="2")
    assert states(shell, world)["A"] == ("published", ["current"])
    assert findings(shell, world) == set()

    # A value that is deleted by hand comes back without its claim, until its importer is deployed again.
    world.aws.client("ssm", US).delete_parameter(Name=world.name("A"))
    assert states(shell, world)["A"] == ("missing", [])
    restored = shell.ask("republish", world.producer, "--yes", "--key", "A")["restored"]
    assert [(each["keys"], [who["name"] for who in each["importers"]]) for each in restored] == [
        (["A"], [world.consumer])
    ]
    assert states(shell, world)["A"] == ("restored", [])
    assert findings(shell, world) == {"restored"}
    consume(world, "UPDATE_COMPLETE", Revision="3")
    assert states(shell, world)["A"] == ("published", ["current"])


@pytest.mark.usefixtures("alone")
def test_doctor_heals_what_is_safe(shell: Shell, world: World) -> None:
    ssm = world.aws.client("ssm", US)
    ssm.put_parameter(Name=world.name("B"), Value="by hand", Type="String", Overwrite=True)
    ssm.delete_parameter(Name=world.name("Map/C"))
    world.aws.put_foreign(US, world.name("Mine"))
    world.aws.client("ssm", EU).delete_parameters(Names=[*world.all_stored(EU)])
    assert findings(shell, world) == {"changed-by-hand", "missing", "foreign", "index-entry"}
    done = shell.run("doctor", "--region", US, "--fix")
    assert (done.status, done.err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
    done = shell.run("doctor", "--region", US, "--fix", "--yes")
    assert done.status == 1
    assert f"missing (Map.C of {world.producer} for {world.consumer})" in done.out
    assert findings(shell, world) == {"changed-by-hand", "foreign", "restored"}
    ssm.delete_parameter(Name=world.name("Mine"))


@pytest.mark.usefixtures("alone")
def test_the_next_step_of_a_finding_is_true(shell: Shell, world: World) -> None:
    ssm, hold = world.aws.client("ssm", US), f"{world.producer}-Exports"
    # A record that cannot be read: its importers' holds stay, and another Revision writes it again.
    record = world.name("Exports").replace("/exports/", "/records/")
    holds = world.aws.parameters(EU, f"/strongref/holds/{hold}")
    ssm.put_parameter(Name=record, Value="by hand", Type="String", Overwrite=True)
    assert "unreadable-record" in findings(shell, world)
    assert shell.run("doctor", *BOTH, "--fix", "--yes").status == 1
    assert world.aws.parameters(EU, f"/strongref/holds/{hold}").keys() == holds.keys()
    publish(world, SECRET, "UPDATE_COMPLETE", Revision="2")
    assert "unreadable-record" not in findings(shell, world)
    # A value that was changed by hand: another Revision writes it again.
    ssm.put_parameter(Name=world.name("A"), Value="by hand", Type="String", Overwrite=True)
    assert "changed-by-hand" in findings(shell, world)
    publish(world, SECRET, "UPDATE_COMPLETE", Revision="3")
    assert "changed-by-hand" not in findings(shell, world)
    # A fence that cannot be read is deleted.
    fence = world.name("x").replace("/exports/", "/fences/")
    ssm.put_parameter(Name=fence, Value="nonsense", Type="String")
    assert "unreadable-fence" in findings(shell, world)
    ssm.delete_parameter(Name=fence)
    assert "unreadable-fence" not in findings(shell, world)


@pytest.mark.usefixtures("alone")
def test_a_hold_that_is_named_later_is_made_once_its_output_is_there(account: Aws, names: Callable[[str], str]) -> None:
    world = World.of(account, names)
    shell = Shell({**os.environ, **account.emulator.env(account.account, EU)})
    values = {"A": SECRET, "B": SECRET, "Map": {"C": SECRET}}
    bare = export(values, consumer=world.consumer)
    account.deploy(world.producer, stack({"Exports": bare}), EU, "CREATE_COMPLETE")
    consume(world, "CREATE_COMPLETE")
    assert findings(shell, world) == {"unprotected"}
    named = export(values, consumer=world.consumer, Hold=f"{world.producer}-Exports")
    account.deploy(world.producer, stack({"Exports": named}), EU, "UPDATE_COMPLETE")
    assert findings(shell, world) == {"hold-impossible"}
    publish(world, SECRET, "UPDATE_COMPLETE")
    assert findings(shell, world) == {"unheld"}
    shell.run("doctor", "--region", US, "--fix", "--yes")
    assert findings(shell, world) == set()


def test_ctrl_c_ends_a_repair_that_waits(shell: Shell, world: World) -> None:
    ssm, fences = world.aws.client("ssm", US), world.name("").replace("/exports/", "/fences/")
    ssm.delete_parameter(Name=world.name("B"))
    command = [COMMAND, "republish", world.producer, "--yes", "--region", US]
    text = json.dumps({"by": "another deployment", "until": "2099-01-01T00:00:00+00:00"})
    ssm.put_parameter(Name=f"{fences}Exports.1", Value=text, Type="String")
    with subprocess.Popen(  # noqa: S603
        command,
        env=dict(shell.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 (there is no other thread that matters)
    ) as process:
        assert process.stderr
        waiting = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert waiting.startswith("strongref: waiting up to ")
    assert waiting.endswith(f" s for another deployment, which is changing exports of {world.producer}\n")
    assert (process.returncode, out, err) == (130, "", "strongref: interrupted\n")
    assert list(world.aws.parameters(US, fences.rstrip("/"))) == [f"{fences}Exports.1"]
    ssm.delete_parameter(Name=f"{fences}Exports.1")


def test_a_released_claim_protects_no_longer(shell: Shell, world: World) -> None:
    release = ("release", world.producer, "A", "--consumer", world.consumer, "--reason", "it moves")
    assert shell.run(*release, "--dry-run").status == 0
    assert world.claims("A") == [world.consumer]
    (done,) = shell.ask(*release, "--yes")["released"]
    assert world.claims("A") == []
    trace = json.loads(world.aws.client("ssm", US).get_parameter(Name=done["trace"])["Parameter"]["Value"])
    assert (trace["reason"], trace["by"]) == ("it moves", f"arn:aws:iam::{world.aws.account}:root")
    publish(world, "new", "UPDATE_COMPLETE")
    assert world.aws.delete(world.producer, EU, expect=None) != "DELETE_COMPLETE"  # the hold is for Map.C, too
    assert shell.run("release", world.producer, "Map", *release[3:], "--yes").status == 0
    assert shell.run("who", world.consumer, "--region", US).out.startswith(
        f"{world.consumer} ({US}, {world.aws.account}) exports and imports nothing"
    )
    world.aws.delete(world.producer, EU)


@pytest.mark.usefixtures("alone")
def test_the_documented_policy_is_enough(shell: Shell, world: World) -> None:
    statements = POLICY["Statement"]
    operator = as_user(shell, world, "operator", statements)
    reader = as_user(shell, world, "reader", [each for each in statements if each["Sid"].startswith("Read")])
    release = ("release", world.producer, "A", "--consumer", world.consumer, "--reason", "it moves", "--yes")
    # The operator may do all that the reader may.
    for command in ("list", "graph", "order", "status"):
        assert reader.run(command, "--all-regions").status == 0
    assert reader.run("who", world.producer).status == 0
    assert reader.run("doctor", *BOTH).status in (0, 1)  # other tests have used the account, too
    denied = reader.run(*release)
    assert (denied.status, "AccessDenied" in denied.err, world.claims("A")) == (3, True, [world.consumer])

    for key in ("A", "Map"):
        assert operator.run(*release[:2], key, *release[3:]).status == 0
    assert (world.claims("A"), world.claims("Map/C")) == ([], [])
    holds = world.aws.parameters(EU, f"/strongref/holds/{world.producer}-Exports")
    assert holds == {}  # it goes with the last claim
    world.aws.client("ssm", US).delete_parameter(Name=world.name("Map/C"))
    assert [each["keys"] for each in operator.ask("republish", world.producer, "--yes")["restored"]] == [["Map.C"]]
    world.aws.client("ssm", US).delete_parameter(Name=world.name("Map/C"))
    assert operator.run("doctor", *BOTH, "--fix", "--yes").status == 1
    assert states(shell, world)["Map.C"][0] == "restored"


def test_a_region_that_denies_calls_is_named_and_the_others_are_shown(shell: Shell, world: World) -> None:
    no_ssm = {"Effect": "Deny", "Action": "ssm:*", "Resource": f"arn:aws:ssm:{EU}:*:*"}
    user = as_user(shell, world, "elsewhere", [*POLICY["Statement"], no_ssm])
    for command in (("list", *BOTH), ("list", "--all-regions"), ("who", world.producer, *BOTH), ("graph", *BOTH)):
        done = user.run(*command, "--output", "json")
        shown = json.loads(done.out)
        validate(command[0], shown)
        assert (done.status, [each["region"] for each in shown["unread"]]) == (3, [EU])
        assert world.producer in done.out
        (message,) = messages(done.err)
        assert message.startswith(f"{EU} was not read: GetParametersByPath of ")
        assert "AccessDenied" in message
    done = user.run("doctor", *BOTH, "--output", "json")
    shown = json.loads(done.out)
    validate("doctor", shown)
    assert (done.status, shown["regions"], [each["region"] for each in shown["unread"]]) == (3, [US], [EU])
    assert done.err.count("\n") == 1
    done = user.run("list", "--region", EU)
    assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)


def test_a_change_by_hand_makes_no_importer_outdated(shell: Shell, world: World) -> None:
    world.aws.client("ssm", US).put_parameter(Name=world.name("A"), Value="by hand", Type="String", Overwrite=True)
    assert states(shell, world)["A"] == ("published", ["current"])
    assert findings(shell, world) == {"changed-by-hand"}


def test_a_stack_whose_index_entry_is_lost_is_found_everywhere(shell: Shell, world: World) -> None:
    world.aws.client("ssm", EU).delete_parameters(Names=[*world.all_stored(EU)])
    (uses,) = shell.ask("who", world.producer, "--region", EU)["stacks"]
    assert [each["region"] for each in uses["exports"]] == [US] * 3


def test_a_stack_lives_on_without_a_region_that_is_lost(aws: Aws, names: Callable[[str], str]) -> None:
    """Whoever imports there goes on."""
    aws = replace(aws, agreement=None)  # `check` does not know what the function cannot reach.
    world = World.of(aws, names)
    world.publish({"A": SECRET}, "CREATE_COMPLETE", region=[EU, US])
    world.consume("A", expect="CREATE_COMPLETE")
    iam, role = aws.client("iam", US), aws.physical_ids(APPLICATION, EU)["ExporterRole"]
    lost = f"arn:aws:ssm:{US}:*:parameter/strongref/*/{world.consumer}/*"
    policy = {**POLICY, "Statement": [{"Effect": "Deny", "Action": "ssm:*", "Resource": lost}]}
    iam.put_role_policy(RoleName=role, PolicyName=world.producer, PolicyDocument=json.dumps(policy))
    forget = ("forget", US, "--stack", world.producer, "--region", EU)
    shell = Shell({**os.environ, **aws.emulator.env(aws.account, EU)})
    sleep(1)  # The index has whole seconds, and only an update of a later one was refused before it wrote.
    try:
        world.publish({"A": "another"}, "UPDATE_ROLLBACK_COMPLETE", region=[EU, US])
        world.publish({"A": SECRET}, "UPDATE_ROLLBACK_COMPLETE", region=EU)
        assert f"strongref {' '.join(forget)}" in world.why()
        assert [each["consumer"] for each in shell.ask(*forget, "--dry-run")["places"]] == [world.consumer]
        assert shell.run(*forget, "--yes").status == 0
        world.publish({"A": "another"}, "UPDATE_COMPLETE", region=EU)
        aws.delete(world.producer, EU)
    finally:
        iam.delete_role_policy(RoleName=role, PolicyName=world.producer)
    assert world.values() == {"A": SECRET}
    assert world.claims("A") == [world.consumer]


def as_user(shell: Shell, world: World, name: str, statements: list[dict[str, Any]]) -> Shell:
    """A shell of an IAM user with these permissions."""
    iam, user = world.aws.client("iam", US), f"{world.producer}-{name}"
    iam.create_user(UserName=user)
    document = json.dumps({**POLICY, "Statement": statements}).replace("111111111111", world.aws.account)
    iam.put_user_policy(UserName=user, PolicyName="documented", PolicyDocument=document)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    own = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    return Shell({**shell.environment, **own})


def test_the_graph_and_the_order_have_all_stacks(shell: Shell, world: World, tmp_path: Path) -> None:
    graph = shell.ask("graph")
    (reference,) = [each for each in graph["references"] if each["producer"]["name"] == world.producer]
    assert (reference["keys"], reference["protection"]) == (["A", "Map.C"], "held")
    page = tmp_path / "graph.html"
    assert shell.run("graph", "--out", str(page)).status == 0
    assert world.producer in page.read_text()
    order = shell.ask("order")
    waves = {each["name"]: number for number, wave in enumerate(order["waves"]) for each in wave}
    assert waves[world.producer] < waves[world.consumer]


def test_every_region_is_found_from_the_producers_own(shell: Shell, world: World) -> None:
    done = shell.run("who", world.producer, "--region", EU)
    assert US in done.out
    assert shell.run("list", "--all-regions", "--stack", world.producer).status == 0


def test_what_does_not_exist_is_an_error(shell: Shell, world: World) -> None:
    for arguments, problem in (
        (("who", f"{world.producer}x"), f"Did you mean {world.producer}"),
        (("who", world.producer, "Mapp"), "neither exports nor imports 'Mapp'"),
        (("list", "--stack", f"{world.producer}x", "--region", US), f"Did you mean {world.producer}"),
        (("republish", f"{world.producer}x", "--yes"), f"Did you mean {world.producer}"),
        (("list", "--region", "eu-wset-1"), "Did you mean eu-west-1"),
        (("list", "--region", ""), "--region is empty: is a variable not set?"),
    ):
        done = shell.run(*arguments)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert problem in done.err


def test_without_credentials_or_an_endpoint_it_says_so(shell: Shell) -> None:
    done = shell.run("list", "--region", US, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    assert (done.status, done.err.count("\n")) == (3, 1)
    assert "NoCredentialsError. Configure AWS credentials: sign in" in done.err
    done = shell.run("list", "--region", US, AWS_ENDPOINT_URL="http://127.0.0.1:1")
    assert (done.status, done.err.count("\n")) == (3, 1)


def test_a_pipe_that_closes_is_silent(shell: Shell, world: World) -> None:
    with subprocess.Popen(  # noqa: S603
        [COMMAND, "who", world.producer], env=dict(shell.environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE
