"""The local service answers SDKs as SSM and CloudFormation do, and counts what it was asked."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest
from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.support.fake_ssm import FakeSsm
from tests.support.local_ssm.control import LocalSsm
from tests.support.local_ssm.parameters import IndexedSsm
from tests.support.quota import Quotas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

US = "us-east-1"
ARN = f"arn:aws:cloudformation:{US}:111111111111:stack/web/1"
SESSION = Session()


def client(service: LocalSsm, name: str = "ssm", region: str = US, account: str = "111111111111") -> Any:
    return SESSION.client(  # type: ignore[call-overload]
        name,
        region_name=region,
        endpoint_url=service.url,
        aws_access_key_id=account,
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=50),
    )


def code(call: Callable[[], object]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return caught.value.response["Error"]["Code"]


@pytest.fixture(scope="module")
def running() -> Iterator[LocalSsm]:
    with LocalSsm.start() as service:
        yield service


@pytest.fixture
def service(running: LocalSsm) -> LocalSsm:
    running.clear()
    running.options()
    running.stacks([])
    return running


def test_a_parameter_lives_its_life_through_a_real_sdk(service: LocalSsm) -> None:
    ssm = client(service)
    ssm.put_parameter(Name="/a/b", Type="String", Value="é", Tags=[{"Key": "k", "Value": "v"}])
    assert ssm.get_parameters(Names=["/a/b", "/a/c"])["Parameters"][0]["Value"] == "é"
    page = ssm.get_parameters_by_path(Path="/a", Recursive=True, MaxResults=10)
    assert [found["Version"] for found in page["Parameters"]] == [1]
    assert page["Parameters"][0]["LastModifiedDate"].year == 2025
    assert ssm.describe_parameters()["Parameters"][0]["Tier"] == "Standard"
    ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId="/a/b", Tags=[{"Key": "l", "Value": "w"}])
    ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId="/a/b", TagKeys=["k"])
    tags = ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId="/a/b")["TagList"]
    assert tags == [{"Key": "l", "Value": "w"}]
    assert ssm.delete_parameters(Names=["/a/b"])["DeletedParameters"] == ["/a/b"]
    assert service.state().counts == {
        "PutParameter": 1,
        "GetParameters": 1,
        "GetParametersByPath": 1,
        "DescribeParameters": 1,
        "AddTagsToResource": 1,
        "RemoveTagsFromResource": 1,
        "ListTagsForResource": 1,
        "DeleteParameters": 1,
    }


def test_errors_come_with_ssms_codes_and_count_as_calls(service: LocalSsm) -> None:
    ssm = client(service)
    assert code(lambda: ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId="/no")) == "InvalidResourceId"
    assert code(lambda: ssm.delete_parameter(Name="/no")) == "ParameterNotFound"
    assert code(ssm.list_documents) == "UnknownOperationException"
    assert service.state().counts == {"ListTagsForResource": 1, "DeleteParameter": 1}


def test_regions_and_accounts_are_apart(service: LocalSsm) -> None:
    client(service).put_parameter(Name="/a", Type="String", Value="1")
    for other in (client(service, region="eu-west-1"), client(service, account="222222222222")):
        assert other.get_parameters(Names=["/a"])["InvalidParameters"] == ["/a"]
    assert service.state().stored["111111111111/us-east-1"] == 1


def test_what_is_over_the_quota_is_throttled_and_counted_apart(service: LocalSsm) -> None:
    service.options(quotas=Quotas(puts=0.001, stacks=0.001))
    ssm, cloudformation = client(service), client(service, "cloudformation")
    service.stacks([{"StackId": ARN, "StackName": "web", "StackStatus": "CREATE_COMPLETE"}])
    ssm.put_parameter(Name="/a", Type="String", Value="1")
    cloudformation.describe_stacks(StackName="web")
    assert code(lambda: ssm.put_parameter(Name="/b", Type="String", Value="1")) == "ThrottlingException"
    assert code(lambda: cloudformation.describe_stacks(StackName="web")) == "Throttling"
    state = service.state()
    assert state.counts == {"PutParameter": 1, "DescribeStacks": 1}
    assert state.throttled == {"PutParameter": 1, "DescribeStacks": 1}
    assert state.stored["111111111111/us-east-1"] == 1


def test_slow_calls_are_slow_side_by_side(service: LocalSsm) -> None:
    ssm = client(service)
    ssm.put_parameter(Name="/a", Type="String", Value="1")
    service.options(latency_ms=1000)
    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: ssm.get_parameters(Names=["/a"]), range(20)))
    assert 1 <= time.monotonic() - began < 20 * 1


def test_stacks_and_their_resources_are_found_by_name_and_arn_in_their_region(service: LocalSsm) -> None:
    resource = {
        "LogicalResourceId": "Imports",
        "PhysicalResourceId": "id<1>",
        "ResourceType": "Custom::CrossRegionImport",
    }
    stack = {"StackId": ARN, "StackName": "web", "StackStatus": "UPDATE_IN_PROGRESS", "Resources": [resource]}
    service.stacks([stack])
    cloudformation = client(service, "cloudformation")
    for name in ("web", ARN):
        assert cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"] == "UPDATE_IN_PROGRESS"
    found = cloudformation.list_stack_resources(StackName=ARN)["StackResourceSummaries"]
    assert [(each["PhysicalResourceId"], each["ResourceStatus"]) for each in found] == [("id<1>", "CREATE_COMPLETE")]
    elsewhere = client(service, "cloudformation", "eu-west-1")
    assert code(lambda: elsewhere.describe_stacks(StackName="web")) == "ValidationError"
    assert code(cloudformation.list_stacks) == "InvalidAction"


def test_all_stacks_of_a_region_come_in_pages_of_a_megabyte(service: LocalSsm) -> None:
    def stack(name: str, region: str = US, status: str = "CREATE_COMPLETE", **more: Any) -> dict[str, Any]:
        arn = f"arn:aws:cloudformation:{region}:111111111111:stack/{name}/1"
        return {"StackId": arn, "StackName": name, "StackStatus": status, **more}

    cloudformation = client(service, "cloudformation")
    assert cloudformation.describe_stacks()["Stacks"] == []
    large = [stack(f"large{at}", Outputs={"A": "x" * 300_000}) for at in range(4)]
    dated = stack("dated", CreationTime="2025-02-03T04:05:06Z")
    service.stacks([*large, dated, stack("elsewhere", "eu-west-1"), stack("gone", status="DELETE_COMPLETE")])
    pages = [page["Stacks"] for page in cloudformation.get_paginator("describe_stacks").paginate()]
    assert [[each["StackName"] for each in page] for page in pages] == [
        ["dated", "large0", "large1", "large2"],
        ["large3"],
    ]
    assert pages[0][0]["CreationTime"].isoformat() == "2025-02-03T04:05:06+00:00"
    assert service.state().counts == {"DescribeStacks": 3}


def test_parameters_below_a_path_are_described_fifty_a_page(service: LocalSsm) -> None:
    ssm = client(service)
    service.preload(US, [*(f"/a/b/{at:03}" for at in range(120)), "/a", "/ab/c", "/b"], "text", {"k": "v"})
    path = [{"Key": "Path", "Option": "Recursive", "Values": ["/a"]}]
    pages = list(ssm.get_paginator("describe_parameters").paginate(ParameterFilters=path, MaxResults=50))
    assert [len(page["Parameters"]) for page in pages] == [50, 50, 20]
    names = [each["Name"] for page in pages for each in page["Parameters"]]
    assert names == [f"/a/b/{at:03}" for at in range(120)]
    assert "Value" not in pages[0]["Parameters"][0]
    assert code(lambda: ssm.describe_parameters(ParameterFilters=path, MaxResults=51)) == "ValidationException"


def test_tags_are_listed_a_hundred_resources_a_page_by_every_filter(service: LocalSsm) -> None:
    tagging = client(service, "resourcegroupstaggingapi")
    service.preload(US, [f"/a/{at:03}" for at in range(200)], tags={"k": "v", "l": "w"})
    service.preload(US, ["/b"], tags={"k": "other"})
    service.preload(US, ["/plain"])

    def found(*filters: dict[str, Any], **more: Any) -> list[list[str]]:
        asked = {"TagFilters": list(filters), "ResourcesPerPage": 100} | more
        pages = tagging.get_paginator("get_resources").paginate(**asked)
        return [[each["ResourceARN"] for each in page["ResourceTagMappingList"]] for page in pages]

    assert [len(page) for page in found({"Key": "k"})] == [100, 100, 1]
    assert [len(page) for page in found()] == [100, 100, 1]
    assert [len(page) for page in found({"Key": "k"}, {"Key": "l"})] == [100, 100]
    assert found({"Key": "k", "Values": ["other", "none"]}) == [[f"arn:aws:ssm:{US}:111111111111:parameter/b"]]
    assert found({"Key": "k"}, ResourceTypeFilters=["s3"]) == [[]]
    (first,) = tagging.get_resources(ResourcesPerPage=1, ResourceTypeFilters=["ssm:parameter"])[
        "ResourceTagMappingList"
    ]
    assert first["Tags"] == [{"Key": "k", "Value": "v"}, {"Key": "l", "Value": "w"}]
    assert tagging.get_resources(TagFilters=[{"Key": "none"}])["PaginationToken"] == ""
    assert code(lambda: tagging.get_resources(ResourcesPerPage=101)) == "InvalidParameterException"
    elsewhere = client(service, "resourcegroupstaggingapi", "eu-west-1")
    assert elsewhere.get_resources()["ResourceTagMappingList"] == []


def test_the_caller_is_the_account_of_the_access_key(service: LocalSsm) -> None:
    identity = client(service, "sts", account="222222222222").get_caller_identity()
    assert (identity["Account"], identity["Arn"]) == ("222222222222", "arn:aws:iam::222222222222:root")
    assert service.state().counts == {"GetCallerIdentity": 1}


def test_who_assumes_a_role_is_its_account(service: LocalSsm) -> None:
    role = "arn:aws:iam::333333333333:role/strongref-writer-111111111111"
    given = client(service, "sts").assume_role(RoleArn=role, RoleSessionName="network")["Credentials"]
    assert client(service, "sts", account=given["AccessKeyId"]).get_caller_identity()["Account"] == "333333333333"
    assert service.state().counts == {"AssumeRole": 1, "GetCallerIdentity": 1}


def test_answers_and_invocations_are_kept(service: LocalSsm) -> None:
    with urlopen(Request(service.answer_url, b'{"Status": "SUCCESS"}', method="PUT")) as response:  # noqa: S310
        assert response.status == 200
    function = f"arn:aws:lambda:{US}:111111111111:function:strongref-exporter"
    client(service, "lambda").invoke(FunctionName=function, InvocationType="Event", Payload=json.dumps({"a": 1}))
    state = service.state()
    assert state.answers == [{"Status": "SUCCESS"}]
    assert state.invocations == [{"function": function, "event": {"a": 1}}]


def test_a_reset_forgets_the_counts_and_keeps_the_parameters(service: LocalSsm) -> None:
    client(service).put_parameter(Name="/a", Type="String", Value="1")
    service.reset()
    assert not service.state().counts
    assert service.state().stored == {"111111111111/us-east-1": 1}


def test_the_index_changes_nothing_of_what_is_answered() -> None:
    plain, indexed = FakeSsm(US, "111111111111"), IndexedSsm(US, "111111111111")
    for ssm in (plain, indexed):
        for name in ("/a/b/c", "/a/b", "/a", "/ab/c", "/a.b/c", "/a/z", "/a/b/d"):
            ssm.put_parameter(Name=name, Type="String", Value=name)
        ssm.put_parameter(Name="/a/b", Type="String", Value="new", Overwrite=True)
        ssm.delete_parameters(Names=["/a/z", "/none"])
        ssm.put_parameter(Name="/a/z", Type="String", Value="again")
    for recursive in (True, False):
        for path in ("/a", "/a/", "/a/b", "/", "/none"):
            token: dict[str, str] = {}
            while True:
                request = {"Path": path, "Recursive": recursive, "MaxResults": 2, **token}
                page = indexed.get_parameters_by_path(**request)
                assert page == plain.get_parameters_by_path(**request)
                if "NextToken" not in page:
                    break
                token = {"NextToken": page["NextToken"]}
    for path in ("/a", "/a/", "/a/b", "/", "/none"):
        asked = {"ParameterFilters": [{"Key": "Path", "Option": "Recursive", "Values": [path]}], "MaxResults": 50}
        assert indexed.describe_parameters(**asked) == plain.describe_parameters(**asked)


def test_it_ends_with_the_process_that_started_it() -> None:
    service = LocalSsm.start()
    assert service.process.stdin is not None
    service.process.stdin.close()
    assert service.process.wait(10) == 0
    service.stop()
