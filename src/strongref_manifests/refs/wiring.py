"""What the command reads references with: generator.yaml files and CRDs, a live cluster, stacks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.contract.properties import Property, as_given, parse_account, parse_region, string
from strongref.errors import BadRequestError
from strongref.memo import Memo
from strongref_manifests.errors import UnsetError
from strongref_manifests.refs.base import Generator, ObjectName, ObjectSource
from strongref_manifests.refs.config import load
from strongref_manifests.refs.crds import Specs, crd_spec
from strongref_manifests.refs.errors import GeneratorError, ServiceUnknownError, StackReferenceError
from strongref_manifests.refs.manifests import DEFAULT_NAMESPACE, objects_in
from strongref_manifests.refs.parsers import read_map
from strongref_manifests.resolution import files
from strongref_manifests.resolution.wiring import sources
from strongref_manifests.sources.on_demand import ExportSource
from strongref_manifests.terraform.addresses import STEP, path_text, plain, steps_in
from strongref_manifests.terraform.source import into
from strongref_manifests.text.manifests import read_file
from strongref_manifests.tokens import CFN, EXPORT, K8S, Token, TokenSource, matched
from strongref_toolkit.errors import NoRegionError, UsageError, os_problem
from strongref_toolkit.json_values import Json, mapping

if TYPE_CHECKING:
    from strongref_toolkit.published_exports import PublishedExports
    from strongref_toolkit.session import ToolSession

_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_NESTED = re.compile(rf"{_STACK.pattern}(?:\.[A-Za-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*")
_OUTPUT = re.compile(r"[A-Za-z0-9]+")

_CRD = "CustomResourceDefinition"
_FIELD = re.compile(
    rf"(\w+)(?:\.([a-z0-9.-]+))?/(?:([a-z0-9-]+)/)?([a-z0-9.-]+):((?:spec|status)(?:{STEP.pattern})+)", re.ASCII
)

_STACK_NAME, _EXPORT_NAME, _OUTPUT_ID = "the name of a stack", "the name of an export", "the logical ID of an output"
OF_EXPORT = {
    "stack": Property(string(_STACK_NAME, _STACK.fullmatch), required=_STACK_NAME),
    "name": Property(string(_EXPORT_NAME, _NAME.fullmatch)),
    "output": Property(as_given),
    "region": Property(parse_region),
    "account": Property(parse_account),
}
_OF_OUTPUT = {
    **OF_EXPORT,
    "stack": Property(string(_STACK_NAME, _NESTED.fullmatch), required=_STACK_NAME),
    "output": Property(string(_OUTPUT_ID, _OUTPUT.fullmatch)),
}


class _StackReference(Token):
    """A token that was written as a reference, and is shown as one in errors."""

    def __str__(self) -> str:
        stack, _, what = self.reference.rpartition(".") if self.scheme == CFN else self.reference.partition(".")
        key = "output" if self.scheme == CFN else "name"
        more = {"region": self.region, "account": f"'{self.account}'" if self.account else None}
        written = {"stack": stack, key: what, **{name: value for name, value in more.items() if value}}
        return f"from: {{{', '.join(f'{name}: {value}' for name, value in written.items())}}}"


class StackValues:
    """The values of stacks and their exports, for one run; `source` is that of a scheme, `cfn` or `export`.

    `from: {stack: network, name: VpcId}` is an export, `from: {stack: network, output: VpcId}` an output. `region` and
    `account` are the stack's own, as in the `From` of an Import.
    """

    def __init__(self, source: Callable[[str], TokenSource]) -> None:
        self._source = source

    def get(self, given: Mapping[str, Any]) -> str | list[str]:
        """As `base.ValueSource`.

        Raises:
            StackReferenceError: the reference is not valid, or names a map of values.
            StrongRefError: the source of such values raised it.
        """
        token = parse_stack_reference(given)
        try:
            value = self._source(token.scheme).fetch(_StackReference(*astuple(token)))
        except NoRegionError:
            raise StackReferenceError("from has no region. Set --region or AWS_REGION, or add region to it") from None
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return [str(item) for item in value]
        raise StackReferenceError(f"from.name {given['name']} is a map of exports. Name one of them, with dots")

    @property
    def exports(self) -> PublishedExports:
        """The exports that are read; raises `UsageError` if there is no region to read them in."""
        source = self._source(EXPORT)
        assert isinstance(source, ExportSource)  # noqa: S101 (what `sources` makes of that scheme)
        return source.exports


def parse_stack_reference(given: Mapping[str, Any]) -> Token:
    """The token that a `from` with a stack in it stands for. Raises `StackReferenceError` if it stands for none."""
    is_output = given.get("name") is None
    try:
        found = read_map(given, _OF_OUTPUT if is_output else OF_EXPORT, "from")
    except BadRequestError as error:
        problem = str(error)
    else:
        if (found["name"] is None) != (found["output"] is None):
            what = found["output"] if is_output else found["name"]
            return Token(CFN if is_output else EXPORT, f"{found['stack']}.{what}", found["region"], found["account"])
        problem = "from must have one of name and output"
    raise StackReferenceError(problem)


def generators(paths: Sequence[str], service: str | None, crds: Sequence[str]) -> list[Generator]:
    """Read generator.yaml files, and CRDs in files and folders; `service` is that of the only file.

    Raises:
        UsageError: the options are not valid, or a file is not there or cannot be read.
        GeneratorError: a file is not valid.
        ServiceUnknownError: the service of a file is unknown.
        ManifestError: a CRD's file is not readable.
    """
    if not paths:
        raise UsageError("no reference fields are known: add controllers' generator.yaml files with --generator")
    if service is not None and len(paths) > 1:
        raise UsageError("--service requires a single --generator; folders SERVICE-controller name it for several")
    specs = _crds(crds) if crds else None
    made: dict[str, Generator] = {}
    for path in paths:
        generator = _generator(path, service, specs)
        if generator.service in made:
            raise UsageError(f"{made[generator.service].source} and {path} are both for {generator.service}: keep one")
        made[generator.service] = generator
    return list(made.values())


def _generator(path: str, service: str | None, specs: Specs | None) -> Generator:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {os_problem(error)}.") from None
    except UnicodeDecodeError:
        raise GeneratorError(path, "", "not UTF-8 text") from None
    try:
        return load(text, path, service, specs)
    except ServiceUnknownError:
        return load(text, str(Path(path).resolve()), service, specs)


def _crds(given: Sequence[str]) -> Specs:
    objects = (each for path, _ in files.find(given, None) for each in objects_in(read_file(path)))
    found = dict(crd_spec(each.file, each.content) for each in objects if each.content["kind"] == _CRD)
    if not found:
        raise UsageError("--crd must have a CustomResourceDefinition, got none")
    return found


def cluster(kubeconfig: str | None, context: str | None) -> tuple[ObjectSource, str | None]:
    """Referenced objects of a live cluster, and the namespace of its context.

    Raises:
        ModuleNotFoundError: Kubernetes' client is not installed (`strongref_toolkit.extras`).
        ClusterConfigError: the kubeconfig or its credentials are not valid.
        ClusterError: the cluster cannot be reached, or rejects the credentials.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from strongref_manifests.refs.cluster import ClusterObjects  # noqa: PLC0415 (an extra, and it takes a second)
        from strongref_manifests.refs.cluster_config import connect  # noqa: PLC0415
    connection = connect(kubeconfig, context)
    return ClusterObjects(connection), connection.namespace


