"""Manifests: what changes is written so that it is read as it is, and nothing else changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import ruamel.yaml
import yaml
from hypothesis import given
from hypothesis import strategies as st

from strongref_manifests.errors import ManifestError, TokenNotTextError
from strongref_manifests.resolution.run import SchemeResolver, resolve
from strongref_manifests.text.manifests import JSON, YAML, Format, Manifest, read
from strongref_manifests.tokens import Token, TokenSource
from strongref_toolkit.json_values import path_text

if TYPE_CHECKING:
    from strongref_manifests.text.nodes import Scalar
    from strongref_toolkit.json_values import Json

MARK, TOKEN = "MARK", "${env:V}"

EVERYTHING = """\
%YAML 1.2
# at the top
---
apiVersion: v1     # beside
kind:   'ConfigMap'
metadata:
      name: "with \\x41 escapes"
      labels: {app: web,   "tier" : front}   # in brackets
data: &anchor
  key: |+
    a block

    that keeps its end

  folded: >-
    folded
    text
  tagged: !!str 0123
  custom: !thing {a: 1}
  again: *shared
  empty:
  ? complex
  : value
list:
- 1
-   two
- [3, four, !!binary aGk=]
plain: over
  two lines
"""


def yaml_of(text: str) -> Manifest:
    return read("a.yaml", text.encode(), YAML)


def path(scalar: Scalar) -> str:
    return path_text(scalar.path)


def _no_second_try(*_: object) -> str:
    raise AssertionError("what was written first is not read as it is")


def at_once(manifest: Manifest) -> Manifest:
    """A manifest that has to be written rightly at once: being read again is for what nobody has thought of."""
    form = Format(manifest.format.parse, manifest.format.in_style, _no_second_try)
    return Manifest(manifest.file, manifest.text, form, manifest.parsed)


def replaced(manifest: Manifest, value: Json, mark: str = MARK) -> str:
    """The manifest's text with a value in the place of each mark."""
    return manifest.replaced(
        {
            scalar: scalar.value.replace(mark, value) if isinstance(value, str) else value
            for scalar in manifest.parsed.scalars
            if isinstance(scalar.value, str) and mark in scalar.value and not scalar.is_key
        }
    )


class Value(TokenSource):
    """A source of one value."""

    scheme = "env"

    def __init__(self, value: Json) -> None:
        self.value = value

    def fetch(self, token: Token) -> Json:
        del token
        return self.value


def resolved(manifest: Manifest, value: Json) -> str:
    """The manifest's text with a value in the place of each token."""
    outcome = resolve([manifest], SchemeResolver([Value(value)]))
    for failure in outcome.failures:
        raise failure.error
    return outcome.texts[0]


def readings(text: str) -> list[Any]:
    """As YAML 1.2 and as YAML 1.1."""
    return [ruamel.yaml.YAML(typ="safe", pure=True).load(text), yaml.safe_load(text)]


TEXTS = st.one_of(
    st.sampled_from(
        [
            *(
                "yes",
                "No",
                "on",
                "OFF",
                "y",
                "null",
                "Null",
                "~",
                "true",
                "",
                " ",
                "0123",
                "0o17",
                "0x1f",
                "1e3",
                "1_000",
            ),
            *(
                "1:20",
                "2020-01-01",
                "2020-01-01T00:00:00Z",
                ".5",
                ".inf",
                "-.INF",
                ".nan",
                "+1",
                "-",
                "- a",
                "---",
                "...",
            ),
            *(
                "a: b",
                "a:",
                "a #b",
                "#a",
                "'",
                '"',
                "\\",
                "\\n",
                "a\nb\n",
                "\na",
                "a\n\nb",
                " a\n  b\n",
                "a\n  b",
                "a\t",
            ),
            *(
                "${cfn:a.B}",
                "$${x}",
                "{{ x }}",
                "{a: b}",
                "[a]",
                "*a",
                "&a",
                "!a",
                "%a",
                "@a",
                "`a",
                "|",
                ">",
                "=",
                "<<",
            ),
            *(
                "123456789012",
                "arn:aws:s3:::b",
                "1.dkr/app:1",
                "é\U0001f600",
                "\x07",
                "\x85",
                "\u2028",
                "\ufeff",
                "a\r\nb",
            ),
        ]
    ),
    st.text(st.sampled_from(" \n\t\r:#-'\"\\${}[],&*!|>%@`~0eé\x85a"), max_size=12),
    st.text(st.characters(codec="utf-8"), max_size=12),
)

