"""What strongref promises, tried on real stacks. Each check has stacks of its own, so all can run side by side."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit
from uuid import uuid4

from strongref.aws.clients import Clients, dns_suffix
from strongref.contract.fence import Fence
from strongref.contract.names import Key, StackArn
from strongref.contract.origin import response_key
from strongref.contract.values import ParameterType
from strongref_cli.doctor.releasing import ClaimedValue, release
from strongref_cli.install.apply import dry_run
from strongref_cli.install.bucket import CodeBucket, bucket_name
from strongref_cli.install.commands import planned
from strongref_cli.install.installed import installed_in, read_lag, settings
from strongref_cli.install.packaging import declared_parameters
from strongref_cli.install.plan import DEFAULT_STACK, Wanted
from strongref_cli.install.reports import differences, problems
from strongref_cli.install.suite import load_suite
from strongref_cli.overview.exports import Claim
from strongref_cli.overview.states import ImportState, Protection
from strongref_cli.selftest.lab import UnexpectedError
from strongref_cli.selftest.scene import CREATED, NOTHING, REFUSED, UPDATED, Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_cli.selftest.lab import Ended

GONE = ""
MANY = 40
ROUNDS, QUICK_ROUNDS = 10, 3
NEED_MACRO = ("macro", "cdk")


class Check(NamedTuple):
    """One promise.

    Attributes:
        name: as for `--only`, and a part of the names of its stacks.
        says: what must hold.
        run: tries it; returns what was seen, or raises `UnexpectedError`.
        quick: whether `--quick` has it.
        abroad: whether it is tried with the consumer in another account as well.
    """

    name: str
    says: str
    run: Callable[[Scene], str]
    quick: bool = True
    abroad: bool = False


def _installation(at: Scene) -> str:
    found = [installed_in(at.lab.session, region) for region in dict.fromkeys(at.lab.regions)]
    differs, would = [each.what for each in differences(found)], _dry_run(at)
    wrong = [*problems(found), *(f"{each} differs between the regions" for each in differs if each == "ReadLag")]
    if wrong:
        raise UnexpectedError(" ".join(wrong))
    versions = [f"{each.region}: {each.stack.version}{would(each.region)}" for each in found if each.stack]
    return ", ".join(versions + [f"{each} differs" for each in differs])


def _dry_run(at: Scene) -> Callable[[str], str]:
    """What `install` would do in a region: whether what is tried is what this command installs."""
    suite = load_suite()
    wanted = Wanted(DEFAULT_STACK, suite.version, tuple(declared_parameters(suite.template)))

    def would(region: str) -> str:
        stacks, name = at.lab.stacks(region), bucket_name(at.lab.account, region, None)
        bucket = CodeBucket(stacks.aws, stacks.where, at.lab.account, name, is_ours=True)
        return f" (install: {dry_run(planned(stacks, bucket, wanted, suite)).result})"

    return would


def _import(at: Scene) -> str:
    at.publish({"A": "a1"}).expect(CREATED)
    ended = at.consume("A").expect(CREATED)
    if ended.outputs != {"Value0": "a1"}:
        raise UnexpectedError("the stack's output is not the exported value")
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
    if not used or used["ResourceStatus"].startswith("DELETE"):
        raise UnexpectedError("the deletion that was refused has deleted what the Export depends on")
    return ended.why


def _make_before_break(at: Scene) -> str:
    at.publish({"A": "a1", "B": "b1"}).expect(CREATED)
    at.consume("A").expect(CREATED)
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
    if not deletion.status or "in use" not in deletion.why:
        raise UnexpectedError(f"the deletion: {deletion}")
    if len(at.claims("A")) != 1:
        raise UnexpectedError("A is no longer claimed")
    at.delete_consumer().expect(GONE)
    at.settle(name, held=False)
    at.delete_producer().expect(GONE)
    return f"removal: {refused.why}; deletion: {deletion.why}"


def _propagate(at: Scene) -> str:
    at.publish({"A": "a1"}, OnChange="propagate").expect(CREATED)
    at.consume("A").expect(CREATED)
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
    at.publish({"A": "a1", "B": "b1"}).expect(CREATED)
    at.consume("A").expect(CREATED)
    at.is_there("A", "a1", at.consumer)
    at.is_there("B", "b1")
    at.delete_consumer().expect(GONE)
    at.is_gone("A")
    at.is_gone("B")
    return "all that was exported to it is gone"


def _import_rollback(at: Scene) -> str:
    at.publish({"A": "a1", "B": "b1"}).expect(CREATED)
    at.consume("A").expect(CREATED)
    fails = at.imported("Missing") | {"DependsOn": "Imports"}
    ended = at.consume("B", more={"Fails": fails}).expect(REFUSED, "Missing")
    at.is_there("A", "a1", at.consumer)
    at.is_there("B", "b1")
    return ended.why


def _failed_create(at: Scene) -> str:
    at.publish({"A": "a1"}).expect(CREATED)
    fails = at.imported("Missing") | {"DependsOn": "Imports"}
    ended = at.consume("A", more={"Fails": fails}).expect("ROLLBACK_COMPLETE", "Missing")
    # CloudFormation deletes what it has created: the stack's prefix with it.
    if at.claims("A"):
        raise UnexpectedError("A is still claimed")
    at.delete_consumer().expect(GONE)
    at.publish({"A": "a2"}).expect(UPDATED)
    at.consume("A", more={"Fails": fails}, OnFailure="DELETE").expect(GONE)
    return ended.why


def _kinds(at: Scene) -> str:
    values = {"List": ["x", "y"], "Secret": uuid4().hex, "Net": {"Vpc": {"Id": "vpc-1"}}}
    at.publish(values, SecureKeys=["Secret"]).expect(CREATED)
    ended = at.consume("List[]", "Net.Vpc.Id").expect(CREATED)
    if sorted(ended.outputs.values()) != ["vpc-1", "x,y"]:
        raise UnexpectedError("a list or a nested key is not what was exported")
    types = {key: (at.stored(key) or {}).get("Type") for key in ("List", "Secret", "Net/Vpc/Id")}
    wanted = {"List": ParameterType.STRING_LIST, "Secret": ParameterType.SECURE, "Net/Vpc/Id": ParameterType.STRING}
    if types != wanted:
        raise UnexpectedError(f"the parameters' types are {types}")
    return ", ".join(f"{key}: {kind}" for key, kind in types.items())


def _cdk(at: Scene) -> str:
    """The templates of two CDK apps with `crossRegionReferences`, and a line; their handlers go."""
    provider, name = {"ServiceToken": {"Fn::GetAtt": ["Provider", "Arn"]}}, f"/cdk/exports/{at.consumer}/A"
    writes = {"WriterProps": {"region": at.lab.regions[1], "exports": {name: {"Ref": "Nothing"}}}}
    reads = {"ReaderProps": {"region": at.lab.regions[1], "prefix": at.consumer, "imports": {name: "?"}}}

    def template(kind: str, properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        resource = {"Type": f"Custom::CrossRegionExport{kind}", "Properties": {**provider, **properties}}
        function = {"Type": "AWS::Lambda::Function", "Properties": {"Role": "?", "Code": {"ZipFile": "?"}}}
        resources = {"Nothing": NOTHING, "Provider": function, kind: resource}
        return {
            "Transform": "StrongRef",
            "Metadata": {"StrongRef": {"Writers": "remove"}},
            "Resources": resources,
            **more,
        }

    outputs = {"A": {"Value": {"Fn::GetAtt": ["Reader", name]}}}
    at.lab.deploy(at.lab.regions[0], at.producer, template("Writer", writes)).expect(CREATED)
    reader = template("Reader", reads, Outputs=outputs)
    return _is_referenced(at, at.lab.deploy(at.lab.regions[1], at.consumer, reader).expect(CREATED))


def _macro(at: Scene) -> str:
    exports = {"Region": at.lab.regions[1], "Consumer": at.consumer, "Values": {"A": {"Ref": "Thing"}}}
    given: dict[str, Any] = {"Condition": "Given", **NOTHING, "Exports": exports}
    computed = {"Given": {"Fn::Equals": [{"Fn::Join": ["", ["a", "b"]]}, "ab"]}}
    template = {"Transform": "StrongRef", "Conditions": computed, "Resources": {"Thing": given}}
    at.lab.deploy(at.lab.regions[0], at.producer, template).expect(CREATED)
    reference = {"From": {"Stack": at.producer, "Region": at.lab.regions[0], "Name": "A"}}
    web = {"Transform": "StrongRef", "Resources": {"Nothing": NOTHING}, "Outputs": {"A": {"ValueRef": reference}}}
    ended = at.lab.deploy(at.lab.regions[1], at.consumer, web).expect(CREATED)
    return _is_referenced(at, ended)


def _is_referenced(at: Scene, ended: Ended) -> str:
    stored = at.stored("A")
    if not stored or ended.outputs.get("A") != stored["Value"] or len(at.claims("A")) != 1:
        raise UnexpectedError("the reference is not what was exported, or is not claimed")
    return "exported, imported and claimed"


def _many(at: Scene) -> str:
    values = {f"K{number}": f"v{number}" for number in range(MANY)}
    at.publish(values).expect(CREATED)
    at.consume(*values).expect(CREATED)
    ended = at.publish({**values, "K39": "changed"}).expect(REFUSED, at.consumer)
    at.is_there("K39", "v39", at.consumer)
    return ended.why


def _direct(at: Scene) -> str:
    _import(at)
    stacks = at.lab.stacks(at.lab.regions[0])
    resource, stack = stacks.resource(at.producer, "Exports"), stacks.stack(at.producer)
    function = stacks.resource(DEFAULT_STACK, "Exporter")
    if not (resource and stack and function):
        raise UnexpectedError(f"the stack {DEFAULT_STACK} has no function Exporter")
    key = quote(response_key(stack["StackId"], "Exports") + uuid4().hex)
    bucket = f"cloudformation-custom-resource-response-{at.lab.regions[0].replace('-', '')}"
    host = f"{bucket}.s3.{at.lab.regions[0]}.{dns_suffix(StackArn.parse(stack['StackId']).partition)}"
    date = f"{at.lab.session.clock.now():%Y%m%dT%H%M%SZ}"
    event = {
        "RequestType": "Delete",
        "StackId": stack["StackId"],
        "RequestId": uuid4().hex,
        "LogicalResourceId": "Exports",
        "PhysicalResourceId": resource.get("PhysicalResourceId", ""),
        "ResourceType": "Custom::CrossRegionExport",
        "ResourceProperties": {"ServiceToken": "x", "Region": at.lab.regions[1], "Values": {}},
    }
    # Nobody has the first name (RFC 6761); the second one is as CloudFormation writes it.
    for url in ("https://selftest.invalid/", f"https://{host}/{key}?X-Amz-Date={date}&X-Amz-Expires=7200"):
        payload = json.dumps({**event, "ResponseURL": url})
        request = {"FunctionName": function.get("PhysicalResourceId", ""), "Payload": payload}
        answer = at.lab.call(Clients.answering, "Invoke", at.lab.regions[0], **request)
        at.is_there("A", "a1", at.consumer)
        if "FunctionError" not in answer:
            raise UnexpectedError(f"the function did not refuse an event for {urlsplit(url).hostname}")
    return "both were refused"


def _race(at: Scene) -> str:
    """Two stacks at once: whoever succeeds agrees with the other. Then nothing is imported any more."""
    at.publish({"A": "a0"}).expect(CREATED)
    seen = dict.fromkeys(("the import first", "the change first", "the change alone", "neither"), 0)
    value = "a0"
    for number in range(1, (QUICK_ROUNDS if at.lab.quick else ROUNDS) + 1):
        with ThreadPoolExecutor(2) as pool:
            changing = pool.submit(at.publish, {"A": f"a{number}"})
            importing = pool.submit(at.consume, "A")
        changed, importer = changing.result(), importing.result()
        value = f"a{number}" if changed.status == UPDATED else value
        came = importer.status in (CREATED, UPDATED)
        if came and importer.outputs["Value0"] != value:
            raise UnexpectedError(f"in round {number} both succeeded, and the import returned what had been changed")
        if came:
            at.is_there("A", value, at.consumer)
        if changed.status == UPDATED:
            seen["the change first" if came else "the change alone"] += 1
        else:
            seen["the import first" if came else "neither"] += 1
        if not came and importer.status != REFUSED:  # What failed to be created can only be deleted,
            at.delete_consumer().expect(GONE)
            value = f"b{number}"
            at.publish({"A": value}).expect(UPDATED)  # and takes along what was exported to it.
        elif came:
            at.consume().expect(UPDATED)
    return ", ".join(f"{what}: {times}" for what, times in seen.items() if times)


def _continuation(at: Scene) -> str:
    """Somebody else's fence outlasts an invocation of the importer, which has itself invoked again."""
    at.publish({"A": "a1"}).expect(CREATED)
    stacks = at.lab.stacks(at.lab.regions[1])
    function = stacks.resource(DEFAULT_STACK, "Importer")
    name = function.get("PhysicalResourceId", "") if function else ""
    limit = at.lab.call(Clients.functions, "GetFunctionConfiguration", at.lab.regions[1], FunctionName=name)["Timeout"]
    clock, fence = at.lab.session.clock, f"{at.scope.path('fences')}/{at.lab.name}"
    with ThreadPoolExecutor(1) as pool:
        until = clock.now() + timedelta(seconds=limit + 60)  # It may begin late.
        importing = None
        try:
            while clock.now() < until:
                text = Fence("strongref selftest", clock.now() + timedelta(minutes=2), lifetime=timedelta(minutes=2))
                request = {"Name": fence, "Value": text.encode(), "Type": "String", "Overwrite": True}
                at.lab.call(Clients.ssm, "PutParameter", at.lab.regions[1], **request)
                importing = importing or pool.submit(at.consume, "A")
                at.lab.sleep(min(20, limit / 4))
            if importing and importing.done():
                raise UnexpectedError(f"it did not wait: {importing.result()}")
        finally:
            at.lab.call(Clients.ssm, "DeleteParameters", at.lab.regions[1], Names=[fence])
    if importing:
        importing.result().expect(CREATED)
    at.is_there("A", "a1", at.consumer)
    return f"it went on after {limit} seconds"


CHECKS = (
    Check("installation", "the installations are healthy, and alike in both regions", _installation),
    Check("import", "a stack imports what another one exports, and claims it", _import),
    Check(
        "refusal", "a change of what is imported is refused, rolls back, and names the importer", _refusal, abroad=True
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
