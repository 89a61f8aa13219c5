"""Objects in environment variables: put into a function's environment by its template, and read at run time.

Either each value has a variable of its own, `WEB_SECURITY_GROUP_SECURITY_GROUP_ID`, or one variable, `WEB`, has the
object's JSON.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from strongref_objects.at_synthesis import AtSynthesis
from strongref_objects.collecting import Collector, is_function
from strongref_objects.errors import NameClashError, NothingToImportError
from strongref_objects.joining import joined
from strongref_objects.json_objects import JsonSerializationContext, from_json
from strongref_objects.naming import shown, snake, variable
from strongref_objects.reading import Imported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.base import Serializable, Target, Text
    from strongref_objects.naming import Path

CHANNEL = "environment variables"


class EnvironmentSerializationContext(Collector):
    """Writes an object as variables, to be put into the `Environment` of a function's resource.

        ctx = EnvironmentSerializationContext("Web")
        load_balancer.serialize(ctx)
        ctx.variables

    gives `{"WEB_LOAD_BALANCER_ARN": {"Fn::GetAtt": ["LoadBalancer", "Arn"]}, …}`.
    """

    def __init__(self, name: str, target: Target | None = None, *, into: Mapping[str, Text] | None = None) -> None:
        """Make one.

        Args:
            name: the object's: its variables' names begin with it.
            target: as in `JsonSerializationContext`.
            into: variables that there are already, other objects' among them.
        """
        super().__init__((name,))
        self._into = into or {}
        self._is_unresolved = target.is_unresolved if target else is_function

    @property
    def variables(self) -> dict[str, Text]:
        """The object's values by variable, and those that there were.

        What stands for values stays as it is; lists are joined by commas.

        Raises:
            BadNameError: a name that a variable cannot have.
            NameClashError: two names that would be one, be it one that there was with another value.
            BadValueError: a list that cannot be joined.
        """
        whole: dict[str, Text] = {}
        taken: dict[str, Path] = {}
        for path, leaf in self.leaves.items():
            name = variable(path)
            if taken.setdefault(name, path) != path:
                raise NameClashError(shown(taken[name]), shown(path), name)
            whole[name] = joined(path, leaf.value, self._is_unresolved) if leaf.many else cast("Text", leaf.value)
            if self._into.get(name, whole[name]) != whole[name]:
                raise NameClashError(name, shown(path), name)
        return {**self._into, **whole}


def one_variable(name: str, obj: Serializable, target: Target | None = None) -> dict[str, Text]:
    """An object's JSON as one variable.

    Args:
        name: the object's.
        obj: the object.
        target: as in `JsonSerializationContext`.

    Raises:
        ObjectError: something of it cannot be written.
    """
    ctx = JsonSerializationContext(target)
    obj.serialize(ctx)
    return {variable((name,)): ctx.text()}


def from_environment(name: str, variables: Mapping[str, str] = os.environ) -> Imported:
    """Where an object is read from that was put into environment variables, in either way.

    Args:
        name: as it was given when they were written.
        variables: the process's own by default.

    Raises:
        UnreadableError: the object's one variable holds no JSON.
        NothingToImportError: there is no variable of such an object.
    """
    alone = snake((name,))
    several = any(each.startswith(f"{alone}_") for each in variables)
    if alone in variables and (variables[alone].lstrip().startswith("{") or not several):
        return from_json(variables[alone], name)
    if not several:
        raise NothingToImportError(name, "the environment variables", get_close_matches(alone, variables, 3))

    def look_up(path: Path) -> str:
        wanted = variable(path)
        if wanted not in variables:
            raise NothingToImportError(shown(path), f"the environment variables ({wanted} is not set)")
        return variables[wanted]

    return Imported(AtSynthesis(CHANNEL, look_up, lambda _path, _value: None, joins_lists=True), (name,))
