"""The options of `strongref graph` and `order`."""

from __future__ import annotations

from strongref_cli.terminal.options import (
    Commands,
    add_command,
    add_output,
    add_regions,
)


def add_graph(commands: Commands) -> None:
    graph = add_command(
        commands,
        "graph",
        "draw all stacks and their references",
        epilog="It begins in the given regions, and follows references to others.",
    )
    graph.add_argument(
        "--output",
        choices=("html", "mermaid", "dot", "json"),
        help="the output format; by default from the file's name, or mermaid",
    )
    graph.add_argument("-o", "--out", metavar="FILE", help="the file to write to; by default standard output")
    add_regions(graph)
    graph.set_defaults(run="graph.command:show_graph")


def add_order(commands: Commands) -> None:
    order = add_command(
        commands,
        "order",
        "show the order in which to deploy or delete stacks",
        epilog="It begins in the given regions, and follows references to others.",
    )
    order.add_argument("--delete", action="store_true", help="show the order of deletion")
    add_regions(order)
    add_output(order)
    order.set_defaults(run="graph.command:show_order")
