"""The one resource of a type that has some tags.

Some of CloudFormation's types are wider than those of objects: it has one type for all kinds of load balancers. Their
ARNs differ, so resources of another kind are left out before several candidates become an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strongref.arns import Arn
from strongref.aws.errors import NoSuchResourceError, UnsupportedError
from strongref.lookup.arn_formats import is_of_type
from strongref.lookup.errors import AmbiguousError, ResourceQueryError, TooManyError
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from strongref_objects.base.errors import NotReadableError, OtherArnError, SeveralTaggedError, TooManyTaggedError
from strongref_objects.base.values import kind_of_value
from strongref_objects.types.arn_forms import is_unresolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.aws.cloud_control import Resource
    from strongref.errors import StrongRefError
    from strongref.lookup.reader import CloudControl, Tagging
    from strongref_objects.types.arn_forms import ArnForm
    from strongref_objects.types.shared_object import Declaration

TAGS_MOST = 50
"""Tags in one call (AWS: GetResources, TagFilters)."""


def check_tags(what: str, tags: Mapping[str, str]) -> None:
    """Raises `ResourceQueryError` if the caller's tags are not valid. `what` is looked up."""
    if not isinstance(tags, Mapping):
        raise ResourceQueryError(what, f"the tags must be a map of names to values, got {kind_of_value(tags)}")
    if len(tags) > TAGS_MOST:
        raise ResourceQueryError(what, f"there can be at most {TAGS_MOST} tags, got {len(tags)}")
    for name, value in tags.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ResourceQueryError(
                what, f"the {'value' if isinstance(name, str) else 'name'} of a tag must be a string"
            )
        if is_unresolved(name) or is_unresolved(value):
            raise ResourceQueryError(
                what, "tags must be known while the template is made, not intrinsic functions or tokens"
            )


def find_tagged(
    declared: Declaration, cloudcontrol: CloudControl, tagging: Tagging, tags: Mapping[str, str], account: str
) -> Resource | str:
    """The resource that has all of these tags; only its ARN if Cloud Control does not read such resources.

    Raises:
        SeveralTaggedError: several resources have them.
        OtherArnError: only resources of another kind have them.
        TooManyTaggedError: too many resources have them.
        NotReadableError: Cloud Control does not read such resources, and the type has no ARN form.
        StrongRefError: as `lookup.finding.Finder.find`.
    """
    from strongref.lookup.finder import Finder  # noqa: PLC0415 (lookups only)

    fitting = _Fitting(tagging, declared.arn)
    wanted = ResourceQuery(str(declared.type_name), tags=tags, account=account)
    failed: StrongRefError
    try:
        return Finder(cloudcontrol, fitting).find(wanted)
    except NoSuchResourceError as error:
        others = fitting.others_of(wanted.type_name)
        failed = error
        if declared.arn and others and not fitting.found:
            failed = OtherArnError(declared.label, others[0], declared.arn.text)
    except AmbiguousError as error:
        failed = SeveralTaggedError(*error.args)
    except TooManyError as error:
        failed = TooManyTaggedError(*error.args)
    except UnsupportedError as error:
        failed = NotReadableError(*error.args)
        if declared.arn and len(fitting.found) == 1:
            return fitting.found[0]
        if declared.arn and fitting.found:
            failed = SeveralTaggedError(wanted.type_name, wanted.describe(), fitting.found)
    raise failed


class _Fitting:
    """`lookup.base.Tagging`: only the ARNs that fit the type's form."""

    def __init__(self, tagging: Tagging, form: ArnForm | None) -> None:
        self.found: list[str] = []
        self.others: list[str] = []  # those that do not fit
        self._tagging = tagging
        self._form = form

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        for text in self._tagging.arns(resource_types, tags):
            arn = Arn.parse(text)
            if self._form is None or (arn and self._form.fits(arn)):
                self.found.append(text)
                yield text
            else:
                self.others.append(text)

    def others_of(self, type_name: str) -> list[str]:
        """Those of `others` that are of CloudFormation's type."""
        shape = resource_type_of(type_name)
        return [text for text in self.others if (arn := Arn.parse(text)) and is_of_type(arn, shape)]
