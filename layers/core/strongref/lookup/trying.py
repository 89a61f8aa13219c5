"""Asks for resources that may be there: a call that fails is no answer, and is told only if nothing is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import CloudControlError, UnsupportedError

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.reading import Reading


class Trying:
    """One look-up's.

    Attributes:
        reading: where everything is asked for.
        failed: the first error, if there was one.
    """

    def __init__(self, reading: Reading, type_name: str) -> None:
        self.reading = reading
        self._type_name = type_name
        self.failed: CloudControlError | UnsupportedError | None = None

    def there(self, identifier: str) -> Resource | None:
        """The resource; None if there is none, or if nobody knows."""
        try:
            return self.reading.there(self._type_name, identifier)
        except (CloudControlError, UnsupportedError) as error:
            self.failed = self.failed or error
        return None
