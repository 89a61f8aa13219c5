"""Every text is short enough for CloudFormation, and ends with what to do, whatever it is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strongref.errors import BadRequestError, StackLookupError, StoreError, StrongRefError, UnreadableRecordError
from strongref.refusals import (
    ChangingError,
    ConflictingExportError,
    ExportsInUseError,
    ExportsKeptError,
    ForeignParameterError,
    InUse,
    NoSuchExportError,
    NoSuchProducerError,
    NothingExportedError,
    TooManyClaimsError,
    UnsettledError,
)
from tests.support.builders import SCOPE, stack_arn
from tests.support.examples import examples

NAMES = st.text("aZ0/_-", min_size=1, max_size=9) | st.integers(1, 940).map("k".__mul__)
KEYS = st.lists(NAMES, min_size=1, max_size=14)
ARNS = st.lists(
    st.integers(1, 256).map("t".__mul__) | st.integers(1, 128).map(lambda n: stack_arn("n" * n)), min_size=1
)
USES = st.lists(
    st.builds(InUse, NAMES, st.sampled_from(["changed", "dropped"]), ARNS.map(tuple)), min_size=1, max_size=13
)
PRODUCER = f"stack {'p' * 128} (us-isob-east-1, 111111111111)"
CONSUMER = "c" * 128
LOGICAL_ID = "L" * 255


@examples(60)
@given(KEYS, ARNS, USES, st.booleans())
def test_every_text_is_short_whatever_the_data(keys: list[str], arns: list[str], uses: list[InUse], yes: bool) -> None:
    name = SCOPE.path("exports") + "/" + keys[0]
    found: list[StrongRefError] = [
        *(cls("GetParametersByPath", "SomeException" * 5, name, "us-isob-east-1") for cls in every(StoreError)),
        BadRequestError(keys[0], name * 3),
        StackLookupError(arns[0], "us-isob-east-1", "Throttling"),
        ExportsInUseError(uses),
        ExportsInUseError([InUse(key, "changed", tuple(arns)) for key in keys]),
        ExportsKeptError(uses),
        ForeignParameterError({name: arns[0], **dict.fromkeys(keys)}),
        ConflictingExportError(keys, LOGICAL_ID),
        ChangingError(PRODUCER, name * 3),
        UnreadableRecordError(name, LOGICAL_ID),
        UnsettledError(keys, PRODUCER),
        NoSuchProducerError(PRODUCER),
        NothingExportedError(PRODUCER, CONSUMER if yes else None, "us-isob-east-1", known=yes, elsewhere=not yes),
        NoSuchExportError(dict.fromkeys(keys, keys[:2] if yes else ()), PRODUCER, keys),
        NoSuchExportError(dict.fromkeys(keys, keys[:2] if yes else ()), PRODUCER, keys, keys, yes),
        TooManyClaimsError(keys, PRODUCER),
    ]
    assert [str(error) for error in found if len(str(error)) >= 1000] == []


@examples(60)
@given(USES)
def test_the_way_out_is_never_cut_off(uses: list[InUse]) -> None:
    assert str(ExportsInUseError(uses)).endswith(
        (
            "propagate. Nothing was changed.",
            "that import first. Nothing was changed.",
            "those imports first. Nothing was changed.",
        )
    )


def every(cls: type[StoreError]) -> list[type[StoreError]]:
    return [cls, *cls.__subclasses__()]
