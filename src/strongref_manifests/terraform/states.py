"""What a Terraform state holds, whichever of its two forms it comes in. Pure.

A state file has version 4 since Terraform 0.12 (Terraform: internal/states/statefile/version4.go). What
`terraform show -json` prints has a format of its own, 1.x (Terraform: internal/command/jsonstate/state.go). Both say
which parts of a value are sensitive; only the latter knows what providers declare to be, as the password of an
`aws_db_instance` (Terraform: pull request 33076). In the former, names are all that is left to go by.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from strongref.arns import is_arn
from strongref.macro.template import too_deep
from strongref.untyped import AnyJson
from strongref_manifests.errors import TOO_DEEP, BadAddressError, NotAStateError
from strongref_manifests.terraform.addresses import DATA, MANAGED, TerraformOutput, TerraformResource, modules_in
from strongref_toolkit.json_values import Json, Path, texts_in, values_in

STATE_VERSION = 4
SHOWN_FORMAT = "1."

_WRAPPED = ["value", "type"]
"""In this order: of a map, the keys are sorted (go-cty: cty/json, marshalDynamic and marshal)."""
_SINGLE: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float, str),  # One that no float can hold is written as text.
    "bool": (bool,),
    "dynamic": (),  # Only of null nothing else is known.
}

_LIKE_A_SECRET = re.compile(
    r"(?:.*_)?(?:"
    r"(?:password|passwd|passphrase|pass_phrase|pwd)s?(?:_(?:hash|sha256|sha512|bcrypt|v4|wo))?"
    r"|secrets?(?:_(?:keys?|strings?|binary|data|values?|base64|wo))?"
    r"|(?:\w*_)?tokens?|api_?keys?|\w*access_?keys?|private_?key(?:_.*)?|secret_?access_?keys?"
    r"|\w*connection_?strings?|credentials?(?:_json)?|kube_?config(?:_raw|s)?|kube_admin_config(?:_raw)?"
    r")(?:_(?:pem|openssh|base64))?"
)
"""Of names in lower case, with underscores between their words."""

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-. ]+")

_OF_TYPES = {
    "aws_api_gateway_api_key": {"value"},
    "aws_appsync_api_key": {"key"},
    "aws_ecr_authorization_token": {"authorization_token", "password"},
    "aws_kms_secrets": {"plaintext"},
    "aws_ssm_parameter": {"value"},
    "aws_ssm_parameters_by_path": {"values"},
    "azurerm_key_vault_secret": {"value"},
    "kubernetes_secret": {"data", "binary_data"},
    "kubernetes_secret_v1": {"data", "binary_data"},
    "local_sensitive_file": {"content", "content_base64"},
    "random_password": {"result", "bcrypt_hash"},
    "vault_generic_secret": {"data", "data_json"},
    "vault_kv_secret_v2": {"data", "data_json"},
}

_OTHERWISE = frozenset({"http_tokens", "token_validity_units"})
"""Names of settings: whether requests need a token (EC2), and how long tokens are valid (Cognito)."""


@dataclass(frozen=True, slots=True)
class StateValue:
    """What a state holds under one address."""

    value: Json = field(repr=False)  # an output's value, or a resource's attributes. Never shown
    sensitive: frozenset[Path] = frozenset()  # what of it is sensitive, by what leads there; an empty path is all of it
    guessed: frozenset[Path] = frozenset()  # what of it is only called like a secret


@dataclass(frozen=True, slots=True)
class TerraformState:
    """A state: what it holds by address, and where it was read from. Objects that are to be destroyed are not in it."""

    where: str
    held: Mapping[TerraformOutput | TerraformResource, StateValue]


class _MalformedError(Exception):
    """Something in a state is not of the form that it should be."""


def read_state(content: bytes, where: str) -> TerraformState:
    """A state from a state file's content, or from what `terraform show -json` prints.

    Raises:
        NotAStateError: it is in neither form, or in a version that is not known here.
    """
    if not content.strip():
        raise NotAStateError(where, "it is empty")
    try:
        given = json.loads(content)
        if not too_deep(given):
            return TerraformState(where, _held(given))
        problem = TOO_DEEP
    except RecursionError:
        problem = TOO_DEEP
    except ValueError:
        problem = "it is not JSON"
    except _MalformedError as error:
        problem = str(error)
    raise NotAStateError(where, problem)


def _held(given: object) -> dict[TerraformOutput | TerraformResource, StateValue]:
    if not isinstance(given, dict):
        raise _MalformedError("it is no JSON object")
    if "encrypted_data" in given or "encryption_version" in given:
        raise _MalformedError("OpenTofu has encrypted it, and tofu show -json decrypts it")
    if "format_version" in given:
        return dict(_shown(given))
    version = given.get("version")
    if not isinstance(version, int) or not {"resources", "modules", "lineage"} & set(given):
        raise _MalformedError("it has neither the form of a state file nor that of terraform show -json")
    if version != STATE_VERSION:
        older = version < STATE_VERSION
        way = "Terraform 0.12 or later rewrites it with terraform apply" if older else "it is newer than this program"
        raise _MalformedError(f"it is a state file of version {version}, and {way}")
    return dict(_stored(given))


def _stored(given: Mapping[str, Any]) -> Iterator[tuple[TerraformOutput | TerraformResource, StateValue]]:
    yield from _outputs(_of(dict, given, "outputs", {}))
    for number, resource in enumerate(_of(list, given, "resources", [])):
        at = f"resources[{number}]"
        for each in _of(list, resource, "instances", [], at):
            if _of(str, each, "deposed", "", at):
                continue
            if "attributes" not in each and _of(dict, each, "attributes_flat", {}, at):
                raise _MalformedError(f"{at} was written by Terraform 0.11; terraform apply rewrites it")
            attributes = {name: _untyped(value) for name, value in _of(dict, each, "attributes", {}, at).items()}
            paths = _of(list, each, "sensitive_attributes", [], at)
            marked = {_leading(_marked(path, at), attributes) for path in paths}
            address = _address(resource, _of(str, resource, "module", "", at), each.get("index_key"), at)
            yield address, StateValue(attributes, frozenset(marked), frozenset(_secrets_in(address.type, attributes)))


def _shown(given: Mapping[str, Any]) -> Iterator[tuple[TerraformOutput | TerraformResource, StateValue]]:
    """What `terraform show -json` prints; without any values for a state that holds nothing."""
    version = given["format_version"]
    if "planned_values" in given:
        raise _MalformedError("it is a plan; a state is what terraform show -json prints without a file")
    if not isinstance(version, str) or not version.startswith(SHOWN_FORMAT):
        found = version if isinstance(version, str) else "no text"
        raise _MalformedError(f"its format_version is {found}; Terraform 1.1 or later prints {SHOWN_FORMAT}x")
    values = _of(dict, given, "values", {})
    yield from _outputs(_of(dict, values, "outputs", {}))
    yield from _module(_of(dict, values, "root_module", {}))


def _module(module: Mapping[str, Any]) -> Iterator[tuple[TerraformOutput | TerraformResource, StateValue]]:
    name = _of(str, module, "address", "")
    at = name or "root_module"
    for resource in _of(list, module, "resources", [], at):
        if _of(str, resource, "deposed_key", "", at):
            continue
        address = _address(resource, name, resource.get("index"), at)
        attributes = _of(dict, resource, "values", {}, at)
        marked = (path for path, is_sensitive in values_in(resource.get("sensitive_values")) if is_sensitive is True)
        yield address, StateValue(attributes, frozenset(marked))
    for child in _of(list, module, "child_modules", [], at):
        if not isinstance(child, dict):
            raise _MalformedError(f"{at}.child_modules does not have a state's form")
        yield from _module(child)


def _outputs(given: Mapping[str, Any]) -> Iterator[tuple[TerraformOutput, StateValue]]:
    for name, output in given.items():
        at = f"outputs.{name}"
        sensitive = _of(bool, output, "sensitive", False, at)
        yield TerraformOutput(name), StateValue(output.get("value"), frozenset({()} if sensitive else ()))


def _address(resource: Mapping[str, Any], module: str, key: object, at: str) -> TerraformResource:
    mode, type_name, name = (_of(str, resource, each, "", at) for each in ("mode", "type", "name"))
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    if mode not in (MANAGED, DATA) or not type_name or not name or isinstance(key, bool | float | list | dict):
        raise _MalformedError(f"{at} does not have a state's form")
    try:
        return TerraformResource(modules_in(module), mode, type_name, name, key if isinstance(key, int | str) else None)
    except BadAddressError:
        raise _MalformedError(f"{at} is in a module whose address cannot be read") from None


def _marked(path: object, at: str) -> Path:
    """A sensitive path of a state file: to be on the safe side, up to the first step of a kind not known here."""
    steps: list[str | int] = []
    if not isinstance(path, list):
        raise _MalformedError(f"{at}.sensitive_attributes does not have a state's form")
    for step in path:
        value = _of(object, step, "value", None, at)
        if isinstance(value, dict):  # An index says which type it has.
            value = value.get("value")
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, str | int):
            break
        steps.append(value)
    return tuple(steps)


def _leading(path: Path, attributes: Json) -> Path:
    """As much of a path as leads to something: if not all of it does, it may mean more than what it says."""
    value = attributes
    for number, step in enumerate(path):
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return path[: max(number, 1)]
    return path


def _of(kind: type[Any], given: object, name: str, default: object, at: str = "") -> AnyJson:
    """What a JSON object has under a name; null counts as absent."""
    found = given.get(name) if isinstance(given, dict) else given
    if not isinstance(given, dict) or not isinstance(default if found is None else found, kind):
        raise _MalformedError(f"{f'{at}.' if at else ''}{name} does not have a state's form")
    return default if found is None else found


def _untyped(value: Json) -> Json:
    """A value without the types that a state file stores with parts of it.

    Where a provider's schema leaves an attribute's type open, as for `terraform_data`'s input, the file stores the
    value with its type: `{"value": …, "type": …}` (go-cty: cty/json, marshalDynamic).
    """
    if isinstance(value, dict):
        if list(value) == _WRAPPED and _is_of_type(value["value"], value["type"]):
            unwrapped: Json = value["value"]
            return unwrapped
        return {key: _untyped(below) for key, below in value.items()}
    return [_untyped(item) for item in value] if isinstance(value, list) else value


def _is_of_type(value: Json, kind: Json) -> bool:
    """Whether something is a type, as go-cty writes them, and a value is of that type; null is of any."""
    match kind:
        case "string" | "number" | "bool" | "dynamic":
            fits = isinstance(value, _SINGLE[kind]) and (kind == "bool" or not isinstance(value, bool))
        case ["list" | "set", element]:
            fits = isinstance(value, list) and all(_is_of_type(each, element) for each in value)
        case ["map", element]:
            fits = isinstance(value, dict) and all(_is_of_type(each, element) for each in value.values())
        case ["tuple", [*elements]]:
            fits = isinstance(value, list) and len(value) == len(elements) and all(map(_is_of_type, value, elements))
        case ["object", dict() as attributes, *_]:  # The names of optional ones may follow.
            fits = isinstance(value, dict) and all(
                name in attributes and _is_of_type(below, attributes[name]) for name, below in value.items()
            )
        case _:
            return False
    return fits or value is None


def _secrets_in(type_name: str, attributes: Json, above: Path = ()) -> Iterator[Path]:
    """The paths of what is called like a secret in a resource's attributes, or in the part that `above` leads to."""
    if isinstance(attributes, dict):
        for name, value in attributes.items():
            path = (*above, name)
            if not value or name in _OTHERWISE:
                continue
            if not above and name in _OF_TYPES.get(type_name, ()):
                yield path
            elif isinstance(value, str | list | dict) and _LIKE_A_SECRET.fullmatch(_WORD.sub("_", name).lower()):
                texts = [(each, text) for each, text in texts_in(value, path) if text]
                others = [each for each, text in texts if not is_arn(text)]  # An ARN only says where a secret is.
                yield from others if len(others) < len(texts) else [path]
            else:
                yield from _secrets_in(type_name, value, path)
    elif isinstance(attributes, list):
        for number, value in enumerate(attributes):
            yield from _secrets_in(type_name, value, (*above, number))
