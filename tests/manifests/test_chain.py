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
from strongref_manifests.resolution.run import SchemeResolver, resolve
from strongref_manifests.text.manifests import JSON, YAML, read
from strongref_toolkit.errors import ResolveError
from strongref_toolkit.json_values import path_text

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


def resolver(*, strict: bool = False, **values: Json) -> SchemeResolver:
    return SchemeResolver([Values({f"s.{name}": value for name, value in values.items()})], strict=strict)


@pytest.mark.parametrize("value", ["text", 8080, 1.5, True, None, ["a", "b"], {"a": {"b": "c"}}, "${cfn:s.Other}", ""])
def test_a_token_that_is_the_whole_value_gives_a_value_of_its_own_type(value: Json) -> None:
    assert resolver(V=value).resolve("${cfn:s.V}") == value


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("${cfn:s.Port}", "5432"),
        ('"${cfn:s.Port}"', '"5432"'),
        ("'${cfn:s.Port}'", "'5432'"),
        ("|-\n  ${cfn:s.Port}", "|-\n  5432"),
        ("!!str ${cfn:s.Port}", '!!str "5432"'),
        ("!!int '${cfn:s.Port}'", "!!int '5432'"),
        ("${cfn:s.Port|text}", '"5432"'),
        ('[{a: "${cfn:s.Port|typed}"}]', "[{a: 5432}]"),
        ("'${cfn:s.On}'", "'true'"),
        ('"${cfn:s.Power}"', '"1e+30"'),
        ("${cfn:s.Power|text}", '"1e+30"'),
        ("${cfn:s.Yes}", '"yes"'),
        ("'${cfn:s.Octal}'", "'012'"),
        ("${cfn:s.Octal}", '"012"'),
        ("${cfn:s.Ids}", '["a", "b"]'),
        ("{a: '${cfn:s.Ids|typed}'}", '{a: ["a", "b"]}'),
        ("${cfn:s.Ids|join:,}", '"a,b"'),
        ("${cfn:s.Ids|join}", '"a,b"'),
        ('"${cfn:s.Ids|join: / } in ${cfn:s.Mixed|join:;}"', '"a / b in a,b;1;true"'),
        ("${cfn:s.Empty|join:,}", '""'),
        ("${cfn:s.Yes|join:,}", '"yes"'),
    ],
)
def test_quotes_and_forms_say_what_a_value_becomes(written: str, expected: str) -> None:
    scalars = Values({"s.Port": 5432, "s.On": True, "s.Power": 1e30, "s.Yes": "yes", "s.Octal": "012"})
    scalars.values |= {"s.Empty": [], "s.Ids": ["a", "b"], "s.Mixed": ["a,b", 1, True]}
    outcome = resolve([read("a.yaml", f"a: {written}\n".encode(), YAML)], SchemeResolver([scalars]))
    assert (outcome.failures, outcome.texts) == ([], [f"a: {expected}\n"])


def test_in_json_where_all_text_has_quotes_a_token_keeps_its_type_unless_it_has_a_form() -> None:
    text = b'["${cfn:s.Port}", "${cfn:s.Port|text}", "${cfn:s.Ids}", "${cfn:s.Ids|join:, }", "\\u00e9 ${cfn:s.Port}"]'
    outcome = resolve([read("a.json", text, JSON)], resolver(Port=5432, Ids=["a", "b"]))
    assert outcome.texts == ['[5432, "5432", ["a", "b"], "a, b", "\\u00e9 5432"]']


