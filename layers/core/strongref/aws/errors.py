"""Errors of lookups: what Cloud Control, or the tagging API, does not find or does not do."""

from __future__ import annotations

from collections.abc import Sequence

from strongref.errors import RejectedError, ServiceError, StrongRefError


class UnsupportedError(RejectedError):
    type_name: str  # as in `AWS::S3::Bucket`
    action: str  # `GetResource` or `ListResources`
    region: str | None = None  # where it was asked; None leaves it out of the text

    def __str__(self) -> str:
        where = f" in {self.region}" if self.region else ""
        way_out = "Its attributes cannot be looked up."
        if self.action == "ListResources":
            way_out = "Give its complete primary identifier as the physical ID."
        return f"{self.type_name} does not support {self.action} of Cloud Control{where}. {way_out}"


class NoSuchResourceError(RejectedError):
    type_name: str  # as in `AWS::S3::Bucket`
    wanted: str  # what was looked up, as in `physical ID web`
    region: str
    among: int | None = None  # how many resources were checked; None where it was asked for by its identifier
    sentence = "No {type_name} with {wanted:500} in {region}{_checked}. Check the name, the region and the account."

    @property
    def _checked(self) -> str:
        return "" if self.among is None else f" ({self.among} checked)"


class CloudControlError(ServiceError):
    """Cloud Control, or the tagging API, did; the target is the type, and the resource if it was about one."""


class LookUpDeniedError(CloudControlError):
    sentence = (
        "{action} of {target:500} in {region} was denied ({code}). Check that the caller may call it, and may read "
        "such resources: Cloud Control calls their service on its behalf."
    )


class PropertiesAskedError(StrongRefError):
    """A service named properties that it needs to list resources. `Finder` adds them."""

    names: Sequence[str]  # the properties, as in `LoadBalancerArn`
    sentence = "The service asks for {names}."