PLACES = {
    "plain": "MARK",
    "single": "'MARK'",
    "double": '"MARK"',
    "anchored": "&a MARK",
    "literal": "|\n    MARK",
    "literal, stripped": "|-  # a comment\n    MARK\n",
    "literal, in the middle": "|\n    before MARK after\n      more\n",
    "literal, indented": "|2\n    MARK\n",
    "literal, behind space": "|2-\n\n      a\n    MARK b\n",
    "literal, empty first": "|\n\n    a MARK\n\n    b\n",
    "literal, a tab first": "|\n    \ta\n    MARK\n",
    "folded": ">\n    MARK\n    and more\n\n    MARK\n",
    "folded, deeper": ">-\n    a MARK\n      deeper\n\n    b\n",
    "plain, with words": "echo MARK\n    and MARK more",
    "single, on lines": "'a\n    MARK b'",
    "double, on lines": '"a \\x41 MARK\n\n    b MARK \\\n    c"',
    "tagged": "!!str MARK",
    "in a list": "\n    - a\n    - MARK",
    "in brackets": "[a, 'MARK', \"MARK\"]",
}


def with_mark(read_back: Any, value: str) -> Any:
    if isinstance(read_back, dict):
        return {key: with_mark(below, value) for key, below in read_back.items()}
    if isinstance(read_back, list):
        return [with_mark(item, value) for item in read_back]
    return read_back.replace(MARK, value) if isinstance(read_back, str) else read_back


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@given(value=TEXTS)
def test_whatever_the_text_it_is_read_as_it_is_wherever_it_stands(place: str, value: str) -> None:
    text = f"before: 1  # one\nkey: {place}\nafter: ['x']  # three\n"
    result = resolved(at_once(yaml_of(text.replace(MARK, TOKEN))), value)
    assert readings(result) == [with_mark(before, value) for before in readings(text)]
    assert result.startswith("before: 1  # one\nkey: ")
    assert result.endswith("\nafter: ['x']  # three\n")


@given(value=TEXTS)
def test_text_of_any_kind_is_read_as_it_is_where_a_reference_stood(value: str) -> None:
    text = "a: MARK\nb: [MARK, 'MARK', {c: MARK, d: 'MARK'}]\n"
    assert readings(replaced(at_once(yaml_of(text)), value)) == [with_mark(each, value) for each in readings(text)]


@given(value=TEXTS)
def test_text_in_json_is_read_as_it_is(value: str) -> None:
    text = '{\n\t"a" : "${env:V}",\n\t"b":["<${env:V}>" , 1.50]\n}\n'
    result = resolved(at_once(read("a.json", text.encode(), JSON)), value)
    assert json.loads(result) == {"a": value, "b": [f"<{value}>", 1.5]}
    assert result.startswith('{\n\t"a" : "')
    assert result.endswith(" , 1.50]\n}\n")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("place", ["MARK", '"MARK"', "&a MARK", "|-\n  MARK\n", "{a: MARK}"])
@given(value=VALUES.filter(lambda value: not isinstance(value, str)))
def test_a_value_of_any_type_keeps_it(place: str, value: Json) -> None:
    result = replaced(at_once(yaml_of(f"key: {place}\nafter: 1\n")), value)
    for found in readings(result):
        in_place = found["key"]["a"] if "{" in place else found["key"]
        assert json.dumps(in_place) == json.dumps(value)
        assert found["after"] == 1


@given(value=VALUES)
def test_a_value_of_any_type_keeps_it_in_json(value: Json) -> None:
    manifest = read("a.json", b'["MARK"]', JSON)
    (scalar,) = manifest.parsed.scalars
    assert json.dumps(json.loads(manifest.replaced({scalar: value}))) == json.dumps([value])


