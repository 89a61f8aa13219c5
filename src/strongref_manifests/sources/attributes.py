"""Attributes of a stack's resources: `${cfn-attr:STACK.LOGICAL_ID.ATTRIBUTE}`.

CloudFormation knows a resource's type and physical ID, which is its `Ref`; Cloud Control has the rest, by the primary
identifier that `lookup` finds, with the help of the stack's template where a physical id is only a part of it.
`${cfn-attr:STACK.NESTED.LOGICAL_ID.ATTRIBUTE}` is about a resource of a nested stack, and
`${cfn-attr:STACK.NESTED.Outputs.KEY}` about an output of it, as with `Fn::GetAtt`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from strongref.aws.cloud_control import CloudControlApi, Resource
from strongref.aws.cloudformation import is_custom
from strongref.aws.errors import NoSuchResourceError, UnsupportedError
from strongref.errors import StrongRefError
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import AmbiguousError, MissingPropertyError, RejectedPropertyError
from strongref.lookup.identify import is_unambiguous
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from strongref.lookup.search import Finder
from strongref.memo import Memo
from strongref.text import some
from strongref_manifests.errors import UnknownAttributeError
from strongref_manifests.text.templates import content
from strongref_manifests.tokens import CFN_ATTR, Token, TokenSource, matched
from strongref_toolkit.cloudformation import HIDDEN, NESTED_STACK, CloudFormationReader
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.json_values import Json, mapping

if TYPE_CHECKING:
    from strongref_manifests.sources.outputs import StackOutputs, StackResource, StackResources
    from strongref_toolkit.aws import Aws, Where

T = TypeVar("T")

REF = "Ref"
_OUTPUTS = "Outputs"
_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\.([A-Za-z0-9]+(?:\.[A-Za-z0-9_]+)+)")


class _Location(NamedTuple):
    """Where a resource is: the arguments of `StackTemplates.properties`."""

    where: Where
    stack: str
    logical_id: str


class StackTemplates:
    """The templates of stacks; it lives for one run, and asks for each once.

    They say what a physical id does not: the parts of composite identifiers, such as the `RestApiId` of an
    `AWS::ApiGateway::Stage`, whose physical id is its own name alone.
    """

    def __init__(self, aws: Aws, resources: StackResources) -> None:
        self._aws = aws
        self._resources = resources
        self._templates: Memo[tuple[Where, str], Mapping[str, Any]] = Memo()
        self._refusals: dict[tuple[Where, str], AwsCallError] = {}

    def properties(self, where: Where, stack: str, logical_id: str) -> dict[str, str]:
        """The properties of a resource whose values are known: text, numbers, and what `Ref` stands for.

        There are none where a call to CloudFormation fails: they only help the lookup.
        """
        given = self.given(where, stack, logical_id)
        known = {name: self._known(where, stack, value) for name, value in given.items()}
        return {name: value for name, value in known.items() if value is not None}

    def given(self, where: Where, stack: str, logical_id: str) -> Mapping[str, Any]:
        """The properties of a resource as its template has them; none as for `properties`."""
        template = self._or_none(where, stack, lambda: self._of(where, stack)) or {}
        return mapping(mapping(mapping(template.get("Resources")).get(logical_id)).get("Properties"))

    def refusal(self, where: Where, stack: str) -> AwsCallError | None:
        """What kept `properties` from knowing more of a stack, if a call for it failed."""
        return self._refusals.get((where, stack))

    def _or_none(self, where: Where, stack: str, ask: Callable[[], T]) -> T | None:
        """What a call to CloudFormation returns; None if it fails."""
        try:
            return ask()
        except AwsCallError as error:
            self._refusals.setdefault((where, stack), error)
        except StrongRefError:
            pass
        return None

    def _of(self, where: Where, stack: str) -> Mapping[str, Any]:
        reader = CloudFormationReader(self._aws, where)
        return self._templates.get((where, stack), lambda: template_of(reader, stack) or {})

    def _known(self, where: Where, stack: str, value: object) -> str | None:
        if isinstance(value, dict) and list(value) == [REF]:
            return self._referred(where, stack, str(value[REF]))
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        return str(value)

    def _referred(self, where: Where, stack: str, name: str) -> str | None:
        if name in mapping(self._of(where, stack).get("Parameters")):
            return (self._or_none(where, stack, lambda: self._parameters(where, stack)) or {}).get(name)
        return self._or_none(where, stack, lambda: self._resources.resource(where, stack, name).physical_id)

    def _parameters(self, where: Where, stack: str) -> Mapping[str, str]:
        given = self._resources.description(where, stack).get("Parameters", ())
        shown = {each["ParameterKey"]: each.get("ResolvedValue") or each["ParameterValue"] for each in given}
        return {name: value for name, value in shown.items() if value != HIDDEN}


def template_of(reader: CloudFormationReader, stack: str, **change_set: str) -> Mapping[str, Any] | None:
    """The template of a stack, or of its change set (`ChangeSetName`), after its transforms; None if there is none.

    Raises:
        AwsCallError: the call to CloudFormation fails.
    """
    body = reader.template(stack, **change_set)
    return None if body is None else mapping(content(body) if isinstance(body, str) else body)


class StackAttributes(TokenSource):
    scheme = CFN_ATTR

    def __init__(self, outputs: StackOutputs, finder: Callable[[Aws, Where], Finder] | None = None) -> None:
        """Make one, for one run: the finder looks resources up in an account and region; by default `finder_in`."""
        self._aws = outputs.aws
        self._resources = outputs.resources
        self._outputs = outputs
        self._templates = StackTemplates(outputs.aws, outputs.resources)
        self._make_finder = finder or finder_in
        self._finders: Memo[Where, Finder] = Memo()
        self._found: Memo[_Location, Resource] = Memo()  # physical IDs are unique within their parents only

    def fetch(self, token: Token) -> Json:
        """The attribute, as CloudFormation or Cloud Control has it: text, a number, a list, a map."""
        stack, names = matched(token, _REFERENCE).groups()
        path = names.split(".")
        where = self._aws.where(token.region, token.account)
        at, leading = stack, [stack]
        while True:
            logical_id, *rest = path
            resource = self._resources.resource(where, at, logical_id)
            if rest == [REF]:
                return resource.physical_id
            if resource.type_name != NESTED_STACK or len(rest) == 1:
                return self._attribute(_Location(where, at, logical_id), resource, ".".join(rest))
            leading.append(logical_id)
            if rest[0] == _OUTPUTS:
                return self._outputs.value(".".join(leading), ".".join(rest[1:]), token.region, token.account)
            at, path = resource.physical_id, rest

    def _attribute(self, place: _Location, resource: StackResource, name: str) -> Json:
        if is_custom(resource.type_name):
            raise UnknownAttributeError(name, place.logical_id, resource.type_name)
        try:
            found = self._found.get(place, lambda: self._find(place, resource))
        except RejectedPropertyError as error:
            why = f"the service does not accept the {some(error.missing)} of its {resource.type_name}"
        except MissingPropertyError as error:
            refusal = self._templates.refusal(place.where, place.stack)
            hidden = f"could not be read: {refusal}" if refusal else "its template hides"
            why = f"its {resource.type_name} is not to be found without {some(error.missing)}, which {hidden}"
        except AmbiguousError as error:
            why = f"{len(error.identifiers)} resources could be its {resource.type_name}"
        except UnsupportedError as error:
            why = f"Cloud Control does not support {error.action} for {error.type_name}"
        else:
            value: Json = attribute(found, name)
            return value
        raise UnknownAttributeError(name, place.logical_id, resource.type_name, why)

    def _find(self, place: _Location, resource: StackResource) -> Resource:
        """The resource by its physical id; if that does not do, by what its template says of it as well.

        By both at once where the physical id is a part of an identifier, or a name: by that alone, one that is gone
        could be taken for another one of the same name, of another parent.
        """
        finder = self._finders.get(place.where, lambda: self._make_finder(self._aws, place.where))
        wanted = ResourceQuery(resource.type_name, physical_id=resource.physical_id, account=place.where.account)
        if is_unambiguous(resource.type_name, resource.physical_id):
            try:
                return finder.find(wanted)
            except (MissingPropertyError, AmbiguousError, NoSuchResourceError):
                known = self._templates.properties(*place)
                if not known:
                    raise
        else:
            known = self._templates.properties(*place)
            self._check_parents_known(place, resource.type_name, known)
        return finder.find(replace(wanted, hints=known))

    def _check_parents_known(self, place: _Location, type_name: str, known: Mapping[str, str]) -> None:
        """Check that a resource is unambiguous: its name is unique only within its parent, its ARN everywhere.

        Raises:
            MissingPropertyError: the template cannot be read, or names the parent in a way that is not known here.
        """
        shape, hidden = resource_type_of(type_name), self._templates.given(*place).keys() - known.keys()
        unread = not known and not hidden and self._templates.refusal(place.where, place.stack)
        missing = [part for part in shape.identifier if part in hidden or (unread and part != shape.own_part)]
        if missing and not shape.is_arn:
            raise MissingPropertyError(type_name, missing, shape.identifier)


def finder_in(aws: Aws, where: Where) -> Finder:
    """A finder over Cloud Control in an account and region; `NoWayInError` if there is no role to assume there."""
    clients = aws.clients(where)
    return Finder(CloudControlApi(clients.cloudcontrol, where.region, aws.limiter, aws.clock))
