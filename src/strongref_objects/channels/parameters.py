"""Plain parameters of Parameter Store as a channel: anyone can read them, also at run time, and nothing holds them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.values import Parameter, ParameterType
from strongref.untyped import AnyJson
from strongref_objects.base.errors import BadChannelError, NothingToImportError, SecureObjectError
from strongref_objects.base.names import Path, logical_id, parameter_name, shown
from strongref_objects.channels import Parameters
from strongref_objects.channels.exporting import ExportedNames, WritePlan, check_free, check_storable
from strongref_objects.channels.importing import ImportedObject, TextReader, ValueReader, is_an_object
from strongref_objects.synthesis.context_file import ContextKey
from strongref_toolkit.errors import CallerDeniedError

if TYPE_CHECKING:
    from strongref.protocol.ports import Store
    from strongref_objects.base import Target, Text
    from strongref_objects.base.values import Leaf
    from strongref_objects.synthesis import Synthesis

CHANNEL = "Parameter Store"

TYPE = "AWS::SSM::Parameter"

DESCRIPTION_LIMIT = 1024
"""Characters of a parameter's description (AWS: PutParameter, Description)."""

READ_SECONDS = 60.0
"""For all calls of one read, including retries."""


def plan_parameters(target: Target, prefix: str, leaves: Mapping[Path, Leaf]) -> WritePlan:
    """A parameter for each of these values; errors as for `WritePlan`."""
    names = {path: parameter_name(prefix, path) for path in leaves}
    ids = {path: logical_id("Parameter", name) for path, name in names.items()}
    resources = {path: _properties(target, path, names[path], leaf) for path, leaf in leaves.items()}
    for path, resource in ids.items():
        check_free(target, resource, f"the parameter of {shown(path)}")

    def put() -> None:
        for path, properties in resources.items():
            target.put_resource(ids[path], TYPE, properties)

    return WritePlan((prefix,), names, put)


def _properties(target: Target, path: Path, name: str, leaf: Leaf) -> dict[str, Any]:
    check_storable(target, path, leaf)
    return {
        "Name": name,
        "Type": (ParameterType.STRING_LIST if leaf.is_list else ParameterType.STRING).value,
        "Value": leaf.as_text(path, target.is_unresolved),
        "Tier": "Intelligent-Tiering",  # A value over 4 KB needs another tier, and its length is unknown here.
        **({"Description": leaf.description[:DESCRIPTION_LIMIT]} if leaf.description else {}),
    }


def dynamic_reference_reader(prefix: str, names: ExportedNames) -> TextReader:
    """Reads by dynamic references, which CloudFormation resolves after the template's functions ran."""

    def get(path: Path) -> Text:
        with names.importing(path, parameter_name(prefix, path)) as name:
            return f"{{{{resolve:ssm:{name}}}}}"

    return TextReader(CHANNEL, get, "it is a list, and a dynamic reference returns one text")


def value_reader(target: Target, synthesis: Synthesis, prefix: str, names: ExportedNames) -> ValueReader:
    """Reads the values below a prefix in the target's account and region. Nothing can hold them."""

    def look_up(path: Path, *, is_setting: bool = False) -> AnyJson:
        with names.importing(path, parameter_name(prefix, path)):
            home, what = synthesis.home(target, shown(path)), (prefix, path[0], len(path) == 1)
            read = partial(synthesis.once, ("ssm", home, *what), lambda: read_parameters(synthesis.store(home), *what))
            key = ContextKey("ssm", *home, prefix, "/".join(path))
            return synthesis.remember(key, lambda: _value(read(), prefix, path), is_setting=is_setting)

    return ValueReader(CHANNEL, look_up, look_up_setting=partial(look_up, is_setting=True))


def read_object(prefix: str, name: str, *, region: str | None = None, store: Store | None = None) -> ImportedObject:
    """An object that a stack exported below a prefix, read now: in a function or a script.

    Args:
        prefix: as in `Parameters`.
        name: the object's.
        region: where the parameters are; AWS_REGION by default.
        store: replaces the caller's own Parameter Store, as for another account or in tests.

    Raises:
        BadChannelError: the prefix is not valid, or there is no region.
        BadNameError: the name is not valid.
        NothingToImportError: there is no such object.
        SecureObjectError: a part of it is a secret.
        StoreError: Parameter Store cannot be read.
    """
    prefix = Parameters(prefix).prefix
    found = (store or _own_store(region)).under(parameter_name(prefix, (name,)))
    if not found:
        raise NothingToImportError(name, f"the parameters below {prefix}")
    return ImportedObject(ValueReader(CHANNEL, partial(_value, found, prefix)), (name,))


def _own_store(region: str | None) -> Store:
    # Not imported where templates are made.
    from strongref.aws.clients import Clients  # noqa: PLC0415
    from strongref.aws.parameter_store import Stores  # noqa: PLC0415
    from strongref.aws.rate_limit import RateLimiter, RateLimits  # noqa: PLC0415
    from strongref.runtime.clock import SystemClock  # noqa: PLC0415

    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise BadChannelError("the region is unknown: pass region, or set AWS_REGION")
    stores = Stores(Clients().ssm, RateLimiter(RateLimits.from_environment()), CallerDeniedError)
    return stores(region, SystemClock(READ_SECONDS))


def read_parameters(store: Store, prefix: str, name: str, is_value: bool) -> Mapping[str, Parameter]:
    """The parameters of an object; for a value that is exported alone, its own parameter if there is one."""
    at = parameter_name(prefix, (name,))
    return (is_value and store.get([at])) or store.under(at)


def _value(found: Mapping[str, Parameter], prefix: str, path: Path) -> AnyJson:
    name = parameter_name(prefix, path)
    if name in found:
        if found[name].is_secure:
            raise SecureObjectError(shown(path))
        return found[name].value.attribute
    if any(other.startswith(f"{name}/") for other in found):
        raise is_an_object(path)
    raise NothingToImportError(shown(path), f"the parameters below {prefix}", get_close_matches(name, found, 3))
