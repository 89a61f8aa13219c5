"""What CloudFormation sends to a function, and shows meanwhile: seen by a function of the run's own."""

from __future__ import annotations

import json
import math
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from strongref.aws.clients import Clients, dns_suffix
from strongref.contract.continuation import MAX_INVOCATIONS
from strongref.contract.names import StackArn
from strongref.contract.origin import VARIABLE, ResponseHosts, requested_at, response_bucket, response_key
from strongref.contract.response import RESPONSE_LIMIT
from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref.protocol.verification import AHEAD, LATE_DELIVERY, LATE_SECONDS, MAY_RAISE
from strongref_cli.install.installed import parameter, read_lag
from strongref_cli.selftest.beliefs import Seen
from strongref_cli.selftest.lab import Ended, ensure
from strongref_cli.selftest.scene import CREATED, NOTHING, REFUSED, UPDATED, Scene

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_ssm.type_defs import ParameterTypeDef

    from strongref_cli.selftest.scene import Template

_OF_ALL = ["cloudformation:GetResource", "cloudformation:ListExports"]
"""What the function may do that has no resource in IAM."""
CHAIN_SECONDS = 300
"""For which CloudFormation waits for a chain of invocations."""
WATCHED_SECONDS = 20
"""How long a resource is looked at while it is created; during other events, a share of it (`probe_function`)."""


class Look(NamedTuple):
    """What a function saw while it worked on a request, after some seconds: of its stack and its resource."""

    seconds: float
    stack: str
    resource: str
    physical_id: str
    updated: float


class Request(NamedTuple):
    """A request of CloudFormation's, as a function of the run's own has stored it (`probe_function`)."""

    kind: str
    physical_id: str
    stack: str
    properties: Mapping[str, Any]
    came: float
    url: str
    looks: tuple[Look, ...]
    limits: Mapping[str, str]  # what AWS said to the function's role, if it was asked to look
    ahead: float  # seconds by which AWS's clock was ahead of the function's; a call that was repeated adds to them

    @classmethod
    def parse(cls, stored: ParameterTypeDef) -> Request:
        seen = json.loads(stored["Value"])
        ahead = stored["LastModifiedDate"].timestamp() - seen.pop("stored")
        return cls(**{**seen, "looks": tuple(Look(*each) for each in seen["looks"])}, ahead=ahead)

    @property
    def signed(self) -> float:
        """When its URL was signed, in whole seconds; 0 if it does not say."""
        found = requested_at(self.url)
        return found.timestamp() if found else 0.0


def _policy(**allowed: Any) -> Template:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **allowed}]}


def _deploy(at: Scene, generation: int, identity: str, *, fails: bool = False, **more: str) -> Ended:
    """Deploy a resource `Seen`, which gets this physical ID: the work of a function of the run's own.

    The template is in YAML, with scalars as people write them.
    """
    boundary = parameter(at.lab.session, at.lab.regions[0], "PermissionsBoundary")
    code = Path(__file__).with_name("probe_function.py").read_text(encoding="utf-8")
    actions = ["ssm:PutParameter", "ssm:GetParameters", "lambda:InvokeFunction"]
    actions += ["cloudformation:DescribeStacks", "cloudformation:DescribeStackResource"]
    kinds = ("ssm:*:*:parameter/", "cloudformation:*:*:stack/", "lambda:*:*:function:")
    whose = [f"arn:*:{each}{at.lab.name}-*" for each in kinds]
    role = {
        **({"PermissionsBoundary": boundary} if boundary else {}),
        "AssumeRolePolicyDocument": _policy(Action="sts:AssumeRole", Principal={"Service": "lambda.amazonaws.com"}),
        "Policies": [
            {"PolicyName": name, "PolicyDocument": _policy(Action=allowed, Resource=resource)}
            for name, allowed, resource in (("own", actions, whose), ("all", _OF_ALL, "*"))
        ],
    }
    function: Template = {"Handler": "index.handler", "Runtime": "python3.13", "Code": {"ZipFile": code}}
    function |= {"Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Timeout": 60, "MemorySize": 1024}  # as strongref's own
    own = {"ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]}, "ServiceTimeout": 300, "Generation": str(generation)}
    scalars = {"Seconds": WATCHED_SECONDS, "Whole": 3, "No": False, "List": ["a"], "Plain": "?"}
    resources = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": role},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Seen": {"Type": "Custom::Seen", "Properties": {**own, "Into": at.path, "Id": identity, **more, **scalars}},
        "Uses": {"Type": "Custom::Uses", "Properties": {**own, "A": {"Fn::GetAtt": ["Seen", "A"]}}},
    }
    if fails:
        properties = {**own, "Fails": "Create", "Into": f"{at.path}-fails"}
        resources["Fails"] = {"Type": "Custom::Fails", "DependsOn": "Uses", "Properties": properties}
    plain = json.dumps(resources).replace('"Plain": "?"', '"Octal": 0123, "Fraction": 1.50, "Yes": yes')
    outputs = {"Exported": {"Value": "a", "Export": {"Name": at.producer}}}
    return at.deploy_producer({}, TemplateBody=f"Resources: {plain}\nOutputs: {json.dumps(outputs)}\n")


