"""What docs/extras/ack-references.md says of references, options and errors is so.

Its commands run in the end-to-end tests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import strongref_cli as cli
from strongref.errors import StrongRefError
from strongref_manifests.text.manifests import read
from strongref_refs import cluster, cluster_api, cluster_config, errors
from strongref_refs.base import ObjectKey
from strongref_refs.config import load
from strongref_refs.manifests import DEFAULT_NAMESPACE, ManifestObjects, objects_in
from strongref_refs.manifests_writing import PlacedEdit, rewritten
from strongref_refs.resolution import Condition, ReferenceResolver
from strongref_refs.stacks import KEYS, parse
from tests.support.commands import arguments_of
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.refs_errors import CASES, GENERATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = "docs/extras/ack-references.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = ROOT / "examples/refs"
LONG = "x" * 3000
FAR = ObjectKey(LONG, LONG, LONG, LONG, LONG)
IDS: dict[str, str | list[str]] = {
    "Vpc.SecurityGroups.Databases": "sg-0fedcba9876543210",
    "SubnetIds": ["subnet-0a1b2c3d4e", "subnet-5f6a7b8c9d"],
}


def block(language: str) -> str:
    (found,) = blocks(language)
    assert found.page == ROOT / PAGE
    return found.text


def options(name: str) -> set[str]:
    return {each for each in arguments_of("refs", name) if each.startswith("-")}


def test_the_documented_options_are_those_that_there_are() -> None:
    assert names_in(rows(PAGE, "Options")) == options("resolve")


def test_the_other_commands_options_are_reported_where_they_are() -> None:
    common = {"--generator", "--service", "--crd"}
    assert (options("fields"), options("rbac"), options("schema")) == (
        common | {"--output"},
        common | {"--name", "--all"},
        common,
    )
    rights = TEXT[TEXT.index("\n## Rights\n") : TEXT.index("\n## Schemas\n")]
    assert "`--output json`" in TEXT
    assert "`--name`" in rights
    assert "`--all`" in rights


def test_the_documented_grammar_is_understood() -> None:
    forms = [re.findall("`([^`]+)`", first)[0] for first, _ in rows(PAGE, "The grammar")]
    given = [yaml.safe_load(form)["from"] for form in forms]
    assert [str(parse(each)) for each in given if "stack" in each] == [
        "${export:network.VpcId}",
        "${cfn:network.VpcId}",
    ]
    assert given[0] == {"name": "web"}
    section = TEXT[TEXT.index("\n## The grammar\n") : TEXT.index("\n## Where objects are read\n")]
    assert all(f"`{key}`" in section or f"{key}: " in section for key in KEYS)


def test_the_example_is_the_one_that_is_shown() -> None:
    assert block("yaml refs") == (EXAMPLES / "manifests/link.yaml").read_text()


class _Network:
    """The stack of the example."""

    def get(self, given: Mapping[str, Any]) -> str | list[str]:
        assert given["stack"] == "network"
        return IDS[given["name"]]


def test_what_the_example_becomes_is_what_is_shown() -> None:
    manifest = read("link.yaml", (EXAMPLES / "manifests/link.yaml").read_bytes())
    objects = ManifestObjects(objects_in(read("web.yaml", (EXAMPLES / "objects/web.yaml").read_bytes())))
    resolver = ReferenceResolver(load(GENERATOR.read_text(), str(GENERATOR)).kinds, objects, _Network())
    (found,) = objects_in(manifest)
    outcome = resolver.resolve(found.content)
    assert outcome.problems == ()
    assert block("yaml resolved") == rewritten(manifest, [PlacedEdit(1, (), edit) for edit in outcome.edits]).text


@pytest.mark.parametrize(("name", "language"), [("fields", "output fields"), ("rbac", "yaml rbac")])
def test_what_a_command_writes_is_what_is_shown(name: str, language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["refs", name, "--generator", str(GENERATOR)]) == 0
    assert block(language) == capsys.readouterr().out


def test_the_fragment_that_is_shown_is_a_part_of_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["refs", "schema", "--generator", str(GENERATOR)]) == 0
    assert block("yaml schema") in capsys.readouterr().out


def test_the_documented_condition_is_the_one_that_is_printed() -> None:
    assert names_in(rows(PAGE, "Conditions")) == {"type", "status", "message", "reason"}
    assert f"`{Condition.type}`" in TEXT


def test_the_documented_waits_are_those_that_are_waited() -> None:
    seconds = re.search(r"It waits (\d+) seconds for a connection, (\d+) for each part of an answer", TEXT)
    assert seconds
    assert tuple(map(float, seconds.groups())) == cluster_config.TIMEOUTS
    assert f"unless these are more than {cluster_api.PATIENCE}." in TEXT
    assert cluster_api.TRIES - 1 == 3
    assert "again, three times, where the API says in how many seconds" in TEXT
    assert f"lists a kind, {cluster.PAGES * cluster_api.PAGE:,} objects of it at most" in TEXT
    assert f"that of the context, or `{DEFAULT_NAMESPACE}`" in TEXT


def test_every_error_of_references_is_shown() -> None:
    kinds = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, StrongRefError) and kind.__module__ == errors.__name__
    }
    roots = {errors.RefsError, errors.FieldError, errors.ReferencedError, errors.ClusterError}
    within_others = {errors.NoSuchObjectError, errors.StackReferenceError}
    shown = {type(make()) for make in CASES.values()}
    assert kinds - roots - within_others <= shown
    reported = " ".join(str(make()) for make in CASES.values())
    assert "was not found in" in reported
    assert "A reference to a stack is" in reported


def test_where_ack_has_an_error_the_text_begins_with_its_name() -> None:
    shown = {error.name for make in CASES.values() if isinstance(error := make(), errors.FieldError) and error.name}
    known = {
        kind.name for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.FieldError)
    }
    assert shown == known - {""}
    assert all(f"\n{name}: " in TEXT for name in shown)
