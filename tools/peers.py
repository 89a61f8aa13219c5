"""Reads other people's files with every reader, and reports what is wrong: `make peers FOLDER=…`, for any checkouts.

Templates get references and `Exports` in place of some of their properties and are transformed; manifests get other
values in some places; states and `generator.yaml` files are read. `strongref check` predicts a random change of each
template, while a resource of it is exported: `make peers FOLDER="… check 2"` tries other changes, and nothing else.

Reported are crashes, changed meaning, lost comments, changed lines, checks of more than two seconds, and files that
take long for their size, by the other files of the run. Refusals and verdicts are only counted.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from traceback import extract_tb
from typing import NamedTuple, cast

import yaml

from strongref.contract.names import SHARED, ExportScope, Key, Site, StackArn
from strongref.contract.record import Record
from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref.contract.values import ParameterType, Value
from strongref.errors import StrongRefError
from strongref.macro.loops import FOR_EACH, unreplaced
from strongref.macro.template import is_function, mapped
from strongref.macro.transform import Settings, plan
from strongref.protocol.stored_exports import Owner, StoredExports, ValueTags
from strongref.untyped import AnyJson
from strongref_cli.check import command, expansion, parameters, reading, stored, version
from strongref_cli.check.checking import StackCheck
from strongref_cli.check.report import Verdict
from strongref_cli.check.resource_types import types_in
from strongref_manifests.errors import ManifestError
from strongref_manifests.refs.config import load
from strongref_manifests.terraform.addresses import TerraformReference, TerraformResource, path_text
from strongref_manifests.terraform.source import value_of
from strongref_manifests.terraform.states import read_state
from strongref_manifests.text import manifests, templates
from strongref_manifests.text.nodes import (
    Node,
    Scalar,
    TextEdit,
    comments_between,
    entries_of,
    line_of,
    scalars_in,
    spliced,
)
from strongref_manifests.text.template_edits import changed
from strongref_manifests.text.templates import TemplateText
from strongref_toolkit.json_values import mapping

SUFFIXES = (".yaml", ".yml", ".json", ".template", ".tfstate")
MOST = 2_000_000
"""Bytes of a file: larger ones are data."""
SLOW, SECONDS = 10, 0.5
"""How many times as long as usual for its size a file takes that is slow, and how long at least."""
OVERHEAD = 2_000
"""Bytes that take as long as what is done once for each file."""
MOST_SECONDS = 2
"""Of a check."""
STACK, IMPORTER = (StackArn("aws", "us-east-1", "111111111111", name, "1") for name in ("producer", "consumer"))
EXPORTS = "ExportsOfOne"
WHY_UNKNOWN = ("carries out", "invalid expression", "is new", "may be replaced", "may change")

_TEMPLATE = re.compile(rb"""^[ \t{]*["']?Resources["']?[ \t]*:""", re.MULTILINE)
_STATE = re.compile(rb'"(?:terraform_version|format_version|lineage)"')
_FUNCTIONS = ("Fn::", "Ref", "Condition")
_ENDS = re.compile(r"(?:\bOutputs\W+|^[ \t\]}]*)$")
_EVERY = 3
_NEW = "a new value: with 'quotes'"
_VARIABLE = "PeersName"
_LOOP = f"""\
"Fn::ForEach::Peers": ["{_VARIABLE}", ["A", "B"], {{"Peers${{{_VARIABLE}}}": {{"Type": "AWS::SNS::Topic", \
"Properties": {{"KmsMasterKeyIdRef": {{"From": {{"Stack": "a", "Name": "b"}}}}}}, \
"Exports": {{"As": "Arn", "Consumer": {{"Fn::Sub": "team-${{{_VARIABLE}}}"}}}}}}}}]"""


class FoundError(Exception):
    """A defect, in a few words."""


class Result(NamedTuple):
    """What became of a file."""

    reader: str
    file: Path
    size: int
    seconds: float
    answer: str = ""  # a verdict, and why
    refused: str = ""
    defect: str = ""
    is_json: bool = False  # which is read many times as fast as YAML


def transform(file: str, data: bytes) -> None:
    """A template comes back as it is; with references, all but they stay."""
    template = templates.read(file, data.decode())
    if "StrongRef" not in template.text and changed(template, plan(template.content, Settings())) != template.text:
        raise FoundError("changed without a reference")
    edits = [*loop(template), *references(template)]
    given = templates.read(file, spliced(template.text, edits))
    result = changed(given, plan(given.content, Settings()))  # which compares the meaning
    again = templates.read(file, result)
    if any(unreplaced(again.content, _VARIABLE)):
        raise FoundError("the variable of a loop would stay")
    check_comments((given.text, scalars_in(given.root)), (result, scalars_in(again.root)))
    spans = ([line_of(template.text, at) for at in (edit.start, edit.end)] for edit in edits)
    touched = {line for first, last in spans for line in range(first, last + 1)}
    left = iter(result.splitlines())
    for number, line in enumerate(template.text.splitlines(), 1):
        is_free = number in touched or _ENDS.search(line)  # where the loop's output comes
        if not is_free and not any(each in (line, f"{line},") for each in left):
            raise FoundError(f"line {number} has changed")


def loop(template: TemplateText) -> Iterator[TextEdit]:
    """A loop with an export and a reference, before the first resource."""
    path = next((path for path in template.entries if path[0] == "Resources" and len(path) == len("RT")), ())
    found = template.entries.get(path)
    if found and isinstance(found.entry.key, Scalar) and not found.shared:
        start = found.entry.key.start
        indent = template.text[template.text.rfind("\n", 0, start) + 1 : start]
        apart = " " if indent.strip() else f"\n{indent}"
        yield TextEdit(start, start, f"{_LOOP}{',' if found.above.brackets else ''}{apart}")


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


def check(file: str, data: bytes, seed: str = "") -> str:
    """The verdict on a random change of a template, and why it is unknown."""
    random = Random(data + seed.encode())  # noqa: S311 (nothing is secret)
    deployed = Deployed(_template(templates.content(data.decode())), random)
    new: AnyJson = templates.read(file, data.decode()).content
    new["Resources"] |= json.loads(json.dumps(deployed.export))
    given = change(new, deployed.target, random)
    report = StackCheck(cast("reading.StackReader", deployed)).template(STACK.name, _template(new), given)
    shown = command.as_table(report)
    why = next((each for each in WHY_UNKNOWN if each in shown), "something else")
    return f"{report.verdict}: {why}" if report.verdict is Verdict.UNKNOWN else report.verdict


def _template(content: AnyJson) -> AnyJson:
    resources = mapping(mapping(content).get("Resources"))
    types = [mapping(each).get("Type") for name, each in resources.items() if not name.startswith(FOR_EACH)]
    if not resources or not all(isinstance(each, str) for each in types):
        raise ManifestError("", None, "it has no resources, or some without types")
    return content


class Deployed:
    """In the place of a `StackReader`: one stack, with made up parameters. All that it exports is imported."""

    region = STACK.region
    has_parameter = has_export = is_installed = staticmethod(bool)
    importable = staticmethod(lambda *_: {})

    def __init__(self, content: AnyJson, random: Random) -> None:
        declared = {
            name: {"Default": "1", **mapping(each)} for name, each in mapping(content.get("Parameters")).items()
        }
        kept = {name: str(each["Default"]) for name, each in declared.items()}
        pseudo = version.pseudo_parameters(STACK, exists=True)
        names = {**parameters.new_names(content, kept, {}), **pseudo}
        expanded = expansion.expand(content, names).template
        found = version.StackVersion.of(expanded, names).resources
        self.target = random.choice([name for name, each in found.items() if each.exists is True] or [*found, ""])
        kind = types_in(STACK.region)(found[self.target].type) if self.target else None
        attributes = [".".join(path) for path in sorted(kind.computed) if "*" not in path][:5] if kind else []
        values: dict[str, object] = {each.replace(".", "-"): {"Fn::GetAtt": [self.target, each]} for each in attributes}
        properties = {"ServiceToken": EXPORTER, "Values": values | {"Itself": {"Ref": self.target}}}
        self.export = {EXPORTS: {"Type": EXPORT_TYPE, "Properties": properties}}
        deployed = version.StackVersion.of({**expanded, "Resources": {**expanded["Resources"], **self.export}}, names)
        self.stack = lambda _name: reading.DeployedStack(STACK, "UPDATE_COMPLETE", kept, pseudo, deployed)
        self._values = {Key(name): Value(ParameterType.STRING, f"its {name}") for name in (*values, "Itself")}

    def stored(self, _stack: object, _comparison: object, exports: Iterable[str]) -> stored.StoredStack:
        tags = dict.fromkeys(self._values, ValueTags(Owner.OURS, str(STACK), claims={"claim": str(IMPORTER)}))
        scope = stored.StoredScope(StoredExports(self._values, Record(str(STACK), self._values)), tags)
        at = stored.Location(Site(STACK.region), ExportScope(SHARED, STACK.producer))
        return stored.StoredStack({}, {(EXPORTS, at): scope}, users=dict.fromkeys(exports, (IMPORTER.name,)))


def change(new: AnyJson, target: str, random: Random) -> dict[str, str]:
    """Change something in a template, mostly of one resource; the parameters that are given with it."""
    resources = new["Resources"]
    kinds = ["of resource", "of resource", "property", "renamed", "removed"] if target in resources else []
    match random.choice([*kinds, "anywhere", *(["parameter"] if new.get("Parameters") else [])]):
        case "of resource":
            resources[target] = _other(resources[target], random)
        case "property":
            known = types_in(STACK.region)(resources[target]["Type"])
            added = {random.choice((sorted(known.properties) if known else []) or ["Other"]): "other"}
            resources[target]["Properties"] = {**added, **mapping(resources[target].get("Properties"))}
        case "renamed":
            name = re.compile(rf"^{target}(?=\.|$)|(?<=\$\{{){target}\b")
            new |= mapped(new, lambda leaf: name.sub("Renamed", leaf) if isinstance(leaf, str) else leaf)
            new["Resources"]["Renamed"] = new["Resources"].pop(target)
        case "removed":  # its exports stay as text
            del resources[target]
            resources[EXPORTS]["Properties"]["Values"] = {"Itself": "text"}
        case "anywhere":
            new |= _other({key: each for key, each in new.items() if key not in ("Metadata", "Transform")}, random)
        case "parameter":
            return {random.choice(list(new["Parameters"])): "other"}
    return {}


def _other(node: AnyJson, random: Random) -> AnyJson:
    """The same but for one place: something is changed, added, dropped or in another order."""
    if isinstance(node, dict | list) and node and not (is_function(node) and random.randrange(2)):
        at = random.choice(list(node) if isinstance(node, dict) else range(len(node)))
        items = list(node.items() if isinstance(node, dict) else enumerate(node))
        other = [(key, _other(each, random) if key == at else each) for key, each in items]
        some = random.choice([other, other, [each for each in items if each[0] != at], items[::-1]])
        return dict(some) if isinstance(node, dict) else [each for _, each in some]
    if isinstance(node, bool):
        return not node
    return node + 1 if isinstance(node, int) else f"{node}x" if isinstance(node, str) else "other"


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


READERS: dict[str, tuple[Callable[[Path, bytes], object], Callable[[str, bytes], str | None]]] = {
    "transform": (lambda path, data: path.suffix != ".tfstate" and _TEMPLATE.search(data), transform),
    "check": (lambda path, data: path.suffix != ".tfstate" and _TEMPLATE.search(data), check),
    "resolve": (lambda path, _: path.suffix in manifests.FORMATS, resolve),
    "state": (lambda path, data: path.suffix in (".tfstate", ".json") and _STATE.search(data), state),
    "generator": (lambda path, _: path.name == "generator.yaml", generator),
}


def results(folder: Path, readers: Iterable[str], seed: str) -> Iterator[Result]:
    """What becomes of every file below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > MOST:
            continue
        data = path.read_bytes()
        for name in readers:
            applies, read = READERS[name]
            if applies(path, data):
                yield _result(name, path, data, partial(check, seed=seed) if name == "check" else read)


def _result(name: str, path: Path, data: bytes, read: Callable[[str, bytes], str | None]) -> Result:
    started = process_time()
    answer = refused = defect = ""
    try:
        answer = read(str(path), data) or ""
    except (StrongRefError, UnicodeDecodeError) as error:
        refused = re.sub(r"[^:]*: ", "", str(error).replace(str(path), ""), count=1)[:100]
        refused = f"{type(error).__name__}: {refused}"
    except FoundError as error:
        defect = str(error)
    except Exception as error:  # noqa: BLE001 (which one is what is to be found out)
        where = extract_tb(error.__traceback__)[-1]
        defect = f"crash: {type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
    seconds = process_time() - started
    if answer and seconds > MOST_SECONDS:
        defect = f"it takes {seconds:.1f} seconds"
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    return Result(name, path, len(data), seconds, answer, refused, defect, is_json)


def slow(done: Iterable[Result]) -> Iterator[tuple[Result, float]]:
    """The files that take long for their size, and how many times as long as the usual one of their format."""
    alike: defaultdict[tuple[str, bool], list[Result]] = defaultdict(list)
    for each in done:
        if each.reader != "check":  # The first ones import what the others need.
            alike[each.reader, each.is_json].append(each)
    for several in alike.values():
        usual = median(each.seconds / (each.size + OVERHEAD) for each in several)
        for each in several:
            times = each.seconds / (each.size + OVERHEAD) / usual if usual else 0
            if times > SLOW and each.seconds > SECONDS:
                yield each, times


def main(folder: str, only: str = "", seed: str = "") -> int:
    readers = [only] if only else list(READERS)
    done = list(results(Path(folder), readers, seed))
    for reader in readers:
        read = [each for each in done if each.reader == reader]
        print(f"{reader}: {len(read)} files, {sum(bool(each.refused) for each in read)} refused")  # noqa: T201
        reasons = Counter(re.sub(r"\d+", "N", each.refused) for each in read if each.refused)
        answers = Counter(each.answer for each in read if each.answer)
        for reason, count in [*answers.most_common(), *reasons.most_common(12)]:
            print(f"    {count:5} {reason}")  # noqa: T201
    defects = [f"{each.reader} {each.file}: {each.defect}" for each in done if each.defect]
    defects += [f"{each.reader} {each.file}: {times:.0f} times as slow as usual" for each, times in slow(done)]
    print("\n".join([*defects, f"{len(defects)} defects"]))  # noqa: T201
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
