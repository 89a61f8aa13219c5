"""The finished templates of a stage: read when the CDK validates it, after aspects and references between stacks."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import aws_cdk
import constructs
import jsii

from strongref_cdk.cdk_values import REFUSALS
from strongref_toolkit.jsii_objects import reference, same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Finish = Callable[[Sequence[Mapping[str, Any]]], None]


def when_finished(stack: aws_cdk.Stack, finish: Finish) -> None:
    """Call a function with the templates of a stack's stage whenever they are finished: before they are written."""
    stage = aws_cdk.Stage.of(stack) or stack.node.root
    ref = reference(stage)
    if ref not in _STAGES:
        _STAGES[ref] = _FinishedTemplates(stage)
        stage.node.add_validation(_STAGES[ref])
    _STAGES[ref].finish.append(finish)


@jsii.implements(constructs.IValidation)
class _FinishedTemplates:
    """Not a validation: the CDK has no other step in which templates are complete and can still change."""

    def __init__(self, stage: aws_cdk.Stage) -> None:
        self._stage = stage
        self.finish: list[Finish] = []

    def validate(self) -> list[str]:
        try:
            templates = self._templates()
        except REFUSALS:  # The CDK reports it, after what it finds itself.
            return []
        for each in self.finish:
            each(templates)
        return []

    def _templates(self) -> list[Mapping[str, Any]]:
        stacks = [each for each in self._stage.node.find_all() if isinstance(each, aws_cdk.Stack)]
        with TemporaryDirectory() as folder:
            builder = aws_cdk.cx_api.CloudAssemblyBuilder(folder)
            own = [each for each in stacks if same(aws_cdk.Stage.of(each) or self._stage, self._stage)]
            return [_TemplateWriter(each).template(builder) for each in own]


@jsii.implements(aws_cdk.ISynthesisSession)
class _Session:
    def __init__(self, builder: aws_cdk.cx_api.CloudAssemblyBuilder) -> None:
        self._builder = builder

    @property
    def assembly(self) -> aws_cdk.cx_api.CloudAssembly:
        return self._builder

    @property
    def outdir(self) -> str:
        folder: str = self._builder.outdir
        return folder

    @property
    def validate_on_synth(self) -> bool:
        return False


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

    def add_docker_image_asset(self, asset: aws_cdk.DockerImageAssetSource) -> aws_cdk.DockerImageAssetLocation:
        raise NotImplementedError


_STAGES: dict[str, _FinishedTemplates] = {}
"""By reference: the CDK only knows their references, so Python must keep them."""
