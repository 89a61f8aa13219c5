"""The errors of `strongref check`, as docs/check.md shows them, raised by the code itself where it needs no AWS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_check import errors
from strongref_check.expansion import expand
from strongref_check.parameters import new_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError

_LOOP = {
    "Transform": "AWS::LanguageExtensions",
    "Resources": {"Fn::ForEach::Buckets": ["Name", "one,two", {}]},
}
_PARAMETERS = {"Parameters": {"DomainName": {"Type": "String"}}}


def _raised(act: Callable[[], object]) -> StrongRefError:
    try:
        act()
    except errors.CheckError as error:
        return error
    raise AssertionError(act)


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "check-no-stack": lambda: errors.NoSuchStackError("network", "eu-west-1"),
    "check-no-change-set": lambda: errors.NoSuchChangeSetError("release", "network"),
    "check-change-set-not-ready": lambda: errors.ChangeSetNotReadyError("release", "CREATE_IN_PROGRESS", ""),
    "check-loop": lambda: _raised(lambda: expand(_LOOP, {})),
    "check-unknown-parameters": lambda: _raised(lambda: new_names(_PARAMETERS, {"Domain": "x"}, None)),
    "check-parameters-missing": lambda: _raised(lambda: new_names(_PARAMETERS, {}, None)),
}
