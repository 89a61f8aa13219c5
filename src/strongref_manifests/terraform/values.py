"""Which value a reference means in a Terraform state, and whether it may be given out. Pure."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.text import some
from strongref_manifests.errors import NoSuchAddressError, NoSuchStateAttributeError, SensitiveError, UnsetError
from strongref_manifests.terraform.addresses import TerraformResource, path_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from strongref_manifests.terraform.addresses import Path, TerraformOutput, TerraformReference
    from strongref_manifests.terraform.states import StateValue, TerraformState
    from strongref_toolkit.json_values import Json


def value_of(
    state: TerraformState, reference: TerraformReference, *, sensitive: bool, allowed: Iterable[TerraformReference] = ()
) -> Json:
    """The value that a reference means; a number, a boolean, a list or a map where it is one.

    If sensitive values may not be given out, those that are allowed still may, with all that is in them.

    Raises:
        NoSuchAddressError: the state holds nothing there.
        NoSuchStateAttributeError: the path leads to nothing.
        SensitiveError: the value is sensitive, or part of it is, and such values are not allowed.
        UnsetError: it is null.
    """
    target = reference.target
    if target not in state.held:
        raise _no_such(state, target)
    held = state.held[target]
    value = held.value
    path: Path = ()
    opened = [each.path for each in allowed if each.target == target]
    is_open = sensitive or _is_in(reference.path, opened)
    for step in reference.path:
        if not is_open:
            _check_all(held, reference, path)
        path, value = _into(f"{target}{path_text(path)}", path, value, step)
    if not is_open:
        _check_all(held, reference, path)
        _check_parts(held, reference, path, opened)
    if value is None:
        raise UnsetError(str(reference))
    return value


def _into(address: str, path: Path, value: Json, step: str | int) -> tuple[Path, Json]:
    """One step further: as Terraform, a list's position may be given as text, and a map's key as a number."""
    if isinstance(value, dict):
        if str(step) in value:
            return (*path, str(step)), value[str(step)]
        near = get_close_matches(str(step), value, 3) or sorted(value)
        there = f"has {some(near, 5)}" if value else "is empty"
    elif isinstance(value, list):
        number = int(step) if str(step).isdecimal() else -1
        if 0 <= number < len(value):
            return (*path, number), value[number]
        there = f"is a list of {len(value)}, which are counted from [0]" if value else "is an empty list"
    else:
        there = "is null" if value is None else "is a single value"
    raise NoSuchStateAttributeError(address, path_text([step]), there)


def _check_all(held: StateValue, reference: TerraformReference, path: Path) -> None:
    is_marked = _is_in(path, held.sensitive)
    if is_marked or _is_in(path, held.guessed):
        raise SensitiveError(str(reference), is_guess=not is_marked)


def _check_parts(held: StateValue, reference: TerraformReference, path: Path, opened: Collection[Path]) -> None:
    for paths in (held.sensitive, held.guessed):
        closed = [each[len(path) :] for each in paths if _is_in(each, [path]) and not _is_in(each, opened)]
        if closed:
            parts = some(sorted(map(path_text, closed)), 3)
            raise SensitiveError(str(reference), parts, is_guess=paths is held.guessed)


def _is_in(path: Path, above: Iterable[Path]) -> bool:
    """Whether a path is one of these, or leads into one."""
    return any(path[: len(each)] == each for each in above)


def _no_such(state: TerraformState, target: TerraformOutput | TerraformResource) -> NoSuchAddressError:
    """With the instances of the same resource, if it is only the keys that differ, or with what is called like it."""
    instances = [
        str(each)
        for each in state.held
        if isinstance(target, TerraformResource) and isinstance(each, TerraformResource) and each.whole == target.whole
    ]
    close = instances or get_close_matches(str(target), map(str, state.held), 3)
    outputs = sum(not isinstance(each, TerraformResource) for each in state.held)
    holds = f"{_counted(len(state.held) - outputs, 'resource')} and {_counted(outputs, 'output')}"
    return NoSuchAddressError(str(target), state.where, close, indexed=bool(instances), holds=holds)


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
