"""Carries out `AWS::Serverless`, with the code that AWS runs for it: aws-sam-translator.

What it makes of local code has another hash than what AWS made of the uploaded one, so logical IDs with hashes, those
of versions and API deployments, are new ones: their values are unknown.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.text import cut
from strongref_cli.check.errors import UntransformableError

if TYPE_CHECKING:
    from strongref.macro.template import Node
    from strongref_cli.check.unknown import Evaluated

SERVERLESS = "AWS::Serverless-2016-10-31"
_FILES = ("CodeUri", "ContentUri", "DefinitionUri", "SchemaUri", "Location")
"""Properties that may be paths of local files, which `sam package` uploads."""


def serverless(template: Mapping[str, Node], names: Mapping[str, Evaluated]) -> Mapping[str, Node]:
    """A template after the transform, given what `Ref` gives for parameters and pseudo parameters.

    Raises:
        UntransformableError: the transform refuses the template.
    """
    from boto3 import Session  # noqa: PLC0415 (it takes most of a second to import this, which few templates need)
    from samtranslator.model.exceptions import InvalidDocumentException  # noqa: PLC0415
    from samtranslator.parser.parser import Parser  # noqa: PLC0415
    from samtranslator.translator.translator import Translator  # noqa: PLC0415

    logging.getLogger("samtranslator").setLevel(logging.CRITICAL)  # its errors are raised, too
    known = {name: each for name, each in names.items() if isinstance(each, str)}
    translator = Translator({}, Parser(), boto_session=Session(region_name=known["AWS::Region"]))
    try:
        found: Mapping[str, Node] = translator.translate(_uploaded(template), known)
    except InvalidDocumentException as error:
        causes = "; ".join(str(each.message) for each in error.causes)
        raise UntransformableError(cut(causes, 500)) from None
    return {key: each for key, each in found.items() if key != "Transform"}


def _uploaded(node: Any, key: str = "") -> Any:  # noqa: ANN401 (any part of a template)
    """A copy in which local files have been uploaded somewhere."""
    if isinstance(node, Mapping):
        return {name: _uploaded(below, str(name)) for name, below in node.items()}
    if isinstance(node, list):
        return [_uploaded(item) for item in node]
    is_file = key in _FILES and isinstance(node, str) and "://" not in node
    return f"s3://local/{node}" if is_file else node
