"""The software bill of materials of a release: what the Lambda layer consists of, in CycloneDX's format."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.message import Message
from email.parser import Parser
from hashlib import sha256
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def sbom(version: str, made: datetime, layer: bytes, wheels: Mapping[str, bytes]) -> bytes:
    """The bill of materials, as JSON.

    Args:
        version: strongref's.
        made: the date of the release.
        layer: the layer's zip file; it has the metadata of each distribution in it.
        wheels: strongref's own wheel, by its name.
    """
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=sha256(each).hexdigest()) for each in wheels.values()]
    own = _component("strongref", version, "Apache-2.0", ComponentType.APPLICATION, hashes)
    parts = {_normal(str(each["Name"])): each for each in _metadata(layer)}
    made_of = {
        name: _component(str(each["Name"]), str(each["Version"]), _license(each)) for name, each in parts.items()
    }
    identity = json.dumps([version, made.isoformat(), *(each.content for each in hashes), *sorted(made_of)])
    bom = Bom(
        serial_number=uuid5(NAMESPACE_URL, identity),
        metadata=BomMetaData(component=own, timestamp=made),
        components=made_of.values(),
    )
    needed = {other for each in parts.values() for other in _requirements(each)}
    bom.register_dependency(own, [component for name, component in made_of.items() if name not in needed])
    for name, each in parts.items():
        bom.register_dependency(made_of[name], [made_of[other] for other in _requirements(each) if other in made_of])
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    return f"{text}\n".encode()


def _component(
    name: str,
    version: str,
    license_: str,
    type_: ComponentType = ComponentType.LIBRARY,
    hashes: list[HashType] | None = None,
) -> Component:
    url = PackageURL("pypi", name=_normal(name), version=version)
    licenses = [LicenseFactory().make_from_string(license_)] if license_ else []
    return Component(
        name=name, version=version, type=type_, purl=url, bom_ref=str(url), licenses=licenses, hashes=hashes or []
    )


def _metadata(layer: bytes) -> Iterator[Message]:
    """The metadata of each distribution (PyPA: Core metadata specifications)."""
    with zipfile.ZipFile(io.BytesIO(layer)) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".dist-info/METADATA"):
                yield Parser().parsestr(archive.read(name).decode())


def _license(metadata: Message) -> str:
    return str(metadata.get("License-Expression") or metadata.get("License") or "")


def _requirements(metadata: Message) -> list[str]:
    """The names of what a distribution always needs."""
    needed = [each for each in metadata.get_all("Requires-Dist", []) if ";" not in each]
    return [_normal(found[0]) for each in needed if (found := _NAME.match(each))]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
