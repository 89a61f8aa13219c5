"""docs/moving.md: what it shows is a part of the examples, which the end-to-end tests deploy."""

from __future__ import annotations

from tests.support.documents import ROOT, blocks, example, load, rows

PAGE = "docs/moving.md"


def test_the_resources_of_the_page_are_those_of_the_examples() -> None:
    shown = [load(block.text) for block in blocks("yaml") if block.page == ROOT / PAGE]
    for fragment, name in zip(shown, ("photos", "albums"), strict=True):
        assert fragment.items() <= load(example(f"moving/{name}"))["Resources"].items()


def test_each_old_reference_is_one_of_its_kind() -> None:
    old = [load(f"Value: {line.strip('`')}")["Value"] for _, line in rows(PAGE, "From `Fn::ImportValue`")]
    kinds = [next(iter(each)) if isinstance(each, dict) else each.partition("(")[0].partition("ssm")[0] for each in old]
    assert kinds == ["Fn::ImportValue", "Fn::GetStackOutput", "{{resolve:", "Fn::GetAtt", "${cf"]
