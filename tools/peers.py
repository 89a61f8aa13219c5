"""Reads other people's files with every reader, and reports what is wrong: `make peers FOLDER=…`, for any checkouts.

Templates get references and `Exports` in place of some of their properties and are transformed; manifests get other
values in some places; states and `generator.yaml` files are read. Reported are crashes, changed meaning, lost comments,
changed lines, and files that take long for their size, by the other files of the run. Refusals are only counted.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from time import process_time
from traceback import extract_tb
from typing import TYPE_CHECKING, NamedTuple

import yaml

from strongref.errors import StrongRefError
from strongref.macro.transform import Settings, plan
from strongref_manifests.refs.config import load
from strongref_manifests.terraform.addresses import TerraformReference, TerraformResource, path_text
from strongref_manifests.terraform.source import value_of
from strongref_manifests.terraform.states import read_state
from strongref_manifests.text import manifests, templates
from strongref_manifests.text.nodes import Scalar, TextEdit, comments_between, entries_of, line_of, scalars_in, spliced
from strongref_manifests.text.template_edits import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strongref_manifests.text.nodes import Node
    from strongref_manifests.text.templates import TemplateText

SUFFIXES = (".yaml", ".yml", ".json", ".template", ".tfstate")
MOST = 2_000_000
"""Bytes of a file: larger ones are data."""
SLOW, SECONDS = 10, 0.5
"""How many times as long as usual for its size a file takes that is slow, and how long at least."""
OVERHEAD = 2_000
"""Bytes that take as long as what is done once for each file."""

_TEMPLATE = re.compile(rb"""^[ \t{]*["']?Resources["']?[ \t]*:""", re.MULTILINE)
_STATE = re.compile(rb'"(?:terraform_version|format_version|lineage)"')
_FUNCTIONS = ("Fn::", "Ref", "Condition")
_EVERY = 3
_NEW = "a new value: with 'quotes'"


class FoundError(Exception):
    """A defect, in a few words."""


class Result(NamedTuple):
    """What became of a file."""

    reader: str
    file: Path
    size: int
    seconds: float
    refused: str = ""
    defect: str = ""


def transform(file: str, data: bytes) -> None:
    """A template comes back as it is; with references, all but they stay."""
    template = templates.read(file, data.decode())
    if "StrongRef" not in template.text and changed(template, plan(template.content, Settings())) != template.text:
        raise FoundError("changed without a reference")
    edits = list(references(template))
    given = templates.read(file, spliced(template.text, edits))
    result = changed(given, plan(given.content, Settings()))  # which compares the meaning
    again = templates.read(file, result)
    check_comments((given.text, scalars_in(given.root)), (result, scalars_in(again.root)))
    touched = {line for edit in edits for line in range(*_lines(template.text, edit))}
    left = iter(result.splitlines())
    for number, line in enumerate(template.text.splitlines(), 1):
        if number not in touched and not any(each in (line, f"{line},") for each in left):
            raise FoundError(f"line {number} has changed")


def references(template: TemplateText) -> Iterator[TextEdit]:
    """References and exports in place of some of a template's properties."""
    indent = re.compile(r"^[ \t]*(?:- *)*")
    for number, (path, found) in enumerate(template.entries.items()):
        key, node = found.entry
        inside = path[0] == "Resources" and path[2:3] == ("Properties",) and len(path) > len("Rp:")
        functions = any(str(step).startswith(_FUNCTIONS) for step in path)
        if not isinstance(key, Scalar) or found.shared or functions or key.style in ("|", ">"):
            continue
        column = key.start - template.text.rfind("\n", 0, key.start) - 1
        own_line = indent.match(template.text[key.start - column :])
        lines = not node.flow and own_line and own_line.end() == column and not template.is_json
        if lines and len(path) == len("RpT") and path[0] == "Resources" and path[2] == "Type":
            export = f"Exports: {{As: E{number}, Region: us-east-1}} # export {number}\n{' ' * column}"
            yield TextEdit(key.start, key.start, export)
        elif inside:
            yield from _referring(number, key, node, column if lines else None)


def _referring(number: int, key: Scalar, node: Node, column: int | None) -> Iterator[TextEdit]:
    """A property, an item of a list or of `!If`, as a reference; on lines of its own where it may be."""
    reference = '{"From": {"Stack": "a", "Name": "b"}}'
    items = [entry.node for entry in entries_of(node)] if isinstance(node.value, list) else []
    values = all(isinstance(item, Scalar) and not item.is_empty for item in items)
    choice = node.tag == "!If" and len(items) == len("?:;")
    plain = isinstance(node, Scalar) and not node.is_empty and node.start > key.end and number % _EVERY == 0
    if not plain and not (items and values and (choice or node.tag is None)):
        return
    suffix = "Ref" if plain or choice else "Refs"
    yield TextEdit(key.text_start, key.end, f"{key.style or ''}{key.text}{suffix}{key.style or ''}")
    if items:
        yield TextEdit(items[-1].start, items[-1].end, reference)
    elif column is None:
        yield TextEdit(node.start, node.end, reference)
    else:
        pad = f"\n{' ' * (column + 2)}"
        stack = f"{pad}  Stack: a # stack {number}{pad}  # name {number}{pad}  Name: b"
        yield TextEdit(node.start, node.end, f"# reference {number}{pad}From: # from {number}{stack}")


def resolve(file: str, data: bytes) -> None:
    """A manifest is read as another parser reads it, and only the values that are replaced change."""
    manifest = manifests.read(file, data, manifests.FORMATS.get(Path(file).suffix))
    if manifest.format is manifests.YAML:
        events = yaml.parse(manifest.text, Loader=yaml.CSafeLoader)
        scalars = [each for each in events if isinstance(each, yaml.ScalarEvent)]
        other = [each.value for each in scalars if each.value or each.style]
        if [scalar.text for scalar in manifest.parsed.scalars] != other:
            raise FoundError("it is read as something else than PyYAML reads")
    values = [scalar for scalar in manifest.parsed.scalars if not scalar.is_key and not scalar.aliased]
    result = manifest.replaced(dict.fromkeys(values[::_EVERY], _NEW))
    again = manifests.read(file, result.encode(), manifest.format)
    check_comments((manifest.text, manifest.parsed.scalars), (result, again.parsed.scalars))


def check_comments(*texts: tuple[str, Iterable[Scalar]]) -> None:
    """All comments of a text are in the other one."""
    before, after = (Counter(comments_between(text, 0, len(text), scalars)) for text, scalars in texts)
    if lost := before - after:
        raise FoundError(f"{lost.total()} comments are lost")


def state(file: str, data: bytes) -> None:
    """Everything that a state holds is found by its address."""
    held = read_state(data, file)
    for address, found in held.held.items():
        below = found.value if isinstance(found.value, dict) and isinstance(address, TerraformResource) else [""]
        for step in below:
            reference = TerraformReference.parse(f"{address}{path_text([step]) if step else ''}")
            if (below[step] if isinstance(below, dict) else found.value) is not None:
                value_of(held, reference, sensitive=True)


def generator(file: str, data: bytes) -> None:
    load(data.decode(), file)


READERS: dict[str, tuple[Callable[[Path, bytes], object], Callable[[str, bytes], None]]] = {
    "transform": (lambda path, data: path.suffix != ".tfstate" and _TEMPLATE.search(data), transform),
    "resolve": (lambda path, _: path.suffix in manifests.FORMATS, resolve),
    "state": (lambda path, data: path.suffix in (".tfstate", ".json") and _STATE.search(data), state),
    "generator": (lambda path, _: path.name == "generator.yaml", generator),
}


def results(folder: Path) -> Iterator[Result]:
    """What becomes of every file below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > MOST:
            continue
        data = path.read_bytes()
        for name, (applies, read) in READERS.items():
            if applies(path, data):
                yield _result(name, path, data, read)


def _result(name: str, path: Path, data: bytes, read: Callable[[str, bytes], None]) -> Result:
    started = process_time()
    refused = defect = ""
    try:
        read(str(path), data)
    except (StrongRefError, UnicodeDecodeError) as error:
        refused = re.sub(r"[^:]*: ", "", str(error).replace(str(path), ""), count=1)[:100]
    except FoundError as error:
        defect = str(error)
    except Exception as error:  # noqa: BLE001 (which one is what is to be found out)
        where = extract_tb(error.__traceback__)[-1]
        defect = f"crash: {type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
    return Result(name, path, len(data), process_time() - started, refused, defect)


def slow(done: Iterable[Result]) -> Iterator[tuple[Result, float]]:
    """The files that take long for their size, and how many times as long as the usual one."""
    by_reader: dict[str, list[Result]] = {}
    for each in done:
        by_reader.setdefault(each.reader, []).append(each)
    for several in by_reader.values():
        usual = median(each.seconds / (each.size + OVERHEAD) for each in several)
        for each in several:
            times = each.seconds / (each.size + OVERHEAD) / usual if usual else 0
            if times > SLOW and each.seconds > SECONDS:
                yield each, times


def main(folder: str) -> int:
    done = list(results(Path(folder)))
    for reader in READERS:
        read = [each for each in done if each.reader == reader]
        print(f"{reader}: {len(read)} files, {sum(bool(each.refused) for each in read)} refused")  # noqa: T201
        reasons = Counter(re.sub(r"\d+", "N", each.refused) for each in read if each.refused)
        for reason, count in reasons.most_common(12):
            print(f"    {count:5} {reason}")  # noqa: T201
    defects = [f"{each.reader} {each.file}: {each.defect}" for each in done if each.defect]
    defects += [f"{each.reader} {each.file}: {times:.0f} times as slow as usual" for each, times in slow(done)]
    print("\n".join([*defects, f"{len(defects)} defects"]))  # noqa: T201
    return 1 if defects else 0


def _lines(text: str, edit: TextEdit) -> tuple[int, int]:
    return line_of(text, edit.start), line_of(text, edit.end) + 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
