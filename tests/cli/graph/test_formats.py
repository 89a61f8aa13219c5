"""A graph and an order as Mermaid, dot and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strongref_cli.graph.command import as_script, graph_as_json, order_document
from strongref_cli.graph.formats.diagrams import as_dot, as_mermaid, edge_label
from strongref_cli.graph.formats.page import as_page
from strongref_cli.overview.graph import Graph, Order, Participant, Unread, delete_order, deploy_order
from strongref_cli.overview.states import Protection
from strongref_cli.overview.texts import participant_document
from strongref_toolkit.json_values import document_text
from tests.support.graphs import AS_OF, abroad, landscape, reference, shop, stack, with_outdated
from tests.support.schemas import validate

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
EMPTY = Graph((), (), AS_OF)


def small(name: str = "a", key: str = "k") -> Graph:
    """Two references in two accounts, one of them to a manifest set."""
    producer = stack(name, account="1")
    return Graph(
        (),
        (
            reference(producer, stack("b", account="2"), key, "l", outdated=(key,)),
            reference(producer, Participant("2", "", "m", "manifests"), "l", protection=Protection.UNPROTECTED),
        ),
        AS_OF,
    )


def test_a_graph_as_mermaid() -> None:
    assert (
        as_mermaid(small())
        == """\
flowchart LR
  %% as of 2026-03-02T09:30:00+00:00
  subgraph a0["1"]
    subgraph a0r0["eu-west-1"]
      s0["a"]
    end
  end
  subgraph a1["2"]
    subgraph a1r0["eu-west-1"]
      s2["b"]
    end
    subgraph a1r1["manifests"]
      s1[["m"]]
    end
  end
  s0 -.->|"l in eu-west-1, no hold"| s1
  s0 -.->|"2 keys, 1 outdated"| s2
  linkStyle 1 stroke:#b25f00,stroke-width:2px,stroke-dasharray:8 4
  linkStyle 0 stroke:#8b3fb8,stroke-width:2px,stroke-dasharray:2 4
"""
    )


def test_a_graph_as_dot() -> None:
    text = as_dot(small())
    assert '    label="2"\n    subgraph cluster_1_0 {\n      label="eu-west-1"\n      s2 [label="b"]\n    }\n' in text
    assert '      s1 [label="m", shape=component]\n' in text
    assert '  s0 -> s2 [label="2 keys, 1 outdated", style=dashed, color="#b25f00", fontcolor="#b25f00"]\n' in text
    assert '  s0 -> s1 [label="l in eu-west-1, no hold", style=dotted, color="#8b3fb8"' in text


MERMAID = re.compile(
    r"""(?:flowchart\ LR|\s*end|\s*%%\ as\ of\ [\dT:+-]+
    |\s*subgraph\ \w+\["TEXT"\]|\s*\w+\["TEXT"\]|\s*\w+\[\["TEXT"\]\]
    |\s*\w+\ -\.?->\|"TEXT"\|\ \w+|\s*linkStyle\ [\d,]+\ [\w:#,\ -]+)""".replace(
        "TEXT", r"(?:(?!-)(?:[A-Za-z0-9 ,-]|\#\d+;)*)"
    ),
    re.VERBOSE,
)

DOT_TEXT = r'"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\["\\])*"'
DOT_LINE = re.compile(
    rf"""(?:digraph\ strongref\ \{{|\s*\}}|\s*subgraph\ cluster_\w+\ \{{|\s*label=(?P<label>{DOT_TEXT})\]?
    |\s*(?:graph|node|edge)\ \[.*
    |\s*\w+(?:\ ->\ \w+)?\ \[label=(?P<text>{DOT_TEXT})(?:,\ \w+=(?:\w+|"[\w\#]+"))*\])""",
    re.VERBOSE,
)


