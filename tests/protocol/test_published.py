"""What the records of a scope publish, and what is said about what they do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.contract.names import SHARED, ExportScope, Key
from strongref.contract.record import Record, StoredRecord, encode, part_name
from strongref.contract.values import Parameter, Value
from strongref.errors import NewerFormatError, UndecryptableError
from strongref.protocol.published import ImportingAccount, RecordedExports
from strongref.refusals import NoSuchExportError, NothingExportedError
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, record, secure, values

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCKED = UndecryptableError("GetParameters", "InvalidKeyId", "name", "us-east-1")
NEWER = NewerFormatError("name", "2", "0.3.0", "1", "0.2.0")
TORN = StoredRecord(None, torn=True, numbers=frozenset([0]), why=LOCKED)


def complete(what: Record) -> StoredRecord:
    return StoredRecord(what, torn=False, numbers=frozenset([0]))


@dataclass(frozen=True)
class Stored:
    """A store with these parameters, in an account in which every stack exists."""

    parameters: Mapping[str, Parameter]
    region: str = "us-east-1"

    def under(self, path: str, **_how: bool) -> dict[str, Parameter]:
        return {name: each for name, each in self.parameters.items() if name.startswith(path)}

    def by_name(self, *_stack: str) -> bool:
        return True


def stored(given: Mapping[Key, Value]) -> Any:
    names = {SCOPE.parameter_name(key): each for key, each in given.items()}
    return Stored({name: Parameter(name, each.type, each.text) for name, each in names.items()})


@pytest.mark.parametrize(
    ("there", "names", "may_be_locked"),
    [
        pytest.param(values(M__A="1", M__B="stray"), ["M"], False, id="a stray is no secret"),
        pytest.param(values(M__A="1", M__B=secure("?")), ["M"], True, id="a value that may be the secret"),
        pytest.param(values(M__A="1", B=secure("?")), ["M"], False, id="elsewhere"),
        pytest.param(values(M__A="1"), ["M"], False, id="what is known"),
        pytest.param(values(M__A="1"), ["B"], True, id="what is not"),
        pytest.param(values(M__A="1"), None, True, id="everything"),
    ],
)
def test_what_may_be_in_a_locked_part_is_not_read(
    there: Mapping[Key, Value], names: list[str] | None, may_be_locked: bool
) -> None:
    found = RecordedExports({"Exports": record(M__A="1")}, torn=False, why=LOCKED)
    if may_be_locked:
        with pytest.raises(UndecryptableError):
            found.check_secure(stored(there), SCOPE, names)
    else:
        found.check_secure(stored(there), SCOPE, names)


def test_a_record_is_complete_if_it_can_be_read_or_says_that_it_is_withdrawn() -> None:
    withdrawn = StoredRecord(None, torn=False, numbers=frozenset([0]), withdrawn=Record(NETWORK, {}, withdrawn=True))
    found = RecordedExports.of({"Torn": TORN, "Exports": complete(record(A="1")), "Gone": withdrawn})
    assert found.complete == {"Exports", "Gone"}


def test_of_all_that_is_wrong_a_newer_format_is_worst() -> None:
    newer = StoredRecord(None, torn=True, numbers=frozenset([0]), why=NEWER)
    assert RecordedExports.of({"A": TORN, "B": newer}).why is NEWER
    assert RecordedExports.of({"A": TORN}).why is LOCKED


def test_a_value_that_is_put_back_belongs_to_the_exports_that_publish_it() -> None:
    found = RecordedExports({"Exports": record(A="1"), "More": record(B="1")}, torn=False)
    assert set(found.tags(Key("A")).values()) == {NETWORK, "Exports"}


def test_what_is_missing_may_be_exported_to_this_consumer_alone() -> None:
    head = part_name(SCOPE, "Exports", 0)
    (part,) = encode(record(A="1"), frozenset())
    there = cast("Any", Stored({head: Parameter(head, part.kind, part.text)}))
    shared = ExportScope(SHARED, SCOPE.producer)
    why = ImportingAccount(ACCOUNT, "web").why_missing(shared, ["A", "B"], [Key("C")], there, there)
    assert isinstance(why, NoSuchExportError)
    assert list(why.missing) == ["A", "B"]
    assert list(why.elsewhere) == ["A"]
    nothing = ImportingAccount(ACCOUNT, "web").why_missing(shared, [], [], there, there)
    assert isinstance(nothing, NothingExportedError)
    assert nothing.consumer is None
