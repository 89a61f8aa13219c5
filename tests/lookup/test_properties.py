"""No physical ID is ever matched to another resource's identifier.

The theorem, over whatever resources there are, which may be called like each other's beginnings, ends, parents, paths,
accounts, regions and kinds: a lookup of a physical ID, with what else is known, answers

- with a resource only if that physical ID is its own, what is known is true of it, and both are so of no other;
- that there are several only if both are so of several;
- that there is none only if they are so of none.

What a resource's own physical ID is, is said here once more, and in another way than in the package: each resource of
these worlds is made together with the physical ids that it answers to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from strongref.arns import Arn
from strongref.aws.errors import NoSuchResourceError
from strongref.lookup import arn_search, identify, matching, search
from strongref.lookup.errors import AmbiguousError
from strongref.lookup.matching import Match
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from tests.support.examples import examples
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, FakeTagging, finder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.lookup.resource_types import ResourceType
    from strongref.lookup.search import Finder

PLAIN = ("a", "b", "aa", "ab", "a-b", "other-a", ACCOUNT, REGION, "sns", "arn", "policy", "rule", "default", "1")
SLASHED = (*PLAIN, "a/b", "b/a", "a/a", "policy/a", "component/a", "component/b", "a:b", "x/a/b")
PATHS = ("", "a/", "b/", "a/b/", "policy/", "other-")
"""The last is no path: a resource whose name only ends like another's."""


@dataclass(frozen=True)
class Made:
    """A resource: its identifier, the parts of it and what it says of itself, and the names that are its own.

    Attributes:
        forms: what else a part of the identifier may be given as: the name of what it is the ARN of, or the reverse.
    """

    identifier: str
    properties: Mapping[str, str]
    own: frozenset[str]
    forms: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def said(self, name: str) -> frozenset[str]:
        return self.forms.get(name, frozenset()) | {self.properties[name]}


@dataclass(frozen=True)
class World:
    """Resources of one type, what is looked for, and what is known."""

    type_name: str
    made: tuple[Made, ...]
    physical_id: str
    known: Mapping[str, str] = field(default_factory=dict)

    @property
    def meant(self) -> set[str]:
        """The identifiers of those that are looked for."""
        return {
            each.identifier
            for each in self.made
            if self.physical_id in each.own | {each.identifier} | self._only_part_left(each)
            and all(value in each.said(name) for name, value in self.known.items())
        }

    def _only_part_left(self, made: Made) -> set[str]:
        """The only part of a composite identifier that is not known, or any part if all are."""
        if "|" not in made.identifier or opaque(made):
            return set()
        parts = [name for name in made.properties if name in PARTS[self.type_name]]
        unknown = [name for name in parts if name not in self.known]
        left = (unknown or parts) if len(unknown) <= 1 else []
        # A physical ID may be the name of what the part is the ARN of, but not the reverse: that may be elsewhere.
        return {
            text for name in left for text in made.said(name) if text == made.properties[name] or "arn:" not in text
        }


def opaque(made: Made) -> bool:
    """Whether a part holds a separator, so that nobody can tell the parts: it answers to its identifier alone."""
    return "|" in "".join(made.properties.values())


def arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


def topic(name: str) -> Made:
    """An ARN that ends in the name alone."""
    text = arn("sns", name)
    return Made(text, {"TopicArn": text, "TopicName": name}, frozenset({name}))


def policy(path: str, name: str) -> Made:
    """An ARN with a path before the name, which is no part of it; a name holds no slash."""
    text = f"arn:aws:iam::{ACCOUNT}:policy/{path}{name}"
    name = f"{path.rpartition('/')[2]}{name}"
    whole = text.split(":policy/")[1]
    return Made(text, {"PolicyArn": text, "ManagedPolicyName": name}, frozenset({name, whole}))


def schedule_group(name: str) -> Made:
    """An ARN with a kind and a name, which may hold slashes and colons."""
    text = arn("imagebuilder", f"component/{name}")
    return Made(text, {"Arn": text, "Name": name}, frozenset({name}))


def rule(bus: str, name: str) -> Made:
    """The ARN of a rule, whose physical ID is its name on the default bus, `bus|rule` on another one."""
    text = arn("events", f"rule/{name}" if bus == "default" else f"rule/{bus}/{name}")
    own = {f"{bus}|{name}"} | ({name} if bus == "default" else set())
    return Made(text, {"Arn": text, "Name": name}, frozenset(own))


def composite(names: tuple[str, ...], own: int | None) -> Callable[..., Made]:
    """A composite identifier; its own part is at a position, or at none that is known."""

    def made(parts: tuple[str, ...]) -> Made:
        answers_to = [] if own is None or "|" in "".join(parts) else [parts[own]]
        return Made("|".join(parts), dict(zip(names, parts, strict=True)), frozenset(answers_to))

    return made