class ClusterSource(TokenSource):
    """`${k8s:KIND.GROUP/NAME:PATH}`: what an object in a cluster has in its spec or status; secrets have neither.

    The name may be `NAMESPACE/NAME`; the namespace is the context's by default.
    """

    scheme = K8S

    def __init__(self, kubeconfig: str | None = None, context: str | None = None) -> None:
        """Make one, for one run; the first token connects it, as `cluster` does."""
        self._cluster = partial(Memo[None, Any]().get, None, lambda: cluster(kubeconfig, context))

    def fetch(self, token: Token) -> Json:
        kind, group, namespace, name, path = matched(token, _FIELD).group(1, 2, 3, 4, 5)
        objects, default = self._cluster()
        value: Json = objects.get(ObjectName(group or "", kind, namespace or default or DEFAULT_NAMESPACE, name))
        subject = ObjectName.of(mapping(value), "")
        at: tuple[str | int, ...] = ()
        for step in map(plain, steps_in(path)):
            at, value = into(f"{path_text(at)[1:]} of {subject}".removeprefix(" of "), at, value, step)
        if value is None:
            raise UnsetError(f"{path} of {subject}", "the cluster")
        return value


def stack_values(
    *, consumer: str, sensitive: bool, region: str | None, role: str | None, session: ToolSession
) -> StackValues:
    """The values of stacks, with the arguments of `sources`. Without a reference to a stack, no AWS call is made."""

    @cache
    def source(scheme: str) -> TokenSource:
        also = {scheme} & {EXPORT}
        made = sources(also, tf=(), consumer=consumer, sensitive=sensitive, region=region, role=role, session=session)
        return next(each for each in made if each.scheme == scheme)

    return StackValues(source)
