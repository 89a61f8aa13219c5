"""Stacks of one app that export and import: whatever Python makes of the CDK's objects, and in whatever order."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Node

import strongref_cdk as shared
from strongref_cdk import CdkTarget, ConstructError, CrossRegion, Parameters, ResolveType
from strongref_cdk.errors import ExportedElsewhereError, NotDeployedError, RefusedByCdkError, SecretError
from strongref_objects.base.errors import (
    BadChannelError,
    BadNameError,
    ExportedTwiceError,
    NothingToImportError,
    OwnExportError,
)
from strongref_objects.stack import Stack
from tests.support import cdk_apps
from tests.support.cdk_apps import ACCOUNT, EU, US, deploy

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_objects.channels import Channel

LATER = ResolveType.DEPLOYMENT
HOLDER = "AWS::SSM::Parameter"
BUCKET = {"JohnnyBucket-BucketArn": "arn:aws:s3:::johnny", "JohnnyBucket-BucketName": "johnny"}


_elsewhere = cdk_apps.elsewhere


@pytest.fixture
def app() -> cdk.App:
    return cdk.App()


@pytest.fixture
def network(app: cdk.App) -> cdk.Stack:
    return cdk_apps.stack(app, "Network")


@pytest.fixture
def web(app: cdk.App) -> cdk.Stack:
    return cdk_apps.stack(app, "Web")


def names(stack: cdk.Stack) -> list[str]:
    """Of a stack's exports."""
    return [each["Export"]["Name"] for each in cdk_apps.template(stack).get("Outputs", {}).values()]


