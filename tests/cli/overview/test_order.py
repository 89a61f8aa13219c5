"""In which order stacks can be deployed and deleted, and which depend on each other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from strongref_cli.overview.graph import Graph, Order, Participant, delete_order, deploy_order
from tests.support.graphs import AS_OF, landscape, reference, shop, stack

if TYPE_CHECKING:
    from collections.abc import Iterable


def names(participants: Iterable[Participant]) -> list[str]:
    return [each.name for each in participants]


def graph_of(*edges: str, alone: str = "") -> Graph:
    """Each edge is a producer and its importer: `ab` is a stack b that imports from a."""
    return Graph(
        tuple(stack(name) for name in alone), tuple(reference(stack(edge[0]), stack(edge[1])) for edge in edges), AS_OF
    )


STACKS = st.sampled_from("abcdefgh")
GRAPHS = st.builds(
    lambda edges, alone: graph_of(*map("".join, edges), alone="".join(alone)),
    st.lists(st.tuples(STACKS, STACKS), max_size=16),
    st.sets(st.sampled_from("xyz")),
)


def reaches(graph: Graph, start: Participant, end: Participant) -> bool:
    """Whether values go from one to the other, by any way: the definition, without an algorithm's cleverness."""
    found, (_, importers) = {start}, graph.neighbors()
    for _ in graph.participants:
        found |= {importer for each in found for importer in importers[each]}
    return end in found


def circles(graph: Graph) -> set[frozenset[Participant]]:
    together = {
        frozenset(other for other in graph.participants if reaches(graph, each, other) and reaches(graph, other, each))
        for each in graph.participants
    }
    return {each for each in together if len(each) > 1}


@given(GRAPHS)
def test_every_participant_is_in_one_wave(graph: Graph) -> None:
    assert sorted(each for wave in deploy_order(graph).waves for each in wave) == list(graph.participants)


@given(GRAPHS)
def test_a_wave_depends_only_on_earlier_ones_unless_it_is_a_circle(graph: Graph) -> None:
    order = deploy_order(graph)
    wave_of = {each: number for number, wave in enumerate(order.waves) for each in wave}
    for each in graph.references:
        if not any({each.producer, each.importer} <= set(cycle.participants) for cycle in order.cycles):
            assert wave_of[each.producer] < wave_of[each.importer] or each.producer == each.importer


@given(GRAPHS)
def test_nobody_waits_for_longer_than_for_its_producers(graph: Graph) -> None:
    order = deploy_order(graph)
    for earlier, later in pairwise(order.waves):
        for each in later:
            alike = next((set(cycle.participants) for cycle in order.cycles if each in cycle.participants), {each})
            assert any(graph.neighbors()[0][member] & set(earlier) for member in alike)


@given(GRAPHS)
def test_deletion_is_deployment_reversed(graph: Graph) -> None:
    deployment = deploy_order(graph)
    assert delete_order(graph) == Order(deployment.waves[::-1], deployment.cycles)


@given(GRAPHS)
def test_the_cycles_are_those_that_reach_each_other(graph: Graph) -> None:
    assert {frozenset(cycle.participants) for cycle in deploy_order(graph).cycles} == circles(graph)


@given(GRAPHS)
def test_a_chain_is_the_shortest_circle_of_its_cycle(graph: Graph) -> None:
    _, importers = graph.neighbors()
    for cycle in deploy_order(graph).cycles:
        assert cycle.chain[0] == cycle.chain[-1] == min(cycle.chain)
        assert all(importer in importers[producer] for producer, importer in pairwise(cycle.chain))
        assert len(set(cycle.chain)) == len(cycle.chain) - 1
        ways: set[tuple[Participant, ...]] = {(each,) for each in cycle.participants}
        while not any(way[0] in importers[way[-1]] for way in ways):
            ways = {(*way, each) for way in ways for each in importers[way[-1]] if each not in way}
        assert len(cycle.chain) == min(len(way) for way in ways) + 1


def test_the_order_of_a_small_company() -> None:
    assert [names(wave) for wave in deploy_order(shop()).waves] == [
        ["log-archive", "network", "order-events", "dns", "web-acl"],
        ["cluster", "orders-database", "certificates"],
        ["payments", "orders"],
        ["shop", "storefront"],
    ]


def test_the_rest_of_the_order_is_given_around_a_cycle() -> None:
    order = deploy_order(graph_of("ab", "bc", "cd", "db", "cb", "de"))
    assert [names(wave) for wave in order.waves] == [["a"], ["b", "c", "d"], ["e"]]
    assert [(names(cycle.participants), names(cycle.chain)) for cycle in order.cycles] == [
        (["b", "c", "d"], ["b", "c", "b"])
    ]


def test_a_stack_that_imports_from_itself_waits_for_nobody() -> None:
    graph = graph_of("aa", "ab")
    assert deploy_order(graph) == deploy_order(graph_of("ab"))
    producers, importers = graph.neighbors()
    assert producers == {stack("a"): set(), stack("b"): {stack("a")}}
    assert importers == {stack("a"): {stack("b")}, stack("b"): set()}


def test_an_empty_graph_has_no_waves() -> None:
    assert deploy_order(Graph((), (), AS_OF)) == Order((), ())


def test_a_chain_may_be_longer_than_pythons_stack() -> None:
    chain = [stack(f"s{number:04}") for number in range(3000)]
    graph = Graph((), tuple(reference(*pair) for pair in pairwise(chain)), AS_OF)
    assert [names(wave) for wave in deploy_order(graph).waves] == [[each.name] for each in chain]


def test_hundreds_of_stacks_are_ordered() -> None:
    assert sum(map(len, deploy_order(landscape(500)).waves)) == 500
