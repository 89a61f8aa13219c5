"""A stack of a CDK app as a target: what strongref adds to its template while the app is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import aws_cdk
import constructs
import jsii
from constructs import Construct

from strongref.untyped import AnyJson
from strongref_cdk.cdk_values import REFUSALS, CanonicalReader
from strongref_cdk.errors import SecretError
from strongref_toolkit.cdk_trees import known
from strongref_toolkit.intrinsics import intrinsic
from strongref_toolkit.jsii_objects import reference, same
from strongref_toolkit.json_values import texts_in

if TYPE_CHECKING:
    from strongref_objects.base import Intrinsic, Text, TextList

    Finish = Callable[[Sequence[Mapping[str, Any]]], None]

_SCOPE = "Strongref"
"""The ID of the construct that contains everything that strongref adds."""

_SECRETS = ("{{resolve:secretsmanager", "{{resolve:ssm-secure")
"""CloudFormation replaces these by secrets (AWS: CloudFormation User Guide, dynamic references)."""


def top_of(stack: aws_cdk.Stack) -> aws_cdk.Stack:
    """The stack itself, or the top stack that it is nested in."""
    while stack.nested_stack_parent:
        stack = stack.nested_stack_parent
    return stack


class CdkTarget:
    """The template of a stack of a CDK app: the same target for the same stack.

    Everything that is added is below the stack's construct `Strongref`. It can change until the app is synthesized,
    when the CDK reads it.
    """

    def __new__(cls, stack: aws_cdk.Stack) -> CdkTarget:  # noqa: PYI034 (an aws_cdk.Stack)
        """The target of the stack: the same each time."""
        return _TARGETS.setdefault(reference(stack), super().__new__(cls))

    def __init__(self, stack: aws_cdk.Stack) -> None:
        if hasattr(self, "stack"):
            return
        self.stack = stack
        self.name: str = top_of(stack).stack_name  # in a nested stack, that of the stack that is deployed
        self.region = known(stack.region)  # where the stack is deployed; None if it has no region of its own
        self.account = known(stack.account)  # None if the stack has no account of its own
        # stacks of other stages are elsewhere, where an account or region is unknown
        self.stage = reference(aws_cdk.Stage.of(stack) or stack.node.root)
        self._outputs: dict[str, Any] = {}
        self._resources: dict[str, _LateResource] = {}
        self._own: set[str] = set()
        self._elements: list[Any] | None = None
        self._logical_ids: dict[str, str] = {}
        self._reader = CanonicalReader(stack)

    def look_again(self) -> None:
        """Forget the template's own elements, since the program may have added more."""
        self._elements = None

    def put_output(self, logical_id: str, value: Text, *, export: Text | None, description: str | None) -> None:
        text, name = (each if isinstance(each, str | None) else self.stand_in(each) for each in (value, export))
        output = self._outputs.get(logical_id)
        if output is None:
            output = self._outputs[logical_id] = aws_cdk.CfnOutput(self.scope, f"Output{logical_id}", value=text)
            self._adopt(output, logical_id)
        output.value = text
        output.export_name = name
        output.description = description

    def put_resource(self, logical_id: str, type_name: str, properties: Mapping[str, Any]) -> None:
        resource = self._resources.get(logical_id)
        if resource is not None and resource.cfn_resource_type != type_name:
            self.scope.node.try_remove_child(resource.node.id)
            resource = None
        if resource is None:
            resource = self._resources[logical_id] = _LateResource(self.scope, f"Resource{logical_id}", type_name)
            self._adopt(resource, logical_id)
        resource.put_properties = _plain(properties)

    def _adopt(self, element: aws_cdk.CfnElement, logical_id: str) -> None:
        element.override_logical_id(logical_id)
        self._own.add(reference(element))
        self.look_again()

    def drop_resource(self, logical_id: str) -> None:
        resource = self._resources.pop(logical_id)
        self.scope.node.try_remove_child(resource.node.id)

    def exports(self) -> dict[str, str]:
        outputs = [each for each in self._others() if isinstance(each, aws_cdk.CfnOutput)]
        names = [(each, each.export_name) for each in outputs]
        return {name: self._logical_id(each) for each, name in names if name and not self.is_unresolved(name)}

    def when_finished(self, finish: Callable[[Sequence[Mapping[str, Any]]], None]) -> None:
        """As `Target`, with all templates of the stage: other stacks may use the constructs that this one imports."""
        stage = aws_cdk.Stage.of(self.stack) or self.stack.node.root
        ref = reference(stage)
        if ref not in _STAGES:
            _STAGES[ref] = _FinishedTemplates(stage)
            stage.node.add_validation(_STAGES[ref])
        _STAGES[ref].finish.append(finish)

    def has(self, logical_id: str) -> bool:
        if logical_id in self._outputs or logical_id in self._resources:
            return False
        return any(self._logical_id(each) == logical_id for each in self._others())

    def _others(self) -> list[Any]:
        """The template's own elements, read once for a whole export, since each read crosses a process boundary."""
        if self._elements is None:
            found = (each for each in self.stack.node.find_all() if isinstance(each, aws_cdk.CfnElement))
            self._elements = [each for each in found if reference(each) not in self._own]
        return [each for each in self._elements if self._logical_id(each)]

    def _logical_id(self, element: aws_cdk.CfnElement) -> str:
        """An element's logical ID; empty if it is in another template, such as a nested stack's."""
        ref = reference(element)
        if ref not in self._logical_ids:
            here = same(element.stack, self.stack)
            self._logical_ids[ref] = self.stack.resolve(element.logical_id) if here else ""
        return self._logical_ids[ref]

    def is_unresolved(self, value: object) -> bool:
        if isinstance(value, str):
            # A token for a whole list is the only item of a list.
            return "{Token[" in value and any(map(aws_cdk.Token.is_unresolved, (value, [value])))
        if isinstance(value, Mapping):
            return intrinsic(dict(value)) is not None or any(self.is_unresolved(each) for each in value.values())
        if isinstance(value, Sequence):
            return any(map(self.is_unresolved, value))
        return bool(aws_cdk.Token.is_unresolved(value))

    def canonical(self, value: object) -> object:
        """The value as it will be in the template; references to other stacks name the construct's path.

        Raises:
            SecretError: CloudFormation would replace it by a secret.
        """
        tree = self._reader.tree(_plain(value), self.stack)
        if any(secret in text for _, text in texts_in(tree) for secret in _SECRETS):
            raise SecretError
        return tree

    def stand_in(self, intrinsic: Intrinsic) -> Text:
        return str(aws_cdk.Token.as_string(self._reference(intrinsic)))

    def stand_in_list(self, intrinsic: Intrinsic) -> TextList:
        token: list[str] = aws_cdk.Token.as_list(self._reference(intrinsic, aws_cdk.ResolutionTypeHint.STRING_LIST))
        return token

    def _reference(self, value: Intrinsic, hint: str | None = None) -> aws_cdk.IResolvable:
        """What makes a token. For a resource that was put here, a reference that the CDK can give to other stacks."""
        name, argument = intrinsic(dict(value)) or ("", None)
        if name == "Fn::GetAtt" and isinstance(argument, list | str):
            logical_id, attribute = argument.split(".", 1) if isinstance(argument, str) else map(str, argument)
            if logical_id in self._resources:
                return self._resources[logical_id].get_att(attribute, hint)
        return _plain(value)

    @cached_property
    def scope(self) -> Construct:
        """The construct that contains everything that strongref adds."""
        return self.stack.node.try_find_child(_SCOPE) or Construct(self.stack, _SCOPE)


