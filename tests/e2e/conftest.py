"""One emulator for all of a run's end-to-end tests, with the application in both regions."""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from time import sleep
from typing import IO, TYPE_CHECKING
from uuid import uuid4

import pytest

from examples.emulator import Files, start
from tests.e2e.agreement import Agreement
from tests.e2e.between_accounts import BUS, HELD, LATE, PARTNERS, A, B, Between, C, trust, unpaced
from tests.e2e.harness import Aws
from tests.e2e.templates import EU, US, exporting, imported, lookup, stack
from tests.support.documents import ROOT, load
from tests.support.emulator import sam
from tests.support.emulator.control import OTHER_ACCOUNT, Emulator
from tests.support.emulator.sam import APPLICATION, REGIONS
from tests.support.older import unpack
from tests.support.waiting import PAUSE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

KEEP = "STRONGREF_KEEP_EMULATOR"
"""The variable with which a run uses the emulator of `make emulator`, which stays, with all stacks and logs."""

KEPT = Files(ROOT / ".build")

_HERE = Path(__file__).parent

HURRIED_ACCOUNT = "333333333333"
TENDED_ACCOUNT = "444444444444"
LOOKING_ACCOUNT = "555555555555"
THROTTLED_ACCOUNT = "666666666666"
OLDER_ACCOUNT = "777777777777"
FORGED_ACCOUNT = "888888888888"
LATE_ACCOUNT = "999999999999"
NOTIFIED_ACCOUNT = "101010101010"
TESTED_ACCOUNTS = ("202020202020", "202020202021", "202020202022")
LAG = 1
"""Seconds by which the reads of that account lag."""
HURRIED_SECONDS = 20
"""For which a function of that account may run. It keeps half of them back for its answer, and the rest is long enough
for some work even on a machine that is busy with other things."""

PREDICTIONS = "predictions"
"""The file that lists what `strongref check` predicted."""

LOOKS_AT = [
    *("s3:ListBucket", "s3:ListAllMyBuckets", "sns:GetTopicAttributes", "sns:ListTopics"),
    *("events:DescribeRule", "events:ListRules", "lambda:GetPolicy", "apigateway:GET"),
    "elasticloadbalancing:DescribeListeners",
]
"""What look-ups may read where they may at all, so that there are types that they may not."""

SLOW = {"WritesPerSecond": "3", "TagsPerSecond": "20", "ReadsPerSecond": "100", "ReadLag": "0"}
"""Writes that are slower than any machine: how many invocations they take is no matter of speed."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many predictions of `strongref check` were compared with what happened."""
    counts = config._tmp_path_factory.getbasetemp() / PREDICTIONS  # type: ignore[attr-defined] # as the fixture
    if counts.exists():
        verdicts = Counter(line.split()[0] for line in counts.read_text().splitlines())
        listed = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        terminalreporter.write_line(
            f"strongref check: {verdicts.total()} predictions agreed with the outcome: {listed}"
        )


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """The run's emulator: whichever worker comes first starts it, and with the last one that uses it, it ends."""
    files = Files(_shared(tmp_path_factory))
    with _locked(files.folder):
        ours = _join(files) or _start(files)
    yield ours
    ours.release()


def _join(files: Files) -> Emulator | None:
    with suppress(OSError):  # There is none, or it has ended: the workers before this one had no more use for it.
        return files.join()
    return None


def _start(files: Files) -> Emulator:
    """An emulator with the application in it: the run's own, or that of `make emulator`, which stays."""
    if os.environ.get(KEEP):
        start(KEPT)
        emulator = KEPT.join()
    else:
        emulator = Emulator.start(files.log)
    try:
        sam.deploy_everywhere(emulator, sam.build(files.folder))
    except BaseException:
        emulator.release()
        raise
    files.address.write_text(json.dumps([emulator.url, str(emulator.folder)]))
    return emulator


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aws]:
    """An emulator of the module's own, in which nothing is deployed."""
    with Emulator.start(tmp_path_factory.mktemp("emulator") / "log") as emulator:
        yield Aws(emulator)