def _seen(at: Scene, of: str = "") -> list[Request]:
    """The requests so far, in the order in which they came: of `Seen`, or of `-fails`, which failed to be created."""
    at.lab.sleep(read_lag(at.lab.session, at.lab.regions).after_writing)
    pages = at.lab.pages(Clients.ssm, "GetParametersByPath", at.lab.regions[0], Path=at.path + of)
    found = [each for page in pages for each in page["Parameters"] if not each["Name"].endswith(("/first", "/go"))]
    ensure(found, "the function of the run's own stored nothing")
    return sorted(map(Request.parse, found), key=lambda each: each.came)


def _during_deletion(at: Scene) -> dict[str, Seen]:
    """Whether an import of the stack's export, and an update, fail that begin and end while the stack is deleted."""
    lab, region, leaving = at.lab, at.lab.regions[0], {"StackStatus": "DELETE_IN_PROGRESS"}
    stacks = lab.stacks(region)
    stacks.delete(at.producer)
    lab.wait(lambda: leaving.items() <= (stacks.stack(at.producer) or leaving).items(), "The deletion")
    update = {"StackName": at.producer, "TemplateBody": json.dumps({"Resources": {"Other": NOTHING}})}
    refused = lab.refusal("ValidationError", Clients.cloudformation, "UpdateStack", region, **update)
    outputs = {"Imported": {"Value": {"Fn::ImportValue": at.producer}}}
    ended = at.import_early({"Resources": {"Nothing": NOTHING}, "Outputs": outputs})
    was_leaving = stacks.stack(at.producer) is not None
    lab.call(Clients.ssm, "PutParameter", region, Name=f"{at.path}/go", Value="1", Type="String")
    lab.delete(region, at.consumer).expect("")
    at.delete_producer().expect("")
    is_imported = ended.status == CREATED
    is_seen = was_leaving or is_imported
    return {
        "one-operation": Seen("DELETE_IN_PROGRESS" in refused, refused or "an update was accepted"),
        "export-leaving": Seen(not is_imported, str(ended)) if is_seen else Seen(None, "the deletion was over first"),
    }


