"""The command as a whole: usage, exit statuses, errors in one line, pipes, interruptions."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from contextlib import redirect_stdout, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strongref_cli as cli
from strongref import __version__
from strongref.contract.names import SHARED
from strongref.errors import BadEndpointError, StackLookupError, StoreError, WaitInterruptedError
from strongref.refusals import ChangingError
from strongref.runtime.clock import SystemClock
from strongref_cli.terminal import CLOSED_PIPE, output
from strongref_cli.terminal.options import FORMATS
from strongref_cli.terminal.output import Result, TextTable
from strongref_toolkit.errors import UnknownCallerError, UsageError
from strongref_toolkit.session import default_region
from tests.support.commands import COMMANDS, arguments_of, heed_interrupts, parser_of
from tests.support.graphs import AS_OF
from tests.support.schemas import messages

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from strongref.errors import StrongRefError
    from strongref_toolkit.session import ToolSession

US = "us-east-1"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No region, no profile, and no way to AWS."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def reported(capsys: pytest.CaptureFixture[str]) -> str:
    """What the command said, which is one line on standard error and nothing else."""
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err.removeprefix("strongref: ").removesuffix("\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "the following arguments are required: COMMAND. See strongref --help"),
        (["lst"], "unknown command 'lst'. Did you mean list?"),
        (["objects", "lst"], "unknown command 'lst'. Did you mean list?"),
        (["list", "--regoin", "x"], "unknown argument --regoin. Did you mean --region or --all-regions?"),
        (["check", "--tempalte", "x"], "unknown argument --tempalte. Did you mean --template?"),
        (["release", "a", "b", "--consumre=c"], "unknown argument --consumre. Did you mean --consumer?"),
        (["release", "a", "b", "--consumer", "c", "--", "--x"], "the following arguments are required: --reason"),
        (["--versoin"], "unknown argument --versoin. Did you mean --version?"),
        (["--region", US, "list"], "unknown argument --region: options follow the command. See strongref --help"),
        (["objects", "--via", "ssm", "list"], "--via: options follow the command. See strongref objects --help"),
        (["list", "--nothing-like-it"], "unknown argument --nothing-like-it. See strongref list --help"),
        (["release", "network", "A", "--consumr", "x"], "unknown argument --consumr. Did you mean --consumer?"),
        (["release", "--consumr=x"], "unknown argument --consumr. Did you mean --consumer?"),
        (["check", "--tempate", "x"], "unknown argument --tempate. Did you mean --template?"),
        (["objects", "export", "x", "--fromat", "env"], "unknown argument --fromat. Did you mean --format?"),
        (["list", "more"], "unknown argument more. See strongref list --help"),
        (["list", "--output", "jsn"], "--output cannot be 'jsn'. Did you mean json?"),
        (["list", "--output", "yaml"], "--output cannot be 'yaml'. Choose from table, json, markdown"),
        (["list", "--region"], "argument --region: expected one argument. See strongref list --help"),
        (["list", "--region", US, "--all-regions"], "not allowed with argument --region. See strongref list --help"),
        (["list", "--region", "eu-wset-1"], "'eu-wset-1' is not a region that this botocore knows. Did you mean eu-"),
        (["list", "--region", "Ireland"], "'Ireland' is not a region that this botocore knows. Give a region code"),
        (["list"], "no region: give --region, or set AWS_REGION"),
        (["completion", "tcsh"], "SHELL cannot be 'tcsh'. Choose from bash, zsh, fish"),
        (["graph", "--out", "graph.xyz", "--region", US], "--out graph.xyz does not end in .html"),
        (["who"], "the following arguments are required: STACK"),
        (["who", ""], "STACK is empty: is a variable not set?"),
        (["release", "network", "A", "--consumer", "web"], "the following arguments are required: --reason"),
        (["release", "network", "A", "--consumer", "web", "--reason", " "], "--reason is blank: say in up to 500"),
        (["release", "network", "A", "--consumer", "web", "--reason", "{{x}}"], "--reason must be a sentence"),
        (["release", "network", "A", "--consumer", "web", "--reason", "\x1b[2J"], "--reason must be a sentence"),
        (["release", "network", "A", "--consumer", "web", "--reason", "\udcff"], "--reason must be a sentence"),
    ],
)  # fmt: skip
def test_wrong_usage_says_what_to_do(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    assert problem in reported(capsys)


@pytest.mark.parametrize("command", [["resolve", "x"], ["refs", "resolve", "x"], ["objects", "list"], ["list"]])
def test_a_consumer_is_given_as_it_is_stored(command: list[str]) -> None:
    for text in ("all", SHARED, "web"):  # A stack may be called all.
        assert parser_of().parse_args([*command, "--consumer", text]).consumer == text
    assert parser_of().parse_args(command).consumer == (SHARED if "resolve" in command else None)


@pytest.mark.parametrize(
    "arguments", [["list", "--output", "json", "--stat", "x"], ["lisst", "--output=json"], ["graph", "--outp", "json"]]
)
def test_errors_are_json_where_the_result_would_be(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert cli.main(arguments) == 2
    (text,) = messages(capsys.readouterr().err)
    assert cli.main([each for each in arguments if "json" not in each and not each.startswith("--outp")]) == 2
    assert capsys.readouterr().err == f"strongref: {text}\n"


def _words() -> st.SearchStrategy[list[str]]:
    """Command lines of real commands and options, and of anything else, in any order."""
    found = list(_parsers(parser_of()))
    options = sorted({name for each in found for name in each._option_string_actions})
    names = sorted({each.prog.split()[-1] for each in found})
    return st.lists(st.sampled_from([*names, *options, "", "-", "--", "=", "x", US]) | st.text(), max_size=8)


def _parsers(above: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield above
    for action in above._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from _parsers(each)


@given(_words())
def test_whatever_is_typed_is_understood_or_reported(words: list[str]) -> None:
    with suppress(UsageError, SystemExit), redirect_stdout(TextIOWrapper(BytesIO())):
        parser_of().parse_args(words)


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["who", "x"],
        ["doctor"],
        ["republish", "x"],
        ["lookup", "AWS::S3::Bucket", "x"],
        ["objects", "list"],
        ["objects", "show", "x"],
        ["resolve", "a.yaml"],
        ["refs", "resolve", "a.yaml"],
        ["transform", "a.yaml"],
    ],
)
def test_an_empty_option_is_reported(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*command, "--region", ""]) == 2
    assert reported(capsys) == "--region is empty: is a variable not set?"


REGIONAL = [names for names in COMMANDS if "--region" in arguments_of(*names)]
POSITIONALS = {("who",): 1, ("lookup",): 2, ("transform",): 1, ("republish",): 1, ("objects", "show"): 1, ("trust",): 1}


def minimal(names: tuple[str, ...]) -> list[str]:
    """A command line with a value for everything that is required."""
    more = {
        ("forget",): ["us-east-2", "--stack", "x"],
        ("release",): ["x", "A", "--consumer", "web", "--reason", "why"],
        ("check",): ["--delete", "x"],
        ("objects", "export"): ["x", "--format", "json"],
    }
    return [*names, *(more[names] if names in more else ["x"] * POSITIONALS.get(names, 0))]


@pytest.mark.parametrize("names", REGIONAL, ids=" ".join)
def test_an_unknown_region_is_reported_by_all_commands_alike(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*minimal(names), "--region", "eu-wset-1"]) == 2
    problem = "'eu-wset-1' is not a region that this botocore knows. Did you mean eu-"
    assert reported(capsys).startswith(problem)


@pytest.mark.parametrize("names", REGIONAL, ids=" ".join)
def test_a_second_region_is_read_or_refused(names: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """None is ignored."""
    given = [*minimal(names), "--region", US, "--region", "eu-west-1"]
    if "--all-regions" in arguments_of(*names) or names == ("selftest",):
        assert parser_of().parse_args(given).region == [US, "eu-west-1"]
    else:
        assert cli.main(given) == 2
        assert reported(capsys) == "--region is given twice, and this command works in one region"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), 2),
        (ChangingError("stack network", "web"), 1),
        (StoreError("GetParameters", "InternalError", "x", US), 3),
        (StackLookupError("web", US, "AccessDenied"), 3),
        (UnknownCallerError("NoCredentialsError"), 3),
        (BadEndpointError("ssm"), 3),
        (WaitInterruptedError(StackLookupError("web", US, "Throttling")), 3),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_exit_status_says_what_kind_of_problem_it_was(
    error: StrongRefError, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(_: object) -> int:
        raise error

    monkeypatch.setattr("strongref_cli.running._run", failing)
    assert cli.main(["list"]) == status
    assert reported(capsys) == str(error)


@pytest.mark.parametrize("command", [["list"], ["who", "x"], ["doctor"], ["republish", "x"]])
def test_no_credentials_are_one_line(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("botocore.credentials.CredentialResolver.load_credentials", lambda _: None)
    assert cli.main([*command, "--region", US]) == 3
    assert "NoCredentialsError. Configure AWS credentials: sign in" in reported(capsys)


def test_a_profile_that_does_not_exist_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "")  # restored afterwards: the option sets it
    assert cli.main(["list", "--region", US, "--profile", "nobody"]) == 3
    assert reported(capsys).startswith("AWS cannot be called: ProfileNotFound 'nobody'. Check AWS_PROFILE")


@pytest.mark.parametrize("names", [names for names in COMMANDS if "--profile" not in arguments_of(*names)])
def test_commands_without_aws_need_no_profile(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("Resources: {T: {Type: AWS::SNS::Topic}}\n")
    more = {"transform": ["x"], "completion": ["bash"], "refs": ["--generator", "x"]}.get(names[0], [])
    cli.main([*names, *more])
    assert "ProfileNotFound" not in capsys.readouterr().err


def test_the_given_profile_is_used_even_if_the_environment_has_credentials(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As by AWS's own command line. `AWS_PROFILE` does less: credentials of the environment go before it."""
    (tmp_path / "config").write_text("[profile team]\nregion=eu-north-1\n")
    (tmp_path / "credentials").write_text("[team]\naws_access_key_id=of-the-team\naws_secret_access_key=x\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_PROFILE", "x")  # restored afterwards: the option sets it
    monkeypatch.delenv("AWS_PROFILE")
    used: list[tuple[str, str | None]] = []

    def command(_: object, session: ToolSession) -> int:
        assert session.clients._session
        found = session.clients._session.get_credentials()
        assert found
        used.append((found.access_key, default_region()))
        return 0

    monkeypatch.setattr("strongref_cli.lookup.look_up", command)
    for more in ([], ["--profile", "team"]):
        assert cli.main(["lookup", "AWS::SNS::Topic", "news", *more]) == 0
    assert used == [("of-the-environment", None), ("of-the-team", "eu-north-1")]