def test_what_has_no_tokens_comes_out_byte_for_byte() -> None:
    text = EVERYTHING.replace("*shared", "x").replace("\n", "\r\n")
    assert yaml_of(text).replaced({}) == text


@pytest.mark.parametrize("value", ["arn:aws:s3:::b", "yes", "a\nb"])
def test_only_the_value_changes_in_a_file_of_everything(value: str) -> None:
    text = EVERYTHING.replace("again: *shared", "again: MARK   # beside it")
    before, after = text.split("MARK")
    result = replaced(yaml_of(text), value)
    assert (result.startswith(before), result.endswith(after)) == (True, True)


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("MARK", "my-bucket", "my-bucket"),
        ("MARK", "arn:aws:s3:::my-bucket", "arn:aws:s3:::my-bucket"),
        (
            "x/MARK:1",
            "111111111111.dkr.ecr.eu-west-1.amazonaws.com/app",
            "x/111111111111.dkr.ecr.eu-west-1.amazonaws.com/app:1",
        ),
        ("MARK", "111111111111", '"111111111111"'),
        ("'MARK'", "it's", "'it''s'"),
        ("'MARK'", "a\nb", '"a\\nb"'),
        ("{a: MARK}", "a:b", '{a: "a:b"}'),
        ("{a: MARK}", "ab", "{a: ab}"),
        ("|\n  MARK\n  x\n", "a\n\n b", "|\n  a\n\n   b\n  x\n"),
        ("|-\r\n  MARK\r\n  x\r\n", "a\nb", "|-\r\n  a\r\n  b\r\n  x\r\n"),
        ("|+\n  MARK\n\n", "a", "|+\n  a\n\n"),
        ("|  # why\n  MARK\n", " a", '"" # why\n'),
        (">\n  MARK\n  x\n\n  y\n", "a b", ">\n  a b\n  x\n\n  y\n"),
        ("|-\n  MARK\n", "a\n ", '"a\\n "\n'),
        (">\n  MARK\n", "a\n  b", '"a\\n  b\\n"\n'),
    ],
)
def test_the_style_stays_where_it_can(place: str, value: str, expected: str) -> None:
    manifest = yaml_of(f"a: {place if '{' in place else place.replace(MARK, TOKEN)}")
    result = replaced(manifest, value) if "{" in place else resolved(manifest, value)
    assert result == f"a: {expected}".replace('"" # why', '" a\\n"  # why')


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("|\n\n  first ${env:V}\n\n    deeper\n", "a b"),
        ("|\n  \ta tab ${env:V}\n  ${env:V}\n", "x"),
        ("|2-\n    ${env:V} more\n  less\n", "x"),
        (">\n  one ${env:V}\n    deeper ${env:V}\n\n  two\n", "a b"),
        ("|+  # ${env:V}\r\n  ${env:V}\r\n  more\r\n\r\n", "x"),
        ('"a \\x41 ${env:V}\n\n  \\"b\\" ${env:V} \\\n  c"', "x y"),
        ("'it''s ${env:V}\n\n  more'", "x"),
        ("echo ${env:V}\n  and /${env:V}/ more", "x=1"),
        ("[a, 'it''s ${env:V}']", "x"),
        ("|\n  a ${env:V}\n  ${env:V}\n  b\n", ""),
        ("|+ # why\r\n  a\r\n  b=${env:V}\r\n\r\n", ""),
        ("|2\n    a\n  ${env:V}${env:V} b\n", " x "),
        ("'${env:V}, it''s'", " "),
        ('"a ${env:V}"', ""),
    ],
)
def test_only_the_characters_of_a_token_change_where_its_value_has_no_line_break(written: str, value: str) -> None:
    text = f"a: {written}\nb: 1\n"
    body = text.replace("# ${env:V}", "# COMMENT")
    assert resolved(at_once(yaml_of(text)), value) == body.replace(TOKEN, value).replace("# COMMENT", "# ${env:V}")


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ("|2\n    a\n  ${env:V}\n", "x\ny", '"  a\\nx\\ny\\n"\n'),
        ("|\n  a ${env:V}\n", "x\n\n  y", "|\n  a x\n\n    y\n"),
        ("|\n  a\n  ${env:V}\n", "", '"a\\n\\n"\n'),
        ("|\n  a\n  ${env:V}\n", "x\n", '"a\\nx\\n\\n"\n'),
        ("|\n  ${env:V} a\n", " x", '" x a\\n"\n'),
        (">\n  a\n  ${env:V}\n  b\n", " x", '"a  x b\\n"\n'),
        ("|2 # why\n    a ${env:V}\n", "x\ny", '"  a x\\ny\\n" # why\n'),
        ("| # why\r\n  a ${env:V}\r\n", "\r", '"a \\r\\n" # why\r\n'),
        ("a ${env:V} b", "x: y", '"a x: y b"'),
        ("a ${env:V} b", "#x", '"a #x b"'),
        ("${env:V} b", "yes", '"yes b"'),
        ("a ${env:V}", "", '"a "'),
        ('"a\n  ${env:V}\n  b"', "", '"a  b"'),
        ("'${secret:\"it''s\"}'", "x", '"x"'),
        ('"\\x24{env:V}"', "x", '"x"'),
        ('"${secret:\\"a b\\"}"', "x", '"x"'),
    ],
)
def test_text_stands_in_quotes_on_one_line_where_it_might_be_read_as_another(
    written: str, value: str, expected: str
) -> None:
    values = [Value(value), Value(value)]
    values[1].scheme = "secret"
    (result,) = resolve([at_once(yaml_of(f"k: {written}\n"))], SchemeResolver(values)).texts
    assert result == f"k: {expected}\n"


