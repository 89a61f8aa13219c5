"""`strongref forget ACCOUNT` without a stack: what it deletes, and when it refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from strongref.aws.cloudformation import CloudFormationStacks
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, ExportScope, Producer
from strongref.contract.releases import RELEASES
from strongref.protocol.lag import ReadLag
from strongref_cli.doctor import forget_command
from strongref_cli.install.plan import TRUST
from tests.support.builders import stack_arn
from tests.support.commands import SECRET
from tests.support.doctor import EU, HOME, US, findings, wait_a_little
from tests.support.empty_aws import deny
from tests.support.schemas import validate

if TYPE_CHECKING:
    from strongref.protocol.ports import StackInfo
    from tests.support.commands import Run
    from tests.support.overview import Account

GONE = "222222222222"
FORGET = ("forget", GONE, "--region", US)
FROM = {"Stack": "network", "Region": EU, "Account": GONE}


def values(account: Account, of: str = GONE) -> list[str]:
    """The parameters of what an account has published."""
    return [name for name in account.everything(US) if f"/{of}/{EU}/" in name and not name.startswith(RELEASES)]


def path(tree: str, consumer: str) -> str:
    return ExportScope(consumer, Producer(GONE, EU, "network")).path("exports").replace("exports", tree)


@pytest.fixture
def published(run: Run, account: Account) -> None:  # noqa: ARG001 (comes first)
    """What another account's stack exports for two consumers, next to the own account's."""
    for number, consumer in enumerate((None, "web")):
        given = {"Region": US, "Values": {"Vpc": {"Id": SECRET}, "Zone": "x"}, "SecureKeys": ["Zone"]}
        export = given if consumer is None else {**given, "Consumer": consumer}
        account.send(stack_arn("network", EU, GONE), f"Exports{number}", export)
    assert len(values(account)) == 8


def put_up_fence(account: Account, seconds: int) -> None:
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    text = json.dumps({"by": "an exporter", "until": until.isoformat(), "for": seconds})
    account.ssm(US).put_parameter(Name=f"{path('fences', 'web')}/x", Type="String", Value=text)


def claimed(account: Account, *names: str) -> None:
    account.claim("web", US, "network", EU, *names, From=FROM)


@pytest.mark.usefixtures("published")
def test_it_shows_what_it_would_delete_and_asks(run: Run, account: Account) -> None:
    before = account.everything(US)
    status, out, err = run(*FORGET)
    assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
    assert [line.split() for line in out.splitlines()[1:4]] == [
        ["CONSUMER", "STACK", "REGION", "VALUES"],
        ["_shared", "network", EU, "2"],
        ["web", "network", EU, "2"],
    ]
    assert f"In account {GONE}, each of these stacks needs strongref forget {HOME} before it can drop them." in out
    assert run(*FORGET, "--dry-run")[:2] == (0, out)
    _, document, _ = run(*FORGET, "--dry-run", "--output", "json")
    validate("forget", found := json.loads(document))
    assert (found["account"], found["region"], len(found["published"])) == (GONE, US, 2)
    assert account.everything(US) == before


@pytest.mark.usefixtures("published")
def test_values_and_records_go_and_traces_stay(run: Run, account: Account) -> None:
    own = values(account, HOME)
    by_hand = f"{path('exports', 'web')}/ByHand"
    account.ssm(US).put_parameter(Name=by_hand, Type="String", Value="x")
    put_up_fence(account, -60)
    status, out, _ = run(*FORGET, "--yes", "--output", "json")
    validate("forget", found := json.loads(out))
    assert (status, [each["values"] for each in found["published"]]) == (0, [2, 2])
    assert values(account) == [by_hand]
    assert values(account, HOME) == own
    assert findings(run) == [
        ("foreign", "action", "ByHand of network for web"),
        *[("released", "note", f"{GONE}.{EU} of network")] * 2,
    ]
    status, _, err = run("forget", "333333333333", "--region", US)
    assert (status, err) == (2, "strongref: 333333333333 has published nothing in us-east-1\n")


@pytest.mark.usefixtures("published")
def test_nothing_is_deleted_while_something_is_imported(run: Run, account: Account) -> None:
    claimed(account, "Vpc.Id")
    before = account.everything(US)
    status, _, err = run(*FORGET, "--yes")
    refused = f"Vpc.Id of network cannot be deleted: it is imported by stack web (us-east-1, {HOME})."
    assert (status, err) == (1, f"strongref: {refused} Remove that import first. Nothing was changed.\n")
    assert account.everything(US) == before
    account.delete_stack("web", US)
    assert run(*FORGET, "--yes")[0] == 0
    assert values(account) == []


@pytest.mark.usefixtures("published")
def test_a_claim_of_a_stack_that_cannot_be_asked_about_counts(run: Run, account: Account) -> None:
    tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": stack_arn("far", US, "333333333333")}]
    name = f"{path('exports', 'web')}/Zone"
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=tags)
    status, _, err = run(*FORGET, "--yes")
    assert (status, "it is imported by stack far (us-east-1, 333333333333)" in err) == (1, True)
    assert "exists cannot be checked: if not, take the claim off with strongref release." in err
    account.ssm(US).remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=[PRODUCER_TAG])
    assert run(*FORGET, "--yes")[0] == 1


@pytest.mark.usefixtures("published")
def test_who_may_not_ask_about_stacks_is_told_so(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed(account, "Vpc.Id")
    deny(monkeypatch, "DescribeStacks")
    status, _, err = run(*FORGET, "--yes")
    assert (status, "DescribeStacks" in err, "release" in err) == (3, True, False)


@pytest.mark.usefixtures("published")
def test_a_claim_has_to_be_stale_twice(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed(account, "Vpc.Id")
    by_arn, looks = CloudFormationStacks.by_arn, list[str]()

    def late(stacks: CloudFormationStacks, arn: str) -> StackInfo | None:
        looks.append(arn)
        return None if "/web/" in arn and sum("/web/" in each for each in looks) == 1 else by_arn(stacks, arn)

    monkeypatch.setattr(CloudFormationStacks, "by_arn", late)
    monkeypatch.setenv("STRONGREF_READ_LAG", "1")
    monkeypatch.setattr(ReadLag, "settle", lambda *_: None)
    assert run(*FORGET, "--yes")[0] == 1
    assert len(values(account)) == 8


@pytest.mark.usefixtures("published")
def test_nothing_is_deleted_if_something_is_imported_before_the_fences_stand(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = values(account)
    monkeypatch.setattr(forget_command, "ask_about", lambda *_: claimed(account, "Vpc.Id"))
    status, _, err = run(*FORGET)
    assert (status, "it is imported by stack web" in err) == (1, True)
    assert values(account) == before


@pytest.mark.usefixtures("published")
def test_it_gives_way_to_who_is_at_work(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_a_little(monkeypatch)
    put_up_fence(account, 60)
    status, _, err = run(*FORGET, "--yes")
    assert (status, "The exports of account 222222222222 are still being changed (by an exporter" in err) == (1, True)
    assert len(values(account)) == 9


@pytest.mark.usefixtures("published")
def test_an_account_that_may_still_export_here_is_not_forgotten(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the stack is: its role is for all regions."""
    account.stack("trust", EU, exported=f"{TRUST}{GONE}")
    status, _, err = run(*FORGET, "--yes")
    problem = f"{GONE} may still export here, by stack trust in {EU}"
    remove = f"Run strongref trust {GONE} --remove --region {EU} first"
    assert (status, err) == (2, f"strongref: {problem}. {remove}\n")
    assert len(values(account)) == 8
    account.delete_stack("trust", EU)
    deny(monkeypatch, "ListExports", "ap-northeast-1")
    assert run(*FORGET, "--yes")[0] == 0


@pytest.mark.parametrize(
    ("gone", "problem"),
    [
        (HOME, f"{HOME} is this account itself: give --stack, the stack that exports"),
        (EU, f"--stack is missing: the stack that exports to {EU}"),
    ],
)
def test_what_is_no_other_account_needs_a_stack(run: Run, gone: str, problem: str) -> None:
    assert run("forget", gone, "--region", US, "--yes") == (2, "", f"strongref: {problem}\n")