@pytest.mark.parametrize(
    ("written", "value", "reported"),
    [
        ("'${cfn:s.V}'", ["a"], "is a list, which cannot stand in quotes or with |text. Write ${cfn:s.V|join:,}, or "),
        ("'${cfn:s.V}'", {"a": 1}, "is a map, which cannot stand in quotes or with |text. Name one part of it, or ${"),
        ("${cfn:s.V|text}", {"a": 1}, "is a map, which cannot stand in quotes or with |text. Name one part of it."),
        ("${cfn:s.V|join:,}", ["a", "b,c"], "is a list with the separator in an item, which cannot be joined. Write a"),
        ("${cfn:s.V|join:,}", [["a"]], "is a list, which cannot be joined. Name one part of it."),
        ("${cfn:s.V|join:,}", {"a": "b"}, "is a map, which cannot be joined. Name one part of it."),
        ("x ${cfn:s.V|typed}", ["a"], "is a list, which cannot stand inside a longer text. Write ${cfn:s.V|join:,}."),
    ],
)
def test_text_is_made_only_of_what_can_be_told_from_it(written: str, value: Json, reported: str) -> None:
    outcome = resolve([read("a.yaml", f"a: {written}\n".encode(), YAML)], resolver(V=value))
    assert reported in str(outcome.failures[0])


OBJECT = """\
apiVersion: v1
kind: {kind}
{place}
"""


@pytest.mark.parametrize(
    ("kind", "place", "path"),
    [
        ("Ingress", "metadata: {annotations: {a/b: TOKEN}}", "metadata.annotations.a/b"),
        ("Job", "spec: {template: {metadata: {labels: {a: TOKEN}}}}", "spec.template.metadata.labels.a"),
        ("Job", "metadata: {labels: TOKEN}", "metadata.labels"),
        ("ConfigMap", "data: {a.b: TOKEN}", 'data["a.b"]'),
        ("Secret", "stringData: {a: TOKEN}", "stringData.a"),
        ("Service", "spec: {selector: {a: TOKEN}}", "spec.selector.a"),
        ("Pod", "spec: {nodeSelector: {a: TOKEN}}", "spec.nodeSelector.a"),
        ("Pod", "spec: {containers: [{env: [{value: TOKEN}]}]}", "spec.containers[0].env[0].value"),
        ("Pod", "spec: {initContainers: [{args: [TOKEN]}]}", "spec.initContainers[0].args[0]"),
        ("Pod", "spec: {tolerations: [{value: TOKEN}]}", "spec.tolerations[0].value"),
        ("StorageClass", "parameters: {iops: TOKEN}", "parameters.iops"),
        ("Pod", "spec: {a: {livenessProbe: {exec: {command: [TOKEN]}}}}", "spec.a.livenessProbe.exec.command[0]"),
        ("Pod", "spec: {a: {matchExpressions: [{values: [TOKEN]}]}}", "spec.a.matchExpressions[0].values[0]"),
        ("ResourceSlice", "spec: {nodeSelector: {matchLabels: {a: TOKEN}}}", "spec.nodeSelector.matchLabels.a"),
        ("CustomResourceDefinition", "metadata: {labels: {values: TOKEN}}", "metadata.labels.values"),
        ("Pod", "x: &p TOKEN\nspec: {containers: [{env: [{value: *p}]}]}", "spec.containers[0].env[0].value"),
        ("Pod", "x: &l {a: TOKEN}\nmetadata: {labels: {<<: *l, b: c}}", "metadata.labels.a"),
        ("Pod", "x: &l {a: TOKEN}\nmetadata: {labels: {<<: [{b: c}, *l]}}", "metadata.labels.a"),
        ("List", "x: &m {kind: ConfigMap}\nitems: [{<<: *m, data: {a: TOKEN}}]", "items[0].data.a"),
        ("List", "items: [{apiVersion: v1, kind: ConfigMap, data: {a: TOKEN}}]", "items[0].data.a"),
        ("ConfigMapList", "items: [{data: {a: TOKEN}}]", "items[0].data.a"),
    ],
)
def test_what_is_no_text_is_refused_where_kubernetes_takes_only_text(kind: str, place: str, path: str) -> None:
    value: Json = {"a": 1} if path.endswith("labels") else 5432
    text = OBJECT.format(kind=kind, place=place.replace("TOKEN", "'${cfn:s.V|typed}'"))
    (failure,) = resolve([read("a.yaml", text.encode(), YAML)], resolver(V=value)).failures
    assert str(failure).startswith(f"a.yaml, document 1, {path}: ${{cfn:s.V|typed}} is a ")
    assert "which cannot stand where Kubernetes takes only text. " in str(failure)
    as_text = text.replace("|typed", "|text")
    assert not resolve([read("a.yaml", as_text.encode(), YAML)], resolver(V="5432")).failures
    assert not resolve([read("a.yaml", text.replace("kind: ", "type: ").encode(), YAML)], resolver(V=1)).failures


