"""What README and docs say is so: properties, permissions, texts, commands, links.

Every ```text block is the text of an error; the comment above it names the case here that makes it.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from fnmatch import fnmatchcase
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from botocore import xform_name
from botocore.session import get_session

from strongref import errors
from strongref.aws.cloud_control import Resource
from strongref.aws.retry_and_rate_limit import RateLimits
from strongref.contract import response as answer_module
from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.contract.response import ResponseTooLargeError
from strongref.errors import BadRequestError, InUse, LookUpDeniedError, StrongRefError
from strongref.lookup import answer as lookup_answer
from strongref.lookup import errors as lookup_errors
from strongref.lookup.answer import NotAllowedToLookError, NotAnAttributeError, TooMuchToTellError
from strongref.lookup.base import Wanted
from strongref.lookup.finding import attribute
from strongref.lookup.identify import described
from strongref.lookup.request import LookupRequest
from strongref.lookup.table import shape_of
from strongref.lookup.tracing import READ_MOST
from strongref.runtime import custom_resource as resource
from strongref_cli import _parser
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, SHOP, WEB, stack_arn
from tests.support.cdk8s_errors import CASES as OF_CDK8S
from tests.support.cdk_errors import CASES as OF_CDK
from tests.support.documents import PAGES, ROOT, Block, blocks, load, names_in, rows
from tests.support.macro_errors import CASES as OF_MACRO
from tests.support.object_errors import CASES as OF_OBJECTS
from tests.support.object_lookup_errors import CASES as OF_OBJECT_TYPES
from tests.support.refs_errors import CASES as OF_REFS
from tests.support.resolver_errors import CASES as OF_RESOLVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


PRODUCER = str(SCOPE.producer)
CERT = SCOPE.value(next(iter(ExportRequest.parse({"Values": {"CertArn": "x"}}, StackArn.parse(NETWORK)).values)))
US, EU = "us-east-1", "eu-west-1"
DHCP = ["DhcpOptionsId", "VpcId"]
QUEUE = f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/jobs"
LARGEST = ["Environment.Variables.SETTINGS", "Description"]


def refused_export(**properties: object) -> Callable[[], StrongRefError]:
    return lambda: _refusal(lambda: ExportRequest.parse({"Values": {}} | properties, StackArn.parse(NETWORK)))


def refused_import(**properties: object) -> Callable[[], StrongRefError]:
    given = {"From": {"Stack": "network"}} | properties
    return lambda: _refusal(lambda: ImportRequest.parse(given, StackArn.parse(WEB)))


def refused_look_up(**properties: object) -> Callable[[], StrongRefError]:
    given = {"TypeName": "AWS::S3::Bucket"} | properties
    return lambda: _refusal(lambda: LookupRequest.parse(given, StackArn.parse(WEB)))


def _refusal(parse: Callable[[], object]) -> StrongRefError:
    with pytest.raises(StrongRefError) as refused:
        parse()
    return refused.value


def nothing_exported(
    producer: str = PRODUCER, consumer: str | None = "web", *, known: bool = True, elsewhere: bool = False
) -> Callable[[], StrongRefError]:
    return lambda: errors.NothingExportedError(producer, consumer, US, known=known, elsewhere=elsewhere)


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "readme-in-use": lambda: errors.ExportsInUseError(
        [InUse("CertificateArn", "changed", (stack_arn("site", "eu-west-1"),))]
    ),
    "in-use-changed": lambda: errors.ExportsInUseError([InUse("CertArn", "changed", (WEB,))]),
    "in-use-retyped": lambda: errors.ExportsInUseError([InUse("Hosts", "given another type", (WEB,))]),
    "in-use-dropped": lambda: errors.ExportsInUseError(
        [InUse("Alb/Arn", "dropped", (SHOP, WEB)), InUse("SubnetIds", "dropped", (SHOP, WEB))]
    ),
    "kept": lambda: errors.ExportsKeptError([InUse("CertArn", "kept", (WEB,))]),
    "foreign": lambda: errors.ForeignParameterError({CERT: None}),
    "foreign-stack": lambda: errors.ForeignParameterError(
        dict.fromkeys([CERT, "/b", "/c"], stack_arn("imposter", "eu-west-1"))
    ),
    "conflicting": lambda: errors.ConflictingExportError(["CertArn"], "MoreExports"),
    "changing": lambda: errors.ChangingError(PRODUCER, f"MoreExports of {PRODUCER}, until 2026-01-31 12:00:00 UTC"),
    "unreadable": lambda: errors.UnreadableRecordError(f"{SCOPE.records}/MoreExports", "MoreExports"),
    "unsettled": lambda: errors.UnsettledError(["CertArn"], PRODUCER),
    "no-such-producer": lambda: errors.NoSuchProducerError(PRODUCER),
    "nothing-exported": nothing_exported(),
    "nothing-exported-but-shared": nothing_exported(elsewhere=True),
    "nothing-exported-but-alone": nothing_exported(consumer=None, elsewhere=True),
    "nothing-exported-unknown": nothing_exported(PRODUCER.replace(ACCOUNT, "222222222222"), known=False),
    "no-such-export": lambda: errors.NoSuchExportError({"CertArm": ["CertArn"]}, PRODUCER, ["CertArn"]),
    "no-such-export-at-all": lambda: errors.NoSuchExportError(
        {"Queue": []}, PRODUCER, ["Alb.Arn", "CertArn", "SubnetIds"]
    ),
    "too-many-claims": lambda: errors.TooManyClaimsError(["VpcId"], PRODUCER),
    "too-large": lambda: ResponseTooLargeError(5206, ["Policy", "SubnetIds"]),
    "denied": lambda: errors.AccessDeniedError("PutParameter", "AccessDeniedException", CERT, US),
    "throttled": lambda: errors.ThrottledError("PutParameter", "ThrottlingException", CERT, US),
    "out-of-time": lambda: errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US),
    "time-spent": lambda: errors.ServiceTimeoutError(
        4, 3600, errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US)
    ),
    "hand-over": lambda: errors.ReinvokeError(
        "AccessDeniedException", errors.OutOfTimeError("PutParameter", "OutOfTime", CERT, US)
    ),
    "store": lambda: errors.StoreError("PutParameter", "ParameterLimitExceeded", CERT, US),
    "stack-lookup": lambda: errors.StackLookupError("network", US, "AccessDenied"),
    "time-up": errors.InvocationTimeoutError,
    "internal": lambda: errors.InternalError(KeyError("hidden"), "8f507cfc-xmpl-4697-b07a-ac58fc914c95"),
    "bad-unknown-property": refused_export(Vaules={}),
    "bad-values-missing": lambda: _refusal(lambda: ExportRequest.parse({}, StackArn.parse(NETWORK))),
    "bad-account": refused_export(Account="222222222222"),
    "bad-region": refused_export(Region="Ireland"),
    "bad-consumer": refused_export(Consumer="my web"),
    "bad-on-change": refused_export(OnChange="ignore"),
    "bad-secure-key": refused_export(Values={"DbPassword": "x"}, SecureKeys=["DbPasswort"]),
    "bad-secure-list": refused_export(Values={"Hosts": ["a", "b"]}, SecureKeys=["Hosts"]),
    "bad-comma": refused_export(Values={"Hosts": ["a", "b,c"]}),
    "bad-empty": refused_export(Values={"CertArn": ""}),
    "bad-too-long": refused_export(Values={"Policy": "x" * 9000}),
    "bad-characters": refused_export(Values={"Cert Arn": "x"}),
    "bad-import-unknown-property": refused_import(Form={}),
    "bad-from": lambda: _refusal(lambda: ImportRequest.parse({}, StackArn.parse(WEB))),
    "bad-from-key": refused_import(From={"Stak": "network"}),
    "bad-from-stack": refused_import(From={"Region": "eu-west-1"}),
    "bad-from-account": refused_import(From={"Stack": "network", "Account": "1234"}),
    "bad-names": refused_import(Names=[]),
    "bad-shared": refused_import(Shared="yes"),
    "bad-strength": refused_import(Strength="firm"),
    "bad-shared-consumer": refused_import(Shared="true", Consumer="web"),
    "look-up-none": lambda: errors.NoSuchResourceError("AWS::SNS::Topic", "physical id news", EU, 12),
    "look-up-ambiguous": lambda: lookup_errors.AmbiguousError(
        "AWS::Logs::MetricFilter", "physical id errors", ["web|errors", "shop|errors"]
    ),
    "look-up-missing": lambda: lookup_errors.MissingPropertyError(
        "AWS::ElasticLoadBalancingV2::Listener", ["LoadBalancerArn"]
    ),
    "look-up-missing-parts": lambda: lookup_errors.MissingPropertyError(
        "AWS::EC2::VPCDHCPOptionsAssociation", DHCP, DHCP
    ),
    "look-up-unsupported": lambda: errors.UnsupportedError("AWS::IAM::Policy", "GetResource", EU),
    "look-up-too-many": lambda: lookup_errors.TooManyError("AWS::ApiGateway::RestApi", "name shop", 240, READ_MOST),
    "look-up-unknown-type": lambda: _refusal(lambda: shape_of("AWS::S3::Buckets")),
    "look-up-wanted": lambda: _refusal(lambda: described(Wanted("AWS::S3::Bucket", physical_id="a", name="a"))),
    "look-up-no-attribute": lambda: _refusal(
        lambda: attribute(Resource("AWS::RDS::DBInstance", "web", {"Endpoint": {"Address": "x"}}), "Endpoint.Adress")
    ),
    "look-up-failed": lambda: errors.CloudControlError(
        "GetResource", "GeneralServiceException", "AWS::S3::Bucket photos", EU
    ),
    "look-up-not-allowed": lambda: LookUpDeniedError("ListResources", "AccessDeniedException", "AWS::SNS::Topic", EU),
    "bad-look-up-unknown-property": refused_look_up(Type="AWS::S3::Bucket"),
    "bad-look-up-type": refused_look_up(TypeName="S3"),
    "bad-look-up-nothing": refused_look_up(),
    "bad-look-up-several": refused_look_up(PhysicalId="a", Name="a"),
    "bad-look-up-empty": refused_look_up(PhysicalId=""),
    "bad-look-up-arn": refused_look_up(Arn="news"),
    "bad-look-up-account": refused_look_up(Arn="arn:aws:sns:us-east-1:222222222222:news"),
    "bad-look-up-region": refused_look_up(Arn=f"arn:aws:sns:eu-west-1:{ACCOUNT}:news", Region=US),
    "bad-look-up-tags": refused_look_up(Tags=[]),
    "bad-look-up-attributes": refused_look_up(Name="a", Attributes=[]),
    "look-up-denied": lambda: NotAllowedToLookError(
        LookUpDeniedError("GetResource", "AccessDeniedException", f"AWS::SQS::Queue {QUEUE}", "eu-west-1"),
        "AWS::SQS::Queue",
    ),
    "look-up-too-large": lambda: TooMuchToTellError("AWS::Lambda::Function", 5206, LARGEST, named=False),
    "look-up-too-large-named": lambda: TooMuchToTellError("AWS::Lambda::Function", 5206, LARGEST[:1], named=True),
    "look-up-not-an-attribute": lambda: NotAnAttributeError("AWS::S3::Bucket", "Tags", "a list of maps or of lists"),
    **OF_RESOLVERS,
    **OF_CDK8S,
    **OF_REFS,
    **OF_MACRO,
    **OF_CDK,
    **OF_OBJECTS,
    **OF_OBJECT_TYPES,
}


def case_of(block: Block) -> str:
    named = re.fullmatch(r"<!-- error: ([a-z-]+) -->", block.above)
    assert named, f"{block} has no comment above it that names a case"
    return named[1]


@pytest.mark.parametrize("block", blocks("text"), ids=str)
def test_an_error_text_is_what_the_error_says(block: Block) -> None:
    assert block.text.split() == str(CASES[case_of(block)]()).split()


def test_every_case_is_shown_somewhere() -> None:
    assert {case_of(block) for block in blocks("text")} == set(CASES)


def test_every_error_is_explained() -> None:
    explained = "".join((ROOT / "docs" / page).read_text() for page in ("operations.md", "lookup.md"))
    modules = (errors, answer_module, resource, lookup_answer)
    kinds = {
        name
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, StrongRefError) and kind.__module__ == module.__name__
    }
    wrappers = {
        "StrongRefError",
        "ServiceError",
        "PartialCreateError",
        "PropertiesAskedError",
    }  # these have no text of their own
    assert {
        name for name in kinds - wrappers if f"`{name}`" not in explained and f"### {name}\n" not in explained
    } == set()


@pytest.mark.parametrize(
    ("page", "heading", "refused"),
    [
        ("docs/exporter.md", "Properties", refused_export(Unknown="")),
        ("docs/importer.md", "Properties", refused_import(Unknown="")),
        ("docs/lookup.md", "Properties of a look-up", refused_look_up(Unknown="")),
    ],
)
def test_the_documented_properties_are_those_that_are_accepted(
    page: str, heading: str, refused: Callable[[], StrongRefError]
) -> None:
    cloudformations_own = {"ServiceToken", "ServiceTimeout"}
    assert names_in(rows(page, heading)) == allowed_by(refused) | cloudformations_own


def test_the_documented_keys_of_from_are_those_that_are_accepted() -> None:
    text = (ROOT / "docs/importer.md").read_text()
    table = text[text.index("The keys of `From`:") :].split("\n\n")[1]
    documented = set(re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE))
    assert documented == allowed_by(refused_import(From={"Unknown": ""}))


def allowed_by(refused: Callable[[], StrongRefError]) -> set[str]:
    error = refused()
    assert isinstance(error, BadRequestError)
    return set(re.split(", | and ", error.problem.partition("allowed are ")[2]))


def test_the_documented_rates_are_the_defaults_and_the_templates() -> None:
    documented = rows("docs/operations.md", "Rates")
    assert {variable.strip("`"): float(rate) for _, variable, rate, _ in documented} == {
        f"STRONGREF_{field.name.upper()}_PER_SECOND": getattr(RateLimits(), field.name) for field in fields(RateLimits)
    }
    template = load((ROOT / "template.yaml").read_text())
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    for parameter, variable, rate, _ in documented:
        if parameter:
            assert variables[variable.strip("`")] == {"Ref": parameter.strip("`")}
            assert template["Parameters"][parameter.strip("`")]["Default"] == float(rate)


def test_the_documented_parameters_are_the_installations() -> None:
    documented = names_in(rows("docs/operations.md", "Installing in several regions"))
    assert documented == set(load((ROOT / "template.yaml").read_text())["Parameters"])


@pytest.mark.parametrize(
    ("role", "heading"),
    [
        ("ExporterRole", "The exporter"),
        ("ImporterRole", "The importer"),
        ("JanitorRole", "The janitor"),
        ("LookupRole", "The look-up"),
        ("TransformerRole", "The macro"),
    ],
)
def test_the_documented_permissions_are_those_of_the_role(role: str, heading: str) -> None:
    documented = {
        (action, branch)
        for actions, on, _ in rows("docs/permissions.md", heading)
        for action in re.findall("`([^`]+)`", actions)
        for branch in re.findall("`([^`]+)`", on) or [""]
    }
    properties = load((ROOT / "template.yaml").read_text())["Resources"][role]["Properties"]
    statements = [each for policy in properties["Policies"] for each in policy["PolicyDocument"]["Statement"]]
    granted = {
        (action, branch)
        for statement in statements
        for action in listed(statement["Action"])
        for resource_ in listed(statement["Resource"])
        for branch in re.findall(r"parameter/strongref/(\w+)", str(resource_)) or [""]
    }
    assert documented == granted


def listed(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]


def test_the_documented_policy_allows_what_the_types_handlers_need() -> None:
    """As the resource schemas say that cfn-lint has: topics by any means, buckets by their names."""
    schemas = files("cfnlint.data.schemas")
    known = json.loads(schemas.joinpath("providers", f"{US}.json").read_text())
    (policy,) = (json.loads(block.text) for block in blocks("json") if block.page.name == "permissions.md")
    allowed = [action for statement in policy["Statement"] for action in statement["Action"]]
    used = set()
    for type_name, *handlers in (("AWS::SNS::Topic", "read", "list"), ("AWS::S3::Bucket", "read")):
        schema = json.loads(schemas.joinpath("resources", f"{known[type_name]}.json").read_text())
        for needed in (action for handler in handlers for action in schema["handlers"][handler]["permissions"]):
            by = [pattern for pattern in allowed if fnmatchcase(needed, pattern)]
            assert by, needed
            used.update(by)
    assert used == set(allowed)


def test_the_documented_log_messages_are_logged() -> None:
    sources = "".join(path.read_text() for path in ROOT.glob("layers/core/strongref/**/*.py"))
    for _, message, _ in rows("docs/operations.md", "Logs"):
        assert f'"{message.strip("`")}"' in sources


def commands() -> list[tuple[str, str]]:
    found = [(str(block), line) for block in blocks("sh") for line in block.text.splitlines()]
    assert found
    return found


@pytest.mark.parametrize(("where", "command"), commands())
def test_a_command_exists(where: str, command: str) -> None:
    program, *arguments = shlex.split(command)
    checks = {"make": _make, "sam": _sam, "aws": _aws, "strongref": _strongref, "python": _python}
    assert program in checks, where
    checks[program](arguments)


def _make(arguments: list[str]) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(arguments) <= set(targets)


def _strongref(arguments: list[str]) -> None:
    _parser().parse_args(arguments)  # ends the test if it does not understand


def _python(arguments: list[str]) -> None:
    assert (ROOT / arguments[0]).is_file()


def _sam(arguments: list[str]) -> None:
    assert arguments[0] in ("build", "deploy", "validate", "remote")


def _aws(arguments: list[str]) -> None:
    """Service, operation and options are those of AWS's own model; files exist."""
    service, operation, *options = arguments
    for before, argument in pairwise(options):
        if before == "--template-file":
            assert (ROOT / argument).is_file()
    if (service, operation) == ("cloudformation", "deploy"):  # the command line's own
        return
    model = get_session().get_service_model(service)
    (found,) = [name for name in model.operation_names if xform_name(name, "-") == operation]
    shape = model.operation_model(found).input_shape
    assert shape is not None
    known = {f"--{xform_name(member, '-')}" for member in shape.members} | {"--region"}
    assert {option for option in options if option.startswith("--")} <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match("https?://", target):
            continue
        file, _, anchor = target.partition("#")
        linked = (page.parent / file).resolve() if file else page
        assert linked.exists(), target
        assert not anchor or anchor in _anchors(linked), target


def _anchors(page: Path) -> set[str]:
    """Of each heading: in lower case, without punctuation, with a hyphen for each space."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 200