WITHOUT_AWS = {
    ("objects", "context"), ("refs", "fields"), ("refs", "rbac"), ("refs", "schema"), ("transform",), ("completion",),
    ("version",),
}  # fmt: skip
NO_REPORT = {
    ("objects", "show"), ("objects", "export"), ("refs", "rbac"), ("refs", "schema"), ("refs", "resolve"),
    ("resolve",), ("transform",), ("completion",), ("version",),
}  # fmt: skip
"""Commands that print an object, a file or a script, which has a format of its own."""


def test_every_command_that_calls_aws_takes_a_profile() -> None:
    assert {names for names in COMMANDS if "--profile" not in arguments_of(*names)} == WITHOUT_AWS


def test_every_report_has_the_same_formats_and_no_second_option_for_them() -> None:
    assert {names for names in COMMANDS if "--output" not in arguments_of(*names)} == NO_REPORT
    for names in COMMANDS:
        assert "--json" not in arguments_of(*names)
        formats = [each.choices for each in parser_of(*names)._actions if each.dest == "output"]
        assert formats in ([], [FORMATS]) or names == ("graph",)


def test_an_endpoint_that_is_no_url_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "localhost:4566")
    assert cli.main(["list", "--region", US]) == 3
    assert reported(capsys).endswith(
        "is not a valid URL. Check AWS_ENDPOINT_URL and endpoint_url in AWS's configuration."
    )


