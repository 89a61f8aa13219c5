"""What docs/macro.md says is so: its templates, its tables, its numbers and its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import strongref_cli as cli
from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.macro import errors
from strongref.macro.errors import TemplateError
from strongref.macro.export_properties import AS, KEYS
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES, split
from strongref.macro.references import FROM_KEYS, OPTIONS
from strongref.macro.transform import Settings, plan
from strongref_cli.transform.permissions import Principal
from strongref_manifests.text.template_edits import parameters
from tests.support.builders import ACCOUNT
from tests.support.documents import ROOT, Block, Deployment, blocks, load, names_in, rows
from tests.support.error_classes import errors_of
from tests.support.error_texts import CASES

PAGE = "docs/macro.md"
TEXT = (ROOT / PAGE).read_text()
EXAMPLES = sorted((ROOT / "examples/macro").rglob("*.yaml"))
WEB = f"arn:aws:cloudformation:us-east-1:{ACCOUNT}:stack/web/1"


def of_page(language: str) -> list[Block]:
    return [block for block in blocks(language) if block.page.name == "macro.md"]


def whole(text: str) -> dict[str, Any]:
    """A template of a block, which may be some resources alone."""
    given = load(text)
    return given if {"Resources", "Transform"} & set(given) else {"Resources": given}


def transformed(given: dict[str, Any]) -> dict[str, Any]:
    given = {"Resources": {}} | given
    return plan(given, Settings.parse(parameters(given))).apply(given)


@pytest.mark.parametrize("block", of_page("yaml macro"), ids=str)
def test_a_template_of_the_page_is_transformed_into_one_whose_exports_and_imports_are_accepted(block: Block) -> None:
    done = transformed(whole(block.text))
    parsers: dict[str, Any] = {
        "Custom::CrossRegionExport": ExportRequest.parse,
        "Custom::CrossRegionImport": ImportRequest.parse,
    }
    for _, kind, properties in Deployment(done, WEB).custom_resources():
        del properties["ServiceToken"]
        parsers[kind](properties, StackArn.parse(WEB))
    assert done != whole(block.text) or "ValueBytes" in block.text


def test_what_the_site_becomes_is_what_is_shown() -> None:
    (site,) = [block for block in of_page("yaml macro") if "CloudFront" in block.text]
    (shown,) = of_page("yaml")
    (sentence,) = re.findall(r"The reference becomes `DomainName: !GetAtt ([\w.]+)`", TEXT)
    distribution = load(site.text)["Resources"]["Distribution"]
    (origin,) = distribution["Properties"]["DistributionConfig"]["Origins"]
    del origin["DomainNameRef"]
    origin["DomainName"] = {"Fn::GetAtt": sentence.split(".", 1)}
    assert transformed(load(site.text))["Resources"] == {"Distribution": distribution} | load(shown.text)


def test_the_first_templates_are_those_of_the_examples() -> None:
    for block, name in zip(of_page("yaml macro"), ("network", "web"), strict=False):
        shown, example = load(block.text)["Resources"], load((ROOT / f"examples/macro/alb/{name}.yaml").read_text())
        (logical_id,) = shown
        there = repr(example["Resources"][logical_id])
        for before, after in (("ConsumerStack", "web"), ("ConsumerRegion", "us-east-1"), ("NetworkStack", "network")):
            there = there.replace(repr({"Ref": before}), repr(after))
        assert there == repr(shown[logical_id])


def test_the_examples_are_fit_to_be_deployed_once_they_are_transformed(tmp_path: Path) -> None:
    for path in EXAMPLES:
        assert path.read_text().startswith("# ")
        assert cli.main(["transform", str(path), "-o", str(tmp_path / path.name)]) == 0
    linter = [str(Path(sys.executable).with_name("cfn-lint")), *(str(tmp_path / path.name) for path in EXAMPLES)]
    done = subprocess.run(linter, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_an_example_finds_what_the_other_exports() -> None:
    network, web = (
        transformed(load((ROOT / f"examples/macro/alb/{name}.yaml").read_text())) for name in ("network", "web")
    )
    exported = Deployment(network, WEB.replace("/web/", "/network/").replace("us-east-1", "eu-west-1"))
    ((_, _, given),) = exported.custom_resources()
    del given["ServiceToken"]
    request = ExportRequest.parse(given, exported.stack)
    ((_, _, wanted),) = Deployment(web, WEB).custom_resources()
    assert {name.replace(".", "/") for name in wanted["Names"]} == set(request.values)
    assert (given["Consumer"], given["Region"], wanted["From"]["Stack"]) == ("web", "us-east-1", "network")


def test_the_documented_keys_of_from_and_of_exports_are_those_that_are_accepted() -> None:
    assert names_in(rows(PAGE, "References")) == set(FROM_KEYS)
    assert names_in(rows(PAGE, "Exports of a resource")) == {AS, *KEYS}
    reported = TEXT[TEXT.index("Next to `From`, a reference accepts") :].partition(", [as in")[0]
    assert set(re.findall("`([A-Z][a-z]+)`", reported)) - {"From"} == set(OPTIONS)


def test_the_documented_policies_are_those_that_the_command_prints() -> None:
    documented = re.findall("`([a-z][a-z-]+)`", TEXT[TEXT.index("`--iam` prints the policy") :].partition(":\n")[0])
    assert set(documented) == {each.value for each in Principal}


def test_every_error_of_a_template_has_a_text_among_those_that_the_pages_show() -> None:
    classes = errors_of(errors)
    of_several = {errors.MacroError, TemplateError}  # these have no text of their own
    assert classes - of_several == {type(case()) for case in CASES.values()} & classes


def test_the_numbers_are_the_codes() -> None:
    text = " ".join(TEXT.split())
    assert f"each value has at most {VALUE_BYTES} bytes" in text
    assert f"`ValueBytes` is from 1 to {DATA_BYTES}." in text
    counts = [count for count in range(1, 30) if len(split([f"SomeName{number}" for number in range(count)])) == 1]
    assert 11 <= max(counts) <= 13  # "about a dozen"


def test_the_commands_of_the_page_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    ran = 0
    for line in (line for block in of_page("sh") for line in block.text.splitlines()):
        program, *arguments = shlex.split(line)
        if program == "strongref" and "-o" not in arguments:
            paths = [str(ROOT / each) if each.startswith("examples/") else each for each in arguments]
            assert cli.main(paths) == 0
            ran += 1
    assert ran == 3
    assert "strongref-Importer-*" in capsys.readouterr().out