@given(NAMES, NAMES)
@example("- a", "1. b")
@example("#35;", "`end`")
def test_no_name_or_key_is_taken_for_mermaids_syntax(name: str, key: str) -> None:
    lines = as_mermaid(small(name, key)).split("\n")[:-1]
    assert [line for line in lines if not MERMAID.fullmatch(line)] == []
    shown = next(found for line in lines if (found := re.fullmatch(r'\s*s0\["(.*)"\]', line)))[1]
    assert re.sub(r"#(\d+);", lambda code: chr(int(code[1])), shown) == name


@given(NAMES, NAMES)
@example("&lt;", "\\N")
@example("\x00", '"')
def test_no_name_or_key_is_taken_for_graphvizs_syntax(name: str, key: str) -> None:
    lines = as_dot(small(name, key)).split("\n")[:-1]
    assert [line for line in lines if not DOT_LINE.fullmatch(line)] == []
    label = next(found for line in lines if (found := re.fullmatch(r'\s*s0 \[label="(.*)"\]', line)))[1]
    shown = re.sub(r"\\(.)", r"\1", label).replace("&amp;", "&")
    assert "&" not in re.sub("&amp;", "", label)
    assert shown == re.sub("[\x00-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", name)


@pytest.mark.parametrize("render", [as_mermaid, as_dot])
def test_every_participant_and_reference_is_drawn_once(render: Callable[[Graph], str]) -> None:
    graph = with_outdated(landscape(50))
    text = unescape(render(graph))
    assert len(re.findall(r"^\s+s\d+ (?:->|-->|-\.->)", text, re.MULTILINE)) == len(graph.references)
    assert len(re.findall(r"^\s+s\d+ ?\[", text, re.MULTILINE)) == 50


@pytest.mark.parametrize("render", [as_mermaid, as_dot])
def test_an_empty_graph_says_so(render: Callable[[Graph], str]) -> None:
    assert "No stacks export or import here" in render(EMPTY)


def test_every_format_names_the_regions_that_were_not_read() -> None:
    graph = replace(small(), unread=(Unread("us-west-2", "DescribeStacks failed: <denied>."),))
    assert "  %% not read: us-west-2\n" in as_mermaid(graph)
    assert ", not read: us-west-2" in as_dot(graph)
    shown = '<p class="unread" title="us-west-2: DescribeStacks failed: &lt;denied&gt;.">Not read: us-west-2</p>'
    assert shown in as_page(graph)
    for name, text in (("graph", graph_as_json(graph)), ("order", order_text(deploy_order(graph), graph))):
        check(name, text)
        assert json.loads(text)["unread"] == [{"region": "us-west-2", "error": "DescribeStacks failed: <denied>."}]


def order_text(order: Order, graph: Graph) -> str:
    return document_text(order_document(order, graph), graph.as_of)


def check(document: str, text: str) -> None:
    validate(document, json.loads(text))


@pytest.mark.parametrize("graph", [EMPTY, small(), shop(), with_outdated(landscape(50))])
def test_the_json_is_what_its_schema_says(graph: Graph) -> None:
    check("graph", graph_as_json(graph))
    check("order", order_text(deploy_order(graph), graph))


def test_the_json_names_all_that_a_reference_has() -> None:
    document = json.loads(graph_as_json(small()))
    assert document["version"] == 3
    assert document["asOf"] == "2026-03-02T09:30:00+00:00"
    assert document["references"][1] == {
        "producer": {"kind": "stack", "account": "1", "region": "eu-west-1", "name": "a"},
        "importer": {"kind": "stack", "account": "2", "region": "eu-west-1", "name": "b"},
        "region": "eu-west-1",
        "keys": ["k", "l"],
        "outdated": ["k"],
        "protection": "held",
    }
    assert document["participants"] == list(map(participant_document, small().participants))


def test_the_json_of_an_order_names_waves_and_cycles() -> None:
    a, b, c = stack("a"), stack("b"), stack("c")
    graph = Graph((), (reference(a, b), reference(b, a), reference(b, c)), AS_OF)
    text = order_text(delete_order(graph), graph)
    check("order", text)
    document = json.loads(text)
    assert [[each["name"] for each in wave] for wave in document["waves"]] == [["c"], ["a", "b"]]
    assert document["cycles"] == [
        {"participants": list(map(participant_document, ends)), "chain": list(map(participant_document, (a, b, a)))}
        for ends in [(a, b)]
    ]


