"""Terraform's addresses: every one is read as it is written, and what is none is refused with a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.text import REASON_LIMIT
from strongref_manifests.errors import BadAddressError
from strongref_manifests.terraform.addresses import (
    TerraformModule,
    TerraformOutput,
    TerraformReference,
    TerraformResource,
    modules_in,
)
from strongref_manifests.tokens import TF, Token, parse

names = st.from_regex(r"[A-Za-z_é][A-Za-z0-9_é-]{0,8}", fullmatch=True)
positions = st.integers(0, 10**6)
keys = positions | st.text(max_size=12)
modules = st.lists(st.builds(TerraformModule, names, st.none() | keys), max_size=3).map(tuple)
resources = st.builds(
    TerraformResource,
    modules,
    st.sampled_from(["managed", "data"]),
    names.filter(lambda name: name not in ("data", "module", "output", "var", "local", "each", "count")),
    names,
    st.none() | keys,
)
paths = st.lists(names | keys, max_size=4).map(tuple)
references = st.builds(TerraformReference, st.builds(TerraformOutput, names), paths) | st.builds(
    lambda resource, first, more: TerraformReference(resource, (first, *more)), resources, names, paths
)


@given(references)
def test_what_is_written_is_read_again(reference: TerraformReference) -> None:
    assert TerraformReference.parse(str(reference)) == reference


@given(references.filter(lambda reference: str(reference).isprintable()))
def test_every_address_can_stand_in_a_token(reference: TerraformReference) -> None:
    """Whatever the keys in it are: quoted, they may hold what would end a token, or its region."""
    token = Token(TF, str(reference))
    assert parse(f"a{token}b") == ["a", token, "b"]


def _refusal(text: str) -> str | None:
    try:
        TerraformReference.parse(text)
    except BadAddressError as error:
        return str(error)
    return None


@given(st.text(alphabet='ab.[]"0\\ $', max_size=40))
def test_any_other_text_is_refused_with_a_reason_and_nothing_else(text: str) -> None:
    refused = _refusal(text)
    if refused is None:
        assert str(TerraformReference.parse(str(TerraformReference.parse(text)))) == str(TerraformReference.parse(text))
    else:
        assert refused.startswith(f"{text} is no address of a value in a Terraform state: ")
        assert len(refused) < REASON_LIMIT


@given(modules)
def test_the_address_of_a_module_is_read_as_its_levels(levels: tuple[TerraformModule, ...]) -> None:
    assert modules_in(".".join(map(str, levels))) == levels


@pytest.mark.parametrize(
    ("text", "target", "path"),
    [
        ("output.bucket", TerraformOutput("bucket"), ()),
        ("output.database.port", TerraformOutput("database"), ("port",)),
        ('output.database["a b"][0].1', TerraformOutput("database"), ("a b", 0, 1)),
        ("aws_s3_bucket.b.bucket", TerraformResource((), "managed", "aws_s3_bucket", "b"), ("bucket",)),
        ("aws_s3_bucket.b[0].bucket", TerraformResource((), "managed", "aws_s3_bucket", "b", 0), ("bucket",)),
        ("aws_s3_bucket.b.0.bucket", TerraformResource((), "managed", "aws_s3_bucket", "b", 0), ("bucket",)),
        (
            'module.x["k"].aws_s3_bucket.b["a.b"].tags.Name',
            TerraformResource((TerraformModule("x", "k"),), "managed", "aws_s3_bucket", "b", "a.b"),
            ("tags", "Name"),
        ),
        (
            "module.x.module.y[1].data.aws_vpc.main.id",
            TerraformResource((TerraformModule("x"), TerraformModule("y", 1)), "data", "aws_vpc", "main"),
            ("id",),
        ),
        (
            r'aws_x.b["\"\\\n\u00e9\U0001f600$${%%{$$"].id',
            TerraformResource((), "managed", "aws_x", "b", '"\\\né😀${%{$$'),
            ("id",),
        ),
    ],
)
def test_each_form_of_an_address_is_understood(
    text: str, target: TerraformOutput | TerraformResource, path: tuple[str | int, ...]
) -> None:
    understood = TerraformReference(target, path)
    assert TerraformReference.parse(text) == understood
    assert TerraformReference.parse(str(understood)) == understood


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it cannot be read from character 1 on"),
        ("[0].x", "it cannot be read from character 1 on"),
        ("0.x", "it cannot be read from character 1 on"),
        ("aws_s3_bucket.b.tags[", "it cannot be read from character 21 on"),
        ("aws_s3_bucket.b[Name].id", "it cannot be read from character 16 on"),
        ("output", "the output's name is missing"),
        ("output[0]", "the output's name is missing"),
        ("data", "a resource's type is missing"),
        ("data.aws_vpc", "a resource's name is missing"),
        ("aws_s3_bucket", "a resource's name is missing"),
        ("aws_s3_bucket.b", "it ends where an attribute's name should follow"),
        ("aws_s3_bucket.b[0]", "it ends where an attribute's name should follow"),
        ('aws_s3_bucket.b[0]["arn"]', "it ends where an attribute's name should follow"),
        ("module", "a module's name is missing"),
        ("module.x", "a resource's type is missing"),
        ("module.x.vpc_id", "it may be a module's output, which no state holds"),
        ("var.stage", "it is a variable, which no state holds"),
        ("local.stage", "it is a local value, which no state holds"),
        ("each.key", "it is an iteration's own"),
        (r'aws_x.b["\q"].id', "a backslash before what needs none"),
        (r'aws_x.b["\UFFFFFFFF"].id', "a character that there is not"),
    ],
)
def test_what_is_no_address_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(BadAddressError) as refused:
        TerraformReference.parse(text)
    assert reason in str(refused.value)


def test_a_module_s_address_holds_modules_alone() -> None:
    with pytest.raises(BadAddressError, match="only modules may stand"):
        modules_in("module.x.aws_s3_bucket.b")
