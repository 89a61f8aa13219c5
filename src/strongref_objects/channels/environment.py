"""Objects in environment variables: put into a function's environment by its template, and read at run time.

Either each value has its own variable, `WEB_SECURITY_GROUP_SECURITY_GROUP_ID`, or one variable, `WEB`, contains the
object's JSON.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref_objects.base.errors import NameClashError, NothingToImportError
from strongref_objects.base.names import Path, in_capitals, shown, variable_name
from strongref_objects.base.values import Collector, is_function
from strongref_objects.channels.importing import ImportedObject, ValueReader
from strongref_objects.channels.json_text import JsonSerializationContext, from_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.base import Serializable, Target, Text

CHANNEL = "environment variables"


class EnvironmentSerializationContext(Collector):
    """Writes an object as variables for the `Environment` of a function's resource.

        ctx = EnvironmentSerializationContext("Web")
        load_balancer.serialize(ctx)
        ctx.variables

    gives `{"WEB_LOAD_BALANCER_ARN": {"Fn::GetAtt": ["LoadBalancer", "Arn"]}, …}`.
    """

    def __init__(self, name: str, target: Target | None = None, *, into: Mapping[str, Text] | None = None) -> None:
        """The name is the variables' prefix; `target` as in `JsonSerializationContext`; `into` has existing ones."""
        super().__init__((name,))
        self._into = into or {}
        self._is_unresolved = target.is_unresolved if target else is_function

    @property
    def variables(self) -> dict[str, Text]:
        """The object's values by variable, next to the existing ones.

        Unresolved values stay as they are; lists are joined by commas.

        Raises:
            BadNameError: a name is not valid for a variable.
            NameClashError: two names would be one, or an existing variable has another value.
            BadValueError: a list cannot be joined.
        """
        whole: dict[str, Text] = {}
        taken: dict[str, Path] = {}
        for path, leaf in self.leaves.items():
            name = variable_name(path)
            if taken.setdefault(name, path) != path:
                raise NameClashError(shown(taken[name]), shown(path), name)
            whole[name] = leaf.as_text(path, self._is_unresolved)
            if self._into.get(name, whole[name]) != whole[name]:
                raise NameClashError(name, shown(path), name)
        return {**self._into, **whole}


def one_variable(name: str, obj: Serializable, target: Target | None = None) -> dict[str, Text]:
    """An object's JSON as one variable; `target` as in `JsonSerializationContext`.

    Raises:
        ObjectError: a part of it cannot be written.
    """
    ctx = JsonSerializationContext(target)
    obj.serialize(ctx)
    return {variable_name((name,)): ctx.text()}


def from_environment(name: str, variables: Mapping[str, str] = os.environ) -> ImportedObject:
    """Where an object is read from environment variables, of either form.

    Args:
        name: as it was written.
        variables: the process's own by default.

    Raises:
        UnreadableError: the object's one variable does not contain JSON.
        NothingToImportError: no variable belongs to such an object.
    """
    single = in_capitals((name,))
    has_several = any(each.startswith(f"{single}_") for each in variables)
    if single in variables and (variables[single].lstrip().startswith("{") or not has_several):
        return from_json(variables[single], name)
    if not has_several:
        raise NothingToImportError(name, "the environment variables", get_close_matches(single, variables, 3))

    def look_up(path: Path) -> str:
        variable = variable_name(path)
        if variable not in variables:
            raise NothingToImportError(shown(path), f"the environment variables ({variable} is not set)")
        return variables[variable]

    return ImportedObject(ValueReader(CHANNEL, look_up, joins_lists=True), (name,))
