"""No physical id is ever matched to another resource's identifier.

The theorem, over whatever resources there are, which may be called like each other's beginnings, ends, parents, paths,
accounts, regions and kinds: a look-up of a physical id, with what else is known, answers

- with a resource only if that physical id is its own, what is known is true of it, and both are so of no other;
- that there are several only if both are so of several;
- that there is none only if they are so of none.

What a resource's own physical id is, is said here once more, and in another way than in the package: each resource of
these worlds is made together with the physical ids that it answers to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from strongref.lookup import matching
from strongref.lookup.arns import Arn
from strongref.lookup.base import Wanted
from strongref.lookup.errors import AmbiguousError, NoSuchResourceError
from strongref.lookup.matching import Fit
from strongref.lookup.table import shape_of
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, finder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.lookup.table import Shape

PLAIN = ("a", "b", "aa", "ab", "a-b", "other-a", ACCOUNT, REGION, "sns", "arn", "policy", "rule", "default", "1")
SLASHED = (*PLAIN, "a/b", "b/a", "a/a", "policy/a", "other/a", "a:b", "x/a/b")
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
            and (opaque(each) or all(value in each.said(name) for name, value in self.known.items()))
        }

    def _only_part_left(self, made: Made) -> set[str]:
        """The only part of a composite identifier that is not known, or any part if all are."""
        if "|" not in made.identifier or opaque(made):
            return set()
        parts = [name for name in made.properties if name in PARTS[self.type_name]]
        unknown = [name for name in parts if name not in self.known]
        left = (unknown or parts) if len(unknown) <= 1 else []
        # A physical id may be the name of what the part is the ARN of, but not the reverse: that may be elsewhere.
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
    """The ARN of a rule, whose physical id is its name on the default bus, `bus|rule` on another one."""
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
PARTS: dict[str, tuple[str, ...]] = {name: shape_of(name).identifier for name in KINDS}
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
    pieces = [text for each in everyone for text in (*each.own, each.identifier, *each.properties.values())]
    physical_id = draw(
        st.one_of(st.sampled_from(sorted(target.own) or [target.identifier]), st.sampled_from([*pieces, *SLASHED]))
    )
    known = {}
    if "|" in target.identifier:
        names = PARTS[type_name]
        some = draw(st.lists(st.sampled_from(names), unique=True))
        some += PARENTS.get(type_name, names[:1] if shape_of(type_name).own is None and not some else ())
        forms = {name: sorted({*target.said(name), elsewhere(target.properties[name])}) for name in some}
        known = {name: draw(st.sampled_from(texts)) for name, texts in forms.items()}
    assume(physical_id and all(known.values()))
    return World(type_name, tuple(everyone[gone:]), physical_id, known)


def elsewhere(text: str) -> str:
    """The same of another region."""
    return text.replace(f":{REGION}:", ":us-east-1:")


def look_up(world: World) -> set[str]:
    """What the answer says is meant: the identifiers of one, none, or several resources."""
    cloud = FakeCloudControl({world.type_name: {}}, listed=[])
    for made in world.made:
        cloud.add(world.type_name, made.identifier, **made.properties)
    wanted = Wanted(world.type_name, physical_id=world.physical_id, properties=world.known)
    try:
        return {finder(cloud).find(wanted).identifier}
    except NoSuchResourceError:
        return set()
    except AmbiguousError as error:
        return set(error.identifiers)


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_an_answer_is_the_one_resource_whose_own_the_physical_id_is_or_none_at_all(world: World) -> None:
    assert look_up(world) == world.meant


def weaker(compare: Callable[[str, str], bool]) -> Callable[[str, str], Fit]:
    return lambda part, physical_id: Fit.YES if compare(part, physical_id) else Fit.NO


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


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS.keys())
def test_the_theorem_fails_as_soon_as_parts_are_compared_less_strictly(
    mutant: Callable[[str, str], Fit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "_named", mutant)
    assert finds_a_counterexample()


def any_part(shape: Shape, _known: object) -> list[int]:
    return list(range(len(shape.identifier)))


@pytest.mark.parametrize(
    ("rule_", "without"),
    [
        ("telling", any_part),
        ("agrees", lambda *_: True),
        ("fit", lambda _shape, identifier, physical_id, *_: Fit.YES if physical_id == identifier else Fit.NO),
    ],
)
def test_the_theorem_fails_without_any_of_the_rules(
    rule_: str, without: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("matching", "identify", "finding", "tracing"):
        if hasattr(__import__(f"strongref.lookup.{module}", fromlist=[rule_]), rule_):
            monkeypatch.setattr(f"strongref.lookup.{module}.{rule_}", without)
    assert finds_a_counterexample()


def finds_a_counterexample() -> bool:
    @settings(max_examples=1500, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(worlds())
    def theorem(world: World) -> None:
        assert look_up(world) == world.meant

    try:
        theorem()
    except AssertionError:
        return True
    return False