@jsii.implements(cdk.IStableStringProducer)
class Joined:
    """A text whose parts are collected until the app is synthesized."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts

    def produce(self) -> str:
        return ",".join(self._parts)


def test_a_lazy_value_is_asked_for_when_the_app_is_synthesized(network: cdk.Stack) -> None:
    """It goes into a resource and into an export, and grows after both."""
    parts = ["a"]
    lazy = cdk.Lazy.string(Joined(parts))
    bucket = s3.Bucket(network, "Bucket", bucket_name=lazy)
    for via in (None, CrossRegion(regions=[US]), Parameters("/shared")):
        shared.export_string(network, "Names", lazy, via=via)
        shared.export_string(network, "Names", lazy, via=via)
        shared.export_string(network, "Whole", f"{lazy} in {bucket.bucket_arn}", via=via)
    with pytest.raises(ConstructError) as refused:
        shared.export_string(network, "Names", cdk.Lazy.string(Joined(["c"])))
    assert isinstance(refused.value.error, ExportedTwiceError)
    parts.append("b")
    text = json.dumps(cdk_apps.template(network))
    assert '"BucketName": "a,b"' in text
    assert text.count('"Value": "a,b"') == 2
    assert text.count('"Names": "a,b"') == 1
    assert text.count('"a,b in "') == 3


def test_equal_values_are_equal_however_the_cdk_puts_them_together(network: cdk.Stack) -> None:
    bucket = s3.Bucket(network, "Bucket")
    for _ in range(2):
        shared.export_string(network, "Joined", cdk.Fn.join("|", [bucket.bucket_arn, cdk.Aws.REGION]))
        shared.export_string(network, "Id", cdk.Fn.select(0, cdk.Fn.split("/", network.stack_id)))
        shared.export_string(network, "Sub", cdk.Fn.sub("${A}", {"A": bucket.bucket_name}))
    assert names(network) == ["Joined", "Id", "Sub"]


@pytest.mark.parametrize("via", [None, CrossRegion(regions=[US]), Parameters("/shared")], ids=str)
@pytest.mark.parametrize("make", [cdk.SecretValue.secrets_manager, cdk.SecretValue.ssm_secure])
def test_a_secret_in_a_token_is_not_exported(
    network: cdk.Stack, via: Channel | None, make: Callable[[str], cdk.SecretValue]
) -> None:
    secret = make("hidden").unsafe_unwrap()
    for value in (secret, f"password={secret}", cdk.Fn.join("+", ["a", secret])):
        with pytest.raises(ConstructError, match=r"^Network: An exported value must not be a secret") as refused:
            shared.export_string(network, "Password", value, via=via)
        assert isinstance(refused.value.error, SecretError)
        assert "hidden" not in str(refused.value)
    with pytest.raises(ConstructError):
        shared.export_string_list(network, "Passwords", ["a", secret], via=via)
    assert "hidden" not in json.dumps(cdk_apps.template(network))


def test_a_stack_without_an_app_is_one_stack_too() -> None:
    """The app that the CDK makes for it is another Python object each time."""
    stack = cdk.Stack()
    bucket = s3.Bucket(stack, "Bucket")
    for _ in range(2):
        shared.export_bucket(bucket, "JohnnyBucket")
        gc.collect()
    with pytest.raises(ConstructError) as twice:
        shared.export_bucket(s3.Bucket(stack, "Other"), "JohnnyBucket")
    assert isinstance(twice.value.error, ExportedTwiceError)
    with pytest.raises(ConstructError) as own:
        shared.import_bucket(stack, "JohnnyBucket", type=LATER)
    assert isinstance(own.value.error, OwnExportError)
    first = shared.import_bucket(stack, "YourBucket", type=LATER)
    gc.collect()
    assert shared.import_bucket(stack, "YourBucket", type=LATER) is first
    outbound: dict[str, Any] = {"security_group_allows_all_outbound": False}
    balancer = shared.import_application_load_balancer(stack, "Web", type=LATER, **outbound)
    child = stack.node.find_child("Strongref").node.find_child(balancer.node.id)
    assert shared.listener_of(child) is shared.listener_of(balancer)


def test_what_python_has_forgotten_is_found_again(app: cdk.App) -> None:
    def make() -> None:
        shared.export_bucket(s3.Bucket(cdk_apps.stack(app, "Network"), "Bucket"), "JohnnyBucket")

    make()
    gc.collect()
    network: Any = app.node.find_child("Network")
    shared.export_bucket(network.node.find_child("Bucket"), "JohnnyBucket")
    vpc = ec2.Vpc(network, "Vpc", availability_zones=["eu-west-1a"])
    made: dict[str, Any] = {"has_ec2_capacity": False, "execute_command_configuration": None}
    first = shared.import_cluster(network, "Apps", type=LATER, vpc=vpc, **made)
    del vpc
    gc.collect()
    assert shared.import_cluster(network, "Apps", type=LATER, vpc=network.node.find_child("Vpc"), **made) is first
    assert len(names(network)) == 2


def test_a_target_of_the_program_s_own_is_that_of_the_functions(network: cdk.Stack) -> None:
    own = Stack(CdkTarget(network))
    via = CrossRegion(regions=[US], consumer="web")
    shared.export_string(network, "A", "1", via=via)
    own.export_string("B", "2", via=via)
    Stack(CdkTarget(network)).export_string("A", "1", via=via)
    (export,) = cdk_apps.resources(network, "Custom::CrossRegionExport").values()
    assert export["Properties"]["Values"] == {"A": "1", "B": "2"}
    own.import_object("JohnnyBucket", type=LATER)
    imported = shared.import_bucket(network, "JohnnyBucket", type=LATER)
    assert imported.node.path == "Network/Strongref/JohnnyBucket:deployment"


ACROSS = CrossRegion(regions=[EU]), CrossRegion(stack="Network")
CHANNELS = pytest.mark.parametrize(
    ("out", "back"), [(None, None), ACROSS, (ACROSS[0], CrossRegion(stack="Network", region=EU))], ids=str
)


@CHANNELS
def test_the_order_of_lines_does_not_matter_to_the_order_of_deployment(
    network: cdk.Stack, web: cdk.Stack, out: Channel | None, back: Channel | None
) -> None:
    late = cdk_apps.stack(network.node.root, "Late")
    shared.import_string(web, "Domain", type=LATER, via=back)
    assert list(web.dependencies) == []
    shared.export_string(network, "Domain", "example.com", via=out)
    shared.import_string(late, "Domain", type=LATER, via=back)
    assert [list(each.dependencies) for each in (web, late, network)] == [[network], [network], []]


def test_a_stack_of_another_region_is_deployed_after_the_one_that_it_imports_from(network: cdk.Stack) -> None:
    there, nested = cdk_apps.stack(network.node.root, "There", US), cdk.NestedStack(network, "Nested")
    shared.export_string(nested, "Domain", "example.com", via=CrossRegion(regions=[US]))
    inner = cdk.NestedStack(there, "Nested")
    shared.import_string(inner, "Domain", type=LATER, via=CrossRegion(stack="Network", region=EU))
    assert list(there.dependencies) == [network]
    other = cdk_apps.stack(network.node.root, "Other", US)
    shared.import_string(other, "Domain", type=LATER, via=CrossRegion(stack="Network"))
    assert list(other.dependencies) == []


def test_a_stack_of_another_account_imports_from_the_one_that_exports_to_it(network: cdk.Stack) -> None:
    other = "222222222222"
    there = cdk_apps.stack(network.node.root, "There", account=other)
    shared.export_string(network, "Domain", "example.com", via=CrossRegion(accounts=[other]))
    shared.import_string(there, "Domain", type=LATER, via=CrossRegion(stack="Network", account=ACCOUNT))
    assert list(there.dependencies) == [network]
    (export,) = cdk_apps.resources(network, "Custom::CrossRegionExport").values()
    assert export["Properties"]["Account"] == other
    (made,) = cdk_apps.resources(there, "Custom::CrossRegionImport").values()
    assert made["Properties"]["From"] == {"Stack": "Network", "Account": ACCOUNT}


def test_an_account_that_is_not_known_yet_cannot_be_named(app: cdk.App) -> None:
    anywhere = cdk_apps.stack(app, "Anywhere", account=None)
    with pytest.raises(BadChannelError, match=r"an account must be .* twelve digits, in quotes, got '\$\{Token"):
        CrossRegion(accounts=[anywhere.account])
    shared.export_string(anywhere, "Domain", "example.com", via=CrossRegion(accounts=[ACCOUNT]))
    (export,) = cdk_apps.resources(anywhere, "Custom::CrossRegionExport").values()
    assert export["Properties"]["Account"] == ACCOUNT


@pytest.mark.parametrize("exported_first", [True, False])
def test_stacks_that_import_from_each_other_are_refused_in_any_order(
    network: cdk.Stack, web: cdk.Stack, *, exported_first: bool
) -> None:
    def exporting() -> None:
        shared.export_string(network, "Domain", "example.com")
        shared.export_string(web, "Site", "example.com/site")

    def importing() -> None:
        shared.import_string(web, "Domain", type=LATER)
        shared.import_string(network, "Site", type=LATER)

    steps = (exporting, importing) if exported_first else (importing, exporting)
    steps[0]()
    text = "The CDK refuses to deploy Web, which exports Site, before Network, which imports it: "
    with pytest.raises(ConstructError, match=text) as refused:
        steps[1]()
    assert isinstance(refused.value.error, RefusedByCdkError)


def test_what_is_imported_weakly_says_nothing_of_the_order(network: cdk.Stack, web: cdk.Stack) -> None:
    via = CrossRegion(stack="Network")
    shared.import_string(web, "Domain", type=LATER, via=via, weak=True)
    shared.export_string(network, "Domain", "example.com", via=CrossRegion(regions=[EU]))
    assert list(web.dependencies) == []
    for weak in (False, True):
        shared.import_string(web, "Site", type=LATER, via=via, weak=weak)
    shared.export_string(network, "Site", "example.com/site", via=CrossRegion(regions=[EU]))
    assert list(web.dependencies) == [network]


def test_an_import_that_fails_leaves_the_name_to_be_exported(network: cdk.Stack, web: cdk.Stack) -> None:
    with pytest.raises(ConstructError):
        shared.import_string(web, "Domain")
    nested = cdk.NestedStack(network, "Nested")
    with pytest.raises(ConstructError):
        shared.import_string(nested, "Domain")
    shared.export_string(network, "Domain", "example.com")
    assert list(web.dependencies) == []


def test_stages_are_deployed_by_themselves(app: cdk.App) -> None:
    """The CDK makes no order between the stacks of two of them."""
    env = cdk.Environment(region=EU, account=ACCOUNT)
    network, web = (cdk.Stack(cdk.Stage(app, name, env=env), "Stack") for name in ("Network", "Web"))
    shared.export_string(network, "Domain", "example.com")
    shared.import_string(web, "Domain", type=LATER)
    assert list(web.dependencies) == []


@pytest.mark.parametrize("exported_first", [True, False])
@pytest.mark.parametrize(
    ("out", "back"), [(None, None), (Parameters("/shared"), Parameters("/shared"))], ids=["exports", "parameters"]
)
def test_what_its_stack_exports_a_nested_one_does_not_import(
    network: cdk.Stack, out: Channel | None, back: Channel | None, *, exported_first: bool
) -> None:
    nested = cdk.NestedStack(network, "Nested")
    weak = back is not None
    steps: list[Callable[[], object]] = [
        lambda: shared.export_string(network, "Domain", "example.com", via=out),
        lambda: shared.import_string(nested, "Domain", type=LATER, via=back, weak=weak),
    ]
    first, second = steps if exported_first else reversed(steps)
    first()
    with pytest.raises(ConstructError, match="Domain is exported by stack Network itself") as refused:
        second()
    assert isinstance(refused.value.error, OwnExportError)


def test_nor_does_it_import_what_the_context_file_knows_of_its_stack(network: cdk.Stack, web: cdk.Stack) -> None:
    deploy({"Domain": "example.com"})
    assert shared.import_string(web, "Domain") == "example.com"
    assert Path("strongref.context.json").exists()
    again = cdk_apps.stack(cdk.App(), "Network")
    with pytest.raises(ConstructError) as refused:
        shared.import_string(cdk.NestedStack(again, "Nested"), "Domain")
    assert isinstance(refused.value.error, OwnExportError)
    shared.export_string(network, "Domain", "example.com")
    with pytest.raises(ConstructError) as refused:
        shared.import_string(cdk.NestedStack(network, "Nested"), "Domain")
    assert isinstance(refused.value.error, OwnExportError)


def test_what_the_app_itself_has_not_deployed_yet_is_reported(network: cdk.Stack, web: cdk.Stack) -> None:
    shared.export_bucket(s3.Bucket(network, "Bucket"), "JohnnyBucket")
    with pytest.raises(ConstructError, match=r"yet: stack Network of this app exports it.*DEPLOYMENT") as refused:
        shared.import_bucket(web, "JohnnyBucket")
    assert isinstance(refused.value.error, NotDeployedError)
    deploy(BUCKET)
    assert shared.import_bucket(cdk_apps.stack(cdk.App(), "Web"), "JohnnyBucket").bucket_name == "johnny"


def test_one_name_in_two_stacks_for_any_region_is_refused_in_one_stage(app: cdk.App) -> None:
    shared.export_string(cdk.Stack(app, "One"), "Domain", "a")
    with pytest.raises(ConstructError) as refused:
        shared.export_string(cdk.Stack(app, "Two"), "Domain", "b")
    assert isinstance(refused.value.error, ExportedElsewhereError)
    shared.export_string(cdk.Stack(cdk.Stage(app, "Prod"), "One"), "Domain", "c")


def test_hyphens_mean_nothing_to_cloudformation_and_make_no_second_construct(web: cdk.Stack) -> None:
    first = shared.import_bucket(web, "Johnny-Bucket", type=LATER)
    assert shared.import_bucket(web, "JohnnyBucket", type=LATER) is first
    via = CrossRegion(stack="Network")
    across = shared.import_bucket(web, "Johnny-Bucket", type=LATER, via=via)
    assert shared.import_bucket(web, "JohnnyBucket", type=LATER, via=via) is not across


@pytest.mark.parametrize("via", [None, CrossRegion(stack="Network"), Parameters("/shared")], ids=str)
def test_a_name_is_a_text(web: cdk.Stack, via: Channel | None) -> None:
    number: Any = 5
    for name in (number, ""):
        with pytest.raises(ConstructError) as refused:
            shared.import_string(web, name, type=LATER, via=via, weak=isinstance(via, Parameters))
        assert isinstance(refused.value.error, BadNameError)


def test_one_parameter_is_of_one_stack(network: cdk.Stack, web: cdk.Stack) -> None:
    shared.export_string(network, "Domain", "a", via=Parameters("/shared"))
    shared.export_string(web, "Domain", "b", via=Parameters("/web"))
    with pytest.raises(ConstructError) as refused:
        shared.export_string(web, "Domain", "b", via=Parameters("/shared"))
    assert isinstance(refused.value.error, ExportedElsewhereError)


def test_an_option_that_is_needed_is_asked_for_before_anything_is_looked_up(web: cdk.Stack) -> None:
    deploy({"Apps-ClusterArn": f"arn:aws:ecs:{EU}:{ACCOUNT}:cluster/apps", "Apps-ClusterName": "apps"})
    with pytest.raises(ConstructError, match=r"a cluster: pass vpc=…\."):
        shared.import_cluster(web, "Apps", security_groups=[])
    with pytest.raises(ConstructError, match=r"a cluster: pass vpc=…\."):
        shared.cluster_from_name(web, "apps", security_groups=[])
    assert not Path("strongref.context.json").exists()
    assert cdk_apps.resources(web, HOLDER) == {}


def test_what_a_program_reads_itself_are_texts_and_tokens(web: cdk.Stack) -> None:
    ctx = shared.import_object(web, "JohnnyBucket", type=LATER, weak=True, via=Parameters("/shared"))
    arn = ctx.read_object("Inner").read_string("BucketArn")
    bucket = s3.Bucket.from_bucket_arn(web, "Given", arn)
    cdk.CfnOutput(web, "Used", value=bucket.bucket_name)
    used = cdk_apps.template(web)["Outputs"]["Used"]["Value"]
    reference = "{{resolve:ssm:/shared/JohnnyBucket/Inner/BucketArn}}"
    assert used == {"Fn::Select": [0, {"Fn::Split": ["/", {"Fn::Select": [5, {"Fn::Split": [":", reference]}]}]}]}
    assert ctx.read_object("Inner") is ctx.read_object("Inner")
    deploy(BUCKET | {"JohnnyBucket-Names": "a,b"})
    now = shared.import_object(web, "JohnnyBucket")
    assert (now.read_string("BucketName"), now.read_string_list("Names")) == ("johnny", ["a", "b"])


def test_what_a_program_reads_itself_fails_with_a_path(web: cdk.Stack) -> None:
    deploy(BUCKET)
    ctx = shared.import_object(web, "JohnnyBucket")
    with pytest.raises(ConstructError, match=r"^Web/Strongref: There is no JohnnyBucket-Nope") as refused:
        ctx.read_string("Nope")
    assert isinstance(refused.value.error, NothingToImportError)
    later = shared.import_object(web, "JohnnyBucket", type=LATER)
    for read in (lambda: later.read_string("A", allow_unresolved=False), lambda: later.read_string_list("A")):
        with pytest.raises(ConstructError, match=r"^Web/Strongref: "):
            read()
    with pytest.raises(ConstructError, match=r"^Web/Strongref: "):
        ctx.read_object("")


def test_metadata_of_others_stay(web: cdk.Stack) -> None:
    target = CdkTarget(web)
    target.put_resource("Held", "Custom::CrossRegionImport", {"Names": ["A"]})
    resource: Any = web.node.find_child("Strongref").node.find_child("ResourceHeld")
    resource.add_metadata("cdk_nag", {"rules_to_suppress": [1]})
    target.put_resource("Held", "Custom::CrossRegionImport", {"Names": ["B"]})
    held = cdk_apps.template(web)["Resources"]["Held"]
    assert (held["Properties"], held["Metadata"]) == ({"Names": ["B"]}, {"cdk_nag": {"rules_to_suppress": [1]}})


def test_the_constructs_of_a_stack_are_asked_for_once_for_each_export(
    network: cdk.Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CDK runs in another process, which tells them one by one."""
    asked: list[str] = []
    plain = Node.find_all

    def counted(self: Node, *order: Any) -> Any:
        asked.append(self.path)
        return plain(self, *order)

    monkeypatch.setattr(Node, "find_all", counted)
    buckets = [s3.Bucket(network, f"Bucket{number}") for number in range(3)]
    for number, bucket in enumerate(buckets):
        shared.export_bucket(bucket, f"Bucket{number}")
    assert len(asked) == len(buckets)
    cdk.CfnOutput(network, "Own", value="x", export_name="Mine-BucketArn")
    with pytest.raises(ConstructError, match="output Own"):
        shared.export_bucket(buckets[0], "Mine")
