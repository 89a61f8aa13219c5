"""What strongref promises, tried on real stacks. Each check has stacks of its own, so all can run side by side."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit
from uuid import uuid4

from strongref.aws.clients import Clients, dns_suffix
from strongref.contract.fence import Fence
from strongref.contract.names import Key, StackArn
from strongref.contract.origin import response_bucket, response_key
from strongref.contract.values import ParameterType
from strongref_cli.doctor.releasing import ClaimedValue, release
from strongref_cli.install.apply import dry_run
from strongref_cli.install.bucket import CodeBucket, bucket_name
from strongref_cli.install.commands import planned
from strongref_cli.install.installed import installed_in, read_lag, settings
from strongref_cli.install.packaging import declared_parameters
from strongref_cli.install.plan import DEFAULT_STACK, Wanted
from strongref_cli.install.reports import differences, problems
from strongref_cli.install.suite import Suite, load_suite
from strongref_cli.overview.exports import Claim
from strongref_cli.overview.states import ImportState, Protection
from strongref_cli.selftest.lab import UnexpectedError, ensure
from strongref_cli.selftest.scene import CREATED, NOTHING, REFUSED, UPDATED, Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_cloudformation.type_defs import StackResourceDetailTypeDef

GONE = ""
MANY = 40
ROUNDS, QUICK_ROUNDS = 10, 3
NEED_MACRO = ("macro", "cdk")


class Check(NamedTuple):
    """One promise."""

    name: str  # as for `--only`, and a part of the names of its stacks
    says: str  # what must hold
    run: Callable[[Scene], str]  # tries it; returns what was seen, or raises `UnexpectedError`
    quick: bool = True  # whether `--quick` has it
    abroad: bool = False  # whether it is tried with the consumer in another account as well


def _installation(at: Scene) -> str:
    found = [installed_in(at.lab.session, region) for region in dict.fromkeys(at.lab.regions)]
    differs, suite = [each.what for each in differences(found)], load_suite()
    wrong = [*problems(found), *(f"{each} differs between the regions" for each in differs if each == "ReadLag")]
    ensure(not wrong, " ".join(wrong))
    versions = [
        f"{each.region}: {each.stack.version}{_dry_run(at, suite, each.region)}" for each in found if each.stack
    ]
    return ", ".join(versions + [f"{each} differs" for each in differs])


def _dry_run(at: Scene, suite: Suite, region: str) -> str:
    """What `install` would do in a region: whether what is tried is what this command installs."""
    wanted = Wanted(DEFAULT_STACK, suite.version, tuple(declared_parameters(suite.template)))
    stacks, name = at.lab.stacks(region), bucket_name(at.lab.account, region, None)
    bucket = CodeBucket(stacks.aws, stacks.where, at.lab.account, name, is_ours=True)
    return f" (install: {dry_run(planned(stacks, bucket, wanted, suite)).result})"


def _import(at: Scene) -> str:
    ended = at.connect({"A": "a1"}, "A")
    ensure(ended.outputs == {"Value0": "a1"}, "the stack's output is not the exported value")
    at.is_there("A", "a1", at.consumer)
    return "imported and claimed"


def _refusal(at: Scene) -> str:
    _import(at)
    ended = at.publish({"A": "a2"}).expect(REFUSED, at.consumer)
    at.is_there("A", "a1", at.consumer)
    at.publish({"A": "a1", "B": "b1"}).expect(UPDATED)
    at.delete_producer().expect("DELETE_FAILED", at.consumer)
    at.is_there("A", "a1", at.consumer)
    used = at.lab.stacks(at.lab.regions[0]).resource(at.producer, "Nothing")
    is_left = used and not used["ResourceStatus"].startswith("DELETE")
    ensure(is_left, "the deletion that was refused has deleted what the Export depends on")
    return ended.why


def _make_before_break(at: Scene) -> str:
    at.connect({"A": "a1", "B": "b1"}, "A")
    at.consume("B").expect(UPDATED)
    at.publish({"A": "a2", "B": "b1"}).expect(UPDATED)
    ended = at.publish({"A": "a2", "B": "b2"}).expect(REFUSED, at.consumer)
    at.is_there("B", "b1", at.consumer)
    return ended.why


def _hold(at: Scene) -> str:
    name, ref = f"{at.producer}-held", {"Thing": NOTHING}
    exports = at.export({"A": {"Ref": "Thing"}}, Hold=name)
    outputs = {"Hold": {"Value": {"Fn::GetAtt": ["Exports", "Hold"]}, "Export": {"Name": name}}}
    at.produce({**ref, "Exports": exports}, outputs).expect(CREATED)
    at.consume("A").expect(CREATED)
    at.settle(name, held=True)
    refused = at.produce({}).expect(REFUSED, "in use")
    deletion = at.delete_producer()
    ensure(deletion.status and "in use" in deletion.why, f"the deletion: {deletion}")
    ensure(len(at.claims("A")) == 1, "A is no longer claimed")
    at.delete_consumer().expect(GONE)
    at.settle(name, held=False)
    at.delete_producer().expect(GONE)
    return f"removal: {refused.why}; deletion: {deletion.why}"


def _propagate(at: Scene) -> str:
    at.connect({"A": "a1"}, "A", OnChange="propagate")
    at.publish({"A": "a2"}, OnChange="propagate").expect(UPDATED)
    at.is_there("A", "a2", at.consumer)
    at.publish({"B": "b1"}, OnChange="propagate").expect(REFUSED, at.consumer)
    return "changed, and still claimed"


def _release(at: Scene) -> str:
    _import(at)
    session, region = at.lab.session, at.lab.regions[1]
    ((tag, importer),) = at.claims("A").items()
    claim = Claim(importer, tag, ImportState.UNKNOWN, Protection.UNKNOWN)
    ports = session.ports(at.lab.account, settings(session), read_lag(session, at.lab.regions))
    by = session.accounts(region, None).caller
    release(ports, session.clock, [ClaimedValue(region, at.scope, claim, Key("A"))], by, "strongref selftest")
    at.publish({"A": "a2"}).expect(UPDATED)
    at.is_there("A", "a2")
    return "released, and then changed"


def _cleanup(at: Scene) -> str:
    at.connect({"A": "a1", "B": "b1"}, "A")
    at.is_there("A", "a1", at.consumer)
    at.is_there("B", "b1")
    at.delete_consumer().expect(GONE)
    for key in ("A", "B"):
        ensure(not at.stored(key), f"{key} is still there")
    return "all that was exported to it is gone"


def _import_rollback(at: Scene) -> str:
    at.connect({"A": "a1", "B": "b1"}, "A")
    ended = at.consume("B", fails=True).expect(REFUSED, "Missing")
    at.is_there("A", "a1", at.consumer)
    at.is_there("B", "b1")
    return ended.why


def _failed_create(at: Scene) -> str:
    at.publish({"A": "a1"}).expect(CREATED)
    ended = at.consume("A", fails=True).expect("ROLLBACK_COMPLETE", "Missing")
    # CloudFormation deletes what it has created: the stack's prefix with it.
    ensure(not at.claims("A"), "A is still claimed")
    at.delete_consumer().expect(GONE)
    at.publish({"A": "a2"}).expect(UPDATED)
    at.consume("A", fails=True, OnFailure="DELETE").expect(GONE)
    return ended.why


def _kinds(at: Scene) -> str:
    values = {"List": ["x", "y"], "Secret": uuid4().hex, "Net": {"Vpc": {"Id": "vpc-1"}}}
    ended = at.connect(values, "List[]", "Net.Vpc.Id", SecureKeys=["Secret"])
    ensure(sorted(ended.outputs.values()) == ["vpc-1", "x,y"], "a list or a nested key is not what was exported")
    wanted = {"List": ParameterType.STRING_LIST, "Secret": ParameterType.SECURE, "Net/Vpc/Id": ParameterType.STRING}
    types = {key: (at.stored(key) or {}).get("Type") for key in wanted}
    ensure(types == wanted, f"the parameters' types are {types}")
    return ", ".join(f"{key}: {kind}" for key, kind in types.items())


def _cdk(at: Scene) -> str:
    """The templates of two CDK apps with `crossRegionReferences`, and a line; their handlers go."""
    name = f"/cdk/exports/{at.consumer}/A"

    def template(kind: str, **properties: Any) -> dict[str, Any]:
        token = {"ServiceToken": {"Fn::GetAtt": ["Provider", "Arn"]}}
        given = {**token, f"{kind}Props": {"region": at.lab.regions[1], **properties}}
        resources = {
            "Nothing": NOTHING,
            "Provider": {"Type": "AWS::Lambda::Function", "Properties": {"Role": "?", "Code": {"ZipFile": "?"}}},
            kind: {"Type": f"Custom::CrossRegionExport{kind}", "Properties": given},
        }
        return {"Transform": "StrongRef", "Metadata": {"StrongRef": {"Writers": "remove"}}, "Resources": resources}

    writer = template("Writer", exports={name: {"Ref": "Nothing"}})
    reader = template("Reader", prefix=at.consumer, imports={name: "?"})
    return _is_referenced(at, writer, reader, {"Value": {"Fn::GetAtt": ["Reader", name]}})


def _macro(at: Scene) -> str:
    exports = {"Region": at.lab.regions[1], "Consumer": at.consumer, "Values": {"A": {"Ref": "Thing"}}}
    given: dict[str, Any] = {"Condition": "Given", **NOTHING, "Exports": exports}
    computed = {"Given": {"Fn::Equals": [{"Fn::Join": ["", ["a", "b"]]}, "ab"]}}
    network = {"Transform": "StrongRef", "Conditions": computed, "Resources": {"Thing": given}}
    web = {"Transform": "StrongRef", "Resources": {"Nothing": NOTHING}}
    reference = {"From": {"Stack": at.producer, "Region": at.lab.regions[0], "Name": "A"}}
    return _is_referenced(at, network, web, {"ValueRef": reference})


def _is_referenced(at: Scene, producer: dict[str, Any], consumer: dict[str, Any], output: Mapping[str, Any]) -> str:
    at.deploy_producer(producer).expect(CREATED)
    ended, stored = at.deploy_consumer({**consumer, "Outputs": {"A": output}}).expect(CREATED), at.stored("A")
    is_right = stored and ended.outputs.get("A") == stored["Value"] and len(at.claims("A")) == 1
    ensure(is_right, "the reference is not what was exported, or is not claimed")
    return "exported, imported and claimed"


def _many(at: Scene) -> str:
    values = {f"K{number}": f"v{number}" for number in range(MANY)}
    at.connect(values, *values)
    ended = at.publish({**values, "K39": "changed"}).expect(REFUSED, at.consumer)
    at.is_there("K39", "v39", at.consumer)
    return ended.why


def _resource(at: Scene, region: str, stack: str, logical_id: str) -> StackResourceDetailTypeDef:
    if found := at.lab.stacks(region).resource(stack, logical_id):
        return found
    raise UnexpectedError(f"the stack {stack} has no {logical_id}")


def _direct(at: Scene) -> str:
    _import(at)
    region = at.lab.regions[0]
    exports = _resource(at, region, at.producer, "Exports")
    function = _resource(at, region, DEFAULT_STACK, "Exporter")
    stack = exports["StackId"]
    key = quote(response_key(stack, "Exports") + uuid4().hex)
    host = f"{response_bucket(region)}.s3.{region}.{dns_suffix(StackArn.parse(stack).partition)}"
    date = f"{at.lab.session.clock.now():%Y%m%dT%H%M%SZ}"
    event = {
        "RequestType": "Delete",
        "StackId": stack,
        "RequestId": uuid4().hex,
        "LogicalResourceId": "Exports",
        "PhysicalResourceId": exports["PhysicalResourceId"],
        "ResourceType": "Custom::CrossRegionExport",
        "ResourceProperties": {"ServiceToken": "x", "Region": at.lab.regions[1], "Values": {}},
    }
    # Nobody has the first name (RFC 6761); the second one is as CloudFormation writes it.
    for url in ("https://selftest.invalid/", f"https://{host}/{key}?X-Amz-Date={date}&X-Amz-Expires=7200"):
        payload = json.dumps({**event, "ResponseURL": url})
        request = {"FunctionName": function["PhysicalResourceId"], "Payload": payload}
        answer = at.lab.call(Clients.answering, "Invoke", region, **request)
        at.is_there("A", "a1", at.consumer)
        # It returns from an event that it refuses; to respond to the first name would fail.
        is_refused = host in url or "FunctionError" not in answer
        ensure(is_refused, f"the function did not refuse an event for {urlsplit(url).hostname}")
    return "both were refused"


def _race(at: Scene) -> str:
    """Two stacks at once: whoever succeeds agrees with the other. Then nothing is imported any more."""
    value, seen = "a0", Counter[str]()
    at.publish({"A": value}).expect(CREATED)
    for number in range(1, (QUICK_ROUNDS if at.lab.quick else ROUNDS) + 1):
        with ThreadPoolExecutor(2) as pool:
            changing = pool.submit(at.publish, {"A": f"a{number}"})
            importing = pool.submit(at.consume, "A")
        changed, importer = changing.result().status == UPDATED, importing.result()
        came = importer.status in (CREATED, UPDATED)
        seen[f"{'changed' if changed else 'not changed'} and {'imported' if came else 'not imported'}"] += 1
        value = f"a{number}" if changed else value
        if came:
            ensure(importer.outputs["Value0"] == value, f"in round {number} both succeeded, on different values")
            at.is_there("A", value, at.consumer)
            at.consume().expect(UPDATED)
        elif importer.status != REFUSED:  # What failed to be created can only be deleted,
            at.delete_consumer().expect(GONE)
            value = f"b{number}"
            at.publish({"A": value}).expect(UPDATED)  # and takes along what was exported to it.
    return ", ".join(f"{what}: {times}" for what, times in seen.items())


def _continuation(at: Scene) -> str:
    """Somebody else's fence outlasts an invocation of the importer, which has itself invoked again."""
    at.publish({"A": "a1"}).expect(CREATED)
    region = at.lab.regions[1]
    importer = _resource(at, region, DEFAULT_STACK, "Importer")["PhysicalResourceId"]
    limit = at.lab.call(Clients.functions, "GetFunctionConfiguration", region, FunctionName=importer)["Timeout"]
    clock, fence = at.lab.session.clock, f"{at.scope.path('fences')}/{at.lab.name}"
    with ThreadPoolExecutor(1) as pool:
        until = clock.now() + timedelta(seconds=limit + 60)  # It may begin late.
        importing = None
        try:
            while clock.now() < until and not (importing and importing.done()):
                text = Fence("strongref selftest", clock.now() + timedelta(minutes=2), lifetime=timedelta(minutes=2))
                request = {"Name": fence, "Value": text.encode(), "Type": "String", "Overwrite": True}
                at.lab.call(Clients.ssm, "PutParameter", region, **request)
                importing = importing or pool.submit(at.consume, "A")
                at.lab.sleep(min(20, limit / 4))
            if importing and importing.done():
                raise UnexpectedError(f"it did not wait: {importing.result()}")
        finally:
            at.lab.call(Clients.ssm, "DeleteParameters", region, Names=[fence])
    if importing:
        importing.result().expect(CREATED)
    at.is_there("A", "a1", at.consumer)
    return f"it went on after {limit} seconds"


