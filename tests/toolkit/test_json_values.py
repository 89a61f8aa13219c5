"""JSON documents as text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from strongref_toolkit.json_values import document_head, document_text
from tests.support.graphs import AS_OF

HEAD = document_head(AS_OF)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES, min_size=1))
def test_a_document_means_what_it_says(document: dict[str, Any]) -> None:
    assert json.loads(document_text(document, AS_OF)) == HEAD | document


def test_each_property_and_each_element_of_an_array_has_a_line() -> None:
    document = {"regions": ["us-east-1", "eu-west-1"], "exports": [{"key": "A"}, {"key": "B"}], "unread": []}
    assert document_text(document, AS_OF) == (
        "{\n"
        '  "version": 3,\n'
        '  "asOf": "2026-03-02T09:30:00+00:00",\n'
        '  "regions": ["us-east-1", "eu-west-1"],\n'
        '  "exports": [\n    {"key": "A"},\n    {"key": "B"}\n  ],\n'
        '  "unread": []\n'
        "}\n"
    )
