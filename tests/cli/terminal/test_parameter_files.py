"""Parameters in the files of CloudFormation, CodePipeline and SAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref_cli.terminal.parameter_files import parameters
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "not-to-be-shown"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "p.json",
            (
                '[{"ParameterKey": "A", "ParameterValue": "1"}, {"ParameterKey": "B", "ParameterValue": "x y"}, '
                '{"ParameterKey": "C", "UsePreviousValue": true}]'
            ),
        ),
        ("p.json", '{"Parameters": {"A": 1, "B": "x y"}, "Tags": {"C": "c"}}'),
        ("p.json", '{"A": "1", "B": "x y"}'),
        ("samconfig.toml", "version = 0.1\n[default.deploy.parameters]\nparameter_overrides = \"A=1 B='x y'\""),
        ("samconfig.toml", '[default.global.parameters]\nparameter_overrides = ["A=1", "B=x y"]'),
    ],
)
def test_each_tools_file_is_read_and_what_is_written_wins(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    for given in (f"{tmp_path}/{name}", f"file://{tmp_path}/{name}"):
        assert parameters("--parameters", [given]) == {"A": "1", "B": "x y"}
        assert parameters("--parameters", ["A=2", given, "D="]) == {"A": "2", "B": "x y", "D": ""}


def test_lists_and_booleans_are_what_cloudformation_takes(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"Parameters": {"A": ["x", "y"], "B": true}}')
    assert parameters("--parameters", [f"{tmp_path}/p.json"]) == {"A": "x,y", "B": "true"}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("p.json", f"[{SECRET}", "is neither JSON nor, as .toml, TOML"),
        ("p.json", f'["{SECRET}"]', "has no parameters. It must be CloudFormation's list"),
        ("p.toml", f'[other]\na = "{SECRET}"', "has no parameters. It must be"),
        ("p.toml", f'[default.deploy.parameters]\nparameter_overrides = "{SECRET}"', "must be a name and a value"),
        ("missing.json", None, "is neither NAME=VALUE nor a file that exists"),
        ("", None, "cannot be read"),
    ],
)
def test_another_file_is_an_error_without_what_is_in_it(
    tmp_path: Path, name: str, text: str | None, problem: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=problem) as caught:
        parameters("--parameters", [str(tmp_path / name)])
    assert SECRET not in str(caught.value)