CHECKS = (
    Check("installation", "the installations are healthy, and alike in both regions", _installation),
    Check("import", "a stack imports what another one exports, and claims it", _import),
    Check(
        "refusal", "to change what is imported is refused, rolls back, and names the importer", _refusal, abroad=True
    ),
    Check("make-before-break", "an import of something else claims that first, then releases", _make_before_break),
    Check("hold", "an export is not removed together with its resource, nor its stack deleted", _hold, abroad=True),
    Check("propagate", "with OnChange: propagate a value changes, and stays claimed", _propagate, quick=False),
    Check("release", "a value whose claim was released can be changed", _release),
    Check("cleanup", "a consumer that is deleted takes along what was exported to it", _cleanup, abroad=True),
    Check("import-rollback", "an update that fails later leaves the claims of before", _import_rollback, abroad=True),
    Check("failed-create", "a creation that fails leaves no claim", _failed_create),
    Check("kinds", "a list, a secure value and a nested key arrive as what they are", _kinds, quick=False),
    Check("cdk", "the macro makes the CDK's cross-region references strong", _cdk, quick=False),
    Check("macro", "the macro's Exports and references work", _macro),
    Check("many", f"{MANY} values are imported and protected, whatever is throttled", _many, quick=False),
    Check("direct", "an event that CloudFormation did not send changes nothing", _direct),
    Check("race", "of a change and an import at once, both never succeed on different values", _race),
    Check("continuation", "a function whose time is up goes on in another invocation", _continuation, quick=False),
)

ABROAD = tuple(
    each._replace(name=f"account-{each.name}", says=f"between accounts, {each.says}") for each in CHECKS if each.abroad
)
"""What is tried between two accounts."""
