"""Plain parameters of Parameter Store as a channel: readable by anybody and at run time, and held by nobody."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.values import Kind
from strongref_objects.at_synthesis import AtSynthesis, an_object
from strongref_objects.channels import Parameters
from strongref_objects.context_file import ContextKey
from strongref_objects.crossregion import check_storable
from strongref_objects.errors import NothingToImportError, SecureObjectError, UnresolvedError
from strongref_objects.joining import joined
from strongref_objects.naming import logical_id, parameter_name, shown
from strongref_objects.reading import Imported
from strongref_objects.writing import Plan, check_free

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.values import Parameter
    from strongref.protocol.ports import Store
    from strongref_objects.base import Target, Text, TextList
    from strongref_objects.collecting import Leaf
    from strongref_objects.exported import Exported
    from strongref_objects.naming import Path
    from strongref_objects.synthesis import Synthesis

CHANNEL = "Parameter Store"

TYPE = "AWS::SSM::Parameter"

DESCRIPTION_LIMIT = 1024
"""Characters of a parameter's description (AWS: PutParameter, Description)."""


class ParameterWriter:
    """`writing.Writer`: a parameter for each value."""

    def __init__(self, target: Target, prefix: str) -> None:
        self._target = target
        self._prefix = prefix

    def plan(self, leaves: Mapping[Path, Leaf]) -> Plan:
        names = {path: parameter_name(self._prefix, path) for path in leaves}
        ids = {path: logical_id("Parameter", name) for path, name in names.items()}
        resources = {path: self._properties(path, names[path], leaf) for path, leaf in leaves.items()}
        for path, resource in ids.items():
            check_free(self._target, resource, f"the parameter of {shown(path)}")

        def put() -> None:
            for path, properties in resources.items():
                self._target.put_resource(ids[path], TYPE, properties)

        return Plan((self._prefix,), names, put)

    def _properties(self, path: Path, name: str, leaf: Leaf) -> dict[str, Any]:
        check_storable(self._target, path, leaf)
        value = joined(path, leaf.value, self._target.is_unresolved) if leaf.many else leaf.value
        return {
            "Name": name,
            "Type": (Kind.STRING_LIST if leaf.many else Kind.STRING).value,
            "Value": value,
            "Tier": "Intelligent-Tiering",  # A value over 4 KB needs another one, and its length is not known here.
            **({"Description": leaf.description[:DESCRIPTION_LIMIT]} if leaf.description else {}),
        }


class AtDeployment:
    """`reading.Reader`: dynamic references."""

    channel = CHANNEL
    resolved = False
    whole_lists = False

    def __init__(self, prefix: str, names: Exported) -> None:
        self._prefix = prefix
        self._names = names

    def string(self, path: Path) -> Text:
        with self._names.importing(path, parameter_name(self._prefix, path)) as name:
            return f"{{{{resolve:ssm:{name}}}}}"

    def string_list(self, path: Path) -> TextList:
        """Raises `UnresolvedError`: a dynamic reference is put in after the template's functions have split lists."""
        raise UnresolvedError(shown(path), CHANNEL, "it is a list, and a dynamic reference gives one text")


def at_synthesis(target: Target, synthesis: Synthesis, prefix: str, names: Exported) -> AtSynthesis:
    """The values below a prefix, in the target's account and region."""

    def look_up(path: Path) -> Any:  # noqa: ANN401 (JSON)
        with names.importing(path, parameter_name(prefix, path)):
            return _look_up(target, synthesis, prefix, path)

    def hold(_path: Path, _value: object) -> None:
        """Nothing can: `Stack` refuses to import so."""
        raise AssertionError

    return AtSynthesis(CHANNEL, look_up, hold)


def read_object(prefix: str, name: str, *, region: str | None = None, store: Store | None = None) -> Imported:
    """An object that a stack has put below a prefix, read now: in a function, or a script.

    Args:
        prefix: as it was given to `Parameters`.
        name: the object's.
        region: where it is; that of the environment (AWS_REGION) by default.
        store: of another account, or in tests.

    Raises:
        BadChannelError: the prefix is none.
        BadNameError: nor is the name.
        NothingToImportError: there is no such object.
        SecureObjectError: something of it is a secret.
        StoreError: Parameter Store does not tell.
    """
    from strongref_objects.runtime import store_in  # noqa: PLC0415 (not where templates are made)

    prefix = Parameters(prefix).prefix
    found = (store or store_in(region)).under(parameter_name(prefix, (name,)))
    if not found:
        raise NothingToImportError(name, f"the parameters below {prefix}")
    return Imported(AtSynthesis(CHANNEL, partial(_value, found, prefix), lambda _path, _value: None), (name,))


def _look_up(target: Target, synthesis: Synthesis, prefix: str, path: Path) -> Any:  # noqa: ANN401 (JSON)
    home = synthesis.home(target, shown(path))

    def ask() -> Any:  # noqa: ANN401 (JSON)
        what = (prefix, path[0], len(path) == 1)
        found = synthesis.once(("ssm", home, *what), lambda: _found(synthesis.store(home), *what))
        return _value(found, prefix, path)

    return synthesis.remember(ContextKey("ssm", home.account, home.region, prefix, "/".join(path)), ask)


def _found(store: Store, prefix: str, name: str, alone: bool) -> Mapping[str, Parameter]:
    """The parameters of an object; or the one of a value that is exported by itself, if it is there."""
    at = parameter_name(prefix, (name,))
    return (alone and store.get([at])) or store.under(at)


def _value(found: Mapping[str, Parameter], prefix: str, path: Path) -> Any:  # noqa: ANN401 (JSON)
    name = parameter_name(prefix, path)
    if name in found:
        parameter = found[name]
        if parameter.kind is Kind.SECURE:
            raise SecureObjectError(shown(path))
        return parameter.text.split(",") if parameter.kind is Kind.STRING_LIST else parameter.text
    if any(other.startswith(f"{name}/") for other in found):
        raise an_object(path)
    raise NothingToImportError(shown(path), f"the parameters below {prefix}", get_close_matches(name, found, 3))