def service(cluster: str, name: str, *, by_name: bool) -> Made:
    """An ARN with its parent's name before its own, and the parent: its ARN, or its name."""
    own, parent = arn("ecs", f"service/{cluster}/{name}"), arn("ecs", f"cluster/{cluster}")
    properties = {"ServiceArn": own, "Cluster": cluster if by_name else parent, "ServiceName": name}
    forms = {"ServiceArn": frozenset({own, f"{cluster}/{name}"}), "Cluster": frozenset({cluster, parent})}
    return Made(f"{own}|{properties['Cluster']}", properties, forms["ServiceArn"] | {name}, forms)


def parts_of(number: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.tuples(*[st.sampled_from((*SLASHED, "", "a|b"))] * number)


KINDS: dict[str, st.SearchStrategy[Made]] = {
    "AWS::SNS::Topic": st.builds(topic, st.sampled_from(PLAIN)),
    "AWS::IAM::ManagedPolicy": st.builds(policy, st.sampled_from(PATHS), st.sampled_from(PLAIN)),
    "AWS::ImageBuilder::Component": st.builds(schedule_group, st.sampled_from(SLASHED)),
    "AWS::Events::Rule": st.builds(rule, st.sampled_from(PLAIN), st.sampled_from(PLAIN)),
    # The parent comes first, or last; there are three; nobody knows which is which.
    "AWS::ApiGateway::Stage": parts_of(2).map(composite(("RestApiId", "StageName"), 1)),
    "AWS::GuardDuty::IPSet": parts_of(2).map(composite(("Id", "DetectorId"), 0)),
    "AWS::ApiGatewayV2::RouteResponse": parts_of(3).map(composite(("ApiId", "RouteId", "RouteResponseId"), 2)),
    "AWS::ECS::Service": st.builds(service, st.sampled_from(PLAIN), st.sampled_from(PLAIN), by_name=st.booleans()),
    "AWS::RAM::PrincipalAssociation": parts_of(2).map(composite(("ResourceShareArn", "Principal"), None)),
}
PARTS: dict[str, tuple[str, ...]] = {name: resource_type_of(name).identifier for name in KINDS}
PARENTS = {"AWS::ApiGateway::Stage": ("RestApiId",)}
"""Without which resources are not listed."""


def itself(made: Made) -> str:
    """What no two resources have: a service tells its parent in one form or the other, and is one all the same."""
    return made.properties.get("ServiceArn", made.identifier)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    type_name = draw(st.sampled_from(sorted(KINDS)))
    everyone = draw(st.lists(KINDS[type_name], min_size=1, max_size=7, unique_by=itself))
    gone = draw(st.integers(0, 1))  # The one that is looked for may be gone, and only its siblings be left.
    target = everyone[0]
    reported = [text for each in everyone for text in (*each.own, each.identifier, *each.properties.values())]
    physical_id = draw(
        st.one_of(
            st.sampled_from(sorted(target.own) or [target.identifier]),
            st.sampled_from([*reported, *SLASHED]),
            st.sampled_from(pieces(draw(st.sampled_from(everyone)).identifier)),
        )
    )
    known = {}
    if "|" in target.identifier:
        names = PARTS[type_name]
        some = draw(st.lists(st.sampled_from(names), unique=True))
        some += PARENTS.get(type_name, names[:1] if resource_type_of(type_name).own is None and not some else ())
        forms = {name: sorted({*target.said(name), elsewhere(target.properties[name])}) for name in some}
        known = {name: draw(st.sampled_from(texts)) for name, texts in forms.items()}
    assume(physical_id and all(known.values()))
    return World(type_name, tuple(everyone[gone:]), physical_id, known)


def pieces(identifier: str) -> list[str]:
    """Everything that an identifier begins or ends with, up to a boundary or not."""
    bounds = [at for at, letter in enumerate(identifier) if letter in ":/|"]
    inside = [identifier[start + 1 : end] for start in bounds for end in [*bounds, None] if end is None or end > start]
    return [*filter(None, inside), identifier[1:], identifier[:-1], identifier[-2:], identifier[:2]]


def elsewhere(text: str) -> str:
    """A text with another region."""
    return text.replace(f":{REGION}:", ":us-east-1:")


def look_up(world: World) -> set[str]:
    """What is meant, by a lookup's answer: one, none, or several resources."""
    cloud = FakeCloudControl({world.type_name: {}}, listed=[])
    for made in world.made:
        cloud.add(world.type_name, made.identifier, **made.properties)
    query = ResourceQuery(world.type_name, physical_id=world.physical_id, properties=world.known)
    return answer(finder(cloud), query)


@examples(1500)
@given(worlds())
def test_an_answer_is_the_one_resource_whose_own_the_physical_id_is_or_none_at_all(world: World) -> None:
    assert look_up(world) == world.meant


@dataclass(frozen=True)
class Named:
    """A resource that tells its name: what it is called, and what else it says of itself."""

    identifier: str
    name: str
    says: Mapping[str, str]


@dataclass(frozen=True)
class Kind:
    """How resources of a type tell their names.

    Attributes:
        name: the property that holds it.
        identify: an identifier, by three texts: a parent's, an id, and the name.
        by_physical_id: whether a physical ID is such a name, too.
        parent: the property that holds the parent, if it is part of the identifier.
    """

    name: str
    identify: Callable[[str, str, str], str]
    by_physical_id: bool = False
    parent: str | None = None


NAMING = {
    "AWS::ApiGateway::RestApi": Kind("Name", lambda _, own, __: own),
    "AWS::ElastiCache::User": Kind("UserName", lambda _, own, __: own, by_physical_id=True),
    "AWS::EC2::SecurityGroup": Kind("GroupName", lambda _, own, __: f"sg-{own}", by_physical_id=True),
    "AWS::Cognito::UserPoolClient": Kind("ClientName", lambda parent, own, _: f"{parent}|{own}", parent="UserPoolId"),
    "AWS::ImageBuilder::Component": Kind("Name", lambda _, own, __: arn("imagebuilder", f"component/u-{own}")),
    "AWS::Timestream::Table": Kind("TableName", lambda parent, _, name: f"{parent}|{name}", parent="DatabaseName"),
    "AWS::SNS::Topic": Kind("TopicName", lambda _, __, name: arn("sns", name)),
}


@examples(800)
@given(st.data())
def test_a_name_leads_to_what_says_that_it_is_called_so_and_that_all_is_true_that_is_known(data: st.DataObject) -> None:
    type_name = data.draw(st.sampled_from(sorted(NAMING)))
    kind, texts = NAMING[type_name], st.sampled_from(("a", "b", "ab", "a/b", "1", "vpc-1"))
    made: dict[str, Named] = {}
    for parent, own, name, vpc in data.draw(st.lists(st.tuples(texts, texts, texts, texts), min_size=1, max_size=6)):
        says = {kind.name: name, "VpcId": vpc} | ({kind.parent: parent} if kind.parent else {})
        identifier = kind.identify(parent, own, name)
        made[identifier] = Named(identifier, name, says)
    cloud = FakeCloudControl({type_name: {}}, listed=data.draw(st.sampled_from([[], None, ["VpcId"], [kind.name]])))
    for each in made.values():
        cloud.add(type_name, each.identifier, **each.says)

    target = data.draw(st.sampled_from(sorted(made)))
    wanted_name = data.draw(
        st.sampled_from([made[target].name, target, *target.split("|"), target.rpartition("component/")[2]])
    )
    parents = [kind.parent] if type_name == "AWS::Cognito::UserPoolClient" else []
    names = parents + data.draw(st.lists(st.sampled_from(["VpcId", kind.parent or "VpcId"]), unique=True))
    known = {name: data.draw(st.sampled_from([made[target].says[name], "b"])) for name in names if name}
    ways = [ResourceQuery(type_name, name=wanted_name, properties=known)]
    if kind.by_physical_id and not wanted_name.startswith("sg-"):
        ways.append(ResourceQuery(type_name, physical_id=wanted_name, properties=known))
    meant = {
        each.identifier
        for each in made.values()
        if each.name == wanted_name and all(each.says[name] == value for name, value in known.items())
    }
    for query in ways:
        assert answer(finder(cloud), query) == meant


def test_an_arn_that_ends_so_by_chance_does_not_hide_another_one_that_is_called_so() -> None:
    first, second = arn("imagebuilder", "component/u-a"), arn("imagebuilder", "component/u-a/b")
    cloud = FakeCloudControl({"AWS::ImageBuilder::Component": {}}, listed=[])
    cloud.add("AWS::ImageBuilder::Component", first, Name="b")
    cloud.add("AWS::ImageBuilder::Component", second, Name="b")
    assert answer(finder(cloud), ResourceQuery("AWS::ImageBuilder::Component", name="b")) == {first, second}


ARNS = {
    "AWS::RDS::DBInstance": ("rds", ("db:{}", "cluster:{}", "snapshot:rds:{}"), "DBInstanceArn", "{}"),
    "AWS::DynamoDB::Table": ("dynamodb", ("table/{}", "table/{}/index/a", "global-table/{}"), "Arn", "{}"),
    "AWS::SQS::Queue": ("sqs", ("{}",), "Arn", "https://sqs.eu-west-1.amazonaws.com/111111111111/{}"),
    "AWS::EC2::VPC": ("ec2", ("vpc/{}", "subnet/{}", "vpc-endpoint/{}"), None, "{}"),
    "AWS::SNS::Topic": ("sns", ("{}", "a:{}"), "TopicArn", None),
    "AWS::Glue::Job": ("glue", ("job/{}", "job/a/{}", "crawler/{}"), None, "{}"),
    "AWS::EC2::FlowLog": ("ec2", ("vpc-flow-log/{}", "flow-log/{}"), None, "{}"),
}
"""The ARNs of a type's resources, and others of the same service; how a resource tells its own; its identifier."""


@examples(600)
@given(st.data())
def test_an_arn_or_tags_lead_to_the_resource_that_has_them_and_to_no_other_type_of_the_same_name(
    data: st.DataObject,
) -> None:
    type_name = data.draw(st.sampled_from(sorted(ARNS)))
    service, kinds, tells, identifier = ARNS[type_name]
    held = SLASHED if type_name == "AWS::Glue::Job" else PLAIN
    names = data.draw(st.lists(st.sampled_from(held), min_size=1, max_size=5, unique=True))
    cloud = FakeCloudControl({type_name: {}}, listed=[])
    identified = {}
    for name in names:
        text = arn(service, kinds[0].format(name))
        identified[text] = text if identifier is None else identifier.format(name)
        cloud.add(type_name, identified[text], **({tells: text} if tells else {}))
    every = [arn(of, kind.format(name)) for of in (service, "lambda") for kind in kinds for name in held]
    chosen = data.draw(st.lists(st.sampled_from(every), max_size=4, unique=True))
    meant = {identified[text] for text in chosen if text in identified}

    tagging = FakeTagging({text: {"app": "shop"} for text in chosen})
    assert answer(finder(cloud, tagging), ResourceQuery(type_name, tags={"app": "shop"})) == meant
    for text in chosen:
        there = {identified[text]} if text in identified else set()
        assert answer(finder(cloud), ResourceQuery(type_name, arn=text)) == there
        assert answer(finder(cloud), ResourceQuery(type_name, arn=text, account=ACCOUNT)) == there
        another = text.replace(f":{ACCOUNT}:", ":222222222222:", 1)
        assert answer(finder(cloud), ResourceQuery(type_name, arn=another, account=ACCOUNT)) == set()


def answer(looking: Finder, query: ResourceQuery) -> set[str]:
    """What is meant, as in `look_up`."""
    try:
        return {looking.find(query).identifier}
    except NoSuchResourceError:
        return set()
    except AmbiguousError as error:
        return set(error.identifiers)


def weaker(compare: Callable[[str, str], bool]) -> Callable[[str, str], Match]:
    return lambda part, physical_id: Match.YES if compare(part, physical_id) else Match.NO


MUTANTS = {
    "prefix": weaker(lambda part, physical_id: part.startswith(physical_id)),
    "suffix": weaker(lambda part, physical_id: part.endswith(physical_id)),
    "contains": weaker(lambda part, physical_id: physical_id in part),
    "any segment": weaker(lambda part, physical_id: physical_id in part.replace(":", "/").split("/")),
    "last segment": weaker(lambda part, physical_id: physical_id in (part, part.replace(":", "/").split("/")[-1])),
    "trailing segments": weaker(lambda part, physical_id: f":{part}".endswith((f"/{physical_id}", f":{physical_id}"))),
    "the whole resource": weaker(
        lambda part, physical_id: physical_id in (part, getattr(Arn.parse(part), "resource", part))
    ),
}


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(each, id=name, marks=() if name == "contains" else pytest.mark.slow)
        for name, each in MUTANTS.items()
    ],
)
def test_another_resource_is_taken_for_it_as_soon_as_parts_are_compared_less_strictly(
    mutant: Callable[[str, str], Match], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "_match_part", mutant)
    assert another_is_taken()


def any_part(resource_type: ResourceType, _known: object) -> list[int]:
    return list(range(len(resource_type.identifier)))


@pytest.mark.parametrize(("left_out", "instead"), [("unique_positions", any_part), ("parts_agree", lambda *_: True)])
def test_another_resource_is_taken_for_it_if_any_part_may_be_its_own_or_need_not_agree_with_what_is_known(
    left_out: str, instead: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (matching, identify, search, arn_search):
        if hasattr(module, left_out):
            monkeypatch.setattr(module, left_out, instead)
    assert another_is_taken()


class AnotherError(Exception):
    """One resource was found, and it is not the one that is meant."""


def another_is_taken() -> bool:
    @settings(
        max_examples=5000,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # Any will do; there is no need for the smallest.
        suppress_health_check=[*HealthCheck],
    )
    @given(worlds())
    def look(world: World) -> None:
        found = look_up(world)
        if len(found) == 1 and not found <= world.meant:
            raise AnotherError

    try:
        look()
    except AnotherError:
        return True
    return False
