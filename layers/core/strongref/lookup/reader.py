"""Reads and lists resources: each resource and each list once in a run, and no more in memory than fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from strongref.aws.errors import CloudControlError, NoSuchResourceError, PropertiesAskedError
from strongref.lookup.arn_formats import RESOURCE_PATTERNS
from strongref.lookup.errors import MissingPropertyError, RejectedPropertyError

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.resource_types import ResourceType

LIST_ATTEMPTS = 5
"""How often a list is requested from a service, each time with the properties that its last answer required."""

RESOURCES_CACHED = 1_000
LISTS_CACHED = 100

_MALFORMED_IDENTIFIER = frozenset({"InvalidRequestException", "ValidationException"})
"""Error codes for an identifier that no resource of the type can have."""


class CloudControl(Protocol):
    """Cloud Control of one account and region, paginated and rate-limited. Each method may raise a lookup error."""

    region: str

    def get(self, type_name: str, identifier: str) -> Resource:
        """The resource with that primary identifier (GetResource)."""

    def each(self, type_name: str, model: Mapping[str, str]) -> Iterator[Resource]:
        """Every resource of a type, page by page (ListResources).

        `model` has the properties that its list handler requires; it may be empty.
        """


class Tagging(Protocol):
    """The resource groups tagging API of one account and region, paginated and rate-limited."""

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        """The ARNs of resources that have all of these tags (GetResources)."""


class ResourceReader:
    """Cloud Control of one account and region, with a cache for one run."""

    def __init__(self, cloudcontrol: CloudControl) -> None:
        self.region = cloudcontrol.region
        self._cloudcontrol = cloudcontrol
        self._get = lru_cache(RESOURCES_CACHED)(self._get_uncached)
        self._list = lru_cache(LISTS_CACHED)(self._list_uncached)

    def get(self, type_name: str, identifier: str) -> Resource:
        """The resource with that primary identifier.

        Raises:
            NoSuchResourceError: it does not exist.
            UnsupportedError: Cloud Control does not read such resources.
            CloudControlError: the call failed.
        """
        found = self._get(type_name, identifier)
        if found is None:
            raise NoSuchResourceError(type_name, f"identifier {identifier}", self.region)
        return found

    def get_if_exists(self, type_name: str, identifier: str) -> Resource | None:
        """The resource, or None if it does not exist or the identifier is malformed. Otherwise raises as `get`."""
        try:
            return self._get(type_name, identifier)
        except CloudControlError as error:
            if error.code not in _MALFORMED_IDENTIFIER:
                raise
        return None

    def list_resources(self, resource_type: ResourceType, known: Mapping[str, str]) -> tuple[Resource, ...]:
        """Every resource of a type that its service lists for the known properties; only with their names and ARNs.

        Raises:
            MissingPropertyError: the service requires a property that is not known.
            RejectedPropertyError: it still requires one that it was given.
            UnsupportedError: Cloud Control does not list such resources.
            CloudControlError: a call failed.
        """
        model = first_model(resource_type, known)
        for _ in range(LIST_ATTEMPTS):
            try:
                return self._list(resource_type, frozenset(model.items()))
            except PropertiesAskedError as error:
                required = error.names
            model = extend_model(resource_type, model, required, known)
        raise RejectedPropertyError(resource_type.type_name, required)

    def _get_uncached(self, type_name: str, identifier: str) -> Resource | None:
        try:
            return self._cloudcontrol.get(type_name, identifier)
        except NoSuchResourceError:
            return None

    def _list_uncached(self, resource_type: ResourceType, model: frozenset[tuple[str, str]]) -> tuple[Resource, ...]:
        in_arn = re.compile(RESOURCE_PATTERNS.get(resource_type.type_name, "")).groupindex
        kept = {resource_type.name_property, resource_type.arn_property, *in_arn}
        listed = self._cloudcontrol.each(resource_type.type_name, dict(model))
        return tuple(
            replace(each, properties={name: value for name, value in each.properties.items() if name in kept})
            for each in listed
        )


def first_model(resource_type: ResourceType, known: Mapping[str, str]) -> dict[str, str]:
    """The resource model of the first list request: what the list handler requires, and known identifier parts.

    Raises:
        MissingPropertyError: a required property is not known.
    """
    optional = resource_type.identifier if resource_type.optional_inputs is None else resource_type.optional_inputs
    model = {part: known[part] for part in optional if part in known}
    alternatives = resource_type.required_inputs or ((),)
    for alternative in alternatives:
        if all(value_of in known for _, value_of in alternative):
            return model | {name: known[value_of] for name, value_of in alternative}
    missing = [value_of for _, value_of in alternatives[0] if value_of not in known]
    raise MissingPropertyError(resource_type.type_name, missing)


def extend_model(
    resource_type: ResourceType, model: Mapping[str, str], required: Iterable[str], known: Mapping[str, str]
) -> dict[str, str]:
    """The model with the properties that the service's answer required.

    Raises:
        MissingPropertyError: one is not known.
        RejectedPropertyError: one was in the model already.
    """
    if missing := [name for name in dict.fromkeys(required) if name not in {**model, **known}]:
        raise MissingPropertyError(resource_type.type_name, missing)
    if given := [name for name in dict.fromkeys(required) if name in model]:
        raise RejectedPropertyError(resource_type.type_name, given)
    return {**model, **{name: known[name] for name in required}}
