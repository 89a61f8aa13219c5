"""The page of a graph as text, and where its boxes stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from base64 import b64encode
from datetime import timedelta, timezone
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_cli.graph.formats.page import as_page
from strongref_cli.graph.formats.page.placement import place
from strongref_cli.overview.graph import Graph, deploy_order
from tests.support.documents import ROOT
from tests.support.graphs import AS_OF, landscape, reference, shop, stack, with_outdated

if TYPE_CHECKING:
    from pathlib import Path

GRAPHS = [Graph((), (), AS_OF), shop(), with_outdated(landscape(50)), landscape(500)]


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.texts.append((self.elements[-1][0], data))

    def having(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_page_loads_nothing(graph: Graph) -> None:
    page = Elements(as_page(graph))
    names = {name for _, attributes in page.elements for name in attributes}
    assert names.isdisjoint({"src", "srcset", "style", "action", "onclick", "onload"})
    assert all((each["href"] or "").startswith("data:") for each in page.having("link"))
    style = next(text for tag, text in page.texts if tag == "style")
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_policy_allows_this_script_and_this_style_alone(graph: Graph) -> None:
    text = as_page(graph)
    policy = next(each["content"] for each in Elements(text).having("meta") if "http-equiv" in each)
    style, script = (re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[0] for tag in ("style", "script"))
    hashes = [b64encode(sha256(each.encode()).digest()).decode() for each in (style, script)]
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(["", "</script>", "<!--<script>", "]]>", '">']),
)
def test_no_name_ends_its_element(name: str, more: str) -> None:
    def page_of(name: str) -> Elements:
        producer, importer = stack(name, f"r{name}", f"a{name}"), stack("b", "r", "a")
        return Elements(as_page(Graph((), (reference(producer, importer, name),), AS_OF)))

    page = page_of(name + more)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in page_of("plain").elements]
    text = "".join(text for tag, text in page.texts if tag == "script").partition('"use strict"')[0]
    assert set(text).isdisjoint("<>&")
    data = json.loads(text)
    assert name + more in {each["name"] for each in data["stacks"]}
    assert data["references"][0]["keys"] == [name + more]


def test_the_page_is_the_same_for_the_same_graph() -> None:
    graph = shop()
    assert as_page(Graph(graph.participants[::-1], graph.references[::-1], AS_OF)) == as_page(graph)


def test_the_time_is_shown_in_utc() -> None:
    elsewhere = AS_OF.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert '<time datetime="2026-03-02T09:30:00+00:00">2026-03-02 09:30 UTC</time>' in as_page(Graph((), (), elsewhere))


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_participant_has_a_place_of_its_own(graph: Graph) -> None:
    placement = place(graph)
    boxes = [(number, box) for number, lane in enumerate(placement.lanes) for box in lane.boxes]
    assert sorted(box.participant for _, box in boxes) == list(graph.participants)
    assert len({(number, box.column, box.row) for number, box in boxes}) == len(graph.participants)


@pytest.mark.parametrize("graph", GRAPHS)
def test_columns_are_waves_and_values_go_to_the_right(graph: Graph) -> None:
    column = {box.participant: box.column for lane in place(graph).lanes for box in lane.boxes}
    assert all(column[each.producer] < column[each.importer] for each in graph.references)
    for number, wave in enumerate(deploy_order(graph).waves, 1):
        connected = [each for each in wave if any(neighbors[each] for neighbors in graph.neighbors())]
        assert {column[each] for each in connected} <= {number}


def test_importers_stand_next_to_their_producers_so_that_edges_do_not_cross() -> None:
    graph = Graph((), tuple(reference(stack(f"p{at}"), stack(f"i{9 - at}")) for at in range(6)), AS_OF)
    (lane,) = place(graph).lanes
    rows = {box.participant.name: box.row for box in lane.boxes}
    assert all(rows[f"p{at}"] == rows[f"i{9 - at}"] for at in range(6))


def test_what_is_alone_stands_below_the_rest() -> None:
    lonely = [stack(f"lonely-{number}") for number in range(5)]
    graph = Graph(tuple(lonely), (reference(stack("a"), stack("b")), reference(stack("a"), stack("c"))), AS_OF)
    (lane,) = place(graph).lanes
    assert [(box.participant.name, box.column, box.row) for box in lane.boxes] == [
        ("a", 1, 1), ("b", 2, 1), ("c", 2, 2),
        ("lonely-0", 1, 3), ("lonely-1", 2, 3), ("lonely-2", 3, 3), ("lonely-3", 1, 4), ("lonely-4", 2, 4),
    ]  # fmt: skip


def test_manifests_are_the_last_lane_of_their_account() -> None:
    lanes = [(lane.account, lane.region) for lane in place(shop()).lanes]
    assert lanes == [
        ("111111111111", "eu-central-1"),
        ("111111111111", "eu-west-1"),
        ("111111111111", "us-east-1"),
        ("111111111111", "manifests"),
    ]


@pytest.mark.slow
def test_the_wheel_contains_what_the_page_is_made_from(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        packed = {name for name in content.namelist() if name.startswith("strongref_cli/graph/")}
    wanted = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src/strongref_cli/graph").rglob("*.*")
        if "__pycache__" not in path.parts
    }
    assert {".html", ".css", ".js"} <= {"." + name.rpartition(".")[2] for name in wanted}
    assert packed == wanted