@pytest.mark.parametrize(
    "command", [["list"], ["status"], ["list", "--all-regions"], ["lookup", "AWS::SNS::Topic", "x"]]
)
@pytest.mark.parametrize("page", [b"<html><body>Sign in</body></html>", b"<!doctype html><p>Sign in<br>"])
def test_a_web_page_is_not_taken_for_a_response_of_aws(
    page: bytes, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, args=[0.01]).start()
        monkeypatch.setattr(SystemClock, "sleep", lambda *_: None)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        monkeypatch.setenv("AWS_REGION", US)
        try:
            assert cli.main(command) == 3
        finally:
            server.shutdown()
    assert "ResponseParserError. What responded is not AWS. Check AWS_ENDPOINT_URL" in reported(capsys)


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out.strip() == __version__


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["strongref_cli.running.parser", "strongref_cli.overview.commands.chosen_regions"])
def test_an_interrupted_command_ends_as_shells_have_it(
    moment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(moment, interrupted)
    assert cli.main(["list", "--region", US]) == 130
    assert reported(capsys) == "interrupted"


COMMAND = [sys.executable, "-c", "import sys; from strongref_cli import main; sys.exit(main())"]


@pytest.mark.parametrize("moment", ["while it imports", "while it waits"])
def test_ctrl_c_ends_a_command_that_waits_for_aws_at_once(moment: str, silent_server: socket.socket) -> None:
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL": "http://{}:{}".format(*silent_server.getsockname()),
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    # Python's own start fails otherwise, if it is interrupted: it says that the command has begun.
    program = "import strongref_cli, sys; print(flush=True); sys.exit(strongref_cli.main())"
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, "list", "--region", US],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 (there is no other thread that matters)
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"\n"
        if moment == "while it waits":
            silent_server.accept()
        else:
            time.sleep(0.15)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == (b"", b"strongref: interrupted\n")
    assert process.returncode == 130


