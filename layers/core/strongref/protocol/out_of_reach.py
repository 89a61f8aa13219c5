"""Places that cannot be reached: which of them an Export's event may pass over. Pure.

What decides is the index, read more than a lag after the event was sent: tests/support/explorer tries every order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.codes import DENIED, NOT_ACCEPTED
from strongref.errors import StoreError, UndecryptableError
from strongref.protocol.phases import Phase

if TYPE_CHECKING:
    from strongref.contract.index import IndexEntry
    from strongref.protocol.snapshot import Destination


def is_out_of_reach(error: StoreError) -> bool:
    """Whether a call failed because its region does not exist, is not enabled, or does not let this account in."""
    from strongref.next_steps import WITHOUT_RESPONSE  # noqa: PLC0415 (only failures need them)

    is_key = isinstance(error, UndecryptableError)
    return not is_key and (error.code in DENIED or error.code in NOT_ACCEPTED or error.code in WITHOUT_RESPONSE)


def may_pass_over(phase: Phase, destination: Destination, entry: IndexEntry) -> bool:
    """Whether an event may leave a place as it is, which it cannot reach.

    It may where nothing was written: a place is named before that, and the last complete state is there if the Update
    that is rolled back was refused before it began. Or a person said that the place is gone.
    """
    place, is_wanted = destination.place, bool(destination.wanted)
    is_rollback = phase is Phase.ROLLBACK
    if place in entry.forgotten:
        return is_rollback or not is_wanted
    if place in entry.places:
        is_of_others = destination.is_residual and phase is not Phase.DELETE
        return is_of_others or (is_rollback and entry.is_untouched(place))
    # Nothing was there before, and the Update was refused before it began.
    never_began = is_rollback and place in entry.denied
    never_succeeded = phase in (Phase.CREATE, Phase.CREATE_ROLLBACK) and not entry.older
    # Whoever writes to another account names that first: version 0.2.0 wrote to none.
    is_abroad = bool(destination.site.account)
    return not is_wanted and (is_abroad or entry.is_exact or never_began or never_succeeded)
