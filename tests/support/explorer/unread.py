"""What of an answer the code does not read: without it, states that differ in nothing else are one.

Each of these was checked by comparing verdicts and outcomes with and without it (`test_interleavings_reductions`).
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.contract.names import CLAIM_TAG
from tests.support.explorer.session import NOW
from tests.support.fake_ssm import EPOCH
from tests.support.invariants import FENCES

if TYPE_CHECKING:
    from strongref.contract.event import Event
    from tests.support.explorer.actors import Actor
    from tests.support.explorer.session import Operation

_FENCE = Fence("somebody", NOW + timedelta(minutes=1)).encode()
_ANOTHER = {"Key": f"{CLAIM_TAG}0123456789abcdef"}


class Reader(NamedTuple):
    """Who reads: an actor at one of its events, and how the names of its fences end then."""

    actor: Actor
    event: Event
    token: str


def as_read(reader: Reader, operation: Operation, answer: Any, *, immortal: str | None) -> Any:
    """An answer as its reader sees it.

    - Of several fences of others, any one is enough to give way to; a laptop's that is behind may be void.
    - Exporters and cleanups do not read versions and dates; of a put's answer everyone reads only whether it created
      the parameter.
    - An import that claims looks for its own claim among the tags, and for no other.
    - Of several claims of others, any one is enough to keep a value: but only while no stack can be deleted, since a
      claim of a deleted stack keeps nothing.

    Args:
        reader: who reads.
        operation: the call.
        answer: as the store gave it.
        immortal: a stack that may stand for every other that claims something, if none can be deleted.
    """
    actor, event, token = reader
    _, call, request = operation
    if call == "get_parameters_by_path" and FENCES in request:
        own = [found for found in answer["Parameters"] if found["Name"].endswith(f".{token}")]
        others = [found for found in answer["Parameters"] if found not in own]
        void = [found for found in others if datetime.fromisoformat(json.loads(found["Value"])["until"]) < NOW]
        standing = sorted({_scope(found["Name"]): found for found in others if found not in void}.items())
        first = [{**found, "Name": f"{scope}/another", "Value": _FENCE} for scope, found in standing[:1]]
        return {"Parameters": own + void + first}
    if call == "put_parameter":
        return {"Version": min(answer["Version"], 2)}
    if actor.fences and call.startswith("get_parameters"):
        return {"Parameters": [{**found, "Version": 1, "LastModifiedDate": EPOCH} for found in answer["Parameters"]]}
    if call == "list_tags_for_resource":
        claims = [tag for tag in answer["TagList"] if tag["Key"].startswith(CLAIM_TAG)]
        own = [tag for tag in claims if tag["Value"] == actor.stack]
        others = [tag for tag in claims if tag not in own]
        if not actor.fences and event.request_type is not RequestType.DELETE:
            others = []
        elif immortal is not None:
            others = [_ANOTHER | {"Value": immortal}] if others else []
        return {"TagList": [tag for tag in answer["TagList"] if tag not in claims] + own + others}
    return answer


def _scope(fence: str) -> str:
    return fence.rpartition("/")[0]