def test_a_command_that_failed_does_not_wait_for_other_calls() -> None:
    program = f"""
import sys, threading
from strongref_cli import main
from strongref_cli.overview import commands
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.threads import in_threads
begun = threading.Event()
def hang():
    begun.set()
    threading.Event().wait()
def fail():
    begun.wait()
    raise AwsCallError("A", "b", "c", "AccessDenied")
commands.list_exports = lambda *_: in_threads([hang, fail])
sys.argv = ["strongref", "list", "--region", "{US}"]
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)


def test_nothing_is_imported_before_ctrl_c_is_handled() -> None:
    program = "import sys; before = set(sys.modules); import strongref_cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert set(done.stdout.split()) - {"__future__"} == {"strongref_cli"}


def test_ctrl_c_while_python_exits_is_silent() -> None:
    program = "import atexit, os, signal, sys; from strongref_cli import main; "
    program += "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); sys.exit(main())"
    command = [sys.executable, "-c", program, "completion", "bash"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_like_dev_null(closed: str) -> None:
    shell = f'"$@" completion bash {closed}'
    done = subprocess.run(["/bin/sh", "-c", shell, "sh", *COMMAND], capture_output=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, b"")
    assert bool(done.stdout) == (">&-" not in closed.split())


def test_a_closed_pipe_is_silent() -> None:
    with subprocess.Popen(  # noqa: S603
        [*COMMAND, "completion", "bash"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == CLOSED_PIPE


def test_a_full_disk_is_reported() -> None:
    program = "from strongref_cli.terminal.output import put_out; put_out(b'x' * 100_000)"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    last = done.stderr.decode().rstrip().splitlines()[-1]
    assert last.endswith("standard output could not be written: no space left on device. Nothing was written.")


HELP = [["--help"], ["--version"], ["objects", "--help"], *([*names, "--help"] for names in COMMANDS)]


@pytest.mark.parametrize("arguments", HELP, ids=" ".join)
def test_a_help_that_cannot_be_written_is_reported(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with capfd.disabled(), Path("/dev/full").open("w") as full, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        patch.setattr(sys, "stderr", errors := StringIO())
        assert cli.main(arguments) == 1
    problem = "standard output could not be written: no space left on device. Nothing was written."
    assert errors.getvalue() == f"strongref: {problem}\n"


def test_standard_output_is_written_in_one_place() -> None:
    """Anything else would fail without a word, or with a traceback, where it cannot be written."""
    sources = {each.name: each.read_text() for each in Path(cli.__file__).parent.rglob("*.py")}
    assert {name for name, text in sources.items() if re.search(r"stdout\.(buffer\.)?write\(|\bprint\(", text)} == {
        "output.py"
    }


@pytest.mark.parametrize("arguments", [["--help"], ["completion", "zsh"]])
def test_a_process_reports_a_full_disk_in_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)


def test_a_help_whose_reader_has_closed_it_is_silent() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "list", "--help"], stdout=write, stderr=subprocess.PIPE, check=False)  # noqa: S603
    os.close(write)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, b"")


def test_the_log_is_lines_on_standard_error() -> None:
    program = (
        "from strongref_toolkit.session import ToolSession; from strongref.log import logger; ToolSession.start(); "
    )
    program += "logger.info('not said'); logger.warning('said', extra={'scope': 'a'}); print('result')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert (done.stdout, done.stderr) == ("result\n", "strongref: said (scope: a)\n")


TABLE = TextTable(("KEY", "BY"), [("A|b", "`web`"), ("Longer", "[x](y) <x>")], title="Title", notes=["A note."])


def test_a_table_is_aligned_and_not_wrapped_in_a_pipe() -> None:
    text = output.as_text(TABLE)
    assert text == "Title\nKEY     BY\nA|b     `web`\nLonger  [x](y) <x>\nA note.\n"
    long = output.as_text(TextTable(("KEY",), [("x" * 5000,)]))
    assert long.splitlines()[1] == "x" * 5000


def test_what_is_in_a_table_is_no_markup() -> None:
    assert output.as_text(TextTable(("KEY",), [("[bold]x[/]",)], notes=["[red]y"])).splitlines() == [
        "KEY",
        "[bold]x[/]",
        "[red]y",
    ]


def test_markdown_is_escaped() -> None:
    assert output.as_markdown(TABLE).splitlines() == [
        "### Title",
        "",
        "| KEY | BY |",
        "| --- | --- |",
        "| A\\|b | \\`web\\` |",
        "| Longer | \\[x](y) &lt;x> |",
        "",
        "A note.",
        "",
    ]


def test_a_narrow_terminal_gets_all_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    names = [f"COL{number}" for number in range(7)]
    text = output.as_text(TextTable(names, [[f"text{number}" for number in range(7)]]))
    for number in range(7):
        assert (f"COL{number}" in text, f"text{number}" in text) == (True, True)


def test_what_would_control_a_terminal_is_shown_as_unprintable() -> None:
    odd = TextTable(("KEY",), [("a\x1b[2Jb\udcff",)], title="\x07", notes=["\x9b"])
    for text in (output.as_text(odd), output.as_markdown(odd)):
        assert text.replace("\n", "").isprintable()
        text.encode()


def test_json_is_the_document(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output.show(Result([TABLE], {"a": 1}), Namespace(output="json", as_of=AS_OF))
    head = {"version": 3, "asOf": "2026-03-02T09:30:00+00:00"}
    assert json.loads(capfdbinary.readouterr().out) == head | {"a": 1}


@pytest.mark.parametrize(("no_color", "styled"), [("", True), ("1", False)])
def test_a_terminal_gets_styles_unless_no_color_is_set(
    no_color: str, styled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    text = output.as_text(TextTable(("STATE",), [("missing",)], title="Title"))
    assert "\x1b[1m" in text  # bold is no color
    assert ("\x1b[31m" in text) == styled


def test_nothing_is_changed_unasked_where_nobody_can_answer() -> None:
    with pytest.raises(UsageError, match="nothing was changed: give --yes where nobody can be asked"):
        output.ask("Sure?", yes=False)
    output.ask("Sure?", yes=True)


@pytest.mark.parametrize(
    ("answer", "goes_on"), [("y\n", True), ("YES\n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_only_yes_is_yes(
    answer: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setattr("sys.stdin.readline", lambda: answer)
    if goes_on:
        output.ask("Sure?", yes=False)
    else:
        with pytest.raises(UsageError, match="nothing was changed"):
            output.ask("Sure?", yes=False)
    assert capsys.readouterr().err == "Sure? [y/N] "
