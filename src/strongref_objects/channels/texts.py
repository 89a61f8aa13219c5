"""Objects as text, written by templates and read at run time: JSON, and environment variables.

In a function's environment, either each value has its own variable, `WEB_SECURITY_GROUP_SECURITY_GROUP_ID`, or one
variable, `WEB`, contains the object's JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from strongref.untyped import AnyJson
from strongref_objects.base.errors import NameClashError, NothingToImportError, UnreadableError
from strongref_objects.base.names import Path, in_capitals, json_key, shown, variable_name
from strongref_objects.base.values import Collector, concatenated, is_function
from strongref_objects.channels.importing import ImportedObject, ValueReader

if TYPE_CHECKING:
    from strongref_objects.base import Serializable, Target, Text


class JsonSerializationContext(Collector):
    """Writes an object as JSON.

        ctx = JsonSerializationContext()
        load_balancer.serialize(ctx)
        ctx.json

    gives `{"loadBalancerArn": {"Fn::GetAtt": ["LoadBalancer", "Arn"]}, "securityGroup": {…}}`.
    """

    def __init__(self, target: Target | None = None) -> None:
        """In CDK apps, `target` recognizes tokens. By default only intrinsic functions are unresolved."""
        super().__init__()
        self._is_unresolved = target.is_unresolved if target else _holds_function

    @property
    def json(self) -> dict[str, Any]:
        """The object. Unresolved values stay as they are.

        Raises:
            NameClashError: two keys differ only in the case of their first letter.
        """
        whole: dict[str, Any] = {}
        spelled: dict[Path, Path] = {}
        for path, is_object in self.written.items():
            keys = tuple(map(json_key, path))
            other = spelled.setdefault(keys, path)
            if other != path:
                raise NameClashError(shown(other), shown(path), shown(keys))
            found = whole
            for key in keys[:-1]:
                found = found[key]
            if keys:
                found[keys[-1]] = {} if is_object else self.leaves[path].value
        return whole

    def text(self) -> Text:
        """The object as the text of its JSON; an `Fn::Join` if a value is unresolved.

        CloudFormation inserts such values as they are: they must not contain quotes, backslashes or line breaks. ARNs,
        names and IDs do not.

        Raises:
            NameClashError: as above.
        """
        lists = {tuple(map(json_key, path)) for path, leaf in self.leaves.items() if leaf.is_list}
        return concatenated(self._pieces((), self.json, lists))

    def _pieces(self, at: Path, value: AnyJson, lists: Collection[Path]) -> Iterator[Text]:
        """The text of the JSON at a path, with unresolved values in between."""
        if at in lists and self._is_unresolved(value):
            items: Any = value
            if not is_function(value):
                items = [json.dumps(item)[1:-1] if isinstance(item, str) else item for item in value]
            yield from ('["', {"Fn::Join": ['", "', items]}, '"]')
        elif is_function(value):
            yield from ('"', value, '"')
        elif isinstance(value, Mapping):
            for number, (key, each) in enumerate(value.items()):
                yield f"{', ' if number else '{'}{json.dumps(key)}: "
                yield from self._pieces((*at, key), each, lists)
            yield "}" if value else "{}"
        else:
            yield json.dumps(value)


def from_json(given: str | Mapping[str, Any], name: str = "") -> ImportedObject:
    """Where an object is read from JSON.

    Args:
        given: the text, or the parsed map.
        name: the object's, for errors.

    Raises:
        UnreadableError: the text is not JSON, or not an object.
    """
    tree = _parsed(given, name or "the object") if isinstance(given, str) else given
    where = f"the JSON of {name}" if name else "the JSON"

    def look_up(path: Path) -> AnyJson:
        found: Any = tree
        for key in map(json_key, path):
            if not isinstance(found, dict) or key not in found:
                keys = [each for each in found if isinstance(each, str)] if isinstance(found, dict) else []
                raise NothingToImportError(shown(path), where, get_close_matches(key, keys, 3))
            found = found[key]
        return found

    return ImportedObject(ValueReader("JSON", look_up), (), id=name or "json")


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

    return ImportedObject(ValueReader("environment variables", look_up, joins_lists=True), (name,))


def _parsed(text: str, name: str) -> Mapping[str, Any]:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        problem = "it is not valid JSON"
    else:
        if isinstance(tree, dict):
            return tree
        problem = "its JSON is not an object"
    raise UnreadableError(name, problem)


def _holds_function(value: object) -> bool:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(map(is_function, value))
    return is_function(value)