@pytest.mark.parametrize(
    "place",
    [
        "spec: {replicas: '${cfn:s.V|typed}', selector: {a: '${cfn:s.V|typed}'}}",
        "data: '${cfn:s.V|typed}'",
        "spec: {containers: [{args: '${cfn:s.V|typed}', ports: [{containerPort: '${cfn:s.V|typed}'}]}]}",
        "metadata: {generation: '${cfn:s.V|typed}'}",
        "spec: {values: {env: [{value: '${cfn:s.V|typed}'}]}}",
        "spec: {values: {a: {metadata: {labels: {extra: '${cfn:s.V|typed}'}}, nodeSelector: {b: '${cfn:s.V|typed}'}}}}",
        "spec: {source: {helm: {valuesObject: {nodeSelector: {enabled: '${cfn:s.V|typed}'}}}}}",
        "spec: {a: {openAPIV3Schema: {properties: {nodeSelector: {maxProperties: '${cfn:s.V|typed}'}}}}}",
        "spec: {nodeSelector: {matchExpressions: [{values: '${cfn:s.V|typed}', x: {y: '${cfn:s.V|typed}'}}]}}",
        "spec: {nodeSelector: {matchExpressions: '${cfn:s.V|typed}', nodeSelectorTerms: '${cfn:s.V|typed}'}}",
        "x: &l {a: '${cfn:s.V|typed}'}\nmetadata: {labels: {<<: *l, a: b}}",
    ],
)
def test_a_number_stands_wherever_kubernetes_may_take_one(place: str) -> None:
    text = OBJECT.format(kind="Deployment", place=place)
    assert not resolve([read("a.yaml", text.encode(), YAML)], resolver(V=5432)).failures


@pytest.mark.parametrize(
    ("place", "value", "reported"),
    [
        (
            "spec: {containers: [{args: '${cfn:s.V|typed}'}]}",
            ["a", 1],
            "a list with a number at [1], which cannot stand",
        ),
        ("metadata: {labels: '${cfn:s.V|typed}'}", {"a": "b", "c": 1}, "a map with a number at c, which cannot stand"),
        ("metadata: '${cfn:s.V|typed}'", {"labels": {"c.d": [1]}}, 'a map with a list at labels["c.d"], which cannot'),
    ],
)
def test_what_is_no_text_is_named_in_a_list_or_a_map_that_may_stand_there(
    place: str, value: Json, reported: str
) -> None:
    (failure,) = resolve(
        [read("a.yaml", OBJECT.format(kind="Pod", place=place).encode(), YAML)], resolver(V=value)
    ).failures
    assert f"${{cfn:s.V|typed}} is {reported}" in str(failure)
    assert str(failure).endswith("takes only text. Make that text where it comes from.")


def test_no_type_can_be_kept_where_kubernetes_takes_only_text() -> None:
    text = OBJECT.format(kind="Ingress", place="metadata: {annotations: {a: '${cfn:s.V}'}}")
    (failure,) = resolve([read("a.yaml", text.encode(), YAML)], resolver(V=["a", "b"])).failures
    assert str(failure).endswith("cannot stand where Kubernetes takes only text. Write ${cfn:s.V|join:,}.")


def test_tokens_within_text_give_text() -> None:
    made = resolver(A="a", B=8080, C=True, D=1.5, E="$${x} ${cfn:s.A}")
    assert made.resolve("${cfn:s.A}:${cfn:s.B}/${cfn:s.C}-${cfn:s.D} ${HOME} $${cfn:s.A}") == (
        "a:8080/true-1.5 ${HOME} ${cfn:s.A}"
    )
    assert made.resolve("<${cfn:s.E}>") == "<$${x} ${cfn:s.A}>"


@pytest.mark.parametrize(("value", "came"), [(["a"], "a list"), ({"a": "b"}, "a map"), (None, "nothing")], ids=str)
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
