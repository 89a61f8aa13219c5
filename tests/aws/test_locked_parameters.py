"""SecureStrings whose KMS key cannot be used: one of them fails a whole read in AWS, and none here."""

from __future__ import annotations

import pytest

from strongref.errors import AccessDeniedError, StoreError, UndecryptableError
from strongref.protocol.ports import BATCH
from tests.aws.test_parameter_store import Calls, client_error, store_over
from tests.support.fake_ssm import FakeClock, FakeSsm

SECRET = "hunter2"


@pytest.fixture(params=["InvalidKeyId", "AccessDeniedException"])
def ssm(request: pytest.FixtureRequest) -> FakeSsm:
    """Twelve parameters, of which the first and the last are secrets, and the first cannot be decrypted."""
    found = FakeSsm()
    for number in range(12):
        kind = "SecureString" if number in (0, 11) else "String"
        found.put_parameter(Name=f"/app/{number:02}", Type=kind, Value=f"{SECRET}-{number}")
    found.locked = {"/app/00": request.param}
    return found


@pytest.mark.parametrize("how", ["by name", "by path"])
def test_one_key_that_cannot_be_used_hides_one_value(ssm: FakeSsm, how: str) -> None:
    store = store_over(ssm.as_client())
    names = [f"/app/{number:02}" for number in range(12)]
    found = store.get([*names, "/app/gone"]) if how == "by name" else store.under("/app")
    assert list(found) == names or sorted(found) == names
    assert {name: each.text for name, each in found.items() if not each.locked} == {
        name: f"{SECRET}-{number}" for number, name in enumerate(names) if number
    }
    locked = found["/app/00"]
    assert isinstance(locked.locked, UndecryptableError)
    assert (locked.text, locked.value.text) == ("", "")
    assert locked.value != found["/app/11"].value
    code = ssm.locked["/app/00"]
    problem = "its KMS key may not be used" if code.startswith("Access") else "its KMS key is disabled"
    assert str(locked.locked).startswith(
        f"Parameter /app/00 in us-east-1 cannot be decrypted (GetParameters: {code}): {problem}"
    )
    assert SECRET not in str(locked.locked)
    assert found == (store.get(names) if how == "by name" else store.under("/app"))  # the same each time


def test_a_read_that_is_not_allowed_at_all_fails(ssm: FakeSsm) -> None:
    ssm.before_call = Calls(*[client_error("AccessDeniedException")] * 100)
    store = store_over(ssm.as_client())
    with pytest.raises(AccessDeniedError):
        store.get(["/app/00"])
    with pytest.raises(AccessDeniedError):
        store.under("/app")


def test_another_error_of_a_single_read_fails_all(ssm: FakeSsm) -> None:
    calls = 0

    def fail(action: str, _request: dict[str, object]) -> None:
        nonlocal calls
        calls += action == "GetParameters"
        if calls == 2:
            raise client_error("ParameterLimitExceeded")

    ssm.before_call = fail
    with pytest.raises(StoreError, match="ParameterLimitExceeded"):
        store_over(ssm.as_client(), FakeClock()).under("/app")


def test_without_decryption_no_key_is_asked_for(ssm: FakeSsm) -> None:
    calls: list[str] = []
    ssm.before_call = lambda action, _request: calls.append(action)
    assert store_over(ssm.as_client()).under("/app", decrypted=False).keys() == ssm.parameters().keys()
    assert set(calls) == {"GetParametersByPath"}


def test_one_key_that_cannot_be_used_does_not_take_a_call_for_every_secret_of_a_path() -> None:
    ssm = FakeSsm()
    for number in range(100):
        ssm.put_parameter(Name=f"/app/{number:02}", Type="SecureString", Value=SECRET)
    ssm.locked = {"/app/50": "InvalidKeyId"}
    calls: list[str] = []
    ssm.before_call = lambda action, _request: calls.append(action)
    found = store_over(ssm.as_client()).under("/app")
    assert [name for name, each in found.items() if each.locked] == ["/app/50"]
    assert len(found) == 100
    assert calls.count("GetParameters") == 100 // BATCH + 1 + BATCH
