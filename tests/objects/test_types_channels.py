"""Every ready type, and one that a test declares, through every channel: what is read is what was written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref_objects.base import ResolveType
from strongref_objects.base.errors import UnresolvedImportError
from strongref_objects.channels import CloudFormation, CrossRegion, Parameters
from strongref_objects.channels.parameters import read_object
from strongref_objects.channels.texts import (
    EnvironmentSerializationContext,
    JsonSerializationContext,
    from_environment,
    from_json,
    one_variable,
)
from strongref_objects.plain_target import PlainTarget
from strongref_objects.stack import Stack
from strongref_objects.types import READY, Bucket, EncryptedBucket, Queue, Vpc
from tests.objects.test_types import Stream, sample
from tests.support.deployed_objects import deploy
from tests.support.watched import EU, OWN, US, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strongref_objects.channels import Channel
    from strongref_objects.types import Declared

TYPES: dict[str, type[Declared]] = {**READY, "Stream": Stream}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


def stack(name: str, folder: Path, region: str = EU) -> tuple[PlainTarget, Stack]:
    target = PlainTarget(name, region, OWN)
    return target, Stack(target, context_file=folder / "context.json")


@pytest.mark.parametrize(
    ("written", "read", "region"),
    [
        (CloudFormation(), CloudFormation(), EU),
        (CrossRegion(regions=[US]), CrossRegion(stack="producer", region=EU, shared=True), US),
        (CrossRegion(consumer="consumer"), CrossRegion(stack="producer"), EU),
        (Parameters("/shared"), Parameters("/shared"), EU),
    ],
    ids=["cloudformation", "another region", "a consumer of its own", "parameters"],
)
@pytest.mark.usefixtures("aws")
def test_req1_req2_every_type_is_exported_by_one_stack_and_imported_by_another(
    tmp_path: Path, written: Channel, read: Channel, region: str
) -> None:
    target, producer = stack("producer", tmp_path)
    for name, of in TYPES.items():
        producer.export_object(name, sample(of), via=written)
    deploy(target)
    _, consumer = stack("consumer", tmp_path, region)
    weak = isinstance(read, Parameters)
    for name, of in TYPES.items():
        found = of.deserialize(consumer.import_object(name, via=read, weak=weak))
        assert found == sample(of)
        assert of.deserialize(consumer.import_object(name, via=read, weak=weak)) is found
    if weak:
        assert {name: of.deserialize(read_object("/shared", name, region=EU)) for name, of in TYPES.items()} == {
            name: sample(of) for name, of in TYPES.items()
        }


@pytest.mark.parametrize("name", TYPES)
def test_req4_every_type_goes_through_json_and_through_variables(name: str) -> None:
    of: type[Declared] = TYPES[name]
    obj: Any = sample(of)
    as_json = JsonSerializationContext()
    obj.serialize(as_json)
    assert of.deserialize(from_json(json.loads(json.dumps(as_json.json)))) == obj
    assert of.deserialize(from_json(str(as_json.text()))) == obj
    ctx = EnvironmentSerializationContext(name)
    obj.serialize(ctx)
    variables = {key: str(value) for key, value in ctx.variables.items()}
    assert of.deserialize(from_environment(name, variables)) == obj
    alone = {key: str(value) for key, value in one_variable(name, obj).items()}
    assert of.deserialize(from_environment(name, alone)) == obj


@pytest.mark.parametrize("name", [name for name in TYPES if name not in ("Vpc", "Subnets", "ExecuteCommand")])
def test_req8_what_has_no_lists_can_be_read_at_deployment(name: str, tmp_path: Path) -> None:
    of = TYPES[name]
    _, consumer = stack("consumer", tmp_path)
    found = of.deserialize(consumer.import_object(name, type=ResolveType.DEPLOYMENT))
    assert {each.split("-")[0] for each in _imports(found)} == {name}


def _imports(found: Declared) -> list[str]:
    ctx = JsonSerializationContext()
    found.serialize(ctx)
    text = json.dumps(ctx.json)
    return [each.split('"')[0] for each in text.split('{"Fn::ImportValue": "')[1:]]


def test_req8_a_vpc_has_to_be_read_at_synthesis(tmp_path: Path) -> None:
    _, consumer = stack("consumer", tmp_path)
    for via in (None, CrossRegion(stack="producer", region=US)):
        with pytest.raises(UnresolvedImportError) as raised:
            Vpc.deserialize(consumer.import_object("Net", type=ResolveType.DEPLOYMENT, via=via))
        assert str(raised.value).startswith("Net.Parts cannot be imported through")
        assert "type=ResolveType.SYNTHESIS" in str(raised.value)


def test_an_object_that_has_more_can_be_read_as_one_that_has_less() -> None:
    as_json = JsonSerializationContext()
    sample(EncryptedBucket).serialize(as_json)
    assert Bucket.deserialize(from_json(as_json.json)) == sample(Bucket)


def test_the_designs_keys_are_json_in_small_letters() -> None:
    as_json = JsonSerializationContext()
    Queue.of_resource("Jobs").serialize(as_json)
    assert as_json.json == {
        "queueArn": {"Fn::GetAtt": ["Jobs", "Arn"]},
        "queueName": {"Fn::GetAtt": ["Jobs", "QueueName"]},
        "queueUrl": {"Ref": "Jobs"},
    }
