"""The resolver of tokens, and a run over several manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.memo import Memo
from strongref_manifests.errors import (
    BadTokenError,
    LooksUnresolvedError,
    NotEnabledError,
    SeveralError,
    TokenInKeyError,
    TokenNotTextError,
)
from strongref_manifests.resolution.run import SchemeResolver, path_text, resolve
from strongref_manifests.text.manifests import JSON, YAML, read
from strongref_toolkit.errors import ResolveError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_manifests.tokens import Token
    from strongref_toolkit.json_values import Json


class Absent(ResolveError):  # noqa: N818 (a test's)
    name: str
    sentence = "{name} is not there."


class Values:
    """A source of values that are given beforehand; it takes down what it is asked."""

    def __init__(self, values: dict[str, Json], scheme: str = "cfn") -> None:
        self.scheme = scheme
        self.values = values
        self.reported: list[list[str]] = []
        self.asked: list[str] = []

    def prefetch(self, tokens: Iterable[Token]) -> None:
        self.reported.append([str(token) for token in tokens])

    def fetch(self, token: Token) -> Json:
        self.asked.append(token.reference)
        if token.reference not in self.values:
            raise Absent(str(token))
        return self.values[token.reference]


def resolver(strict: bool = False, **values: Json) -> SchemeResolver:
    return SchemeResolver([Values({f"s.{name}": value for name, value in values.items()})], strict=strict)


@pytest.mark.parametrize("value", ["text", 8080, 1.5, True, None, ["a", "b"], {"a": {"b": "c"}}, "${cfn:s.Other}", ""])
def test_a_token_that_is_the_whole_value_gives_a_value_of_its_own_type(value: Json) -> None:
    assert resolver(V=value).resolve("${cfn:s.V}") == value


def test_tokens_within_text_give_text() -> None:
    made = resolver(A="a", B=8080, C=True, D=1.5, E="$${x} ${cfn:s.A}")
    assert made.resolve("${cfn:s.A}:${cfn:s.B}/${cfn:s.C}-${cfn:s.D} ${HOME} $${cfn:s.A}") == (
        "a:8080/true-1.5 ${HOME} ${cfn:s.A}"
    )
    assert made.resolve("<${cfn:s.E}>") == "<$${x} ${cfn:s.A}>"


@pytest.mark.parametrize(
    ("value", "came"), [(["a"], "a list"), ({"a": "b"}, "a map"), (None, "nothing (null)")], ids=str
)
def test_what_is_no_single_value_cannot_stand_within_text(value: Json, came: str) -> None:
    with pytest.raises(TokenNotTextError) as refused:
        resolver(V=value).resolve("x ${cfn:s.V}")
    assert str(refused.value).startswith(f"${{cfn:s.V}} is {came}, which cannot stand inside a longer text.")


def test_every_error_of_a_value_is_reported() -> None:
    with pytest.raises(SeveralError) as refused:
        resolver().resolve("${cfn:s.A} ${cfn:s.B}")
    assert str(refused.value) == "${cfn:s.A} is not there. ${cfn:s.B} is not there."
    with pytest.raises(Absent):
        resolver(A="a").resolve("${cfn:s.A} ${cfn:s.B}")


@pytest.mark.parametrize(("token", "how"), [("${ssm:/a}", "add --with ssm"), ("${tf:a.b.c}", "add --tf STATE")])
def test_a_scheme_that_is_not_enabled_is_never_left_alone(token: str, how: str) -> None:
    with pytest.raises(NotEnabledError, match=how):
        resolver().resolve(token)


@pytest.mark.parametrize("value", ["${Token[TOKEN.1]} ${cfn:s.A}", "${foo:bar}", -1.8881545897087503e289])
def test_only_a_strict_run_refuses_what_others_have_left(value: str | float) -> None:
    assert resolver(A="a").resolve(value) == (str(value).replace("${cfn:s.A}", "a") if value == str(value) else value)
    with pytest.raises(LooksUnresolvedError):
        resolver(strict=True, A="a").resolve(value)


def test_a_strict_run_takes_values_as_they_come_and_leaves_escapes_and_shells_alone() -> None:
    made = resolver(strict=True, A="${Token[TOKEN.1]}")
    assert made.resolve("${cfn:s.A} $${Token[x]} ${HOME}") == "${Token[TOKEN.1]} ${Token[x]} ${HOME}"
    assert made.resolve(7) == 7


def test_nothing_is_resolved_in_keys_and_nothing_in_them_is_overlooked() -> None:
    resolver().check_key("${Token[x]}")
    for key, kind in (("a${cfn:s.A}", TokenInKeyError), ("${cfn:s", BadTokenError)):
        with pytest.raises(kind):
            resolver().check_key(key)
    with pytest.raises(LooksUnresolvedError, match="a token of the CDK that was not resolved"):
        resolver(strict=True).check_key("${Token[x]}")


def test_a_run_tells_its_sources_all_tokens_once_before_it_asks_for_the_first() -> None:
    source = Values({"s.A": "a", "s.B": "b"})
    files = [
        read("a.yaml", b"x: ${cfn:s.A} ${cfn:s.B}\ny: ${cfn:s.A}\nz: ${cfn:s", YAML),
        read("b.json", b'"${cfn:s.A}"', JSON),
    ]
    outcome = resolve(files, SchemeResolver([source]))
    assert source.reported == [["${cfn:s.A}", "${cfn:s.B}"]]
    (failure,) = outcome.failures
    assert str(failure) == (
        "a.yaml, document 1, z: ${cfn:s is not a valid token: it has no } on its line. "
        "To keep the text as it is, write $${ for ${."
    )


def test_every_failing_path_of_every_file_is_listed() -> None:
    first = read(
        "a.yaml", b"ok: ${cfn:s.A}\n---\nspec: {containers: [{}, {env: [{value: '${cfn:s.B} ${cfn:s.C}'}]}]}\n", YAML
    )
    second = read("b.json", b'{"${cfn:s.K}": "${ssm:/x}"}\n"${cfn:s.D}"', JSON)
    outcome = resolve([first, second], resolver(A="a"))
    assert [str(each) for each in outcome.failures] == [
        "a.yaml, document 2, spec.containers[1].env[0].value: ${cfn:s.B} is not there.",
        "a.yaml, document 2, spec.containers[1].env[0].value: ${cfn:s.C} is not there.",
        f'b.json, document 1, ["${{cfn:s.K}}"]: {TokenInKeyError("${cfn:s.K}")}',
        f'b.json, document 1, ["${{cfn:s.K}}"]: {NotEnabledError("${ssm:/x}", "--with ssm")}',
        "b.json, document 2, the whole document: ${cfn:s.D} is not there.",
    ]
    assert (outcome.documents, outcome.values) == (4, 1)


def test_a_list_behind_a_tag_is_a_failure_of_its_path() -> None:
    outcome = resolve([read("a.yaml", b"a: !!str ${cfn:s.L}", YAML)], resolver(L=["x"]))
    (failure,) = outcome.failures
    assert str(failure).startswith("a.yaml, document 1, a: ${cfn:s.L} is a list, which cannot stand behind a tag. Let")


@pytest.mark.parametrize(
    ("key", "path"),
    [
        (("spec", "containers", 0, "image"), "spec.containers[0].image"),
        (("metadata", "annotations", "example.com/queue"), 'metadata.annotations["example.com/queue"]'),
        (("data", "a/b", "x y", '"', ""), 'data.a/b["x y"]["\\""][""]'),
        (("a", "[0]", "é"), 'a["[0]"].é'),
        ((2, "tls.crt", 1), '[2]["tls.crt"][1]'),
    ],
)
def test_a_path_tells_keys_with_dots_from_keys_in_keys(key: tuple[str | int, ...], path: str) -> None:
    assert path_text(key) == path


def test_a_token_in_a_complex_key_is_an_error_as_in_any_key() -> None:
    outcome = resolve(
        [read("a.yaml", b"? ['${cfn:s.A}']\n: 1\n? {a: {b: '${cfn:s.A}'}}\n: 2\n", YAML)], resolver(A="a")
    )
    assert [type(each.error) for each in outcome.failures] == [TokenInKeyError, TokenInKeyError]


def test_an_error_is_the_answer_from_then_on() -> None:
    once: Memo[str, str] = Memo()
    asked: list[str] = []

    def ask() -> str:
        asked.append("x")
        raise Absent("x")

    for _ in range(2):
        with pytest.raises(Absent):
            once.get("x", ask)
    assert asked == ["x"]
    assert once.get("y", lambda: "y") == "y"
