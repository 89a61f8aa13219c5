"""Carries out `AWS::Serverless`, with the code that AWS runs for it: aws-sam-translator.

What it makes of local code has another hash than what AWS made of the uploaded one, so logical IDs with hashes, those
of versions and API deployments, are new ones: their values are unknown.

For an application of the Serverless Application Repository, that code asks the repository to make a template. Nothing
may be written here, and a nested stack is unknown anyway, so it is not told about the repository.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from strongref.macro.template import Node, is_function, mapped
from strongref.text import cut
from strongref_cli.check.unknown import Evaluated, Unknown, plain
from strongref_manifests.text.template_writing import Bare
from strongref_toolkit.errors import UsageError
from strongref_toolkit.json_values import mapping

SERVERLESS = "AWS::Serverless-2016-10-31"
_FUNCTION = "AWS::Serverless::Function"
_CODE = ("CodeUri", "ImageUri")
"""Properties of a function that `sam package` adds: its default is the folder of the template."""
_FILES = (*_CODE, "ContentUri", "DefinitionUri", "SchemaUri", "Location")
"""Properties that may be paths of local files, which `sam package` uploads."""
_UPLOADED = "s3://local/file"
_IN_REPOSITORY = {"ApplicationId", "SemanticVersion"}
"""The location of an application that is in the Serverless Application Repository."""

_SECRET = 4
"""Characters of a value from which on it may be a secret."""


def serverless(template: Mapping[str, Node], names: Mapping[str, Evaluated]) -> Mapping[str, Node]:
    """A template after the transform, given what `Ref` gives for parameters and pseudo parameters.

    Raises:
        UsageError: the transform refuses the template.
    """
    from boto3 import Session  # noqa: PLC0415 (it takes most of a second to import this, which few templates need)
    from samtranslator.model.exceptions import InvalidDocumentException  # noqa: PLC0415
    from samtranslator.parser.parser import Parser  # noqa: PLC0415
    from samtranslator.translator.translator import Translator  # noqa: PLC0415

    logging.getLogger("samtranslator").setLevel(logging.CRITICAL)  # its errors are raised, too
    known = {name: each for name, each in names.items() if isinstance(each, str)}
    translator = Translator({}, Parser(), boto_session=Session(region_name=known["AWS::Region"]))
    try:
        found: Mapping[str, Node] = translator.translate(_packaged(template), known)
    except InvalidDocumentException as error:
        causes = "; ".join(str(each.message) for each in error.causes)
        for name, value in known.items():  # SAM may quote what a parameter is given.
            if len(value) >= _SECRET and not name.startswith("AWS::"):
                causes = causes.replace(value, f"${{{name}}}")
        raise UsageError(f"AWS::Serverless refuses the template: {cut(causes, 500)}") from None
    return {key: each for key, each in found.items() if key != "Transform"}


def _packaged(template: Mapping[str, Node]) -> dict[str, Any]:
    """A copy as CloudFormation gets it: local files have been uploaded somewhere, and scalars are read."""
    found: dict[str, Any] = mapped(template, _read)
    common = mapping(mapping(found.get("Globals")).get("Function"))
    for each in mapping(found.get("Resources")).values():
        kind, properties = str(mapping(each).get("Type")), mapping(each).get("Properties")
        if kind.startswith("AWS::Serverless::") and isinstance(properties, dict):
            code = {name: _UPLOADED for name in _CODE if kind == _FUNCTION and name not in common}
            each["Properties"] = code | _uploaded(properties)
    return {**found, "Globals": _uploaded(found["Globals"])} if "Globals" in found else found


def _read(leaf: Any) -> Any:  # noqa: ANN401 (a scalar of a template)
    read = plain(leaf) if isinstance(leaf, Bare) else leaf
    return leaf if isinstance(read, Unknown) else read


def _uploaded(node: Any, key: str = "") -> Any:  # noqa: ANN401 (any part of a template)
    """A copy of properties in which local files have been uploaded."""
    if key in _FILES and (is_function(node) or _IN_REPOSITORY.issubset(mapping(node))):
        return _UPLOADED
    if isinstance(node, Mapping):
        return {name: _uploaded(below, str(name)) for name, below in node.items()}
    if isinstance(node, list):
        return [_uploaded(item) for item in node]
    is_file = key in _FILES and isinstance(node, str) and "://" not in node
    return f"{_UPLOADED}/{node}" if is_file else node