_TARGETS: dict[str, CdkTarget] = {}


class _LateResource(aws_cdk.CfnResource):  # type: ignore[misc]  # the CDK is not read by mypy
    """A resource whose properties can change until the CDK reads them."""

    def __init__(self, scope: Construct, construct_id: str, type_name: str) -> None:
        self.put_properties: dict[str, Any] = {}
        super().__init__(scope, construct_id, type=type_name)

    @property
    @jsii.member(jsii_name="cfnProperties")  # type: ignore[untyped-decorator]  # as above
    def _cfn_properties(self) -> dict[str, Any]:
        return self.put_properties


def _plain(value: AnyJson) -> AnyJson:
    """A value with dictionaries and lists in place of other maps and sequences: jsii needs them."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


@jsii.implements(constructs.IValidation)
class _FinishedTemplates:
    """Not a validation: the CDK has no other step in which templates are complete and can still change."""

    def __init__(self, stage: aws_cdk.Stage) -> None:
        self._stage = stage
        self.finish: list[Finish] = []

    def validate(self) -> list[str]:
        stacks = [each for each in self._stage.node.find_all() if isinstance(each, aws_cdk.Stack)]
        own = [each for each in stacks if same(aws_cdk.Stage.of(each) or self._stage, self._stage)]
        try:
            with TemporaryDirectory() as folder:
                builder = aws_cdk.cx_api.CloudAssemblyBuilder(folder)
                templates = [_TemplateWriter(each).template(builder) for each in own]
        except REFUSALS:  # The CDK reports it, after what it finds itself.
            return []
        for each in self.finish:
            each(templates)
        return []


@jsii.implements(aws_cdk.ISynthesisSession)
class _Session:
    def __init__(self, builder: aws_cdk.cx_api.CloudAssemblyBuilder) -> None:
        self._builder = builder

    @property
    def assembly(self) -> aws_cdk.cx_api.CloudAssembly:
        return self._builder


class _TemplateWriter(aws_cdk.StackSynthesizer):  # type: ignore[misc]  # the CDK is not read by mypy
    """Writes a stack's template and nothing else; the stack keeps its own synthesizer."""

    def __init__(self, stack: aws_cdk.Stack) -> None:
        super().__init__()
        self._stack = stack
        self.bind(stack)

    def template(self, builder: aws_cdk.cx_api.CloudAssemblyBuilder) -> Mapping[str, Any]:
        self.synthesize(_Session(builder))
        found: dict[str, Any] = json.loads(Path(builder.outdir, self._stack.template_file).read_text(encoding="utf-8"))
        return found

    def synthesize(self, session: aws_cdk.ISynthesisSession) -> None:
        self._synthesize_template(session)

    def add_file_asset(self, asset: aws_cdk.FileAssetSource) -> aws_cdk.FileAssetLocation:
        raise NotImplementedError

    add_docker_image_asset = add_file_asset


_STAGES: dict[str, _FinishedTemplates] = {}
"""By reference: the CDK only knows their references, so Python must keep them."""
