"""Where values come from beside stacks: parameters, secrets, the environment; and what is no reference to any."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from strongref_manifests.errors import BadTokenError, NoSuchParameterError, NoSuchVariableError, SecretNotReadError
from strongref_manifests.sources.attributes import StackAttributes
from strongref_manifests.sources.on_demand import EnvironmentSource, ParameterSource, SecretSource
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.tokens import Token
from strongref_toolkit.aws import Accounts, Where
from strongref_toolkit.errors import AwsCallError, NoRegionError, NoWayInError, SecureValueError, UnknownCallerError
from tests.support.watched import EU, HIDDEN, OTHER, OWN, US, Watched, aws_of, denied, in_moto, token

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


def test_a_service_that_is_down_is_reported_after_two_minutes(clients: Watched) -> None:
    aws = aws_of(clients)
    tried = []

    def down(**_: object) -> None:
        tried.append(aws.clock.now())
        raise ClientError({"Error": {"Code": "InternalFailure"}}, "DescribeStacks")

    service: Any = type("Service", (), {"describe_stacks": staticmethod(down)})
    began = aws.clock.now()
    with pytest.raises(AwsCallError, match="DescribeStacks of stack aws in eu-west-1 failed: InternalFailure"):
        aws.call(Where(None, EU), "DescribeStacks", "stack aws", lambda *_: service)
    assert len(tried) > 3
    assert timedelta(seconds=100) < aws.clock.now() - began <= timedelta(minutes=2)


def put(name: str, value: str, kind: Any = "String", region: str = EU) -> None:
    boto3.client("ssm", region).put_parameter(Name=name, Value=value, Type=kind)


def test_parameters_are_read_in_tens_and_lists_are_lists(clients: Watched) -> None:
    for number in range(23):
        put(f"/a/{number}", f"value {number}")
    put("/list", "a,b", "StringList", US)
    source = ParameterSource(aws_of(clients))
    tokens = [token(f"${{ssm:/a/{number}}}") for number in range(23)]
    source.prefetch([*tokens, *tokens, token(f"${{ssm:/list@{US}}}"), token("${ssm:/a b}")])
    source.prefetch(tokens)
    assert [source.fetch(each) for each in tokens] == [f"value {number}" for number in range(23)]
    assert source.fetch(token(f"${{ssm:/list@{US}}}")) == ["a", "b"]
    assert clients.calls == {"GetParameters": 4}


def test_a_parameter_may_be_asked_for_by_version_and_label(clients: Watched) -> None:
    ssm = boto3.client("ssm", EU)
    put("/a", "first")
    ssm.put_parameter(Name="/a", Value="second", Type="String", Overwrite=True)
    ssm.label_parameter_version(Name="/a", ParameterVersion=1, Labels=["old"])
    source = ParameterSource(aws_of(clients))
    assert [source.fetch(token(each)) for each in ("${ssm:/a}", "${ssm:/a:1}", "${ssm:/a:old}")] == [
        "second",
        "first",
        "first",
    ]


def test_a_parameter_that_is_missing_or_secret_is_reported(clients: Watched) -> None:
    put("/secret", HIDDEN, "SecureString")
    source = ParameterSource(aws_of(clients))
    with pytest.raises(NoSuchParameterError, match="There is no parameter /gone in eu-west-1"):
        source.fetch(token("${ssm:/gone}"))
    with pytest.raises(SecureValueError, match=r"\$\{ssm:/secret\} is a SecureString. Give --sensitive") as refused:
        source.fetch(token("${ssm:/secret}"))
    assert HIDDEN not in str(refused.value)
    assert ParameterSource(aws_of(clients), sensitive=True).fetch(token("${ssm:/secret}")) == HIDDEN


def test_a_parameter_that_may_not_be_read_does_not_take_others_with_it(clients: Watched) -> None:
    for name in ("/a", "/b", "/c"):
        put(name, name)
    denied(clients, "GetParameters", "AccessDeniedException", only=lambda params: b"/b" in params["body"])
    source = ParameterSource(aws_of(clients))
    source.prefetch([token(f"${{ssm:{name}}}") for name in ("/a", "/b", "/c")])
    assert [source.fetch(token(f"${{ssm:{name}}}")) for name in ("/a", "/c")] == ["/a", "/c"]
    with pytest.raises(AwsCallError, match="GetParameters of /b in eu-west-1 failed: AccessDeniedException"):
        source.fetch(token("${ssm:/b}"))


def test_another_error_is_that_of_all_parameters_of_the_call(clients: Watched) -> None:
    denied(clients, "GetParameters", "ValidationException")
    source = ParameterSource(aws_of(clients))
    source.prefetch([token("${ssm:/a}"), token("${ssm:/b}")])
    for name in ("/a", "/b"):
        with pytest.raises(AwsCallError, match="GetParameters of /a and 1 more in eu-west-1 failed"):
            source.fetch(token(f"${{ssm:{name}}}"))


def test_an_account_without_a_way_in_is_reported_where_it_is_asked_for(clients: Watched) -> None:
    source = ParameterSource(aws_of(clients))
    source.prefetch([token(f"${{ssm:/a#{OTHER}}}")])
    with pytest.raises(NoWayInError):
        source.fetch(token(f"${{ssm:/a#{OTHER}}}"))


@pytest.mark.parametrize("text", ["${ssm:/a}", "${cfn:a.B}", "${secret:a}"])
def test_without_a_region_a_token_has_to_name_one(clients: Watched, text: str) -> None:
    put("/a", "a", region=US)
    aws = aws_of(clients, None)
    source = {"ssm": ParameterSource, "cfn": StackOutputs, "secret": SecretSource}[token(text).scheme](aws)
    source.prefetch([token(text)])
    with pytest.raises(NoRegionError, match="give --region, set AWS_REGION, or write @REGION"):
        source.fetch(token(text))
    assert ParameterSource(aws).fetch(token(f"${{ssm:/a@{US}}}")) == "a"


def test_a_region_that_cannot_be_one_is_reported_by_the_name_of_the_error(clients: Watched) -> None:
    with pytest.raises(AwsCallError, match=r"GetParameters of /a in \* failed: InvalidRegionError"):
        ParameterSource(aws_of(clients, "*")).fetch(token("${ssm:/a}"))


def test_a_caller_nobody_knows_is_reported(clients: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = aws_of(clients)

    def fail(_: Accounts) -> str:
        raise UnknownCallerError("ExpiredToken")

    monkeypatch.setattr(Accounts, "own", property(fail))
    with pytest.raises(UnknownCallerError):
        StackOutputs(aws).value("aws", "A", account=OWN)


def secret(name: str, text: str | bytes, region: str = EU) -> str:
    made: dict[str, Any] = {"SecretString": text} if isinstance(text, str) else {"SecretBinary": text}
    return boto3.client("secretsmanager", region).create_secret(Name=name, **made)["ARN"]


def test_a_secret_is_read_once_whole_or_by_the_key_of_its_json(clients: Watched) -> None:
    held = json.dumps({"user": "admin", "port": 5432, "a:b}": "odd", 'q"': "quoted"})
    arn = secret("db/me@example.com", held, US)
    source = SecretSource(aws_of(clients))
    source.prefetch([])
    for reference, value in (
        ("db/me@example.com@us-east-1", held),
        ("db/me@example.com:user@us-east-1", "admin"),
        ("db/me@example.com:port@us-east-1", 5432),
        ('db/me@example.com:"a:b}"@us-east-1', "odd"),
        (r'db/me@example.com:"q\""@us-east-1', "quoted"),
        (r'"db/me@example.com":user@us-east-1', "admin"),
        (f"{arn}:user", "admin"),
        (arn, held),
    ):
        assert source.fetch(token(f"${{secret:{reference}}}")) == value
    assert clients.calls["GetSecretValue"] == 2


def test_a_secret_whose_name_ends_as_if_in_a_region_is_had_by_its_name_in_quotes(clients: Watched) -> None:
    secret("db@us-east-1", "here")
    assert SecretSource(aws_of(clients)).fetch(token('${secret:"db@us-east-1"}')) == "here"


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("gone", "Secret gone in eu-west-1: it does not exist, or is about to be deleted"),
        ("binary", "Secret binary in eu-west-1: it is binary, which a manifest cannot hold"),
        ("text:key", "Secret text in eu-west-1: it is no JSON object, so it has no keys"),
        ("json:key", "Secret json in eu-west-1: its JSON object has no key key"),
        ("brackets:key", "Secret brackets in eu-west-1: its JSON is nested too deeply"),
        ("odd:deep", "Secret odd in eu-west-1: its JSON is nested too deeply"),
        ("odd:large", "Secret odd in eu-west-1: it has a number there that is too large, or none"),
        ("odd:list", "Secret odd in eu-west-1: it has a number there that is too large, or none"),
    ],
)
def test_a_secret_that_does_not_hold_what_is_asked_for_is_reported(clients: Watched, name: str, reported: str) -> None:
    secret("binary", b"\x00")
    secret("text", HIDDEN)
    secret("json", json.dumps({"other": HIDDEN}))
    secret("brackets", "[" * 60_000)
    secret(
        "odd",
        f'{{"deep": {"[" * 201}{"]" * 201}, "large": 1e999, "list": [{{"a": NaN}}], "fits": {"[" * 200}{"]" * 200}}}',
    )
    assert SecretSource(aws_of(clients)).fetch(token("${secret:odd:fits}"))
    with pytest.raises(SecretNotReadError) as refused:
        SecretSource(aws_of(clients)).fetch(token(f"${{secret:{name}}}"))
    assert str(refused.value).startswith(reported)
    error: BaseException | None = refused.value
    while error:
        assert HIDDEN not in str(error)
        error = error.__context__


def test_a_secret_that_may_not_be_read_is_reported(clients: Watched) -> None:
    denied(clients, "GetSecretValue", "AccessDeniedException")
    with pytest.raises(AwsCallError, match="GetSecretValue of secret db in eu-west-1 failed: AccessDenied"):
        SecretSource(aws_of(clients)).fetch(token("${secret:db}"))


def test_a_variable_is_read_and_a_missing_one_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NAME": "value", "EMPTY": "", "BROKEN": "\udcff"}.items():
        monkeypatch.setenv(name, value)
    source = EnvironmentSource()
    source.prefetch([])
    assert [source.fetch(Token("env", name)) for name in ("NAME", "EMPTY")] == ["value", ""]
    with pytest.raises(NoSuchVariableError, match="The environment variable GONE is not set"):
        source.fetch(Token("env", "GONE"))
    with pytest.raises(NoSuchVariableError, match="is no text in UTF-8"):
        source.fetch(Token("env", "BROKEN"))


@pytest.mark.parametrize(
    "text",
    [
        *("${cfn:stack}", "${cfn:my_stack.Output}", "${cfn:stack.Output@eu-west1}", "${cfn:stack.}", "${cfn:.A}"),
        *("${cfn-attr:stack.Bucket}", "${cfn-attr:stack}", "${cfn-attr:stack.Bucket.Arn@x}"),
        *("${ssm:/a b}", "${ssm:/a@x}", "${ssm:/a:1:2}", "${secret:a b}", "${secret:a:b:c}", "${env:A-B}", "${env:1}"),
    ],
)
def test_a_reference_that_a_source_does_not_understand_is_reported(clients: Watched, text: str) -> None:
    aws = aws_of(clients)
    outputs = StackOutputs(aws)
    sources = (outputs, StackAttributes(outputs), ParameterSource(aws), SecretSource(aws), EnvironmentSource())
    (source,) = [each for each in sources if each.scheme == token(text).scheme]
    with pytest.raises(BadTokenError, match="is not a valid token: it should look like"):
        source.fetch(token(text))
    assert not clients.calls