def test_a_block_without_text_can_be_replaced() -> None:
    manifest = yaml_of("a: |\n\nb: >-\n\n\nc: 1\n")
    assert manifest.replaced(dict.fromkeys(manifest.parsed.scalars[1:4:2], "x")) == 'a: "x"\n\nb: "x"\n\n\nc: 1\n'


def test_a_tag_makes_text_of_a_number() -> None:
    manifest = yaml_of("a: !!str ${env:V}\n")
    assert resolved(manifest, 8080) == 'a: !!str "8080"\n'
    assert resolved(manifest, True) == 'a: !!str "true"\n'
    for value in (["a"], {"a": "b"}, None):
        with pytest.raises(TokenNotTextError, match=r"which cannot stand in quotes or with \|text"):
            resolved(manifest, value)
    with pytest.raises(TokenNotTextError, match="is a number, which cannot stand behind a tag"):
        resolved(yaml_of("a: !thing ${env:V}\n"), 8080)


def test_where_each_value_stands_is_known() -> None:
    manifest = yaml_of("a:\n- b: 1\n  ? [c, {d: e}]\n  : f\n- &x g\n- *x\n---\n- .5\n---\n# nothing\n---\nroot\n")
    assert [
        (scalar.document, path(scalar), scalar.value) for scalar in manifest.parsed.scalars if not scalar.is_key
    ] == [(1, "a[0].b", 1), (1, "a[0].?", "f"), (1, "a[1]", "g"), (2, "[0]", 0.5), (4, "", "root")]
    assert [document.content for document in manifest.parsed.documents] == [
        {"a": [{"b": 1, "?": "f"}, "g", "g"]},
        [0.5],
        None,
        "root",
    ]
    stream = read("a.json", b'\xef\xbb\xbf{"a": [1, {"b": "c"}], "d": null}\n"e"\n', JSON)
    assert [(each.document, path(each), each.value) for each in stream.parsed.scalars if not each.is_key] == [
        (1, "a[0]", 1),
        (1, "a[1].b", "c"),
        (1, "d", None),
        (2, "", "e"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "reported"),
    [
        ("a.yaml", b"a: b\nc: [1, 2\nd: e", "a.yaml, line 3: "),
        (
            "a.yaml",
            b"a: {{ .Values.x }}\n b: {{ .y }}",
            "It looks like a template: render it first, as in helm template",
        ),
        ("a.yaml", b"{{/*\nwhy\n*/}}\na: 1\n", "It looks like a template: render it first"),
        ("a.yaml", b"a: 1\n{% raw %}\nb: 2\n{% endraw %}\n", "It looks like a template: render it first"),
        ("a.yaml", b"a: 1\nb:\n  a: 1\n  b: 2\n  a: 3\n", "a.yaml, line 5: the key a stands twice in one map"),
        ("a.yaml", b"a: *b\n", "a.yaml, line 1: no anchor b stands before the alias *b"),
        ("a.yaml", b"a: &b 1\n---\na: *b\n", "a.yaml, line 3: no anchor b stands before the alias *b"),
        ("a.yaml", b"a: \x07\n", "a.yaml: it is not YAML (ReaderError)"),
        ("a.yaml", b"a: 1\nb: \xff\n", "a.yaml, line 2: it is not text in UTF-8"),
        ("a.json", b'{"a": 1,\n"b" 2}', "a.json, line 2: Expecting ':' delimiter"),
        ("a.json", b"[NaN]", "a number that JSON does not know"),
        ("a.json", b"[" * 100_000, "a.json: it has more than 200 levels of maps and lists; flatten it"),
        ("a.json", b'{"a": 1, "b": {"a": 1,\n"a": 2}}', "a.json, line 2: the key a stands twice in one map"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(name: str, data: bytes, reported: str) -> None:
    with pytest.raises(ManifestError) as refused:
        read(name, data, JSON if name == "a.json" else YAML)
    assert reported in str(refused.value)
    assert str(refused.value).startswith(name)
    assert len(str(refused.value)) < 1000


TABS = [
    "name:\tMARK\n",
    'a: "1"\t# beside it\nb: MARK\t# beside it\n',
    "a: MARK\t\nb: 2\t\n",
    "a:\tMARK x\ty\n  z\t\nb\t: 1\n",
    "- MARK\t\n- a: x\t\n",
    "a:\t\n  b: [MARK\t,\t'c'\t]\n",
    "a:\t&x\tMARK\t\r\nb: *x\t\r\n",
    "---\tMARK\n...\t\n---\t# two\na: 1\n",
]


@pytest.mark.parametrize("text", TABS)
def test_tabs_between_tokens_are_read_as_kubernetes_reads_them_and_stay(text: str) -> None:
    manifest = yaml_of(text)
    assert [document.content for document in manifest.parsed.documents] == list(yaml.load_all(text, yaml.CSafeLoader))
    assert replaced(manifest, "yes") == text.replace("MARK x\ty\n  z", '"yes x\\ty z"').replace("MARK", '"yes"')


@pytest.mark.parametrize(
    "text", ["\ta: 1\n", "a:\n\tb: 1\n", "-\ta\n", "a: |\t\n  x\n", "a: !!str\tx\n", "a: 1\n\t\nb: 2\n"]
)
def test_tabs_elsewhere_are_reported(text: str) -> None:
    with pytest.raises(ManifestError, match=r"^a\.yaml, line [12]: .*: there is a tab; write spaces\.$"):
        yaml_of(text)


@pytest.mark.parametrize("text", ["a: [${cfn:s.A}]", "a: {b: c, d: ${tf:output.a}}", "a: [b,\n  ${ssm:/a}]"])
def test_a_token_that_lacks_quotes_between_brackets_is_reported(text: str) -> None:
    with pytest.raises(
        ManifestError,
        match=r"Between brackets a token needs quotes, as in \[\"\$\{cfn:STACK.OUTPUT\}\"\]; with \|typed it",
    ):
        yaml_of(text)
    for other in (text.replace("${", "$["), "a: x, ${cfn:s.A}: b"):
        with pytest.raises(ManifestError) as refused:
            yaml_of(f"{other}\n]")
        assert "quotes" not in str(refused.value)


def test_what_stands_in_a_complex_key_is_a_key() -> None:
    manifest = yaml_of("? ['MARK', {a: [MARK]}]\n: b\nc: d\n")
    assert [(path(scalar), scalar.value) for scalar in manifest.parsed.scalars if not scalar.is_key] == [
        ("?", "b"),
        ("c", "d"),
    ]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("a: 1\n", 1),
        ("a: [1\nb:\t2\na: {{ x }}\n", 1),
        ("", 0),
        ("# a comment\n", 0),
        ("# a comment\n---\na: 1\n--- # two\nb: ---\n c: |\n  ---\n---", 3),
        ("%YAML 1.2\n---\na: 1\n...\n", 1),
        ("\ufeffa: 1\r\n---\r\nb: ---x\r\n", 2),
    ],
)
def test_a_file_without_tokens_is_not_looked_into_where_only_tokens_matter(text: str, documents: int) -> None:
    manifest = read("a.yaml", text.encode(), YAML, tokens_only=True)
    assert len(manifest.parsed.documents) == documents
    assert manifest.replaced({}) == text
    for form in (YAML, JSON):
        with pytest.raises(ManifestError):
            read("a.yaml", b"a: [${cfn:s.A}", form, tokens_only=True)


def test_json_with_comments_is_not_looked_into_where_only_tokens_matter() -> None:
    text = b'{\n  // compiler options\n  "strict": true,\n}\n'
    assert read("tsconfig.json", text, JSON, tokens_only=True).replaced({}) == text.decode()
    with pytest.raises(ManifestError):
        read("tsconfig.json", text, JSON)
    with pytest.raises(ManifestError):
        read("tsconfig.json", text.replace(b"true", b'"$\\u007bcfn:s.A}"'), JSON, tokens_only=True)


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_empty_json_has_no_documents(text: str) -> None:
    parsed = read("a.json", text.encode(), JSON).parsed
    assert (list(parsed.documents), list(parsed.scalars)) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "a: $${b}",
        'a: "\\x24{env:A}"',
        'a: "$\\u007Benv:A}"',
        'a: "\\U00000024{env:A}"',
        'a: "$\\\n  {env:A}"',
        "a: ${b}",
    ],
)
def test_a_token_is_looked_for_in_whatever_way_it_may_be_written(text: str) -> None:
    quick, whole = (read("a.yaml", text.encode(), tokens_only=only).parsed for only in (True, False))
    assert [(path(each), each.value) for each in quick.scalars] == [(path(each), each.value) for each in whole.scalars]
    assert quick.scalars


