"""What tags say, and what is known of the stacks that they name: no Parameter Store, and a CloudFormation of a dict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.contract.names import PRODUCER_TAG, Key, claim_tag
from strongref.errors import OTHER_ACCOUNT, AccessDeniedError, OutOfTimeError, StackLookupError, StoreError
from strongref.protocol.inspection import TagInspector
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.stored_exports import Owner, ValueTags
from tests.support.builders import NETWORK, SCOPE, SHOP, WEB

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

A, B, C = Key("A"), Key("B"), Key("C")
TAG = claim_tag("import")


@dataclass(frozen=True)
class World:
    """Stacks that are deleted unless they cannot be asked about, and values, some of whose tags cannot be read."""

    errors: Mapping[str, str] = field(default_factory=dict)  # by ARN, the code
    denied: Collection[Key] = ()
    reason: type[StoreError] = AccessDeniedError
    region: str = "us-east-1"
    account: str = ""

    def by_arn(self, stack: str) -> None:
        if stack in self.errors:
            raise StackLookupError(stack, self.region, self.errors[stack])

    def tags(self, name: str) -> dict[str, str]:
        if SCOPE.key(name) in self.denied:
            raise self.reason("ListTagsForResource", "AccessDeniedException", name, self.region)
        return {PRODUCER_TAG: NETWORK}

    def side_by_side(self, queues: Any) -> Any:
        return in_turn(queues)

    def inspector(self) -> TagInspector:
        return TagInspector(cast("Any", self))


def test_a_stack_of_another_account_counts_as_existing_and_any_other_error_is_one() -> None:
    inspector = World({WEB: OTHER_ACCOUNT, SHOP: "AccessDenied"}).inspector()
    assert inspector.exists(WEB)
    assert not inspector.exists(NETWORK)
    with pytest.raises(StackLookupError):
        inspector.exists(SHOP)
    assert [inspector.found_deleted(stack) for stack in (NETWORK, WEB, "never asked")] == [True, False, False]


def test_a_cleanup_needs_every_answer_but_that_of_another_account() -> None:
    inspector = World({WEB: OTHER_ACCOUNT, SHOP: "AccessDenied"}).inspector()
    assert inspector.claiming_stack(WEB) is None
    inspector.check_asked()
    assert inspector.claiming_stack(SHOP) is None
    with pytest.raises(StackLookupError):
        inspector.check_asked()


@pytest.mark.parametrize(("denied", "read"), [((A,), {B, C}), ((B, C), {A}), ((A, B), None)])
def test_tags_are_left_out_unless_none_can_be_read(denied: Collection[Key], read: set[Key] | None) -> None:
    world = World(denied=denied)
    inspector = world.inspector()
    if read is None:
        with pytest.raises(AccessDeniedError):
            inspector.inspect_readable(cast("Any", world), SCOPE, [A, B, C])
    else:
        assert set(inspector.inspect_readable(cast("Any", world), SCOPE, [A, B, C])) == read
        assert set(inspector.unread) == {SCOPE.parameter_name(key) for key in denied}


def test_tags_that_there_is_no_time_to_read_are_not_left_out() -> None:
    world = World(denied=(A,), reason=OutOfTimeError)
    with pytest.raises(OutOfTimeError):
        world.inspector().inspect_readable(cast("Any", world), SCOPE, [A, B])


@pytest.mark.parametrize(
    ("first", "second", "stale", "is_unknown"),
    [({}, {}, True, False), ({}, {WEB: "AccessDenied"}, False, False), ({WEB: "AccessDenied"}, {}, False, True)],
)
def test_a_claim_is_either_stale_or_live(
    first: Mapping[str, str], second: Mapping[str, str], stale: bool, is_unknown: bool
) -> None:
    before = World(first).inspector()
    before.claiming_stack(WEB)
    found = {A: ValueTags(Owner.OURS, NETWORK, stale={TAG: WEB})}
    World(second).inspector().agree(before, [found])
    claim = {TAG: WEB}
    assert (found[A].stale, found[A].claims) == ((claim, {}) if stale else ({}, claim))
    assert found[A].unknown == (claim if is_unknown else {})


def test_an_unclaimed_value_may_have_owners() -> None:
    inspector = World().inspector()
    assert inspector.unclaimed(NETWORK) == ValueTags(Owner.OURS, NETWORK)
    assert inspector.unclaimed(NETWORK, {"tag": "More"}).owners == {"tag": "More"}
