"""What is outdated in a graph, as a shell script."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from strongref.text import some
from strongref_cli.overview.texts import participant_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_cli.overview.graph import Graph, Order, Participant


def as_script(order: Order, graph: Graph) -> str:
    """Commands that deploy the outdated importers, in their order. The files are guesses: their owners have them."""
    return "".join(f"{line}\n" for line in _lines(order, graph))


def _lines(order: Order, graph: Graph) -> Iterator[str]:
    late: dict[Participant, set[str]] = {}
    for each in graph.references:
        late.setdefault(each.importer, set()).update(each.outdated)
    yield "# Change the Revision of each Import before you deploy its stack."
    for number, wave in enumerate(order.waves, start=1):
        for who in (each for each in wave if late.get(each)):
            yield f"\n# Wave {number}: {participant_text(who)} has an earlier {some(sorted(late[who]), 5)}"
            name = shlex.quote(who.name)
            if who.kind == "stack":
                file = shlex.quote(f"{who.name}.yaml")
                yield f"aws cloudformation deploy --region {who.region} --stack-name {name} --template-file {file}"
            else:
                yield f"# strongref resolve MANIFEST --in-place --claim {name}"
