"""The bucket of a region, in moto: private, ours alone, and purged of nothing but our own objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref_cli.install.bucket import CodeBucket, bucket_name
from strongref_cli.install.errors import ForeignBucketError, InstallError
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.session import ToolSession
from tests.support.fake_ssm import FakeClock
from tests.support.watched import EU, OWN, US, Watched, in_moto

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "strongref/layers-core/0.zip"


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


def bucket(clients: Watched, region: str = EU, *, prefix: str | None = None) -> CodeBucket:
    aws = ToolSession(clients, RateLimiter(RateLimits()), FakeClock()).aws(region, shows_texts=True)
    return CodeBucket(aws, aws.where(region, None), OWN, bucket_name(OWN, region, prefix), is_ours=not prefix)


def test_names_are_of_the_account_or_of_a_given_prefix() -> None:
    assert bucket_name(OWN, EU) == f"strongref-{OWN}-{EU}"
    assert bucket_name(OWN, EU, "acme-code") == f"acme-code-{EU}"


@pytest.mark.parametrize("region", [EU, US])
def test_it_is_created_private_encrypted_and_in_its_region(clients: Watched, region: str) -> None:
    ours = bucket(clients, region)
    assert not ours.exists()
    assert not ours.has(KEY)
    ours.prepare()
    assert ours.exists()
    s3, of = clients.s3(region), {"Bucket": ours.name}
    assert s3.get_bucket_location(**of)["LocationConstraint"] == (None if region == US else region)
    assert set(s3.get_public_access_block(**of)["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = s3.get_bucket_encryption(**of)["ServerSideEncryptionConfiguration"]["Rules"]
    assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    (owner,) = s3.get_bucket_ownership_controls(**of)["OwnershipControls"]["Rules"]
    assert owner["ObjectOwnership"] == "BucketOwnerEnforced"


def test_one_that_is_there_is_made_private_again(clients: Watched) -> None:
    ours = bucket(clients, US)
    clients.s3(US).create_bucket(Bucket=ours.name)
    ours.prepare()
    assert set(clients.s3(US).get_public_access_block(Bucket=ours.name)["PublicAccessBlockConfiguration"].values()) == {
        True
    }
    assert clients.calls["CreateBucket"] == 1  # the test's own


def test_a_given_one_must_exist_and_stays_as_it_is(clients: Watched) -> None:
    given = bucket(clients, US, prefix="acme-code")
    with pytest.raises(InstallError, match="The bucket acme-code-us-east-1 does not exist"):
        given.prepare()
    clients.s3(US).create_bucket(Bucket=given.name)
    before = clients.calls.copy()
    given.prepare()
    assert clients.calls - before == {"HeadBucket": 1}


def test_every_call_names_the_owner_but_the_one_that_creates(clients: Watched) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    s3: Any = clients.s3(EU)
    s3.meta.events.register("provide-client-params.s3", lambda params, model, **_: asked.append((model.name, params)))
    ours = bucket(clients)
    ours.prepare()
    ours.put(KEY, b"x")
    ours.has(KEY)
    ours.purge()
    unowned = {name for name, params in asked if params.get("ExpectedBucketOwner") != OWN}
    assert unowned == {"CreateBucket"}
    assert len({name for name, _ in asked}) == 9


def refuse(clients: Watched, action: str, code: str, status: int) -> None:
    """From now on S3 refuses an action."""
    client: Any = clients.s3(EU)
    answer = {"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": status}}

    def refused(model: Any, **_: Any) -> Any:
        return (type("Response", (), {"status_code": status})(), answer) if model.name == action else None

    client.meta.events.register_first("before-call", refused)


@pytest.mark.parametrize("action", ["HeadBucket", "HeadObject"])
def test_somebody_elses_bucket_of_our_name_is_not_used(clients: Watched, action: str) -> None:
    refuse(clients, action, "403", 403)
    ours = bucket(clients)
    with pytest.raises(ForeignBucketError, match=f"{ours.name} exists, and this account does not own it"):
        ours.has(KEY) if action == "HeadObject" else ours.prepare()
    assert clients.calls["CreateBucket"] == 0


def test_another_error_is_reported_with_awss_text(clients: Watched) -> None:
    refuse(clients, "PutObject", "AccessDenied", 403)
    ours = bucket(clients)
    ours.prepare()
    with pytest.raises(AwsCallError, match=rf"PutObject of {ours.name} in eu-west-1 failed: AccessDenied\. m\.$"):
        ours.put(KEY, b"x")


def test_a_purge_deletes_our_objects_and_our_empty_bucket(clients: Watched) -> None:
    ours = bucket(clients)
    ours.prepare()
    for number in range(3):
        ours.put(f"strongref/{number}", b"x")
    assert len(ours.keys()) == 3
    assert ours.purge()
    assert not ours.exists()


def test_a_purge_keeps_what_others_have_put_there(clients: Watched) -> None:
    ours = bucket(clients)
    ours.prepare()
    ours.put(KEY, b"x")
    clients.s3(EU).put_object(Bucket=ours.name, Key="theirs", Body=b"x")
    assert not ours.purge()
    assert [each["Key"] for each in clients.s3(EU).list_objects_v2(Bucket=ours.name)["Contents"]] == ["theirs"]


def test_a_purge_keeps_a_bucket_that_was_given(clients: Watched) -> None:
    given = bucket(clients, US, prefix="acme-code")
    clients.s3(US).create_bucket(Bucket=given.name)
    given.put(KEY, b"x")
    assert not given.purge()
    assert given.exists()
    assert given.keys() == []


def test_more_objects_than_one_call_takes_are_purged(clients: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongref_cli.install.bucket._BATCH", 2)
    ours = bucket(clients)
    ours.prepare()
    for number in range(5):
        ours.put(f"strongref/{number}", b"x")
    assert ours.purge()
    assert clients.calls["DeleteObjects"] == 3
