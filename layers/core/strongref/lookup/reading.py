"""What Cloud Control was asked already: each resource once, each list once, no more of them than fit into memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from strongref.aws.cloud_control import Resource
from strongref.errors import CloudControlError, NoSuchResourceError, PropertiesAskedError
from strongref.lookup.arnforms import PATTERNS
from strongref.lookup.errors import MissingPropertyError
from strongref.lookup.inputs import first_model, with_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from strongref.lookup.base import CloudControl
    from strongref.lookup.table import Shape

T = TypeVar("T")

ASKED_MOST = 5
"""How often a service is asked again for a list, with what it said that it needs."""

RESOURCES_KEPT = 1_000
LISTS_KEPT = 100

_NOT_AN_IDENTIFIER = frozenset({"InvalidRequestException", "ValidationException"})
"""What is answered where an identifier has not the form of one of that type."""


class Reading:
    """Cloud Control of one account and region, for a run."""

    def __init__(self, cloudcontrol: CloudControl) -> None:
        self.region = cloudcontrol.region
        self._cloudcontrol = cloudcontrol
        self._resources: _Kept[Resource | None] = _Kept(RESOURCES_KEPT)
        self._lists: _Kept[tuple[Resource, ...]] = _Kept(LISTS_KEPT)

    def get(self, type_name: str, identifier: str) -> Resource:
        """The resource of that primary identifier.

        Raises:
            NoSuchResourceError: there is none.
            UnsupportedError: such resources cannot be read.
            CloudControlError: the call failed.
        """
        found = self._resources.get((type_name, identifier), lambda: self._get(type_name, identifier))
        if found is None:
            raise NoSuchResourceError(type_name, f"identifier {identifier}", self.region)
        return found

    def there(self, type_name: str, identifier: str) -> Resource | None:
        """The resource, if there is one of what may be its identifier. Raises as `get`, but for that."""
        try:
            return self.get(type_name, identifier)
        except NoSuchResourceError:
            return None
        except CloudControlError as error:
            if error.code not in _NOT_AN_IDENTIFIER:
                raise
        return None

    def listed(self, shape: Shape, known: Mapping[str, str]) -> tuple[Resource, ...]:
        """Every resource of a type that a service lists for what is known; of their properties, name and ARN alone.

        Raises:
            MissingPropertyError: the service asks for a property that is not known.
            UnsupportedError: such resources cannot be listed.
            CloudControlError: a call failed.
        """
        model = first_model(shape, known)
        for _ in range(ASKED_MOST):
            try:
                return self._list(shape, model)
            except PropertiesAskedError as error:
                asked = error.names
            model = with_asked(shape, model, asked, known)
        raise MissingPropertyError(shape.type_name, asked)

    def _get(self, type_name: str, identifier: str) -> Resource | None:
        try:
            return self._cloudcontrol.get(type_name, identifier)
        except NoSuchResourceError:
            return None

    def _list(self, shape: Shape, model: Mapping[str, str]) -> tuple[Resource, ...]:
        return self._lists.get(
            (shape.type_name, frozenset(model.items())),
            lambda: tuple(_slim(shape, each) for each in self._cloudcontrol.each(shape.type_name, model)),
        )


def _slim(shape: Shape, resource: Resource) -> Resource:
    pattern = PATTERNS.get(shape.type_name)
    telling = {shape.name, shape.arn, *(pattern.groupindex if pattern else ())}
    told = {prop: text for prop, text in resource.properties.items() if prop in telling}
    return Resource(resource.type_name, resource.identifier, told)


class _Kept(Generic[T]):
    """The last so many answers."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, question: Hashable, ask: Callable[[], T]) -> T:
        if question not in self._answers:
            answer = ask()
            self._answers[question] = answer
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
        self._answers.move_to_end(question)
        return self._answers[question]
