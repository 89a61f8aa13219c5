"""The outputs that CDK apps define, by what they stand for, and what CloudFormation says that they are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk

from strongref_cdk8s.errors import SeveralStacksError, UnreadableTokenError
from strongref_cdk8s.literals import without_literals
from strongref_manifests.errors import OutputNotFetchedError
from strongref_manifests.sources.attributes import REF, StackAttributes
from strongref_manifests.sources.nested import StackResources
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.tokens import CFN_ATTR, Token
from strongref_toolkit.intrinsics import IMPORT, JOIN, REFERENCE, Unknown, intrinsic, is_of_its_stack, references, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref_cdk8s.cdk_tokens import Reader, Reading
    from strongref_toolkit.aws import Aws
    from strongref_toolkit.intrinsics import Tree
    from strongref_toolkit.json_values import Json


class Deployed(NamedTuple):
    """How a stack's deployment is asked about.

    Attributes:
        name: its name; of a nested one its root's, and the logical ids that lead to it, with dots.
        region: None if it is in none of its own.
        account: the same.
    """

    name: str
    region: str | None
    account: str | None


class Defined:
    """An output that an app defines. The CDK is only asked about it when it has to be."""

    def __init__(self, output: Any, reader: Reader) -> None:  # noqa: ANN401 (an aws_cdk.CfnOutput)
        self._output = output
        self._reader = reader

    @cached_property
    def stack(self) -> Any:  # noqa: ANN401 (an aws_cdk.Stack)
        """That it is defined in."""
        return aws_cdk.Stack.of(self._output)

    @cached_property
    def stack_path(self) -> str:
        return str(self.stack.node.path)

    @cached_property
    def tree(self) -> Tree:
        """What it stands for; None where the CDK does not tell."""
        return self._read(self._output.value)

    @cached_property
    def export_name(self) -> Tree:
        """What others import it by; None where they do not."""
        name = self._output.export_name
        return None if name is None else self._read(name)

    @property
    def logical_id(self) -> str:
        """As it is in the template."""
        return str(self.stack.resolve(self._output.logical_id))

    def _read(self, value: str) -> Tree:
        try:
            return self._reader.read(value).tree
        except UnreadableTokenError:
            return None


class AppOutputs:
    """The outputs of all apps that tokens refer to: `canonical.Known` over CloudFormation."""

    def __init__(self, reader: Reader, aws: Callable[[], Aws], *, given: int | None, attributes: bool) -> None:
        """Make one, for one run.

        Args:
            reader: of tokens.
            aws: makes what calls go through, when the first one is needed.
            given: the number of the app in which outputs are looked for whose trees refer to nothing.
            attributes: whether a reference without an output is looked up by itself.
        """
        self._reader = reader
        self._make_aws = aws
        self._given = given
        self._attributes = attributes
        self._defined: dict[int, list[Defined]] = {}
        self._references: dict[tuple[str, str], Any] = {}

    def meet(self, reading: Reading) -> None:
        """Take note of the references in a token, before anything is asked about it."""
        self._references |= reading.references

    def forget(self) -> None:
        """The apps may define other outputs by now; what was fetched stays."""
        self._defined.clear()

    def value(self, tree: Tree) -> Json:
        """What is defined as an output with this tree, or as one of a list's items joined.

        Raises:
            Unknown: nothing is.
            SeveralStacksError: several stacks define it, and it is something else in each.
            StrongRefError: it could not be fetched.
        """
        found = self._find(tree)
        if found:
            return self._first_of(found)
        for each in self._candidates(tree):
            function = intrinsic(each.tree)
            if function and function[0] == JOIN and isinstance(function[1], list) and function[1][1] == tree:
                items = self._fetched(each)
                return list(items.split(str(function[1][0]))) if items else []
        return self._attribute(tree)

    def needs_app(self, tree: Tree) -> bool:
        """Whether some of a tree refers to nothing, and there is no app to look for its output in."""
        return self._given is None and (is_of_its_stack(tree) or not list(references(tree)))

    def as_in_its_stack(self, tree: Tree) -> Tree:
        """A tree with each reference as its own stack's template has it."""
        function = intrinsic(tree)
        if function and function[0] == REFERENCE:
            (found,) = references(tree)
            reference = self._references[found]
            resolved: Tree = aws_cdk.Stack.of(reference.target).resolve(reference)
            return resolved
        if isinstance(tree, dict):
            return {key: self.as_in_its_stack(below) for key, below in tree.items()}
        return [self.as_in_its_stack(item) for item in tree] if isinstance(tree, list) else tree

    def _find(self, tree: Tree) -> list[Defined]:
        """The outputs that a tree is the value of; what is exported is the value of its import as well."""
        function = intrinsic(tree)
        name = function[1] if function and function[0] == IMPORT else None
        found = [each for each in self._candidates(tree) if each.tree == tree]
        found = found or [each for each in self._candidates(tree) if name is not None and each.export_name == name]
        stacks = {each.stack_path for each in found}
        if len(stacks) > 1 and is_of_its_stack(tree) and not self._stacks_of(tree):
            raise SeveralStacksError(text(without_literals(tree)), sorted(stacks))
        return found

    def _first_of(self, found: list[Defined]) -> str:
        """The value of the first one that is deployed: an output may have a condition."""
        errors = []
        for each in found:
            try:
                return self._fetched(each)
            except OutputNotFetchedError as error:
                errors.append(error)
        raise errors[0]

    def _candidates(self, tree: Tree) -> Iterator[Defined]:
        """The outputs that a tree may be found among: its own stack's before the others, if those are any good.

        What refers to nothing is looked for in the given app alone: which others are known depends on the values that
        have come before.
        """
        own = self._stacks_of(tree)
        numbers = range(len(self._reader.apps)) if own else [] if self._given is None else [self._given]
        everywhere = [each for number in numbers for each in self._outputs(number)]
        yield from (each for each in everywhere if each.stack_path in own)
        if not (own and is_of_its_stack(tree)):
            yield from (each for each in everywhere if each.stack_path not in own)

    def _stacks_of(self, tree: Tree) -> set[str]:
        return {str(aws_cdk.Stack.of(self._references[each].target).node.path) for each in references(tree)}

    def _outputs(self, number: int) -> list[Defined]:
        if number not in self._defined:
            constructs = self._reader.apps[number].node.find_all()
            outputs = [each for each in constructs if isinstance(each, aws_cdk.CfnOutput)]
            self._defined[number] = [Defined(each, self._reader) for each in outputs]
        return self._defined[number]

    def _fetched(self, defined: Defined) -> str:
        stack = _deployed(defined.stack)
        return self._stack_outputs.value(stack.name, defined.logical_id, stack.region, stack.account)

    def _attribute(self, tree: Tree) -> Json:
        function = intrinsic(tree)
        if not self._attributes or not function or function[0] != REFERENCE:
            raise Unknown
        (found,) = references(tree)
        stack = _deployed(aws_cdk.Stack.of(self._references[found].target))
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
    def _aws(self) -> Aws:
        return self._make_aws()

    @cached_property
    def _resources(self) -> StackResources:
        return StackResources(self._aws)

    @cached_property
    def _stack_outputs(self) -> StackOutputs:
        return StackOutputs(self._aws, self._resources)

    @cached_property
    def _stack_attributes(self) -> StackAttributes:
        return StackAttributes(self._aws, self._resources, self._stack_outputs)


def _deployed(stack: Any) -> Deployed:  # noqa: ANN401 (an aws_cdk.Stack)
    """Where a stack's deployment is: CloudFormation gives nested stacks names that nobody knows beforehand."""
    leading: list[str] = []
    while stack.nested_stack_parent is not None:
        parent = stack.nested_stack_parent
        leading.insert(0, str(parent.resolve(stack.nested_stack_resource.logical_id)))
        stack = parent
    return Deployed(".".join([stack.stack_name, *leading]), _own(stack.region), _own(stack.account))


def _own(where: str) -> str | None:
    """A stack's region or account; None where it is a token, as in a stack that may be deployed anywhere."""
    return None if aws_cdk.Token.is_unresolved(where) else where
