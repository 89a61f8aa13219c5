"""Where a response may be sent, and when it was requested: all from a presigned URL."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from strongref.contract.origin import ResponseHosts, requested_at, response_key
from tests.support.builders import stack_arn
from tests.support.cloudformation.requests import response_url

REGION = "eu-central-1"
STACK = stack_arn("web", REGION)
KEY = response_key(STACK, "Imports")
PATH = "arn%3Aaws%3Acloudformation%3Aeu-central-1%3A111111111111%3Astack/web/" + STACK.rsplit("/", 1)[1]
OBJECT = f"/{PATH}%7CImports%7C0f?X-Amz-Signature=none"
BUCKET = "cloudformation-custom-resource-response-eucentral1"


def accepts(
    url: str, hosts: ResponseHosts | None = None, *, region: str = REGION, suffix: str = "amazonaws.com"
) -> bool:
    return (hosts or ResponseHosts()).accept(url, region, suffix, KEY)


@pytest.mark.parametrize(
    "host",
    [
        f"{BUCKET}.s3.amazonaws.com",
        f"{BUCKET}.s3-eu-central-1.amazonaws.com",
        f"{BUCKET}.s3.eu-central-1.amazonaws.com",
        f"{BUCKET}.s3.dualstack.eu-central-1.amazonaws.com",
        f"{BUCKET.upper()}.s3.amazonaws.com",
        f"{BUCKET}.s3.amazonaws.com:443",
    ],
)
def test_a_response_goes_to_cloudformations_bucket_of_the_region(host: str) -> None:
    assert accepts(f"https://{host}{OBJECT}")
    assert accepts(response_url(STACK, "Imports", "0f"))


def test_in_another_partition_hosts_end_differently() -> None:
    url = "https://cloudformation-custom-resource-response-cnnorth1.s3.cn-north-1.amazonaws.com.cn" + OBJECT
    assert accepts(url, region="cn-north-1", suffix="amazonaws.com.cn")
    assert not accepts(url, region="cn-north-1")


@pytest.mark.parametrize(
    "url",
    [
        f"http://{BUCKET}.s3.amazonaws.com{OBJECT}",
        f"https://{BUCKET}.s3.amazonaws.com:8443{OBJECT}",
        f"https://somebody@{BUCKET}.s3.amazonaws.com{OBJECT}",
        f"https://{BUCKET}.s3.amazonaws.com.example.org{OBJECT}",
        f"https://example.org/{BUCKET}.s3.amazonaws.com{OBJECT}",
        f"https://example.org#{BUCKET}.s3.amazonaws.com{OBJECT}",
        f"https://{BUCKET}-2.s3.amazonaws.com{OBJECT}",
        f"https://{BUCKET}.s3.us-east-1.amazonaws.com{OBJECT}",
        f"https://{BUCKET}.s3-website.eu-central-1.amazonaws.com{OBJECT}",
        f"https://cloudformation-custom-resource-response-useast1.s3.amazonaws.com{OBJECT}",
        "https://[" + OBJECT,
        f"https://{BUCKET}.s3.amazonaws.com:http{OBJECT}",
    ],
)
def test_it_goes_nowhere_else(url: str) -> None:
    assert not accepts(url)


@pytest.mark.parametrize(
    "of",
    [
        "|Imports|",
        f"{STACK}|Other|",
        f"{stack_arn('other', REGION)}|Imports|",
        f"{STACK}|Imports",
        "",
        f"{STACK}|Imports|x/../../Mine%7Cid",
    ],
)
def test_nor_to_another_resources_object_in_that_bucket(of: str) -> None:
    assert not accepts(f"https://{BUCKET}.s3.amazonaws.com/{of}")


MORE = f" New.example.com ,, {BUCKET}.vpce-1.s3.example.com"


def test_an_installation_can_name_more_hosts() -> None:
    hosts = ResponseHosts.from_environment({"STRONGREF_RESPONSE_HOSTS": MORE})
    for url in (f"new.example.com/{BUCKET}{OBJECT}", f"{BUCKET}.vpce-1.s3.example.com{OBJECT}"):
        assert accepts(f"https://{url}", hosts)
        assert not accepts(f"https://{url}")
        assert not accepts(f"http://{url}", hosts)
    assert not accepts(f"https://old.example.com/{BUCKET}{OBJECT}", hosts)
    assert accepts(f"https://{BUCKET}.s3.amazonaws.com{OBJECT}", hosts)


@pytest.mark.parametrize(
    "where",
    [
        "new.example.com/whatever",
        f"new.example.com{OBJECT}",
        f"new.example.com/mine{OBJECT}",
        f"new.example.com/{BUCKET}-2{OBJECT}",
        f"new.example.com/mine/{BUCKET}{OBJECT}",
        f"new.example.com//{BUCKET}{OBJECT}",
        f"new.example.com/{BUCKET}/../mine{OBJECT}",
        f"new.example.com/{BUCKET}%2F{OBJECT[1:]}",
        f"new.example.com/{BUCKET}/mine",
        f"new.example.com/{BUCKET}/{KEY}0f/../../mine",
        f"{BUCKET}.vpce-1.s3.example.com/{BUCKET}{OBJECT}",
        f"{BUCKET}.vpce-1.s3.example.com/mine",
    ],
)
def test_there_too_a_response_goes_only_to_the_object_in_cloudformations_bucket(where: str) -> None:
    assert not accepts(f"https://{where}", ResponseHosts.from_environment({"STRONGREF_RESPONSE_HOSTS": MORE}))


def test_in_an_emulator_a_response_goes_to_the_emulator_too() -> None:
    hosts = ResponseHosts.from_environment({"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"})
    assert accepts("http://127.0.0.1:4566/cfn-response/1", hosts)
    assert not accepts("http://127.0.0.1:4567/cfn-response/1", hosts)
    assert not accepts("https://127.0.0.1:4566/cfn-response/1", hosts)
    assert not accepts("http://127.0.0.1:4566/cfn-response/1", ResponseHosts.from_environment({}))


def test_a_url_says_when_it_was_requested() -> None:
    when = datetime(2024, 4, 26, 19, 42, 14, tzinfo=UTC)
    assert requested_at("https://x/?X-Amz-Date=20240426T194214Z&X-Amz-Expires=7200") == when
    assert requested_at(f"https://x/?AWSAccessKeyId=A&Expires={int(when.timestamp()) + 7200}&Signature=s") == when


@pytest.mark.parametrize("query", ["", "Expires=soon", "Expires=99999999999999999999", "X-Amz-Date=2024", "Expires="])
def test_or_it_does_not(query: str) -> None:
    assert requested_at(f"https://x/?{query}") is None
