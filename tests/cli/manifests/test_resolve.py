"""`strongref resolve`: which files, what is written where, what is reported, and how it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

import strongref_cli as cli
from strongref.aws.rate_limit import RateLimits
from strongref.contract.event import Event, RequestType
from strongref.runtime.wiring import exporter
from strongref_cli.manifests.resolve import CountingLimiter
from strongref_manifests.errors import NotEnabledError, OutputNotFetchedError
from strongref_toolkit import files
from strongref_toolkit.errors import WriteFailedError
from strongref_toolkit.files import write
from tests.support.empty_aws import empty_aws
from tests.support.fake_ssm import FakeClock
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EU, US = "eu-west-1", "us-east-1"
HIDDEN = "a-value-not-to-be-shown"
TOPIC = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "reported"}}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLOUR", "red")
    with empty_aws(monkeypatch, EU):
        yield


def deploy(name: str, outputs: dict[str, str], region: str = EU) -> None:
    template = {"Resources": {"Topic": TOPIC}, "Outputs": {key: {"Value": value} for key, value in outputs.items()}}
    boto3.client("cloudformation", region).create_stack(StackName=name, TemplateBody=json.dumps(template))


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    (folder / "web").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "config.yaml").write_text("# the site's\nbucket: ${cfn:site.Bucket}   # from its stack\n---\nport: 80\n")
    (folder / "web/app.yml").write_text('image: "${cfn:site.Repository}:${env:COLOUR}"\n')
    (folder / "web/list.json").write_text('{"a": "${cfn-attr:site.Topic.Ref}"}\n')
    (folder / "notes.txt").write_text("${cfn:gone.Output}")
    (folder / ".git/x.yaml").write_text("${cfn:gone.Output}")
    (folder / ".hidden.yaml").write_text("${cfn:gone.Output}")
    deploy("site", {"Bucket": "site-bucket", "Repository": "1.dkr/app"})
    return folder


RESOLVED = {
    "config.yaml": "# the site's\nbucket: site-bucket   # from its stack\n---\nport: 80\n",
    "web/app.yml": 'image: "1.dkr/app:red"\n',
    "web/list.json": '{"a": "arn:aws:sns:eu-west-1:123456789012:reported"}\n',
}


def test_a_sensitive_value_of_terraform_s_is_allowed_by_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text('["${tf:aws_ssm_parameter.url.value}"]')
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "settings.json").write_text('{"a": 1} // a comment')
    state = Path(__file__).parents[2] / "terraform/site.tfstate"
    asked = ["resolve", str(tmp_path), "--check", "--tf", str(state)]
    assert cli.main(asked) == 1
    assert "it has the name of a secret, which is only a guess. Give --allow" in capsys.readouterr().err
    assert cli.main([*asked, "--allow", "url"]) == 1
    assert "url is no address of a value in a Terraform state" in capsys.readouterr().err
    assert cli.main([*asked, "--allow", "aws_ssm_parameter.url.value"]) == 0


def test_a_folder_is_resolved_into_another_one(
    manifests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["resolve", str(manifests), "-o", str(out), "--with", "env"]) == 0
    assert tree(out) == RESOLVED
    reported = capsys.readouterr()
    assert reported.err == "strongref: 3 files, 4 documents, 3 values resolved, 2 calls\n"
    assert reported.out == ""
    assert (out / "config.yaml").stat().st_mode & 0o777 == (manifests / "config.yaml").stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("options", "shown"), [([], {"Resolving tokens"}), (["--claim", "shop"], {"Resolving tokens", "Claiming exports"})]
)
def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    tmp_path: Path,
    options: list[str],
    shown: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    command = ["resolve", str(tmp_path / "a.yaml"), "-o", str(tmp_path / "out"), *options]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert cli.main(command) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("strongref: 1 file, 1 document, 0 values resolved, ")) == ("", 1)
    assert {each for each in ("Resolving tokens", "Claiming exports") if each in printed.err} == shown


def test_no_progress_disturbs_a_manifest_that_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Stream(b"a: 1\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert cli.main(["resolve", "-", "--claim", "shop"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, "Claiming exports" in printed.err) == ("a: 1\n", False)


def test_what_is_written_below_its_own_folder_is_not_read_again(manifests: Path) -> None:
    for _ in range(2):
        assert cli.main(["resolve", str(manifests), "-o", str(manifests / "out"), "--with", "env"]) == 0
    assert tree(manifests / "out") == RESOLVED


def test_manifests_are_written_over_only_in_place(manifests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(manifests)
    assert cli.main(["resolve", str(manifests), "-o", str(manifests), "--with", "env"]) == 2
    assert "config.yaml would be written over: give another folder with -o, or --in-place" in capsys.readouterr().err
    assert tree(manifests) == before
    unchanged = manifests / "plain.yaml"
    unchanged.write_text("a: 1\n")
    unchanged.chmod(0o600)
    (manifests / "config.yaml").chmod(0o640)
    written = unchanged.stat().st_mtime_ns
    assert cli.main(["resolve", str(manifests), "--in-place", "--with", "env"]) == 0
    assert tree(manifests) == before | RESOLVED | {"plain.yaml": "a: 1\n"}
    assert (manifests / "config.yaml").stat().st_mode & 0o777 == 0o640
    assert unchanged.stat().st_mtime_ns == written


def test_a_link_is_resolved_where_it_leads_to(manifests: Path, tmp_path: Path) -> None:
    real = manifests / "config.yaml"
    link = tmp_path / "link.yaml"
    link.symlink_to(real)
    assert cli.main(["resolve", str(link), "--in-place"]) == 0
    assert link.is_symlink()
    assert real.read_text() == RESOLVED["config.yaml"]


def test_what_is_given_twice_is_resolved_once(manifests: Path, tmp_path: Path) -> None:
    given = [str(manifests), str(manifests / "web/app.yml")]
    assert cli.main(["resolve", *given, "-o", str(tmp_path / "out"), "--with", "env"]) == 0
    assert tree(tmp_path / "out") == RESOLVED


def test_a_check_resolves_and_writes_nothing(manifests: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(manifests)
    assert cli.main(["resolve", str(manifests), "--check", "--with", "env"]) == 0
    assert tree(manifests) == before
    assert capsys.readouterr().err.endswith("3 values resolved, 2 calls\n")


def test_a_failure_leaves_nothing_half_done_and_lists_every_path(
    manifests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (manifests / "broken.yaml").write_text("a: [1\nb: ${x}\n")
    (manifests / "more.yaml").write_text("a: 1\n---\nspec: {env: [{value: '${cfn:site.Gone}'}]}\n")
    assert cli.main(["resolve", str(manifests), "-o", str(tmp_path / "out")]) == 1
    reported = capsys.readouterr().err.splitlines()
    assert reported == [
        f"{manifests}/broken.yaml, line 2: expected ',' or ']', but got ':'; correct the YAML there.",
        f"{manifests}/more.yaml, document 2, spec.env[0].value: {OutputNotFetchedError('Gone', 'site')}",
        f"{manifests}/web/app.yml, document 1, image: {NotEnabledError('${env:COLOUR}', '--with env')}",
        "strongref: 1 file could not be read and 2 values could not be resolved. Nothing was written.",
    ]
    assert not (tmp_path / "out").exists()
    assert tree(manifests)["config.yaml"].startswith("# the site's\nbucket: ${cfn:site.Bucket}")


def test_only_a_strict_run_fails_for_the_tokens_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: ${Token[TOKEN.12]}\n'${TfToken[TOKEN.0]}': $${Token[TOKEN.12]} ${HOME}\n")
    assert cli.main(["resolve", str(file), "--check"]) == 0
    assert cli.main(["resolve", str(file), "--check", "--strict"]) == 1
    reported = capsys.readouterr().err.splitlines()
    assert [line.partition(" that was not")[0].partition(": ")[2] for line in reported[1:-1]] == [
        "${Token[TOKEN.12]} looks like a token of the CDK",
        "${TfToken[TOKEN.0]} looks like a token of the CDK for Terraform",
    ]


class Stream:
    """A standard stream of text over one of bytes."""

    def __init__(self, data: bytes = b"") -> None:
        self.buffer = io.BytesIO(data)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("given", "written"),
    [(b"a: ${env:COLOUR}\r\n", b"a: red\r\n"), (b'{"a": "${env:COLOUR}"}', b'{"a": "red"}'), (b"", b"")],
)
def test_standard_input_goes_to_standard_output(
    given: bytes, written: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Stream()
    monkeypatch.setattr("sys.stdin", Stream(given))
    monkeypatch.setattr("sys.stdout", out)
    assert cli.main(["resolve", "-", "--with", "env"]) == 0
    assert out.buffer.getvalue() == written
    monkeypatch.setattr("sys.stdin", Stream(given))
    assert cli.main(["resolve", "-", "--with", "env", "--check"]) == 0
    assert out.buffer.getvalue() == written
    monkeypatch.setattr("sys.stdin", Stream(b"a: [${x}"))
    assert cli.main(["resolve", "-", "--with", "env"]) == 1
    assert "standard input, line 1: " in capsys.readouterr().err
    assert out.buffer.getvalue() == written


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["a.yaml"], "say where to write: -o FOLDER, or --in-place; --check writes nothing"),
        (["-", "a.yaml"], "- reads standard input and writes standard output: give it alone, without -o"),
        (["-", "-o", "out"], "give it alone, without -o"),
        (["-", "--in-place"], "give it alone, without -o"),
        (["gone.yaml", "--check"], "gone.yaml does not exist"),
        (["empty", "--check"], "empty has no manifest in it: no file that ends in .yaml, .yml, .json"),
        (["notes.txt", "--check"], "notes.txt is no manifest by its name: it ends in none of .yaml, .yml, .json"),
        (["a.yaml", "other/a.yaml", "-o", "out"], "a.yaml and other/a.yaml would both be written to out/a.yaml"),
        (["a.yaml", "-o", "notes.txt"], "notes.txt is no folder: give one to write to with -o"),
        (
            ["a.yaml", "--check", "--with", "env,cf"],
            "--with must be one of export, ssm, secret, env, k8s, got cf; for tf give --tf",
        ),
    ],
)
def test_usage_errors_are_reported_before_anything_is_done(
    arguments: list[str],
    reported: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "other"):
        (tmp_path / folder).mkdir()
    for file in ("a.yaml", "other/a.yaml", "notes.txt"):
        (tmp_path / file).write_text("a: 1\n")
    before = tree(tmp_path)
    assert cli.main(["resolve", *arguments]) == 2
    assert reported in capsys.readouterr().err
    assert tree(tmp_path) == before


def test_an_unreadable_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\n")

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert cli.main(["resolve", str(file), "--check"]) == 1
    assert capsys.readouterr().err.startswith(f"{file}: permission denied.\n")


@pytest.mark.parametrize(
    ("fails", "written"), [("_temporary", "Nothing was written."), ("replace", "Files written before it: 1.")]
)
def test_a_file_that_cannot_be_written_leaves_no_other_behind(
    fails: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []

    def once(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if done:
                raise OSError(28, "No space left on device")
            done.append(arguments)
            return function(*arguments)

        return call

    owner = files if fails == "_temporary" else type(tmp_path)
    monkeypatch.setattr(owner, fails, once(getattr(owner, fails)))
    with pytest.raises(WriteFailedError, match=r"b\.yaml could not be written: no space left on device") as failed:
        write({tmp_path / "a.yaml": b"a", tmp_path / "deep/b.yaml": b"b"})
    assert str(failed.value).endswith(written)
    assert tree(tmp_path) == ({} if fails == "_temporary" else {"a.yaml": "a"})


def test_every_source_is_wired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = f"arn:aws:cloudformation:{EU}:123456789012:stack/network/1"
    for consumer, value in (({}, "shared"), ({"Consumer": "web"}, "for web")):
        properties = {"Region": US, "Values": {"Vpc": value, "Key": HIDDEN}, "SecureKeys": ["Key"], **consumer}
        created = Event(RequestType.CREATE, network, "X", "1", None, properties, None, "https://x", "Custom::X")
        with waited_for():
            exporter().handle(created, FakeClock())
    boto3.client("ssm", US).put_parameter(Name="/a", Type="SecureString", Value=HIDDEN)
    boto3.client("secretsmanager", US).create_secret(Name="db", SecretString='{"user": "admin"}')
    deploy("site", {"Bucket": "site-bucket"}, US)
    state = {
        "version": 4,
        "terraform_version": "1.9.0",
        "serial": 1,
        "lineage": "x",
        "outputs": {"port": {"value": 5432, "type": "number"}},
        "resources": [],
    }
    (tmp_path / "terraform.tfstate").write_text(json.dumps(state))
    file = tmp_path / "a.yaml"
    tokens = (
        "${cfn:site.Bucket} ${ssm:/a} ${secret:db:user} ${env:COLOUR} ${tf:output.port} ${export:network.Vpc@eu-west-1}"
    )
    file.write_text("".join(f"- {token}\n" for token in tokens.split()))
    asked = [
        "resolve",
        str(file),
        "--region",
        US,
        "--with",
        "ssm,secret",
        "--with",
        "env,export",
        "-o",
        str(tmp_path / "out"),
    ]
    asked += ["--tf", str(tmp_path / "terraform.tfstate")]
    assert cli.main(asked) == 1
    reported = capsys.readouterr().err
    assert "document 1, [1]: ${ssm:/a} is a SecureString. Give --sensitive" in reported
    assert HIDDEN not in reported
    assert cli.main([*asked, "--sensitive"]) == 0
    read = (tmp_path / "out/a.yaml").read_text()
    assert read == f"- site-bucket\n- {HIDDEN}\n- admin\n- red\n- 5432\n- shared\n"
    assert cli.main([*asked, "--sensitive", "--consumer", "web"]) == 0
    assert (tmp_path / "out/a.yaml").read_text().endswith('- "for web"\n')
    assert HIDDEN not in capsys.readouterr().err


def test_without_any_region_only_what_needs_none_is_resolved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_REGION")
    deploy("site", {"Bucket": "site-bucket"}, US)
    file = tmp_path / "a.yaml"
    file.write_text("- ${env:COLOUR}\n- ${cfn:site.Bucket@us-east-1}\n")
    assert cli.main(["resolve", str(file), "--check", "--with", "env"]) == 0
    file.write_text("${cfn:site.Bucket}")
    assert cli.main(["resolve", str(file), "--check"]) == 1
    assert "the whole document: No region: give --region" in capsys.readouterr().err
    assert cli.main(["resolve", str(file), "--check", "--with", "export"]) == 2


def test_a_thousand_tokens_of_twenty_stacks_take_twenty_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRONGREF_STACKS_PER_SECOND", "1000")
    for stack in range(20):
        deploy(f"stack{stack}", {f"Output{number}": f"value-{stack}-{number}" for number in range(50)})
    for stack in range(20):
        lines = [f"- x-${{cfn:stack{stack}.Output{number}}}\n" for number in range(50)]
        (tmp_path / f"{stack}.yaml").write_text("".join(lines))
    assert cli.main(["resolve", str(tmp_path), "--in-place"]) == 0
    assert capsys.readouterr().err == "strongref: 20 files, 20 documents, 1,000 values resolved, 20 calls\n"
    assert (tmp_path / "7.yaml").read_text() == "".join(f"- x-value-7-{number}\n" for number in range(50))


def test_only_calls_that_are_made_are_counted() -> None:
    limiter = CountingLimiter(RateLimits(stacks=1))
    clock = FakeClock()
    taken = limiter.take("DescribeStacks", EU, clock.now(), 10)
    assert taken is not None
    assert taken.wait == 0
    assert limiter.take("DescribeStacks", EU, clock.now(), 0) is None
    assert limiter.calls == 1
    later = limiter.take("DescribeStacks", EU, clock.now(), 10)
    assert later is not None
    limiter.throttled("DescribeStacks", EU, taken, clock.now(), 0.5)
    assert not limiter.is_valid("DescribeStacks", EU, later)
    assert limiter.calls == 1
