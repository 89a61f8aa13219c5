"""Terraform's states: what is found in them, from either form, and what is not given out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.errors import StrongRefError
from strongref.text import REASON_LIMIT
from strongref_cdk8s import errors as cdk8s_errors
from strongref_manifests import errors
from strongref_manifests.errors import (
    BadAddressError,
    NoSuchAddressError,
    NoSuchStateAttributeError,
    NoSuchStateError,
    NotAStateError,
    SensitiveError,
    StateNotReadError,
    UnsetError,
)
from strongref_manifests.terraform.addresses import TerraformReference, TerraformResource
from strongref_manifests.terraform.source import TerraformStates, value_of
from strongref_manifests.terraform.states import TerraformState, read_state
from strongref_manifests.tokens import TF, Token
from strongref_toolkit.aws import Accounts, Aws
from strongref_toolkit.errors import SelectError
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from strongref_toolkit.json_values import Json
    from strongref_toolkit.json_values import Path as Path_

STATES = Path(__file__).parents[1] / "terraform"
STORED, SHOWN = "site.tfstate", "site.show.json"
SECRETS = ("correct-horse", "battery-staple", "k-9f2c1e", "$2a$10$abc")
EU: Literal["eu-west-1"] = "eu-west-1"


def state(name: str = STORED) -> TerraformState:
    return read_state((STATES / name).read_bytes(), name)


def value(reference: str, name: str = STORED, *, sensitive: bool = False) -> Json:
    return value_of(state(name), TerraformReference.parse(reference), sensitive=sensitive)


def changed(name: str, change: Callable[[dict[str, Any]], object]) -> bytes:
    given = json.loads((STATES / name).read_bytes())
    change(given)
    return json.dumps(given).encode()


both = pytest.mark.parametrize("name", [STORED, SHOWN])


@both
@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("output.bucket", "site-7f3a"),
        ("output.private", True),
        ("output.subnet_ids", ["subnet-0aaa", "subnet-0bbb"]),
        ("output.subnet_ids[1]", "subnet-0bbb"),
        ("output.database", {"host": "main.c1x2y3.eu-west-1.rds.amazonaws.com", "port": 5432}),
        ("output.database.port", 5432),
        ("aws_s3_bucket.site.bucket", "site-7f3a"),
        ("aws_s3_bucket.site.tags.Name", "site"),
        ('aws_s3_bucket.site.tags["Cost center"]', "4711"),
        ("aws_s3_bucket.site.versioning[0].enabled", True),
        ("aws_s3_bucket.site.versioning.0.enabled", True),
        ("aws_s3_bucket.site.cors_rule", []),
        ("aws_s3_bucket.logs[0].bucket", "logs-0"),
        ("aws_s3_bucket.logs[1].bucket", "logs-1"),
        ('aws_s3_bucket.by_stage["a.b"].bucket', "stage-ab"),
        ('aws_s3_bucket.by_stage["prod"].arn', "arn:aws:s3:::stage-prod"),
        ("aws_db_instance.main.port", 5432),
        ("aws_instance.worn.id", "i-0worn"),
        ("data.aws_vpc.default.id", "vpc-0default"),
        ("module.network.aws_vpc.this.id", "vpc-0main"),
        ("module.network.data.aws_vpc.peer.cidr_block", "10.9.0.0/16"),
        ('module.network.module.subnets["eu-west-1b"].aws_subnet.this.id', "subnet-0bbb"),
        ('module.cluster[0].aws_s3_bucket.state["eu-west-1"].bucket', "cluster-state"),
        ("aws_lambda_function.api.environment[0].variables.STAGE", "prod"),
        ("aws_lambda_function.api.reserved_concurrent_executions", -1),
    ],
)
def test_a_value_is_found_by_its_address_and_keeps_its_type(reference: str, expected: Json, name: str) -> None:
    found = value(reference, name)
    assert found == expected
    assert type(found) is type(expected)


@both
@pytest.mark.parametrize(
    ("reference", "part"),
    [
        ("output.password", None),
        ("aws_db_instance.main.password", None),
        ("random_password.db.result", None),
        ("random_password.db.bcrypt_hash", None),
        ("aws_ssm_parameter.url.value", None),
        ("aws_lambda_function.api.environment[0].variables.API_KEY", None),
        ('aws_lambda_function.api.environment["0"].variables.API_KEY', None),
        ("aws_lambda_function.api.environment[0].variables", ".API_KEY"),
        ("aws_lambda_function.api.environment[0]", ".variables.API_KEY"),
        ("aws_lambda_function.api.environment", "[0].variables.API_KEY"),
    ],
)
def test_what_is_sensitive_is_refused_unless_it_is_asked_for(reference: str, part: str | None, name: str) -> None:
    with pytest.raises(SensitiveError, match="is not given out") as refused:
        value(reference, name)
    assert refused.value.part == (part or "")
    assert "Give --allow with this address" in str(refused.value)
    assert not any(secret in str(refused.value) + repr(refused.value) for secret in SECRETS)
    assert any(secret in str(value(reference, name, sensitive=True)) for secret in SECRETS)


@both
def test_what_is_in_something_sensitive_is_not_even_reported_to_be_missing(name: str) -> None:
    """Its keys may be secrets themselves."""
    with pytest.raises(SensitiveError):
        value("output.password.nothing", name)
    with pytest.raises(NoSuchStateAttributeError, match="is a single value"):
        value("output.password.nothing", name, sensitive=True)


@both
def test_no_error_and_no_representation_shows_a_value(name: str) -> None:
    assert not any(secret in repr(state(name)) for secret in SECRETS)


def test_both_forms_hold_the_same() -> None:
    stored, shown = state(STORED), state(SHOWN)
    both_of = [
        {at: (each.value, each.sensitive | each.guessed) for at, each in of.held.items()} for of in (stored, shown)
    ]
    assert both_of[0] == both_of[1]
    assert len(stored.held) == 21


@both
def test_an_object_that_is_to_be_destroyed_is_never_found(name: str) -> None:
    with pytest.raises(NoSuchAddressError):
        value("aws_instance.gone.id", name)
    assert "logs-0-old" not in str([held.value for held in state(name).held.values()])


@both
@pytest.mark.parametrize(
    ("reference", "instances"),
    [
        ("aws_s3_bucket.logs.bucket", ["aws_s3_bucket.logs[0]", "aws_s3_bucket.logs[1]"]),
        ("aws_s3_bucket.logs[2].bucket", ["aws_s3_bucket.logs[0]", "aws_s3_bucket.logs[1]"]),
        ("aws_s3_bucket.by_stage.bucket", ['aws_s3_bucket.by_stage["a.b"]', 'aws_s3_bucket.by_stage["prod"]']),
        ("aws_s3_bucket.site[0].bucket", ["aws_s3_bucket.site"]),
        ("module.cluster.aws_s3_bucket.state.bucket", ['module.cluster[0].aws_s3_bucket.state["eu-west-1"]']),
    ],
)
def test_a_resource_with_instances_names_them(reference: str, instances: list[str], name: str) -> None:
    with pytest.raises(NoSuchAddressError, match="is no single resource") as refused:
        value(reference, name)
    assert refused.value.close == instances
    assert all(each in str(refused.value) for each in instances)


def test_an_unknown_address_names_the_closest() -> None:
    with pytest.raises(NoSuchAddressError, match=r"Did you mean output\.bucket or output\.subnet_ids\?"):
        value("output.buckett")
    with pytest.raises(NoSuchAddressError, match=re.escape("Did you mean module.network.aws_vpc.this")):
        value("module.network.aws_vpc.that.id")
    with pytest.raises(NoSuchAddressError, match="It holds 16 resources and 5 outputs"):
        value("google_pubsub_topic.zzz.id")


@pytest.mark.parametrize(
    ("reference", "there"),
    [
        ("aws_s3_bucket.site.arm", r"has no \.arm\. It has arn"),
        ("aws_s3_bucket.site.zzzzz", r"has no \.zzzzz\. It has acceleration_status, acl, arn, bucket, bucket_domain_"),
        ('aws_s3_bucket.site.tags["a b"]', r'has no \["a b"\]\. It has Cost center and Name'),
        ("aws_s3_bucket.site.tags[3]", r"has no \[3\]"),
        ("aws_s3_bucket.logs[0].tags.Name", r"has no \.Name\. It is null"),
        ("aws_s3_bucket.logs[0].tags_all.Name", r"has no \.Name\. It is empty"),
        ("aws_s3_bucket.site.versioning[1].enabled", r"has no \[1\]\. It is a list of 1, which are counted from \[0\]"),
        ("aws_s3_bucket.site.versioning.enabled", r"has no \.enabled\. It is a list of 1"),
        ("aws_s3_bucket.site.cors_rule[0].id", r"has no \[0\]\. It is an empty list"),
        ("aws_s3_bucket.site.arn.x", r"site\.arn has no \.x\. It is a single value"),
    ],
)
def test_what_is_not_there_is_reported_with_what_is(reference: str, there: str) -> None:
    with pytest.raises(NoSuchStateAttributeError, match=there):
        value(reference)


def test_what_is_null_is_no_value() -> None:
    with pytest.raises(UnsetError, match=r"aws_s3_bucket\.site\.acl is null"):
        value("aws_s3_bucket.site.acl")


NOT_STATES: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", "it is empty"),
    "blanks": (b" \n", "it is empty"),
    "HCL": (b'resource "x" "y" {}', "it is not JSON"),
    "a plan file, which is a zip": (b"PK\x03\x04\xff", "it is not JSON"),
    "deep": (b"[" * 100_000, "it has more than 200 levels of maps and lists"),
    "a list": (b"[]", "it is no JSON object"),
    "an object": (b"{}", "it has neither the form"),
    "a package": (b'{"version": "1.0.0"}', "it has neither the form"),
    "numbered": (b'{"version": 4}', "it has neither the form"),
    "encrypted": (
        b'{"serial":1,"lineage":"x","meta":{"key_provider.pbkdf2.k":"x"},"encrypted_data":"x","encryption_version":"v0"}',
        "OpenTofu has encrypted it, and tofu show -json decrypts it",
    ),
    "version 3": (
        b'{"version":3,"terraform_version":"0.11.14","serial":1,"lineage":"x","modules":[]}',
        "it is a state file of version 3, and Terraform 0.12 or later rewrites it with terraform apply",
    ),
    "version 5": (b'{"version":5,"resources":[]}', "it is a state file of version 5, and it is newer"),
    "a plan": (b'{"format_version":"1.2","planned_values":{}}', "it is a plan"),
    "shown by 0.12": (b'{"format_version":"0.1","values":{}}', "its format_version is 0.1; Terraform 1.1 or later"),
    "shown by 3": (b'{"format_version":"2.0"}', "its format_version is 2.0"),
    "shown by nobody": (b'{"format_version":1}', "its format_version is no text"),
}


@pytest.mark.parametrize("what", NOT_STATES)
def test_what_is_no_state_is_refused_with_its_reason(what: str) -> None:
    content, reason = NOT_STATES[what]
    with pytest.raises(NotAStateError) as refused:
        read_state(content, "x.json")
    assert str(refused.value).startswith(f"x.json is no Terraform state: {reason}")
    assert len(str(refused.value)) < REASON_LIMIT


@pytest.mark.parametrize(
    ("name", "change", "where"),
    [
        (STORED, lambda it: it.update(resources={}), "resources"),
        (STORED, lambda it: it.update(outputs=[]), "outputs"),
        (STORED, lambda it: it["resources"].append(1), "resources[15].instances"),
        (STORED, lambda it: it["resources"][0].update(mode="list"), "resources[0]"),
        (STORED, lambda it: it["resources"][0].update(module="nonsense"), "resources[0] is in a module"),
        (STORED, lambda it: it["resources"][0]["instances"][0].update(index_key=1.5), "resources[0]"),
        (STORED, lambda it: it["resources"][0]["instances"][0].update(attributes=[]), "resources[0].attributes"),
        (
            STORED,
            lambda it: it["resources"][0]["instances"][0].update(sensitive_attributes=[1]),
            "sensitive_attributes",
        ),
        (STORED, lambda it: it["outputs"].update(x=1), "outputs.x.sensitive"),
        (
            STORED,
            lambda it: it["resources"][0].update(instances=[{"attributes_flat": {"id": "1"}}]),
            "resources[0] was written by Terraform 0.11",
        ),
        (SHOWN, lambda it: it.update(values=[]), "values"),
        (SHOWN, lambda it: it["values"]["root_module"].update(child_modules=[1]), "root_module.child_modules"),
        (SHOWN, lambda it: it["values"]["root_module"]["resources"][0].update(values=1), "root_module.values"),
    ],
)
def test_a_state_that_is_damaged_is_refused_with_the_place(
    name: str, change: Callable[[dict[str, Any]], object], where: str
) -> None:
    with pytest.raises(NotAStateError) as refused:
        read_state(changed(name, change), name)
    assert where in str(refused.value)
    assert not any(secret in str(refused.value) for secret in SECRETS)


def test_a_state_that_holds_nothing_is_one() -> None:
    empty = b'{"version":4,"terraform_version":"1.9.8","serial":1,"lineage":"x","outputs":{},"resources":[]}'
    for content in (empty, b'{"format_version":"1.0"}'):
        with pytest.raises(NoSuchAddressError, match="It holds no resources and no outputs"):
            value_of(read_state(content, "empty"), TerraformReference.parse("output.x"), sensitive=False)


def test_numbers_may_be_written_as_floats_and_unknown_steps_hide_more_rather_than_less() -> None:
    def change(it: dict[str, Any]) -> None:
        it["resources"][6]["instances"][0]["index_key"] = 0.0
        marked = it["resources"][4]["instances"][0]["sensitive_attributes"][0]
        marked[1]["value"]["value"] = 0.0
        marked[3]["value"] = {"value": True, "type": "bool"}

    held = read_state(changed(STORED, change), "x")
    assert value_of(held, TerraformReference.parse("aws_s3_bucket.logs[0].bucket"), sensitive=False) == "logs-0"
    with pytest.raises(SensitiveError):
        value_of(
            held, TerraformReference.parse("aws_lambda_function.api.environment[0].variables.STAGE"), sensitive=False
        )


@pytest.mark.parametrize(
    ("attribute", "given", "guarded"),
    [
        ("master_password", "x", True),
        ("client_secret", "x", True),
        ("private_key_pem", "x", True),
        ("token", "x", True),
        ("password_length", "x", False),
        ("secret_arn", "x", False),
        ("manage_master_user_password", True, False),
        ("password", "", False),
        ("secret_string", None, False),
        ("github_token", "x", True),
        ("primary_access_key", "x", True),
        ("primary_connection_string", "x", True),
        ("passwd", "x", True),
        ("passwords", ["x"], True),
        ("secrets", {"a": "x"}, True),
        ("credentials", [{"json": "x"}], True),
        ("kubeconfig", "x", True),
        ("kube_config_raw", "x", True),
        ("kube_config", [{"host": "x"}], True),
        ("secretKey", "x", True),
        ("dbPassword", "x", True),
        ("APIKey", "x", True),
        ("password_hash", "x", True),
        ("private_key_pem_pkcs8", "x", True),
        ("access_key_id", "x", False),
        ("key_name", "x", False),
        ("tokenizer", "x", False),
        ("secrets", [], False),
        ("authorizer_credentials", "arn:aws:iam::111111111111:role/api", False),
        ("client_secret_arn", "arn:aws:secretsmanager:eu-west-1:111111111111:secret:db-x", False),
        ("master_user_secret", [{"secret_arn": "arn:aws:secretsmanager:eu-west-1:111111111111:secret:db-x"}], False),
        ("credentials", [{"role": "arn:aws:iam::111111111111:role/api", "key": "x"}], True),
        ("http_tokens", "required", False),
        ("token_validity_units", [{"access_token": "hours"}], False),
    ],
)
def test_a_state_file_s_attributes_that_are_called_like_secrets_are_taken_for_sensitive(
    attribute: str, given: object, *, guarded: bool
) -> None:
    """A state file does not always say what a provider declares to be sensitive; what is shown does."""

    def stored(it: dict[str, Any]) -> None:
        it["resources"][7]["instances"][0]["attributes"]["nested"] = [{attribute: given}]

    def shown(it: dict[str, Any]) -> None:
        site = next(each for each in it["values"]["root_module"]["resources"] if each["name"] == "site")
        site["values"]["nested"] = [{attribute: given}]

    reference = TerraformReference.parse("aws_s3_bucket.site.nested")
    file = read_state(changed(STORED, stored), "x")
    if guarded:
        with pytest.raises(SensitiveError):
            value_of(file, reference, sensitive=False)
    else:
        assert value_of(file, reference, sensitive=False) == [{attribute: given}]
    assert value_of(read_state(changed(SHOWN, shown), "x"), reference, sensitive=False) == [{attribute: given}]


@pytest.mark.parametrize(
    ("kind", "attribute", "given"),
    [
        ("aws_kms_secrets", "plaintext", {"db": "x"}),
        ("kubernetes_secret", "data", {"db": "x"}),
        ("local_sensitive_file", "content", "x"),
        ("aws_api_gateway_api_key", "value", "x"),
        ("aws_appsync_api_key", "key", "x"),
        ("aws_ssm_parameters_by_path", "values", ["x"]),
    ],
)
def test_so_are_those_that_are_secrets_in_resources_of_one_type(kind: str, attribute: str, given: Json) -> None:
    def resource(type_name: str) -> bytes:
        instance = {"attributes": {attribute: given, "open": {attribute: "y"}}}
        made = {"mode": "managed", "type": type_name, "name": "n", "instances": [instance]}
        return json.dumps({"version": 4, "lineage": "x", "resources": [made]}).encode()

    with pytest.raises(SensitiveError):
        value_of(read_state(resource(kind), "x"), TerraformReference.parse(f"{kind}.n.{attribute}"), sensitive=False)
    open_one = value_of(read_state(resource("t"), "x"), TerraformReference.parse("t.n.open"), sensitive=False)
    assert open_one == {attribute: "y"}


REAL = ("real.tfstate", "real.show.json")
"""Of one state, as Terraform 1.11.4 has written it."""


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("output.plain", "x"),
        ("output.obj.a[1].b", "c"),
        ("terraform_data.one.output", {"flag": True, "list": [1, 2], "name": "x", "port": 8080}),
        ("terraform_data.one.output.port", 8080),
        ("terraform_data.one.input.list[1]", 2),
        ("terraform_data.cnt[1].output", "c1"),
        ('terraform_data.fe["q\\"uote"].output', 'q"uote'),
        ('terraform_data.fe["$${x}"].output', "${x}"),
        ('terraform_data.fe["new\\nline"].output', "new\nline"),
        ('module.m["k.l"].terraform_data.in.output', "k.l"),
        ("terraform_data.secret.input.open", "o"),
    ],
)
def test_what_terraform_itself_has_written_is_read(reference: str, expected: Json, name: str) -> None:
    assert value(reference, name) == expected


@pytest.mark.parametrize("name", REAL)
def test_a_sensitive_value_of_an_open_type_is_kept_back(name: str) -> None:
    for reference in ("terraform_data.secret.input.closed", "terraform_data.secret.input", "output.secret"):
        with pytest.raises(SensitiveError):
            value(reference, name)
        assert "hunter2" in str(value(reference, name, sensitive=True))


def test_both_forms_of_a_state_by_terraform_itself_answer_alike() -> None:
    stored, shown = map(state, REAL)
    assert {each: held.value for each, held in stored.held.items()} == {
        each: held.value for each, held in shown.held.items()
    }
    assert {each: held.sensitive for each, held in stored.held.items()} == {
        each: held.sensitive for each, held in shown.held.items()
    }


@pytest.mark.parametrize(
    ("given", "kind", "unwrapped"),
    [
        ("x", "string", True),
        (5, "number", True),
        (True, "number", False),
        (True, "bool", True),
        (None, "dynamic", True),
        ("x", "dynamic", False),
        (["a"], ["set", "string"], True),
        (["a", 1], ["list", "string"], False),
        ({"a": "b"}, ["map", "string"], True),
        ({"a": 1}, ["map", "string"], False),
        (["a", 1], ["tuple", ["string", "number"]], True),
        (["a"], ["tuple", ["string", "number"]], False),
        ({"a": None}, ["object", {"a": ["list", "string"]}], True),
        ({"b": 1}, ["object", {"a": "number"}], False),
        ("x", "A", False),
        ("x", ["capsule", "A"], False),
        (None, ["object", {"a": "string"}], True),
    ],
)
def test_only_what_is_of_the_type_that_stands_next_to_it_is_taken_out(
    given: Json, kind: Json, *, unwrapped: bool
) -> None:
    """A record of DNS has a value and a type, too."""
    attributes = {"a": {"value": given, "type": kind}}
    (held,) = read_state(as_stored(attributes, set()), "x").held.values()
    assert held.value == ({"a": given} if unwrapped else attributes)
    (held,) = read_state(as_stored(attributes["a"], set()), "x").held.values()
    assert held.value == attributes["a"]


def test_a_map_of_a_value_and_a_type_is_itself() -> None:
    """Terraform writes the keys of maps in order; of a value of an open type, it writes the value first."""
    attributes = {"tags": {"type": "string", "value": "x"}, "rules": [{"type": "number", "value": 5}]}
    (held,) = read_state(as_stored(attributes, set()), "x").held.values()
    assert held.value == attributes
    outputs = {"a": {"value": {"value": "x", "type": "string"}, "type": ["map", "string"]}}
    (held,) = read_state(json.dumps({"version": 4, "lineage": "x", "outputs": outputs}).encode(), "x").held.values()
    assert held.value == {"value": "x", "type": "string"}


def test_what_is_within_a_value_of_an_open_type_is_as_it_is() -> None:
    """Its type stands beside the whole of it."""
    record: Json = {"value": "x", "type": "string"}
    attributes = {"a": {"value": record, "type": ["object", {"value": "string", "type": "string"}]}, "b": [record]}
    (held,) = read_state(as_stored(attributes, set()), "x").held.values()
    assert held.value == {"a": record, "b": ["x"]}


def test_a_mark_that_leads_to_nothing_any_more_hides_what_it_is_in() -> None:
    """What only looks like a value of an open type is distinguished by nothing else."""
    attributes = {"a": {"value": {"k": "SECRET"}, "type": ["map", "string"]}, "b": "open", "c": ["open"]}
    held = read_state(as_stored(attributes, {("a", "value", "k"), ("c", 0, "d"), ("e", "f")}), "x")
    for path, there in (("a.k", False), ("a", False), ("b", True), ("c", False)):
        assert outcome(held, TerraformReference.parse(f"t.n.{path}"))[0] is there


scalars = st.none() | st.booleans() | st.integers(0, 9) | st.from_regex(r"open [a-z]{4}", fullmatch=True)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


def paths_in(tree: object, above: Path_ = ()) -> Iterator[Path_]:
    yield above
    if isinstance(tree, dict | list):
        for key, below in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from paths_in(below, (*above, key))


def with_secrets(tree: Any, marked: set[Path_], above: Path_ = (), *, hidden: bool = False) -> Any:
    """The tree with every leaf below a marked path a secret."""
    hidden = hidden or above in marked
    if isinstance(tree, dict):
        return {key: with_secrets(below, marked, (*above, key), hidden=hidden) for key, below in tree.items()}
    if isinstance(tree, list):
        return [with_secrets(below, marked, (*above, at), hidden=hidden) for at, below in enumerate(tree)]
    return "SECRET" if hidden else tree


def as_stored(attributes: object, marked: set[Path_]) -> bytes:
    def step(each: str | int, *, first: bool) -> dict[str, object]:
        if first:
            return {"type": "get_attr", "value": each}
        return {"type": "index", "value": {"value": each, "type": "string" if isinstance(each, str) else "number"}}

    sensitive = [[step(each, first=not at) for at, each in enumerate(path)] for path in marked]
    instance = {"schema_version": 0, "attributes": attributes, "sensitive_attributes": sensitive}
    resource = {"mode": "managed", "type": "t", "name": "n", "provider": "p", "instances": [instance]}
    return json.dumps({"version": 4, "lineage": "x", "resources": [resource]}).encode()


def as_shown(attributes: object, marked: set[Path_]) -> bytes:
    def flags(tree: object, above: Path_ = ()) -> object:
        if above in marked:
            return True
        if isinstance(tree, dict):
            below = {key: flags(value, (*above, key)) for key, value in tree.items()}
            return {key: value for key, value in below.items() if value is not False}
        return [flags(value, (*above, at)) for at, value in enumerate(tree)] if isinstance(tree, list) else False

    resource = {
        "mode": "managed",
        "type": "t",
        "name": "n",
        "values": attributes,
        "sensitive_values": flags(attributes),
    }
    return json.dumps({"format_version": "1.0", "values": {"root_module": {"resources": [resource]}}}).encode()


@pytest.mark.parametrize("written", [as_stored, as_shown])
@given(data=st.data(), tree=st.dictionaries(st.sampled_from("abc"), trees, min_size=1, max_size=3))
def test_whatever_is_marked_as_sensitive_is_never_given_out_and_all_else_is(
    written: Callable[[object, set[Path_]], bytes], data: st.DataObject, tree: dict[str, Any]
) -> None:
    paths = [path for path in paths_in(tree) if path]
    marked = set(data.draw(st.lists(st.sampled_from(paths), max_size=3)))
    attributes = with_secrets(tree, marked)
    held = read_state(written(attributes, marked), "x")
    for path in paths:
        reference = TerraformReference(TerraformResource((), "managed", "t", "n"), path)
        concerned = any(path[: len(each)] == each or each[: len(path)] == path for each in marked)
        given_out, reported = outcome(held, reference)
        assert given_out != concerned
        assert "SECRET" not in reported


def outcome(held: TerraformState, reference: TerraformReference) -> tuple[bool, str]:
    """Whether something was not kept back, and what was reported."""
    try:
        return True, str(value_of(held, reference, sensitive=False))
    except SensitiveError as error:
        return False, str(error)
    except UnsetError as error:
        return True, str(error)


LONG = "x" * 5000


@pytest.mark.parametrize(
    "error",
    [
        errors.BadAddressError(LONG, "it has no end"),
        errors.NotAStateError(LONG, LONG),
        errors.StateNotReadError(LONG, LONG),
        errors.NoSuchStateError(LONG, [LONG] * 9),
        errors.StateTwiceError(LONG),
        errors.NoSuchAddressError(LONG, LONG, [LONG] * 9, indexed=True, holds="1 resource"),
        errors.NoSuchAddressError(LONG, LONG, [LONG] * 9, indexed=False, holds="1 resource"),
        errors.NoSuchStateAttributeError(LONG, LONG, LONG),
        errors.UnsetError(LONG),
        errors.SensitiveError(LONG, LONG),
        cdk8s_errors.OutputNotDefinedError(LONG, needs_app=True),
        cdk8s_errors.UnreadableTokenError(LONG, LONG),
        cdk8s_errors.NotANumberError(LONG, LONG),
        SelectError(5, None),
        cdk8s_errors.StackNotGivenError(LONG, LONG),
        cdk8s_errors.OneStateError([LONG] * 9),
        cdk8s_errors.LeftOverError(LONG, "a token of the CDK"),
        cdk8s_errors.LeftOverError(f"${{token[{LONG}]}}", "a token of the CDK"),
        cdk8s_errors.SeveralStacksError(LONG, [LONG] * 9),
        cdk8s_errors.UnknownSchemeError(LONG, ["env"]),
        cdk8s_errors.NotAReferenceError(LONG),
        cdk8s_errors.UnknownBackendError(LONG, "http"),
        cdk8s_errors.NothingResolvedError(LONG),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_short_whatever_it_is_about(error: StrongRefError) -> None:
    assert len(str(error)) < REASON_LIMIT


# Where states come from.


def aws(role: str | None = None) -> Aws:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    return Aws(Accounts(Clients(boto3.Session()), EU, limiter, clock, role), limiter, clock, EU)


def nobody() -> Aws:
    raise AssertionError


def source(
    *given: str, sensitive: bool = False, allow: Iterable[str] = (), through: Callable[[], Aws] = nobody
) -> TerraformStates:
    return TerraformStates(given, through, sensitive=sensitive, allow=allow)


def fetched(states: TerraformStates, reference: str) -> Json:
    return states.fetch(Token(TF, reference))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        client = boto3.client("s3", EU)
        client.create_bucket(Bucket="states", CreateBucketConfiguration={"LocationConstraint": EU})
        client.put_object(Bucket="states", Key="env:/prod/site@1.tfstate", Body=(STATES / STORED).read_bytes())
        yield client


def test_a_state_is_read_from_a_file_once_and_only_if_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "terraform.tfstate"
    states = source(str(file))
    file.write_bytes((STATES / STORED).read_bytes())
    states.prefetch([Token(TF, "output.bucket")])
    assert fetched(states, "output.bucket") == "site-7f3a"
    file.unlink()
    assert fetched(states, "aws_s3_bucket.site.arn") == "arn:aws:s3:::site-7f3a"


def test_a_file_that_cannot_be_read_says_so_each_time(tmp_path: Path) -> None:
    states = source(str(tmp_path / "none"), f"folder={tmp_path}")
    for _ in range(2):
        with pytest.raises(StateNotReadError, match=r"none cannot be read: no such file or directory\."):
            fetched(states, "output.bucket")
    with pytest.raises(StateNotReadError, match="is a directory"):
        fetched(states, "folder/output.bucket")


@pytest.mark.parametrize(("given", "reported"), [("{}", "have no name"), ("net={}", "are named net")])
def test_two_states_of_one_name_are_refused(given: str, reported: str) -> None:
    with pytest.raises(errors.StateTwiceError, match=f"Two Terraform states {reported}. Give all but one a name"):
        source(given.format(STATES / STORED), given.format(STATES / SHOWN))


def test_several_states_are_distinguished_by_their_names() -> None:
    states = source(str(STATES / STORED), f"shown={STATES / SHOWN}")
    address = 'aws_s3_bucket.by_stage["a.b"].bucket'
    assert fetched(states, f"shown/{address}") == fetched(states, address)
    with pytest.raises(
        NoSuchStateError, match=r"No Terraform state named net is given\. There is one without a name and"
    ):
        fetched(states, "net/output.bucket")
    with pytest.raises(NoSuchStateError, match=r"without a name is given\. There is shown\. Give --tf STATE\."):
        fetched(source(f"shown={STATES / SHOWN}"), "output.bucket")
    with pytest.raises(NoSuchStateError, match=r"No Terraform state without a name is given\. Give --tf STATE\."):
        fetched(source(), "output.bucket")
    with pytest.raises(BadAddressError):
        fetched(states, "shown/output")


def test_sensitive_values_are_given_out_if_asked_for() -> None:
    given = str(STATES / STORED)
    with pytest.raises(SensitiveError):
        fetched(source(given), "output.password")
    assert fetched(source(given, sensitive=True), "output.password") == "correct-horse"


@pytest.mark.parametrize(
    ("allowed", "references"),
    [
        ("output.password", ["output.password"]),
        ("aws_db_instance.main.password", ["aws_db_instance.main.password"]),
        ("aws_db_instance.main", ["aws_db_instance.main.password"]),
        (
            "aws_lambda_function.api.environment[0].variables.API_KEY",
            [f"aws_lambda_function.api.environment{path}" for path in ("[0].variables.API_KEY", "[0].variables", "")],
        ),
        ("aws_lambda_function.api.environment", ["aws_lambda_function.api.environment[0].variables.API_KEY"]),
    ],
)
def test_a_sensitive_value_is_given_out_if_its_address_is_allowed(allowed: str, references: list[str]) -> None:
    for name in (STORED, SHOWN):
        states = source(str(STATES / name), f"other={STATES / name}", allow=[allowed])
        elsewhere = source(str(STATES / name), f"other={STATES / name}", allow=[f"other/{allowed}"])
        for reference in references:
            everything = fetched(source(str(STATES / name), sensitive=True), reference)
            assert fetched(states, reference) == fetched(states, f"other/{reference}") == everything
            assert fetched(elsewhere, f"other/{reference}") == everything
            with pytest.raises(SensitiveError):
                fetched(elsewhere, reference)
        with pytest.raises(SensitiveError):
            fetched(states, "random_password.db.result")


def test_what_is_allowed_has_to_be_an_address() -> None:
    with pytest.raises(BadAddressError, match="password is no address of a value"):
        source(str(STATES / STORED), allow=["password"])


def test_only_what_a_name_says_is_called_a_guess() -> None:
    """What the provider or the configuration marks is sensitive for sure."""
    attributes = {"password": "x", "login": [{"token": "x", "role": "arn:aws:iam::111111111111:role/api"}], "a": "x"}
    states = read_state(as_stored(attributes, {("password",)}), "x")
    for path, guess in {"password": False, "login": True, "login[0].token": True, "a": None}.items():
        reference = TerraformReference.parse(f"t.n.{path}")
        if guess is None:
            assert value_of(states, reference, sensitive=False) == "x"
            continue
        with pytest.raises(SensitiveError) as refused:
            value_of(states, reference, sensitive=False)
        assert ("has the name of a secret, which is only a guess" in str(refused.value)) is guess
        assert ("is sensitive in Terraform" in str(refused.value)) is not guess
    role = TerraformReference.parse("t.n.login[0].role")
    assert value_of(states, role, sensitive=False) == "arn:aws:iam::111111111111:role/api"


@pytest.mark.usefixtures("bucket")
def test_a_state_is_read_from_s3() -> None:
    states = source("s3://states/env:/prod/site@1.tfstate", through=aws)
    assert fetched(states, "output.bucket") == "site-7f3a"


@pytest.mark.usefixtures("bucket")
def test_a_state_in_another_region_and_account_is_read_by_its_role() -> None:
    """Moto keeps one account's buckets apart from another's: what the role finds is its own account's."""
    given = boto3.client("sts", EU).assume_role(
        RoleArn="arn:aws:iam::222222222222:role/reader", RoleSessionName="test"
    )["Credentials"]
    there = boto3.client(
        "s3",
        "us-east-1",
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )
    there.create_bucket(Bucket="theirs")
    there.put_object(Bucket="theirs", Key="a/b#c", Body=(STATES / SHOWN).read_bytes())
    where = "s3://theirs/a/b#c@us-east-1#222222222222"
    assert fetched(source(where, through=lambda: aws("arn:aws:iam::ACCOUNT:role/reader")), "output.private") is True
    with pytest.raises(StrongRefError, match="Give the role to assume in it"):
        fetched(source(where, through=aws), "output.private")


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("s3://states/none", "there is no such object in the bucket; a workspace's is at env:/WORKSPACE/KEY"),
        ("s3://none/none", "there is no such bucket"),
        ("s3://states", "it should look like s3://BUCKET/KEY"),
        ("s3://states/", "it should look like s3://BUCKET/KEY"),
        ("s3://states/key@nowhere-1", "there is no such object"),
        ("s3://sta tes/key", "GetObject in eu-west-1 failed: ParamValidationError"),
    ],
)
def test_what_cannot_be_read_from_s3_says_why(where: str, problem: str) -> None:
    with pytest.raises(StateNotReadError) as refused:
        fetched(source(where, through=aws), "output.bucket")
    assert problem in str(refused.value)
    assert where in str(refused.value)


@pytest.mark.usefixtures("bucket")
def test_an_object_that_breaks_off_in_the_middle_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Body:
        def read(self) -> bytes:
            raise ReadTimeoutError(endpoint_url="https://s3")

    class Broken:
        def get_object(self, **_: str) -> dict[str, Body]:
            return {"Body": Body()}

    monkeypatch.setattr(Clients, "s3", lambda _clients, _region: Broken())
    with pytest.raises(StateNotReadError, match=r"cannot be read: ReadTimeoutError\."):
        fetched(source("s3://states/x", through=aws), "output.bucket")