@pytest.fixture(scope="session")
def built(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `sam build` wrote the application to."""
    assert emulator.url
    return _shared(tmp_path_factory) / "build"


@pytest.fixture(scope="session")
def older(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An account with version 0.2.0, in which nothing happens: tests copy the application from it."""
    shared = _shared(tmp_path_factory)
    with _locked(shared, f"{OLDER_ACCOUNT}.lock"):
        if not Aws(emulator, OLDER_ACCOUNT).status(APPLICATION, REGIONS[-1]):
            folder = shared / "older"
            sources = unpack(folder / "sources", "template.yaml", "handlers", "layers")
            sam.deploy_everywhere(emulator, sam.build(folder, sources), account=OLDER_ACCOUNT)
    return OLDER_ACCOUNT


@pytest.fixture(scope="session")
def hurried(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, whose application is slow and has little time: its functions end after a few seconds."""
    overrides = SLOW | {"LookupPolicies": _lookups(emulator, HURRIED_ACCOUNT)}
    return _installed(emulator, tmp_path_factory, HURRIED_ACCOUNT, overrides, HURRIED_SECONDS)


@pytest.fixture(scope="session")
def tended(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, in which the janitor meets nothing of what other tests are about."""
    return _installed(emulator, tmp_path_factory, TENDED_ACCOUNT, sam.QUICK, None)


@pytest.fixture
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No other test with this has the janitor run at the same time: it would heal, and log, what this one is about."""
    with _locked(_shared(tmp_path_factory), "alone.lock"):
        yield


@pytest.fixture(scope="session")
def forged(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, in which nothing happens after network exports A, and web imports it and looks up."""
    overrides = sam.QUICK | {"LookupPolicies": _lookups(emulator, FORGED_ACCOUNT)}
    aws = _installed(emulator, tmp_path_factory, FORGED_ACCOUNT, overrides, None)
    with _locked(_shared(tmp_path_factory), "forged.lock"):
        if not aws.status("web", US):
            aws.deploy("network", exporting({"A": "1"}, consumer="web"), EU, "CREATE_COMPLETE")
            aws.client("s3", US).create_bucket(Bucket="forged-photos")
            resources = {"Imports": imported("network", "A"), "Lookup": lookup("AWS::S3::Bucket", Name="forged-photos")}
            aws.deploy("web", stack(resources), US, "CREATE_COMPLETE")
    return aws


@pytest.fixture(scope="session")
def late(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, whose reads lag, and whose application knows."""
    aws = _installed(emulator, tmp_path_factory, LATE_ACCOUNT, sam.QUICK | {"ReadLag": str(LAG)}, None)
    emulator.lag(LATE_ACCOUNT, LAG)
    return aws


@pytest.fixture(scope="session")
def notified(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, with the example's bus and mails, whose application sends events, and has a dashboard.

    In one region the application has the bus's name, in the other one its ARN.
    """
    shared = _shared(tmp_path_factory)
    aws = Aws(emulator, NOTIFIED_ACCOUNT)
    with _locked(shared, f"{NOTIFIED_ACCOUNT}.lock"):
        for region in REGIONS if not aws.status(APPLICATION, REGIONS[-1]) else ():
            mails = load((ROOT / "examples/notices/mail.yaml").read_text())
            parameters = [{"ParameterKey": "Mail", "ParameterValue": "team@example.com"}]
            bus = aws.deploy("mails", mails, region, "CREATE_COMPLETE", Parameters=parameters).outputs["EventBus"]
            arn = aws.client("events", region).describe_event_bus(Name=bus)["Arn"]
            overrides = sam.QUICK | {"EventBus": {EU: bus, US: arn}[region], "Dashboard": "true"}
            sam.copy_application(emulator, NOTIFIED_ACCOUNT, overrides, [region])
    return aws


@pytest.fixture
def tested(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aws]:
    """An account for the selftest, which exports to B; of one test at a time."""
    _installed(emulator, tmp_path_factory, B, sam.QUICK, None)
    with _locked_one(_shared(tmp_path_factory), TESTED_ACCOUNTS) as account:
        yield _installed(emulator, tmp_path_factory, account, sam.QUICK | {"ExportAccounts": B}, None)


@pytest.fixture
def tested_abroad(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory, tested: Aws) -> Iterator[Aws]:
    """B, which trusts the account `tested`; of one test of the selftest at a time."""
    with _locked(_shared(tmp_path_factory), "tested-abroad.lock"):
        trust(Aws(emulator, B), tested.account)
        yield Aws(emulator, B)


@pytest.fixture(scope="session")
def throttled(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, whose quotas may be made small without being in the way of other tests."""
    return _installed(emulator, tmp_path_factory, THROTTLED_ACCOUNT, sam.QUICK, None)


@pytest.fixture
def between(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory, names: Callable[[str], str]) -> Between:
    """One test's stacks in A, which exports to other accounts, and in B."""
    return Between.of(_exporting_abroad(emulator, tmp_path_factory, A), names)


@pytest.fixture
def between_alone(
    emulator: Emulator, tmp_path_factory: pytest.TempPathFactory, names: Callable[[str], str]
) -> Iterator[Between]:
    """Likewise in an account in which no other test is at work: its janitor runs."""
    with _locked(_shared(tmp_path_factory), "between.lock"):
        yield Between.of(_exporting_abroad(emulator, tmp_path_factory, HELD), names)


def _exporting_abroad(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory, account: str) -> Aws:
    """An account whose application exports to others, and sends events; B trusts it, and has the application."""
    aws, other = Aws(emulator, account), Aws(emulator, B)
    if aws.status(APPLICATION, EU) == "CREATE_COMPLETE":
        return aws
    shared = _shared(tmp_path_factory)
    _installed(emulator, tmp_path_factory, B, sam.QUICK, None)
    with _locked(shared, f"{account}.lock"):
        if not aws.status(APPLICATION, EU):
            trust(other, account)
            aws.client("events", EU).create_event_bus(Name=BUS)
            overrides = sam.QUICK | {"ExportAccounts": ",".join([B, C, LATE, *PARTNERS]), "EventBus": BUS}
            sam.copy_application(emulator, account, overrides, [EU])
            unpaced(aws, "Janitor", EU)
    return aws


@pytest.fixture(scope="session")
def looking(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """An account of its own, whose application may look up resources of some types, and in which there are few."""
    overrides = sam.QUICK | {"LookupPolicies": _lookups(emulator, LOOKING_ACCOUNT)}
    return _installed(emulator, tmp_path_factory, LOOKING_ACCOUNT, overrides, None)


def _lookups(emulator: Emulator, account: str) -> str:
    """The ARN of an account's policy by which its application may look up `LOOKS_AT`."""
    iam = Aws(emulator, account).client("iam", REGIONS[0])
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": LOOKS_AT, "Resource": "*"}]}
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_policy(PolicyName="lookups", PolicyDocument=json.dumps(document))
    return f"arn:aws:iam::{account}:policy/lookups"


def _installed(
    emulator: Emulator,
    tmp_path_factory: pytest.TempPathFactory,
    account: str,
    overrides: Mapping[str, str],
    seconds: int | None,
) -> Aws:
    """An account with the application in it: whichever worker comes first installs it."""
    shared = _shared(tmp_path_factory)
    aws = Aws(emulator, account)
    with _locked(shared, f"{account}.lock"):
        if not aws.status(APPLICATION, REGIONS[0]):
            sam.copy_application(emulator, account, overrides)
            if seconds:
                hurry(aws, seconds)
    return aws


def hurry(aws: Aws, seconds: int = HURRIED_SECONDS) -> None:
    """Have an account's functions end after a few seconds."""
    for region in REGIONS:
        for function in ("Exporter", "Importer", "Janitor", "Lookup"):
            name = aws.physical_ids(APPLICATION, region)[function]
            aws.client("lambda", region).update_function_configuration(FunctionName=name, Timeout=seconds)


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all workers of this run, and of no other run."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@contextmanager
def _locked(folder: Path, name: str = "emulator.lock") -> Iterator[None]:
    with (folder / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _locked_one(folder: Path, names: Sequence[str]) -> Iterator[str]:
    """The first of them that is free."""
    locks = {name: (folder / f"one-{name}.lock").open("w") for name in names}
    try:
        yield next(name for name in cycle(names) if _is_free(locks[name]))
    finally:
        for lock in locks.values():
            lock.close()


def _is_free(lock: IO[str]) -> bool:
    """Whether nobody had it locked; now it is."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sleep(PAUSE_SECONDS)
        return False
    return True


@pytest.fixture
def aws(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    """The account that has the application. Deployments of exports are compared with what `check` predicts."""
    return Aws(emulator, agreement=Agreement(_shared(tmp_path_factory) / PREDICTIONS))


@pytest.fixture
def other_account(emulator: Emulator) -> Aws:
    """An account that has nothing to do with it."""
    return Aws(emulator, OTHER_ACCOUNT)


@pytest.fixture
def names() -> Callable[[str], str]:
    """Makes a name this test's own, so that tests may run side by side."""
    suffix = uuid4().hex[:6]
    return lambda name: f"{name}-{suffix}"
