"""The one resource that has tags, of those that an object of a type can be.

CloudFormation's types are wider than those of objects at times: it has one for load balancers of every kind. The ARN
tells them apart, so what is of another kind is left out before it is asked whether there is only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strongref.contract.arns import Arn
from strongref.errors import NoSuchResourceError, UnsupportedError
from strongref.lookup.arn_formats import is_of_type
from strongref.lookup.errors import AmbiguousError, ResourceQueryError, TooManyError
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from strongref_objects.collecting import came
from strongref_objects.identity import is_unresolved
from strongref_objects.identity_errors import OtherArnError
from strongref_objects.lookups_errors import NotReadableError, SeveralTaggedError, TooManyTaggedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.aws.cloud_control import Resource
    from strongref.errors import StrongRefError
    from strongref.lookup.reader import CloudControl, Tagging
    from strongref_objects.declaring import Declaration
    from strongref_objects.identity import ArnForm

TAGS_MOST = 50
"""That are asked for at once (AWS: GetResources, TagFilters)."""


def check_tags(what: str, tags: Mapping[str, str]) -> None:
    """See that tags can be looked for.

    Args:
        what: is looked up, for the error.
        tags: as they were given.

    Raises:
        ResourceQueryError: they cannot.
    """
    problem = _problem(tags)
    if problem:
        raise ResourceQueryError(what, problem)


def find_tagged(
    declared: Declaration, cloudcontrol: CloudControl, tagging: Tagging, tags: Mapping[str, str], account: str
) -> Resource | str:
    """The resource that has all of these tags; its ARN alone, where Cloud Control does not read such resources.

    Args:
        declared: of which type it is.
        cloudcontrol: of the account and region.
        tagging: the same.
        tags: that it has.
        account: the number of the account.

    Raises:
        SeveralTaggedError: there are several.
        OtherArnError: there are such resources, but of another kind.
        TooManyTaggedError: there are too many.
        NotReadableError: Cloud Control does not read them, and ARNs are not known to tell anything.
        StrongRefError: as `lookup.finder.Finder.find`.
    """
    from strongref.lookup.finder import Finder  # noqa: PLC0415 (only where something is looked up)

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
    """`lookup.reader.Tagging`: of all ARNs, those that are spelled as the type's are.

    Attributes:
        found: those that it has told.
        others: those that it has not.
    """

    def __init__(self, tagging: Tagging, form: ArnForm | None) -> None:
        self.found: list[str] = []
        self.others: list[str] = []
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
        """Those that are of CloudFormation's type all the same."""
        shape = resource_type_of(type_name)
        return [text for text in self.others if (arn := Arn.parse(text)) and is_of_type(arn, shape)]


def _problem(tags: object) -> str | None:
    if not isinstance(tags, Mapping):
        return f"what is given as its tags is {came(tags)}; give a map of their names to their values"
    if len(tags) > TAGS_MOST:
        return f"{len(tags)} tags are given; at most {TAGS_MOST} can be looked for"
    for name, value in tags.items():
        if not isinstance(name, str) or not isinstance(value, str):
            return f"of a tag, the {'value' if isinstance(name, str) else 'name'} has to be a string"
        if is_unresolved(name) or is_unresolved(value):
            return "what a tag is has to be known while the template is made"
    return None
