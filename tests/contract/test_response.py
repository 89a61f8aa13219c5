"""The response to CloudFormation: complete, within the limit, and delivered with bounded retries."""

from __future__ import annotations

import ipaddress
import json
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.event import Event, RequestType
from strongref.contract.response import (
    RESPONSE_LIMIT,
    Response,
    ResponseStatus,
    ResponseTooLargeError,
    check_size,
    encode,
)
from strongref.runtime.delivery import TRIES, DeliveryError, deliver
from tests.support.response_server import SIGNATURE, ResponseServer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

EVENT = Event(
    request_type=RequestType.CREATE,
    stack="arn:aws:cloudformation:us-east-1:222222222222:stack/web/51af3dc0-da77-11e4-872e-1234567db123",
    logical_id="Imports",
    request_id="9dbbbc4a-3c5e-4c77-9d0c-1e0a6c5d5a4f",
    physical_id=None,
    properties={},
    old_properties=None,
    response_url="http://127.0.0.1/",
    resource_type="Custom::CrossRegionImport",
)
ID = "strongref-import/web/Imports/0123456789abcdef"


class FakeClock:
    """Moves only when it is slept on."""

    def __init__(self, remaining: float = 60.0) -> None:
        self.slept: list[float] = []
        self._remaining = remaining

    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC)

    earliest = now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def remaining(self) -> float:
        return self._remaining - sum(self.slept)

    def before_call(self, action: str) -> None:
        """Nothing to renew."""


def encoded(status: ResponseStatus, answer: Response) -> dict[str, Any]:
    body = encode(EVENT, status, answer)
    assert len(body) <= RESPONSE_LIMIT
    found: dict[str, Any] = json.loads(body)
    return found


def test_the_whole_body() -> None:
    answer = Response(ID, {"CertArn": "arn", "SubnetIds": ["a", "b"]}, "noted")
    assert encoded(ResponseStatus.SUCCESS, answer) == {
        "Status": "SUCCESS",
        "Reason": "noted",
        "PhysicalResourceId": ID,
        "StackId": EVENT.stack,
        "RequestId": EVENT.request_id,
        "LogicalResourceId": "Imports",
        "NoEcho": False,
        "Data": {"CertArn": "arn", "SubnetIds": ["a", "b"]},
    }


def test_a_responses_data_is_not_shown() -> None:
    assert "s3cret" not in repr(Response(ID, {"Key": "s3cret"}))


@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_failure_has_a_reason(reason: str) -> None:
    assert encoded(ResponseStatus.FAILED, Response(ID, reason=reason))["Reason"] == "See the function's log."
    assert encoded(ResponseStatus.SUCCESS, Response(ID, reason=reason))["Reason"] == ""


def test_a_long_reason_keeps_its_start() -> None:
    reason = encoded(ResponseStatus.FAILED, Response(ID, reason="start " + "x" * 2000))["Reason"]
    assert reason.startswith("start ")
    assert reason.endswith("…")
    assert len(reason) == 1000


def test_a_reason_that_is_long_only_in_bytes_is_cut_to_fit() -> None:
    reason = encoded(ResponseStatus.FAILED, Response(ID, reason="start " + "😀" * 990))["Reason"]
    assert reason.startswith("start 😀")
    assert reason.endswith("😀…")


@pytest.mark.parametrize("physical_id", ["", "x" * 1025, "é" * 513, "\ud800"])
def test_a_physical_id_is_always_valid_for_cloudformation(physical_id: str) -> None:
    assert 0 < len(encoded(ResponseStatus.SUCCESS, Response(physical_id))["PhysicalResourceId"].encode()) <= 1024


@pytest.mark.parametrize("value", [object(), b"bytes", float("nan"), {1, 2}])
def test_data_that_is_not_json_is_rejected(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"Key": value}))


