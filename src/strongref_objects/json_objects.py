"""Objects as JSON: written into templates, intrinsic functions included, and read at run time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strongref_objects.at_synthesis import AtSynthesis
from strongref_objects.collecting import Collector, is_function
from strongref_objects.errors import NameClashError, UnreadableError
from strongref_objects.naming import json_key, shown
from strongref_objects.reading import Imported
from strongref_objects.trees import at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from strongref_objects.base import Target, Text
    from strongref_objects.naming import Path

CHANNEL = "JSON"


class JsonSerializationContext(Collector):
    """Writes an object as JSON.

        ctx = JsonSerializationContext()
        load_balancer.serialize(ctx)
        ctx.json

    gives `{"loadBalancerArn": {"Fn::GetAtt": ["LoadBalancer", "Arn"]}, "securityGroup": {…}}`.
    """

    def __init__(self, target: Target | None = None) -> None:
        """Make one.

        Args:
            target: in CDK apps: knows what stands for a value there. By default that is a function of CloudFormation's.
        """
        super().__init__()
        self._is_unresolved = target.is_unresolved if target else _holds_function

    @property
    def json(self) -> dict[str, Any]:
        """The object. What stands for values stays as it is.

        Raises:
            NameClashError: two keys differ only in their first letter's case.
        """
        whole: dict[str, Any] = {}
        spelt: dict[Path, Path] = {}
        for path, is_object in self.written.items():
            keys = tuple(map(json_key, path))
            other = spelt.setdefault(keys, path)
            if other != path:
                raise NameClashError(shown(other), shown(path), shown(keys))
            found = whole
            for key in keys[:-1]:
                found = found[key]
            if keys:
                found[keys[-1]] = {} if is_object else self.leaves[path].value
        return whole

    def text(self) -> Text:
        """The object as the text of its JSON; an `Fn::Join` where something in it stands for a value.

        CloudFormation puts such values in as they are: none may hold a quote, a backslash or a line break, and no ARN,
        name or id does.

        Raises:
            NameClashError: as above.
        """
        lists = {tuple(map(json_key, path)) for path, leaf in self.leaves.items() if leaf.many}
        return _put_together(self._pieces((), self.json, lists))

    def _pieces(self, at: Path, value: Any, lists: Collection[Path]) -> Iterator[Text]:  # noqa: ANN401 (JSON)
        """The text of what stands at a place, with what stands for values in between."""
        if at in lists and self._is_unresolved(value):
            items = value if is_function(value) else [_inside(item) for item in value]
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


def _put_together(pieces: Iterator[Text]) -> Text:
    """One text of several, or the `Fn::Join` that makes it."""
    joined: list[Text] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, str) and isinstance(last, str):
            joined[-1] = last + piece
        else:
            joined.append(piece)
    if len(joined) == 1:
        return joined[0]
    return {"Fn::Join": ["", joined]}


def from_json(given: str | Mapping[str, Any], name: str = "") -> Imported:
    """Where an object is read from that is JSON.

    Args:
        given: the text, or what was read of it.
        name: the object's, for errors.

    Raises:
        UnreadableError: it is no JSON, or no object.
    """
    tree = _parsed(given, name or "the object") if isinstance(given, str) else given

    def look_up(path: Path) -> Any:  # noqa: ANN401 (JSON)
        return at(tree, path, f"the JSON of {name}" if name else "the JSON", json_key)

    return Imported(AtSynthesis(CHANNEL, look_up, lambda _path, _value: None), (), id=name or "json")


def _parsed(text: str, name: str) -> Mapping[str, Any]:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        problem = "it is no JSON"
    else:
        if isinstance(tree, dict):
            return tree
        problem = "its JSON is no object"
    raise UnreadableError(name, problem)


def _inside(item: Text) -> Text:
    """An item as it stands between quotes."""
    return json.dumps(item)[1:-1] if isinstance(item, str) else item


def _holds_function(value: object) -> bool:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(map(is_function, value))
    return is_function(value)