def request(at: Scene) -> dict[str, Seen]:
    _deploy(at, 1, "first", Fails="Delete", Limits="true").expect(CREATED)
    leaked = _deploy(at, 2, "second", Waits="true")
    full = _deploy(at, 3, "second", Waits="true", Bytes=str(RESPONSE_LIMIT))
    _deploy(at, 4, "third", fails=True)
    lacking = _deploy(at, 5, "second", fails=True, Lacks="true")
    leaving = _during_deletion(at)
    found, failing = _seen(at), [each.kind for each in _seen(at, "-fails")]
    updates = [each for each in found if each.kind == "Update"]
    pairs = [both for both in pairwise(updates) if both[0].properties["Generation"] == "5"]
    ensure(found[0].kind == "Create" and pairs, f"the requests were {', '.join(each.kind for each in found)}")
    failed, rollback = pairs[0]
    statuses = [each.looks[0].stack.removesuffix("_IN_PROGRESS") for each in (found[0], failed, rollback, found[-1])]
    given = parameter(at.lab.session, at.lab.regions[0], "ResponseHosts")
    hosts = ResponseHosts.from_environment({**os.environ, VARIABLE: given})
    is_too_large = full.status.startswith("UPDATE_ROLLBACK")
    former, ahead = rollback.properties["Generation"], [each.ahead for each in found]
    return {
        "in-progress": in_progress(found, LATE_SECONDS + 2 * read_lag(at.lab.session, at.lab.regions).seconds),
        "set-before-signed": _dates([each.looks[0].updated // 1 - each.signed for each in found if each.signed]),
        "rollback-is-later": _dates([failed.signed - rollback.looks[0].updated]),
        **response_urls(found, hosts, at.lab.regions[0]),
        **_scalars(found[0].properties),
        **_cleanups(found),
        "failed-creation": Seen(failing == ["Create", "Delete"] * 2, ", ".join(failing)),
        "stack-status": Seen(statuses == ["CREATE", "UPDATE", "UPDATE_ROLLBACK", "DELETE"], ", ".join(statuses)),
        "rollback-request": Seen(former == ("2" if is_too_large else "3"), f"with {former}"),
        "cleanup-failure": Seen(leaked.status == UPDATED, str(leaked)),
        "missing-attribute": Seen(lacking.status == REFUSED, str(lacking)),
        "response-size": Seen(not is_too_large, str(full)),
        "clocks": Seen(abs(min(ahead)) <= CLOCK_SKEW_SECONDS, _range(ahead)),
        **limits(**found[0].limits),
        **leaving,
    }


def limits(own: str, foreign: str, control: str, exported: str) -> dict[str, Seen]:
    """What a role may not do that has a part of the permissions, and whether a stack exports before its end.

    Any other error (throttling, a permissions boundary) shows nothing.
    """
    return {
        "plural-actions": Seen(_one_of(foreign, "AccessDenied", "True") if own == "True" else None, foreign),
        "cloud-control-callers": Seen(_one_of(control, "perform: lambda:", "ResourceNotFound"), control),
        "exports-last": Seen(_one_of(exported, "False", "True"), f"listed during the creation: {exported}"),
    }


def _one_of(text: str, right: str, wrong: str) -> bool | None:
    return True if right in text else False if wrong in text else None


def in_progress(requests: list[Request], allowed: float) -> Seen:
    """Whether a resource is in progress after so many seconds, and stays so. What was replaced is not listed at all."""
    last = requests[-1].physical_id
    listed = [each for each in requests if each.kind != "Delete" or each.physical_id == last]
    texts, holds = [], True
    for each in listed:
        right = [look.resource == f"{each.kind.upper()}_IN_PROGRESS" for look in each.looks]
        first = each.looks[right.index(True)].seconds if True in right else math.inf
        holds = holds and first <= allowed and all(right[right.index(True) :])
        texts.append(f"{each.kind}: {', '.join(f'{look.seconds:.1f} s {look.resource}' for look in each.looks)}")
    return Seen(holds, "; ".join(dict.fromkeys(texts)))


def _dates(ahead: list[float]) -> Seen:
    """Seconds by which dates are ahead of others that are not to be the earlier ones."""
    return Seen(max(ahead, default=0) <= 0, _range(ahead))


def _range(seconds: list[float]) -> str:
    return f"{min(seconds):+.1f} to {max(seconds):+.1f} s" if seconds else "no dates"


def response_urls(requests: list[Request], hosts: ResponseHosts, region: str) -> dict[str, Seen]:
    """Where responses go, in this form, and when the URLs were signed."""
    partition = StackArn.parse(requests[0].stack).partition
    keys = {each.url: response_key(each.stack, "Seen") for each in requests}
    accepted = all(hosts.accept(_to(url, key, region), region, dns_suffix(partition), key) for url, key in keys.items())
    hosts_seen = ",".join(sorted({urlsplit(url).hostname or "" for url in keys}))
    names = [(unquote(urlsplit(url).path), key) for url, key in keys.items()]
    forms = {"as believed" if key in name else name.rpartition("/")[2][:100] for name, key in names}
    late = [each.came - each.signed if each.signed else math.inf for each in requests]
    in_time = -AHEAD.total_seconds() < min(late) <= max(late) < LATE_DELIVERY.total_seconds()
    return {
        "response-host": Seen(accepted, hosts_seen, "" if accepted else f"ResponseHosts={hosts_seen}"),
        "response-key": Seen(forms == {"as believed"}, ", ".join(sorted(forms))),
        "response-date": Seen(in_time, f"signed {min(late):.1f} to {max(late):.1f} s before the event came"),
    }


def _to(url: str, key: str, region: str) -> str:
    """A response URL, if its object's name had the key: so that only its host is looked at."""
    parts, in_path = urlsplit(url), f"/{response_bucket(region)}/"
    root = in_path if parts.path.startswith(in_path) else "/"
    return parts._replace(path=root + quote(f"{key}0")).geturl()


def _scalars(properties: Mapping[str, Any]) -> dict[str, Seen]:
    given = {key: properties.get(key) for key in ("Whole", "No", "List")}
    plain = {key: properties.get(key) for key in ("Octal", "Fraction", "Yes")}
    as_believed = {"Whole": "3", "No": "false", "List": ["a"]}
    return {
        "scalars": Seen(given == as_believed, json.dumps(given)),
        "yaml": Seen((str(plain["Octal"]), str(plain["Yes"]).lower()) == ("83", "true"), json.dumps(plain)),
    }


def _cleanups(requests: list[Request]) -> dict[str, Seen]:
    """What was replaced, and what a rollback leaves: each is deleted when all else has been done."""
    texts, phases = [], {}
    for before, now in pairwise(requests):
        if now.kind == "Delete":
            look = phases[now.physical_id] = now.looks[0]
            after = f"{now.came - before.came:.0f} s after a request"
            texts.append(f"{now.physical_id}: {look.stack}, {after}, {look.physical_id or 'nothing'} is listed")
    wanted = {"first": "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "third": "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"}
    in_cleanup = all(look.stack == wanted.get(name, look.stack) for name, look in phases.items())
    return {
        "replacement": Seen("first" in phases, f"deleted: {', '.join(phases)}"),
        "cleanup-phase": Seen(in_cleanup if "third" in phases else None, "; ".join(texts)),
    }


def chain(at: Scene) -> dict[str, Seen]:
    """The function invokes itself as often as one of strongref's may."""
    ended = _deploy(at, 1, "first", Chain=str(MAX_INVOCATIONS - 1), ServiceTimeout=str(CHAIN_SECONDS))
    (left,) = at.lab.call(Clients.ssm, "GetParameters", at.lab.regions[0], Names=[f"{at.path}/left"])["Parameters"]
    times = MAX_INVOCATIONS - int(left["Value"])
    return {
        "self-invocation": Seen(times > 1, str(ended) if times == 1 else "it did"),
        "loop-detection": Seen(ended.status == CREATED or times == 1, f"{times} invocations in a chain: {ended}"),
    }


def redelivery(at: Scene) -> dict[str, Seen]:
    """The function fails an event once; all that it stores is the second delivery."""
    _deploy(at, 1, "first", Late="true").expect(CREATED)
    event = _seen(at)[0]
    late = event.came - event.signed
    holds = LATE_DELIVERY.total_seconds() <= late <= MAY_RAISE.total_seconds()
    return {"redelivery": Seen(holds, f"after {late:.0f} s")}
