"""What values are called in each channel."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import short_hash
from strongref_objects.base.errors import BadNameError
from strongref_objects.base.names import (
    construct_id,
    export_key,
    export_name,
    in_capitals,
    json_key,
    logical_id,
    parameter_name,
    variable_name,
)

COMPONENT = st.text("abAB01-:", min_size=1, max_size=6).filter(lambda text: text.strip("-"))
PATHS = st.lists(COMPONENT | st.just("K" * 200), min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (("JohnnyBucket",), "JohnnyBucket"),
        (("JohnnyBucket", "BucketArn"), "JohnnyBucket-BucketArn"),
        (("Web", "SecurityGroup", "Id"), "Web-SecurityGroup-Id"),
        (("my-web", "-Bucket-Arn-"), "myweb-BucketArn"),
        (("app:prod", "Arn"), "app:prod-Arn"),
    ],
)
def test_an_exports_name_is_its_components_joined_by_hyphens_that_they_have_none_of(
    path: tuple[str, ...], name: str
) -> None:
    assert export_name(path) == name


def test_an_exports_name_is_cut_only_where_it_is_over_the_limit_and_then_has_a_hash_of_all_of_it() -> None:
    fits = ("N" * 200, "K" * 54)
    assert len(export_name(fits)) == 255
    assert export_name(fits) == "-".join(fits)
    over = ("N" * 200, "K" * 55)
    full = "-".join(over)
    assert export_name(over) == f"{full[:238]}-{short_hash(full)}"
    assert len(export_name(over)) == 255
    assert export_name(over) != export_name(("N" * 200, "K" * 54 + "L"))


@given(PATHS, PATHS)
def test_names_of_exports_differ_unless_their_components_do_only_in_hyphens(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    def bare(path: tuple[str, ...]) -> list[str]:
        return [each.replace("-", "") for each in path]

    assert (export_name(one) == export_name(other)) == (bare(one) == bare(other))
    assert re.fullmatch(r"[A-Za-z0-9:-]{1,255}", export_name(one))


@pytest.mark.parametrize("component", ["a_b", "a/b", "a b", "", "-", "é", "a.b", "a\n"])
def test_an_export_has_no_name_that_cloudformation_refuses(component: str) -> None:
    with pytest.raises(BadNameError, match="letters, digits, colons and hyphens"):
        export_name(("Web", component))


@given(st.lists(COMPONENT, min_size=1, max_size=3), st.lists(COMPONENT, min_size=1, max_size=3))
def test_what_is_made_of_an_object_has_a_name_that_no_other_path_has(one: list[str], other: list[str]) -> None:
    assert (construct_id(tuple(one)) == construct_id(tuple(other))) == (one == other)
    assert ":" not in construct_id(tuple(one))


@given(st.text(max_size=300), st.text(max_size=300))
def test_logical_ids_are_ids_and_differ_where_names_do(one: str, other: str) -> None:
    assert re.fullmatch(r"Export[A-Za-z0-9]{1,249}", logical_id("Export", one))
    assert (logical_id("Export", one) == logical_id("Export", other)) == (one == other)


def test_a_parameters_name_is_its_path() -> None:
    assert parameter_name("/shared/net", ("Web", "Group.1", "Id_2-a")) == "/shared/net/Web/Group.1/Id_2-a"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (("Web", "a b"), "must consist of"),
        (("Web", ""), "must consist of"),
        (("Web", "a/b"), "must consist of"),
        (("Web", *"abcdefghijklm"), "at most 15 levels"),
        (("Web", "K" * 960), "at most 1011 characters"),
    ],
)
def test_a_parameter_has_no_name_that_parameter_store_refuses(path: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BadNameError, match=problem):
        parameter_name("/shared/net", path)


def test_a_key_is_its_path_of_levels_that_strongref_takes() -> None:
    assert export_key(("Web", "SecurityGroup", "Id")) == "Web/SecurityGroup/Id"
    for path in (("Web", "a.b"), ("Web", ""), tuple("abcdefghij"), ("Ref",), ("Web", "Ref", "Id")):
        with pytest.raises(BadNameError):
            export_key(path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (("LoadBalancerArn",), "LOAD_BALANCER_ARN"),
        (("Web", "KMSKeyId"), "WEB_KMS_KEY_ID"),
        (("my-bucket", "BucketArn"), "MY_BUCKET_BUCKET_ARN"),
        (("Web", "Http2Port"), "WEB_HTTP2_PORT"),
        (("web_site", "url"), "WEB_SITE_URL"),
    ],
)
def test_a_variables_name_is_in_capitals_with_underscores(path: tuple[str, ...], name: str) -> None:
    assert variable_name(path) == in_capitals(path) == name


@pytest.mark.parametrize("path", [("W",), ("1a",), ("_", "a"), ("é", "a"), ("Aws", "Region"), ("Web", "é")])
def test_a_variable_has_no_name_that_lambda_refuses(path: tuple[str, ...]) -> None:
    with pytest.raises(BadNameError):
        variable_name(path)


@pytest.mark.parametrize(
    "path",
    [("Path",), ("Lang",), ("tz",), ("Home",), ("LD", "LibraryPath"), ("ld_preload",), ("Ifs",), ("Node", "Path")],
)
def test_a_variable_has_no_name_that_says_how_programs_run(path: tuple[str, ...]) -> None:
    with pytest.raises(BadNameError, match="systems and runtimes read their own settings from the variable"):
        variable_name(path)
    assert variable_name((*path, "Url"))


def test_a_json_key_begins_with_a_small_letter() -> None:
    assert [json_key(key) for key in ("LoadBalancerArn", "arn", "1a", "")] == ["loadBalancerArn", "arn", "1a", ""]
