"""What is looked up while templates are made, in moto: whose it is, where, and how often AWS is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref_objects import CrossRegion, Parameters, PlainTarget, Stack, Synthesis, read_object
from strongref_objects.base.errors import BadChannelError, BadNameError, NothingToImportError, UnknownLocationError
from strongref_objects.synthesis import Home
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.session import ToolSession
from tests.support.fake_ssm import FakeClock
from tests.support.watched import EU, OTHER, OWN, US, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 150


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "context.json"


def toolbox(clients: Watched) -> ToolSession:
    return ToolSession(clients, RateLimiter(RateLimits()), FakeClock())


def run(clients: Watched, path: Path, role: str | None = None) -> Synthesis:
    return Synthesis(path, toolbox(clients), role)


def web(synthesis: Synthesis, account: str | None = OWN, region: str | None = EU) -> Stack:
    return Stack(PlainTarget("web", region, account), synthesis=synthesis)


def deploy(clients: Watched, name: str, region: str = EU, **exports: str) -> None:
    outputs = {
        f"O{number}": {"Value": value, "Export": {"Name": export}}
        for number, (export, value) in enumerate(exports.items())
    }
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Outputs": outputs}
    clients.cloudformation(region).create_stack(StackName=name, TemplateBody=json.dumps(template))


def test_all_pages_of_exports_are_read_once_for_all_stacks_of_a_run(clients: Watched, path: Path) -> None:
    deploy(clients, "network", **{f"Export{number}": str(number) for number in range(COUNT)})
    synthesis = run(clients, path)
    for number in (0, COUNT - 1, 7):
        assert web(synthesis).import_string(f"Export{number}") == str(number)
    assert clients.calls["ListExports"] == 2
    assert clients.calls["GetCallerIdentity"] == 1  # Whether the account is the caller's own.


def test_with_everything_in_the_context_file_aws_is_not_asked_at_all(clients: Watched, path: Path) -> None:
    deploy(clients, "network", Name="n")
    web(run(clients, path)).import_string("Name")
    clients.calls.clear()
    assert web(run(clients, path)).import_string("Name") == "n"
    assert sum(clients.calls.values()) == 0


def test_without_an_account_aws_is_asked_whose_credentials_these_are_and_nothing_else(
    clients: Watched, path: Path
) -> None:
    deploy(clients, "network", Name="n")
    web(run(clients, path)).import_string("Name")
    clients.calls.clear()
    assert web(run(clients, path), account=None).import_string("Name") == "n"
    assert {action: count for action, count in clients.calls.items() if count} == {"GetCallerIdentity": 1}


def test_an_entry_that_keeps_nothing_is_looked_up_again(clients: Watched, path: Path) -> None:
    deploy(clients, "network", Name="n")
    web(run(clients, path)).import_string("Name")
    path.write_text(path.read_text().replace('"n"', "null"))
    assert web(run(clients, path)).import_string("Name") == "n"


def test_a_value_that_was_kept_is_given_until_it_is_reset(clients: Watched, path: Path) -> None:
    deploy(clients, "network", Name="n")
    web(run(clients, path)).import_string("Name")
    path.write_text(path.read_text().replace('"n"', '"kept"'))
    assert web(run(clients, path)).import_string("Name") == "kept"


def test_each_region_is_asked_for_itself(clients: Watched, path: Path) -> None:
    deploy(clients, "network", EU, Name="eu")
    deploy(clients, "network", US, Name="us")
    synthesis = run(clients, path)
    assert web(synthesis, region=EU).import_string("Name") == "eu"
    assert web(synthesis, region=US).import_string("Name") == "us"


def test_without_an_account_it_is_the_callers_own(clients: Watched, path: Path) -> None:
    deploy(clients, "network", Name="n")
    synthesis = run(clients, path)
    stack = web(synthesis, account=None)
    assert stack.import_string("Name") == "n"
    assert synthesis.home(stack.target, "Name") == Home(OWN, EU)
    assert f"account={OWN}:region={EU}" in path.read_text()


@pytest.mark.usefixtures("clients")
def test_without_an_account_and_without_credentials_nothing_is_looked_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(UnknownLocationError) as caught:
        web(run(Watched(), path), account=None).import_string("Name")
    assert "the account of web is unknown" in str(caught.value)
    assert caught.value.__context__ is None


def test_another_account_is_asked_by_a_role_in_it(clients: Watched, path: Path) -> None:
    role = "arn:aws:iam::ACCOUNT:role/reader"
    with pytest.raises(NothingToImportError, match=f"of account {OTHER} in {EU}"):
        web(run(clients, path, role), OTHER).import_string("Name")
    assert clients.calls["AssumeRole"] == 1


def test_what_cloudformation_refuses_is_reported_by_its_code_and_asked_once(
    clients: Watched, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client: Any = clients.cloudformation(EU)
    asked = []

    def denied(**request: object) -> None:
        asked.append(request)
        raise client.exceptions.ClientError({"Error": {"Code": "AccessDenied", "Message": "hidden"}}, "ListExports")

    monkeypatch.setattr(client, "list_exports", denied)
    synthesis = run(clients, path)
    for _ in range(2):
        with pytest.raises(AwsCallError, match="AccessDenied") as caught:
            web(synthesis).import_string("Name")
        assert "hidden" not in str(caught.value)
    assert len(asked) == 1
    assert not path.exists()


def test_nothing_is_exported_where_nobody_exports(clients: Watched, path: Path) -> None:
    via = CrossRegion(stack="network", region=US)
    with pytest.raises(NothingToImportError) as caught:
        web(run(clients, path)).import_string("Name", via=via)
    assert str(caught.value) == (
        f"There is no Name in what stack network ({US}, {OWN}) exports to consumer web in {EU}. Deploy the stack that "
        "exports it first, or correct the name."
    )
    shared = CrossRegion(stack="network", region=US, shared=True)
    with pytest.raises(NothingToImportError, match=f"exports to _shared in {EU}"):
        web(run(clients, path)).import_string("Name", via=shared)


def test_parameters_are_read_once_for_an_object(clients: Watched, path: Path) -> None:
    ssm = clients.ssm(EU)
    for number in range(12):
        ssm.put_parameter(Name=f"/shared/Web/V{number}", Type="String", Value=str(number))
    ssm.put_parameter(Name="/shared/Web/Zones", Type="StringList", Value="a,b")
    ssm.put_parameter(Name="/shared/Name", Type="String", Value="n")
    clients.calls.clear()
    synthesis, via = run(clients, path), Parameters("/shared")
    ctx = web(synthesis).import_object("Web", weak=True, via=via)
    assert [ctx.read_string(f"V{number}") for number in range(12)] == [str(number) for number in range(12)]
    assert ctx.read_string_list("Zones") == ["a", "b"]
    assert clients.calls["GetParametersByPath"] == 2
    assert web(synthesis).import_string("Name", weak=True, via=via) == "n"


def test_parameters_are_read_at_run_time_in_the_functions_own_region(
    clients: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients.ssm(EU).put_parameter(Name="/shared/Web/Arn", Type="String", Value="arn")
    monkeypatch.setenv("AWS_REGION", EU)
    assert read_object("/shared", "Web").read_string("Arn") == "arn"
    assert not clients.calls["GetParameters"]
    with pytest.raises(NothingToImportError) as caught:
        read_object("/shared/", "Web", region=US)
    assert str(caught.value).startswith("There is no Web in the parameters below /shared.")
    with pytest.raises(NothingToImportError, match="Did you mean /shared/Web/Arn"):
        read_object("/shared", "Web").read_string("Arm")


@pytest.mark.parametrize("prefix", ["shared", "", "/", "/aws/service", "/strongref/exports"])
def test_below_what_is_no_prefix_nothing_is_read_at_run_time(prefix: str) -> None:
    with pytest.raises(BadChannelError):
        read_object(prefix, "Web", region=EU)


@pytest.mark.parametrize("name", ["", "a/b", "/Web", "a b"])
def test_what_is_no_name_is_not_read_at_run_time(name: str) -> None:
    with pytest.raises(BadNameError):
        read_object("/shared", name, region=EU)


def test_a_parameter_by_itself_is_read_also_where_others_are_below_it(clients: Watched, path: Path) -> None:
    for name, value in (("One", "1"), ("One/Sub", "2")):
        clients.ssm(EU).put_parameter(Name=f"/shared/{name}", Type="String", Value=value)
    synthesis, via = run(clients, path), Parameters("/shared")
    assert web(synthesis).import_string("One", weak=True, via=via) == "1"
    assert web(synthesis).import_object("One", weak=True, via=via).read_string("Sub") == "2"


def test_without_a_region_nothing_is_read_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadChannelError, match="set AWS_REGION"):
        read_object("/shared", "Web")


def test_by_default_it_is_this_process_that_asks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ToolSession(Watched(), RateLimiter(RateLimits()), FakeClock())
    monkeypatch.setattr(ToolSession, "start", classmethod(lambda _cls: made))
    synthesis = Synthesis(path)
    assert synthesis.toolbox is made
    assert synthesis.toolbox is made


IMPORTS = """
import sys
import strongref_objects, strongref_objects.types
from strongref_objects import Stack, PlainTarget, from_environment, from_json
Stack(PlainTarget("web")).export_string("Name", "n")
from_environment("Web", {"WEB": '{"arn": "a"}'}).read_string("Arn")
heavy = {"boto3", "botocore", "ruamel", "aws_cdk", "jsii"}
print(sorted({name.partition(".")[0] for name in sys.modules} & heavy))
"""


def test_what_runs_in_functions_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"
