"""The policy of security.md: only the functions and operators write what strongref stores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.docs.test_permissions import denial
from tests.e2e.harness import assumed
from tests.e2e.templates import US
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

ANYTHING = {"Effect": "Allow", "Action": "ssm:*", "Resource": "*"}
POLICY = json.dumps({"Version": "2012-10-17", "Statement": [ANYTHING, denial()]})
TRUST = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    found = World.of(aws, names)
    found.publish({"A": "1"}, "CREATE_COMPLETE")
    found.consume("A", expect="CREATE_COMPLETE")
    return found


def as_user(aws: Aws, name: str) -> Any:
    """SSM as an administrator of Parameter Store to whom the policy applies."""
    iam = aws.client("iam", US)
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=POLICY)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return aws.emulator.client("ssm", US, key=(key["AccessKeyId"], key["SecretAccessKey"]))


def as_role(aws: Aws, name: str) -> Any:
    """SSM as a role with the same policies."""
    iam = aws.client("iam", US)
    trust = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=POLICY)
    return aws.emulator.client("ssm", US, key=assumed(aws.client("sts", US), role))


def refused(call: Callable[..., object], **request: object) -> None:
    with pytest.raises(ClientError) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == "AccessDeniedException"


def test_an_administrator_can_neither_change_a_value_nor_take_a_claim_off(
    world: World, aws: Aws, names: Callable[[str], str]
) -> None:
    admin, name = as_user(aws, names("admin")), world.name("A")
    of_it = {"ResourceType": "Parameter", "ResourceId": name}
    (claim,) = [key for key in aws.tags(US, name) if key.startswith("strongref:claim:")]
    refused(admin.put_parameter, Name=name, Value="2", Type="String", Overwrite=True)
    refused(admin.put_parameter, Name=f"{name}-more", Value="2", Type="String")
    refused(admin.remove_tags_from_resource, **of_it, TagKeys=[claim])
    refused(admin.add_tags_to_resource, **of_it, Tags=[{"Key": "a", "Value": "b"}])
    refused(admin.delete_parameter, Name=name)
    refused(admin.delete_parameters, Names=[name])
    assert (world.values(), world.claims("A")) == ({"A": "1"}, [world.consumer])
    assert admin.get_parameters(Names=[name])["Parameters"][0]["Value"] == "1"
    admin.put_parameter(Name=f"/{names('other')}", Value="2", Type="String")


@pytest.mark.parametrize(
    "role", ["strongref-operators", "strongref-ExporterRole-1ABC2DEF3GHI", "strongref-writer-222222222222"]
)
def test_operators_the_functions_and_another_accounts_can(world: World, aws: Aws, role: str) -> None:
    name = world.name("A")
    ssm = as_role(aws, role)
    ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=[{"Key": "a", "Value": "b"}])
    ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=["a"])
    ssm.put_parameter(Name=name, Value="1", Type="String", Overwrite=True)


def test_a_role_whose_name_only_ends_like_that_cannot(world: World, aws: Aws, names: Callable[[str], str]) -> None:
    ssm = as_role(aws, names("not-strongref-operators"))
    refused(ssm.put_parameter, Name=world.name("A"), Value="2", Type="String", Overwrite=True)
