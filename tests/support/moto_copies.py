"""What tests find in moto, made for the first of them and copied for the others, in a hundredth of the time."""

from __future__ import annotations

import copyreg
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from moto.core.base_backend import BackendDict
from moto.ssm.models import ParameterDict

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")

_made: dict[Hashable, tuple[list[tuple[BackendDict[Any], str, str]], Any]] = {}


def made_once(key: Hashable, make: Callable[[], T]) -> T:
    """What a function returns, with what it makes in moto, which is empty before.

    Args:
        key: stands for what is made. Each process makes it once.
        make: the function.
    """
    if key not in _made:
        returned = make()
        found = [(each, *place) for each in BackendDict._instances for place in each.iter_backends()]  # type: ignore[misc]
        places = [(services, account, region) for services, account, region, _ in found]
        _made[key] = places, deepcopy((returned, [backend for *_, backend in found]))
        return returned
    places, copied = _made[key]
    again: tuple[T, list[Any]] = deepcopy(copied)
    for (services, account, region), backend in zip(places, again[1], strict=True):
        services[account][region] = backend
    return again[0]


def _parameters(found: ParameterDict) -> tuple[Any, ...]:
    """How to copy it: Python knows only the arguments of a `defaultdict`."""
    return ParameterDict, (found.account_id, found.region_name), vars(found), None, iter(found.items())


copyreg.pickle(ParameterDict, _parameters)