def test_a_too_large_response_names_what_to_remove() -> None:
    data = {"Small": "s3cret", "Larger": "s3cret" * 300, "Largest": "s3cret" * 400}
    with pytest.raises(ResponseTooLargeError) as caught:
        encode(EVENT, ResponseStatus.SUCCESS, Response(ID, data))
    bytes_ = (
        len(json.dumps(data, separators=(",", ":")))
        + len(encode(EVENT, ResponseStatus.SUCCESS, Response(ID)))
        - len("{}")
    )
    assert (caught.value.size, caught.value.names) == (bytes_, ["Largest"])
    assert f"{bytes_} bytes, the limit is 4096. Move Largest to another" in str(caught.value)
    assert "{{resolve:ssm:…}}" in str(caught.value)
    assert "s3cret" not in str(caught.value)
    encode(
        EVENT,
        ResponseStatus.SUCCESS,
        Response(ID, {name: data[name] for name in data if name not in caught.value.names}),
    )


def test_a_value_that_is_too_large_alone_is_not_to_be_moved() -> None:
    data = {"Fits": "x" * 2500, "Other": "x" * 2600, "Huge": "s3cret" * 800}
    with pytest.raises(ResponseTooLargeError) as caught:
        check_size(EVENT, ID, data)
    assert "Huge cannot be imported: a single value is too large. Export it in parts. Move Other to" in str(
        caught.value
    )
    with pytest.raises(ResponseTooLargeError) as caught:
        check_size(EVENT, ID, {"Huge": data["Huge"]})
    assert "another Import" not in str(caught.value)


def test_at_most_ten_names_to_remove_are_listed() -> None:
    with pytest.raises(ResponseTooLargeError, match=r"K000, K001, .*, K009 and [0-9]+ more to another"):
        encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {f"K{i:03}": "x" * 40 for i in range(150)}))


def test_at_the_limit_it_fits_and_one_byte_over_it_does_not() -> None:
    room = RESPONSE_LIMIT - len(encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"K": ""})))
    assert len(encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"K": "x" * room}))) == RESPONSE_LIMIT
    with pytest.raises(ResponseTooLargeError):
        encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"K": "x" * (room + 1)}))


@pytest.mark.parametrize(("text", "bytes_"), [("ü", 2), ("長", 3), ("😀", 4), ("\ud800", 6), ("\n", 2), ("\x01", 6)])
def test_a_character_takes_its_bytes_of_utf_8_and_arrives(text: str, bytes_: int) -> None:
    empty = len(encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"K": ""})))
    most = (RESPONSE_LIMIT - empty) // bytes_
    body = encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"K": text * most}))
    assert (len(body), json.loads(body)["Data"]) == (empty + most * bytes_, {"K": text * most})
    with pytest.raises(ResponseTooLargeError):
        check_size(EVENT, ID, {"K": text * (most + 1)})


def test_a_notice_is_shortened_for_the_data() -> None:
    room = RESPONSE_LIMIT - len(encode(EVENT, ResponseStatus.SUCCESS, Response(ID, {"K": ""})))
    assert encoded(ResponseStatus.SUCCESS, Response(ID, {"K": "x" * room}, "noted"))["Reason"] == ""
    assert encoded(ResponseStatus.SUCCESS, Response(ID, {"K": "x" * (room - 6)}, "noted and more"))["Reason"] == "not…"


def test_a_failure_with_data_that_leaves_no_room_for_the_reason() -> None:
    with pytest.raises(ResponseTooLargeError):
        encode(EVENT, ResponseStatus.FAILED, Response(ID, {"K": "x" * 3700}, "y" * 500))


def test_a_size_is_checked_before_anything_is_done() -> None:
    check_size(EVENT, ID, {"K": "x" * 3000})
    with pytest.raises(ResponseTooLargeError, match="K cannot be imported"):
        check_size(EVENT, ID, {"K": "x" * 4000})


