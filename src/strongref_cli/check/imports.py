"""What becomes of the Imports of a new version: read by the importer's own rules, and nothing is claimed. Pure.

An Import fails if what it names is not exported, and a template if it names what the Import does not return.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from strongref.contract.names import Key, StackArn
from strongref.contract.properties import CLOUDFORMATIONS_OWN
from strongref.contract.requests import ImportRequest, accepted
from strongref.contract.response import ResponseTooLargeError
from strongref.contract.values import Value, select
from strongref.errors import (
    BadRequestError,
    NewerFormatError,
    StrongRefError,
    UndecryptableError,
    UnreadableRecordError,
)
from strongref.protocol.imports import attributes
from strongref.refusals import (
    ChangingError,
    HoldMissingError,
    NoProducerError,
    NoSuchExportError,
    NoSuchProducerError,
    NothingExportedError,
    SeveralProducersError,
)
from strongref.text import attribute_name, did_you_mean, some
from strongref_cli.check.comparison import Comparison, because
from strongref_cli.check.report import ImportPrediction, StackFinding, Verdict
from strongref_cli.check.unknown import Evaluated, Source, sources_of
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from strongref_cli.check.version import StackVersion

Read: TypeAlias = Callable[[str, ImportRequest], Mapping[Key, Value]]
"""Returns the values that an Import of a logical ID would get; raises what the importer would."""
Assumed: TypeAlias = "Mapping[str, Collection[Key]]"
"""What stacks will export that are deployed before: keys by the stack's name."""

_PARAMETER = re.compile(r"dynamic reference ssm(?:-secure)?:(/strongref/exports/[^:]+)(?::[0-9]+)?")
_BAD = (
    *(HoldMissingError, NewerFormatError, ResponseTooLargeError, UndecryptableError, UnreadableRecordError),
    UsageError,  # a region that is none
)
_MISSING = (NoSuchProducerError, NothingExportedError, NoSuchExportError, NoProducerError, SeveralProducersError)


@dataclass(frozen=True, slots=True)
class ImportsCheck:
    stack: StackArn
    comparison: Comparison
    read: Read
    assumed: Assumed
    changing: Collection[str]  # the names of the stacks that the same operation updates

    def predictions(self) -> Iterator[ImportPrediction]:
        """What becomes of each Import that is created or updated, or whose attributes the template names."""
        for logical_id in self.comparison.new.imports:
            is_updated = self.comparison.may_change(logical_id) and not self.comparison.is_same(logical_id)
            verdict, reasons = self._predicted(logical_id, is_updated=is_updated)
            if verdict is Verdict.REFUSED and self.comparison.new.resources[logical_id].exists is not True:
                verdict = Verdict.UNKNOWN
            if reasons or is_updated:
                yield ImportPrediction(logical_id, verdict, tuple(reasons))

    def _predicted(self, logical_id: str, *, is_updated: bool) -> tuple[Verdict, list[str]]:
        given = mapping(self.comparison.new.resources[logical_id].properties)
        settled = {name: each for name, each in given.items() if name not in CLOUDFORMATIONS_OWN}
        if sources_of(settled.get("Revision")):
            del settled["Revision"]
        if unknown := {name: each for name, each in settled.items() if sources_of(each)}:
            reasons = [f"{name} is unknown: {because(self.comparison, each)}." for name, each in unknown.items()]
            return Verdict.UNKNOWN, reasons if is_updated else []
        try:
            request = ImportRequest.parse(settled, self.stack)
            values = {} if request.names == () else self.read(logical_id, request)
        except BadRequestError as refused:
            return Verdict.REFUSED, [str(refused)] if is_updated else []
        except StrongRefError as error:
            verdict, text = self._failed(logical_id, error, request)
            return verdict, [text] if is_updated else []
        named = {each.attribute for each in self.comparison.new.reads if each.name == logical_id} - {""}
        wrong = list(_wrong_attributes(logical_id, sorted(named), values))
        return (Verdict.REFUSED if wrong else Verdict.ACCEPTED), wrong

    def _failed(self, logical_id: str, error: StrongRefError, request: ImportRequest) -> tuple[Verdict, str]:
        if isinstance(error, ChangingError):
            return Verdict.UNKNOWN, str(error)
        if isinstance(error, _BAD):
            return Verdict.REFUSED, str(error)
        if not isinstance(error, _MISSING):
            raise error  # It is about this command, and not about the Import.
        own = [self.stack.name] if self.comparison.new.exports or request.producer else []
        of = [request.producer.stack] if request.producer else [*self.changing, *own, *self.assumed]
        if isinstance(error, SeveralProducersError):
            of = []  # One more would not help.
        if named := sorted({each for each in of if each in self.changing or each == self.stack.name}):
            text = f"stack {some(named)} may export that in the same deployment"
            return Verdict.UNKNOWN, f"unknown: {text}. Now: {error}"
        assumed = {key: each for each in of for key in self.assumed.get(each, ())}
        if assumed and all((meant := select(request.names, assumed)).values()):
            named = sorted({assumed[key] for keys in meant.values() for key in keys})
            return Verdict.UNKNOWN, f"Stack {some(named)} is assumed to export that: deploy it first."
        if self._imports_as_before(logical_id, request):
            return Verdict.UNKNOWN, f"unknown: a withdrawn value may be kept for this Import. Without it: {error}"
        return Verdict.REFUSED, str(error)

    def _imports_as_before(self, logical_id: str, request: ImportRequest) -> bool:
        """Whether an Import of these names from this stack is deployed: what it claims stays for it."""
        old = self.comparison.old.resources.get(logical_id)
        if old is None or sources_of(old.properties):
            return False
        former = accepted(ImportRequest.parse, mapping(old.properties), self.stack)
        return former is not None and (former.producer, former.names) == (request.producer, request.names)


def exported_keys(version: StackVersion) -> set[Key]:
    """All keys that the Exports of a template publish, to whomever."""
    given = (mapping(version.resources[each].properties) for each in version.exports)
    return {key for each in given for key in _keys(each.get("Values"), "")}


def _keys(values: Evaluated, path: str) -> Iterator[Key]:
    for name, below in mapping(values).items():
        yield Key(f"{path}{name}")
        yield from _keys(below, f"{path}{name}/")


def missing_parameters(reads: Collection[Source], exists: Callable[[str], bool]) -> Iterator[StackFinding]:
    """Dynamic references to exported values that are not there."""
    for name in sorted({match[1] for each in reads if (match := _PARAMETER.fullmatch(each.name))}):
        if not exists(name):
            text = f"{{{{resolve:ssm:{name}}}}} names a parameter that does not exist."
            yield StackFinding(Verdict.REFUSED, f"{text} Check the path, or export the value first.")


def _wrong_attributes(logical_id: str, named: Collection[str], values: Mapping[Key, Value]) -> Iterator[str]:
    returned, all_names = attributes(values), [attribute_name(key) for key in values]
    for name in named:
        if name in returned:
            continue
        what = f"Fn::GetAtt cannot return {logical_id}.{name}: "
        if name in all_names:
            yield f"{what}it is a secret. Read its parameter with {{{{resolve:ssm-secure:…}}}}."
        elif below := [each for each in all_names if each.startswith(f"{name}.")]:
            yield f"{what}it is a map. Name one of its values: {some(below, 3)}."
        else:
            close = did_you_mean(get_close_matches(name, returned, 2), f"It imports {some(sorted(returned), 5)}.")
            yield f"{what}the Import has no such value. {close}"
