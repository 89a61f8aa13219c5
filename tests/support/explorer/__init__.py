"""Every order in which the real exporter and importer can meet, call by call, over one in-memory Parameter Store.

An actor is the real code handling one CloudFormation event after the other. It is deterministic: which call it makes
next follows from what its calls answered so far. So an actor's state is that history, and is found again by running
its code anew over the recorded answers, up to the first call that has none (`session.Suspended`). States of the world
with the same store and the same histories are one: that makes *every* order of calls a finite thing to walk through.

| Module | What is in it |
|---|---|
| `actors` | who takes part: the events, and what may happen to whoever handles them |
| `session` | answers the code's calls from a history |
| `world` | the store, the stacks, and what CloudFormation was told |
| `nodes` | the actors' states, each found by running the code |
| `unread` | what of an answer the code does not look at, and so need not tell states apart |
| `moves` | what one actor may do next: a call, a choice, a death, a hand-over |
| `walk` | the walk through all states, or along one random way |
| `verdicts` | what must never be: a reference lost, torn, or left for ever |
"""

from __future__ import annotations

from tests.support.explorer.actors import Actor
from tests.support.explorer.session import Session, exporter, importer
from tests.support.explorer.walk import Explorer, Report
from tests.support.explorer.world import ACCOUNT, REGION, Direct, World

__all__ = [
    "ACCOUNT",
    "REGION",
    "Actor",
    "Direct",
    "Explorer",
    "Report",
    "Session",
    "World",
    "exporter",
    "importer",
]
