"""What docs/extras/ack-references.md says of references is so.

Its commands run in the end-to-end tests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from strongref_manifests.refs.config import load
from strongref_manifests.refs.manifests import ManifestObjects, objects_in
from strongref_manifests.refs.manifests_writing import PlacedEdit, rewritten
from strongref_manifests.refs.resolution import Condition, ReferenceResolver
from strongref_manifests.refs.wiring import OF_EXPORT, parse_stack_reference
from strongref_manifests.text.manifests import read
from tests.support.documents import ROOT, blocks, names_in, rows
from tests.support.refs_errors import GENERATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = "docs/extras/ack-references.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = ROOT / "examples/refs"
IDS: dict[str, str | list[str]] = {
    "Vpc.SecurityGroups.Databases": "sg-0fedcba9876543210",
    "SubnetIds": ["subnet-0a1b2c3d4e", "subnet-5f6a7b8c9d"],
}


def block(language: str) -> str:
    (found,) = blocks(language)
    assert found.page == ROOT / PAGE
    return found.text


def test_the_documented_grammar_is_understood() -> None:
    forms = [re.findall("`([^`]+)`", first)[0] for first, _ in rows(PAGE, "The grammar")]
    given = [yaml.safe_load(form)["from"] for form in forms]
    assert [str(parse_stack_reference(each)) for each in given if "stack" in each] == [
        "${export:network.VpcId}",
        "${cfn:network.VpcId}",
    ]
    assert given[0] == {"name": "web"}
    section = TEXT[TEXT.index("\n## The grammar\n") : TEXT.index("\n## Where objects are read\n")]
    assert all(f"`{key}`" in section or f"{key}: " in section for key in OF_EXPORT)


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
    resolver = ReferenceResolver(load(GENERATOR.read_text(), str(GENERATOR)).kinds, objects, _Network().get)
    (found,) = objects_in(manifest)
    outcome = resolver.resolve(found.content)
    assert outcome.problems == ()
    assert block("yaml resolved") == rewritten(manifest, [PlacedEdit(1, (), edit) for edit in outcome.edits])[0]


def test_the_documented_condition_is_the_one_that_is_printed() -> None:
    assert names_in(rows(PAGE, "Conditions")) == {"type", "status", "message", "reason"}
    assert f"`{Condition.type}`" in TEXT
