"""What a stack's template says of its resources: the parts of composite identifiers that a physical id does not have.

Such as the `RestApiId` of an `AWS::ApiGateway::Stage`, whose physical id is its own name alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from strongref.errors import StrongRefError
from strongref.memo import Memo
from strongref_manifests.text.templates import content
from strongref_toolkit.cloudformation import HIDDEN, CloudFormationReader
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.json_values import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_manifests.sources.outputs import StackResources
    from strongref_toolkit.aws import Aws, Where

T = TypeVar("T")

_REF = "Ref"


class StackTemplates:
    """The templates of stacks; it lives for one run, and asks for each once."""

    def __init__(self, aws: Aws, resources: StackResources) -> None:
        self._aws = aws
        self._resources = resources
        self._templates: Memo[tuple[Where, str], Mapping[str, Any]] = Memo()
        self._refusals: dict[tuple[Where, str], AwsCallError] = {}

    def properties(self, where: Where, stack: str, logical_id: str) -> dict[str, str]:
        """The properties of a resource whose values are known: text, numbers, and what `Ref` stands for.

        There are none where a call to CloudFormation fails: they only help the lookup.
        """
        known = {
            name: self._known(where, stack, value) for name, value in self._given(where, stack, logical_id).items()
        }
        return {name: value for name, value in known.items() if value is not None}

    def hidden(self, where: Where, stack: str, logical_id: str) -> list[str]:
        """The properties that a resource is given and whose values are not known, as those of most functions."""
        known = self.properties(where, stack, logical_id)
        return [name for name in self._given(where, stack, logical_id) if name not in known]

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

    def _given(self, where: Where, stack: str, logical_id: str) -> Mapping[str, Any]:
        template = self._or_none(where, stack, lambda: self._of(where, stack)) or {}
        return mapping(mapping(mapping(template.get("Resources")).get(logical_id)).get("Properties"))

    def _of(self, where: Where, stack: str) -> Mapping[str, Any]:
        return self._templates.get(
            (where, stack), lambda: template_of(CloudFormationReader(self._aws, where), stack) or {}
        )

    def _known(self, where: Where, stack: str, value: object) -> str | None:
        if isinstance(value, dict) and list(value) == [_REF]:
            return self._referred(where, stack, str(value[_REF]))
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
