"""`strongref republish`: which values come back, under which key, and whom it waits for."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.parameter_store import SsmStore
from strongref.aws.settings import KMS_KEY, PARAMETER_TAGS
from strongref.contract.fence import Fence
from strongref.contract.names import RESTORED_TAG, ExportScope
from strongref_cli.install import installed
from strongref_cli.terminal.output import WaitNotice
from strongref_toolkit import session
from strongref_toolkit.errors import AwsCallError
from tests.support.commands import SECRET
from tests.support.doctor import EU, FENCES, HOME, NETWORK, RELEASE, US, put_up_fence, wait_a_little
from tests.support.schemas import validate

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_deleted_values_come_back_and_their_importers_are_named(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
    status, out, _ = run("republish", "network", "--yes", "--region", EU)
    assert status == 0
    rows = [line.split() for line in out.splitlines()[1:-1]]
    again = ["shop", "and", "perhaps", "others"]
    assert rows == [[US, "Alb.Arn", "_shared", *again], [US, "VpcId", "_shared", *again]]
    assert "another Revision of their Import" in out
    assert RESTORED_TAG in account.tags(US, f"{NETWORK}/VpcId")
    _, out, _ = run("list", "--region", US, "--state", "restored", "--output", "json")
    assert [each["key"] for each in json.loads(out)["exports"]] == ["Alb.Arn", "VpcId"]


def test_only_what_was_asked_for_comes_back(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
    _, out, _ = run("republish", "network", "--yes", "--region", US, "--key", "Alb", "--output", "json")
    document = json.loads(out)
    validate("republish", document)
    assert [each["keys"] for each in document["restored"]] == [["Alb.Arn"]]


def test_the_hold_of_another_accounts_place_names_no_importer(run: Run, account: Account) -> None:
    account.stack("held", EU, exported="held-Exports")
    account.export("held", EU, US, Values={"A": SECRET}, Hold="held-Exports")
    for owner, label in ((HOME, "web"), ("222222222222", "api")):
        name = f"/strongref/holds/held-Exports/{owner}/{US}/{label}/0123456789abcdef"
        account.ssm(EU).put_parameter(Name=name, Type="String", Value="x")
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/_shared/{HOME}/{EU}/held/A")
    _, out, _ = run("republish", "held", "--yes", "--region", EU, "--output", "json")
    (restored,) = json.loads(out)["restored"]
    assert [each["name"] for each in restored["importers"]] == ["web"]


def test_a_named_consumer_is_its_importer(run: Run, account: Account) -> None:
    account.export("certificate", US, US, Consumer="site", Values={"Arn": SECRET})
    account.stack("site", US)
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/site/{HOME}/{US}/certificate/Arn")
    _, out, _ = run("republish", "certificate", "--yes", "--region", US)
    assert [line.split() for line in out.splitlines()[1:-1]] == [[US, "Arn", "site", "site"]]


@pytest.mark.parametrize("stack", ["strongref", "of-another-name"])
def test_a_secret_is_restored_under_the_key_of_the_regions_installation(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch, stack: str
) -> None:
    parameters = {"KmsKey": "alias/own", "EventBus": ""}
    account.stack(stack, US, exported="strongref-exporter", parameters=parameters)
    account.export("vault", EU, US, Values={"Password": SECRET}, SecureKeys=["Password"])
    name = f"{NETWORK.replace('network', 'vault')}/Password"

    def key() -> str:
        account.ssm(US).delete_parameter(Name=name)
        assert run("republish", "vault", "--yes", "--region", EU)[0] == 0
        filters = [{"Key": "Name", "Values": [name]}]
        (found,) = account.ssm(US).describe_parameters(ParameterFilters=filters)["Parameters"]
        return str(found["KeyId"])

    assert key() == "alias/own"
    monkeypatch.setenv(KMS_KEY, "alias/given")
    assert key() == "alias/given"


def test_everything_that_a_command_creates_has_the_tags_of_the_regions_installation(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    for region, team in ((EU, "eu"), (US, "us")):
        account.stack("strongref", region, parameters={"ParameterTags": f"team={team}"})

    def teams(region: str, *more: str) -> set[str | None]:
        before = account.everything(region)
        assert run(*more, "--yes")[0] == 0
        created = account.everything(region).keys() - before.keys()
        assert created
        return {account.tags(region, name).get("team") for name in created}

    assert teams(US, *RELEASE, "--reason", "x") == {"us"}
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
    assert teams(US, "republish", "network", "--region", EU) == {"us"}
    monkeypatch.setattr(installed, "installed_in", denied)
    assert teams(EU, "forget", US, "--stack", "network", "--region", EU) == {None}
    monkeypatch.setenv(PARAMETER_TAGS, "team=given")
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
    assert teams(US, "republish", "network", "--region", EU) == {"given"}


def denied(*_: object) -> None:
    raise AwsCallError("DescribeStacks", "stack strongref", US, "AccessDenied")


def test_without_a_word_on_the_key_no_secret_is_restored(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.export("vault", EU, US, Values={"Password": SECRET}, SecureKeys=["Password"])
    name = f"{NETWORK.replace('network', 'vault')}/Password"
    account.ssm(US).delete_parameter(Name=name)
    monkeypatch.setattr(installed, "installed_in", denied)
    status, out, err = run("republish", "vault", "--yes", "--region", EU)
    failed = "DescribeStacks of stack strongref in us-east-1 failed: AccessDenied"
    assert (status, out) == (3, "")
    assert err.startswith(f"strongref: {failed}. Check the caller's credentials")
    assert name not in account.everything(US)


def test_what_a_stack_imports_is_not_its_own_to_restore(run: Run) -> None:
    status, _, err = run("republish", "shop", "--yes", "--key", "VpcId", "--region", US)
    assert (status, err) == (2, "strongref: shop imports VpcId: republish the stack that exports it\n")


def test_a_value_that_another_restores_at_the_same_time_is_no_failure(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
    create = SsmStore.create

    def raced(store: SsmStore, name: str, *more: Any) -> None:
        if name.endswith("/Arn"):
            create(store, name, *more)
        create(store, name, *more)

    monkeypatch.setattr(SsmStore, "create", raced)
    status, out, _ = run("republish", "network", "--yes", "--region", US, "--output", "json")
    assert status == 0
    assert [each["keys"] for each in json.loads(out)["restored"]] == [["VpcId"]]


def test_where_nothing_is_missing_nothing_is_done(run: Run) -> None:
    assert run("republish", "network", "--yes", "--region", EU) == (
        0,
        "Nothing that network exports was missing.\n",
        "",
    )


def test_what_others_have_stored_does_not_control_the_terminal(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
    for name, year in (("old", 2001), ("new", 2099)):
        fence = f"{NETWORK}/{name}".replace("/exports/", "/fences/")
        text = json.dumps({"by": "\x1b[2Jx", "until": f"{year}-01-01T00:00:00+00:00", "for": -60})
        account.ssm(US).put_parameter(Name=fence, Type="String", Value=text)
    monkeypatch.setattr(session, "FENCE_WAIT", 0.0)
    _, _, err = run("republish", "network", "--yes", "--region", US)
    assert "An expired fence was deleted" in err
    assert "are still being changed" in err
    assert err.replace("\n", "").isprintable()


def test_it_says_for_whom_it_waits_and_how_long(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_a_little(monkeypatch)
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
    put_up_fence(account, "Exports.1", by="Exports of [/x] network\x1b[2J", until="2099-01-01T00:00:00+00:00")
    _, _, err = run("republish", "network", "--yes", "--region", US)
    first, second, _ = err.split("\n")
    assert first.startswith("strongref: waiting up to 1 s for Exports of [/x] network")
    assert first.endswith(", which is changing exports of network")
    assert first.isprintable()
    assert second.startswith("strongref: The exports of stack network")
    shown: list[str] = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    notice = WaitNotice(shown.append)
    scope = ExportScope.of("fences", f"{FENCES}/x")
    assert scope
    for seconds in (1.5, 0.5):
        notice(scope, Fence("[/x]", datetime(2099, 1, 1, tzinfo=UTC)), seconds)
    assert shown == [
        f"waiting up to {seconds} s for \\[/x], which is changing exports of network" for seconds in (2, 1)
    ]


def test_nothing_is_restored_while_another_deployment_changes_it(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
    fence = f"{NETWORK}/x".replace("/exports/", "/fences/")
    until = '{"by":"x","until":"2099-01-01T00:00:00+00:00"}'
    account.ssm(US).put_parameter(Name=fence, Type="String", Value=until)
    monkeypatch.setattr(session, "FENCE_WAIT", 0.0)
    status, out, err = run("republish", "network", "--yes", "--region", US)
    assert (status, out) == (1, "")
    assert err.startswith("strongref: The exports of stack network (eu-west-1, 123456789012) are still being changed")
    assert err.endswith("Run the command again when that has finished.\n")
    assert err.count("\n") == 1