def test_merge_keys_and_numbers_without_end_are_read() -> None:
    manifest = yaml_of(f"a: &x {{b: 1}}\nc:\n  <<: *x\n  <<: *x\n  d: {'9' * 5000}\n")
    assert manifest.parsed.scalars[-1].value == "9" * 5000


@pytest.mark.parametrize(
    ("data", "form"),
    [(b' {"a": "b"}', JSON), (b'["a"]\n{"b": 1}', JSON), (b"{a: b}", YAML), (b"a: b", YAML), (b"", YAML)],
)
def test_a_file_without_a_name_is_json_if_it_can_be(data: bytes, form: Format) -> None:
    assert read("standard input", data).format is form


def test_nothing_is_written_that_would_not_be_read_again_as_it_is() -> None:
    manifest = yaml_of("first: 1\nsecond: MARK\n")
    scalar = manifest.parsed.scalars[-1]
    broken = Format(YAML.parse, lambda *_: "[", lambda *_: "other")
    with pytest.raises(ManifestError, match=r"a\.yaml, line 2: values cannot be written there"):
        Manifest(manifest.file, manifest.text, broken, manifest.parsed).replaced({scalar: "value"})
    mended = Format(YAML.parse, lambda *_: "other", YAML.in_one_line)
    text = Manifest(manifest.file, manifest.text, mended, manifest.parsed).replaced({scalar: "value"})
    assert text == 'first: 1\nsecond: "value"\n'


def test_no_value_is_in_what_is_shown_of_a_manifest() -> None:
    shown = repr(yaml_of("a: hidden").parsed)
    assert "hidden" not in shown
