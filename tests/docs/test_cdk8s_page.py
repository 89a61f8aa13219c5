"""The page of cdk8s: its programs are the examples, which are run elsewhere, and its options are the resolvers' own."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING

import cdk8s
import pytest

from strongref_cdk8s import AwsCdkResolver, CdkTfResolver, TokenResolver
from strongref_manifests.terraform.addresses import TerraformReference
from tests.support.documents import ROOT, blocks, names_in, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.documents import Block

PAGE = "docs/extras/cdk8s.md"
EXAMPLES = sorted((ROOT / "examples/cdk8s").glob("*.py"))


def programs() -> list[Block]:
    return [block for block in blocks("python") if block.page == ROOT / PAGE]


def test_the_program_is_an_example_as_it_is_and_the_page_names_all() -> None:
    """`tests/e2e/test_cdk8s.py` runs them."""
    assert len(EXAMPLES) == 2
    assert [block.text for block in programs()].count(EXAMPLES[0].read_text()) == 1
    for example in EXAMPLES:
        assert f"`examples/cdk8s/{example.name}`" in (ROOT / PAGE).read_text()


def test_every_other_line_of_code_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    own = {example.read_text() for example in EXAMPLES}
    rest = [block.text for block in programs() if block.text not in own]
    assert rest
    names = {"cdk8s": cdk8s, "AwsCdkResolver": AwsCdkResolver, "TokenResolver": TokenResolver}
    for text in rest:
        exec(text, dict(names))  # noqa: S102 (the documentation's)


@pytest.mark.parametrize("resolver", [AwsCdkResolver, CdkTfResolver, TokenResolver])
def test_the_documented_options_are_those_that_there_are(resolver: type[object]) -> None:
    documented = {
        name.strip("`") for name, having, _ in rows(PAGE, "Options") if having == "all" or resolver.__name__ in having
    }
    parameters = inspect.signature(resolver.__init__).parameters.values()
    assert documented == {str(each).split(":")[0] for each in parameters if each.name != "self"}


@pytest.mark.slow
def test_every_module_can_be_imported_before_any_other() -> None:
    """A program may begin with any of them: none needs that another one has been imported first."""
    script = """
import importlib, pkgutil, sys
import strongref
names = [each.name for each in pkgutil.walk_packages(strongref.__path__, "strongref.")]
for name in names:
    if not name.endswith("__main__"):
        for loaded in [each for each in sys.modules if each.partition(".")[0] == "strongref"]:
            del sys.modules[loaded]
        importlib.import_module(name)
for name in ("AwsCdkResolver", "CdkTfResolver", "TokenResolver"):
    getattr(importlib.import_module("strongref_cdk8s"), name)
print(len(names))
"""
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 50


def test_the_documented_references_can_be_read() -> None:
    references = names_in(rows(PAGE, "Terraform states"))
    assert len(references) == 9
    for reference in references:
        text = reference.replace("….", "aws_s3_bucket.site.")
        assert str(TerraformReference.parse(text)) == text
