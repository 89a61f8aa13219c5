"""What the functions would refuse in a resource's properties, as far as a template says what they get. Pure.

The checks are the functions' own. Something that they accept takes the place of what only CloudFormation knows, such as
the value of a `Ref`. Of an `Fn::If`, each branch is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, ParamSpec

from strongref.arns import Arn, partition_of
from strongref.contract.names import StackArn
from strongref.contract.properties import Table, read
from strongref.contract.requests import (
    EXPORT_PROPERTIES,
    EXPORT_TYPE,
    IMPORT_PROPERTIES,
    IMPORT_TYPE,
    ExportRequest,
    ImportRequest,
    OnChange,
    Strength,
)
from strongref.contract.values import levels, parse_values
from strongref.errors import BadRequestError
from strongref.lookup.custom_resource import LOOKUP_PROPERTIES, LookupRequest
from strongref.macro.references import as_sent, branches
from strongref.macro.template import IF, NO_VALUE, Node, Path, is_function

_P = ParamSpec("_P")

_FROM, _VALUES, _SECURE, _REGION, _ACCOUNT = "From", "Values", "SecureKeys", "Region", "Account"


class PropertiesReader(NamedTuple):
    table: Table  # its properties
    parse: Callable[[Mapping[str, object], StackArn], object]  # reads all of them together


_EXPORT: Table = {  # The exporter reads values later, with the names of the secret ones.
    **EXPORT_PROPERTIES,
    _VALUES: replace(EXPORT_PROPERTIES[_VALUES], parse=lambda prop, given: parse_values(prop, given, ())),
}
KINDS: Mapping[str, PropertiesReader] = {
    EXPORT_TYPE: PropertiesReader(_EXPORT, ExportRequest.parse),
    IMPORT_TYPE: PropertiesReader(IMPORT_PROPERTIES, ImportRequest.parse),
    "Custom::ResourceLookup": PropertiesReader(LOOKUP_PROPERTIES, LookupRequest.parse),
}
"""By resource type."""

_ANY = "x"
_SAMPLES: Mapping[str, object] = {
    _ACCOUNT: "111111111111",
    "Arn": "arn:aws:s3:::x",
    "OnChange": OnChange.REFUSE.value,
    "Shared": "false",
    "Strength": Strength.STRONG.value,
    "TypeName": "AWS::S3::Bucket",
    _FROM: {"Stack": _ANY},
    _REGION: "us-east-1",
    **{name: [_ANY] for name in ("Attributes", "Names", _SECURE)},
    **{name: {_ANY: _ANY} for name in ("Properties", "Tags", _VALUES)},
}
"""By property, something that is accepted; `x` for all others."""


def problems(kind: str, given: Node) -> Iterator[tuple[Path, str]]:
    """The path within the properties, and the text, of each problem of a resource."""
    if not isinstance(given, Mapping) or is_function(given):
        return
    table, parse = KINDS[kind]
    found = [error for name in given if not _adds(name) for error in _refused(table, str(name), given[name])]
    if not any(map(_adds, given)):
        absent = [{name: each} for name, each in table.items() if each.required and name not in given]
        found += [error for each in absent for error in _refusal(read, {}, each)]
    if not found and not _varies(given):
        known = _known(given)
        found += _refusal(parse, known, _stack(known))
    yield from ((_path(error.prop), str(error)) for error in found)


def _refused(table: Table, name: str, given: Node) -> Iterator[BadRequestError]:
    """What is wrong with one property, or with each of the values."""
    alone = {name: replace(each, required="") for name, each in table.items()}
    each_alone = name == _VALUES and isinstance(given, Mapping)
    for part in [{key: each} for key, each in given.items()] if each_alone else [given]:
        for version in _versions(part, name):
            yield from _refusal(read, {name: version}, alone)


def _refusal(parse: Callable[_P, object], *given: _P.args, **named: _P.kwargs) -> Iterator[BadRequestError]:
    """The error of a call, if it has one."""
    try:
        parse(*given, **named)
    except BadRequestError as error:
        yield error


def _versions(node: Node, name: str = "") -> Sequence[object]:
    """What a property may be, as its function gets it: each branch of each `Fn::If` is in one of the versions."""
    if choice := branches(node):
        return [*_versions(choice[1], name), *_versions(choice[2], name)]
    if _is_unknown(node):
        return [_SAMPLES.get(name, _ANY)]
    if isinstance(node, Mapping):
        below = [_versions(each, str(key) if name == _FROM else "") for key, each in node.items()]
        return [dict(zip(map(str, node), each, strict=True)) for each in _side_by_side(below)]
    if isinstance(node, list):
        return _side_by_side([_versions(each, name if name in (_REGION, _ACCOUNT) else "") for each in node])
    return [as_sent(node)]


def _side_by_side(versions: Sequence[Sequence[object]]) -> list[list[object]]:
    """Lists with a version of each part, until every version was in one of them."""
    most = max(map(len, versions), default=1)
    return [[each[number % len(each)] for each in versions] for number in range(most)]


def _is_unknown(node: Node) -> bool:
    if isinstance(node, Mapping):
        return is_function(node) or any(map(_adds, node))
    return isinstance(node, str) and "{{resolve:" in node


def _adds(key: object) -> bool:
    """Whether a key of a map is a function that adds others."""
    return str(key).startswith("Fn::")


def _varies(node: Node) -> bool:
    """Whether CloudFormation decides what there is."""
    if isinstance(node, Mapping):
        decided = (IF, "Fn::Transform", "Fn::ForEach")
        return node == NO_VALUE or any(str(key).startswith(decided) or _varies(each) for key, each in node.items())
    return isinstance(node, list) and any(map(_varies, node))


def _known(given: Mapping[str, Node]) -> dict[str, object]:
    """All properties together, without what others could contradict."""
    known = {name: _versions(each, name)[0] for name, each in given.items()}
    secure = given.get(_SECURE)
    for name in (_REGION, _ACCOUNT):
        places = given.get(name)
        if any(map(_is_unknown, places if isinstance(places, list) else [places])):
            del known[name]
    if isinstance(secure, list):
        names = [as_sent(name) for name in secure if not _is_unknown(name)]
        known[_SECURE] = [name for name in names if _is_given(name, given[_VALUES])]
    elif _is_unknown(secure):
        del known[_SECURE]
    return known


def _is_given(name: str, values: Node) -> bool:
    """Whether the template itself says what is under a name of a value."""
    for level in levels(name):
        if _is_unknown(values):
            return False
        values = values.get(level) if isinstance(values, Mapping) else None
    return True


def _stack(known: Mapping[str, object]) -> StackArn:
    """A stack that may have these properties."""
    origin, region = known.get(_FROM), known.get(_REGION)
    region = origin.get(_REGION) if isinstance(origin, Mapping) else region[0] if isinstance(region, list) else region
    arn = Arn.parse(str(known.get("Arn") or known.get("PhysicalId")))
    account = known.get(_ACCOUNT) or (arn.account if arn else "") or _SAMPLES[_ACCOUNT]
    if isinstance(account, list):  # With several, some are not the stack's own, and which is not known.
        account = account[0] if len(set(account)) == 1 else "0" * 12
    region = str(region or _SAMPLES[_REGION])
    return StackArn(partition_of(region), region, str(account), _ANY, _ANY)


def _path(prop: str) -> Path:
    """The path to what an error names, as in `Names[0]` or `Values.Bucket.Arn`."""
    return tuple(int(number) if number else name for name, number in re.findall(r"([^.\[]+)|\[(\d+)\]", prop))
