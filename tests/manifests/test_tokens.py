"""The grammar of tokens: what is one, what is left alone, and what looks like one that nobody has resolved."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_manifests.errors import BadTokenError
from strongref_manifests.leftovers import leftover
from strongref_manifests.tokens import FORMS, NOWHERE, Part, Token, parse, text_around, tokens_in

REFERENCES = st.lists(
    st.from_regex(r'[A-Za-z0-9_./:]{1,8}|\["([^"\\\n]|\\.){0,6}"\]', fullmatch=True), min_size=1, max_size=4
).map("".join)
SUFFIXES = {
    "region": st.sampled_from([None, "eu-west-1", "us-gov-west-1"]),
    "account": st.sampled_from([None, "2" * 12]),
}
FORM = st.sampled_from([None, "text", "typed", "join", "join:,", "join: | "])
TOKENS = st.sampled_from(sorted(FORMS)).flatmap(
    lambda scheme: st.builds(Token, st.just(scheme), REFERENCES, form=FORM, **({} if scheme in NOWHERE else SUFFIXES))
)
PLAIN = st.text(st.sampled_from("${}:@#\"'\\cfn a\n") | st.characters(codec="utf-8"), min_size=1)


@st.composite
def texts(draw: st.DrawFn) -> list[Part]:
    """Tokens and text between them, no two texts in a row. A dollar right before a token would escape it."""
    parts: list[Part] = []
    for part in draw(st.lists(TOKENS | PLAIN)):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            continue
        if isinstance(part, Token) and parts and isinstance(parts[-1], str):
            parts[-1] = f"{parts[-1].rstrip('$')} "
        parts.append(part)
    return parts


def render(parts: list[Part]) -> str:
    return "".join(str(part) if isinstance(part, Token) else part.replace("${", "$${") for part in parts)


@given(texts())
def test_what_is_rendered_is_parsed_as_what_it_was(parts: list[Part]) -> None:
    assert parse(render(parts)) == parts


@given(PLAIN)
def test_text_survives_rendering_whatever_is_in_it(text: str) -> None:
    assert parse(render([text])) == [text]


@given(st.text(st.sampled_from("${}:-=?+ x"), max_size=30))
def test_text_without_our_schemes_and_without_an_escape_is_left_as_it_is(text: str) -> None:
    assert parse(text) == ([text.replace("$${", "${")] if text else [])


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("${cfn:stack.Output}", Token("cfn", "stack.Output")),
        ("${cfn:stack.Output@eu-west-1}", Token("cfn", "stack.Output", "eu-west-1")),
        ("${cfn:stack.Output#222222222222}", Token("cfn", "stack.Output", None, "222222222222")),
        ("${cfn:a.B@eu-west-1#222222222222}", Token("cfn", "a.B", "eu-west-1", "222222222222")),
        ("${cfn-attr:stack.Db.Endpoint.Address}", Token("cfn-attr", "stack.Db.Endpoint.Address")),
        ("${tf:module.x.aws_s3_bucket.b.bucket}", Token("tf", "module.x.aws_s3_bucket.b.bucket")),
        ('${tf:aws_x.y["a.b@c#d}"].attr}', Token("tf", 'aws_x.y["a.b@c#d}"].attr')),
        (r'${tf:aws_x.y["a\"}@eu-west-1"]}', Token("tf", r'aws_x.y["a\"}@eu-west-1"]')),
        ("${ssm:/name:3@eu-west-1}", Token("ssm", "/name:3", "eu-west-1")),
        ("${secret:me@example.com}", Token("secret", "me@example.com")),
        ("${env:NAME}", Token("env", "NAME")),
        ("${ssm:/a@eu-west-1|join:, }", Token("ssm", "/a", "eu-west-1", form="join:, ")),
        ('${secret:"a|text"}', Token("secret", '"a|text"')),
        ('${secret:"a|join:,"|join}', Token("secret", '"a|join:,"', form="join")),
        ('${secret:a:"b|c"}', Token("secret", 'a:"b|c"')),
    ],
)
def test_a_token_is_taken_apart(text: str, token: Token) -> None:
    assert parse(text) == [token]
    assert str(token) == text


def test_several_tokens_stand_in_one_text() -> None:
    assert parse("a${env:A}${env:B}-$${env:C}${D}") == ["a", Token("env", "A"), Token("env", "B"), "-${env:C}${D}"]
    assert [token.reference for token in tokens_in("${env:A} and ${env:A}")] == ["A", "A"]


@pytest.mark.parametrize(
    "text", ["${FOO}", "${foo:bar}", "$(FOO)", "${env:-none}", "${ssm:=x}", "$env:x", "{cfn:a.b}", "${ cfn:a.b}", "$"]
)
def test_what_is_no_token_of_ours_is_left_alone(text: str) -> None:
    assert parse(text) == [text]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("x ${cfn:a.b\n}", "${cfn:a.b is not a valid token: it has no } on its line"),
        ('${tf:a["b}', "it has no } on its line"),
        ("${env:NAME@eu-west-1}", "env values are in no region or account"),
        ("${tf:a.b.c#222222222222}", "tf values are in no region or account"),
        ("${cfn:}", "it should look like ${cfn:STACK.OUTPUT}, and then @REGION or #ACCOUNT"),
        ("${cfn:@eu-west-1}", "it should look like ${cfn:STACK.OUTPUT}"),
        ("${env:}", "it should look like ${env:NAME}. To keep the text as it is, write $${ for ${."),
    ],
)
def test_a_token_that_cannot_be_understood_is_reported(text: str, reported: str) -> None:
    with pytest.raises(BadTokenError) as refused:
        parse(text)
    assert reported in str(refused.value)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "token",
    [
        *(
            "${export:network.Ids|join:,@us-east-1}",
            "${export:network.Ids|join:,#222222222222}",
            "${secret:a:b|join:@}",
        ),
        *("${secret:a|text@us-east-1}", "${env:A|Text}", "${env:A| text}", "${env:A|join:}", "${ssm:/a|}"),
        *("${secret:a:b|c}", '${tf:aws_x.y["|text"].z|txt}', '${export:a.B|join:","}'),
    ],
)
def test_a_form_that_there_is_not_is_an_error_that_names_all_forms(token: str) -> None:
    with pytest.raises(
        BadTokenError, match=r"what follows \| must be text, typed or join:SEPARATOR, at the end,"
    ) as bad:
        parse(token)
    assert bad.value.token == token


def test_the_text_around_tokens_keeps_its_escapes() -> None:
    assert text_around("a $${x} ${env:A}b") == "a $${x}  b"


@pytest.mark.parametrize(
    "value",
    [
        "${Token[TOKEN.123]}",
        "arn:${Token[Bucket.Arn.12]}/*",
        "#{Token[TOKEN.5]}",
        "${TfToken[TOKEN.0]}",
        "#{TfToken[TOKEN.0]}",
        "&{TfToken[TOKEN.0]}",
        "TfToken[TOKEN.0]",
        "port -1.8881545897087503e+289",
        "port -8.109562212591379e+298",
        "{{resolve:ssm:/name}}",
        "${foo:bar}",
        "${foo:text-1}",
        "${AWS::Region}",
        "${Bucket.Arn}",
        "${aws_s3_bucket.b.bucket}",
        "${ }",
        "${",
        "${cfn-atr:net.Vpc.Arn}",
        "${cfn-output:net.X}",
        "${ssm-parameter:/x}",
        "${ssm/name}",
        "${cfn/x.Y}",
        "${cfn-attr}",
        "${CFN-ATTR:net.Vpc.Arn}",
        "${ssm@eu-west-1}",
        "${Secret:9abc}",
        "${token[token.603]}",
        "x-${TOKEN[BUCKET.ARN.603]}",
        "#{token[token.5]}",
        "${tftoken[token.0]}",
        "&{TFTOKEN[TOKEN.0]}",
        "tftoken[token.0]",
        "port -1.88815e+289",
        "port -8.1096E298",
        -1.888154589708e289,
        -8.10956e298,
        -18881545897087503 * 10**273,
        struct.unpack(">d", b"\xfb\xff\0\0\0\0\0\x07")[0],
        struct.unpack(">d", b"\xfd\xff\0\0\0\0\0\x07")[0],
    ],
)
def test_what_looks_like_an_unresolved_token_is_seen(value: str | float) -> None:
    found = leftover(value)
    assert found
    assert found[0] in str(value)


@pytest.mark.parametrize(
    "value",
    [
        "${HOME}",
        "${HOME:-/root} ${HOME:=x} ${HOME-x} ${HOME:?gone} ${HOME:+y}",
        "${#HOME} ${!NAME} ${LIST[@]} ${1} ${@} ${?} ${10:-x}",
        "${NAME%.*} ${NAME##*/} ${NAME/a/b} ${NAME^^} ${NAME,,} ${NAME:2:3} ${NAME@Q}",
        "$(kubectl get) $((1 + 1)) $HOME",
        "$${Token[TOKEN.1]} $${TfToken[TOKEN.1]} $${foo:bar}",
        "{{ .Values.x }}",
        "${__field.name} ${__data.fields[0].text} ${__from:date:YYYY-MM} ${server:csv} ${server:singlequote}",
        "tokens[1] Token[1] ${token[0]} ${TOKEN[1]} ${tftoken[i]}",
        "${IMAGE-nginx:latest} ${url-https://example.com} ${host-db:5432} ${NAME-a-b} ${ENV/a/b} ${env}",
        "-1.9e+288 -2e+289 -8e+298 -8.5e+298",
        -(10**400),
        -1.5,
        -1.8e300,
        7,
        True,
        None,
    ],
)
def test_what_a_shell_expands_and_what_is_escaped_is_no_unresolved_token(value: str | float | None) -> None:
    assert leftover(value) is None
