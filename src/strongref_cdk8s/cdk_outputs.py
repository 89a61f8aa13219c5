"""The outputs that CDK apps define, found by their values, and the deployed values that CloudFormation returns."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk

from strongref_cdk8s.errors import SeveralStacksError, UnreadableTokenError, shown_tree
from strongref_manifests.errors import OutputNotFetchedError
from strongref_manifests.sources.attributes import REF, StackAttributes
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.tokens import CFN_ATTR, Token
from strongref_toolkit.intrinsics import IMPORT, REFERENCE, Unknown, intrinsic, is_of_its_stack, references, text
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref_cdk8s.cdk_tokens import TokenReader
    from strongref_toolkit.aws import Aws
    from strongref_toolkit.intrinsics import Tree
    from strongref_toolkit.json_values import Json


class DeployedStack(NamedTuple):
    """How CloudFormation finds a stack."""

    name: str  # its name; for a nested stack, the root's name and the logical IDs that lead to it, with dots between
    region: str | None  # its own region, if it has one
    account: str | None  # its own account, if it has one


class DefinedOutput:
    """An output that an app defines. Each attribute is read from the CDK when it is first needed."""

    def __init__(self, output: Any, reader: TokenReader) -> None:  # noqa: ANN401 (an aws_cdk.CfnOutput)
        self._output = output
        self._reader = reader

    @cached_property
    def stack(self) -> Any:  # noqa: ANN401 (an aws_cdk.Stack)
        """The stack that defines it."""
        return aws_cdk.Stack.of(self._output)

    @cached_property
    def stack_path(self) -> str:
        return str(self.stack.node.path)

    @cached_property
    def tree(self) -> Tree:
        """Its value; None if the CDK cannot resolve it."""
        return self._read(self._output.value)

    @cached_property
    def export_name(self) -> Tree:
        """The name that it is exported by; None if it is not exported."""
        name = self._output.export_name
        return None if name is None else self._read(name)

    @property
    def logical_id(self) -> str:
        """Its logical ID in the template."""
        return str(self.stack.resolve(self._output.logical_id))

    def _read(self, value: str) -> Tree:
        try:
            return self._reader.read(value)
        except UnreadableTokenError:
            return None


class AppOutputs:
    """The outputs of all apps that tokens refer to, as `intrinsics.TreeValues`."""

    def __init__(self, reader: TokenReader, aws: Callable[[], Aws], *, given: int | None, attributes: bool) -> None:
        """Create one, for one run.

        Args:
            reader: reads tokens.
            aws: returns AWS; called before the first call.
            given: the number of the app to search for outputs of trees without references.
            attributes: whether a reference without an output is looked up as an attribute.
        """
        self._reader = reader
        self._make_aws = aws
        self._given = given
        self._attributes = attributes
        self._defined: Memo[int, list[DefinedOutput]] = Memo()

    def forget(self) -> None:
        """Read the apps' outputs again; fetched values are kept."""
        self._defined = Memo()

    def value(self, tree: Tree) -> Json:
        """The value of the output with this tree, or of the one that joins its items.

        Raises:
            Unknown: no output has it.
            SeveralStacksError: several stacks define an output with it, which has another value in each.
            StrongRefError: the output could not be fetched.
        """
        found = self._find(tree)
        if found:
            return self._first_of(found)
        for each in self._candidates(tree):
            match each.tree:
                case {"Fn::Join": [str(separator), joined]} if separator and joined == tree:
                    items = self._fetched(each)
                    return list(items.split(separator)) if items else []
        return self._attribute(tree)

    def needs_app(self, tree: Tree) -> bool:
        """Whether a tree refers to no resource, and no app was given to search for its output."""
        return self._given is None and (is_of_its_stack(tree) or not list(references(tree)))

    def as_in_its_stack(self, tree: Tree) -> Tree:
        """A tree with each reference as in the template of its own stack."""
        function = intrinsic(tree)
        if function and function[0] == REFERENCE:
            (found,) = references(tree)
            reference = self._reader.references[found]
            resolved: Tree = aws_cdk.Stack.of(reference.target).resolve(reference)
            return resolved
        if isinstance(tree, dict):
            return {key: self.as_in_its_stack(below) for key, below in tree.items()}
        return [self.as_in_its_stack(item) for item in tree] if isinstance(tree, list) else tree

    def _find(self, tree: Tree) -> list[DefinedOutput]:
        """The outputs with this value; for an import, those that export it."""
        function = intrinsic(tree)
        name = function[1] if function and function[0] == IMPORT else None
        found = [each for each in self._candidates(tree) if each.tree == tree]
        found = found or [each for each in self._candidates(tree) if name is not None and each.export_name == name]
        stacks = {each.stack_path for each in found}
        if len(stacks) > 1 and is_of_its_stack(tree) and not self._stacks_of(tree):
            raise SeveralStacksError(text(shown_tree(tree)), sorted(stacks))
        return found

    def _first_of(self, found: list[DefinedOutput]) -> str:
        """The value of the first deployed one: an output may have a condition."""
        errors = []
        for each in found:
            try:
                return self._fetched(each)
            except OutputNotFetchedError as error:
                errors.append(error)
        raise errors[0]

    def _candidates(self, tree: Tree) -> Iterator[DefinedOutput]:
        """The outputs to search for a tree: its own stack's, and then the others if they can have the same value.

        A tree without references is searched for in the given app only: the other known apps depend on which tokens
        were read before.
        """
        own = self._stacks_of(tree)
        numbers = range(len(self._reader.apps)) if own else [] if self._given is None else [self._given]
        everywhere = [each for number in numbers for each in self._outputs(number)]
        yield from (each for each in everywhere if each.stack_path in own)
        if not (own and is_of_its_stack(tree)):
            yield from (each for each in everywhere if each.stack_path not in own)

    def _stacks_of(self, tree: Tree) -> set[str]:
        return {str(aws_cdk.Stack.of(self._reader.references[each].target).node.path) for each in references(tree)}

    def _outputs(self, number: int) -> list[DefinedOutput]:
        def defined() -> list[DefinedOutput]:
            constructs = self._reader.apps[number].node.find_all()
            return [DefinedOutput(each, self._reader) for each in constructs if isinstance(each, aws_cdk.CfnOutput)]

        return self._defined.get(number, defined)

    def _fetched(self, defined: DefinedOutput) -> str:
        stack = _deployed(defined.stack)
        return self._stack_outputs.value(stack.name, defined.logical_id, stack.region, stack.account)

    def _attribute(self, tree: Tree) -> Json:
        function = intrinsic(tree)
        if not self._attributes or not function or function[0] != REFERENCE:
            raise Unknown
        (found,) = references(tree)
        stack = _deployed(aws_cdk.Stack.of(self._reader.references[found].target))
        match self.as_in_its_stack(tree):
            case {"Ref": str(logical_id)} if "::" not in logical_id:
                attribute = REF
            case {"Fn::GetAtt": [str(logical_id), str(attribute)]}:
                pass
            case _:
                raise Unknown
        reference = f"{stack.name}.{logical_id}.{attribute}"
        return self._stack_attributes.fetch(Token(CFN_ATTR, reference, stack.region, stack.account))

    @cached_property
    def _stack_outputs(self) -> StackOutputs:
        return StackOutputs(self._make_aws())

    @cached_property
    def _stack_attributes(self) -> StackAttributes:
        return StackAttributes(self._stack_outputs)


def _deployed(stack: Any) -> DeployedStack:  # noqa: ANN401 (an aws_cdk.Stack)
    """How CloudFormation finds a stack: it names nested stacks itself, so they are found by their logical IDs."""
    leading: list[str] = []
    while stack.nested_stack_parent is not None:
        parent = stack.nested_stack_parent
        leading.insert(0, str(parent.resolve(stack.nested_stack_resource.logical_id)))
        stack = parent
    return DeployedStack(".".join([stack.stack_name, *leading]), _own(stack.region), _own(stack.account))


def _own(where: str) -> str | None:
    """A stack's region or account; None if it is a token, as in a stack that may be deployed anywhere."""
    return None if aws_cdk.Token.is_unresolved(where) else where
