"""Objects of manifests, found and referred to; and manifests written with references resolved, all else kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_manifests.refs import manifests_writing
from strongref_manifests.refs.base import ObjectName
from strongref_manifests.refs.errors import AmbiguousObjectError, NoSuchObjectError
from strongref_manifests.refs.manifests import ManifestObject, ManifestObjects, location, objects_in
from strongref_manifests.refs.manifests_writing import PlacedEdit, rewritten
from strongref_manifests.refs.resolution import Edit
from strongref_manifests.text.manifests import JSON, YAML, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_manifests.refs.errors import UnwritableReferenceError
    from strongref_manifests.text.manifests import Format

EC2 = "ec2.services.k8s.aws"


def found_in(text: str, form: Format = YAML) -> list[ManifestObject]:
    return list(objects_in(read("a.yaml", text.encode(), form)))


def wanted(name: str, namespace: str = "default", kind: str = "SecurityGroup") -> ObjectName:
    return ObjectName(EC2, kind, namespace, name)


class TestFinding:
    def test_each_document_and_each_item_of_a_list_is_an_object(self) -> None:
        found = found_in(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
            "apiVersion: v1\nkind: List\nitems:\n"
            f"- {{apiVersion: {EC2}/v1alpha1, kind: Subnet, metadata: {{name: b}}}}\n"
            f"- {{apiVersion: {EC2}/v1alpha1, kind: SubnetList, items: [{{apiVersion: {EC2}/v1, kind: Subnet}}]}}\n"
        )
        assert [(ObjectName.of(each.content, "x"), each.document, each.path) for each in found] == [
            (ObjectName("", "ConfigMap", "x", "a"), 1, ()),
            (ObjectName(EC2, "Subnet", "x", "b"), 2, ("items", 0)),
            (ObjectName(EC2, "Subnet", "x", ""), 2, ("items", 1, "items", 0)),
        ]
        assert location(found[1].file, found[1].document) == "a.yaml, document 2"

    @pytest.mark.parametrize(
        "text", ["", "just text", "[1, 2]", "kind: X", "apiVersion: v1", "kind: [x]\napiVersion: v1", "---\n---\n"]
    )
    def test_nothing_else_is_one(self, text: str) -> None:
        assert found_in(text) == []

    @pytest.mark.parametrize("metadata", ["text", "{name: 3}", "{name: ''}", "{}"])
    def test_a_name_is_text(self, metadata: str) -> None:
        (found,) = found_in(f"apiVersion: v1\nkind: X\nmetadata: {metadata}\n")
        assert ObjectName.of(found.content, "shop") == ObjectName("", "X", "shop", "")

    def test_a_kind_that_only_ends_like_a_list_is_an_object(self) -> None:
        assert [each.content["kind"] for each in found_in("apiVersion: v1\nkind: PrefixList\nspec: {}\n")] == [
            "PrefixList"
        ]


def group(name: str, identifier: str = "sg-1", namespace: str | None = None) -> str:
    where = f", namespace: {namespace}" if namespace else ""
    return (
        f"---\napiVersion: {EC2}/v1alpha1\nkind: SecurityGroup\nmetadata: {{name: {name}{where}}}\n"
        f"status: {{id: {identifier}}}\n"
    )


class TestReferring:
    def test_an_object_is_found_by_kind_namespace_and_name(self) -> None:
        objects = ManifestObjects(found_in(group("web", "sg-1") + group("web", "sg-2", "shop")))
        assert objects.get(wanted("web"))["status"] == {"id": "sg-1"}
        assert objects.get(wanted("web", "shop"))["status"] == {"id": "sg-2"}
        elsewhere = ManifestObjects(found_in(group("web", "sg-1")), namespace="shop")
        assert elsewhere.get(wanted("web", "shop"))["status"] == {"id": "sg-1"}
        with pytest.raises(NoSuchObjectError):
            elsewhere.get(wanted("web"))

    def test_the_first_tier_that_has_it_counts(self) -> None:
        objects = ManifestObjects(found_in(group("web", "sg-2")), found_in(group("web", "sg-1") + group("db", "sg-3")))
        assert objects.get(wanted("web"))["status"] == {"id": "sg-2"}
        assert objects.get(wanted("db"))["status"] == {"id": "sg-3"}

    def test_what_is_not_there_is_reported_with_names_like_it(self) -> None:
        objects = ManifestObjects(found_in(group("web") + group("db") + group("wed", namespace="shop")))
        with pytest.raises(NoSuchObjectError) as caught:
            objects.get(wanted("wep"))
        assert (caught.value.among, caught.value.close) == ("the manifests given", ["web"])
        with pytest.raises(NoSuchObjectError) as caught:
            objects.get(wanted("xyz"))
        assert caught.value.close == ["db", "web"]
        with pytest.raises(NoSuchObjectError) as caught:
            objects.get(wanted("web", kind="Subnet"))
        assert caught.value.close == []

    def test_the_same_one_twice_has_to_say_the_same(self) -> None:
        assert ManifestObjects(found_in(group("web") * 2)).get(wanted("web"))["status"] == {"id": "sg-1"}
        with pytest.raises(AmbiguousObjectError) as caught:
            ManifestObjects(found_in(group("web") + group("web", "sg-2"))).get(wanted("web"))
        assert str(caught.value) == (
            "SecurityGroup default/web is defined more than once, with differences: in a.yaml, document 1 and a.yaml, "
            "document 2. Keep one."
        )


GROUPS = Edit(("spec",), "securityGroupRefs", "securityGroupIDs", ("sg-1", "sg-2"))
TWO = Edit(("spec",), "securityGroupRefs", "securityGroupIDs", ("sg-1", "sg-2"), (2,))
ONE = Edit(("spec",), "apiRef", "apiID", "abc123")
GATEWAY = Edit(("spec", "routes", 0), "gatewayRef", "gatewayID", "igw-1")


def write(text: str, *edits: Edit, form: Format = YAML, document: int = 1) -> str:
    written, problems = attempt(text, *edits, form=form, document=document)
    assert not problems
    return written


def attempt(
    text: str, *edits: Edit, form: Format = YAML, document: int = 1
) -> tuple[str, list[tuple[PlacedEdit, UnwritableReferenceError]]]:
    manifest = read("a.yaml", text.encode(), form)
    return rewritten(manifest, [PlacedEdit(document, (), edit, "API default/a") for edit in edits])


def refused(text: str, *edits: Edit) -> list[str]:
    """What cannot be replaced; the text is as it was then."""
    written, problems = attempt(text, *edits)
    assert written == text
    assert problems
    return [str(error) for _, error in problems]


class TestWriting:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (
                "securityGroupRefs:\n  - from:\n      name: a\n  - from:\n      name: b\n",
                "securityGroupIDs:\n  - sg-1\n  - sg-2\n",
            ),
            (
                "securityGroupRefs:\n  - from: {name: a}\n  - {from: {name: b}}\n",
                "securityGroupIDs:\n  - sg-1\n  - sg-2\n",
            ),
            (
                "securityGroupRefs: [{from: {name: a}}, {from: {name: b, namespace: }, }]\n",
                "securityGroupIDs: [sg-1, sg-2]\n",
            ),
            (
                "securityGroupRefs: # 1\n  # 2\n  - from: # 3\n      # 4\n      name: a # 5\n  - from: {name: b} # 6\n",
                "securityGroupIDs: # 1\n  # 2\n  - sg-1 # 3 # 4 # 5\n  - sg-2 # 6\n",
            ),
            (
                "securityGroupRefs: [ # who\n  {from: # one\n    {name: a}}, # two\n  {from: {name: b}}]\n",
                "securityGroupIDs: [ # who\n  sg-1 # one\n  , # two\n  sg-2]\n",
            ),
            (
                "securityGroupRefs: [{ # one\n  from: { # {two}\n  name: a}}, {from: {name: b}}]\n",
                "securityGroupIDs: [sg-1 # one # {two}\n, sg-2]\n",
            ),
            (
                "'securityGroupRefs':\n- from:\n    'name': 'a'\n- from:\n    name: >-\n      b\n",
                "'securityGroupIDs':\n- sg-1\n- sg-2\n",
            ),
            (
                "securityGroupRefs:\n  - from: {stack: network, name: Groups}\n",
                "securityGroupIDs:\n  - sg-1\n  - sg-2\n",
            ),
            ("securityGroupRefs: [{from: {stack: network, name: Groups}}]\n", "securityGroupIDs: [sg-1, sg-2]\n"),
            (
                "securityGroupRefs:\n  - from: # all\n      stack: network\n      name: Groups # of them\n",
                "securityGroupIDs:\n  - sg-1 # all\n  - sg-2 # of them\n",
            ),
            (
                "securityGroupIDs: []\nsecurityGroupRefs:\n  - from: {name: a}\n  - from: {name: b}\n",
                "securityGroupIDs:\n  - sg-1\n  - sg-2\n",
            ),
            (
                "securityGroupRefs:\n  - from: {name: a}\n  - from: {name: b}\nsecurityGroupIDs: [ ] # none\nname: x\n",
                "securityGroupIDs:\n  - sg-1\n  - sg-2\n# none\nname: x\n",
            ),
            (
                "securityGroupIDs: # filled in\nsecurityGroupRefs: [{from: {name: a}}, {from: {name: b}}]\n",
                "# filled in\nsecurityGroupIDs: [sg-1, sg-2]\n",
            ),
        ],
    )
    def test_a_list_of_references_becomes_a_list_of_values(self, before: str, after: str) -> None:
        assert write(spec(before), TWO if before.count("from") == 1 else GROUPS) == spec(after)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("apiRef:\n  from:\n    name: a\n", "apiID: abc123\n"),
            ("apiRef: {from: {name: a}} # it\n", "apiID: abc123 # it\n"),
            ("apiRef: { # a {comment}\n  from: {name: a}}\n", "apiID: abc123 # a {comment}\n"),
            ("apiRef: { # one\n  # { two\n  from: { # }\n    name: a } }\n", "apiID: abc123 # one # { two # }\n"),
            (
                "apiRef: # one\n  # two\n  from: # three\n    name: a # four\n",
                "apiID: abc123 # one # two # three # four\n",
            ),
            ("apiRef:\n  from: # 1\n    name: >- # 2\n      a # no comment\n", "apiID: abc123 # 1 # 2\n"),
            ("apiRef:\n  from:\n    name: a\n    namespace:\nname: x\n", "apiID: abc123\nname: x\n"),
            ("? apiRef\n: from:\n    name: a\n", "? apiID\n: abc123\n"),
            ('"apiRef": {"from":\n  {"name": "a"}\n  }\n', '"apiID": abc123\n'),
        ],
    )
    def test_one_reference_becomes_a_value_on_its_keys_line(self, before: str, after: str) -> None:
        assert write(spec(before), ONE) == spec(after)

    def test_each_struct_of_a_list_has_its_own(self) -> None:
        before = "routes:\n  - gatewayRef: {from: {name: a}}\n    to: x\n  - {to: y, gatewayRef: {from: {name: b}}}\n"
        second = Edit(("spec", "routes", 1), "gatewayRef", "gatewayID", "arn:aws:x")
        assert write(spec(before), GATEWAY, second) == spec(
            'routes:\n  - gatewayID: igw-1\n    to: x\n  - {to: y, gatewayID: "arn:aws:x"}\n'
        )

    @pytest.mark.parametrize("value", ["0123", "yes", "null", "1e3", "2026-01-01", "a: b", "- a", "", "a #b", "ü\n"])
    def test_a_value_that_yaml_takes_for_something_else_is_quoted(self, value: str) -> None:
        text = write(spec("apiRef: {from: {name: a}}\n"), Edit(("spec",), "apiRef", "apiID", value))
        (document,) = read("a.yaml", text.encode(), YAML).parsed.documents
        assert document.content == {"spec": {"apiID": value}}

    def test_only_its_own_document_and_object_change(self) -> None:
        one = "apiVersion: v1\nkind: X\nspec: {apiRef: {from: {name: a}}}\n"
        assert write(f"{one}---\n{one}---\n{one}", ONE, document=2) == (
            f"{one}---\n{one.replace('apiRef: {from: {name: a}}', 'apiID: abc123')}---\n{one}"
        )
        listed = read(
            "a.yaml", b"items:\n- spec: {apiRef: {from: {name: a}}}\n- spec: {apiRef: {from: {name: a}}}\n", YAML
        )
        assert rewritten(listed, [PlacedEdit(1, ("items", 1), ONE)])[0].endswith(
            "- spec: {apiRef: {from: {name: a}}}\n- spec: {apiID: abc123}\n"
        )

    def test_json_stays_json(self) -> None:
        two = '[{"from": {"name": "a"}}, {"from": {"name": "b"}}]'
        text = f'{{"spec": {{"apiRef": {{"from": {{"name": "a"}}}},\n "securityGroupRefs": {two}}}}}'
        assert write(text, ONE, GROUPS, form=JSON) == (
            '{"spec": {"apiID": "abc123",\n "securityGroupIDs": ["sg-1", "sg-2"]}}'
        )
        one = '{"spec": {"securityGroupRefs": [{"from": {"stack": "n", "name": "S"}}]MORE}}'
        for before, after in ((', "securityGroupIDs": []', ""), (', "securityGroupIDs":null, "a": 1', ', "a": 1')):
            written = write(one.replace("MORE", before), TWO, form=JSON)
            assert written == '{"spec": {"securityGroupIDs": ["sg-1", "sg-2"]MORE}}'.replace("MORE", after)

    def test_line_ends_stay(self) -> None:
        before = "spec:\r\n  securityGroupRefs:\r\n    - from: {stack: n, name: S}\r\n  name: x\r\n"
        assert write(before, TWO) == "spec:\r\n  securityGroupIDs:\r\n    - sg-1\r\n    - sg-2\r\n  name: x\r\n"
        before = "spec:\r\n  securityGroupRefs: [{from: # c\r\n    {name: a}},\r\n   {from: {name: b}}]\r\n  x: 1\r\n"
        assert write(before, GROUPS) == ("spec:\r\n  securityGroupIDs: [sg-1 # c\r\n  ,\r\n   sg-2]\r\n  x: 1\r\n")
        before = "spec:\r\n  apiID: # c\r\n  apiRef: {from: {name: a}}"
        assert write(before, ONE) == "spec:\r\n  # c\r\n  apiID: abc123"

    def test_without_changes_nothing_changes(self) -> None:
        text = "spec: {apiRef: {from: {name: a}}}   # as it is\n"
        assert write(text) == text

    @pytest.mark.parametrize(
        "before",
        [
            "a: &x {from: {name: a}}\napiRef: *x\n",
            "apiRef: &x {from: {name: a}}\nb: *x\n",
            "apiRef: !!map {from: {name: a}}\n",
            "apiRef: {? from : {name: a}}\n",
            "apiRef: {from: {name: &y a}}\nb: *y\n",
            "apiRef: {from: {name: a, x: {y: [z]}}}\n",
            "apiRef: {from: {name: a}, b: &c 1}\nd: *c\n",
            "apiID: &x []\napiRef: {from: {name: a}}\n",
            "? apiID\n: []\napiRef: {from: {name: a}}\n",
            "apiRef: {}\n",
        ],
    )
    def test_what_cannot_be_replaced_is_reported_and_nothing_is_written(self, before: str) -> None:
        line = next(number for number, each in enumerate(spec(before).splitlines(), 1) if "apiRef" in each)
        (reported,) = refused(spec(before), ONE)
        assert reported == (
            f"API default/a: spec.apiRef (line {line}) cannot be replaced as it is written: write it out, without "
            "anchors, aliases and tags."
        )

    def test_all_that_cannot_be_replaced_are_reported(self) -> None:
        text = spec(
            "securityGroupRefs: &y [{from: {name: a}}, {from: {name: b}}]\nroutes:\n"
            "  - gatewayRef: {from: {name: a}}\napiRef: &x {from: {name: a}}\n"
        )
        first, second = refused(text, GROUPS, GATEWAY, ONE)
        assert first.startswith("API default/a: spec.securityGroupRefs (line 2) cannot be replaced")
        assert second.startswith("API default/a: spec.apiRef (line 5) cannot be replaced")

    @pytest.mark.parametrize("odd", range(8))
    def test_the_one_that_would_be_read_as_something_else_is_reported(self, odd: int) -> None:
        lines = ["  - gatewayRef: {from: {name: " + ("&y a" if number == odd else "a") + "}}\n" for number in range(8)]
        text = spec("routes:\n" + "".join(lines) + "z: *y\n")
        edits = [Edit(("spec", "routes", number), "gatewayRef", "gatewayID", "igw-1") for number in range(8)]
        (reported,) = refused(text, *edits)
        assert reported.startswith(f"API default/a: spec.routes[{odd}].gatewayRef (line {odd + 3}) cannot be replaced")

    def test_nothing_is_read_again_where_one_cannot_be_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(manifests_writing, "_says", lambda *_: pytest.fail("it is read again"))
        lines = "".join(f"  - gatewayRef: {{from: {{name: a{number}}}}}\n" for number in range(500))
        edits = [Edit(("spec", "routes", number), "gatewayRef", "gatewayID", "igw-1") for number in range(500)]
        (reported,) = refused(spec(f"routes:\n{lines}apiRef: &x {{from: {{name: a}}}}\n"), *edits, ONE)
        assert "spec.apiRef" in reported

    def test_the_odd_one_of_many_is_found_by_halves(self, monkeypatch: pytest.MonkeyPatch) -> None:
        says = manifests_writing._says
        asked: list[int] = []

        def counted(*given: Any) -> bool:
            asked.append(1)
            return says(*given)

        monkeypatch.setattr(manifests_writing, "_says", counted)
        lines = "".join(f"  - gatewayRef: {{from: {{name: a{number}}}}}\n" for number in range(99))
        edits = [Edit(("spec", "routes", number), "gatewayRef", "gatewayID", "igw-1") for number in range(99)]
        refused(spec(f"routes:\n{lines}apiRef: {{from: {{name: &x a}}}}\ny: *x\n"), *edits, ONE)
        assert len(asked) <= 8

    def test_comments_that_look_like_brackets_take_no_time(self) -> None:
        text = spec("z: {a: b, " + "# { " * 200 + "\n  apiRef: {from: {name: a " + "# " * 200 + "\n  , x: {y: 1}}}}\n")
        assert refused(text, Edit(("spec", "z"), "apiRef", "apiID", "x"))
        assert refused(spec("apiRef: {from: {name: a, y: " + "# " * 200 + "\n  []}}\n"), ONE)

    def test_comments_stay_with_the_reference_that_they_are_about(self) -> None:
        three = Edit(("spec",), "securityGroupRefs", "securityGroupIDs", ("sg-1", "sg-2", "sg-3"), (1, 2))
        before = (
            "securityGroupRefs:\n  - from: {name: web} # web's, never remove\n  # the database team's\n"
            "  - from: {stack: n, name: G} # shared with billing\nx: 1\n"
        )
        assert write(spec(before), three) == spec(
            "securityGroupIDs:\n  - sg-1 # web's, never remove\n  # the database team's\n  - sg-2\n"
            "  - sg-3 # shared with billing\nx: 1\n"
        )
        before = "securityGroupRefs: [{from: {name: web}}, # web\n  {from: {stack: n, name: G}}] # db\n"
        assert write(spec(before), three) == spec("securityGroupIDs: [sg-1, # web\n  sg-2, sg-3] # db\n")

    @pytest.mark.parametrize("counts", [(), (2,), (1, 1, 1)])
    def test_what_no_item_of_the_list_has_given_is_reported(self, counts: tuple[int, ...]) -> None:
        text = "x: &x {from: {name: a}}\n" + spec("securityGroupRefs: [{from: {name: a}}, *x]\n")
        given = Edit(("spec",), "securityGroupRefs", "securityGroupIDs", ("sg-1", "sg-2"), counts)
        assert "spec.securityGroupRefs (line 3)" in refused(text, given)[0]

    def test_an_empty_field_that_begins_an_item_of_a_list_is_reported(self) -> None:
        text = spec("routes:\n  - gatewayID: null\n    gatewayRef: {from: {name: a}}\n")
        assert "spec.routes[0].gatewayRef (line 4)" in refused(text, GATEWAY)[0]

    def test_a_reference_behind_an_alias_is_reported_without_a_line(self) -> None:
        text = "a: &x {apiRef: {from: {name: a}}}\nspec: *x\n"
        assert refused(text, ONE)[0].startswith("API default/a: spec.apiRef cannot be replaced as it is written")

    @pytest.mark.parametrize(
        "before",
        [
            "securityGroupRefs: []\n",
            "securityGroupRefs:\n  -  - from: {stack: n, name: S}\n",
            "securityGroupRefs: [*x]\n",
        ],
    )
    def test_a_list_that_cannot_be_replaced_is_reported(self, before: str) -> None:
        (reported,) = refused(f"x: &x {{from: {{name: a}}}}\n{spec(before)}", TWO)
        assert "spec.securityGroupRefs (line 3) cannot be replaced as it is written" in reported


def spec(below: str) -> str:
    return "spec:\n" + "".join(f"  {line}\n" for line in below.splitlines())


NAMES = st.text("abcxyz019-", min_size=1, max_size=8)
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=4), st.sampled_from([None, 0]), st.booleans(), st.booleans()
)
def test_whatever_is_written_is_read_as_what_was_meant(
    references: list[tuple[str, str]], indent: int | None, in_json: bool, several: bool
) -> None:
    """One reference, and a list of them, in block style, in brackets and in JSON."""
    wrapped = [{"from": {"name": name}} for name, _ in references]
    content: Mapping[str, Any] = {"a": 1, "spec": {"x": "y", "manyRefs": wrapped, "oneRef": wrapped[0], "z": [2]}}
    values = tuple(value for _, value in references) * (2 if several else 1)
    text = json.dumps(content, indent=indent) if in_json else _block(content)
    counts = (2 if several else 1,) * len(references)
    edits = [Edit(("spec",), "manyRefs", "manyIDs", values, counts), Edit(("spec",), "oneRef", "oneID", values[0])]
    written = write(text, *edits, form=JSON if in_json else YAML)
    (document,) = read("a.yaml", written.encode(), JSON if in_json else YAML).parsed.documents
    assert document.content == {"a": 1, "spec": {"x": "y", "manyIDs": list(values), "oneID": values[0], "z": [2]}}


def _block(value: Any, indent: int = 0) -> str:
    """In block style."""
    lines = ""
    entries = value.items() if isinstance(value, dict) else (("-", each) for each in value)
    for key, below in entries:
        head = f"{' ' * indent}{key}{'' if key == '-' else ':'}"
        lines += (
            f"{head}\n{_block(below, indent + 2)}"
            if isinstance(below, dict | list)
            else f"{head} {json.dumps(below)}\n"
        )
    return lines