def test_the_error_is_short_enough_for_its_advice_to_be_read() -> None:
    with pytest.raises(ResponseTooLargeError) as caught:
        check_size(EVENT, ID, {letter * 800: "x" * 800 for letter in "abcde"})
    assert len(str(caught.value)) <= 1000


texts = st.text(st.characters(codec=None, exclude_categories=[]), max_size=700)


@given(st.dictionaries(texts, texts | st.lists(texts, max_size=5), max_size=30), texts, st.sampled_from(ResponseStatus))
def test_a_response_fits_or_its_error_does(data: Mapping[str, object], reason: str, status: ResponseStatus) -> None:
    try:
        body = encode(EVENT, status, Response(ID, data, reason))
    except ResponseTooLargeError as error:
        body = encode(EVENT, ResponseStatus.FAILED, Response(ID, reason=str(error)))
        data = {}
        assert error.names  # noqa: PT017
    found = json.loads(body)
    assert len(body) <= RESPONSE_LIMIT
    assert found["StackId"] == EVENT.stack
    assert found["RequestId"] == EVENT.request_id
    assert found["LogicalResourceId"] == EVENT.logical_id
    assert found["PhysicalResourceId"] == ID
    assert set(found["Data"]) == {json.loads(json.dumps(name)) for name in data}
    assert found["Reason"] or found["Status"] == "SUCCESS"


def test_the_request_matches_the_signed_url() -> None:
    with ResponseServer() as server:
        deliver(server.url, b"{}", FakeClock())
    (received,) = server.received
    assert received.method == "PUT"
    assert received.path == f"/answer?X-Amz-Signature={SIGNATURE}"
    assert received.body == b"{}"
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert headers["content-type"] == ""
    assert headers["content-length"] == "2"


@pytest.mark.parametrize("passing", [500, 503, 429, "close"])
def test_a_transient_failure_is_retried(passing: Any) -> None:
    clock = FakeClock()
    with ResponseServer(passing, passing) as server:
        deliver(server.url, b"{}", clock, lambda: 1.0)
    assert len(server.received) == 3
    assert sum(clock.slept) == 1.5


@pytest.mark.parametrize("final", [400, 403, 307])
def test_a_permanent_failure_is_not_retried(final: int) -> None:
    with ResponseServer(final) as server, pytest.raises(DeliveryError, match=rf"HTTP {final}\.$") as caught:
        deliver(server.url, b"{}", FakeClock())
    assert len(server.received) == 1
    assert SIGNATURE not in repr(caught.value)


def test_tries_are_bounded() -> None:
    with ResponseServer(*[500] * 9) as server, pytest.raises(DeliveryError, match=r"HTTP 500\.$"):
        deliver(server.url, b"{}", FakeClock())
    assert len(server.received) == TRIES


def test_there_is_one_try_even_without_time() -> None:
    with ResponseServer() as server:
        deliver(server.url, b"{}", FakeClock(-1))
    assert len(server.received) == 1


def test_an_unreachable_host_is_an_error() -> None:
    with ResponseServer() as server:
        url = server.url
    with pytest.raises(DeliveryError) as caught:
        deliver(url, b"{}", FakeClock())
    assert str(caught.value) == "The response could not be delivered to CloudFormation: NewConnectionError."
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's end of TLS, and the certificate that it shows."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "certificate.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret = tmp_path / "key.pem"
    plain = serialization.NoEncryption()
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, secret)
    return context, pem


def test_https_is_by_the_urls_scheme(tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    context, certificate = tls
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with ResponseServer(tls=context) as server:
        deliver(server.url, b"{}", FakeClock())
    assert server.url.startswith("https:")
    assert len(server.received) == 1


def test_a_certificate_is_checked(tls: tuple[ssl.SSLContext, Path]) -> None:
    with ResponseServer(tls=tls[0]) as server, pytest.raises(DeliveryError, match="SSLError"):
        deliver(server.url, b"{}", FakeClock())
    assert server.received == []
