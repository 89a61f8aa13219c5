"""Kubernetes objects in manifests: which there are, and the referenced ones among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from strongref.grouping import grouped
from strongref_manifests.refs.base import Manifest, ObjectName
from strongref_manifests.refs.errors import AmbiguousObjectError, NoSuchObjectError

if TYPE_CHECKING:
    from strongref_manifests.text.manifests import Manifest as File
    from strongref_toolkit.json_values import Json, Path

DEFAULT_NAMESPACE = "default"
"""The namespace of an object whose manifest names none, unless the command is given another one."""


@dataclass(frozen=True, slots=True)
class ManifestObject:
    file: str  # the manifest's name
    document: int  # the number of its document, from 1
    path: Path  # the keys and positions that lead to it in its document, if that is a list of objects
    content: Manifest = field(repr=False)  # all of it


def location(file: str, document: int) -> str:
    """Where something is, for messages: `app/link.yaml, document 2`."""
    return f"{file}, document {document}"


def objects_in(file: File) -> Iterator[ManifestObject]:
    """The objects of a manifest, those of its lists (as `kubectl get` prints them) included; nothing else is one."""
    for document in file.parsed.documents:
        yield from _objects(file.file, document.number, (), document.content)


def _objects(file: str, document: int, path: Path, content: Json) -> Iterator[ManifestObject]:
    if not isinstance(content, Mapping):
        return
    kind, version, items = content.get("kind"), content.get("apiVersion"), content.get("items")
    if not isinstance(kind, str) or not isinstance(version, str):
        return
    if kind.endswith("List") and isinstance(items, list):
        for number, item in enumerate(items):
            yield from _objects(file, document, (*path, "items", number), item)
        return
    yield ManifestObject(file, document, path, cast("Manifest", content))


class ManifestObjects:
    """Referenced objects that are in manifests; where the same one is in several tiers, the first of these has it."""

    def __init__(self, *tiers: Iterable[ManifestObject], namespace: str = DEFAULT_NAMESPACE) -> None:
        """Take the tiers, and the namespace of objects that name none."""
        self._tiers = [grouped((ObjectName.of(each.content, namespace), each) for each in tier) for tier in tiers]

    def get(self, wanted: ObjectName) -> Manifest:
        """As `base.ObjectSource`.

        Raises:
            NoSuchObjectError: it is in no manifest.
            AmbiguousObjectError: it is in several, and they do not say the same.
        """
        found = next((tier[wanted] for tier in self._tiers if wanted in tier), ())
        if not found:
            names = [each.name for tier in self._tiers for each in tier if replace(each, name=wanted.name) == wanted]
            raise NoSuchObjectError(wanted, "the manifests given", closest(wanted.name, names))
        if any(other.content != found[0].content for other in found):
            raise AmbiguousObjectError(wanted, [location(each.file, each.document) for each in found])
        return found[0].content


def closest(name: str, there: Iterable[str]) -> list[str]:
    """Of the names that there are, those that are like one; without such, some."""
    names = sorted({each for each in there if each})
    return get_close_matches(name, names, 3) or names[:3]
