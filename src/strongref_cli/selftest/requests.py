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
from strongref.contract.origin import VARIABLE, ResponseHosts, requested_at, response_key
from strongref.protocol.verification import AHEAD, LATE_DELIVERY, LATE_SECONDS, MAY_RAISE
from strongref_cli.install.installed import installed_in, read_lag
from strongref_cli.selftest.beliefs import Seen
from strongref_cli.selftest.lab import Ended, UnexpectedError
from strongref_cli.selftest.scene import CREATED, NOTHING, REFUSED, UPDATED, Scene
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_cli.selftest.scene import Template

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

    @classmethod
    def parse(cls, text: str) -> Request:
        kind, physical_id, stack, properties, came, url, looks = json.loads(text).values()
        return cls(kind, physical_id, stack, properties, came, url, tuple(Look(*each) for each in looks))

    @property
    def signed(self) -> float:
        """When its URL was signed, in whole seconds; 0 if it does not say."""
        found = requested_at(self.url)
        return found.timestamp() if found else 0.0

    @property
    def updated(self) -> float:
        """What its resource's LastUpdatedTimestamp was at first."""
        return self.looks[0].updated


def _policy(allowed: Template) -> Template:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **allowed}]}


class Requests(NamedTuple):
    """A stack whose resource `Seen` is the work of a function of the run's own."""

    at: Scene

    @property
    def path(self) -> str:
        return f"/{self.at.lab.name}-{self.at.check}"

    def deploy(self, generation: int, identity: str, *, fails: bool = False, **more: str) -> Ended:
        """Deploy the resource, which gets this physical ID, in a template in YAML with scalars as people write them."""
        own = [f"ssm:${{AWS::Region}}:${{AWS::AccountId}}:parameter/{self.at.lab.name}-*"]
        own += [f"cloudformation:${{AWS::Region}}:${{AWS::AccountId}}:stack/{self.at.lab.name}-*"]
        own += [f"lambda:${{AWS::Region}}:${{AWS::AccountId}}:function:{self.at.lab.name}-*"]
        actions = ["ssm:PutParameter", "cloudformation:DescribeStacks", "cloudformation:DescribeStackResource"]
        actions += ["lambda:InvokeFunction"]
        resources = [{"Fn::Sub": f"arn:${{AWS::Partition}}:{each}"} for each in own]
        assumes = {"Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
        boundary = _installed(self.at).get("PermissionsBoundary")
        role = {
            **({"PermissionsBoundary": boundary} if boundary else {}),
            "AssumeRolePolicyDocument": _policy(assumes),
            "Policies": [{"PolicyName": "look", "PolicyDocument": _policy({"Action": actions, "Resource": resources})}],
        }
        function = {
            "Handler": "index.handler",
            "Runtime": "python3.13",
            "Timeout": 60,
            "MemorySize": 1024,  # as strongref's own, which are as fast
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {"ZipFile": Path(__file__).with_name("probe_function.py").read_text(encoding="utf-8")},
        }
        token: Template = {"ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]}, "ServiceTimeout": 300}
        seen: Template = {**token, "Into": self.path, "Id": identity, "Generation": str(generation), **more}
        seen |= {"Seconds": WATCHED_SECONDS, "Whole": 3, "No": False, "List": ["a"], "Plain": "?"}
        uses = {**token, "Generation": str(generation), "A": {"Fn::GetAtt": ["Seen", "A"]}}
        template: Template = {
            "Role": {"Type": "AWS::IAM::Role", "Properties": role},
            "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
            "Seen": {"Type": "Custom::Seen", "Properties": seen},
            "Uses": {"Type": "Custom::Uses", "Properties": uses},
        }
        if fails:
            template["Fails"] = {
                "Type": "Custom::Fails",
                "DependsOn": "Uses",
                "Properties": {**token, "Fails": "Create", "Into": f"{self.path}-fails"},
            }
        plain = json.dumps(template).replace('"Plain": "?"', '"Octal": 0123, "Fraction": 1.50, "Yes": yes')
        outputs = {"Exported": {"Value": "a", "Export": {"Name": self.at.producer}}}
        body = f"Resources: {plain}\nOutputs: {json.dumps(outputs)}\n"
        return self.at.lab.deploy(self.at.lab.regions[0], self.at.producer, {}, TemplateBody=body)

    def all(self, of: str = "") -> list[Request]:
        """The requests so far, in the order in which they came: of `Seen`, or of `-fails`, which failed to be created.

        Raises:
            UnexpectedError: the function saw none.
        """
        self.at.lab.sleep(read_lag(self.at.lab.session, self.at.lab.regions).after_writing)
        aws = self.at.lab.session.aws(self.at.lab.regions[0])
        where = aws.where(self.at.lab.regions[0], None)
        pages = aws.pages(where, "GetParametersByPath", self.path, Clients.ssm, Path=self.path + of)
        texts = [each["Value"] for page in pages for each in page["Parameters"] if not each["Name"].endswith("/first")]
        if not texts:
            raise UnexpectedError("the function of the run's own stored nothing")
        return sorted(map(Request.parse, texts), key=lambda each: each.came)

    def import_during_deletion(self) -> Seen:
        """Whether an import of the stack's export fails that begins and ends while the stack is being deleted."""
        lab, region, leaving = self.at.lab, self.at.lab.regions[0], {"StackStatus": "DELETE_IN_PROGRESS"}
        stacks = lab.stacks(region)
        stacks.delete(self.at.producer)
        lab.wait(lambda: leaving.items() <= (stacks.stack(self.at.producer) or leaving).items() or None, "The deletion")
        outputs = {"Imported": {"Value": {"Fn::ImportValue": self.at.producer}}}
        try:
            ended = lab.deploy(region, self.at.consumer, {"Resources": {"Nothing": NOTHING}, "Outputs": outputs})
            found = stacks.find(self.at.consumer)
            ended = Ended(ended.status, ended.why or (found.reason if found else ""))
        except AwsCallError as error:
            ended = Ended("", str(error))
        was_leaving = stacks.stack(self.at.producer) is not None
        lab.delete(region, self.at.consumer).expect("")
        self.at.delete_producer().expect("")
        if ended.status == CREATED:
            return Seen(False, str(ended))
        return Seen(True if was_leaving else None, str(ended) if was_leaving else "the deletion was over first")


def request(at: Scene) -> dict[str, Seen]:
    asked = Requests(at)
    asked.deploy(1, "first", Fails="Delete").expect(CREATED)
    leaked = asked.deploy(2, "second")
    asked.deploy(3, "third", fails=True)
    lacking = asked.deploy(4, "second", fails=True, Lacks="true")
    leaving = asked.import_during_deletion()
    found, failing = asked.all(), [each.kind for each in asked.all("-fails")]
    updates = [each for each in found if each.kind == "Update"]
    failed = next((at for at, each in enumerate(updates) if each.properties["Generation"] == "4"), len(updates))
    if found[0].kind != "Create" or failed + 1 >= len(updates):
        raise UnexpectedError(f"the requests were {', '.join(each.kind for each in found)}")
    return {
        "in-progress": in_progress(found, LATE_SECONDS + 2 * read_lag(at.lab.session, at.lab.regions).seconds),
        "set-before-signed": _dates([each.updated // 1 - each.signed for each in found if each.signed]),
        "rollback-is-later": _dates([updates[failed].signed - updates[failed + 1].updated]),
        **response_urls(found, _hosts(at), at.lab.regions[0]),
        **_scalars(found[0].properties),
        **_cleanups(found),
        "failed-create": Seen(failing == ["Create", "Delete"] * 2, ", ".join(failing)),
        "stack-status": _statuses([found[0], updates[failed], updates[failed + 1], found[-1]]),
        "rollback-request": Seen(
            updates[failed + 1].properties["Generation"] == "2", f"with {updates[failed + 1].properties['Generation']}"
        ),
        "cleanup-failure": Seen(leaked.status == UPDATED, str(leaked)),
        "missing-attribute": Seen(lacking.status == REFUSED, str(lacking)),
        "export-leaving": leaving,
    }


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
    return Seen(max(ahead, default=0) <= 0, f"{min(ahead):+.1f} to {max(ahead):+.1f} s" if ahead else "no dates")


def _statuses(requests: list[Request]) -> Seen:
    """What a stack's status is during a creation, an update, its rollback and the deletion."""
    found = [each.looks[0].stack.removesuffix("_IN_PROGRESS") for each in requests]
    return Seen(found == ["CREATE", "UPDATE", "UPDATE_ROLLBACK", "DELETE"], ", ".join(found))


def _installed(at: Scene) -> Mapping[str, str]:
    """The parameters of the installation."""
    stack = installed_in(at.lab.session, at.lab.regions[0]).stack
    return stack.parameters if stack else {}


def _hosts(at: Scene) -> ResponseHosts:
    """Those of the installation."""
    return ResponseHosts.from_environment({**os.environ, VARIABLE: _installed(at).get("ResponseHosts", "")})


def response_urls(requests: list[Request], hosts: ResponseHosts, region: str) -> dict[str, Seen]:
    """Where responses go, in this form, and when the URLs were signed."""
    partition = StackArn.parse(requests[0].stack).partition
    keys = {each.url: response_key(each.stack, "Seen") for each in requests}
    accepted = all(hosts.accept(_to(url, key), region, dns_suffix(partition), key) for url, key in keys.items())
    hosts_seen = ",".join(sorted({urlsplit(url).hostname or "" for url in keys}))
    forms = {_form(url, key) for url, key in keys.items()}
    late = [each.came - each.signed if each.signed else math.inf for each in requests]
    in_time = -AHEAD.total_seconds() < min(late) <= max(late) < LATE_DELIVERY.total_seconds()
    return {
        "response-host": Seen(accepted, hosts_seen, "" if accepted else f"ResponseHosts={hosts_seen}"),
        "response-key": Seen(forms == {"as believed"}, ", ".join(sorted(forms))),
        "response-date": Seen(in_time, f"signed {min(late):.1f} to {max(late):.1f} s before the event came"),
    }


def _to(url: str, key: str) -> str:
    """A response URL, if its object's name had the key: so that only its host is looked at."""
    parts = urlsplit(url)
    bucket = parts.path.split("/")[1]
    root = f"/{bucket}/" if bucket.startswith("cloudformation-") else "/"
    return parts._replace(path=root + quote(f"{key}0")).geturl()


def _form(url: str, key: str) -> str:
    """Whether an object's name has the key; otherwise the name, without what is different in each."""
    name = unquote(urlsplit(url).path)
    return "as believed" if key in name else name.rpartition("/")[2][:100]


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
            listed = look.physical_id or "nothing"
            after = f"{now.came - before.came:.0f} s after a request"
            texts.append(f"{now.physical_id}: {look.stack}, {after}, {listed} is listed")
    wanted = {"first": "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "third": "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"}
    in_cleanup = all(look.stack == wanted.get(name, look.stack) for name, look in phases.items())
    return {
        "replacement": Seen("first" in phases, f"deleted: {', '.join(phases)}"),
        "cleanup-phase": Seen(in_cleanup if "third" in phases else None, "; ".join(texts)),
    }


def chain(at: Scene) -> dict[str, Seen]:
    """The function invokes itself as often as one of strongref's may."""
    asked = Requests(at)
    ended = asked.deploy(1, "first", Chain=str(MAX_INVOCATIONS - 1), ServiceTimeout=str(CHAIN_SECONDS))
    (left,) = at.lab.call(Clients.ssm, "GetParameters", at.lab.regions[0], Names=[f"{asked.path}/left"])["Parameters"]
    times = MAX_INVOCATIONS - int(left["Value"])
    return {
        "self-invocation": Seen(times > 1, str(ended) if times == 1 else "it did"),
        "loop-detection": Seen(ended.status == CREATED or times == 1, f"{times} invocations in a chain: {ended}"),
    }


def redelivery(at: Scene) -> dict[str, Seen]:
    """The function fails an event once; all that it stores is the second delivery."""
    Requests(at).deploy(1, "first", Late="true").expect(CREATED)
    event = Requests(at).all()[0]
    late = event.came - event.signed
    holds = LATE_DELIVERY.total_seconds() <= late <= MAY_RAISE.total_seconds()
    return {"redelivery": Seen(holds, f"after {late:.0f} s")}