def test_what_is_outdated_is_a_script_in_the_order_of_deployment() -> None:
    a, b, c = stack("a"), stack("b"), stack("c")
    late = reference(b, c, "K", "L", outdated=("L",)), reference(c, a, "k", outdated=("k",))
    graph = Graph((), (reference(a, stack("d")), *late), AS_OF)
    assert as_script(deploy_order(graph), graph, "111111111111").splitlines() == [
        "set -e",
        "# Change the Revision of each Import before you deploy its stack.",
        "",
        "# Wave 2: c (eu-west-1, 111111111111) has an earlier L",
        "aws cloudformation deploy --region eu-west-1 --stack-name c --template-file c.yaml",
        "",
        "# Wave 3: a (eu-west-1, 111111111111) has an earlier k",
        "aws cloudformation deploy --region eu-west-1 --stack-name a --template-file a.yaml",
    ]


def test_the_script_names_cycles_and_leaves_manifests_to_their_owner() -> None:
    a, b, manifests = stack("a"), stack("b"), Participant("111111111111", "", "k8s", "manifests")
    late = (
        reference(a, b, outdated=("Arn",)),
        reference(b, a, outdated=("Arn",)),
        reference(a, manifests, outdated=("Arn",)),
    )
    graph = Graph((), late, AS_OF)
    lines = as_script(deploy_order(graph), graph, "111111111111").splitlines()
    assert lines[2].startswith("# Cycle: a (eu-west-1, 111111111111) -> b (eu-west-1")
    assert lines[-1] == "# Resolve and apply its manifests again, with the same --claim."


def test_the_script_deploys_nothing_of_another_account() -> None:
    graph = Graph((), (reference(stack("a"), stack("b", account="222222222222"), outdated=("Arn",)),), AS_OF)
    commands = [
        each for each in as_script(deploy_order(graph), graph, "111111111111").splitlines() if "deploy " in each
    ]
    assert commands[1:] == [
        "# In account 222222222222: aws cloudformation deploy --region eu-west-1 --stack-name b --template-file b.yaml"
    ]


@pytest.mark.parametrize(
    ("protection", "label"), [(Protection.HELD, "at least one import"), (Protection.UNKNOWN, "not read")]
)
def test_an_account_that_was_not_read_is_not_said_to_import_nothing(protection: Protection, label: str) -> None:
    graph = abroad(protection)
    assert f'[label="{label}"' in as_dot(graph)
    assert 'label="222222222222"' in as_dot(graph)
    assert '[label="web (not read)"]' in as_dot(graph)
    assert f'|"{label}"|' in as_mermaid(graph)
    page = as_page(graph)
    assert "<span>222222222222 (not read)</span>" in page
    assert "1 stack, 1 consumer (not read), 0 references" in page
    assert "1 importer" not in page
    check("graph", graph_as_json(graph))
    (shown,) = json.loads(graph_as_json(graph))["references"]
    assert (shown["account"], shown["keys"], shown["importer"]["kind"]) == ("222222222222", [], "consumer")


def test_where_values_are_is_said_if_it_is_not_the_importers_place() -> None:
    web = stack("web", account="222222222222")
    manifests = Participant("111111111111", "", "shop", "manifests")
    made = [replace(reference(stack("a"), each), account="222222222222") for each in (web, manifests)]
    assert [edge_label(each) for each in made] == ["Arn", "Arn in eu-west-1 of account 222222222222"]


def test_a_graph_is_complete_and_sorted_however_it_is_made() -> None:
    graph = Graph((), shop().references, AS_OF)
    assert len(graph.participants) == 11
    assert Graph(graph.participants[::-2], graph.references[::-1], AS_OF) == graph
